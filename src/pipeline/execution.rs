//! The program, executed: random schedules, then schedules aimed at what is suspected and was not shown; what was seen is confirmed by
//! running its schedule once more.

use std::time::{Duration, Instant};

use super::settings::{RunSettings, Settings};
use crate::error::Error;
use crate::explore::campaign::{self, Aim, AimedEffort, Campaign, Effort, Shown};
use crate::explore::machine::{Machine, RunOptions, SetupError};
use crate::findings::identity::stable_id;
use crate::findings::{Finding, Limit, Verdict};
use crate::models::BoundModels;
use crate::program::{Assumption, Program};

/// The part of its time by which a run may miss its budget.
const GRACE: u32 = 20;

/// A run that goes on longer is cut.
pub const STEPS_PER_RUN: u64 = 1_000_000;

/// A fresh machine for the program.
pub fn machine<'p>(
    program: &'p Program,
    models: &BoundModels<'_>,
    run: &RunSettings,
    inputs: &[String],
) -> Result<Machine<'p>, Error> {
    let options = RunOptions {
        faults: run.faults,
        volatile_is_atomic: run.volatile_is_atomic,
        entry: run.entries.first().to_owned(),
        beside: run.entries.beside(program),
        assume_atomic: run.assume_atomic.clone(),
        ..RunOptions::default()
    };
    Machine::new(program, models, options).map_err(|error| match error {
        SetupError::NoEntry(entry) => Error::NoEntry { entry, inputs: inputs.join(", ") },
        SetupError::Data(_) | SetupError::NoGlobal(_) => Error::Usage(format!("{}: {error}", inputs.join(", "))),
    })
}

/// What came of all runs.
#[derive(Default)]
pub struct Execution {
    pub campaign: Campaign,
    /// Those that it was given.
    pub aims: Vec<Aim>,
    pub was_executed: bool,
    /// Why it was not, where that is not simply what the user wanted.
    pub obstacle: Option<String>,
}

impl Execution {
    pub fn run(
        machine: &Machine<'_>,
        mut aims: Vec<Aim>,
        settings: &Settings,
        started: Instant,
        progress: &dyn Fn(&str),
    ) -> Execution {
        let obstacle = settings.run.entries.not_executed(machine.program);
        let Some(explore) = settings.explore.filter(|_| obstacle.is_none()) else {
            return Execution { aims, obstacle, ..Execution::default() };
        };
        let mut campaign = Campaign::default();
        let deadline = settings.budget.map(|budget| started + budget);
        let effort = Effort {
            schedules: explore.schedules,
            steps: explore.steps,
            steps_per_run: STEPS_PER_RUN,
            deadline,
            seed: explore.seed,
            jobs: settings.jobs,
        };
        let mut say_random = |number| progress(&format!("executing schedule {number}"));
        // Random schedules leave time for those that are aimed, and take what these leave.
        let until = if aims.is_empty() { deadline } else { deadline.map(half_way) };
        campaign.add_random(machine, &Effort { deadline: until, ..effort }, &mut say_random);
        aims.iter_mut().for_each(|aim| aim.is_shown = campaign.shown().any(|shown| aim.is_met_by(&shown.bug)));
        let mut say_aimed = |round| progress(&format!("aiming at candidates, round {}", round + 1));
        campaign.add_aimed(
            machine,
            &mut aims,
            &AimedEffort { schedules: explore.aimed, effort: Effort { steps: explore.aimed_steps, ..effort } },
            &mut say_aimed,
        );
        if until != deadline {
            campaign.add_random(machine, &effort, &mut say_random);
        }
        Execution { campaign, aims, was_executed: true, obstacle }
    }

    /// What to say when nothing was executed.
    pub fn limit_of_none(&self) -> Limit {
        Limit::NotAnalysed(self.obstacle.clone().unwrap_or_else(|| "the program was not executed".to_owned()))
    }

    /// What was done to show a suspicion that no run has shown.
    pub fn effort_of(&self, aim: &Aim) -> Limit {
        match aim.tried {
            _ if !self.was_executed => self.limit_of_none(),
            0 if self.campaign.is_determined => Limit::OneRun,
            0 => Limit::NotAnalysed("no schedule was aimed at it".to_owned()),
            tried => Limit::Aimed(tried),
        }
    }

    /// A finding for each bug that was seen and asked for: confirmed when its schedule shows it again and the run rests on no assumption.
    pub fn confirm(&self, machine: &Machine<'_>, settings: &Settings, started: Instant) -> Vec<Finding> {
        let mut findings = Vec::new();
        for shown in self.campaign.shown().filter(|shown| shown.bug.rule.concerns_any(&settings.checks)) {
            findings.push(judge(machine, shown, &findings, settings.budget, started));
        }
        findings
    }
}

fn half_way(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 2
}

/// The finding of a bug that was seen.
pub fn judge(machine: &Machine<'_>, shown: &Shown, earlier: &[Finding], budget: Option<Duration>, started: Instant) -> Finding {
    let bug = &shown.bug;
    // A campaign leaves time for this; should it not be enough, what is not run again is not confirmed.
    let deadline = budget.map(|budget| started + budget + budget / GRACE);
    let verdict = match campaign::is_shown_before(machine, shown, STEPS_PER_RUN, deadline) {
        None => Verdict::Possible { limits: vec![Limit::Budget] },
        Some(false) => panic!("the schedule {} does not show {} again", shown.schedule, bug.message),
        Some(true) if shown.assumptions.is_empty() => Verdict::Confirmed { schedule: shown.schedule.to_string() },
        Some(true) => Verdict::Possible { limits: shown.assumptions.iter().map(limit_of).collect() },
    };
    let mut names: Vec<&str> = bug.ends.iter().map(|end| end.function.as_str()).collect();
    names.push(&bug.whole);
    Finding {
        id: unused_id(earlier.iter(), |ordinal| stable_id(bug.rule, &names, ordinal)),
        rule: bug.rule,
        verdict,
        message: bug.message.clone(),
        object: bug.object.clone(),
        whole: bug.whole.clone(),
        ends: bug.ends.clone(),
        protection: None,
        assumptions: shown.assumptions.iter().cloned().collect(),
        suppressed: None,
    }
}

pub fn limit_of(assumption: &Assumption) -> Limit {
    Limit::Assumption(format!("{} ({})", assumption.what, assumption.kind.name()))
}

/// The first id that no earlier finding has.
fn unused_id<'f>(earlier: impl Iterator<Item = &'f Finding> + Clone, id: impl Fn(usize) -> String) -> String {
    let ordinal = (0..).find(|ordinal| earlier.clone().all(|finding| finding.id != id(*ordinal))).unwrap_or_default();
    id(ordinal)
}
