//! The user's own compiler builds, clang only makes the bitcode; what clang rejects is built all the same.

use super::support::{Scratch, WRAPPER, has, sources, text};

#[test]
fn the_users_compiler_builds() {
    if !has("gcc") {
        return;
    }
    let scratch = Scratch::with_project();
    scratch.shell("export LOCKCHECK_CC='gcc -g'; $CC -O2 -fno-tree-sra -fipa-pta -c main.c; $CC main.o twice.c -o prog; ./prog");
    let object = std::fs::read(scratch.path("main.o")).unwrap();
    assert!(object.windows(4).any(|bytes| bytes == b"GCC:"), "gcc leaves its name in what it compiles");
    assert_eq!(sources(&std::fs::read(scratch.path("prog")).unwrap()).0, ["main.c", "twice.c"]);
    let output = scratch.lockcheck(&["emit", "program", "prog"]);
    assert!(text(&output.stderr).contains("2 of 2 objects"), "{}", text(&output.stderr));
}

#[test]
fn what_clang_rejects_is_built_without_bitcode_and_that_is_said() {
    if !has("gcc") {
        return;
    }
    let scratch = Scratch::with_project();
    scratch.write("nested.c", "int outer(int x) { int inner(int y) { return x + y; } return inner(1); }\n");
    let output =
        scratch.shell_with(WRAPPER, "export LOCKCHECK_CC=gcc; $CC -c nested.c; $CC main.c twice.c nested.o -o prog; ./prog");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "8\n".to_owned()));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("lockcheck-cc: note: nested.c: no bitcode: clang rejects what gcc accepts: ")
            && said.lines().count() == 1,
        "{said}"
    );
    let output = scratch.lockcheck(&["emit", "program", "prog"]);
    assert!(text(&output.stderr).contains("2 of 3 objects have bitcode; missing: nested.c (clang rejects it: "));
}

#[test]
fn a_compiler_that_does_not_exist_is_an_error() {
    let scratch = Scratch::with_project();
    for script in ["LOCKCHECK_CC=no-such-compiler $CC -c main.c", "LOCKCHECK_CC=no-such-compiler $CC --version"] {
        let output = scratch.shell_with(WRAPPER, script);
        assert_eq!(output.status.code(), Some(127), "{script}");
        assert!(text(&output.stderr).contains("no-such-compiler could not be run"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_wrapper_around_the_wrapper_embeds_once() {
    let scratch = Scratch::with_project();
    scratch.shell("LOCKCHECK_CC=\"$CC\" $CC -c twice.c");
    assert_eq!(sources(&std::fs::read(scratch.path("twice.o")).unwrap()).0, ["twice.c"]);
}

#[test]
fn a_compiler_ended_by_a_signal_ends_the_wrapper_so() {
    use std::os::unix::process::ExitStatusExt;
    let scratch = Scratch::with_project();
    scratch.write("dies", "#!/bin/sh\nkill -TERM $$\n");
    scratch.shell("chmod +x dies");
    let status = std::process::Command::new(WRAPPER)
        .args(["-c", "main.c"])
        .env("LOCKCHECK_CC", scratch.path("dies"))
        .current_dir(scratch.work())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(libc::SIGTERM));
}

/// The wrapper is started for every file of a build: it must load neither LLVM nor anything else that takes its time.
#[test]
fn the_wrapper_loads_no_llvm() {
    let listed = Scratch::with_project().shell(&format!("ldd '{WRAPPER}'"));
    assert!(!listed.contains("LLVM") && listed.contains("libc.so"), "{listed}");
}

#[test]
fn what_a_compiler_cache_keeps_is_not_changed() {
    let scratch = Scratch::with_project();
    scratch.write("cache", "#!/bin/sh\n$CLANG \"$1\" twice.c -o kept && ln -f kept \"$3\"\n");
    scratch.shell("chmod +x cache; LOCKCHECK_CC=./cache $CC -c -o twice.o twice.c; mv kept kept.o");
    let of = |name: &str| sources(&std::fs::read(scratch.path(name)).unwrap()).0;
    assert_eq!((of("twice.o"), of("kept.o")), (vec!["twice.c".to_owned()], vec![]));
}
