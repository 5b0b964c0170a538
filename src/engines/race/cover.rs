//! Covers: what keeps others away from one access.
//!
//! # Definition   The cover of an access are the locks held at it, as far as they say something about the accessed bytes: locks by their place, locks
//!                by their shape relative to the address (equal shapes on a common byte are one lock), atomic sections, one-time
//!                initialisation, the thread's own argument, and locks the thread has ever taken.
//! # Theorem      Two accesses that touch a common byte and have a lock of the same key in their covers, not shared on both sides, are ordered
//!                by that lock, unless a thread that does not hold it may release it (such locks are in no cover).

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::ahead::{NextBy, NextPart};
use super::rows::Row;
use super::semaphores::Semaphores;
use super::signals::{has_handlers, is_signal_atomic};
use super::spans::Span;
use crate::facts::{
    AbstractObjectId, AbstractObjectKind, Facts, InPart, Location, MemoryAccess, Offset, Shape, TermId, ThreadId,
};
use crate::locks::{Family, Held, Lockset, LocksetId, Locksets, Mode, Moment, Place, Token};
use crate::program::{
    CastKind, Constant, ConstantId, FunctionId, GlobalId, Instruction, Operand, Operation, Program, RegisterId, Type,
};
use crate::thread_pds::holding::{Identity, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoverId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKey {
    Place(Place),
    Shape(ShapeId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    Lock {
        key: LockKey,
        mode: Mode,
        family: Family,
        since: Option<Moment>,
    },
    Section,
    InsideOnce(Place),
    OnceDone(Place),
    Acquired(Place, Mode),
    /// With the permit of a semaphore that is a lock.
    Permit(Place),
    /// By this thread, before it posts to its channel.
    Unsent(Place, ThreadId),
    /// After a wait for the channel.
    Handed(Place),
    /// The address says which argument the thread was created with, or a value that differs where arguments do.
    Own(ShapeId, OwnBy),
    /// The address says which argument the thread's next instance will have.
    Next(ThreadId, ShapeId, OwnBy),
    /// The address is that of an object that the running thread has made itself.
    OwnInstance,
    /// To an object that signal handlers may touch as well.
    SignalAtomic,
}

/// What differs between two threads with different arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnBy {
    Argument,
    /// The argument as an `int`: as many threads as would make two of them equal cannot exist.
    LowBits,
    /// What stands a fixed distance from where the argument points, in a table of different values that nobody writes.
    Table(Table),
}

/// Ascending, each once.
pub type Cover = Vec<Item>;

/// What an address, the bytes there, and a lock have to do with each other.
type FoundShapes = FxHashMap<(FunctionId, TermId, Option<u64>, TermId), Option<Shape>>;

/// What a cover is a function of.
type KnownBy = (
    FunctionId,
    Option<Operand>,
    Option<u64>,
    (Option<Span>, Option<(AbstractObjectId, InPart)>),
    SmallVec<[NextPart; 1]>,
    (bool, bool),
    LocksetId,
);

/// The covers of all rounds of the engine: equal ones have one number, whenever they came up.
pub struct Covers<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    table: IndexSet<Cover, FxBuildHasher>,
    shapes: IndexSet<Shape, FxBuildHasher>,
    found_shapes: FoundShapes,
    known: FxHashMap<KnownBy, CoverId>,
    has_handlers: bool,
    /// Places and families with a lock that a stranger may release.
    bad_places: FxHashMap<Place, bool>,
    bad_families: FxHashMap<Family, bool>,
    tainted: FxHashSet<Family>,
    semaphores: &'a Semaphores,
    /// Where locks and controls lie that somebody may initialise while others use them.
    unsettled: FxHashSet<Location>,
    /// The constants that are addresses of globals.
    addresses: FxHashMap<GlobalId, ConstantId>,
    /// By function: the registers that hold addresses of its own variables.
    made_here: FxHashMap<FunctionId, FxHashSet<RegisterId>>,
}

impl<'a, 'p> Covers<'a, 'p> {
    pub fn new(
        program: &'a Program,
        facts: &'a Facts<'p>,
        tainted: FxHashSet<Family>,
        semaphores: &'a Semaphores,
    ) -> Covers<'a, 'p> {
        let addresses = program.constants.iter().filter_map(|(id, constant)| match constant {
            Constant::Global(global) => Some((*global, id)),
            _ => None,
        });
        Covers {
            addresses: addresses.collect(),
            made_here: FxHashMap::default(),
            program,
            facts,
            table: IndexSet::default(),
            shapes: IndexSet::default(),
            found_shapes: FxHashMap::default(),
            known: FxHashMap::default(),
            has_handlers: has_handlers(facts),
            bad_places: FxHashMap::default(),
            bad_families: FxHashMap::default(),
            tainted,
            semaphores,
            unsettled: FxHashSet::default(),
        }
    }

    /// More locks are initialised while others may use them: what they seemed to protect is asked again.
    pub fn unsettle(&mut self, identity: &mut Identity<'_, '_>, locksets: &Locksets, unsettled: &FxHashSet<Location>) {
        if self.unsettled == *unsettled {
            return;
        }
        self.unsettled.clone_from(unsettled);
        let good_places: Vec<Place> = self.bad_places.iter().filter(|(_, is_bad)| !**is_bad).map(|(place, _)| *place).collect();
        let good_families: Vec<Family> =
            self.bad_families.iter().filter(|(_, is_bad)| !**is_bad).map(|(family, _)| *family).collect();
        good_places.iter().for_each(|place| _ = self.bad_places.remove(place));
        good_families.iter().for_each(|family| _ = self.bad_families.remove(family));
        let places: FxHashSet<Place> = good_places.into_iter().filter(|place| self.is_bad_place(identity, *place)).collect();
        let families: FxHashSet<Family> =
            good_families.into_iter().filter(|family| self.is_bad_family(identity, *family)).collect();
        self.known.retain(|(.., lockset), _| {
            let is_bad =
                |held: &Held| held.names.place.is_some_and(|place| places.contains(&place)) || families.contains(&held.family);
            !locksets.get(*lockset).iter().any(is_bad)
        });
    }

    pub fn get(&self, id: CoverId) -> &Cover {
        &self.table[id.0 as usize]
    }

    /// The cover of a row under a lockset.
    pub fn of(&mut self, identity: &mut Identity<'_, '_>, row: &Row, (id, lockset): (LocksetId, &Lockset)) -> CoverId {
        let (function, access) = (row.position.function, &row.access);
        let key = (
            function,
            access.operand(),
            access.size,
            (row.span, row.part),
            row.next.clone(),
            (access.is_volatile, row.is_own),
            id,
        );
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut cover = Cover::new();
        let address = access.operand().map(|operand| identity.term(function, operand));
        let around = row.span.map(|span| {
            let base = identity.term(function, span.base);
            (self.facts.values.plus(base, span.distance), Some(span.size))
        });
        let sought: SmallVec<[(TermId, Option<u64>); 2]> =
            address.map(|address| (address, access.size)).into_iter().chain(around).collect();
        if row.is_own || address.is_some_and(|address| self.is_own_instance(function, address)) {
            cover.push(Item::OwnInstance);
        }
        if let Some(shape) = row.part.and_then(|(object, part)| self.facts.values.shape_in_part(object, part)) {
            cover.push(Item::Own(self.shape_id(shape), OwnBy::Argument));
        }
        for next in &row.next {
            match next.by {
                NextBy::Part(object, part) => {
                    if let Some(shape) = self.facts.values.shape_in_part(object, part) {
                        cover.push(Item::Next(next.thread, self.shape_id(shape), OwnBy::Argument));
                    }
                }
                NextBy::Argument(argument) => {
                    let low = self.facts.values.low_bits(argument, 32);
                    for (mark, by) in [(argument, OwnBy::Argument)].into_iter().chain(low.map(|low| (low, OwnBy::LowBits))) {
                        for shape in self.shapes(function, &sought, mark.number()) {
                            cover.push(Item::Next(next.thread, self.shape_id(shape), by));
                        }
                    }
                }
            }
        }
        if self.has_handlers && is_signal_atomic(self.program, self.facts, function, access) {
            cover.push(Item::SignalAtomic);
        }
        for held in lockset.iter() {
            match held.token {
                Token::Lock => {
                    let lock = |key| Item::Lock { key, mode: held.mode, family: held.family, since: held.since };
                    if let Some(place) = held.names.place
                        && !self.is_bad_place(identity, place)
                    {
                        cover.push(lock(LockKey::Place(place)));
                        if let Some(shape) = self.shape_by_place(identity, function, access, place) {
                            cover.push(lock(LockKey::Shape(shape)));
                        }
                    }
                    if !held.names.terms.is_empty() && !self.is_bad_family(identity, held.family) {
                        let names = held.names.terms.iter();
                        let shapes: Vec<Shape> = names.flat_map(|term| self.shapes(function, &sought, term.0)).collect();
                        cover.extend(shapes.into_iter().map(|shape| lock(LockKey::Shape(self.shape_id(shape)))));
                    }
                }
                Token::AtomicSection => cover.push(Item::Section),
                Token::InsideOnce => {
                    cover.extend(held.names.place.filter(|place| !self.is_bad_place(identity, *place)).map(Item::InsideOnce))
                }
                Token::OnceDone => {
                    cover.extend(held.names.place.filter(|place| !self.is_bad_place(identity, *place)).map(Item::OnceDone))
                }
                Token::Acquired => cover.extend(
                    held.names
                        .place
                        .filter(|place| !self.is_bad_place(identity, *place))
                        .map(|place| Item::Acquired(place, held.mode)),
                ),
                Token::Permit | Token::Unsent | Token::Handed => {
                    let place = held.names.place.filter(|place| !self.is_bad_place(identity, *place));
                    cover.extend(place.and_then(|place| self.of_semaphore(held.token, place)));
                }
                Token::OwnArgument => {
                    let Some(address) = address else { continue };
                    for own in &held.names.terms {
                        let own = TermId::from_number(own.0);
                        let mut marks = vec![(own, OwnBy::Argument)];
                        marks.extend(self.low_bits(function, own).map(|low| (low, OwnBy::LowBits)));
                        for leaf in self.facts.values.leaves(address) {
                            let table = identity.entry_of_a_table(function, leaf, own);
                            marks.extend(table.map(|table| (self.facts.values.leaf(function, leaf), OwnBy::Table(table))));
                        }
                        for (mark, by) in marks {
                            for shape in self.shapes(function, &sought, mark.number()) {
                                cover.push(Item::Own(self.shape_id(shape), by));
                            }
                        }
                    }
                }
            }
        }
        cover.sort_unstable();
        cover.dedup();
        let cover = CoverId(self.table.insert_full(cover).0 as u32);
        self.known.insert(key, cover);
        cover
    }

    /// What is known of a semaphore, if it says anything about other threads.
    fn of_semaphore(&self, token: Token, place: Place) -> Option<Item> {
        match token {
            Token::Permit => self.semaphores.is_lock(place).then_some(Item::Permit(place)),
            Token::Unsent => self.semaphores.sender(place).map(|sender| Item::Unsent(place, sender)),
            Token::Handed => self.semaphores.sender(place).map(|_| Item::Handed(place)),
            _ => None,
        }
    }

    /// The argument cut down to 32 bits, where the function does that.
    fn low_bits(&self, function: FunctionId, argument: TermId) -> Option<TermId> {
        let values = &self.facts.values;
        let body = &self.program.functions[function];
        let is_narrowed = |one: &&Instruction| match &one.operation {
            Operation::Cast { kind: CastKind::Truncate, value } => {
                one.result.is_some_and(|result| body.registers[result].ty == Type::integer(32))
                    && values.term(function, *value) == argument
            }
            _ => false,
        };
        let narrowed = body.blocks.iter().flat_map(|block| &block.instructions).find(is_narrowed)?;
        Some(values.term(function, Operand::Register(narrowed.result?)))
    }

    /// The shapes of a lock for the bytes that an access touches, and for all that it stays in.
    fn shapes(&mut self, function: FunctionId, sought: &[(TermId, Option<u64>)], lock: u32) -> SmallVec<[Shape; 2]> {
        sought.iter().filter_map(|(address, size)| self.shape(function, *address, *size, lock)).collect()
    }

    fn shape(&mut self, function: FunctionId, address: TermId, size: Option<u64>, lock: u32) -> Option<Shape> {
        let lock = TermId::from_number(lock);
        let find = || self.facts.values.shape(&self.facts.points_to, function, address, size, lock);
        self.found_shapes.entry((function, address, size, lock)).or_insert_with(find).clone()
    }

    /// A lock and an access at exact places of one global say how they lie to each other, as terms would.
    fn shape_by_place(
        &mut self,
        identity: &Identity<'_, '_>,
        function: FunctionId,
        access: &MemoryAccess,
        lock: Place,
    ) -> Option<ShapeId> {
        let lock = identity.location(lock)?;
        let mut pointees = self.facts.points_to.pointees(function, access.operand()?);
        let (Some(accessed), None) = (pointees.next(), pointees.next()) else { return None };
        let AbstractObjectKind::Global(global) = self.facts.points_to.object(lock.object).kind else { return None };
        let (Offset::At(lock_at), Offset::At(at), true) = (lock.offset, accessed.offset, lock.object == accessed.object) else {
            return None;
        };
        let constant = *self.addresses.get(&global)?;
        let values = &self.facts.values;
        let start = values.term(function, Operand::Constant(constant));
        let (address, lock) = (values.plus(start, i64::try_from(at).ok()?), values.plus(start, i64::try_from(lock_at).ok()?));
        let shape = self.shape(function, address, access.size, lock.number())?;
        Some(self.shape_id(shape))
    }

    fn shape_id(&mut self, shape: Shape) -> ShapeId {
        ShapeId(self.shapes.insert_full(shape).0 as u32)
    }

    pub fn is_bad_place(&mut self, identity: &mut Identity<'_, '_>, place: Place) -> bool {
        if let Some(known) = self.bad_places.get(&place) {
            return *known;
        }
        let location = identity.location(place);
        let overlaps = |other: &Location| location.is_some_and(|location| self.facts.points_to.may_alias(location, 1, *other, 1));
        let is_tainted = location.is_some() && self.tainted.iter().any(|family| identity.may_be(*family, place));
        let is_bad = is_tainted || self.unsettled.iter().any(overlaps);
        self.bad_places.insert(place, is_bad);
        is_bad
    }

    fn is_bad_family(&mut self, identity: &mut Identity<'_, '_>, family: Family) -> bool {
        if let Some(known) = self.bad_families.get(&family) {
            return *known;
        }
        let overlaps =
            |location: &Location| self.unsettled.iter().any(|other| self.facts.points_to.may_alias(*location, 1, *other, 1));
        let is_bad = self.tainted.iter().any(|other| identity.may_alias(*other, family))
            || identity.locations(family).iter().any(overlaps);
        self.bad_families.insert(family, is_bad);
        is_bad
    }

    pub(super) fn agree(&self, left: ShapeId, right: ShapeId) -> bool {
        self.facts.values.agree(&self.shapes[left.0 as usize], &self.shapes[right.0 as usize])
    }

    /// Whether the address leads into a variable that this activation, or this thread, has made for itself.
    fn is_own_instance(&mut self, function: FunctionId, address: TermId) -> bool {
        let [leaf] = self.facts.values.leaves(address)[..] else { return false };
        let program = self.program;
        let makes =
            |operation: &Operation| matches!(operation, Operation::StackAllocate { .. } | Operation::ThreadLocalAddress { .. });
        let made = self.made_here.entry(function).or_insert_with(|| {
            let instructions = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
            instructions.filter(|one| makes(&one.operation)).filter_map(|one| one.result).collect()
        });
        let is_made_here = made.contains(&leaf);
        // A fixed distance from it, and no choice between it and another.
        is_made_here && self.facts.values.difference(address, self.facts.values.leaf(function, leaf)).is_some()
    }
}
