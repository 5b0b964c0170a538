//! How fast facts and static engines are: on a generated program of about 100,000 instructions, and on one of twice as many functions, beside `opt -O2` on the
//! same bitcode in the same run.
//!
//! Prints: name, instructions, seconds of both, seconds of `opt -O2`, peak memory in MiB. Files given as arguments are measured
//! instead; `FACTS_DETAIL=1` shows what dereferenced addresses point to.

#[path = "facts/generated.rs"]
mod generated;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use lockcheck::engines::race::RaceOptions;
use lockcheck::engines::{self, Results, Wanted};
use lockcheck::facts::{AbstractObjectId, AbstractObjectKind, Facts, Offset, PointsTo};
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::{BoundModels, Models};
use lockcheck::program::{Operation, Program};

fn tool(name: &str) -> Command {
    let version = include_str!("../ci/toolchain")
        .lines()
        .find_map(|line| line.strip_prefix("LLVM_VERSION="))
        .expect("the version is pinned");
    Command::new(format!("{name}-{version}"))
}

/// Compiles as lockcheck compiles C.
fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    let (source, bitcode) = (directory.join(name).with_extension("c"), directory.join(name).with_extension("bc"));
    std::fs::write(&source, text).expect("the temporary directory can be written");
    let mut clang = tool("clang");
    clang.args(["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-emit-llvm", "-o"]).arg(&bitcode).arg(&source);
    assert!(clang.status().expect("clang runs").success(), "{name} compiles");
    bitcode
}

/// The processor time that this process, or its finished children, have used: other work on the machine does not count.
fn processor_seconds(who: libc::c_int) -> f64 {
    // SAFETY: the structure is plain numbers, and the call writes nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Everything that is measured: all facts, and the static engines on them, for races and deadlocks.
fn analyse<'p>(program: &'p Program, models: &BoundModels<'_>) -> (Facts<'p>, f64, Results) {
    let facts = Facts::of(program, models, None);
    let of_facts = processor_seconds(libc::RUSAGE_SELF);
    let wanted = Wanted { races: true, deadlocks: true };
    let results = engines::run(program, models, &facts, wanted, &RaceOptions::default());
    (facts, of_facts, results)
}

fn measure(name: &str, bitcode: &Path) -> f64 {
    let before = processor_seconds(libc::RUSAGE_CHILDREN);
    let status = tool("opt").args(["-O2", "-o", "/dev/null"]).arg(bitcode).status().expect("opt runs");
    assert!(status.success(), "opt accepts {name}");
    let optimised = processor_seconds(libc::RUSAGE_CHILDREN) - before;
    let program = load(&[bitcode.to_owned()], &LoadOptions::default()).expect("the program loads");
    let models = Models::embedded();
    let bound = models.bind(&program);
    let (start, before) = (Instant::now(), processor_seconds(libc::RUSAGE_SELF));
    let (facts, of_facts, results) = analyse(&program, &bound);
    let (seconds, wall) = (processor_seconds(libc::RUSAGE_SELF) - before, start.elapsed().as_secs_f64());
    println!("facts {name} {} {seconds:.3} {optimised:.3} {}", program.sites.len(), peak_mebibytes());
    println!("  {:.2} of opt, {wall:.3} s on the wall, {:.3} s of it for facts", seconds / optimised, of_facts - before);
    println!("  {} candidates; {:?}", results.races.map_or(0, |races| races.candidates.len()), facts.points_to.statistics());
    if std::env::var_os("FACTS_DETAIL").is_some() {
        detail(&program, &facts.points_to);
    }
    seconds
}

/// What the addresses of loads and stores point to, and which objects are most often among it.
fn detail(program: &Program, points_to: &PointsTo) {
    let (mut addresses, mut locations, mut objects) = (0usize, 0usize, 0usize);
    let mut by_object: BTreeMap<AbstractObjectId, (usize, BTreeSet<Offset>)> = BTreeMap::new();
    for (id, function) in program.functions.iter_enumerated() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let (Operation::Load { address, .. } | Operation::Store { address, .. }) = &instruction.operation else { continue };
            let pointees: Vec<_> = points_to.pointees(id, *address).collect();
            addresses += usize::from(!pointees.is_empty());
            locations += pointees.len();
            objects += pointees.iter().map(|location| location.object).collect::<BTreeSet<_>>().len();
            for location in pointees {
                let entry = by_object.entry(location.object).or_default();
                entry.0 += 1;
                entry.1.insert(location.offset);
            }
        }
    }
    println!(
        "  {addresses} addresses: {:.2} locations, {:.2} objects",
        locations as f64 / addresses as f64,
        objects as f64 / addresses as f64
    );
    let mut order: Vec<_> = by_object.into_iter().collect();
    order.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (object, (count, offsets)) in order.into_iter().take(40) {
        let known = points_to.object(object);
        let name = match &known.kind {
            AbstractObjectKind::Global(global) => program.globals[*global].name.clone(),
            AbstractObjectKind::Heap { site, callers, .. } => {
                format!("heap {} via {}", program.place_of(*site).map_or(String::new(), |place| place.to_string()), callers.len())
            }
            other => format!("{other:?}"),
        };
        let shown: Vec<_> = offsets.iter().take(6).collect();
        println!(
            "    {count} {name} size {:?} element {:?} escaped {} {} offsets {shown:?}",
            known.size,
            known.element,
            points_to.is_escaped(object),
            offsets.len()
        );
    }
}

fn main() {
    let files: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .filter(|argument| !argument.as_encoded_bytes().starts_with(b"-"))
        .map(PathBuf::from)
        .collect();
    if !files.is_empty() {
        for file in &files {
            measure(&file.display().to_string(), file);
        }
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let single = measure("single", &compile(directory.path(), "single", &generated::program(generated::SUBSYSTEMS)));
    let double = measure("double", &compile(directory.path(), "double", &generated::program(2 * generated::SUBSYSTEMS)));
    println!("facts doubling {:.2}", double / single);
}
