//! The whole method on one screen: a program in, a report out.
//!
//! Today the program is executed under many schedules; what is seen is confirmed, nothing is refuted, and so no check is ever
//! "safe". Static engines will raise candidates between loading and execution.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::config::Ignore;
use crate::error::Error;
use crate::explore;
use crate::explore::campaign::{self, Campaign, Effort, Shown};
use crate::explore::machine::{End as RunEnd, Machine, RunOptions, SetupError};
use crate::explore::run::Limits;
use crate::explore::schedule::Schedule;
use crate::explore::scheduler::Fixed;
use crate::explore::transcript::Transcript;
use crate::findings::identity::stable_id;
use crate::findings::{Check, CheckState, Finding, Limit, Report, Rule, Statistics, Step, Verdict};
use crate::models::Models;
use crate::program::{Assumption, Program};

/// How the program is executed.
#[derive(Clone, Debug, Default)]
pub struct RunSettings {
    pub entry: String,
    pub faults: bool,
    pub volatile_is_atomic: bool,
    /// Globals whose accesses count as atomic.
    pub assume_atomic: Vec<String>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    pub inputs: Vec<String>,
    pub checks: Vec<Check>,
    pub run: RunSettings,
    /// `None`: the program is not executed.
    pub explore: Option<ExploreSettings>,
    pub budget: Option<Duration>,
    pub ignore: Vec<Ignore>,
    /// Settings that nothing looks at yet.
    pub unused: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct ExploreSettings {
    pub schedules: u64,
    /// Instructions of all runs together.
    pub steps: u64,
    pub seed: u64,
}

/// The part of its time by which a run may miss its budget.
const GRACE: u32 = 20;

/// A run that goes on longer is cut.
pub const STEPS_PER_RUN: u64 = 1_000_000;

/// Checks a program. `progress` is told what is being done.
pub fn check(program: &Program, models: &Models, settings: &Settings, started: Instant, progress: &dyn Fn(&str)) -> Result<Report, Error> {
    let machine = machine(program, models, &settings.run, &settings.inputs)?;
    let deadline = settings.budget.map(|budget| started + budget);
    let loaded = Instant::now();
    let mut campaign = Campaign::default();
    if let Some(explore) = settings.explore {
        let effort = Effort { schedules: explore.schedules, steps: explore.steps, steps_per_run: STEPS_PER_RUN, deadline, seed: explore.seed };
        campaign = campaign::random(&machine, &effort, &mut |number| progress(&format!("executing schedule {number}")));
    } else {
        campaign.limits.insert(Limit::NotAnalysed("the program was not executed".to_owned()));
    }
    progress("replaying what was found");
    // A campaign leaves time for this; should it not be enough, what is not run again is not confirmed.
    let grace = settings.budget.map(|budget| started + budget + budget / GRACE);
    let mut findings: Vec<Finding> = Vec::new();
    for shown in campaign.shown.iter().filter(|shown| settings.checks.contains(&shown.bug.rule.check())) {
        findings.push(judge(&machine, shown, &findings, settings, grace));
    }
    findings.sort_by_key(position);
    let explored = loaded.elapsed().as_secs_f64();
    let mut statistics = statistics(program, &campaign);
    statistics.seconds.load = (loaded - started).as_secs_f64();
    statistics.seconds.explore = explored;
    let assumptions: BTreeSet<Assumption> = program.assumptions.iter().chain(&campaign.assumptions).cloned().collect();
    Ok(Report {
        inputs: settings.inputs.clone(),
        checks: settings.checks.iter().map(|check| (*check, state(*check, &findings))).collect::<BTreeMap<_, _>>(),
        findings,
        refuted: Vec::new(),
        assumptions: assumptions.into_iter().collect(),
        limits: limits(&campaign, settings),
        notes: Vec::new(),
        statistics,
    })
}

/// A fresh machine for the program.
fn machine<'p>(program: &'p Program, models: &Models, run: &RunSettings, inputs: &[String]) -> Result<Machine<'p>, Error> {
    let options = RunOptions {
        faults: run.faults,
        volatile_is_atomic: run.volatile_is_atomic,
        entry: run.entry.clone(),
        assume_atomic: run.assume_atomic.clone(),
        ..RunOptions::default()
    };
    Machine::new(program, &models.bind(program), options).map_err(|error| match error {
        SetupError::NoEntry(entry) => Error::NoEntry { entry, inputs: inputs.join(", ") },
        SetupError::Data(_) | SetupError::NoGlobal(_) => Error::Usage(format!("{}: {error}", inputs.join(", "))),
    })
}

/// A bug that was seen is confirmed when its schedule shows it again and the run rests on no assumption.
fn judge(machine: &Machine<'_>, shown: &Shown, earlier: &[Finding], settings: &Settings, deadline: Option<Instant>) -> Finding {
    let bug = &shown.bug;
    let limit = |assumption: &Assumption| Limit::Assumption(format!("{} ({})", assumption.what, assumption.kind.name()));
    let verdict = match campaign::is_shown_before(machine, shown, STEPS_PER_RUN, deadline) {
        None => Verdict::Possible { limits: vec![Limit::Budget] },
        Some(false) => panic!("the schedule {} does not show {} again", shown.schedule, bug.message),
        Some(true) if shown.assumptions.is_empty() => Verdict::Confirmed { schedule: shown.schedule.to_string() },
        Some(true) => Verdict::Possible { limits: shown.assumptions.iter().map(limit).collect() },
    };
    let mut names: Vec<&str> = bug.ends.iter().map(|end| end.function.as_str()).collect();
    names.push(&bug.whole);
    let id = |ordinal| stable_id(bug.rule, &names, ordinal);
    let ordinal = (0..).find(|ordinal| earlier.iter().all(|finding| finding.id != id(*ordinal))).unwrap_or_default();
    Finding {
        id: id(ordinal),
        rule: bug.rule,
        verdict,
        message: bug.message.clone(),
        object: bug.object.clone(),
        ends: bug.ends.clone(),
        assumptions: shown.assumptions.iter().cloned().collect(),
        suppressed: settings.ignore.iter().find(|entry| entry.matches(bug.rule.name(), &bug.object)).map(|entry| entry.because.clone()),
    }
}

fn position(finding: &Finding) -> (String, u32, u32, Rule, String) {
    let place = finding.ends.iter().find_map(|end| end.place.as_ref());
    let (file, line, column) = place.map_or((String::new(), 0, 0), |place| (place.file.clone(), place.line, place.column));
    (file, line, column, finding.rule, finding.id.clone())
}

/// Execution shows bugs and proves nothing: what is not unsafe is unknown.
fn state(check: Check, findings: &[Finding]) -> CheckState {
    let is_shown = |finding: &Finding| finding.rule.check() == check && matches!(finding.verdict, Verdict::Confirmed { .. });
    if findings.iter().any(is_shown) { CheckState::Unsafe } else { CheckState::Unknown }
}

fn limits(campaign: &Campaign, settings: &Settings) -> Vec<Limit> {
    let mut limits: Vec<Limit> = campaign.limits.iter().cloned().collect();
    limits.extend(settings.unused.iter().map(|key| Limit::NotAnalysed(format!("`{key}` of the settings is not looked at yet"))));
    if settings.checks.contains(&Check::Atomicity) {
        limits.push(Limit::NotAnalysed("atomicity violations are not looked for yet".to_owned()));
    }
    limits
}

fn statistics(program: &Program, campaign: &Campaign) -> Statistics {
    Statistics {
        functions: program.functions.iter().filter(|function| function.is_defined()).count() as u64,
        threads: campaign.threads,
        executions: campaign.executions,
        transitions: campaign.transitions,
        peak_rss_mib: peak_rss_mib(),
        ..Statistics::default()
    }
}

/// The most memory this process has used.
fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
    kibibytes.unwrap_or(0) / 1024
}

/// One schedule, run again.
pub struct Replayed {
    pub steps: Vec<Step>,
    /// The bugs that the run has shown.
    pub messages: Vec<String>,
    /// How the run ended, in words.
    pub end: String,
}

/// Runs one schedule again, in a fresh machine, and finds its bugs anew.
pub fn replay(program: &Program, models: &Models, run: &RunSettings, inputs: &[String], token: &str) -> Result<Replayed, Error> {
    let schedule: Schedule = token.parse().map_err(|error| Error::Usage(format!("{error}")))?;
    let mut machine = machine(program, models, run, inputs)?;
    if schedule.fingerprint() != machine.fingerprint() {
        return Err(Error::Usage(format!("{}: the program has changed since this schedule was recorded; check it again", inputs.join(", "))));
    }
    let mut transcript = Transcript::default();
    let limits = Limits { steps: STEPS_PER_RUN, ..Limits::default() };
    let report = explore::run::run(&mut machine, &mut Fixed::new(schedule), &limits, &mut transcript);
    if let RunEnd::Diverged { step, wanted } = report.end {
        return Err(Error::Usage(format!("{}: thread {wanted} cannot take step {step} of this schedule; were other options given?", inputs.join(", "))));
    }
    let (steps, bugs) = transcript.finish(&machine);
    Ok(Replayed { steps, messages: bugs.into_iter().map(|bug| bug.message).collect(), end: report.end.to_string() })
}
