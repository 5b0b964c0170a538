//! Floating-point arithmetic: the processor's for `float` and `double`, soft floats for the other kinds.

use std::cmp::Ordering;

use super::soft;
use crate::explore::fault::Fault;
use crate::explore::value::ScalarValue;
use crate::program::{BinaryOp, Scalar};

pub(super) fn single(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

pub(super) fn double(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

pub(super) fn binary(op: BinaryOp, kind: Scalar, left: u128, right: u128) -> Result<ScalarValue, Fault> {
    macro_rules! native {
        ($left:expr, $right:expr) => {
            match op {
                BinaryOp::FloatAdd => $left + $right,
                BinaryOp::FloatSubtract => $left - $right,
                BinaryOp::FloatMultiply => $left * $right,
                BinaryOp::FloatDivide => $left / $right,
                BinaryOp::FloatRemainder => $left % $right,
                _ => return Err(Fault::undefined("integer arithmetic on floats")),
            }
        };
    }
    match kind {
        Scalar::Float => Ok(ScalarValue::float32(native!(single(left), single(right)))),
        Scalar::Double => Ok(ScalarValue::float64(native!(double(left), double(right)))),
        kind => soft::binary(op, kind, left, right).map(|bits| ScalarValue::Float { kind, bits }),
    }
}

pub(super) fn negate(kind: Scalar, bits: u128) -> Result<ScalarValue, Fault> {
    Ok(ScalarValue::Float { kind, bits: bits ^ sign_bit(kind)? })
}

/// The sign's bit in the bit pattern of a kind.
pub(super) fn sign_bit(kind: Scalar) -> Result<u128, Fault> {
    Ok(1 << match kind {
        Scalar::Half | Scalar::BFloat => 15,
        Scalar::Float => 31,
        Scalar::Double => 63,
        Scalar::X86Fp80 => 79,
        Scalar::Fp128 => 127,
        Scalar::Integer(_) | Scalar::Pointer => return Err(Fault::undefined("a float operation on another kind")),
    })
}

/// `None` when one is a NaN.
pub(super) fn order(kind: Scalar, left: u128, right: u128) -> Result<Option<Ordering>, Fault> {
    match kind {
        Scalar::Float => Ok(single(left).partial_cmp(&single(right))),
        Scalar::Double => Ok(double(left).partial_cmp(&double(right))),
        kind => soft::order(kind, left, right),
    }
}

/// The number in another kind, rounded to nearest even.
pub(super) fn convert(from: Scalar, to: Scalar, bits: u128) -> Result<u128, Fault> {
    match (from, to) {
        (Scalar::Float, Scalar::Double) => Ok(f64::from(single(bits)).to_bits().into()),
        (Scalar::Double, Scalar::Float) => Ok((double(bits) as f32).to_bits().into()),
        _ => soft::convert(from, to, bits),
    }
}
