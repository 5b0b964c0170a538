//! How fast the machine executes: instructions a second of one processor, for each program of `benches/programs`.
//! Prints `machine NAME RATE`, the rate in millions; `cargo bench --bench machine`, with names to choose some.

mod clock;

use std::path::PathBuf;

use lockcheck::explore::machine::end::End;
use lockcheck::explore::machine::{Machine, RunOptions, Unobserved};
use lockcheck::explore::run::{Limits, RunReport, run};
use lockcheck::explore::scheduler::Random;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;

const PROGRAMS: [&str; 3] = ["arithmetic", "pointers", "locked"];
const ROUNDS: u32 = 7;

/// The best of a few rounds, in instructions a second: what the machine does when nothing disturbs it.
fn best_rate(machine: &Machine<'_>) -> (f64, RunReport) {
    let mut best = None;
    for _ in 0..ROUNDS {
        let mut machine = machine.clone();
        let start = clock::processor_seconds();
        let report = run(&mut machine, &mut Random::new(1), &Limits::default(), &mut Unobserved);
        let rate = report.steps as f64 / (clock::processor_seconds() - start);
        if best.as_ref().is_none_or(|(known, _)| rate > *known) {
            best = Some((rate, report));
        }
    }
    best.expect("at least one round")
}

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let models = Models::embedded();
    for name in PROGRAMS.into_iter().filter(|name| chosen.is_empty() || chosen.iter().any(|word| word == name)) {
        let file: PathBuf = [env!("CARGO_MANIFEST_DIR"), "benches", "programs", name].iter().collect();
        let program = load(&[file.with_extension("c")], &LoadOptions::default()).expect("the program loads");
        let machine = Machine::new(&program, &models.bind(&program), RunOptions::default()).expect("the program has a main");
        let (rate, report) = best_rate(&machine);
        assert_eq!(report.end, End::Exited(0), "{name} runs to its end");
        assert!(report.races.is_empty() && report.assumptions.is_empty(), "{name} has no race and needs no assumption");
        println!("machine {name} {:.2}", rate / 1e6);
        eprintln!("  {name}: {} instructions, {} transitions", report.steps, report.transitions);
    }
}
