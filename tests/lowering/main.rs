//! Lowering: what clang makes of C becomes the program that C means.
#![cfg(feature = "llvm")]

mod support;

mod assembly;
mod atomics;
mod constants;
mod control;
mod debug;
mod describe;
mod examples;
mod memory;
mod numbers;
mod processor;
mod sites;
mod validate;
mod vectors;
