//! Loading C, running the deadlock engine, and looking at what it says.

use std::collections::BTreeSet;

use lockcheck::deadline::Deadline;
use lockcheck::engines::deadlock::{DeadlockResult, OwnFault};
use lockcheck::engines::race::RaceOptions;
use lockcheck::engines::{Wanted, run};
use lockcheck::facts::Facts;
use lockcheck::findings::{Reason, Rule};
use lockcheck::models::Models;
use lockcheck::program::Program;

use super::shared::{HEAD, load_c};

pub fn analyse(program: &Program) -> DeadlockResult {
    let models = Models::embedded();
    let bound = models.bind(program);
    let facts = Facts::of(program, &bound, None);
    let options = RaceOptions { deadline: Deadline::NEVER, ..RaceOptions::default() };
    run(program, &bound, &facts, Wanted { races: false, deadlocks: true }, &options).deadlocks.expect("it was asked")
}

/// What the engine says of a C text, behind the head of `race_engine`.
pub struct Said {
    pub result: DeadlockResult,
}

pub fn said_of(text: &str) -> Said {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("trap.c");
    std::fs::write(&file, format!("{HEAD}\n{text}")).expect("a program can be written");
    Said { result: analyse(&load_c(&file, &[])) }
}

impl Said {
    /// The candidates, each as what its ends wait for, sorted.
    fn cycles(&self) -> BTreeSet<Vec<&str>> {
        let waits = self.result.candidates.iter().map(|candidate| {
            let mut waits: Vec<&str> =
                candidate.ends.iter().map(|end| end.object.split('@').next().unwrap_or_default()).collect();
            waits.sort_unstable();
            waits
        });
        waits.collect()
    }

    /// Threads may wait for each other so.
    #[track_caller]
    pub fn deadlock(&self, waits: &[&str]) -> &Said {
        assert!(self.cycles().contains(waits), "{waits:?} is a cycle: {}", self.summary());
        self
    }

    /// Nothing is raised, and everything was looked at.
    #[track_caller]
    pub fn none(&self) -> &Said {
        assert!(self.result.candidates.is_empty(), "there is no deadlock: {}", self.summary());
        assert!(self.self_waits().is_empty(), "nobody waits for itself: {}", self.summary());
        assert!(self.result.limits.is_empty(), "everything is looked at: {}", self.summary());
        self
    }

    /// Nothing is raised, but something stands in the way of "none".
    #[track_caller]
    pub fn open(&self, limit: &str) -> &Said {
        assert!(self.result.candidates.is_empty(), "no cycle of locks is raised: {}", self.summary());
        assert!(self.result.limits.iter().any(|known| known.to_string().contains(limit)), "{limit}: {}", self.summary());
        self
    }

    /// Some thread may take this lock, which it holds.
    #[track_caller]
    pub fn waits_for_itself(&self, lock: &str) -> &Said {
        let waits = self.self_waits();
        assert!(waits.iter().any(|wait| wait.object == lock), "{lock} is taken again: {}", self.summary());
        self
    }

    pub fn self_waits(&self) -> Vec<&OwnFault> {
        self.result.own_faults.iter().filter(|fault| fault.rule != Rule::LockLeak).collect()
    }

    /// Some thread may keep this lock when it ends.
    #[track_caller]
    pub fn leaks(&self, lock: &str) -> &Said {
        let is_this = |fault: &OwnFault| (fault.rule, fault.object.as_str()) == (Rule::LockLeak, lock);
        assert!(self.result.own_faults.iter().any(is_this), "{lock} is kept: {}", self.summary());
        self
    }

    /// A cycle in the order of locks was dismissed for this reason.
    #[track_caller]
    pub fn dismissed(&self, reason: Reason) -> &Said {
        assert!(self.result.refuted.iter().any(|group| group.reason == reason), "by {}: {}", reason.name(), self.summary());
        self
    }

    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.result.candidates.iter().map(|candidate| format!("candidate: {}", candidate.why)));
        lines.extend(self.result.own_faults.iter().map(|wait| format!("{}: {}; {}", wait.rule.name(), wait.message, wait.why)));
        for group in &self.result.refuted {
            lines.push(format!("refuted {} {} x{}: {}", group.object, group.reason.name(), group.count, group.detail));
        }
        lines.extend(self.result.limits.iter().map(|limit| format!("limit: {limit}")));
        format!("\n{}", lines.join("\n"))
    }
}
