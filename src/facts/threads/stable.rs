//! Memory that keeps its value: is what a loop loads as its bound the same in every iteration, and in a later loop?
//!
//! # Theorem      If every write that may touch the location stands in a function that runs once and is active when the loop begins, and cannot be
//!                reached from there, then nothing changes the location from the loop's beginning on.

use std::collections::BTreeSet;

use super::super::accesses::Position;
use super::input::is_outside;
use super::places::{Address, Base, Places};
use super::reach::Reach;
use super::types::ActivationId;
use crate::program::{BlockId, Function, FunctionId, Operand};

/// Whether nothing writes the cell once the activation has come to this block, which loads so many bytes from it.
pub(super) fn is_stable(
    places: &Places<'_>,
    (activation, operand, size): (ActivationId, Operand, u64),
    cell: &Address,
    block: BlockId,
) -> bool {
    let Base::Object(_) = cell.base else { return false };
    let reached = Reach::all(places.input, places.tree.activation(activation).function, operand);
    let is_outside = reached.is_empty() || reached.iter().any(|reach| is_outside(places.input, reach.location));
    let is_over = |writer: Position| is_over(places, writer.function, writer.block, activation, block);
    cell.terms.is_empty() && !is_outside && places.writers_of(&reached, size).all(is_over)
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
