//! Exit codes 0, 1, 2 and 3, and what moves a run from one to another.

use super::support::{RACING, Scratch, clean, list, lockcheck, uncertain};

#[test]
fn a_confirmed_finding_is_1_unless_nothing_fails() {
    let scratch = Scratch::with(RACING);
    scratch.lockcheck(&["prog.c"]).expect(1);
    scratch.lockcheck(&["check", "prog.c"]).expect(1);
    scratch.lockcheck(&["prog.c", "--allow-incomplete"]).expect(1);
    scratch.lockcheck(&["prog.c", "--fail-on", "confirmed"]).expect(1);
    scratch.lockcheck(&["prog.c", "--fail-on", "never"]).expect(3);
    scratch.lockcheck(&["prog.c", "--fail-on", "never", "--allow-incomplete"]).expect(0);
    scratch.lockcheck(&["explore", "prog.c", "-n", "20"]).expect(1);
}

#[test]
fn nothing_found_is_3_or_with_leave_0() {
    let scratch = Scratch::with(&clean());
    scratch.lockcheck(&["prog.c"]).expect(3);
    scratch.lockcheck(&["prog.c", "--fail-on", "confirmed"]).expect(3);
    scratch.lockcheck(&["prog.c", "--allow-incomplete"]).expect(0);
    scratch.lockcheck(&["prog.c", "--no-explore"]).expect(3);
    scratch.lockcheck(&["explore", "prog.c", "-n", "20"]).expect(3);
}

#[test]
fn a_possible_finding_counts_only_below_confirmed() {
    let scratch = Scratch::with(&uncertain());
    scratch.lockcheck(&["prog.c"]).expect(1);
    scratch.lockcheck(&["prog.c", "--fail-on", "possible"]).expect(1);
    scratch.lockcheck(&["prog.c", "--fail-on", "confirmed"]).expect(3);
    scratch.lockcheck(&["prog.c", "--fail-on", "confirmed", "--allow-incomplete"]).expect(0);
}

#[test]
fn what_the_settings_ignore_does_not_count() {
    let scratch = Scratch::with(RACING);
    scratch.write(".lockcheck.yaml", "ignore:\n  - {rule: data-race, object: \"h*\", because: a mere counter}\n");
    let run = scratch.lockcheck(&["prog.c"]).expect(3);
    assert!(!run.stdout.contains("warning:"), "{}", run.stdout);
    assert!(run.last_line().contains("0 confirmed") && run.last_line().contains("1 suppressed"), "{}", run.last_line());
    scratch.lockcheck(&["prog.c", "--allow-incomplete"]).expect(0);
    let report = scratch.report(&[]);
    let finding = &list(&report, "findings")[0];
    assert_eq!((&finding["suppressed"], &finding["suppression_reason"]), (&true.into(), &"a mere counter".into()));
    assert_eq!(report["checks"]["race"], "unsafe", "it is suppressed, not gone");
    scratch.write(".lockcheck.yaml", "ignore:\n  - {rule: deadlock, object: \"*\", because: not this one}\n");
    scratch.lockcheck(&["prog.c"]).expect(1);
}

#[test]
fn a_check_that_was_not_asked_for_finds_nothing() {
    let scratch = Scratch::with(RACING);
    scratch.lockcheck(&["prog.c", "--check", "deadlock"]).expect(0);
    scratch.lockcheck(&["prog.c", "--check", "misuse"]).expect(3);
    scratch.lockcheck(&["prog.c", "--check", "deadlock,race"]).expect(1);
}

#[test]
fn bad_usage_is_2() {
    for arguments in [
        &["--no-such-option"][..],
        &[],
        &["prog.c", "--fail-on", "sometimes"],
        &["replay", "lc1:AAAA"],
        &["emit", "nothing", "prog.c"],
    ] {
        let run = lockcheck(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "{arguments:?}: {}", run.stderr);
    }
    let scratch = Scratch::with(RACING);
    scratch.lockcheck(&["prog.c", "--check", "race,nonsense"]).expect_refusal(&["nonsense", "race, deadlock"]);
    scratch.lockcheck(&["prog.c", "--budget=-1"]).expect_refusal(&["--budget"]);
    scratch.lockcheck(&["prog.c", "--jobs", "0"]).expect_refusal(&["--jobs"]);
    scratch.lockcheck(&["prog.c", "--entry", "nobody"]).expect_refusal(&["nobody", "prog.c"]);
    scratch.lockcheck(&["missing.c"]).expect_refusal(&["missing.c", "no such file"]);
}
