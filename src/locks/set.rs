//! Sets of held things: their meet, taking and giving back, and a table in which each set has one number.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::held::{Family, Held, Names, Term, Token};
use crate::program::SiteId;

/// Ascending, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lockset {
    held: SmallVec<[Held; 2]>,
}

/// Where each thing of a set was taken, in the order of the set. No part of what the set means.
pub type Sites = SmallVec<[Option<SiteId>; 2]>;

impl Lockset {
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.held.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// What certainly is held under one of these names.
    pub fn find(&self, token: Token, names: &Names) -> Option<&Held> {
        self.held.iter().find(|held| held.token == token && held.names.agree(names))
    }
}

/// A set that is being changed: its things, and where each was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Working {
    pub items: Vec<(Held, Option<SiteId>)>,
    /// What may still be held shared, and is no longer among the items.
    lost: SmallVec<[Family; 1]>,
}

impl Working {
    pub fn of(set: &Lockset, sites: &Sites) -> Working {
        Working { items: set.held.iter().cloned().zip(sites.iter().copied()).collect(), lost: SmallVec::new() }
    }

    pub fn position(&self, token: Token, names: &Names) -> Option<usize> {
        self.items.iter().position(|(held, _)| held.token == token && held.names.agree(names))
    }

    pub fn get(&self, token: Token, names: &Names) -> Option<&Held> {
        self.position(token, names).map(|at| &self.items[at].0)
    }

    /// Adds a thing, or one more level of it.
    pub fn take(&mut self, held: Held, site: Option<SiteId>) {
        match self.position(held.token, &held.names) {
            Some(at) => {
                let known = &mut self.items[at].0;
                known.count = known.count.saturating_add(1);
            }
            None => self.items.push((held, site)),
        }
    }

    /// Gives one level back. Whether it was certainly held.
    pub fn give_back(&mut self, token: Token, names: &Names) -> bool {
        let Some(at) = self.position(token, names) else { return false };
        let held = &mut self.items[at].0;
        held.count -= 1;
        if held.count == 0 {
            self.items.remove(at);
        }
        true
    }

    /// Forgets what fails the test.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Held) -> bool) {
        let lost = &mut self.lost;
        self.items.retain(|(held, _)| {
            let is_kept = keeps(held);
            lost.extend((!is_kept && held.is_shared()).then_some(held.family));
            is_kept
        });
    }

    /// A thing that is not taken over may still be held.
    pub fn lose(&mut self, held: &Held) {
        self.lost.extend(held.is_shared().then_some(held.family));
    }

    /// Changes the terms of every name; a thing without a name is forgotten.
    pub fn change_terms(&mut self, mut change: impl FnMut(&[Term]) -> SmallVec<[Term; 2]>) {
        for (held, _) in &mut self.items {
            if !held.names.terms.is_empty() {
                let mut terms = change(&held.names.terms);
                terms.sort_unstable();
                terms.dedup();
                held.names.terms = terms;
            }
        }
        self.retain(|held| !held.names.is_empty());
    }

    pub fn seal(mut self, table: &mut Locksets) -> (LocksetId, Sites) {
        self.lost.iter().for_each(|family| table.lose(*family));
        self.items.sort();
        self.items.dedup_by(|later, earlier| later.0 == earlier.0);
        let sites = self.items.iter().map(|(_, site)| *site).collect();
        let set = Lockset { held: self.items.into_iter().map(|(held, _)| held).collect() };
        (table.intern(set), sites)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocksetId(u32);

impl LocksetId {
    pub const EMPTY: LocksetId = LocksetId(0);
}

/// All locksets of an analysis, each once.
#[derive(Clone, Debug)]
pub struct Locksets {
    table: IndexSet<Lockset, FxBuildHasher>,
    meets: FxHashMap<(LocksetId, LocksetId), LocksetId>,
    /// Where locks may lie that some thread may hold shared although no set says so.
    lost: IndexSet<Family, FxBuildHasher>,
}

impl Default for Locksets {
    fn default() -> Self {
        let mut locksets = Locksets { table: IndexSet::default(), meets: FxHashMap::default(), lost: IndexSet::default() };
        let empty = locksets.intern(Lockset::default());
        assert_eq!(empty, LocksetId::EMPTY);
        locksets
    }
}

impl Locksets {
    pub fn intern(&mut self, set: Lockset) -> LocksetId {
        LocksetId(self.table.insert_full(set).0 as u32)
    }

    pub fn get(&self, id: LocksetId) -> &Lockset {
        &self.table[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// A lock that was taken shared is no longer followed.
    pub fn lose(&mut self, family: Family) {
        self.lost.insert(family);
    }

    /// The families of locks that are no longer followed, in the order in which they were lost.
    pub fn lost(&self) -> impl ExactSizeIterator<Item = Family> + '_ {
        self.lost.iter().copied()
    }

    /// What is certain on both of two ways.
    pub fn meet(&mut self, left: LocksetId, right: LocksetId) -> LocksetId {
        if left == right {
            return left;
        }
        let key = (left.min(right), left.max(right));
        if let Some(known) = self.meets.get(&key) {
            return *known;
        }
        let (one, other) = (self.get(left), self.get(right));
        let mut held: SmallVec<[Held; 2]> = SmallVec::new();
        // One partner each: two things may be two levels of one lock, and the other way may hold only one.
        let mut is_free: SmallVec<[bool; 4]> = SmallVec::from_elem(true, other.len());
        for mine in one.iter() {
            let partner =
                other.iter().enumerate().find_map(|(at, theirs)| mine.meet(theirs).filter(|_| is_free[at]).map(|met| (at, met)));
            if let Some((at, met)) = partner {
                is_free[at] = false;
                held.push(met);
            }
        }
        let is_kept = |one: &Held| held.iter().any(|met| met.token == one.token && met.names.agree(&one.names));
        let lost: SmallVec<[Family; 2]> =
            one.iter().chain(other.iter()).filter(|one| one.is_shared() && !is_kept(one)).map(|one| one.family).collect();
        held.sort();
        held.dedup();
        lost.into_iter().for_each(|family| self.lose(family));
        let met = self.intern(Lockset { held });
        self.meets.insert(key, met);
        met
    }

    /// The meet, with the places of the left set.
    pub fn meet_with_sites(&mut self, left: (LocksetId, &Sites), right: LocksetId) -> (LocksetId, Sites) {
        let met = self.meet(left.0, right);
        let (from, to) = (self.get(left.0), self.get(met));
        let site_of = |held: &Held| {
            let at = from.iter().position(|known| known.token == held.token && known.names.agree(&held.names));
            at.and_then(|at| left.1[at])
        };
        let sites = to.iter().map(site_of).collect();
        (met, sites)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Mode, Moment, Place};
    use super::*;

    fn taken(names: Names, family: Family, mode: Mode, since: Option<Moment>) -> Held {
        Held { token: Token::Lock, names, family, mode, count: 1, since }
    }

    fn lock(place: u32, mode: Mode) -> Held {
        taken(Names::of_place(Place(place)), Family(place), mode, Some(Moment(0)))
    }

    fn set(table: &mut Locksets, held: &[Held]) -> LocksetId {
        let mut working = Working::default();
        held.iter().for_each(|held| working.take(held.clone(), None));
        working.seal(table).0
    }

    #[test]
    fn the_meet_keeps_what_both_hold_in_the_weaker_mode() {
        let mut table = Locksets::default();
        let left = set(&mut table, &[lock(1, Mode::Exclusive), lock(2, Mode::Exclusive)]);
        let right = set(&mut table, &[lock(2, Mode::Shared), lock(3, Mode::Exclusive)]);
        let met = table.meet(left, right);
        assert_eq!(table.get(met).iter().cloned().collect::<Vec<_>>(), [lock(2, Mode::Shared)]);
        assert_eq!(table.meet(right, left), met);
        assert_eq!(table.meet(left, LocksetId::EMPTY), LocksetId::EMPTY);
    }

    #[test]
    fn the_meet_keeps_common_names_only() {
        let mut table = Locksets::default();
        let named = |place: Option<u32>, terms: &[u32]| {
            let names = Names { place: place.map(Place), terms: terms.iter().map(|term| Term(*term)).collect() };
            taken(names, Family(7), Mode::Exclusive, None)
        };
        let left = set(&mut table, &[named(Some(1), &[4, 5])]);
        let right = set(&mut table, &[named(None, &[5, 6])]);
        let met = table.meet(left, right);
        assert_eq!(table.get(met).iter().cloned().collect::<Vec<_>>(), [named(None, &[5])]);
        let other = set(&mut table, &[named(None, &[9])]);
        assert_eq!(table.meet(left, other), LocksetId::EMPTY);
    }

    #[test]
    fn a_level_given_back_leaves_the_others() {
        let mut table = Locksets::default();
        let mut working = Working::default();
        working.take(lock(1, Mode::Exclusive), None);
        working.take(lock(1, Mode::Exclusive), None);
        assert!(working.give_back(Token::Lock, &Names::of_place(Place(1))));
        assert_eq!(working.get(Token::Lock, &Names::of_place(Place(1))).map(|held| held.count), Some(1));
        assert!(working.give_back(Token::Lock, &Names::of_place(Place(1))));
        assert!(!working.give_back(Token::Lock, &Names::of_place(Place(1))));
        assert_eq!(working.seal(&mut table).0, LocksetId::EMPTY);
    }

    #[test]
    fn counts_meet_at_the_smaller_one() {
        let mut table = Locksets::default();
        let once = set(&mut table, &[lock(1, Mode::Exclusive)]);
        let twice = set(&mut table, &[lock(1, Mode::Exclusive), lock(1, Mode::Exclusive)]);
        assert_ne!(once, twice);
        assert_eq!(table.meet(once, twice), once);
    }
}
