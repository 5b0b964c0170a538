//! Floating-point functions: the processor's and the system's for `float` and `double`, soft or by way of `double` otherwise.

use num_bigint::BigInt;
use rustc_apfloat::Round;

use crate::explore::evaluate::float::{binary, convert, double, order, sign_bit, single};
use crate::explore::evaluate::{number, soft, wide};
use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, sign_extend};
use crate::program::{BinaryOp, Intrinsic, Scalar};

/// No argument is poison.
pub(super) fn float(function: Intrinsic, arguments: &[&ScalarValue], result: Scalar) -> Result<ScalarValue, Fault> {
    let missing = || Fault::undefined("an intrinsic with too few arguments");
    let at = |index: usize| arguments.get(index).copied().ok_or_else(missing);
    let bits_at = |index: usize| number(at(index)?);
    let kind = at(0)?.kind();
    let sign = sign_bit(kind)?;
    let value = bits_at(0)?;
    let made = |bits: u128| Ok(ScalarValue::Float { kind, bits });
    match function {
        Intrinsic::FloatAbsolute => made(value & !sign),
        Intrinsic::CopySign => made(value & !sign | bits_at(1)? & sign),
        Intrinsic::SquareRoot => made(match kind {
            Scalar::Float => single(value).sqrt().to_bits().into(),
            Scalar::Double => double(value).sqrt().to_bits().into(),
            kind => soft::square_root(kind, value)?,
        }),
        Intrinsic::Floor => made(rounded(kind, value, Round::TowardNegative, f32::floor, f64::floor)?),
        Intrinsic::Ceiling => made(rounded(kind, value, Round::TowardPositive, f32::ceil, f64::ceil)?),
        Intrinsic::FloatTruncate => made(rounded(kind, value, Round::TowardZero, f32::trunc, f64::trunc)?),
        Intrinsic::Round => made(rounded(kind, value, Round::NearestTiesToAway, f32::round, f64::round)?),
        Intrinsic::RoundEven => made(rounded(kind, value, Round::NearestTiesToEven, f32::round_ties_even, f64::round_ties_even)?),
        Intrinsic::FusedMultiplyAdd => {
            let (factor, addend) = (bits_at(1)?, bits_at(2)?);
            made(match kind {
                Scalar::Float => single(value).mul_add(single(factor), single(addend)).to_bits().into(),
                Scalar::Double => double(value).mul_add(double(factor), double(addend)).to_bits().into(),
                kind => soft::fused_multiply_add(kind, value, factor, addend)?,
            })
        }
        // Two roundings, as on x86 without fused instructions.
        Intrinsic::MultiplyAdd => {
            let product = number(&binary(BinaryOp::FloatMultiply, kind, value, bits_at(1)?)?)?;
            binary(BinaryOp::FloatAdd, kind, product, bits_at(2)?)
        }
        Intrinsic::FloatMin | Intrinsic::FloatMax | Intrinsic::FloatMinimum | Intrinsic::FloatMaximum => {
            made(extreme(function, kind, value, bits_at(1)?)?)
        }
        Intrinsic::PowerInteger => power_integer(kind, value, integer(at(1)?)?),
        Intrinsic::LoadExponent => {
            let exponent = integer(at(1)?)?.clamp(-100_000, 100_000) as i32;
            made(soft::scale(kind, value, exponent)?)
        }
        Intrinsic::Power => {
            let exponent = bits_at(1)?;
            match kind {
                Scalar::Float => Ok(ScalarValue::float32(single(value).powf(single(exponent)))),
                kind => by_double(kind, value, |base| Ok(base.powf(to_double(kind, exponent)?))),
            }
        }
        Intrinsic::Sine => by_system(kind, value, f32::sin, f64::sin),
        Intrinsic::Cosine => by_system(kind, value, f32::cos, f64::cos),
        Intrinsic::Tangent => by_system(kind, value, f32::tan, f64::tan),
        Intrinsic::Exponential => by_system(kind, value, f32::exp, f64::exp),
        Intrinsic::Exponential2 => by_system(kind, value, f32::exp2, f64::exp2),
        Intrinsic::Logarithm => by_system(kind, value, f32::ln, f64::ln),
        Intrinsic::Logarithm2 => by_system(kind, value, f32::log2, f64::log2),
        Intrinsic::Logarithm10 => by_system(kind, value, f32::log10, f64::log10),
        Intrinsic::IsFloatClass => {
            let class = soft::class(kind, value)?;
            Ok(ScalarValue::boolean(bits_at(1)? >> class & 1 == 1))
        }
        Intrinsic::RoundToInteger => to_integer(kind, value, Round::NearestTiesToEven, result),
        Intrinsic::RoundHalfAwayToInteger => to_integer(kind, value, Round::NearestTiesToAway, result),
        Intrinsic::SaturatingFloatToSigned => saturating(kind, value, result, true),
        Intrinsic::SaturatingFloatToUnsigned => saturating(kind, value, result, false),
        other => Err(Fault::undefined(format!("{other:?} as a floating-point function"))),
    }
}

fn integer(scalar: &ScalarValue) -> Result<i128, Fault> {
    match scalar.kind() {
        Scalar::Integer(bits) => Ok(sign_extend(number(scalar)?, bits)),
        kind => Err(Fault::undefined(format!("an exponent of {kind:?}"))),
    }
}

fn to_double(kind: Scalar, bits: u128) -> Result<f64, Fault> {
    if kind == Scalar::Double { Ok(double(bits)) } else { convert(kind, Scalar::Double, bits).map(double) }
}

fn by_double(kind: Scalar, bits: u128, f: impl Fn(f64) -> Result<f64, Fault>) -> Result<ScalarValue, Fault> {
    let result = u128::from(f(to_double(kind, bits)?)?.to_bits());
    let bits = if kind == Scalar::Double { result } else { convert(Scalar::Double, kind, result)? };
    Ok(ScalarValue::Float { kind, bits })
}

fn by_system(kind: Scalar, bits: u128, on_single: fn(f32) -> f32, on_double: fn(f64) -> f64) -> Result<ScalarValue, Fault> {
    match kind {
        Scalar::Float => Ok(ScalarValue::float32(on_single(single(bits)))),
        kind => by_double(kind, bits, |value| Ok(on_double(value))),
    }
}

fn rounded(kind: Scalar, bits: u128, round: Round, on_single: fn(f32) -> f32, on_double: fn(f64) -> f64) -> Result<u128, Fault> {
    Ok(match kind {
        Scalar::Float => on_single(single(bits)).to_bits().into(),
        Scalar::Double => on_double(double(bits)).to_bits().into(),
        kind => soft::round(kind, bits, round)?,
    })
}

/// The smaller or the greater; -0 is below +0.
fn extreme(function: Intrinsic, kind: Scalar, left: u128, right: u128) -> Result<u128, Fault> {
    let wants_less = matches!(function, Intrinsic::FloatMin | Intrinsic::FloatMinimum);
    let prefers_number = matches!(function, Intrinsic::FloatMin | Intrinsic::FloatMax);
    let left_is_nan = order(kind, left, left)?.is_none();
    let right_is_nan = order(kind, right, right)?.is_none();
    let left_is_negative = left & sign_bit(kind)? != 0;
    let takes_left = match order(kind, left, right)? {
        Some(std::cmp::Ordering::Less) => wants_less,
        Some(std::cmp::Ordering::Greater) => !wants_less,
        Some(std::cmp::Ordering::Equal) => left_is_negative == wants_less,
        None if prefers_number => !left_is_nan || right_is_nan,
        None => left_is_nan,
    };
    Ok(if takes_left { left } else { right })
}

/// By repeated squaring, in the order of the compiler's run-time library.
fn power_integer(kind: Scalar, base: u128, exponent: i128) -> Result<ScalarValue, Fault> {
    let multiply = |left: u128, right: u128| number(&binary(BinaryOp::FloatMultiply, kind, left, right)?);
    let one = soft::from_integer(kind, &BigInt::from(1))?;
    let (mut result, mut square, mut rest) = (one, base, exponent);
    loop {
        if rest % 2 != 0 {
            result = multiply(result, square)?;
        }
        rest /= 2;
        if rest == 0 {
            break;
        }
        square = multiply(square, square)?;
    }
    if exponent < 0 {
        return binary(BinaryOp::FloatDivide, kind, one, result);
    }
    Ok(ScalarValue::Float { kind, bits: result })
}

/// Out of range C leaves the result open; x86 makes it the least number.
fn to_integer(kind: Scalar, bits: u128, round: Round, result: Scalar) -> Result<ScalarValue, Fault> {
    let Scalar::Integer(width) = result else {
        return Err(Fault::undefined("a rounding to an integer that makes none"));
    };
    let whole = soft::to_integer(kind, bits, round)?.filter(|whole| wide::fits(width, true, whole));
    Ok(wide::from_signed(width, &whole.unwrap_or_else(|| wide::range(width, true).0)))
}

/// A NaN is 0.
fn saturating(kind: Scalar, bits: u128, result: Scalar, is_signed: bool) -> Result<ScalarValue, Fault> {
    let Scalar::Integer(width) = result else {
        return Err(Fault::undefined("a conversion to an integer that makes none"));
    };
    let (low, high) = wide::range(width, is_signed);
    let whole = match soft::to_integer(kind, bits, Round::TowardZero)? {
        Some(whole) => whole.clamp(low, high),
        None if order(kind, bits, bits)?.is_none() => BigInt::from(0),
        None if bits & sign_bit(kind)? != 0 => low,
        None => high,
    };
    Ok(wide::from_signed(width, &whole))
}
