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

use super::{Held, OrderEdge, Wait};
use crate::facts::{Location, Offset, TermId};
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
    /// It is not certain that the thread still holds it there.
    pub is_unsure: bool,
}

/// How many blocks above a place are looked at.
const MOST_BLOCKS: usize = 32;

pub struct Addresses<'a, 't, 'p> {
    pub tabulation: &'a mut Tabulation<'t, 'p>,
    pub threads: &'a ProgramThreads,
}

/// `less ≤ more`, read as signed numbers or not.
type Comparison = (TermId, TermId, bool);

impl Addresses<'_, '_, '_> {
    pub fn direction(&mut self, analysis: &Analysis<'_>, edge: &OrderEdge) -> Nature {
        let nothing = Nature::default();
        let (Held::Lock { lock, mode: Mode::Exclusive }, Wait::Lock { .. }) = (edge.holds, edge.waits) else { return nothing };
        let remarks = &self.threads.remarks;
        if !remarks.jumps.is_empty() || !remarks.unknown_locks.is_empty() {
            return nothing;
        }
        let spot = self.threads.spot(edge.thread, edge.symbol);
        let Some(operand) = spot.lock else { return nothing };
        let (block, function) = (spot.block, self.tabulation.contexts.all[spot.context].key.function);
        let held: Vec<HeldThing> =
            self.tabulation.locksets.get(spot.lockset).iter().filter(|held| held.token == Token::Lock).cloned().collect();
        if !analysis.holds_at_most(edge.thread, edge.origin, edge.symbol, held.len()) {
            return nothing;
        }
        let name = self.threads.name(lock);
        let meant: Vec<HeldThing> = held.into_iter().filter(|held| self.may_be(name, held)).collect();
        if meant.is_empty() {
            return nothing;
        }
        Nature {
            is_unsure: false,
            goes_up: meant.iter().all(|held| self.lies_behind(function, block, operand, held, true)),
            goes_down: meant.iter().all(|held| self.lies_behind(function, block, operand, held, false)),
        }
    }

    /// Whether something that is held may be what a name means.
    fn may_be(&mut self, name: LockName, held: &HeldThing) -> bool {
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
            self.is_at_most(function, block, low, high)
        })
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

    /// Whether the one address is at most the other where control is in a block.
    fn is_at_most(&mut self, function: FunctionId, block: BlockId, low: TermId, high: TermId) -> bool {
        let Some(gap) = self.tabulation.facts.values.gap(high, low) else { return false };
        let Some(growth) = gap.growth else { return gap.constant >= 0 };
        if gap.constant < 0 {
            return false;
        }
        let wanted = (growth.less, growth.more, growth.is_signed);
        self.compared_above(function, block).contains(&wanted) || self.compared_when_made(function, wanted)
    }

    /// Comparisons on the only way that leads to a block, each still true: nothing on that way is executed again before the block.
    fn compared_above(&mut self, function: FunctionId, block: BlockId) -> FxHashSet<Comparison> {
        let program = self.tabulation.program;
        let mut known = FxHashSet::default();
        let mut at = block;
        for _ in 0..MOST_BLOCKS {
            let [before] = program.functions[function].blocks[at].predecessors[..] else { break };
            known.extend(self.compared_on(function, before, at));
            at = before;
        }
        known
    }

    /// What an edge says.
    fn compared_on(&mut self, function: FunctionId, from: BlockId, to: BlockId) -> Vec<Comparison> {
        let program = self.tabulation.program;
        let TerminatorKind::Branch { condition, when_true, when_false } =
            &program.functions[function].blocks[from].terminator.kind
        else {
            return Vec::new();
        };
        let Some(Operation::Compare { predicate: Predicate::Integer(predicate), left, right }) =
            defined(program, function, *condition)
        else {
            return Vec::new();
        };
        if when_true == when_false {
            return Vec::new();
        }
        let identity = &mut self.tabulation.identity;
        let (left, right) = (identity.term(function, *left), identity.term(function, *right));
        let (rises, falls) = ((left, right), (right, left));
        use IntegerPredicate::*;
        let of = |(less, more): (TermId, TermId), is_signed: bool| vec![(less, more, is_signed)];
        match (*predicate, *when_true == to) {
            (SignedLess | SignedLessEqual, true) | (SignedGreater | SignedGreaterEqual, false) => of(rises, true),
            (SignedGreater | SignedGreaterEqual, true) | (SignedLess | SignedLessEqual, false) => of(falls, true),
            (UnsignedLess | UnsignedLessEqual, true) | (UnsignedGreater | UnsignedGreaterEqual, false) => of(rises, false),
            (UnsignedGreater | UnsignedGreaterEqual, true) | (UnsignedLess | UnsignedLessEqual, false) => of(falls, false),
            (Equal, _) | (NotEqual, _) => Vec::new(),
        }
    }

    /// Two values that one block chose together: whether they are in order by whichever way it was entered.
    fn compared_when_made(&mut self, function: FunctionId, (less, more, is_signed): Comparison) -> bool {
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
            let wanted = (identity.term(function, *low), identity.term(function, *high), is_signed);
            wanted.0 == wanted.1
                || self.compared_on(function, *from, block).contains(&wanted)
                || self.compared_above(function, *from).contains(&wanted)
        })
    }
}

fn defined(program: &Program, function: FunctionId, operand: Operand) -> Option<&Operation> {
    let Operand::Register(register) = operand else { return None };
    let mut instructions = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    instructions.find(|instruction| instruction.result == Some(register)).map(|instruction| &instruction.operation)
}

fn phi(program: &Program, function: FunctionId, register: RegisterId) -> Option<(BlockId, &Phi)> {
    let mut blocks = program.functions[function].blocks.iter_enumerated();
    blocks.find_map(|(id, block)| Some((id, block.phis.iter().find(|phi| phi.result == register)?)))
}
