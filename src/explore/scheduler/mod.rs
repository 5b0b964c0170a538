//! Who runs next, and what the environment answers: the one object that decides everything a program leaves open.
//!
//! A strategy is one small type. [`Recorder`] turns any of them into a [`Schedule`](super::schedule::Schedule) that [`Fixed`] runs
//! again.

pub mod biased;
pub mod fixed;
pub mod generator;
pub mod orderly;
pub mod random;
pub mod recorder;

use super::machine::Machine;
use super::sync::Readiness;
use super::thread_id::ThreadId;

pub use biased::{Biased, Target};
pub use fixed::Fixed;
pub use generator::Generator;
pub use orderly::{NonPreemptive, RoundRobin};
pub use random::Random;
pub use recorder::Recorder;

/// A thread that can take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub thread: ThreadId,
    /// Never [`Readiness::Blocked`].
    pub readiness: Readiness,
    /// It asked for others to run first (`sched_yield`, `sleep`), and none has since.
    pub has_yielded: bool,
}

impl Candidate {
    pub fn ready(thread: ThreadId) -> Candidate {
        Candidate { thread, readiness: Readiness::Ready, has_yielded: false }
    }

    /// Whether the thread gets on by running now, or only gives up waiting or comes round again.
    pub fn makes_progress(&self) -> bool {
        self.readiness == Readiness::Ready && !self.has_yielded
    }
}

/// What can be chosen now.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    /// Ascending by thread; never empty.
    pub candidates: &'a [Candidate],
    /// Who took the last step.
    pub current: Option<ThreadId>,
}

impl Choices<'_> {
    pub fn contains(&self, thread: ThreadId) -> bool {
        self.candidates.iter().any(|candidate| candidate.thread == thread)
    }

    /// Those that get on; all of them when none does.
    pub fn preferred(&self) -> Vec<ThreadId> {
        let progressing: Vec<_> = self.candidates.iter().filter(|c| c.makes_progress()).map(|c| c.thread).collect();
        if !progressing.is_empty() {
            return progressing;
        }
        // A thread that yielded runs before one that can only give up.
        let yielded: Vec<_> = self.candidates.iter().filter(|c| c.readiness == Readiness::Ready).map(|c| c.thread).collect();
        if yielded.is_empty() { self.candidates.iter().map(|c| c.thread).collect() } else { yielded }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Run(ThreadId),
    /// A recorded schedule is at its end.
    Finished,
    /// A recorded schedule wants a thread that cannot run: the program is not the one it was recorded with.
    Diverged {
        step: u64,
        wanted: ThreadId,
    },
}

/// A value the program gets from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputRequest<'a> {
    /// The value has no bit set beyond these; at most 128.
    pub bits: u32,
    /// The value is below this, where only some are possible (which waiter wakes).
    pub bound: Option<u128>,
    /// For the reader.
    pub what: &'a str,
}

impl InputRequest<'_> {
    /// Whether a value can answer the request.
    pub fn allows(&self, value: u128) -> bool {
        let fits = self.bits >= 128 || value >> self.bits == 0;
        fits && self.bound.is_none_or(|bound| value < bound)
    }
}

pub trait Scheduler {
    /// Called before each choice: where the threads stand. Most schedulers decide without looking.
    fn look(&mut self, _machine: &Machine<'_>, _candidates: &[Candidate]) {}

    fn next(&mut self, choices: &Choices<'_>) -> Choice;

    /// Must be a value that the request allows.
    fn input(&mut self, request: &InputRequest<'_>) -> u128;
}

impl<S: Scheduler + ?Sized> Scheduler for &mut S {
    fn look(&mut self, machine: &Machine<'_>, candidates: &[Candidate]) {
        (**self).look(machine, candidates);
    }

    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        (**self).next(choices)
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        (**self).input(request)
    }
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn look(&mut self, machine: &Machine<'_>, candidates: &[Candidate]) {
        (**self).look(machine, candidates);
    }

    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        (**self).next(choices)
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        (**self).input(request)
    }
}
