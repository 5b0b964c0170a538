//! How memory is accessed: how many bytes, as which type, as addresses or as a number.
//!
//! # Definition   A load reads a number when its value consists of integers or floating-point numbers, it is not atomic, not in a stack slot by its name, and
//!                its function makes no address of what it computes from the value. A stack slot that is declared as a number, or consists of numbers, is no exception.
//! # Theorem      What is read as a number is not at hand as an address: of addresses in memory it has a residue (`arithmetic`), so that nothing is lost when
//!                somebody makes an address of it after all.
//! # Deviations   Without this, each counter that some imprecise pointer may reach holds addresses, and each sum of two of them more. Atomic accesses and
//!                stack slots are left out because compilers use integers there for whatever fits: atomic pointers, structures passed in registers.

use super::generate::Body;
use crate::program::describe::resolve;
use crate::program::{
    Access, AliasTypeId, CastKind, DebugTypeId, DebugTypeKind, Function, Operand, Operation, Program, RegisterId, Scalar,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub width: u32,
    pub alias: Option<AliasTypeId>,
    /// Of bytes without a type that were copied into something declared, or that it begins with: what it is declared as.
    pub declared: Option<DebugTypeId>,
    /// Of loads.
    pub is_number: bool,
}

impl Form {
    /// So many bytes, whatever they are.
    pub fn of(width: u32) -> Form {
        Form { width, alias: None, declared: None, is_number: false }
    }

    /// The same bytes after they have been copied into something declared: whoever reads them there says what they are.
    pub fn copied_into(self, declared: Option<DebugTypeId>) -> Form {
        Form { alias: None, declared, ..self }
    }
}

impl Body<'_> {
    /// How a load into a register reads memory.
    pub fn form_of_load(&self, access: &Access, address: Operand, value: RegisterId, width: u32) -> Form {
        let is_number = self.function.registers[value].ty.element().is_some_and(|scalar| scalar != Scalar::Pointer)
            && access.ordering.is_none()
            && !self.is_in_stack_slot(address)
            && !self.becomes_address[usize::from(value)];
        Form { alias: access.alias, is_number, ..Form::of(width) }
    }

    fn is_in_stack_slot(&self, address: Operand) -> bool {
        match self.definition(address) {
            Some(Operation::StackAllocate { .. }) => {
                !matches!(address, Operand::Register(slot) if self.holds_numbers[usize::from(slot)])
            }
            Some(Operation::Offset { base, .. }) => self.is_in_stack_slot(*base),
            _ => false,
        }
    }
}

/// By register: whether it is a stack slot whose declaration consists of numbers.
pub(super) fn slots_of_numbers(program: &Program, function: &Function) -> Vec<bool> {
    let mut holds_numbers = vec![false; function.registers.len()];
    for binding in function.bindings.iter().filter(|binding| binding.is_address) {
        if let (Operand::Register(slot), Some(ty)) = (binding.value, program.variables[binding.variable].ty) {
            holds_numbers[usize::from(slot)] = consists_of_numbers(program, ty, DEEPEST);
        }
    }
    holds_numbers
}

/// Structures in structures, beyond which debug information is damaged.
const DEEPEST: usize = 16;

fn consists_of_numbers(program: &Program, ty: DebugTypeId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_of_numbers = |ty: Option<DebugTypeId>| ty.is_some_and(|ty| consists_of_numbers(program, ty, depth));
    match resolve(program, ty).map(|(_, ty)| &ty.kind) {
        Some(DebugTypeKind::Base { .. }) => true,
        Some(DebugTypeKind::Array { element, .. }) => is_of_numbers(*element),
        Some(DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. }) => {
            !fields.is_empty() && fields.iter().all(|field| is_of_numbers(field.ty))
        }
        Some(DebugTypeKind::Pointer { .. } | DebugTypeKind::Function { .. } | DebugTypeKind::Alias { .. }) | None => false,
    }
}

/// By register: whether the function makes an address of what it computes from it.
pub(super) fn becomes_address(function: &Function) -> Vec<bool> {
    let mut becomes = vec![false; function.registers.len()];
    let mut open: Vec<Operand> = Vec::new();
    let (mut definitions, mut phis) = (vec![None; becomes.len()], vec![None; becomes.len()]);
    for block in &function.blocks {
        block.phis.iter().for_each(|phi| phis[usize::from(phi.result)] = Some(phi));
        for instruction in &block.instructions {
            if let Some(result) = instruction.result {
                definitions[usize::from(result)] = Some(&instruction.operation);
            }
            if let Operation::Cast { kind: CastKind::IntegerToPointer, value } = instruction.operation {
                open.push(value);
            }
        }
    }
    while let Some(operand) = open.pop() {
        let Operand::Register(register) = operand else { continue };
        if std::mem::replace(&mut becomes[usize::from(register)], true) {
            continue;
        }
        if let Some(phi) = phis[usize::from(register)] {
            open.extend(&phi.operands);
        }
        match definitions[usize::from(register)] {
            Some(Operation::Binary { left, right, .. }) => open.extend([*left, *right]),
            Some(Operation::Select { when_true, when_false, .. }) => open.extend([*when_true, *when_false]),
            Some(Operation::Cast { value, .. } | Operation::Freeze { value }) => open.push(*value),
            Some(Operation::Intrinsic { arguments, .. }) => open.extend(arguments),
            // Loads end here; what calls return, and what else computes, leaves residues.
            _ => {}
        }
    }
    becomes
}
