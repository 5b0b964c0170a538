//! From a file to the modules in it: bitcode is one; objects, executables and archives may carry several.

use std::path::{Path, PathBuf};

use super::sniff::{Input, Kind};
use super::{archive, bitstream, elf};
use crate::error::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Bitcode,
    Assembly,
}

/// One module, with the name that reports use for it.
#[derive(Debug)]
pub struct Part<'a> {
    pub name: PathBuf,
    pub kind: PartKind,
    pub bytes: &'a [u8],
}

/// The modules of a file that is not C.
pub fn parts(input: &Input) -> Result<Vec<Part<'_>>, Error> {
    let bytes = &input.bytes[..];
    match input.kind {
        Kind::Bitcode => Ok(vec![Part { name: input.name.clone(), kind: PartKind::Bitcode, bytes }]),
        Kind::Assembly => Ok(vec![Part { name: input.name.clone(), kind: PartKind::Assembly, bytes }]),
        Kind::Elf => parts_of_elf(&input.name, bytes),
        Kind::Archive => parts_of_archive(&input.name, bytes),
        Kind::C | Kind::TextForm => unreachable!("C was compiled and text forms were loaded before"),
    }
}

/// A linker puts the sections of all objects one after another, so one section may hold many modules.
fn parts_of_elf<'a>(name: &Path, bytes: &'a [u8]) -> Result<Vec<Part<'a>>, Error> {
    let invalid = |reason: &str| Error::Invalid { file: name.to_owned(), what: "ELF file".into(), reason: reason.to_owned() };
    let sections = elf::sections_named(bytes, ".llvmbc").ok_or_else(|| invalid("its section table is damaged"))?;
    let mut parts = Vec::new();
    for section in sections {
        let modules = bitstream::split(section).ok_or_else(|| invalid("its embedded bitcode is damaged"))?;
        parts.extend(modules.into_iter().map(|bytes| Part { name: name.to_owned(), kind: PartKind::Bitcode, bytes }));
    }
    if parts.is_empty() {
        return Err(Error::NoBitcode { file: name.to_owned(), what: "an ELF file".into() });
    }
    Ok(parts)
}

/// All members count: a library is checked whole, not as a linker would pick from it.
fn parts_of_archive<'a>(name: &Path, bytes: &'a [u8]) -> Result<Vec<Part<'a>>, Error> {
    let members =
        archive::members(bytes).map_err(|reason| Error::Invalid { file: name.to_owned(), what: "archive".into(), reason })?;
    let mut parts = Vec::new();
    for member in members {
        let member_name = PathBuf::from(format!("{}({})", name.display(), member.name));
        if bitstream::is_bitcode(member.bytes) {
            parts.push(Part { name: member_name, kind: PartKind::Bitcode, bytes: member.bytes });
        } else if member.bytes.starts_with(elf::MAGIC) {
            parts.extend(parts_of_elf(&member_name, member.bytes)?);
        } else {
            return Err(Error::NoBitcode { file: member_name, what: "a member".into() });
        }
    }
    if parts.is_empty() {
        return Err(Error::NoBitcode { file: name.to_owned(), what: "an archive".into() });
    }
    Ok(parts)
}
