//! The models under `c-examples/models`, asked of the lock engines: what they are sure of is what the model expects.

use std::path::{Path, PathBuf};

use lockcheck::engines::deadlock::deadlocks;
use lockcheck::engines::reachability::{Target, race, reachable};
use lockcheck::thread_model::{FILE_ENDING, Question, ThreadModel};
use lockcheck::thread_pds::{Analysis, ModelThreads, Nesting, ThreadId};

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples/models");
    let entries = std::fs::read_dir(directory).expect("the models can be listed").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(FILE_ENDING)).collect();
    files.sort();
    files
}

/// What the engines are sure of.
fn truth(model: &ThreadModel, question: &Question) -> Option<bool> {
    let threads = ModelThreads::of(model);
    let mut analysis = Analysis::of(&threads.threads);
    match question {
        Question::Reachable(places) => {
            let target = |place| Target {
                thread: ThreadId(place_thread(place) as u32),
                symbol: threads.symbol(place_thread(place), model.place(place)),
            };
            let targets: Vec<Target> = places.iter().map(target).collect();
            reachable(&mut analysis, &targets).truth()
        }
        Question::Race(variable) => race(&mut analysis, *variable as u32).truth(),
        Question::Deadlock => deadlocks(&mut analysis).truth(),
        Question::Other(_) => None,
    }
}

fn place_thread(place: &lockcheck::thread_model::Place) -> usize {
    place.thread
}

#[test]
fn what_is_sure_is_what_the_model_expects() {
    let (mut sure, mut open) = (0, Vec::new());
    for file in files() {
        let model = ThreadModel::read(&file).unwrap_or_else(|error| panic!("{error}"));
        for query in &model.queries {
            let name = format!("{}:{}: {}", file.file_name().expect("a name").to_string_lossy(), query.position.line, query.text);
            match truth(&model, &query.question) {
                Some(truth) => {
                    assert_eq!(Some(truth), query.expect, "{name}");
                    sure += 1;
                }
                None => open.push(name),
            }
        }
    }
    println!("{sure} sure; not decided:\n{}", open.join("\n"));
    assert!(sure >= 80, "only {sure} queries are decided; not these:\n{}", open.join("\n"));
}

fn example(name: &str) -> ThreadModel {
    let file = files().into_iter().find(|file| file.ends_with(format!("{name}{FILE_ENDING}"))).expect("the model is there");
    ThreadModel::read(&file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn nesting_breaks_where_the_papers_say() {
    let model = example("foo-bar-not-nested");
    let threads = ModelThreads::of(&model);
    let mut analysis = Analysis::of(&threads.threads);
    assert_eq!(analysis.nesting(ThreadId(0)), Nesting::Nested);
    let Nesting::NotNested(places) = analysis.nesting(ThreadId(1)) else { panic!("bar releases b before a") };
    let steps: Vec<(String, usize)> = places
        .iter()
        .map(|symbol| threads.step(ThreadId(1), *symbol))
        .map(|(procedure, step)| (model.procedures[procedure].name.clone(), step))
        .collect();
    assert_eq!(steps, [("bar".to_owned(), 0)]);
    let overlapping = ThreadModel::parse("threads:\n  t: [acquire a, acquire b, release a, release b]\n").expect("a model");
    let threads = ModelThreads::of(&overlapping);
    assert!(matches!(Analysis::of(&threads.threads).nesting(ThreadId(0)), Nesting::Contextual(places) if places.len() == 1));
}

#[test]
fn the_rendezvous_is_not_decided_where_only_its_overlaps_decide() {
    let model = example("rendezvous");
    let undecided = model.queries.iter().filter(|query| truth(&model, &query.question).is_none()).count();
    assert!(undecided >= 2, "locks that overlap are beyond histories");
}
