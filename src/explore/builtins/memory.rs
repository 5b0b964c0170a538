//! `memcpy` and its kin: ranges of bytes whose size the caller names.

use super::call::{Call, Outcome, offset};
use super::text;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

fn copy(call: &mut Call, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault> {
    if size > 0 { call.environment.copy(destination, source, size) } else { Ok(()) }
}

fn fill(call: &mut Call, destination: Pointer, byte: u8, size: u64) -> Result<(), Fault> {
    if size > 0 { call.environment.fill(destination, byte, size) } else { Ok(()) }
}

/// `memcpy` and `memmove`: overlapping ranges are copied as if through a buffer.
pub fn memcpy(mut call: Call) -> Outcome {
    let (destination, source, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    copy(&mut call, destination, source, size)?;
    call.pointer_result(destination)
}

pub fn mempcpy(mut call: Call) -> Outcome {
    let (destination, source, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    copy(&mut call, destination, source, size)?;
    call.pointer_result(offset(destination, size))
}

/// Copies up to and including the first `stop` byte.
pub fn memccpy(mut call: Call) -> Outcome {
    let (destination, source, stop, size) = (call.pointer(0)?, call.pointer(1)?, call.int(2)? as u8, call.unsigned(3)?);
    let seen = text::look_ahead(call.environment, source, size, &|byte| byte == stop)?;
    let copied = if seen.stopped { seen.bytes.len() as u64 } else { size };
    copy(&mut call, destination, source, copied)?;
    call.pointer_result(if seen.stopped { offset(destination, copied) } else { Pointer::NULL })
}

pub fn bcopy(mut call: Call) -> Outcome {
    let (source, destination, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    copy(&mut call, destination, source, size)?;
    call.nothing()
}

pub fn memset(mut call: Call) -> Outcome {
    let (destination, byte, size) = (call.pointer(0)?, call.int(1)? as u8, call.unsigned(2)?);
    fill(&mut call, destination, byte, size)?;
    call.pointer_result(destination)
}

pub fn bzero(mut call: Call) -> Outcome {
    let (destination, size) = (call.pointer(0)?, call.unsigned(1)?);
    fill(&mut call, destination, 0, size)?;
    call.nothing()
}

pub fn memcmp(call: Call) -> Outcome {
    let (left, right, size) = (call.pointer(0)?, call.pointer(1)?, call.unsigned(2)?);
    let difference = text::compare(call.environment, (left, right), size, |byte| byte, false)?;
    call.integer(difference.into())
}

/// `memchr`, and `rawmemchr` with no limit.
pub fn memchr(call: Call, limit: Option<u64>) -> Outcome {
    let (start, wanted) = (call.pointer(0)?, call.int(1)? as u8);
    let scan = text::scan(call.environment, start, limit.unwrap_or(u64::MAX), |byte| byte == wanted)?;
    call.pointer_result(if scan.stopped { offset(start, scan.bytes.len() as u64 - 1) } else { Pointer::NULL })
}

pub fn memrchr(call: Call) -> Outcome {
    let (start, wanted, size) = (call.pointer(0)?, call.int(1)? as u8, call.unsigned(2)?);
    if size == 0 {
        return call.pointer_result(Pointer::NULL);
    }
    // From the end backwards: only the bytes from the found one on are read.
    let available = call.environment.remaining(start)?;
    let bytes = call.environment.peek(start, size.min(available))?;
    let found = if available < size { None } else { bytes.iter().rposition(|&byte| byte == wanted).map(|index| index as u64) };
    let first = found.unwrap_or(0);
    text::touch(call.environment, offset(start, first), size - first)?;
    call.pointer_result(found.map_or(Pointer::NULL, |index| offset(start, index)))
}

pub fn memmem(call: Call) -> Outcome {
    let (start, size, needle, needle_size) = (call.pointer(0)?, call.unsigned(1)?, call.pointer(2)?, call.unsigned(3)?);
    let needle_bytes = if needle_size == 0 { Vec::new() } else { call.environment.read(needle, needle_size)? };
    let hay = if size == 0 { Vec::new() } else { call.environment.read(start, size)? };
    let found = find(&hay, &needle_bytes);
    call.pointer_result(found.map_or(Pointer::NULL, |index| offset(start, index as u64)))
}

/// Where `needle` begins in `hay`.
pub fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    hay.windows(needle.len()).position(|window| window == needle)
}
