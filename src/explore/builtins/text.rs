//! Strings in memory: found with `peek`, then read byte for byte as far as C reads and no further.
//!
//! A byte behind the terminator that another thread writes is no race, so the recorded access ends with the terminator.

use super::call::offset;
use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

const FIRST_CHUNK: u64 = 64;

/// What a scan saw.
pub struct Scan {
    /// The bytes read, the one that stopped it included.
    pub bytes: Vec<u8>,
    pub stopped: bool,
}

/// Reads until `stops` says so or `limit` bytes are read. Running over the end of the object is a fault.
pub fn scan(environment: &mut dyn Environment, start: Pointer, limit: u64, stops: impl Fn(u8) -> bool) -> Result<Scan, Fault> {
    let seen = look_ahead(environment, start, limit, &stops)?;
    let wanted =
        if seen.stopped || seen.bytes.len() as u64 == limit { seen.bytes.len() as u64 } else { seen.bytes.len() as u64 + 1 };
    touch(environment, start, wanted)?;
    Ok(seen)
}

/// The same without an access; ends silently at the end of the object.
pub fn look_ahead(environment: &dyn Environment, start: Pointer, limit: u64, stops: &impl Fn(u8) -> bool) -> Result<Scan, Fault> {
    let mut bytes = Vec::new();
    if limit == 0 {
        return Ok(Scan { bytes, stopped: false });
    }
    let available = environment.remaining(start)?.min(limit);
    let mut chunk = FIRST_CHUNK;
    while (bytes.len() as u64) < available {
        let from = bytes.len() as u64;
        let piece = environment.peek(offset(start, from), chunk.min(available - from))?;
        if let Some(end) = piece.iter().position(|&byte| stops(byte)) {
            bytes.extend_from_slice(&piece[..=end]);
            return Ok(Scan { bytes, stopped: true });
        }
        bytes.extend_from_slice(&piece);
        chunk *= 2;
    }
    Ok(Scan { bytes, stopped: false })
}

/// Records a read of exactly these bytes.
pub fn touch(environment: &mut dyn Environment, start: Pointer, size: u64) -> Result<(), Fault> {
    if size > 0 {
        environment.read(start, size)?;
    }
    Ok(())
}

/// The string at `start`, without its terminator, which is read too.
pub fn string(environment: &mut dyn Environment, start: Pointer) -> Result<Vec<u8>, Fault> {
    let mut scan = scan(environment, start, u64::MAX, |byte| byte == 0)?;
    scan.bytes.pop();
    Ok(scan.bytes)
}

/// At most `limit` bytes of the string at `start`; the terminator is read when it stands within the limit.
pub fn bounded_string(environment: &mut dyn Environment, start: Pointer, limit: u64) -> Result<Scan, Fault> {
    let mut scan = scan(environment, start, limit, |byte| byte == 0)?;
    if scan.stopped {
        scan.bytes.pop();
    }
    Ok(scan)
}

/// What stands at `start` up to a terminator or the end of the object, without an access. The caller records what it used.
pub fn peek_string(environment: &dyn Environment, start: Pointer) -> Result<Vec<u8>, Fault> {
    let mut scan = look_ahead(environment, start, u64::MAX, &|byte| byte == 0)?;
    if scan.stopped {
        scan.bytes.pop();
    }
    Ok(scan.bytes)
}

/// Compares two byte sequences: the difference of the first two bytes that differ, 0 when none does.
pub fn compare(
    environment: &mut dyn Environment,
    (left, right): (Pointer, Pointer),
    limit: u64,
    fold: impl Fn(u8) -> u8,
    ends_at_zero: bool,
) -> Result<i32, Fault> {
    if limit == 0 {
        return Ok(0);
    }
    let available = environment.remaining(left)?.min(environment.remaining(right)?).min(limit);
    let mut compared = 0;
    let mut chunk = FIRST_CHUNK;
    while compared < available {
        let size = chunk.min(available - compared);
        let left_bytes = environment.peek(offset(left, compared), size)?;
        let right_bytes = environment.peek(offset(right, compared), size)?;
        for (&left_byte, &right_byte) in left_bytes.iter().zip(&right_bytes) {
            compared += 1;
            let difference = i32::from(fold(left_byte)) - i32::from(fold(right_byte));
            if difference != 0 || (ends_at_zero && left_byte == 0) {
                touch(environment, left, compared)?;
                touch(environment, right, compared)?;
                return Ok(difference);
            }
        }
        chunk *= 2;
    }
    // Equal so far: the next byte is beyond the end of one of the two unless the limit stopped the loop.
    let wanted = if available == limit { limit } else { available + 1 };
    touch(environment, left, wanted)?;
    touch(environment, right, wanted)?;
    Ok(0)
}
