//! Which pointers are certainly not null, so that a branch on it goes one way.
//!
//! # Theorem      The address of a variable is not null, nor is one that lies some way from another address (C17 6.5.6p8), nor one through which memory has been accessed.
//! # Proof        Of the last one: the register is assigned on all ways to the access, so a way from its latest assignment to the branch without the access would make one
//!                from the entry.
//! # Misses       What callees access, and what was tested before.

use super::places::{Places, Value};
use super::tree::Point;
use super::types::ActivationId;
use super::written::is_on_all_ways;
use crate::program::{BlockId, Constant, Instruction, Operand, Operation, RegisterId};

impl Places<'_> {
    /// Whether an operand is not null whenever a block of an activation is executed.
    pub fn is_never_null(&self, activation: ActivationId, block: BlockId, operand: Operand) -> bool {
        self.is_not_null_at(Point { activation, block, index: 0 }, operand)
    }

    fn is_not_null_at(&self, point: Point, operand: Operand) -> bool {
        match self.value(point.activation, operand) {
            Some(Value::Constant(id)) => match self.input.program.constants[id] {
                // One that is declared elsewhere may be weak.
                Constant::Global(global) => !self.input.program.globals[global].is_external,
                _ => false,
            },
            Some(Value::Register(of, register)) => {
                let Some(at) = self.points_around(point).into_iter().find(|at| at.activation == of) else { return false };
                let function = self.tree.activation(of).function;
                let definitions = &self.relevant.bodies[&function].definitions;
                let is_counted = match definitions.operation(self.input.function(function), register) {
                    Some(Operation::StackAllocate { .. }) => true,
                    // Programs take the address of a first member before they know whether there is an object.
                    Some(Operation::Offset { base, constant: 0, terms, .. }) if terms.is_empty() => {
                        *base != operand && self.is_not_null_at(at, *base)
                    }
                    Some(Operation::Offset { in_bounds, .. }) => *in_bounds,
                    _ => false,
                };
                is_counted || self.is_accessed_before(at, register)
            }
            None => false,
        }
    }

    /// Whether memory is accessed through a register on all ways to a point of its activation.
    fn is_accessed_before(&self, point: Point, register: RegisterId) -> bool {
        let id = self.tree.activation(point.activation).function;
        let (function, body) = (self.input.function(id), &self.relevant.bodies[&id]);
        let is_meant = |address: Operand| match address {
            Operand::Register(address) if address == register => true,
            Operand::Register(address) => matches!(
                body.definitions.operation(function, address),
                Some(Operation::Offset { base, .. }) if *base == Operand::Register(register)
            ),
            Operand::Constant(_) => false,
        };
        let accesses = |instruction: &Instruction| match &instruction.operation {
            Operation::Load { address, .. } | Operation::Store { address, .. } => is_meant(*address),
            _ => false,
        };
        function.blocks.iter_enumerated().any(|(block, content)| {
            let end = if block == point.block { point.index } else { content.instructions.len() };
            content.instructions[..end].iter().any(accesses) && is_on_all_ways(function, block, |end, _| end == point.block)
        })
    }
}
