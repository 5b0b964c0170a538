//! One pushdown system a thread, its rules labelled with what they do to locks and threads.

use std::collections::BTreeMap;

use super::lock_table::{LockTable, Mode};
use super::program::KnownOrder;
use crate::locks::history::{Atom, LockId};
use crate::pushdown::{Configuration, ControlId, Head, PushdownSystem, RuleId, SymbolId};

/// A thread of the program: an entry function, created at one place or at several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Nothing,
    /// Waits until the lock is free.
    Acquire {
        lock: LockId,
        mode: Mode,
    },
    /// A trylock that got it; the same symbol has a rule for the failure.
    TrySucceeded {
        lock: LockId,
        mode: Mode,
    },
    TryFailed {
        lock: LockId,
        mode: Mode,
    },
    Release {
        lock: LockId,
    },
    /// The first half of a wait for a condition variable: releases, and sleeps until it is woken. An `Acquire` follows.
    Sleep {
        lock: LockId,
    },
    Spawn {
        thread: ThreadId,
    },
    /// Waits for the end of an instance.
    Join {
        thread: ThreadId,
        /// It is the instance that this thread created last; passes if that one was joined before, or there is none.
        is_last: bool,
    },
    /// Passes only if data allow it.
    Condition,
}

impl Step {
    /// The lock it takes or gives back, if it is about one.
    pub fn lock(self) -> Option<LockId> {
        match self {
            Step::Acquire { lock, .. }
            | Step::TrySucceeded { lock, .. }
            | Step::TryFailed { lock, .. }
            | Step::Release { lock }
            | Step::Sleep { lock } => Some(lock),
            Step::Nothing | Step::Spawn { .. } | Step::Join { .. } | Step::Condition => None,
        }
    }
}

/// An access of shared data that a thread standing at a symbol is about to make; objects are the producer's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    pub object: u32,
    pub is_write: bool,
    pub is_atomic: bool,
}

#[derive(Clone, Debug)]
pub struct ThreadSystem {
    pub name: String,
    /// The stack holds what is to be executed next; a symbol is a place where the thread can stand. A thread whose stack is empty has ended.
    pub system: PushdownSystem<Step>,
    pub start: Head,
    /// Instances that exist when the program starts.
    pub instances: usize,
    /// Instances that are created by what is no step of a system, where the producer knows their number.
    pub created: usize,
    /// What such an instance holds then; only with one instance.
    pub holds: Vec<Atom>,
    /// By symbol: the producer's number of the place in the source.
    pub places: Vec<u32>,
    pub accesses: BTreeMap<SymbolId, Access>,
}

impl ThreadSystem {
    pub fn new(name: impl Into<String>, start: SymbolId) -> ThreadSystem {
        ThreadSystem {
            name: name.into(),
            system: PushdownSystem::new(1, 0),
            start: Head { control: ControlId(0), symbol: start },
            instances: 0,
            created: 0,
            holds: Vec::new(),
            places: Vec::new(),
            accesses: BTreeMap::new(),
        }
    }

    pub fn place(&self, symbol: SymbolId) -> u32 {
        self.places[usize::from(symbol)]
    }

    pub fn initial(&self) -> Configuration {
        Configuration::new(self.start.control, [self.start.symbol])
    }

    /// The steps of the rules at a symbol, whatever the control state.
    pub fn steps_at(&self, symbol: SymbolId) -> impl Iterator<Item = (RuleId, Step)> + '_ {
        let controls = (0..self.system.control_count()).map(ControlId::from);
        controls
            .flat_map(move |control| self.system.rules_at(Head { control, symbol }))
            .map(|rule| (*rule, self.system.rule(*rule).weight))
    }
}

/// All threads of a program, and their locks.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    pub locks: LockTable,
    pub threads: Vec<ThreadSystem>,
    /// Which points are never at once, where the producer knows more than the steps show.
    pub order: Option<KnownOrder>,
}

impl Threads {
    pub fn thread(&self, thread: ThreadId) -> &ThreadSystem {
        &self.threads[thread.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len() as u32).map(ThreadId)
    }
}
