//! Extents: which bytes of an object do its classes touch, and which of them may overlap?
//!
//! # Definition   An extent is a location, a number of bytes, the bytes that they stay in (`spans`), the type of the access, and whether it writes. Two are *neighbours*
//!                when one of them writes, their bytes may overlap, so may what they stay in, and their types let them (`program::alias`).
//! # Theorem      Classes whose extents are no neighbours never touch a common byte in conflict.
//! # Time         Places are compared once for all rounds of the engine, and reads never with reads: an object that is touched everywhere has thousands.

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

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

    pub fn len(&self) -> usize {
        self.table.len()
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
