//! `<math.h>` where the result is not exact: the C library computes it, so that it is the native binary's to the last bit.
//!
//! # Deviations
//! 1. `long double` forms are computed as `double`: their last bits differ from glibc's.
//! 2. `errno` is set for domain errors and overflow, and for underflow of the exponentials.

use super::call::{BuiltinResult, Call, Outcome};
use super::errors::{EDOM, ERANGE};
use super::real::{from_double, real_bits, to_double, value};
use crate::explore::fault::Fault;
use crate::models::Builtin;
use crate::program::Scalar;

macro_rules! library {
    (unary: $($variant:ident $double:ident $single:ident,)* ; binary: $($variant2:ident $double2:ident $single2:ident,)*) => {
        unsafe extern "C" {
            $(safe fn $double(x: f64) -> f64; safe fn $single(x: f32) -> f32;)*
            $(safe fn $double2(x: f64, y: f64) -> f64; safe fn $single2(x: f32, y: f32) -> f32;)*
        }

        fn unary_double(function: Builtin) -> Option<extern "C" fn(f64) -> f64> {
            match function { $(Builtin::$variant => Some($double),)* _ => None }
        }

        fn unary_single(function: Builtin) -> Option<extern "C" fn(f32) -> f32> {
            match function { $(Builtin::$variant => Some($single),)* _ => None }
        }

        fn binary_double(function: Builtin) -> Option<extern "C" fn(f64, f64) -> f64> {
            match function { $(Builtin::$variant2 => Some($double2),)* _ => None }
        }

        fn binary_single(function: Builtin) -> Option<extern "C" fn(f32, f32) -> f32> {
            match function { $(Builtin::$variant2 => Some($single2),)* _ => None }
        }
    };
}

library! {
    unary:
    Sin sin sinf, Cos cos cosf, Tan tan tanf, Asin asin asinf, Acos acos acosf, Atan atan atanf,
    Sinh sinh sinhf, Cosh cosh coshf, Tanh tanh tanhf, Asinh asinh asinhf, Acosh acosh acoshf, Atanh atanh atanhf,
    Exp exp expf, Exp2 exp2 exp2f, Exp10 exp10 exp10f, Expm1 expm1 expm1f,
    Log log logf, Log2 log2 log2f, Log10 log10 log10f, Log1p log1p log1pf,
    Cbrt cbrt cbrtf, Erf erf erff, Erfc erfc erfcf, Tgamma tgamma tgammaf, Lgamma lgamma lgammaf,
    ; binary:
    Atan2 atan2 atan2f, Pow pow powf, Hypot hypot hypotf,
}

fn argument(call: &Call, position: usize) -> Result<(Scalar, u128), Fault> {
    let ty = call.types.get(position).copied().unwrap_or(call.return_type);
    real_bits(call.argument(position)?, ty)
}

/// One of the functions above, in the width of its first argument.
pub fn transcendental(mut call: Call, function: Builtin) -> Outcome {
    let (kind, first) = argument(&call, 0)?;
    let mut inputs = vec![to_double(kind, first)];
    let bits = if let (Some(double), Some(single)) = (unary_double(function), unary_single(function)) {
        match kind {
            Scalar::Float => u128::from(single(f32::from_bits(first as u32)).to_bits()),
            _ => from_double(double(inputs[0]), kind),
        }
    } else if let (Some(double), Some(single)) = (binary_double(function), binary_single(function)) {
        let (second_kind, second) = argument(&call, 1)?;
        inputs.push(to_double(second_kind, second));
        match kind {
            Scalar::Float => u128::from(single(f32::from_bits(first as u32), f32::from_bits(second as u32)).to_bits()),
            _ => from_double(double(inputs[0], inputs[1]), kind),
        }
    } else {
        unreachable!("{} is no function of this table", function.name())
    };
    report_range(&mut call, function, &inputs, to_double(kind, bits))?;
    Ok(BuiltinResult::Return(Some(value(kind, bits))))
}

fn report_range(call: &mut Call, function: Builtin, inputs: &[f64], result: f64) -> Result<(), Fault> {
    let is_exponential = matches!(function, Builtin::Exp | Builtin::Exp2 | Builtin::Exp10 | Builtin::Pow);
    if result.is_nan() && !inputs.iter().any(|input| input.is_nan()) {
        call.set_errno(EDOM)
    } else if inputs.iter().all(|input| input.is_finite())
        && (result.is_infinite() || is_exponential && result == 0.0 && inputs[0] != 0.0)
    {
        call.set_errno(ERANGE)
    } else {
        Ok(())
    }
}

/// Both at once, stored behind the arguments that follow.
pub fn sincos(call: Call) -> Outcome {
    let (kind, bits) = argument(&call, 0)?;
    let (sine_place, cosine_place) = (call.pointer(1)?, call.pointer(2)?);
    let (sine, cosine) = match kind {
        Scalar::Float => {
            let number = f32::from_bits(bits as u32);
            (u128::from(sinf(number).to_bits()), u128::from(cosf(number).to_bits()))
        }
        _ => {
            let number = to_double(kind, bits);
            (from_double(sin(number), kind), from_double(cos(number), kind))
        }
    };
    call.environment.store(sine_place, &value(kind, sine), crate::program::Type::Scalar(kind))?;
    call.environment.store(cosine_place, &value(kind, cosine), crate::program::Type::Scalar(kind))?;
    call.nothing()
}
