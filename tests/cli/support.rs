//! What the tests of the command share: programs, a place for them, and a way to run the command there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Two threads add to `hits`, one of them without the lock: a race of line 6 with line 13.
pub const RACING: &str = "\
#include <pthread.h>
int hits;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *visitor(void *arg) {
    pthread_mutex_lock(&lock);
    hits++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, visitor, NULL);
    hits++;
    pthread_join(thread, NULL);
    return 0;
}
";

/// The same with the lock on both sides.
pub fn clean() -> String {
    RACING.replace(
        "    hits++;\n    pthread_join",
        "    pthread_mutex_lock(&lock);\n    hits++;\n    pthread_mutex_unlock(&lock);\n    pthread_join",
    )
}

/// The race, in a run that calls a function which nothing is known of.
pub fn uncertain() -> String {
    RACING.replace("int main(void) {\n", "void frobnicate(void);\nint main(void) {\n    frobnicate();\n")
}

/// What a run of the command came to.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(output: Output) -> Run {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
        Run {
            code: output.status.code().expect("the command is not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The report on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", self.stdout, self.stderr))
    }

    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// It ended with this code, and said nothing on standard error.
    #[track_caller]
    pub fn expect(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{} {}", self.stdout, self.stderr);
        assert_eq!(self.stderr, "");
        self
    }

    /// It ended with code 2, without a report, and with one sentence that contains all of these.
    #[track_caller]
    pub fn expect_refusal(&self, parts: &[&str]) {
        assert_eq!(self.code, 2, "{} {}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        assert!(self.stderr.starts_with("lockcheck: error: ") && self.stderr.lines().count() == 1, "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{:?} lacks {part:?}", self.stderr);
        }
    }
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockcheck"));
    command.env_remove("NO_COLOR");
    command
}

pub fn lockcheck(arguments: &[&str]) -> Run {
    Run::of(command().args(arguments).output().expect("lockcheck runs"))
}

/// A directory in which the command runs.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// With `prog.c` in it.
    pub fn with(program: &str) -> Scratch {
        let scratch = Scratch::new();
        scratch.write("prog.c", program);
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("a directory");
        std::fs::write(file, content).expect("a temporary file");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The command, to be run in the directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command();
        command.current_dir(self.root()).args(arguments);
        command
    }

    pub fn lockcheck(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().expect("lockcheck runs"))
    }

    /// The JSON report of `prog.c`.
    pub fn report(&self, arguments: &[&str]) -> Value {
        self.lockcheck(&[&["prog.c", "--format", "json"], arguments].concat()).json()
    }

    /// The pinned clang, run in the directory.
    pub fn clang(&self, arguments: &str) {
        let pinned = include_str!("../../ci/toolchain").lines().find_map(|line| line.strip_prefix("LLVM_VERSION="));
        let run = self.shell(&format!("clang-{} {arguments}", pinned.expect("a pinned version")));
        assert_eq!(run.code, 0, "{arguments}: {}", run.stderr);
    }

    /// A line for the shell, with `$LOCKCHECK` as the command.
    pub fn shell(&self, line: &str) -> Run {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.root())
            .env("LOCKCHECK", env!("CARGO_BIN_EXE_lockcheck"))
            .env_remove("NO_COLOR");
        Run::of(shell.output().expect("a shell runs"))
    }
}

/// A list of a report.
pub fn list<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    document[key].as_array().unwrap_or_else(|| panic!("{key} of {document} is no list"))
}
