//! `<math.h>` where the result is exact or rounded once: the same code for every width.

use num_bigint::BigUint;
use rustc_apfloat::ieee::{Double, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, Round, Status};

use super::call::{BuiltinResult, Call, Outcome};
use super::errors::{EDOM, ERANGE};
use super::number::parse_integer;
use super::real::{Class, Real, real_bits, value};
use super::text;
use crate::explore::fault::Fault;
use crate::models::Builtin;
use crate::program::{Scalar, Type};

fn argument(call: &Call, position: usize) -> Result<(Scalar, u128), Fault> {
    let ty = call.types.get(position).copied().unwrap_or(call.return_type);
    real_bits(call.argument(position)?, ty)
}

fn real_result(kind: Scalar, bits: u128) -> Outcome {
    Ok(BuiltinResult::Return(Some(value(kind, bits))))
}

/// Applies a function that is generic in the format.
macro_rules! in_format {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            Scalar::Float => $function::<Single>($($argument),*),
            Scalar::X86Fp80 => $function::<X87DoubleExtended>($($argument),*),
            Scalar::Fp128 => $function::<Quad>($($argument),*),
            _ => $function::<Double>($($argument),*),
        }
    };
}

/// How `rint` and its kin round.
fn direction(function: Builtin) -> Round {
    match function {
        Builtin::Floor => Round::TowardNegative,
        Builtin::Ceil => Round::TowardPositive,
        Builtin::Trunc => Round::TowardZero,
        Builtin::Round | Builtin::Lround => Round::NearestTiesToAway,
        // The rounding mode of a program that does not change it.
        _ => Round::NearestTiesToEven,
    }
}

fn compute<F: Float>(function: Builtin, operands: &[u128]) -> (u128, Status) {
    let number = |position: usize| F::from_bits(operands[position]);
    let first = number(0);
    let exact = |number: F| (number.to_bits(), Status::OK);
    let rounded = |result: rustc_apfloat::StatusAnd<F>| (result.value.to_bits(), result.status);
    match function {
        Builtin::Fabs => exact(first.abs()),
        Builtin::Copysign => exact(first.copy_sign(number(1))),
        Builtin::Fmin => exact(first.min(number(1))),
        Builtin::Fmax => exact(first.max(number(1))),
        Builtin::Fdim if first.is_nan() || number(1).is_nan() => exact(F::NAN),
        Builtin::Fdim if first <= number(1) => exact(F::ZERO),
        Builtin::Fdim => rounded(first - number(1)),
        Builtin::Fma => rounded(first.mul_add(number(1), number(2))),
        Builtin::Fmod => rounded(first.c_fmod(number(1))),
        Builtin::Remainder => rounded(first.ieee_rem(number(1))),
        Builtin::Nextafter if first.is_nan() || number(1).is_nan() => exact(F::NAN),
        Builtin::Nextafter if first == number(1) => exact(number(1)),
        Builtin::Nextafter if first < number(1) => rounded(first.next_up()),
        Builtin::Nextafter => rounded(first.next_down()),
        Builtin::Logb if first.is_zero() => exact(-F::INFINITY),
        Builtin::Logb if first.is_infinite() => exact(F::INFINITY),
        Builtin::Logb if first.is_nan() => exact(first),
        Builtin::Logb => rounded(F::from_i128(first.ilogb().into())),
        _ => {
            // A zero or an infinity keeps its sign and payload.
            let result = first.round_to_integral(direction(function));
            (if first.is_nan() { first.to_bits() } else { result.value.copy_sign(first).to_bits() }, Status::OK)
        }
    }
}

/// Functions of one to three numbers of the same width.
pub fn algebraic(mut call: Call, function: Builtin, count: usize) -> Outcome {
    let operands = (0..count).map(|position| argument(&call, position)).collect::<Result<Vec<_>, _>>()?;
    let kind = operands[0].0;
    let bits: Vec<u128> = operands.iter().map(|&(_, bits)| bits).collect();
    let (result, status) = in_format!(kind, compute(function, &bits));
    if status.intersects(Status::INVALID_OP) && Real::new(kind, result).class == Class::NotANumber {
        call.set_errno(EDOM)?;
    } else if status.intersects(Status::OVERFLOW) {
        call.set_errno(ERANGE)?;
    }
    real_result(kind, result)
}

/// The square root of `mantissa · 2^exponent`, rounded once: an integer root with enough bits, and whether it is exact.
fn square_root<F: Float>(number: Real) -> u128 {
    let shift = 2 * u64::from(F::PRECISION as u32) + 4 - number.mantissa.ilog2() as u64;
    // The exponent that remains must be even.
    let shift = shift + (number.exponent.unsigned_abs() as u64 + shift) % 2;
    let radicand = BigUint::from(number.mantissa) << shift;
    let root = radicand.sqrt();
    let is_exact = &root * &root == radicand;
    let digits = (root << 1u32) + u32::from(!is_exact);
    let integer = digits.iter_u64_digits().rev().fold(0u128, |sum, digit| sum << 64 | u128::from(digit));
    let scale = (number.exponent - shift as i32) / 2 - 1;
    F::from_u128(integer).value.scalbn(scale).to_bits()
}

pub fn sqrt(mut call: Call) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let number = Real::new(kind, bits);
    match number.class {
        Class::Zero | Class::NotANumber => real_result(kind, bits),
        _ if number.negative => {
            call.set_errno(EDOM)?;
            // The processor's own answer: a quiet NaN with the sign set.
            real_result(kind, in_format!(kind, invalid()))
        }
        Class::Infinite => real_result(kind, bits),
        Class::Subnormal | Class::Normal => match kind {
            Scalar::Double => real_result(kind, f64::from_bits(bits as u64).sqrt().to_bits().into()),
            Scalar::Float => real_result(kind, f32::from_bits(bits as u32).sqrt().to_bits().into()),
            _ => real_result(kind, in_format!(kind, square_root(number))),
        },
    }
}

fn invalid<F: Float>() -> u128 {
    (-F::NAN).to_bits()
}

fn scale<F: Float>(bits: u128, exponent: i32) -> (u128, bool, bool) {
    let number = F::from_bits(bits);
    let result = number.scalbn(exponent);
    let overflows = result.is_infinite() && !number.is_infinite();
    (if number.is_nan() { bits } else { result.to_bits() }, overflows, result.is_zero() && !number.is_zero())
}

/// `ldexp`, `scalbn`, `scalbln`.
pub fn ldexp(mut call: Call) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let exponent = call.signed(1)?.clamp(-100_000, 100_000) as i32;
    let (result, overflows, vanishes) = in_format!(kind, scale(bits, exponent));
    if overflows || vanishes {
        call.set_errno(ERANGE)?;
    }
    real_result(kind, result)
}

fn split_exponent<F: Float>(bits: u128) -> (u128, i32) {
    let number = F::from_bits(bits);
    if !number.is_finite() || number.is_zero() {
        return (bits, 0);
    }
    let mut exponent = 0;
    let fraction = number.frexp(&mut exponent);
    (fraction.to_bits(), exponent)
}

pub fn frexp(mut call: Call) -> Outcome {
    let ((kind, bits), place) = (argument(&call, 0)?, call.pointer(1)?);
    let (fraction, exponent) = in_format!(kind, split_exponent(bits));
    call.store_integer(place, 32, exponent.into())?;
    real_result(kind, fraction)
}

/// Whole part and fraction, both with the sign of the number.
fn split_fraction<F: Float>(bits: u128) -> (u128, u128) {
    let number = F::from_bits(bits);
    if number.is_nan() {
        return (bits, bits);
    }
    let whole = number.round_to_integral(Round::TowardZero).value.copy_sign(number);
    let fraction = if number.is_infinite() { F::ZERO } else { (number - whole).value };
    (whole.to_bits(), fraction.copy_sign(number).to_bits())
}

pub fn modf(call: Call) -> Outcome {
    let ((kind, bits), place) = (argument(&call, 0)?, call.pointer(1)?);
    let (whole, fraction) = in_format!(kind, split_fraction(bits));
    call.environment.store(place, &value(kind, whole), Type::Scalar(kind))?;
    real_result(kind, fraction)
}

fn to_integer<F: Float>(bits: u128, round: Round, width: u32) -> Option<i128> {
    let rounded = F::from_bits(bits).round_to_integral(round).value;
    let mut is_exact = false;
    let result = rounded.to_i128_r(width as usize, Round::TowardZero, &mut is_exact);
    (!result.status.intersects(Status::INVALID_OP)).then_some(result.value)
}

/// `lround`, `lrint` and their kin; what does not fit is the smallest number, as the processor answers.
pub fn to_long(call: Call, function: Builtin) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let width = match call.return_type {
        Type::Scalar(Scalar::Integer(width)) => width,
        _ => call.long_bits(),
    };
    let result = in_format!(kind, to_integer(bits, direction(function), width));
    call.integer(result.unwrap_or(-(1i128 << (width - 1))))
}

fn exponent_of<F: Float>(bits: u128) -> i128 {
    F::from_bits(bits).ilogb().into()
}

pub fn ilogb(mut call: Call) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let result = match Real::new(kind, bits).class {
        Class::Zero | Class::NotANumber => i128::from(i32::MIN),
        Class::Infinite => i128::from(i32::MAX),
        Class::Subnormal | Class::Normal => return call.integer(in_format!(kind, exponent_of(bits))),
    };
    call.set_errno(EDOM)?;
    call.integer(result)
}

/// `nan("…")`: the number in the text becomes the payload.
pub fn nan(call: Call) -> Outcome {
    let start = call.pointer(0)?;
    let tag = text::string(call.environment, start)?;
    let kind = match call.return_type {
        Type::Scalar(kind) if kind.is_float() => kind,
        _ => Scalar::Double,
    };
    let parsed = parse_integer(&tag, 0);
    let payload = if parsed.length == tag.len() { parsed.magnitude.unwrap_or(0) } else { 0 };
    let quiet = in_format!(kind, invalid());
    let sign = in_format!(kind, sign_bit());
    real_result(kind, (quiet & !sign) | u128::from(payload & ((1 << 22) - 1)))
}

fn sign_bit<F: Float>() -> u128 {
    F::ZERO.to_bits() ^ (-F::ZERO).to_bits()
}

/// `__isnan`, `__isinf`, `__finite`, `__fpclassify`, `__signbit`.
pub fn classify(call: Call, function: Builtin) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let number = Real::new(kind, bits);
    let sign = if number.negative { -1 } else { 1 };
    call.integer(match (function, number.class) {
        (Builtin::Isinf, Class::Infinite) => sign,
        (Builtin::Isnan, Class::NotANumber) => 1,
        (Builtin::Finite, class) => i128::from(!matches!(class, Class::Infinite | Class::NotANumber)),
        (Builtin::Signbit, _) => number.negative.into(),
        (Builtin::Fpclassify, Class::NotANumber) => 0,
        (Builtin::Fpclassify, Class::Infinite) => 1,
        (Builtin::Fpclassify, Class::Zero) => 2,
        (Builtin::Fpclassify, Class::Subnormal) => 3,
        (Builtin::Fpclassify, Class::Normal) => 4,
        _ => 0,
    })
}
