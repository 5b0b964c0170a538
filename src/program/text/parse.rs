//! Text to a program: the lines outside functions, and the names that lines refer to.

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::FIRST_LINE;
use super::cursor::{Cursor, Result};
use super::parse_debug::{parse_alias_type, parse_assumption, parse_debug_type, parse_location, parse_variable};
use super::parse_function::{FunctionParser, parse_header};
use super::parse_global::parse_global;
use crate::program::{AliasType, FileId, FunctionId, GlobalId, LocationId, Program, Site, SourceFile, Structure};

/// What is wrong, and in which line (counted from 1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    pub line: usize,
    pub reason: String,
}

/// The functions and globals of the text by name: a line may refer to what stands further down.
#[derive(Default)]
pub struct Names {
    functions: FxHashMap<String, FunctionId>,
    globals: FxHashMap<String, GlobalId>,
}

impl Names {
    pub fn function(&self, name: &str) -> Result<FunctionId> {
        self.functions.get(name).copied().ok_or_else(|| format!("there is no function `{name}`"))
    }

    pub fn global(&self, name: &str) -> Result<GlobalId> {
        self.globals.get(name).copied().ok_or_else(|| format!("there is no global `{name}`"))
    }

    fn collect(lines: &[&str]) -> std::result::Result<Names, ParseError> {
        let mut names = Names::default();
        for (index, line) in lines.iter().enumerate() {
            let is_new = |line: &str| -> Result<bool> {
                let mut cursor = Cursor::new(line);
                let keyword = cursor.word()?;
                let name = cursor.name()?;
                Ok(match keyword {
                    "global" => {
                        let next = GlobalId::from(names.globals.len());
                        names.globals.insert(name, next).is_none()
                    }
                    _ => {
                        let next = FunctionId::from(names.functions.len());
                        names.functions.insert(name, next).is_none()
                    }
                })
            };
            if line.starts_with("global ") || line.starts_with("function ") {
                let mut is_new = is_new;
                match is_new(line) {
                    Ok(true) => {}
                    Ok(false) => return Err(ParseError { line: index + 1, reason: "this name stands twice".to_owned() }),
                    Err(reason) => return Err(ParseError { line: index + 1, reason }),
                }
            }
        }
        Ok(names)
    }
}

pub fn parse(text: &str) -> std::result::Result<Program, ParseError> {
    let all_lines: Vec<&str> = text.lines().collect();
    let names = Names::collect(&all_lines)?;
    let mut program = Program::default();
    let mut lines = all_lines.iter().enumerate();
    if lines.next().map(|(_, line)| line.trim_end()) != Some(FIRST_LINE) {
        return Err(ParseError { line: 1, reason: format!("the first line is not `{FIRST_LINE}`") });
    }
    let mut open: Option<FunctionParser> = None;
    for (index, line) in lines {
        let line = without_comment(line);
        if line.is_empty() {
            continue;
        }
        let parsed = match open.take() {
            Some(function) if line == "}" => function.finish(&mut program),
            Some(mut function) => {
                let result = function.line(line, &names, &mut program);
                open = Some(function);
                result
            }
            None => parse_item(line, &names, &mut program).map(|function| open = function),
        };
        parsed.map_err(|reason| ParseError { line: index + 1, reason })?;
    }
    match open {
        Some(_) => Err(ParseError { line: all_lines.len(), reason: "a function does not end: `}` is missing".to_owned() }),
        None => Ok(program),
    }
}

/// A comment begins with `;` at the start of a line.
fn without_comment(line: &str) -> &str {
    let line = line.trim_ascii();
    if line.starts_with(';') { "" } else { line }
}

fn parse_item(line: &str, names: &Names, program: &mut Program) -> Result<Option<FunctionParser>> {
    let mut cursor = Cursor::new(line);
    match cursor.word()? {
        "target" => {
            program.layout.triple = cursor.string()?;
            cursor.expect_word("pointer")?;
            program.layout.pointer_bytes = cursor.number()?;
            if !matches!(program.layout.pointer_bytes, 4 | 8) {
                return Err("a pointer has 4 or 8 bytes".to_owned());
            }
        }
        "file" => {
            numbered(&mut cursor, "f", &program.files)?;
            let name = cursor.string()?;
            cursor.expect_word("in")?;
            program.files.push(SourceFile { name, directory: cursor.string()? });
        }
        "location" => {
            numbered(&mut cursor, "l", &program.locations)?;
            let location = parse_location(&mut cursor)?;
            check(location.file, &program.files, "file")?;
            program.locations.push(location);
        }
        "type" => {
            numbered(&mut cursor, "t", &program.debug_types)?;
            program.debug_types.push(parse_debug_type(&mut cursor)?);
        }
        "variable" => {
            numbered(&mut cursor, "v", &program.variables)?;
            program.variables.push(parse_variable(&mut cursor)?);
        }
        "alias" => {
            numbered(&mut cursor, "a", &program.alias_types)?;
            let ty = parse_alias_type(&mut cursor)?;
            if let AliasType::Scalar { parent: Some(above), .. } | AliasType::Member { scalar: above, .. } = ty {
                check(above, &program.alias_types, "type of accesses")?;
            }
            program.alias_types.push(ty);
        }
        "structure" => {
            numbered(&mut cursor, "c", &program.structures)?;
            let is_merged = cursor.take_word("like");
            let name = cursor.string()?;
            let size = if cursor.take_word("size") { Some(cursor.number()?) } else { None };
            program.structures.push(Structure { name, size, is_merged });
        }
        "site" => {
            numbered(&mut cursor, "s", &program.sites)?;
            let function = names.function(&cursor.name()?)?;
            let index = cursor.number()?;
            let location = cursor.take_prefixed("l")?.map(LocationId::from);
            if let Some(location) = location {
                check(location, &program.locations, "location")?;
            }
            program.sites.push(Site { function, index, location });
        }
        "global" => program.globals.push(parse_global(&mut cursor, names)?),
        "constructor" => program.constructors.push(names.function(&cursor.name()?)?),
        "destructor" => program.destructors.push(names.function(&cursor.name()?)?),
        "assumption" => program.assumptions.push(parse_assumption(&mut cursor)?),
        "function" => return parse_header(&mut cursor, program),
        word => return Err(format!("`{word}` begins no item")),
    }
    cursor.expect_end()?;
    Ok(None)
}

/// The number of a table's entry must be the next one.
fn numbered<K, V>(cursor: &mut Cursor<'_>, prefix: &str, table: &TiVec<K, V>) -> Result<()> {
    let number = cursor.prefixed(prefix)?;
    let next = table.raw.len();
    if number == next { Ok(()) } else { Err(format!("`{prefix}{number}` stands where `{prefix}{next}` is due")) }
}

fn check<K: Copy, V>(id: K, table: &TiVec<K, V>, what: &str) -> Result<()>
where
    usize: From<K>,
{
    if usize::from(id) < table.raw.len() { Ok(()) } else { Err(format!("there is no {what} {}", usize::from(id))) }
}

/// ` at f0 12`, when it stands there.
pub fn parse_file_and_line(cursor: &mut Cursor<'_>) -> Result<(Option<FileId>, u32)> {
    if !cursor.take_word("at") {
        return Ok((None, 0));
    }
    let file = if cursor.take_word("-") { None } else { Some(FileId::from(cursor.prefixed("f")?)) };
    Ok((file, cursor.number()?))
}
