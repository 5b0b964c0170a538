//! The front end: C or bitcode in, an owned [`Program`] out. The only user of LLVM.
//!
//! Steps, in order: [`sniff`] what each file is, [`compile`] C with clang, [`unpack`] what built files carry, [`guard`] against files that
//! kill LLVM, [`read`] and verify, [`link`] into one module, [`number`] every instruction, [`normalise`], [`lower`].

#[cfg(feature = "llvm")]
mod assemble;
#[cfg(feature = "llvm")]
mod bitstream;
#[cfg(feature = "llvm")]
mod bytes;
#[cfg(feature = "llvm")]
mod carried;
#[cfg(feature = "llvm")]
mod compile;
#[cfg(feature = "llvm")]
mod compile_commands;
pub mod coverage;
#[cfg(feature = "llvm")]
mod diagnostics;
#[cfg(feature = "llvm")]
pub mod guard;
#[cfg(feature = "llvm")]
mod link;
#[cfg(feature = "llvm")]
pub mod lower;
#[cfg(feature = "llvm")]
mod mark;
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
use std::path::{Path, PathBuf};

use crate::error::Error;
#[cfg(feature = "llvm")]
use crate::program::{Assumption, AssumptionKind};
use crate::program::{Program, text, validate};
use coverage::Coverage;
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
    /// Objects without bitcode are an error.
    pub strict: bool,
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
    load_and_count(inputs, options).map(|(program, _)| program)
}

/// Loads files as one program, and says of which objects of the built ones among them there is bitcode.
pub fn load_and_count(inputs: &[PathBuf], options: &LoadOptions) -> Result<(Program, Vec<Coverage>), Error> {
    let inputs = open(inputs)?;
    match inputs.iter().find(|input| input.kind == Kind::TextForm) {
        Some(text) if inputs.len() == 1 => text_form(text).map(|program| (program, Vec::new())),
        Some(text) => Err(Error::TextFormNotAlone { file: text.name.clone() }),
        None => load_modules(inputs, options),
    }
}

/// Writes the bitcode of all inputs, linked into one module and otherwise as it is.
pub fn extract(inputs: &[PathBuf], options: &LoadOptions, output: &Path) -> Result<Vec<Coverage>, Error> {
    let inputs = open(inputs)?;
    match inputs.iter().find(|input| input.kind == Kind::TextForm) {
        Some(text) => Err(Error::NoBitcode { file: text.name.clone(), what: "a program in text form".into() }),
        None => extract_modules(inputs, options, output),
    }
}

fn open(inputs: &[PathBuf]) -> Result<Vec<Input>, Error> {
    if inputs.is_empty() {
        return Err(Error::NoInput);
    }
    inputs.iter().map(|file| sniff::open(file)).collect()
}

#[cfg(not(feature = "llvm"))]
fn load_modules(inputs: Vec<Input>, _: &LoadOptions) -> Result<(Program, Vec<Coverage>), Error> {
    Err(Error::WithoutLlvm { file: inputs[0].name.clone() })
}

#[cfg(not(feature = "llvm"))]
fn extract_modules(inputs: Vec<Input>, _: &LoadOptions, _: &Path) -> Result<Vec<Coverage>, Error> {
    Err(Error::WithoutLlvm { file: inputs[0].name.clone() })
}

#[cfg(feature = "llvm")]
fn load_modules(inputs: Vec<Input>, options: &LoadOptions) -> Result<(Program, Vec<Coverage>), Error> {
    let ready = Ready::make(inputs, options)?;
    let loaded = match guard::load(&ready.inputs, options, ready.directory.path())? {
        Some(program) => Ok(program),
        None => ready.unguarded(|session| {
            let prepared = assemble::prepare(session, &ready.inputs, options, &mut |_, _| {})?;
            assemble::finish(&prepared)
        }),
    };
    let (program, coverages) = loaded.map(|program| ready.finish(program))?;
    // What only a look into the modules shows.
    let missing = program.assumptions.iter().find(|assumption| assumption.kind == AssumptionKind::MissingBitcode);
    match missing.filter(|_| options.strict) {
        Some(missing) => Err(Error::MissingBitcode { summary: format!("there is no bitcode of {}", missing.what) }),
        None => Ok((program, coverages)),
    }
}

#[cfg(feature = "llvm")]
fn extract_modules(inputs: Vec<Input>, options: &LoadOptions, output: &Path) -> Result<Vec<Coverage>, Error> {
    let ready = Ready::make(inputs, options)?;
    let made = ready.directory.path().join("linked.bc");
    if !guard::extract(&ready.inputs, options, &made)? {
        ready.unguarded(|session| assemble::write_linked(session, &ready.inputs, options, &made, &mut |_, _| {}))?;
    }
    std::fs::copy(&made, output).map_err(|error| Error::Usage(format!("{}: cannot be written: {error}", output.display())))?;
    Ok(ready.coverages)
}

/// Inputs that LLVM can read.
#[cfg(feature = "llvm")]
struct Ready {
    inputs: Vec<Input>,
    /// Of the built files and databases among them.
    coverages: Vec<Coverage>,
    /// Of databases, which are gone once their files are compiled.
    assumptions: Vec<Assumption>,
    directory: tempfile::TempDir,
}

#[cfg(feature = "llvm")]
impl Ready {
    /// Databases become the files they name, C becomes bitcode, and what built files carry is counted.
    fn make(inputs: Vec<Input>, options: &LoadOptions) -> Result<Ready, Error> {
        let temporary = |error: std::io::Error| Error::Temporary { reason: error.to_string() };
        let directory = tempfile::Builder::new().prefix("lockcheck-").tempdir().map_err(temporary)?;
        let mut ready = Ready { inputs: Vec::new(), coverages: Vec::new(), assumptions: Vec::new(), directory };
        for input in inputs {
            match input.kind {
                Kind::CompileCommands => {
                    let (sources, coverage) = compile_commands::sources(&input)?;
                    ready.inputs.extend(sources);
                    ready.assumptions.extend(coverage.assumptions());
                    ready.coverages.push(coverage);
                }
                Kind::Elf | Kind::Archive => {
                    ready.coverages.extend(unpack::unpack(&input)?.coverage);
                    ready.inputs.push(input);
                }
                Kind::C | Kind::Bitcode | Kind::Assembly | Kind::TextForm => ready.inputs.push(input),
            }
        }
        if options.strict {
            ready.coverages.iter().try_for_each(Coverage::insist)?;
        }
        for (index, input) in ready.inputs.iter_mut().enumerate().filter(|(_, input)| input.path.is_none()) {
            // A pipe can be read once: later steps read this copy.
            let name = format!("pipe-{index}");
            let copy = ready.directory.path().join(name).with_extension(input.name.extension().unwrap_or_default());
            std::fs::write(&copy, &input.bytes).map_err(temporary)?;
            input.path = Some(copy);
        }
        compile::compile_all(&mut ready.inputs, options, ready.directory.path())?;
        Ok(ready)
    }

    /// Work inside LLVM in this very process.
    fn unguarded<T: Send>(&self, work: impl FnOnce(&diagnostics::Session) -> Result<T, Error> + Send) -> Result<T, Error> {
        let done = assemble::on_a_large_stack(|| work(&diagnostics::Session::new()));
        done.map_err(|error| Error::Unreadable { file: self.inputs[0].name.clone(), reason: error.to_string() })?
    }

    fn finish(self, mut program: Program) -> (Program, Vec<Coverage>) {
        program.assumptions.extend(self.assumptions);
        (program, self.coverages)
    }
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
