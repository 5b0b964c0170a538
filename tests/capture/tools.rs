//! Build tools, where they are installed: make always; cmake, meson, ccache, libtool and autoconf only if they are there.

use std::path::Path;

use super::support::{Scratch, WRAPPER, has, sources, text};

#[track_caller]
fn expect_sources(scratch: &Scratch, program: &str, expected: &[&str]) {
    let (with, without) = sources(&std::fs::read(scratch.path(program)).unwrap());
    let names: Vec<&str> = with.iter().filter_map(|name| name.rsplit('/').next()).collect();
    assert_eq!((names, without), (expected.to_vec(), Vec::new()));
}

/// Tools write to standard error what they like.
#[track_caller]
fn run(scratch: &Scratch, script: &str) {
    let output =
        scratch.shell_with(WRAPPER, &format!("export PATH=\"$(dirname \"$CC\"):$(dirname \"$LOCKCHECK\"):$PATH\"; {script}"));
    assert!(output.status.success(), "{script}\n{}\n{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn the_example_of_a_project_with_a_makefile() {
    let scratch = Scratch::with_project();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples/makefile-project");
    run(&scratch, &format!("cp -r '{}' project; cd project; rm -rf build; make -j2 check-locks FIXED=1", example.display()));
    expect_sources(&scratch, "project/build/locks/shop", &["stock.c", "shop.c"]);
    let racing = "cd project; rm -rf build; ! make check-locks >report 2>&1; grep -q 'data race on level' report";
    run(&scratch, racing);
    run(&scratch, "cd project; make BUILD=plain; ./plain/shop; ! test -e build/shop");
}

#[test]
fn cmake_builds_unchanged() {
    if !has("cmake") {
        return;
    }
    let scratch = Scratch::with_project();
    scratch.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(t STATIC twice.c)\nadd_executable(prog main.c)\ntarget_link_libraries(prog t)\n",
    );
    run(
        &scratch,
        "cmake -S . -B build -DCMAKE_C_COMPILER=lockcheck-cc -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; cmake --build build; build/prog",
    );
    expect_sources(&scratch, "build/prog", &["main.c", "twice.c"]);
    let output = scratch.lockcheck(&["emit", "program", "build/compile_commands.json"]);
    assert!(text(&output.stderr).contains("2 of 2 objects"), "{}", text(&output.stderr));
}

#[test]
fn meson_builds_unchanged() {
    if !has("meson") || !has("ninja") {
        return;
    }
    let scratch = Scratch::with_project();
    scratch.write(
        "meson.build",
        "project('p', 'c')\nt = static_library('t', 'twice.c')\nexecutable('prog', 'main.c', link_with: t)\n",
    );
    run(&scratch, "CC=lockcheck-cc meson setup build; meson compile -C build; build/prog");
    expect_sources(&scratch, "build/prog", &["main.c", "twice.c"]);
}

#[test]
fn ccache_keeps_the_records() {
    if !has("ccache") {
        return;
    }
    let scratch = Scratch::with_project();
    for _ in 0..2 {
        run(
            &scratch,
            "export CCACHE_DIR=$PWD/cache; rm -f *.o; for f in main twice; do ccache $CC -O2 -c $f.c; done; $CC main.o twice.o -o prog",
        );
        expect_sources(&scratch, "prog", &["main.c", "twice.c"]);
    }
    run(
        &scratch,
        "export CCACHE_DIR=$PWD/cache; ccache --print-stats | grep -E 'direct_cache_hit|preprocessed_cache_hit' | grep -q '[1-9]'",
    );
}

#[test]
fn libtool_and_autoconf_build_unchanged() {
    if !has("libtoolize") || !has("autoreconf") {
        return;
    }
    let scratch = Scratch::with_project();
    scratch.write(
        "configure.ac",
        "AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\nAM_PROG_AR\nLT_INIT\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    scratch.write(
        "Makefile.am",
        "lib_LTLIBRARIES = libt.la\nlibt_la_SOURCES = twice.c\nbin_PROGRAMS = prog\nprog_SOURCES = main.c\nprog_LDADD = libt.la\n",
    );
    run(
        &scratch,
        "autoreconf -fi; ./configure CC=lockcheck-cc; make; ./prog; ./configure CC=lockcheck-cc --disable-shared; make clean; make",
    );
    expect_sources(&scratch, "prog", &["main.c", "twice.c"]);
}
