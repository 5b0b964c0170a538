//! Schedules without luck: one thread as long as it can, or each in turn. Inputs are 0.

use super::{Choice, Choices, InputRequest, Scheduler};
use crate::explore::thread_id::ThreadId;

/// The thread that runs goes on until it blocks, ends or yields; then the next higher one. The baseline.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonPreemptive;

impl Scheduler for NonPreemptive {
    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        let preferred = choices.preferred();
        let current = choices.current.filter(|current| preferred.contains(current));
        Choice::Run(current.unwrap_or_else(|| following(&preferred, choices.current)))
    }

    fn input(&mut self, _: &InputRequest<'_>) -> u128 {
        0
    }
}

/// Each thread takes so many steps, then the next one.
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin {
    quantum: u64,
    taken: u64,
}

impl RoundRobin {
    /// At least 1 step a turn.
    pub fn new(quantum: u64) -> RoundRobin {
        RoundRobin { quantum: quantum.max(1), taken: 0 }
    }
}

impl Scheduler for RoundRobin {
    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        let preferred = choices.preferred();
        let current = choices.current.filter(|current| preferred.contains(current));
        if let (Some(current), true) = (current, self.taken < self.quantum) {
            self.taken += 1;
            return Choice::Run(current);
        }
        self.taken = 1;
        Choice::Run(following(&preferred, choices.current))
    }

    fn input(&mut self, _: &InputRequest<'_>) -> u128 {
        0
    }
}

/// The next higher thread, or the lowest.
fn following(threads: &[ThreadId], current: Option<ThreadId>) -> ThreadId {
    let higher = threads.iter().find(|thread| current.is_some_and(|current| **thread > current));
    *higher.unwrap_or(&threads[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::scheduler::Candidate;
    use crate::explore::sync::Readiness;

    fn next(scheduler: &mut dyn Scheduler, candidates: &[Candidate], current: u32) -> u32 {
        match scheduler.next(&Choices { candidates, current: Some(ThreadId(current)) }) {
            Choice::Run(thread) => thread.0,
            other => panic!("{other:?}"),
        }
    }

    fn all_ready() -> Vec<Candidate> {
        (0..3).map(|number| Candidate::ready(ThreadId(number))).collect()
    }

    #[test]
    fn nobody_is_interrupted() {
        let mut candidates = all_ready();
        assert_eq!(next(&mut NonPreemptive, &candidates, 1), 1);
        candidates[1].has_yielded = true;
        assert_eq!(next(&mut NonPreemptive, &candidates, 1), 2);
        candidates[2].readiness = Readiness::Expires;
        assert_eq!(next(&mut NonPreemptive, &candidates, 1), 0);
    }

    #[test]
    fn a_thread_gives_up_waiting_only_when_nothing_else_is_left() {
        let mut candidates = all_ready();
        for candidate in &mut candidates[1..] {
            candidate.readiness = Readiness::Expires;
        }
        candidates[0].has_yielded = true;
        assert_eq!(next(&mut NonPreemptive, &candidates, 0), 0);
        assert_eq!(next(&mut NonPreemptive, &candidates[1..], 0), 1);
    }

    #[test]
    fn turns_are_taken() {
        let (mut scheduler, candidates) = (RoundRobin::new(2), all_ready());
        let mut current = 0;
        let order: Vec<u32> = (0..8)
            .map(|_| {
                current = next(&mut scheduler, &candidates, current);
                current
            })
            .collect();
        assert_eq!(order, [0, 0, 1, 1, 2, 2, 0, 0]);
    }
}
