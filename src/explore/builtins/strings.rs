//! Strings: their length, copies and order.

use super::call::{Call, Outcome, offset};
use super::text;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

/// The bytes of the string at `source` with its terminator, looked up but not yet read.
fn extent(call: &Call, source: Pointer, limit: u64) -> Result<(u64, bool), Fault> {
    let seen = text::look_ahead(call.environment, source, limit, &|byte| byte == 0)?;
    let length = seen.bytes.len() as u64;
    // Without a terminator C reads on: one byte more lets the access find the end of the object.
    Ok(if seen.stopped || length == limit { (length, seen.stopped) } else { (length + 1, false) })
}

pub fn strlen(call: Call) -> Outcome {
    let start = call.pointer(0)?;
    let length = text::string(call.environment, start)?.len();
    call.integer(length as i128)
}

pub fn strnlen(call: Call) -> Outcome {
    let (start, limit) = (call.pointer(0)?, call.unsigned(1)?);
    let length = text::bounded_string(call.environment, start, limit)?.bytes.len();
    call.integer(length as i128)
}

/// `strcpy`, or `stpcpy`, which returns the end.
pub fn strcpy(call: Call, returns_end: bool) -> Outcome {
    let (destination, source) = (call.pointer(0)?, call.pointer(1)?);
    let (size, _) = extent(&call, source, u64::MAX)?;
    call.environment.copy(destination, source, size)?;
    call.pointer_result(if returns_end { offset(destination, size - 1) } else { destination })
}

/// `strncpy`, or `stpncpy`, which returns the end.
pub fn strncpy(call: Call, returns_end: bool) -> Outcome {
    let (destination, source, limit) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    let (size, terminated) = extent(&call, source, limit)?;
    if size > 0 {
        call.environment.copy(destination, source, size)?;
    }
    if size < limit {
        call.environment.fill(offset(destination, size), 0, limit - size)?;
    }
    let length = if terminated { size - 1 } else { size };
    call.pointer_result(if returns_end { offset(destination, length) } else { destination })
}

/// `strlcpy`: always terminated; returns the length of the source.
pub fn strlcpy(mut call: Call) -> Outcome {
    let (destination, source, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    let bytes = text::string(call.environment, source)?;
    write_bounded(&mut call, destination, &bytes, size)?;
    call.integer(bytes.len() as i128)
}

/// `strlcat`: the length it tried to make.
pub fn strlcat(mut call: Call) -> Outcome {
    let (destination, source, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    let bytes = text::string(call.environment, source)?;
    let before = text::bounded_string(call.environment, destination, size)?.bytes.len() as u64;
    write_bounded(&mut call, offset(destination, before), &bytes, size - before)?;
    call.integer(before as i128 + bytes.len() as i128)
}

/// As many of the bytes as fit into `size` with a terminator.
fn write_bounded(call: &mut Call, destination: Pointer, bytes: &[u8], size: u64) -> Result<(), Fault> {
    if size == 0 {
        return Ok(());
    }
    let mut copied = bytes[..bytes.len().min(size as usize - 1)].to_vec();
    copied.push(0);
    call.environment.write(destination, &copied)
}

pub fn strcat(call: Call) -> Outcome {
    let (destination, source) = (call.pointer(0)?, call.pointer(1)?);
    let before = text::string(call.environment, destination)?.len() as u64;
    let (size, _) = extent(&call, source, u64::MAX)?;
    call.environment.copy(offset(destination, before), source, size)?;
    call.pointer_result(destination)
}

pub fn strncat(call: Call) -> Outcome {
    let (destination, source, limit) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    let before = text::string(call.environment, destination)?.len() as u64;
    let mut added = text::bounded_string(call.environment, source, limit)?.bytes;
    added.push(0);
    call.environment.write(offset(destination, before), &added)?;
    call.pointer_result(destination)
}

/// `strcmp` and, with a limit, `strncmp`; `fold` makes them ignore case.
pub fn strcmp(call: Call, limit: Option<u64>, fold: fn(u8) -> u8) -> Outcome {
    let (left, right) = (call.pointer(0)?, call.pointer(1)?);
    let difference = text::compare(call.environment, (left, right), limit.unwrap_or(u64::MAX), fold, true)?;
    call.integer(difference.into())
}

pub fn exact(byte: u8) -> u8 {
    byte
}

pub fn without_case(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// `strdup`, and `strndup` with a limit.
pub fn strdup(call: Call, limit: Option<u64>) -> Outcome {
    let source = call.pointer(0)?;
    let mut bytes = text::bounded_string(call.environment, source, limit.unwrap_or(u64::MAX))?.bytes;
    bytes.push(0);
    let copy = call.environment.allocate(bytes.len() as u64, false)?;
    if !copy.is_null() {
        call.environment.write(copy, &bytes)?;
    }
    call.pointer_result(copy)
}
