//! Integers of `<stdlib.h>`: absolute values, division, random numbers.
//!
//! `rand` is a choice of the schedule. `rand_r` and the `drand48` family are computed: POSIX fixes the latter, and the former's state
//! belongs to the program.

use super::call::{BuiltinResult, Call, Outcome, sign_extend};
use super::real;
use crate::explore::fault::Fault;
use crate::explore::value::{Bytes, Value};
use crate::program::{Scalar, Type};

/// The smallest number stays as it is.
pub fn abs(call: Call, bits: u32) -> Outcome {
    let value = sign_extend(call.unsigned(0)?.into(), bits);
    call.integer(value.abs())
}

/// `div`, `ldiv`, `lldiv`: quotient and remainder as a struct, returned as the ABI says.
pub fn div(call: Call, bits: u32) -> Outcome {
    // i386 returns structs through a hidden first argument.
    let first = usize::from(call.return_type == Type::Void);
    let number = |position: usize| Ok(sign_extend(call.unsigned(position)?.into(), bits));
    let (numerator, denominator): (i128, i128) = (number(first)?, number(first + 1)?);
    if denominator == 0 {
        return Err(Fault::DivisionByZero);
    }
    let parts = [numerator / denominator, numerator % denominator];
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()[..bits as usize / 8].to_vec()).collect();
    Ok(BuiltinResult::Return(match call.return_type {
        Type::Void => {
            let place = call.pointer(0)?;
            call.environment.write(place, &bytes)?;
            None
        }
        Type::Aggregate { size } if size == bytes.len() as u64 => {
            let defined = vec![true; bytes.len()];
            Some(Value::Aggregate(Box::new(Bytes { data: bytes, defined, pointers: Vec::new() })))
        }
        Type::Scalar(Scalar::Integer(64)) if bits == 32 => {
            Some(Value::integer(64, (parts[0] as u32 as u128) | (parts[1] as u32 as u128) << 32))
        }
        other => return Err(Fault::Undefined { what: format!("div declared to return {other:?}") }),
    }))
}

/// The position of the lowest set bit, from 1; 0 when there is none.
pub fn ffs(call: Call, bits: u32) -> Outcome {
    let value = sign_extend(call.unsigned(0)?.into(), bits);
    call.integer(if value == 0 { 0 } else { i128::from(value.trailing_zeros()) + 1 })
}

/// `rand` and `random`: any number of 31 bits.
pub fn rand(call: Call) -> Outcome {
    let value = call.environment.choose(31, "rand");
    call.integer(value as i128)
}

/// Three steps of a linear congruence give 11, 10 and 10 bits.
pub fn rand_r(mut call: Call) -> Outcome {
    let seed = call.pointer(0)?;
    let mut state = call.load_integer(seed, 32)? as u32;
    let mut result = 0u32;
    for bits in [11, 10, 10] {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        result = result << bits ^ ((state >> 16) & ((1 << bits) - 1));
    }
    call.store_integer(seed, 32, state.into())?;
    call.integer(result.into())
}

const SLOT_48: &str = "drand48";

/// X ← a·X + c (mod 2⁴⁸).
fn next_48(call: &mut Call) -> u64 {
    let state = call.environment.slot(SLOT_48);
    *state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(11) & ((1 << 48) - 1);
    *state
}

pub fn drand48(mut call: Call) -> Outcome {
    let fraction = next_48(&mut call) as f64 / (1u64 << 48) as f64;
    Ok(BuiltinResult::Return(Some(real::value(Scalar::Double, fraction.to_bits().into()))))
}

/// `lrand48` (31 bits) and `mrand48` (32 bits, signed).
pub fn lrand48(mut call: Call, is_signed: bool) -> Outcome {
    let state = next_48(&mut call);
    call.integer(if is_signed { ((state >> 16) as i32).into() } else { i128::from(state >> 17) })
}

pub fn srand48(call: Call) -> Outcome {
    let seed = call.unsigned(0)? as u32;
    *call.environment.slot(SLOT_48) = u64::from(seed) << 16 | 0x330E;
    call.nothing()
}
