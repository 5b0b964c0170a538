//! The `printf` engine: a format and its arguments to bytes, as glibc writes them in the C locale.

pub mod directive;
mod float;
pub mod integer;

use self::directive::{Count, Directive, Length, Piece};
use self::integer::Layout;
use super::call::{Call, bits_of, pointer_of, sign_extend};
use super::errors::{self, EILSEQ};
use super::real::{Real, real_bits};
use super::text;
use super::variadic::Arguments;
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, Value};
use crate::program::{Scalar, Type};

/// The bytes written, or `None` when a wide character cannot be written (`errno` is set).
pub fn format(call: &mut Call, template: Pointer, arguments: Arguments) -> Result<Option<Vec<u8>>, Fault> {
    let pieces = directive::parse(&text::string(call.environment, template)?)?;
    let mut source = Source::new(call, &pieces, arguments)?;
    let mut output = Vec::new();
    for piece in &pieces {
        match piece {
            Piece::Literal(bytes) => output.extend_from_slice(bytes),
            Piece::Directive(directive) => match convert(call, directive, &mut source, output.len())? {
                Some(bytes) => output.extend_from_slice(&bytes),
                None => {
                    call.set_errno(EILSEQ)?;
                    return Ok(None);
                }
            },
        }
    }
    Ok(Some(output))
}

/// Arguments in order, or by position when the format names positions.
enum Source {
    Ordered(Arguments),
    Positional(Vec<Value>),
}

impl Source {
    fn new(call: &mut Call, pieces: &[Piece], mut arguments: Arguments) -> Result<Source, Fault> {
        let long_bits = call.long_bits();
        let mut wanted: Vec<(usize, Type)> = Vec::new();
        for piece in pieces {
            let Piece::Directive(directive) = piece else { continue };
            for count in [directive.width, directive.precision] {
                if let Some(Count::Argument(Some(position))) = count {
                    wanted.push((position, Type::integer(32)));
                }
            }
            if let (Some(position), Some(ty)) = (directive.position, argument_type(directive, long_bits)) {
                wanted.push((position, ty));
            }
        }
        let Some(last) = wanted.iter().map(|&(position, _)| position).max() else {
            return Ok(Source::Ordered(arguments));
        };
        // A position that no directive names is an int, as glibc takes it.
        let mut types = vec![Type::integer(32); last + 1];
        for (position, ty) in wanted {
            types[position] = ty;
        }
        let values = types.into_iter().map(|ty| arguments.next(call, ty)).collect::<Result<_, _>>()?;
        Ok(Source::Positional(values))
    }

    fn next(&mut self, call: &mut Call, position: Option<usize>, ty: Type) -> Result<Value, Fault> {
        match (self, position) {
            (Source::Ordered(arguments), _) => arguments.next(call, ty),
            (Source::Positional(values), Some(position)) => Ok(values[position].clone()),
            (Source::Positional(_), None) => {
                Err(Fault::Undefined { what: "printf: directives with and without a position in one format".to_owned() })
            }
        }
    }

    fn count(&mut self, call: &mut Call, count: Count) -> Result<i64, Fault> {
        match count {
            Count::Number(number) => Ok(number),
            Count::Argument(position) => {
                let value = self.next(call, position, Type::integer(32))?;
                Ok(i64::from(bits_of(&value)?.0 as i32))
            }
        }
    }
}

/// The type in which the argument was passed; `None` for a directive that takes none.
fn argument_type(directive: &Directive, long_bits: u32) -> Option<Type> {
    Some(match directive.conversion {
        b'm' => return None,
        b's' | b'S' | b'p' | b'n' => Type::POINTER,
        b'c' | b'C' => Type::integer(32),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => Type::integer(directive.length.bits(long_bits).max(32)),
        _ if directive.length == Length::LongDouble => Type::Scalar(Scalar::X86Fp80),
        _ => Type::Scalar(Scalar::Double),
    })
}

/// One directive's text; `None` when a wide character has none.
fn convert(call: &mut Call, directive: &Directive, source: &mut Source, written: usize) -> Result<Option<Vec<u8>>, Fault> {
    let mut layout = Layout { flags: directive.flags, width: 0, precision: None };
    if let Some(count) = directive.width {
        let width = source.count(call, count)?;
        // A negative width is the flag `-`.
        layout.flags.left |= width < 0;
        layout.width = bounded(width.unsigned_abs())?;
    }
    if let Some(count) = directive.precision {
        // A negative precision is none.
        let precision = source.count(call, count)?;
        layout.precision = if precision < 0 { None } else { Some(bounded(precision.unsigned_abs())?) };
    }
    let long_bits = call.long_bits();
    let bits = directive.length.bits(long_bits);
    let Some(ty) = argument_type(directive, long_bits) else {
        let place = call.environment.errno();
        let number = call.load_integer(place, 32)? as i32;
        return Ok(Some(layout.text(cut(errors::message(number).as_bytes(), layout.precision))));
    };
    let value = source.next(call, directive.position, ty)?;
    Ok(Some(match directive.conversion {
        b'd' | b'i' => layout.signed(sign_extend(bits_of(&value)?.0, bits)),
        b'u' | b'o' | b'x' | b'X' => {
            layout.unsigned(crate::explore::value::truncate(bits_of(&value)?.0, bits), directive.conversion)
        }
        b'c' if directive.length != Length::Long => layout.text(&[bits_of(&value)?.0 as u8]),
        b'c' | b'C' => match narrow(bits_of(&value)?.0 as u32) {
            Some(byte) => layout.text(&[byte]),
            None => return Ok(None),
        },
        b's' | b'S' => {
            let start = pointer_of(call.environment, &value)?;
            let is_wide = directive.conversion == b'S' || directive.length == Length::Long;
            match string(call, start, is_wide, layout.precision)? {
                Some(bytes) => layout.text(&bytes),
                None => return Ok(None),
            }
        }
        b'p' => match bits_of(&value)?.0 {
            0 => layout.text(b"(nil)"),
            address => layout.address(address),
        },
        b'n' => {
            let place = pointer_of(call.environment, &value)?;
            call.store_integer(place, bits, written as i128)?;
            Vec::new()
        }
        conversion => {
            let (kind, bits) = real_bits(&value, ty)?;
            layout.float(Real::new(kind, bits), conversion)
        }
    }))
}

fn bounded(count: u64) -> Result<usize, Fault> {
    // glibc refuses what does not fit an int; what needs gigabytes is no program's intent.
    if count < 1 << 28 {
        return Ok(count as usize);
    }
    Err(Fault::Undefined { what: "printf: a width or precision beyond all bounds".to_owned() })
}

fn cut(bytes: &[u8], precision: Option<usize>) -> &[u8] {
    &bytes[..bytes.len().min(precision.unwrap_or(usize::MAX))]
}

/// A wide character in the C locale.
fn narrow(character: u32) -> Option<u8> {
    u8::try_from(character).ok().filter(u8::is_ascii)
}

/// At most `precision` bytes of the string are read.
fn string(call: &mut Call, start: Pointer, is_wide: bool, precision: Option<usize>) -> Result<Option<Vec<u8>>, Fault> {
    const NULL_TEXT: &[u8] = b"(null)";
    if start.is_null() {
        let fits = precision.is_none_or(|precision| precision >= NULL_TEXT.len());
        return Ok(Some(if fits { NULL_TEXT.to_vec() } else { Vec::new() }));
    }
    let limit = precision.map_or(u64::MAX, |precision| precision as u64);
    if !is_wide {
        return Ok(Some(text::bounded_string(call.environment, start, limit)?.bytes));
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < limit {
        let place = super::call::offset(start, 4 * bytes.len() as u64);
        match call.load_integer(place, 32)? as u32 {
            0 => break,
            character => match narrow(character) {
                Some(byte) => bytes.push(byte),
                None => return Ok(None),
            },
        }
    }
    Ok(Some(bytes))
}
