//! Five thousand random models: exact where the theory is, nothing real refuted elsewhere, and the generator covers what it should.

use std::ops::Range;
use std::time::Instant;

use lockcheck::engines::product::Product;

use super::coverage::Coverage;
use super::generator::{Shape, model};
use super::support::{BOUNDS, parse};
use super::twin::{Tally, deadlock, reachability};

/// Everything: what is not decided must not be wrong.
pub const ALL: Shape = Shape { has_holds: true, has_crossings: true, ..Shape::FULL };
/// What the theory decides, nesting aside.
pub const PLAIN: Shape = Shape { has_attempts: false, has_spawn: false, has_data: false, has_foreign_releases: false, ..ALL };

/// Compares both engines on the models of some seeds.
pub fn compare(seeds: Range<u64>, shape: &Shape) -> (Tally, Coverage) {
    let (mut tally, mut coverage) = (Tally::default(), Coverage::default());
    for seed in seeds {
        let text = model(seed, shape);
        let model = parse(&text);
        let before = tally.complaints.len();
        let mut product = Product::explore(&model, &BOUNDS);
        reachability(&model, &product, &mut tally);
        deadlock(&model, &mut product, &mut tally);
        coverage.add(&model, &mut product);
        if let Some(complaint) = tally.complaints.get_mut(before) {
            *complaint = format!("seed {seed}: {complaint}\n{text}");
        }
    }
    (tally, coverage)
}

fn agree(seeds: Range<u64>, shape: &Shape) -> (Tally, Coverage) {
    let started = Instant::now();
    let (mut tally, coverage) = compare(seeds, shape);
    let complaints = std::mem::take(&mut tally.complaints);
    coverage.print();
    println!("{tally:?}; {:.1} s", started.elapsed().as_secs_f64());
    let spurious = |spurious: usize, possible: usize| 100.0 * spurious as f64 / possible.max(1) as f64;
    println!(
        "spurious among the possible: {:.1} % of the groups of places, {:.1} % of the deadlocks",
        spurious(tally.spurious, tally.possible),
        spurious(tally.deadlock.spurious, tally.deadlock.possible)
    );
    assert!(complaints.is_empty(), "{} disagreements\n{}", complaints.len(), complaints[0]);
    let share = |count: usize| 100.0 * count as f64 / tally.models as f64;
    for (feature, least) in
        [("recursive", 20.0), ("non-nested", 20.0), ("deadlock", 5.0), ("deadlock of three", 0.5), ("read locks", 15.0)]
    {
        assert!(coverage.share(feature) >= least, "{feature}: {:.1} %, at least {least} % are wanted", coverage.share(feature));
    }
    assert!(share(tally.by_history) >= 10.0, "refuted by histories only: {:.1} %", share(tally.by_history));
    assert!(tally.by_three >= 10 && tally.deadlock.of_three >= 10, "too few need three threads");
    assert!(tally.deadlock.dismissed_by_gate >= 10 && tally.paths >= 500);
    (tally, coverage)
}

#[test]
fn nothing_real_is_refuted_and_nothing_unreal_is_sure() {
    let (_, coverage) = agree(0..2_500, &ALL);
    for (feature, least) in
        [("spawn", 20.0), ("join", 5.0), ("spawn with a lock held", 3.0), ("trylock", 15.0), ("re-entered lock", 3.0)]
    {
        assert!(coverage.share(feature) >= least, "{feature}: {:.1} %, at least {least} % are wanted", coverage.share(feature));
    }
}

#[test]
fn what_the_theory_decides_is_decided() {
    let (tally, _) = agree(0..2_500, &PLAIN);
    assert!(tally.decided * 3 > tally.models, "only {} of {} are nested", tally.decided, tally.models);
    assert!(tally.contextual >= 10, "only {} pairs are refuted because locking is contextual", tally.contextual);
}
