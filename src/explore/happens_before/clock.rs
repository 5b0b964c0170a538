//! Vector clocks: how far each thread is known to have come.

use smallvec::SmallVec;

use crate::explore::thread_id::ThreadId;

/// A point in one thread's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch {
    pub thread: ThreadId,
    pub tick: u32,
}

/// One tick a thread; threads beyond the end are at 0.
#[derive(Clone, Debug, Default)]
pub struct VectorClock {
    ticks: SmallVec<[u32; 8]>,
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.includes(other) && other.includes(self)
    }
}

impl VectorClock {
    pub fn tick_of(&self, thread: ThreadId) -> u32 {
        self.ticks.get(thread.index()).copied().unwrap_or(0)
    }

    pub fn advance(&mut self, thread: ThreadId) {
        let index = thread.index();
        if self.ticks.len() <= index {
            self.ticks.resize(index + 1, 0);
        }
        self.ticks[index] += 1;
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        if self.ticks.len() < other.ticks.len() {
            self.ticks.resize(other.ticks.len(), 0);
        }
        for (mine, theirs) in self.ticks.iter_mut().zip(&other.ticks) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether the epoch is at or before this point.
    pub fn has_seen(&self, epoch: Epoch) -> bool {
        epoch.tick <= self.tick_of(epoch.thread)
    }

    pub fn includes(&self, other: &VectorClock) -> bool {
        let known = |index: usize| self.ticks.get(index).copied().unwrap_or(0);
        other.ticks.iter().enumerate().all(|(index, tick)| *tick <= known(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(ticks: &[u32]) -> VectorClock {
        VectorClock { ticks: SmallVec::from_slice(ticks) }
    }

    #[test]
    fn joining_takes_the_later_of_each() {
        let mut mine = clock(&[3, 1]);
        mine.join(&clock(&[1, 2, 5]));
        assert_eq!(mine, clock(&[3, 2, 5]));
    }

    #[test]
    fn missing_threads_are_at_zero() {
        assert_eq!(clock(&[1]), clock(&[1, 0, 0]));
        assert!(clock(&[1]).has_seen(Epoch { thread: ThreadId(4), tick: 0 }));
        assert!(!clock(&[1]).has_seen(Epoch { thread: ThreadId(4), tick: 1 }));
        assert!(clock(&[1, 2]).includes(&clock(&[1])) && !clock(&[1]).includes(&clock(&[1, 2])));
    }

    #[test]
    fn advancing_makes_room() {
        let mut mine = VectorClock::default();
        mine.advance(ThreadId(20));
        assert_eq!((mine.tick_of(ThreadId(20)), mine.tick_of(ThreadId(19))), (1, 0));
    }
}
