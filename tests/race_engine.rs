//! The race engine against the truth: traps in small programs, the examples with their claims, and all executions of random programs.
#![cfg(feature = "llvm")]

#[allow(dead_code)]
mod claims;
#[allow(dead_code)]
mod concurrent_generator;
mod race_engine {
    mod ahead;
    mod chaos;
    mod contexts;
    mod examples;
    mod fresh;
    mod handover;
    mod hidden;
    mod making;
    mod ordering;
    mod ownership;
    #[path = "../generator/random.rs"]
    mod random;
    mod signals;
    mod spans;
    mod streams;
    pub mod support;
    mod traps;
    mod twin;
}
