//! Compilation databases: `compile_commands.json`, as cmake, meson and bear write it.
//!
//! Each C file is compiled as its entry says, in the directory it names, with our flags last. A file with several entries (two libraries,
//! position-independent or not) is taken once, as its first entry says. Other languages are named as missing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use super::coverage::{Coverage, Missing};
use super::sniff::{Input, Kind};
use crate::capture::command_line::{CommandLine, Language};
use crate::capture::options::Role;
use crate::capture::response;
use crate::error::Error;

/// How a file of a database is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileCommand {
    pub directory: PathBuf,
    /// The options that decide what the code means.
    pub options: Vec<OsString>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<OsText>>,
    command: Option<String>,
}

/// Words of JSON are text.
#[derive(Deserialize)]
#[serde(transparent)]
struct OsText(String);

/// The C files of a database, each with its command.
pub fn sources(database: &Input) -> Result<(Vec<Input>, Coverage), Error> {
    let invalid = |reason: String| Error::Invalid { file: database.name.clone(), what: "compilation database".into(), reason };
    let entries: Vec<Entry> = serde_json::from_slice(&database.bytes).map_err(|error| invalid(error.to_string()))?;
    let (mut sources, mut missing, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for entry in entries {
        let file = entry.directory.join(&entry.file);
        if !seen.insert(file.clone()) {
            continue;
        }
        let words: Vec<OsString> = match (entry.arguments, entry.command) {
            (Some(arguments), _) => arguments.into_iter().map(|OsText(word)| word.into()).collect(),
            (None, Some(command)) => response::split(command.as_bytes()),
            (None, None) => return Err(invalid(format!("{} has neither `arguments` nor `command`", file.display()))),
        };
        // The first word is the compiler.
        let line = CommandLine::parse(words.get(1..).unwrap_or_default());
        let named = line.sources.iter().find(|source| entry.directory.join(&source.file) == file).or(line.sources.first());
        match named.map(|source| source.language) {
            Some(Language::C) => {
                let options = line.words_of(|_, item| {
                    item.words[0] != "--" && matches!(item.role, Some(Role::Code | Role::Include | Role::Language))
                });
                let command = Some(CompileCommand { directory: entry.directory, options });
                let bytes = Vec::new();
                sources.push(Input { name: file.clone(), path: Some(file), kind: Kind::C, bytes, is_trusted: false, command });
            }
            other => {
                let reason = match other {
                    Some(Language::Foreign(reason)) => reason,
                    Some(Language::Ir | Language::C) | None => "its entry compiles no C",
                };
                missing.push(Missing { name: entry.file.display().to_string(), reason: Some(reason.to_owned()) });
            }
        }
    }
    if sources.is_empty() {
        return Err(invalid("it has no C file".to_owned()));
    }
    let coverage = Coverage { file: database.name.clone(), with_bitcode: sources.len(), missing, is_stripped: false };
    Ok((sources, coverage))
}
