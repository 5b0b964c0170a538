//! Refuted pairs in groups: of each object, for each reason, by the functions they stand in.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::record::Member;
use super::result::RefutedGroup;
use crate::findings::Reason;
use crate::program::FunctionId;

/// More groups, of one object and for one reason, are counted with the first; and more than a few once there are very many in all.
const MOST_GROUPS: usize = 24;
const FEW_GROUPS: usize = 3;
const VERY_MANY: usize = 5_000;

/// The accesses of a class by function: how many, and the first.
pub type ByFunction<'a> = Counted<&'a Member>;

type Counted<T> = BTreeMap<FunctionId, (u64, T)>;

/// The number of the whole object's name, and the reason.
type About = (u32, Reason);

/// Two functions, ascending.
type Pair = (FunctionId, FunctionId);

#[derive(Default)]
pub struct RefutedGroups {
    groups: FxHashMap<(About, Pair), RefutedGroup>,
    /// Those that there are, the oldest first.
    pairs: FxHashMap<About, Vec<Pair>>,
}

impl RefutedGroups {
    /// The groups of an object and a reason, if there is no room for more.
    fn full(&self, about: About) -> Option<&[Pair]> {
        let most = if self.groups.len() < VERY_MANY { MOST_GROUPS } else { FEW_GROUPS };
        self.pairs.get(&about).map(Vec::as_slice).filter(|pairs| pairs.len() >= most)
    }

    /// Whether so many pairs have been counted with a group that is there.
    pub fn count(&mut self, about: About, pair: Pair, count: u64) -> bool {
        let first = || self.full(about).map(|pairs| pairs[0]);
        let counted_with = if self.groups.contains_key(&(about, pair)) { Some(pair) } else { first() };
        let group = counted_with.and_then(|pair| self.groups.get_mut(&(about, pair)));
        group.map(|group| group.count += count).is_some()
    }

    /// All pairs of two classes at once, and `more`: whether there is no room for further groups, so that they have been counted with those that are there.
    pub fn count_all<T>(&mut self, about: About, (ones, others): (&Counted<T>, &Counted<T>), is_one: bool, more: u64) -> bool {
        let Some(pairs) = self.full(about).map(<[Pair]>::to_vec) else { return false };
        let all = |functions: &Counted<T>| functions.values().map(|(number, _)| number).sum::<u64>();
        let of = |functions: &Counted<T>, function| functions.get(&function).map_or(0, |(number, _)| *number);
        let pairs_of = |(one, other): Pair| match (is_one, one == other) {
            (true, true) => of(ones, one) * (of(ones, one) + 1) / 2,
            (true, false) | (false, true) => of(ones, one) * of(others, other),
            (false, false) => of(ones, one) * of(others, other) + of(ones, other) * of(others, one),
        };
        let mut rest = more + if is_one { all(ones) * (all(ones) + 1) / 2 } else { all(ones) * all(others) };
        for pair in &pairs {
            let count = pairs_of(*pair);
            rest -= count;
            if let Some(group) = self.groups.get_mut(&(about, *pair)) {
                group.count += count;
            }
        }
        if let Some(first) = self.groups.get_mut(&(about, pairs[0])) {
            first.count += rest;
        }
        true
    }

    pub fn add(&mut self, about: About, pair: Pair, group: RefutedGroup) {
        self.groups.insert((about, pair), group);
        self.pairs.entry(about).or_default().push(pair);
    }

    /// By the names of objects, by reason, by functions.
    pub fn in_order(self, wholes: &IndexSet<String, FxBuildHasher>) -> Vec<RefutedGroup> {
        let mut groups: Vec<((About, Pair), RefutedGroup)> = self.groups.into_iter().collect();
        groups.sort_unstable_by_key(|(((whole, reason), pair), _)| (&wholes[*whole as usize], *reason, *pair));
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: About = (0, Reason::CommonLock);

    fn counted(functions: &[(usize, u64)]) -> Counted<()> {
        functions.iter().map(|(function, number)| (FunctionId::from(*function), (*number, ()))).collect()
    }

    /// With as many groups as there may be: of each function with itself.
    fn full() -> RefutedGroups {
        let mut groups = RefutedGroups::default();
        for function in (0..MOST_GROUPS).map(FunctionId::from) {
            assert!(!groups.count_all(ABOUT, (&counted(&[(0, 1)]), &counted(&[(0, 1)])), true, 0), "there is room");
            let (object, whole, detail, ends) = Default::default();
            let group = RefutedGroup { object, whole, reason: ABOUT.1, detail, count: 0, ends };
            groups.add(ABOUT, (function, function), group);
        }
        groups
    }

    /// What is counted at once is what is counted pair by pair.
    #[test]
    fn all_pairs_are_counted() {
        let (ones, others) = (counted(&[(1, 2), (3, 5), (30, 7)]), counted(&[(0, 1), (3, 4), (31, 9)]));
        for (left, right, is_one) in [(&ones, &others, false), (&ones, &ones, true), (&others, &ones, false)] {
            let (mut at_once, mut by_pair) = (full(), full());
            assert!(at_once.count_all(ABOUT, (left, right), is_one, 10));
            assert!(by_pair.count(ABOUT, (FunctionId::from(0), FunctionId::from(0)), 10));
            for (function, (number, ())) in left {
                for (other, (other_number, ())) in right.iter().filter(|(other, _)| !is_one || function <= other) {
                    let is_same = is_one && function == other;
                    let count = if is_same { number * (number + 1) / 2 } else { number * other_number };
                    assert!(by_pair.count(ABOUT, (*function.min(other), *function.max(other)), count));
                }
            }
            let wholes = IndexSet::from_iter([String::new()]);
            let counts =
                |groups: RefutedGroups| -> Vec<u64> { groups.in_order(&wholes).iter().map(|group| group.count).collect() };
            assert_eq!(counts(at_once), counts(by_pair));
        }
    }
}
