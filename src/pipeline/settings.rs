//! What is asked for.

use std::time::{Duration, Instant};

use super::entries::Entries;
use crate::config::Ignore;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::findings::Check;
use crate::program::Program;

/// How the program is executed.
#[derive(Clone, Debug, Default)]
pub struct RunSettings {
    pub entries: Entries,
    pub faults: bool,
    pub volatile_is_atomic: bool,
    /// Nothing is relied on that POSIX does not promise.
    pub only_posix: bool,
    /// Globals whose accesses count as atomic.
    pub assume_atomic: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub inputs: Vec<String>,
    pub checks: Vec<Check>,
    pub run: RunSettings,
    /// Whether static engines look at the program.
    pub engines: bool,
    /// `None`: the program is not executed.
    pub explore: Option<ExploreSettings>,
    pub budget: Option<Duration>,
    /// Threads to work with; their number changes nothing but the time.
    pub jobs: usize,
    pub ignore: Vec<Ignore>,
    /// Settings that nothing looks at yet.
    pub unused: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct ExploreSettings {
    pub schedules: u64,
    /// Schedules aimed at each candidate.
    pub aimed: u64,
    /// Instructions of all random runs together.
    pub steps: u64,
    /// Instructions of all aimed runs together.
    pub aimed_steps: u64,
    pub seed: u64,
}

impl RunSettings {
    /// For commands that do nothing else.
    pub fn can_be_executed(&self, program: &Program) -> Result<(), Error> {
        self.entries.not_executed(program).map_or(Ok(()), |why| Err(Error::Usage(why)))
    }
}

impl Settings {
    /// Two thirds of the time are for what is proved, the rest for what is executed.
    pub fn static_deadline(&self, started: Instant) -> Deadline {
        self.budget.map_or(Deadline::NEVER, |budget| Deadline::at(started + budget * 2 / 3))
    }
}
