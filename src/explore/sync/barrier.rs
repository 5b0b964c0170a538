//! Barriers: nobody leaves a round before all have arrived.

use crate::explore::thread_id::ThreadId;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Barrier {
    /// How many make a round; at least 1.
    count: u64,
    round: u64,
    arrived: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The last one: the round is complete, and this thread is the serial one.
    Last {
        round: u64,
    },
    Waits {
        round: u64,
    },
}

impl Barrier {
    /// `None` for a count of 0, which the library refuses.
    pub fn new(count: u64) -> Option<Barrier> {
        (count > 0).then(|| Barrier { count, round: 0, arrived: Vec::new() })
    }

    pub fn arrive(&mut self, thread: ThreadId) -> Arrival {
        let round = self.round;
        self.arrived.push(thread);
        if self.arrived.len() as u64 == self.count {
            self.arrived.clear();
            self.round += 1;
            Arrival::Last { round }
        } else {
            Arrival::Waits { round }
        }
    }

    pub fn is_complete(&self, round: u64) -> bool {
        self.round > round
    }

    pub fn waiting(&self) -> &[ThreadId] {
        &self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_its_last_arrival_and_the_next_begins() {
        let mut barrier = Barrier::new(2).unwrap();
        for round in 0..3 {
            assert_eq!(barrier.arrive(ThreadId(1)), Arrival::Waits { round });
            assert!(!barrier.is_complete(round));
            assert_eq!(barrier.arrive(ThreadId(2)), Arrival::Last { round });
            assert!(barrier.is_complete(round));
        }
        assert!(barrier.waiting().is_empty());
    }

    #[test]
    fn a_barrier_of_one_stops_nobody_and_of_none_does_not_exist() {
        assert_eq!(Barrier::new(1).unwrap().arrive(ThreadId(0)), Arrival::Last { round: 0 });
        assert_eq!(Barrier::new(0), None);
    }
}
