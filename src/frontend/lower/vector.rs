//! Lanes of vectors.

use super::body::Body;
use super::llvm::Value;
use crate::program::{Constant, Operand, Operation, Type};

impl Body<'_> {
    pub(super) fn extract_lane(&mut self, instruction: Value) {
        let vector = self.operand(instruction.operand(0));
        let lane = self.operand(instruction.operand(1));
        self.define(instruction, Operation::ExtractLane { vector, lane });
    }

    pub(super) fn insert_lane(&mut self, instruction: Value) {
        let vector = self.operand(instruction.operand(0));
        let value = self.operand(instruction.operand(1));
        let lane = self.operand(instruction.operand(2));
        self.define(instruction, Operation::InsertLane { vector, value, lane });
    }

    pub(super) fn shuffle(&mut self, instruction: Value) {
        let left = self.operand(instruction.operand(0));
        let right = self.operand(instruction.operand(1));
        self.define(instruction, Operation::Shuffle { left, right, mask: instruction.shuffle_mask() });
    }

    /// `llvm.vector.extract`: consecutive lanes from a constant index on.
    pub(super) fn extract_subvector(&mut self, instruction: Value) {
        let Some(Type::Vector { lanes, .. }) = self.value_type(instruction) else { return self.unknown(instruction) };
        let start = instruction.operand(1).integer_value() as u32;
        let left = self.operand(instruction.operand(0));
        let right = self.poison_like(left);
        self.define(instruction, Operation::Shuffle { left, right, mask: (start..start + lanes).map(Some).collect() });
    }

    /// `llvm.vector.insert`: consecutive lanes from a constant index on are replaced.
    pub(super) fn insert_subvector(&mut self, instruction: Value) {
        let Some(whole @ Type::Vector { lanes, .. }) = self.value_type(instruction) else { return self.unknown(instruction) };
        let start = instruction.operand(2).integer_value() as u32;
        let left = self.operand(instruction.operand(0));
        let part = self.operand(instruction.operand(1));
        let Type::Vector { lanes: part_lanes, .. } = self.type_of(part) else { return self.unknown(instruction) };
        let padding = self.poison_like(part);
        let widen = (0..lanes).map(|lane| (lane < part_lanes).then_some(lane)).collect();
        let wide = self.emit(whole, Operation::Shuffle { left: part, right: padding, mask: widen });
        let mask = (0..lanes)
            .map(|lane| Some(if (start..start + part_lanes).contains(&lane) { lanes + lane - start } else { lane }))
            .collect();
        self.define(instruction, Operation::Shuffle { left, right: wide, mask });
    }

    pub(super) fn reverse_lanes(&mut self, instruction: Value) {
        let Some(Type::Vector { lanes, .. }) = self.value_type(instruction) else { return self.unknown(instruction) };
        let left = self.operand(instruction.operand(0));
        let right = self.poison_like(left);
        self.define(instruction, Operation::Shuffle { left, right, mask: (0..lanes).rev().map(Some).collect() });
    }

    fn poison_like(&mut self, operand: Operand) -> Operand {
        let ty = self.type_of(operand);
        self.constant(Constant::Poison(ty))
    }
}
