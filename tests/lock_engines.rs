//! The lock engines and the product of all threads on the same models: pairwise and N-way reachability, races, deadlocks.

#[allow(dead_code)]
#[path = "thread_models/examples.rs"]
mod examples;
#[allow(dead_code)]
#[path = "thread_models/generator.rs"]
mod generator;
#[allow(dead_code)]
#[path = "generator/random.rs"]
mod random;
#[path = "lock_engines/reachability.rs"]
mod reachability;
#[path = "lock_engines/support.rs"]
mod support;
#[path = "lock_engines/twin.rs"]
mod twin;
