//! Locksets: what a thread certainly holds.
//!
//! # Definition   A lockset is a set of held things. Each is named in all the ways that are known to mean the same thing: by its place (a
//!                location that stands for one run-time object) and by terms of the frame it is seen from. A thing has a mode, shared or
//!                exclusive, a count (re-entrant locks, saturating downwards), and the moment it was taken.
//! # Order        L ≤ L′ if everything in L′ is in L, with at least its names, mode and count. The meet keeps what both hold under a common name,
//!                under the common names, in the weaker mode, with the smaller count: what is certain on either of two ways.
//! # Theorem      If L describes what a thread holds on one way to a point and L′ on another, their meet describes it on both. (Each
//!                thing of the meet stands in both sets under one name, and a name means one lock when the point is reached.)
//!                Union in place of the meet would claim locks that one of the two ways does not hold.
//! # Deviations   Two names that mean one lock may stand in one set as two things: each then stands for one of the lock's levels.

mod held;
pub mod history;
mod set;

pub use held::{Family, Held, Mode, Moment, Names, Place, Term, Token};
pub use set::{Lockset, LocksetId, Locksets, Sites, Working};
