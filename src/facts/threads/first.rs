//! First turns: which branches are taken in the first turn of a loop only?
//!
//! # Definition   A branch in a loop, or after it, compares the loop's counter with a constant. It tells the *first turn* when the comparison holds for the counter's
//!                first value and for none of the later ones: `i == 0`, `i < 1`, not `i > 0`, of a counter that begins with 0 and goes up.
//! # Theorem      Whoever takes such a branch has not come round: since the loop was entered the header was passed once. So what holds there is what holds when the
//!                loop's back edges are taken out; threads that earlier turns created are not there.
//! # Deviations   Counters that go down, that may wrap, or that are compared as another width. Branches of the header and the latch, which may end the loop.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::loops::{Counter, Definitions, Loop, LoopId, Loops, constant};
use crate::program::{BinaryOp, BlockId, Function, IntegerPredicate, Operand, Operation, Predicate, Program, TerminatorKind};

/// An edge that is taken in the first turn of this loop only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FirstTurn {
    pub from: BlockId,
    pub to: BlockId,
    pub in_loop: LoopId,
    /// The blocks that no path reaches but through the loop's header.
    pub behind: Rc<BTreeSet<BlockId>>,
}

pub(super) fn first_turns(program: &Program, function: &Function, loops: &Loops, definitions: &Definitions) -> Vec<FirstTurn> {
    let mut found = Vec::new();
    for (in_loop, one) in loops.iter().filter(|(_, one)| !one.counters.is_empty()) {
        let behind = Rc::new(behind(function, one.header));
        for &from in behind.iter().filter(|from| **from != one.header && !one.latches.contains(from)) {
            let Some((predicate, counter, bound, (when_true, when_false))) = test(program, function, definitions, one, from)
            else {
                continue;
            };
            for (to, holds) in [(when_true, true), (when_false, false)] {
                if tells_first_turn(program, function, definitions, (one, counter), predicate, (bound, holds)) {
                    found.push(FirstTurn { from, to, in_loop, behind: behind.clone() });
                }
            }
        }
    }
    found
}

/// The blocks that a block dominates, itself among them.
fn behind(function: &Function, header: BlockId) -> BTreeSet<BlockId> {
    let reached = |from: BlockId, without: Option<BlockId>| {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(block) = open.pop() {
            let next = function.blocks[block].terminator.kind.successors();
            open.extend(next.into_iter().filter(|next| Some(*next) != without && seen.insert(*next)));
        }
        seen
    };
    let around = if header == function.entry() { BTreeSet::new() } else { reached(function.entry(), Some(header)) };
    reached(header, None).difference(&around).copied().collect()
}

type Test<'a> = (IntegerPredicate, &'a Counter, i64, (BlockId, BlockId));

/// The comparison of a counter with a constant that a block ends with.
fn test<'a>(program: &Program, function: &Function, definitions: &Definitions, one: &'a Loop, from: BlockId) -> Option<Test<'a>> {
    let TerminatorKind::Branch { condition: Operand::Register(condition), when_true, when_false } =
        function.blocks[from].terminator.kind
    else {
        return None;
    };
    let Operation::Compare { predicate: Predicate::Integer(predicate), left: Operand::Register(left), right } =
        definitions.operation(function, condition)?
    else {
        return None;
    };
    let counter = one.counters.iter().find(|counter| counter.register == *left)?;
    // The comparison is of the last turn: it stands on every path to the branch.
    (when_true != when_false).then_some((*predicate, counter, constant(program, *right)?, (when_true, when_false)))
}

fn tells_first_turn(
    program: &Program,
    function: &Function,
    definitions: &Definitions,
    (one, counter): (&Loop, &Counter),
    predicate: IntegerPredicate,
    (bound, holds): (i64, bool),
) -> bool {
    use IntegerPredicate::*;
    let Some(start) = constant(program, counter.start).filter(|start| *start >= 0 && counter.step > 0) else { return false };
    let (is_signed, is_unsigned) = goes_up(function, definitions, one, counter);
    // The value of the second turn, and with it all greater ones, must fail.
    let second = start.saturating_add(counter.step);
    match (predicate, holds) {
        (Equal, true) | (NotEqual, false) => bound == start && (is_signed || is_unsigned),
        (SignedLess, true) | (SignedGreaterEqual, false) => is_signed && second >= bound,
        (SignedLessEqual, true) | (SignedGreater, false) => is_signed && second > bound,
        (UnsignedLess, true) | (UnsignedGreaterEqual, false) => is_unsigned && bound >= 0 && second >= bound,
        (UnsignedLessEqual, true) | (UnsignedGreater, false) => is_unsigned && bound >= 0 && second > bound,
        _ => false,
    }
}

/// Whether the counter, from a start that is not negative, never wraps: as a signed, and as an unsigned number.
fn goes_up(function: &Function, definitions: &Definitions, one: &Loop, counter: &Counter) -> (bool, bool) {
    use IntegerPredicate::{SignedLess, UnsignedLess};
    let flags = match definitions.operation(function, counter.next) {
        Some(Operation::Binary { op: BinaryOp::Add, flags, .. }) => *flags,
        _ => return (false, false),
    };
    // What is less than something of its own width has a next value.
    let is_tested = |predicate: IntegerPredicate| {
        let tests = one.counted_exits.iter().filter(|exit| exit.from == one.header && !exit.of_next && exit.widened.is_none());
        let mut tests = tests.filter(|exit| exit.predicate == predicate && one.counters[exit.counter] == *counter);
        counter.step == 1 && !one.latches.contains(&one.header) && tests.next().is_some()
    };
    let is_signed = flags.no_signed_wrap || is_tested(SignedLess);
    (is_signed, is_signed || flags.no_unsigned_wrap || is_tested(UnsignedLess))
}
