//! All executions of random programs: no deadlock that a run shows is missing, and what is proved to have none has none.
//!
//! The truth is `explore::exhaustive`: it trusts nothing static. Seeds are fixed; `DEADLOCK_TWIN_SEEDS=from..to` names others.

use std::collections::{BTreeMap, BTreeSet};

use lockcheck::explore::exhaustive::{Bounds, explore};
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::findings::{Reason, Rule};
use lockcheck::models::Models;

use super::elements::Elements;
use super::locking::{FEATURES, Generated, program, program_that_takes_again};
use super::shared::{for_all, load_c};
use super::support::{Said, analyse};
use super::{accounts, elements};

type Lines = BTreeSet<(String, String, u32)>;

struct Compared {
    features: Vec<&'static str>,
    is_complete: bool,
    deadlocks: usize,
    candidates: usize,
    /// Candidates that no execution shows, in programs that were explored whole.
    spurious: usize,
    /// Programs that are said to have none.
    is_proved: bool,
    /// Lines at which a run has shown a thread that waits for itself.
    self_waits: usize,
    /// A cycle was dismissed by an order of locks.
    is_in_order: bool,
    complaints: Vec<String>,
}

fn compare(seed: u64, written: Generated, directory: &std::path::Path, models: &Models) -> Compared {
    let file = directory.join(format!("seed-{seed}.c"));
    std::fs::write(&file, &written.source).expect("a program can be written");
    let program = load_c(&file, &[]);
    let machine = Machine::new(&program, &models.bind(&program), RunOptions::default()).expect("the program can be run");
    let bounds = Bounds { executions: 20_000, transitions: 800_000, length: 200, deadline: None };
    let exhaustion = explore(&machine, &bounds, &mut |_| {});
    let said = Said { result: analyse(&program) };
    let shown: Vec<Lines> = exhaustion
        .shown
        .iter()
        .filter(|shown| shown.bug.rule == Rule::Deadlock)
        .map(|shown| shown.bug.key().2.into_iter().collect())
        .collect();
    let candidates: Vec<Lines> = said.result.candidates.iter().map(|candidate| candidate.lines()).collect();
    let mut complaints = Vec::new();
    for lines in &shown {
        if !candidates.iter().any(|candidate| candidate.is_subset(lines)) {
            complaints.push(format!(
                "seed {seed}: a run shows a deadlock at {lines:?}, which is no candidate: {}\n{}",
                said.summary(),
                written.source
            ));
        }
    }
    let taken_again: BTreeSet<(String, String, u32)> =
        exhaustion.shown.iter().filter(|shown| shown.bug.rule == Rule::DoubleLock).flat_map(|shown| shown.bug.key().2).collect();
    let raised: Lines = said.self_waits().iter().map(|wait| wait.line()).collect();
    let open: BTreeSet<u32> =
        said.result.limits.iter().filter_map(|limit| program.place_of(limit.site()?)).map(|place| place.line).collect();
    for line in taken_again.iter().filter(|line| !raised.contains(line) && !open.contains(&line.2)) {
        complaints.push(format!("seed {seed}: {line:?} takes what is held: {}\n{}", said.summary(), written.source));
    }
    let is_shown = |candidate: &&Lines| shown.iter().any(|lines| candidate.is_subset(lines));
    let is_complete = exhaustion.is_complete;
    let is_in_order = said.result.refuted.iter().any(|group| group.reason == Reason::LockOrder);
    Compared {
        is_in_order,
        features: written.features,
        is_complete,
        deadlocks: shown.len(),
        candidates: if is_complete { candidates.len() } else { 0 },
        spurious: if is_complete { candidates.iter().filter(|candidate| !is_shown(candidate)).count() } else { 0 },
        self_waits: taken_again.len(),
        is_proved: candidates.is_empty() && raised.is_empty() && said.result.limits.is_empty(),
        complaints,
    }
}

fn seeds() -> Vec<u64> {
    let seeds = std::env::var("DEADLOCK_TWIN_SEEDS").unwrap_or_else(|_| "0..200".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    (from.parse().expect("a number")..to.parse().expect("a number")).collect()
}

#[test]
fn no_deadlock_is_dismissed() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| compare(*seed, program(*seed), directory.path(), &models));
    let count = |holds: &dyn Fn(&Compared) -> bool| programs.iter().filter(|program| holds(program)).count();
    let sum = |number: &dyn Fn(&Compared) -> usize| programs.iter().map(number).sum::<usize>();
    println!(
        "{} programs, {} explored whole, {} with a deadlock, {} proved to have none; {} candidates, {} of them spurious",
        programs.len(),
        count(&|program| program.is_complete),
        count(&|program| program.deadlocks > 0),
        count(&|program| program.is_proved),
        sum(&|program| program.candidates),
        sum(&|program| program.spurious)
    );
    let mut features: BTreeMap<&str, usize> = FEATURES.into_iter().map(|feature| (feature, 0)).collect();
    programs.iter().flat_map(|program| &program.features).for_each(|feature| *features.entry(feature).or_default() += 1);
    println!("  features: {features:?}");
    let wrong: Vec<&String> = programs.iter().flat_map(|program| &program.complaints).collect();
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong[0]);
    assert!(programs.len() < 200 || features.values().all(|uses| *uses > 0), "no program has some of {features:?}");
    assert!(count(&|program| program.is_complete) * 5 >= programs.len(), "too many programs are too large");
    assert!(count(&|program| program.deadlocks > 0) * 10 >= programs.len(), "too few programs have a deadlock");
    assert!(count(&|program| program.is_proved) * 5 >= programs.len(), "too few programs are proved to have none");
}

#[test]
fn nobody_who_waits_for_itself_is_missed() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| compare(*seed, program_that_takes_again(*seed), directory.path(), &models));
    let count = |holds: &dyn Fn(&Compared) -> bool| programs.iter().filter(|program| holds(program)).count();
    let (own, others) = (count(&|program| program.self_waits > 0), count(&|program| program.deadlocks > 0));
    let proved = count(&|program| program.is_proved);
    println!("{} programs, {own} with a thread that waits for itself, {others} with a cycle, {proved} proved", programs.len());
    let wrong: Vec<&String> = programs.iter().flat_map(|program| &program.complaints).collect();
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong[0]);
    assert!(own * 10 >= programs.len(), "too few programs have one");
    assert!(proved * 20 >= programs.len(), "too few programs are proved to have none");
}

/// Programs of one generator, and the forms that it has.
fn none_is_dismissed_by_an_order(generate: impl Fn(u64) -> Elements + Sync, all_forms: &[&str]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds(), |seed| {
        let Elements { source, forms } = generate(*seed);
        compare(*seed, Generated { source, features: forms }, directory.path(), &models)
    });
    let count = |holds: &dyn Fn(&Compared) -> bool| programs.iter().filter(|program| holds(program)).count();
    let (deadlocks, in_order) = (count(&|program| program.deadlocks > 0), count(&|program| program.is_in_order));
    println!("{} programs, {deadlocks} with a deadlock, {in_order} with a cycle that an order dismisses", programs.len());
    let wrong: Vec<&String> = programs.iter().flat_map(|program| &program.complaints).collect();
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong[0]);
    let forms: BTreeSet<&str> = programs.iter().flat_map(|program| program.features.iter().copied()).collect();
    assert!(programs.len() < 200 || forms.len() == all_forms.len(), "{forms:?}");
    assert!(programs.len() < 200 || deadlocks >= 20 && in_order >= 20, "{deadlocks} deadlocks, {in_order} in order");
}

#[test]
fn no_deadlock_is_dismissed_by_the_order_of_addresses() {
    none_is_dismissed_by_an_order(elements::program, &elements::FORMS);
}

#[test]
fn no_deadlock_is_dismissed_by_the_order_of_keys() {
    none_is_dismissed_by_an_order(accounts::program, &accounts::FORMS);
}
