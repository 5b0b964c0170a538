//! Accesses and freshness against runs: what the machine touches at a site is among the accesses of the site, and what races on some
//! schedule was not called fresh.

#![cfg(feature = "llvm")]

#[path = "concurrent_generator/mod.rs"]
#[allow(dead_code)]
mod concurrent_generator;
#[path = "values/objects.rs"]
mod objects;
mod stacks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockcheck::explore::happens_before::race::{Race, RaceEnd, Role};
use lockcheck::explore::machine::{Event, EventKind, Machine, Observer, RunOptions};
use lockcheck::explore::memory::ObjectKind;
use lockcheck::explore::run::{Limits, run};
use lockcheck::explore::scheduler::Random;
use lockcheck::explore::value::{ObjectId, Pointer};
use lockcheck::facts::{
    AbstractObjectId, Accesses, Action, CallGraph, Fresh, Freshness, Manner, MemoryAccess, PointsTo, Position,
};
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::{Operation, Program, SiteId};
use objects::Objects;
use rustc_hash::FxHashSet;

const STEPS: u64 = 200_000;
const SCHEDULES: u64 = 12;

struct Facts {
    points_to: PointsTo,
    calls: CallGraph,
    accesses: Accesses,
    freshness: Freshness,
}

impl Facts {
    fn of(program: &Program, models: &Models) -> Facts {
        let bound = models.bind(program);
        let points_to = PointsTo::of(program, &bound);
        let calls = CallGraph::of(&points_to);
        let accesses = Accesses::of(program, &bound, &points_to);
        let freshness = Freshness::of(program, &bound, &points_to, &calls, &accesses);
        Facts { points_to, calls, accesses, freshness }
    }
}

struct Covered<'p> {
    objects: Objects<'p>,
    facts: &'p Facts,
    complaints: BTreeSet<String>,
    checked: usize,
    /// What was compared before.
    seen: FxHashSet<(SiteId, ObjectId, u64, u64, bool, bool)>,
}

/// The position of an access, its number there, and the object it touches.
type Touch = (Position, usize, AbstractObjectId);

impl Covered<'_> {
    /// The accesses of a site that may be this one: their position, their number there, and the object they touch.
    fn candidates(
        &self,
        machine: &Machine<'_>,
        site: SiteId,
        address: (ObjectId, u64, u64),
        fits: &dyn Fn(&MemoryAccess) -> bool,
    ) -> Option<Vec<Touch>> {
        let (object, offset, size) = address;
        let names = self.objects.names(machine, object)?;
        let program = self.objects.program;
        let mut found = Vec::new();
        for at in self.objects.positions.get(&site).into_iter().flatten() {
            for (number, access) in self.facts.accesses.at(at.function, at.block, at.index).iter().enumerate() {
                if fits(access) {
                    let mut places = access.locations(&self.facts.points_to, &self.facts.calls, &program.layout, at.function);
                    places.retain(|place| self.objects.contains(&names, (offset, size), *place, access.size));
                    found.extend(places.into_iter().map(|place| (*at, number, place.object)));
                }
            }
        }
        Some(found)
    }

    fn access(&mut self, machine: &Machine<'_>, site: SiteId, address: Pointer, size: u64, is_write: bool, is_atomic: bool) {
        let Some(object) = address.object.or_else(|| machine.memory.pointer_to(address.address).object) else { return };
        let made_here = match machine.memory.object(object).kind {
            // What a library function has just made; copies of arguments.
            ObjectKind::Heap { site: Some(made), .. } | ObjectKind::Stack { site: made, .. } => {
                let is_made_here = made == site && self.objects.operations(site).any(|one| matches!(one, Operation::Call { .. }));
                // A structure on its way into a list of arguments.
                let is_passed = self.objects.operations(made).any(|one| matches!(one, Operation::Call { .. }));
                is_made_here
                    || is_passed && self.objects.operations(site).any(|one| matches!(one, Operation::VariadicStart { .. }))
            }
            _ => false,
        };
        let offset = address.address - machine.memory.object(object).base;
        if made_here || size == 0 || !self.seen.insert((site, object, offset, size, is_write, is_atomic)) {
            return;
        }
        let fits = |access: &MemoryAccess| {
            let direction = match access.action {
                Action::Read => !is_write,
                Action::Write | Action::Destroy => is_write,
                Action::Update => true,
                Action::End => false,
            };
            direction && is_atomic == matches!(access.manner, Manner::Atomic(_))
        };
        let Some(found) = self.candidates(machine, site, (object, offset, size), &fits) else { return };
        self.checked += 1;
        if found.is_empty() {
            let place = self.objects.program.place_of(site).map_or(String::new(), |place| place.to_string());
            let operations: Vec<String> = self.objects.operations(site).map(|one| format!("{one:?}")).collect();
            let (what, kind) = (if is_write { "writes" } else { "reads" }, machine.memory.object(object).kind);
            self.complaints.insert(format!("{place} {what} {size} bytes at {offset} of {kind:?}: {}", operations.join(" / ")));
        }
    }

    fn of_end(&self, machine: &Machine<'_>, race: &Race, end: &RaceEnd) -> Option<Vec<Touch>> {
        let fits = |access: &MemoryAccess| match end.role {
            Role::Read => access.action == Action::Read && !access.is_atomic(),
            Role::Write => access.action.writes() && access.action != Action::End && !access.is_atomic(),
            Role::AtomicRead => access.is_atomic() && matches!(access.action, Action::Read | Action::Update),
            Role::AtomicWrite => access.is_atomic() && access.action.writes(),
            Role::End => access.action == Action::End,
        };
        self.candidates(machine, end.site?, (race.object, race.offset, race.size), &fits)
    }

    /// The ends of races are accesses, and none of them is fresh.
    fn races(&mut self, machine: &Machine<'_>, races: &[Race]) {
        let ends = || races.iter().flat_map(|race| [(race, &race.first), (race, &race.second)]);
        let racing: BTreeSet<SiteId> = ends().filter_map(|(_, end)| end.site).collect();
        for (race, end) in ends() {
            let (Some(site), Some(found)) = (end.site, self.of_end(machine, race, end)) else { continue };
            let place = self.objects.program.place_of(site).map_or(String::new(), |place| place.to_string());
            if found.is_empty() {
                self.complaints.insert(format!("{place}: races as {:?}, and is no such access", end.role));
                continue;
            }
            let answer = |(at, number, object): &Touch| self.facts.freshness.at(*at, *number, *object);
            let may_race = |one: &Touch| match answer(one) {
                Fresh::No => true,
                Fresh::Always => false,
                Fresh::Unless(id) => self.facts.freshness.publications(id).iter().any(|at| {
                    let block = &self.objects.program.functions[at.function].blocks[at.block];
                    racing.contains(&block.instructions[at.index].site)
                }),
            };
            if !found.iter().any(may_race) {
                let answers: Vec<Fresh> = found.iter().map(answer).collect();
                self.complaints.insert(format!("{place}: races as {:?}, and is fresh: {answers:?}", end.role));
            }
        }
    }
}

impl Observer for Covered<'_> {
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        self.objects.follow(machine, event);
        let Some(site) = event.site else { return };
        match event.kind {
            EventKind::Read { address, size, ordering, .. } => {
                self.access(machine, site, address, size, false, ordering.is_some())
            }
            EventKind::Write { address, size, ordering, .. } => {
                self.access(machine, site, address, size, true, ordering.is_some())
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Totals {
    complaints: BTreeSet<String>,
    checked: usize,
    races: usize,
    fresh: (usize, usize),
    accesses: usize,
}

fn check(name: &str, program: &Program, models: &Models, totals: &Mutex<Totals>) {
    let bound = models.bind(program);
    let facts = Facts::of(program, models);
    let (mut complaints, mut checked, mut races) = (BTreeSet::new(), 0, 0);
    for seed in 0..SCHEDULES {
        let mut machine = Machine::new(program, &bound, RunOptions::default()).expect("the program has a main");
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let objects = Objects::new(program, &facts.points_to);
        let mut observer =
            Covered { objects, facts: &facts, complaints: BTreeSet::new(), checked: 0, seen: FxHashSet::default() };
        let report = run(&mut machine, &mut Random::new(seed), &limits, &mut observer);
        observer.races(&machine, &report.races);
        races += report.races.len();
        checked += observer.checked;
        complaints.extend(observer.complaints.into_iter().map(|complaint| format!("{name}: {complaint}")));
        if machine.threads().count() == 1 {
            break;
        }
    }
    let mut totals = totals.lock().expect("no worker panics while it adds");
    let (always, unless) = facts.freshness.counts();
    totals.complaints.extend(complaints);
    totals.checked += checked;
    totals.races += races;
    totals.accesses += facts.accesses.len();
    totals.fresh = (totals.fresh.0 + always, totals.fresh.1 + unless);
}

fn check_all(programs: &[(String, PathBuf)]) -> Totals {
    let models = Models::embedded();
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, file)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let loaded = load(std::slice::from_ref(file), &LoadOptions::default());
                    check(name, &loaded.unwrap_or_else(|error| panic!("{name}: {error}")), &models, &totals);
                }
            });
        }
    });
    let totals = totals.into_inner().expect("all workers are done");
    println!(
        "{} programs: {} accesses of runs compared, {} races; {} static accesses, {} always fresh, {} unless a publication races",
        programs.len(),
        totals.checked,
        totals.races,
        totals.accesses,
        totals.fresh.0,
        totals.fresh.1
    );
    totals
}

fn assert_covered(totals: &Totals) {
    let shown: Vec<&str> = totals.complaints.iter().map(String::as_str).collect();
    assert!(shown.is_empty(), "{} complaints:\n{}", shown.len(), shown.join("\n"));
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
fn what_examples_touch_is_known_and_what_races_is_not_fresh() {
    let mut programs = sources_below("c-examples");
    programs.extend(sources_below("tests/machine_programs"));
    programs.extend(sources_below("tests/values"));
    let totals = check_all(&programs);
    assert_covered(&totals);
    assert!(totals.checked > 10_000 && totals.races > 50, "the runs show too little");
    assert!(totals.fresh.0 > 100 && totals.fresh.1 > 10, "too little is fresh: {:?}", totals.fresh);
}

/// `ACCESSES_SEEDS=from..to` takes other programs than the first sixty.
#[test]
fn what_generated_programs_touch_is_known_and_what_races_is_not_fresh() {
    let seeds = std::env::var("ACCESSES_SEEDS").unwrap_or_else(|_| "0..60".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    let (from, to): (u64, u64) = (from.parse().expect("a number"), to.parse().expect("a number"));
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let write = |seed: u64| {
        let path = directory.path().join(format!("seed-{seed}.c"));
        std::fs::write(&path, concurrent_generator::concurrent_program(seed).source).expect("the file can be written");
        (format!("seed {seed}"), path)
    };
    let totals = check_all(&(from..to).map(write).collect::<Vec<_>>());
    assert_covered(&totals);
    assert!(totals.checked > 5_000 && totals.races > 20, "the runs show too little");
}
