//! What a step means as a lock history: one alternative for each state the lock can be in.
//!
//! | | not held | held by the thread itself |
//! |---|---|---|
//! | acquire | taken | blocks for ever (no path), counts, or is refused, by kind |
//! | trylock that failed | somebody else holds it: [`Doubt::FailedTry`] | sure |
//! | release | a lock that checks its owner refuses; else the lock is not reliable, see `analysis` | given back, or counted down |
//!
//! An unreliable lock (one of several, or released by strangers) has no part in histories: what may be held of it the first pass says.

use super::lock_table::{LockKind, Mode};
use super::system::Step;
use crate::locks::history::{Atom, Count, Doubt, LockHistory, LockId};

/// What is known of a lock.
#[derive(Clone, Copy, Debug)]
pub struct Nature {
    pub kind: LockKind,
    pub is_reliable: bool,
}

const FREE: Count = Count::exactly(0, 0);
const HELD: Count = Count::exactly(1, 0);

/// The alternatives of a step on a lock.
pub fn histories(step: Step, nature: Nature) -> Vec<LockHistory> {
    match step {
        Step::Nothing | Step::Spawn { .. } => vec![LockHistory::default()],
        Step::Condition => vec![LockHistory::default().doubting(Doubt::Data)],
        Step::Join { .. } => vec![LockHistory::default().doubting(Doubt::Join)],
        Step::Acquire { .. } | Step::TrySucceeded { .. } if !nature.is_reliable => {
            vec![LockHistory::default().doubting(Doubt::Lock)]
        }
        Step::TryFailed { .. } if !nature.is_reliable => {
            vec![LockHistory::default().doubting(Doubt::FailedTry).doubting(Doubt::Lock)]
        }
        Step::Release { .. } if !nature.is_reliable => vec![LockHistory::default()],
        Step::Sleep { .. } if !nature.is_reliable => vec![LockHistory::default().doubting(Doubt::Signal)],
        Step::Acquire { lock, mode } => taken(lock, mode, nature.kind).into_iter().chain(refused(lock, nature.kind)).collect(),
        Step::TrySucceeded { lock, mode } => taken(lock, mode, nature.kind),
        Step::TryFailed { lock, mode } => failed(lock, mode, nature.kind),
        Step::Release { lock } => released(lock, nature.kind),
        Step::Sleep { lock } => released(lock, nature.kind).into_iter().map(|history| history.doubting(Doubt::Signal)).collect(),
    }
}

fn exclusive(lock: LockId) -> Atom {
    Atom::new(lock, Mode::Exclusive)
}

fn shared(lock: LockId) -> Atom {
    Atom::new(lock, Mode::Shared)
}

/// Taken for the first time, or once more.
fn counted(atom: Atom) -> Vec<LockHistory> {
    vec![LockHistory::needs([(atom, Count::exactly(0, 1))]).acquiring(atom), LockHistory::needs([(atom, Count::at_least(1, 1))])]
}

fn taken(lock: LockId, mode: Mode, kind: LockKind) -> Vec<LockHistory> {
    let (read, write) = (shared(lock), exclusive(lock));
    match (kind, mode) {
        (LockKind::Mutex | LockKind::ErrorCheck, _) => {
            vec![LockHistory::needs([(write, Count::exactly(0, 1))]).acquiring(write)]
        }
        (LockKind::Recursive, _) => counted(write),
        (LockKind::ReadWrite, Mode::Exclusive) => {
            vec![LockHistory::needs([(read, FREE), (write, Count::exactly(0, 1))]).acquiring(write)]
        }
        (LockKind::ReadWrite, Mode::Shared) => vec![
            LockHistory::needs([(read, Count::exactly(0, 1)), (write, FREE)]).acquiring(read),
            LockHistory::needs([(read, Count::at_least(1, 1)), (write, FREE)]),
        ],
    }
}

/// The holder asks again, is told so, and goes on.
fn refused(lock: LockId, kind: LockKind) -> Option<LockHistory> {
    match kind {
        LockKind::Mutex | LockKind::Recursive => None,
        LockKind::ErrorCheck | LockKind::ReadWrite => Some(LockHistory::needs([(exclusive(lock), HELD)])),
    }
}

fn failed(lock: LockId, mode: Mode, kind: LockKind) -> Vec<LockHistory> {
    let (read, write) = (shared(lock), exclusive(lock));
    let by_another = |counts: &[(Atom, Count)]| LockHistory::needs(counts.iter().copied()).doubting(Doubt::FailedTry);
    match (kind, mode) {
        (LockKind::Mutex | LockKind::ErrorCheck, _) => vec![LockHistory::needs([(write, HELD)]), by_another(&[(write, FREE)])],
        (LockKind::Recursive, _) => vec![by_another(&[(write, FREE)])],
        (LockKind::ReadWrite, Mode::Exclusive) => vec![
            LockHistory::needs([(write, HELD)]),
            LockHistory::needs([(read, Count::at_least(1, 0))]),
            by_another(&[(read, FREE), (write, FREE)]),
        ],
        (LockKind::ReadWrite, Mode::Shared) => {
            vec![LockHistory::needs([(write, HELD)]), by_another(&[(read, FREE), (write, FREE)])]
        }
    }
}

fn released(lock: LockId, kind: LockKind) -> Vec<LockHistory> {
    let (read, write) = (shared(lock), exclusive(lock));
    let last = |atom: Atom, others: &[(Atom, Count)]| {
        LockHistory::needs(others.iter().copied().chain([(atom, Count::exactly(1, -1))])).releasing(atom)
    };
    let one_of_more =
        |atom: Atom, others: &[(Atom, Count)]| LockHistory::needs(others.iter().copied().chain([(atom, Count::at_least(2, -1))]));
    let refused = || LockHistory::needs([(write, FREE)]);
    let not_writing = [(write, FREE)];
    match kind {
        LockKind::Recursive => vec![last(write, &[]), one_of_more(write, &[]), refused()],
        LockKind::Mutex => vec![last(write, &[])],
        LockKind::ErrorCheck => vec![last(write, &[]), refused()],
        LockKind::ReadWrite => vec![last(write, &[]), last(read, &not_writing), one_of_more(read, &not_writing)],
    }
}
