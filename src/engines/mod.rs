//! Static engines: functions from a program and its facts to candidates, each with what refutes it or what does not.

pub mod deadlock;
pub mod product;
pub mod queries;
pub mod race;
pub mod reachability;
