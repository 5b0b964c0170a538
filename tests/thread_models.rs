//! Thread models: the examples' queries, the notation, and the twins of lowering and product on random models.

#[allow(dead_code)]
#[path = "thread_models/coverage.rs"]
mod coverage;
#[path = "thread_models/examples.rs"]
mod examples;
#[path = "thread_models/generator.rs"]
mod generator;
#[path = "thread_models/lowering.rs"]
mod lowering;
#[path = "thread_models/notation.rs"]
mod notation;
#[path = "thread_models/proposition.rs"]
mod proposition;
#[allow(dead_code)]
#[path = "generator/random.rs"]
mod random;
#[path = "thread_models/random_models.rs"]
mod random_models;
#[path = "thread_models/recursion.rs"]
mod recursion;
