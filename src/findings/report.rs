//! The result of a whole run, before it is printed in any form.

use std::collections::BTreeMap;

use super::{Check, End, Limit, Note, Protection, Rule, Verdict, could_hide};
use crate::program::Assumption;

/// Everything a run of lockcheck has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub inputs: Vec<String>,
    pub checks: BTreeMap<Check, CheckState>,
    /// Sorted by file, line, rule.
    pub findings: Vec<Finding>,
    pub refuted: Vec<Refuted>,
    /// One for each object that threads share and somebody changes, where a static engine looked.
    pub protection: Vec<Protection>,
    /// Sorted, each once.
    pub assumptions: Vec<Assumption>,
    /// Why the analysis is not complete; empty when it is.
    pub limits: Vec<Limit>,
    pub notes: Vec<Note>,
    pub statistics: Statistics,
}

impl Report {
    /// Nothing that was asked for was left unexamined, and no assumption could hide a bug of it.
    pub fn is_complete(&self) -> bool {
        let is_blind = |check: &Check| self.assumptions.iter().any(|assumption| could_hide(assumption.kind, *check));
        self.limits.is_empty() && !self.checks.keys().any(is_blind)
    }
}

/// What is known of a whole check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// At least one confirmed finding.
    Unsafe,
    /// No finding, the analysis complete, and no assumption that could hide one.
    Safe,
    Unknown,
}

impl CheckState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsafe => "unsafe",
            Self::Safe => "safe",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Rule, functions, names and an ordinal, never line numbers: it survives edits elsewhere.
    pub id: String,
    pub rule: Rule,
    pub verdict: Verdict,
    pub message: String,
    /// The name of what is raced on, waited for, misused.
    pub object: String,
    /// The whole object it is part of: findings at the same places on two elements of an array are one.
    pub whole: String,
    pub ends: Vec<End>,
    /// What protects the other accesses of the object, when most of them are protected.
    pub protection: Option<String>,
    pub assumptions: Vec<Assumption>,
    /// The reason given in a suppression, when there is one.
    pub suppressed: Option<String>,
}

/// Candidates that are no bug, grouped by object, reason and pair of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refuted {
    pub rule: Rule,
    pub object: String,
    pub reason: Reason,
    pub detail: String,
    pub count: u64,
    /// One representative pair.
    pub ends: Vec<End>,
}

/// Why a candidate is no bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    ForkJoin,
    CommonLock,
    RelativeLock,
    AcquisitionHistory,
    LockHistory,
    GateLock,
    /// Locks are taken in the order of their addresses.
    LockOrder,
    HappensBefore,
    SingleInstance,
    /// Each thread touches a part of its own, found through the argument it was created with.
    ThreadPartition,
    /// A signal handler may touch such objects, whatever it interrupts.
    SignalAtomic,
    Predicates,
    Exhausted,
}

impl Reason {
    pub const ALL: [Reason; 13] = [
        Self::ForkJoin,
        Self::CommonLock,
        Self::RelativeLock,
        Self::AcquisitionHistory,
        Self::LockHistory,
        Self::GateLock,
        Self::LockOrder,
        Self::HappensBefore,
        Self::SingleInstance,
        Self::ThreadPartition,
        Self::SignalAtomic,
        Self::Predicates,
        Self::Exhausted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::ForkJoin => "fork-join",
            Self::CommonLock => "common-lock",
            Self::RelativeLock => "relative-lock",
            Self::AcquisitionHistory => "acquisition-history",
            Self::LockHistory => "lock-history",
            Self::GateLock => "gate-lock",
            Self::LockOrder => "lock-order",
            Self::HappensBefore => "happens-before",
            Self::SingleInstance => "single-instance",
            Self::ThreadPartition => "thread-partition",
            Self::SignalAtomic => "signal-atomic",
            Self::Predicates => "predicates",
            Self::Exhausted => "exhausted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Statistics {
    pub functions: u64,
    pub threads: u64,
    /// Places that may be taken as locks, as far as pointers are followed: no fewer than there are.
    pub locks: u64,
    pub objects: QuietObjects,
    pub seconds: Seconds,
    pub mebibytes: Mebibytes,
    pub executions: u64,
    pub transitions: u64,
    pub states: u64,
    pub peak_rss_mib: u64,
}

/// Wall time by stage.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Seconds {
    pub load: f64,
    pub facts: f64,
    pub engines: f64,
    pub refine: f64,
    pub explore: f64,
}

/// The most memory that was used up to the end of each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mebibytes {
    pub load: u64,
    pub facts: u64,
    pub engines: u64,
    pub explore: u64,
}

/// Objects of which nothing needs to be said pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QuietObjects {
    /// One thread alone reaches them.
    pub thread_local: u64,
    pub only_read: u64,
    pub only_atomic: u64,
}
