//! The examples: every race they claim is a candidate, and where locks, fork and join or privacy protect, nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::support::{analyse, candidate_lines, examples, for_all, load_c};
use crate::claims;

/// Good twins that rest on what the engine does not follow; each is a folder or a file.
const BEYOND: &[&str] = &[
    // Flags, semaphores, conditions, barriers, hand-over by release and acquire.
    "flag/",
    "semaphore/",
    "c11-atomics/",
    "sync-builtins/",
    "handover/",
    "condvar/",
    "barrier/",
    "spin/",
    "c11-threads/condition",
    // What data rules out.
    "safety/",
    "search/",
    "function-pointer/tasks",
    "thread-array/loop-index",
    "deadlock/hand-over-hand",
    // Acquisition histories.
    "verifier/union-of-histories",
    "history/read-locks",
    // Two creations with two constants, a loop that runs once, values kept under a key.
    "init-before-create/between-two",
    "thread-array/self-pair",
    "thread-local/key",
];

struct Outcome {
    name: String,
    missed: Vec<String>,
    alarms: Vec<String>,
}

fn check(file: &PathBuf) -> Outcome {
    let source = std::fs::read_to_string(file).expect("an example can be read");
    let is_limit = file.components().any(|component| component.as_os_str() == "limits");
    let expectations = claims::parse(&source, is_limit).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let program = load_c(file, &expectations.flags);
    let result = analyse(&program);
    let lines = candidate_lines(&result);
    let mut real: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for claim in expectations.claims.iter().filter(|claim| claim.kind == "race" && claim.is_real) {
        real.entry(claim.label.clone().unwrap_or_default()).or_default().insert(claim.line);
    }
    let missed = real
        .iter()
        .filter(|(_, claimed)| !lines.contains(*claimed))
        .map(|(label, claimed)| format!("race {label} at lines {claimed:?}"));
    let is_claimed = |found: &BTreeSet<u32>| real.values().any(|claimed| claimed == found);
    let alarms =
        result.candidates.iter().filter(|candidate| !is_claimed(&candidate.ends.iter().map(|end| end.line().2).collect())).map(
            |candidate| {
                let ends: Vec<String> = candidate
                    .ends
                    .iter()
                    .map(|end| format!("{} {} line {} {:?}", end.thread_name, end.role.name(), end.line().2, end.locks))
                    .collect();
                format!("{} ({}): {}", candidate.object, candidate.whole, ends.join(" | "))
            },
        );
    let name = file.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples")).unwrap_or(file).display().to_string();
    Outcome { name, missed: missed.collect(), alarms: alarms.collect() }
}

#[test]
fn claimed_races_are_candidates_and_locks_protect() {
    let outcomes = for_all(&examples(), check);
    let mut complaints = Vec::new();
    let mut beyond = 0;
    for outcome in &outcomes {
        complaints.extend(outcome.missed.iter().map(|missed| format!("{}: missed {missed}", outcome.name)));
        // Beside its real race a bad twin may show what its good twin rules out by data.
        let is_bad = outcome.name.ends_with("-bad.c");
        let is_beyond = is_bad || BEYOND.iter().any(|beyond| outcome.name.starts_with(beyond));
        for alarm in &outcome.alarms {
            if is_beyond {
                beyond += 1;
                println!("{}: {alarm}", outcome.name);
            } else {
                complaints.push(format!("{}: {alarm}", outcome.name));
            }
        }
    }
    println!("{} examples, {beyond} alarms beyond the engine", outcomes.len());
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}
