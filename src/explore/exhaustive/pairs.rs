//! Which pairs of sites touch the same bytes from two threads, and which of those race: the truth that static engines are held against.
//!
//! # Definition   Two accesses of one execution *conflict* when two threads make them, they have a byte in common, one of them writes
//!                and not both are atomic. They *race* when the vector clocks do not order them.
//!                They *meet* when they are neighbours: one thread makes its access, the next transition is the other thread's access.
//! # Theorem      What meets races, whatever the clocks say: each could have come first. Conversely, where locks, threads and sequentially
//!                consistent atomics alone order anything, a program with a race has an execution where two accesses meet. Meeting is
//!                found without any clock, so that the two check each other.
//! # Misses       Library operations on locks and the end of an object's life are no accesses here; they are pairs where they race.
//!                Accesses inside atomic sections do not meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::explore::happens_before::Race;
use crate::explore::machine::{Event, EventKind, Machine, Observer};
use crate::explore::memory::ObjectKind;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{ObjectId, Pointer};
use crate::program::{GlobalId, SiteId};

/// What an object is in the program's text; all objects of one origin are one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Global(GlobalId),
    ThreadLocal(GlobalId),
    /// Where the local variable is made.
    Stack(SiteId),
    /// Where it is allocated.
    Heap(Option<SiteId>),
    /// Code, and what belongs to the library.
    Other,
}

impl From<ObjectKind> for Origin {
    fn from(kind: ObjectKind) -> Origin {
        match kind {
            ObjectKind::Global(global) => Origin::Global(global),
            ObjectKind::ThreadLocal { global, .. } => Origin::ThreadLocal(global),
            ObjectKind::Stack { site, .. } => Origin::Stack(site),
            ObjectKind::Heap { site, .. } => Origin::Heap(site),
            ObjectKind::Function(_) | ObjectKind::Block(..) | ObjectKind::Internal(_) => Origin::Other,
        }
    }
}

/// Two sites, the smaller first, and what both touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub sites: (Option<SiteId>, Option<SiteId>),
    pub object: Origin,
}

/// What was seen of a pair in all executions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairState {
    /// In every execution where both happen, something orders them.
    Ordered,
    Racing,
}

pub type Pairs = BTreeMap<Pair, PairState>;

#[derive(Clone, Copy, Debug)]
struct Access {
    thread: ThreadId,
    site: Option<SiteId>,
    object: ObjectId,
    from: u64,
    to: u64,
    is_write: bool,
    is_atomic: bool,
}

impl Access {
    fn conflicts_with(&self, other: &Access) -> bool {
        self.thread != other.thread
            && self.object == other.object
            && self.from < other.to
            && other.from < self.to
            && (self.is_write || other.is_write)
            && !(self.is_atomic && other.is_atomic)
    }
}

/// One transition of the execution.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Its first access.
    from: usize,
    /// It is an access and nothing else that others could see.
    is_bare: bool,
}

/// The accesses of the execution so far, and the pairs of all executions.
#[derive(Default)]
pub struct Trail {
    accesses: Vec<Access>,
    turns: Vec<Turn>,
    pairs: Pairs,
    met: BTreeSet<Pair>,
}

impl Observer for Trail {
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        let (address, size, ordering, is_write): (&Pointer, u64, _, bool) = match &event.kind {
            EventKind::Read { address, size, ordering, .. } => (address, *size, ordering, false),
            EventKind::Write { address, size, ordering, .. } => (address, *size, ordering, true),
            EventKind::Call { .. }
            | EventKind::Return { .. }
            | EventKind::LibraryCall { .. }
            | EventKind::LibraryReturn { .. }
            | EventKind::Choice { .. }
            | EventKind::ThreadFinished => return,
            EventKind::Fence { .. }
            | EventKind::Blocked { .. }
            | EventKind::Synchronization(_)
            | EventKind::Created { .. }
            | EventKind::Output { .. } => {
                self.turns.last_mut().expect("events come in a transition").is_bare = false;
                return;
            }
        };
        let Some(object) = address.object.or_else(|| machine.memory.object_at(address.address)) else { return };
        let from = address.address.wrapping_sub(machine.memory.object(object).base);
        let access = Access {
            thread: event.thread,
            site: event.site,
            object,
            from,
            to: from.wrapping_add(size),
            is_write,
            is_atomic: ordering.is_some(),
        };
        let origin = Origin::from(machine.memory.object(object).kind);
        for earlier in self.accesses.iter().filter(|earlier| earlier.conflicts_with(&access)) {
            self.pairs.entry(pair(earlier.site, access.site, origin)).or_insert(PairState::Ordered);
        }
        self.accesses.push(access);
    }
}

impl Trail {
    /// Goes back to where the execution had so many transitions, and begins another one.
    pub fn begin_turn(&mut self, length: usize) {
        if let Some(undone) = self.turns.get(length) {
            self.accesses.truncate(undone.from);
            self.turns.truncate(length);
        }
        self.turns.push(Turn { from: self.accesses.len(), is_bare: true });
    }

    /// The transition is done: have its access and the one before met?
    pub fn end_turn(&mut self, machine: &Machine<'_>) {
        let [.., before, last] = self.turns[..] else { return };
        if !before.is_bare || !last.is_bare {
            return;
        }
        let (earlier, later) = self.accesses[before.from..].split_at(last.from - before.from);
        for (one, other) in later
            .iter()
            .flat_map(|other| earlier.iter().map(move |one| (one, other)))
            .filter(|(one, other)| one.conflicts_with(other))
        {
            let origin = Origin::from(machine.memory.object(one.object).kind);
            self.met.insert(pair(one.site, other.site, origin));
        }
    }

    pub fn note_race(&mut self, machine: &Machine<'_>, race: &Race) {
        let origin = Origin::from(machine.memory.object(race.object).kind);
        self.pairs.insert(pair(race.first.site, race.second.site, origin), PairState::Racing);
    }

    /// All pairs, and those that met.
    pub fn into_pairs(self) -> (Pairs, BTreeSet<Pair>) {
        (self.pairs, self.met)
    }
}

fn pair(one: Option<SiteId>, other: Option<SiteId>, object: Origin) -> Pair {
    Pair { sites: (one.min(other), one.max(other)), object }
}
