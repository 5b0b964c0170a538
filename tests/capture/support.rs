//! What the tests of capture share: a small project, the same commands for two compilers, and a look into what was built.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use lockcheck::capture::record::{self, Content, Record};
use object::{Object, ObjectSection};
use tempfile::TempDir;

pub const MAIN: &str = "#include <stdio.h>\n#include \"twice.h\"\nint main(void) { printf(\"%d\\n\", twice(4)); return 0; }\n";
pub const TWICE: &str = "#include \"twice.h\"\nstatic int calls;\nint twice(int x) { calls++; return x + x; }\n";
pub const THRICE: &str = "static int calls;\nint thrice(int x) { calls++; return 3 * x; }\n";
pub const HEADER: &str = "int twice(int x);\nint thrice(int x);\n";
pub const STARTS: &str =
    "\t.text\n\t.globl\tanswer\nanswer:\n\tmovl\t$42, %eax\n\tretq\n\t.section\t.note.GNU-stack,\"\",%progbits\n";

pub fn clang() -> String {
    let pinned = include_str!("../../ci/toolchain").lines().find_map(|line| line.strip_prefix("LLVM_VERSION="));
    format!("clang-{}", pinned.expect("a pinned version"))
}

pub const WRAPPER: &str = env!("CARGO_BIN_EXE_lockcheck-cc");
pub const LOCKCHECK: &str = env!("CARGO_BIN_EXE_lockcheck");

/// A directory in which shells run.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// With the project in the directory `work`.
    pub fn with_project() -> Scratch {
        let scratch = Scratch::new();
        scratch.project();
        scratch
    }

    fn project(&self) {
        let files = [
            ("main.c", MAIN),
            ("twice.c", TWICE),
            ("sub/twice.c", THRICE),
            ("twice.h", HEADER),
            ("plus.cc", "int plus(int x) { return x + 1; }\n"),
            ("starts.s", STARTS),
        ];
        for (name, content) in files {
            self.write(name, content);
            // Precompiled headers tell when their sources were written: both compilers are given the same.
            let file = std::fs::File::options().write(true).open(self.path(name)).expect("the file is there");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).expect("a file takes a time");
        }
    }

    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("a directory");
        std::fs::write(file, content).expect("a temporary file");
    }

    /// A script for the shell, with `$CC` and `$LOCKCHECK`.
    pub fn shell_with(&self, compiler: &str, script: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", script]).current_dir(self.work());
        shell.env("CC", compiler).env("LOCKCHECK", LOCKCHECK).env("CLANG", clang());
        shell.env_remove("LOCKCHECK_CC").env_remove("LOCKCHECK_CAPTURE").env_remove("MAKEFLAGS");
        shell.output().expect("a shell runs")
    }

    /// The same with lockcheck-cc, which must succeed and say nothing on standard error.
    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        let output = self.shell_with(WRAPPER, script);
        let error = text(&output.stderr);
        assert!(output.status.success() && error.is_empty(), "{script}\n{error}");
        text(&output.stdout)
    }

    /// lockcheck on something that was built.
    pub fn lockcheck(&self, arguments: &[&str]) -> Output {
        Command::new(LOCKCHECK).args(arguments).current_dir(self.work()).output().expect("lockcheck runs")
    }

    /// Runs a script with clang and then with lockcheck-cc, in a directory of the same name; returns what each left there.
    pub fn both(&self, script: &str) -> (Built, Built) {
        let mut built = [clang().as_str(), WRAPPER].map(|compiler| {
            if self.work().exists() {
                std::fs::remove_dir_all(self.work()).expect("the directory can be removed");
            }
            self.project();
            let output = self.shell_with(compiler, script);
            let ending = if compiler == WRAPPER { "wrapped" } else { "plain" };
            let kept = self.directory.path().join(ending);
            copy_directory(&self.work(), &kept);
            Some(Built { output, directory: kept })
        });
        let mut take = |index: usize| built[index].take().expect("both were built");
        (take(0), take(1))
    }
}

/// What a script came to.
pub struct Built {
    pub output: Output,
    pub directory: PathBuf,
}

impl Built {
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut open) = (BTreeMap::new(), vec![self.directory.clone()]);
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).expect("a directory can be listed") {
                let path = entry.expect("an entry can be read").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let inside = path.strip_prefix(&self.directory).expect("a file below").to_owned();
                    files.insert(inside, std::fs::read(&path).expect("a file can be read"));
                }
            }
        }
        files
    }
}

fn copy_directory(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).expect("the directory can be removed");
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success());
}

/// Whether a tool is installed; if not, that is said on the real standard error, which no test harness holds back.
pub fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {tool} is not installed");
    }
    found
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The records of an ELF file.
pub fn records(file: &[u8]) -> Vec<Record> {
    let parsed = object::File::parse(file).expect("an ELF file");
    match parsed.section_by_name(record::SECTION) {
        Some(section) => record::read_section(section.data().expect("bytes")).expect("whole records"),
        None => Vec::new(),
    }
}

/// The sources with bitcode, in order, and those without.
pub fn sources(file: &[u8]) -> (Vec<String>, Vec<String>) {
    let (with, without): (Vec<Record>, Vec<Record>) =
        records(file).into_iter().partition(|record| matches!(&record.content, Content::Bitcode(_)));
    let names = |records: Vec<Record>| {
        let mut names: Vec<String> = records.into_iter().map(|record| record.source).collect();
        names.sort();
        names
    };
    (names(with), names(without))
}

/// All sections of a file but those that a further object in the link must change.
pub fn code_sections(file: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let parsed = object::File::parse(file).expect("an ELF file");
    // Relocations of an object count the symbols of all sections.
    let is_object = parsed.kind() == object::ObjectKind::Relocatable;
    let own = |name: &str| {
        [".symtab", ".strtab", ".shstrtab", ".note.gnu.build-id"].contains(&name)
            || name.starts_with(".lockcheck")
            || is_object && name.starts_with(".rel")
    };
    parsed
        .sections()
        .map(|section| (section.name().expect("a name").to_owned(), section.data().expect("bytes").to_vec()))
        .filter(|(name, _)| !own(name))
        .collect()
}
