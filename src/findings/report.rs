//! The result of a whole run, before it is printed in any form.

use std::collections::BTreeMap;

use super::{Check, End, Limit, Note, Rule, Verdict};
use crate::program::Assumption;

/// Everything a run of lockcheck has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub inputs: Vec<String>,
    pub checks: BTreeMap<Check, CheckState>,
    /// Sorted by file, line, rule.
    pub findings: Vec<Finding>,
    pub refuted: Vec<Refuted>,
    /// Sorted, each once.
    pub assumptions: Vec<Assumption>,
    /// Why the analysis is not complete; empty when it is.
    pub limits: Vec<Limit>,
    pub notes: Vec<Note>,
    pub statistics: Statistics,
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
    pub ends: Vec<End>,
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
    HappensBefore,
    SingleInstance,
    Predicates,
    Exhausted,
}

impl Reason {
    pub const ALL: [Reason; 10] = [
        Self::ForkJoin,
        Self::CommonLock,
        Self::RelativeLock,
        Self::AcquisitionHistory,
        Self::LockHistory,
        Self::GateLock,
        Self::HappensBefore,
        Self::SingleInstance,
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
            Self::HappensBefore => "happens-before",
            Self::SingleInstance => "single-instance",
            Self::Predicates => "predicates",
            Self::Exhausted => "exhausted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Statistics {
    pub functions: u64,
    pub threads: u64,
    pub seconds: Seconds,
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
