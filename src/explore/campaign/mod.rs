//! Many runs of one program: what they have shown, each with the schedule that shows it best.
//!
//! The first run is the one a single processor with long time slices would do; the others are random, or aimed at pairs of sites.
//! Nothing is proved by a bug that does not show: a campaign ends with a limit, always.
//!
//! Runs are independent of one another, so several threads make them; what they have shown is taken in order of their numbers, and
//! what comes after the end of a campaign is thrown away. So the number of threads changes nothing.

mod aimed;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::bugs::{self, Bug, Key};
use super::machine::end::Limit as RunLimit;
use super::machine::{End, Machine, Unobserved};
use super::run::Limits;
use super::schedule::Schedule;
use super::scheduler::{Fixed, Random, RoundRobin, Scheduler};
use super::workers;
use crate::findings::Limit;
use crate::program::Assumption;
pub use aimed::{Aim, AimedEffort, Suspicion};
use run::Done;

/// Transitions of a thread in the first run before the next one gets its turn.
const TIME_SLICE: u64 = 1_000;

/// Runs that each thread makes before results are taken.
const RUNS_AT_ONCE: u64 = 4;

/// How much may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub schedules: u64,
    /// Instructions of all runs together; the last run may go beyond.
    pub steps: u64,
    pub steps_per_run: u64,
    pub deadline: Option<Instant>,
    /// Where random choices begin.
    pub seed: u64,
    /// Threads that make the runs.
    pub jobs: usize,
}

/// A bug, and the run that shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    pub bug: Bug,
    pub schedule: Schedule,
    /// What that run could not execute exactly.
    pub assumptions: BTreeSet<Assumption>,
}

/// What came of a campaign so far.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    strongest: BTreeMap<Key, Shown>,
    /// What was shown is run again after the campaign: the time for that is kept free.
    durations: BTreeMap<Key, Duration>,
    pub assumptions: BTreeSet<Assumption>,
    limits: BTreeSet<Limit>,
    /// The program started no thread and read no input: another run would be the same.
    pub is_determined: bool,
    pub executions: u64,
    /// Random ones among them.
    random: u64,
    pub transitions: u64,
    pub steps: u64,
    /// The most threads of one run.
    pub threads: u64,
    /// What the first run printed, and how it ended.
    pub first_output: Vec<u8>,
    pub first_end: Option<End>,
}

/// Runs a fresh machine under random schedules. `progress` is told the number of each.
pub fn random(machine: &Machine<'_>, effort: &Effort, progress: &mut dyn FnMut(u64)) -> Campaign {
    let mut campaign = Campaign::default();
    campaign.add_random(machine, effort, progress);
    campaign
}

impl Campaign {
    /// Each bug once, in the order of their keys.
    pub fn shown(&self) -> impl Iterator<Item = &Shown> {
        self.strongest.values()
    }

    /// Why what was not shown may happen all the same.
    pub fn limits(&self) -> BTreeSet<Limit> {
        let count = if self.is_determined { Limit::OneRun } else { Limit::Schedules(self.executions) };
        self.limits.iter().cloned().chain([count]).collect()
    }

    /// Random schedules until there are so many, or the effort is spent; goes on where an earlier call has stopped.
    pub fn add_random(&mut self, machine: &Machine<'_>, effort: &Effort, progress: &mut dyn FnMut(u64)) {
        while self.random < effort.schedules && !self.is_determined && self.steps < effort.steps {
            let Some(limits) = self.limits_of_a_run(effort) else { return };
            progress(self.random);
            // The first run alone may tell that there is no other.
            let at_once = if self.random == 0 || effort.jobs <= 1 { 1 } else { RUNS_AT_ONCE.saturating_mul(effort.jobs as u64) };
            let numbers = self.random..self.random.saturating_add(at_once).min(effort.schedules);
            let runs = workers::in_order(effort.jobs, numbers, |number| {
                Done::by(machine, &mut *scheduler(number, effort.seed), &limits)
            });
            for done in runs {
                if self.is_determined || self.steps >= effort.steps {
                    return;
                }
                self.random += 1;
                self.is_determined |= done.is_the_only_one();
                self.add(done);
            }
        }
    }

    /// The limits of the next runs; nothing when time is up.
    fn limits_of_a_run(&mut self, effort: &Effort) -> Option<Limits> {
        let now = Instant::now();
        let deadline = effort.deadline.map(|deadline| deadline.checked_sub(self.durations.values().sum()).unwrap_or(now));
        if deadline.is_some_and(|deadline| now >= deadline) {
            self.limits.insert(Limit::Budget);
            return None;
        }
        Some(Limits { steps: effort.steps_per_run, deadline, ..Limits::default() })
    }

    fn add(&mut self, done: Done) {
        if self.executions == 0 {
            self.first_output.clone_from(&done.output);
            self.first_end = Some(done.end.clone());
        }
        self.executions += 1;
        self.transitions += done.transitions;
        self.steps += done.steps;
        self.threads = self.threads.max(done.threads);
        self.assumptions.extend(done.assumptions.iter().cloned());
        self.limits.extend(done.limit.clone());
        let elapsed = done.elapsed;
        for shown in done.into_shown() {
            let key = shown.bug.key();
            match self.strongest.get(&key) {
                // The one that is known is as good.
                Some(known) if rank(known) <= rank(&shown) => {}
                _ => {
                    self.durations.insert(key.clone(), elapsed);
                    self.strongest.insert(key, shown);
                }
            }
        }
    }
}

fn scheduler(number: u64, seed: u64) -> Box<dyn Scheduler> {
    match number {
        0 => Box::new(RoundRobin::new(TIME_SLICE)),
        _ => Box::new(Random::new(seed.wrapping_add(number))),
    }
}

/// Smaller is better: certain, strong, with few changes of the running thread.
fn rank(shown: &Shown) -> (bool, (usize, usize, usize), usize) {
    (!shown.assumptions.is_empty(), shown.bug.weakness(), shown.schedule.runs().len())
}

/// Whether running the schedule again, from the start, shows the same bug again.
pub fn is_shown_again(machine: &Machine<'_>, shown: &Shown, steps_per_run: u64) -> bool {
    is_shown_before(machine, shown, steps_per_run, None) == Some(true)
}

/// The same; nothing when the time was over before the bug was seen.
pub fn is_shown_before(machine: &Machine<'_>, shown: &Shown, steps_per_run: u64, deadline: Option<Instant>) -> Option<bool> {
    let mut machine = machine.clone();
    let limits = Limits { steps: steps_per_run, deadline, ..Limits::default() };
    let report = super::run::run(&mut machine, &mut Fixed::new(shown.schedule.clone()), &limits, &mut Unobserved);
    match bugs::shown_by(&machine).iter().any(|bug| bug.key() == shown.bug.key()) {
        false if report.end == End::OutOf(RunLimit::Time) => None,
        is_shown => Some(is_shown),
    }
}
