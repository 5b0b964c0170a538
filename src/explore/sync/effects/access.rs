//! Arguments of a call, and the bytes and keys behind them.

use super::Performance;
use super::result::number_of;
use crate::explore::fault::Fault;
use crate::explore::sync::context::Touch;
use crate::explore::sync::layout::{self, Primitive};
use crate::explore::sync::table::SyncKey;
use crate::explore::value::{Pointer, ScalarValue, Value, sign_extend};
use crate::models::{ArgumentIndex, LockClass};

impl Performance<'_, '_> {
    pub(super) fn argument(&self, index: ArgumentIndex) -> Result<&Value, Fault> {
        self.call
            .arguments
            .get(index)
            .ok_or_else(|| Fault::undefined(format!("argument {} of a library call is missing", index + 1)))
    }

    pub(super) fn pointer(&self, index: ArgumentIndex) -> Result<Pointer, Fault> {
        match self.argument(index)? {
            Value::Scalar(ScalarValue::Pointer(pointer)) => Ok(*pointer),
            other => match number_of(other) {
                Some(address) => Ok(Pointer { address: address as u64, object: None }),
                None => Err(undefined_argument(index)),
            },
        }
    }

    /// A pointer that may be null or absent.
    pub(super) fn optional_pointer(&self, index: Option<ArgumentIndex>) -> Result<Option<Pointer>, Fault> {
        let Some(index) = index else { return Ok(None) };
        self.pointer(index).map(|pointer| Some(pointer).filter(|pointer| !pointer.is_null()))
    }

    pub(super) fn unsigned(&self, index: ArgumentIndex) -> Result<u64, Fault> {
        number_of(self.argument(index)?).map(|number| number as u64).ok_or_else(|| undefined_argument(index))
    }

    pub(super) fn signed(&self, index: ArgumentIndex) -> Result<i64, Fault> {
        match self.argument(index)? {
            Value::Scalar(ScalarValue::Integer { bits, value }) => Ok(sign_extend(*value, *bits) as i64),
            _ => self.unsigned(index).map(|number| number as i64),
        }
    }

    /// The primitive behind an argument: its bytes are touched, its key is returned.
    pub(super) fn primitive(
        &mut self,
        index: ArgumentIndex,
        primitive: Primitive,
        touch: Touch,
    ) -> Result<(Pointer, SyncKey), Fault> {
        let pointer = self.pointer(index)?;
        if primitive == Primitive::Lock(LockClass::Custom) && self.context.locate(pointer).is_none() {
            // A user's lock may be named by any number.
            return Ok((pointer, SyncKey { object: None, offset: pointer.address }));
        }
        let wanted = layout::size_of(primitive, self.context.layout());
        // A program may declare the type smaller than the library has it.
        let size = self.context.remaining(pointer)?.clamp(1, wanted);
        self.context.touch(pointer, size, touch)?;
        Ok((pointer, self.key_of(pointer)))
    }

    pub(super) fn key_of(&self, pointer: Pointer) -> SyncKey {
        match self.context.locate(pointer) {
            Some((object, offset)) => SyncKey { object: Some(object), offset },
            None => SyncKey { object: None, offset: pointer.address },
        }
    }

    /// Reads a little-endian field; `None` when the object ends before it.
    pub(super) fn peek_field(&self, pointer: Pointer, (offset, size): (u64, u64)) -> Result<Option<i32>, Fault> {
        if self.context.remaining(pointer)? < offset + size {
            return Ok(None);
        }
        let bytes = self.context.peek(pointer.plus(offset), size)?;
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some(i32::from_le_bytes(word)))
    }

    pub(super) fn poke_field(&mut self, pointer: Pointer, (offset, size): (u64, u64), value: i32) -> Result<(), Fault> {
        if self.context.remaining(pointer)? < offset + size {
            return Ok(());
        }
        self.context.poke(pointer.plus(offset), &value.to_le_bytes()[..size as usize])
    }

    /// Zeroes the bytes of a primitive.
    pub(super) fn clear_bytes(&mut self, pointer: Pointer, primitive: Primitive) -> Result<(), Fault> {
        let size = layout::size_of(primitive, self.context.layout()).min(self.context.remaining(pointer)?);
        self.context.poke(pointer, &vec![0; size as usize])
    }
}

fn undefined_argument(index: ArgumentIndex) -> Fault {
    Fault::undefined(format!("argument {} of a library call is not defined", index + 1))
}
