//! Threads and what they synchronise with: the state of every primitive, and what a library call does to it.
//!
//! The state machines (`mutex`, `condition`, `barrier`, …) are plain data that know nothing of the interpreter; [`SyncTable`] keeps
//! them by address. [`perform`] executes one [`Effect`](crate::models::Effect) of a library function through a
//! [`SyncContext`], which the machine implements.
//!
//! # How a blocking call runs
//! 1. The machine calls [`perform`] with [`Resume::Start`].
//! 2. [`EffectOutcome::Block`]: the thread stands still. The machine keeps `reason` and `resume` with the call and asks
//!    [`SyncTable::readiness`] whenever it computes the set of enabled threads. When the scheduler picks the thread, the machine
//!    calls [`perform`] again with the same call and the kept `resume`.
//! 3. [`EffectOutcome::CallBack`]: the machine calls the function, and when it has returned calls [`perform`] with `resume`.
//! 4. [`EffectOutcome::EndThread`]: all frames of the thread go away; what it returned is in the table for its joiner.
//!
//! A thread whose entry function returns goes through [`thread_returned`] the same way (thread-specific destructors run there).
//!
//! # Deviations from POSIX
//! 1. A timed wait may time out whenever it would block; clocks are not modelled.
//! 2. Spurious wake-ups happen only when [`SyncContext::has_spurious_wakeups`] says so.

pub mod atomic_section;
pub mod barrier;
pub mod condition;
pub mod context;
pub mod effects;
pub mod event;
pub mod keys;
pub mod layout;
pub mod lock;
pub mod mutex;
pub mod once;
pub mod outcome;
pub mod read_write_lock;
pub mod semaphore;
pub mod shared;
pub mod table;
pub mod threads;

pub use context::{SyncContext, Touch};
pub use effects::{begin_atomic_body, end_atomic_body, leaked_locks, perform, thread_returned};
pub use event::{Misuse, MisuseKind, SyncEvent};
pub use outcome::{BlockReason, Call, EffectOutcome, Readiness, Resume};
pub use table::{HeldLock, SyncKey, SyncTable};
pub use threads::ThreadStatus;

pub use super::thread_id::ThreadId;
