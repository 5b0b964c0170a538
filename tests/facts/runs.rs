//! Facts against runs of examples and generated programs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::contained::{self, Checked, Contained};
use super::generator;
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::explore::run::{Limits, run};
use lockcheck::explore::scheduler::Random;
use lockcheck::facts::{AbstractObjectKind, CallGraph, PointsTo};
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::{BoundModels, Models};
use lockcheck::program::Program;

/// Instructions after which a run is cut: what it has shown until then counts.
const STEPS: u64 = 3_000_000;
/// Schedules of each program with threads.
const SCHEDULES: u64 = 3;

/// What all programs came to.
#[derive(Default)]
struct Totals {
    complaints: Vec<String>,
    checked: Checked,
    programs: usize,
    /// Comparisons that are not made when pointers are crowds and hordes.
    excused: [usize; 2],
    set_sizes: Vec<usize>,
    registers_to_unknown: usize,
    indirect_calls: usize,
    indirect_callees: usize,
}

impl Totals {
    fn compares_enough(&self) {
        let [crowds, hordes] = self.excused;
        let is_enough = crowds * 10 < self.programs && hordes * 2 < self.programs;
        assert!(is_enough, "of {} programs {crowds} are not compared with crowds, {hordes} not with hordes", self.programs);
    }
}

/// What runs show, against the sets, and against those that are found when every pointer is a crowd, and when pointers to more than one place are hordes.
fn check(name: &str, program: &Program, models: &Models, totals: &Mutex<Totals>) {
    let bound = models.bind(program);
    let mixed = [("crowds", usize::MAX), ("hordes", 1)].map(|(kind, horde)| {
        let found = PointsTo::of_crowds(program, &bound, 0, horde);
        (kind, found.misses_computed_addresses(), follow(name, program, &bound, &found).0)
    });
    let points_to = PointsTo::of(program, &bound);
    let (mut complaints, checked) = follow(name, program, &bound, &points_to);
    let graph = CallGraph::of(&points_to);
    let mut totals = totals.lock().expect("no worker panics while it adds");
    for (number, (kind, misses_computed_addresses, mixed)) in mixed.into_iter().enumerate() {
        // They leave more residues, and of many the tool says that it does not follow them.
        if misses_computed_addresses && !points_to.misses_computed_addresses() {
            totals.excused[number] += 1;
        } else {
            complaints.extend(mixed.into_iter().map(|complaint| format!("with {kind}, {complaint}")));
        }
    }
    for (id, function) in program.functions.iter_enumerated() {
        if points_to.is_reachable(id) && !graph.reachable().contains(&id) {
            complaints.push(format!("{name}: {} is looked at, but not reachable", function.name));
        }
    }
    let (calls, callees) = contained::indirect_calls(program, &points_to);
    totals.indirect_calls += calls;
    totals.indirect_callees += callees;
    totals.registers_to_unknown += contained::registers_to(program, &points_to, &AbstractObjectKind::Unknown);
    totals.complaints.extend(complaints);
    totals.checked.add(&checked);
    totals.programs += 1;
    totals.set_sizes.extend(points_to.set_sizes(program));
}

/// What runs show and the facts do not say, and how much was looked at.
fn follow(name: &str, program: &Program, bound: &BoundModels<'_>, points_to: &PointsTo) -> (Vec<String>, Checked) {
    let mut complaints = Vec::new();
    let mut checked = Checked::default();
    for seed in 0..SCHEDULES {
        let mut machine = Machine::new(program, bound, RunOptions::default()).expect("the program has a main");
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let mut observer = Contained::new(program, bound, points_to);
        run(&mut machine, &mut Random::new(seed), &limits, &mut observer);
        checked.add(&observer.checked);
        complaints.extend(observer.complaints.into_iter().map(|complaint| format!("{name}: {complaint}")));
        if machine.threads().count() == 1 {
            break;
        }
    }
    (complaints, checked)
}

fn check_all(programs: &[(String, PathBuf)]) -> Totals {
    let models = Models::embedded();
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, file)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let program = load(std::slice::from_ref(file), &LoadOptions::default())
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    check(name, &program, &models, &totals);
                }
            });
        }
    });
    let mut totals = totals.into_inner().expect("all workers are done");
    totals.complaints.sort();
    let average = totals.set_sizes.iter().sum::<usize>() as f64 / totals.set_sizes.len().max(1) as f64;
    println!(
        "{} programs; {}; {} registers that point: {average:.2} locations on average, {} at most, {} to unknown; {} indirect calls, {} callees",
        totals.programs,
        totals.checked,
        totals.set_sizes.len(),
        totals.set_sizes.iter().max().unwrap_or(&0),
        totals.registers_to_unknown,
        totals.indirect_calls,
        totals.indirect_callees
    );
    totals
}

fn sources_below(directory: &str) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let (mut files, mut open) = (Vec::new(), vec![root.clone()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("the directory can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() && !path.join("Makefile").exists() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "c") {
                files.push((path.strip_prefix(&root).expect("a file below").display().to_string(), path));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn what_examples_do_is_contained_in_what_is_known_of_them() {
    let mut programs = sources_below("c-examples");
    programs.extend(sources_below("tests/machine_programs"));
    programs.extend(sources_below("tests/facts"));
    let totals = check_all(&programs);
    assert!(totals.complaints.is_empty(), "{} complaints:\n{}", totals.complaints.len(), totals.complaints.join("\n"));
    let Checked { accesses, calls, foreign, .. } = totals.checked;
    assert!(accesses > 10_000 && calls > 1_000 && foreign > 100, "the runs show too little: {}", totals.checked);
    totals.compares_enough();
}

/// `FACTS_SEEDS=from..to` takes other programs than the first hundred.
#[test]
fn what_generated_programs_do_is_contained_in_what_is_known_of_them() {
    let seeds = std::env::var("FACTS_SEEDS").unwrap_or_else(|_| "0..100".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    let (from, to): (u64, u64) = (from.parse().expect("a number"), to.parse().expect("a number"));
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let write = |seed: u64| {
        let path = directory.path().join(format!("seed-{seed}.c"));
        std::fs::write(&path, generator::sequential_program(seed).source).expect("the file can be written");
        (format!("seed {seed}"), path)
    };
    let totals = check_all(&(from..to).map(write).collect::<Vec<_>>());
    assert!(totals.complaints.is_empty(), "{} complaints:\n{}", totals.complaints.len(), totals.complaints.join("\n"));
    assert!(totals.checked.pointers > 10_000, "the runs show too little: {}", totals.checked);
    totals.compares_enough();
}
