//! Cycles of threads that wait for each other: locks, read and write, and joins.
//!
//! # Definition   A member stands before an acquire, or a join, and waits for the next member: that one holds the lock in a mode that excludes it, or is the
//!                thread that is joined. Members are distinct instances; one thread can be there several times. A cycle is possible
//!                if the members can stand there at once (`engines::reachability`).
//! # Theorem      *Holding* and *waiting* are may-facts: every lock that a member may hold, whatever its name may mean. What *dismisses* a cycle are must-facts: the
//!                lock histories of paths, all of them together, so gate locks are histories like others. A state with a cycle has a cycle
//!                without chords, and its members wait for different locks if they are three or more: so longer ones
//!                are not looked for, and the locks bound their length. For nested paths without doubts of
//!                threads that exist from the start, what is found is exact: they do block each other.
//! # Paper        Kahlon, Ivančić, Gupta 2005, §6, whose pairwise test is not enough from three members on; Kidd, Lammich, Touili, Reps 2009, appendix B.
//! # Deviations   1. Modes: readers wait for a writer only, writers for everybody; a waiting writer blocks no reader (glibc prefers readers).  2. A
//!                thread that waits for itself alone is no cycle but a finding of its own (`again`).
//! # Misses       A search that takes too long is not complete, and says so.

mod again;
mod alike;
mod ascending;
mod candidates;
mod children;
mod cycles;
mod dismissed;
mod handlers;
mod in_program;
mod keys;
mod leaks;
mod limits;
mod signals;

pub use again::OwnFault;
pub use in_program::{CycleCandidate, DeadlockResult, check};
pub use limits::DeadlockLimit;
pub use signals::signal_sites;

use alike::Alike;
use ascending::Nature;
use candidates::{Blocking, all_edges, order_edges};

use std::collections::BTreeMap;

use crate::engines::reachability::{NotTogether, Standing};
use crate::locks::Mode;
use crate::locks::history::{Doubts, Incompatible, LockId};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, Path, ThreadId};

/// What a member waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    Lock {
        lock: LockId,
        mode: Mode,
    },
    /// The end of an instance of the thread.
    Join {
        thread: ThreadId,
    },
}

impl Wait {
    fn is_for_same_lock(self, other: Wait) -> bool {
        match (self, other) {
            (Wait::Lock { lock, .. }, Wait::Lock { lock: same, .. }) => lock == same,
            (Wait::Lock { .. }, Wait::Join { .. }) | (Wait::Join { .. }, Wait::Lock { .. } | Wait::Join { .. }) => false,
        }
    }
}

/// One thread of a cycle; it waits for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub standing: Standing,
    pub symbol: SymbolId,
    pub waits: Wait,
    /// The lock by which it holds up the one before it; `None` when that one joins it.
    pub blocks_by: Option<LockId>,
    /// Other places where the thread may stand in its stead, which nothing tells apart from this one.
    pub others: Vec<SymbolId>,
}

impl Member {
    /// Its own way there, and where it took what it holds.
    pub fn path(&self, analysis: &mut Analysis<'_>) -> Option<Path> {
        analysis.path_to(self.standing.thread, self.standing.origin, self.symbol, &self.standing.history)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockCycle {
    pub members: Vec<Member>,
    /// None: the threads do block each other, in the lock model.
    pub doubts: Doubts,
}

/// One place in a cycle of the lock order: a thread that may hold one thing while it waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderEdge {
    pub thread: ThreadId,
    pub origin: Origin,
    pub symbol: SymbolId,
    pub holds: Held,
    pub waits: Wait,
}

/// What keeps another thread waiting: a lock, or that this one has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held {
    Lock { lock: LockId, mode: Mode },
    Running { thread: ThreadId },
}

/// Why a cycle of the lock order is no deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dismissal {
    /// Two places of one instance.
    SingleInstance(ThreadId),
    /// Two members never stand there at once.
    NotTogether(NotTogether),
    /// A lock that two of them hold: a gate.
    GateLock(LockId),
    /// Their histories contradict each other.
    Histories(Incompatible),
    /// No path holds that lock there.
    NotHeld(ThreadId),
    /// All of them take the lock with the greater address last, or all the one with the smaller.
    InOrder,
    /// All of them take locks in the order of numbers that lie beside them.
    InOrderOfKeys,
    /// Each waits for the end of a thread that it has created itself.
    Children,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DismissedCycle {
    pub edges: Vec<OrderEdge>,
    pub reason: Dismissal,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlocks {
    /// One for each set of places, exact ones first.
    pub cycles: Vec<DeadlockCycle>,
    /// A shortest cycle through each edge of the lock order that is in no cycle above.
    pub dismissed: Vec<DismissedCycle>,
    /// Nothing was left out.
    pub is_complete: bool,
    /// The time was up before the end.
    pub is_out_of_time: bool,
    /// There are cycles with a lock of which it is not certain that it is held; none of them is listed.
    pub has_unsure: bool,
}

impl Deadlocks {
    /// What is certain.
    pub fn truth(&self) -> Option<bool> {
        match &self.cycles[..] {
            [first, ..] if first.doubts.is_empty() => Some(true),
            [] if self.is_complete && !self.has_unsure => Some(false),
            _ => None,
        }
    }
}

/// All edges of the lock order, and those of them that lie on cycles of it.
pub fn lock_order_edges(analysis: &Analysis<'_>) -> (Vec<OrderEdge>, Vec<OrderEdge>) {
    (all_edges(analysis), order_edges(analysis, &Blocking::of(analysis)))
}

/// What is known of places in the lock order beside what every place is.
type Natures = BTreeMap<OrderEdge, Nature>;

/// Whether at all places threads wait for their own children, so that no cycle closes.
fn are_all_creators<'e>(natures: &Natures, mut edges: impl Iterator<Item = &'e OrderEdge>) -> bool {
    edges.all(|edge| natures.get(edge).is_some_and(|nature| nature.joins_child))
}

/// Whether all places are in the order of one key, so that no cycle closes.
fn are_in_order_of_keys<'e>(natures: &Natures, mut edges: impl Iterator<Item = &'e OrderEdge>) -> bool {
    let mut of = || edges.next().map(|edge| natures.get(edge).and_then(|nature| nature.key));
    let Some(Some(first)) = of() else { return false };
    std::iter::from_fn(of).all(|key| key == Some(first))
}

/// Whether places are in one order of addresses, of keys, or of creation, so that no cycle closes.
fn are_in_order<'e>(natures: &Natures, edges: impl Iterator<Item = &'e OrderEdge> + Clone) -> bool {
    let of = |edge: &OrderEdge| natures.get(edge).copied().unwrap_or_default();
    let is_up = edges.clone().all(|edge| of(edge).goes_up);
    is_up
        || edges.clone().all(|edge| of(edge).goes_down)
        || are_in_order_of_keys(natures, edges.clone())
        || are_all_creators(natures, edges)
}

/// All cycles of waiting threads.
pub fn deadlocks(analysis: &mut Analysis<'_>) -> Deadlocks {
    deadlocks_in_order(analysis, &mut |_, _| Nature::default())
}

/// All cycles of waiting threads whose producer knows more of places in the lock order.
fn deadlocks_in_order(analysis: &mut Analysis<'_>, direction: &mut dyn FnMut(&Analysis<'_>, &OrderEdge) -> Nature) -> Deadlocks {
    let blocking = Blocking::of(analysis);
    let edges = order_edges(analysis, &blocking);
    let mut natures = Natures::new();
    for edge in &edges {
        let known = if analysis.is_out_of_time() { Nature::default() } else { direction(analysis, edge) };
        if known != Nature::default() {
            natures.insert(*edge, known);
        }
    }
    let (edges, alike) = Alike::of(analysis, edges, &natures);
    let (mut cycles, is_complete, has_unsure) = cycles::search(analysis, &blocking, (&edges, &natures), &alike);
    let dismissed = dismissed::dismissed(analysis, &blocking, (&edges, &natures), &cycles);
    cycles.sort_by_key(|cycle| !cycle.doubts.is_empty());
    let is_out_of_time = analysis.is_out_of_time();
    Deadlocks { cycles, dismissed, is_complete: is_complete && !is_out_of_time, is_out_of_time, has_unsure }
}
