//! Atomic locations of one object: what each passes on to those who read it.
//!
//! # Definition   The release sequence headed by a store of thread t: the stores that follow it in the order of modification as long
//!                as each is t's own or a read-modify-write (C11 and C17, 5.1.2.4; C++20 keeps read-modify-writes only).
//! So a location passes on one clock for each thread that heads a sequence. A store keeps what its own thread's earlier ones pass
//! on and ends those of the others; a read-modify-write ends none; a plain write ends all.

use std::collections::BTreeMap;

use super::clock::VectorClock;
use crate::explore::thread_id::ThreadId;

#[derive(Clone, Debug, Default)]
pub struct Locations {
    /// By first byte and size. A location that passes nothing on has no entry.
    by_range: BTreeMap<(u64, u64), Heads>,
}

/// What the sequences of a location pass on, by the thread that heads them.
type Heads = BTreeMap<ThreadId, VectorClock>;

impl Locations {
    pub fn is_empty(&self) -> bool {
        self.by_range.is_empty()
    }

    fn overlapping(&self, offset: u64, size: u64) -> impl Iterator<Item = (&(u64, u64), &Heads)> {
        self.by_range.range(..(offset + size, 0)).filter(move |((start, length), _)| start + length > offset)
    }

    /// What a load of these bytes gets. Usually one location; bytes stored in other sizes are joined.
    pub fn load(&self, offset: u64, size: u64) -> VectorClock {
        let mut read = VectorClock::default();
        self.overlapping(offset, size).flat_map(|(_, heads)| heads.values()).for_each(|passed_on| read.join(passed_on));
        read
    }

    /// A store by `thread` that passes this on by itself.
    pub fn store(&mut self, offset: u64, size: u64, thread: ThreadId, passed_on: VectorClock) {
        let mut own = passed_on;
        for heads in self.take_inside(offset, size) {
            heads.get(&thread).into_iter().for_each(|earlier| own.join(earlier));
        }
        self.add(offset, size, thread, own);
    }

    /// A read-modify-write by `thread` that passes this on by itself.
    pub fn update(&mut self, offset: u64, size: u64, thread: ThreadId, passed_on: VectorClock) {
        self.add(offset, size, thread, passed_on);
    }

    /// A plain write.
    pub fn overwrite(&mut self, offset: u64, size: u64) {
        self.take_inside(offset, size);
    }

    /// A location inside is overwritten whole; one that sticks out keeps what its other bytes pass on.
    fn take_inside(&mut self, offset: u64, size: u64) -> Vec<Heads> {
        let is_inside = |(start, length): &(u64, u64)| *start >= offset && start + length <= offset + size;
        let inside: Vec<(u64, u64)> = self.by_range.keys().filter(|range| is_inside(range)).copied().collect();
        inside.iter().filter_map(|range| self.by_range.remove(range)).collect()
    }

    fn add(&mut self, offset: u64, size: u64, thread: ThreadId, passed_on: VectorClock) {
        if passed_on != VectorClock::default() {
            self.by_range.entry((offset, size)).or_default().entry(thread).or_default().join(&passed_on);
        }
    }
}
