//! Writes down what another scheduler decides.

use super::{Candidate, Choice, Choices, InputRequest, Scheduler};
use crate::explore::machine::Machine;
use crate::explore::schedule::Schedule;

pub struct Recorder<S> {
    inner: S,
    schedule: Schedule,
}

impl<S: Scheduler> Recorder<S> {
    /// `fingerprint` is that of the program that runs.
    pub fn new(inner: S, fingerprint: u64) -> Recorder<S> {
        Recorder { inner, schedule: Schedule::new(fingerprint) }
    }

    /// What was decided so far.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub fn into_schedule(self) -> Schedule {
        self.schedule
    }
}

impl<S: Scheduler> Scheduler for Recorder<S> {
    fn look(&mut self, machine: &Machine<'_>, candidates: &[Candidate]) {
        self.inner.look(machine, candidates);
    }

    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        let choice = self.inner.next(choices);
        if let Choice::Run(thread) = choice {
            self.schedule.push_step(thread);
        }
        choice
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        let value = self.inner.input(request);
        assert!(request.allows(value), "a scheduler answers {request:?} with {value}");
        self.schedule.push_input(value);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::scheduler::{Fixed, Random};
    use crate::explore::thread_id::ThreadId;

    /// A make-believe program: which threads can run depends on what was chosen and put in so far.
    fn run(scheduler: &mut dyn Scheduler) -> Vec<(u32, u128)> {
        let mut trace = Vec::new();
        let (mut state, mut current) = (1u64, None);
        for _ in 0..200 {
            let enabled = (0..4).filter(|number| state >> number & 1 == 1 || *number == state % 4);
            let candidates: Vec<Candidate> = enabled.map(|number| Candidate::ready(ThreadId(number as u32))).collect();
            let Choice::Run(thread) = scheduler.next(&Choices { candidates: &candidates, current }) else {
                panic!("diverged after {} steps", trace.len());
            };
            let input = match thread.0 {
                0 => 0,
                1 => scheduler.input(&InputRequest { bits: 64, bound: None, what: "number" }),
                _ => scheduler.input(&InputRequest { bits: 8, bound: Some(3), what: "pick" }),
            };
            current = Some(thread);
            state = state.wrapping_mul(31).wrapping_add(u64::from(thread.0)).wrapping_add(input as u64);
            trace.push((thread.0, input));
        }
        trace
    }

    #[test]
    fn what_is_recorded_runs_again() {
        for seed in 0..50 {
            let mut recorder = Recorder::new(Random::new(seed), 0);
            let first = run(&mut recorder);
            let token = recorder.into_schedule().to_string();
            let mut fixed = Fixed::new(token.parse().unwrap());
            assert_eq!(run(&mut fixed), first, "seed {seed}");
            assert!(fixed.is_at_end() && fixed.rejected_input().is_none());
        }
    }
}
