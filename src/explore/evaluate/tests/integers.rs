//! Integer operations of every width against what the definition says, in big numbers.

use num_bigint::BigInt;

use super::*;
use crate::program::{CastKind, IntegerPredicate, Intrinsic, Predicate, Type};

fn unsigned(words: &[u64]) -> BigInt {
    words.iter().rev().fold(BigInt::from(0), |number, word| (number << 64) + BigInt::from(*word))
}

fn power(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

fn signed(bits: u32, words: &[u64]) -> BigInt {
    let number = unsigned(words);
    if number >= power(bits - 1) { number - power(bits) } else { number }
}

/// The words of the number modulo 2^bits.
fn wrapped(bits: u32, number: &BigInt) -> Vec<u64> {
    let rest = ((number % power(bits)) + power(bits)) % power(bits);
    let mut words = rest.magnitude().to_u64_digits();
    words.resize(bits.div_ceil(64) as usize, 0);
    words
}

fn in_signed(bits: u32, number: &BigInt) -> bool {
    -power(bits - 1) <= *number && *number < power(bits - 1)
}

fn in_unsigned(bits: u32, number: &BigInt) -> bool {
    BigInt::from(0) <= *number && *number < power(bits)
}

const OPERATIONS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::UnsignedDivide,
    BinaryOp::SignedDivide,
    BinaryOp::UnsignedRemainder,
    BinaryOp::SignedRemainder,
    BinaryOp::ShiftLeft,
    BinaryOp::LogicalShiftRight,
    BinaryOp::ArithmeticShiftRight,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];

/// The definition: exact numbers, read as signed and unsigned; `None` for poison.
fn definition(op: BinaryOp, flags: ArithmeticFlags, bits: u32, left: &[u64], right: &[u64]) -> Result<Option<BigInt>, Fault> {
    let zero = BigInt::from(0);
    let (ul, ur) = (unsigned(left), unsigned(right));
    let (sl, sr) = (signed(bits, left), signed(bits, right));
    let both = |by_unsigned: BigInt, by_signed: BigInt| {
        let broken = (flags.no_unsigned_wrap && !in_unsigned(bits, &by_unsigned))
            || (flags.no_signed_wrap && !in_signed(bits, &by_signed));
        (!broken).then_some(by_unsigned)
    };
    let shift = || ur.iter_u64_digits().next().unwrap_or(0);
    let factor = || BigInt::from(1) << shift();
    let floor = |number: &BigInt| {
        let rest = ((number % factor()) + factor()) % factor();
        let is_exact = rest == zero;
        (!flags.exact || is_exact).then(|| (number - rest) / factor())
    };
    Ok(match op {
        BinaryOp::Add => both(ul + ur, sl + sr),
        BinaryOp::Subtract => both(ul - ur, sl - sr),
        BinaryOp::Multiply => both(ul * ur, sl * sr),
        BinaryOp::UnsignedDivide | BinaryOp::UnsignedRemainder if ur == zero => return Err(Fault::DivisionByZero),
        BinaryOp::UnsignedDivide => (!flags.exact || &ul % &ur == zero).then(|| &ul / &ur),
        BinaryOp::UnsignedRemainder => Some(ul % ur),
        BinaryOp::SignedDivide | BinaryOp::SignedRemainder if sr == zero || !in_signed(bits, &(&sl / &sr)) => {
            return Err(Fault::DivisionByZero);
        }
        BinaryOp::SignedDivide => (!flags.exact || &sl % &sr == zero).then(|| &sl / &sr),
        BinaryOp::SignedRemainder => Some(sl % sr),
        BinaryOp::ShiftLeft | BinaryOp::LogicalShiftRight | BinaryOp::ArithmeticShiftRight if ur >= BigInt::from(bits) => None,
        BinaryOp::ShiftLeft => both(ul * factor(), sl * factor()),
        BinaryOp::LogicalShiftRight => floor(&ul),
        BinaryOp::ArithmeticShiftRight => floor(&sl),
        _ => {
            let bit = |index: u64| match op {
                BinaryOp::And => ul.bit(index) && ur.bit(index),
                BinaryOp::Or => ul.bit(index) || ur.bit(index),
                _ => ul.bit(index) != ur.bit(index),
            };
            Some((0..u64::from(bits)).filter(|i| bit(*i)).map(|i| BigInt::from(1) << i).sum())
        }
    })
}

#[test]
fn arithmetic_of_every_width_follows_the_definition() {
    let mut random = Random(42);
    let (mut poisons, mut faults, mut values) = (0, 0, 0);
    for bits in (1..=300).chain([512, 1000]) {
        for _ in 0..40 {
            let (left, mut right) = (random.words(bits), random.words(bits));
            if random.below(3) == 0 {
                let shift = random.below(u64::from(bits) + 1);
                right.fill(0);
                right[0] = if bits < 64 { shift & ((1 << bits) - 1) } else { shift };
            }
            let flag = random.next();
            let flags = ArithmeticFlags {
                no_signed_wrap: flag & 0x300 == 0,
                no_unsigned_wrap: flag & 0xc00 == 0,
                exact: flag & 0x3000 == 0,
            };
            for op in OPERATIONS {
                let expected = definition(op, flags, bits, &left, &right).map(|number| match number {
                    Some(number) => value_of(bits, &wrapped(bits, &number)),
                    None => Value::poison(Type::integer(bits)),
                });
                match &expected {
                    Err(_) => faults += 1,
                    Ok(value) if used_undefined(value) => poisons += 1,
                    Ok(_) => values += 1,
                }
                let result = binary(op, flags, &value_of(bits, &left), &value_of(bits, &right));
                assert_eq!(result, expected, "{op:?} {flags:?} i{bits} {left:x?} {right:x?}");
            }
        }
    }
    assert!(poisons > 1000 && faults > 1000 && values > 50_000, "{poisons} poisons, {faults} faults, {values} values");
}

#[test]
fn comparisons_of_every_width_follow_the_definition() {
    use IntegerPredicate::*;
    let (mut random, memory) = (Random(1), memory());
    for bits in 1..=300 {
        for _ in 0..20 {
            let (left, right) = (random.words(bits), random.words(bits));
            let unsigned = unsigned(&left).cmp(&unsigned(&right));
            let signed = signed(bits, &left).cmp(&signed(bits, &right));
            let expected = [
                (Equal, unsigned.is_eq()),
                (NotEqual, unsigned.is_ne()),
                (UnsignedGreater, unsigned.is_gt()),
                (UnsignedGreaterEqual, unsigned.is_ge()),
                (UnsignedLess, unsigned.is_lt()),
                (UnsignedLessEqual, unsigned.is_le()),
                (SignedGreater, signed.is_gt()),
                (SignedGreaterEqual, signed.is_ge()),
                (SignedLess, signed.is_lt()),
                (SignedLessEqual, signed.is_le()),
            ];
            for (predicate, expected) in expected {
                let (left, right) = (value_of(bits, &left), value_of(bits, &right));
                let result = compare(&memory, Predicate::Integer(predicate), &left, &right);
                assert_eq!(result, Ok(Value::boolean(expected)), "{predicate:?} {left:?} {right:?}");
            }
        }
    }
}

#[test]
fn width_changes_follow_the_definition() {
    let (mut random, memory) = (Random(2), memory());
    for from in (1..=300).step_by(3) {
        for to in (1..=300).step_by(7) {
            let words = random.words(from);
            let value = value_of(from, &words);
            let to_type = Type::integer(to);
            if to < from {
                let low = value_of(to, &wrapped(to, &unsigned(&words)));
                assert_eq!(cast(&memory, CastKind::Truncate, &value, to_type), Ok(low), "{value:?} to {to}");
            } else {
                let zero = value_of(to, &wrapped(to, &unsigned(&words)));
                let sign = value_of(to, &wrapped(to, &signed(from, &words)));
                assert_eq!(cast(&memory, CastKind::ZeroExtend, &value, to_type), Ok(zero), "{value:?} to {to}");
                assert_eq!(cast(&memory, CastKind::SignExtend, &value, to_type), Ok(sign), "{value:?} to {to}");
            }
        }
    }
}

/// What an intrinsic of two integers makes: clamped, picked or compared exact numbers.
fn intrinsic_definition(function: Intrinsic, bits: u32, left: &[u64], right: &[u64]) -> BigInt {
    let (ul, ur) = (unsigned(left), unsigned(right));
    let (sl, sr) = (signed(bits, left), signed(bits, right));
    let to_signed = |number: BigInt| number.clamp(-power(bits - 1), power(bits - 1) - 1);
    let to_unsigned = |number: BigInt| number.clamp(BigInt::from(0), power(bits) - 1);
    let sign = |order: std::cmp::Ordering| BigInt::from(order as i32);
    match function {
        Intrinsic::SignedMax => sl.max(sr),
        Intrinsic::SignedMin => sl.min(sr),
        Intrinsic::UnsignedMax => ul.max(ur),
        Intrinsic::UnsignedMin => ul.min(ur),
        Intrinsic::SignedCompare => sign(sl.cmp(&sr)),
        Intrinsic::UnsignedCompare => sign(ul.cmp(&ur)),
        Intrinsic::SaturatingSignedAdd => to_signed(sl + sr),
        Intrinsic::SaturatingUnsignedAdd => to_unsigned(ul + ur),
        Intrinsic::SaturatingSignedSubtract => to_signed(sl - sr),
        Intrinsic::SaturatingUnsignedSubtract => to_unsigned(ul - ur),
        other => panic!("{other:?} has no definition here"),
    }
}

#[test]
fn integer_functions_of_every_width_follow_the_definition() {
    use Intrinsic::*;
    let (mut random, memory) = (Random(3), memory());
    let run = |function, arguments: &[&Value], ty| intrinsic(&memory, function, arguments, ty);
    for bits in 1..=300 {
        let ty = Type::integer(bits);
        for _ in 0..12 {
            let (left, right) = (random.words(bits), random.words(bits));
            let (l, r) = (value_of(bits, &left), value_of(bits, &right));
            for function in [
                SignedMax,
                SignedMin,
                UnsignedMax,
                UnsignedMin,
                SignedCompare,
                UnsignedCompare,
                SaturatingSignedAdd,
                SaturatingUnsignedAdd,
                SaturatingSignedSubtract,
                SaturatingUnsignedSubtract,
            ] {
                let expected = value_of(bits, &wrapped(bits, &intrinsic_definition(function, bits, &left, &right)));
                assert_eq!(run(function, &[&l, &r], ty), Ok(expected), "{function:?} {l:?} {r:?}");
            }
            let number = unsigned(&left);
            let set: Vec<u64> = (0..u64::from(bits)).filter(|bit| number.bit(*bit)).collect();
            let count = |number: u64| Ok(value_of(bits, &wrapped(bits, &BigInt::from(number))));
            let no = Value::boolean(false);
            assert_eq!(run(CountOnes, &[&l], ty), count(set.len() as u64));
            let trailing = set.first().copied().unwrap_or(u64::from(bits));
            let leading = set.last().map_or(u64::from(bits), |last| u64::from(bits) - 1 - last);
            assert_eq!(run(TrailingZeros, &[&l, &no], ty), count(trailing));
            assert_eq!(run(LeadingZeros, &[&l, &no], ty), count(leading));
            let reversed: BigInt = set.iter().map(|bit| power(bits - 1 - *bit as u32)).sum();
            assert_eq!(run(BitReverse, &[&l], ty), Ok(value_of(bits, &wrapped(bits, &reversed))));
            if bits % 16 == 0 {
                let swapped: BigInt = set.iter().map(|bit| power(bits - 8 - (*bit as u32 / 8 * 8) + *bit as u32 % 8)).sum();
                assert_eq!(run(ByteSwap, &[&l], ty), Ok(value_of(bits, &wrapped(bits, &swapped))));
            }
            let shift = random.below(u64::from(bits) + 3);
            let shift = if bits < 64 { shift & ((1 << bits) - 1) } else { shift };
            let by = value_of(bits, &wrapped(bits, &BigInt::from(shift)));
            let both = unsigned(&left) * power(bits) + unsigned(&right);
            let distance = shift % u64::from(bits);
            let up = (&both << distance) / power(bits);
            let down = &both >> distance;
            assert_eq!(run(FunnelShiftLeft, &[&l, &r, &by], ty), Ok(value_of(bits, &wrapped(bits, &up))));
            assert_eq!(run(FunnelShiftRight, &[&l, &r, &by], ty), Ok(value_of(bits, &wrapped(bits, &down))));
            let absolute = signed(bits, &left).magnitude().clone().into();
            assert_eq!(run(Absolute, &[&l, &no], ty), Ok(value_of(bits, &wrapped(bits, &absolute))));
            let yes = Value::boolean(true);
            let is_least = -absolute == -power(bits - 1) && left == wrapped(bits, &power(bits - 1));
            assert_eq!(used_undefined(&run(Absolute, &[&l, &yes], ty).unwrap()), is_least);
        }
    }
}

#[test]
fn saturating_shifts_clamp() {
    let memory = memory();
    let run = |function, left: i128, by: u128| {
        let left = Value::integer(8, left as u128);
        as_i128(&intrinsic(&memory, function, &[&left, &Value::integer(8, by)], Type::integer(8)).unwrap()).unwrap()
    };
    for left in -128i128..128 {
        for by in 0..8u32 {
            let signed = (left << by).clamp(-128, 127);
            let unsigned = ((left as u8 as i128) << by).min(255) as u8 as i8;
            assert_eq!(run(Intrinsic::SaturatingSignedShiftLeft, left, by.into()), signed);
            assert_eq!(run(Intrinsic::SaturatingUnsignedShiftLeft, left, by.into()), unsigned.into());
        }
    }
}

#[test]
fn overflow_functions_make_a_value_and_a_bit() {
    use Intrinsic::*;
    let (mut random, memory) = (Random(4), memory());
    for bits in (1..=300u32).filter(|bits| bits % 5 < 3) {
        let bytes = u64::from(bits.div_ceil(8)).next_power_of_two();
        let ty = Type::Aggregate { size: bytes * 2 };
        for _ in 0..20 {
            let (left, right) = (random.words(bits), random.words(bits));
            let (ul, ur) = (unsigned(&left), unsigned(&right));
            let (sl, sr) = (signed(bits, &left), signed(bits, &right));
            let cases = [
                (SignedAddOverflow, true, &sl + &sr),
                (UnsignedAddOverflow, false, &ul + &ur),
                (SignedSubtractOverflow, true, &sl - &sr),
                (UnsignedSubtractOverflow, false, &ul - &ur),
                (SignedMultiplyOverflow, true, &sl * &sr),
                (UnsignedMultiplyOverflow, false, &ul * &ur),
            ];
            for (function, is_signed, exact) in cases {
                let (l, r) = (value_of(bits, &left), value_of(bits, &right));
                let pair = intrinsic(&memory, function, &[&l, &r], ty).unwrap();
                let value = extract_bytes(&memory, &pair, 0, Type::integer(bits)).unwrap();
                let bit = extract_bytes(&memory, &pair, bytes, Type::BOOL).unwrap();
                assert_eq!(value, value_of(bits, &wrapped(bits, &exact)), "{function:?} {l:?} {r:?}");
                let fits = if is_signed { in_signed(bits, &exact) } else { in_unsigned(bits, &exact) };
                assert_eq!(truth(&bit), !fits, "{function:?} {l:?} {r:?}");
            }
        }
    }
}
