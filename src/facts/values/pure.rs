//! Pure operations of terms on numbers of up to 64 bits: what each gives for concrete operands.

use crate::program::{BinaryOp, IntegerPredicate, Intrinsic};

/// An operation whose result is a function of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pure {
    Binary(BinaryOp),
    Compare(IntegerPredicate),
    Truncate,
    ZeroExtend,
    SignExtend,
    /// A condition of one bit, then the two values.
    Select,
    Intrinsic(Intrinsic),
}

/// The low bits of a number.
pub fn wrap(bits: u32, value: u64) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// As a signed number of so many bits.
pub fn signed(bits: u32, value: u64) -> i64 {
    if bits == 0 || bits >= 64 { value as i64 } else { ((value << (64 - bits)) as i64) >> (64 - bits) }
}

impl Pure {
    /// The result, in `bits` bits, for operands given as (bits, value); `None` where it is not defined or not known here.
    pub fn evaluate(self, bits: u32, operands: &[(u32, u64)]) -> Option<u64> {
        let value = match (self, operands) {
            (Pure::Binary(op), [(_, left), (_, right)]) => binary(op, bits, *left, *right)?,
            (Pure::Compare(predicate), [(width, left), (_, right)]) => compare(predicate, *width, *left, *right).into(),
            (Pure::Truncate | Pure::ZeroExtend, [(_, value)]) => *value,
            (Pure::SignExtend, [(width, value)]) => signed(*width, *value) as u64,
            (Pure::Select, [(_, condition), (_, when_true), (_, when_false)]) => {
                if *condition == 0 {
                    *when_false
                } else {
                    *when_true
                }
            }
            _ => return None,
        };
        Some(wrap(bits, value))
    }

    /// Whether the order of two operands does not matter.
    pub fn is_commutative(self) -> bool {
        use BinaryOp::{Add, And, Multiply, Or, Xor};
        matches!(self, Pure::Binary(Add | Multiply | And | Or | Xor))
    }
}

fn binary(op: BinaryOp, bits: u32, left: u64, right: u64) -> Option<u64> {
    let (signed_left, signed_right) = (signed(bits, left), signed(bits, right));
    let shift = || u32::try_from(right).ok().filter(|shift| *shift < bits);
    Some(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::UnsignedDivide => left.checked_div(right)?,
        BinaryOp::UnsignedRemainder => left.checked_rem(right)?,
        BinaryOp::SignedDivide => signed_left.checked_div(signed_right)? as u64,
        BinaryOp::SignedRemainder => signed_left.checked_rem(signed_right)? as u64,
        BinaryOp::ShiftLeft => left << shift()?,
        BinaryOp::LogicalShiftRight => left >> shift()?,
        BinaryOp::ArithmeticShiftRight => (signed_left >> shift()?) as u64,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::FloatAdd
        | BinaryOp::FloatSubtract
        | BinaryOp::FloatMultiply
        | BinaryOp::FloatDivide
        | BinaryOp::FloatRemainder => {
            return None;
        }
    })
}

pub fn compare(predicate: IntegerPredicate, bits: u32, left: u64, right: u64) -> bool {
    let (signed_left, signed_right) = (signed(bits, left), signed(bits, right));
    match predicate {
        IntegerPredicate::Equal => left == right,
        IntegerPredicate::NotEqual => left != right,
        IntegerPredicate::UnsignedGreater => left > right,
        IntegerPredicate::UnsignedGreaterEqual => left >= right,
        IntegerPredicate::UnsignedLess => left < right,
        IntegerPredicate::UnsignedLessEqual => left <= right,
        IntegerPredicate::SignedGreater => signed_left > signed_right,
        IntegerPredicate::SignedGreaterEqual => signed_left >= signed_right,
        IntegerPredicate::SignedLess => signed_left < signed_right,
        IntegerPredicate::SignedLessEqual => signed_left <= signed_right,
    }
}
