//! One run: a machine, a scheduler, limits, and what came of it.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::program::Assumption;

use super::happens_before::Race;
use super::machine::end::{End, Limit};
use super::machine::{Inputs, Machine, Observer, SeenMisuse};
use super::schedule::Schedule;
use super::scheduler::{Choice, Choices, InputRequest, Recorder, Scheduler};
use super::thread_id::ThreadId;

/// How far a run may go. What is cut off ends as [`End::OutOf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of all threads together; looked at between transitions.
    pub steps: u64,
    pub transitions: u64,
    /// Looked at now and then.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 200_000_000, transitions: 10_000_000, deadline: None }
    }
}

/// Steps and transitions between two looks at the clock.
const LOOK: u64 = 20_000;

/// What a run came to. The machine keeps what its objects and threads are.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub end: End,
    pub races: Vec<Race>,
    pub misuses: Vec<SeenMisuse>,
    /// The choices of threads and inputs: running it again gives the same report.
    pub schedule: Schedule,
    pub output: Vec<u8>,
    pub error_output: Vec<u8>,
    /// What the run met and could not execute exactly: with one of them it confirms nothing.
    pub assumptions: BTreeSet<Assumption>,
    pub steps: u64,
    pub transitions: u64,
}

/// Inputs that the scheduler decides.
struct ScheduledInputs<'a>(&'a mut dyn Scheduler);

impl Inputs for ScheduledInputs<'_> {
    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        self.0.input(request)
    }
}

/// Runs a machine to its end, or to a limit.
pub fn run(machine: &mut Machine<'_>, scheduler: &mut dyn Scheduler, limits: &Limits, observer: &mut dyn Observer) -> RunReport {
    let mut recorder = Recorder::new(scheduler, machine.fingerprint());
    let mut current = None;
    let mut next_look = 0;
    while machine.end().is_none() {
        let progress = machine.steps() + machine.transitions();
        if progress >= next_look {
            next_look = progress + LOOK;
            if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                machine.stop(End::OutOf(Limit::Time));
                break;
            }
        }
        match next_choice(machine, &mut recorder, limits, current) {
            Ok(thread) => {
                machine.step(thread, &mut ScheduledInputs(&mut recorder), observer);
                current = Some(thread);
            }
            Err(end) => machine.stop(end),
        }
    }
    RunReport {
        end: machine.end().expect("the loop ends with the run").clone(),
        races: machine.races.clone(),
        misuses: machine.misuses.clone(),
        schedule: recorder.into_schedule(),
        output: machine.output().to_vec(),
        error_output: machine.error_output().to_vec(),
        assumptions: machine.assumptions().clone(),
        steps: machine.steps(),
        transitions: machine.transitions(),
    }
}

/// The thread whose turn it is, or why there is none.
fn next_choice(
    machine: &Machine<'_>,
    scheduler: &mut dyn Scheduler,
    limits: &Limits,
    current: Option<ThreadId>,
) -> Result<ThreadId, End> {
    if machine.steps() >= limits.steps {
        return Err(End::OutOf(Limit::Steps));
    }
    if machine.transitions() >= limits.transitions {
        return Err(End::OutOf(Limit::Transitions));
    }
    if let Some(stuck) = machine.stuck() {
        return Err(stuck);
    }
    let candidates = machine.candidates();
    scheduler.look(machine, &candidates);
    match scheduler.next(&Choices { candidates: &candidates, current }) {
        Choice::Run(thread) => Ok(thread),
        Choice::Finished => Err(End::OutOf(Limit::Schedule)),
        Choice::Diverged { step, wanted } => Err(End::Diverged { step, wanted }),
    }
}
