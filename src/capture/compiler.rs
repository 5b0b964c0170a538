//! The two compilers: the builder, whose work the user gets, and the clang that makes the bitcode. They are the same unless the user
//! names another builder in `LOCKCHECK_CC`.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use super::{clang, response};

/// The user's compiler: its name, and options if there are any, as in `CC`.
const BUILDER: &str = "LOCKCHECK_CC";
/// What shells answer when a command cannot be run.
const NOT_RUN: u8 = 127;

pub struct Compilers {
    /// The program and its first arguments.
    builder: Vec<OsString>,
    /// The builder is another compiler than our clang.
    pub has_own_builder: bool,
    pub clang: Option<PathBuf>,
}

impl Compilers {
    pub fn find() -> Result<Compilers, String> {
        let clang = clang::find_clang();
        let named = std::env::var_os(BUILDER).map(|text| response::split(text.as_bytes())).filter(|words| !words.is_empty());
        match (named, clang) {
            (Some(builder), clang) => Ok(Compilers { builder, has_own_builder: true, clang }),
            (None, Some(clang)) => {
                Ok(Compilers { builder: vec![clang.clone().into()], has_own_builder: false, clang: Some(clang) })
            }
            (None, None) => {
                let version = clang::llvm_version();
                Err(format!(
                    "clang {version} was not found; install the Debian package clang-{version}, or name a compiler in {BUILDER}"
                ))
            }
        }
    }

    /// The builder, as the user would write it.
    pub fn builder_name(&self) -> String {
        self.builder[0].to_string_lossy().into_owned()
    }

    /// This process becomes the builder.
    pub fn become_builder(&self, words: &[OsString]) -> ExitCode {
        self.not_run(&self.command(words).exec())
    }

    /// Runs the builder, with a file in place of standard input if one is given.
    pub fn build(&self, words: &[OsString], standard_input: Option<&Path>) -> Result<ExitStatus, ExitCode> {
        let mut command = self.command(words);
        if let Some(file) = standard_input {
            command.stdin(File::open(file).map_err(|error| self.not_run(&error))?);
        }
        command.status().map_err(|error| self.not_run(&error))
    }

    fn command(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.builder[0]);
        // A builder that is this wrapper again would never come to an end.
        command.args(&self.builder[1..]).args(words).env_remove(BUILDER);
        command
    }

    fn not_run(&self, error: &std::io::Error) -> ExitCode {
        eprintln!("lockcheck-cc: error: {} could not be run: {error}", self.builder_name());
        ExitCode::from(NOT_RUN)
    }
}

/// Ends as the builder ended, also when a signal ended it.
pub fn same_end(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // SAFETY: asks for the same signal with its default action; the process holds nothing that needs care.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
