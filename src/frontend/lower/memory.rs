//! Loads, stores, atomics, stack objects.

use llvm_sys::LLVMAtomicOrdering::{self, *};
use llvm_sys::LLVMAtomicRMWBinOp::*;

use super::body::Body;
use super::llvm::Value;
use crate::program::{Access, Operation, Ordering, ReadModifyWriteOp, Scope};

impl Body<'_> {
    pub(super) fn allocate(&mut self, instruction: Value) {
        let ty = instruction.allocated_type();
        let layout = self.lowering.types.layout;
        let count = self.operand(instruction.operand(0));
        let align = instruction.align().max(1);
        self.define(instruction, Operation::StackAllocate { element_size: layout.size(ty), count, align });
    }

    pub(super) fn load(&mut self, instruction: Value) {
        let address = self.operand(instruction.operand(0));
        let access = self.access(instruction, instruction.operand(0), instruction.ordering());
        self.define(instruction, Operation::Load { address, access });
    }

    pub(super) fn store(&mut self, instruction: Value) {
        let value = self.operand(instruction.operand(0));
        let address = self.operand(instruction.operand(1));
        let access = self.access(instruction, instruction.operand(1), instruction.ordering());
        self.perform(Operation::Store { address, value, access });
    }

    pub(super) fn read_modify_write(&mut self, instruction: Value) {
        let op = match instruction.read_modify_write_op() {
            LLVMAtomicRMWBinOpXchg => ReadModifyWriteOp::Exchange,
            LLVMAtomicRMWBinOpAdd => ReadModifyWriteOp::Add,
            LLVMAtomicRMWBinOpSub => ReadModifyWriteOp::Subtract,
            LLVMAtomicRMWBinOpAnd => ReadModifyWriteOp::And,
            LLVMAtomicRMWBinOpNand => ReadModifyWriteOp::Nand,
            LLVMAtomicRMWBinOpOr => ReadModifyWriteOp::Or,
            LLVMAtomicRMWBinOpXor => ReadModifyWriteOp::Xor,
            LLVMAtomicRMWBinOpMax => ReadModifyWriteOp::SignedMax,
            LLVMAtomicRMWBinOpMin => ReadModifyWriteOp::SignedMin,
            LLVMAtomicRMWBinOpUMax => ReadModifyWriteOp::UnsignedMax,
            LLVMAtomicRMWBinOpUMin => ReadModifyWriteOp::UnsignedMin,
            LLVMAtomicRMWBinOpFAdd => ReadModifyWriteOp::FloatAdd,
            LLVMAtomicRMWBinOpFSub => ReadModifyWriteOp::FloatSubtract,
            LLVMAtomicRMWBinOpFMax => ReadModifyWriteOp::FloatMax,
            LLVMAtomicRMWBinOpFMin => ReadModifyWriteOp::FloatMin,
            LLVMAtomicRMWBinOpUIncWrap => ReadModifyWriteOp::IncrementWrap,
            LLVMAtomicRMWBinOpUDecWrap => ReadModifyWriteOp::DecrementWrap,
            LLVMAtomicRMWBinOpUSubCond => ReadModifyWriteOp::ConditionalSubtract,
            LLVMAtomicRMWBinOpUSubSat => ReadModifyWriteOp::SaturatingSubtract,
            // No C source makes these.
            LLVMAtomicRMWBinOpFMaximum | LLVMAtomicRMWBinOpFMinimum => return self.unknown(instruction),
        };
        let address = self.operand(instruction.operand(0));
        let value = self.operand(instruction.operand(1));
        let access = self.access(instruction, instruction.operand(0), instruction.ordering());
        self.define(instruction, Operation::ReadModifyWrite { op, address, value, access });
    }

    pub(super) fn compare_exchange(&mut self, instruction: Value) {
        let (address, expected, replacement) =
            (self.operand(instruction.operand(0)), self.operand(instruction.operand(1)), self.operand(instruction.operand(2)));
        let operation = Operation::CompareExchange {
            address,
            expected,
            replacement,
            access: self.access(instruction, instruction.operand(0), instruction.success_ordering()),
            failure: ordering(instruction.failure_ordering()).expect("a compare-exchange is atomic"),
            is_weak: instruction.is_weak(),
            success_offset: self.lowering.types.layout.offset(instruction.ty(), 1),
        };
        self.define(instruction, operation);
    }

    pub(super) fn fence(&mut self, instruction: Value) {
        let ordering = ordering(instruction.ordering()).expect("a fence has an ordering");
        self.perform(Operation::Fence { ordering, scope: scope(instruction) });
    }

    fn access(&mut self, instruction: Value, address: Value, order: LLVMAtomicOrdering) -> Access {
        let ordering = ordering(order);
        Access {
            ordering,
            scope: if ordering.is_some() { scope(instruction) } else { Scope::System },
            is_volatile: instruction.is_volatile(),
            align: instruction.align().max(1),
            alias: self.lowering.alias_type(instruction, address),
        }
    }
}

fn scope(instruction: Value) -> Scope {
    if instruction.is_single_thread() { Scope::SingleThread } else { Scope::System }
}

fn ordering(order: LLVMAtomicOrdering) -> Option<Ordering> {
    match order {
        LLVMAtomicOrderingNotAtomic => None,
        LLVMAtomicOrderingUnordered => Some(Ordering::Unordered),
        LLVMAtomicOrderingMonotonic => Some(Ordering::Relaxed),
        LLVMAtomicOrderingAcquire => Some(Ordering::Acquire),
        LLVMAtomicOrderingRelease => Some(Ordering::Release),
        LLVMAtomicOrderingAcquireRelease => Some(Ordering::AcquireRelease),
        LLVMAtomicOrderingSequentiallyConsistent => Some(Ordering::SequentiallyConsistent),
    }
}
