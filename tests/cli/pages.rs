//! Commands that need no program: `explain`, `completions`, `--help`, `--version`.

use super::support::lockcheck;

const RULES: [&str; 14] = [
    "data-race",
    "deadlock",
    "atomicity",
    "double-lock",
    "unlock-not-held",
    "lock-leak",
    "wait-without-lock",
    "destroy-held",
    "assertion",
    "use-after-free",
    "out-of-bounds",
    "null-dereference",
    "livelock",
    "property",
];

#[test]
fn every_rule_is_explained_with_a_bad_and_a_good_example() {
    let all = lockcheck(&["explain"]).expect(0);
    for rule in RULES {
        let page = lockcheck(&["explain", rule]).expect(0).stdout;
        assert!(page.starts_with(&format!("{rule}: ")) && page.contains("Bad") && page.contains("Good"), "{page}");
        assert!(all.stdout.contains(rule), "{rule} in {}", all.stdout);
    }
    lockcheck(&["explain", "data-rice"]).expect_refusal(&["data-rice", "data-race", "livelock"]);
}

#[test]
fn completions_exist_for_the_usual_shells() {
    let bash = lockcheck(&["completions", "bash"]).expect(0).stdout;
    assert!(bash.contains("_lockcheck()") && bash.contains("--fail-on") && bash.contains("replay"), "{bash}");
    for shell in ["zsh", "fish"] {
        assert!(lockcheck(&["completions", shell]).expect(0).stdout.contains("lockcheck"), "{shell}");
    }
    assert_eq!(lockcheck(&["completions", "tea"]).code, 2);
}

#[test]
fn help_and_version_are_as_everywhere() {
    assert_eq!(lockcheck(&["--version"]).expect(0).stdout, concat!("lockcheck ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = lockcheck(&["--help"]).expect(0).stdout;
    for word in ["check", "replay", "explore", "emit", "certify", "explain", "extract", "completions", "Exit codes"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    let options = lockcheck(&["check", "--help"]).expect(0).stdout;
    let named = [
        "--check",
        "--format",
        "--output",
        "--config",
        "--budget",
        "--memory",
        "--jobs",
        "--entry",
        "--fail-on",
        "--allow-incomplete",
        "--strict",
        "--assume-atomic",
        "--faults",
        "--baseline",
        "--write-baseline",
        "--no-explore",
        "--no-refine",
        "--data-model",
        "--verbose",
        "--quiet",
        "--color",
    ];
    for option in named {
        assert!(options.contains(option) && help.contains(option), "{option} in {options}");
    }
}
