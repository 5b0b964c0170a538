//! Pure functions that compilers know, by family.

mod float;
mod integer;
mod pointer;
mod reduce;
mod wide;

use super::lanes::lanes;
use crate::explore::fault::Fault;
use crate::explore::memory::{Memory, encode};
use crate::explore::value::{Bytes, ScalarValue, Value};
use crate::program::{Intrinsic, Scalar, Type};

/// The value of type `ty` that the function makes of its arguments.
pub fn intrinsic(memory: &Memory, function: Intrinsic, arguments: &[&Value], ty: Type) -> Result<Value, Fault> {
    use Intrinsic::*;
    match function {
        CountOnes
        | LeadingZeros
        | TrailingZeros
        | ByteSwap
        | BitReverse
        | FunnelShiftLeft
        | FunnelShiftRight
        | Absolute
        | SignedMax
        | SignedMin
        | UnsignedMax
        | UnsignedMin
        | SignedCompare
        | UnsignedCompare
        | SaturatingSignedAdd
        | SaturatingUnsignedAdd
        | SaturatingSignedSubtract
        | SaturatingUnsignedSubtract
        | SaturatingSignedShiftLeft
        | SaturatingUnsignedShiftLeft => lanewise(function, arguments, ty, integer::integer),
        SignedAddOverflow
        | UnsignedAddOverflow
        | SignedSubtractOverflow
        | UnsignedSubtractOverflow
        | SignedMultiplyOverflow
        | UnsignedMultiplyOverflow => overflow(memory, function, arguments, ty),
        FloatAbsolute
        | SquareRoot
        | Floor
        | Ceiling
        | FloatTruncate
        | Round
        | RoundEven
        | FusedMultiplyAdd
        | MultiplyAdd
        | CopySign
        | FloatMin
        | FloatMax
        | FloatMinimum
        | FloatMaximum
        | Power
        | PowerInteger
        | Sine
        | Cosine
        | Tangent
        | Exponential
        | Exponential2
        | Logarithm
        | Logarithm2
        | Logarithm10
        | LoadExponent
        | IsFloatClass
        | RoundToInteger
        | RoundHalfAwayToInteger
        | SaturatingFloatToSigned
        | SaturatingFloatToUnsigned => lanewise(function, arguments, ty, float::float),
        ReduceAdd | ReduceMultiply | ReduceAnd | ReduceOr | ReduceXor | ReduceSignedMax | ReduceSignedMin | ReduceUnsignedMax
        | ReduceUnsignedMin | ReduceFloatAdd | ReduceFloatMultiply | ReduceFloatMax | ReduceFloatMin => {
            reduce::reduce(function, arguments)
        }
        PointerMask => pointer::mask(memory, argument(arguments, 0)?, argument(arguments, 1)?),
        ObjectSize => pointer::object_size(memory, arguments, ty),
        IsConstant => Ok(Value::zero(ty)),
        SignMask => reduce::sign_mask(argument(arguments, 0)?, ty),
    }
}

fn argument<'a>(arguments: &[&'a Value], index: usize) -> Result<&'a Value, Fault> {
    arguments.get(index).copied().ok_or_else(|| Fault::undefined("an intrinsic with too few arguments"))
}

/// Applies a function of scalars to each lane; a scalar argument beside vectors stands for every lane. Poison makes poison.
fn lanewise(
    function: Intrinsic,
    arguments: &[&Value],
    ty: Type,
    apply: impl Fn(Intrinsic, &[&ScalarValue], Scalar) -> Result<ScalarValue, Fault>,
) -> Result<Value, Fault> {
    let element = ty.element().ok_or_else(|| Fault::undefined("an intrinsic that makes an aggregate"))?;
    let on_scalars = |scalars: &[&ScalarValue]| {
        if scalars.iter().any(|scalar| scalar.is_poison()) {
            return Ok(ScalarValue::Poison(element));
        }
        apply(function, scalars, element)
    };
    match argument(arguments, 0)? {
        Value::Scalar(_) => {
            let scalars = arguments.iter().map(|value| match value {
                Value::Scalar(scalar) => Ok(scalar),
                _ => Err(Fault::undefined("an intrinsic on values of different shapes")),
            });
            let scalars: smallvec::SmallVec<[&ScalarValue; 3]> = scalars.collect::<Result<_, Fault>>()?;
            on_scalars(&scalars).map(Value::Scalar)
        }
        Value::Vector(first) => {
            let lane = |index: usize| {
                let scalars = arguments.iter().map(|value| match value {
                    Value::Scalar(scalar) => Ok(scalar),
                    value => {
                        lanes(value)?.get(index).ok_or_else(|| Fault::undefined("an intrinsic on vectors of different lengths"))
                    }
                });
                on_scalars(&scalars.collect::<Result<Vec<_>, Fault>>()?)
            };
            (0..first.len()).map(lane).collect::<Result<_, _>>().map(Value::Vector)
        }
        Value::Aggregate(_) => Err(Fault::undefined("an intrinsic on an aggregate")),
    }
}

/// The wrapped value, and after it whether it wrapped.
fn overflow(memory: &Memory, function: Intrinsic, arguments: &[&Value], ty: Type) -> Result<Value, Fault> {
    let (left, right) = (argument(arguments, 0)?, argument(arguments, 1)?);
    let value = super::lanes::map2(left, right, |l, r| integer::overflow(function, l, r).map(|(value, _)| value))?;
    let wrapped = super::lanes::map2(left, right, |l, r| integer::overflow(function, l, r).map(|(_, bit)| bit))?;
    let Type::Aggregate { size } = ty else {
        return Err(Fault::undefined("an overflow intrinsic makes an aggregate"));
    };
    let layout = memory.layout();
    let offset = layout.store_bytes(value.type_of()).next_power_of_two();
    let wrapped = encode(layout, &wrapped);
    if offset + wrapped.len() > size {
        return Err(Fault::undefined("an overflow intrinsic whose aggregate is too small"));
    }
    let mut bytes = Bytes::undefined(size);
    bytes.replace(0, &encode(layout, &value), layout.pointer_bytes);
    bytes.replace(offset, &wrapped, layout.pointer_bytes);
    Ok(Value::Aggregate(Box::new(bytes)))
}
