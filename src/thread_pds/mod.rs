//! One pushdown system a thread, its rules labelled with what they do to locks and threads; and the lock histories of its paths.
//!
//! Nothing here depends on where threads come from: thread models are one producer (`model`). What the engines ask:
//!
//! | question | answer | file |
//! |---|---|---|
//! | what are the threads and locks? | [`Threads`], [`ThreadSystem`], [`Step`], [`LockTable`] | `system`, `lock_table` |
//! | what may a thread hold at a place? which locks are reliable? | [`FirstPass`] | `first_pass`, `states` |
//! | with which lock histories does it stand there? | [`Analysis::histories_at`] | `analysis`, `meaning`, `noted`, `compact`, `weights` |
//! | and after it has created another thread? | [`Analysis::histories_after_creation`] | `creation` |
//! | which instances are there, and which never at once? | [`Population`] | `population` |
//! | by which path? | [`Analysis::path_to`] | `witness` |
//! | are its locks nested, or at least released where they were taken? | [`Analysis::nesting`] | `nesting` |
//!
//! **May and must.** What a history *holds* raises candidates: may-facts, all locks included. What *refutes* is certain on that path: reliable locks
//! only. Histories of two paths are never merged.

mod analysis;
mod compact;
mod creation;
mod first_pass;
pub mod holding;
mod lock_table;
mod meaning;
mod model;
mod nesting;
mod noted;
mod population;
mod program;
mod states;
mod system;
mod weights;
mod witness;

pub use analysis::Analysis;
pub use first_pass::{FirstPass, Origin};
pub use lock_table::{Identity, Lock, LockKind, LockTable, Mode};
pub use model::{ModelThreads, StepPlace};
pub use nesting::Nesting;
pub use population::{MANY, Population};
pub use program::{KnownOrder, LockName, ProgramThreads, Remarks, Spot};
pub use states::LockStates;
pub use system::{Access, Step, ThreadId, ThreadSystem, Threads};
pub use witness::{Path, Taken};
