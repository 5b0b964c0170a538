//! Bad input: what was wrong with which file, and what to do. Every variant is one sentence and exit code 2; the binary alone prints it.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Serializable, because the guard of the front end hands its finding to its parent.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    #[error("no input: name a C file, a bitcode file or a program in text form")]
    NoInput,
    #[error("{}: no such file", .file.display())]
    Missing { file: PathBuf },
    #[error("{}: cannot be read: {reason}", .file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("{}: is a directory; name the files in it", .file.display())]
    Directory { file: PathBuf },
    #[error("{}: is a device or a socket, not a file", .file.display())]
    NotAFile { file: PathBuf },
    #[error("{}: is empty", .file.display())]
    Empty { file: PathBuf },
    #[error("{}: is neither C, LLVM bitcode, LLVM text (.ll) nor a lockcheck program: {seen}", .file.display())]
    UnknownKind { file: PathBuf, seen: String },
    #[error("{}: {what} without bitcode in it; build it with `-flto`, `-fembed-bitcode` or lockcheck-cc, or pass the .bc or .c files", .file.display())]
    NoBitcode { file: PathBuf, what: Cow<'static, str> },
    #[error("{summary}; build all with lockcheck-cc, or drop --strict")]
    MissingBitcode { summary: String },
    #[error("{}: this lockcheck was built without LLVM and reads only programs in text form", .file.display())]
    WithoutLlvm { file: PathBuf },

    #[error("clang {version} was not found; install the Debian package clang-{version}")]
    NoCompiler { version: u32 },
    #[error("{} could not be run: {reason}; install the Debian package clang-{version}", .compiler.display())]
    CompilerNotRun { compiler: PathBuf, version: u32, reason: String },
    #[error("{}: clang could not compile it (its messages are above)", .file.display())]
    Compile { file: PathBuf },
    #[error("{}: clang left no bitcode; drop the options that ask for another output", .file.display())]
    NoCompilerOutput { file: PathBuf },
    #[error("cannot write temporary files: {reason}; set TMPDIR to a directory with room")]
    Temporary { reason: String },

    #[error("{}: invalid {what}: {reason}", .file.display())]
    Invalid { file: PathBuf, what: Cow<'static, str>, reason: String },
    #[error("{}: LLVM died on it while it was {stage} ({how}); the file is damaged, build it again", .file.display())]
    ReaderDied { file: PathBuf, stage: String, how: String },
    #[error("{}: not read after {seconds} s while it was {stage}; the file is damaged or far too large", .file.display())]
    ReaderTimedOut { file: PathBuf, stage: String, seconds: u64 },
    #[error("{}: cannot be read in a process of its own: {reason}", .file.display())]
    ReaderNotRun { file: PathBuf, reason: String },
    #[error("{}: contains no code: no function is defined in it", .file.display())]
    NoCode { file: PathBuf },
    #[error("{}: made for {target}, which is not supported; targets are little-endian with 32- or 64-bit pointers", .file.display())]
    UnsupportedTarget { file: PathBuf, target: String },

    #[error("{} ({first_layout}) and {} ({second_layout}) have two data layouts; build both for the same target", .first.display(), .second.display())]
    TwoDataLayouts { first: PathBuf, first_layout: String, second: PathBuf, second_layout: String },
    #[error("{}: has {found}-bit pointers, but --data-model {wanted} was asked; build it for that model or drop the option", .file.display())]
    DataModel { file: PathBuf, found: u32, wanted: u32 },
    #[error("`{symbol}` is defined in both {} and {}; pass only one of them", .first.display(), .second.display())]
    DuplicateSymbol { symbol: String, first: PathBuf, second: PathBuf },
    #[error("{}: cannot be linked with the files before it: {reason}", .file.display())]
    Link { file: PathBuf, reason: String },
    #[error("{}: a program in text form is whole and cannot be linked with other files; pass it alone", .file.display())]
    TextFormNotAlone { file: PathBuf },
    #[error("{}:{line}: not a lockcheck program: {reason}", .file.display())]
    TextForm { file: PathBuf, line: usize, reason: String },
    #[error("{}:{line}: not a thread model: {reason}", .file.display())]
    ThreadModel { file: PathBuf, line: usize, reason: String },

    #[error(
        "no function `main` is defined in {inputs}. If it is a library, name the functions that its users call, at the same time and any \
         number of times: --entry {example}"
    )]
    NoMain { inputs: String, example: String },
    #[error("no function `{entry}` is defined in {inputs}; name another with --entry")]
    NoEntry { entry: String, inputs: String },
    #[error("{}: {reason}", .file.display())]
    Config { file: PathBuf, reason: String },
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// The exit code of every bad input.
    pub const EXIT_CODE: u8 = 2;
}
