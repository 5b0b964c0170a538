//! The front end: C or bitcode in, an owned [`Program`] out. The only user of LLVM.
//!
//! Steps, in order: [`sniff`] what each file is, [`compile`] C with clang, [`guard`] against files that kill LLVM, [`read`] and
//! verify, [`link`] into one module, [`number`] every instruction, [`normalise`], [`lower`].

#[cfg(feature = "llvm")]
mod archive;
#[cfg(feature = "llvm")]
mod assemble;
#[cfg(feature = "llvm")]
mod bitstream;
#[cfg(feature = "llvm")]
mod bytes;
#[cfg(feature = "llvm")]
mod compile;
#[cfg(feature = "llvm")]
mod diagnostics;
#[cfg(feature = "llvm")]
mod elf;
#[cfg(feature = "llvm")]
pub mod guard;
#[cfg(feature = "llvm")]
mod link;
#[cfg(feature = "llvm")]
pub mod lower;
#[cfg(feature = "llvm")]
mod normalise;
#[cfg(feature = "llvm")]
mod number;
#[cfg(feature = "llvm")]
mod optimised;
#[cfg(feature = "llvm")]
mod read;
mod sniff;
#[cfg(feature = "llvm")]
mod toolchain;
#[cfg(feature = "llvm")]
mod unpack;
#[cfg(feature = "llvm")]
mod walk;

use std::fmt;
use std::path::PathBuf;

use crate::error::Error;
use crate::program::{Program, text, validate};
use sniff::{Input, Kind};

/// How inputs are loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Given to clang for every C file.
    pub clang_args: Vec<String>,
    /// What C is compiled for, and what bitcode must be; the compiler's default when absent.
    pub data_model: Option<DataModel>,
    /// The `lockcheck` executable that reads files first. By default the running one, if its `main` calls
    /// [`guard::answer_if_asked`]; a process that cannot be a guard reads unguarded.
    pub guard: Option<PathBuf>,
    pub limits: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataModel {
    Bits32,
    Bits64,
}

impl DataModel {
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

/// What the guard may use, as a start and for each unit of the inputs' size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub seconds: u64,
    pub seconds_per_mebibyte: u64,
    pub bytes: u64,
    pub bytes_per_byte: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 20, seconds_per_mebibyte: 10, bytes: 4 << 30, bytes_per_byte: 400 }
    }
}

/// What is being done to a file, as a sentence about it says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Reading,
    Linking,
    Normalising,
    Lowering,
}

impl Stage {
    pub const ALL: [Stage; 4] = [Self::Reading, Self::Linking, Self::Normalising, Self::Lowering];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reading => "read",
            Self::Linking => "linked",
            Self::Normalising => "normalised",
            Self::Lowering => "lowered",
        })
    }
}

/// Loads files as one program.
pub fn load(inputs: &[PathBuf], options: &LoadOptions) -> Result<Program, Error> {
    if inputs.is_empty() {
        return Err(Error::NoInput);
    }
    let inputs: Vec<Input> = inputs.iter().map(|file| sniff::open(file)).collect::<Result<_, _>>()?;
    match inputs.iter().find(|input| input.kind == Kind::TextForm) {
        Some(text) if inputs.len() == 1 => text_form(text),
        Some(text) => Err(Error::TextFormNotAlone { file: text.name.clone() }),
        None => load_modules(inputs, options),
    }
}

#[cfg(not(feature = "llvm"))]
fn load_modules(inputs: Vec<Input>, _: &LoadOptions) -> Result<Program, Error> {
    Err(Error::WithoutLlvm { file: inputs[0].name.clone() })
}

#[cfg(feature = "llvm")]
fn load_modules(mut inputs: Vec<Input>, options: &LoadOptions) -> Result<Program, Error> {
    let temporary = |error: std::io::Error| Error::Temporary { reason: error.to_string() };
    let directory = tempfile::Builder::new().prefix("lockcheck-").tempdir().map_err(temporary)?;
    for (index, input) in inputs.iter_mut().enumerate().filter(|(_, input)| input.path.is_none()) {
        // A pipe can be read once: later steps read this copy.
        let copy = directory.path().join(format!("pipe-{index}")).with_extension(input.name.extension().unwrap_or_default());
        std::fs::write(&copy, &input.bytes).map_err(temporary)?;
        input.path = Some(copy);
    }
    compile::compile_all(&mut inputs, options, directory.path())?;
    if let Some(program) = guard::load(&inputs, options, directory.path())? {
        return Ok(program);
    }
    let program = assemble::on_a_large_stack(|| {
        let session = diagnostics::Session::new();
        let prepared = assemble::prepare(&session, &inputs, options, &mut |_, _| {})?;
        assemble::finish(&prepared)
    });
    program.map_err(|error| Error::Unreadable { file: inputs[0].name.clone(), reason: error.to_string() })?
}

/// A program that was printed, or written by hand: it is checked as one that lowering made.
fn text_form(input: &Input) -> Result<Program, Error> {
    let invalid = |line, reason| Error::TextForm { file: input.name.clone(), line, reason };
    let text = std::str::from_utf8(&input.bytes).map_err(|error| {
        let line = 1 + input.bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        invalid(line, "not UTF-8".to_owned())
    })?;
    let program = text::parse(text).map_err(|error| invalid(error.line, error.reason))?;
    validate::validate(&program).map_err(|violations| {
        let first = violations.lines().next().unwrap_or_default();
        invalid(1, first.to_owned())
    })?;
    if !program.functions.iter().any(|function| function.is_defined()) {
        return Err(Error::NoCode { file: input.name.clone() });
    }
    Ok(program)
}
