//! How a call tells its caller what happened: error numbers, -1 with `errno`, C11 status values.

use super::{Outcome, Performance};
use crate::explore::sync::layout::errno;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::models::ResultConvention;
use crate::program::{Scalar, Type};

/// `thrd_success` is 0.
const THREAD_BUSY: i64 = 1;
const THREAD_ERROR: i64 = 2;
const THREAD_NO_MEMORY: i64 = 3;
const THREAD_TIMED_OUT: i64 = 4;

impl Performance<'_, '_> {
    /// A number as a value of the call's return type; nothing when it returns nothing.
    pub(super) fn value_of(&self, number: i64) -> Option<Value> {
        match self.call.return_type {
            Type::Void => None,
            Type::Scalar(Scalar::Integer(bits)) if bits <= 128 => Some(Value::integer(bits, i128::from(number) as u128)),
            Type::Scalar(Scalar::Pointer) => {
                let mask = u64::MAX >> (64 - self.context.layout().pointer_bits());
                Some(Value::pointer(Pointer { address: number as u64 & mask, object: None }))
            }
            other => Some(Value::zero(other)),
        }
    }

    /// Complete, with 0 or an error number.
    pub(super) fn finish(&mut self, code: i32, convention: ResultConvention) -> Outcome {
        let number = match convention {
            ResultConvention::ZeroIsSuccess => i64::from(code),
            ResultConvention::NonzeroIsSuccess => i64::from(code == 0),
            ResultConvention::ValueIsSuccess(value) if code == 0 => value,
            ResultConvention::ValueIsSuccess(0) => i64::from(code),
            ResultConvention::ValueIsSuccess(_) => 0,
            ResultConvention::MinusOneIsFailure if code == 0 => 0,
            ResultConvention::MinusOneIsFailure => {
                self.context.set_errno(code)?;
                -1
            }
            ResultConvention::ThreadStatus => match code {
                0 => 0,
                errno::EBUSY => THREAD_BUSY,
                errno::ENOMEM => THREAD_NO_MEMORY,
                errno::ETIMEDOUT => THREAD_TIMED_OUT,
                _ => THREAD_ERROR,
            },
            ResultConvention::Always => 0,
        };
        self.done(number)
    }

    /// Complete, with 0 or an error number, in pthread's manner.
    pub(super) fn finish_with_number(&mut self, code: i32) -> Outcome {
        self.finish(code, ResultConvention::ZeroIsSuccess)
    }
}

/// The bits of a scalar as an unsigned number; `None` when it is undefined.
pub(super) fn number_of(value: &Value) -> Option<u128> {
    match value {
        Value::Scalar(ScalarValue::Integer { value, .. }) => Some(*value),
        Value::Scalar(ScalarValue::Pointer(pointer)) => Some(u128::from(pointer.address)),
        Value::Scalar(
            ScalarValue::WideInteger { .. } | ScalarValue::Float { .. } | ScalarValue::Undef(_) | ScalarValue::Poison(_),
        )
        | Value::Vector(_)
        | Value::Aggregate(_) => None,
    }
}
