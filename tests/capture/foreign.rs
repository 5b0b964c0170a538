//! Bitcode that other tools leave: wllvm and gllvm, `-fembed-bitcode`, link-time optimisation; and compilation databases.

use super::support::{Scratch, text};

#[track_caller]
fn expect_program(scratch: &Scratch, inputs: &[&str], note: &str) {
    let output = scratch.lockcheck(&[&["emit", "program"], inputs].concat());
    let (program, said) = (text(&output.stdout), text(&output.stderr));
    assert!(program.contains("@main") && program.contains("@twice"), "{said}");
    assert!(said.contains(note), "{said}");
}

/// These tools put the name of a bitcode file, and a line feed, into a section of the object.
#[test]
fn names_of_bitcode_files() {
    let scratch = Scratch::with_project();
    scratch.shell(
        "for f in main twice; do $CLANG -c $f.c; $CLANG -g -O1 -Xclang -disable-llvm-passes -emit-llvm -c $f.c -o .$f.o.bc; \
         echo \"$PWD/.$f.o.bc\" >name; objcopy --add-section .llvm_bc=name $f.o; done; $CLANG main.o twice.o -o prog",
    );
    expect_program(&scratch, &["prog"], "prog: 2 of 2 objects have bitcode");
    expect_program(&scratch, &["main.o", "twice.o"], "main.o: 1 of 1");
    scratch.shell("rm .twice.o.bc");
    let output = scratch.lockcheck(&["prog"]);
    assert!(text(&output.stderr).contains(".twice.o.bc (its bitcode file is gone)"), "{}", text(&output.stderr));
}

#[test]
fn embedded_by_clang() {
    let scratch = Scratch::with_project();
    scratch.shell(
        "$CLANG -fembed-bitcode -g -c main.c twice.c; $CLANG -c sub/twice.c -o old.o; $CLANG main.o twice.o old.o -o prog",
    );
    expect_program(&scratch, &["main.o", "twice.o"], "twice.o: 1 of 1");
    expect_program(&scratch, &["prog"], "prog: 2 of 3 objects have bitcode; missing: one (among main.c, twice.c, twice.c)");
}

#[test]
fn objects_of_link_time_optimisation() {
    let scratch = Scratch::with_project();
    scratch.shell("$CLANG -flto -g -c main.c twice.c; ar rcs l.a main.o twice.o");
    expect_program(&scratch, &["main.o", "twice.o"], "");
    expect_program(&scratch, &["l.a"], "l.a: 2 of 2");
    scratch.shell("$CLANG -flto -ffat-lto-objects -g -c main.c twice.c");
    expect_program(&scratch, &["main.o", "twice.o"], "main.o: 1 of 1");
}

#[test]
fn a_compilation_database() {
    let scratch = Scratch::with_project();
    scratch.write("defined.c", "#ifndef WORD\n#error the options of the entry are lost\n#endif\nint defined = WORD;\n");
    let directory = scratch.work().display().to_string();
    let entries = serde_json::json!([
        {"directory": directory, "file": "main.c", "command": "cc -O2 -Werror -MMD -MF gone/main.d -o gone/main.o -c main.c"},
        {"directory": directory, "file": "twice.c", "arguments": ["cc", "-flto", "-c", "twice.c", "-o", "t.o"]},
        {"directory": directory, "file": "twice.c", "arguments": ["cc", "-fPIC", "-c", "twice.c", "-o", "t.lo"]},
        {"directory": directory, "file": "defined.c", "command": "cc \"-DWORD=4\" -c defined.c"},
        {"directory": directory, "file": "plus.cc", "command": "c++ -c plus.cc"},
    ]);
    scratch.write("b/compile_commands.json", &entries.to_string());
    let note = "b/compile_commands.json: 3 of 4 objects have bitcode; missing: plus.cc (C++ is not read)";
    expect_program(&scratch, &["b/compile_commands.json"], note);
    assert_eq!(scratch.lockcheck(&["--strict", "b/compile_commands.json"]).status.code(), Some(2));
    for (content, part) in
        [("{}", "invalid compilation database"), ("[]", "no C file"), ("[{\"directory\":\"/\",\"file\":\"a.c\"}]", "neither")]
    {
        scratch.write("b/compile_commands.json", content);
        let output = scratch.lockcheck(&["b/compile_commands.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
}
