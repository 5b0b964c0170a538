//! Reachability on random models: exact where the theory is, nothing real refuted elsewhere.

use std::time::Instant;

use super::generator::{Shape, model};
use super::support::parse;
use super::twin::{Tally, reachability};

pub const SHAPE: Shape = Shape { has_holds: true, ..Shape::FULL };
/// What theory decides, nesting aside.
pub const PLAIN: Shape = Shape { has_attempts: false, has_spawn: false, has_data: false, has_foreign_releases: false, ..SHAPE };

fn run(seeds: std::ops::Range<u64>, shape: &Shape) -> Tally {
    let started = Instant::now();
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed, shape);
        let before = tally.complaints.len();
        reachability(&parse(&text), &mut tally);
        if let Some(complaint) = tally.complaints.get_mut(before) {
            *complaint = format!("seed {seed}: {complaint}\n{text}");
        }
    }
    let complaints = std::mem::take(&mut tally.complaints);
    println!("{tally:?}; {:.1} s", started.elapsed().as_secs_f64());
    assert!(complaints.is_empty(), "{} disagreements\n{}", complaints.len(), complaints[0]);
    tally
}

#[test]
fn reachability_agrees_with_the_product() {
    let tally = run(0..1_500, &SHAPE);
    let plain = run(0..1_500, &PLAIN);
    assert!(plain.decided * 4 > plain.models, "too few are decided");
    assert!(tally.by_history + plain.by_history > 0);
}
