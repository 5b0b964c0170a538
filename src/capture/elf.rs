//! A section more at the end of an ELF file; every other section keeps its bytes and its place.
//!
//! What is appended: the content, a longer copy of the names of sections, and a longer copy of the section table. Only then the head of the
//! file is made to point there, so that a write that fails half-way leaves the file as it was, with something behind its end.

use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};

pub const MAGIC: &[u8] = b"\x7FELF";

/// From this number on the count of sections stands in the first section header.
const LARGE_COUNT: u64 = elf::SHN_LORESERVE as u64;

/// What has to be written to a file, in this order: bytes from its end on, then a new head.
#[derive(Debug, PartialEq, Eq)]
pub struct Addition {
    pub tail: Vec<u8>,
    pub head: Vec<u8>,
}

/// Where the fields stand, as (offset, width); the two classes differ.
struct Shape {
    head_bytes: usize,
    table_offset: (usize, usize),
    count: (usize, usize),
    entry_bytes: usize,
    /// In a section header.
    kind: (usize, usize),
    offset: (usize, usize),
    size: (usize, usize),
    alignment: (usize, usize),
}

const SHAPE_32: Shape = Shape {
    head_bytes: 52,
    table_offset: (32, 4),
    count: (48, 2),
    entry_bytes: 40,
    kind: (4, 4),
    offset: (16, 4),
    size: (20, 4),
    alignment: (32, 4),
};
const SHAPE_64: Shape = Shape {
    head_bytes: 64,
    table_offset: (40, 8),
    count: (60, 2),
    entry_bytes: 64,
    kind: (4, 4),
    offset: (24, 8),
    size: (32, 8),
    alignment: (48, 8),
};

/// What adds a section of this name. `None` when the file is no ELF file with a section table.
pub fn addition(file: &[u8], name: &str, content: &[u8]) -> Option<Addition> {
    match file.get(4)? {
        1 => with_shape::<elf::FileHeader32<Endianness>>(file, &SHAPE_32, name, content),
        2 => with_shape::<elf::FileHeader64<Endianness>>(file, &SHAPE_64, name, content),
        _ => None,
    }
}

fn with_shape<H: FileHeader<Endian = Endianness>>(file: &[u8], shape: &Shape, name: &str, content: &[u8]) -> Option<Addition> {
    let header = H::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.section_headers(endian, file).ok()?;
    if sections.is_empty() {
        return None;
    }
    let names_index = header.shstrndx(endian, file).ok()? as usize;
    let names = sections.get(names_index)?.data(endian, file).ok()?;
    let put = |bytes: &mut [u8], field: (usize, usize), value: u64| put(endian, bytes, field, value);

    let mut tail = content.to_vec();
    let names_at = file.len() + tail.len();
    tail.extend(names);
    tail.extend(name.as_bytes());
    tail.push(0);
    // Section tables are read as arrays of words.
    tail.resize((file.len() + tail.len()).next_multiple_of(8) - file.len(), 0);
    let table_at = file.len() + tail.len();

    let old_table: usize = header.e_shoff(endian).into().try_into().ok()?;
    let mut table = file.get(old_table..old_table.checked_add(sections.len() * shape.entry_bytes)?)?.to_vec();
    let names_entry = &mut table[names_index * shape.entry_bytes..][..shape.entry_bytes];
    put(names_entry, shape.offset, names_at as u64);
    put(names_entry, shape.size, (names.len() + name.len() + 1) as u64);
    let mut entry = vec![0; shape.entry_bytes];
    put(&mut entry, (0, 4), names.len() as u64);
    put(&mut entry, shape.kind, u64::from(elf::SHT_PROGBITS.0));
    put(&mut entry, shape.offset, file.len() as u64);
    put(&mut entry, shape.size, content.len() as u64);
    put(&mut entry, shape.alignment, 1);
    table.extend(entry);

    let mut head = file[..shape.head_bytes].to_vec();
    put(&mut head, shape.table_offset, table_at as u64);
    let count = sections.len() as u64 + 1;
    if count < LARGE_COUNT {
        put(&mut head, shape.count, count);
    } else {
        put(&mut head, shape.count, 0);
        put(&mut table, shape.size, count);
    }
    tail.extend(table);
    Some(Addition { tail, head })
}

fn put(endian: Endianness, bytes: &mut [u8], (offset, width): (usize, usize), value: u64) {
    match endian {
        Endianness::Little => bytes[offset..offset + width].copy_from_slice(&value.to_le_bytes()[..width]),
        Endianness::Big => bytes[offset..offset + width].copy_from_slice(&value.to_be_bytes()[8 - width..]),
    }
}

/// Takes the alignment from empty sections: a linker would move what comes after them.
pub fn without_empty_alignments(file: &[u8]) -> Option<Vec<u8>> {
    match file.get(4)? {
        1 => align_empty::<elf::FileHeader32<Endianness>>(file, &SHAPE_32),
        2 => align_empty::<elf::FileHeader64<Endianness>>(file, &SHAPE_64),
        _ => None,
    }
}

fn align_empty<H: FileHeader<Endian = Endianness>>(file: &[u8], shape: &Shape) -> Option<Vec<u8>> {
    let header = H::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let table: usize = header.e_shoff(endian).into().try_into().ok()?;
    let mut changed = file.to_vec();
    for (index, section) in header.section_headers(endian, file).ok()?.iter().enumerate().skip(1) {
        if section.sh_size(endian).into() == 0 {
            put(endian, &mut changed[table + index * shape.entry_bytes..], shape.alignment, 1);
        }
    }
    Some(changed)
}

/// Whether the file has a section of this name.
pub fn has_section(file: &[u8], name: &str) -> bool {
    object::File::parse(file).is_ok_and(|parsed| parsed.section_by_name(name).is_some_and(|section| section.size() > 0))
}

/// The names of the sources, as the symbol table has them: one for each object that was linked into the file.
pub fn file_symbols(file: &[u8]) -> Vec<String> {
    let Ok(parsed) = object::File::parse(file) else { return Vec::new() };
    let names = parsed.symbols().filter(|symbol| symbol.kind() == SymbolKind::File);
    names.map(|symbol| String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned()).collect()
}
