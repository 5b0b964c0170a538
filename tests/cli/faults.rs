//! Runs that end badly: each fault by its rule, and what no rule is about is not silently "clean".

use super::support::{Scratch, list};

fn program(body: &str) -> Scratch {
    Scratch::with(&format!(
        "#include <stdlib.h>\n#include <string.h>\nint zero, table[4];\nint main(void) {{\n    {body}\n    return 0;\n}}\n"
    ))
}

/// The one finding's rule and line, and the sentence.
#[track_caller]
fn expect(body: &str, rule: &str, words: &str) {
    let report = program(body).report(&["--", "-w"]);
    let [finding] = list(&report, "findings") else { panic!("one finding for {body}: {report}") };
    assert_eq!(
        (&finding["rule"], &finding["verdict"], &finding["sites"][0]["line"]),
        (&rule.into(), &"confirmed".into(), &5.into()),
        "{body}"
    );
    let message = finding["message"].as_str().expect("a message");
    assert!(message.contains(words), "{body}: {message:?} lacks {words:?}");
    assert!(!message.contains(['{', '}']), "{message:?} is C's language, not ours");
}

#[test]
fn each_fault_with_a_rule_is_a_finding() {
    expect("*(volatile int *)0 = 1;", "null-dereference", "null pointer");
    expect("table[zero + 4] = 1;", "out-of-bounds", "table");
    expect("char *p = malloc(4); free(p); p[1] = 1;", "use-after-free", "after it was freed");
    expect("char *p = malloc(4); free(p); free(p);", "use-after-free", "freed twice");
}

/// The run ends early: said in text and JSON, and the answer is incomplete.
#[track_caller]
fn expect_early_end(body: &str, words: &str) {
    let scratch = program(body);
    let report = scratch.report(&["--", "-w"]);
    assert!(list(&report, "findings").is_empty(), "{body}: {report}");
    let sentence = "a run ended early at prog.c:5:";
    let limits: Vec<&str> = list(&report, "limits").iter().filter_map(|limit| limit.as_str()).collect();
    assert!(limits.iter().any(|limit| limit.starts_with(sentence) && limit.contains(words)), "{body}: {limits:?}");
    let text = scratch.lockcheck(&["prog.c", "--", "-w"]).expect(3).stdout;
    assert!(text.contains(&format!("note: not complete: {sentence}")) && text.contains(words), "{text}");
}

#[test]
fn a_fault_without_a_rule_does_not_vanish() {
    expect_early_end("return 5 / zero;", "division by zero");
    expect_early_end("return 5 % zero;", "division by zero");
    expect_early_end("*(char *)\"constant\" = 'x';", "a constant is written to");
    expect_early_end("free(&table[1]);", "freed that was not allocated");
    expect_early_end("__builtin_unreachable();", "undefined behaviour: ");
    expect_early_end("((void (*)(void))&zero)();", "undefined behaviour: ");
}

#[test]
fn a_program_that_ends_itself_has_not_ended_early() {
    for body in ["abort();", "exit(3);", "_Exit(4);", "return 5;"] {
        let report = program(body).report(&[]);
        assert!(list(&report, "findings").is_empty(), "{body}: {report}");
        assert!(!report["limits"].to_string().contains("ended early"), "{body}: {report}");
    }
}
