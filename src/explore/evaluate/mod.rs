//! What instructions compute: pure functions of values, with no machine around them.
//!
//! # Undef and poison
//! 1. An undef operand of arithmetic, of a comparison or of a condition counts as 0, and the result is defined: "any value" is
//!    decided, once, for 0. (Bit-fields write fresh memory as `undef & mask | bits`; that must not undefine the field.)
//! 2. Where nothing is computed, undef stays undef: loads, stores, phis, select arms, lanes, bytes, truncations, bitcasts.
//! 3. A broken promise of the compiler (`nsw`, `nuw`, `exact`, a shift past the width, a float too large for an integer) gives
//!    poison, and an operation with a poison operand is poison until it is frozen. [`truth`] takes it as false;
//!    [`as_pointer`] and the number helpers fault. In memory and in aggregates poison is undef.
//! 4. A division by zero, and the minimum by -1, is a fault at once.
//!
//! # Floating point
//! `float` and `double` are the processor's. `half`, `bfloat`, `x86_fp80` and `fp128` are exact soft floats, square root included,
//! rounded to nearest even. Sine, exponential, power and their like are the system's for `float` and `double`; on the other kinds
//! they are **computed in `double`** and rounded, so a `long double` has 53 good bits there. Signalling NaNs are not trapped.

mod bytes;
mod cast;
mod compare;
mod constant;
mod float;
mod integer;
mod intrinsic;
mod lanes;
mod offset;
mod soft;
#[cfg(test)]
mod tests;
mod update;
mod wide;

use super::fault::Fault;
use super::value::{Pointer, ScalarValue, Value, sign_extend};
use crate::program::{ArithmeticFlags, BinaryOp, Scalar};

pub use bytes::{extract_bytes, insert_bytes};
pub use cast::cast;
pub use compare::compare;
pub use constant::{Addresses, constant};
pub use intrinsic::intrinsic;
pub use lanes::{extract_lane, freeze, insert_lane, select, shuffle};
pub use offset::offset;
pub use update::read_modify_write;

/// Arithmetic on integers and floats, lane by lane.
#[inline]
pub fn binary(op: BinaryOp, flags: ArithmeticFlags, left: &Value, right: &Value) -> Result<Value, Fault> {
    if let (Value::Scalar(left), Value::Scalar(right)) = (left, right) {
        let result = match (left, right) {
            (ScalarValue::Integer { bits, value: left }, ScalarValue::Integer { value: right, .. }) => {
                integer::narrow(op, flags, *bits, *left, *right)
            }
            (ScalarValue::Float { kind, bits: left }, ScalarValue::Float { bits: right, .. }) => {
                float::binary(op, *kind, *left, *right)
            }
            (left, right) => binary_scalar(op, flags, left, right),
        };
        return result.map(Value::Scalar);
    }
    lanes::map2(left, right, |left, right| binary_scalar(op, flags, left, right))
}

fn binary_scalar(op: BinaryOp, flags: ArithmeticFlags, left: &ScalarValue, right: &ScalarValue) -> Result<ScalarValue, Fault> {
    if left.is_poison() || right.is_poison() {
        return Ok(ScalarValue::Poison(left.kind()));
    }
    match left.kind() {
        Scalar::Integer(bits) if bits <= 128 => integer::narrow(op, flags, bits, number(left)?, number(right)?),
        Scalar::Integer(bits) => wide::binary(op, flags, bits, left, right),
        Scalar::Pointer => Err(Fault::undefined("arithmetic on a pointer value")),
        kind => float::binary(op, kind, number(left)?, number(right)?),
    }
}

/// Floating-point negation: the sign bit flips, of NaNs too.
pub fn negate(value: &Value) -> Result<Value, Fault> {
    lanes::map(value, |lane| match lane {
        ScalarValue::Poison(kind) => Ok(ScalarValue::Poison(*kind)),
        other => float::negate(other.kind(), number(other)?),
    })
}

/// A condition. Undef and poison are false; [`used_undefined`] says whether that was so.
#[inline]
pub fn truth(value: &Value) -> bool {
    matches!(value, Value::Scalar(ScalarValue::Integer { value, .. }) if *value & 1 == 1)
}

/// Whether a decision by this value rests on undef or poison, in part at least.
pub fn used_undefined(value: &Value) -> bool {
    match value {
        Value::Scalar(scalar) => scalar.is_undefined(),
        Value::Vector(lanes) => lanes.iter().any(ScalarValue::is_undefined),
        Value::Aggregate(bytes) => bytes.defined.iter().any(|defined| !defined),
    }
}

/// An address to access or call.
#[inline]
pub fn as_pointer(value: &Value) -> Result<Pointer, Fault> {
    match value {
        Value::Scalar(ScalarValue::Pointer(pointer)) => Ok(*pointer),
        Value::Scalar(scalar) if scalar.is_undefined() => Err(Fault::undefined("an address that is undefined")),
        Value::Scalar(ScalarValue::Integer { value, .. }) => Ok(Pointer { address: *value as u64, object: None }),
        other => Err(Fault::undefined(format!("an address of type {:?}", other.type_of()))),
    }
}

/// A size, a count, a character: an unsigned integer of at most 128 bits, or a pointer's address. Undef is 0, poison a fault.
#[inline]
pub fn as_u128(value: &Value) -> Result<u128, Fault> {
    match value {
        Value::Scalar(ScalarValue::Poison(_)) => Err(Fault::undefined("a number that is poison")),
        Value::Scalar(scalar) => number(scalar),
        other => Err(Fault::undefined(format!("a number of type {:?}", other.type_of()))),
    }
}

/// As [`as_u128`], sign-extended from its own width.
#[inline]
pub fn as_i128(value: &Value) -> Result<i128, Fault> {
    let number = as_u128(value)?;
    Ok(match value {
        Value::Scalar(ScalarValue::Integer { bits, .. }) => sign_extend(number, *bits),
        _ => number as i128,
    })
}

/// The bits of a scalar of at most 128 bits; undef counts as 0.
fn number(scalar: &ScalarValue) -> Result<u128, Fault> {
    match scalar {
        ScalarValue::Integer { value, .. } => Ok(*value),
        ScalarValue::Float { bits, .. } => Ok(*bits),
        ScalarValue::Pointer(pointer) => Ok(u128::from(pointer.address)),
        ScalarValue::Undef(_) => Ok(0),
        ScalarValue::Poison(_) => Err(Fault::undefined("a use of poison")),
        ScalarValue::WideInteger { bits, words } => {
            if words[2..].iter().any(|word| *word != 0) {
                return Err(Fault::undefined(format!("an integer of {bits} bits where at most 128 are expected")));
            }
            Ok(u128::from(words[0]) | u128::from(words[1]) << 64)
        }
    }
}
