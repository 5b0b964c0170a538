//! Everything that happens inside LLVM, in one place: files that were read become one module, and that becomes a program.

use std::path::Path;

use inkwell::module::Module;

use super::coverage::Coverage;
use super::diagnostics::Session;
use super::sniff::Input;
use super::{LoadOptions, Stage, link, lower, mark, normalise, number, optimised, read, unpack, walk};
use crate::error::Error;
use crate::program::{Assumption, AssumptionKind, Program};

/// A module ready for lowering, and what was assumed about the files it came from.
pub struct Prepared<'a> {
    pub module: Module<'a>,
    pub assumptions: Vec<Assumption>,
}

/// Reads, verifies, links, numbers and normalises.
pub fn prepare<'a>(
    session: &'a Session,
    inputs: &[Input],
    options: &LoadOptions,
    report: &mut dyn FnMut(usize, Stage),
) -> Result<Prepared<'a>, Error> {
    let prepared = read_and_link(session, inputs, options, report)?;
    report(0, Stage::Normalising);
    number::number(&prepared.module);
    normalise::allow_passes(&prepared.module);
    normalise::normalise(&prepared.module);
    Ok(prepared)
}

/// Writes the linked module as it is.
pub fn write_linked(
    session: &Session,
    inputs: &[Input],
    options: &LoadOptions,
    output: &Path,
    report: &mut dyn FnMut(usize, Stage),
) -> Result<(), Error> {
    let prepared = read_and_link(session, inputs, options, report)?;
    match prepared.module.write_bitcode_to_path(output) {
        true => Ok(()),
        false => Err(Error::Temporary { reason: format!("{} cannot be written", output.display()) }),
    }
}

fn read_and_link<'a>(
    session: &'a Session,
    inputs: &[Input],
    options: &LoadOptions,
    report: &mut dyn FnMut(usize, Stage),
) -> Result<Prepared<'a>, Error> {
    let mut modules = Vec::new();
    let mut assumptions = Vec::new();
    let mut promised = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        report(index, Stage::Reading);
        let unpack::Unpacked { parts, coverage, functions } = unpack::unpack(input)?;
        if coverage.as_ref().is_some_and(Coverage::is_complete) {
            promised.extend(functions.into_iter().map(|function| (&input.name, function)));
        }
        assumptions.extend(coverage.iter().flat_map(Coverage::assumptions));
        for part in parts {
            let module = match part.kind {
                unpack::PartKind::Bitcode => read::bitcode(session, &part.name, &part.bytes)?,
                unpack::PartKind::Assembly => read::assembly(session, &part.name, &part.bytes)?,
            };
            check_data_model(&part.name, &module, options)?;
            // A source without any code is ordinary in a built program, and strange when it is named by itself.
            if coverage.is_none() {
                check_content(&part.name, &module)?;
            }
            assumptions.extend(assumptions_about(&part.name, &module, input.is_trusted));
            mark::mark(&module);
            modules.push(link::Named { file: part.name, module });
        }
    }
    if !modules.iter().any(|named| defines_a_function(&named.module)) {
        return Err(Error::NoCode { file: inputs[0].name.clone() });
    }
    report(0, Stage::Linking);
    let module = link::link(session, modules)?;
    for (file, function) in promised.into_iter().filter(|(_, function)| !defines(&module, function)) {
        let what = format!("{}: whatever defines the function `{function}`", file.display());
        assumptions.push(Assumption { kind: AssumptionKind::MissingBitcode, what, place: None });
    }
    Ok(Prepared { module, assumptions })
}

/// Lowers, and joins what was assumed.
pub fn finish(prepared: &Prepared<'_>) -> Result<Program, Error> {
    let mut program = lower::lower(&prepared.module)?;
    // Said before for each file that lacks it, also when another file of the program has it.
    program.assumptions.retain(|assumption| assumption.kind != AssumptionKind::NoDebugInformation);
    let mut assumptions = prepared.assumptions.clone();
    assumptions.append(&mut program.assumptions);
    program.assumptions = assumptions;
    Ok(program)
}

fn check_data_model(file: &Path, module: &Module<'_>, options: &LoadOptions) -> Result<(), Error> {
    let found = read::pointer_bits(module);
    match options.data_model {
        Some(model) if model.bits() != found => Err(Error::DataModel { file: file.to_owned(), found, wanted: model.bits() }),
        _ => Ok(()),
    }
}

/// An empty text parses as a module with nothing in it, which must not pass for a program without bugs.
fn check_content(file: &Path, module: &Module<'_>) -> Result<(), Error> {
    if walk::globals(module).next().is_none() && !defines_a_function(module) {
        return Err(Error::NoCode { file: file.to_owned() });
    }
    Ok(())
}

/// Whether the module has this function; one with a name of its own for the assembler begins with a byte 1.
fn defines(module: &Module<'_>, function: &str) -> bool {
    let own_name = format!("\u{1}{function}");
    [function, &own_name].iter().any(|name| {
        let has_body = module.get_function(name).is_some_and(|found| found.count_basic_blocks() > 0);
        has_body || walk::aliases(module).any(|alias| walk::name(alias) == **name)
    })
}

fn defines_a_function(module: &Module<'_>) -> bool {
    walk::functions(module).any(|function| walk::blocks(function).next().is_some())
}

fn assumptions_about(file: &Path, module: &Module<'_>, is_ours: bool) -> Vec<Assumption> {
    let assume = |kind| Assumption { kind, what: file.display().to_string(), place: None };
    let mut assumptions = Vec::new();
    if module.get_global_metadata_size("llvm.dbg.cu") == 0 {
        assumptions.push(assume(AssumptionKind::NoDebugInformation));
    }
    if !is_ours && optimised::is_optimised(module) {
        assumptions.push(assume(AssumptionKind::OptimizedBitcode));
    }
    assumptions
}

/// LLVM recurses over types and metadata: the guard and its parent get the same, large stack.
pub fn on_a_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    const STACK_BYTES: usize = 256 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}
