//! The reduction to two threads as a checked fact: what two threads can do together does not depend on the others.
//!
//! # Theorem      Kahlon, Ivančić, Gupta 2005, proposition 1: two threads can stand at two places at once in the whole program iff they
//!                can in the program of these two alone.
//! # Needs        No spawn and join, no failed trylock, no data, no release of another thread's lock: each lets a third thread decide.

use std::collections::BTreeSet;

use lockcheck::engines::product::Product;
use lockcheck::thread_model::ThreadModel;

use super::generator::{Shape, model};
use super::random_models::{BOUNDS, parse};

const PLAIN: Shape = Shape { has_attempts: false, has_spawn: false, has_data: false, has_foreign_releases: false, ..Shape::FULL };

type Together = BTreeSet<[(usize, usize, usize); 2]>;

/// All pairs of places that threads stand at together; `None` when a bound was hit or the theorem says nothing.
fn together(model: &ThreadModel) -> Option<Together> {
    let product = Product::explore(model, &BOUNDS);
    (product.limits().is_empty() && !product.has_foreign_release()).then(|| product.together())
}

#[test]
fn two_threads_do_the_same_with_and_without_the_others() {
    let (mut checked, mut pairs) = (0, 0);
    for seed in 0..400 {
        let text = model(seed, &PLAIN);
        let model = parse(&text, seed);
        let Some(whole) = (if model.threads.len() < 3 { None } else { together(&model) }) else { continue };
        for (one, other) in [(0, 1), (1, 2), (0, 2)] {
            let mut alone = model.clone();
            for (index, thread) in alone.threads.iter_mut().enumerate() {
                thread.instances = usize::from(index == one || index == other);
            }
            let Some(alone) = together(&alone) else { continue };
            let of_both = whole.iter().filter(|places| places[0].0 == one && places[1].0 == other);
            assert_eq!(of_both.copied().collect::<Together>(), alone, "seed {seed}, threads {one} and {other}\n{text}");
            checked += 1;
            pairs += alone.len();
        }
    }
    println!("{checked} pairs of threads, {pairs} pairs of places");
    assert!(checked >= 200, "only {checked} pairs of threads were small enough");
}

/// With spawn and join the proposition is false: a third thread decides who exists when.
#[test]
fn a_creator_can_keep_two_threads_apart() {
    let model = parse("threads:\n  main: [spawn b, join b, spawn c]\n  b: [skip]\n  c: [skip]\n", 0);
    let mut alone = model.clone();
    alone.threads[0].instances = 0;
    (alone.threads[1].instances, alone.threads[2].instances) = (1, 1);
    let is_together = |model: &ThreadModel| Product::explore(model, &BOUNDS).together().contains(&[(1, 1, 0), (2, 2, 0)]);
    assert!(!is_together(&model) && is_together(&alone));
}
