//! The ends of a finding: each thread that takes part, where it stands, what it holds and how it got there.

use crate::program::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Unique in the program: the entry function, and where it was created if that is needed.
    pub thread: String,
    pub role: Role,
    /// What this end touches or waits for, by its own name for it.
    pub object: String,
    /// `None` without debug information.
    pub place: Option<Place>,
    /// The source name of the function.
    pub function: String,
    /// The locks held here, in the order they were taken.
    pub locks: Vec<HeldLock>,
    /// How the thread got here: its creation, its calls.
    pub trace: Vec<TraceStep>,
    /// The trace is one of several that were not told apart.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Write,
    Read,
    AtomicWrite,
    AtomicRead,
    Free,
    Acquire,
    Release,
    Join,
    Wait,
    Destroy,
    /// The thread ends here.
    End,
    /// An execution fault: a failed assertion, a bad access.
    Fault,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::AtomicWrite => "atomic write",
            Self::AtomicRead => "atomic read",
            Self::Free => "free",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Join => "join",
            Self::Wait => "wait",
            Self::Destroy => "destroy",
            Self::End => "end",
            Self::Fault => "fault",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldLock {
    pub name: String,
    pub taken_at: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceStep {
    pub place: Option<Place>,
    pub function: String,
    /// What happens: `create visitor`, `call deposit`, …
    pub event: String,
}
