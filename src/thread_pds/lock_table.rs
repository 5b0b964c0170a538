//! The locks of a program: what each is, and whether a name stands for one run-time lock.

use typed_index_collections::TiVec;

pub use crate::locks::Mode;
use crate::locks::history::LockId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKind {
    /// Taken again by its holder it blocks for ever.
    Mutex,
    /// Counts.
    Recursive,
    /// Taken again by its holder, or released by another thread, it answers with an error and does nothing.
    ErrorCheck,
    /// Readers share, and come before waiting writers. Taken again by its writer it answers with an error and does nothing.
    ReadWrite,
}

/// Which run-time locks a lock of the table stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Exactly one: it may refute.
    One,
    /// Any number of them: an array, a field of many objects. Raises candidates, also with itself; never refutes.
    Many,
    /// One of these, unknown which: what a pointer names that may point to each of them. All steps of one path that name this lock mean the
    /// same run-time lock until it is released; where that is not sure, a producer uses one lock for each place. Raises
    /// candidates for each of them; never refutes.
    OneOf(Vec<LockId>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub name: String,
    pub kind: LockKind,
    pub identity: Identity,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockTable {
    locks: TiVec<LockIndex, Lock>,
}

/// The table's own index: the numbers of [`LockId`], which also names moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LockIndex(u32);

impl From<usize> for LockIndex {
    fn from(index: usize) -> LockIndex {
        LockIndex(u32::try_from(index).expect("a table has fewer than 2^32 entries"))
    }
}

impl From<LockIndex> for usize {
    fn from(index: LockIndex) -> usize {
        index.0 as usize
    }
}

impl LockTable {
    pub fn add(&mut self, lock: Lock) -> LockId {
        LockId(self.locks.push_and_get_key(lock).0)
    }

    /// Gives every lock its name.
    pub fn rename(&mut self, name: impl Fn(LockId) -> String) {
        self.locks.iter_mut_enumerated().for_each(|(index, lock)| lock.name = name(LockId(index.0)));
    }

    pub fn len(&self) -> usize {
        self.locks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }

    pub fn lock(&self, lock: LockId) -> &Lock {
        &self.locks[LockIndex(lock.0)]
    }

    pub fn name(&self, lock: LockId) -> &str {
        &self.lock(lock).name
    }

    pub fn ids(&self) -> impl Iterator<Item = LockId> + use<> {
        (0..self.locks.len() as u32).map(LockId)
    }

    /// Whether two names may mean one run-time lock.
    pub fn may_be_same(&self, one: LockId, other: LockId) -> bool {
        let members = |lock: LockId| match &self.lock(lock).identity {
            Identity::One | Identity::Many => vec![lock],
            Identity::OneOf(locks) => locks.clone(),
        };
        let others = members(other);
        members(one).iter().any(|lock| others.contains(lock))
    }
}
