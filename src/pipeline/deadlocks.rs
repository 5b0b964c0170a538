//! What the deadlock engine says, beside what the machine has shown: aims for it, findings for what it did not show, reasons for the rest.

use std::collections::BTreeSet;

use super::execution::Execution;
use super::possible::Sides;
use super::races::{ids, lines_of};
use crate::engines::deadlock::{CycleCandidate, DeadlockLimit, DeadlockResult, OwnFault};
use crate::explore::campaign::{Aim, Suspicion};
use crate::explore::scheduler::Target;
use crate::facts::Facts;
use crate::findings::{Check, Finding, Limit, Note, NoteKind, Refuted, Role, Rule, Verdict};
use crate::program::Program;

pub struct Cycles<'a> {
    result: DeadlockResult,
    sides: Sides<'a>,
}

impl<'a> Cycles<'a> {
    pub fn new(program: &'a Program, facts: &'a Facts<'a>, mut result: DeadlockResult, checks: &[Check]) -> Cycles<'a> {
        if !Rule::Deadlock.concerns_any(checks) {
            (result.candidates, result.refuted) = (Vec::new(), Vec::new());
        }
        // Whoever comes for a lock that was kept waits for ever: those who ask for deadlocks are told what may be kept.
        let is_asked = |rule: Rule| rule.concerns_any(checks) || rule == Rule::LockLeak && checks.contains(&Check::Deadlock);
        result.own_faults.retain(|fault| is_asked(fault.rule));
        Cycles { result, sides: Sides { program, facts } }
    }

    /// What schedules are aimed at: one for each candidate, in their order, then one for each fault of a single thread. Each two that follow
    /// each other are a target.
    pub fn aims(&self) -> Vec<Aim> {
        let alone = |wait: &OwnFault| Aim {
            suspicion: Suspicion::Own(wait.rule),
            targets: vec![Target { sites: [wait.end.site; 2] }],
            lines: BTreeSet::from([wait.line()]),
            ..Aim::default()
        };
        let aim = |candidate: &CycleCandidate| {
            let next = candidate.ends.iter().cycle().skip(1);
            let pairs = candidate.ends.iter().zip(next).map(|(one, other)| Target { sites: [one.site, other.site] });
            let targets = pairs.collect::<BTreeSet<Target>>().into_iter().collect();
            Aim { suspicion: Suspicion::Deadlock, targets, lines: candidate.lines(), ..Aim::default() }
        };
        self.result.candidates.iter().map(aim).chain(self.result.own_faults.iter().map(alone)).collect()
    }

    /// Findings for the candidates that no run has shown; `aims` are theirs.
    pub fn not_shown(&self, executed: &Execution, aims: &[Aim], shown: &[Finding]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        let mut ids = ids(shown);
        let (of_cycles, of_faults) = aims.split_at(self.result.candidates.len());
        for (candidate, aim) in self.result.candidates.iter().zip(of_cycles) {
            if shown.iter().any(|finding| is_about(finding, candidate)) {
                continue;
            }
            let mut names: Vec<&str> = candidate.ends.iter().map(|end| end.function_name.as_str()).collect();
            names.push(&candidate.object);
            findings.push(Finding {
                id: ids.next(Rule::Deadlock, &names),
                rule: Rule::Deadlock,
                verdict: Verdict::Possible { limits: vec![Limit::NotExcluded(candidate.why.clone()), executed.effort_of(aim)] },
                message: message(candidate),
                object: candidate.object.clone(),
                whole: candidate.object.clone(),
                ends: candidate.ends.iter().map(|side| self.sides.end(side)).collect(),
                protection: None,
                assumptions: Vec::new(),
                suppressed: None,
            });
        }
        for (wait, aim) in self.result.own_faults.iter().zip(of_faults) {
            if shown.iter().any(|finding| is_of(finding, wait)) {
                continue;
            }
            findings.push(Finding {
                id: ids.next(wait.rule, &[wait.end.function_name.as_str(), wait.object.as_str()]),
                rule: wait.rule,
                verdict: Verdict::Possible { limits: vec![Limit::NotExcluded(wait.why.clone()), executed.effort_of(aim)] },
                message: wait.message.clone(),
                object: wait.object.clone(),
                whole: wait.object.clone(),
                ends: vec![self.sides.end(&wait.end)],
                protection: None,
                assumptions: Vec::new(),
                suppressed: None,
            });
        }
        findings
    }

    /// Cycles of locks and joins, and threads that wait for themselves, that a run has shown and the engine had not raised: bugs of ours.
    pub fn contradictions(&self, findings: &[Finding]) -> Vec<Note> {
        if !self.result.limits.is_empty() {
            return Vec::new();
        }
        let is_confirmed = |finding: &&Finding| {
            matches!(finding.rule, Rule::Deadlock | Rule::DoubleLock)
                && matches!(finding.verdict, Verdict::Confirmed { .. })
                && finding.ends.iter().all(|end| matches!(end.role, Role::Acquire | Role::Join))
        };
        let is_raised = |finding: &&Finding| {
            self.result.candidates.iter().any(|candidate| is_about(finding, candidate))
                || self.result.own_faults.iter().any(|wait| is_of(finding, wait))
        };
        let unexpected = findings.iter().filter(is_confirmed).filter(|finding| !is_raised(finding));
        let note = |finding: &Finding| Note {
            kind: NoteKind::Contradiction,
            message: format!(
                "the {} on {} was executed, yet the static engine had not raised it: a bug of lockcheck; the finding stands",
                finding.rule.name(),
                finding.object
            ),
            place: finding.ends.iter().find_map(|end| end.place.clone()),
        };
        unexpected.map(note).collect()
    }

    pub fn refuted(&self) -> Vec<Refuted> {
        self.result.refuted.iter().map(|group| self.sides.refuted(Rule::Deadlock, group)).collect()
    }

    /// Why the list of candidates may not be complete.
    pub fn limits(&self) -> Vec<Limit> {
        let limit = |limit: &DeadlockLimit| {
            let place = limit.site().and_then(|site| self.sides.program.place_of(site));
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            Limit::NotAnalysed(format!("{limit}{place}"))
        };
        self.result.limits.iter().map(limit).collect()
    }
}

/// A finding may have more ends: threads that wait for those of the cycle.
fn is_about(finding: &Finding, candidate: &CycleCandidate) -> bool {
    finding.rule == Rule::Deadlock && candidate.lines().is_subset(&lines_of(finding))
}

fn is_of(finding: &Finding, wait: &OwnFault) -> bool {
    finding.rule == wait.rule && lines_of(finding) == BTreeSet::from([wait.line()])
}

/// The headline: who has what, and waits for what.
fn message(candidate: &CycleCandidate) -> String {
    if let Some(headline) = &candidate.headline {
        return headline.clone();
    }
    let short = |thread: &str| thread.split('@').next().unwrap_or(thread).to_owned();
    let clauses = candidate.ends.iter().zip(&candidate.blocks_by).map(|(end, holds)| {
        let waits = match end.role {
            Role::Join => format!("waits for {} to end", short(&end.object)),
            Role::Wait => format!("waits for a signal of {}", end.object),
            _ => format!("waits for {}", end.object),
        };
        match holds {
            Some(lock) => format!("{} holds {lock} and {waits}", short(&end.thread_name)),
            None => format!("{} {waits}", short(&end.thread_name)),
        }
    });
    format!("possible deadlock: {}", clauses.collect::<Vec<_>>().join(", "))
}
