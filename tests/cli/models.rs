//! Thread models as inputs: queries, what was expected of them, and the exit codes.

use super::support::Scratch;

/// Who gets the lock touches x; who does not touches y.
const MODEL: &str = "\
locks: [m]
threads:
  worker:
    instances: 3
    steps:
      - try m else busy
      - write x
      - release m
      - return
      - busy: write y
";

fn asked(queries: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("a.model.yaml", &format!("{MODEL}queries:\n{queries}"));
    scratch
}

#[test]
fn expectations_that_hold_give_0() {
    let scratch = asked(
        "  - {race: x, expect: false}\n  - {race: y, expect: true}\n  - {reachable: [worker@busy, worker@busy], expect: true}\n  - {deadlock: true, expect: false}\n",
    );
    let run = scratch.lockcheck(&["a.model.yaml"]).expect(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "a line a query, and the counts: {}", run.stdout);
    assert!(
        lines[0].starts_with("a.model.yaml:12: race x: no: worker holds m, taken at line 6, ")
            && lines[0].ends_with(", as expected"),
        "{}",
        run.stdout
    );
    assert!(
        lines[1].starts_with("a.model.yaml:13: race y: yes, after ") && lines[1].ends_with(" steps, as expected"),
        "{}",
        run.stdout
    );
    assert_eq!(run.last_line(), "4 answered as expected, 0 not as expected, 0 open");
    assert_eq!(scratch.lockcheck(&["a.model.yaml", "-q"]).expect(0).stdout, "");
    let steps = scratch.lockcheck(&["a.model.yaml", "-v"]).expect(0).stdout;
    assert!(
        steps.contains(", line 6: try m") && steps.contains("now stands before line 10: write y"),
        "the steps on request: {steps}"
    );
}

#[test]
fn an_expectation_that_is_not_met_gives_1() {
    let scratch = asked("  - {race: x, expect: true}\n  - {race: y, expect: false}\n  - {deadlock: true, expect: false}\n");
    for arguments in [&["a.model.yaml"][..], &["a.model.yaml", "-q"], &["a.model.yaml", "--allow-incomplete"]] {
        let run = scratch.lockcheck(arguments).expect(1);
        assert!(
            run.stdout.contains("a.model.yaml:12: race x: no: worker holds m") && run.stdout.contains("; expected yes\n"),
            "{}",
            run.stdout
        );
        assert!(
            run.stdout.contains("a.model.yaml:13: race y: yes, after ") && run.stdout.contains(" steps; expected no\n"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("now stands before line 10: write y"), "the steps to what was not expected: {}", run.stdout);
    }
}

#[test]
fn without_expectation_a_race_gives_1_and_its_absence_0() {
    let run = asked("  - {race: y}\n").lockcheck(&["a.model.yaml"]).expect(1);
    assert!(run.stdout.contains("now stands before line 10: write y"), "{}", run.stdout);
    asked("  - {race: x}\n  - {deadlock: true}\n  - {reachable: [worker@busy]}\n").lockcheck(&["a.model.yaml"]).expect(0);
}

#[test]
fn what_locks_decide_needs_no_bound() {
    let scratch = Scratch::new();
    // It calls itself without end: no list of its states is whole. The lock is taken at every depth.
    let procedures = "{work: [acquire m, 'goto [deeper, out]', deeper: call work, out: write x, release m]}";
    scratch.write(
        "deep.model.yaml",
        &format!("locks: {{m: recursive}}\nthreads:\n  one: {{instances: 2, procedures: {procedures}}}\nqueries:\n  - {{race: x, expect: false}}\n"),
    );
    let run = scratch.lockcheck(&["deep.model.yaml"]).expect(0);
    assert!(
        run.stdout.contains("deep.model.yaml:5: race x: no: one holds m, taken at line 3, and one holds m"),
        "{}",
        run.stdout
    );
}

#[test]
fn what_a_bound_leaves_open_gives_3() {
    let scratch = Scratch::new();
    // As deep as one likes, and data decide: neither all states nor locks tell.
    let procedures = "{work: ['goto [deeper, out]', deeper: call work, out: assume f == 1, write x]}";
    scratch.write(
        "deep.model.yaml",
        &format!("threads:\n  one: {{instances: 2, procedures: {procedures}}}\nqueries:\n  - {{race: x, expect: false}}\n"),
    );
    let run = scratch.lockcheck(&["deep.model.yaml"]).expect(3);
    assert!(run.stdout.contains("deep.model.yaml:4: race x: not found; not excluded either: bounded was the "), "{}", run.stdout);
    assert!(run.stdout.contains("a condition on data must hold"), "{}", run.stdout);
    assert_eq!(run.last_line(), "0 answered as expected, 0 not as expected, 1 open");
    scratch.lockcheck(&["deep.model.yaml", "--allow-incomplete"]).expect(0);
}

#[test]
fn a_bad_model_gives_2_and_the_line() {
    let scratch = Scratch::new();
    scratch.write("step.model.yaml", "threads:\n  one:\n    - acquire a\n    - frobnicate x\n");
    scratch.lockcheck(&["step.model.yaml"]).expect_refusal(&["step.model.yaml:4: not a thread model", "`frobnicate x`"]);
    let scratch = asked("  - {reachable: [worker@nowhere]}\n");
    scratch.lockcheck(&["a.model.yaml"]).expect_refusal(&["a.model.yaml:12: ", "nowhere"]);
    scratch.lockcheck(&["absent.model.yaml"]).expect_refusal(&["absent.model.yaml", "no such file"]);
    scratch.write("b.c", "int main(void) { return 0; }\n");
    scratch.lockcheck(&["b.c", "a.model.yaml"]).expect_refusal(&["a.model.yaml", "pass it alone"]);
}

#[test]
fn without_queries_a_model_is_a_program() {
    let scratch = Scratch::new();
    scratch.write("a.model.yaml", MODEL);
    let run = scratch.lockcheck(&["a.model.yaml", "--check", "race"]).expect(1);
    assert!(run.stdout.contains("a.model.yaml:10:") && run.stdout.contains("data race on y"), "{}", run.stdout);
    assert!(!run.stdout.contains("data race on x"), "{}", run.stdout);
    let text = scratch.lockcheck(&["emit", "program", "a.model.yaml"]).expect(0).stdout;
    assert!(text.starts_with("lockcheck program 1\n"), "{text}");
}
