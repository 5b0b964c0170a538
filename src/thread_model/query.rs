//! Queries: what a model is asked, and what the answer should be.

use super::{Position, ThreadIndex, VariableIndex};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub position: Position,
    pub question: Question,
    /// The truth, if the model says it.
    pub expect: Option<bool>,
    /// As it is written, for reports.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Can distinct threads stand at these places, all at once?
    Reachable(Vec<Place>),
    /// Can two threads stand before accesses of the variable at once, one of them a write?
    Race(VariableIndex),
    /// Can threads block each other in a cycle, for ever?
    Deadlock,
    /// A question that only other engines know how to answer (`atomic`, `phase`, `ltl`).
    Other(String),
}

/// `T@N`: an instance of thread T stands at label N.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub thread: ThreadIndex,
    pub label: String,
}
