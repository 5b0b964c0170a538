//! Memory that keeps its value: is what a loop loads as its bound the same in every iteration, and in a later loop?
//!
//! # Theorem      If every write that may touch the location stands in a function that runs once and is active when the loop begins, and cannot be
//!                reached from there, then nothing changes the location from the loop's beginning on.

use std::collections::BTreeSet;

use super::super::points_to::Location;
use super::places::{Address, Base, Places};
use super::relevant::{Called, is_outside};
use super::types::ActivationId;
use crate::program::{BlockId, Function, FunctionId, Operand, Operation};

/// Whether nothing writes the cell once the activation has come to this block, which loads it.
pub(super) fn is_stable(places: &Places<'_>, activation: ActivationId, operand: Operand, cell: &Address, block: BlockId) -> bool {
    let input = places.input;
    let Base::Object(_) = cell.base else { return false };
    if !cell.terms.is_empty() {
        return false;
    }
    let locations: Vec<Location> = input.points_to.pointees(places.tree.activation(activation).function, operand).collect();
    if locations.is_empty() || locations.iter().any(|location| is_outside(input, *location)) {
        return false;
    }
    let writes = |id: FunctionId| writing_blocks(places, id, &locations);
    let defined =
        input.program.functions.keys().filter(|id| input.points_to.is_reachable(*id) && input.function(*id).is_defined());
    defined.into_iter().all(|id| writes(id).into_iter().all(|writing| is_over(places, id, writing, activation, block)))
}

/// The blocks of a function that may write one of the locations.
fn writing_blocks(places: &Places<'_>, id: FunctionId, locations: &[Location]) -> BTreeSet<BlockId> {
    let input = places.input;
    let function = input.function(id);
    // The widest value that is loaded as a bound.
    let width = 16;
    let touches = |operand: Operand, size: Option<u64>| {
        input.points_to.pointees(id, operand).any(|written| {
            locations.iter().any(|location| match size {
                Some(size) => input.points_to.may_alias(written, size, *location, width),
                None => written.object == location.object,
            })
        })
    };
    let mut blocks = BTreeSet::new();
    for (block, body) in function.blocks.iter_enumerated() {
        let writes =
            body.instructions.iter().any(|instruction| match (input.written(function, instruction), &instruction.operation) {
                (Some((address, size)), _) => touches(address, size),
                (None, Operation::Call { arguments, .. }) => {
                    let is_code = input.called(instruction).iter().all(|called| matches!(called, Called::Body(_)));
                    arguments.iter().any(|argument| (!is_code || argument.by_value.is_some()) && touches(argument.value, None))
                }
                _ => false,
            });
        if writes {
            blocks.insert(block);
        }
    }
    blocks
}

/// Whether the block of a function is never executed once the loop has begun.
fn is_over(places: &Places<'_>, id: FunctionId, block: BlockId, activation: ActivationId, header: BlockId) -> bool {
    let (mut current, mut at) = (activation, header);
    loop {
        let here = places.tree.activation(current);
        if here.function == id {
            let body = &places.relevant.bodies[&id];
            return here.is_once && !body.is_wild && places.once.runs_once(id) && !reaches(places.input.function(id), at, block);
        }
        match here.caller {
            Some((point, _)) => (current, at) = (point.activation, point.block),
            None => return false,
        }
    }
}

fn reaches(function: &Function, from: BlockId, to: BlockId) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        open.extend(function.blocks[block].terminator.kind.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    false
}
