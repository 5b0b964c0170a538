//! Facts: what small programs in text form must give, and facts against runs: the machine executes examples and generated programs, and
//! every address it uses must be in the set that points-to computed for the operand, every function it enters among the callees of the site.

#[path = "facts/allocations.rs"]
mod allocations;
#[cfg(feature = "llvm")]
#[path = "facts/contained.rs"]
mod contained;
#[path = "facts/contexts.rs"]
mod contexts;
#[path = "facts/crowds.rs"]
mod crowds;
#[path = "facts/declared.rs"]
mod declared;
#[cfg(feature = "llvm")]
#[path = "facts/directed.rs"]
mod directed;
#[cfg(feature = "llvm")]
mod generator;
#[path = "facts/language_rules.rs"]
mod language_rules;
#[cfg(feature = "llvm")]
#[path = "facts/runs.rs"]
mod runs;
#[path = "facts/sharing.rs"]
mod sharing;
#[cfg(feature = "llvm")]
#[path = "facts/signatures.rs"]
mod signatures;
#[cfg(feature = "llvm")]
mod stacks;
#[path = "facts/text_programs.rs"]
mod text_programs;
