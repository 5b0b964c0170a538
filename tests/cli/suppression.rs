//! Suppressions in the source: what they cover, what stays in the report, and notes about those that do nothing.

use serde_json::Value;

use super::support::{RACING, Scratch, list};

/// The racing program with a comment at the end of a line, counted from 1.
fn with_comment(line: usize, comment: &str) -> String {
    RACING
        .lines()
        .enumerate()
        .map(|(at, text)| if at + 1 == line { format!("{text} {comment}\n") } else { format!("{text}\n") })
        .collect()
}

fn with_line_before(line: usize, added: &str) -> String {
    RACING
        .lines()
        .enumerate()
        .map(|(at, text)| if at + 1 == line { format!("{added}\n{text}\n") } else { format!("{text}\n") })
        .collect()
}

fn suppression(program: &str) -> (Value, Value, Vec<String>) {
    let report = Scratch::with(program).report(&[]);
    let [finding] = list(&report, "findings") else { panic!("one finding: {report}") };
    let notes = list(&report, "notes").iter().map(|note| note["message"].as_str().expect("a message").to_owned()).collect();
    (finding["suppressed"].clone(), finding["suppression_reason"].clone(), notes)
}

#[track_caller]
fn expect_suppressed(program: &str, reason: &str) {
    let (suppressed, given, notes) = suppression(program);
    assert_eq!((suppressed, given.as_str()), (true.into(), Some(reason)), "{program}");
    assert!(notes.is_empty(), "{notes:?}");
}

#[track_caller]
fn expect_shown(program: &str, note: &str) {
    let (suppressed, _, notes) = suppression(program);
    assert_eq!(suppressed, false, "{program}");
    match note {
        "" => assert!(notes.is_empty(), "{notes:?}"),
        note => assert!(notes.iter().any(|message| message.contains(note)), "{notes:?} lack {note:?}"),
    }
}

#[test]
fn either_end_can_be_suppressed_in_any_way() {
    expect_suppressed(&with_comment(6, "// NOLINT(lockcheck-data-race): off by a few"), "off by a few");
    expect_suppressed(&with_comment(13, "// NOLINT(lockcheck-data-race): off by a few"), "off by a few");
    expect_suppressed(&with_comment(13, "/* NOLINT(lockcheck-data-race): in a block */"), "in a block");
    expect_suppressed(&with_comment(13, "// NOLINT"), "NOLINT at prog.c:13, without a reason");
    expect_suppressed(&with_comment(13, "// NOLINT: every tool"), "every tool");
    expect_suppressed(&with_comment(13, "// NOLINT(bugprone-x, lockcheck-*): a glob"), "a glob");
    expect_suppressed(&with_line_before(13, "    // NOLINTNEXTLINE(lockcheck-data-race): below"), "below");
    let region = with_line_before(10, "// NOLINTBEGIN(lockcheck-data-race): all of main") + "// NOLINTEND(lockcheck-data-race)\n";
    expect_suppressed(&region, "all of main");
}

#[test]
fn other_lines_rules_and_words_suppress_nothing() {
    expect_shown(
        &with_comment(12, "// NOLINT(lockcheck-data-race): the wrong line"),
        "NOLINT(lockcheck-data-race) suppresses no finding",
    );
    expect_shown(&with_comment(13, "// NOLINT(lockcheck-deadlock)"), "NOLINT(lockcheck-deadlock) suppresses no finding");
    expect_shown(&with_comment(13, "// NOLINT(lockcheck-data-rice)"), "names no rule");
    expect_shown(&with_comment(13, "// NOLINT(data-race)"), "");
    expect_shown(&with_comment(13, "// NOLINT(bugprone-x)"), "");
    expect_shown(&with_comment(13, "// NOLINT(lockcheck-data-race"), "not closed");
    expect_shown(&with_comment(12, "// NOLINT"), "");
    expect_shown(&with_line_before(13, "    const char *s = \"// NOLINTNEXTLINE\"; (void)s;"), "");
    expect_shown(&with_line_before(10, "// NOLINTBEGIN(lockcheck-data-race): never closed"), "NOLINTEND");
    expect_shown(&with_line_before(10, "// NOLINTEND(lockcheck-data-race)"), "NOLINTBEGIN");
}

#[test]
fn one_of_several_names_may_be_unused() {
    let (suppressed, _, notes) = suppression(&with_comment(13, "// NOLINT(lockcheck-data-race, lockcheck-lock-leak): two"));
    assert_eq!(suppressed, true);
    assert_eq!(notes, ["NOLINT(lockcheck-lock-leak) suppresses no finding"]);
}

#[test]
fn a_suppressed_finding_is_out_of_the_text_and_the_exit_code() {
    let scratch = Scratch::with(&with_comment(13, "// NOLINT(lockcheck-data-race): off by a few"));
    let run = scratch.lockcheck(&["prog.c"]).expect(3);
    assert!(!run.stdout.contains("warning:") && run.last_line().contains("1 suppressed"), "{}", run.stdout);
    scratch.lockcheck(&["prog.c", "--allow-incomplete"]).expect(0);
    let verbose = scratch.lockcheck(&["prog.c", "-v"]).expect(3).stdout;
    assert!(verbose.contains("note: suppressed: data race on hits") && verbose.contains("off by a few"), "{verbose}");
}

#[test]
fn an_unused_one_is_a_note_where_it_stands() {
    let scratch = Scratch::with(&with_comment(12, "// NOLINT(lockcheck-deadlock): none here"));
    let text = scratch.lockcheck(&["prog.c"]).expect(1).stdout;
    assert!(text.contains("prog.c:12:54: note: NOLINT(lockcheck-deadlock) suppresses no finding [unused-suppression]"), "{text}");
    assert!(!scratch.lockcheck(&["prog.c", "-q"]).stdout.contains("NOLINT"));
    let report = scratch.report(&[]);
    let [note] = list(&report, "notes") else { panic!("one note: {report}") };
    assert_eq!((&note["kind"], &note["file"], &note["line"]), (&"unused-suppression".into(), &"prog.c".into(), &12.into()));
    assert!(list(&scratch.report(&["--check", "race"]), "notes").is_empty(), "deadlocks were not looked for");
}

#[test]
fn a_header_and_the_text_form_are_read_too() {
    let scratch = Scratch::new();
    scratch.write("include/door.h", "#include <pthread.h>\nextern int hits;\nstatic inline void enter(void) { hits++; } // NOLINT(lockcheck-data-race): header\n");
    scratch.write(
        "prog.c",
        &RACING
            .replace("    hits++;\n    pthread_join", "    enter();\n    pthread_join")
            .replace("int hits;", "#include \"door.h\"\nint hits;"),
    );
    let report = scratch.report(&["--", "-Iinclude"]);
    assert_eq!(list(&report, "findings")[0]["suppression_reason"], "header", "{report}");
    scratch.write("prog.lc", &scratch.lockcheck(&["emit", "program", "prog.c", "--", "-Iinclude"]).stdout);
    let report = scratch.lockcheck(&["prog.lc", "--format", "json"]).json();
    assert_eq!(list(&report, "findings")[0]["suppression_reason"], "header", "{report}");
}
