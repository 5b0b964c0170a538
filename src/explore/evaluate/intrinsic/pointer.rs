//! Functions of pointers that ask memory what they point to.

use super::argument;
use crate::explore::evaluate::lanes::map2;
use crate::explore::evaluate::{as_pointer, number, truth};
use crate::explore::fault::Fault;
use crate::explore::memory::Memory;
use crate::explore::value::{Pointer, ScalarValue, Value, truncate};
use crate::program::{Scalar, Type};

/// Keeps the provenance. A mask narrower than a pointer leaves the bits above it.
pub(super) fn mask(memory: &Memory, pointer: &Value, mask: &Value) -> Result<Value, Fault> {
    let all = truncate(u128::MAX, memory.layout().pointer_bits());
    map2(pointer, mask, |pointer, mask| match (pointer, mask.kind()) {
        (ScalarValue::Poison(_), _) => Ok(ScalarValue::Poison(Scalar::Pointer)),
        (_, _) if mask.is_poison() => Ok(ScalarValue::Poison(Scalar::Pointer)),
        (ScalarValue::Pointer(pointer), Scalar::Integer(bits)) => {
            let mask = number(mask)? | (all & !truncate(u128::MAX, bits));
            let address = pointer.address & mask as u64;
            Ok(ScalarValue::Pointer(Pointer { address, object: pointer.object }))
        }
        (ScalarValue::Undef(_), Scalar::Integer(_)) => Ok(ScalarValue::Pointer(Pointer::NULL)),
        _ => Err(Fault::undefined("a pointer mask of values that are no pointer and integer")),
    })
}

/// The bytes from the pointer to the end of its object, as memory knows it; unknown is 0 or all ones, as asked.
pub(super) fn object_size(memory: &Memory, arguments: &[&Value], ty: Type) -> Result<Value, Fault> {
    let Type::Scalar(Scalar::Integer(bits)) = ty else {
        return Err(Fault::undefined("an object size that is no integer"));
    };
    let flag = |index| argument(arguments, index).is_ok_and(truth);
    let unknown = if flag(1) { 0 } else { truncate(u128::MAX, bits) };
    let Ok(pointer) = as_pointer(argument(arguments, 0)?) else {
        return Ok(Value::integer(bits, unknown));
    };
    let size = match pointer.object {
        None if pointer.is_null() && !flag(2) => 0,
        None => unknown,
        Some(id) => {
            let object = memory.object(id);
            let is_inside = object.base <= pointer.address && pointer.address <= object.end();
            if is_inside { u128::from(object.end() - pointer.address) } else { 0 }
        }
    };
    Ok(Value::integer(bits, size))
}
