//! Where one bitcode module ends and the next begins, when several stand in one section.
//!
//! A bitcode file is a magic number and a row of blocks: identification, module, string table, symbol table. A block says its length in
//! words, so modules can be told apart without reading them.

use super::bytes::{number, slice};

const MAGIC: &[u8] = b"BC\xC0\xDE";
const WRAPPER_MAGIC: &[u8] = b"\xDE\xC0\x17\x0B";

pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(WRAPPER_MAGIC)
}

/// The modules of a section, without padding between them; `None` when something else stands there.
pub fn split(mut section: &[u8]) -> Option<Vec<&[u8]>> {
    let mut modules = Vec::new();
    loop {
        let start = section.iter().position(|&byte| byte != 0).unwrap_or(section.len());
        section = &section[start..];
        if section.is_empty() {
            return Some(modules);
        }
        let length = if section.starts_with(WRAPPER_MAGIC) {
            // Magic, version, offset, size, processor.
            number(section, 8, 4)?.checked_add(number(section, 12, 4)?)?
        } else if section.starts_with(MAGIC) {
            raw_length(section)?
        } else {
            return None;
        };
        modules.push(slice(section, 0, length)?);
        section = &section[usize::try_from(length).ok()?..];
    }
}

/// The magic number and all blocks that follow it.
fn raw_length(bytes: &[u8]) -> Option<u64> {
    let mut position = MAGIC.len() as u64;
    // At the top level an abbreviation has two bits, and 1 enters a block: its number is below 128, its abbreviation width below 16.
    while number(bytes, position, 1).is_some_and(|byte| byte & 3 == 1) {
        let words = number(bytes, position + 4, 4)?;
        let end = position + 8 + words * 4;
        if end > bytes.len() as u64 {
            return None;
        }
        position = end;
    }
    Some(position)
}
