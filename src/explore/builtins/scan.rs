//! The `scanf` family: a format, and an input that is looked at one byte ahead.

use super::call::{Call, Outcome};
use super::errors::ENOMEM;
use super::format::directive::Length;
use super::number::{is_space, parse_integer};
use super::real;
use super::real_text::parse_real;
use super::scan_format::{self, Conversion, Directive, Set};
use super::stream::{self, Target};
use super::text;
use super::variadic::Arguments;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;
use crate::program::{Scalar, Type};

/// Where the characters come from.
enum Input {
    Text {
        start: Pointer,
        bytes: Vec<u8>,
        at: usize,
        furthest: usize,
    },
    /// `ahead` was read and not yet taken; `ended` when there is no more.
    Stream {
        target: Target,
        ahead: Option<u8>,
        ended: bool,
        taken: usize,
    },
}

impl Input {
    fn peek(&mut self, call: &mut Call) -> Option<u8> {
        match self {
            Input::Text { bytes, at, furthest, .. } => {
                *furthest = (*furthest).max(*at + 1);
                bytes.get(*at).copied()
            }
            Input::Stream { target, ahead, ended, .. } => {
                if ahead.is_none() && !*ended {
                    *ahead = stream::next_byte(call, *target);
                    *ended = ahead.is_none();
                }
                *ahead
            }
        }
    }

    fn skip(&mut self) {
        match self {
            Input::Text { at, .. } => *at += 1,
            Input::Stream { ahead, taken, .. } => {
                *ahead = None;
                *taken += 1;
            }
        }
    }

    fn taken(&self) -> usize {
        match self {
            Input::Text { at, .. } => *at,
            Input::Stream { taken, .. } => *taken,
        }
    }

    fn skip_space(&mut self, call: &mut Call) {
        while self.peek(call).is_some_and(is_space) {
            self.skip();
        }
    }

    /// Takes the bytes that satisfy the test, at most `limit`.
    fn take_while(&mut self, call: &mut Call, limit: usize, mut accepts: impl FnMut(u8) -> bool) -> Vec<u8> {
        let mut taken = Vec::new();
        while taken.len() < limit {
            match self.peek(call).filter(|&byte| accepts(byte)) {
                Some(byte) => taken.push(byte),
                None => break,
            }
            self.skip();
        }
        taken
    }

    /// Records the bytes looked at; what was read ahead of a stream goes back.
    fn finish(self, call: &mut Call) -> Result<(), Fault> {
        match self {
            Input::Text { start, furthest, bytes, .. } => {
                text::touch(call.environment, start, furthest.min(bytes.len() + 1) as u64)
            }
            Input::Stream { ahead, .. } => {
                if let Some(byte) = ahead {
                    stream::push_back(call.environment, byte);
                }
                Ok(())
            }
        }
    }
}

/// What a `scanf` function reads; numbers are positions of arguments.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    Standard,
    Stream(usize),
    Text(usize),
}

/// Executes a function of the family whose format is the argument at `template`.
pub fn scan(mut call: Call, origin: Origin, template: usize, is_list: bool) -> Outcome {
    let mut arguments = if is_list { Arguments::list(&call, template + 1)? } else { Arguments::Direct(template + 1) };
    let template = call.pointer(template)?;
    let format = text::string(call.environment, template)?;
    let mut input = match origin {
        Origin::Text(position) => {
            let start = call.pointer(position)?;
            let bytes = text::peek_string(call.environment, start)?;
            Input::Text { start, bytes, at: 0, furthest: 0 }
        }
        Origin::Standard => Input::Stream { target: Target::Input, ahead: None, ended: false, taken: 0 },
        Origin::Stream(position) => {
            Input::Stream { target: stream::target_of(&mut call, position)?, ahead: None, ended: false, taken: 0 }
        }
    };
    let result = run(&mut call, &mut input, &scan_format::parse(&format)?, &mut arguments)?;
    input.finish(&mut call)?;
    call.integer(result)
}

/// Why the run stops.
enum Stop {
    /// The input does not fit the directive.
    Mismatch,
    /// The input ended before the directive got any of it.
    InputEnd,
}

fn run(call: &mut Call, input: &mut Input, directives: &[Directive], arguments: &mut Arguments) -> Result<i128, Fault> {
    let mut assigned = 0;
    for directive in directives {
        let step = match directive {
            Directive::Space => {
                input.skip_space(call);
                Ok(false)
            }
            Directive::Literal { byte, skips_space } => {
                if *skips_space {
                    input.skip_space(call);
                }
                match input.peek(call) {
                    None => Err(Stop::InputEnd),
                    Some(found) if found != *byte => Err(Stop::Mismatch),
                    Some(_) => {
                        input.skip();
                        Ok(false)
                    }
                }
            }
            Directive::Conversion(conversion) => {
                convert(call, input, conversion, arguments)?.map(|()| conversion.stores && conversion.specifier != b'n')
            }
        };
        match step {
            Ok(stored) => assigned += i128::from(stored),
            // As glibc: what was converted but not stored does not count.
            Err(Stop::InputEnd) if assigned == 0 => return Ok(stream::EOF),
            Err(Stop::InputEnd | Stop::Mismatch) => return Ok(assigned),
        }
    }
    Ok(assigned)
}

fn convert(
    call: &mut Call,
    input: &mut Input,
    conversion: &Conversion,
    arguments: &mut Arguments,
) -> Result<Result<(), Stop>, Fault> {
    if !matches!(conversion.specifier, b'c' | b'[' | b'n') {
        input.skip_space(call);
    }
    if conversion.specifier != b'n' && input.peek(call).is_none() {
        return Ok(Err(Stop::InputEnd));
    }
    let limit = conversion.width.unwrap_or(usize::MAX);
    let long_bits = call.long_bits();
    let bits = conversion.length.bits(long_bits);
    match conversion.specifier {
        b'n' => {
            if conversion.stores {
                let place = arguments.next_pointer(call)?;
                call.store_integer(place, bits, input.taken() as i128)?;
            }
        }
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'p' => {
            let base = match conversion.specifier {
                b'i' => 0,
                b'o' => 8,
                b'x' | b'X' | b'p' => 16,
                _ => 10,
            };
            let item = take_integer(call, input, base, limit);
            let parsed = parse_integer(&item, base);
            if parsed.length == 0 {
                return Ok(Err(Stop::Mismatch));
            }
            // glibc reads a long (or long long), then cuts it to the object.
            let width =
                if matches!(conversion.length, Length::LongLong | Length::Max | Length::LongDouble) { 64 } else { long_bits };
            let is_signed = matches!(conversion.specifier, b'd' | b'i');
            let (value, _) = if is_signed { parsed.signed(width) } else { parsed.unsigned(width) };
            if conversion.stores {
                let place = arguments.next_pointer(call)?;
                if conversion.specifier == b'p' {
                    let pointer = call.environment.resolve(value as u64);
                    call.store_pointer(place, pointer)?;
                } else {
                    call.store_integer(place, bits, value)?;
                }
            }
        }
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
            let Some(item) = take_real(call, input, limit) else {
                return Ok(Err(Stop::Mismatch));
            };
            let kind = match conversion.length {
                Length::LongDouble | Length::LongLong => Scalar::X86Fp80,
                Length::Long => Scalar::Double,
                _ => Scalar::Float,
            };
            if conversion.stores {
                let place = arguments.next_pointer(call)?;
                let (bits, _) = parse_real(&item).bits(kind);
                call.environment.store(place, &real::value(kind, bits), Type::Scalar(kind))?;
            }
        }
        specifier => {
            let item = match (&conversion.set, specifier) {
                (Some(set), _) => input.take_while(call, limit, |byte| Set::contains(set, byte)),
                (None, b'c') => input.take_while(call, conversion.width.unwrap_or(1), |_| true),
                (None, _) => input.take_while(call, limit, |byte| !is_space(byte)),
            };
            if item.is_empty() {
                return Ok(Err(Stop::Mismatch));
            }
            if specifier == b'c' && item.len() < conversion.width.unwrap_or(1) && !conversion.stores {
                return Ok(Err(Stop::InputEnd));
            }
            if conversion.stores && !store_text(call, conversion, arguments, item)? {
                return Ok(Err(Stop::InputEnd));
            }
        }
    }
    Ok(Ok(()))
}

/// Whether there was memory for it.
fn store_text(call: &mut Call, conversion: &Conversion, arguments: &mut Arguments, mut item: Vec<u8>) -> Result<bool, Fault> {
    if conversion.specifier != b'c' {
        item.push(0);
    }
    if conversion.length == Length::Long {
        item = item.into_iter().flat_map(|byte| u32::from(byte).to_le_bytes()).collect();
    }
    let place = arguments.next_pointer(call)?;
    if !conversion.allocates {
        call.environment.write(place, &item)?;
        return Ok(true);
    }
    let buffer = call.environment.allocate(item.len() as u64, false)?;
    if buffer.is_null() {
        call.set_errno(ENOMEM)?;
        return Ok(false);
    }
    call.environment.write(buffer, &item)?;
    call.store_pointer(place, buffer)?;
    Ok(true)
}

/// The longest prefix of the input that could begin an integer.
fn take_integer(call: &mut Call, input: &mut Input, base: u32, limit: usize) -> Vec<u8> {
    let mut item = input.take_while(call, limit.min(1), |byte| matches!(byte, b'+' | b'-'));
    let mut base = base;
    if item.len() < limit && input.peek(call) == Some(b'0') {
        item.push(b'0');
        input.skip();
        let is_prefix = matches!(input.peek(call), Some(b'x' | b'X')) && (base == 0 || base == 16);
        if item.len() < limit && is_prefix {
            item.push(b'x');
            input.skip();
            base = 16;
        } else if base == 0 {
            base = 8;
        }
    }
    let base = if base == 0 { 10 } else { base };
    let rest = limit - item.len();
    item.extend(input.take_while(call, rest, |byte| (byte as char).is_digit(base)));
    item
}

/// The longest prefix of the input that could begin a number; `None` when it is none.
fn take_real(call: &mut Call, input: &mut Input, limit: usize) -> Option<Vec<u8>> {
    let mut item = input.take_while(call, limit.min(1), |byte| matches!(byte, b'+' | b'-'));
    let signs = item.len();
    for word in [&b"nan"[..], b"infinity"] {
        if item.len() < limit && input.peek(call).map(|byte| byte.to_ascii_lowercase()) == Some(word[0]) {
            let mut matched = 0;
            let rest = limit - item.len();
            item.extend(input.take_while(call, rest, |byte| {
                let fits = word.get(matched) == Some(&byte.to_ascii_lowercase());
                matched += usize::from(fits);
                fits
            }));
            // "inf" and "infinity" are words, what lies between is not.
            return (matched == 3 || matched == word.len()).then_some(item);
        }
    }
    let (mut is_hexadecimal, mut has_point, mut has_digit, mut has_exponent) = (false, false, false, false);
    while item.len() < limit {
        let Some(byte) = input.peek(call) else { break };
        let after_marker = item.last().is_some_and(|&last| matches!(last.to_ascii_lowercase(), b'e' | b'p')) && has_exponent;
        let marker = if is_hexadecimal { b'p' } else { b'e' };
        let fits = match byte {
            b'0'..=b'9' => {
                has_digit = true;
                true
            }
            b'x' | b'X' if item.len() == signs + 1 && item[signs] == b'0' => {
                is_hexadecimal = true;
                has_digit = false;
                true
            }
            b'a'..=b'f' | b'A'..=b'F' if is_hexadecimal && !has_exponent => {
                has_digit = true;
                true
            }
            b'.' if !has_point && !has_exponent => {
                has_point = true;
                true
            }
            b'+' | b'-' => after_marker,
            other if other.to_ascii_lowercase() == marker && has_digit && !has_exponent => {
                has_exponent = true;
                true
            }
            _ => false,
        };
        if !fits {
            break;
        }
        item.push(byte);
        input.skip();
    }
    // As glibc: "0x" alone is no number, "0x." is 0.
    let is_number = item.len() != signs + if is_hexadecimal { 2 } else { 0 } && parse_real(&item).length > 0;
    is_number.then_some(item)
}
