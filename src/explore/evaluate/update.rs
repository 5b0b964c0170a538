//! Atomic read-modify-write: the new value from the old one.

use super::{binary, intrinsic};
use crate::explore::fault::Fault;
use crate::explore::memory::Memory;
use crate::explore::value::{ScalarValue, Value, truncate};
use crate::program::{ArithmeticFlags, BinaryOp, Intrinsic, ReadModifyWriteOp, Type};

/// What a location holds after the operation.
pub fn read_modify_write(memory: &Memory, op: ReadModifyWriteOp, old: &Value, operand: &Value) -> Result<Value, Fault> {
    let arithmetic = |op| binary(op, ArithmeticFlags::default(), old, operand);
    let function = |function| intrinsic(memory, function, &[old, operand], old.type_of());
    match op {
        ReadModifyWriteOp::Exchange => Ok(operand.clone()),
        ReadModifyWriteOp::Add => arithmetic(BinaryOp::Add),
        ReadModifyWriteOp::Subtract => arithmetic(BinaryOp::Subtract),
        ReadModifyWriteOp::And => arithmetic(BinaryOp::And),
        ReadModifyWriteOp::Nand => {
            let ones = match old.type_of() {
                Type::Scalar(crate::program::Scalar::Integer(bits)) => Value::integer(bits, truncate(u128::MAX, bits)),
                _ => return Err(Fault::undefined("an atomic nand of a value that is no integer")),
            };
            binary(BinaryOp::Xor, ArithmeticFlags::default(), &arithmetic(BinaryOp::And)?, &ones)
        }
        ReadModifyWriteOp::Or => arithmetic(BinaryOp::Or),
        ReadModifyWriteOp::Xor => arithmetic(BinaryOp::Xor),
        ReadModifyWriteOp::SignedMax => function(Intrinsic::SignedMax),
        ReadModifyWriteOp::SignedMin => function(Intrinsic::SignedMin),
        ReadModifyWriteOp::UnsignedMax => function(Intrinsic::UnsignedMax),
        ReadModifyWriteOp::UnsignedMin => function(Intrinsic::UnsignedMin),
        ReadModifyWriteOp::FloatAdd => arithmetic(BinaryOp::FloatAdd),
        ReadModifyWriteOp::FloatSubtract => arithmetic(BinaryOp::FloatSubtract),
        ReadModifyWriteOp::FloatMax => function(Intrinsic::FloatMax),
        ReadModifyWriteOp::FloatMin => function(Intrinsic::FloatMin),
        ReadModifyWriteOp::SaturatingSubtract => function(Intrinsic::SaturatingUnsignedSubtract),
        ReadModifyWriteOp::IncrementWrap => counted(old, operand, |old, limit| if old >= limit { 0 } else { old + 1 }),
        ReadModifyWriteOp::DecrementWrap => {
            counted(old, operand, |old, limit| if old == 0 || old > limit { limit } else { old - 1 })
        }
        ReadModifyWriteOp::ConditionalSubtract => {
            counted(old, operand, |old, operand| if old >= operand { old - operand } else { old })
        }
    }
}

/// On unsigned numbers; poison stays poison.
fn counted(old: &Value, operand: &Value, f: impl Fn(u128, u128) -> u128) -> Result<Value, Fault> {
    super::lanes::map2(old, operand, |old, operand| {
        if old.is_poison() || operand.is_poison() {
            return Ok(ScalarValue::Poison(old.kind()));
        }
        match old.kind() {
            crate::program::Scalar::Integer(bits) if bits <= 128 => {
                Ok(ScalarValue::integer(bits, f(super::number(old)?, super::number(operand)?)))
            }
            kind => Err(Fault::undefined(format!("an atomic counter of kind {kind:?}"))),
        }
    })
}
