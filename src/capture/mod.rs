//! The compiler wrapper: builds what the compiler behind it builds, and lets every object carry its own bitcode.
//!
//! Steps, in order: understand the [`command_line`]; if it only probes the compiler ([`probe`]), or makes nothing that code could be in,
//! become the compiler. Else run the compiler as it was asked, make the bitcode in a second pass ([`bitcode`]), and [`embed`] it as a
//! [`record`]: into the object, the assembly text, or, when sources are compiled and linked at once, into an object of its own.
//!
//! The object's bytes are those of the compiler; the record stands behind them, in a section that linkers concatenate. So the linked program
//! carries exactly the records of the objects that were linked, wherever those are now.
//!
//! Nothing of ours is used here but this folder, and no LLVM is loaded: the wrapper is started for every file of a build.

pub mod assembly;
pub mod bitcode;
pub mod clang;
pub mod command_line;
pub mod compiler;
pub mod elf;
pub mod embed;
pub mod options;
pub mod probe;
pub mod record;
pub mod response;

use std::ffi::OsString;
use std::process::ExitCode;

use command_line::{CommandLine, Stage};
use compiler::Compilers;

/// Set to `off`, nothing is captured.
const SWITCH: &str = "LOCKCHECK_CAPTURE";

/// Does what the compiler would do with these words.
pub fn run(words: Vec<OsString>) -> ExitCode {
    let compilers = match Compilers::find() {
        Ok(compilers) => compilers,
        Err(sentence) => {
            eprintln!("lockcheck-cc: error: {sentence}");
            return ExitCode::FAILURE;
        }
    };
    let is_off = std::env::var_os(SWITCH).is_some_and(|word| word == "off" || word == "0");
    let line = CommandLine::parse(&words);
    if is_off || !line.makes_code() || probe::is_probe(&line) {
        return compilers.become_builder(&words);
    }
    match line.stage {
        Stage::Object => embed::objects(&compilers, &words, &line),
        Stage::Assembly => embed::assembly_texts(&compilers, &words, &line),
        Stage::Link => embed::program(&compilers, &words, &line),
        Stage::Nothing => unreachable!("a command that makes no code was handed over"),
    }
}

/// What a user should know, on the stream that compilers use for it.
fn note(about: &str, sentence: &str) {
    eprintln!("lockcheck-cc: note: {about}: {sentence}");
}
