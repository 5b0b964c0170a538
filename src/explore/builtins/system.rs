//! Time and the machine a program thinks it runs on.
//!
//! # Deviations
//! 1. Time does not pass by itself: each look at a clock finds it one millisecond later. A program that waits for a deadline gets
//!    there, and every run of a schedule sees the same times.
//! 2. The environment is empty, the locale is C, there are two processors, nothing is a terminal.

use super::call::{BuiltinResult, Call, Outcome, offset};
use super::errors::EINVAL;
use super::real;
use super::text;
use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;
use crate::program::Scalar;

pub const PAGE_SIZE: u64 = 4096;
const PROCESSORS: i128 = 2;
const NANOSECONDS: u64 = 1_000_000_000;
/// What one look at a clock takes.
const TICK: u64 = 1_000_000;
/// Seconds of the calendar's clock at the start.
const EPOCH: u64 = 1_700_000_000;
const CLOCK_REALTIME: i32 = 0;

/// Nanoseconds since the start.
fn now(environment: &mut dyn Environment) -> u64 {
    let clock = environment.slot("clock");
    *clock += TICK;
    *clock
}

pub fn time(mut call: Call) -> Outcome {
    let place = call.pointer(0)?;
    let seconds = i128::from(EPOCH + now(call.environment) / NANOSECONDS);
    if !place.is_null() {
        let bits = call.long_bits();
        call.store_integer(place, bits, seconds)?;
    }
    call.integer(seconds)
}

/// Microseconds of processor time.
pub fn clock(call: Call) -> Outcome {
    let microseconds = now(call.environment) / 1000;
    call.integer(microseconds.into())
}

/// Two fields of type `long`.
fn store_pair(call: &mut Call, place: Pointer, first: u64, second: u64) -> Result<(), Fault> {
    let bits = call.long_bits();
    call.store_integer(place, bits, first.into())?;
    call.store_integer(offset(place, u64::from(bits / 8)), bits, second.into())
}

pub fn gettimeofday(mut call: Call) -> Outcome {
    let place = call.pointer(0)?;
    if !place.is_null() {
        let time = now(call.environment);
        store_pair(&mut call, place, EPOCH + time / NANOSECONDS, time % NANOSECONDS / 1000)?;
    }
    call.integer(0)
}

pub fn clock_gettime(mut call: Call) -> Outcome {
    let (clock, place) = (call.int(0)?, call.pointer(1)?);
    let start = if clock == CLOCK_REALTIME { EPOCH } else { 0 };
    let time = now(call.environment);
    store_pair(&mut call, place, start + time / NANOSECONDS, time % NANOSECONDS)?;
    call.integer(0)
}

pub fn clock_getres(mut call: Call) -> Outcome {
    let place = call.pointer(1)?;
    if !place.is_null() {
        store_pair(&mut call, place, 0, 1)?;
    }
    call.integer(0)
}

pub fn timespec_get(mut call: Call) -> Outcome {
    const TIME_UTC: i32 = 1;
    let (place, base) = (call.pointer(0)?, call.int(1)?);
    if base != TIME_UTC {
        return call.integer(0);
    }
    let time = now(call.environment);
    store_pair(&mut call, place, EPOCH + time / NANOSECONDS, time % NANOSECONDS)?;
    call.integer(base.into())
}

pub fn difftime(call: Call) -> Outcome {
    let seconds = call.signed(0)? - call.signed(1)?;
    Ok(BuiltinResult::Return(Some(real::value(Scalar::Double, (seconds as f64).to_bits().into()))))
}

pub fn getenv(call: Call) -> Outcome {
    let name = call.pointer(0)?;
    text::string(call.environment, name)?;
    call.pointer_result(Pointer::NULL)
}

pub fn setlocale(call: Call) -> Outcome {
    let name = call.pointer(1)?;
    let wanted = if name.is_null() { Vec::new() } else { text::string(call.environment, name)? };
    if !matches!(&wanted[..], b"" | b"C" | b"POSIX") {
        return call.pointer_result(Pointer::NULL);
    }
    let locale = call.environment.library_object("the C locale", b"C\0")?;
    call.pointer_result(locale)
}

pub fn sysconf(mut call: Call) -> Outcome {
    const CLOCK_TICKS: i32 = 2;
    const OPEN_MAX: i32 = 4;
    const PAGE: i32 = 30;
    const PROCESSORS_CONFIGURED: i32 = 83;
    const PROCESSORS_ONLINE: i32 = 84;
    const PHYSICAL_PAGES: i32 = 85;
    const AVAILABLE_PAGES: i32 = 86;
    match call.int(0)? {
        CLOCK_TICKS => call.integer(100),
        OPEN_MAX => call.integer(1024),
        PAGE => call.integer(PAGE_SIZE.into()),
        PROCESSORS_CONFIGURED | PROCESSORS_ONLINE => call.integer(PROCESSORS),
        PHYSICAL_PAGES | AVAILABLE_PAGES => call.integer(1 << 18),
        _ => {
            call.set_errno(EINVAL)?;
            call.integer(-1)
        }
    }
}

pub fn errno_location(call: Call) -> Outcome {
    let place = call.environment.errno();
    call.pointer_result(place)
}
