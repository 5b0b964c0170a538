//! Extents: which bytes of an object do its classes touch, and which of them may overlap?
//!
//! # Definition   An extent is a location, a number of bytes, the bytes that they stay in (`spans`), the type of the access, and whether it writes. Two are *neighbours*
//!                when one of them writes, their bytes may overlap, so may what they stay in, and their types let them (`program::alias`).
//! # Theorem      Classes whose extents are no neighbours never touch a common byte in conflict.
//! # Time         Places are compared once for all rounds of the engine, and reads never with reads: an object that is touched everywhere has thousands. Sides that
//!                touch the same extents meet others alike, so that sets of extents are compared once, too: the same accesses are made under many covers.

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::record::ClassKey;
use super::spans::Within;
use crate::facts::{Facts, Location};
use crate::program::{AliasTypeId, Program};

/// Bytes, as which type they are accessed, and whether they are written.
type Extent = (Bytes, Option<AliasTypeId>, bool);

/// Where they begin, how many they are, and what they stay in.
type Bytes = (Location, u64, Option<Within>);

/// The different extents of one object.
#[derive(Default)]
pub struct Extents {
    table: IndexSet<Extent, FxBuildHasher>,
    /// The same without their bytes: what is looked at of all that are near.
    manners: Vec<(Option<AliasTypeId>, bool)>,
    neighbours: Vec<FixedBitSet>,
    /// The different bytes, which of them may overlap, and the extents that touch them.
    bytes: IndexSet<Bytes, FxBuildHasher>,
    overlapping: Vec<FixedBitSet>,
    of_bytes: Vec<Vec<usize>>,
    sets: Sets,
}

/// The number of a set of extents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtentSetId(u32);

/// Larger tables of sets, in bits, are not kept from one round to the next.
const MOST_KEPT: usize = 1 << 20;

/// Sets of extents, each once; made anew when there are more extents.
#[derive(Default)]
struct Sets {
    extents: usize,
    table: IndexSet<FixedBitSet, FxBuildHasher>,
    /// By set: all that its extents may meet.
    near: Vec<FixedBitSet>,
    meetings: FxHashMap<(ExtentSetId, ExtentSetId), u64>,
}

impl Extents {
    /// The number of a class's extent.
    pub fn add(&mut self, program: &Program, facts: &Facts<'_>, class: &ClassKey) -> usize {
        let bytes = (class.location, class.size, class.within);
        let extent = (bytes, class.alias, class.is_write);
        let (number, is_new) = self.table.insert_full(extent);
        if is_new {
            let bytes = self.add_bytes(facts, bytes);
            self.of_bytes[bytes].push(number);
            self.manners.push((class.alias, class.is_write));
            self.neighbours.push(FixedBitSet::with_capacity(number + 1));
            // What was allocated may be stored to as one type and then as another; to read it as a type that it has not is undefined (C17 6.5p6).
            let is_retyped = class.is_write && !facts.points_to.object(class.location.object).has_declared_type();
            let near = self.overlapping[bytes].ones().flat_map(|bytes| &self.of_bytes[bytes]);
            for other in near {
                let (alias, is_write) = self.manners[*other];
                if !class.is_write && !is_write {
                    continue;
                }
                if is_retyped && is_write || program.may_touch(class.alias, alias) {
                    self.neighbours[number].grow_and_insert(*other);
                    self.neighbours[*other].grow_and_insert(number);
                }
            }
        }
        number
    }

    fn add_bytes(&mut self, facts: &Facts<'_>, bytes: Bytes) -> usize {
        let (number, is_new) = self.bytes.insert_full(bytes);
        if is_new {
            self.of_bytes.push(Vec::new());
            self.overlapping.push(FixedBitSet::with_capacity(number + 1));
            for (other, other_bytes) in self.bytes.iter().enumerate() {
                if may_overlap(facts, bytes, *other_bytes) {
                    self.overlapping[number].grow_and_insert(other);
                    self.overlapping[other].grow_and_insert(number);
                }
            }
        }
        number
    }

    /// The number of a set of extents, when all extents are there.
    pub fn set(&mut self, numbers: impl Iterator<Item = usize>) -> ExtentSetId {
        let count = self.neighbours.len();
        if self.sets.extents != count {
            self.sets = Sets { extents: count, ..Sets::default() };
        }
        let mut set = FixedBitSet::with_capacity(count);
        numbers.for_each(|number| set.insert(number));
        let (id, is_new) = self.sets.table.insert_full(set);
        if is_new {
            let mut near = FixedBitSet::with_capacity(count);
            self.sets.table[id].ones().for_each(|number| near.union_with(&self.neighbours[number]));
            self.sets.near.push(near);
        }
        ExtentSetId(id as u32)
    }

    /// The object has been looked at in this round: sets that take much room are let go.
    pub fn end_round(&mut self) {
        if self.sets.table.len() * self.sets.extents > MOST_KEPT {
            self.sets = Sets::default();
        }
    }

    /// All extents that some extent of a set may overlap with in conflict.
    pub fn near(&self, set: ExtentSetId) -> &FixedBitSet {
        &self.sets.near[set.0 as usize]
    }

    /// How many extents of one set and of another are neighbours.
    pub fn meetings(&mut self, left: ExtentSetId, right: ExtentSetId) -> u64 {
        let (neighbours, Sets { table, near, meetings, .. }) = (&self.neighbours, &mut self.sets);
        // It is the same from either side.
        *meetings.entry((left.min(right), left.max(right))).or_insert_with(|| {
            let (one, other) = (&table[left.0 as usize], &table[right.0 as usize]);
            let near = &near[right.0 as usize];
            let met = |number: usize| neighbours[number].intersection_count(other) as u64;
            one.intersection(near).map(met).sum()
        })
    }

    /// The extents that an extent may overlap with in conflict.
    pub fn neighbours(&self, number: usize) -> &FixedBitSet {
        &self.neighbours[number]
    }
}

fn may_overlap(facts: &Facts<'_>, left: Bytes, right: Bytes) -> bool {
    let may_alias = |left: Within, right: Within| facts.points_to.may_alias(left.0, left.1, right.0, right.1);
    let around = |(location, size, within): Bytes| within.unwrap_or((location, size));
    may_alias((left.0, left.1), (right.0, right.1))
        && (left.2.is_none() && right.2.is_none() || may_alias(around(left), around(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(count: usize, near: &[(usize, usize)]) -> Extents {
        let mut extents = Extents::default();
        for number in 0..count {
            extents.neighbours.push(FixedBitSet::with_capacity(number + 1));
        }
        for (one, other) in near {
            extents.neighbours[*one].grow_and_insert(*other);
            extents.neighbours[*other].grow_and_insert(*one);
        }
        extents
    }

    #[test]
    fn sets_meet_as_often_as_their_extents() {
        let near = [(0, 0), (0, 70), (1, 2), (2, 70), (3, 3), (70, 70)];
        let mut extents = extents(71, &near);
        let sets = [vec![0, 1], vec![70, 2], vec![3], vec![0, 1, 2, 3, 70], vec![4]];
        let numbers: Vec<ExtentSetId> = sets.iter().map(|set| extents.set(set.iter().copied())).collect();
        for (left, ones) in numbers.iter().zip(&sets) {
            for (right, others) in numbers.iter().zip(&sets) {
                let is_near = |one: usize, other: usize| near.contains(&(one, other)) || near.contains(&(other, one));
                let pairs = ones.iter().flat_map(|one| others.iter().map(|other| (*one, *other)));
                let met = pairs.filter(|(one, other)| is_near(*one, *other)).count();
                assert_eq!(extents.meetings(*left, *right), met as u64, "{ones:?} and {others:?}");
            }
        }
        assert_eq!(extents.near(numbers[0]).ones().collect::<Vec<_>>(), [0, 2, 70]);
    }

    #[test]
    fn a_further_extent_makes_sets_anew() {
        let mut extents = extents(2, &[(0, 0)]);
        let (one, other) = (extents.set([0].into_iter()), extents.set([1].into_iter()));
        assert_eq!(extents.meetings(one, other), 0);
        extents.neighbours.push(FixedBitSet::with_capacity(3));
        (0..2).for_each(|number| {
            extents.neighbours[number].grow_and_insert(2);
            extents.neighbours[2].grow_and_insert(number);
        });
        let (all, last) = (extents.set(0..3), extents.set([2].into_iter()));
        assert_eq!((extents.meetings(all, all), extents.meetings(all, last)), (5, 2));
    }
}
