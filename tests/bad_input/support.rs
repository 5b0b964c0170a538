//! What the tests of bad input share: a place for files, a way to load them, and a check of the sentence.

use std::path::{Path, PathBuf};
use std::process::Command;

use lockcheck::error::Error;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::program::Program;
use tempfile::TempDir;

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Options with the real guard.
pub fn guarded() -> LoadOptions {
    LoadOptions { guard: Some(env!("CARGO_BIN_EXE_lockcheck").into()), ..LoadOptions::default() }
}

pub fn load_guarded(files: &[PathBuf]) -> Result<Program, Error> {
    load(files, &guarded())
}

fn llvm_version() -> &'static str {
    include_str!("../../ci/toolchain").lines().find_map(|line| line.strip_prefix("LLVM_VERSION=")).expect("a pinned version")
}

/// A directory for files that are made up, or made by tools.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let file = self.directory.path().join(name);
        std::fs::write(&file, bytes).expect("a temporary file");
        file
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs the pinned clang in the directory.
    pub fn clang(&self, arguments: &[&str]) {
        self.run(&format!("clang-{}", llvm_version()), arguments);
    }

    /// Makes an archive of files in the directory.
    pub fn archive(&self, name: &str, members: &[&str]) -> PathBuf {
        self.run(&format!("llvm-ar-{}", llvm_version()), &[&["rcs", name], members].concat());
        self.path(name)
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let status = Command::new(program).args(arguments).current_dir(self.directory.path()).status();
        assert!(status.expect("the program runs").success(), "{program} {arguments:?}");
    }
}

/// The error of loading `files`, which must be one sentence that contains `parts`.
pub fn refused(files: &[PathBuf], parts: &[&str]) -> Error {
    refused_with(files, &guarded(), parts)
}

pub fn refused_with(files: &[PathBuf], options: &LoadOptions, parts: &[&str]) -> Error {
    let error = match load(files, options) {
        Ok(_) => panic!("{files:?} was accepted"),
        Err(error) => error,
    };
    let sentence = error.to_string();
    assert_one_sentence(&sentence);
    for part in parts {
        assert!(sentence.contains(part), "{sentence:?} lacks {part:?}");
    }
    error
}

pub fn assert_one_sentence(sentence: &str) {
    assert!(!sentence.is_empty() && !sentence.contains('\n'), "{sentence:?} is not one line");
    assert!(sentence.chars().count() < 500, "{sentence:?} is too long");
}
