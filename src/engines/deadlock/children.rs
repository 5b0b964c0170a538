//! Joins of one's own children: threads that wait for threads that they have created themselves.
//!
//! # Definition   A join is one of a child if its handle is read from variables of the joining thread's stack that no other thread reaches, and into
//!                which nothing but the creation of a thread ever writes.
//! # Theorem      A cycle whose members all wait for the next one in such a join is no deadlock: each has created the next one, and nobody is
//!                created by those that it has created. (Only the thread that owns a variable writes to it, so it made the creation that wrote the
//!                handle.)

use std::collections::{BTreeMap, BTreeSet};

use super::signals::effects;
use crate::facts::accesses::Action;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts};
use crate::models::{BoundModels, Effect};
use crate::program::{FunctionId, Operand, Operation, Program, SiteId};

/// The sites of all joins that wait for a child of whoever joins.
pub fn joins_of_children(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>) -> BTreeSet<SiteId> {
    let mut joins: BTreeMap<SiteId, BTreeSet<AbstractObjectId>> = BTreeMap::new();
    let reachable = || program.functions.iter_enumerated().filter(|(id, _)| facts.points_to.is_reachable(*id));
    for (function, body) in reachable() {
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            let Operation::Call { arguments, .. } = &instruction.operation else { continue };
            for effect in effects(models, facts, instruction) {
                let Effect::Join { handle, .. } = effect else { continue };
                let handle = arguments.get(*handle).map(|argument| argument.value);
                let kept = handle.map_or(BTreeSet::new(), |handle| own_variables(program, facts, function, handle));
                joins.entry(instruction.site).or_default().extend(kept);
            }
        }
    }
    joins.retain(|_, variables| !variables.is_empty());
    if joins.is_empty() {
        return BTreeSet::new();
    }
    let variables: BTreeSet<AbstractObjectId> = joins.values().flatten().copied().collect();
    let others = written_otherwise(program, models, facts, &variables);
    joins.into_iter().filter(|(_, variables)| variables.is_disjoint(&others)).map(|(site, _)| site).collect()
}

/// The variables that a handle is read from, if they are all on the stack of the thread that reads, and no other thread's business.
fn own_variables(program: &Program, facts: &Facts<'_>, function: FunctionId, handle: Operand) -> BTreeSet<AbstractObjectId> {
    let Operand::Register(register) = handle else { return BTreeSet::new() };
    let mut instructions = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    let Some(Operation::Load { address, .. }) =
        instructions.find(|instruction| instruction.result == Some(register)).map(|instruction| &instruction.operation)
    else {
        return BTreeSet::new();
    };
    let variables: BTreeSet<AbstractObjectId> =
        facts.points_to.pointees(function, *address).map(|location| location.object).collect();
    let is_own = |variable: &AbstractObjectId| {
        let kind = &facts.points_to.object(*variable).kind;
        matches!(kind, AbstractObjectKind::StackSlot { .. }) && !facts.escape.is_shared(*variable)
    };
    if variables.iter().all(is_own) { variables } else { BTreeSet::new() }
}

/// The variables, of these, that something else than the creation of a thread writes to.
fn written_otherwise(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    variables: &BTreeSet<AbstractObjectId>,
) -> BTreeSet<AbstractObjectId> {
    let mut found = BTreeSet::new();
    for (function, body) in program.functions.iter_enumerated() {
        for (block, content) in body.blocks.iter_enumerated() {
            for (index, instruction) in content.instructions.iter().enumerate() {
                let accesses = facts.accesses.at(function, block, index).iter();
                for access in accesses.filter(|access| access.action.writes() && access.action != Action::End) {
                    let locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
                    let hit = locations.iter().map(|location| location.object).filter(|object| variables.contains(object));
                    let mut hit = hit.peekable();
                    let creates =
                        || effects(models, facts, instruction).iter().any(|effect| matches!(effect, Effect::Spawn { .. }));
                    if hit.peek().is_some() && !creates() {
                        found.extend(hit);
                    }
                }
            }
        }
    }
    found
}
