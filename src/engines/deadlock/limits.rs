//! What the deadlock engine did not look at, or cannot decide.

use std::collections::BTreeSet;
use std::fmt;

use super::Deadlocks;
use super::again::Relocks;
use super::in_program::Writer;
use crate::locks::history::Atom;
use crate::models::{Attempt, BoundModels, Effect};
use crate::program::{Callee, Operation, SiteId};
use crate::thread_pds::{Analysis, Origin};

/// Why the list of candidates may not be complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeadlockLimit {
    OutOfTime,
    TooManyCycles,
    /// So many further choices of places of one cycle were not listed.
    MorePlaces {
        object: String,
        count: u64,
    },
    /// So many further cycles, of places that are all listed in others, are not listed.
    MoreCycles(u64),
    /// Some cycles need a lock of which it is not known, where its thread waits, that it is still held.
    NotKnownToBeHeld,
    /// It may wait for what no lock decides.
    Waits {
        what: &'static str,
        at: SiteId,
    },
    Jump(SiteId),
    UnknownLock(SiteId),
    /// A thread may end while it holds the lock: whoever comes later waits for ever.
    EndsHolding {
        thread: String,
        lock: String,
    },
    /// A lock may be one that its thread holds already: they are many under one name.
    TakenAgain {
        lock: String,
        at: SiteId,
    },
    Cancelled(SiteId),
}

impl DeadlockLimit {
    /// Where it is, if it is at one place.
    pub fn site(&self) -> Option<SiteId> {
        match self {
            Self::Waits { at, .. }
            | Self::TakenAgain { at, .. }
            | Self::Jump(at)
            | Self::UnknownLock(at)
            | Self::Cancelled(at) => Some(*at),
            Self::OutOfTime
            | Self::TooManyCycles
            | Self::MorePlaces { .. }
            | Self::NotKnownToBeHeld
            | Self::MoreCycles(_)
            | Self::EndsHolding { .. } => None,
        }
    }
}

impl fmt::Display for DeadlockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfTime => write!(f, "the time was used up before all orders of locks were looked at"),
            Self::TooManyCycles => write!(f, "there are too many cycles in the order of locks to look at all of them"),
            Self::MorePlaces { object, count } => {
                write!(f, "up to {count} further places of the deadlock on {object} are not listed")
            }
            Self::MoreCycles(count) => {
                write!(f, "{count} further possible deadlocks, at places that are all listed in others, are not listed")
            }
            Self::NotKnownToBeHeld => write!(
                f,
                "some cycles in the order of locks need a lock that was taken through a pointer, and of which it is not known that it is still held"
            ),
            Self::Waits { what, .. } => write!(f, "whether a thread waits for ever for {what} is not decided"),
            Self::Jump(_) => write!(f, "what is held after a jump out of functions, or after a cleanup routine, is not known"),
            Self::UnknownLock(_) => write!(f, "a lock is taken through a pointer that was never given a value"),
            Self::EndsHolding { thread, lock } => write!(f, "{thread} may end while it holds {lock}"),
            Self::TakenAgain { lock, .. } => write!(f, "{lock} may be taken by a thread that holds it already"),
            Self::Cancelled(_) => write!(f, "a thread that is cancelled may end while it holds a lock"),
        }
    }
}

impl Writer<'_, '_, '_> {
    /// What could hide a deadlock.
    pub fn limits(
        &self,
        analysis: &mut Analysis<'_>,
        models: &BoundModels<'_>,
        found: &Deadlocks,
        relocks: &Relocks,
    ) -> Vec<DeadlockLimit> {
        let mut limits: BTreeSet<DeadlockLimit> = BTreeSet::new();
        if found.is_out_of_time {
            // What is asked now is answered with nothing known.
            return vec![DeadlockLimit::OutOfTime];
        }
        if !found.is_complete {
            limits.insert(DeadlockLimit::TooManyCycles);
        }
        let remarks = &self.threads.remarks;
        limits.extend(remarks.jumps.iter().map(|site| DeadlockLimit::Jump(*site)));
        limits.extend(remarks.unknown_locks.iter().map(|site| DeadlockLimit::UnknownLock(*site)));
        self.waits(models, &mut limits);
        let open = relocks.open.iter().map(|(at, lock)| DeadlockLimit::TakenAgain { lock: self.lock(*lock), at: *at });
        limits.extend(open);
        for thread in analysis.threads.ids() {
            for origin in [Origin::Start, Origin::Created] {
                if analysis.is_out_of_time() || !analysis.population.exists(thread, origin) {
                    continue;
                }
                for end in &self.threads.ends[thread.index()] {
                    for history in analysis.histories_at(thread, origin, *end).iter() {
                        for atom in history.may_hold.iter().map(Atom::from_index) {
                            let (thread, lock) = (self.thread(thread).to_owned(), self.lock(atom.lock()));
                            limits.insert(DeadlockLimit::EndsHolding { thread, lock });
                        }
                    }
                }
            }
        }
        if analysis.is_out_of_time() {
            return vec![DeadlockLimit::OutOfTime];
        }
        limits.into_iter().collect()
    }

    /// Waits that are neither for a lock nor for a thread, and threads that end at somebody else's word.
    fn waits(&self, models: &BoundModels<'_>, limits: &mut BTreeSet<DeadlockLimit>) {
        let (program, facts) = (self.tabulation.program, self.tabulation.facts);
        for (function, body) in program.functions.iter_enumerated().filter(|(id, _)| facts.points_to.is_reachable(*id)) {
            if models[function].is_some_and(|model| model.is_override) {
                continue;
            }
            for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
                let Operation::Call { callee, .. } = &instruction.operation else { continue };
                let callees = match callee {
                    Callee::Direct(callee) => vec![*callee],
                    Callee::Indirect(_) => facts.points_to.callees(instruction.site).to_vec(),
                };
                for effect in callees.iter().filter_map(|callee| models[*callee]).flat_map(|model| &model.effects) {
                    let at = instruction.site;
                    let what = match effect {
                        Effect::Wait { attempt: Attempt::Blocking, .. } => "a condition variable",
                        Effect::WaitSemaphore { attempt: Attempt::Blocking, .. } => "a semaphore",
                        Effect::WaitBarrier { .. } => "a barrier",
                        Effect::Cancel { .. } => {
                            limits.insert(DeadlockLimit::Cancelled(at));
                            continue;
                        }
                        // Nothing else waits for anything but a lock or a thread.
                        _ => continue,
                    };
                    limits.insert(DeadlockLimit::Waits { what, at });
                }
            }
        }
    }
}
