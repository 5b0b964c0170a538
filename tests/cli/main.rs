//! The contract, through the command: words in, reports and exit codes out.

#[cfg(feature = "llvm")]
mod budget;
#[cfg(feature = "llvm")]
mod config;
#[cfg(feature = "llvm")]
mod emit;
#[cfg(feature = "llvm")]
mod exit_codes;
#[cfg(feature = "llvm")]
mod explore;
#[cfg(feature = "llvm")]
mod faults;
#[cfg(feature = "llvm")]
mod identity;
#[cfg(feature = "llvm")]
mod json;
#[cfg(feature = "llvm")]
mod library;
mod models;
#[cfg(feature = "llvm")]
mod options;
mod pages;
#[cfg(feature = "llvm")]
mod paths;
#[cfg(feature = "llvm")]
mod posix;
#[cfg(feature = "llvm")]
mod races;
#[cfg(feature = "llvm")]
mod replay;
#[cfg(feature = "llvm")]
mod streams;
#[cfg_attr(not(feature = "llvm"), expect(dead_code, reason = "programs in C need LLVM"))]
mod support;
#[cfg(feature = "llvm")]
mod suppression;
#[cfg(feature = "llvm")]
mod text;
mod unbuilt;
