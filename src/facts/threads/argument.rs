//! Arguments that tell the instances of a thread apart: how far are those of two instances that run at the same time?
//!
//! # Theorem      If one loop creates all instances that may overlap, one in each iteration, and the argument grows by d with the loop's counter, two
//!                of them are at least d apart. If the argument points c bytes into an object of s bytes that the same iteration has allocated, the
//!                s − c bytes from there on are no other instance's. So it is with a function that returns nothing but what it allocates.
//!                Two threads that are created with two constants, or at two places of objects that exist once, have different arguments.
//! # Deviations   A counter that wraps, and an allocation that fails, are not thought of: neither gives an address that can be used.

use super::super::loops::{Definition, constant};
use super::input::{Called, Input};
use super::places::{Address, Base};
use super::relation::Order;
use super::sweep::{Progression, once_within, progression};
use super::tree::{Creation, Point};
use super::types::ThreadId;
use super::walk::Walk;
use crate::models::{AllocationResult, Effect, SizeSource};
use crate::program::{Function, Instruction, Operand, Operation, TerminatorKind};

/// How far the arguments of two instances of a thread are apart, in bytes or units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub least: u64,
    /// Each argument points into an object that was allocated for this one creation: no other thread's does.
    pub is_allocated: bool,
}

pub(super) fn distances(walk: &Walk<'_>, order: &Order) -> Vec<Option<Distance>> {
    (0..walk.places.tree.threads.len()).map(|index| distance(walk, order, ThreadId::from(index))).collect()
}

/// The argument of all instances of a thread, where it is one number or one place.
pub(super) fn fixed(walk: &Walk<'_>) -> Vec<Option<(Base, i64)>> {
    let of_thread = |creations: &Vec<Creation>| {
        let [creation] = creations[..] else { return None };
        if walk.places.tree.activation(creation.point.activation).is_cut || walk.has_given_up {
            return None;
        }
        let argument = walk.places.thread_argument(creation.point)?;
        let address = walk.places.address(creation.point.activation, argument)?;
        let is_fixed = address.terms.is_empty() && !matches!(address.base, Base::Register(..));
        is_fixed.then_some((address.base, address.constant))
    };
    walk.places.tree.creations.iter().map(of_thread).collect()
}

fn distance(walk: &Walk<'_>, order: &Order, thread: ThreadId) -> Option<Distance> {
    let [creation] = walk.places.tree.creations[thread.index()][..] else { return None };
    let creator = walk.places.tree.activation(creation.point.activation);
    if creator.is_cut || walk.has_given_up {
        return None;
    }
    let argument = walk.places.thread_argument(creation.point)?;
    let address = walk.places.address(creation.point.activation, argument)?;
    let allocated = allocated(walk, &address, creation.point).map(|least| Distance { least, is_allocated: true });
    let counted = || counted(walk, order, thread, &address, creation).map(|turns| turns.stride.unsigned_abs());
    allocated.or_else(|| counted().map(|least| Distance { least, is_allocated: false }))
}

/// How the argument changes from turn to turn of the one loop that creates all instances which may overlap.
pub(super) fn counted(
    walk: &Walk<'_>,
    order: &Order,
    thread: ThreadId,
    address: &Address,
    creation: Creation,
) -> Option<Progression> {
    let progression = progression(&walk.places, address, creation.point, true)?;
    // Instances of two executions of the loop may have the same argument: they must not overlap.
    let activation = walk.places.tree.activation(progression.activation);
    let record = walk.records[progression.activation.index()].as_ref()?;
    let one = walk.places.relevant.bodies[&activation.function].loops.get(progression.in_loop);
    let predecessors = &walk.places.input.function(activation.function).blocks[one.header].predecessors;
    let entries = predecessors.iter().filter(|from| !one.blocks.contains(from));
    let mut phases = entries.filter_map(|from| record.phases.get(from)).filter_map(|changes| changes.last());
    let is_alone = phases.all(|(_, phase)| walk.phases.live(*phase).binary_search(&thread).is_err());
    (is_alone && !order.overlaps_beyond(thread, creation.creator)).then_some(progression)
}

/// The rest of an object that is allocated anew for each creation.
fn allocated(walk: &Walk<'_>, address: &Address, point: Point) -> Option<u64> {
    let (Base::Register(activation, register), []) = (address.base, &address.terms[..]) else { return None };
    let here = walk.places.tree.activation(activation);
    let body = &walk.places.relevant.bodies[&here.function];
    let Some(Definition::Instruction { block, index }) = body.definitions.get(register) else { return None };
    let at = once_within(&walk.places, point, activation)?;
    let is_same_turn = !body.is_wild && body.loops.innermost(block) == body.loops.innermost(at.block);
    let size = allocation_size(walk.places.input, walk.places.input.instruction(here.function, block, index))?;
    size.checked_sub(u64::try_from(address.constant).ok()?).filter(|rest| is_same_turn && *rest > 0)
}

/// How many functions lie between a call and the allocation that it makes.
const MOST_WRAPPERS: usize = 3;

/// The size of the object that an instruction, or a function that it calls and that returns nothing else, allocates.
fn allocation_size(input: Input<'_>, instruction: &Instruction) -> Option<u64> {
    match allocated_by(input, instruction, MOST_WRAPPERS)? {
        Size::Known(size) => Some(size),
        Size::Given(argument) => u64::try_from(constant(input.program, argument)?).ok(),
    }
}

/// How many bytes are allocated.
enum Size {
    Known(u64),
    /// As many as an operand of the instruction's function says.
    Given(Operand),
}

fn allocated_by(input: Input<'_>, instruction: &Instruction, wrappers: usize) -> Option<Size> {
    let Operation::Call { .. } = instruction.operation else { return None };
    let given = |position: usize| Input::argument(instruction, position);
    let number = |position: usize| u64::try_from(constant(input.program, given(position)?)?).ok();
    let called = input.called(instruction);
    let model = match called[..] {
        [Called::Library(model)] => model,
        [Called::Body(wrapper)] if wrappers > 0 => {
            return match allocated_by(input, returned_by(input.function(wrapper))?, wrappers - 1)? {
                Size::Given(Operand::Register(register)) => {
                    let parameters = &input.function(wrapper).parameters;
                    let position = parameters.iter().position(|parameter| parameter.register == register)?;
                    Some(Size::Given(given(position)?))
                }
                size => Some(size),
            };
        }
        _ => return None,
    };
    model.effects.iter().find_map(|effect| match effect {
        Effect::Allocate { size, result: AllocationResult::Returned, .. } => match size {
            SizeSource::Constant(size) => Some(Size::Known(*size)),
            SizeSource::Argument(position) => Some(Size::Given(given(*position)?)),
            SizeSource::Product(left, right) => Some(Size::Known(number(*left)?.checked_mul(number(*right)?)?)),
            SizeSource::String(_) | SizeSource::Unknown => None,
        },
        _ => None,
    })
}

/// The one instruction whose result a function returns, whichever way it ends.
fn returned_by(function: &Function) -> Option<&Instruction> {
    let ends = function.blocks.iter().filter_map(|block| match block.terminator.kind {
        TerminatorKind::Return(value) => Some(value),
        _ => None,
    });
    let mut ends = ends.peekable();
    let first = *ends.peek()?;
    let Some(Operand::Register(register)) = first else { return None };
    let mut instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    if !ends.all(|end| end == first) {
        return None;
    }
    instructions.find(|instruction| instruction.result == Some(register))
}
