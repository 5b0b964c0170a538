//! The deadlock engine on C against the truth: traps in small programs, and all executions of random ones.
#![cfg(feature = "llvm")]

mod deadlock_engine {
    mod accounts;
    mod again;
    mod ascending;
    mod contexts;
    mod deadline;
    mod elements;
    mod handlers;
    mod joins;
    mod keys;
    mod locking;
    #[path = "../generator/random.rs"]
    #[allow(dead_code)]
    mod random;
    #[path = "../race_engine/support.rs"]
    #[allow(dead_code)]
    mod shared;
    mod signals;
    mod support;
    mod traps;
    mod twin;
    mod unsure;
}
