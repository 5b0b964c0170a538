//! Integers of more than 128 bits (`_BitInt`, what -O2 makes of struct copies), by big numbers.

use num_bigint::{BigInt, BigUint};

use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, truncate};
use crate::program::{ArithmeticFlags, BinaryOp, Scalar};

/// The unsigned number of an integer of any width; undef is 0.
pub(super) fn unsigned(scalar: &ScalarValue) -> Result<BigUint, Fault> {
    match scalar {
        ScalarValue::WideInteger { words, .. } => {
            let halves = words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect();
            Ok(BigUint::new(halves))
        }
        other => Ok(BigUint::from(super::number(other)?)),
    }
}

/// The signed number of an integer of any width; undef is 0.
pub(super) fn signed(scalar: &ScalarValue) -> Result<BigInt, Fault> {
    let Scalar::Integer(bits) = scalar.kind() else {
        return Err(Fault::undefined("a number that is no integer"));
    };
    let value = unsigned(scalar)?;
    let is_negative = value.bit(u64::from(bits) - 1);
    let value = BigInt::from(value);
    Ok(if is_negative { value - (BigInt::from(1) << bits) } else { value })
}

/// The integer of this width with these low bits.
pub(super) fn from_unsigned(bits: u32, value: &BigUint) -> ScalarValue {
    let mut words = value.to_u64_digits();
    words.resize(bits.div_ceil(64).max(2) as usize, 0);
    if bits <= 128 {
        return ScalarValue::Integer { bits, value: truncate(u128::from(words[0]) | u128::from(words[1]) << 64, bits) };
    }
    if !bits.is_multiple_of(64) {
        let top = bits as usize / 64;
        words[top] &= (1 << (bits % 64)) - 1;
    }
    ScalarValue::WideInteger { bits, words: words.into() }
}

/// The integer of this width that is congruent to a signed number.
pub(super) fn from_signed(bits: u32, value: &BigInt) -> ScalarValue {
    let modulus = BigInt::from(1) << bits;
    let mut rest = value % &modulus;
    if rest.sign() == num_bigint::Sign::Minus {
        rest += modulus;
    }
    from_unsigned(bits, rest.magnitude())
}

/// Whether a number is one of this width, read as signed or unsigned.
pub(super) fn fits(bits: u32, is_signed: bool, value: &BigInt) -> bool {
    let (low, high) = range(bits, is_signed);
    low <= *value && *value <= high
}

/// The least and the greatest number of this width.
pub(super) fn range(bits: u32, is_signed: bool) -> (BigInt, BigInt) {
    let one = BigInt::from(1);
    if is_signed { (-(&one << (bits - 1)), (&one << (bits - 1)) - &one) } else { (BigInt::from(0), (&one << bits) - &one) }
}

/// As [`super::integer::narrow`], for any width.
pub(super) fn binary(
    op: BinaryOp,
    flags: ArithmeticFlags,
    bits: u32,
    left: &ScalarValue,
    right: &ScalarValue,
) -> Result<ScalarValue, Fault> {
    let zero = BigInt::from(0);
    let (unsigned_left, unsigned_right) = (BigInt::from(unsigned(left)?), BigInt::from(unsigned(right)?));
    let (signed_left, signed_right) = (signed(left)?, signed(right)?);
    let promised = |by_unsigned: &BigInt, by_signed: &BigInt| {
        (!flags.no_unsigned_wrap || fits(bits, false, by_unsigned)) && (!flags.no_signed_wrap || fits(bits, true, by_signed))
    };
    let is_division =
        matches!(op, BinaryOp::UnsignedDivide | BinaryOp::SignedDivide | BinaryOp::UnsignedRemainder | BinaryOp::SignedRemainder);
    if is_division && unsigned_right == zero {
        return Err(Fault::DivisionByZero);
    }
    let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::LogicalShiftRight | BinaryOp::ArithmeticShiftRight);
    let poison = Ok(ScalarValue::Poison(Scalar::Integer(bits)));
    if is_shift && unsigned_right >= BigInt::from(bits) {
        return poison;
    }
    // Below `bits`, if it is a shift.
    let shift = unsigned_right.magnitude().to_u64_digits().first().copied().unwrap_or(0);
    let (value, keeps_promises) = match op {
        BinaryOp::Add => {
            let value = &unsigned_left + &unsigned_right;
            let is_promised = promised(&value, &(signed_left + signed_right));
            (value, is_promised)
        }
        BinaryOp::Subtract => {
            let value = &unsigned_left - &unsigned_right;
            let is_promised = promised(&value, &(signed_left - signed_right));
            (value, is_promised)
        }
        BinaryOp::Multiply => {
            let value = &unsigned_left * &unsigned_right;
            let is_promised = promised(&value, &(signed_left * signed_right));
            (value, is_promised)
        }
        BinaryOp::UnsignedDivide => (&unsigned_left / &unsigned_right, !flags.exact || &unsigned_left % &unsigned_right == zero),
        BinaryOp::UnsignedRemainder => (unsigned_left % unsigned_right, true),
        BinaryOp::SignedDivide | BinaryOp::SignedRemainder => {
            let (quotient, remainder) = (&signed_left / &signed_right, &signed_left % &signed_right);
            if !fits(bits, true, &quotient) {
                return Err(Fault::DivisionByZero);
            }
            let is_promised = op == BinaryOp::SignedRemainder || !flags.exact || remainder == zero;
            (if op == BinaryOp::SignedDivide { quotient } else { remainder }, is_promised)
        }
        BinaryOp::ShiftLeft => {
            let value = &unsigned_left << shift;
            let is_promised = promised(&value, &(signed_left << shift));
            (value, is_promised)
        }
        BinaryOp::LogicalShiftRight => {
            let value = &unsigned_left >> shift;
            let is_promised = !flags.exact || &value << shift == unsigned_left;
            (value, is_promised)
        }
        BinaryOp::ArithmeticShiftRight => {
            let value = &signed_left >> shift;
            let is_promised = !flags.exact || &value << shift == signed_left;
            (value, is_promised)
        }
        BinaryOp::And => (unsigned_left & unsigned_right, true),
        BinaryOp::Or => (unsigned_left | unsigned_right, true),
        BinaryOp::Xor => (unsigned_left ^ unsigned_right, true),
        BinaryOp::FloatAdd
        | BinaryOp::FloatSubtract
        | BinaryOp::FloatMultiply
        | BinaryOp::FloatDivide
        | BinaryOp::FloatRemainder => return Err(Fault::undefined("floating-point arithmetic on integers")),
    };
    if keeps_promises { Ok(from_signed(bits, &value)) } else { poison }
}
