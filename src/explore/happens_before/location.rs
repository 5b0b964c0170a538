//! Atomic locations of one object: what each passes on to those who read it.
//!
//! A store replaces what the location passes on; a read-modify-write adds to it, because it continues the release sequence; a plain
//! write ends it.

use std::collections::BTreeMap;

use super::clock::VectorClock;

#[derive(Clone, Debug, Default)]
pub struct Locations {
    /// By first byte and size. A location that passes nothing on has no entry.
    by_range: BTreeMap<(u64, u64), VectorClock>,
}

impl Locations {
    pub fn is_empty(&self) -> bool {
        self.by_range.is_empty()
    }

    fn overlapping(&self, offset: u64, size: u64) -> impl Iterator<Item = (&(u64, u64), &VectorClock)> {
        self.by_range.range(..(offset + size, 0)).filter(move |((start, length), _)| start + length > offset)
    }

    /// What a load of these bytes gets. Usually one location; bytes stored in other sizes are joined.
    pub fn load(&self, offset: u64, size: u64) -> VectorClock {
        let mut read = VectorClock::default();
        self.overlapping(offset, size).for_each(|(_, passed_on)| read.join(passed_on));
        read
    }

    pub fn store(&mut self, offset: u64, size: u64, passed_on: VectorClock) {
        // A location inside is overwritten whole; one that sticks out keeps what its other bytes pass on.
        let inside = |(start, length): (u64, u64)| start >= offset && start + length <= offset + size;
        self.by_range.retain(|range, _| !inside(*range));
        if passed_on != VectorClock::default() {
            self.by_range.insert((offset, size), passed_on);
        }
    }

    pub fn update(&mut self, offset: u64, size: u64, passed_on: VectorClock) {
        if passed_on != VectorClock::default() {
            self.by_range.entry((offset, size)).or_default().join(&passed_on);
        }
    }

    pub fn overwrite(&mut self, offset: u64, size: u64) {
        self.store(offset, size, VectorClock::default());
    }
}
