//! lockcheck: finds, proves and explains concurrency bugs in C.
//!
//! The pipeline, stage by stage, is in `pipeline`; who may import whom is in ARCHITECTURE.md and enforced by a test.

pub mod capture;
pub mod cli;
pub mod config;
pub mod deadline;
pub mod engines;
pub mod error;
pub mod explore;
pub mod facts;
pub mod findings;
pub mod frontend;
pub mod locks;
pub mod models;
pub mod pipeline;
pub mod program;
pub mod pushdown;
pub mod report;
pub mod thread_model;
pub mod thread_pds;
