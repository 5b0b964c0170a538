//! Numbers in text: `strtol` and its kin, and the same rules for `scanf`.

use super::call::{Call, Outcome, offset};
use super::errors::{EINVAL, ERANGE};
use super::text;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

/// An integer at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedInteger {
    pub negative: bool,
    /// `None` when it exceeds 64 bits.
    pub magnitude: Option<u64>,
    /// The bytes it takes, white space and sign included; 0 when there is no number.
    pub length: usize,
    /// The bytes that had to be looked at to know this, at least `length`.
    pub examined: usize,
}

/// White space in the C locale.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// `base` is 0 or 2 to 36.
pub fn parse_integer(text: &[u8], base: u32) -> ParsedInteger {
    let mut at = text.iter().take_while(|&&byte| is_space(byte)).count();
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let digit = |index: usize| text.get(index).and_then(|&byte| (byte as char).to_digit(36));
    let has_prefix = text.get(at) == Some(&b'0') && matches!(text.get(at + 1), Some(b'x' | b'X'));
    let mut base = base;
    let mut start = at;
    if has_prefix && (base == 0 || base == 16) && digit(at + 2).is_some_and(|value| value < 16) {
        base = 16;
        start = at + 2;
    } else if base == 0 {
        base = if text.get(at) == Some(&b'0') { 8 } else { 10 };
    }
    let mut end = start;
    let mut magnitude = Some(0u64);
    while let Some(value) = digit(end).filter(|&value| value < base) {
        magnitude = magnitude.and_then(|sum| sum.checked_mul(base.into())?.checked_add(value.into()));
        end += 1;
    }
    // "0x" without a digit behind it is the number 0, found only after looking behind the x.
    let examined = if has_prefix && start == at && base != 10 { (end + 1).max(at + 3) } else { end + 1 };
    ParsedInteger { negative, magnitude, length: if end == start { 0 } else { end }, examined: examined.min(text.len() + 1) }
}

impl ParsedInteger {
    /// As a signed number of this width, and whether it had to be cut to the range.
    pub fn signed(self, bits: u32) -> (i128, bool) {
        let magnitude = self.magnitude.map_or(i128::MAX, i128::from);
        let (least, greatest) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        let value = if self.negative { -magnitude } else { magnitude };
        (value.clamp(least, greatest), value < least || value > greatest)
    }

    /// As an unsigned number of this width: a minus sign wraps.
    pub fn unsigned(self, bits: u32) -> (i128, bool) {
        let greatest = (1i128 << bits) - 1;
        match self.magnitude.map(i128::from).filter(|&magnitude| magnitude <= greatest) {
            Some(magnitude) => (if self.negative { -magnitude } else { magnitude }, false),
            None => (greatest, true),
        }
    }
}

/// Reads what the number at `start` needs, and no byte more.
fn read_integer(call: &mut Call, start: Pointer, base: u32) -> Result<ParsedInteger, Fault> {
    let parsed = parse_integer(&text::peek_string(call.environment, start)?, base);
    text::touch(call.environment, start, parsed.examined as u64)?;
    Ok(parsed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Signedness {
    Signed,
    Unsigned,
}

/// `strtol`, `strtoul`, `strtoll`, `strtoull`: the width is that of the result.
pub fn strtol(mut call: Call, bits: u32, signedness: Signedness) -> Outcome {
    let (start, end, base) = (call.pointer(0)?, call.pointer(1)?, call.int(2)?);
    if base < 0 || base == 1 || base > 36 {
        call.set_errno(EINVAL)?;
        return call.integer(0);
    }
    let parsed = read_integer(&mut call, start, base as u32)?;
    call.store_pointer(end, offset(start, parsed.length as u64))?;
    let (value, out_of_range) = match signedness {
        Signedness::Signed => parsed.signed(bits),
        Signedness::Unsigned => parsed.unsigned(bits),
    };
    if out_of_range {
        call.set_errno(ERANGE)?;
    }
    call.integer(value)
}

/// `atoi`, `atol`, `atoll`: as `strtol` in base 10 of this width, cut to the result.
pub fn atoi(mut call: Call, bits: u32) -> Outcome {
    let start = call.pointer(0)?;
    let (value, out_of_range) = read_integer(&mut call, start, 10)?.signed(bits);
    if out_of_range {
        call.set_errno(ERANGE)?;
    }
    call.integer(value)
}
