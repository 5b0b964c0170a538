//! Many runs of one program: what they have shown, each with the schedule that shows it best.
//!
//! The first run is the one a single processor with long time slices would do; the others are random. Nothing is proved by a bug that
//! does not show: a campaign ends with a limit, always.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::bugs::{self, Bug, Key};
use super::machine::end::Limit as RunLimit;
use super::machine::{End, Machine, Unobserved};
use super::run::{self, Limits};
use super::schedule::Schedule;
use super::scheduler::{Fixed, Random, RoundRobin, Scheduler};
use crate::findings::Limit;
use crate::program::Assumption;

/// Transitions of a thread in the first run before the next one gets its turn.
const TIME_SLICE: u64 = 1_000;

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
}

/// A bug, and the run that shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    pub bug: Bug,
    pub schedule: Schedule,
    /// What that run could not execute exactly.
    pub assumptions: BTreeSet<Assumption>,
}

/// What came of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// Each bug once, in the order of their keys.
    pub shown: Vec<Shown>,
    pub assumptions: BTreeSet<Assumption>,
    pub limits: BTreeSet<Limit>,
    /// The program started no thread and read no input: another run would be the same.
    pub is_determined: bool,
    pub executions: u64,
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
    let mut strongest: BTreeMap<Key, Shown> = BTreeMap::new();
    // What was shown is run again after the campaign: the time for that is kept free.
    let mut durations: BTreeMap<Key, Duration> = BTreeMap::new();
    for number in 0..effort.schedules {
        let started = Instant::now();
        let deadline = effort.deadline.map(|deadline| deadline.checked_sub(durations.values().sum()).unwrap_or(started));
        let limits = Limits { steps: effort.steps_per_run, deadline, ..Limits::default() };
        if deadline.is_some_and(|deadline| started >= deadline) {
            campaign.limits.insert(Limit::Budget);
            break;
        }
        if campaign.steps >= effort.steps {
            break;
        }
        progress(number);
        let mut scheduler: Box<dyn Scheduler> = match number {
            0 => Box::new(RoundRobin::new(TIME_SLICE)),
            _ => Box::new(Random::new(effort.seed.wrapping_add(number))),
        };
        let mut machine = machine.clone();
        let report = run::run(&mut machine, &mut scheduler, &limits, &mut Unobserved);
        campaign.count(&machine, &report, effort);
        if report.end == End::Rejected {
            continue;
        }
        let is_only_run = machine.threads().count() == 1 && report.schedule.inputs().is_empty();
        for bug in bugs::shown_by(&machine) {
            let shown = Shown { bug, schedule: report.schedule.clone(), assumptions: uncertain(&report.assumptions) };
            match strongest.get(&shown.bug.key()) {
                Some(known) if rank(known) <= rank(&shown) => {}
                _ => {
                    durations.insert(shown.bug.key(), started.elapsed());
                    strongest.insert(shown.bug.key(), shown);
                }
            }
        }
        if is_only_run {
            campaign.is_determined = true;
            break;
        }
    }
    campaign.limits.insert(if campaign.is_determined { Limit::OneRun } else { Limit::Schedules(campaign.executions) });
    campaign.shown = strongest.into_values().collect();
    campaign
}

impl Campaign {
    fn count(&mut self, machine: &Machine<'_>, report: &run::RunReport, effort: &Effort) {
        if self.executions == 0 {
            self.first_output.clone_from(&report.output);
            self.first_end = Some(report.end.clone());
        }
        self.executions += 1;
        self.transitions += report.transitions;
        self.steps += report.steps;
        self.threads = self.threads.max(machine.threads().count() as u64);
        self.assumptions.extend(report.assumptions.iter().cloned());
        match &report.end {
            End::OutOf(RunLimit::Time) => {
                self.limits.insert(Limit::Budget);
            }
            End::Fault { site, fault, .. } if bugs::of_end(&bugs::Names::new(machine)).is_none() => {
                let place = site.and_then(|site| machine.program.place_of(site));
                self.limits.insert(Limit::EndedEarly { what: fault.to_string(), place });
            }
            End::OutOf(RunLimit::Steps | RunLimit::Transitions) => {
                self.limits.insert(Limit::Steps(effort.steps_per_run));
            }
            End::OutOf(RunLimit::Schedule) | End::Diverged { .. } => panic!("a scheduler that makes its choices up is never at its end"),
            End::Exited(_) | End::Killed(_) | End::Stuck(_) | End::Fault { .. } | End::AssertionFailed { .. } | End::Rejected => {}
        }
    }
}

/// Smaller is better: certain, strong, with few changes of the running thread.
fn rank(shown: &Shown) -> (bool, (usize, usize, usize), usize) {
    (!shown.assumptions.is_empty(), shown.bug.weakness(), shown.schedule.runs().len())
}

fn uncertain(assumptions: &BTreeSet<Assumption>) -> BTreeSet<Assumption> {
    assumptions.iter().filter(|assumption| assumption.kind.makes_runs_uncertain()).cloned().collect()
}

/// Whether running the schedule again, from the start, shows the same bug again.
pub fn is_shown_again(machine: &Machine<'_>, shown: &Shown, steps_per_run: u64) -> bool {
    is_shown_before(machine, shown, steps_per_run, None) == Some(true)
}

/// The same; nothing when the time was over before the bug was seen.
pub fn is_shown_before(machine: &Machine<'_>, shown: &Shown, steps_per_run: u64, deadline: Option<Instant>) -> Option<bool> {
    let mut machine = machine.clone();
    let limits = Limits { steps: steps_per_run, deadline, ..Limits::default() };
    let report = run::run(&mut machine, &mut Fixed::new(shown.schedule.clone()), &limits, &mut Unobserved);
    match bugs::shown_by(&machine).iter().any(|bug| bug.key() == shown.bug.key()) {
        false if report.end == End::OutOf(RunLimit::Time) => None,
        is_shown => Some(is_shown),
    }
}
