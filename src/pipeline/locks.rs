//! How many locks a program has at most, for the statistics: the places that it may hand to functions that take a lock.
//!
//! A place is an abstract object and an offset: an element of an array whose index is not known is one with all the others.

use std::collections::BTreeSet;

use crate::facts::{AbstractObjectKind, Facts, Location};
use crate::models::{BoundModels, Effect};
use crate::program::{Operation, Program};

pub fn count(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>) -> u64 {
    let mut places: BTreeSet<Location> = BTreeSet::new();
    for caller in facts.call_graph.reachable() {
        let instructions = program.functions[*caller].blocks.iter().flat_map(|block| &block.instructions);
        for instruction in instructions {
            let Operation::Call { arguments, .. } = &instruction.operation else { continue };
            let callees = facts.points_to.callees(instruction.site).iter().filter_map(|callee| models[*callee]);
            for effect in callees.flat_map(|model| &model.effects) {
                let Effect::Acquire { lock, .. } = effect else { continue };
                let argument = arguments.get(*lock);
                places.extend(argument.iter().flat_map(|argument| facts.points_to.pointees(*caller, argument.value)));
            }
        }
    }
    let is_memory = |place: &&Location| facts.points_to.object(place.object).kind != AbstractObjectKind::Unknown;
    places.iter().filter(is_memory).count() as u64
}
