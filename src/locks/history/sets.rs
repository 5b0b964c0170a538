//! Sets of minimal histories, by number: the weights of a thread's pushdown system.
//!
//! Histories and sets are interned, and what was composed or united once is remembered. A set that grows beyond [`HistorySets::MOST`] becomes
//! [`SetId::ALL`]: every path, nothing known about any of them. That refutes nothing.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::{Atom, LockHistory};

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
    histories: IndexSet<LockHistory, FxBuildHasher>,
    composed: FxHashMap<(HistoryId, HistoryId), Option<HistoryId>>,
    sets: IndexSet<Vec<HistoryId>, FxBuildHasher>,
    extended: FxHashMap<(SetId, SetId), SetId>,
    combined: FxHashMap<(SetId, SetId), SetId>,
}

impl Default for HistorySets {
    fn default() -> Self {
        let mut histories = IndexSet::default();
        histories.insert(LockHistory::default());
        let mut sets = IndexSet::default();
        sets.insert(Vec::new());
        sets.insert(vec![HistoryId(0)]);
        HistorySets {
            histories,
            composed: FxHashMap::default(),
            sets,
            extended: FxHashMap::default(),
            combined: FxHashMap::default(),
        }
    }
}

impl HistorySets {
    /// A greater set is not kept.
    pub const MOST: usize = 500;

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
    fn minimal(&mut self, mut ids: Vec<HistoryId>) -> SetId {
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
        let mut kept: Vec<HistoryId> = Vec::with_capacity(ids.len());
        for group in groups.values() {
            let precedes =
                |one: HistoryId, two: HistoryId| self.histories[one.0 as usize].precedes(&self.histories[two.0 as usize]);
            kept.extend(group.iter().filter(|id| !group.iter().any(|other| other != *id && precedes(*other, **id))));
        }
        if kept.len() > Self::MOST {
            return SetId::ALL;
        }
        kept.sort_unstable();
        SetId(self.sets.insert_full(kept).0 as u32)
    }
}
