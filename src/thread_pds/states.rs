//! The first pass: in which states each lock may be where a thread stands, one lock at a time.
//!
//! # Definition   A lock is, for one thread, not held (0), held once (1), held twice (2), held more often (3), or held for writing (4; read-write locks only).
//!                A path is a relation between these states for each lock; the choice between paths is their union.
//! # Theorem      Every state that a run shows is in the result; locks are looked at one by one, so more may be. A place with no state for some
//!                lock is not reached.
//! # Paper        Kahlon, Ivančić, Gupta 2005, §5.1 (combining lock analysis with program analysis).

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::lock_table::{LockKind, LockTable, Mode};
use super::system::Step;
use crate::locks::history::{Atom, BitSet, Count, LockId};
use crate::pushdown::Semiring;

const NONE: usize = 0;
const ONCE: usize = 1;
const TWICE: usize = 2;
const MORE: usize = 3;
const WRITING: usize = 4;
const STATES: usize = 5;

/// A set of these states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStates(u8);

impl LockStates {
    pub fn may_be_free(self) -> bool {
        self.0 & 1 << NONE != 0
    }

    pub fn may_be_held(self) -> bool {
        self.0 & !(1 << NONE) != 0
    }

    pub fn may_be_held_again(self) -> bool {
        self.0 & (1 << TWICE | 1 << MORE) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The atoms of the lock that may be held.
    pub fn atoms(self, lock: LockId, kind: LockKind) -> impl Iterator<Item = Atom> {
        let reading = self.0 & (1 << ONCE | 1 << TWICE | 1 << MORE) != 0;
        let writing = self.0 & 1 << WRITING != 0;
        let modes = match kind {
            LockKind::ReadWrite => [reading.then_some(Mode::Shared), writing.then_some(Mode::Exclusive)],
            LockKind::Mutex | LockKind::Recursive | LockKind::ErrorCheck => [reading.then_some(Mode::Exclusive), None],
        };
        modes.into_iter().flatten().map(move |mode| Atom::new(lock, mode))
    }
}

impl LockStates {
    /// How often the lock may be held for reading and for writing; more than twice is shown by 3 and by the most that is counted.
    pub fn counts(self, kind: LockKind) -> impl Iterator<Item = (i16, i16)> {
        let is_rw = kind == LockKind::ReadWrite;
        let of = move |count: i16| if is_rw { (count, 0) } else { (0, count) };
        let all = [(NONE, of(0)), (ONCE, of(1)), (TWICE, of(2)), (MORE, of(3)), (MORE, of(Count::MOST)), (WRITING, (0, 1))];
        all.into_iter().filter(move |(state, _)| self.0 >> state & 1 == 1).map(|(_, counts)| counts)
    }
}

/// A relation is a set of bits, one for each state before and each state behind.
type Relation = u32;

const fn pair(from: usize, to: usize) -> Relation {
    1 << (STATES * from + to)
}

const IDENTITY: Relation = pair(NONE, NONE) | pair(ONCE, ONCE) | pair(TWICE, TWICE) | pair(MORE, MORE) | pair(WRITING, WRITING);

fn relation(pairs: &[(usize, usize)]) -> Relation {
    pairs.iter().fold(0, |relation, (from, to)| relation | pair(*from, *to))
}

/// The states that a relation leads to from one.
fn row(relation: Relation, from: usize) -> Relation {
    relation >> (STATES * from) & ((1 << STATES) - 1)
}

fn meaning(step: Step, kind: LockKind, is_reliable: bool) -> Relation {
    let counting = relation(&[(NONE, ONCE), (ONCE, TWICE), (TWICE, MORE), (MORE, MORE)]);
    let reading = [ONCE, TWICE, MORE];
    let exclusive = |mode| kind != LockKind::ReadWrite || mode == Mode::Exclusive;
    let is_rw = kind == LockKind::ReadWrite;
    match step {
        Step::Acquire { mode, .. } | Step::TrySucceeded { mode, .. } if !is_reliable => match (is_rw, exclusive(mode)) {
            (true, true) => {
                let to_writing = reading.iter().fold(0, |all, state| all | pair(*state, WRITING) | pair(*state, *state));
                to_writing | relation(&[(NONE, WRITING), (WRITING, WRITING)])
            }
            (true, false) => counting | relation(&[(WRITING, WRITING), (WRITING, ONCE)]),
            (false, _) => counting,
        },
        Step::Acquire { mode, .. } => match kind {
            LockKind::Mutex => relation(&[(NONE, ONCE)]),
            LockKind::Recursive => counting,
            LockKind::ErrorCheck => relation(&[(NONE, ONCE), (ONCE, ONCE)]),
            LockKind::ReadWrite if mode == Mode::Exclusive => relation(&[(NONE, WRITING), (WRITING, WRITING)]),
            LockKind::ReadWrite => counting | relation(&[(WRITING, WRITING)]),
        },
        Step::TrySucceeded { mode, .. } => match kind {
            LockKind::Mutex | LockKind::ErrorCheck => relation(&[(NONE, ONCE)]),
            LockKind::Recursive => counting,
            LockKind::ReadWrite if mode == Mode::Exclusive => relation(&[(NONE, WRITING)]),
            LockKind::ReadWrite => counting,
        },
        Step::TryFailed { .. } if !is_reliable => IDENTITY,
        Step::TryFailed { mode, .. } => match kind {
            LockKind::Mutex | LockKind::ErrorCheck => relation(&[(NONE, NONE), (ONCE, ONCE)]),
            LockKind::Recursive => relation(&[(NONE, NONE)]),
            LockKind::ReadWrite if mode == Mode::Exclusive => IDENTITY,
            LockKind::ReadWrite => relation(&[(NONE, NONE), (WRITING, WRITING)]),
        },
        Step::Release { .. } | Step::Sleep { .. } => {
            let given = relation(&[(NONE, NONE), (ONCE, NONE), (TWICE, ONCE), (MORE, TWICE), (MORE, MORE), (WRITING, NONE)]);
            if is_reliable { given } else { given | relation(&[(WRITING, ONCE), (WRITING, WRITING)]) }
        }
        Step::Nothing | Step::Spawn { .. } | Step::Join { .. } | Step::Condition => IDENTITY,
    }
}

/// For each lock a relation, by number in [`StateRelations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationsId(u32);

impl RelationsId {
    /// No path.
    const NONE: RelationsId = RelationsId(0);
    /// The path of no steps.
    const EMPTY_PATH: RelationsId = RelationsId(1);
}

/// The locks that a path has to do with, ascending, each with a relation; every other one stays as it is.
type Relations = Box<[(LockId, Relation)]>;

/// The semiring of relations for each lock. Each is kept once, and what was composed or united is remembered.
#[derive(Debug)]
pub struct StateRelations {
    relations: IndexSet<Relations, FxBuildHasher>,
    extended: FxHashMap<(RelationsId, RelationsId), RelationsId>,
    combined: FxHashMap<(RelationsId, RelationsId), RelationsId>,
}

impl Default for StateRelations {
    fn default() -> Self {
        let mut relations: IndexSet<Relations, FxBuildHasher> = IndexSet::default();
        // No lock has this number: it makes "no path" a value of its own.
        relations.insert(Box::new([(LockId(u32::MAX), 0)]));
        relations.insert(Box::new([]));
        StateRelations { relations, extended: FxHashMap::default(), combined: FxHashMap::default() }
    }
}

impl StateRelations {
    /// What a step means; `reliable` locks are one run-time lock each, which only its holder releases.
    pub fn weigh(&mut self, step: Step, locks: &LockTable, reliable: &BitSet) -> RelationsId {
        let Some(lock) = step.lock() else { return RelationsId::EMPTY_PATH };
        let relation = meaning(step, locks.lock(lock).kind, reliable.contains(lock.0 as usize));
        self.intern([(lock, relation)].into_iter())
    }

    /// In which states a lock may be after the paths of a weight, as a thread begins that holds `start`.
    pub fn states(&self, relations: RelationsId, lock: LockId, start: &[Atom], kind: LockKind) -> LockStates {
        let entries = &self.relations[relations.0 as usize];
        let relation = entries.binary_search_by_key(&lock, |(lock, _)| *lock).map_or(IDENTITY, |at| entries[at].1);
        after(relation, lock, start, kind)
    }

    /// The locks that the paths of a weight have to do with, and their states; all others are as they were.
    pub fn touched<'a>(
        &'a self,
        relations: RelationsId,
        start: &'a [Atom],
        locks: &'a LockTable,
    ) -> impl Iterator<Item = (LockId, LockStates)> + 'a {
        let entries = self.relations[relations.0 as usize].iter();
        entries.map(move |(lock, relation)| (*lock, after(*relation, *lock, start, locks.lock(*lock).kind)))
    }

    /// The number here of what has a number elsewhere.
    pub fn copy(&mut self, other: &StateRelations, relations: RelationsId) -> RelationsId {
        let entries = &other.relations[relations.0 as usize];
        match self.relations.get_index_of(entries) {
            Some(known) => RelationsId(known as u32),
            None => RelationsId(self.relations.insert_full(entries.clone()).0 as u32),
        }
    }

    fn intern(&mut self, relations: impl Iterator<Item = (LockId, Relation)>) -> RelationsId {
        let relations: Relations = relations.filter(|(_, relation)| *relation != IDENTITY).collect();
        RelationsId(self.relations.insert_full(relations).0 as u32)
    }

    /// Lock by lock.
    fn merge(&mut self, one: RelationsId, two: RelationsId, join: impl Fn(Relation, Relation) -> Relation) -> RelationsId {
        let (left, right) = (&self.relations[one.0 as usize], &self.relations[two.0 as usize]);
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut here, mut there) = (left.iter().peekable(), right.iter().peekable());
        loop {
            let lock = match (here.peek(), there.peek()) {
                (None, None) => break,
                (Some((one, _)), Some((two, _))) => *one.min(two),
                (Some((one, _)), None) => *one,
                (None, Some((two, _))) => *two,
            };
            let take = |entries: &mut std::iter::Peekable<std::slice::Iter<'_, (LockId, Relation)>>| {
                entries.next_if(|(other, _)| *other == lock).map_or(IDENTITY, |(_, relation)| *relation)
            };
            let (first, second) = (take(&mut here), take(&mut there));
            merged.push((lock, join(first, second)));
        }
        self.intern(merged.into_iter())
    }
}

fn after(relation: Relation, lock: LockId, start: &[Atom], kind: LockKind) -> LockStates {
    let held = start.iter().find(|atom| atom.lock() == lock);
    let from = match held.map(|atom| atom.mode()) {
        None => NONE,
        Some(Mode::Exclusive) if kind == LockKind::ReadWrite => WRITING,
        Some(_) => ONCE,
    };
    LockStates(row(relation, from) as u8)
}

fn compose(first: Relation, then: Relation) -> Relation {
    if first == IDENTITY {
        return then;
    }
    if then == IDENTITY {
        return first;
    }
    let through = |from: usize| {
        let middle = row(first, from);
        (0..STATES).filter(|state| middle >> state & 1 == 1).fold(0, |to, state| to | row(then, state))
    };
    (0..STATES).fold(0, |whole, from| whole | through(from) << (STATES * from))
}

impl Semiring for StateRelations {
    type Weight = RelationsId;

    fn zero(&self) -> RelationsId {
        RelationsId::NONE
    }

    fn one(&self) -> RelationsId {
        RelationsId::EMPTY_PATH
    }

    fn combine(&mut self, left: &RelationsId, right: &RelationsId) -> RelationsId {
        let (left, right) = (*left.min(right), *left.max(right));
        if left == right || left == RelationsId::NONE {
            return right;
        }
        if let Some(known) = self.combined.get(&(left, right)) {
            return *known;
        }
        let union = self.merge(left, right, |one, two| one | two);
        self.combined.insert((left, right), union);
        union
    }

    fn extend(&mut self, first: &RelationsId, then: &RelationsId) -> RelationsId {
        match (*first, *then) {
            (RelationsId::NONE, _) | (_, RelationsId::NONE) => return RelationsId::NONE,
            (RelationsId::EMPTY_PATH, other) | (other, RelationsId::EMPTY_PATH) => return other,
            _ => {}
        }
        if let Some(known) = self.extended.get(&(*first, *then)) {
            return *known;
        }
        let whole = self.merge(*first, *then, compose);
        self.extended.insert((*first, *then), whole);
        whole
    }
}
