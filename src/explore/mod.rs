//! The machine that executes a [`Program`](crate::program::Program) under a controlled scheduler.
//!
//! It trusts nothing static: what it reports it has seen happen.

pub mod bugs;
pub mod builtins;
pub mod campaign;
pub mod environment;
pub mod evaluate;
pub mod exhaustive;
pub mod fault;
pub mod happens_before;
pub mod machine;
pub mod memory;
pub mod run;
pub mod schedule;
pub mod scheduler;
pub mod sync;
pub mod thread_id;
pub mod transcript;
pub mod value;
mod workers;
