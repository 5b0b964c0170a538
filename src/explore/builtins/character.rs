//! `<ctype.h>` in the C locale: functions, and the tables that glibc's headers look into.

use super::call::{Call, Outcome, offset};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Upper,
    Lower,
    Alpha,
    Digit,
    HexDigit,
    Space,
    Print,
    Graph,
    Blank,
    Control,
    Punctuation,
    Alphanumeric,
}

impl Class {
    /// In the order of the bits of glibc's table.
    const TABLE: [Class; 12] = [
        Class::Upper,
        Class::Lower,
        Class::Alpha,
        Class::Digit,
        Class::HexDigit,
        Class::Space,
        Class::Print,
        Class::Graph,
        Class::Blank,
        Class::Control,
        Class::Punctuation,
        Class::Alphanumeric,
    ];

    pub fn contains(self, byte: u8) -> bool {
        match self {
            Class::Upper => byte.is_ascii_uppercase(),
            Class::Lower => byte.is_ascii_lowercase(),
            Class::Alpha => byte.is_ascii_alphabetic(),
            Class::Digit => byte.is_ascii_digit(),
            Class::HexDigit => byte.is_ascii_hexdigit(),
            Class::Space => super::number::is_space(byte),
            Class::Print => (b' '..=b'~').contains(&byte),
            Class::Graph => byte.is_ascii_graphic(),
            Class::Blank => byte == b' ' || byte == b'\t',
            Class::Control => byte.is_ascii_control(),
            Class::Punctuation => byte.is_ascii_punctuation(),
            Class::Alphanumeric => byte.is_ascii_alphanumeric(),
        }
    }

    /// The bit in the table, as a little-endian machine sees it: the first eight classes stand in the high byte.
    fn mask(index: usize) -> u16 {
        if index < 8 { 1 << (index + 8) } else { 1 << (index - 8) }
    }
}

/// `isalpha` and its kin return the table's bit, as glibc's functions do.
pub fn is(call: Call, class: Class) -> Outcome {
    let character = call.int(0)?;
    let index = Class::TABLE.iter().position(|&other| other == class).unwrap_or(0);
    let holds = u8::try_from(character).is_ok_and(|byte| class.contains(byte));
    call.integer(if holds { Class::mask(index).into() } else { 0 })
}

pub fn isascii(call: Call) -> Outcome {
    let character = call.int(0)?;
    call.integer(i128::from((0..128).contains(&character)))
}

pub fn toascii(call: Call) -> Outcome {
    let character = call.int(0)?;
    call.integer((character & 0x7f).into())
}

/// `tolower` and `toupper`.
pub fn convert(call: Call, mapping: fn(&u8) -> u8) -> Outcome {
    let character = call.int(0)?;
    let mapped = u8::try_from(character).map_or(character, |byte| mapping(&byte).into());
    call.integer(mapped.into())
}

/// The tables begin at -128, so that a `char` of any sign and `EOF` can be looked up.
const FIRST: i32 = -128;
const LAST: i32 = 255;

/// Of `unsigned short`: bits of the classes. Entries below -1 repeat the upper half.
pub fn class_table() -> Vec<u8> {
    let entry = |character: i32| -> u16 {
        let classes = Class::TABLE.iter().enumerate();
        match u8::try_from(if character < -1 { character + 256 } else { character }) {
            Ok(byte) => classes.filter(|(_, class)| class.contains(byte)).map(|(index, _)| Class::mask(index)).sum(),
            Err(_) => 0,
        }
    };
    (FIRST..=LAST).flat_map(|character| entry(character).to_le_bytes()).collect()
}

/// Of `int`: what each character becomes. Entries below -1 repeat the upper half, `EOF` stays.
pub fn case_table(mapping: fn(&u8) -> u8) -> Vec<u8> {
    let entry = |character: i32| -> i32 {
        match u8::try_from(if character < -1 { character + 256 } else { character }) {
            Ok(byte) => mapping(&byte).into(),
            Err(_) => character,
        }
    };
    (FIRST..=LAST).flat_map(|character| entry(character).to_le_bytes()).collect()
}

/// `__ctype_b_loc` and its kin: a place that holds a pointer to the table's entry for character 0.
pub fn location(call: Call, name: &str, table: &[u8]) -> Outcome {
    let entry_size = table.len() as u64 / (LAST - FIRST + 1) as u64;
    let start = call.environment.library_object(name, table)?;
    let zero = offset(start, entry_size * FIRST.unsigned_abs() as u64);
    let pointer_bytes = call.environment.layout().pointer_bytes as usize;
    let place = call.environment.library_object(&format!("{name} location"), &zero.address.to_le_bytes()[..pointer_bytes])?;
    call.pointer_result(place)
}
