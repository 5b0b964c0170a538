//! Floats against the processor: `float` and `double` by Rust's own, `x86_fp80` by the x87 unit, smaller kinds by wider ones.

use super::*;
use crate::program::{CastKind, FloatPredicate, Intrinsic, Predicate, Type};

const OPERATIONS: [BinaryOp; 5] =
    [BinaryOp::FloatAdd, BinaryOp::FloatSubtract, BinaryOp::FloatMultiply, BinaryOp::FloatDivide, BinaryOp::FloatRemainder];

fn float(kind: Scalar, bits: u128) -> Value {
    Value::Scalar(ScalarValue::Float { kind, bits })
}

fn bits_of(value: &Value) -> u128 {
    as_u128(value).expect("a float has bits")
}

fn apply(op: BinaryOp, kind: Scalar, left: u128, right: u128) -> u128 {
    bits_of(&binary(op, ArithmeticFlags::default(), &float(kind, left), &float(kind, right)).unwrap())
}

fn native(op: BinaryOp, left: f64, right: f64) -> f64 {
    match op {
        BinaryOp::FloatAdd => left + right,
        BinaryOp::FloatSubtract => left - right,
        BinaryOp::FloatMultiply => left * right,
        BinaryOp::FloatDivide => left / right,
        _ => left % right,
    }
}

/// Doubles of all sorts: special ones, small whole ones, near ones, any bit pattern.
fn any_double(random: &mut Random) -> f64 {
    const SPECIAL: [f64; 10] =
        [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    match random.below(4) {
        0 => SPECIAL[random.below(10) as usize],
        1 => random.below(2000) as f64 - 1000.0,
        2 => f64::from_bits(0x3fe0_0000_0000_0000 + (random.next() >> 8)),
        _ => f64::from_bits(random.next()),
    }
}

fn same(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
}

#[test]
fn doubles_are_the_processors_and_soft_ones_agree() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let (left, right) = (any_double(&mut random), any_double(&mut random));
        for op in OPERATIONS {
            let expected = native(op, left, right);
            let (l, r) = (left.to_bits().into(), right.to_bits().into());
            let result = f64::from_bits(apply(op, Scalar::Double, l, r) as u64);
            assert!(same(result, expected), "{left:e} {op:?} {right:e}");
            let soft = f64::from_bits(soft::binary(op, Scalar::Double, l, r).unwrap() as u64);
            assert!(same(soft, expected), "soft: {left:e} {op:?} {right:e} = {soft:e}, not {expected:e}");
            let (l, r) = (left as f32, right as f32);
            let single = apply(op, Scalar::Float, l.to_bits().into(), r.to_bits().into());
            let single = f32::from_bits(single as u32);
            let expected = match op {
                BinaryOp::FloatAdd => l + r,
                BinaryOp::FloatSubtract => l - r,
                BinaryOp::FloatMultiply => l * r,
                BinaryOp::FloatDivide => l / r,
                _ => l % r,
            };
            assert!(same(single.into(), expected.into()), "{l:e} {op:?} {r:e}");
        }
        let root = f64::from_bits(soft::square_root(Scalar::Double, left.to_bits().into()).unwrap() as u64);
        assert!(same(root, left.sqrt()), "the root of {left:e} is {root:e}");
    }
}

#[test]
fn halves_are_rounded_once() {
    // A wider kind with more than twice the bits makes the same result when it is rounded again (Figueroa 1995).
    let mut random = Random(6);
    for _ in 0..20_000 {
        let (left, right) = (u128::from(random.next() as u16), u128::from(random.next() as u16));
        for kind in [Scalar::Half, Scalar::BFloat] {
            let wide = |bits| f64::from_bits(float::convert(kind, Scalar::Double, bits).unwrap() as u64);
            let narrow = |value: f64| float::convert(Scalar::Double, kind, value.to_bits().into()).unwrap();
            let is_nan = |bits| wide(bits).is_nan();
            for op in &OPERATIONS[..4] {
                let (result, expected) = (apply(*op, kind, left, right), narrow(native(*op, wide(left), wide(right))));
                assert!(result == expected || is_nan(result) && is_nan(expected), "{kind:?} {left:x} {op:?} {right:x}");
            }
            let (root, expected) = (soft::square_root(kind, left).unwrap(), narrow(wide(left).sqrt()));
            assert!(root == expected || is_nan(root) && is_nan(expected), "{kind:?}: root of {left:x}");
        }
    }
}

/// The x87 unit itself, in its default mode: 64 bits, to nearest even.
#[cfg(target_arch = "x86_64")]
mod x87 {
    use std::arch::asm;

    macro_rules! operation {
        ($name:ident, $instruction:literal) => {
            pub fn $name(left: u128, right: u128) -> u128 {
                let (left, right, mut result) = (left.to_le_bytes(), right.to_le_bytes(), [0u8; 16]);
                // Safety: ten bytes are read from each operand and written to the result; the stack is left as it was.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{left}]", "fld tbyte ptr [{right}]", $instruction, "fstp tbyte ptr [{result}]",
                        left = in(reg) left.as_ptr(), right = in(reg) right.as_ptr(), result = in(reg) result.as_mut_ptr(),
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    );
                }
                u128::from_le_bytes(result)
            }
        };
    }
    operation!(add, "faddp st(1), st");
    operation!(subtract, "fsubp st(1), st");
    operation!(multiply, "fmulp st(1), st");
    operation!(divide, "fdivp st(1), st");
    // The left operand is popped unread.
    operation!(square_root_of_right, "fsqrt\nfstp st(1)");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn long_doubles_are_the_x87_units() {
    let mut random = Random(7);
    let is_nan = |bits: u128| bits >> 64 & 0x7fff == 0x7fff && bits << 65 != 0;
    let any = |random: &mut Random| {
        let sign_and_exponent = match random.below(4) {
            0 => random.next() & 0x8000,
            1 => random.next() & 0x8000 | 0x7fff,
            2 => random.next() & 0x8000 | (0x3fff - 40 + random.below(80)),
            _ => random.next() & 0xffff,
        };
        let fraction = match random.below(3) {
            0 => 0,
            1 => random.next() & 0xffff,
            _ => random.next() & (u64::MAX >> 1),
        };
        // The leading bit is written out; clear only in zeros and denormals.
        let leading = if sign_and_exponent & 0x7fff == 0 { 0 } else { 1u64 << 63 };
        u128::from(sign_and_exponent) << 64 | u128::from(leading | fraction)
    };
    type Operation = fn(u128, u128) -> u128;
    let operations: [(BinaryOp, Operation); 4] = [
        (BinaryOp::FloatAdd, x87::add),
        (BinaryOp::FloatSubtract, x87::subtract),
        (BinaryOp::FloatMultiply, x87::multiply),
        (BinaryOp::FloatDivide, x87::divide),
    ];
    for _ in 0..20_000 {
        let (left, right) = (any(&mut random), any(&mut random));
        for (op, unit) in operations {
            let (result, expected) = (apply(op, Scalar::X86Fp80, left, right), unit(left, right));
            let made_nan = is_nan(expected) && !is_nan(left) && !is_nan(right);
            let agree = result == expected || (is_nan(result) && is_nan(expected) && !made_nan);
            assert!(agree, "{left:x} {op:?} {right:x} = {result:x}, not {expected:x}");
        }
        let result = soft::square_root(Scalar::X86Fp80, right).unwrap();
        let expected = x87::square_root_of_right(0, right);
        assert!(result == expected || is_nan(right), "the root of {right:x} is {result:x}, not {expected:x}");
    }
}

#[test]
fn known_long_doubles_and_quads() {
    let memory = memory();
    let from_integer = |kind, number: u128| {
        bits_of(&cast(&memory, CastKind::SignedToFloat, &Value::integer(64, number), Type::Scalar(kind)).unwrap())
    };
    let (one, ten) = (from_integer(Scalar::X86Fp80, 1), from_integer(Scalar::X86Fp80, 10));
    assert_eq!(one, 0x3fff_8000_0000_0000_0000);
    assert_eq!(apply(BinaryOp::FloatDivide, Scalar::X86Fp80, one, ten), 0x3ffb_cccc_cccc_cccc_cccd);
    let two = from_integer(Scalar::Fp128, 2);
    let root = intrinsic(&memory, Intrinsic::SquareRoot, &[&float(Scalar::Fp128, two)], Type::Scalar(Scalar::Fp128));
    assert_eq!(bits_of(&root.unwrap()), 0x3fff_6a09_e667_f3bc_c908_b2fb_1366_ea95);
    let one = from_integer(Scalar::Fp128, 1);
    let third = apply(BinaryOp::FloatDivide, Scalar::Fp128, one, from_integer(Scalar::Fp128, 3));
    assert_eq!(third, 0x3ffd_5555_5555_5555_5555_5555_5555_5555);
    let minus = cast(&memory, CastKind::SignedToFloat, &Value::integer(32, u128::MAX), Type::Scalar(Scalar::X86Fp80));
    assert_eq!(bits_of(&minus.unwrap()), 0xbfff_8000_0000_0000_0000);
}

#[test]
fn conversions_to_integers_truncate_or_are_poison() {
    let (mut random, memory) = (Random(8), memory());
    for _ in 0..20_000 {
        let value = any_double(&mut random);
        for (bits, low, high) in [(8, -128.0, 127.0), (32, -2147483648.0, 2147483647.0)] {
            let result = cast(&memory, CastKind::FloatToSigned, &Value::float64(value), Type::integer(bits)).unwrap();
            let whole = value.trunc();
            let expected = match low <= whole && whole <= high {
                true => Value::integer(bits, whole as i64 as u128),
                false => Value::poison(Type::integer(bits)),
            };
            assert_eq!(result, expected, "{value:e}");
            let wide = cast(&memory, CastKind::FloatExtend, &Value::float64(value), Type::Scalar(Scalar::X86Fp80));
            let soft = cast(&memory, CastKind::FloatToSigned, &wide.unwrap(), Type::integer(bits));
            assert_eq!(soft, Ok(result), "by way of long double: {value:e}");
        }
        let saturated = intrinsic(&memory, Intrinsic::SaturatingFloatToUnsigned, &[&Value::float64(value)], Type::integer(64));
        assert_eq!(saturated, Ok(Value::integer(64, (value as u64).into())), "{value:e}");
        let saturated = intrinsic(&memory, Intrinsic::SaturatingFloatToSigned, &[&Value::float64(value)], Type::integer(64));
        assert_eq!(saturated, Ok(Value::integer(64, value as i64 as u128)), "{value:e}");
    }
}

#[test]
fn conversions_from_integers_round_to_nearest_even() {
    let (mut random, memory) = (Random(9), memory());
    for _ in 0..10_000 {
        let words = random.words(128);
        let number = u128::from(words[0]) | u128::from(words[1]) << 64;
        let value = Value::integer(128, number);
        let run = |kind, to| cast(&memory, kind, &value, Type::Scalar(to)).unwrap();
        assert_eq!(run(CastKind::UnsignedToFloat, Scalar::Double), Value::float64(number as f64));
        assert_eq!(run(CastKind::SignedToFloat, Scalar::Double), Value::float64(number as i128 as f64));
        assert_eq!(run(CastKind::UnsignedToFloat, Scalar::Float), Value::float32(number as f32));
        assert_eq!(run(CastKind::SignedToFloat, Scalar::Float), Value::float32(number as i128 as f32));
        let wide = cast(&memory, CastKind::SignExtend, &value, Type::integer(200)).unwrap();
        let by_wide = cast(&memory, CastKind::SignedToFloat, &wide, Type::Scalar(Scalar::Double));
        assert_eq!(by_wide, Ok(Value::float64(number as i128 as f64)));
        let back = cast(&memory, CastKind::FloatToSigned, &by_wide.unwrap(), Type::integer(200)).unwrap();
        let expected = cast(&memory, CastKind::FloatToSigned, &Value::float64(number as i128 as f64), Type::integer(129));
        let expected = cast(&memory, CastKind::SignExtend, &expected.unwrap(), Type::integer(200));
        assert_eq!(Ok(back), expected);
    }
}

#[test]
fn a_bit_far_below_decides_a_tie() {
    let memory = memory();
    // 2^199 + 2^146 lies halfway between two doubles, the lower one even.
    let convert = |lowest: u64| {
        let words = [lowest, 0, 1 << (146 - 128), 1 << (199 - 192)];
        let number = Value::Scalar(ScalarValue::WideInteger { bits: 200, words: words.into() });
        cast(&memory, CastKind::UnsignedToFloat, &number, Type::Scalar(Scalar::Double)).unwrap()
    };
    let lower = 2f64.powi(199);
    assert_eq!(convert(0), Value::float64(lower));
    assert_eq!(convert(1), Value::float64(lower.next_up()));
}

#[test]
fn comparisons_know_nan_and_both_zeros() {
    let (mut random, memory) = (Random(10), memory());
    for _ in 0..5_000 {
        let (left, right) = (any_double(&mut random), any_double(&mut random));
        for mask in 0..16u32 {
            let predicate =
                FloatPredicate { equal: mask & 1 != 0, greater: mask & 2 != 0, less: mask & 4 != 0, unordered: mask & 8 != 0 };
            let expected = predicate.equal && left == right
                || predicate.greater && left > right
                || predicate.less && left < right
                || predicate.unordered && (left.is_nan() || right.is_nan());
            for kind in [Scalar::Double, Scalar::X86Fp80, Scalar::Fp128] {
                let to = |value| match kind {
                    Scalar::Double => Value::float64(value),
                    _ => cast(&memory, CastKind::FloatExtend, &Value::float64(value), Type::Scalar(kind)).unwrap(),
                };
                let result = compare(&memory, Predicate::Float(predicate), &to(left), &to(right));
                assert_eq!(result, Ok(Value::boolean(expected)), "{left:e} {predicate:?} {right:e}");
            }
        }
    }
}

#[test]
fn functions_are_the_systems() {
    use Intrinsic::*;
    let (mut random, memory) = (Random(11), memory());
    type Function = fn(f64) -> f64;
    let functions: [(Intrinsic, Function); 15] = [
        (FloatAbsolute, f64::abs),
        (SquareRoot, f64::sqrt),
        (Floor, f64::floor),
        (Ceiling, f64::ceil),
        (FloatTruncate, f64::trunc),
        (Round, f64::round),
        (RoundEven, f64::round_ties_even),
        (Sine, f64::sin),
        (Cosine, f64::cos),
        (Tangent, f64::tan),
        (Exponential, f64::exp),
        (Exponential2, f64::exp2),
        (Logarithm, f64::ln),
        (Logarithm2, f64::log2),
        (Logarithm10, f64::log10),
    ];
    for _ in 0..3_000 {
        let value = any_double(&mut random);
        for (function, expected) in functions {
            let result = intrinsic(&memory, function, &[&Value::float64(value)], Type::Scalar(Scalar::Double)).unwrap();
            assert!(same(f64::from_bits(bits_of(&result) as u64), expected(value)), "{function:?} of {value:e}");
            if matches!(function, Floor | Ceiling | FloatTruncate | Round | RoundEven) {
                let long = Type::Scalar(Scalar::X86Fp80);
                let wide = cast(&memory, CastKind::FloatExtend, &Value::float64(value), long).unwrap();
                let rounded = intrinsic(&memory, function, &[&wide], long).unwrap();
                let back = cast(&memory, CastKind::FloatTruncate, &rounded, Type::Scalar(Scalar::Double)).unwrap();
                assert!(same(f64::from_bits(bits_of(&back) as u64), expected(value)), "{function:?} of {value:e}");
            }
        }
        let other = any_double(&mut random);
        let run = |function, arguments: &[&Value]| {
            let result = intrinsic(&memory, function, arguments, Type::Scalar(Scalar::Double)).unwrap();
            f64::from_bits(bits_of(&result) as u64)
        };
        let (left, right) = (Value::float64(value), Value::float64(other));
        assert!(same(run(Power, &[&left, &right]), value.powf(other)));
        assert!(same(run(CopySign, &[&left, &right]), value.copysign(other)));
        assert!(same(run(FusedMultiplyAdd, &[&left, &right, &left]), value.mul_add(other, value)));
        assert!(same(run(MultiplyAdd, &[&left, &right, &left]), value * other + value));
        assert!(run(FloatMin, &[&left, &right]) == value.min(other) || value.is_nan() && other.is_nan());
        assert!(run(FloatMax, &[&left, &right]) == value.max(other) || value.is_nan() && other.is_nan());
        let either = value.is_nan() || other.is_nan();
        assert_eq!(run(FloatMinimum, &[&left, &right]).is_nan(), either);
        assert_eq!(run(FloatMaximum, &[&left, &right]).is_nan(), either);
    }
    let run = |function, arguments: &[&Value]| intrinsic(&memory, function, arguments, Type::Scalar(Scalar::Double));
    assert_eq!(run(PowerInteger, &[&Value::float64(3.0), &Value::integer(32, 5)]), Ok(Value::float64(243.0)));
    let minus_two = Value::integer(32, -2i128 as u128);
    assert_eq!(run(PowerInteger, &[&Value::float64(4.0), &minus_two]), Ok(Value::float64(0.0625)));
    assert_eq!(run(LoadExponent, &[&Value::float64(3.0), &minus_two]), Ok(Value::float64(0.75)));
    let zeros = [Value::float64(0.0), Value::float64(-0.0)];
    assert_eq!(run(FloatMinimum, &[&zeros[0], &zeros[1]]), Ok(zeros[1].clone()));
    assert_eq!(run(FloatMaximum, &[&zeros[1], &zeros[0]]), Ok(zeros[0].clone()));
    let to_long = |function, value| intrinsic(&memory, function, &[&Value::float64(value)], Type::integer(64));
    assert_eq!(to_long(RoundToInteger, 2.5), Ok(Value::integer(64, 2)));
    assert_eq!(to_long(RoundHalfAwayToInteger, -2.5), Ok(Value::integer(64, -3i128 as u128)));
}

#[test]
fn classes_of_floats() {
    let memory = memory();
    let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
    let classes = [signalling, f64::NAN, f64::NEG_INFINITY, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
    for (index, value) in classes.into_iter().enumerate() {
        for bit in 0..10 {
            let mask = Value::integer(32, 1 << bit);
            let result = intrinsic(&memory, Intrinsic::IsFloatClass, &[&Value::float64(value), &mask], Type::BOOL);
            assert_eq!(result, Ok(Value::boolean(bit == index)), "{value:e} and class {bit}");
        }
    }
}
