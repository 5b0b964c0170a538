//! The machine: threads of a program that take turns, one transition at a time.
//!
//! A clone is a snapshot: memory, stacks and tables are shared until one of the two writes.
//!
//! # Transition
//! One *visible* operation, then all local steps up to, not including, the next visible one. Visible is an access to memory that
//! another thread can reach, an atomic access or fence of such memory, and a library call that synchronises or reads or writes
//! such memory. A thread's own stack objects are local until a pointer to them is stored, turned into a number or handed to an
//! unknown function or another thread.
//!
//! # Deviations
//! 1. While only one thread was ever created nothing is visible: no schedule can differ.
//! 2. A transition is cut after [`LOCAL_STEPS`] steps. The cut is one more point where another thread may run, so nothing is lost.
//! 3. Inside an atomic section nothing is a scheduling point unless the thread blocks.

mod access;
mod call;
mod conversion;
pub mod end;
mod execute;
mod flow;
mod jump;
mod library;
pub mod native;
pub mod observer;
mod own_effects;
mod pending;
mod prepared;
mod setup;
mod signals;
mod synchronization;
pub mod thread;
mod turn;
pub mod variadic;
mod vector_memory;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::explore::happens_before::{Race, RaceDetector};
use crate::explore::memory::Memory;
use crate::explore::sync::{Misuse, SyncTable, ThreadId};
use crate::explore::value::{Bytes, Pointer, Value};
use crate::program::{Assumption, AssumptionKind, GlobalId, Program, SiteId};

pub use end::End;
pub use observer::{Event, EventKind, Inputs, Observer, Unobserved, ZeroInputs};
pub use pending::{Extent, OperationKind, PendingOperation};
use prepared::Prepared;
pub use setup::SetupError;
use thread::Thread;
pub use turn::StepResult;

/// After so many local steps a transition is cut.
pub const LOCAL_STEPS: u64 = 1_000_000;

/// How a program is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Allocations may fail, condition waits may wake for no reason, weak exchanges may fail.
    pub faults: bool,
    /// `volatile` accesses are taken as sequentially consistent atomics.
    pub volatile_is_atomic: bool,
    /// Source names of globals whose every access is taken as a sequentially consistent atomic.
    pub assume_atomic: Vec<String>,
    /// Where execution begins.
    pub entry: String,
    /// Functions without parameters that are called beside it, each by a thread of its own; then the first thread ends alone when its
    /// entry returns, not the process.
    pub beside: Vec<String>,
    /// `argv`, the program's name first.
    pub arguments: Vec<String>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            faults: false,
            volatile_is_atomic: false,
            assume_atomic: Vec::new(),
            entry: "main".to_owned(),
            beside: Vec::new(),
            arguments: vec!["program".to_owned()],
        }
    }
}

/// A lock that was used against its rules, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenMisuse {
    pub misuse: Misuse,
    pub site: Option<SiteId>,
    pub context: crate::program::Context,
    /// What the thread held then.
    pub held: Vec<crate::explore::sync::HeldLock>,
}

#[derive(Clone)]
pub struct Machine<'p> {
    pub program: &'p Program,
    prepared: Arc<Prepared>,
    options: Arc<RunOptions>,
    pub memory: Memory,
    threads: Vec<Arc<Thread>>,
    /// Stands in for the thread that is taking its turn.
    hollow: Arc<Thread>,
    pub sync: SyncTable,
    pub detector: RaceDetector,
    pub races: Vec<Race>,
    pub misuses: Vec<SeenMisuse>,
    output: Vec<u8>,
    error_output: Vec<u8>,
    slots: BTreeMap<&'static str, u64>,
    library_objects: BTreeMap<String, Pointer>,
    /// The last registered runs first.
    exit_handlers: Vec<(Pointer, Vec<Value>)>,
    /// The `struct sigaction` of each signal that was given one.
    signal_handlers: BTreeMap<u128, Bytes>,
    assumptions: BTreeSet<Assumption>,
    /// Sites whose assumptions were noted already.
    assumed_sites: BTreeSet<(SiteId, AssumptionKind)>,
    steps: u64,
    transitions: u64,
    /// Threads that asked for others to run first, and none has since.
    yielded: BTreeSet<ThreadId>,
    end: Option<End>,
}

impl<'p> Machine<'p> {
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// All threads ever created. The one that takes its turn is hollow.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().map(|thread| &**thread)
    }

    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// What the program wrote to its standard output.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    pub fn error_output(&self) -> &[u8] {
        &self.error_output
    }

    pub fn assumptions(&self) -> &BTreeSet<Assumption> {
        &self.assumptions
    }

    /// Instructions executed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// How the run ended, if it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Globals that are defined elsewhere and belong to no library that is known.
    pub fn unknown_globals(&self) -> impl Iterator<Item = GlobalId> {
        self.prepared.unknown_globals.values().copied()
    }

    /// Names the program in schedules.
    pub fn fingerprint(&self) -> u64 {
        self.prepared.fingerprint
    }

    /// Ends the run from outside: a limit was reached, or nothing can go on.
    pub fn stop(&mut self, end: End) {
        self.end = Some(end);
    }

    /// No second thread was ever created: nothing that happens can be seen by another.
    fn is_alone(&self) -> bool {
        self.threads.len() == 1
    }

    fn assume(&mut self, kind: AssumptionKind, what: &str, site: Option<SiteId>) {
        if let Some(site) = site
            && !self.assumed_sites.insert((site, kind))
        {
            return;
        }
        let place = site.and_then(|site| self.program.place_of(site));
        self.assumptions.insert(Assumption { kind, what: what.to_owned(), place });
    }
}
