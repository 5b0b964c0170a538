//! Weaker engines must be caught: one that forgets the histories, and one that compares two threads at a time only.
//!
//! The switch is here and not in the product: the test chooses histories itself, by the definition, with a test of compatibility that is whole or weakened,
//! and holds what it refutes against the product of all threads.

use std::collections::BTreeSet;

use lockcheck::engines::product::Product;
use lockcheck::locks::history::{BitSet, Whole, check};
use lockcheck::pushdown::SymbolId;
use lockcheck::thread_model::ThreadModel;
use lockcheck::thread_pds::{Analysis, ModelThreads, Origin, ThreadId};

use super::generator::{Shape, model};
use super::random_models::PLAIN;
use super::support::{BOUNDS, Place, is_decided, parse, places};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    Whole,
    /// Only what is held counts.
    Holding,
    /// Every two of them, not all together.
    Pairs,
}

fn are_compatible(histories: &[&Whole], strength: Strength) -> bool {
    match strength {
        Strength::Whole => check(histories, &[]).is_ok(),
        Strength::Holding => {
            let without = |history: &&Whole| {
                let mut history = (*history).clone();
                history.held.iter_mut().for_each(|(_, since)| *since = BitSet::default());
                history.released.iter_mut().for_each(|(_, before)| *before = BitSet::default());
                history
            };
            let stripped: Vec<Whole> = histories.iter().map(without).collect();
            check(&stripped.iter().collect::<Vec<_>>(), &[]).is_ok()
        }
        Strength::Pairs => (0..histories.len())
            .all(|one| (one + 1..histories.len()).all(|other| check(&[histories[one], histories[other]], &[]).is_ok())),
    }
}

/// Whether some choice of one history each is compatible.
fn may_be(all: &[Vec<Whole>], chosen: &mut Vec<usize>, strength: Strength) -> bool {
    if chosen.len() == all.len() {
        let histories: Vec<&Whole> = all.iter().zip(&*chosen).map(|(histories, at)| &histories[*at]).collect();
        return are_compatible(&histories, strength);
    }
    (0..all[chosen.len()].len()).any(|at| {
        chosen.push(at);
        let found = may_be(all, chosen, strength);
        chosen.pop();
        found
    })
}

/// Groups of places, one a thread, that an engine of this strength lets pass although no state shows them.
fn wrongly_passed(model: &ThreadModel, strength: Strength) -> usize {
    let product = Product::explore(model, &BOUNDS);
    let threads = ModelThreads::of(model);
    let mut analysis = Analysis::of(&threads.threads);
    if !product.limits().is_empty() || !is_decided(model, &analysis) {
        return 0;
    }
    let size = model.threads.len().min(3);
    let real: BTreeSet<Vec<Place>> = product.groups(size);
    let by_thread: Vec<Vec<(Place, Vec<SymbolId>)>> = (0..size).map(|thread| places(&threads, thread)).collect();
    let mut groups: Vec<Vec<&(Place, Vec<SymbolId>)>> = vec![Vec::new()];
    for places in &by_thread {
        groups = places.iter().flat_map(|place| groups.iter().map(move |group| [&group[..], &[place]].concat())).collect();
    }
    let mut is_passed = |group: &Vec<&(Place, Vec<SymbolId>)>| {
        let mut sorted: Vec<Place> = group.iter().map(|place| place.0).collect();
        sorted.sort_unstable();
        let mut histories = |(place, symbols): &(Place, Vec<SymbolId>)| -> Vec<Whole> {
            let of = |symbol: &SymbolId| analysis.histories_at(ThreadId(place.0 as u32), Origin::Start, *symbol).to_vec();
            symbols.iter().flat_map(of).collect()
        };
        !real.contains(&sorted) && {
            let all: Vec<Vec<Whole>> = group.iter().map(|place| histories(place)).collect();
            may_be(&all, &mut Vec::new(), strength)
        }
    };
    let mut passed = 0;
    for group in &groups {
        passed += usize::from(is_passed(group));
    }
    passed
}

#[test]
fn weaker_engines_are_caught() {
    let shape = Shape { has_holds: false, most_steps: 6, ..PLAIN };
    let mut passed = [0; 3];
    for seed in 0..250 {
        let model = parse(&model(seed, &shape));
        for (count, strength) in passed.iter_mut().zip([Strength::Whole, Strength::Holding, Strength::Pairs]) {
            *count += wrongly_passed(&model, strength);
        }
    }
    println!("wrongly passed: {} by the whole test, {} without histories, {} by pairs alone", passed[0], passed[1], passed[2]);
    assert_eq!(passed[0], 0, "the whole test is exact");
    assert!(passed[1] >= 20, "an engine without histories is not caught");
    assert!(passed[2] >= 1, "an engine that compares pairs alone is not caught");
}
