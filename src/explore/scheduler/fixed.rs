//! Runs a recorded schedule again, step by step.

use super::{Choice, Choices, InputRequest, Scheduler};
use crate::explore::schedule::Schedule;

pub struct Fixed {
    schedule: Schedule,
    /// The run of equal choices, and how many of it are done.
    run: usize,
    done: u64,
    step: u64,
    next_input: usize,
    /// The first input that was missing or not allowed.
    rejected_input: Option<usize>,
}

impl Fixed {
    pub fn new(schedule: Schedule) -> Fixed {
        Fixed { schedule, run: 0, done: 0, step: 0, next_input: 0, rejected_input: None }
    }

    /// All steps and inputs have been used.
    pub fn is_at_end(&self) -> bool {
        self.run == self.schedule.runs().len() && self.next_input == self.schedule.inputs().len()
    }

    /// The number of the first input that the schedule had no answer to: the run is not the recorded one.
    pub fn rejected_input(&self) -> Option<usize> {
        self.rejected_input
    }
}

impl Scheduler for Fixed {
    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        let Some(run) = self.schedule.runs().get(self.run).copied() else {
            return Choice::Finished;
        };
        if !choices.contains(run.thread) {
            return Choice::Diverged { step: self.step, wanted: run.thread };
        }
        self.step += 1;
        self.done += 1;
        if self.done == run.count {
            (self.run, self.done) = (self.run + 1, 0);
        }
        Choice::Run(run.thread)
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        let number = self.next_input;
        self.next_input += 1;
        match self.schedule.inputs().get(number) {
            Some(value) if request.allows(*value) => *value,
            _ => {
                self.rejected_input.get_or_insert(number);
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::scheduler::Candidate;
    use crate::explore::thread_id::ThreadId;

    fn choose(fixed: &mut Fixed, enabled: &[u32]) -> Choice {
        let candidates: Vec<Candidate> = enabled.iter().map(|number| Candidate::ready(ThreadId(*number))).collect();
        fixed.next(&Choices { candidates: &candidates, current: None })
    }

    #[test]
    fn a_choice_that_cannot_be_made_is_named() {
        let mut schedule = Schedule::new(0);
        [0, 0, 2].into_iter().for_each(|number| schedule.push_step(ThreadId(number)));
        let mut fixed = Fixed::new(schedule);
        assert_eq!(choose(&mut fixed, &[0, 1]), Choice::Run(ThreadId(0)));
        assert_eq!(choose(&mut fixed, &[0, 2]), Choice::Run(ThreadId(0)));
        assert_eq!(choose(&mut fixed, &[0, 1]), Choice::Diverged { step: 2, wanted: ThreadId(2) });
        assert_eq!(choose(&mut fixed, &[1, 2]), Choice::Run(ThreadId(2)));
        assert_eq!(choose(&mut fixed, &[0, 1]), Choice::Finished);
    }

    #[test]
    fn a_missing_or_impossible_input_is_noticed() {
        let mut schedule = Schedule::new(0);
        schedule.push_input(300);
        let mut fixed = Fixed::new(schedule);
        let request = InputRequest { bits: 8, bound: None, what: "byte" };
        assert_eq!(fixed.input(&request), 0);
        assert_eq!(fixed.rejected_input(), Some(0));
    }
}
