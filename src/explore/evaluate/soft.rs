//! Soft floats: every kind by rustc_apfloat, rounded to nearest even unless said otherwise.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Category, Float, FloatConvert, Round, Status};

use super::float::sign_bit;
use crate::explore::fault::Fault;
use crate::program::{BinaryOp, Scalar};

/// Runs `$body` with `$F` as the float type of a kind.
macro_rules! with_kind {
    ($kind:expr, $F:ident => $body:expr) => {
        match $kind {
            Scalar::Half => {
                type $F = Half;
                $body
            }
            Scalar::BFloat => {
                type $F = BFloat;
                $body
            }
            Scalar::Float => {
                type $F = Single;
                $body
            }
            Scalar::Double => {
                type $F = Double;
                $body
            }
            Scalar::X86Fp80 => {
                type $F = X87DoubleExtended;
                $body
            }
            Scalar::Fp128 => {
                type $F = Quad;
                $body
            }
            Scalar::Integer(_) | Scalar::Pointer => {
                return Err(Fault::undefined("a float operation on another kind"));
            }
        }
    };
}

pub(super) fn binary(op: BinaryOp, kind: Scalar, left: u128, right: u128) -> Result<u128, Fault> {
    let (bits, made_nan) = with_kind!(kind, F => {
        let (left, right) = (F::from_bits(left), F::from_bits(right));
        let result = match op {
            BinaryOp::FloatAdd => left + right,
            BinaryOp::FloatSubtract => left - right,
            BinaryOp::FloatMultiply => left * right,
            BinaryOp::FloatDivide => left / right,
            BinaryOp::FloatRemainder => left.c_fmod(right),
            _ => return Err(Fault::undefined("integer arithmetic on floats")),
        };
        (result.value.to_bits(), result.value.is_nan() && !left.is_nan() && !right.is_nan())
    });
    indefinite(kind, bits, made_nan)
}

/// x87's own NaN is negative.
fn indefinite(kind: Scalar, bits: u128, made_nan: bool) -> Result<u128, Fault> {
    Ok(if made_nan && kind == Scalar::X86Fp80 { bits | sign_bit(kind)? } else { bits })
}

pub(super) fn order(kind: Scalar, left: u128, right: u128) -> Result<Option<Ordering>, Fault> {
    with_kind!(kind, F => Ok(F::from_bits(left).partial_cmp(&F::from_bits(right))))
}

pub(super) fn convert(from: Scalar, to: Scalar, bits: u128) -> Result<u128, Fault> {
    with_kind!(from, F => with_kind!(to, T => {
        let mut loses_information = false;
        let converted: T = F::from_bits(bits).convert(&mut loses_information).value;
        Ok(converted.to_bits())
    }))
}

pub(super) fn fused_multiply_add(kind: Scalar, left: u128, right: u128, addend: u128) -> Result<u128, Fault> {
    with_kind!(kind, F => Ok(F::from_bits(left).mul_add(F::from_bits(right), F::from_bits(addend)).value.to_bits()))
}

pub(super) fn round(kind: Scalar, bits: u128, round: Round) -> Result<u128, Fault> {
    with_kind!(kind, F => Ok(F::from_bits(bits).round_to_integral(round).value.to_bits()))
}

/// `value · 2^exponent`.
pub(super) fn scale(kind: Scalar, bits: u128, exponent: i32) -> Result<u128, Fault> {
    with_kind!(kind, F => Ok(F::from_bits(bits).scalbn(exponent).to_bits()))
}

/// Numbers of the ten classes of `llvm.is.fpclass`, from signalling NaN to positive infinity.
pub(super) fn class(kind: Scalar, bits: u128) -> Result<u32, Fault> {
    with_kind!(kind, F => {
        let value = F::from_bits(bits);
        let (negative, positive) = match value.category() {
            Category::NaN if value.is_signaling() => (0, 0),
            Category::NaN => (1, 1),
            Category::Infinity => (2, 9),
            Category::Normal if value.is_denormal() => (4, 7),
            Category::Normal => (3, 8),
            Category::Zero => (5, 6),
        };
        Ok(if value.is_negative() { negative } else { positive })
    })
}

/// The whole number nearest in the direction of `round`; `None` for NaN and infinity.
pub(super) fn to_integer(kind: Scalar, bits: u128, round: Round) -> Result<Option<BigInt>, Fault> {
    with_kind!(kind, F => {
        let value = F::from_bits(bits);
        if !value.is_finite() {
            return Ok(None);
        }
        let whole = value.round_to_integral(round).value;
        if whole.is_zero() {
            return Ok(Some(BigInt::from(0)));
        }
        // A whole number is its leading 113 bits (the most any kind has), moved up by a power of two.
        let shift = (whole.ilogb() - 112).max(0);
        let magnitude = BigUint::from(magnitude(whole.abs().scalbn(-shift))) << shift;
        let sign = if value.is_negative() { Sign::Minus } else { Sign::Plus };
        Ok(Some(BigInt::from_biguint(sign, magnitude)))
    })
}

/// A whole number that fits 128 bits.
fn magnitude<F: Float>(value: F) -> u128 {
    let result = value.to_u128(128);
    debug_assert!(!result.status.contains(Status::INVALID_OP), "at most 128 bits");
    result.value
}

/// The float nearest to a whole number.
pub(super) fn from_integer(kind: Scalar, number: &BigInt) -> Result<u128, Fault> {
    let magnitude = number.magnitude();
    // Two bits more than any kind keeps, and one that says whether anything was cut off, round as the whole number does.
    let shift = magnitude.bits().saturating_sub(120);
    let head = magnitude >> shift;
    let is_cut = shift > 0 && &head << shift != *magnitude;
    let digits = head.to_u64_digits();
    let word = |index: usize| u128::from(digits.get(index).copied().unwrap_or(0));
    let head = word(0) | word(1) << 64 | u128::from(is_cut);
    let bits = with_kind!(kind, F => F::from_u128(head).value.scalbn(shift.min(1 << 20) as i32).to_bits());
    Ok(if number.sign() == Sign::Minus { bits | sign_bit(kind)? } else { bits })
}

/// Correctly rounded: an integer square root with enough bits, and one that says whether it is exact.
pub(super) fn square_root(kind: Scalar, bits: u128) -> Result<u128, Fault> {
    // Every kind is a part of `fp128`, whose exponents leave room to scale.
    let value = Quad::from_bits(convert(kind, Scalar::Fp128, bits)?);
    if value.is_nan() || value.is_zero() || value.is_pos_infinity() {
        return Ok(bits);
    }
    if value.is_negative() {
        return indefinite(kind, with_kind!(kind, F => F::NAN.to_bits()), true);
    }
    // value = mantissa · 2^exponent, the mantissa a whole number of 113 or 114 bits, the exponent even.
    let mut exponent = value.ilogb() - 112;
    let mut mantissa = BigUint::from(magnitude(value.scalbn(-exponent)));
    if exponent % 2 != 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    // A root of 118 bits is rounded to the 113 of `fp128` by the next line; one of 97 bits is exact there, and is rounded when
    // it is converted to its own kind. So each is rounded once.
    let more_bits = if kind == Scalar::Fp128 { 122 } else { 80 };
    mantissa <<= more_bits;
    let root = mantissa.sqrt();
    let is_cut = &root * &root != mantissa;
    let digits = root.to_u64_digits();
    let root = u128::from(digits[0]) | u128::from(digits[1]) << 64;
    let root = Quad::from_u128(root << 1 | u128::from(is_cut)).value;
    convert(Scalar::Fp128, kind, root.scalbn(exponent / 2 - more_bits / 2 - 1).to_bits())
}
