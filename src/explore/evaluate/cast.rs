//! Conversions between types.

use num_bigint::BigInt;
use rustc_apfloat::Round;

use super::lanes::map;
use super::{float, number, soft, wide};
use crate::explore::fault::Fault;
use crate::explore::memory::{Memory, decode, encode};
use crate::explore::value::{ScalarValue, Value, sign_extend, truncate};
use crate::program::{CastKind, Scalar, Type};

/// `memory` finds the objects of integers that become pointers.
#[inline]
pub fn cast(memory: &Memory, kind: CastKind, value: &Value, to: Type) -> Result<Value, Fault> {
    let scalar = match to.element() {
        Some(scalar) => scalar,
        None if kind == CastKind::Bitcast => return bitcast(memory, value, to),
        None => return Err(Fault::undefined("a conversion to an aggregate")),
    };
    if let (Value::Scalar(ScalarValue::Integer { bits, value }), Scalar::Integer(to)) = (value, scalar)
        && to <= 128
    {
        match kind {
            CastKind::Truncate | CastKind::ZeroExtend => return Ok(Value::integer(to, *value)),
            CastKind::SignExtend => return Ok(Value::integer(to, sign_extend(*value, *bits) as u128)),
            // The quick way is for these only; the general one below knows all.
            CastKind::FloatTruncate
            | CastKind::FloatExtend
            | CastKind::FloatToUnsigned
            | CastKind::FloatToSigned
            | CastKind::UnsignedToFloat
            | CastKind::SignedToFloat
            | CastKind::PointerToInteger
            | CastKind::IntegerToPointer
            | CastKind::Bitcast => {}
        }
    }
    match kind {
        CastKind::Bitcast => bitcast(memory, value, to),
        _ => map(value, |lane| convert(memory, kind, lane, scalar)),
    }
}

fn convert(memory: &Memory, kind: CastKind, value: &ScalarValue, to: Scalar) -> Result<ScalarValue, Fault> {
    if value.is_poison() {
        return Ok(ScalarValue::Poison(to));
    }
    let keeps_undef = match kind {
        CastKind::Truncate
        | CastKind::FloatTruncate
        | CastKind::FloatExtend
        | CastKind::PointerToInteger
        | CastKind::IntegerToPointer
        | CastKind::Bitcast => true,
        // The new bits are not any bits, nor the number any number.
        CastKind::ZeroExtend
        | CastKind::SignExtend
        | CastKind::FloatToUnsigned
        | CastKind::FloatToSigned
        | CastKind::UnsignedToFloat
        | CastKind::SignedToFloat => false,
    };
    if keeps_undef && value.is_undefined() {
        return Ok(ScalarValue::Undef(to));
    }
    match (kind, to) {
        (CastKind::Truncate | CastKind::ZeroExtend, Scalar::Integer(bits)) => {
            Ok(wide::from_unsigned(bits, &wide::unsigned(value)?))
        }
        (CastKind::SignExtend, Scalar::Integer(bits)) => Ok(wide::from_signed(bits, &wide::signed(value)?)),
        (CastKind::FloatTruncate | CastKind::FloatExtend, kind) if kind.is_float() => {
            Ok(ScalarValue::Float { kind, bits: float::convert(value.kind(), kind, number(value)?)? })
        }
        (CastKind::FloatToUnsigned, Scalar::Integer(bits)) => float_to_integer(value, bits, false),
        (CastKind::FloatToSigned, Scalar::Integer(bits)) => float_to_integer(value, bits, true),
        (CastKind::UnsignedToFloat, kind) if kind.is_float() => integer_to_float(&BigInt::from(wide::unsigned(value)?), kind),
        (CastKind::SignedToFloat, kind) if kind.is_float() => integer_to_float(&wide::signed(value)?, kind),
        (CastKind::PointerToInteger, Scalar::Integer(bits)) if bits <= 128 => Ok(ScalarValue::integer(bits, number(value)?)),
        (CastKind::PointerToInteger, Scalar::Integer(bits)) => Ok(wide::from_unsigned(bits, &wide::unsigned(value)?)),
        (CastKind::IntegerToPointer, Scalar::Pointer) => {
            let low = match value {
                ScalarValue::WideInteger { words, .. } => words[0],
                other => number(other)? as u64,
            };
            Ok(ScalarValue::Pointer(memory.pointer_to(low)))
        }
        (kind, to) => Err(Fault::undefined(format!("a conversion {kind:?} of {:?} to {to:?}", value.kind()))),
    }
}

/// Towards zero; out of range is poison.
fn float_to_integer(value: &ScalarValue, bits: u32, is_signed: bool) -> Result<ScalarValue, Fault> {
    let poison = ScalarValue::Poison(Scalar::Integer(bits));
    let native = match value.kind() {
        Scalar::Float => Some(f64::from(float::single(number(value)?))),
        Scalar::Double => Some(float::double(number(value)?)),
        _ => None,
    };
    if let (Some(native), 1..=64) = (native, bits) {
        // Saturation at 128 bits is out of range of 64.
        let whole = native.trunc() as i128;
        let (low, high) = if is_signed {
            (super::integer::minimum(bits), super::integer::maximum(bits))
        } else {
            (0, truncate(u128::MAX, bits) as i128)
        };
        let in_range = !native.is_nan() && low <= whole && whole <= high;
        return Ok(if in_range { ScalarValue::integer(bits, whole as u128) } else { poison });
    }
    let whole = soft::to_integer(value.kind(), number(value)?, Round::TowardZero)?;
    Ok(match whole {
        Some(whole) if wide::fits(bits, is_signed, &whole) => wide::from_signed(bits, &whole),
        _ => poison,
    })
}

fn integer_to_float(number: &BigInt, kind: Scalar) -> Result<ScalarValue, Fault> {
    if let Ok(number) = i128::try_from(number) {
        match kind {
            Scalar::Float => return Ok(ScalarValue::float32(number as f32)),
            Scalar::Double => return Ok(ScalarValue::float64(number as f64)),
            // Kinds that no type of ours has are computed in software, below.
            _ => {}
        }
    }
    Ok(ScalarValue::Float { kind, bits: soft::from_integer(kind, number)? })
}

/// The same bits as another type.
fn bitcast(memory: &Memory, value: &Value, to: Type) -> Result<Value, Fault> {
    if value.type_of() == to {
        return Ok(value.clone());
    }
    if let (Value::Scalar(scalar), Type::Scalar(kind)) = (value, to) {
        match (scalar, kind) {
            (ScalarValue::Poison(_), kind) => return Ok(Value::Scalar(ScalarValue::Poison(kind))),
            (ScalarValue::Undef(_), kind) => return Ok(Value::Scalar(ScalarValue::Undef(kind))),
            (ScalarValue::Float { bits: value, .. }, Scalar::Integer(bits)) => return Ok(Value::integer(bits, *value)),
            (ScalarValue::Integer { value, .. }, kind) if kind.is_float() => {
                return Ok(Value::Scalar(ScalarValue::Float { kind, bits: *value }));
            }
            // Every other pair goes through its bytes, below.
            _ => {}
        }
    }
    let bytes = encode(memory.layout(), value);
    if bytes.len() != memory.layout().store_bytes(to) {
        return Err(Fault::undefined(format!("a bitcast of {:?} to {to:?}", value.type_of())));
    }
    Ok(decode(memory, &bytes, 0, to))
}
