//! Sections of an ELF file by name: as much of the format as embedded bitcode needs.

use super::bytes::{number, slice};

pub const MAGIC: &[u8] = b"\x7FELF";

/// The section has no bytes in the file.
const TYPE_NO_BITS: u64 = 8;

/// Where the fields stand, which differs between the two classes.
struct Shape {
    table_offset: (u64, u64),
    entry_size: u64,
    count: u64,
    names_index: u64,
    /// In a section header: offset in the file, and size.
    offset: (u64, u64),
    size: (u64, u64),
}

const SHAPE_32: Shape =
    Shape { table_offset: (0x20, 4), entry_size: 0x2E, count: 0x30, names_index: 0x32, offset: (0x10, 4), size: (0x14, 4) };
const SHAPE_64: Shape =
    Shape { table_offset: (0x28, 8), entry_size: 0x3A, count: 0x3C, names_index: 0x3E, offset: (0x18, 8), size: (0x20, 8) };

/// The contents of all sections with this name; `None` when the file is damaged or of the other byte order.
pub fn sections_named<'a>(file: &'a [u8], wanted: &str) -> Option<Vec<&'a [u8]>> {
    let is_little_endian = *file.get(5)? == 1;
    if !is_little_endian {
        return None;
    }
    let shape = match file.get(4)? {
        1 => SHAPE_32,
        2 => SHAPE_64,
        _ => return None,
    };
    let table = number(file, shape.table_offset.0, shape.table_offset.1)?;
    let entry_size = number(file, shape.entry_size, 2)?;
    let header = |index: u64| slice(file, table.checked_add(index.checked_mul(entry_size)?)?, entry_size);
    if table == 0 {
        return Some(Vec::new());
    }
    let content = |header: &[u8]| {
        let (offset, size) = (number(header, shape.offset.0, shape.offset.1)?, number(header, shape.size.0, shape.size.1)?);
        slice(file, offset, size)
    };
    // A count that does not fit stands in the first header.
    let count = match number(file, shape.count, 2)? {
        0 => number(header(0)?, shape.size.0, shape.size.1)?,
        count => count,
    };
    let names_index = match number(file, shape.names_index, 2)? {
        0xFFFF => number(header(0)?, shape.size.0 + shape.size.1, 4)?,
        index => index,
    };
    let names = content(header(names_index)?)?;
    let mut found = Vec::new();
    for index in 0..count {
        let header = header(index)?;
        let name = names.get(usize::try_from(number(header, 0, 4)?).ok()?..)?;
        let is_wanted = name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.first() == Some(&0));
        if is_wanted && number(header, 4, 4)? != TYPE_NO_BITS {
            found.push(content(header)?);
        }
    }
    Some(found)
}
