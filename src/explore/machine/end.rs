//! How a run ends.

use std::fmt;

use crate::explore::fault::Fault;
use crate::explore::sync::{BlockReason, ThreadId};
use crate::program::SiteId;

#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Exited(i32),
    /// By a signal, for instance `SIGABRT`.
    Killed(&'static str),
    /// No thread can go on, and some have not finished: who waits for what.
    Stuck(Vec<(ThreadId, BlockReason)>),
    Fault {
        thread: ThreadId,
        site: Option<SiteId>,
        fault: Fault,
    },
    AssertionFailed {
        thread: ThreadId,
        site: Option<SiteId>,
        what: String,
    },
    OutOf(Limit),
    /// An assumption of the program (`__VERIFIER_assume`) does not hold: the run is of no interest.
    Rejected,
    /// A recorded schedule wants a thread that cannot run: the program is not the one it was recorded with.
    Diverged {
        step: u64,
        wanted: ThreadId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Steps,
    Transitions,
    /// The deadline is over.
    Time,
    /// A recorded schedule has no further choice.
    Schedule,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ends with exit code {code}"),
            Self::Killed(signal) => write!(f, "is killed by {signal}"),
            Self::Stuck(waiting) => write!(f, "is stuck: {} threads wait for ever", waiting.len()),
            Self::Fault { fault, .. } => write!(f, "ends with a fault: {fault}"),
            Self::AssertionFailed { what, .. } => write!(f, "fails an assertion: {what}"),
            Self::OutOf(limit) => write!(f, "is cut off: {limit}"),
            Self::Diverged { step, wanted } => write!(f, "cannot follow the schedule: {wanted} cannot take step {step}"),
            Self::Rejected => write!(f, "is of no interest: an assumption of the program does not hold"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps | Self::Transitions => "it takes too many steps",
            Self::Time => "the time is over",
            Self::Schedule => "the schedule has no further step",
        })
    }
}
