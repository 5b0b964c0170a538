//! Text to globals.

use super::cursor::{Cursor, Result};
use super::parse::{Names, parse_file_and_line};
use super::parse_debug::parse_type_reference;
use crate::program::{BlockId, Global, Relocation, RelocationTarget};

pub fn parse_global(cursor: &mut Cursor<'_>, names: &Names) -> Result<Global> {
    let mut global = Global { name: cursor.name()?, source_name: cursor.string()?, ..Global::default() };
    cursor.expect_word("size")?;
    global.size = cursor.number()?;
    cursor.expect_word("align")?;
    global.align = cursor.number()?;
    global.is_thread_local = cursor.take_word("thread_local");
    global.is_constant = cursor.take_word("constant");
    global.is_external = cursor.take_word("external");
    global.is_static = cursor.take_word("static");
    global.debug_type = parse_type_reference(cursor)?;
    (global.file, global.line) = parse_file_and_line(cursor)?;
    cursor.expect("=")?;
    global.bytes = parse_bytes(cursor.word()?)?;
    if global.bytes.len() as u64 > global.size {
        return Err("there are more bytes than `size` says".to_owned());
    }
    while cursor.take("[") {
        global.relocations.push(parse_relocation(cursor, names)?);
        cursor.expect("]")?;
    }
    Ok(global)
}

fn parse_bytes(digits: &str) -> Result<Vec<u8>> {
    if digits == "-" {
        return Ok(Vec::new());
    }
    let pair = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(|at| pair(at).ok_or_else(|| format!("`{digits}` is no row of bytes"))).collect()
}

fn parse_relocation(cursor: &mut Cursor<'_>, names: &Names) -> Result<Relocation> {
    let offset = cursor.number()?;
    cursor.expect(":")?;
    let target = match cursor.word()? {
        "global" => RelocationTarget::Global(names.global(&cursor.name()?)?),
        "function" => RelocationTarget::Function(names.function(&cursor.name()?)?),
        "block" => RelocationTarget::Block(names.function(&cursor.name()?)?, BlockId::from(cursor.prefixed("b")?)),
        word => return Err(format!("`{word}` is nothing to point at")),
    };
    Ok(Relocation { offset, target, addend: cursor.number()? })
}
