//! Sparse sets of location numbers: most hold one or two, some hold thousands.

use roaring::RoaringBitmap;
use smallvec::SmallVec;

/// Beyond so many members a bitmap is smaller and faster than a sorted list.
const FEW: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocationSet {
    /// Ascending.
    Few(SmallVec<[u32; 2]>),
    Many(Box<RoaringBitmap>),
}

impl Default for LocationSet {
    fn default() -> Self {
        LocationSet::Few(SmallVec::new())
    }
}

impl From<RoaringBitmap> for LocationSet {
    fn from(members: RoaringBitmap) -> LocationSet {
        if members.len() as usize <= FEW {
            LocationSet::Few(members.iter().collect())
        } else {
            LocationSet::Many(Box::new(members))
        }
    }
}

impl LocationSet {
    /// The set of these numbers, in any order.
    pub fn of(mut numbers: Vec<u32>) -> LocationSet {
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() <= FEW {
            return LocationSet::Few(SmallVec::from_vec(numbers));
        }
        let bitmap = RoaringBitmap::from_sorted_iter(numbers).expect("the numbers ascend");
        LocationSet::Many(Box::new(bitmap))
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, LocationSet::Few(members) if members.is_empty())
    }

    pub fn len(&self) -> usize {
        match self {
            LocationSet::Few(members) => members.len(),
            LocationSet::Many(bitmap) => bitmap.len() as usize,
        }
    }

    pub fn contains(&self, member: u32) -> bool {
        match self {
            LocationSet::Few(members) => members.binary_search(&member).is_ok(),
            LocationSet::Many(bitmap) => bitmap.contains(member),
        }
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (few, many) = match self {
            LocationSet::Few(members) => (Some(members.iter().copied()), None),
            LocationSet::Many(bitmap) => (None, Some(bitmap.iter())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    /// Whether it was not a member before.
    pub fn insert(&mut self, member: u32) -> bool {
        match self {
            LocationSet::Few(members) => match members.binary_search(&member) {
                Ok(_) => false,
                Err(place) if members.len() < FEW => {
                    members.insert(place, member);
                    true
                }
                Err(_) => {
                    let mut bitmap: RoaringBitmap = members.iter().copied().collect();
                    bitmap.insert(member);
                    *self = LocationSet::Many(Box::new(bitmap));
                    true
                }
            },
            LocationSet::Many(bitmap) => bitmap.insert(member),
        }
    }

    /// Adds all of `other`.
    pub fn absorb(&mut self, other: &LocationSet) {
        match (&mut *self, other) {
            (LocationSet::Many(bitmap), LocationSet::Many(others)) => **bitmap |= &**others,
            (LocationSet::Few(members), LocationSet::Many(others)) => {
                let mut all = others.clone();
                all.extend(members.iter().copied());
                *self = LocationSet::Many(all);
            }
            (_, LocationSet::Few(others)) => others.iter().for_each(|member| _ = self.insert(*member)),
        }
    }

    /// The members of both.
    pub fn common(&self, other: &LocationSet) -> LocationSet {
        if let (LocationSet::Many(own), LocationSet::Many(others)) = (self, other) {
            return LocationSet::from(&**own & &**others);
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        LocationSet::of(small.iter().filter(|member| large.contains(*member)).collect())
    }

    /// Whether there is a member of both.
    pub fn meets(&self, other: &LocationSet) -> bool {
        if let (LocationSet::Many(own), LocationSet::Many(others)) = (self, other) {
            return !own.is_disjoint(others);
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        small.iter().any(|member| large.contains(member))
    }

    /// Whether `other` has all members.
    pub fn is_within(&self, other: &LocationSet) -> bool {
        if let (LocationSet::Many(own), LocationSet::Many(others)) = (self, other) {
            return own.is_subset(others);
        }
        self.iter().all(|member| other.contains(member))
    }

    /// The members that `other` does not have.
    pub fn without(&self, other: &LocationSet) -> LocationSet {
        if let (LocationSet::Many(own), LocationSet::Many(others)) = (self, other) {
            // Most of what is passed on is there already.
            return if own.is_subset(others) { LocationSet::default() } else { LocationSet::from(&**own - &**others) };
        }
        if let (LocationSet::Many(own), LocationSet::Few(others)) = (self, other) {
            let mut rest = (**own).clone();
            others.iter().for_each(|member| _ = rest.remove(*member));
            return LocationSet::from(rest);
        }
        LocationSet::of(self.iter().filter(|member| !other.contains(*member)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(members: &BTreeSet<u32>) -> LocationSet {
        let mut set = LocationSet::default();
        members.iter().for_each(|member| assert!(set.insert(*member)));
        set
    }

    proptest! {
        #[test]
        fn agrees_with_ordered_sets(left in prop::collection::btree_set(0u32..60, 0..40), right in prop::collection::btree_set(0u32..60, 0..40)) {
            let mut all = set(&left);
            all.absorb(&set(&right));
            prop_assert_eq!(all.iter().collect::<Vec<_>>(), left.union(&right).copied().collect::<Vec<_>>());
            prop_assert_eq!(all.len(), left.union(&right).count());
            let (left_set, right_set) = (set(&left), set(&right));
            prop_assert_eq!(left_set.common(&right_set).iter().collect::<Vec<_>>(), left.intersection(&right).copied().collect::<Vec<_>>());
            prop_assert_eq!(left_set.without(&right_set).iter().collect::<Vec<_>>(), left.difference(&right).copied().collect::<Vec<_>>());
            prop_assert_eq!(left_set.meets(&right_set), !left.is_disjoint(&right));
            prop_assert_eq!(left_set.is_within(&all), true);
            prop_assert_eq!(all.is_within(&right_set), left.is_subset(&right));
        }
    }
}
