//! Sets of minimal histories, by number: the weights of a thread's pushdown system.
//!
//! Histories and sets are interned, and what was composed or united once is remembered. In a set that grows beyond [`HistorySets::MOST`], those that hold
//! and need the same become one: what all of them have used ([`Doubt::TooMany`]). It is compatible with all that each of them is compatible with, so
//! it refutes less and proves nothing; what it precedes is not kept beside it, so that a set grows that far only finitely often. A set that is still
//! too large becomes [`SetId::ALL`]: every path, nothing known about any of them.

use indexmap::map::Entry;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::{Atom, BitSet, Count, Doubt, LockHistory};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryId(u32);

/// A set of histories, none of which precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(u32);

impl SetId {
    /// No path.
    pub const NONE: SetId = SetId(0);
    /// The path of no steps.
    pub const EMPTY_PATH: SetId = SetId(1);
    /// Too many paths to know anything.
    pub const ALL: SetId = SetId(u32::MAX);
}

#[derive(Debug)]
pub struct HistorySets {
    /// A greater set is not kept.
    most: usize,
    histories: IndexSet<LockHistory, FxBuildHasher>,
    composed: FxHashMap<(HistoryId, HistoryId), Option<HistoryId>>,
    sets: IndexSet<Vec<HistoryId>, FxBuildHasher>,
    extended: FxHashMap<(SetId, SetId), SetId>,
    combined: FxHashMap<(SetId, SetId), SetId>,
}

impl Default for HistorySets {
    fn default() -> Self {
        HistorySets::of_at_most(Self::MOST)
    }
}

impl HistorySets {
    /// A greater set is not kept, unless it is asked for.
    pub const MOST: usize = 64;

    pub fn of_at_most(most: usize) -> HistorySets {
        let mut histories = IndexSet::default();
        histories.insert(LockHistory::default());
        let mut sets = IndexSet::default();
        sets.insert(Vec::new());
        sets.insert(vec![HistoryId(0)]);
        HistorySets {
            most,
            histories,
            composed: FxHashMap::default(),
            sets,
            extended: FxHashMap::default(),
            combined: FxHashMap::default(),
        }
    }

    pub fn set_of(&mut self, histories: impl IntoIterator<Item = LockHistory>) -> SetId {
        let ids = histories.into_iter().map(|history| self.intern(history)).collect();
        self.minimal(ids)
    }

    /// The histories of a set; `None` for [`SetId::ALL`].
    pub fn histories(&self, set: SetId) -> Option<impl ExactSizeIterator<Item = &LockHistory> + Clone> {
        if set == SetId::ALL {
            return None;
        }
        Some(self.sets[set.0 as usize].iter().map(|id| &self.histories[id.0 as usize]))
    }

    /// Either path.
    pub fn combine(&mut self, left: SetId, right: SetId) -> SetId {
        match (left, right) {
            (SetId::NONE, other) | (other, SetId::NONE) => return other,
            (SetId::ALL, _) | (_, SetId::ALL) => return SetId::ALL,
            (left, right) if left == right => return left,
            _ => {}
        }
        let key = (left.min(right), left.max(right));
        if let Some(known) = self.combined.get(&key) {
            return *known;
        }
        let both = self.sets[left.0 as usize].iter().chain(&self.sets[right.0 as usize]).copied().collect();
        let union = self.minimal(both);
        self.combined.insert(key, union);
        union
    }

    /// One path after another.
    pub fn extend(&mut self, first: SetId, then: SetId) -> SetId {
        match (first, then) {
            (SetId::NONE, _) | (_, SetId::NONE) => return SetId::NONE,
            (SetId::EMPTY_PATH, other) | (other, SetId::EMPTY_PATH) => return other,
            (SetId::ALL, _) | (_, SetId::ALL) => return SetId::ALL,
            _ => {}
        }
        if let Some(known) = self.extended.get(&(first, then)) {
            return *known;
        }
        let mut ids = Vec::new();
        for one in 0..self.sets[first.0 as usize].len() {
            for two in 0..self.sets[then.0 as usize].len() {
                let pair = (self.sets[first.0 as usize][one], self.sets[then.0 as usize][two]);
                ids.extend(self.compose(pair.0, pair.1));
            }
        }
        let product = self.minimal(ids);
        self.extended.insert((first, then), product);
        product
    }

    /// Forgets what was composed and united, if that is much; it can be done again.
    pub fn forget(&mut self) {
        const MUCH: usize = 200_000;
        if self.composed.len() + self.extended.len() + self.combined.len() > MUCH {
            self.composed = FxHashMap::default();
            self.extended = FxHashMap::default();
            self.combined = FxHashMap::default();
        }
    }

    fn compose(&mut self, first: HistoryId, then: HistoryId) -> Option<HistoryId> {
        if let Some(known) = self.composed.get(&(first, then)) {
            return *known;
        }
        let whole = self.histories[first.0 as usize].then(&self.histories[then.0 as usize]);
        let id = whole.map(|whole| self.intern(whole));
        self.composed.insert((first, then), id);
        id
    }

    fn intern(&mut self, history: LockHistory) -> HistoryId {
        HistoryId(self.histories.insert_full(history).0 as u32)
    }

    /// The set of those that no other one precedes.
    fn minimal(&mut self, ids: Vec<HistoryId>) -> SetId {
        let mut kept = self.least(ids);
        if kept.len() > self.most {
            let merged = self.merged(&kept);
            kept = self.least(merged);
        }
        if kept.len() > self.most {
            return SetId::ALL;
        }
        SetId(self.sets.insert_full(kept).0 as u32)
    }

    fn least(&self, mut ids: Vec<HistoryId>) -> Vec<HistoryId> {
        ids.sort_unstable();
        ids.dedup();
        // Only histories that keep the same locks and change the same counts compare.
        let mut groups: FxHashMap<SmallVec<[(Atom, i16); 6]>, Vec<HistoryId>> = FxHashMap::default();
        for id in &ids {
            let history = &self.histories[id.0 as usize];
            let kept = history.acquired.iter().map(|last| (last.atom, 0));
            let changed = history.counts.iter().filter(|(_, count)| count.change != 0).map(|(atom, count)| (*atom, count.change));
            groups.entry(kept.chain(changed).collect()).or_default().push(*id);
        }
        let history = |id: HistoryId| &self.histories[id.0 as usize];
        // Of two that precede each other one stays, and always the same.
        let rank = |id: HistoryId| (!history(id).doubts.contains(Doubt::TooMany), id);
        let replaces = |one: HistoryId, two: HistoryId| {
            one != two && history(one).precedes(history(two)) && (rank(one) < rank(two) || !history(two).precedes(history(one)))
        };
        let mut kept: Vec<HistoryId> = Vec::with_capacity(ids.len());
        for group in groups.values() {
            kept.extend(group.iter().filter(|id| !group.iter().any(|other| replaces(*other, **id))));
        }
        kept.sort_unstable();
        kept
    }

    /// One for all that hold, give back, need and change the same: what they have in common.
    fn merged(&mut self, ids: &[HistoryId]) -> Vec<HistoryId> {
        let mut groups: IndexMap<Shape, LockHistory, FxBuildHasher> = IndexMap::default();
        for id in ids {
            let history = &self.histories[id.0 as usize];
            match groups.entry(shape(history)) {
                Entry::Vacant(entry) => drop(entry.insert(history.clone())),
                Entry::Occupied(entry) => {
                    let common = entry.into_mut();
                    *common = common.in_common_with(history);
                }
            }
        }
        groups.into_values().map(|history| self.intern(history)).collect()
    }
}

/// What histories that become one must agree on.
type Shape = (SmallVec<[Atom; 4]>, SmallVec<[Atom; 4]>, SmallVec<[(Atom, Count); 4]>, BitSet);

fn shape(history: &LockHistory) -> Shape {
    let acquired = history.acquired.iter().map(|last| last.atom).collect();
    let released = history.released.iter().map(|first| first.atom).collect();
    (acquired, released, history.counts.clone(), history.lost.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Mode;
    use crate::locks::history::LockId;

    fn atom(lock: usize) -> Atom {
        Atom::new(LockId(lock as u32), Mode::Exclusive)
    }

    /// Holds the first lock and has used some others.
    fn using(locks: &[usize]) -> LockHistory {
        let used: BitSet = locks.iter().map(|lock| atom(*lock).index()).collect();
        let part = LockHistory { used, ..LockHistory::default() };
        LockHistory::default().acquiring(atom(0)).then(&part).expect("they follow each other")
    }

    #[test]
    fn too_many_become_what_they_have_in_common() {
        let mut sets = HistorySets::default();
        let few: Vec<LockHistory> = (2..2 + HistorySets::MOST).map(|lock| using(&[1, lock])).collect();
        let set = sets.set_of(few.clone());
        assert_eq!(sets.histories(set).expect("known").len(), HistorySets::MOST);
        let one_more = sets.set_of([using(&[1, 2 + HistorySets::MOST])]);
        let all = sets.combine(set, one_more);
        let merged: Vec<LockHistory> = sets.histories(all).expect("known").cloned().collect();
        let [only] = &merged[..] else { panic!("{merged:?}") };
        assert_eq!(only.acquired[0].since, BitSet::from_iter([atom(1).index()]));
        assert!(only.doubts.contains(Doubt::TooMany));
        assert!(few.iter().all(|history| only.precedes(history)));
        assert_eq!(sets.combine(all, set), all, "what was merged does not come back");
    }
}
