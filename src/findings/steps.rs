//! The steps of one run, as a person reads them: what `lockcheck replay` prints.

use crate::program::Place;

/// One thing that one thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The column: threads in the order of their creation.
    pub thread: u32,
    pub thread_name: String,
    pub place: Option<Place>,
    pub function: String,
    pub kind: StepKind,
    /// The names of the locks held after the step.
    pub held: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    Read {
        object: String,
        value: String,
    },
    Write {
        object: String,
        value: String,
    },
    Acquire {
        lock: String,
    },
    Release {
        lock: String,
    },
    /// The thread cannot go on: what it waits for.
    Blocked {
        on: String,
    },
    Create {
        thread: String,
    },
    Join {
        thread: String,
    },
    Output {
        text: String,
    },
    Input {
        what: String,
        value: String,
    },
    /// The bug itself: the message.
    Bug {
        message: String,
    },
    End,
    /// Any other synchronisation: `signal ready`, `post items`, …
    Other {
        what: String,
    },
}
