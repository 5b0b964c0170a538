//! The order of threads against runs of the examples and of generated programs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::accesses::threads_of;
use super::generator;
use super::watch::{Compared, Watch};
use super::{load_c, load_text};
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::explore::run::{Limits, run};
use lockcheck::explore::scheduler::Random;
use lockcheck::models::Models;
use lockcheck::program::Program;

/// Instructions after which a run is cut: what it has shown until then counts.
const STEPS: u64 = 100_000;
const SCHEDULES: u64 = 6;

#[derive(Default)]
struct Totals {
    complaints: Vec<String>,
    compared: Compared,
    programs: usize,
    /// The programs in which most ordered pairs are not known to be so.
    unknown: Vec<(usize, String)>,
}

fn check(name: &str, program: &Program, totals: &Mutex<Totals>) {
    let models = Models::embedded();
    let bound = models.bind(program);
    let (threads, calls) = threads_of(program);
    for seed in 0..SCHEDULES {
        let mut machine = Machine::new(program, &bound, RunOptions::default()).expect("the program has a main");
        let mut watch = Watch::new(program, &threads, &calls);
        run(&mut machine, &mut Random::new(seed), &Limits { steps: STEPS, ..Limits::default() }, &mut watch);
        let compared = watch.compare();
        let mut totals = totals.lock().expect("no worker panics while it adds");
        totals.compared.unordered += compared.unordered;
        totals.compared.ordered += compared.ordered;
        totals.compared.known += compared.known;
        totals.unknown.push((compared.ordered - compared.known, name.to_owned()));
        totals.complaints.extend(watch.complaints.into_iter().map(|complaint| format!("{name}, schedule {seed}: {complaint}")));
        if machine.threads().count() == 1 {
            break;
        }
    }
    totals.lock().expect("no worker panics while it adds").programs += 1;
}

fn check_all<T: Sync>(items: &[T], open: impl Fn(&T) -> (String, Program) + Sync) -> Totals {
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (name, program) = open(item);
                    check(&name, &program, &totals);
                }
            });
        }
    });
    let mut totals = totals.into_inner().expect("all workers are done");
    totals.complaints.sort();
    let Compared { unordered, ordered, known } = totals.compared;
    println!(
        "{} programs; {unordered} unordered pairs, all allowed to overlap; {ordered} ordered pairs, {known} known to be",
        totals.programs
    );
    totals.unknown.sort_by(|left, right| right.cmp(left));
    totals.unknown.dedup_by(|left, right| left.1 == right.1);
    println!("least known: {:?}", totals.unknown.iter().take(12).collect::<Vec<_>>());
    totals
}

fn sources_below(directory: &str) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("the directory can be listed") {
            let path = entry.expect("an entry can be read").path();
            match path.extension() {
                _ if path.is_dir() && !path.join("Makefile").exists() => open.push(path),
                Some(extension) if extension == "c" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn what_overlaps_in_runs_of_examples_may_overlap() {
    let mut files = sources_below("c-examples");
    files.extend(sources_below("tests/machine_programs"));
    let totals = check_all(&files, |file| (file.display().to_string(), load_c(file)));
    assert!(totals.complaints.is_empty(), "{} complaints:\n{}", totals.complaints.len(), totals.complaints.join("\n"));
    assert!(totals.compared.unordered > 1_000, "the runs show too little");
    assert!(totals.compared.known * 10 >= totals.compared.ordered * 6, "too few of the ordered pairs are known to be ordered");
}

/// `THREADS_SEEDS=from..to` takes other programs than the first.
#[test]
fn what_overlaps_in_runs_of_generated_programs_may_overlap() {
    let seeds = std::env::var("THREADS_SEEDS").unwrap_or_else(|_| "0..60".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    let seeds: Vec<u64> = (from.parse().expect("a number")..to.parse().expect("a number")).collect();
    let mut covered = std::collections::BTreeMap::<&str, usize>::new();
    for seed in &seeds {
        for shape in generator::program(*seed).covered {
            *covered.entry(shape).or_default() += 1;
        }
    }
    println!("covered: {covered:?}");
    let totals =
        check_all(&seeds, |seed| (format!("seed {seed}"), load_text(&format!("seed-{seed}"), &generator::program(*seed).source)));
    assert!(totals.complaints.is_empty(), "{} complaints:\n{}", totals.complaints.len(), totals.complaints.join("\n"));
    assert!(totals.compared.unordered > 10 * seeds.len(), "the runs show too little");
    assert!(totals.compared.known * 3 >= totals.compared.ordered, "too few of the ordered pairs are known to be ordered");
}
