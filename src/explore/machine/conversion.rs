//! Values at the border of a call whose two sides disagree about types, as C programs in practice do.

use crate::explore::memory::{Memory, decode, encode};
use crate::explore::value::{Bytes, ScalarValue, Value};
use crate::program::{Scalar, Type};

/// The value as `ty`: unchanged when it has that type, else the same bits, cut or filled with zeros. Nothing becomes undef.
pub(super) fn conform(memory: &Memory, value: Option<Value>, ty: Type) -> Value {
    let Some(value) = value else { return Value::undef(ty) };
    if has_type(&value, ty) {
        return value;
    }
    match (&value, ty) {
        (Value::Scalar(ScalarValue::Integer { value, .. }), Type::Scalar(Scalar::Integer(bits))) if bits <= 128 => {
            Value::integer(bits, *value)
        }
        (Value::Scalar(ScalarValue::Undef(_)), _) => Value::undef(ty),
        (Value::Scalar(ScalarValue::Poison(_)), _) => Value::poison(ty),
        (_, Type::Void) => value,
        _ => {
            let bytes = encode(memory.layout(), &value);
            let mut padded = Bytes::zero(memory.layout().store_bytes(ty).max(bytes.len()));
            padded.replace(0, &bytes, memory.layout().pointer_bytes);
            decode(memory, &padded, 0, ty)
        }
    }
}

#[inline]
fn has_type(value: &Value, ty: Type) -> bool {
    match (value, ty) {
        (Value::Scalar(scalar), Type::Scalar(kind)) => scalar.kind() == kind,
        (value, ty) => value.type_of() == ty,
    }
}
