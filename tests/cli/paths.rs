//! Inputs by any path: names are shown as they were given, blanks and other directories change nothing.

use super::support::{RACING, Run, Scratch, list};

#[test]
fn names_are_shown_as_given() {
    let scratch = Scratch::new();
    scratch.write("sub/prog.c", RACING);
    scratch.write("sub/inner/empty", "");
    scratch.write("other/empty", "");
    let absolute = scratch.path("sub/prog.c").display().to_string();
    for (directory, name) in [
        (".", "sub/prog.c"),
        (".", "./sub/prog.c"),
        ("sub", "prog.c"),
        ("sub/inner", "../prog.c"),
        (".", absolute.as_str()),
        ("other", absolute.as_str()),
    ] {
        let mut command = scratch.command(&[name, "--format", "json"]);
        let report = Run::of(command.current_dir(scratch.path(directory)).output().expect("lockcheck runs")).expect(1).json();
        assert_eq!(list(&report, "inputs"), [name]);
        assert_eq!(list(&report, "findings")[0]["sites"][0]["file"], name);
        let mut command = scratch.command(&[name]);
        let text = Run::of(command.current_dir(scratch.path(directory)).output().expect("lockcheck runs")).expect(1).stdout;
        assert!(text.starts_with(&format!("{name}:6:9: warning: ")), "{text}");
        assert!(text.contains(" 6 |     hits++;"), "the source is found: {text}");
    }
}

#[test]
fn a_header_is_named_so_that_it_can_be_opened() {
    let scratch = Scratch::new();
    scratch.write("sub/include/door.h", "extern int hits;\nstatic inline void enter(void) {\n    hits++;\n}\n");
    scratch.write(
        "sub/prog.c",
        &RACING
            .replace("    hits++;\n    pthread_join", "    enter();\n    pthread_join")
            .replace("int hits;", "#include \"include/door.h\"\nint hits;"),
    );
    scratch.write("other/empty", "");
    let absolute = scratch.path("sub/prog.c").display().to_string();
    for (directory, name) in [(".", "sub/prog.c"), ("other", "../sub/prog.c"), ("other", absolute.as_str())] {
        let mut command = scratch.command(&[name, "--format", "json"]);
        let report = Run::of(command.current_dir(scratch.path(directory)).output().expect("lockcheck runs")).expect(1).json();
        let header = list(&list(&report, "findings")[0], "sites")
            .iter()
            .filter_map(|site| site["file"].as_str())
            .find(|file| file.ends_with("door.h"));
        let header = header.unwrap_or_else(|| panic!("an end in the header: {report}"));
        assert!(scratch.path(directory).join(header).is_file(), "{header} from {directory}");
    }
}

#[test]
fn bitcode_is_quoted_from_another_directory() {
    let scratch = Scratch::with(RACING);
    scratch.clang("-g -O1 -Xclang -disable-llvm-passes -emit-llvm -c prog.c -o prog.bc");
    scratch.write("elsewhere/empty", "");
    let mut command = scratch.command(&["../prog.bc"]);
    let text = Run::of(command.current_dir(scratch.path("elsewhere")).output().expect("lockcheck runs")).expect(1).stdout;
    assert!(text.starts_with("prog.c:6:9: warning: ") && text.contains(" 6 |     hits++;"), "{text}");
}

#[test]
fn blanks_and_quotes_in_a_path_are_only_characters() {
    let scratch = Scratch::new();
    scratch.write("my dir/it's \"a\" prog.c", RACING);
    let run = scratch.lockcheck(&["my dir/it's \"a\" prog.c"]).expect(1);
    assert!(run.stdout.starts_with("my dir/it's \"a\" prog.c:6:9: warning: "), "{}", run.stdout);
    assert!(run.stdout.contains(" 6 |     hits++;"), "{}", run.stdout);
    let hint = run.stdout.lines().find(|line| line.contains("lockcheck replay")).expect("a hint").trim();
    let again = scratch.shell(&hint.replacen("lockcheck", "\"$LOCKCHECK\"", 1));
    assert_eq!(again.code, 1, "{hint}: {}", again.stderr);
}

#[test]
fn several_inputs_are_one_program() {
    let scratch = Scratch::new();
    let (declarations, main) = RACING.split_once("int main").expect("a program");
    scratch.write("door.c", &declarations.replace("static void", "void"));
    scratch.write("main.c", &format!("#include <pthread.h>\nextern int hits;\nvoid *visitor(void *);\nint main{main}"));
    let report = scratch.lockcheck(&["door.c", "main.c", "--format", "json"]).expect(1).json();
    assert_eq!(list(&report, "inputs"), ["door.c", "main.c"]);
    let files: Vec<&str> = list(&list(&report, "findings")[0], "sites").iter().filter_map(|site| site["file"].as_str()).collect();
    assert_eq!(files, ["door.c", "main.c"]);
    let text = scratch.lockcheck(&["main.c", "door.c"]).expect(1).stdout;
    assert!(text.starts_with("door.c:6:9: warning: ") && text.contains("^") && text.contains("main.c:"), "{text}");
}
