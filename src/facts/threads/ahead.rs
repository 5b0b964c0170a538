//! Ahead: memory of the thread that is created next.
//!
//! # Definition   Where one loop creates the instances of a thread, an operand is *ahead* of the thread at an instruction of the loop, or of the functions in which a turn of it
//!                creates, if the creation comes later in the same turn, and its value differs by a constant from the argument that the creation gives then.
//! # Theorem      No instance that has begun and has not ended has the argument of this turn: none lives when the loop is entered, and those that it has created in
//!                earlier turns got others (`argument`). So what the creator touches less than that distance behind the argument is in no living instance's part; and
//!                whoever is created later comes later.
//! # Example      `for (i = 0; i < n; i++) { part[i].number = i; pthread_create(&t[i], 0, run, &part[i]); }`
//! # Deviations   1. The creator exists once; a function that has several activations is left out.  2. What the creating function itself writes, the handle, may come later than the
//!                new thread.  3. Nothing is said of addresses that are computed otherwise than the argument,
//!                or by more than the loop's counter.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::accesses::{Accesses, Position};
use super::super::loops::{Definitions, Loop};
use super::argument::counted;
use super::relation::Order;
use super::sweep::{Progression, progression};
use super::tree::{Creation, Point};
use super::types::ThreadId;
use super::walk::Walk;
use crate::program::{BlockId, Function, FunctionId, Operand, Operation};

/// What an instruction's operand is to a thread that its loop will create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    pub thread: ThreadId,
    /// How many bytes it lies behind the argument of the next instance; nothing where that is no address, or another one.
    pub behind: Option<i64>,
    /// That argument, if the function creates the thread itself.
    pub argument: Option<Operand>,
}

/// By instruction and operand.
pub(super) type AllAhead = FxHashMap<(Position, Operand), SmallVec<[Ahead; 1]>>;

pub(super) fn ahead(walk: &Walk<'_>, order: &Order, accesses: &Accesses) -> AllAhead {
    let mut found = AllAhead::default();
    for thread in (0..walk.places.tree.threads.len()).map(ThreadId::from) {
        of_thread(walk, order, accesses, thread, &mut found);
    }
    found
}

fn of_thread(walk: &Walk<'_>, order: &Order, accesses: &Accesses, thread: ThreadId, found: &mut AllAhead) -> Option<()> {
    let (places, tree) = (&walk.places, walk.places.tree);
    let [creation] = tree.creations[thread.index()][..] else { return None };
    let turns = turns(walk, order, thread, creation)?;
    let has_other = |function: FunctionId| tree.activations.iter().filter(|other| other.function == function).count() > 1;
    if tree.threads[creation.creator.index()].is_many {
        return None;
    }
    // From the creation, which is executed once in each turn, to the loop.
    let mut last = creation.point;
    loop {
        let activation = tree.activation(last.activation);
        let body = &places.relevant.bodies[&activation.function];
        let function = places.input.function(activation.function);
        let is_outermost = last.activation == turns.activation;
        let turn = is_outermost.then(|| body.loops.get(turns.in_loop));
        let later = after(function, last.block, turn);
        let argument = places.thread_argument(creation.point).filter(|_| creation.point.activation == last.activation);
        let blocks = function.blocks.keys().filter(|_| !has_other(activation.function));
        for block in blocks.filter(|block| turn.is_none_or(|turn| turn.blocks.contains(block))) {
            let end = if block == last.block { last.index } else { function.blocks[block].instructions.len() + 1 };
            for index in (0..end).filter(|_| !later.contains(&block)) {
                let position = Position { function: activation.function, block, index };
                for operand in operands(function, accesses, &body.definitions, position) {
                    let address = places.address(last.activation, operand);
                    let point = Point { block, index, ..last };
                    let moved = address.and_then(|address| progression(places, &address, point, false));
                    let is_in_turn = |moved: &Progression| (moved.activation, moved.in_loop) == (turns.activation, turns.in_loop);
                    let Some(moved) = moved.filter(is_in_turn) else { continue };
                    let is_alike = (moved.base, moved.stride) == (turns.base, turns.stride);
                    let behind = moved.first.checked_sub(turns.first).filter(|_| is_alike);
                    let here = Ahead { thread, behind, argument };
                    let known = found.entry((position, operand)).or_default();
                    if !known.contains(&here) {
                        known.push(here);
                    }
                }
            }
        }
        if is_outermost {
            return Some(());
        }
        last = activation.caller?.0;
    }
}

/// How the thread's argument changes from turn to turn.
fn turns(walk: &Walk<'_>, order: &Order, thread: ThreadId, creation: Creation) -> Option<Progression> {
    if walk.places.tree.activation(creation.point.activation).is_cut || walk.has_given_up {
        return None;
    }
    let argument = walk.places.thread_argument(creation.point)?;
    let address = walk.places.address(creation.point.activation, argument)?;
    counted(walk, order, thread, &address, creation)
}

/// The blocks that may follow a block, in the same turn of a loop.
fn after(function: &Function, from: BlockId, turn: Option<&Loop>) -> BTreeSet<BlockId> {
    let mut after = BTreeSet::new();
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        for next in function.blocks[block].terminator.kind.successors() {
            let is_in_turn = turn.is_none_or(|turn| next != turn.header && turn.blocks.contains(&next));
            if is_in_turn && after.insert(next) {
                open.push(next);
            }
        }
    }
    after
}

/// What an instruction accesses memory by, and what it passes.
fn operands(function: &Function, accesses: &Accesses, definitions: &Definitions, position: Position) -> SmallVec<[Operand; 4]> {
    let Position { function: id, block, index } = position;
    let accessed = accesses.at(id, block, index).iter().filter_map(|access| access.operand());
    // With what they are counted from.
    let mut operands: SmallVec<[Operand; 4]> =
        accessed.flat_map(|operand| counted_from(function, definitions, operand)).collect();
    if let Some(Operation::Call { arguments, .. }) = function.blocks[block].instructions.get(index).map(|one| &one.operation) {
        operands.extend(arguments.iter().map(|argument| argument.value));
    }
    operands
}

/// An address, and those that it is counted from.
fn counted_from<'a>(
    function: &'a Function,
    definitions: &'a Definitions,
    address: Operand,
) -> impl Iterator<Item = Operand> + 'a {
    std::iter::successors(Some(address), |operand| {
        let Operand::Register(register) = operand else { return None };
        match definitions.operation(function, *register) {
            Some(Operation::Offset { base, .. }) => Some(*base),
            _ => None,
        }
    })
}
