//! What all static engines say of a program, as one.

use super::deadlocks::Cycles;
use super::execution::Execution;
use super::races::Races;
use crate::engines;
use crate::explore::campaign::Aim;
use crate::facts::Facts;
use crate::findings::{Check, Finding, Limit, Note, Protection, QuietObjects, Refuted, Rule};
use crate::program::Program;

/// Engines that were not asked, or for which there was no time to begin, say nothing.
#[derive(Default)]
pub struct Suspected<'a> {
    races: Option<Races<'a>>,
    cycles: Option<Cycles<'a>>,
}

impl<'a> Suspected<'a> {
    /// Of `checks`, and of nothing else.
    pub fn new(program: &'a Program, facts: &'a Facts<'a>, results: engines::Results, checks: &[Check]) -> Suspected<'a> {
        Suspected {
            races: results.races.map(|result| Races::new(program, facts, result)),
            cycles: results.deadlocks.map(|result| Cycles::new(program, facts, result, checks)),
        }
    }

    /// What schedules are aimed at.
    pub fn aims(&self) -> Vec<Aim> {
        let races = self.races.as_ref().map_or(Vec::new(), Races::aims);
        let cycles = self.cycles.as_ref().map_or(Vec::new(), Cycles::aims);
        races.into_iter().chain(cycles).collect()
    }

    /// Findings for what no run has shown.
    pub fn not_shown(&self, executed: &Execution, shown: &[Finding]) -> Vec<Finding> {
        let of_races = executed.aims.len() - self.cycles.as_ref().map_or(0, |cycles| cycles.aims().len());
        let (race_aims, cycle_aims) = executed.aims.split_at(of_races);
        let races = self.races.iter().flat_map(|races| races.not_shown(executed, race_aims, shown));
        let cycles = self.cycles.iter().flat_map(|cycles| cycles.not_shown(executed, cycle_aims, shown));
        races.chain(cycles).collect()
    }

    /// Which lock was forgotten at an end of a race.
    pub fn forgotten_by(&self, finding: &Finding) -> Option<String> {
        self.races.as_ref().filter(|_| finding.rule == Rule::DataRace)?.forgotten_by(finding)
    }

    /// What a run has shown and an engine had not raised: bugs of ours.
    pub fn contradictions(&self, findings: &[Finding]) -> Vec<Note> {
        let races = self.races.iter().flat_map(|races| races.contradictions(findings));
        races.chain(self.cycles.iter().flat_map(|cycles| cycles.contradictions(findings))).collect()
    }

    pub fn refuted(&self) -> Vec<Refuted> {
        let races = self.races.iter().flat_map(Races::refuted);
        races.chain(self.cycles.iter().flat_map(Cycles::refuted)).collect()
    }

    pub fn protection(&self) -> Vec<Protection> {
        self.races.as_ref().map_or(Vec::new(), Races::protection)
    }

    pub fn quiet(&self) -> QuietObjects {
        self.races.as_ref().map_or_else(Default::default, Races::quiet)
    }

    /// Why what an engine says of a check is not all; `None` when no engine speaks of it.
    pub fn limits_of(&self, check: Check) -> Option<Vec<Limit>> {
        match check {
            Check::Race => self.races.as_ref().map(Races::limits),
            Check::Deadlock => self.cycles.as_ref().map(Cycles::limits),
            Check::Misuse | Check::Safety | Check::Atomicity | Check::Property => None,
        }
    }
}
