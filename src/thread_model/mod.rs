//! Thread models (`*.model.yaml`): threads, locks and variables without C, and questions about them.
//!
//! A model lowers to a [`Program`](crate::program::Program), so every engine and the machine apply to it unchanged; the naive engine
//! `engines::product` answers its queries from the model itself.
//!
//! # Notation
//! ```yaml
//! locks: {a: mutex, r: recursive, m: rw}     # or [a, b]: mutexes; without `locks:` every lock that is used is a mutex
//! variables: {x: 0, f: {initial: 1, atomic: true}}   # bytes; or [x, y]; without `variables:` every one that is used starts at 0
//! procedures: {take: [acquire a, acquire b]} # what all threads may call
//! threads:
//!   one:                                     # or just a list of steps
//!     instances: 2                           # at the start; default 1, and 0 when some thread spawns it
//!     holds: [a, m shared]                   # locks held at the start
//!     entry: work                            # default: the first procedure
//!     procedures:
//!       work: [acquire a, c1: call take, release a]
//! queries:
//!   - {reachable: [one@c1, two@d2], expect: false}
//!   - {race: x, expect: true}
//!   - {deadlock: true, expect: false}
//! ```
//! A step is `acquire L [shared]`, `try L [shared] [then N] [else M]`, `release L`, `call P`, `read X`, `write X`, `label N`,
//! `goto N` or `goto [N, …]`, `begin U`, `end U`, `spawn T`, `join T`, `assume COND`, `assign X = EXPR`, `skip`, `return`.
//! `N: step` is short for `label N` and the step.
//!
//! # Meaning
//! - A thread *stands at* N when the step after `label N` is the next it takes.
//! - Locks behave as glibc's: a `mutex` that its holder takes again blocks for ever, a `recursive` one counts, an `rw` one prefers
//!   readers, nests reads, and answers a writer that takes it again with an error that nobody looks at. `release` of a mutex or rw
//!   lock that another thread holds frees it; of a recursive one it does nothing.
//! - `try` takes the lock exactly when it is free for the thread, and goes on at once in any case.
//! - `join T` waits for the instance of T that this thread spawned last; it passes if there is none, or it was joined before.
//! - `assume` lets the thread go on only if the condition holds; a run that meets a condition that does not hold goes no further.
//! - `assign` and `assume` access memory as C does: they load each variable, one after another, and then store.
//! - A variable is one unsigned byte. `write X` stores something that no condition may look at.

mod document;
mod expression;
pub mod lower;
mod query;
mod read;
mod step;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

pub use expression::{Comparison, Condition, Expression, Term};
pub use query::{Place, Query, Question};
pub use step::{LockMode, Step, StepKind};

use crate::error::Error;

/// How the name of every thread model ends.
pub const FILE_ENDING: &str = ".model.yaml";

/// Indices into the tables of one model.
pub type LockIndex = usize;
pub type VariableIndex = usize;
pub type ThreadIndex = usize;
pub type ProcedureIndex = usize;

/// What is wrong with a model, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// From 1.
    pub line: usize,
    pub reason: String,
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// A place in the model's text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A whole model; names are resolved.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ThreadModel {
    pub locks: Vec<Lock>,
    pub variables: Vec<Variable>,
    /// Of all threads and the shared ones.
    pub procedures: Vec<Procedure>,
    pub threads: Vec<Thread>,
    /// Names of units of work (`begin`, `end`).
    pub units: Vec<String>,
    pub queries: Vec<Query>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKind {
    Mutex,
    Recursive,
    ReadWrite,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub name: String,
    pub kind: LockKind,
    pub position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub initial: u8,
    /// All accesses are sequentially consistent: no race.
    pub is_atomic: bool,
    pub position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    pub name: String,
    /// The thread that alone may call it; `None` for a shared one.
    pub thread: Option<ThreadIndex>,
    pub steps: Vec<Step>,
    /// The position in `steps` of the step that follows each label; their number for a label at the end.
    pub labels: BTreeMap<String, usize>,
    pub position: Position,
    /// Where the list ends: the return that is not written.
    pub end: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub name: String,
    pub entry: ProcedureIndex,
    /// Instances that exist at the start.
    pub instances: usize,
    /// Locks held at the start, only with one instance.
    pub holds: Vec<(LockIndex, LockMode)>,
    pub position: Position,
}

impl ThreadModel {
    pub fn read(file: &Path) -> Result<ThreadModel, Error> {
        let text = std::fs::read_to_string(file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Missing { file: file.to_owned() },
            _ => Error::Unreadable { file: file.to_owned(), reason: error.to_string() },
        })?;
        Self::parse(&text).map_err(|error| Error::ThreadModel { file: file.to_owned(), line: error.line, reason: error.reason })
    }

    pub fn parse(text: &str) -> Result<ThreadModel, ModelError> {
        read::model(&document::Node::parse(text)?)
    }

    /// The instances at the start, in the order of the threads.
    pub fn start(&self) -> impl Iterator<Item = ThreadIndex> + '_ {
        self.threads.iter().enumerate().flat_map(|(index, thread)| std::iter::repeat_n(index, thread.instances))
    }

    /// The procedures that a thread may come to, its entry first.
    pub fn procedures_of(&self, thread: ThreadIndex) -> Vec<ProcedureIndex> {
        let mut found = vec![self.threads[thread].entry];
        let mut next = 0;
        while let Some(&procedure) = found.get(next) {
            next += 1;
            for step in &self.procedures[procedure].steps {
                if let StepKind::Call { procedure: callee } = step.kind
                    && !found.contains(&callee)
                {
                    found.push(callee);
                }
            }
        }
        found
    }

    /// Where `T@N` stands: a procedure of the thread and a position in its steps.
    pub fn place(&self, place: &Place) -> (ProcedureIndex, usize) {
        let labelled =
            |procedure: &ProcedureIndex| self.procedures[*procedure].labels.get(&place.label).map(|at| (*procedure, *at));
        self.procedures_of(place.thread).iter().find_map(labelled).expect("a query's label was found when the model was read")
    }
}
