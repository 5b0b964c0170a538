//! Until when: the wall time that a stage may use.

use std::cell::Cell;
use std::time::Instant;

/// How many short steps are made between two looks at the clock, which takes longer than many of them.
const STEPS: u32 = 64;

thread_local! {
    static STEP: Cell<u32> = const { Cell::new(0) };
}

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

    /// The same for what is asked before each of very many short steps: most of the times nobody looks at the clock.
    pub fn check_steps(self) -> Result<(), OutOfTime> {
        let step = STEP.get();
        STEP.set(step.wrapping_add(1));
        if step.is_multiple_of(STEPS) { self.check() } else { Ok(()) }
    }
}
