//! Places: as what the memory behind an address, and a value, are declared.
//!
//! # Definition   A value has the types of the variables it is bound to, of the memory it is loaded from, of the result of the function that returned it. Memory has the type of the variable it lies in, or of what the pointer points to that leads
//!                there; all members of a union lie where it lies, and all elements of an array are one.
//! # Theorem      None: a pointer may point to something else than it says. Whoever asks must say so (`typed`).
//! # Deviations   Where registers are chosen from others without a name for the choice, and where an address is computed backwards, nothing is known.

use crate::program::describe::{pointee, resolve, size_of};
use crate::program::{
    AliasType, AliasTypeId, Callee, Constant, DebugTypeId, DebugTypeKind, Function, Operand, Operation, Program, RegisterId,
};

use super::declared::Declarations;

/// How far definitions are followed, and how deep types lie in one another.
const DEPTH: u32 = 16;

/// The declared types of what one function computes.
pub(super) struct Places<'a, 'p> {
    pub program: &'p Program,
    declarations: &'a Declarations<'p>,
    pub function: &'p Function,
    /// By register.
    definitions: Vec<Option<&'p Operation>>,
    /// By register: of variables that it holds, and of such whose address it is.
    held: Vec<Vec<DebugTypeId>>,
    addressed: Vec<Vec<DebugTypeId>>,
}

impl<'a, 'p> Places<'a, 'p> {
    pub fn new(program: &'p Program, declarations: &'a Declarations<'p>, function: &'p Function) -> Places<'a, 'p> {
        let count = function.registers.len();
        let (mut held, mut addressed) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for binding in &function.bindings {
            let of = if binding.is_address { &mut addressed } else { &mut held };
            if let Operand::Register(register) = binding.value {
                of[usize::from(register)].extend(program.variables[binding.variable].ty);
            }
        }
        let mut definitions = vec![None; count];
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(result) = instruction.result {
                definitions[usize::from(result)] = Some(&instruction.operation);
            }
        }
        Places { program, declarations, function, definitions, held, addressed }
    }

    /// Of a pointer, or of what else fills a pointer's bytes; empty where nothing is known.
    pub fn of_value(&self, value: Operand) -> Vec<DebugTypeId> {
        self.value(value, DEPTH)
    }

    /// Of a pointer in memory that is accessed so.
    pub fn of_access(&self, address: Operand, alias: Option<AliasTypeId>) -> Vec<DebugTypeId> {
        self.access(address, alias, DEPTH)
    }

    /// Of the variables that a register holds.
    pub fn held_by(&self, register: RegisterId) -> &[DebugTypeId] {
        &self.held[usize::from(register)]
    }

    /// Of what a register is loaded from, or of the result of the call that it is.
    pub fn of_definition(&self, register: RegisterId) -> Vec<DebugTypeId> {
        self.definition(register, DEPTH)
    }

    fn value(&self, value: Operand, depth: u32) -> Vec<DebugTypeId> {
        let (Operand::Register(register), Some(depth)) = (value, depth.checked_sub(1)) else { return Vec::new() };
        let held = &self.held[usize::from(register)];
        if !held.is_empty() {
            return held.clone();
        }
        self.definition(register, depth)
    }

    fn definition(&self, register: RegisterId, depth: u32) -> Vec<DebugTypeId> {
        match self.definitions[usize::from(register)] {
            Some(Operation::Load { address, access }) => self.access(*address, access.alias, depth),
            Some(Operation::Freeze { value }) => self.value(*value, depth),
            Some(Operation::Call { callee: Callee::Direct(callee), .. }) => {
                result_of(self.program, &self.program.functions[*callee]).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn access(&self, address: Operand, alias: Option<AliasTypeId>, depth: u32) -> Vec<DebugTypeId> {
        let members = alias.map(|alias| members_of_alias(self.program, self.declarations, alias)).unwrap_or_default();
        if !members.is_empty() {
            return members;
        }
        let mut found = Vec::new();
        for (ty, offset) in self.memory(address, depth) {
            types_at(self.program, ty, offset, &mut found);
        }
        found
    }

    /// What an address leads into, and how far.
    fn memory(&self, address: Operand, depth: u32) -> Vec<(DebugTypeId, u64)> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let register = match address {
            Operand::Constant(constant) => {
                let Constant::Global(global) = self.program.constants[constant] else { return Vec::new() };
                return self.program.globals[global].debug_type.map(|ty| (ty, 0)).into_iter().collect();
            }
            Operand::Register(register) => register,
        };
        let addressed = &self.addressed[usize::from(register)];
        if !addressed.is_empty() {
            return addressed.iter().map(|ty| (*ty, 0)).collect();
        }
        match self.definitions[usize::from(register)] {
            // Indices choose among elements of one type.
            Some(Operation::Offset { base, constant, .. }) if self.held[usize::from(register)].is_empty() => {
                let further = |(ty, offset): (DebugTypeId, u64)| Some((ty, offset.checked_add_signed(*constant)?));
                self.memory(*base, depth).into_iter().filter_map(further).collect()
            }
            Some(Operation::ThreadLocalAddress { global }) => {
                self.program.globals[*global].debug_type.map(|ty| (ty, 0)).into_iter().collect()
            }
            _ => {
                let pointers = self.value(address, depth).into_iter();
                pointers.filter_map(|ty| Some((pointee(self.program, ty)?, 0))).collect()
            }
        }
    }
}

pub(super) fn result_of(program: &Program, function: &Function) -> Option<DebugTypeId> {
    match &program.debug_types[function.debug_type?].kind {
        DebugTypeKind::Function { result, .. } => *result,
        _ => None,
    }
}

/// The types of a member that is accessed so: of all structures of its name, for files may call different ones alike; none if one of them has no such member.
pub(super) fn members_of_alias(program: &Program, declarations: &Declarations<'_>, alias: AliasTypeId) -> Vec<DebugTypeId> {
    let mut found = Vec::new();
    if let AliasType::Member { structure, offset, .. } = &program.alias_types[alias] {
        let tag = structure.strip_prefix("struct.").unwrap_or(structure);
        for ty in declarations.named(tag) {
            let mut of_one = Vec::new();
            types_at(program, *ty, *offset, &mut of_one);
            if of_one.is_empty() {
                return Vec::new();
            }
            found.extend(of_one);
        }
    }
    found
}

/// Adds the types of the pointers, and of what else has no parts, that begin there.
pub(super) fn types_at(program: &Program, ty: DebugTypeId, offset: u64, found: &mut Vec<DebugTypeId>) {
    add_types_at(program, ty, offset, DEPTH, found);
}

fn add_types_at(program: &Program, ty: DebugTypeId, offset: u64, depth: u32, found: &mut Vec<DebugTypeId>) {
    let (Some(depth), Some((_, content))) = (depth.checked_sub(1), resolve(program, ty)) else { return };
    // A pointer may lead to the first of many.
    let offset = if ends_open(program, &content.kind) { offset } else { offset.checked_rem(content.size).unwrap_or(offset) };
    match &content.kind {
        DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. } => {
            for field in fields {
                let Some(part) = field.ty else { continue };
                let begin = field.offset_bits / 8;
                // One without a length has all that follows.
                let size = Some(size_of(program, part)).filter(|size| *size > 0).unwrap_or(u64::MAX - begin);
                if (begin..begin + size).contains(&offset) {
                    add_types_at(program, part, offset - begin, depth, found);
                }
            }
        }
        DebugTypeKind::Array { element: Some(element), .. } => add_types_at(program, *element, offset, depth, found),
        _ if offset == 0 && !found.contains(&ty) => found.push(ty),
        _ => {}
    }
}

/// Whether it is a structure whose last member has no length.
fn ends_open(program: &Program, kind: &DebugTypeKind) -> bool {
    match kind {
        DebugTypeKind::Struct { fields, .. } => {
            fields.last().is_some_and(|last| last.ty.is_some_and(|ty| size_of(program, ty) == 0))
        }
        _ => false,
    }
}
