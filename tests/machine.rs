//! The machine against the processor: the same C program, compiled natively and executed from its IR, must print the same and end
//! with the same code, at every optimisation and in both data models.
#![cfg(feature = "llvm")]

mod generator;
mod machine_cases;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockcheck::explore::machine::end::End;
use lockcheck::explore::machine::{Machine, RunOptions, Unobserved};
use lockcheck::explore::run::{Limits, run};
use lockcheck::explore::scheduler::Random;
use lockcheck::frontend::{DataModel, LoadOptions, load};
use lockcheck::models::Models;

/// What a program did.
#[derive(Debug, PartialEq)]
struct Behaviour {
    output: String,
    end: String,
}

/// Instructions after which a test program is taken to hang.
const STEPS: u64 = 200_000_000;

fn compiler() -> Command {
    let mut command = Command::new("clang-22");
    command.args(["-w", "-std=gnu17", "-ffp-contract=off"]);
    command
}

fn model_flags(model: DataModel) -> &'static [&'static str] {
    match model {
        DataModel::Bits64 => &[],
        // The x87 unit would round differently from what the source says.
        DataModel::Bits32 => &["-m32", "-msse2", "-mfpmath=sse"],
    }
}

/// What the processor makes of it; `None` when programs of this data model cannot be built here.
fn native(source: &Path, optimisation: &str, model: DataModel, directory: &Path) -> Option<Behaviour> {
    let binary = directory.join(format!("native{optimisation}-{}", model.bits()));
    let built = compiler()
        .args(model_flags(model))
        .arg(optimisation)
        .arg(source)
        .arg("-o")
        .arg(&binary)
        .args(["-lm", "-lpthread"])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !built.success() {
        assert_eq!(model, DataModel::Bits32, "{} does not compile", source.display());
        return None;
    }
    let output = Command::new(&binary).stdin(Stdio::null()).output().unwrap();
    let end = match output.status.code() {
        Some(code) => format!("exit {code}"),
        None => match output.status.signal() {
            Some(libc::SIGABRT) => "killed by SIGABRT".to_owned(),
            Some(libc::SIGILL) => "killed by SIGILL".to_owned(),
            _ => format!("killed: {}", output.status),
        },
    };
    Some(Behaviour { output: String::from_utf8_lossy(&output.stdout).into_owned(), end })
}

/// What the machine makes of it.
fn interpreted(source: &Path, flags: &[&str], model: DataModel, directory: &Path, models: &Models) -> (Behaviour, u64) {
    let bitcode = directory.join(format!("program{}-{}.bc", flags.concat(), model.bits()));
    let built = compiler()
        .args(model_flags(model))
        .args(["-g", "-c", "-emit-llvm"])
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&bitcode)
        .status()
        .unwrap();
    assert!(built.success(), "{} does not compile to bitcode", source.display());
    let program = match load(&[bitcode], &LoadOptions::default()) {
        Ok(program) => program,
        Err(error) => return (Behaviour { output: String::new(), end: format!("not loaded: {error}") }, 0),
    };
    let options = RunOptions { arguments: vec!["program".to_owned()], ..RunOptions::default() };
    let mut machine = Machine::new(&program, &models.bind(&program), options).unwrap();
    let limits = Limits { steps: STEPS, ..Limits::default() };
    let report = run(&mut machine, &mut Random::new(1), &limits, &mut Unobserved);
    let end = match report.end {
        End::Exited(code) => format!("exit {code}"),
        End::Killed(signal) => format!("killed by {signal}"),
        End::Fault { site, fault, .. } => {
            let place = site.and_then(|site| program.place_of(site));
            format!("{fault:?} at {place:?}")
        }
        other => format!("{other:?}"),
    };
    let assumed: Vec<String> = report.assumptions.iter().map(|assumption| format!(" assuming {assumption:?}")).collect();
    let output = String::from_utf8_lossy(&report.output).into_owned();
    (Behaviour { output, end: end + &assumed.concat() }, report.steps)
}

/// The forms of IR that a program comes in.
const FORMS: [&[&str]; 3] = [&["-O1", "-Xclang", "-disable-llvm-passes"], &["-O0"], &["-O2"]];

/// All differences between the machine and the processor on one program.
fn differences(name: &str, source: &Path, directory: &Path, models: &Models, steps: &AtomicUsize) -> Vec<String> {
    let mut found = Vec::new();
    for model in [DataModel::Bits64, DataModel::Bits32] {
        let Some(expected) = native(source, "-O0", model, directory) else { continue };
        let optimised = native(source, "-O2", model, directory).unwrap();
        assert_eq!(expected, optimised, "{name}: the compiler itself disagrees about this program");
        for form in FORMS {
            let (seen, count) = interpreted(source, form, model, directory, models);
            steps.fetch_add(count as usize, Ordering::Relaxed);
            if seen != expected {
                let line = expected.output.lines().zip(seen.output.lines()).position(|(left, right)| left != right);
                let line = line.unwrap_or(expected.output.lines().count().min(seen.output.lines().count()));
                let (left, right) = (expected.output.lines().nth(line), seen.output.lines().nth(line));
                found.push(format!(
                    "{name}, {} bits, {form:?}: line {line} is {right:?} for {left:?}; {} for {}",
                    model.bits(),
                    seen.end,
                    expected.end
                ));
            }
        }
    }
    found
}

/// Runs the comparison on all programs, on two threads; how many instructions the machine executed.
fn compare_all(programs: &[(String, PathBuf)]) -> usize {
    let models = Models::embedded();
    let (next, steps, found) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let directory = tempfile::tempdir().unwrap();
                while let Some((name, source)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = differences(name, source, directory.path(), &models, &steps);
                    found.lock().unwrap().extend(differences);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
    steps.into_inner()
}

/// The C programs of a directory, by name.
fn programs_in(directory: &str) -> Vec<(String, PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut sources: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    sources.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

#[test]
fn sequential_examples_behave_as_natively() {
    let programs = programs_in("c-examples/sequential");
    assert!(programs.len() >= 10, "the sequential examples are missing");
    let steps = compare_all(&programs);
    println!("{} examples, {steps} instructions", programs.len());
}

/// How programs and threads begin and end, callbacks, and the stack.
#[test]
fn process_and_thread_endings_behave_as_natively() {
    let programs = programs_in("tests/machine_programs");
    assert!(programs.len() >= 8, "the test programs are missing");
    compare_all(&programs);
}

/// `MACHINE_SEEDS=from..to` compares other programs than the first hundred.
#[test]
fn generated_programs_behave_as_natively() {
    let seeds = std::env::var("MACHINE_SEEDS").unwrap_or_else(|_| "0..100".to_owned());
    let (from, to) = seeds.split_once("..").expect("seeds are written from..to");
    let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let write = |seed: u64| {
        let path = directory.path().join(format!("seed-{seed}.c"));
        std::fs::write(&path, generator::sequential_program(seed).source).unwrap();
        (format!("seed {seed}"), path)
    };
    let programs: Vec<(String, PathBuf)> = (from..to).map(write).collect();
    let steps = compare_all(&programs);
    println!("{} programs, {steps} instructions", programs.len());
}
