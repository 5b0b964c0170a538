//! Whole calls against a small stand-in for the machine: blocking, waking, giving up, ending.

mod conditions;
mod locks;
mod stand_in;
mod threads;
mod waiting;
