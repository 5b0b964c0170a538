//! Constants as they stand in operands.

use super::cursor::{Cursor, Result};
use super::parse::Names;
use super::words::parse_scalar;
use crate::program::{BlockId, Constant, ConstantId, Constants, Scalar};

pub fn parse(cursor: &mut Cursor<'_>, names: &Names, constants: &mut Constants) -> Result<ConstantId> {
    let constant = match cursor.word()? {
        "null" => Constant::Null,
        "undef" => Constant::Undef(cursor.type_()?),
        "poison" => Constant::Poison(cursor.type_()?),
        "zero" => Constant::Zero(cursor.type_()?),
        "global" => Constant::Global(names.global(&cursor.name()?)?),
        "function" => Constant::Function(names.function(&cursor.name()?)?),
        "block" => {
            let function = names.function(&cursor.name()?)?;
            Constant::Block(function, BlockId::from(cursor.prefixed("b")?))
        }
        "vector" => {
            let word = cursor.word()?;
            let element = parse_scalar(word).ok_or_else(|| format!("`{word}` is no scalar type"))?;
            Constant::Vector { element, lanes: list(cursor, ("[", "]"), |cursor| parse(cursor, names, constants))? }
        }
        "bytes" => {
            let size = cursor.number()?;
            let element = |cursor: &mut Cursor<'_>| {
                let offset = cursor.number()?;
                cursor.expect(":")?;
                Ok((offset, parse(cursor, names, constants)?))
            };
            Constant::Aggregate { size, elements: list(cursor, ("{", "}"), element)? }
        }
        word => number(cursor, parse_scalar(word).ok_or_else(|| format!("`{word}` begins no constant"))?)?,
    };
    Ok(constants.intern(constant))
}

fn number(cursor: &mut Cursor<'_>, scalar: Scalar) -> Result<Constant> {
    match scalar {
        Scalar::Integer(bits) if bits > 128 => {
            cursor.expect("[")?;
            let mut words = Vec::new();
            while !cursor.take("]") {
                words.push(cursor.number()?);
            }
            Ok(Constant::WideInteger { bits, words })
        }
        Scalar::Integer(bits) => {
            let word = cursor.word()?;
            let value = match word.strip_prefix('-') {
                Some(magnitude) => magnitude.parse::<u128>().map(u128::wrapping_neg),
                None => word.parse(),
            };
            Ok(Constant::integer(bits, value.map_err(|_| format!("`{word}` is no integer"))?))
        }
        Scalar::Pointer => Err("a pointer constant is null, global, function or block".to_owned()),
        kind => {
            let word = cursor.word()?;
            let bits = word.strip_prefix("0x").and_then(|digits| u128::from_str_radix(digits, 16).ok());
            Ok(Constant::Float { kind, bits: bits.ok_or_else(|| format!("`{word}` is no bit pattern (0x…)"))? })
        }
    }
}

/// Items between brackets, separated by commas.
pub fn list<T>(
    cursor: &mut Cursor<'_>,
    brackets: (&str, &str),
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    cursor.expect(brackets.0)?;
    let mut items = Vec::new();
    while !cursor.take(brackets.1) {
        if !items.is_empty() {
            cursor.expect(",")?;
        }
        items.push(item(cursor)?);
    }
    Ok(items)
}
