//! Integer arithmetic up to 128 bits: a short way for the common operations on machine words, a general one for the rest.

use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, sign_extend, truncate};
use crate::program::{ArithmeticFlags, BinaryOp, Scalar};

/// Operands have no bit set beyond `bits`; neither has the result. A broken promise makes poison.
#[inline]
pub(super) fn narrow(op: BinaryOp, flags: ArithmeticFlags, bits: u32, left: u128, right: u128) -> Result<ScalarValue, Fault> {
    let quick = if bits <= 64 { word(op, flags, bits, left as u64, right as u64) } else { None };
    match quick {
        Some((value, true)) => Ok(ScalarValue::Integer { bits, value: u128::from(value) }),
        Some((_, false)) => Ok(ScalarValue::Poison(Scalar::Integer(bits))),
        None => any(op, flags, bits, left, right),
    }
}

/// The common operations on at most 64 bits: the value, and whether it keeps the promises. `None` for the others.
#[inline]
fn word(op: BinaryOp, flags: ArithmeticFlags, bits: u32, left: u64, right: u64) -> Option<(u64, bool)> {
    let unused = 64 - bits;
    let truncated = |value: u64| value << unused >> unused;
    let signed = |value: u64| (value << unused) as i64 >> unused;
    let has_sign = |value: u64| value >> (bits - 1) & 1 == 1;
    Some(match op {
        BinaryOp::Add => {
            let value = truncated(left.wrapping_add(right));
            let wraps_signed = has_sign((left ^ value) & (right ^ value));
            (value, !(flags.no_unsigned_wrap && value < left || flags.no_signed_wrap && wraps_signed))
        }
        BinaryOp::Subtract => {
            let value = truncated(left.wrapping_sub(right));
            let wraps_signed = has_sign((left ^ right) & (left ^ value));
            (value, !(flags.no_unsigned_wrap && left < right || flags.no_signed_wrap && wraps_signed))
        }
        BinaryOp::Multiply => {
            let exact = u128::from(left) * u128::from(right);
            let value = truncated(exact as u64);
            let wraps_signed = || i128::from(signed(left)) * i128::from(signed(right)) != i128::from(signed(value));
            let wraps_unsigned = exact != u128::from(value);
            (value, !(flags.no_unsigned_wrap && wraps_unsigned || flags.no_signed_wrap && wraps_signed()))
        }
        BinaryOp::And => (left & right, true),
        BinaryOp::Or => (left | right, true),
        BinaryOp::Xor => (left ^ right, true),
        BinaryOp::ShiftLeft if right < u64::from(bits) => {
            let value = truncated(left << right);
            let wraps_signed = signed(value) >> right != signed(left);
            (value, !(flags.no_unsigned_wrap && value >> right != left || flags.no_signed_wrap && wraps_signed))
        }
        BinaryOp::LogicalShiftRight if right < u64::from(bits) => {
            let value = left >> right;
            (value, !flags.exact || value << right == left)
        }
        _ => return None,
    })
}

fn any(op: BinaryOp, flags: ArithmeticFlags, bits: u32, left: u128, right: u128) -> Result<ScalarValue, Fault> {
    let signed = |value| sign_extend(value, bits);
    let (value, keeps_promises) = match op {
        BinaryOp::Add => {
            let (exact, carried) = left.overflowing_add(right);
            let value = truncate(exact, bits);
            let unsigned = !flags.no_unsigned_wrap || (!carried && value == exact);
            (value, unsigned && (!flags.no_signed_wrap || fits(signed(left).checked_add(signed(right)), bits)))
        }
        BinaryOp::Subtract => {
            let value = truncate(left.wrapping_sub(right), bits);
            let unsigned = !flags.no_unsigned_wrap || left >= right;
            (value, unsigned && (!flags.no_signed_wrap || fits(signed(left).checked_sub(signed(right)), bits)))
        }
        BinaryOp::Multiply => {
            let (exact, carried) = left.overflowing_mul(right);
            let value = truncate(exact, bits);
            let unsigned = !flags.no_unsigned_wrap || (!carried && value == exact);
            (value, unsigned && (!flags.no_signed_wrap || fits(signed(left).checked_mul(signed(right)), bits)))
        }
        BinaryOp::UnsignedDivide | BinaryOp::UnsignedRemainder => {
            if right == 0 {
                return Err(Fault::DivisionByZero);
            }
            // 64-bit division is one instruction, 128-bit division a call.
            let (quotient, remainder) = match (u64::try_from(left), u64::try_from(right)) {
                (Ok(left), Ok(right)) => (u128::from(left / right), u128::from(left % right)),
                _ => (left / right, left % right),
            };
            let is_quotient = op == BinaryOp::UnsignedDivide;
            (if is_quotient { quotient } else { remainder }, !is_quotient || !flags.exact || remainder == 0)
        }
        BinaryOp::SignedDivide | BinaryOp::SignedRemainder => {
            let (left, right) = (signed(left), signed(right));
            if right == 0 || (right == -1 && left == minimum(bits)) {
                return Err(Fault::DivisionByZero);
            }
            let (quotient, remainder) = match (i64::try_from(left), i64::try_from(right)) {
                // Only a minimum wider than `bits` can be divided by -1 here.
                (Ok(left), Ok(right)) if right != -1 => (i128::from(left / right), i128::from(left % right)),
                _ => (left / right, left % right),
            };
            let is_quotient = op == BinaryOp::SignedDivide;
            let value = if is_quotient { quotient } else { remainder };
            (truncate(value as u128, bits), !is_quotient || !flags.exact || remainder == 0)
        }
        BinaryOp::ShiftLeft | BinaryOp::LogicalShiftRight | BinaryOp::ArithmeticShiftRight if right >= u128::from(bits) => {
            (0, false)
        }
        BinaryOp::ShiftLeft => {
            let value = truncate(left << right, bits);
            let unsigned = !flags.no_unsigned_wrap || value >> right == left;
            (value, unsigned && (!flags.no_signed_wrap || signed(value) >> right == signed(left)))
        }
        BinaryOp::LogicalShiftRight => {
            let value = left >> right;
            (value, !flags.exact || value << right == left)
        }
        BinaryOp::ArithmeticShiftRight => {
            let value = signed(left) >> right;
            (truncate(value as u128, bits), !flags.exact || value << right == signed(left))
        }
        BinaryOp::And => (left & right, true),
        BinaryOp::Or => (left | right, true),
        BinaryOp::Xor => (left ^ right, true),
        BinaryOp::FloatAdd
        | BinaryOp::FloatSubtract
        | BinaryOp::FloatMultiply
        | BinaryOp::FloatDivide
        | BinaryOp::FloatRemainder => return Err(Fault::undefined("floating-point arithmetic on integers")),
    };
    Ok(if keeps_promises { ScalarValue::Integer { bits, value } } else { ScalarValue::Poison(Scalar::Integer(bits)) })
}

/// The least signed number of a width.
pub(super) fn minimum(bits: u32) -> i128 {
    i128::MIN >> (128 - bits)
}

/// The greatest signed number of a width.
pub(super) fn maximum(bits: u32) -> i128 {
    i128::MAX >> (128 - bits)
}

/// Whether a signed result exists in this width.
pub(super) fn fits(value: Option<i128>, bits: u32) -> bool {
    value.is_some_and(|value| minimum(bits) <= value && value <= maximum(bits))
}
