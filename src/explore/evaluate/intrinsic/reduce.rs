//! Functions that make one value of all lanes.

use super::{argument, float, integer};
use crate::explore::evaluate::lanes::lanes;
use crate::explore::evaluate::{binary_scalar, float::sign_bit, number, wide};
use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, Value};
use crate::program::{ArithmeticFlags, BinaryOp, Intrinsic, Scalar, Type};

/// The lanes joined from left to right.
pub(super) fn reduce(function: Intrinsic, arguments: &[&Value]) -> Result<Value, Fault> {
    let arithmetic =
        |op: BinaryOp| move |left: &ScalarValue, right: &ScalarValue| binary_scalar(op, ArithmeticFlags::default(), left, right);
    let picking = |function: Intrinsic| {
        move |left: &ScalarValue, right: &ScalarValue| {
            if left.is_poison() || right.is_poison() {
                return Ok(ScalarValue::Poison(left.kind()));
            }
            if left.kind().is_float() {
                float::float(function, &[left, right], left.kind())
            } else {
                integer::integer(function, &[left, right], left.kind())
            }
        }
    };
    match function {
        Intrinsic::ReduceAdd => fold(arguments, 0, arithmetic(BinaryOp::Add)),
        Intrinsic::ReduceMultiply => fold(arguments, 0, arithmetic(BinaryOp::Multiply)),
        Intrinsic::ReduceAnd => fold(arguments, 0, arithmetic(BinaryOp::And)),
        Intrinsic::ReduceOr => fold(arguments, 0, arithmetic(BinaryOp::Or)),
        Intrinsic::ReduceXor => fold(arguments, 0, arithmetic(BinaryOp::Xor)),
        Intrinsic::ReduceSignedMax => fold(arguments, 0, picking(Intrinsic::SignedMax)),
        Intrinsic::ReduceSignedMin => fold(arguments, 0, picking(Intrinsic::SignedMin)),
        Intrinsic::ReduceUnsignedMax => fold(arguments, 0, picking(Intrinsic::UnsignedMax)),
        Intrinsic::ReduceUnsignedMin => fold(arguments, 0, picking(Intrinsic::UnsignedMin)),
        Intrinsic::ReduceFloatMax => fold(arguments, 0, picking(Intrinsic::FloatMax)),
        Intrinsic::ReduceFloatMin => fold(arguments, 0, picking(Intrinsic::FloatMin)),
        Intrinsic::ReduceFloatAdd => fold(arguments, 1, arithmetic(BinaryOp::FloatAdd)),
        Intrinsic::ReduceFloatMultiply => fold(arguments, 1, arithmetic(BinaryOp::FloatMultiply)),
        other => Err(Fault::undefined(format!("{other:?} as a reduction"))),
    }
}

/// Joins the lanes of the argument at `vector`; the arguments before it start.
fn fold(
    arguments: &[&Value],
    vector: usize,
    join: impl Fn(&ScalarValue, &ScalarValue) -> Result<ScalarValue, Fault>,
) -> Result<Value, Fault> {
    let all = lanes(argument(arguments, vector)?)?;
    let (start, rest) = match vector {
        0 => (all[0].clone(), &all[1..]),
        _ => (lanes(argument(arguments, 0)?)?[0].clone(), all),
    };
    rest.iter().try_fold(start, |joined, lane| join(&joined, lane)).map(Value::Scalar)
}

/// Bit i of the result is the top bit of lane i.
pub(super) fn sign_mask(vector: &Value, ty: Type) -> Result<Value, Fault> {
    let Type::Scalar(Scalar::Integer(bits)) = ty else {
        return Err(Fault::undefined("a sign mask that is no integer"));
    };
    let mut mask = 0;
    for (index, lane) in lanes(vector)?.iter().enumerate() {
        let is_set = match lane.kind() {
            _ if lane.is_poison() => return Ok(Value::poison(ty)),
            Scalar::Integer(bits) => wide::unsigned(lane)?.bit(u64::from(bits) - 1),
            kind => number(lane)? & sign_bit(kind)? != 0,
        };
        mask |= u128::from(is_set) << index;
    }
    Ok(Value::integer(bits, mask))
}
