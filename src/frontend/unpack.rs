//! From a file to the modules in it: bitcode is one; objects, executables and archives may carry several.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;

use super::coverage::{Coverage, Missing};
use super::sniff::{Input, Kind};
use super::{bitstream, carried};
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
    pub bytes: Cow<'a, [u8]>,
}

/// The modules of a file, and what is known of the objects that have none. Only built files have a coverage.
pub struct Unpacked<'a> {
    pub parts: Vec<Part<'a>>,
    pub coverage: Option<Coverage>,
    /// Functions that some module must define, if all objects have bitcode.
    pub functions: Vec<String>,
}

/// Takes a file apart that is not C.
pub fn unpack(input: &Input) -> Result<Unpacked<'_>, Error> {
    let bytes = &input.bytes[..];
    let whole = |kind| {
        let parts = vec![Part { name: input.name.clone(), kind, bytes: bytes.into() }];
        Ok(Unpacked { parts, coverage: None, functions: Vec::new() })
    };
    match input.kind {
        Kind::Bitcode => whole(PartKind::Bitcode),
        Kind::Assembly => whole(PartKind::Assembly),
        Kind::Elf => {
            let carried::Carried { modules, coverage, functions } = carried::read(&input.name, bytes)?;
            if modules.is_empty() {
                return Err(Error::NoBitcode { file: input.name.clone(), what: "an ELF file".into() });
            }
            Ok(Unpacked { parts: modules.into_iter().map(part).collect(), coverage: Some(coverage), functions })
        }
        Kind::Archive => archive(input),
        Kind::C | Kind::TextForm | Kind::CompileCommands => unreachable!("compiled or loaded before"),
    }
}

fn part<'a>(module: carried::Module) -> Part<'a> {
    Part { name: module.name, kind: PartKind::Bitcode, bytes: module.bytes.into() }
}

/// All members count: a library is checked whole, not as a linker would pick from it.
fn archive(input: &Input) -> Result<Unpacked<'_>, Error> {
    let name = &input.name;
    let invalid = |reason: &str| Error::Invalid { file: name.clone(), what: "archive".into(), reason: reason.to_owned() };
    let damaged = || invalid("it is cut off or damaged");
    let archive = ArchiveFile::parse(&input.bytes[..]).map_err(|_| damaged())?;
    let mut parts = Vec::new();
    let mut all = Coverage { file: name.clone(), with_bitcode: 0, missing: Vec::new(), is_stripped: false };
    for member in archive.members() {
        let member = member.map_err(|_| damaged())?;
        let member_text = String::from_utf8_lossy(member.name()).into_owned();
        let member_name = carried::inside(name, &member_text);
        let bytes: Cow<'_, [u8]> = match archive.is_thin() {
            true => member_file(input, &member_text)?.into(),
            false => member.data(&input.bytes[..]).map_err(|_| damaged())?.into(),
        };
        if bitstream::is_bitcode(&bytes) {
            parts.push(Part { name: member_name, kind: PartKind::Bitcode, bytes });
            all.with_bitcode += 1;
        } else if bytes.starts_with(carried::MAGIC) {
            let carried::Carried { modules, coverage, .. } = carried::read(&member_name, &bytes)?;
            all.with_bitcode += coverage.with_bitcode;
            match modules.is_empty() {
                true => all.missing.push(Missing { name: member_text, reason: reason_of(coverage) }),
                false => all.missing.extend(coverage.missing),
            }
            parts.extend(modules.into_iter().map(part));
        } else {
            all.missing.push(Missing { name: member_text, reason: Some("it is no object".to_owned()) });
        }
    }
    if parts.is_empty() {
        let (file, what) = match all.missing.first() {
            Some(first) => (carried::inside(name, &first.name), "a member"),
            None => (name.clone(), "an archive"),
        };
        return Err(Error::NoBitcode { file, what: what.into() });
    }
    Ok(Unpacked { parts, coverage: Some(all), functions: Vec::new() })
}

fn reason_of(coverage: Coverage) -> Option<String> {
    coverage.missing.into_iter().find_map(|missing| missing.reason)
}

/// A thin archive names its members by their place beside it.
fn member_file(archive: &Input, member: &str) -> Result<Vec<u8>, Error> {
    let at = archive.path.as_ref().unwrap_or(&archive.name);
    let file = at.parent().unwrap_or(Path::new("")).join(member);
    std::fs::read(&file).map_err(|error| {
        let reason = format!("it is thin, and its member cannot be read: {}: {error}", file.display());
        Error::Invalid { file: archive.name.clone(), what: "archive".into(), reason }
    })
}
