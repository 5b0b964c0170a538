//! Constants that take instructions to compute: constant expressions, thread-local addresses, aggregates that hold these.

use llvm_sys::LLVMOpcode;
use llvm_sys::LLVMValueKind::*;

use super::body::Body;
use super::constant::aggregate_length;
use super::llvm::Value;
use crate::program::{ArithmeticFlags, BinaryOp, Constant, Operand, Operation, Type};

impl Body<'_> {
    pub(super) fn constant_operand(&mut self, value: Value) -> Operand {
        if let Some(leaf) = self.lowering.leaf(value) {
            return Operand::Constant(leaf);
        }
        match value.kind() {
            LLVMGlobalVariableValueKind if value.is_thread_local() => match self.lowering.globals.get(&value) {
                Some(&global) => self.emit(Type::POINTER, Operation::ThreadLocalAddress { global }),
                None => self.unknown_operand(value),
            },
            LLVMGlobalAliasValueKind => self.operand(value.aliasee()),
            LLVMConstantExprValueKind => self.expression(value),
            LLVMConstantArrayValueKind | LLVMConstantStructValueKind => self.built_aggregate(value),
            LLVMConstantVectorValueKind => self.built_vector(value),
            _ => self.unknown_operand(value),
        }
    }

    fn expression(&mut self, value: Value) -> Operand {
        let Some(ty) = self.value_type(value) else { return self.unknown_operand(value) };
        let opcode = value.constant_opcode();
        if opcode == LLVMOpcode::LLVMGetElementPtr {
            let operation = self.offset(value);
            return self.emit(ty, operation);
        }
        if let Some(kind) = super::instruction::cast_kind(opcode) {
            let inner = self.operand(value.operand(0));
            return self.emit(ty, Operation::Cast { kind, value: inner });
        }
        // The promises of a constant expression (`nsw`, …) cannot be read and are not needed: it is evaluated as it stands.
        let op = match opcode {
            LLVMOpcode::LLVMAdd => BinaryOp::Add,
            LLVMOpcode::LLVMSub => BinaryOp::Subtract,
            LLVMOpcode::LLVMMul => BinaryOp::Multiply,
            LLVMOpcode::LLVMXor => BinaryOp::Xor,
            LLVMOpcode::LLVMExtractElement => {
                let (vector, lane) = (self.operand(value.operand(0)), self.operand(value.operand(1)));
                return self.emit(ty, Operation::ExtractLane { vector, lane });
            }
            LLVMOpcode::LLVMInsertElement => {
                let (vector, element) = (self.operand(value.operand(0)), self.operand(value.operand(1)));
                let lane = self.operand(value.operand(2));
                return self.emit(ty, Operation::InsertLane { vector, value: element, lane });
            }
            LLVMOpcode::LLVMShuffleVector => {
                let (left, right) = (self.operand(value.operand(0)), self.operand(value.operand(1)));
                return self.emit(ty, Operation::Shuffle { left, right, mask: value.shuffle_mask() });
            }
            _ => return self.unknown_operand(value),
        };
        let (left, right) = (self.operand(value.operand(0)), self.operand(value.operand(1)));
        self.emit(ty, Operation::Binary { op, flags: ArithmeticFlags::default(), left, right })
    }

    fn built_aggregate(&mut self, value: Value) -> Operand {
        let ty = value.ty();
        let Some(result) = self.value_type(value) else { return self.unknown_operand(value) };
        let mut aggregate = self.constant(Constant::Undef(result));
        for index in 0..aggregate_length(ty) {
            let Some(element) = value.aggregate_element(index) else { continue };
            let (offset, _) = self.lowering.types.part(ty, &[index]);
            let element = self.operand(element);
            aggregate = self.emit(result, Operation::InsertBytes { aggregate, offset, value: element });
        }
        aggregate
    }

    fn built_vector(&mut self, value: Value) -> Operand {
        let Some(result @ Type::Vector { lanes, .. }) = self.value_type(value) else { return self.unknown_operand(value) };
        let mut vector = self.constant(Constant::Undef(result));
        for lane in 0..lanes {
            let Some(element) = value.aggregate_element(lane) else { continue };
            let element = self.operand(element);
            let lane = self.integer(32, u128::from(lane));
            vector = self.emit(result, Operation::InsertLane { vector, value: element, lane });
        }
        vector
    }
}
