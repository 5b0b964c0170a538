//! Bad input: each kind gets an error of one clear sentence that names the file; none crashes, none passes for a program.

#![cfg(feature = "llvm")]

mod bad_input {
    pub mod command;
    pub mod damaged;
    pub mod files;
    pub mod large;
    pub mod old_bitcode;
    pub mod support;
}
