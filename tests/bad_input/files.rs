//! Files that are not what they should be, and modules that do not fit.

use super::support::{Scratch, fixture, guarded, load_guarded, refused, refused_with};
use lockcheck::error::Error;
use lockcheck::frontend::{DataModel, LoadOptions, load};
use lockcheck::program::AssumptionKind;

const MAIN: &str = "int x; int main(void) { x = 1; return x; }\n";

#[test]
fn a_missing_file() {
    assert!(matches!(refused(&["no/such/file.bc".into()], &["no/such/file.bc", "no such file"]), Error::Missing { .. }));
}

#[test]
fn no_file_at_all() {
    assert!(matches!(refused(&[], &["no input"]), Error::NoInput));
}

#[test]
fn a_directory() {
    let scratch = Scratch::new();
    assert!(matches!(refused(&[scratch.path("")], &["is a directory"]), Error::Directory { .. }));
}

#[test]
fn a_device() {
    assert!(matches!(refused(&["/dev/null".into()], &["/dev/null"]), Error::NotAFile { .. }));
}

#[test]
fn an_empty_file_of_every_name() {
    let scratch = Scratch::new();
    for name in ["a.c", "a.bc", "a.ll", "a.i", "a.o", "a"] {
        assert!(matches!(refused(&[scratch.file(name, "")], &[name, "is empty"]), Error::Empty { .. }));
    }
}

#[test]
fn text_that_is_no_program() {
    let scratch = Scratch::new();
    refused(&[scratch.file("notes.txt", "Dear reader,\n")], &["notes.txt", "Dear reader,"]);
    refused(&[scratch.file("notes.bc", "Dear reader,\n")], &["notes.bc", "Dear reader,"]);
    refused(&[scratch.file("notes.ll", "Dear reader,\n")], &["notes.ll", "expected top-level entity"]);
    refused(&[scratch.file("junk", [0u8, 1, 2, 3])], &["junk", "binary data"]);
}

#[test]
fn text_without_code() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("a.ll", "\n"),
        ("b.ll", "; only a comment\n"),
        ("a.c", "/* only a comment */\n"),
        ("b.c", "int x;\n"),
        ("c.c", "int f(void);\n"),
    ] {
        assert!(matches!(refused(&[scratch.file(name, text)], &[name, "contains no code"]), Error::NoCode { .. }));
    }
}

#[test]
fn data_without_code_is_welcome_beside_code() {
    let scratch = Scratch::new();
    let data = scratch.file("data.c", "int shared = 7;\n");
    let code = scratch.file("code.c", "extern int shared; int main(void) { return shared; }\n");
    load_guarded(&[data, code.clone()]).unwrap();
    let nothing = scratch.file("nothing.ll", "; nothing\n");
    assert!(matches!(refused(&[code, nothing], &["nothing.ll"]), Error::NoCode { .. }));
}

#[test]
fn c_that_does_not_compile() {
    let scratch = Scratch::new();
    let file = scratch.file("broken.c", "int main(void) { return }\n");
    assert!(matches!(refused(&[file], &["broken.c", "clang"]), Error::Compile { .. }));
}

#[test]
fn options_that_leave_no_bitcode() {
    let scratch = Scratch::new();
    let options = LoadOptions { clang_args: vec!["-fsyntax-only".into()], ..guarded() };
    refused_with(&[scratch.file("a.c", MAIN)], &options, &["a.c"]);
}

#[test]
fn old_c_compiles() {
    let scratch = Scratch::new();
    let file = scratch.file("old.c", "f(x) int x; { char *p = x; return g(p); }\nmain() { return f(1); }\n");
    let options = LoadOptions { clang_args: vec!["-std=gnu89".into(), "-w".into()], ..guarded() };
    load(&[file], &options).unwrap();
}

#[test]
fn users_options_reach_clang_and_do_not_optimise() {
    let scratch = Scratch::new();
    let file = scratch.file("a.c", "inline int twice(int x) { return x + x; }\nint main(void) { return twice(N); }\n");
    refused(std::slice::from_ref(&file), &["a.c"]);
    for level in ["-O0", "-O3"] {
        let options = LoadOptions { clang_args: vec!["-DN=4".into(), level.into()], ..guarded() };
        let program = load(std::slice::from_ref(&file), &options).unwrap();
        let twice = program.function_named("twice").expect("kept");
        assert!(program.functions[twice].is_defined(), "the body of a plain inline function is kept at {level}");
    }
}

#[test]
fn an_elf_file_without_bitcode() {
    let scratch = Scratch::new();
    let source = scratch.file("a.c", MAIN);
    scratch.clang(&["-c", source.to_str().unwrap(), "-o", "a.o"]);
    scratch.clang(&["a.o", "-o", "a.out"]);
    for name in ["a.o", "a.out"] {
        assert!(matches!(refused(&[scratch.path(name)], &[name, "without bitcode"]), Error::NoBitcode { .. }));
    }
}

#[test]
fn bitcode_that_another_linker_wants() {
    let scratch = Scratch::new();
    let source = scratch.file("a.c", MAIN);
    scratch.clang(&["-flto", "-c", source.to_str().unwrap(), "-o", "a.o"]);
    load_guarded(&[scratch.path("a.o")]).unwrap();
}

#[test]
fn bitcode_inside_objects_executables_and_archives() {
    let scratch = Scratch::new();
    for model in ["-m64", "-m32"] {
        let main = scratch.file("main.c", "int twice(int x);\nint main(void) { return twice(2); }\n");
        let twice = scratch.file("twice.c", "int twice(int x) { return x + x; }\n");
        for (source, output) in [(&main, "main.o"), (&twice, "a-member-with-a-long-name.o")] {
            scratch.clang(&[model, "-fembed-bitcode", "-g", "-c", source.to_str().unwrap(), "-o", output]);
        }
        let objects = [scratch.path("main.o"), scratch.path("a-member-with-a-long-name.o")];
        // What a linker makes of the sections of several objects.
        scratch.clang(&[model, "-nostdlib", "-r", "main.o", "a-member-with-a-long-name.o", "-o", "both.o"]);
        let archive = scratch.archive("both.a", &["main.o", "a-member-with-a-long-name.o"]);
        for files in [&objects[..], &[scratch.path("both.o")], &[archive]] {
            let program = load_guarded(files).unwrap_or_else(|error| panic!("{error}"));
            for function in ["main", "twice"] {
                let id = program.function_named(function).expect(function);
                assert!(program.functions[id].is_defined(), "{files:?} defines {function}");
            }
        }
    }
}

#[test]
fn an_archive_with_a_member_that_has_no_bitcode() {
    let scratch = Scratch::new();
    let source = scratch.file("a.c", MAIN);
    scratch.clang(&["-c", source.to_str().unwrap(), "-o", "a.o"]);
    let archive = scratch.archive("a.a", &["a.o"]);
    assert!(matches!(refused(std::slice::from_ref(&archive), &["a.a(a.o)", "without bitcode"]), Error::NoBitcode { .. }));
    let whole = std::fs::read(&archive).unwrap();
    for length in [9, 30, 100, whole.len() - 8] {
        refused(&[scratch.file("cut.a", &whole[..length])], &["cut.a"]);
    }
}

#[test]
fn a_cut_off_object_with_bitcode() {
    let scratch = Scratch::new();
    let source = scratch.file("a.c", MAIN);
    scratch.clang(&["-fembed-bitcode", "-c", source.to_str().unwrap(), "-o", "a.o"]);
    let whole = std::fs::read(scratch.path("a.o")).unwrap();
    for length in [5, 16, 63, 64, whole.len() / 2, whole.len() - 1] {
        refused(&[scratch.file("cut.o", &whole[..length])], &["cut.o"]);
    }
}

#[test]
fn a_program_in_text_form() {
    let scratch = Scratch::new();
    let wrong = scratch.file("wrong.txt", "lockcheck program 1\nnonsense here\n");
    assert!(matches!(refused(std::slice::from_ref(&wrong), &["wrong.txt:2"]), Error::TextForm { line: 2, .. }));
    let other = scratch.file("a.c", MAIN);
    assert!(matches!(refused(&[wrong, other], &["wrong.txt", "pass it alone"]), Error::TextFormNotAlone { .. }));
    let nothing = scratch.file("nothing.txt", "lockcheck program 1\n");
    assert!(matches!(refused(&[nothing], &["nothing.txt"]), Error::NoCode { .. }));
}

#[test]
fn a_compilation_database_that_is_none() {
    let scratch = Scratch::new();
    refused(&[scratch.file("compile_commands.json", "{}\n")], &["compile_commands.json", "invalid compilation database"]);
}

#[test]
fn thread_models_are_told_how_to_be_named() {
    let scratch = Scratch::new();
    refused(&[scratch.file("a.model.yml", "{}\n")], &["a.model.yml", "a thread model", "end with `.model.yaml`"]);
}

#[test]
fn two_data_layouts_at_once() {
    let files = [fixture("two-threads-clang14-O0.bc"), fixture("two-threads-clang14-m32.bc")];
    let parts = ["clang14-O0.bc (x86_64, 64-bit pointers)", "clang14-m32.bc (i386, 32-bit pointers)"];
    assert!(matches!(refused(&files, &parts), Error::TwoDataLayouts { .. }));
}

#[test]
fn bitcode_of_the_other_data_model() {
    let options = LoadOptions { data_model: Some(DataModel::Bits64), ..guarded() };
    let error = refused_with(&[fixture("two-threads-clang14-m32.bc")], &options, &["32-bit pointers", "--data-model 64"]);
    assert!(matches!(error, Error::DataModel { found: 32, wanted: 64, .. }));
}

#[test]
fn a_target_that_is_not_supported() {
    let scratch = Scratch::new();
    let text = "target datalayout = \"E-m:e-i64:64-n32:64\"\ntarget triple = \"powerpc64-linux\"\ndefine i32 @main() {\n  ret i32 0\n}\n";
    assert!(matches!(refused(&[scratch.file("a.ll", text)], &["a.ll", "powerpc64"]), Error::UnsupportedTarget { .. }));
}

#[test]
fn a_symbol_defined_twice() {
    let scratch = Scratch::new();
    let first = scratch.file("first.c", MAIN);
    let second = scratch.file("second.c", "int x = 3;\n");
    assert!(matches!(refused(&[first, second], &["`x`", "first.c", "second.c"]), Error::DuplicateSymbol { .. }));
}

#[test]
fn text_that_does_not_verify() {
    let scratch = Scratch::new();
    let text = "define i32 @main() {\n  %x = add i32 %x, 1\n  ret i32 %x\n}\n";
    assert!(matches!(refused(&[scratch.file("a.ll", text)], &["a.ll", "LLVM text"]), Error::Invalid { .. }));
}

#[test]
fn a_module_without_main_loads() {
    let scratch = Scratch::new();
    let program = load_guarded(&[scratch.file("a.c", "int f(void) { return 1; }\n")]).unwrap();
    assert!(program.function_named("main").is_none() && program.function_named("f").is_some());
}

#[test]
fn missing_debug_information_and_optimised_code_are_assumptions() {
    let scratch = Scratch::new();
    let text = "int shared;\nint set(int value) { shared = value; return value; }\nint main(void) { return set(1); }\n";
    let source = scratch.file("a.c", text);
    let cases: [(&str, &[&str], &[AssumptionKind]); 6] = [
        ("O0", &["-O0", "-g"], &[]),
        ("O1-no-passes", &["-O1", "-g", "-Xclang", "-disable-llvm-passes"], &[]),
        ("O2", &["-O2", "-g"], &[AssumptionKind::OptimizedBitcode]),
        ("O0-no-g", &["-O0"], &[AssumptionKind::NoDebugInformation]),
        ("O2-no-g", &["-O2"], &[AssumptionKind::NoDebugInformation, AssumptionKind::OptimizedBitcode]),
        ("O1", &["-O1", "-g"], &[AssumptionKind::OptimizedBitcode]),
    ];
    for (name, flags, expected) in cases {
        let output = format!("{name}.bc");
        scratch.clang(&[flags, &["-emit-llvm", "-c", source.to_str().unwrap(), "-o", &output]].concat());
        let program = load_guarded(&[scratch.path(&output)]).unwrap();
        let whole_file = [AssumptionKind::NoDebugInformation, AssumptionKind::OptimizedBitcode];
        let found: Vec<_> = program.assumptions.iter().map(|a| a.kind).filter(|kind| whole_file.contains(kind)).collect();
        assert_eq!(found, expected, "{name}");
    }
}
