//! The text report, in clang's manner: a warning line, the source with a caret, a block a thread, why the tool is sure, and counts.

use super::support::{RACING, Scratch, clean, uncertain};

#[test]
fn a_finding_reads_from_top_to_bottom() {
    let run = Scratch::with(RACING).lockcheck(&["prog.c"]).expect(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "prog.c:6:9: warning: data race on hits: visitor and main write it, and nothing orders them [data-race]"
    );
    let at =
        |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part:?} in {}", run.stdout));
    let source = at(" 6 |     hits++;");
    let caret = lines[source + 1];
    assert_eq!(caret.find('^'), lines[source].find("++"), "{}", run.stdout);
    assert!(at("13 |     hits++;") > source);
    let (visitor, main) = (at("  thread visitor@prog.c:12"), at("  thread main"));
    assert!(source < visitor && visitor < main, "{}", run.stdout);
    assert_eq!(lines[visitor + 1], "    prog.c:12:5: create visitor in main");
    assert_eq!(lines[visitor + 2], "    prog.c:6:9: write hits in visitor, holding lock (taken at prog.c:5:5)");
    assert_eq!(lines[main + 1], "    prog.c:13:9: write hits in main, no lock held");
    assert!(
        lines[main + 2].contains("confirmed") && lines[main + 3].trim_start().starts_with("lockcheck replay lc1:"),
        "{}",
        run.stdout
    );
    assert!(
        run.last_line().starts_with("1 confirmed, 0 possible, ")
            && run.last_line().ends_with(" refuted, 0 assumptions (not complete)"),
        "{}",
        run.last_line()
    );
}

#[test]
fn what_was_not_excluded_is_said() {
    let run = Scratch::with(&uncertain()).lockcheck(&["prog.c"]).expect(1);
    assert!(run.stdout.contains("  possible, not confirmed: ") && run.stdout.contains("frobnicate"), "{}", run.stdout);
    assert!(run.stdout.contains("prog.c:12:5: note: assumed [external-function]: frobnicate"), "{}", run.stdout);
    assert!(!run.stdout.contains("lc1:"), "{}", run.stdout);
    assert!(
        run.last_line().starts_with("0 confirmed, 1 possible, ")
            && run.last_line().ends_with(" refuted, 1 assumptions (not complete)"),
        "{}",
        run.last_line()
    );
}

#[test]
fn findings_are_sorted_by_line() {
    let program =
        RACING.replace("int hits;", "int hits, misses;").replace("    hits++;\n", "    misses++; hits++;\n    misses--;\n");
    let run = Scratch::with(&program).lockcheck(&["prog.c"]).expect(1);
    let places = run.stdout.lines().filter(|line| line.contains(": warning: "));
    let places: Vec<(u32, u32)> = places
        .map(|line| {
            let mut parts = line.split(':').skip(1).map(|number| number.parse().expect("a number"));
            (parts.next().expect("a line"), parts.next().expect("a column"))
        })
        .collect();
    assert!(places.len() > 2 && places.is_sorted(), "{places:?}");
}

#[test]
fn quiet_leaves_the_notes_out_and_verbose_adds_counts() {
    let scratch = Scratch::with(&clean());
    let plain = scratch.lockcheck(&["prog.c"]).expect(3);
    assert!(plain.stdout.contains("note: not complete: "), "{}", plain.stdout);
    let quiet = scratch.lockcheck(&["prog.c", "-q"]).expect(3);
    assert!(quiet.stdout.lines().count() == 1 && quiet.last_line().starts_with("0 confirmed, 0 possible, "), "{}", quiet.stdout);
    let verbose = scratch.lockcheck(&["prog.c", "-v"]).expect(3);
    assert!(verbose.stdout.contains(" executions, ") && !plain.stdout.contains(" executions, "), "{}", verbose.stdout);
    let explored = scratch.lockcheck(&["explore", "-n", "30", "prog.c"]).expect(3);
    assert!(explored.stdout.contains("note: 30 executions, "), "{}", explored.stdout);
    let racing = Scratch::with(RACING).lockcheck(&["prog.c", "-q"]).expect(1);
    assert!(racing.stdout.contains("warning:") && !racing.stdout.contains("note:"), "{}", racing.stdout);
}

#[test]
fn threads_that_one_line_creates_have_numbers() {
    let program = "#include <pthread.h>\nint hits;\nstatic void *visitor(void *arg) { hits++; return arg; }\n\
        int main(void) { pthread_t a, b; pthread_create(&a, 0, visitor, 0); pthread_create(&b, 0, visitor, 0); return pthread_join(a, 0) + pthread_join(b, 0); }\n";
    let run = Scratch::with(program).lockcheck(&["prog.c"]).expect(1);
    assert!(run.stdout.contains("visitor#1") && run.stdout.contains("visitor#2"), "{}", run.stdout);
    assert!(run.stdout.contains("thread visitor@prog.c:4#"), "{}", run.stdout);
}

#[test]
fn without_debug_information_the_report_says_so() {
    let scratch = Scratch::with(RACING);
    scratch.clang("-O1 -Xclang -disable-llvm-passes -emit-llvm -c prog.c -o prog.bc");
    let run = scratch.lockcheck(&["prog.bc"]).expect(1);
    assert!(run.stdout.contains("<no debug information>: warning: data race on hits"), "{}", run.stdout);
    assert!(run.stdout.contains("[no-debug-information]"), "{}", run.stdout);
}

#[test]
fn a_source_that_is_gone_is_not_quoted() {
    let scratch = Scratch::with(RACING);
    scratch.lockcheck(&["emit", "program", "prog.c"]).expect(0);
    let program = scratch.lockcheck(&["emit", "program", "prog.c"]).stdout;
    scratch.write("kept.lc", &program);
    std::fs::remove_file(scratch.path("prog.c")).expect("the source can be removed");
    let run = scratch.lockcheck(&["kept.lc"]).expect(1);
    assert!(run.stdout.starts_with("prog.c:6:9: warning: ") && !run.stdout.contains(" | "), "{}", run.stdout);
}
