//! The history of one part of a path, and the composition of two.

use std::hash::Hash;

use smallvec::SmallVec;

use super::{BitSet, Count, Doubt, Doubts};
use crate::locks::Mode;

/// A lock of a lock table. Numbers beyond the table's are moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId(pub u32);

/// A lock in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

impl Atom {
    pub fn new(lock: LockId, mode: Mode) -> Atom {
        Atom(2 * lock.0 + u32::from(mode == Mode::Exclusive))
    }

    pub fn lock(self) -> LockId {
        LockId(self.0 / 2)
    }

    pub fn mode(self) -> Mode {
        if self.0.is_multiple_of(2) { Mode::Shared } else { Mode::Exclusive }
    }

    /// Its number in a set of atoms.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn from_index(index: usize) -> Atom {
        Atom(index as u32)
    }

    /// Whether a thread that has this and another one that has the other exclude each other.
    pub fn excludes(self, other: Atom) -> bool {
        self.lock() == other.lock() && (self.mode() == Mode::Exclusive || other.mode() == Mode::Exclusive)
    }

    /// Whether some thread that has this and another one that has an atom of the set exclude each other.
    pub fn conflicts_with(self, atoms: &BitSet) -> bool {
        let exclusive = Atom(self.0 | 1);
        atoms.contains(exclusive.index()) || self == exclusive && atoms.contains(exclusive.index() - 1)
    }
}

/// A lock that was held at the beginning, and its first release.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Initial {
    pub atom: Atom,
    /// RH: what was acquired before.
    pub before: BitSet,
}

/// A lock that is held at the end, and its last acquisition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Final {
    pub atom: Atom,
    /// AH: what was acquired since.
    pub since: BitSet,
    /// Whether anybody may want to know of this acquisition: only then it stands in histories.
    pub is_noted: bool,
}

impl Final {
    fn precedes(&self, other: &Final) -> bool {
        self.atom == other.atom && self.is_noted <= other.is_noted && self.since.is_subset(&other.since)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LockHistory {
    /// What is needed and changed, ascending by atom; atoms without an entry are neither looked at nor changed.
    pub counts: SmallVec<[(Atom, Count); 4]>,
    /// R with RH, in the order of the releases.
    pub released: SmallVec<[Initial; 1]>,
    /// U.
    pub used: BitSet,
    /// A with AH, in the order of the acquisitions.
    pub acquired: SmallVec<[Final; 2]>,
    /// Atoms that were counted no further: held or not.
    pub lost: BitSet,
    pub doubts: Doubts,
}

impl LockHistory {
    /// Needs a count and leaves it as it is.
    pub fn needs(counts: impl IntoIterator<Item = (Atom, Count)>) -> LockHistory {
        let mut counts: SmallVec<[(Atom, Count); 4]> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(atom, _)| *atom);
        LockHistory { counts, ..LockHistory::default() }
    }

    /// And takes the lock.
    pub fn acquiring(mut self, atom: Atom) -> LockHistory {
        self.acquired.push(Final { atom, since: BitSet::default(), is_noted: true });
        self
    }

    /// In a way that nobody needs to know of, but that the locks are held.
    pub fn unnoted(mut self) -> LockHistory {
        self.acquired.iter_mut().for_each(|last| last.is_noted = false);
        self
    }

    /// And gives back what was held.
    pub fn releasing(mut self, atom: Atom) -> LockHistory {
        self.released.push(Initial { atom, before: BitSet::default() });
        self
    }

    pub fn doubting(mut self, doubt: Doubt) -> LockHistory {
        self.doubts = self.doubts.with(doubt);
        self
    }

    /// Something happens that counts as an acquisition for the histories of what is held.
    pub fn at_moment(moment: Atom) -> LockHistory {
        LockHistory { used: BitSet::from_iter([moment.index()]), ..LockHistory::default() }
    }

    /// U ∪ A
    pub fn all_acquired(&self) -> BitSet {
        let mut all = self.used.clone();
        self.acquired.iter().filter(|last| last.is_noted).for_each(|last| all.insert(last.atom.index()));
        all
    }

    /// This part and then the next; `None` when the next cannot begin where this one ends.
    pub fn then(&self, next: &LockHistory) -> Option<LockHistory> {
        let mut whole = LockHistory {
            counts: SmallVec::new(),
            released: self.released.clone(),
            used: self.used.union(&next.used),
            acquired: self.acquired.clone(),
            lost: self.lost.union(&next.lost),
            doubts: self.doubts.union(next.doubts),
        };
        whole.count(self, next)?;
        let acquired_next = next.all_acquired();
        whole.acquired.iter_mut().for_each(|last| last.since.union_with(&acquired_next));
        let acquired_here = self.all_acquired();
        for Initial { atom, before } in &next.released {
            // Nested: what is released is the last that was taken and is still held.
            match whole.acquired.iter().rposition(|last| last.atom == *atom) {
                Some(at) => {
                    if at + 1 != whole.acquired.len() {
                        whole.doubts = whole.doubts.with(Doubt::NotNested);
                    }
                    if whole.acquired.remove(at).is_noted {
                        whole.used.insert(atom.index());
                    }
                }
                None if self.lost.contains(atom.index()) => {}
                None => {
                    if !whole.acquired.is_empty() {
                        whole.doubts = whole.doubts.with(Doubt::NotNested);
                    }
                    whole.released.push(Initial { atom: *atom, before: before.union(&acquired_here) });
                }
            }
        }
        whole.acquired.extend(next.acquired.iter().cloned());
        if !whole.lost.is_empty() {
            let LockHistory { acquired, used, lost, .. } = &mut whole;
            let noted = acquired.iter().filter(|last| last.is_noted && lost.contains(last.atom.index()));
            noted.for_each(|last| used.insert(last.atom.index()));
            acquired.retain(|last| !lost.contains(last.atom.index()));
        }
        Some(whole)
    }

    /// Merges what two parts need and change; what cannot be counted any more is lost.
    fn count(&mut self, first: &LockHistory, next: &LockHistory) -> Option<()> {
        let (mut here, mut there) = (first.counts.iter().peekable(), next.counts.iter().peekable());
        loop {
            let atom = match (here.peek(), there.peek()) {
                (None, None) => return Some(()),
                (Some((one, _)), Some((two, _))) => *one.min(two),
                (Some((one, _)), None) => *one,
                (None, Some((two, _))) => *two,
            };
            let take = |counts: &mut std::iter::Peekable<std::slice::Iter<'_, (Atom, Count)>>| {
                counts.next_if(|(other, _)| *other == atom).map_or(Count::NEUTRAL, |(_, count)| *count)
            };
            let (one, two) = (take(&mut here), take(&mut there));
            if first.lost.contains(atom.index()) {
                self.counts.push((atom, one));
                continue;
            }
            if one.is_many() && two.most <= Count::MOST {
                return None;
            }
            if one.is_many() && two.change < 0 {
                self.lose(atom, one);
                continue;
            }
            let count = if one.is_many() { one.many() } else { one.then(two)? };
            match count.change {
                _ if count.is_counted() => self.counts.push((atom, count)),
                change if change > 0 => self.counts.push((atom, count.many())),
                _ => self.lose(atom, count),
            }
        }
    }

    /// Counts an atom no further: it is held or not.
    fn lose(&mut self, atom: Atom, count: Count) {
        self.lost.insert(atom.index());
        self.doubts = self.doubts.with(Doubt::Overflow);
        self.counts.push((atom, Count { change: 0, ..count }));
    }

    /// Compatible with at least what the other is compatible with, after anything that may follow.
    pub fn precedes(&self, other: &LockHistory) -> bool {
        // What stands for too many proves nothing: its other doubts do not matter.
        (self.doubts.contains(Doubt::TooMany) || self.doubts.is_subset(other.doubts))
            && self.used.is_subset(&other.used)
            && self.lost == other.lost
            && self.acquired.len() == other.acquired.len()
            && self.acquired.iter().zip(&other.acquired).all(|(one, two)| one.precedes(two))
            && self.released.len() == other.released.len()
            && self
                .released
                .iter()
                .zip(&other.released)
                .all(|(one, two)| one.atom == two.atom && one.before.is_subset(&two.before))
            && self.counts_precede(other)
    }

    /// Of two that hold, give back, need and change the same: what is so of both.
    pub fn in_common_with(&self, other: &LockHistory) -> LockHistory {
        let mut common = self.clone();
        common.used = common.used.intersection(&other.used);
        for (last, also) in common.acquired.iter_mut().zip(&other.acquired) {
            last.since = last.since.intersection(&also.since);
            last.is_noted &= also.is_noted;
        }
        for (first, also) in common.released.iter_mut().zip(&other.released) {
            first.before = first.before.intersection(&also.before);
        }
        common.doubts = common.doubts.union(other.doubts).with(Doubt::TooMany);
        common
    }

    fn counts_precede(&self, other: &LockHistory) -> bool {
        let find = |history: &LockHistory, atom: Atom| match history.counts.binary_search_by_key(&atom, |(atom, _)| *atom) {
            Ok(at) => history.counts[at].1,
            Err(_) => Count::NEUTRAL,
        };
        self.counts.iter().all(|(atom, count)| count.precedes(find(other, *atom)))
            && other.counts.iter().all(|(atom, count)| find(self, *atom).precedes(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(lock: u32) -> Atom {
        Atom::new(LockId(lock), Mode::Exclusive)
    }

    fn take(lock: u32) -> LockHistory {
        LockHistory::needs([(atom(lock), Count::exactly(0, 1))]).acquiring(atom(lock))
    }

    fn give(lock: u32) -> LockHistory {
        LockHistory::needs([(atom(lock), Count::exactly(1, -1))]).releasing(atom(lock))
    }

    fn path(parts: &[LockHistory]) -> LockHistory {
        parts.iter().fold(LockHistory::default(), |whole, part| whole.then(part).expect("the parts follow each other"))
    }

    /// Example 2 of Kidd, Lammich, Touili, Reps 2009: the numbers of the locks as there, and AH and RH without the lock itself.
    #[test]
    fn the_example_of_the_paper() {
        let word = [-1, 2, -2, -3, 2, 4, 5, -5, -4, 6, -6, -2, -7, 6, -6, 4, 2, -2, 2, 7, -7, 8];
        let parts: Vec<LockHistory> =
            word.iter().map(|step: &i32| if *step < 0 { give(-step as u32) } else { take(*step as u32) }).collect();
        let whole = path(&parts);
        let locks = |set: &BitSet| set.iter().map(|index| Atom::from_index(index).lock().0).collect::<Vec<_>>();
        let released: Vec<_> = whole.released.iter().map(|first| (first.atom.lock().0, locks(&first.before))).collect();
        assert_eq!(released, [(1, vec![]), (3, vec![2]), (7, vec![2, 4, 5, 6])]);
        let acquired: Vec<_> = whole.acquired.iter().map(|last| (last.atom.lock().0, locks(&last.since))).collect();
        assert_eq!(acquired, [(4, vec![2, 7, 8]), (2, vec![7, 8]), (8, vec![])]);
        assert!(whole.doubts.is_empty(), "nested");
        // Any cut into two parts composes to the same.
        for cut in 0..parts.len() {
            assert_eq!(path(&parts[..cut]).then(&path(&parts[cut..])), Some(whole.clone()), "cut at {cut}");
        }
    }

    #[test]
    fn a_release_out_of_order_is_noticed_however_it_is_cut() {
        let parts = [take(0), take(1), give(0), give(1)];
        for cut in 0..=4 {
            let whole = path(&parts[..cut]).then(&path(&parts[cut..])).expect("it is a path");
            assert_eq!(whole.doubts, Doubts::of(Doubt::NotNested), "cut at {cut}");
        }
        assert_eq!(path(&[take(0), take(1)]).then(&path(&[give(1), take(1)])).map(|whole| whole.doubts), Some(Doubts::NONE));
        assert_eq!(path(&[take(0)]).then(&give(1)).map(|whole| whole.doubts), Some(Doubts::of(Doubt::NotNested)));
    }

    #[test]
    fn smaller_histories_come_first_and_different_holdings_do_not_compare() {
        let (plain, uses) = (take(0), path(&[take(0), take(1), give(1)]));
        assert!(plain.precedes(&uses) && !uses.precedes(&plain));
        let (throughout, again) = (LockHistory::needs([(atom(0), Count::exactly(1, 0))]), path(&[give(0), take(0)]));
        assert!(!throughout.precedes(&again) && !again.precedes(&throughout), "the same is held, and other partners are allowed");
    }

    #[test]
    fn what_is_taken_too_often_is_lost() {
        let again = LockHistory::needs([(atom(0), Count::at_least(1, 1))]);
        let deep = (0..9).fold(take(0), |whole, _| whole.then(&again).expect("it is re-entrant"));
        assert!(deep.acquired.len() == 1 && deep.doubts.is_empty(), "held, however often");
        assert_eq!(deep.then(&give(0)), None, "more than once");
        let given = deep.then(&LockHistory::needs([(atom(0), Count::at_least(2, -1))])).expect("it is held often enough");
        assert!(given.acquired.is_empty() && given.lost.contains(atom(0).index()) && given.doubts.contains(Doubt::Overflow));
        assert!(given.then(&give(0)).is_some(), "held or not");
    }
}
