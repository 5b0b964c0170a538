//! Objects without bitcode are counted and named; a verdict rests on them, and `--strict` refuses them.

use super::support::{Scratch, text};

fn mixed() -> Scratch {
    let scratch = Scratch::with_project();
    scratch.write("old.c", "int old(int x) { return x; }\n");
    scratch.shell("$CC -c main.c twice.c plus.cc starts.s; $CLANG -c old.c; $CC *.o -o prog");
    scratch
}

const SENTENCE: &str = "prog: 2 of 5 objects have bitcode; missing: plus.cc (C++ is not read), starts.s (it is assembly), old.c";

#[test]
fn what_is_missing_is_named_and_the_rest_is_checked() {
    let scratch = mixed();
    let output = scratch.lockcheck(&["--format", "json", "prog"]);
    assert_eq!(text(&output.stderr), format!("lockcheck: note: {SENTENCE}\n"));
    assert_eq!(output.status.code(), Some(3), "nothing is found, and nothing is complete");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let assumed: Vec<&str> = report["assumptions"].as_array().into_iter().flatten().filter_map(|a| a["what"].as_str()).collect();
    assert_eq!(assumed, ["prog: old.c", "prog: plus.cc (C++ is not read)", "prog: starts.s (it is assembly)"]);
    assert!(report["assumptions"].as_array().into_iter().flatten().all(|assumption| assumption["kind"] == "missing-bitcode"));
    assert_eq!(report["checks"]["race"], "unknown");
}

#[test]
fn strict_refuses_what_is_missing() {
    let scratch = mixed();
    for arguments in [&["--strict", "prog"][..], &["extract", "--strict", "prog", "-o", "p.bc"]] {
        let output = scratch.lockcheck(arguments);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        assert!(text(&output.stderr).contains(SENTENCE), "{}", text(&output.stderr));
    }
    scratch.shell("$CC main.o twice.o -o whole");
    assert_eq!(scratch.lockcheck(&["--strict", "whole"]).status.code(), Some(3));
}

#[test]
fn a_program_without_any_bitcode_is_refused() {
    let scratch = Scratch::with_project();
    scratch.shell("$CLANG main.c twice.c -o prog");
    let output = scratch.lockcheck(&["prog"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("prog: an ELF file without bitcode"), "{}", text(&output.stderr));
}

#[test]
fn in_a_stripped_program_others_cannot_be_counted() {
    let scratch = mixed();
    scratch.shell("strip prog");
    let output = scratch.lockcheck(&["prog"]);
    assert!(text(&output.stderr).contains("2 objects have bitcode; its symbol table is gone"), "{}", text(&output.stderr));
    assert_eq!(scratch.lockcheck(&["--strict", "prog"]).status.code(), Some(2));
}

/// Code that is not there may replace a function or start a thread: what a run shows is then possible, not confirmed.
#[test]
fn nothing_is_confirmed_of_a_program_of_which_a_part_is_missing() {
    let race = "#include <pthread.h>\nint hits;\nvoid *visitor(void *p) { hits++; return p; }\nint main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, visitor, 0);\n    hits++;\n    return pthread_join(t, 0);\n}\n";
    let scratch = Scratch::with_project();
    scratch.write("race.c", race);
    scratch.shell("$CC -pthread race.c -o whole; $CLANG -c twice.c; $CC -pthread race.c twice.o -o part");
    let verdict = |program: &str| {
        let output = scratch.lockcheck(&["--check", "race", "--format", "json", program]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"][0]["verdict"].clone()
    };
    assert_eq!((verdict("whole"), verdict("part")), ("confirmed".into(), "possible".into()));
}

#[test]
fn members_of_archives_are_counted_ordinary_and_thin() {
    let scratch = Scratch::with_project();
    for kind in ["rcs", "rcsT"] {
        scratch.shell(&format!(
            "$CC -c main.c twice.c plus.cc; $CLANG -c sub/twice.c -o old.o; rm -f l.a; ar {kind} l.a main.o twice.o plus.o old.o"
        ));
        let output = scratch.lockcheck(&["emit", "program", "l.a"]);
        let expected = "lockcheck: note: l.a: 2 of 4 objects have bitcode; missing: plus.o (C++ is not read), old.o\n";
        assert_eq!(text(&output.stderr), expected, "{kind}");
        assert!(text(&output.stdout).contains("@twice"));
    }
    scratch.shell("rm twice.o");
    let output = scratch.lockcheck(&["l.a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("twice.o"), "{}", text(&output.stderr));
}

/// Assembled by another tool, it names no source; its function is in the program and in no module.
#[test]
fn an_object_that_names_no_source_is_known_by_its_functions() {
    let scratch = Scratch::with_project();
    scratch.shell(
        "as starts.s -o starts.o; $CC -c main.c twice.c; $CC main.o twice.o starts.o -o prog; $CC main.o twice.o -o whole",
    );
    let output = scratch.lockcheck(&["prog"]);
    assert!(text(&output.stdout).contains("prog: whatever defines the function `answer`"), "{}", text(&output.stdout));
    let strict = scratch.lockcheck(&["--strict", "prog"]);
    assert!(strict.status.code() == Some(2) && text(&strict.stderr).contains("`answer`"), "{}", text(&strict.stderr));
    assert!(!text(&scratch.lockcheck(&["whole"]).stdout).contains("missing-bitcode"));
}

/// A name for the assembler, an alias, a weak and a plain inline function: all of them are in the bitcode.
#[test]
fn functions_under_other_names_are_not_missing() {
    let scratch = Scratch::new();
    scratch.write(
        "main.c",
        "int own(void) __asm__(\"other_name\");\nint own(void) { return 1; }\nint first(void) { return 2; }\n\
         int second(void) __attribute__((alias(\"first\")));\n__attribute__((weak)) int third(void) { return 3; }\n\
         inline int fourth(void) { return 4; }\nextern int fourth(void);\n\
         int main(void) { return own() + second() + third() + fourth() == 10; }\n",
    );
    scratch.shell("$CC -O2 main.c -o prog");
    let output = scratch.lockcheck(&["emit", "program", "prog", "--strict"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}
