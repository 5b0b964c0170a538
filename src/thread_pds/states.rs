//! The first pass: in which states each lock may be where a thread stands, one lock at a time.
//!
//! # Definition   A lock is, for one thread, not held (0), held once (1), held more than once (2), or held for writing (3; read-write locks only).
//!                A path is a relation between these states for each lock; the choice between paths is their union.
//! # Theorem      Every state that a run shows is in the result; locks are looked at one by one, so more may be. A place with no state for some
//!                lock is not reached.
//! # Paper        Kahlon, Ivančić, Gupta 2005, §5.1 (combining lock analysis with program analysis).

use std::rc::Rc;

use super::lock_table::{LockKind, LockTable, Mode};
use super::system::Step;
use crate::locks::history::{Atom, BitSet, Count, LockId};
use crate::pushdown::Semiring;

const NONE: usize = 0;
const ONCE: usize = 1;
const MORE: usize = 2;
const WRITING: usize = 3;

/// A set of the four states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStates(u8);

impl LockStates {
    pub fn may_be_free(self) -> bool {
        self.0 & 1 << NONE != 0
    }

    pub fn may_be_held(self) -> bool {
        self.0 & !(1 << NONE) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The atoms of the lock that may be held.
    pub fn atoms(self, lock: LockId, kind: LockKind) -> impl Iterator<Item = Atom> {
        let reading = self.0 & (1 << ONCE | 1 << MORE) != 0;
        let writing = self.0 & 1 << WRITING != 0;
        let modes = match kind {
            LockKind::ReadWrite => [reading.then_some(Mode::Shared), writing.then_some(Mode::Exclusive)],
            LockKind::Mutex | LockKind::Recursive | LockKind::ErrorCheck => [reading.then_some(Mode::Exclusive), None],
        };
        modes.into_iter().flatten().map(move |mode| Atom::new(lock, mode))
    }
}

impl LockStates {
    /// How often the lock may be held for reading and for writing; more than once is shown by 2 and by the most that is counted.
    pub fn counts(self, kind: LockKind) -> impl Iterator<Item = (i16, i16)> {
        let is_rw = kind == LockKind::ReadWrite;
        let of = move |count: i16| if is_rw { (count, 0) } else { (0, count) };
        let all = [(NONE, of(0)), (ONCE, of(1)), (MORE, of(2)), (MORE, of(Count::MOST)), (WRITING, (0, 1))];
        all.into_iter().filter(move |(state, _)| self.0 >> state & 1 == 1).map(|(_, counts)| counts)
    }
}

/// For each lock a relation: bit 4·from + to.
pub type Relations = Rc<[u16]>;

const IDENTITY: u16 = 1 << (4 * NONE + NONE) | 1 << (4 * ONCE + ONCE) | 1 << (4 * MORE + MORE) | 1 << (4 * WRITING + WRITING);

/// What all paths to a place make of the states at the start.
pub fn states(relations: &Relations, lock: LockId, start: &[Atom], kind: LockKind) -> LockStates {
    let held = start.iter().find(|atom| atom.lock() == lock);
    let from = match held.map(|atom| atom.mode()) {
        None => NONE,
        Some(Mode::Exclusive) if kind == LockKind::ReadWrite => WRITING,
        Some(_) => ONCE,
    };
    LockStates((relations[lock.0 as usize] >> (4 * from)) as u8 & 15)
}

fn relation(pairs: &[(usize, usize)]) -> u16 {
    pairs.iter().fold(0, |relation, (from, to)| relation | 1 << (4 * from + to))
}

fn meaning(step: Step, kind: LockKind, is_reliable: bool) -> u16 {
    let counting = relation(&[(NONE, ONCE), (ONCE, MORE), (MORE, MORE)]);
    let exclusive = |mode| kind != LockKind::ReadWrite || mode == Mode::Exclusive;
    let is_rw = kind == LockKind::ReadWrite;
    match step {
        Step::Acquire { mode, .. } | Step::TrySucceeded { mode, .. } if !is_reliable => match (is_rw, exclusive(mode)) {
            (true, true) => relation(&[(0, 3), (1, 3), (1, 1), (2, 3), (2, 2), (3, 3)]),
            (true, false) => counting | relation(&[(3, 3), (3, 1)]),
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
            let given = relation(&[(NONE, NONE), (ONCE, NONE), (MORE, ONCE), (MORE, MORE), (WRITING, NONE)]);
            if is_reliable { given } else { given | relation(&[(WRITING, ONCE), (WRITING, WRITING)]) }
        }
        Step::Nothing | Step::Spawn { .. } | Step::Join { .. } | Step::Condition => IDENTITY,
    }
}

/// The semiring of relations for each lock.
pub struct StateRelations<'t> {
    locks: &'t LockTable,
    /// Locks whose holder another thread may not know about, or that are several.
    reliable: BitSet,
    zero: Relations,
    one: Relations,
}

impl<'t> StateRelations<'t> {
    pub fn new(locks: &'t LockTable, reliable: BitSet) -> StateRelations<'t> {
        // One more than there are locks, so that a path and no path differ where there is no lock.
        let all = |relation: u16| vec![relation; locks.len() + 1].into();
        StateRelations { locks, reliable, zero: all(0), one: all(IDENTITY) }
    }

    pub fn weigh(&self, step: Step) -> Relations {
        let Some(lock) = step.lock() else { return self.one.clone() };
        let mut relations = self.one.to_vec();
        relations[lock.0 as usize] = meaning(step, self.locks.lock(lock).kind, self.reliable.contains(lock.0 as usize));
        relations.into()
    }
}

fn compose(first: u16, then: u16) -> u16 {
    if first == IDENTITY {
        return then;
    }
    if then == IDENTITY {
        return first;
    }
    let row = |from: usize| {
        let middle = first >> (4 * from) & 15;
        (0..4).filter(|state| middle >> state & 1 == 1).fold(0, |row, state| row | then >> (4 * state) & 15)
    };
    (0..4).fold(0, |whole, from| whole | row(from) << (4 * from))
}

impl Semiring for StateRelations<'_> {
    type Weight = Relations;

    fn zero(&self) -> Relations {
        self.zero.clone()
    }

    fn one(&self) -> Relations {
        self.one.clone()
    }

    fn combine(&mut self, left: &Relations, right: &Relations) -> Relations {
        if left == right { left.clone() } else { left.iter().zip(right.iter()).map(|(one, two)| one | two).collect() }
    }

    fn extend(&mut self, first: &Relations, then: &Relations) -> Relations {
        if Rc::ptr_eq(first, &self.one) {
            return then.clone();
        }
        if Rc::ptr_eq(then, &self.one) {
            return first.clone();
        }
        first.iter().zip(then.iter()).map(|(one, two)| compose(*one, *two)).collect()
    }
}
