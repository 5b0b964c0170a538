//! The models under `c-examples/models`: what they expect is what the product of all threads shows.

use std::path::{Path, PathBuf};

use lockcheck::engines::product::{Answer, Bounds, Product};
use lockcheck::program::validate::validate;
use lockcheck::thread_model::lower::lower;
use lockcheck::thread_model::{FILE_ENDING, StepKind, ThreadModel};

pub use super::recursion::is_recursive;

pub fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples/models");
    let entries =
        std::fs::read_dir(directory).expect("the models can be listed").map(|entry| entry.expect("an entry can be read").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(FILE_ENDING)).collect();
    files.sort();
    files
}

pub fn read(file: &Path) -> ThreadModel {
    ThreadModel::read(file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_expectation_is_met() {
    const FEWEST_QUERIES: usize = 80;
    let bounds = Bounds { states: 50_000, stack: 6, threads: 6 };
    let mut complaints = Vec::new();
    let mut asked = 0;
    for file in files() {
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let model = read(&file);
        let mut product = Product::explore(&model, &bounds);
        for query in &model.queries {
            asked += 1;
            let answer = product.answer(&query.question).expect("the examples ask about states only");
            let line = query.position.line;
            let Some(expected) = query.expect else {
                complaints.push(format!("{name}:{line}: says not what it expects"));
                continue;
            };
            match (&answer, expected) {
                (Answer::Yes(_), true) | (Answer::Exhausted, false) => {}
                (Answer::Bounded(_), false) if is_recursive(&model) => {}
                (Answer::Yes(witness), false) => {
                    complaints.push(format!("{name}:{line}: {} is true:\n  {}", query.text, witness.lines(&model).join("\n  ")))
                }
                _ => complaints.push(format!("{name}:{line}: {}: {answer:?}, expected {expected}", query.text)),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(asked >= FEWEST_QUERIES, "only {asked} queries");
}

#[test]
fn every_model_lowers_to_a_valid_program_with_its_lines() {
    for file in files() {
        let model = read(&file);
        let lowered = lower(&model, "x.model.yaml");
        validate(&lowered.program).unwrap_or_else(|violations| panic!("{}: {violations}", file.display()));
        let text = std::fs::read_to_string(&file).expect("a model can be read");
        let lines: Vec<&str> = text.lines().collect();
        for (procedure, sites) in model.procedures.iter().zip(&lowered.sites) {
            for (step, site) in procedure.steps.iter().zip(sites) {
                let place = lowered.program.place_of(*site).expect("a step has a place");
                let (line, rest) = (lines[place.line as usize - 1], place.column as usize - 1);
                let word = line[rest..].split([' ', ',', ']']).next().unwrap_or_default();
                let word_of_step = match step.kind {
                    StepKind::Acquire { .. } => "acquire",
                    StepKind::Release { .. } => "release",
                    StepKind::Write { .. } => "write",
                    StepKind::Call { .. } => "call",
                    StepKind::Spawn { .. } => "spawn",
                    StepKind::Join { .. } => "join",
                    _ => continue,
                };
                assert_eq!(word, word_of_step, "{}:{}: {line}", file.display(), place.line);
            }
        }
    }
}

#[test]
fn a_model_that_is_printed_and_read_again_is_the_same() {
    for file in files() {
        let model = read(&file);
        let printed = model.to_string();
        let again = ThreadModel::parse(&printed).unwrap_or_else(|error| panic!("{}: {error}\n{printed}", file.display()));
        assert_eq!(again.to_string(), printed, "{}", file.display());
    }
}
