//! Lock parameters: through which parameters does a function find its locks?
//!
//! A wrapper names a lock by its parameter. Where several locks may come that way, what a caller gives is part of the context, so that each caller's lock
//! is its own inside the wrapper, too.

use std::collections::BTreeSet;

use typed_index_collections::TiVec;

use super::action::Action;
use super::skeleton::{EventKind, Skeletons, Target};
use crate::facts::{Facts, Offset};
use crate::program::{FunctionId, Operand, Operation, Program, RegisterId};

/// By function: the positions of its lock parameters, ascending.
pub fn find(program: &Program, facts: &Facts<'_>, skeletons: &Skeletons) -> TiVec<FunctionId, Vec<usize>> {
    let mut found: TiVec<FunctionId, BTreeSet<usize>> = program.functions.iter().map(|_| BTreeSet::new()).collect();
    // Callees before callers; inside a cycle until nothing changes.
    for component in facts.call_graph.components() {
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for function in component.iter().filter(|function| skeletons[**function].is_changing) {
                let used = used_in(program, facts, skeletons, &found, *function);
                if found[*function] != used {
                    found[*function] = used;
                    is_done = component.len() == 1;
                }
            }
        }
    }
    found.into_iter().map(|positions| positions.into_iter().collect()).collect()
}

fn used_in(
    program: &Program,
    facts: &Facts<'_>,
    skeletons: &Skeletons,
    found: &TiVec<FunctionId, BTreeSet<usize>>,
    function: FunctionId,
) -> BTreeSet<usize> {
    let mut used = found[function].clone();
    let parameters = &program.functions[function].parameters;
    let loaded_from = |register: RegisterId| {
        let mut instructions = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
        match instructions.find(|instruction| instruction.result == Some(register))?.operation {
            Operation::Load { address, .. } => Some(address),
            // Nothing else leads on to where an address was kept.
            _ => None,
        }
    };
    let mut add = |operand: Operand| {
        // Behind pointers, too: a lock may be what a parameter's object points to.
        let mut leaves = facts.values.leaves(facts.values.term(function, operand)).to_vec();
        let mut at = 0;
        while let Some(leaf) = leaves.get(at).copied() {
            at += 1;
            if let Some(address) = loaded_from(leaf) {
                let behind = facts.values.leaves(facts.values.term(function, address));
                leaves.extend(behind.iter().copied().filter(|leaf| !leaves.contains(leaf)).collect::<Vec<_>>());
            }
        }
        let position = |leaf: &RegisterId| {
            parameters.iter().position(|parameter| parameter.register == *leaf && parameter.by_value.is_none())
        };
        // One location says it all without a caller's help.
        let is_ambiguous = |position: &usize| {
            let mut pointees = facts.points_to.pointees(function, Operand::Register(parameters[*position].register));
            !matches!((pointees.next(), pointees.next()), (Some(location), None) if matches!(location.offset, Offset::At(_)))
        };
        used.extend(leaves.iter().filter_map(position).filter(is_ambiguous));
    };
    for event in skeletons[function].blocks.iter().flatten() {
        let EventKind::Call(call) = &event.kind else { continue };
        for target in &call.targets {
            match target {
                Target::Body(callee) => {
                    let arguments = found[*callee].iter().filter_map(|position| call.arguments.get(*position));
                    arguments.for_each(|argument| add(argument.value));
                }
                Target::Library(actions) => actions.iter().for_each(|action| match action {
                    Action::Acquire { lock, .. }
                    | Action::Release { lock, .. }
                    | Action::Forget { lock }
                    | Action::Wait { lock } => add(*lock),
                    Action::Once { control, .. } => add(*control),
                    Action::WaitForPermit { semaphore, .. }
                    | Action::PostPermit { semaphore, .. }
                    | Action::ResetPermits { semaphore, .. } => add(*semaphore),
                    Action::BeginAtomic
                    | Action::EndAtomic
                    | Action::Callback { .. }
                    | Action::SaveJump
                    | Action::Jump
                    | Action::RunUnknown
                    | Action::Create { .. }
                    | Action::Join
                    | Action::End { .. } => {}
                }),
            }
        }
    }
    used
}
