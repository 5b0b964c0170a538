//! Foreign: sets of objects whose addresses may come from elsewhere.

use fixedbitset::FixedBitSet;

use super::super::points_to::AbstractObjectId;

/// Objects that the running thread need not have made, though it has their address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Foreign {
    pub are_all: bool,
    pub objects: FixedBitSet,
}

impl Foreign {
    pub const ALL: Foreign = Foreign { are_all: true, objects: FixedBitSet::new() };

    /// Whether there are more now.
    pub fn add(&mut self, other: &Foreign) -> bool {
        if self.are_all || other.are_all {
            return !std::mem::replace(&mut self.are_all, true);
        }
        let is_more = !other.objects.is_subset(&self.objects);
        if is_more {
            self.objects.union_with(&other.objects);
        }
        is_more
    }

    pub fn insert(&mut self, object: AbstractObjectId) {
        self.objects.grow_and_insert(object.index());
    }

    pub fn contains(&self, object: AbstractObjectId) -> bool {
        self.are_all || self.objects.contains(object.index())
    }

    pub fn is_empty(&self) -> bool {
        !self.are_all && self.objects.is_clear()
    }

    /// Those of them that another set has.
    pub fn among(mut self, other: &Foreign) -> Foreign {
        if self.are_all {
            return other.clone();
        }
        if !other.are_all {
            self.objects.intersect_with(&other.objects);
        }
        self
    }
}
