//! What an ELF file carries: records of lockcheck-cc, or the bitcode that other tools leave in objects.
//!
//! | section | left by | holds |
//! |---|---|---|
//! | `.lockcheck` | lockcheck-cc | records; when there are any, nothing else is read |
//! | `.llvmbc` | `clang -fembed-bitcode` | modules, one after another |
//! | `.llvm.lto` | `clang -ffat-lto-objects` | one module |
//! | `.llvm_bc` | wllvm, gllvm | names of bitcode files, one a line |
//!
//! The symbol table names the source of every object that was linked. Names beyond those of the records are objects without bitcode. An object
//! made of hand-written assembly by another tool names no source: it is noticed when it defines a function that no module has.
//!
//! # Misses   such an object with nothing but local functions and data.

use std::path::{Path, PathBuf};

use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionKind};

use super::bitstream;
use super::coverage::{Coverage, Missing};
use crate::capture::assembly::CARRIER;
use crate::capture::elf::file_symbols;
use crate::capture::record::{self, Content, Record};
use crate::error::Error;

pub use crate::capture::elf::MAGIC;

/// What compilers and C libraries add to every program, and what linkers name by themselves.
const START_FILES: [&str; 11] =
    ["", "crt1.o", "Scrt1.o", "gcrt1.o", "grcrt1.o", "Mcrt1.o", "rcrt1.o", "crti.o", "crtn.o", "crtstuff.c", "ld-temp.o"];

/// Functions of the start files.
const START_FUNCTIONS: [&str; 7] =
    ["_start", "_init", "_fini", "__libc_csu_init", "__libc_csu_fini", "_dl_relocate_static_pie", "__gmon_start__"];

/// What was found in a file.
pub struct Carried {
    pub modules: Vec<Module>,
    pub coverage: Coverage,
    /// The global functions of a linked file.
    pub functions: Vec<String>,
}

/// A module and what to call it.
#[derive(Debug)]
pub struct Module {
    pub name: PathBuf,
    pub bytes: Vec<u8>,
}

/// The modules of an object, a program or a shared library, possibly none.
pub fn read(name: &Path, bytes: &[u8]) -> Result<Carried, Error> {
    let invalid = |reason: String| Error::Invalid { file: name.to_owned(), what: "ELF file".into(), reason };
    let damaged = || invalid("its section table is damaged".to_owned());
    let file = object::File::parse(bytes).map_err(|_| damaged())?;
    let mut sections = Sections::default();
    for section in file.sections() {
        let wanted = match section.name().map_err(|_| damaged())? {
            record::SECTION => &mut sections.records,
            ".llvmbc" => &mut sections.embedded,
            ".llvm.lto" => &mut sections.link_time,
            ".llvm_bc" => &mut sections.named,
            _ => continue,
        };
        wanted.push(section.data().map_err(|_| damaged())?);
    }
    let mut sources = file_symbols(bytes);
    let is_linked = !matches!(file.kind(), ObjectKind::Relocatable);
    let is_stripped = is_linked && sources.is_empty();
    sources.retain(|source| source != CARRIER && !START_FILES.contains(&source.as_str()));
    let (modules, missing) = match sections.records.is_empty() {
        false => from_records(name, &sections.records, sources).map_err(invalid)?,
        true => from_others(name, &sections, sources)?,
    };
    let coverage = Coverage { file: name.to_owned(), with_bitcode: modules.len(), missing, is_stripped };
    let functions = if is_linked { functions(&file) } else { Vec::new() };
    Ok(Carried { modules, coverage, functions })
}

fn functions(file: &object::File<'_>) -> Vec<String> {
    let is_code = |symbol: &object::Symbol<'_, '_>| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        symbol.is_definition() && symbol.is_global() && section.is_some_and(|section| section.kind() == SectionKind::Text)
    };
    let names = file
        .symbols()
        .filter(is_code)
        .map(|symbol| String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned());
    // A versioned name is a second one for a function that has its own.
    names.filter(|name| !START_FUNCTIONS.contains(&name.as_str()) && !name.contains('@')).collect()
}

#[derive(Default)]
struct Sections<'a> {
    records: Vec<&'a [u8]>,
    embedded: Vec<&'a [u8]>,
    link_time: Vec<&'a [u8]>,
    named: Vec<&'a [u8]>,
}

fn from_records(file: &Path, sections: &[&[u8]], mut sources: Vec<String>) -> Result<(Vec<Module>, Vec<Missing>), String> {
    let (mut modules, mut missing) = (Vec::new(), Vec::new());
    for section in sections {
        for Record { source, file_symbol, content, .. } in record::read_section(section)? {
            if let Some(at) = sources.iter().position(|name| *name == file_symbol) {
                sources.remove(at);
            }
            match content {
                Content::Bitcode(bytes) => modules.push(Module { name: inside(file, &source), bytes }),
                Content::Nothing(reason) => missing.push(Missing { name: source, reason: Some(reason) }),
            }
        }
    }
    missing.extend(sources.into_iter().map(|name| Missing { name, reason: None }));
    Ok((modules, missing))
}

fn from_others(file: &Path, sections: &Sections<'_>, sources: Vec<String>) -> Result<(Vec<Module>, Vec<Missing>), Error> {
    let damaged = || {
        let reason = "its embedded bitcode is damaged".to_owned();
        Error::Invalid { file: file.to_owned(), what: "ELF file".into(), reason }
    };
    let (mut modules, mut missing) = (Vec::new(), Vec::new());
    let embedded = if sections.embedded.is_empty() { &sections.link_time } else { &sections.embedded };
    for section in embedded {
        let found = bitstream::split(section).ok_or_else(damaged)?;
        modules.extend(found.into_iter().map(|bytes| Module { name: file.to_owned(), bytes: bytes.to_vec() }));
    }
    if modules.is_empty() {
        let text: Vec<u8> = sections.named.concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        for named in text.split(['\n', '\0']).filter(|line| !line.is_empty()) {
            match std::fs::read(named).ok().filter(|bytes| bitstream::is_bitcode(bytes)) {
                Some(bytes) => modules.push(Module { name: inside(file, named), bytes }),
                None => missing.push(Missing { name: named.to_owned(), reason: Some("its bitcode file is gone".into()) }),
            }
        }
    }
    // These tools do not say which module belongs to which source.
    let unaccounted = sources.len().saturating_sub(modules.len() + missing.len());
    match (unaccounted, modules.is_empty()) {
        (0, _) => {}
        (_, true) => missing.extend(sources.into_iter().map(|name| Missing { name, reason: None })),
        (count, false) => {
            let among = format!("among {}", sources.join(", "));
            missing.extend((0..count).map(|_| Missing { name: "one".into(), reason: Some(among.clone()) }));
        }
    }
    Ok((modules, missing))
}

/// `prog(a.c)`, as members of archives are written.
pub fn inside(file: &Path, part: &str) -> PathBuf {
    PathBuf::from(format!("{}({part})", file.display()))
}
