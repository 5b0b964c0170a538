//! Instructions, one by one: which part of lowering each opcode belongs to.

use llvm_sys::LLVMIntPredicate::*;
use llvm_sys::LLVMOpcode::{self, *};
use llvm_sys::LLVMRealPredicate;
use llvm_sys::LLVMTypeKind;

use super::body::Body;
use super::llvm::Value;
use crate::program::{ArithmeticFlags, BinaryOp, CastKind, FloatPredicate, IntegerPredicate, Operation, Predicate};

impl Body<'_> {
    pub(super) fn lower_instruction(&mut self, instruction: Value) {
        let opcode = instruction.opcode();
        if !is_terminator(opcode) && self.has_unsupported_operand(instruction) {
            return self.unknown(instruction);
        }
        if let Some(op) = binary_op(opcode) {
            return self.binary(instruction, opcode, op);
        }
        if let Some(kind) = cast_kind(opcode) {
            return self.cast(instruction, kind);
        }
        match opcode {
            // Phis wait until all blocks are there.
            LLVMPHI => {}
            LLVMFNeg => {
                let value = self.operand(instruction.operand(0));
                self.define(instruction, Operation::Negate { value });
            }
            LLVMICmp => {
                let predicate = Predicate::Integer(integer_predicate(instruction));
                self.compare(instruction, predicate);
            }
            LLVMFCmp => {
                let predicate = Predicate::Float(float_predicate(instruction.float_predicate()));
                self.compare(instruction, predicate);
            }
            LLVMSelect => self.select(instruction),
            LLVMFreeze => {
                let value = self.operand(instruction.operand(0));
                self.define(instruction, Operation::Freeze { value });
            }
            LLVMGetElementPtr => {
                let operation = self.offset(instruction);
                self.define(instruction, operation);
            }
            LLVMExtractValue => self.extract_value(instruction),
            LLVMInsertValue => self.insert_value(instruction),
            LLVMExtractElement => self.extract_lane(instruction),
            LLVMInsertElement => self.insert_lane(instruction),
            LLVMShuffleVector => self.shuffle(instruction),
            LLVMAlloca => self.allocate(instruction),
            LLVMLoad => self.load(instruction),
            LLVMStore => self.store(instruction),
            LLVMAtomicRMW => self.read_modify_write(instruction),
            LLVMAtomicCmpXchg => self.compare_exchange(instruction),
            LLVMFence => self.fence(instruction),
            LLVMVAArg => {
                let list = self.operand(instruction.operand(0));
                self.define(instruction, Operation::VariadicNext { list });
            }
            LLVMCall => self.call(instruction),
            _ if is_terminator(opcode) => self.terminator(instruction, opcode),
            // The block is entered only by an exception.
            LLVMLandingPad => self.define_unknown(instruction),
            LLVMCatchPad | LLVMCleanupPad | LLVMAddrSpaceCast | LLVMUserOp1 | LLVMUserOp2 => self.unknown(instruction),
            other => unreachable!("{other:?} is a binary operation or a cast"),
        }
    }

    /// Whether an operand has a type without a counterpart; metadata does not count, nor does what is called.
    fn has_unsupported_operand(&mut self, instruction: Value) -> bool {
        let count = match instruction.opcode() {
            LLVMCall => instruction.argument_count(),
            // Phis are lowered later, from the operands that could be.
            LLVMPHI => 0,
            _ => instruction.operand_count(),
        };
        (0..count).any(|index| {
            let ty = instruction.operand(index).ty();
            self.lowering.types.get(ty).is_none() && ty.kind() != LLVMTypeKind::LLVMMetadataTypeKind
        })
    }

    fn binary(&mut self, instruction: Value, opcode: LLVMOpcode, op: BinaryOp) {
        let mut flags = ArithmeticFlags::default();
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl => {
                flags.no_signed_wrap = instruction.no_signed_wrap();
                flags.no_unsigned_wrap = instruction.no_unsigned_wrap();
            }
            LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => flags.exact = instruction.exact(),
            // The other binary operations carry none of these promises; `disjoint` and those of floats are not used: a promise
            // that is forgotten makes fewer results poison, never another result.
            _ => {}
        }
        let left = self.operand(instruction.operand(0));
        let right = self.operand(instruction.operand(1));
        self.define(instruction, Operation::Binary { op, flags, left, right });
    }

    fn cast(&mut self, instruction: Value, kind: CastKind) {
        if self.value_type(instruction).is_none() {
            return self.unknown(instruction);
        }
        let value = self.operand(instruction.operand(0));
        self.define(instruction, Operation::Cast { kind, value });
    }

    fn compare(&mut self, instruction: Value, predicate: Predicate) {
        let left = self.operand(instruction.operand(0));
        let right = self.operand(instruction.operand(1));
        self.define(instruction, Operation::Compare { predicate, left, right });
    }

    fn select(&mut self, instruction: Value) {
        let condition = self.operand(instruction.operand(0));
        let when_true = self.operand(instruction.operand(1));
        let when_false = self.operand(instruction.operand(2));
        self.define(instruction, Operation::Select { condition, when_true, when_false });
    }
}

fn is_terminator(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMRet
            | LLVMBr
            | LLVMSwitch
            | LLVMIndirectBr
            | LLVMUnreachable
            | LLVMInvoke
            | LLVMCallBr
            | LLVMResume
            | LLVMCleanupRet
            | LLVMCatchRet
            | LLVMCatchSwitch
    )
}

fn binary_op(opcode: LLVMOpcode) -> Option<BinaryOp> {
    Some(match opcode {
        LLVMAdd => BinaryOp::Add,
        LLVMSub => BinaryOp::Subtract,
        LLVMMul => BinaryOp::Multiply,
        LLVMUDiv => BinaryOp::UnsignedDivide,
        LLVMSDiv => BinaryOp::SignedDivide,
        LLVMURem => BinaryOp::UnsignedRemainder,
        LLVMSRem => BinaryOp::SignedRemainder,
        LLVMShl => BinaryOp::ShiftLeft,
        LLVMLShr => BinaryOp::LogicalShiftRight,
        LLVMAShr => BinaryOp::ArithmeticShiftRight,
        LLVMAnd => BinaryOp::And,
        LLVMOr => BinaryOp::Or,
        LLVMXor => BinaryOp::Xor,
        LLVMFAdd => BinaryOp::FloatAdd,
        LLVMFSub => BinaryOp::FloatSubtract,
        LLVMFMul => BinaryOp::FloatMultiply,
        LLVMFDiv => BinaryOp::FloatDivide,
        LLVMFRem => BinaryOp::FloatRemainder,
        _ => return None,
    })
}

pub(super) fn cast_kind(opcode: LLVMOpcode) -> Option<CastKind> {
    Some(match opcode {
        LLVMTrunc => CastKind::Truncate,
        LLVMZExt => CastKind::ZeroExtend,
        LLVMSExt => CastKind::SignExtend,
        LLVMFPToUI => CastKind::FloatToUnsigned,
        LLVMFPToSI => CastKind::FloatToSigned,
        LLVMUIToFP => CastKind::UnsignedToFloat,
        LLVMSIToFP => CastKind::SignedToFloat,
        LLVMFPTrunc => CastKind::FloatTruncate,
        LLVMFPExt => CastKind::FloatExtend,
        LLVMPtrToInt | LLVMPtrToAddr => CastKind::PointerToInteger,
        LLVMIntToPtr => CastKind::IntegerToPointer,
        LLVMBitCast => CastKind::Bitcast,
        _ => return None,
    })
}

fn integer_predicate(instruction: Value) -> IntegerPredicate {
    match instruction.integer_predicate() {
        LLVMIntEQ => IntegerPredicate::Equal,
        LLVMIntNE => IntegerPredicate::NotEqual,
        LLVMIntUGT => IntegerPredicate::UnsignedGreater,
        LLVMIntUGE => IntegerPredicate::UnsignedGreaterEqual,
        LLVMIntULT => IntegerPredicate::UnsignedLess,
        LLVMIntULE => IntegerPredicate::UnsignedLessEqual,
        LLVMIntSGT => IntegerPredicate::SignedGreater,
        LLVMIntSGE => IntegerPredicate::SignedGreaterEqual,
        LLVMIntSLT => IntegerPredicate::SignedLess,
        LLVMIntSLE => IntegerPredicate::SignedLessEqual,
    }
}

/// LLVM numbers its predicates by the relations they allow: equal 1, greater 2, less 4, unordered 8.
fn float_predicate(predicate: LLVMRealPredicate) -> FloatPredicate {
    relations(predicate as u32)
}

pub(super) fn relations(bits: u32) -> FloatPredicate {
    FloatPredicate { equal: bits & 1 != 0, greater: bits & 2 != 0, less: bits & 4 != 0, unordered: bits & 8 != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_predicates_follow_their_numbers() {
        let less_or_equal = float_predicate(LLVMRealPredicate::LLVMRealOLE);
        assert_eq!(less_or_equal, FloatPredicate { equal: true, greater: false, less: true, unordered: false });
        let not_equal = float_predicate(LLVMRealPredicate::LLVMRealUNE);
        assert_eq!(not_equal, FloatPredicate { equal: false, greater: true, less: true, unordered: true });
    }
}
