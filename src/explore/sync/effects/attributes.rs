//! Attribute objects: what was set in them, and what they hold otherwise.

use super::{Outcome, Performance};
use crate::explore::sync::context::Touch;
use crate::explore::sync::layout::{Primitive, errno};
use crate::explore::value::{Pointer, Value};
use crate::models::{ArgumentIndex, Attribute};
use crate::program::{AssumptionKind, Type};

/// What glibc asks of a stack at least.
const LEAST_STACK: i64 = 16 * 1024;

impl Performance<'_, '_> {
    pub(super) fn set_attribute(&mut self, object: ArgumentIndex, attribute: Attribute, value: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(object, Primitive::Attribute, Touch::PlainWrite)?;
        // Other attributes may be of any type; nothing depends on them.
        let number = if attribute == Attribute::Other { 0 } else { self.signed(value)? };
        let is_valid = match attribute {
            Attribute::MutexType => (0..=3).contains(&number),
            Attribute::ReadWritePreference | Attribute::Protocol => (0..=2).contains(&number),
            Attribute::DetachState
            | Attribute::Robustness
            | Attribute::ProcessShared
            | Attribute::SchedulingInheritance
            | Attribute::Clock => (0..=1).contains(&number),
            Attribute::StackSize => number as u64 >= LEAST_STACK as u64,
            Attribute::SchedulingPolicy => (0..=2).contains(&number),
            // `PTHREAD_SCOPE_PROCESS`, 1, is refused with another number.
            Attribute::SchedulingScope if number == 1 => return self.finish_with_number(errno::ENOTSUP),
            Attribute::SchedulingScope => number == 0,
            Attribute::GuardSize | Attribute::Other => true,
        };
        if !is_valid {
            return self.finish_with_number(errno::EINVAL);
        }
        self.context.table_mut().set_attribute(key, attribute, number);
        self.finish_with_number(0)
    }

    pub(super) fn get_attribute(&mut self, object: ArgumentIndex, attribute: Attribute, value: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(object, Primitive::Attribute, Touch::PlainRead)?;
        let number = self.context.table().attribute(key, attribute);
        let bits = match attribute {
            // `size_t`
            Attribute::StackSize | Attribute::GuardSize => self.context.layout().pointer_bits(),
            _ => 32,
        };
        let address = self.pointer(value)?;
        self.context.store(address, &Value::integer(bits, i128::from(number) as u128), Type::integer(bits))?;
        self.finish_with_number(0)
    }

    pub(super) fn initialize_attribute(&mut self, object: ArgumentIndex) -> Outcome {
        let (pointer, key) = self.primitive(object, Primitive::Attribute, Touch::PlainWrite)?;
        self.clear_bytes(pointer, Primitive::Attribute)?;
        self.context.table_mut().clear_attributes(key);
        self.finish_with_number(0)
    }

    /// A mutex made from these attributes tells the next owner that the last one ended: not executed.
    pub(super) fn note_robustness(&mut self, attributes: Pointer) {
        let key = self.key_of(attributes);
        if self.context.table().attribute(key, Attribute::Robustness) != 0 {
            self.context.assume(AssumptionKind::PartialModel, "a robust mutex is not told that its owner ended");
        }
    }
}
