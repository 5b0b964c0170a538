//! Text to debug information and assumptions.

use super::constant::list;
use super::cursor::{Cursor, Result};
use super::parse::parse_file_and_line;
use crate::program::{
    AliasType, AliasTypeId, Assumption, AssumptionKind, DebugType, DebugTypeId, DebugTypeKind, Field, FileId, Location,
    LocationId, Place, Variable,
};

pub fn parse_location(cursor: &mut Cursor<'_>) -> Result<Location> {
    let file = FileId::from(cursor.prefixed("f")?);
    let (line, column) = (cursor.number()?, cursor.number()?);
    let function = cursor.string()?;
    let inlined_at = if cursor.take_word("inlined") { Some(LocationId::from(cursor.prefixed("l")?)) } else { None };
    Ok(Location { file, line, column, function, inlined_at })
}

pub fn parse_variable(cursor: &mut Cursor<'_>) -> Result<Variable> {
    let name = cursor.string()?;
    let ty = parse_type_reference(cursor)?;
    let (file, line) = parse_file_and_line(cursor)?;
    Ok(Variable { name, ty, file, line })
}

pub fn parse_alias_type(cursor: &mut Cursor<'_>) -> Result<AliasType> {
    let is_open = cursor.take_word("open");
    if cursor.take_word("member") {
        let (structure, offset) = (cursor.string()?, cursor.number()?);
        return Ok(AliasType::Member { structure, offset, scalar: AliasTypeId::from(cursor.prefixed("a")?), is_open });
    }
    let name = cursor.string()?;
    Ok(AliasType::Scalar { name, parent: cursor.take_prefixed("a")?.map(AliasTypeId::from) })
}

pub fn parse_type_reference(cursor: &mut Cursor<'_>) -> Result<Option<DebugTypeId>> {
    if cursor.take_word("type") { cursor.prefixed("t").map(|id| Some(DebugTypeId::from(id))) } else { Ok(None) }
}

pub fn parse_debug_type(cursor: &mut Cursor<'_>) -> Result<DebugType> {
    cursor.expect_word("size")?;
    let size = cursor.number()?;
    let kind = match cursor.word()? {
        "base" => DebugTypeKind::Base { name: cursor.string()? },
        "pointer" => DebugTypeKind::Pointer { to: parse_type_reference(cursor)? },
        "struct" => DebugTypeKind::Struct { name: cursor.string()?, fields: parse_fields(cursor)? },
        "union" => DebugTypeKind::Union { name: cursor.string()?, fields: parse_fields(cursor)? },
        "array" => {
            let count = if cursor.take_word("count") { Some(cursor.number()?) } else { None };
            DebugTypeKind::Array { count, element: parse_type_reference(cursor)? }
        }
        "alias" => DebugTypeKind::Alias { name: cursor.string()?, of: parse_type_reference(cursor)? },
        "function" => {
            let type_id = |cursor: &mut Cursor<'_>| cursor.prefixed("t").map(DebugTypeId::from);
            let parameters = list(cursor, ("(", ")"), type_id)?;
            let is_variadic = cursor.take_word("variadic");
            let result = if cursor.take_word("returns") { Some(type_id(cursor)?) } else { None };
            DebugTypeKind::Function { result, parameters, is_variadic }
        }
        word => return Err(format!("`{word}` is no kind of type")),
    };
    Ok(DebugType { kind, size })
}

fn parse_fields(cursor: &mut Cursor<'_>) -> Result<Vec<Field>> {
    list(cursor, ("{", "}"), |cursor| {
        let name = cursor.string()?;
        let (offset_bits, size_bits) = (cursor.number()?, cursor.number()?);
        Ok(Field { name, offset_bits, size_bits, ty: parse_type_reference(cursor)? })
    })
}

pub fn parse_assumption(cursor: &mut Cursor<'_>) -> Result<Assumption> {
    let word = cursor.word()?;
    let kind = AssumptionKind::from_name(word).ok_or_else(|| format!("`{word}` is no kind of assumption"))?;
    let what = cursor.string()?;
    let place = if cursor.take_word("at") {
        Some(Place { file: cursor.string()?, line: cursor.number()?, column: cursor.number()? })
    } else {
        None
    };
    Ok(Assumption { kind, what, place })
}
