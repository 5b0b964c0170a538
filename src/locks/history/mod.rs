//! Lock histories: what one thread's path has done with locks, as far as other threads can notice.
//!
//! # Definition   Of a path: R, the locks held at its start and released, with their release histories RH (what was acquired before that first
//!                release); U, the locks acquired and released again; A, the locks acquired and kept, in the order of their last acquisition,
//!                with their acquisition histories AH (what was acquired since). What is held at the start and not in R is held
//!                throughout (HT). Modes are kept: an [`Atom`] is a lock in a mode, and shared never conflicts with shared.
//! # Theorem      Paths of distinct threads cannot be run together to their ends if 1. two of them hold a lock in conflicting modes at the start
//!                or 2. at the end; 3. their acquisition histories or 4. their release histories have a cycle of any length; 5. one of
//!                them acquires what another holds throughout. If locks are nested and none of 1–5 holds, they can.
//! # Paper        Kidd, Lammich, Touili, Reps 2009, theorem 1, definition 3, appendix B; Kahlon, Ivančić, Gupta 2005, theorem 5.
//! # Composition  The history of a part of a path, with any locks held before, says how often it needs each lock to be held when it begins
//!                ([`Count`]); two parts compose if these agree. So a history is an element of a semiring whose ⊗ is composition and
//!                whose weights are sets of minimal histories.
//! # Minimal      Smaller histories are compatible with more. h precedes h′ if R, A (with their order and modes) and the change of every count are
//!                equal, h asks for nothing more at its beginning, RH, U, AH and the doubts are subsets. Composition is monotone
//!                in this order, so only minimal histories are kept. Histories of two paths are never merged.
//! # Deviations   1. RH and AH hold acquisitions only: what is merely released conflicts with nobody.  2. Re-entrant locks and nested reads
//!                are counted by what a part needs and changes, so that balanced recursion is exact at any depth; a part
//!                that changes a count by more than [`Count::MOST`] forgets the lock ([`Doubt::Overflow`]).  3. A path
//!                remembers why its end may not be reachable although its history allows it ([`Doubts`]).  4. A *moment* (the creation
//!                of a thread) is an atom that is used: it stands in the AH of what was held by then.

mod bits;
mod compatible;
mod count;
mod doubt;
mod path;
mod sets;
mod whole;

pub use bits::BitSet;
pub use compatible::{Creation, Incompatible, check, check_last};
pub use count::Count;
pub use doubt::{Doubt, Doubts};
pub use path::{Atom, Final, Initial, LockHistory, LockId};
pub use sets::{HistoryId, HistorySets, SetId};
pub use whole::{Reading, Whole};
