//! Comparisons of integers, pointers and floats.

use std::cmp::Ordering;

use super::lanes::map2;
use super::{float, number, wide};
use crate::explore::fault::Fault;
use crate::explore::memory::Memory;
use crate::explore::value::{ScalarValue, Value, sign_extend};
use crate::program::{FloatPredicate, IntegerPredicate, Predicate, Scalar};

/// One bit, or a vector of bits. Pointers are compared by address.
#[inline]
pub fn compare(memory: &Memory, predicate: Predicate, left: &Value, right: &Value) -> Result<Value, Fault> {
    if let (
        Predicate::Integer(predicate),
        Value::Scalar(ScalarValue::Integer { bits, value: left }),
        Value::Scalar(ScalarValue::Integer { value: right, .. }),
    ) = (predicate, left, right)
    {
        return Ok(Value::boolean(holds(predicate, *bits, *left, *right)));
    }
    map2(left, right, |left, right| {
        if left.is_poison() || right.is_poison() {
            return Ok(ScalarValue::Poison(Scalar::Integer(1)));
        }
        let result = match (predicate, left.kind()) {
            (Predicate::Integer(predicate), Scalar::Integer(bits)) if bits > 128 => wide_holds(predicate, left, right)?,
            (Predicate::Integer(predicate), kind) => {
                holds(predicate, memory.layout().scalar_bits(kind), number(left)?, number(right)?)
            }
            (Predicate::Float(predicate), kind) => float_holds(predicate, float::order(kind, number(left)?, number(right)?)?),
        };
        Ok(ScalarValue::boolean(result))
    })
}

#[inline]
fn holds(predicate: IntegerPredicate, bits: u32, left: u128, right: u128) -> bool {
    let signed = |value: u128| match bits {
        // One shift of a machine word is much cheaper than one of 128 bits.
        1..=64 => i128::from(((value as u64) << (64 - bits)) as i64 >> (64 - bits)),
        _ => sign_extend(value, bits),
    };
    match predicate {
        IntegerPredicate::Equal => left == right,
        IntegerPredicate::NotEqual => left != right,
        IntegerPredicate::UnsignedGreater => left > right,
        IntegerPredicate::UnsignedGreaterEqual => left >= right,
        IntegerPredicate::UnsignedLess => left < right,
        IntegerPredicate::UnsignedLessEqual => left <= right,
        IntegerPredicate::SignedGreater => signed(left) > signed(right),
        IntegerPredicate::SignedGreaterEqual => signed(left) >= signed(right),
        IntegerPredicate::SignedLess => signed(left) < signed(right),
        IntegerPredicate::SignedLessEqual => signed(left) <= signed(right),
    }
}

fn wide_holds(predicate: IntegerPredicate, left: &ScalarValue, right: &ScalarValue) -> Result<bool, Fault> {
    let unsigned = wide::unsigned(left)?.cmp(&wide::unsigned(right)?);
    let signed = wide::signed(left)?.cmp(&wide::signed(right)?);
    Ok(match predicate {
        IntegerPredicate::Equal => unsigned.is_eq(),
        IntegerPredicate::NotEqual => unsigned.is_ne(),
        IntegerPredicate::UnsignedGreater => unsigned.is_gt(),
        IntegerPredicate::UnsignedGreaterEqual => unsigned.is_ge(),
        IntegerPredicate::UnsignedLess => unsigned.is_lt(),
        IntegerPredicate::UnsignedLessEqual => unsigned.is_le(),
        IntegerPredicate::SignedGreater => signed.is_gt(),
        IntegerPredicate::SignedGreaterEqual => signed.is_ge(),
        IntegerPredicate::SignedLess => signed.is_lt(),
        IntegerPredicate::SignedLessEqual => signed.is_le(),
    })
}

fn float_holds(predicate: FloatPredicate, order: Option<Ordering>) -> bool {
    match order {
        None => predicate.unordered,
        Some(Ordering::Equal) => predicate.equal,
        Some(Ordering::Greater) => predicate.greater,
        Some(Ordering::Less) => predicate.less,
    }
}
