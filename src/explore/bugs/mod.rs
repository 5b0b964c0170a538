//! What a run has shown, as bugs that a person can read: one for each race, stuck state, misuse and fault.

mod fault;
mod misuse;
mod names;
mod race;
mod stuck;

use crate::explore::machine::{End as RunEnd, Machine};
use crate::findings::{End, Role, Rule};
pub use names::{Names, Touch};

/// A bug that a run has shown; the schedule of the run is its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    pub rule: Rule,
    /// The name of what is raced on, waited for, misused.
    pub object: String,
    /// The whole object it is part of: bugs at the same places on two elements of an array are one.
    pub whole: String,
    pub message: String,
    pub ends: Vec<End>,
}

/// What makes two bugs the same finding: rule, whole object, and file, function and line of each end.
pub type Key = (Rule, String, Vec<(String, String, u32)>);

impl Bug {
    /// Sorts the ends and merges those that stand at the same place: a site that races with another instance of itself has one end.
    fn new(rule: Rule, object: String, whole: String, message: String, mut ends: Vec<End>) -> Bug {
        ends.sort_by_key(|end| (position(end), end.role, end.thread.clone()));
        ends.dedup_by_key(|end| place_key(end));
        Bug { rule, object, whole, message, ends }
    }

    pub fn key(&self) -> Key {
        (self.rule, self.whole.clone(), self.ends.iter().map(place_key).collect())
    }

    /// Smaller is stronger: write–write before write–read, fewest locks, shortest trace.
    pub fn weakness(&self) -> (usize, usize, usize) {
        let reads = self.ends.iter().filter(|end| matches!(end.role, Role::Read | Role::AtomicRead)).count();
        let locks = self.ends.iter().map(|end| end.locks.len()).sum();
        let trace = self.ends.iter().map(|end| end.trace.len()).sum();
        (reads, locks, trace)
    }
}

fn position(end: &End) -> (String, u32, String) {
    let (file, function, line) = place_key(end);
    (file, line, function)
}

fn place_key(end: &End) -> (String, String, u32) {
    let place = end.place.as_ref();
    (place.map_or(String::new(), |place| place.file.clone()), end.function.clone(), place.map_or(0, |place| place.line))
}

/// All bugs that a run which has come to its end has shown.
pub fn shown_by(machine: &Machine<'_>) -> Vec<Bug> {
    let names = Names::new(machine);
    let races = (0..machine.races.len()).map(|number| of_race(&names, number));
    let misuses = (0..machine.misuses.len()).map(|number| of_misuse(&names, number));
    races.chain(misuses).chain(of_end(&names)).collect()
}

/// The race with this number.
pub fn of_race(names: &Names<'_>, number: usize) -> Bug {
    race::bug(names, &names.machine().races[number])
}

/// The misuse with this number.
pub fn of_misuse(names: &Names<'_>, number: usize) -> Bug {
    misuse::bug(names, &names.machine().misuses[number])
}

/// The bug that the run ended with, if it did.
pub fn of_end(names: &Names<'_>) -> Option<Bug> {
    match names.machine().end()? {
        RunEnd::Stuck(waiting) => stuck::bug(names, waiting),
        RunEnd::Fault { thread, site, fault } => fault::bug(names, *thread, *site, fault),
        RunEnd::AssertionFailed { thread, site, what } => Some(fault::assertion(names, *thread, *site, what)),
        RunEnd::Exited(_) | RunEnd::Killed(_) | RunEnd::OutOf(_) | RunEnd::Diverged { .. } | RunEnd::Rejected => None,
    }
}
