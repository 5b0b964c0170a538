//! The locks of a program by number: those with a place by identity, the others by the family of locations they may be.
//!
//! # Theorem      Two numbers that may mean one run-time lock are known to ([`LockTable::may_be_same`]). A number that refutes ([`Identity::One`]) is one
//!                run-time lock whose behaviour, when its holder comes again, is known.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::super::holding::{self, Tabulation};
use super::super::lock_table::{Identity, Lock, LockKind, LockTable};
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::Location;
use crate::locks::history::LockId;
use crate::locks::{Family, Lockset, Names, Place, Token};

/// What a lock of the table stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockName {
    /// One run-time lock, and the family it was first seen with.
    Place(Place),
    /// One of several.
    Family(Family),
}

impl LockName {
    /// Whether it is what a pointer without a value names.
    pub fn is_any(self) -> bool {
        self == LockName::Family(holding::Identity::ANYWHERE)
    }
}

/// How a lock is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Lock,
    ReadWrite,
    /// The control of a one-time initialisation.
    Once,
}

#[derive(Default)]
pub struct Locks {
    names: IndexMap<LockName, (Family, Use), FxBuildHasher>,
}

impl Locks {
    /// The number of a lock that an operand names. All pointers without a value have one: it may be any lock.
    pub fn number(&mut self, names: &Names, family: Family, how: Use) -> LockId {
        let name = names.place.map_or(LockName::Family(family), LockName::Place);
        let entry = self.names.entry(name);
        let number = LockId(entry.index() as u32);
        let known = entry.or_insert((family, how));
        if how == Use::ReadWrite {
            known.1 = how;
        }
        number
    }

    /// Whether a number stands for one run-time lock.
    pub fn has_place(&self, lock: LockId) -> bool {
        matches!(self.names.get_index(lock.0 as usize), Some((LockName::Place(_), _)))
    }

    /// The number of what is given back: the thing that was taken, under the names it had then, if that is certain.
    pub fn held(&mut self, held: &Lockset, names: &Names, family: Family, how: Use) -> LockId {
        match held.find(Token::Lock, names) {
            Some(thing) => {
                let both = Names { place: names.place.or(thing.names.place), ..Names::default() };
                self.number(&both, thing.family, how)
            }
            None => self.number(names, family, how),
        }
    }

    /// Locks that their holder may wait for when it takes them again; of read-write locks the library may say so instead.
    pub fn waiting_for_themselves(&self, tabulation: &Tabulation<'_, '_>) -> Vec<bool> {
        let waits = |(name, (family, how)): (&LockName, &(Family, Use))| match how {
            Use::Once | Use::ReadWrite => true,
            Use::Lock => tabulation.kinds.may_wait_for_itself(&locations(tabulation, *name, *family)),
        };
        self.names.iter().map(waits).collect()
    }

    /// The table of all locks, and what each number means. Without `may_refute` no lock does.
    pub fn table(
        self,
        tabulation: &mut Tabulation<'_, '_>,
        may_refute: bool,
        deadline: Deadline,
    ) -> Result<(LockTable, Vec<LockName>), OutOfTime> {
        let mut table = LockTable::default();
        let names: Vec<LockName> = self.names.keys().copied().collect();
        for (at, (name, (family, how))) in self.names.iter().enumerate() {
            deadline.check()?;
            // What may be any lock says so itself, so that those which it may be do not become each other.
            let others = names.iter().enumerate().filter(|(other, name)| *other != at && !name.is_any());
            let same: Vec<LockId> = others
                .filter(|(_, other)| may_be_same(tabulation, *name, **other))
                .map(|(other, _)| LockId(other as u32))
                .collect();
            let kind = kind(tabulation, *name, *family, *how);
            let identity = match name {
                LockName::Place(_) if kind.is_some() && may_refute => Identity::One,
                // A place stays what it is; whoever may mean it says so.
                LockName::Place(_) => Identity::Many,
                LockName::Family(_) if same.is_empty() => Identity::Many,
                LockName::Family(_) => Identity::OneOf(std::iter::once(LockId(at as u32)).chain(same).collect()),
            };
            table.add(Lock { name: String::new(), kind: kind.unwrap_or(LockKind::Recursive), identity });
        }
        Ok((table, names))
    }
}

fn may_be_same(tabulation: &mut Tabulation<'_, '_>, one: LockName, other: LockName) -> bool {
    let identity = &mut tabulation.identity;
    match (one, other) {
        (LockName::Place(one), LockName::Place(other)) => one == other,
        (LockName::Place(place), LockName::Family(family)) | (LockName::Family(family), LockName::Place(place)) => {
            identity.may_be(family, place)
        }
        (LockName::Family(one), LockName::Family(other)) => identity.may_alias(one, other),
    }
}

fn locations(tabulation: &Tabulation<'_, '_>, name: LockName, family: Family) -> Vec<Location> {
    match name {
        LockName::Place(place) => tabulation.identity.location(place).into_iter().collect(),
        LockName::Family(_) => tabulation.identity.locations(family).to_vec(),
    }
}

/// What happens when its holder comes again; `None` when that is not known.
fn kind(tabulation: &Tabulation<'_, '_>, name: LockName, family: Family, how: Use) -> Option<LockKind> {
    match how {
        Use::Once => Some(LockKind::Mutex),
        Use::ReadWrite => Some(LockKind::ReadWrite),
        Use::Lock => tabulation.kinds.when_taken_again(&locations(tabulation, name, family)).map(|again| match again {
            holding::TakenAgain::Blocks => LockKind::Mutex,
            holding::TakenAgain::Counts => LockKind::Recursive,
            holding::TakenAgain::Refuses => LockKind::ErrorCheck,
        }),
    }
}
