//! Locks that are taken in the order of their addresses: elements of an array by index, objects by comparison.
//!
//! # Definition   A place where a thread holds a lock and waits for another goes up if the lock it waits for lies behind every lock that it may hold
//!                under that name, or is the same; it goes down if it lies before.
//! # Theorem      A cycle all of whose places go up, or all down, is no deadlock. For each waits for what the next one holds, so addresses would never fall
//!                around the cycle, and all of them would be one lock, held by two threads; locks are held alone here.
//!                *What is held* is known exactly where as many locks are certainly held as there are names under which one may be held, each at
//!                most once: there cannot be others.
//! # Proofs       Addresses that differ by a number (`a[i]`, `a[i + 1]`); the first element of an object and any other; two values that were
//!                compared on every way to here (`if (i < j)`), or on every way by which both got their values (`if (i > j) swap`). The compiler's
//!                promises (in bounds, no wrapping) are used: what breaks them is undefined.
//! # Deviations   Read-write locks held for reading, jumps out of functions, and locks through pointers without a value: nothing is proved.

use rustc_hash::FxHashSet;

use super::keys::Key;
use super::{Held, OrderEdge, Wait};
use crate::facts::{Gap, Location, Offset, TermId};
use crate::locks::{Held as HeldThing, Mode, Token};
use crate::program::{
    BlockId, FunctionId, IntegerPredicate, Operand, Operation, Phi, Predicate, Program, RegisterId, TerminatorKind,
};
use crate::thread_pds::holding::Tabulation;
use crate::thread_pds::{Analysis, LockName, ProgramThreads};

/// What is known of a place in the lock order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nature {
    /// Where the lock that is waited for lies, compared with those held.
    pub goes_up: bool,
    pub goes_down: bool,
    /// By which numbers beside the locks they are ordered (`keys`).
    pub key: Option<Key>,
    /// It is not certain that the thread still holds it there.
    pub is_unsure: bool,
    /// The thread waits for one that it has created itself (`children`).
    pub joins_child: bool,
}

impl Nature {
    /// Whether places like it may be in an order in which no cycle closes.
    pub fn has_order(&self) -> bool {
        self.goes_up || self.goes_down || self.joins_child || self.key.is_some()
    }
}

/// How many blocks above a place are looked at.
const MOST_BLOCKS: usize = 32;

/// A way into a block, and two values there.
pub(super) type Choice = (Vec<(BlockId, BlockId)>, TermId, TermId);

pub struct Addresses<'a, 't, 'p> {
    pub tabulation: &'a mut Tabulation<'t, 'p>,
    pub threads: &'a ProgramThreads,
}

/// `less ≤ more`, or `less < more` when that is asked for, read as signed numbers or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Comparison {
    less: TermId,
    more: TermId,
    is_signed: bool,
}

impl Addresses<'_, '_, '_> {
    /// What a thread holds under the name of an edge of the lock order, if that is all it may hold under it, and nobody shares it.
    pub fn meant(&mut self, analysis: &Analysis<'_>, edge: &OrderEdge) -> Vec<HeldThing> {
        let (Held::Lock { lock, mode: Mode::Exclusive }, Wait::Lock { .. }) = (edge.holds, edge.waits) else { return Vec::new() };
        let remarks = &self.threads.remarks;
        if !remarks.jumps.is_empty() || !remarks.unknown_locks.is_empty() {
            return Vec::new();
        }
        let spot = self.threads.spot(edge.thread, edge.symbol);
        let held: Vec<HeldThing> =
            self.tabulation.locksets.get(spot.lockset).iter().filter(|held| held.token == Token::Lock).cloned().collect();
        if !analysis.holds_at_most(edge.thread, edge.origin, edge.symbol, held.len()) {
            return Vec::new();
        }
        let name = self.threads.name(lock);
        held.into_iter().filter(|held| self.may_be(name, held)).collect()
    }

    /// The order of addresses between what is waited for at an edge and all that is meant by what is held.
    pub fn direction(&mut self, edge: &OrderEdge, meant: &[HeldThing]) -> Nature {
        let spot = self.threads.spot(edge.thread, edge.symbol);
        let (Some(operand), false) = (spot.lock, meant.is_empty()) else { return Nature::default() };
        let (block, function) = (spot.block, self.tabulation.contexts.all[spot.context].key.function);
        Nature {
            goes_up: meant.iter().all(|held| self.lies_behind(function, block, operand, held, true)),
            goes_down: meant.iter().all(|held| self.lies_behind(function, block, operand, held, false)),
            ..Nature::default()
        }
    }

    /// Whether something that is held may be what a name means.
    pub(super) fn may_be(&mut self, name: LockName, held: &HeldThing) -> bool {
        match (name, held.names.place) {
            (LockName::Place(place), Some(other)) => place == other,
            (LockName::Place(place), None) => self.tabulation.identity.may_be(held.family, place),
            (LockName::Family(family), Some(place)) => self.tabulation.identity.may_be(family, place),
            (LockName::Family(family), None) => self.tabulation.identity.may_alias(family, held.family),
        }
    }

    /// Whether an operand lies behind a lock that is held, or before it, or is the same.
    fn lies_behind(&mut self, function: FunctionId, block: BlockId, operand: Operand, held: &HeldThing, is_up: bool) -> bool {
        let points_to = &self.tabulation.facts.points_to;
        let waited: Vec<Location> = points_to.pointees(function, operand).collect();
        let identity = &self.tabulation.identity;
        let kept: Vec<Location> = match held.names.place.and_then(|place| identity.location(place)) {
            Some(location) => vec![location],
            None => identity.locations(held.family).to_vec(),
        };
        let (low, high) = if is_up { (&kept, &waited) } else { (&waited, &kept) };
        if self.is_first(low, high) {
            return true;
        }
        let waited = self.tabulation.identity.term(function, operand);
        held.names.terms.iter().any(|term| {
            let kept = TermId::from_number(term.0);
            let (low, high) = if is_up { (kept, waited) } else { (waited, kept) };
            self.is_at_most(function, block, low, high, false)
        })
    }

    /// Whether an operand, where control is in a block, is certainly another lock than one that is held.
    pub(super) fn are_apart(&mut self, (function, block): (FunctionId, BlockId), operand: Operand, held: &HeldThing) -> bool {
        let waited = self.tabulation.identity.term(function, operand);
        held.names.terms.iter().any(|term| {
            let kept = TermId::from_number(term.0);
            self.is_at_most(function, block, kept, waited, true)
                || self.is_at_most(function, block, waited, kept, true)
                || self.is_compared_unequal(function, block, kept, waited)
        })
    }

    /// Whether two addresses differ because something in them was compared on the only way to a block, or on every way by which one block chose both,
    /// and was not equal.
    fn is_compared_unequal(&mut self, function: FunctionId, block: BlockId, one: TermId, other: TermId) -> bool {
        let way = self.only_way(function, block);
        if self.is_unequal_on(function, &way, one, other) {
            return true;
        }
        let chosen = self.chosen_together(function, one, other);
        !chosen.is_empty() && chosen.into_iter().all(|(way, one, other)| self.is_unequal_on(function, &way, one, other))
    }

    fn is_unequal_on(&mut self, function: FunctionId, way: &[(BlockId, BlockId)], one: TermId, other: TermId) -> bool {
        let Some(Gap { constant: 0, growth: Some(growth) }) = self.tabulation.facts.values.gap(one, other) else { return false };
        let sides = [(growth.less, growth.more), (growth.more, growth.less)];
        way.iter().any(|(from, to)| {
            let compared = self.comparison(function, *from, *to);
            compared.is_some_and(|(predicate, left, right, is_true)| {
                let is_unequal =
                    matches!((predicate, is_true), (IntegerPredicate::NotEqual, true) | (IntegerPredicate::Equal, false));
                is_unequal && sides.contains(&(left, right))
            })
        })
    }

    /// Two values that one block chose together: for each way by which it was entered its edges, the last one first, and what the two were there.
    pub(super) fn chosen_together(&mut self, function: FunctionId, one: TermId, other: TermId) -> Vec<Choice> {
        let (program, facts) = (self.tabulation.program, self.tabulation.facts);
        let chosen = |term: TermId| match facts.values.leaves(term)[..] {
            [register] => phi(program, function, register),
            _ => None,
        };
        let (Some((block, first)), Some((same, second))) = (chosen(one), chosen(other)) else { return Vec::new() };
        let predecessors = &program.functions[function].blocks[block].predecessors;
        let mut choices = Vec::new();
        for (at, from) in predecessors.iter().enumerate().filter(|_| block == same) {
            let way = std::iter::once((*from, block)).chain(self.only_way(function, *from)).collect();
            let identity = &mut self.tabulation.identity;
            let (left, right) = (identity.term(function, first.operands[at]), identity.term(function, second.operands[at]));
            let (left, right) = (facts.values.substitute(one, &|_| Some(left)), facts.values.substitute(other, &|_| Some(right)));
            let (Some(left), Some(right)) = (left, right) else { return Vec::new() };
            choices.push((way, left, right));
        }
        choices
    }

    /// One exact place of one object, and others of that object none of which lies before it.
    fn is_first(&self, low: &[Location], high: &[Location]) -> bool {
        let [Location { object, offset: Offset::At(at) }] = low else { return false };
        let least = |location: &Location| match location.offset {
            Offset::At(offset) => offset,
            Offset::Class { residue, .. } => residue,
            Offset::Any => 0,
        };
        self.tabulation.facts.is_one_object(*object)
            && !high.is_empty()
            && high.iter().all(|location| location.object == *object && *at <= least(location))
    }

    /// Whether the one address is at most the other, or is less, where control is in a block.
    fn is_at_most(&mut self, function: FunctionId, block: BlockId, low: TermId, high: TermId, is_strict: bool) -> bool {
        let Some(gap) = self.tabulation.facts.values.gap(high, low) else { return false };
        let least = i64::from(is_strict);
        let Some(growth) = gap.growth else { return gap.constant >= least };
        if gap.constant < 0 {
            return false;
        }
        let wanted = Comparison { less: growth.less, more: growth.more, is_signed: growth.is_signed };
        let is_strict = is_strict && gap.constant == 0;
        self.compared_above(function, block, is_strict).contains(&wanted) || self.compared_when_made(function, wanted, is_strict)
    }

    /// The edges of the only way that leads to a block, the last one first.
    pub(super) fn only_way(&self, function: FunctionId, block: BlockId) -> Vec<(BlockId, BlockId)> {
        let blocks = &self.tabulation.program.functions[function].blocks;
        let above = |at: &(BlockId, BlockId)| match blocks[at.0].predecessors[..] {
            [before] => Some((before, at.0)),
            _ => None,
        };
        std::iter::successors(above(&(block, block)), above).take(MOST_BLOCKS).collect()
    }

    /// Comparisons on the only way that leads to a block, each still true: nothing on that way is executed again before the block.
    fn compared_above(&mut self, function: FunctionId, block: BlockId, is_strict: bool) -> FxHashSet<Comparison> {
        let way = self.only_way(function, block);
        way.into_iter().filter_map(|(from, to)| self.compared_on(function, from, to, is_strict)).collect()
    }

    /// What a branch compares, and whether that is so on an edge from it.
    fn comparison(
        &mut self,
        function: FunctionId,
        from: BlockId,
        to: BlockId,
    ) -> Option<(IntegerPredicate, TermId, TermId, bool)> {
        let program = self.tabulation.program;
        let TerminatorKind::Branch { condition, when_true, when_false } =
            &program.functions[function].blocks[from].terminator.kind
        else {
            return None;
        };
        let Some(Operation::Compare { predicate: Predicate::Integer(predicate), left, right }) =
            defined(program, function, *condition)
        else {
            return None;
        };
        if when_true == when_false {
            return None;
        }
        let identity = &mut self.tabulation.identity;
        Some((*predicate, identity.term(function, *left), identity.term(function, *right), *when_true == to))
    }

    /// What an edge says.
    fn compared_on(&mut self, function: FunctionId, from: BlockId, to: BlockId, is_strict: bool) -> Option<Comparison> {
        use IntegerPredicate::*;
        let (predicate, left, right, is_true) = self.comparison(function, from, to)?;
        let less = |less: TermId, more: TermId, is_signed: bool| Comparison { less, more, is_signed };
        let (said, excludes_equal) = match (predicate, is_true) {
            (SignedLess, true) | (SignedGreaterEqual, false) => (less(left, right, true), true),
            (SignedLessEqual, true) | (SignedGreater, false) => (less(left, right, true), false),
            (SignedGreater, true) | (SignedLessEqual, false) => (less(right, left, true), true),
            (SignedGreaterEqual, true) | (SignedLess, false) => (less(right, left, true), false),
            (UnsignedLess, true) | (UnsignedGreaterEqual, false) => (less(left, right, false), true),
            (UnsignedLessEqual, true) | (UnsignedGreater, false) => (less(left, right, false), false),
            (UnsignedGreater, true) | (UnsignedLessEqual, false) => (less(right, left, false), true),
            (UnsignedGreaterEqual, true) | (UnsignedLess, false) => (less(right, left, false), false),
            (Equal, _) | (NotEqual, _) => return None,
        };
        (excludes_equal || !is_strict).then_some(said)
    }

    /// Two values that one block chose together: whether they are in order by whichever way it was entered.
    fn compared_when_made(&mut self, function: FunctionId, wanted: Comparison, is_strict: bool) -> bool {
        let Comparison { less, more, is_signed } = wanted;
        let program = self.tabulation.program;
        let chosen = |term: TermId| {
            let leaves = self.tabulation.facts.values.leaves(term);
            let [register] = leaves[..] else { return None };
            let (block, phi) = phi(program, function, register)?;
            (self.tabulation.facts.values.leaf(function, register) == term).then_some((block, phi))
        };
        let (Some((block, low)), Some((other, high))) = (chosen(less), chosen(more)) else { return false };
        if block != other {
            return false;
        }
        let predecessors = &program.functions[function].blocks[block].predecessors;
        predecessors.iter().zip(low.operands.iter().zip(&high.operands)).all(|(from, (low, high))| {
            let identity = &mut self.tabulation.identity;
            let wanted = Comparison { less: identity.term(function, *low), more: identity.term(function, *high), is_signed };
            !is_strict && wanted.less == wanted.more
                || self.compared_on(function, *from, block, is_strict) == Some(wanted)
                || self.compared_above(function, *from, is_strict).contains(&wanted)
        })
    }
}

pub(super) fn defined(program: &Program, function: FunctionId, operand: Operand) -> Option<&Operation> {
    let Operand::Register(register) = operand else { return None };
    let mut instructions = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    instructions.find(|instruction| instruction.result == Some(register)).map(|instruction| &instruction.operation)
}

fn phi(program: &Program, function: FunctionId, register: RegisterId) -> Option<(BlockId, &Phi)> {
    let mut blocks = program.functions[function].blocks.iter_enumerated();
    blocks.find_map(|(id, block)| Some((id, block.phis.iter().find(|phi| phi.result == register)?)))
}
