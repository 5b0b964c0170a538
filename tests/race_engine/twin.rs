//! All executions of random programs: no race that a run shows is refuted or missing.
//!
//! The truth is `explore::exhaustive`: it trusts nothing static. Seeds are fixed; `RACE_TWIN_SEEDS=from..to` names others, and
//! `ci/race-twin` runs 2,000 programs of each generator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lockcheck::explore::exhaustive::{Bounds, PairState, estimated_executions, explore};
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::findings::Rule;
use lockcheck::models::Models;
use lockcheck::program::{Program, SiteId};

use super::support::{Said, analyse, for_all, load_c};
use super::{chaos, ownership};
use crate::concurrent_generator::concurrent_program;

/// Transitions after which an execution is taken to have no end.
const LENGTH: u64 = 300;
/// A program with more executions, as far as one can guess, is looked into, not explored.
const LARGE: f64 = 6_000.0;

struct Compared {
    seed: u64,
    source: String,
    is_complete: bool,
    races: usize,
    candidates: usize,
    /// Candidates that no execution shows, by cause.
    false_candidates: Vec<&'static str>,
    features: BTreeSet<&'static str>,
    complaints: Vec<String>,
}

fn compare(seed: u64, source: String, features: BTreeSet<&'static str>, directory: &Path, models: &Models) -> Compared {
    let file = directory.join(format!("seed-{seed}.c"));
    std::fs::write(&file, &source).expect("a program can be written");
    let program = load_c(&file, &[]);
    let machine = Machine::new(&program, &models.bind(&program), RunOptions::default()).expect("the program can be run");
    let is_small = estimated_executions(&machine, 20, LENGTH, 1) < LARGE;
    let executions = if is_small { 8_000 } else { 100 };
    let exhaustion =
        explore(&machine, &Bounds { executions, transitions: 20 * executions, length: LENGTH, deadline: None }, &mut |_| {});
    let said = Said { result: analyse(&program) };
    let known: BTreeSet<_> = said.result.candidates.iter().map(|candidate| candidate.key()).collect();
    let mut complaints = Vec::new();
    let mut real: BTreeSet<BTreeSet<(String, String, u32)>> = BTreeSet::new();
    let mut races = 0;
    for shown in exhaustion.shown.iter().filter(|shown| shown.bug.rule == Rule::DataRace) {
        let (_, whole, ends) = shown.bug.key();
        races += 1;
        let lines: BTreeSet<_> = ends.into_iter().collect();
        if !known.contains(&(whole.clone(), lines.clone())) {
            complaints.push(format!("a run shows a race on {whole} at {lines:?}, which is no candidate: {}", said.summary()));
        }
        real.insert(lines);
    }
    // Every pair of sites that raced, also those that were not shown first.
    for (pair, _) in exhaustion.pairs.iter().filter(|(_, state)| **state == PairState::Racing) {
        let (Some(one), Some(other)) = pair.sites else { continue };
        let lines: BTreeSet<u32> = [one, other].into_iter().map(|site| line(&program, site)).collect();
        let is_known = said
            .result
            .candidates
            .iter()
            .any(|candidate| candidate.ends.iter().map(|end| end.line().2).collect::<BTreeSet<u32>>() == lines);
        if !is_known {
            complaints.push(format!("sites at lines {lines:?} race in a run, and are no candidate: {}", said.summary()));
        }
    }
    let met: BTreeSet<BTreeSet<u32>> = exhaustion
        .pairs
        .keys()
        .filter_map(|pair| Some([pair.sites.0?, pair.sites.1?].into_iter().map(|site| line(&program, site)).collect()))
        .collect();
    let raced: BTreeSet<BTreeSet<u32>> = exhaustion
        .pairs
        .iter()
        .filter(|(_, state)| **state == PairState::Racing)
        .filter_map(|(pair, _)| Some([pair.sites.0?, pair.sites.1?].into_iter().map(|site| line(&program, site)).collect()))
        .collect();
    let mut false_candidates = Vec::new();
    if exhaustion.is_complete {
        for candidate in &said.result.candidates {
            let lines: BTreeSet<u32> = candidate.ends.iter().map(|end| end.line().2).collect();
            if !raced.contains(&lines) && !real.contains(&candidate.ends.iter().map(|end| end.line()).collect()) {
                false_candidates.push(cause(candidate.object.as_str(), &features, met.contains(&lines)));
            }
        }
    }
    Compared {
        seed,
        source,
        is_complete: exhaustion.is_complete,
        races,
        candidates: said.result.candidates.len(),
        false_candidates,
        features,
        complaints,
    }
}

fn line(program: &Program, site: SiteId) -> u32 {
    program.place_of(site).map_or(0, |place| place.line)
}

/// Why a candidate that no execution shows was kept.
fn cause(object: &str, features: &BTreeSet<&'static str>, meets: bool) -> &'static str {
    let is_handed_over = object.starts_with('h') && object[1..].chars().all(|c| c.is_ascii_digit());
    let protocol = ["flag", "semaphore", "barrier", "locked-flag", "once"].into_iter().find(|feature| features.contains(feature));
    match (is_handed_over, protocol, meets) {
        (true, Some("flag"), _) => "handed over by a flag",
        (true, Some("semaphore"), _) => "handed over by a semaphore",
        (true, Some("barrier"), _) => "handed over by a barrier",
        (true, Some("locked-flag"), _) => "handed over by a flag under a lock",
        (true, _, _) => "handed over otherwise",
        (false, _, false) => "never the same bytes: values that do not occur",
        (false, _, true) => "the same bytes, ordered in every execution",
    }
}

fn judge(name: &str, programs: &[Compared]) {
    let count = |holds: &dyn Fn(&Compared) -> bool| programs.iter().filter(|program| holds(program)).count();
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    programs.iter().flat_map(|program| &program.false_candidates).for_each(|cause| *causes.entry(cause).or_default() += 1);
    let of_complete: usize = programs.iter().filter(|program| program.is_complete).map(|program| program.candidates).sum();
    println!(
        "{name}: {} programs, {} explored whole, {} with a race, {} races, {} candidates in programs explored whole",
        programs.len(),
        count(&|program| program.is_complete),
        count(&|program| program.races > 0),
        programs.iter().map(|program| program.races).sum::<usize>(),
        of_complete
    );
    for (cause, number) in &causes {
        println!("  {:5.1} % false: {cause} ({number})", 100.0 * *number as f64 / of_complete.max(1) as f64);
    }
    let mut features: BTreeMap<&str, usize> = BTreeMap::new();
    programs.iter().flat_map(|program| &program.features).for_each(|feature| *features.entry(feature).or_default() += 1);
    println!("  features: {features:?}");
    let shown: Vec<String> = programs
        .iter()
        .filter(|program| program.false_candidates.iter().any(|cause| cause.contains("same bytes")))
        .map(|program| program.seed.to_string())
        .take(40)
        .collect();
    println!("  seeds with false candidates: {}", shown.join(" "));
    let wrong: Vec<String> = programs
        .iter()
        .filter(|program| !program.complaints.is_empty())
        .map(|program| format!("seed {}: {}\n{}", program.seed, program.complaints.join("\n"), program.source))
        .collect();
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n"));
    assert!(count(&|program| program.is_complete) * 2 >= programs.len(), "too many programs are too large");
    assert!(count(&|program| program.races > 0) * 5 >= programs.len(), "too few programs race");
}

fn seeds() -> Vec<u64> {
    let seeds = std::env::var("RACE_TWIN_SEEDS").unwrap_or_else(|_| "0..150".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    (from.parse().expect("a number")..to.parse().expect("a number")).collect()
}

#[test]
fn no_race_of_a_disciplined_program_is_refuted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| {
        let written = concurrent_program(*seed);
        compare(*seed, written.source, written.features, directory.path(), &models)
    });
    judge("disciplines", &programs);
}

#[test]
fn no_race_of_a_chaotic_program_is_refuted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| {
        let (source, features) = chaos::program(*seed);
        compare(*seed, source, features, directory.path(), &models)
    });
    judge("chaos", &programs);
    covers_all(&programs, &chaos::FEATURES);
}

#[test]
fn no_race_on_what_threads_hand_around_is_refuted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| {
        let (source, features) = ownership::program(*seed);
        compare(*seed, source, features, directory.path(), &models)
    });
    judge("ownership", &programs);
    covers_all(&programs, &ownership::FEATURES);
}

fn covers_all(programs: &[Compared], features: &[&str]) {
    let seen: BTreeSet<&str> = programs.iter().flat_map(|program| &program.features).copied().collect();
    let missing: Vec<&&str> = features.iter().filter(|feature| !seen.contains(*feature)).collect();
    assert!(programs.len() < 100 || missing.is_empty(), "no program has {missing:?}");
}
