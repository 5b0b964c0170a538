//! How memory is accessed: how many bytes, as which type, as addresses or as a number.
//!
//! # Definition   An access is one of a number when its value is an integer or a floating-point number, it is not atomic, it is not in a stack slot
//!                by its name, and its value is not made an address at once.
//! # Theorem      What was stored as an address and is read as a number is not at hand as an address: a number is computed with. It leaves a residue
//!                (`arithmetic`), so that nothing is lost when an address is made of it. Addresses that were stored as numbers (`uintptr_t`) are read as they are.
//! # Deviations   Without this, each counter that some imprecise pointer may reach holds addresses, and each sum of two of them more. Atomic accesses and
//!                stack slots are left out because compilers use integers there for whatever fits: atomic pointers, structures passed in registers.

use super::generate::Body;
use crate::program::{Access, AliasTypeId, CastKind, Function, Operand, Operation, RegisterId, Scalar, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Manner {
    pub width: u32,
    pub alias: Option<AliasTypeId>,
    pub is_number: bool,
}

impl Manner {
    /// So many bytes, whatever they are.
    pub fn of(width: u32) -> Manner {
        Manner { width, alias: None, is_number: false }
    }

    /// The same bytes after they have been copied by somebody who does not say what they are.
    pub fn untyped(self) -> Manner {
        Manner { alias: None, ..self }
    }
}

impl Body<'_> {
    /// How an instruction accesses memory at `address`; `value` is what it reads there.
    pub fn manner(&self, access: &Access, address: Operand, ty: Type, value: Option<RegisterId>, width: u32) -> Manner {
        let is_number = matches!(ty, Type::Scalar(scalar) if scalar != Scalar::Pointer)
            && access.ordering.is_none()
            && !self.is_in_stack_slot(address)
            && !value.is_some_and(|value| self.becomes_address[usize::from(value)]);
        Manner { width, alias: access.alias, is_number }
    }

    fn is_in_stack_slot(&self, address: Operand) -> bool {
        match self.definition(address) {
            Some(Operation::StackAllocate { .. }) => true,
            Some(Operation::Offset { base, .. }) => self.is_in_stack_slot(*base),
            _ => false,
        }
    }
}

/// By register: whether an address is made of the number in it.
pub(super) fn numbers_that_become_addresses(function: &Function) -> Vec<bool> {
    let mut becomes = vec![false; function.registers.len()];
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Operation::Cast { kind: CastKind::IntegerToPointer, value: Operand::Register(value) } = instruction.operation {
            becomes[usize::from(value)] = true;
        }
    }
    becomes
}
