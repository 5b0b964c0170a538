//! Notes: what a report says beside its findings, and that changes no verdict.

use crate::program::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    pub message: String,
    pub place: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// A suppression that names a rule and suppresses no finding.
    UnusedSuppression,
    /// A suppression that cannot work as it is written.
    BrokenSuppression,
    /// Every execution was run: what is not reported does not happen.
    Exhausted,
    /// A run has shown what an engine had excluded: a bug of lockcheck. The finding stands.
    Contradiction,
}

impl NoteKind {
    /// The word in JSON, and in brackets in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnusedSuppression => "unused-suppression",
            Self::BrokenSuppression => "broken-suppression",
            Self::Exhausted => "exhausted",
            Self::Contradiction => "contradiction",
        }
    }
}
