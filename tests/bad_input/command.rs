//! The same through the command: exit code 2, one line on stderr, nothing on stdout.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

use super::damaged::mutated;
use super::support::{Scratch, fixture};

fn lockcheck(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockcheck"));
    command.args(arguments).output().expect("lockcheck runs")
}

fn assert_refused(files: &[PathBuf], parts: &[&str]) {
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let output = lockcheck(&files);
    let (words, report) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(2), "{files:?}: {words}");
    assert_eq!(report, "", "{files:?}");
    assert_eq!(words.lines().count(), 1, "{files:?}: {words}");
    assert!(words.starts_with("lockcheck: error: "), "{words}");
    for part in parts {
        assert!(words.contains(part), "{words:?} lacks {part:?}");
    }
}

#[test]
fn every_kind_of_bad_file_ends_with_code_2_and_one_sentence() {
    let scratch = Scratch::new();
    let whole = std::fs::read(fixture("two-threads-clang14-O0.bc")).unwrap();
    let source = scratch.file("a.c", "int main(void) { return 0; }\n");
    scratch.clang(&["-c", source.to_str().unwrap(), "-o", "a.o"]);
    assert_refused(&["no/such/file.c".into()], &["no/such/file.c", "no such file"]);
    assert_refused(&[scratch.path("")], &["is a directory"]);
    assert_refused(&[scratch.file("empty.bc", "")], &["empty.bc", "is empty"]);
    assert_refused(&[scratch.file("empty.ll", "\n")], &["empty.ll", "contains no code"]);
    assert_refused(&[scratch.file("notes.txt", "Dear reader\n")], &["notes.txt", "Dear reader"]);
    assert_refused(&[scratch.file("cut.bc", &whole[..whole.len() / 2])], &["cut.bc"]);
    assert_refused(&[scratch.path("a.o")], &["a.o", "without bitcode"]);
    assert_refused(&[scratch.file("no-main.c", "int f(void) { return 1; }\n")], &["no-main.c", "main", "--entry"]);
    assert_refused(&[fixture("two-threads-clang14-O0.bc"), fixture("two-threads-clang14-m32.bc")], &["two data layouts"]);
    assert_refused(
        &[scratch.file("a.model.yaml", "threads:\n  one: [frobnicate x]\n")],
        &["a.model.yaml:2: not a thread model", "frobnicate x"],
    );
}

#[test]
fn errors_of_clang_are_shown_as_they_are() {
    let scratch = Scratch::new();
    let file = scratch.file("broken.c", "int main(void) { return }\n");
    let output = lockcheck(&[&file]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("broken.c:1:25: error: expected expression"), "{words}");
    assert!(words.lines().last().is_some_and(|line| line.starts_with("lockcheck: error: ")), "{words}");
}

#[test]
fn damaged_bitcode_never_kills_the_command() {
    let scratch = Scratch::new();
    let whole = std::fs::read(fixture("two-threads-clang19-O2.bc")).unwrap();
    let mut refused = 0;
    for seed in 1000..1030 {
        let file = scratch.file("damaged.bc", mutated(&whole, seed));
        let output = lockcheck(&[Path::new("emit"), Path::new("program"), &file]);
        let words = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => assert!(!output.stdout.is_empty(), "seed {seed} prints a program"),
            Some(2) => {
                refused += 1;
                assert!(words.lines().count() == 1 && words.contains("damaged.bc"), "seed {seed}: {words}");
            }
            code => panic!("seed {seed} ends with {code:?}: {words}"),
        }
    }
    assert!(refused > 0, "some damage is refused");
}
