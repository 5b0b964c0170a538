//! Happens-before by vector clocks, and the race detector that rests on it.
//!
//! # Definition   Two accesses race when they touch a common byte, one of them writes, not both are atomic, and neither happens
//!                before the other. Happens-before is the order of each thread's own steps together with the edges below, closed.
//! # Edges
//! - lock: every release → a later exclusive acquire; an exclusive release → a later shared acquire
//! - fork → the child's first step; a thread's end → its join
//! - C11: a release store, or a relaxed store after a release fence → an acquire load (or a relaxed load before an acquire
//!   fence) that reads it, or reads a store that continues its release sequence: a read-modify-write, or one of the same thread
//! - barrier: every arrival → every departure of the same round; semaphore: a post → the wait that takes its unit
//! - once: the routine's end → every later pass; atomic sections: as one global lock
//! - a cancellation → what the cancelled thread does because of it; registration of an exit handler → its run
//! - none from a signal to a wait: condition variables order nothing beyond their mutex
//!
//! # Papers       Fidge 1988, Mattern 1989 (clocks); Flanagan, Freund 2009 (epochs).
//! # Deviations   1. Units of a semaphore are matched first in, first out: any matching has a schedule that shows it.
//!                2. After the first race on a byte the later ones are those that a plain epoch still sees.
//!                3. An acquire load of bytes that were stored atomically in another size synchronises with all of those stores.

pub mod clock;
pub mod detector;
pub mod interner;
pub mod location;
pub mod order;
pub mod race;
pub mod shadow;
#[cfg(test)]
mod tests;

pub use detector::{MemoryAccess, RaceDetector};
pub use interner::{Actor, LocksetId, StackId, Stacks};
pub use race::{AccessKind, Race, RaceEnd};
