//! `lockcheck replay`: the token of a report shows its bug again, and only on the program it belongs to.

use super::support::{RACING, Scratch, clean, list, lockcheck};

fn token(scratch: &Scratch) -> String {
    let report = scratch.report(&[]);
    list(&report, "findings")[0]["schedule"].as_str().expect("a schedule").to_owned()
}

#[test]
fn a_token_shows_its_bug_again() {
    let scratch = Scratch::with(RACING);
    let token = token(&scratch);
    let run = scratch.lockcheck(&["replay", &token, "prog.c"]).expect(1);
    assert!(run.stdout.starts_with("step | main "), "{}", run.stdout);
    for part in
        ["visitor@prog.c:12", "takes lock", "writes hits = ", "holds lock", "pthread_mutex_lock(&lock);", ">>> data race on hits"]
    {
        assert!(run.stdout.contains(part), "{part:?} in {}", run.stdout);
    }
    assert!(run.last_line().starts_with("reached again: data race on hits"), "{}", run.last_line());
    assert_eq!(run.stdout, scratch.lockcheck(&["replay", &token, "prog.c"]).stdout, "the same table twice");
}

#[test]
fn a_file_with_a_token_will_do() {
    let scratch = Scratch::with(RACING);
    let token = token(&scratch);
    scratch.write("token.txt", &format!("{token}\n"));
    scratch.lockcheck(&["replay", "token.txt", "prog.c"]).expect(1);
    scratch.lockcheck(&["prog.c", "--format", "json", "--output", "report.json"]).expect(1);
    scratch.lockcheck(&["replay", "report.json", "prog.c"]).expect(1);
    scratch.write("empty.txt", "nothing here\n");
    scratch.lockcheck(&["replay", "empty.txt", "prog.c"]).expect_refusal(&["empty.txt", "lc1:"]);
    scratch.lockcheck(&["replay", "missing.txt", "prog.c"]).expect_refusal(&["missing.txt"]);
}

#[test]
fn a_changed_program_is_refused_a_moved_one_is_not() {
    let scratch = Scratch::with(RACING);
    let token = token(&scratch);
    scratch.write("prog.c", &format!("/* one more line */\n{RACING}"));
    scratch.lockcheck(&["replay", &token, "prog.c"]).expect(1);
    scratch.write("prog.c", &RACING.replacen("hits++", "hits += 2", 1));
    scratch.lockcheck(&["replay", &token, "prog.c"]).expect_refusal(&["prog.c", "changed"]);
    scratch.write("prog.c", &clean());
    scratch.lockcheck(&["replay", &token, "prog.c"]).expect_refusal(&["prog.c", "changed"]);
}

#[test]
fn a_damaged_token_is_named_as_such() {
    let scratch = Scratch::with(RACING);
    let token = token(&scratch);
    scratch.lockcheck(&["replay", &token[..token.len() - 6], "prog.c"]).expect_refusal(&["truncated"]);
    let changed: String =
        token.chars().enumerate().map(|(at, c)| if at == 12 { if c == 'A' { 'B' } else { 'A' } } else { c }).collect();
    scratch.lockcheck(&["replay", &changed, "prog.c"]).expect_refusal(&["corrupt"]);
    scratch.lockcheck(&["replay", &token.replace("lc1:", "lc9:"), "prog.c"]).expect_refusal(&["version 9"]);
}

#[test]
fn options_that_change_the_program_are_part_of_the_hint() {
    let scratch = Scratch::with(&RACING.replace("int main(void)", "int begin(void)"));
    let run = scratch.lockcheck(&["prog.c", "--entry", "begin", "--", "-DX=1"]).expect(1);
    let hint = run.stdout.lines().find(|line| line.contains("lockcheck replay")).expect("a hint").trim();
    assert!(hint.ends_with("prog.c --entry begin -- -DX=1"), "{hint}");
    let again = scratch.shell(&hint.replace("lockcheck replay", "\"$LOCKCHECK\" replay"));
    assert_eq!(again.code, 1, "{hint}: {}", again.stderr);
}

#[test]
fn a_run_without_a_bug_is_0() {
    // The fixed program has the fingerprint of itself: a schedule of one of its runs shows nothing. No report has such a token, so
    // it is taken from a report of a bug that is only there when an option asks for failing allocations.
    let program = "#include <stdlib.h>\nint main(void) { int *p = malloc(4); *p = 1; free(p); return 0; }\n";
    let scratch = Scratch::with(program);
    let report = scratch.report(&["--faults"]);
    let token = list(&report, "findings")[0]["schedule"].as_str().expect("a schedule").to_owned();
    scratch.lockcheck(&["replay", &token, "prog.c", "--faults"]).expect(1);
    let run = scratch.lockcheck(&["replay", &token, "prog.c"]).expect(0);
    assert!(run.last_line().starts_with("no bug is reached: the run ends with exit code 0"), "{}", run.last_line());
}

#[test]
fn a_replay_needs_a_program() {
    assert_eq!(lockcheck(&["replay", "lc1:AAAA"]).code, 2);
    lockcheck(&["replay", "lc1:AAAA", "missing.c"]).expect_refusal(&["missing.c"]);
}
