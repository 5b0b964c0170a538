//! Intrinsics of the x86 family that have a meaning in a program.

use super::body::Body;
use super::intrinsic::KnownIntrinsic;
use super::llvm::Value;
use crate::program::{
    ArithmeticFlags, BinaryOp, CastKind, IntegerPredicate, Intrinsic, Operand, Operation, Ordering, Predicate, Scalar, Scope,
    Type,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Processor {
    Fence(Ordering),
    /// `bzhi`: the bits from an index on become zero.
    ZeroHighBits,
    /// `bextr`: a range of bits, given by start and length in one number.
    ExtractBits,
    /// Every lane by the same count; past the width the result is that of shifting everything out.
    ShiftLanes(BinaryOp),
}

pub fn by_name(name: &str) -> KnownIntrinsic {
    match name {
        "sse2.pause" | "sse2.clflush" | "clflushopt" | "clwb" => KnownIntrinsic::Dropped,
        "sse2.mfence" => KnownIntrinsic::Processor(Processor::Fence(Ordering::SequentiallyConsistent)),
        "sse2.lfence" => KnownIntrinsic::Processor(Processor::Fence(Ordering::Acquire)),
        "sse.sfence" => KnownIntrinsic::Processor(Processor::Fence(Ordering::Release)),
        "sse2.pmovmskb.128" | "avx2.pmovmskb" | "sse.movmsk.ps" | "sse2.movmsk.pd" | "avx.movmsk.ps.256"
        | "avx.movmsk.pd.256" => KnownIntrinsic::Pure(Intrinsic::SignMask),
        "rdtsc" => KnownIntrinsic::CycleCounter,
        "bmi.bzhi.32" | "bmi.bzhi.64" => KnownIntrinsic::Processor(Processor::ZeroHighBits),
        "bmi.bextr.32" | "bmi.bextr.64" => KnownIntrinsic::Processor(Processor::ExtractBits),
        _ => match shift(name) {
            Some(op) => KnownIntrinsic::Processor(Processor::ShiftLanes(op)),
            None => KnownIntrinsic::Target,
        },
    }
}

/// `sse2.psrli.q`, `avx2.psra.d`, …
fn shift(name: &str) -> Option<BinaryOp> {
    let (family, rest) = name.split_once('.')?;
    let (operation, lane) = rest.split_once('.')?;
    if !matches!(family, "sse2" | "avx2") || !matches!(lane, "w" | "d" | "q") {
        return None;
    }
    match operation {
        "pslli" | "psll" => Some(BinaryOp::ShiftLeft),
        "psrli" | "psrl" => Some(BinaryOp::LogicalShiftRight),
        "psrai" | "psra" => Some(BinaryOp::ArithmeticShiftRight),
        _ => None,
    }
}

impl Body<'_> {
    pub(super) fn processor_call(&mut self, call: Value, processor: Processor) {
        match processor {
            Processor::Fence(ordering) => self.perform(Operation::Fence { ordering, scope: Scope::System }),
            Processor::ZeroHighBits => {
                let (value, index) = (self.argument(call, 0), self.argument(call, 1));
                let ty = self.type_of(value);
                let byte = self.number(ty, 0xff);
                let count = self.arithmetic(ty, BinaryOp::And, index, byte);
                let (condition, masked) = self.low_bits(ty, value, count);
                self.define(call, Operation::Select { condition, when_true: masked, when_false: value });
            }
            Processor::ExtractBits => {
                let (value, control) = (self.argument(call, 0), self.argument(call, 1));
                let ty = self.type_of(value);
                let byte = self.number(ty, 0xff);
                let start = self.arithmetic(ty, BinaryOp::And, control, byte);
                let eight = self.number(ty, 8);
                let upper = self.arithmetic(ty, BinaryOp::LogicalShiftRight, control, eight);
                let length = self.arithmetic(ty, BinaryOp::And, upper, byte);
                let shifted = self.shifted_right(ty, value, start);
                let (condition, masked) = self.low_bits(ty, shifted, length);
                self.define(call, Operation::Select { condition, when_true: masked, when_false: shifted });
            }
            Processor::ShiftLanes(op) => self.shift_lanes(call, op),
        }
    }

    fn shift_lanes(&mut self, call: Value, op: BinaryOp) {
        let (value, mut count) = (self.argument(call, 0), self.argument(call, 1));
        let ty = self.type_of(value);
        let Type::Vector { lanes, element: element @ Scalar::Integer(bits) } = ty else { return self.unknown(call) };
        if let Type::Vector { .. } = self.type_of(count) {
            // The count is the low half of a vector.
            let halves = Type::Vector { lanes: 2, element: Scalar::Integer(64) };
            if self.type_of(count) != halves {
                count = self.emit(halves, Operation::Cast { kind: CastKind::Bitcast, value: count });
            }
            let lane = self.integer(32, 0);
            count = self.emit(Type::integer(64), Operation::ExtractLane { vector: count, lane });
        }
        let count_type = self.type_of(count);
        let width = self.number(count_type, u128::from(bits));
        let predicate = Predicate::Integer(IntegerPredicate::UnsignedLess);
        let in_range = self.emit(Type::BOOL, Operation::Compare { predicate, left: count, right: width });
        let last = self.number(count_type, u128::from(bits - 1));
        let count = self.emit(count_type, Operation::Select { condition: in_range, when_true: count, when_false: last });
        let Type::Scalar(Scalar::Integer(count_bits)) = count_type else { return self.unknown(call) };
        let kind = if count_bits > bits { CastKind::Truncate } else { CastKind::ZeroExtend };
        let count =
            if count_bits == bits { count } else { self.emit(Type::Scalar(element), Operation::Cast { kind, value: count }) };
        let counts = self.splat(count, lanes);
        let shifted = self.arithmetic(ty, op, value, counts);
        // An arithmetic shift by the whole width is one by all bits but the sign.
        let when_false = if op == BinaryOp::ArithmeticShiftRight { shifted } else { self.number(ty, 0) };
        self.define(call, Operation::Select { condition: in_range, when_true: shifted, when_false });
    }

    fn arithmetic(&mut self, ty: Type, op: BinaryOp, left: Operand, right: Operand) -> Operand {
        self.emit(ty, Operation::Binary { op, flags: ArithmeticFlags::default(), left, right })
    }

    /// Whether `count` is less than the width, and then the low `count` bits of `value`.
    fn low_bits(&mut self, ty: Type, value: Operand, count: Operand) -> (Operand, Operand) {
        let in_range = self.is_in_range(ty, count);
        let one = self.number(ty, 1);
        let power = self.arithmetic(ty, BinaryOp::ShiftLeft, one, count);
        let mask = self.arithmetic(ty, BinaryOp::Subtract, power, one);
        (in_range, self.arithmetic(ty, BinaryOp::And, value, mask))
    }

    /// Zero when everything is shifted out.
    fn shifted_right(&mut self, ty: Type, value: Operand, count: Operand) -> Operand {
        let condition = self.is_in_range(ty, count);
        let when_true = self.arithmetic(ty, BinaryOp::LogicalShiftRight, value, count);
        let when_false = self.number(ty, 0);
        self.emit(ty, Operation::Select { condition, when_true, when_false })
    }

    fn is_in_range(&mut self, ty: Type, count: Operand) -> Operand {
        let Type::Scalar(Scalar::Integer(bits)) = ty else { panic!("bits are counted in an integer") };
        let width = self.number(ty, u128::from(bits));
        let predicate = Predicate::Integer(IntegerPredicate::UnsignedLess);
        self.emit(Type::BOOL, Operation::Compare { predicate, left: count, right: width })
    }
}
