//! C11 atomics that the compiler left as library calls: fences, and accesses of any size.

use super::result::number_of;
use super::{Outcome, Performance};
use crate::explore::fault::Fault;
use crate::explore::sync::context::Touch;
use crate::explore::sync::event::SyncEvent;
use crate::explore::value::{Pointer, Value};
use crate::models::{ArgumentIndex, ArgumentIndexOrStrongest, AtomicCall, AtomicOperation, SizeSource};
use crate::program::{Ordering, Type};

impl Performance<'_, '_> {
    pub(super) fn fence(&mut self, ordering: ArgumentIndexOrStrongest) -> Outcome {
        let ordering = match ordering {
            ArgumentIndexOrStrongest::Argument(index) => self.ordering(index)?,
            ArgumentIndexOrStrongest::SequentiallyConsistent => Ordering::SequentiallyConsistent,
        };
        self.emit(SyncEvent::Fence { thread: self.thread, ordering });
        self.done(0)
    }

    /// A `memory_order` argument; the higher bits are hints.
    fn ordering(&self, index: ArgumentIndex) -> Result<Ordering, Fault> {
        Ok(match self.unsigned(index)? & 0xffff {
            0 => Ordering::Relaxed,
            // Consume is treated as acquire, as compilers do.
            1 | 2 => Ordering::Acquire,
            3 => Ordering::Release,
            4 => Ordering::AcquireRelease,
            _ => Ordering::SequentiallyConsistent,
        })
    }

    pub(super) fn atomic(&mut self, call: &AtomicCall) -> Outcome {
        let size = match call.size {
            SizeSource::Constant(size) => size,
            SizeSource::Argument(index) => self.unsigned(index)?,
            SizeSource::Product(..) | SizeSource::String(_) | SizeSource::Unknown => {
                return Err(Fault::undefined("an atomic access whose size is not a number"));
            }
        };
        let object = self.pointer(call.object)?;
        let ty = if size <= 16 { Type::integer(size as u32 * 8) } else { Type::Aggregate { size } };
        let success = match call.orderings.first() {
            Some(index) => self.ordering(*index)?,
            None => Ordering::SequentiallyConsistent,
        };
        match call.operation {
            AtomicOperation::Load => {
                self.context.touch(object, size, Touch::AtomicRead(success))?;
                let value = self.context.load_silently(object, ty)?;
                self.hand_out(call, value, ty)
            }
            AtomicOperation::Store => {
                let operand = self.operand(call, ty)?;
                self.context.touch(object, size, Touch::AtomicWrite(success))?;
                self.context.store_silently(object, &operand, ty)?;
                self.done(0)
            }
            AtomicOperation::CompareExchange => self.compare_exchange(call, object, ty, success),
            operation => {
                let operand = self.operand(call, ty)?;
                self.context.touch(object, size, Touch::AtomicReadWrite(success))?;
                let old = self.context.load_silently(object, ty)?;
                let new = combine(operation, &old, &operand, ty)?;
                self.context.store_silently(object, &new, ty)?;
                self.hand_out(call, old, ty)
            }
        }
    }

    /// `output` is the address of the expected value, which a failure overwrites.
    fn compare_exchange(&mut self, call: &AtomicCall, object: Pointer, ty: Type, success: Ordering) -> Outcome {
        let size = self.context.layout().store_bytes(ty);
        let Some(expected_at) = self.optional_pointer(call.output)? else {
            return Err(Fault::undefined("a compare-exchange without an expected value"));
        };
        let desired = self.operand(call, ty)?;
        let expected = self.context.load(expected_at, ty)?;
        let old = self.context.load_silently(object, ty)?;
        if old == expected {
            self.context.touch(object, size, Touch::AtomicReadWrite(success))?;
            self.context.store_silently(object, &desired, ty)?;
            return self.done(1);
        }
        let failure = match call.orderings.get(1) {
            Some(index) => self.ordering(*index)?,
            None => Ordering::SequentiallyConsistent,
        };
        self.context.touch(object, size, Touch::AtomicRead(failure))?;
        self.context.store(expected_at, &old, ty)?;
        self.done(0)
    }

    fn operand(&mut self, call: &AtomicCall, ty: Type) -> Result<Value, Fault> {
        let Some(index) = call.operand else {
            return Err(Fault::undefined("an atomic operation without an operand"));
        };
        if call.operands_are_pointers {
            let address = self.pointer(index)?;
            return self.context.load(address, ty);
        }
        let value = self.argument(index)?;
        match (number_of(value), ty) {
            (Some(number), Type::Scalar(crate::program::Scalar::Integer(bits))) => Ok(Value::integer(bits, number)),
            _ => Ok(value.clone()),
        }
    }

    /// The old value: behind a pointer in the generic forms, returned otherwise.
    fn hand_out(&mut self, call: &AtomicCall, value: Value, ty: Type) -> Outcome {
        if let Some(address) = self.optional_pointer(call.output)? {
            self.context.store(address, &value, ty)?;
            return self.done(0);
        }
        self.done_with(value)
    }
}

/// What a read-modify-write stores.
fn combine(operation: AtomicOperation, old: &Value, operand: &Value, ty: Type) -> Result<Value, Fault> {
    let Type::Scalar(crate::program::Scalar::Integer(bits)) = ty else {
        return match operation {
            AtomicOperation::Exchange => Ok(operand.clone()),
            _ => Err(Fault::undefined("atomic arithmetic on more than 16 bytes")),
        };
    };
    if operation == AtomicOperation::Exchange {
        return Ok(operand.clone());
    }
    let (Some(left), Some(right)) = (number_of(old), number_of(operand)) else {
        return Ok(Value::undef(ty));
    };
    let result = match operation {
        AtomicOperation::FetchAdd => left.wrapping_add(right),
        AtomicOperation::FetchSubtract => left.wrapping_sub(right),
        AtomicOperation::FetchAnd => left & right,
        AtomicOperation::FetchOr => left | right,
        AtomicOperation::FetchXor => left ^ right,
        AtomicOperation::FetchNand => !(left & right),
        AtomicOperation::Load | AtomicOperation::Store | AtomicOperation::Exchange | AtomicOperation::CompareExchange => {
            unreachable!("no arithmetic: handled before")
        }
    };
    Ok(Value::integer(bits, result))
}
