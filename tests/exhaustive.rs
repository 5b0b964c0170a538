//! All executions of small programs: what they show is what the examples claim, and what a random campaign finds is among it.
#![cfg(feature = "llvm")]

mod claims;
#[allow(dead_code)]
mod concurrent_generator;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use claims::{Engine, Expectations, Seen};
use lockcheck::explore::bugs::Key;
use lockcheck::explore::campaign::{Aim, AimedEffort, Campaign, Effort, is_shown_again, random};
use lockcheck::explore::exhaustive::{Bounds, Exhaustion, PairState, estimated_executions, explore};
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::explore::scheduler::Target;
use lockcheck::findings::{End, Rule};
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::Program;

/// Instructions after which a replayed run is taken to hang.
const STEPS: u64 = 1_000_000;

/// Does `work` for all items on all cores; the results are in the order of the items.
fn for_all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    results.lock().expect("no worker panics while it adds").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("all workers are done");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn load_c(file: &Path, flags: &[String]) -> Program {
    let clang_args = ["-std=gnu11".to_owned(), "-w".to_owned()].into_iter().chain(flags.iter().cloned()).collect();
    load(&[file.to_path_buf()], &LoadOptions { clang_args, ..LoadOptions::default() })
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn machine<'p>(program: &'p Program, models: &Models) -> Machine<'p> {
    Machine::new(program, &models.bind(program), RunOptions::default()).expect("the program can be run")
}

/// The schedules that do not show their bug again.
fn not_shown_again(machine: &Machine<'_>, exhaustion: &Exhaustion) -> Vec<String> {
    let lost = exhaustion.shown.iter().filter(|shown| !is_shown_again(machine, shown, STEPS));
    lost.map(|shown| format!("the schedule {} does not show {} again", shown.schedule, shown.bug.message)).collect()
}

/// Accesses that were seen side by side race, whatever orders the clocks know.
fn unreported_meetings(exhaustion: &Exhaustion) -> Option<String> {
    let unreported = exhaustion.met.iter().find(|pair| exhaustion.pairs.get(pair) != Some(&PairState::Racing));
    unreported.map(|pair| format!("two accesses stand side by side and are no race: {pair:?}"))
}

fn examples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("c-examples can be listed") {
            let path = entry.expect("an entry can be read").path();
            match path.extension() {
                _ if path.is_dir() && !path.join("Makefile").exists() => directories.push(path),
                Some(extension) if extension == "c" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn expectations(file: &Path) -> Expectations {
    let source = std::fs::read_to_string(file).expect("an example can be read");
    let is_limit = file.components().any(|component| component.as_os_str() == "limits");
    claims::parse(&source, is_limit).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What the executions of an example show, as far as its claims speak of it.
fn seen(exhaustion: &Exhaustion, expectations: &Expectations) -> Vec<Seen> {
    let is_asked_for = |check: &str| expectations.checks.is_empty() || expectations.checks.iter().any(|asked| asked == check);
    let asked_for = exhaustion.shown.iter().filter(|shown| is_asked_for(shown.bug.rule.check().name()));
    let line = |end: &End| end.place.as_ref().map_or(0, |place| place.line);
    let seen = asked_for.map(|shown| Seen {
        kind: shown.bug.rule.annotation().to_owned(),
        lines: shown.bug.ends.iter().map(line).collect(),
        is_confirmed: shown.assumptions.is_empty(),
        ends: shown.bug.ends.iter().map(|end| (line(end), end.role.name().to_owned(), end.object.clone())).collect(),
    });
    seen.collect()
}

/// Transitions after which an execution is taken to have no end.
const LENGTH: u64 = 300;

/// A program with more executions, as far as one can guess, is not explored whole.
const LARGE: f64 = 6_000.0;

/// Enough for a small program; a large one is looked into, because what it shows must be right even so.
fn bounds(machine: &Machine<'_>) -> Bounds {
    let is_small = estimated_executions(machine, 20, LENGTH, 1) < LARGE;
    let executions = if is_small { 10_000 } else { 100 };
    Bounds { executions, transitions: 20 * executions, length: LENGTH, deadline: None }
}

/// What came of one example.
struct Compared {
    name: String,
    is_complete: bool,
    executions: u64,
    complaints: Vec<String>,
}

fn compare(file: &Path) -> Compared {
    let expectations = expectations(file);
    let program = load_c(file, &expectations.flags);
    let machine = machine(&program, &Models::embedded());
    let exhaustion = explore(&machine, &bounds(&machine), &mut |_| {});
    // What was cut off may show less than is claimed, never more.
    let level = if exhaustion.is_complete { Engine::Execution } else { Engine::None };
    let engine =
        |kind: &str| if kind == "unserializable" || kind == "livelock" || kind == "property" { Engine::None } else { level };
    let mut complaints = claims::disagreements(&expectations, &seen(&exhaustion, &expectations), engine);
    complaints.extend(not_shown_again(&machine, &exhaustion));
    complaints.extend(unreported_meetings(&exhaustion));
    let name = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display().to_string();
    Compared { name, is_complete: exhaustion.is_complete, executions: exhaustion.executions, complaints }
}

#[test]
fn all_executions_of_an_example_show_what_it_claims() {
    const FEWEST_PAIRS: usize = 40;
    let compared = for_all(&examples(), |file| compare(file));
    let complete: BTreeSet<&str> = compared.iter().filter(|one| one.is_complete).map(|one| one.name.as_str()).collect();
    let has_twin =
        |name: &&&str| name.strip_suffix("-bad.c").is_some_and(|stem| complete.contains(format!("{stem}-good.c").as_str()));
    let pairs = complete.iter().filter(has_twin).count();
    for one in &compared {
        println!("{:60} {:8} executions{}", one.name, one.executions, if one.is_complete { "" } else { ", not all" });
    }
    println!("{} of {} examples explored whole, {pairs} pairs", complete.len(), compared.len());
    let complaints: Vec<String> =
        compared.iter().flat_map(|one| one.complaints.iter().map(|complaint| format!("{}: {complaint}", one.name))).collect();
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
    assert!(pairs >= FEWEST_PAIRS, "only {pairs} pairs are explored whole");
}

/// What came of one generated program.
struct Generated {
    seed: u64,
    source: String,
    is_careful: bool,
    is_complete: bool,
    executions: u64,
    has_race: bool,
    /// Bugs that all executions show, and how many of them the random schedules missed.
    bugs: usize,
    missed: usize,
    /// Pairs of sites that race in some execution, and those that the schedules aimed at them did not show.
    racing_pairs: usize,
    pairs_not_hit: usize,
    complaints: Vec<String>,
}

/// Aims at every pair of sites that ever touched the same bytes: whether it races, and whether that was shown; and all bugs seen.
fn aimed(machine: &Machine<'_>, exhaustion: &Exhaustion, effort: &Effort) -> (Vec<(PairState, bool)>, BTreeSet<Key>) {
    let pairs: Vec<(Target, PairState)> = exhaustion
        .pairs
        .iter()
        .filter_map(|(pair, state)| Some((Target { sites: [pair.sites.0?, pair.sites.1?] }, *state)))
        .collect();
    let mut aims: Vec<Aim> = pairs.iter().map(|(target, _)| Aim { targets: vec![*target], ..Aim::default() }).collect();
    let mut campaign = Campaign::default();
    campaign.add_aimed(machine, &mut aims, &AimedEffort { schedules: AIMED, effort: *effort }, &mut |_| {});
    let hits = pairs.iter().zip(&aims).map(|((_, state), aim)| (*state, aim.is_shown)).collect();
    (hits, campaign.shown().map(|shown| shown.bug.key()).collect())
}

fn generated(seed: &u64, directory: &Path, models: &Models) -> Generated {
    let written = concurrent_generator::concurrent_program(*seed);
    let file = directory.join(format!("seed-{seed}.c"));
    std::fs::write(&file, &written.source).expect("a program can be written");
    let program = load_c(&file, &[]);
    let machine = machine(&program, models);
    let exhaustion = explore(&machine, &bounds(&machine), &mut |_| {});
    let effort = Effort { schedules: SCHEDULES, steps: 100_000_000, steps_per_run: STEPS, deadline: None, seed: 1, jobs: 1 };
    let by_chance: BTreeSet<Key> = random(&machine, &effort, &mut |_| {}).shown().map(|shown| shown.bug.key()).collect();
    let all = exhaustion.keys();
    let (aims, by_aim) = aimed(&machine, &exhaustion, &effort);
    let is_racing = |pair: &(PairState, bool)| pair.0 == PairState::Racing;
    let mut complaints = not_shown_again(&machine, &exhaustion);
    complaints.extend(unreported_meetings(&exhaustion));
    if exhaustion.is_complete {
        complaints
            .extend(by_chance.difference(&all).map(|key| format!("a random schedule shows what no execution shows: {key:?}")));
        complaints.extend(by_aim.difference(&all).map(|key| format!("an aimed schedule shows what no execution shows: {key:?}")));
    }
    let has_race = all.iter().any(|(rule, ..)| *rule == Rule::DataRace);
    // Where nothing but locks and threads orders accesses, a race can be brought side by side.
    let orders_weakly =
        !exhaustion.weaker_orderings.is_empty() || ["try", "sem_"].iter().any(|word| written.source.contains(word));
    if exhaustion.is_complete && has_race && exhaustion.met.is_empty() && !orders_weakly {
        complaints.push(format!("a race whose accesses are never side by side: {all:?}"));
    }
    if written.is_careful && has_race {
        complaints.push(format!("a careful program races: {all:?}"));
    }
    Generated {
        seed: *seed,
        source: written.source,
        is_careful: written.is_careful,
        is_complete: exhaustion.is_complete,
        executions: exhaustion.executions,
        has_race,
        bugs: all.len(),
        missed: all.difference(&by_chance).count(),
        racing_pairs: aims.iter().filter(|pair| is_racing(pair)).count(),
        pairs_not_hit: aims.iter().filter(|pair| is_racing(pair) && !pair.1).count(),
        complaints,
    }
}

/// How many random schedules a program gets.
const SCHEDULES: u64 = 400;

/// How many schedules are aimed at one pair of sites.
const AIMED: u64 = 20;

/// `EXHAUSTIVE_SEEDS=from..to` tries other programs than the first ones.
#[test]
fn random_schedules_show_nothing_that_all_executions_do_not() {
    let seeds = std::env::var("EXHAUSTIVE_SEEDS").unwrap_or_else(|_| "0..360".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    let seeds: Vec<u64> = (from.parse().expect("a number")..to.parse().expect("a number")).collect();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let models = Models::embedded();
    let programs = for_all(&seeds, |seed| generated(seed, directory.path(), &models));
    let count = |holds: &dyn Fn(&Generated) -> bool| programs.iter().filter(|program| holds(program)).count();
    let (bugs, missed): (usize, usize) =
        (programs.iter().map(|program| program.bugs).sum(), programs.iter().map(|program| program.missed).sum());
    println!(
        "{} programs: {} explored whole, {} with a race, {} with some bug, {} careful; {} executions",
        programs.len(),
        count(&|program| program.is_complete),
        count(&|program| program.has_race),
        count(&|program| program.bugs > 0),
        count(&|program| program.is_careful),
        programs.iter().map(|program| program.executions).sum::<u64>()
    );
    let large: Vec<u64> = programs.iter().filter(|program| !program.is_complete).map(|program| program.seed).collect();
    println!("not explored whole: {large:?}");
    println!("{SCHEDULES} random schedules miss {missed} of {bugs} bugs, {:.1} %", 100.0 * missed as f64 / bugs.max(1) as f64);
    let (pairs, not_hit): (usize, usize) =
        (programs.iter().map(|program| program.racing_pairs).sum(), programs.iter().map(|program| program.pairs_not_hit).sum());
    println!(
        "{AIMED} schedules aimed at each of {pairs} racing pairs miss {not_hit}, {:.1} %",
        100.0 * not_hit as f64 / pairs.max(1) as f64
    );
    assert!(not_hit * 10 <= pairs, "aimed schedules miss {not_hit} of {pairs}");
    let wrong = programs.iter().filter(|program| !program.complaints.is_empty());
    let wrong: Vec<String> =
        wrong.map(|program| format!("seed {}: {}\n{}", program.seed, program.complaints.join("\n"), program.source)).collect();
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong.join("\n"));
    assert!(count(&|program| program.is_complete) * 5 >= programs.len() * 4, "too many programs are too large");
}
