//! One run of a campaign, reduced to what the campaign keeps: counts, the bugs in words, the schedule.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::Shown;
use crate::explore::bugs::{self, Bug};
use crate::explore::machine::end::Limit as RunLimit;
use crate::explore::machine::{End, Machine, Unobserved};
use crate::explore::run::{self, Limits};
use crate::explore::schedule::Schedule;
use crate::explore::scheduler::Scheduler;
use crate::findings::Limit;
use crate::program::{Assumption, SiteId};

/// What came of one run.
pub struct Done {
    pub end: End,
    pub output: Vec<u8>,
    pub steps: u64,
    pub transitions: u64,
    pub threads: u64,
    /// Why the run did not show all it could have.
    pub limit: Option<Limit>,
    /// All that was met.
    pub assumptions: BTreeSet<Assumption>,
    pub bugs: Vec<Bug>,
    pub schedule: Schedule,
    /// The pairs of sites that raced, the smaller first.
    pub races: BTreeSet<[SiteId; 2]>,
    pub elapsed: Duration,
}

impl Done {
    /// Runs a copy of a fresh machine.
    pub fn by(machine: &Machine<'_>, scheduler: &mut dyn Scheduler, limits: &Limits) -> Done {
        let started = Instant::now();
        let mut machine = machine.clone();
        let report = run::run(&mut machine, scheduler, limits, &mut Unobserved);
        let is_rejected = report.end == End::Rejected;
        Done {
            output: report.output,
            steps: report.steps,
            transitions: report.transitions,
            threads: machine.threads().count() as u64,
            limit: limit(&machine, &report.end, limits),
            // What the program itself excludes shows nothing.
            bugs: if is_rejected { Vec::new() } else { bugs::shown_by(&machine) },
            races: if is_rejected { BTreeSet::new() } else { races(&machine) },
            assumptions: report.assumptions,
            schedule: report.schedule,
            end: report.end,
            elapsed: started.elapsed(),
        }
    }

    /// No thread was started and nothing asked for: another run would be the same. A run that time has cut might have done either.
    pub fn is_the_only_one(&self) -> bool {
        let is_whole = !matches!(self.end, End::Rejected | End::OutOf(RunLimit::Time));
        is_whole && self.threads == 1 && self.schedule.inputs().is_empty()
    }

    pub fn into_shown(self) -> impl Iterator<Item = Shown> {
        let assumptions: BTreeSet<Assumption> =
            self.assumptions.into_iter().filter(|assumption| assumption.kind.makes_runs_uncertain()).collect();
        let schedule = self.schedule;
        self.bugs.into_iter().map(move |bug| Shown { bug, schedule: schedule.clone(), assumptions: assumptions.clone() })
    }
}

fn limit(machine: &Machine<'_>, end: &End, limits: &Limits) -> Option<Limit> {
    match end {
        End::OutOf(RunLimit::Time) => Some(Limit::Budget),
        End::Fault { site, fault, .. } if bugs::of_end(&bugs::Names::new(machine)).is_none() => {
            let place = site.and_then(|site| machine.program.place_of(site));
            Some(Limit::EndedEarly { what: fault.to_string(), place })
        }
        End::OutOf(RunLimit::Steps | RunLimit::Transitions) => Some(Limit::Steps(limits.steps)),
        End::OutOf(RunLimit::Schedule) | End::Diverged { .. } => {
            panic!("a scheduler that makes its choices up is never at its end")
        }
        End::Exited(_) | End::Killed(_) | End::Stuck(_) | End::Fault { .. } | End::AssertionFailed { .. } | End::Rejected => None,
    }
}

fn races(machine: &Machine<'_>) -> BTreeSet<[SiteId; 2]> {
    let sites = machine.races.iter().filter_map(|race| Some([race.first.site?, race.second.site?]));
    sites.map(|[one, other]| [one.min(other), one.max(other)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::machine::RunOptions;
    use crate::explore::scheduler::RoundRobin;
    use crate::models::Models;
    use crate::program::text::parse;

    #[test]
    fn a_run_that_time_has_cut_says_nothing_of_others() {
        let text = "lockcheck program 1\nfunction @main \"main\" () returns i32 {\nb0:\n  jump b0\n}\n";
        let program = parse(text).expect("the text is valid");
        let machine = Machine::new(&program, &Models::default().bind(&program), RunOptions::default()).expect("it has a main");
        let run = |limits: Limits| Done::by(&machine, &mut RoundRobin::new(1_000), &limits);
        let late = run(Limits { steps: u64::MAX, deadline: Some(Instant::now()), ..Limits::default() });
        assert!(late.end == End::OutOf(RunLimit::Time) && !late.is_the_only_one(), "{:?}", late.end);
        let long = run(Limits { steps: 100_000, ..Limits::default() });
        assert!(long.end == End::OutOf(RunLimit::Steps) && long.is_the_only_one(), "{:?}", long.end);
    }
}
