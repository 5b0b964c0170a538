//! Until when: the wall time that a stage may use.

use std::time::Instant;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

/// The time is used up: what was asked for is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfTime;

impl Deadline {
    pub const NEVER: Deadline = Deadline(None);

    pub fn at(end: Instant) -> Deadline {
        Deadline(Some(end))
    }

    pub fn check(self) -> Result<(), OutOfTime> {
        match self.0 {
            Some(end) if Instant::now() >= end => Err(OutOfTime),
            _ => Ok(()),
        }
    }
}
