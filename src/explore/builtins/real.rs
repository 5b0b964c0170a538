//! Floating-point numbers of every width: taken apart exactly, and converted with one rounding.

use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::call::bits_of;
use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, Value};
use crate::program::{Scalar, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    NotANumber,
    Infinite,
    Zero,
    Subnormal,
    Normal,
}

/// A number as `± mantissa · 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real {
    pub kind: Scalar,
    pub negative: bool,
    pub class: Class,
    pub mantissa: u128,
    pub exponent: i32,
}

/// Bits of the fraction, bits of the exponent, and whether the leading 1 is stored.
fn shape(kind: Scalar) -> (u32, u32, bool) {
    match kind {
        Scalar::Half => (10, 5, false),
        Scalar::BFloat => (7, 8, false),
        Scalar::Float => (23, 8, false),
        Scalar::X86Fp80 => (63, 15, true),
        Scalar::Fp128 => (112, 15, false),
        Scalar::Double | Scalar::Integer(_) | Scalar::Pointer => (52, 11, false),
    }
}

impl Real {
    pub fn new(kind: Scalar, bits: u128) -> Real {
        let (fraction_bits, exponent_bits, has_leading_bit) = shape(kind);
        let stored_bits = fraction_bits + u32::from(has_leading_bit);
        let fraction = bits & ((1 << fraction_bits) - 1);
        let stored = bits & ((1 << stored_bits) - 1);
        let greatest = (1i32 << exponent_bits) - 1;
        let biased = (bits >> stored_bits) as i32 & greatest;
        let negative = bits >> (stored_bits + exponent_bits) & 1 == 1;
        let least_exponent = 1 - (greatest >> 1) - fraction_bits as i32;
        let (class, mantissa, exponent) = if biased == greatest {
            (if fraction == 0 { Class::Infinite } else { Class::NotANumber }, stored, 0)
        } else if biased == 0 {
            (if stored == 0 { Class::Zero } else { Class::Subnormal }, stored, least_exponent)
        } else {
            let mantissa = if has_leading_bit { stored } else { fraction | 1 << fraction_bits };
            (Class::Normal, mantissa, biased - 1 + least_exponent)
        };
        Real { kind, negative, class, mantissa, exponent }
    }
}

/// The kind and the bits of a floating-point argument; undefined is 0.
pub fn real_bits(value: &Value, ty: Type) -> Result<(Scalar, u128), Fault> {
    match (value, ty) {
        (Value::Scalar(ScalarValue::Float { kind, bits }), _) => Ok((*kind, *bits)),
        (Value::Scalar(ScalarValue::Undef(kind) | ScalarValue::Poison(kind)), _) if kind.is_float() => Ok((*kind, 0)),
        (other, Type::Scalar(kind)) if kind.is_float() => Ok((kind, bits_of(other)?.0)),
        _ => Err(Fault::Undefined {
            what: "a library function that wants a floating-point argument, called with another".to_owned(),
        }),
    }
}

/// Converts between widths, rounding to nearest, halves to even.
pub fn convert(from: Scalar, bits: u128, to: Scalar) -> u128 {
    match from {
        Scalar::Half => convert_to(Half::from_bits(bits), to),
        Scalar::BFloat => convert_to(BFloat::from_bits(bits), to),
        Scalar::Float => convert_to(Single::from_bits(bits), to),
        Scalar::X86Fp80 => convert_to(X87DoubleExtended::from_bits(bits), to),
        Scalar::Fp128 => convert_to(Quad::from_bits(bits), to),
        Scalar::Double | Scalar::Integer(_) | Scalar::Pointer => convert_to(Double::from_bits(bits), to),
    }
}

fn convert_to<F>(number: F, to: Scalar) -> u128
where
    F: FloatConvert<Half> + FloatConvert<BFloat> + FloatConvert<Single>,
    F: FloatConvert<Double> + FloatConvert<X87DoubleExtended> + FloatConvert<Quad>,
{
    fn bits<F: FloatConvert<T>, T: Float>(number: F) -> u128 {
        number.convert_r(Round::NearestTiesToEven, &mut false).value.to_bits()
    }
    match to {
        Scalar::Half => bits::<F, Half>(number),
        Scalar::BFloat => bits::<F, BFloat>(number),
        Scalar::Float => bits::<F, Single>(number),
        Scalar::X86Fp80 => bits::<F, X87DoubleExtended>(number),
        Scalar::Fp128 => bits::<F, Quad>(number),
        Scalar::Double | Scalar::Integer(_) | Scalar::Pointer => bits::<F, Double>(number),
    }
}

pub fn to_double(kind: Scalar, bits: u128) -> f64 {
    match kind {
        Scalar::Double => f64::from_bits(bits as u64),
        Scalar::Float => f32::from_bits(bits as u32).into(),
        other => f64::from_bits(convert(other, bits, Scalar::Double) as u64),
    }
}

pub fn from_double(number: f64, kind: Scalar) -> u128 {
    match kind {
        Scalar::Double => number.to_bits().into(),
        Scalar::Float => (number as f32).to_bits().into(),
        other => convert(Scalar::Double, number.to_bits().into(), other),
    }
}

pub fn value(kind: Scalar, bits: u128) -> Value {
    Value::Scalar(ScalarValue::Float { kind, bits })
}
