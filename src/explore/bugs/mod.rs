//! What a run has shown, as bugs that a person can read: one for each race, stuck state, misuse and fault.

mod fault;
mod misuse;
mod names;
mod race;
mod stuck;

use crate::explore::machine::{End as RunEnd, Machine};
use crate::findings::{End, Role, Rule};
pub use names::Names;

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
        ends.sort_by_key(|end| (place_key(end), end.role, end.thread.clone()));
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

fn place_key(end: &End) -> (String, String, u32) {
    let place = end.place.as_ref();
    (place.map_or(String::new(), |place| place.file.clone()), end.function.clone(), place.map_or(0, |place| place.line))
}

/// All bugs that a run which has come to its end has shown.
pub fn shown_by(machine: &Machine<'_>) -> Vec<Bug> {
    let names = Names::new(machine);
    let mut bugs: Vec<Bug> = machine.races.iter().map(|race| race::bug(&names, race)).collect();
    bugs.extend(machine.misuses.iter().map(|seen| misuse::bug(&names, seen)));
    match machine.end() {
        Some(RunEnd::Stuck(waiting)) => bugs.extend(stuck::bug(&names, waiting)),
        Some(RunEnd::Fault { thread, site, fault }) => bugs.extend(fault::bug(&names, *thread, *site, fault)),
        Some(RunEnd::AssertionFailed { thread, site, what }) => bugs.push(fault::assertion(&names, *thread, *site, what)),
        Some(RunEnd::Exited(_) | RunEnd::Killed(_) | RunEnd::OutOf(_) | RunEnd::Diverged { .. } | RunEnd::Rejected) | None => {}
    }
    bugs
}
