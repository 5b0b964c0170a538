//! Every form of a command: same exit code, same words, same files and same code as clang's, and the right records.

use super::support::{Built, Scratch, code_sections, sources, text};

/// A script, a file that it makes, and the sources whose records are in that file: with bitcode, and without.
struct Form {
    script: &'static str,
    product: &'static str,
    with: &'static [&'static str],
    without: &'static [&'static str],
}

const fn form(script: &'static str, product: &'static str, with: &'static [&'static str]) -> Form {
    Form { script, product, with, without: &[] }
}

const FORMS: &[Form] = &[
    form("$CC -c twice.c", "twice.o", &["twice.c"]),
    form("$CC -O2 -g -Wall -Werror -pipe -c twice.c -o out.o", "out.o", &["twice.c"]),
    form("$CC -MMD -MP -MF deps -MT goal -c main.c -o main.o", "main.o", &["main.c"]),
    form("$CC -MMD -MF deps -c main.c", "main.o", &["main.c"]),
    form("$CC -MD -c main.c", "main.o", &["main.c"]),
    form("$CC --coverage -c twice.c", "twice.o", &["twice.c"]),
    form("echo 'int use(void) { return WORD; }' >w.c; echo '#define WORD 1' >w.h; $CC -include w.h -c w.c", "w.o", &["w.c"]),
    form("$CC -Wp,-MD,main.dep -c main.c", "main.o", &["main.c"]),
    form("$CC -c main.c twice.c; $CC main.o twice.o -o prog; ./prog", "prog", &["main.c", "twice.c"]),
    form("$CC -c twice.c sub/twice.c", "twice.o", &["sub/twice.c"]),
    form("$CC main.c twice.c sub/twice.c -o prog; ./prog", "prog", &["main.c", "sub/twice.c", "twice.c"]),
    form("$CC -MD -g main.c twice.c -o prog", "prog", &["main.c", "twice.c"]),
    form("$CC -c twice.c; $CC main.c twice.o; ./a.out", "a.out", &["main.c", "twice.c"]),
    form("$CC -E main.c -o main.i; $CC -c main.i", "main.o", &["main.i"]),
    form("$CC -S twice.c -o twice.s; $CC -c twice.s", "twice.o", &["twice.c"]),
    form("$CC -O2 -S twice.c main.c; $CC twice.s main.s -o prog; ./prog", "prog", &["main.c", "twice.c"]),
    form("cp twice.c twice.txt; $CC -x c -c twice.txt", "twice.o", &["twice.txt"]),
    form("cp main.c m; $CC -c twice.c; $CC -x c m -x none twice.o -o prog; ./prog", "prog", &["m", "twice.c"]),
    form("$CC -c twice.c; $CC -o prog twice.o -xc -- main.c", "prog", &["main.c", "twice.c"]),
    form("echo '-O2 \"-DX=1 2\" -c twice.c' >args; $CC @args -o out.o", "out.o", &["twice.c"]),
    form("$CC -I. -x c -c - -o out.o <twice.c", "out.o", &["-"]),
    form("$CC -I. -c twice.c; $CC -x c - -x none twice.o -o prog <main.c; ./prog", "prog", &["-", "twice.c"]),
    form("$CC -fPIC -shared twice.c sub/twice.c -Wl,-soname,libt.so.1 -o libt.so", "libt.so", &["sub/twice.c", "twice.c"]),
    form(
        "$CC -c main.c twice.c; echo 'INPUT(main.o twice.o)' >all.ld; $CC all.ld -o prog; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form(
        "$CC -c twice.c -o t.o; $CC -c sub/twice.c -o s.o; $CC -c main.c; ar rcs l.a t.o s.o; $CC main.o l.a -o prog; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form(
        "$CC -c twice.c -o t.o; $CC -c sub/twice.c -o s.o; $CC -c main.c; ar rcT l.a t.o s.o; $CC main.o -L. -l:l.a -o prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form("$CC -c main.c twice.c; ld -r main.o twice.o -o both.o; $CC both.o -o prog; ./prog", "prog", &["main.c", "twice.c"]),
    form(
        "$CC -ffunction-sections -fdata-sections main.c twice.c -Wl,--gc-sections -o prog; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form(
        "$CC -ffunction-sections -c main.c twice.c; $CC main.o twice.o -Wl,--gc-sections -s -o prog; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form("$CC main.c twice.c -o prog; strip prog; ./prog", "prog", &["main.c", "twice.c"]),
    form(
        "$CC -c main.c twice.c; strip --strip-unneeded main.o; $CC main.o twice.o -o prog; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    form("CC=\"$CC -m32\"; $CC -c main.c; $CC main.o twice.c -o prog", "prog", &["main.c", "twice.c"]),
    form(
        "mkdir 'my dir'; cp twice.c twice.h 'my dir'; $CC -c 'my dir/twice.c' -o 'my dir/my twice.o'",
        "my dir/my twice.o",
        &["my dir/twice.c"],
    ),
    form("$CC -O2 -x c-header twice.h -o t.pch; $CC -O2 -include-pch t.pch -c main.c", "main.o", &["main.c"]),
    form("$CC -fcf-protection -c twice.c; $CC -fcf-protection twice.o main.c -o prog", "prog", &["main.c", "twice.c"]),
    form("$CC -emit-llvm -c twice.c -o t.bc; $CC -c t.bc -o t.o", "t.o", &["t.bc"]),
    form(
        "printf 'all: prog\\nprog: main.o twice.o\\n\\t$(CC) -o $@ main.o twice.o\\n' >Makefile; make -s -j4 CC=\"$CC\"; ./prog",
        "prog",
        &["main.c", "twice.c"],
    ),
    Form { script: "$CC -c plus.cc", product: "plus.o", with: &[], without: &["plus.cc"] },
    Form { script: "$CC -c starts.s", product: "starts.o", with: &[], without: &["starts.s"] },
    Form { script: "$CC main.c twice.c starts.s -o prog", product: "prog", with: &["main.c", "twice.c"], without: &["starts.s"] },
];

#[test]
fn every_form_builds_what_clang_builds_and_carries_its_records() {
    let mut complaints = Vec::new();
    for form in FORMS {
        let scratch = Scratch::new();
        let (plain, wrapped) = scratch.both(form.script);
        if !plain.output.status.success() {
            complaints.push(format!("{}: clang fails: {}", form.script, text(&plain.output.stderr)));
            continue;
        }
        complaints.extend(differences(&plain, &wrapped).into_iter().map(|what| format!("{}: {what}", form.script)));
        let (with, without) = sources(&wrapped.bytes(form.product));
        if with != form.with || without != form.without {
            complaints.push(format!("{}: {} carries {with:?} and lacks {without:?}", form.script, form.product));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What differs beyond the records.
fn differences(plain: &Built, wrapped: &Built) -> Vec<String> {
    let mut found = Vec::new();
    if (plain.output.status.code(), &plain.output.stdout) != (wrapped.output.status.code(), &wrapped.output.stdout) {
        found.push(format!("another end or output: {}", text(&wrapped.output.stderr)));
    }
    if plain.output.stderr != wrapped.output.stderr {
        found.push(format!("other messages: {:?} and {:?}", text(&plain.output.stderr), text(&wrapped.output.stderr)));
    }
    let (expected, seen) = (plain.files(), wrapped.files());
    if !expected.keys().eq(seen.keys()) {
        found.push(format!("other files: {:?} and {:?}", expected.keys(), seen.keys()));
        return found;
    }
    for (name, expected) in expected {
        let seen = &seen[&name];
        let ending = name.extension().unwrap_or_default().to_string_lossy().into_owned();
        let is_same = match ending.as_str() {
            "s" => seen.starts_with(&expected),
            "a" => true,
            _ if expected.starts_with(b"\x7FELF") => code_sections(&expected) == code_sections(seen),
            _ => expected == *seen,
        };
        if !is_same {
            found.push(format!("{} differs", name.display()));
        }
    }
    found
}

#[test]
fn an_object_is_clangs_byte_for_byte_with_something_behind_it() {
    for options in ["", "-O2 -g", "-m32 -g", "-O2 -ffunction-sections -fdata-sections -gsplit-dwarf"] {
        let scratch = Scratch::new();
        let (plain, wrapped) = scratch.both(&format!("$CC {options} -c main.c"));
        let (expected, seen) = (plain.bytes("main.o"), wrapped.bytes("main.o"));
        let head = if options.contains("-m32") { 52 } else { 64 };
        assert_eq!(expected[head..], seen[head..expected.len()], "{options}");
    }
}

#[test]
fn what_fails_with_clang_fails_in_the_same_words() {
    for script in [
        "echo 'int f( {' >bad.c; $CC -c bad.c",
        "echo 'int f(void) { int unused; return 0; }' >bad.c; $CC -Wall -Werror -c bad.c",
        "$CC -c nowhere.c",
        "$CC main.c -o prog",
        "$CC",
        "$CC -c main.c twice.c -o one.o",
        "$CC -c main.c -fno-such-option",
        "$CC main.c twice.c nowhere.o -o prog",
    ] {
        let scratch = Scratch::new();
        let (plain, wrapped) = scratch.both(script);
        assert_ne!(plain.output.status.code(), Some(0), "{script}");
        let words = |built: &Built| {
            // Names of temporary objects are new every time.
            let lines = text(&built.output.stderr);
            lines.lines().filter(|line| !line.contains("/tmp/") && !line.contains("lockcheck-cc-")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(words(&plain), words(&wrapped), "{script}");
        assert_eq!(plain.output.status.code(), wrapped.output.status.code(), "{script}");
        assert!(plain.files().keys().eq(wrapped.files().keys()), "{script}");
    }
}

#[test]
fn questions_are_answered_by_the_compiler() {
    for script in [
        "$CC --version",
        "$CC -dumpmachine",
        "$CC -print-search-dirs",
        "$CC -E twice.c",
        "$CC -M main.c",
        "$CC -S twice.c -o -",
        "$CC -fsyntax-only -Wall main.c",
        "$CC -c twice.c -o /dev/null",
        "$CC -E -dM - </dev/null",
    ] {
        let scratch = Scratch::new();
        let (plain, wrapped) = scratch.both(script);
        assert_eq!(differences(&plain, &wrapped), Vec::<String>::new(), "{script}");
        assert!(plain.output.status.success(), "{script}");
    }
}

#[test]
fn trials_of_a_build_tool_are_not_captured() {
    let scratch = Scratch::with_project();
    scratch.shell("cp twice.c conftest.c; $CC -c conftest.c; $CC -c twice.c; LOCKCHECK_CAPTURE=off $CC -c sub/twice.c -o off.o");
    scratch
        .shell("mkdir -p CMakeFiles/CMakeScratch/Try; cd CMakeFiles/CMakeScratch/Try; $CC -I../../.. -c ../../../twice.c -o t.o");
    let count = |name: &str| super::support::records(&std::fs::read(scratch.path(name)).unwrap()).len();
    assert_eq!(["conftest.o", "twice.o", "off.o", "CMakeFiles/CMakeScratch/Try/t.o"].map(count), [0, 1, 0, 0]);
}
