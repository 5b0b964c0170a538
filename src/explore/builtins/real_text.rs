//! Floating-point numbers in text: `strtod` and its kin, and the same rules for `scanf`.

use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, Round, Status, StatusAnd};

use super::call::{BuiltinResult, Call, Outcome, offset};
use super::errors::ERANGE;
use super::number::{is_space, parse_integer};
use super::real;
use super::text;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;
use crate::program::Scalar;

/// A number at the beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedReal {
    pub negative: bool,
    pub form: Form,
    /// The bytes it takes, white space and sign included; 0 when there is no number.
    pub length: usize,
    /// The bytes that had to be looked at to know this.
    pub examined: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Digits, a point, an exponent: what both Rust and C read.
    Decimal(String),
    /// With `0x` and a binary exponent.
    Hexadecimal(String),
    Infinity,
    /// With the number in `nan(…)`.
    NotANumber(u64),
    Nothing,
}

/// Walks over the text and remembers how far it looked.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    seen: usize,
}

impl Cursor<'_> {
    fn look(&mut self, ahead: usize) -> Option<u8> {
        self.seen = self.seen.max(self.at + ahead + 1);
        self.text.get(self.at + ahead).copied()
    }

    fn accept_word(&mut self, word: &[u8]) -> bool {
        for (index, &letter) in word.iter().enumerate() {
            if self.look(index).map(|byte| byte.to_ascii_lowercase()) != Some(letter) {
                return false;
            }
        }
        self.at += word.len();
        true
    }

    fn digits(&mut self, is_digit: fn(&u8) -> bool) -> String {
        let mut digits = String::new();
        while let Some(byte) = self.look(0).filter(is_digit) {
            digits.push(byte as char);
            self.at += 1;
        }
        digits
    }

    /// `marker`, an optional sign and at least one digit; nothing is taken otherwise.
    fn exponent(&mut self, marker: u8) -> Option<String> {
        if self.look(0).map(|byte| byte.to_ascii_lowercase()) != Some(marker) {
            return None;
        }
        let has_sign = matches!(self.look(1), Some(b'+' | b'-'));
        let first = 1 + usize::from(has_sign);
        if !self.look(first).is_some_and(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let sign = if has_sign && self.look(1) == Some(b'-') { "-" } else { "" };
        self.at += first;
        let digits = self.digits(u8::is_ascii_digit);
        // No format reaches beyond: a longer exponent means 0 or infinity just the same.
        let significant = digits.trim_start_matches('0');
        Some(format!(
            "{sign}{}",
            if significant.len() > 6 {
                "999999"
            } else if significant.is_empty() {
                "0"
            } else {
                significant
            }
        ))
    }
}

pub fn parse_real(text: &[u8]) -> ParsedReal {
    let mut cursor = Cursor { text, at: 0, seen: 0 };
    while cursor.look(0).is_some_and(is_space) {
        cursor.at += 1;
    }
    let sign = cursor.look(0).filter(|byte| matches!(byte, b'+' | b'-'));
    cursor.at += usize::from(sign.is_some());
    let form = parse_form(&mut cursor);
    let length = if form == Form::Nothing { 0 } else { cursor.at };
    ParsedReal { negative: sign == Some(b'-'), form, length, examined: cursor.seen.min(text.len() + 1) }
}

fn parse_form(cursor: &mut Cursor) -> Form {
    match cursor.look(0).map(|byte| byte.to_ascii_lowercase()) {
        Some(b'i') if cursor.accept_word(b"inf") => {
            cursor.accept_word(b"inity");
            return Form::Infinity;
        }
        Some(b'n') if cursor.accept_word(b"nan") => return Form::NotANumber(parse_payload(cursor)),
        Some(b'0') if matches!(cursor.look(1), Some(b'x' | b'X')) => {
            if let Some(form) = parse_hexadecimal(cursor) {
                return form;
            }
        }
        // Whatever else comes is a decimal number, or none: see below.
        _ => {}
    }
    let start = cursor.at;
    let whole = cursor.digits(u8::is_ascii_digit);
    let fraction = parse_fraction(cursor, whole.is_empty(), u8::is_ascii_digit);
    if whole.is_empty() && fraction.is_empty() {
        cursor.at = start;
        return Form::Nothing;
    }
    let exponent = cursor.exponent(b'e').unwrap_or_else(|| "0".to_owned());
    Form::Decimal(format!("0{whole}.{fraction}0e{exponent}"))
}

/// The point belongs to the number when a digit stands before or behind it.
fn parse_fraction(cursor: &mut Cursor, needs_digit: bool, is_digit: fn(&u8) -> bool) -> String {
    if cursor.look(0) != Some(b'.') || (needs_digit && !cursor.look(1).is_some_and(|byte| is_digit(&byte))) {
        return String::new();
    }
    cursor.at += 1;
    cursor.digits(is_digit)
}

fn parse_hexadecimal(cursor: &mut Cursor) -> Option<Form> {
    let start = cursor.at;
    cursor.at += 2;
    let whole = cursor.digits(u8::is_ascii_hexdigit);
    let fraction = parse_fraction(cursor, whole.is_empty(), u8::is_ascii_hexdigit);
    if whole.is_empty() && fraction.is_empty() {
        cursor.at = start;
        return None;
    }
    let exponent = cursor.exponent(b'p').unwrap_or_else(|| "0".to_owned());
    Some(Form::Hexadecimal(format!("0x0{whole}.{fraction}0p{exponent}")))
}

/// `nan(chars)`: taken only when the parenthesis closes.
fn parse_payload(cursor: &mut Cursor) -> u64 {
    if cursor.look(0) != Some(b'(') {
        return 0;
    }
    let mut length = 1;
    while cursor.look(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        length += 1;
    }
    if cursor.look(length) != Some(b')') {
        return 0;
    }
    let inside = &cursor.text[cursor.at + 1..cursor.at + length];
    cursor.at += length + 1;
    let number = parse_integer(inside, 0);
    if number.length == inside.len() { number.magnitude.unwrap_or(u64::MAX) } else { 0 }
}

impl ParsedReal {
    /// The number in this format, rounded once, and whether it is too large or too small for it.
    pub fn bits(&self, kind: Scalar) -> (u128, bool) {
        match kind {
            Scalar::Float => self.rounded::<Single>(23, 31),
            Scalar::X86Fp80 => self.rounded::<X87DoubleExtended>(62, 79),
            _ => self.rounded::<Double>(52, 63),
        }
    }

    fn rounded<F: Float>(&self, payload_bits: u32, sign_bit: u32) -> (u128, bool) {
        let parse = |text: &str| match F::from_str_r(text, Round::NearestTiesToEven) {
            Ok(StatusAnd { status, value }) => (value.to_bits(), status.intersects(Status::OVERFLOW | Status::UNDERFLOW)),
            Err(error) => unreachable!("{text} was checked to be a number: {error:?}"),
        };
        let (magnitude, out_of_range) = match &self.form {
            Form::Decimal(text) | Form::Hexadecimal(text) => parse(text),
            Form::Infinity => (F::INFINITY.to_bits(), false),
            Form::NotANumber(payload) => {
                let quiet = F::NAN.to_bits() & !(1 << sign_bit);
                (quiet | (u128::from(*payload) & ((1 << (payload_bits - 1)) - 1)), false)
            }
            Form::Nothing => (0, false),
        };
        (if self.negative && self.form != Form::Nothing { magnitude | 1 << sign_bit } else { magnitude }, out_of_range)
    }
}

fn read_real(call: &mut Call, start: Pointer, kind: Scalar) -> Result<(ParsedReal, u128), Fault> {
    let parsed = parse_real(&text::peek_string(call.environment, start)?);
    text::touch(call.environment, start, parsed.examined as u64)?;
    let (bits, out_of_range) = parsed.bits(kind);
    if out_of_range {
        call.set_errno(ERANGE)?;
    }
    Ok((parsed, bits))
}

/// `strtod`, `strtof`, `strtold`; `atof` has no place for the end.
pub fn strtod(mut call: Call, kind: Scalar, has_end: bool) -> Outcome {
    let start = call.pointer(0)?;
    let end = if has_end { call.pointer(1)? } else { Pointer::NULL };
    let (parsed, bits) = read_real(&mut call, start, kind)?;
    call.store_pointer(end, offset(start, parsed.length as u64))?;
    Ok(BuiltinResult::Return(Some(real::value(kind, bits))))
}
