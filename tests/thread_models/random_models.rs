//! Five thousand random models: the product lists their states quickly, the generator covers what it should, and facts that the
//! theory proves hold on all of them.

use std::time::Instant;

use lockcheck::engines::product::{Bounds, Product};
use lockcheck::thread_model::ThreadModel;

use super::coverage::Coverage;
use super::generator::{Shape, model};

pub const BOUNDS: Bounds = Bounds { states: 6_000, stack: 3, threads: 6 };

pub fn parse(text: &str, seed: u64) -> ThreadModel {
    ThreadModel::parse(text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
}

#[test]
fn five_thousand_models_are_explored_and_cover_what_they_should() {
    let started = Instant::now();
    let mut coverage = Coverage::default();
    let (mut states, mut largest) = (0, 0);
    for seed in 0..5_000 {
        let text = model(seed, &Shape::FULL);
        let model = parse(&text, seed);
        let mut product = Product::explore(&model, &BOUNDS);
        states += product.states();
        largest = largest.max(product.states());
        coverage.add(&model, &mut product);
    }
    coverage.print();
    println!("{states} states, the largest model has {largest}; {:.1} s", started.elapsed().as_secs_f64());
    for (feature, least) in [
        ("recursive", 20.0),
        ("non-nested", 20.0),
        ("calls", 40.0),
        ("loops", 10.0),
        ("read locks", 20.0),
        ("trylock", 15.0),
        ("re-entered lock", 3.0),
        ("spawn", 20.0),
        ("join", 5.0),
        ("spawn with a lock held", 3.0),
        ("join with a lock held", 1.0),
        ("race", 20.0),
        ("deadlock", 5.0),
        ("deadlock of three", 0.1),
        ("lock leak", 5.0),
    ] {
        assert!(
            coverage.share(feature) >= least,
            "{feature}: {:.2} % of the models, at least {least} % are wanted",
            coverage.share(feature)
        );
    }
    assert!(coverage.share("cut by a bound") <= 50.0, "too many models do not fit the bounds");
}
