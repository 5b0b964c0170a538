//! Parts of aggregates, by byte offset.

use crate::explore::fault::Fault;
use crate::explore::memory::{Memory, decode, encode};
use crate::explore::value::{Bytes, Value};
use crate::program::Type;

/// The part of an aggregate at a byte offset, as a value of type `ty`.
pub fn extract_bytes(memory: &Memory, aggregate: &Value, offset: u64, ty: Type) -> Result<Value, Fault> {
    let bytes = content(aggregate)?;
    check(bytes, offset, memory.layout().store_bytes(ty))?;
    Ok(decode(memory, bytes, offset, ty))
}

/// The aggregate with `value` written at a byte offset.
pub fn insert_bytes(memory: &Memory, aggregate: &Value, offset: u64, value: &Value) -> Result<Value, Fault> {
    let mut bytes = content(aggregate)?.clone();
    let part = encode(memory.layout(), value);
    check(&bytes, offset, part.len())?;
    bytes.replace(offset, &part, memory.layout().pointer_bytes);
    Ok(Value::Aggregate(Box::new(bytes)))
}

fn content(aggregate: &Value) -> Result<&Bytes, Fault> {
    match aggregate {
        Value::Aggregate(bytes) => Ok(bytes),
        other => Err(Fault::undefined(format!("a value of type {:?} as an aggregate", other.type_of()))),
    }
}

fn check(bytes: &Bytes, offset: u64, size: u64) -> Result<(), Fault> {
    let fits = offset.checked_add(size).is_some_and(|end| end <= bytes.len());
    if fits { Ok(()) } else { Err(Fault::undefined("a part of an aggregate beyond its end")) }
}
