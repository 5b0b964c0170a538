//! The lowering and the product check each other: on small random models all executions of the lowered program show the same as the
//! product of the model.
//!
//! # Compared
//! - Accesses of two threads that are ever side by side: the machine's meetings are the product's races.
//! - The states that no thread can leave, step by step where each thread stands, and whether they contain a cycle.
//! - Locks used against their rules.
//! - Where nothing but locks and threads orders accesses, the vector clocks' races are the same pairs.

use std::collections::BTreeSet;

use lockcheck::engines::product::{Bounds, Misuse, Product};
use lockcheck::explore::exhaustive::{self, Exhaustion, Origin, PairState, estimated_executions};
use lockcheck::explore::machine::{End, Machine, RunOptions};
use lockcheck::explore::sync::{BlockReason, ThreadId};
use lockcheck::findings::Rule;
use lockcheck::models::Models;
use lockcheck::program::validate::validate;
use lockcheck::program::{SiteId, text};
use lockcheck::thread_model::lower::{Lowered, lower};
use lockcheck::thread_model::{StepKind, ThreadModel};

use super::generator::{Shape, model};
use super::random_models::parse;

const SMALL: Shape = Shape {
    most_threads: 3,
    most_locks: 3,
    most_steps: 4,
    has_recursion: false,
    has_attempts: true,
    has_spawn: true,
    has_loops: false,
    has_data: true,
    has_foreign_releases: true,
    has_holds: false,
    has_crossings: false,
};

const BOUNDS: Bounds = Bounds { states: 20_000, stack: 8, threads: 6 };
const LENGTH: u64 = 150;
const EXECUTIONS: u64 = 4_000;

/// A step of a procedure; its number of steps stands for the end.
type StepPlace = (usize, usize);

/// What all executions of a program have shown.
struct Seen {
    exhaustion: Exhaustion,
    stuck: BTreeSet<Vec<Option<StepPlace>>>,
    has_cycle: bool,
}

fn place_of(lowered: &Lowered, site: SiteId) -> Option<StepPlace> {
    lowered
        .sites
        .iter()
        .enumerate()
        .find_map(|(procedure, sites)| sites.iter().position(|known| *known == site).map(|step| (procedure, step)))
}

fn has_cycle(machine: &Machine<'_>, waiting: &[(ThreadId, BlockReason)]) -> bool {
    let successors = |thread: ThreadId| -> Vec<ThreadId> {
        let reason = waiting.iter().find(|(other, _)| *other == thread).map(|(_, reason)| reason);
        reason.map(|reason| machine.sync.waits_for(thread, reason)).unwrap_or_default()
    };
    waiting.iter().any(|(start, _)| {
        let mut seen: Vec<ThreadId> = successors(*start).into_iter().filter(|next| next != start).collect();
        let mut next = 0;
        while let Some(&thread) = seen.get(next) {
            next += 1;
            let more: Vec<ThreadId> = successors(thread).into_iter().filter(|thread| !seen.contains(thread)).collect();
            seen.extend(more);
        }
        seen.contains(start)
    })
}

fn run(model: &ThreadModel, lowered: &Lowered, models: &Models) -> Option<Seen> {
    let machine =
        Machine::new(&lowered.program, &models.bind(&lowered.program), RunOptions::default()).expect("the program can be run");
    if estimated_executions(&machine, 10, LENGTH, 1) > 0.7 * EXECUTIONS as f64 {
        return None;
    }
    let mut stuck = BTreeSet::new();
    let mut cycle = false;
    // With several threads at the start, `main` only creates them.
    let skipped = usize::from(model.start().count() > 1);
    let bounds = exhaustive::Bounds { executions: EXECUTIONS, transitions: 30 * EXECUTIONS, length: LENGTH, deadline: None };
    let exhaustion = exhaustive::explore(&machine, &bounds, &mut |execution| {
        let Some(End::Stuck(waiting)) = execution.machine.end() else { return };
        cycle |= has_cycle(execution.machine, waiting);
        let threads = execution.machine.threads().skip(skipped);
        let standing = threads.map(|thread| {
            let is_waiting = waiting.iter().any(|(other, _)| *other == thread.id);
            let site = execution.machine.next_operation(thread.id).and_then(|operation| operation.site);
            is_waiting.then(|| place_of(lowered, site.expect("a waiting thread stands at a site")).expect("a step of the model"))
        });
        stuck.insert(standing.collect());
    });
    exhaustion.is_complete.then_some(Seen { exhaustion, stuck, has_cycle: cycle })
}

fn disagreements(model: &ThreadModel, lowered: &Lowered, seen: &Seen, product: &mut Product<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut differ = |what: &str, machine: String, product: String| {
        if machine != product {
            complaints.push(format!("{what}: executions show {machine}, the product {product}"));
        }
    };
    let racing_steps = |pair: &exhaustive::Pair| {
        let Origin::Global(global) = pair.object else { return None };
        let variable = lowered.variables.iter().position(|known| *known == global)?;
        let place = |site: Option<SiteId>| place_of(lowered, site?);
        let (one, other) = (place(pair.sites.0)?, place(pair.sites.1)?);
        Some((one.min(other), one.max(other), variable))
    };
    let steps = || model.procedures.iter().flat_map(|procedure| &procedure.steps);
    let has_data = steps().any(|step| matches!(step.kind, StepKind::Assume { .. }));
    let has_attempts = steps().any(|step| matches!(step.kind, StepKind::Try { .. }));
    let met: BTreeSet<_> = seen.exhaustion.met.iter().filter_map(racing_steps).collect();
    let races: BTreeSet<_> = product.races().collect();
    differ("side by side", format!("{met:?}"), format!("{races:?}"));
    if !has_data && !has_attempts && !product.has_foreign_release() {
        let racing = seen.exhaustion.pairs.iter().filter(|(_, state)| **state == PairState::Racing);
        let racing: BTreeSet<_> = racing.filter_map(|(pair, _)| racing_steps(pair)).collect();
        differ("races", format!("{racing:?}"), format!("{races:?}"));
    }
    // A thread before a condition that does not hold: executions that come there are rejected and show no end.
    let is_rejected = |place: &StepPlace| {
        matches!(model.procedures[place.0].steps.get(place.1).map(|step| &step.kind), Some(StepKind::Assume { .. }))
    };
    let stuck: BTreeSet<Vec<Option<StepPlace>>> =
        product.stuck().into_iter().map(|threads| threads.into_iter().map(|(_, place)| place).collect()).collect();
    let stuck: BTreeSet<_> = stuck.into_iter().filter(|threads| !threads.iter().flatten().any(is_rejected)).collect();
    differ("stuck states", format!("{:?}", seen.stuck), format!("{stuck:?}"));
    let has_deadlock = product.deadlock().truth().expect("small models are explored whole");
    if !has_data || seen.has_cycle {
        differ("deadlock", seen.has_cycle.to_string(), has_deadlock.to_string());
    }
    let shows = |rule: Rule| seen.exhaustion.shown.iter().any(|shown| shown.bug.rule == rule);
    if !has_data {
        for (rule, is_it) in [
            (Rule::DoubleLock, (|misuse| matches!(misuse, Misuse::DoubleLock(..))) as fn(&Misuse) -> bool),
            (Rule::UnlockNotHeld, |misuse| matches!(misuse, Misuse::UnlockNotHeld(..))),
            (Rule::LockLeak, |misuse| matches!(misuse, Misuse::LockLeak(_))),
        ] {
            differ(rule.name(), shows(rule).to_string(), product.misuses().iter().any(is_it).to_string());
        }
    }
    complaints
}

/// What came of the models.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    executions: u64,
    with_race: usize,
    with_deadlock: usize,
    with_stuck: usize,
    with_spawn: usize,
    with_attempt: usize,
}

#[test]
fn all_executions_of_the_lowered_program_show_what_the_product_shows() {
    const SEEDS: u64 = 900;
    const FEWEST: usize = 300;
    let models = Models::embedded();
    let mut tally = Tally::default();
    let mut complaints = Vec::new();
    for seed in 0..SEEDS {
        let written = model(seed, &SMALL);
        let model = parse(&written, seed);
        let lowered = lower(&model, "random.model.yaml");
        validate(&lowered.program).unwrap_or_else(|violations| panic!("seed {seed}: {violations}\n{written}"));
        let Some(seen) = run(&model, &lowered, &models) else { continue };
        let mut product = Product::explore(&model, &BOUNDS);
        assert!(product.limits().is_empty(), "seed {seed}: a small model does not fit the bounds");
        tally.compared += 1;
        tally.executions += seen.exhaustion.executions;
        tally.with_race += usize::from(product.races().next().is_some());
        tally.with_deadlock += usize::from(seen.has_cycle);
        tally.with_stuck += usize::from(!seen.stuck.is_empty());
        tally.with_spawn += usize::from(written.contains("spawn"));
        tally.with_attempt += usize::from(written.contains("try"));
        assert!(seen.exhaustion.assumptions.is_empty(), "seed {seed}: {:?}", seen.exhaustion.assumptions);
        complaints.extend(
            disagreements(&model, &lowered, &seen, &mut product)
                .into_iter()
                .map(|complaint| format!("seed {seed}: {complaint}\n{written}")),
        );
    }
    println!("{tally:?}");
    assert!(complaints.is_empty(), "{} disagreements\n{}", complaints.len(), complaints[..complaints.len().min(3)].join("\n"));
    assert!(
        tally.compared >= FEWEST && tally.with_race >= 50 && tally.with_deadlock >= 10 && tally.with_spawn >= 50,
        "too few were compared: {tally:?}"
    );
}

#[test]
fn the_examples_lower_to_programs_that_run() {
    let models = Models::embedded();
    let mut compared = 0;
    for file in super::examples::files() {
        let model = super::examples::read(&file);
        let lowered = lower(&model, "example.model.yaml");
        let printed = text::print(&lowered.program);
        let read =
            text::parse(&printed).unwrap_or_else(|error| panic!("{}: line {}: {}", file.display(), error.line, error.reason));
        assert_eq!(read, lowered.program, "{}: text and program determine each other", file.display());
        if super::examples::is_recursive(&model) {
            continue;
        }
        let Some(seen) = run(&model, &lowered, &models) else { continue };
        let mut product = Product::explore(&model, &BOUNDS);
        let complaints = disagreements(&model, &lowered, &seen, &mut product);
        assert!(complaints.is_empty(), "{}: {}", file.display(), complaints.join("\n"));
        compared += 1;
    }
    println!("{compared} examples compared");
    assert!(compared >= 15, "only {compared} examples are small enough");
}
