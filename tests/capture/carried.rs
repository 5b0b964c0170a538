//! What was built is checked as the source would be: the program alone is enough, wherever it is.

use std::process::Output;

use super::support::{Scratch, records, sources, text};

/// Two threads add to `hits`, one of them without the lock. In three files, one of them in an archive.
fn racing() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("hits.h", "#include <pthread.h>\nextern int hits;\nextern pthread_mutex_t lock;\nvoid *visitor(void *);\n");
    scratch.write("hits.c", "#include \"hits.h\"\nint hits;\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n");
    scratch.write(
        "visitor.c",
        "#include \"hits.h\"\nvoid *visitor(void *p) {\n    pthread_mutex_lock(&lock);\n    hits++;\n    pthread_mutex_unlock(&lock);\n    return p;\n}\n",
    );
    scratch.write(
        "main.c",
        "#include \"hits.h\"\nint main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, visitor, 0);\n    hits++;\n    pthread_join(t, 0);\n    return 0;\n}\n",
    );
    scratch
}

#[track_caller]
fn expect_race(output: &Output) {
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["rule"], &finding["verdict"], &finding["object"]),
        (&"data-race".into(), &"confirmed".into(), &"hits".into())
    );
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<_> = finding["sites"].as_array().into_iter().flatten().map(|site| site["line"].as_i64()).collect();
    assert!(lines.contains(&Some(4)) && lines.contains(&Some(5)), "{lines:?}");
}

#[test]
fn an_optimised_program_shows_the_race_of_its_source() {
    let scratch = racing();
    scratch.shell("$CC -O2 -c hits.c visitor.c main.c; ar rcs l.a hits.o visitor.o; $CC -pthread main.o l.a -o prog");
    let output = scratch.lockcheck(&["--check", "race", "--format", "json", "prog"]);
    expect_race(&output);
    assert_eq!(text(&output.stderr), "lockcheck: note: prog: 3 of 3 objects have bitcode\n");
    for inputs in [&["main.o", "l.a"][..], &["main.o", "hits.o", "visitor.o"]] {
        expect_race(&scratch.lockcheck(&[&["--check", "race", "--format", "json"], inputs].concat()));
    }
}

#[test]
fn the_build_tree_may_be_gone() {
    let scratch = racing();
    scratch.shell("mkdir b; cp *.c *.h b; cd b; $CC -O2 -pthread *.c -o ../prog; cd ..; rm -r b *.c *.h");
    expect_race(&scratch.lockcheck(&["--check", "race", "--format", "json", "prog"]));
}

#[test]
fn link_time_optimisation_keeps_the_records_of_what_was_not_optimised() {
    let archiver = super::support::clang().replace("clang", "llvm-ar");
    for kind in ["-flto", "-flto=thin"] {
        let scratch = racing();
        scratch.shell(&format!(
            "$CC {kind} -O2 -c hits.c visitor.c main.c; {archiver} rcs l.a hits.o visitor.o; $CC {kind} -O2 -pthread main.o l.a -o prog; ./prog"
        ));
        expect_race(&scratch.lockcheck(&["--check", "race", "--format", "json", "prog"]));
        scratch.shell(&format!("$CC {kind} -O2 -pthread hits.c visitor.c main.c -o at-once; ./at-once"));
        expect_race(&scratch.lockcheck(&["--check", "race", "--format", "json", "at-once"]));
    }
}

#[test]
fn extract_writes_one_valid_module() {
    let scratch = Scratch::with_project();
    scratch.shell("$CC -O2 main.c twice.c -o prog");
    let output = scratch.lockcheck(&["extract", "prog", "-o", "prog.bc"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let (opt, dis) = (super::support::clang().replace("clang", "opt"), super::support::clang().replace("clang", "llvm-dis"));
    let listing = scratch.shell(&format!("{opt} -passes=verify prog.bc -o checked.bc; {dis} checked.bc -o -"));
    for function in ["@main(", "@twice("] {
        assert!(listing.lines().any(|line| line.starts_with("define") && line.contains(function)), "{function}");
    }
    // The module is a program like any other.
    let same = |input: &str| text(&scratch.lockcheck(&["emit", "program", input]).stdout);
    assert_eq!(same("prog.bc"), same("prog"));
    assert!(same("prog").contains("@twice"));
    let refused = scratch.lockcheck(&["extract", "prog", "-o", "no/such/directory.bc"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot be written"), "{}", text(&refused.stderr));
}

#[test]
fn a_damaged_record_is_an_error_and_never_a_smaller_program() {
    let scratch = Scratch::with_project();
    scratch.shell("$CC main.c twice.c -o prog");
    let whole = std::fs::read(scratch.path("prog")).unwrap();
    let start = whole.windows(6).position(|bytes| bytes == b"lckchk").expect("a record");
    for at in [start, start + 7, start + 9, start + 20, start + 40, start + 200] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(scratch.path("damaged"), &damaged).unwrap();
        let output = scratch.lockcheck(&["damaged"]);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "byte {at}");
        assert!(text(&output.stderr).contains("damaged"), "{}", text(&output.stderr));
    }
}

#[test]
fn records_say_where_a_source_was_and_how_its_object_knows_it() {
    let scratch = Scratch::with_project();
    scratch.shell("$CC -c sub/twice.c -o t.o; $CC -E main.c -o m.i; $CC -c m.i");
    let [record] = &records(&std::fs::read(scratch.path("t.o")).unwrap())[..] else { panic!("one record") };
    assert_eq!((record.source.as_str(), record.file_symbol.as_str()), ("sub/twice.c", "twice.c"));
    assert_eq!(std::path::Path::new(&record.directory), scratch.work().canonicalize().unwrap());
    assert_eq!(sources(&std::fs::read(scratch.path("m.o")).unwrap()).0, ["m.i"]);
}

/// More sections than the head of an object can count.
#[test]
fn an_object_with_very_many_sections() {
    let scratch = Scratch::new();
    let functions: String = (0..66_000).map(|n| format!(".section .text.f{n},\"ax\",%progbits\n.byte 0\n")).collect();
    scratch.write("many.s", &functions);
    scratch.shell("$CC -c many.s; ld -r many.o -o again.o");
    for name in ["many.o", "again.o"] {
        let file = std::fs::read(scratch.path(name)).unwrap();
        assert_eq!(sources(&file).1, ["many.s"], "{name}");
    }
}
