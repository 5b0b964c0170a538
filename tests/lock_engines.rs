//! The lock engines and the product of all threads on the same models: pairwise and N-way reachability, races, deadlocks.

#[path = "lock_engines/agreement.rs"]
mod agreement;
#[path = "thread_models/coverage.rs"]
mod coverage;
#[allow(dead_code)]
#[path = "thread_models/generator.rs"]
mod generator;
#[path = "lock_engines/models.rs"]
mod models;
#[path = "lock_engines/mutations.rs"]
mod mutations;
#[allow(dead_code)]
#[path = "generator/random.rs"]
mod random;
#[path = "lock_engines/random_models.rs"]
mod random_models;
#[path = "thread_models/recursion.rs"]
mod recursion;
#[path = "lock_engines/support.rs"]
mod support;
#[path = "lock_engines/twin.rs"]
mod twin;
