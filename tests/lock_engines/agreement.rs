//! The twins on as many random models as one has time for: `ci/agreement`. Where it stopped is kept in a file, and it goes on from there.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::random_models::{ALL, PLAIN, compare};

/// Seeds below are those of the tests that always run.
const FIRST: u64 = 10_000;
const BATCH: u64 = 250;

/// What is remembered between runs: the next seed, and what was counted so far.
struct State {
    file: Option<PathBuf>,
    counts: serde_json::Map<String, Value>,
}

impl State {
    fn open() -> State {
        let file = std::env::var_os("LOCK_AGREEMENT_STATE").map(PathBuf::from);
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let counts = text.map(|text| serde_json::from_str(&text).expect("the state of an earlier run is JSON"));
        State { file, counts: counts.unwrap_or_default() }
    }

    fn get(&self, name: &str) -> u64 {
        self.counts.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    fn add(&mut self, name: &str, count: usize) {
        let sum = self.get(name) + count as u64;
        self.counts.insert(name.to_owned(), json!(sum));
    }

    fn save(&self) {
        if let Some(file) = &self.file {
            let text = serde_json::to_string_pretty(&self.counts).expect("numbers are JSON");
            std::fs::write(file, text + "\n").expect("the state can be written");
        }
    }

    fn share(&self, part: &str, whole: &str) -> f64 {
        100.0 * self.get(part) as f64 / self.get(whole).max(1) as f64
    }
}

#[test]
fn agreement() {
    let wanted = std::env::var("LOCK_AGREEMENT_MODELS").map_or(BATCH, |text| text.parse().expect("a number of models"));
    let mut state = State::open();
    let started = Instant::now();
    let mut done = 0;
    while done < wanted {
        let count = BATCH.min(wanted - done);
        let from = FIRST + state.get("next");
        // By turns everything, and only what the theory decides.
        let shape = if (state.get("next") / BATCH).is_multiple_of(2) { &ALL } else { &PLAIN };
        let (tally, coverage) = compare(from..from + count, shape);
        if let Some(complaint) = tally.complaints.first() {
            panic!("the twins disagree\n{complaint}");
        }
        done += count;
        state.add("next", count as usize);
        for (name, count) in [
            ("models", tally.models),
            ("decided", tally.decided),
            ("yes", tally.yes),
            ("refuted", tally.refuted),
            ("possible", tally.possible),
            ("spurious", tally.spurious),
            ("by history", tally.by_history),
            ("by three", tally.by_three),
            ("contextual", tally.contextual),
            ("paths", tally.paths),
            ("deadlock: yes", tally.deadlock.yes),
            ("deadlock: no", tally.deadlock.no),
            ("deadlock: possible", tally.deadlock.possible),
            ("deadlock: spurious", tally.deadlock.spurious),
            ("deadlock: of three", tally.deadlock.of_three),
            ("deadlock: incomplete", tally.deadlock.incomplete),
        ] {
            state.add(name, count);
        }
        for (feature, count) in coverage.counts() {
            state.add(&format!("with {feature}"), count);
        }
        state.save();
        if done % 10_000 < BATCH || done >= wanted {
            println!("{} models, {:.0} s in this run", state.get("models"), started.elapsed().as_secs_f64());
        }
    }
    for (name, count) in state.counts.iter().filter(|(name, _)| *name != "next") {
        let share = if name.starts_with("with ") { format!("  ({:.1} %)", state.share(name, "models")) } else { String::new() };
        println!("  {name:<32} {count:>12}{share}");
    }
    println!(
        "spurious among the possible: {:.1} % of the groups of places, {:.1} % of the deadlocks",
        state.share("spurious", "possible"),
        state.share("deadlock: spurious", "deadlock: possible")
    );
    assert!(state.get("by history") > 0 && state.get("deadlock: yes") > 0, "nothing of interest was generated");
}
