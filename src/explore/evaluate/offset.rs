//! Address arithmetic. Provenance is kept wherever the address goes: bounds are checked when memory is accessed.

use super::lanes::map2;
use super::number;
use crate::explore::fault::Fault;
use crate::explore::memory::Memory;
use crate::explore::value::{Pointer, ScalarValue, Value, sign_extend, truncate};
use crate::program::Scalar;

/// `base + constant + Σ index·stride`, in bytes, modulo the pointer's width; vectors of pointers or indices make vectors.
#[inline]
pub fn offset<'a>(
    memory: &Memory,
    base: &Value,
    constant: i64,
    terms: impl IntoIterator<Item = (&'a Value, i64)>,
) -> Result<Value, Fault> {
    let bits = memory.layout().pointer_bits();
    let mut result = moved(base, constant, bits)?;
    for (index, stride) in terms {
        if let (Value::Scalar(ScalarValue::Pointer(pointer)), Value::Scalar(ScalarValue::Integer { bits: width, value })) =
            (&mut result, index)
        {
            *pointer = advance(*pointer, distance(*value, *width, stride), bits);
            continue;
        }
        result = map2(&result, index, |base, index| {
            if base.is_poison() || index.is_poison() {
                return Ok(ScalarValue::Poison(Scalar::Pointer));
            }
            let Scalar::Integer(width) = index.kind() else {
                return Err(Fault::undefined("an index that is no integer"));
            };
            let by = match index {
                ScalarValue::WideInteger { words, .. } => words[0].wrapping_mul(stride as u64),
                index => distance(number(index)?, width, stride),
            };
            Ok(ScalarValue::Pointer(advance(pointer(base)?, by, bits)))
        })?;
    }
    Ok(result)
}

fn moved(base: &Value, constant: i64, bits: u32) -> Result<Value, Fault> {
    match base {
        Value::Scalar(ScalarValue::Pointer(pointer)) => Ok(Value::pointer(advance(*pointer, constant as u64, bits))),
        other => super::lanes::map(other, |lane| match lane {
            ScalarValue::Poison(_) => Ok(ScalarValue::Poison(Scalar::Pointer)),
            lane => Ok(ScalarValue::Pointer(advance(pointer(lane)?, constant as u64, bits))),
        }),
    }
}

fn pointer(scalar: &ScalarValue) -> Result<Pointer, Fault> {
    match scalar {
        ScalarValue::Pointer(pointer) => Ok(*pointer),
        ScalarValue::Undef(Scalar::Pointer) => Ok(Pointer::NULL),
        other => Err(Fault::undefined(format!("address arithmetic on {:?}", other.kind()))),
    }
}

#[inline]
fn distance(index: u128, width: u32, stride: i64) -> u64 {
    (sign_extend(index, width) as u64).wrapping_mul(stride as u64)
}

#[inline]
fn advance(pointer: Pointer, by: u64, bits: u32) -> Pointer {
    let address = truncate(u128::from(pointer.address.wrapping_add(by)), bits) as u64;
    Pointer { address, object: pointer.object }
}
