//! Locks that are taken in the order of numbers that lie beside them: accounts by their ids.
//!
//! # Definition   The key of a lock is the number so many bytes away from it. A place where a thread holds a lock and waits for another is ordered by that key if
//!                the two keys were compared on the only way to it, or on every way by which both locks were chosen, and the comparison says that one of them
//!                is *less*: "at most" and "not equal" together say it, too.
//! # Theorem      A cycle all of whose places are ordered by one key, all up or all down, is no deadlock: each waits for what the next one holds, so keys would grow
//!                all around it. Keys do not change meanwhile: nothing writes to one while a thread runs that has compared it here. (Whoever has read a key of the
//!                cycle runs until the cycle is closed; a write between two readings of one key would fall into that time for the first of the two.)
//! # Proofs       That no write falls into the life of a thread: the order of creations and joins alone (`facts::threads`).
//! # Deviations   1. Equal keys are not excluded by how keys are given out: `a <= b` orders nothing.  2. A thread that writes keys itself, before it compares any, is
//!                not understood, nor are keys of objects that are made while others run.

use std::collections::{BTreeMap, BTreeSet};

use super::OrderEdge;
use super::ascending::{Addresses, defined};
use crate::engines::race::order::Orders;
use crate::engines::race::reach::Reach;
use crate::facts::accesses::WHOLE;
use crate::facts::{AbstractObjectKind, Location, OrderReason, PhaseId, Relation, TermId, ThreadId, ThreadKind};
use crate::locks::Held as HeldThing;
use crate::program::{
    BlockId, FunctionId, IntegerPredicate, Operand, Operation, Predicate, RegisterId, Scalar, TerminatorKind, Type,
};

/// By which numbers locks are ordered, and which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Where it lies, from the lock.
    distance: i64,
    bits: u32,
    is_signed: bool,
    goes_up: bool,
}

/// A number in memory, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Number {
    address: TermId,
    bits: u32,
    /// Which instruction reads it.
    register: RegisterId,
}

/// What a branch says of two numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Less { less: Number, more: Number, is_signed: bool },
    AtMost { less: Number, more: Number, is_signed: bool },
    Unequal(Number, Number),
}

/// What is known of keys, looked up once.
#[derive(Default)]
pub struct Keys {
    /// By function, loading register and thread.
    unchanged: BTreeMap<(FunctionId, RegisterId, ThreadId), bool>,
}

impl Keys {
    /// The key by which the lock that is waited for at an edge is ordered behind, or before, all that are meant by what is held there.
    pub fn order(
        &mut self,
        addresses: &mut Addresses<'_, '_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        edge: &OrderEdge,
        meant: &[HeldThing],
    ) -> Option<Key> {
        let spot = addresses.threads.spot(edge.thread, edge.symbol);
        let (block, function) = (spot.block, addresses.tabulation.contexts.all[spot.context].key.function);
        let thread = addresses.threads.sources[edge.thread.index()];
        let waited = addresses.tabulation.identity.term(function, spot.lock?);
        let mut common: Option<BTreeSet<Key>> = None;
        for held in meant {
            let mut keys = BTreeSet::new();
            for term in &held.names.terms {
                let kept = TermId::from_number(term.0);
                let found = compared(addresses, function, block, kept, waited);
                let lasting = found.into_iter().filter(|(_, numbers)| {
                    numbers
                        .iter()
                        .all(|number| self.is_unchanged(addresses, (reach, &mut *orders), function, number.register, thread))
                });
                keys.extend(lasting.map(|(key, _)| key));
            }
            common = Some(match common {
                Some(before) => before.intersection(&keys).copied().collect(),
                None => keys,
            });
        }
        common?.into_iter().next()
    }

    /// Whether nothing writes to what an instruction reads while a thread runs.
    fn is_unchanged(
        &mut self,
        addresses: &Addresses<'_, '_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        function: FunctionId,
        register: RegisterId,
        thread: ThreadId,
    ) -> bool {
        let key = (function, register, thread);
        if let Some(known) = self.unchanged.get(&key) {
            return *known;
        }
        let answer = is_unchanged(addresses, reach, orders, key);
        self.unchanged.insert(key, answer);
        answer
    }
}

fn is_unchanged(
    addresses: &Addresses<'_, '_, '_>,
    reach: &Reach,
    orders: &mut Orders<'_, '_>,
    (function, register, thread): (FunctionId, RegisterId, ThreadId),
) -> bool {
    let tabulation = &*addresses.tabulation;
    let (program, facts) = (tabulation.program, tabulation.facts);
    let Some(Operation::Load { address, .. }) = defined(program, function, Operand::Register(register)) else { return false };
    let size = program.layout.store_bytes(program.functions[function].registers[register].ty);
    let read: Vec<Location> = facts.points_to.pointees(function, *address).collect();
    let is_known = |location: &Location| {
        let kind = &facts.points_to.object(location.object).kind;
        match kind {
            AbstractObjectKind::Global(global) => !program.globals[*global].is_external,
            AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::Heap { .. } => true,
            _ => false,
        }
    };
    // Whoever calls a library may write to what it is given.
    let is_library = facts.threads.threads().any(|(_, thread)| thread.kind == ThreadKind::Library);
    if is_library || read.is_empty() || !read.iter().all(is_known) {
        return false;
    }
    let is_one_of_them = |written: &Location, width: u64| {
        facts.points_to.object(written.object).kind == AbstractObjectKind::Unknown
            || read.iter().any(|location| facts.points_to.may_alias(*location, size, *written, width))
    };
    let is_apart = |point| match facts.threads.relation(point, (thread, PhaseId::ANY)) {
        Relation::MayOverlap | Relation::Ordered(OrderReason::SameThread) => false,
        Relation::Ordered(_) => true,
    };
    for (id, context) in tabulation.contexts.all.iter_enumerated() {
        let writer = context.key.function;
        for (block, content) in program.functions[writer].blocks.iter_enumerated() {
            for index in 0..=content.instructions.len() {
                let accesses = facts.accesses.at(writer, block, index).iter();
                for access in accesses.filter(|access| access.action.writes()) {
                    let width = access.size.unwrap_or(WHOLE);
                    let written = access.locations(&facts.points_to, &facts.call_graph, &program.layout, writer);
                    if !written.iter().any(|location| is_one_of_them(location, width)) {
                        continue;
                    }
                    let points = reach.at(orders, facts, (id, context.key.standing), (block, index));
                    if !orders.points(points).iter().all(|point| is_apart(*point)) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Keys that order two locks, each with the numbers that were compared.
type Found = BTreeMap<Key, BTreeSet<Number>>;

/// The keys that order two locks where control is in a block.
fn compared(addresses: &mut Addresses<'_, '_, '_>, function: FunctionId, block: BlockId, kept: TermId, waited: TermId) -> Found {
    let way = addresses.only_way(function, block);
    let found = compared_on(addresses, function, &way, kept, waited);
    if found.is_empty() { compared_when_chosen(addresses, function, kept, waited) } else { found }
}

/// Two locks that one block chose together: the keys that order them by whichever way it was entered.
fn compared_when_chosen(addresses: &mut Addresses<'_, '_, '_>, function: FunctionId, kept: TermId, waited: TermId) -> Found {
    let mut common: Option<Found> = None;
    for (way, kept, waited) in addresses.chosen_together(function, kept, waited) {
        let here = compared_on(addresses, function, &way, kept, waited);
        common = Some(match common {
            None => here,
            Some(before) => {
                let both = |(key, numbers): (Key, BTreeSet<Number>)| Some((key, &numbers | here.get(&key)?));
                before.into_iter().filter_map(both).collect()
            }
        });
    }
    common.unwrap_or_default()
}

/// The keys that order two locks by what the edges of a way say.
fn compared_on(
    addresses: &mut Addresses<'_, '_, '_>,
    function: FunctionId,
    way: &[(BlockId, BlockId)],
    kept: TermId,
    waited: TermId,
) -> Found {
    let said: Vec<Said> = way.iter().filter_map(|(from, to)| said_on(addresses, function, *from, *to)).collect();
    let mut found = Found::new();
    for one in &said {
        let (less, more, is_signed, numbers) = match *one {
            Said::Less { less, more, is_signed } => (less, more, is_signed, BTreeSet::from([less, more])),
            Said::AtMost { less, more, is_signed } => {
                let same = |one: &Number, other: &Number| (one.address, one.bits) == (other.address, other.bits);
                let apart = said.iter().find_map(|other| match other {
                    Said::Unequal(a, b) if same(a, &less) && same(b, &more) || same(a, &more) && same(b, &less) => Some([*a, *b]),
                    _ => None,
                });
                let Some(apart) = apart else { continue };
                (less, more, is_signed, [less, more].into_iter().chain(apart).collect())
            }
            Said::Unequal(..) => continue,
        };
        let values = &addresses.tabulation.facts.values;
        let distances = |low: TermId, high: TermId| {
            let (one, other) = (values.difference(less.address, low)?, values.difference(more.address, high)?);
            (one == other).then_some(one)
        };
        let key = |distance: i64, goes_up: bool| Key { distance, bits: less.bits, is_signed, goes_up };
        if let Some(distance) = distances(kept, waited) {
            found.entry(key(distance, true)).or_insert(numbers);
        } else if let Some(distance) = distances(waited, kept) {
            found.entry(key(distance, false)).or_insert(numbers);
        }
    }
    found
}

/// What an edge says of two numbers in memory.
fn said_on(addresses: &mut Addresses<'_, '_, '_>, function: FunctionId, from: BlockId, to: BlockId) -> Option<Said> {
    use IntegerPredicate::*;
    let program = addresses.tabulation.program;
    let TerminatorKind::Branch { condition, when_true, when_false } = &program.functions[function].blocks[from].terminator.kind
    else {
        return None;
    };
    let Operation::Compare { predicate: Predicate::Integer(predicate), left, right } = defined(program, function, *condition)?
    else {
        return None;
    };
    if when_true == when_false {
        return None;
    }
    let (left, right) = (number(addresses, function, *left)?, number(addresses, function, *right)?);
    if left.bits != right.bits {
        return None;
    }
    let less = |less, more, is_signed| Some(Said::Less { less, more, is_signed });
    let at_most = |less, more, is_signed| Some(Said::AtMost { less, more, is_signed });
    match (predicate, *when_true == to) {
        (SignedLess, true) | (SignedGreaterEqual, false) => less(left, right, true),
        (SignedGreater, true) | (SignedLessEqual, false) => less(right, left, true),
        (UnsignedLess, true) | (UnsignedGreaterEqual, false) => less(left, right, false),
        (UnsignedGreater, true) | (UnsignedLessEqual, false) => less(right, left, false),
        (SignedLessEqual, true) | (SignedGreater, false) => at_most(left, right, true),
        (SignedGreaterEqual, true) | (SignedLess, false) => at_most(right, left, true),
        (UnsignedLessEqual, true) | (UnsignedGreater, false) => at_most(left, right, false),
        (UnsignedGreaterEqual, true) | (UnsignedLess, false) => at_most(right, left, false),
        (Equal, false) | (NotEqual, true) => Some(Said::Unequal(left, right)),
        (Equal, true) | (NotEqual, false) => None,
    }
}

/// The number in memory that an operand was read from.
fn number(addresses: &mut Addresses<'_, '_, '_>, function: FunctionId, operand: Operand) -> Option<Number> {
    let Operand::Register(register) = operand else { return None };
    let program = addresses.tabulation.program;
    let Operation::Load { address, access } = defined(program, function, operand)? else { return None };
    let Type::Scalar(Scalar::Integer(bits)) = program.functions[function].registers[register].ty else { return None };
    let address = addresses.tabulation.identity.term(function, *address);
    (!access.is_volatile && !access.is_atomic()).then_some(Number { address, bits, register })
}
