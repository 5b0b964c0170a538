//! Undef, poison, vectors, bytes, addresses and constants, by example.

use super::*;
use crate::explore::memory::{Fill, ObjectKind};
use crate::explore::value::Bytes;
use crate::program::{
    BlockId, CastKind, Constant, FunctionId, GlobalId, IntegerPredicate, Intrinsic, Predicate, Program, ReadModifyWriteOp, Type,
};

const I8: Type = Type::integer(8);
const I32: Type = Type::integer(32);
const PLAIN: ArithmeticFlags = ArithmeticFlags { no_signed_wrap: false, no_unsigned_wrap: false, exact: false };

fn byte(value: u128) -> Value {
    Value::integer(8, value)
}

fn vector(bits: u32, lanes: &[u128]) -> Value {
    Value::Vector(lanes.iter().map(|lane| ScalarValue::integer(bits, *lane)).collect())
}

#[test]
fn a_bit_field_in_fresh_memory_becomes_defined() {
    // load undef; and 0xf0; or 5; store
    let cleared = binary(BinaryOp::And, PLAIN, &Value::undef(I8), &byte(0xf0)).unwrap();
    assert_eq!(cleared, byte(0));
    assert_eq!(binary(BinaryOp::Or, PLAIN, &cleared, &byte(5)), Ok(byte(5)));
}

#[test]
fn poison_spreads_until_it_is_frozen_and_undef_does_not() {
    let memory = memory();
    let poison = Value::poison(I8);
    let flags = ArithmeticFlags { no_signed_wrap: true, ..PLAIN };
    let overflowed = binary(BinaryOp::Add, flags, &byte(127), &byte(1)).unwrap();
    assert_eq!(overflowed, poison);
    assert_eq!(binary(BinaryOp::And, PLAIN, &poison, &byte(0)), Ok(poison.clone()));
    let equal = Predicate::Integer(IntegerPredicate::Equal);
    assert_eq!(compare(&memory, equal, &poison, &byte(0)), Ok(Value::poison(Type::BOOL)));
    assert_eq!(compare(&memory, equal, &Value::undef(I8), &byte(0)), Ok(Value::boolean(true)));
    assert_eq!(cast(&memory, CastKind::ZeroExtend, &poison, I32), Ok(Value::poison(I32)));
    assert_eq!(cast(&memory, CastKind::ZeroExtend, &Value::undef(I8), I32), Ok(Value::integer(32, 0)));
    assert_eq!(cast(&memory, CastKind::Truncate, &Value::undef(I32), I8), Ok(Value::undef(I8)));
    assert_eq!(freeze(&poison), Ok(byte(0)));
    assert_eq!(freeze(&Value::undef(Type::POINTER)), Ok(Value::pointer(Pointer::NULL)));
    assert_eq!(select(&Value::poison(Type::BOOL), &byte(1), &byte(2)), Ok(poison.clone()));
    assert_eq!(select(&Value::boolean(true), &byte(1), &poison), Ok(byte(1)));
    assert!(!truth(&Value::undef(Type::BOOL)) && used_undefined(&Value::undef(Type::BOOL)));
    assert!(truth(&Value::boolean(true)) && !used_undefined(&Value::boolean(true)));
    assert!(as_pointer(&Value::poison(Type::POINTER)).is_err() && as_u128(&poison).is_err());
    assert_eq!(as_i128(&byte(0xff)), Ok(-1));
    assert_eq!(intrinsic(&memory, Intrinsic::SignedMax, &[&byte(1), &poison], I8), Ok(poison));
}

#[test]
fn vectors_go_lane_by_lane() {
    let memory = memory();
    let (left, right) = (vector(8, &[1, 250, 3]), vector(8, &[10, 10, 10]));
    let flags = ArithmeticFlags { no_unsigned_wrap: true, ..PLAIN };
    let sum = binary(BinaryOp::Add, flags, &left, &right).unwrap();
    let poison = ScalarValue::Poison(Scalar::Integer(8));
    assert_eq!(sum, Value::Vector([ScalarValue::integer(8, 11), poison.clone(), ScalarValue::integer(8, 13)].into()));
    let less = compare(&memory, Predicate::Integer(IntegerPredicate::UnsignedLess), &left, &right).unwrap();
    assert_eq!(less, vector(1, &[1, 0, 1]));
    assert_eq!(select(&less, &left, &right), Ok(vector(8, &[1, 10, 3])));
    assert_eq!(extract_lane(&left, &Value::integer(64, 1)), Ok(byte(250)));
    assert_eq!(extract_lane(&left, &Value::integer(64, 3)), Ok(Value::poison(I8)));
    assert_eq!(insert_lane(&left, &byte(9), &Value::integer(32, 2)), Ok(vector(8, &[1, 250, 9])));
    assert_eq!(insert_lane(&left, &byte(9), &Value::integer(32, 7)), Ok(Value::poison(left.type_of())));
    let mixed = shuffle(&left, &right, &[Some(5), None, Some(0), Some(1)]).unwrap();
    let lane = |value| ScalarValue::integer(8, value);
    assert_eq!(mixed, Value::Vector([lane(10), poison, lane(1), lane(250)].into()));
    assert_eq!(
        cast(&memory, CastKind::SignExtend, &left, Type::Vector { lanes: 3, element: Scalar::Integer(16) }),
        Ok(vector(16, &[1, 0xfffa, 3]))
    );
}

#[test]
fn reductions_join_all_lanes() {
    let memory = memory();
    let run = |function, arguments: &[&Value], ty| intrinsic(&memory, function, arguments, ty);
    let lanes = vector(8, &[200, 100, 5]);
    for (function, expected) in [
        (Intrinsic::ReduceAdd, 49),
        (Intrinsic::ReduceMultiply, 200 * 100 * 5),
        (Intrinsic::ReduceAnd, 200 & 100 & 5),
        (Intrinsic::ReduceOr, 200 | 100 | 5),
        (Intrinsic::ReduceXor, 200 ^ 100 ^ 5),
        (Intrinsic::ReduceSignedMax, 100),
        (Intrinsic::ReduceSignedMin, 200),
        (Intrinsic::ReduceUnsignedMax, 200),
        (Intrinsic::ReduceUnsignedMin, 5),
    ] {
        assert_eq!(run(function, &[&lanes], I8), Ok(byte(expected)), "{function:?}");
    }
    let floats = Value::Vector([1.5, -2.0, 4.0].map(ScalarValue::float64).into());
    let ty = Type::Scalar(Scalar::Double);
    assert_eq!(run(Intrinsic::ReduceFloatAdd, &[&Value::float64(10.0), &floats], ty), Ok(Value::float64(13.5)));
    assert_eq!(run(Intrinsic::ReduceFloatMultiply, &[&Value::float64(2.0), &floats], ty), Ok(Value::float64(-24.0)));
    assert_eq!(run(Intrinsic::ReduceFloatMax, &[&floats], ty), Ok(Value::float64(4.0)));
    assert_eq!(run(Intrinsic::ReduceFloatMin, &[&floats], ty), Ok(Value::float64(-2.0)));
    assert_eq!(run(Intrinsic::SignMask, &[&lanes], I32), Ok(Value::integer(32, 0b001)));
    assert_eq!(run(Intrinsic::SignMask, &[&floats], I32), Ok(Value::integer(32, 0b010)));
    assert_eq!(run(Intrinsic::IsConstant, &[&lanes], Type::BOOL), Ok(Value::boolean(false)));
}

#[test]
fn bitcasts_keep_bits() {
    let memory = memory();
    let bitcast = |value: &Value, ty| cast(&memory, CastKind::Bitcast, value, ty).unwrap();
    assert_eq!(bitcast(&Value::float32(1.0), I32), Value::integer(32, 0x3f80_0000));
    assert_eq!(bitcast(&Value::integer(64, 0x3ff0_0000_0000_0000), Type::Scalar(Scalar::Double)), Value::float64(1.0));
    assert_eq!(bitcast(&vector(8, &[1, 2, 3, 4]), I32), Value::integer(32, 0x0403_0201));
    assert_eq!(bitcast(&vector(1, &[1, 0, 0, 1, 1, 0, 0, 0]), I8), byte(0b0001_1001));
    assert_eq!(bitcast(&vector(1, &[1, 0, 1, 0]), Type::integer(4)), Value::integer(4, 0b0101));
    assert_eq!(
        bitcast(&byte(0b110), Type::Vector { lanes: 8, element: Scalar::Integer(1) }),
        vector(1, &[0, 1, 1, 0, 0, 0, 0, 0])
    );
    let wide = bitcast(&vector(64, &[1, 2, 3, 4]), Type::integer(256));
    assert_eq!(wide, Value::Scalar(ScalarValue::WideInteger { bits: 256, words: [1, 2, 3, 4].into() }));
    assert_eq!(bitcast(&Value::undef(I32), Type::Scalar(Scalar::Float)), Value::undef(Type::Scalar(Scalar::Float)));
    assert!(cast(&memory, CastKind::Bitcast, &byte(1), I32).is_err());
}

#[test]
fn addresses_keep_their_object() {
    for pointer_bytes in [4u32, 8] {
        let mut memory = Memory::new(&DataLayout { pointer_bytes, triple: String::new() });
        let object = memory.allocate(ObjectKind::Internal("test"), 64, 16, Fill::Zero).unwrap();
        let base = Value::pointer(object);
        let minus_one = Value::integer(32, u128::from(u32::MAX));
        let moved = offset(&memory, &base, 4, [(&minus_one, 24), (&Value::integer(64, 1), 10)]).unwrap();
        assert_eq!(moved, Value::pointer(object.plus(4u64.wrapping_sub(24) + 10)));
        let null_minus_one = offset(&memory, &Value::pointer(Pointer::NULL), -1, []).unwrap();
        let top = if pointer_bytes == 4 { u64::from(u32::MAX) } else { u64::MAX };
        assert_eq!(null_minus_one, Value::pointer(Pointer { address: top, object: None }));
        let indices = vector(64, &[0, 2]);
        let gathered = offset(&memory, &base, 0, [(&indices, 8)]).unwrap();
        assert_eq!(gathered, Value::Vector([object, object.plus(16)].map(ScalarValue::Pointer).into()));
        assert_eq!(offset(&memory, &base, 0, [(&Value::poison(I32), 8)]), Ok(Value::poison(Type::POINTER)));

        let word = Type::integer(pointer_bytes * 8);
        let number = cast(&memory, CastKind::PointerToInteger, &Value::pointer(object.plus(5)), word).unwrap();
        assert_eq!(cast(&memory, CastKind::IntegerToPointer, &number, Type::POINTER), Ok(Value::pointer(object.plus(5))));
        let mask = Value::integer(pointer_bytes * 8, !15);
        let masked = intrinsic(&memory, Intrinsic::PointerMask, &[&Value::pointer(object.plus(21)), &mask], Type::POINTER);
        assert_eq!(masked, Ok(Value::pointer(object.plus(16))));
        let size = |pointer: Pointer, zero_if_unknown, null_is_unknown| {
            let (zero, null) = (Value::boolean(zero_if_unknown), Value::boolean(null_is_unknown));
            let arguments = [&Value::pointer(pointer), &zero, &null, &Value::boolean(true)];
            intrinsic(&memory, Intrinsic::ObjectSize, &arguments, I32).unwrap()
        };
        assert_eq!(size(object.plus(24), false, false), Value::integer(32, 40));
        assert_eq!(size(object.plus(65), false, false), Value::integer(32, 0));
        assert_eq!(size(Pointer::NULL, false, true), Value::integer(32, u128::MAX));
        assert_eq!(size(Pointer::NULL, true, true), Value::integer(32, 0));
    }
}

#[test]
fn parts_of_aggregates_are_read_and_written() {
    let mut memory = memory();
    let object = memory.allocate(ObjectKind::Internal("test"), 8, 8, Fill::Zero).unwrap();
    let stray = Value::pointer(object.plus(1000));
    let empty = Value::undef(Type::Aggregate { size: 24 });
    let with_pointer = insert_bytes(&memory, &empty, 8, &stray).unwrap();
    let full = insert_bytes(&memory, &with_pointer, 0, &Value::integer(32, 7)).unwrap();
    assert_eq!(extract_bytes(&memory, &full, 0, I32), Ok(Value::integer(32, 7)));
    assert_eq!(extract_bytes(&memory, &full, 8, Type::POINTER), Ok(stray.clone()));
    assert_eq!(extract_bytes(&memory, &full, 16, I32), Ok(Value::undef(I32)));
    let inner = extract_bytes(&memory, &full, 8, Type::Aggregate { size: 16 }).unwrap();
    assert_eq!(extract_bytes(&memory, &inner, 0, Type::POINTER), Ok(stray));
    let cut = insert_bytes(&memory, &full, 15, &byte(0)).unwrap();
    let Value::Aggregate(bytes) = &cut else { panic!("an aggregate stays one") };
    assert!(bytes.pointers.is_empty());
    assert!(extract_bytes(&memory, &full, 22, I32).is_err() && insert_bytes(&memory, &full, 24, &byte(0)).is_err());
    let frozen = freeze(&full).unwrap();
    assert_eq!(extract_bytes(&memory, &frozen, 16, I32), Ok(Value::integer(32, 0)));
}

#[test]
fn atomic_updates() {
    use ReadModifyWriteOp::*;
    let memory = memory();
    for (op, old, operand, new) in [
        (Exchange, 3, 9, 9),
        (Add, 250, 10, 4),
        (Subtract, 3, 5, 254),
        (And, 12, 10, 8),
        (Nand, 12, 10, 0xf7),
        (Or, 12, 10, 14),
        (Xor, 12, 10, 6),
        (SignedMax, 200, 5, 5),
        (SignedMin, 200, 5, 200),
        (UnsignedMax, 200, 5, 200),
        (UnsignedMin, 200, 5, 5),
        (IncrementWrap, 4, 5, 5),
        (IncrementWrap, 5, 5, 0),
        (DecrementWrap, 0, 5, 5),
        (DecrementWrap, 9, 5, 5),
        (DecrementWrap, 4, 5, 3),
        (ConditionalSubtract, 9, 5, 4),
        (ConditionalSubtract, 4, 5, 4),
        (SaturatingSubtract, 4, 5, 0),
    ] {
        assert_eq!(read_modify_write(&memory, op, &byte(old), &byte(operand)), Ok(byte(new)), "{op:?}");
    }
    let float = |op, old, operand| read_modify_write(&memory, op, &Value::float64(old), &Value::float64(operand));
    assert_eq!(float(FloatAdd, 1.0, 2.0), Ok(Value::float64(3.0)));
    assert_eq!(float(FloatSubtract, 1.0, 2.0), Ok(Value::float64(-1.0)));
    assert_eq!(float(FloatMax, 1.0, f64::NAN), Ok(Value::float64(1.0)));
    assert_eq!(float(FloatMin, 1.0, 2.0), Ok(Value::float64(1.0)));
}

struct Placed;

impl Addresses for Placed {
    fn global(&self, _: GlobalId) -> Pointer {
        Pointer { address: 0x2_0000, object: Some(crate::explore::value::ObjectId(1)) }
    }

    fn function(&self, _: FunctionId) -> Pointer {
        Pointer { address: 0x3_0000, object: Some(crate::explore::value::ObjectId(2)) }
    }

    fn block(&self, _: FunctionId, _: BlockId) -> Pointer {
        Pointer { address: 0x4_0000, object: Some(crate::explore::value::ObjectId(3)) }
    }
}

#[test]
fn constants_have_values() {
    let mut program = Program::default();
    let five = program.constants.intern(Constant::integer(32, 5));
    let global = program.constants.intern(Constant::Global(GlobalId::from(0)));
    let lanes = program.constants.intern(Constant::Vector { element: Scalar::Integer(32), lanes: vec![five, five] });
    let elements = vec![(0, five), (8, global), (16, lanes)];
    let aggregate = program.constants.intern(Constant::Aggregate { size: 32, elements });
    let zero = program.constants.intern(Constant::Zero(Type::Aggregate { size: 3 }));
    let wide = program.constants.intern(Constant::WideInteger { bits: 200, words: vec![7] });
    assert_eq!(constant(&program, lanes, &Placed), vector(32, &[5, 5]));
    assert_eq!(constant(&program, zero, &Placed), Value::Aggregate(Box::new(Bytes::zero(3))));
    let words = [7, 0, 0, 0].into();
    assert_eq!(constant(&program, wide, &Placed), Value::Scalar(ScalarValue::WideInteger { bits: 200, words }));
    let Value::Aggregate(bytes) = constant(&program, aggregate, &Placed) else { panic!("an aggregate is one") };
    assert_eq!(bytes.pointers, [(8, crate::explore::value::ObjectId(1))]);
    assert_eq!(bytes.data[..12], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
    let undefined: Vec<usize> = (0..32).filter(|at| !bytes.defined[*at]).collect();
    assert_eq!(undefined, [4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31]);
}
