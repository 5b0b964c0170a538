//! A C program as threads with lock steps: one pushdown system for each abstract thread.
//!
//! # Definition   The stack symbols of a thread are points of the program in one context and one alternative of `holding`: (context, block, event, what is
//!                certainly held there). A call pushes; a return pops and leaves in the control state by which way the callee returned, so that
//!                "returns 0 and holds the lock" and "returns 1 and does not" stay apart. Rules are labelled with what they do to locks and threads.
//! # Theorem      Every run of a thread is a run of its system, as far as `holding` and the facts know the program: data decide less here, so there are
//!                more runs, never fewer. Exceptions are remarked ([`Remarks`]): then nothing is refuted on these grounds.
//! # Papers       Kahlon, Ivančić, Gupta 2005, §2 (one pushdown system a thread); Reps, Horwitz, Sagiv 1995 (the exploded graph).
//! # Deviations   1. Whatever leads to no step of interest is left out (`silent`), and so are functions without any.  2. A lock without a place is a
//!                name for one of several (`locks`): it raises, and never refutes.  3. Threads are created outside of the systems: how many there
//!                are of each and which points are apart is the producer's knowledge (`order`).  4. The routine of a one-time
//!                initialisation runs under a lock that is its control's.
//!
//! | step | file |
//! |---|---|
//! | the graph of each context | `walk`, `actions`, `graph` |
//! | without what is silent | `silent` |
//! | which locks there are | `locks` |
//! | a system for each thread | `systems` |
//! | which points are never at once | `order` |

mod actions;
mod graph;
mod locks;
mod order;
mod silent;
mod systems;
mod walk;

use std::collections::BTreeSet;

pub use graph::Spot;
pub use locks::LockName;
pub use order::KnownOrder;

use super::holding::Tabulation;
use super::system::{ThreadId, Threads};
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{self, JoinedThreads, PhaseId};
use crate::locks::history::LockId;
use crate::program::SiteId;
use crate::pushdown::SymbolId;

/// What the systems do not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Jumps out of functions, or routines of which it is not known which: what is held afterwards is not known.
    pub jumps: BTreeSet<SiteId>,
    /// Waits that no lock decides: for a condition, a semaphore, a barrier.
    pub waits: BTreeSet<SiteId>,
    /// Acquisitions and releases through a pointer that was never given a value.
    pub unknown_locks: BTreeSet<SiteId>,
}

/// The threads of a program, and what their numbers mean.
pub struct ProgramThreads {
    pub threads: Threads,
    /// By thread of the systems: the abstract thread.
    pub sources: Vec<facts::ThreadId>,
    /// By number of a place.
    pub spots: Vec<Spot>,
    /// By lock.
    pub names: Vec<LockName>,
    /// By lock: whether its holder may wait for itself when it takes it again.
    waits_for_itself: Vec<bool>,
    /// By thread: where it stands before the accesses that were asked for.
    pub targets: Vec<Vec<SymbolId>>,
    /// By thread: where it may end, by returning or by leaving.
    pub ends: Vec<Vec<SymbolId>>,
    /// By thread and symbol: the phases in which the thread may stand there.
    phases: Vec<Vec<Vec<PhaseId>>>,
    pub remarks: Remarks,
}

impl ProgramThreads {
    /// The systems of a tabulation that is solved. `targets`: accesses that are places to stand at; `joins`: whom a join may wait for, by its site.
    pub fn of(
        tabulation: &mut Tabulation<'_, '_>,
        targets: &BTreeSet<SiteId>,
        joins: &JoinedThreads,
        deadline: Deadline,
    ) -> Result<ProgramThreads, OutOfTime> {
        let walked = walk::walk(tabulation, targets, joins, deadline)?;
        systems::assemble(tabulation, walked, deadline)
    }

    /// Where in the program a symbol stands.
    pub fn spot(&self, thread: ThreadId, symbol: SymbolId) -> &Spot {
        &self.spots[self.threads.thread(thread).place(symbol) as usize]
    }

    pub fn name(&self, lock: LockId) -> LockName {
        self.names[lock.0 as usize]
    }

    /// Whether the holder of a lock may wait for itself when it takes the lock again.
    pub fn may_wait_for_itself(&self, lock: LockId) -> bool {
        self.waits_for_itself[lock.0 as usize]
    }

    /// The phases in which a thread may stand at a symbol.
    pub fn phases(&self, thread: ThreadId, symbol: SymbolId) -> &[PhaseId] {
        &self.phases[thread.index()][usize::from(symbol)]
    }
}
