//! What lockcheck says about a program: findings with their verdicts, what was refuted and why, and what was assumed.

pub mod assumed;
pub mod end;
pub mod identity;
pub mod note;
pub mod protection;
pub mod report;
pub mod rule;
pub mod steps;
pub mod verdict;

pub use assumed::could_hide;
pub use end::{End, HeldLock, Role, TraceStep};
pub use note::{Note, NoteKind};
pub use protection::Protection;
pub use report::{CheckState, Finding, Mebibytes, QuietObjects, Reason, Refuted, Report, Seconds, Statistics};
pub use rule::{Check, Rule};
pub use steps::{Step, StepKind};
pub use verdict::{Limit, Verdict};
