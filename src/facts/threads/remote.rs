//! Threads that are joined by others than their creators: a handle in a global variable, which was found to be there.
//!
//! # Definition   A join is certain if its handle was read from a global variable and compared with 0 on the only way to the join, the variable is 0 at first, and
//!                nothing writes to it but one creation, which makes one thread, once in a run.
//! # Theorem      What is read and is not 0 is the handle of that thread, so after the join the thread has ended, and is never created again. So what its creator
//!                does before it creates the thread is before all that follows the join.
//! # Why 0        Who joins before there is a handle joins no thread: that is undefined, but the library may just say so, and the thread goes on.

use std::collections::{BTreeMap, BTreeSet};

use super::super::points_to::{AbstractObjectKind, Location, Offset};
use super::input::{Called, Input, is_outside, stored_handle};
use super::tree::Tree;
use super::types::ThreadId;
use crate::models::{Attempt, Effect};
use crate::program::{
    BlockId, Constant, Function, FunctionId, Instruction, IntegerPredicate, Operand, Operation, Predicate, SiteId, TerminatorKind,
};

/// By site of a join: the one thread that it certainly joins.
#[derive(Default)]
pub(super) struct CertainJoins {
    by_site: BTreeMap<SiteId, ThreadId>,
}

impl CertainJoins {
    pub fn of(input: Input<'_>, tree: &Tree) -> CertainJoins {
        let mut by_site = BTreeMap::new();
        for (id, function) in input.program.functions.iter_enumerated().filter(|(id, _)| input.points_to.is_reachable(*id)) {
            for (block, content) in function.blocks.iter_enumerated() {
                for instruction in &content.instructions {
                    let found = joined_variable(input, id, block, instruction)
                        .and_then(|variable| only_creation(input, variable))
                        .and_then(|creation| only_thread(tree, creation));
                    by_site.extend(found.map(|thread| (instruction.site, thread)));
                }
            }
        }
        CertainJoins { by_site }
    }

    pub fn at(&self, join: SiteId) -> Option<ThreadId> {
        self.by_site.get(&join).copied()
    }

    pub fn threads(&self) -> BTreeSet<ThreadId> {
        self.by_site.values().copied().collect()
    }
}

/// The variable that a join takes its handle from, if that is one, and the handle is not 0.
fn joined_variable(input: Input<'_>, id: FunctionId, block: BlockId, instruction: &Instruction) -> Option<Location> {
    let Operation::Call { .. } = &instruction.operation else { return None };
    let function = input.function(id);
    let called = input.called(instruction);
    let [Called::Library(model)] = called[..] else { return None };
    let handle = model.effects.iter().find_map(|effect| match effect {
        Effect::Join { handle, attempt: Attempt::Blocking, .. } => Input::argument(instruction, *handle),
        _ => None,
    })?;
    let Operation::Load { address, access } = &defined(function, handle)?.operation else { return None };
    if access.is_volatile || !is_not_zero(input, function, block, handle) {
        return None;
    }
    let mut locations = input.points_to.pointees(id, *address);
    let (Some(location), None) = (locations.next(), locations.next()) else { return None };
    let (AbstractObjectKind::Global(global), Offset::At(at)) = (&input.points_to.object(location.object).kind, location.offset)
    else {
        return None;
    };
    let (global, size) = (&input.program.globals[*global], u64::from(input.program.layout.pointer_bytes));
    let is_zero = (at..at + size).all(|at| global.bytes.get(at as usize).is_none_or(|byte| *byte == 0))
        && global.relocations.iter().all(|relocation| relocation.offset + size <= at || at + size <= relocation.offset);
    (is_zero && !global.is_external && !is_outside(input, location)).then_some(location)
}

/// Whether an operand was compared with 0 on the only way to a block, and differs.
fn is_not_zero(input: Input<'_>, function: &Function, block: BlockId, operand: Operand) -> bool {
    let mut at = block;
    // Each step is to another block, unless the way is a circle that nothing enters.
    for _ in 0..function.blocks.len() {
        let [before] = function.blocks[at].predecessors[..] else { return false };
        let terminator = &function.blocks[before].terminator.kind;
        if let TerminatorKind::Branch { condition, when_true, when_false } = terminator
            && when_true != when_false
            && let Some(Operation::Compare { predicate: Predicate::Integer(predicate), left, right }) =
                defined(function, *condition).map(|instruction| &instruction.operation)
        {
            let is_unequal = match predicate {
                IntegerPredicate::NotEqual => *when_true == at,
                IntegerPredicate::Equal => *when_false == at,
                _ => false,
            };
            let is_meant = |operand_of: Operand, zero: Operand| value_of(function, operand_of) == operand && is_zero(input, zero);
            if is_unequal && (is_meant(*left, *right) || is_meant(*right, *left)) {
                return true;
            }
        }
        at = before;
    }
    false
}

fn is_zero(input: Input<'_>, operand: Operand) -> bool {
    match operand {
        Operand::Constant(constant) => {
            matches!(input.program.constants[constant], Constant::Null | Constant::Integer { value: 0, .. })
        }
        Operand::Register(_) => false,
    }
}

/// What an operand was before it was taken for an address.
fn value_of(function: &Function, operand: Operand) -> Operand {
    match defined(function, operand).map(|instruction| &instruction.operation) {
        Some(Operation::Cast { kind: crate::program::CastKind::IntegerToPointer, value }) => *value,
        _ => operand,
    }
}

fn defined(function: &Function, operand: Operand) -> Option<&Instruction> {
    let Operand::Register(register) = operand else { return None };
    function.blocks.iter().flat_map(|block| &block.instructions).find(|instruction| instruction.result == Some(register))
}

/// The one instruction that writes to a variable, if that creates a thread and stores its handle there.
fn only_creation(input: Input<'_>, variable: Location) -> Option<SiteId> {
    let size = u64::from(input.program.layout.pointer_bytes);
    let mut creations: BTreeSet<SiteId> = BTreeSet::new();
    for (id, function) in input.program.functions.iter_enumerated().filter(|(id, _)| input.points_to.is_reachable(*id)) {
        let touches = |operand: Operand, width: Option<u64>| {
            input.points_to.pointees(id, operand).any(|written| match width {
                Some(width) => input.points_to.may_alias(written, width, variable, size),
                // Anywhere in the object, and behind a pointer from outside in all that code outside knows.
                None => input.points_to.may_alias(Location { offset: Offset::Any, ..written }, size, variable, size),
            })
        };
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            match (input.written(function, instruction), &instruction.operation) {
                (Some((address, width)), _) if touches(address, width) => return None,
                (None, Operation::Call { arguments, .. }) => {
                    let called = input.called(instruction);
                    let is_code = called.iter().all(|called| matches!(called, Called::Body(_)));
                    let handle = stored_handle(&called);
                    for (position, argument) in arguments.iter().enumerate() {
                        if handle == Some(position) && touches(argument.value, Some(size)) {
                            creations.insert(instruction.site);
                        } else if handle != Some(position) && !is_code && touches(argument.value, None) {
                            return None;
                        }
                    }
                }
                // What writes nothing, or elsewhere.
                _ => {}
            }
        }
    }
    let first = creations.first().copied()?;
    (creations.len() == 1).then_some(first)
}

/// The one thread that an instruction creates, once in a run.
fn only_thread(tree: &Tree, creation: SiteId) -> Option<ThreadId> {
    let is_created_here = |thread: &ThreadId| tree.threads[thread.index()].site() == Some(creation);
    let mut created = (0..tree.threads.len()).map(ThreadId::from).filter(is_created_here);
    let (Some(thread), None) = (created.next(), created.next()) else { return None };
    let known = &tree.threads[thread.index()];
    (!known.is_many && !known.is_cut && tree.creations[thread.index()].len() == 1).then_some(thread)
}
