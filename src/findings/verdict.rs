//! Verdicts: a finding is confirmed by a schedule, or it is possible and says what was not excluded.

use std::fmt;

use crate::program::Place;

/// What is known of a finding. What is refuted is no finding: see [`Refuted`](super::Refuted).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This schedule shows it, and was replayed.
    Confirmed { schedule: String },
    /// It could not be excluded; `limits` says what stopped the tool.
    Possible { limits: Vec<Limit> },
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Confirmed { .. } => "confirmed",
            Self::Possible { .. } => "possible",
        }
    }
}

/// What kept the tool from deciding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The `--budget` of wall time is used up.
    Budget,
    /// So many schedules were tried; there are more.
    Schedules(u64),
    /// The program starts no thread and reads no input, so it was run once; uninitialised values were taken as 0.
    OneRun,
    /// So many schedules were aimed at it.
    Aimed(u64),
    /// What a static engine could not exclude.
    NotExcluded(String),
    /// A run did not end within so many steps.
    Steps(u64),
    Memory,
    /// A run ended before its time, by what no rule is about: what would have come after it was not seen.
    EndedEarly {
        what: String,
        place: Option<Place>,
    },
    /// The run that shows it rests on an assumption.
    Assumption(String),
    /// The engine that would decide it was switched off, or does not exist for this check.
    NotAnalysed(String),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget => write!(f, "the time budget is used up"),
            Self::Schedules(count) => write!(f, "{count} schedules were tried, not all"),
            Self::OneRun => {
                write!(f, "one run was made: no thread is started and no input read, uninitialised values count as 0")
            }
            Self::Aimed(1) => write!(f, "one schedule aimed at it did not show it"),
            Self::Aimed(count) => write!(f, "{count} schedules aimed at it did not show it"),
            Self::NotExcluded(what) => write!(f, "{what}"),
            Self::Steps(count) => write!(f, "a run did not end within {count} steps"),
            Self::Memory => write!(f, "memory is used up"),
            Self::EndedEarly { what, place: Some(place) } => write!(f, "a run ended early at {place}: {what}"),
            Self::EndedEarly { what, place: None } => write!(f, "a run ended early: {what}"),
            Self::Assumption(what) => write!(f, "the run rests on an assumption: {what}"),
            Self::NotAnalysed(what) => write!(f, "{what}"),
        }
    }
}
