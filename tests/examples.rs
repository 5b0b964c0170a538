//! Every example in `c-examples/` holds what it claims: everything found is claimed, every claim is met.

mod claims;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use claims::{Engine, Expectations, Seen};

/// The one switch: from which day the claims of a kind must be met.
fn engine(kind: &str) -> Engine {
    match kind {
        "race" | "deadlock" | "double-lock" => Engine::Static,
        "unlock-not-held" | "lock-leak" | "wait-without-lock" | "destroy-held" | "assertion" | "use-after-free"
        | "out-of-bounds" | "null-dereference" => Engine::Execution,
        _ => Engine::None,
    }
}

/// Reasons that some engine gives today: claims of being refuted for one of them must be met.
const REASONS: [&str; 9] = [
    "fork-join",
    "common-lock",
    "relative-lock",
    "acquisition-history",
    "lock-history",
    "gate-lock",
    "happens-before",
    "single-instance",
    "thread-partition",
];

/// Examples with pairs that never race and that no engine refutes yet, and the reason that will be given: until then these may be
/// reported as possible. An example that no longer needs to be here fails the test.
const WAITING: &[(&str, &str)] = &[
    // An engine to come: what variables, flags, semaphores and barriers say, and acquisition histories.
    ("barrier/serial-thread-good.c", "happens-before"),
    ("c11-atomics/claim-good.c", "predicates"),
    ("c11-atomics/fences-good.c", "happens-before"),
    ("c11-atomics/message-passing-good.c", "happens-before"),
    ("c11-atomics/peterson-good.c", "predicates"),
    ("c11-atomics/reference-count-bad.c", "predicates"),
    ("c11-atomics/reference-count-good.c", "predicates"),
    ("c11-atomics/replaced-store-good.c", "happens-before"),
    ("c11-threads/condition-good.c", "predicates"),
    ("condvar/handover-good.c", "predicates"),
    ("deadlock/hand-over-hand-bad.c", "predicates"),
    ("deadlock/hand-over-hand-good.c", "predicates"),
    ("flag/double-checked-good.c", "happens-before"),
    ("flag/ownership-good.c", "predicates"),
    ("flag/plain-good.c", "happens-before"),
    ("flag/volatile-spin-good.c", "happens-before"),
    ("handover/publish-good.c", "predicates"),
    ("handover/queue-good.c", "predicates"),
    ("safety/livelock-bad.c", "predicates"),
    ("safety/livelock-good.c", "predicates"),
    ("safety/out-of-bounds-bad.c", "predicates"),
    ("safety/out-of-bounds-good.c", "predicates"),
    ("search/behind-a-loop-good.c", "predicates"),
    ("search/through-a-pointer-good.c", "predicates"),
    ("semaphore/crossed-bad.c", "happens-before"),
    ("semaphore/crossed-good.c", "happens-before"),
    ("semaphore/handover-good.c", "happens-before"),
    ("semaphore/permits-good.c", "happens-before"),
    ("semaphore/timedwait-good.c", "happens-before"),
    ("semaphore/trywait-good.c", "happens-before"),
    ("spin/forgotten-test-good.c", "predicates"),
    ("spin/relaxed-unlock-good.c", "predicates"),
    ("sync-builtins/compare-and-swap-good.c", "predicates"),
    ("sync-builtins/message-passing-good.c", "happens-before"),
    ("sync-builtins/spin-lock-good.c", "predicates"),
    ("verifier/union-of-histories-good.c", "acquisition-history"),
    // Limits of engines that exist: their reason holds, but it hangs on what they do not follow.
    // What each thread reads from its own element of a table decides which function it calls, or which memory it touches.
    ("function-pointer/table-bad.c", "single-instance"),
    ("function-pointer/tasks-bad.c", "single-instance"),
    ("function-pointer/tasks-good.c", "thread-partition"),
    ("init-before-create/between-two-bad.c", "thread-partition"),
    ("init-before-create/between-two-good.c", "thread-partition"),
    // Threads are joined by a loop over an array that was filled at indices read from memory.
    ("thread-array/loop-index-bad.c", "fork-join"),
    ("thread-array/loop-index-good.c", "fork-join"),
    // A key's destructor may run at any time in any thread, so nothing is after it.
    ("thread-local/key-destructor-bad.c", "fork-join"),
    // The address of the thread's own element is kept under a key.
    ("thread-local/key-good.c", "thread-partition"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples")
}

fn examples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("c-examples can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() && !path.join("Makefile").exists() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "c") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn expectations(file: &Path) -> Result<Expectations, String> {
    let source = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    claims::parse(&source, file.starts_with(root().join("limits")))
}

/// Does `work` for all files on all cores; what it returns is a list of complaints.
fn for_all(files: &[PathBuf], work: impl Fn(&Path) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
                    let found = work(file).into_iter().map(|complaint| format!("{name}: {complaint}"));
                    complaints.lock().expect("no worker panics while it adds").extend(found.collect::<Vec<_>>());
                }
            });
        }
    });
    let mut complaints = complaints.into_inner().expect("all workers are done");
    complaints.sort();
    complaints
}

#[test]
fn claims_follow_the_grammar() {
    let files = examples();
    assert!(files.len() >= 80, "only {} examples", files.len());
    let complaints = for_all(&files, |file| expectations(file).err().into_iter().collect());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_bad_example_has_a_good_twin_that_differs_little() {
    const MOST_CHANGED_LINES: usize = 6;
    let code = |file: &Path| -> Vec<String> {
        let source = std::fs::read_to_string(file).expect("an example can be read");
        let bare = |line: &str| line.split("//").next().unwrap_or_default().trim_end().to_owned();
        source.lines().map(bare).filter(|line| !line.is_empty()).collect()
    };
    let complaints = for_all(&examples(), |file| {
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let twin = match (name.strip_suffix("-bad.c"), name.strip_suffix("-good.c")) {
            (Some(stem), _) => file.with_file_name(format!("{stem}-good.c")),
            (_, Some(stem)) => file.with_file_name(format!("{stem}-bad.c")),
            _ => return Vec::new(),
        };
        if !twin.is_file() {
            return vec!["has no twin".to_owned()];
        }
        let changed = changed_lines(&code(file), &code(&twin));
        if changed == 0 || changed > MOST_CHANGED_LINES {
            vec![format!("differs from its twin in {changed} lines")]
        } else {
            Vec::new()
        }
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Lines that are not part of a longest common subsequence; a replaced line counts once.
fn changed_lines(left: &[String], right: &[String]) -> usize {
    let mut longest = vec![vec![0usize; right.len() + 1]; left.len() + 1];
    for (i, l) in left.iter().enumerate() {
        for (j, r) in right.iter().enumerate() {
            longest[i + 1][j + 1] = if l == r { longest[i][j] + 1 } else { longest[i][j + 1].max(longest[i + 1][j]) };
        }
    }
    let common = longest[left.len()][right.len()];
    (left.len() - common).max(right.len() - common)
}

#[cfg(feature = "llvm")]
#[test]
fn examples_hold_what_they_claim() {
    let counts = Counts::default();
    let complaints = for_all(&examples(), |file| match check(file, &counts) {
        Ok(complaints) => complaints,
        Err(error) => vec![error],
    });
    println!(
        "{} examples without a race are called safe, {} are not",
        counts.safe.load(Ordering::Relaxed),
        counts.unknown.load(Ordering::Relaxed)
    );
    println!(
        "of {} examples without a deadlock {} are proved to have none",
        counts.without_deadlock.load(Ordering::Relaxed),
        counts.without_deadlock_proved.load(Ordering::Relaxed)
    );
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

/// Examples without a real race, by what the race check says of them, and those without a deadlock of which that is proved.
#[cfg(feature = "llvm")]
#[derive(Default)]
struct Counts {
    safe: AtomicUsize,
    unknown: AtomicUsize,
    without_deadlock: AtomicUsize,
    without_deadlock_proved: AtomicUsize,
}

#[cfg(feature = "llvm")]
fn check(file: &Path, counts: &Counts) -> Result<Vec<String>, String> {
    let expectations = expectations(file)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockcheck"));
    command.arg("check").arg(file).args(["--format", "json"]);
    if !expectations.checks.is_empty() {
        command.args(["--check", &expectations.checks.join(",")]);
    }
    command.arg("--").args(["-std=gnu11"]).args(&expectations.flags);
    let output = command.output().map_err(|error| error.to_string())?;
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {} {}", output.status, String::from_utf8_lossy(&output.stderr)))?;
    let findings = document["findings"].as_array().ok_or("no findings")?;
    let mut seen = findings.iter().map(seen).collect::<Result<Vec<_>, _>>()?;
    let mut complaints = contradictions(&document);
    complaints.extend(not_refuted(&expectations, &document));
    let waits = WAITING.iter().find(|(name, _)| root().join(name) == file);
    let has_race = is_claimed(&expectations, "race");
    if let Some((_, reason)) = waits {
        let before = seen.len();
        seen.retain(|finding| !is_only_possible(finding, &expectations, "race"));
        if seen.len() == before {
            complaints.push(format!("nothing waits for `{reason}` any more: take it off the list"));
        }
    } else if !has_race && document["checks"].get("race").is_some() {
        let is_safe = document["checks"]["race"] == "safe";
        let counter = if is_safe { &counts.safe } else { &counts.unknown };
        counter.fetch_add(1, Ordering::Relaxed);
        if !is_safe && document["assumptions"].as_array().is_some_and(Vec::is_empty) {
            complaints.push(format!("has no race, but the check says {}: {}", document["checks"]["race"], document["limits"]));
        }
    }
    if document["checks"].get("deadlock").is_some() && !is_claimed(&expectations, "deadlock") {
        counts.without_deadlock.fetch_add(1, Ordering::Relaxed);
        if document["checks"]["deadlock"] == "safe" {
            counts.without_deadlock_proved.fetch_add(1, Ordering::Relaxed);
        }
    }
    complaints.extend(claims::disagreements(&expectations, &seen, engine));
    Ok(complaints)
}

#[cfg(feature = "llvm")]
fn is_claimed(expectations: &Expectations, kind: &str) -> bool {
    expectations.claims.iter().any(|claim| claim.is_real && claim.kind == kind)
}

/// A finding of this kind that was not confirmed and that is no real one.
#[cfg(feature = "llvm")]
fn is_only_possible(finding: &Seen, expectations: &Expectations, kind: &str) -> bool {
    let real = || expectations.claims.iter().filter(|claim| claim.is_real && claim.kind == kind);
    let lines_of = |label: &Option<String>| real().filter(|claim| claim.label == *label).map(|claim| claim.line).collect();
    finding.kind == kind && !finding.is_confirmed && !real().any(|claim| finding.lines == lines_of(&claim.label))
}

/// What a run has shown and an engine had excluded: a bug of ours, whatever the claims say.
#[cfg(feature = "llvm")]
fn contradictions(document: &serde_json::Value) -> Vec<String> {
    let notes = document["notes"].as_array().into_iter().flatten().filter(|note| note["kind"] == "contradiction");
    notes.map(|note| note["message"].to_string()).collect()
}

/// Claims of being refuted for a reason that exists, and that no refuted pair on that line meets.
#[cfg(feature = "llvm")]
fn not_refuted(expectations: &Expectations, document: &serde_json::Value) -> Vec<String> {
    let claims = expectations
        .claims
        .iter()
        .filter(|claim| claim.level == claims::Level::Refuted && REASONS.contains(&claim.text.as_str()));
    let is_met = |claim: &&claims::Claim| {
        let groups = document["refuted"].as_array().into_iter().flatten().filter(|group| group["reason"] == claim.text.as_str());
        groups.flat_map(|group| group["sites"].as_array().into_iter().flatten()).any(|site| site["line"] == claim.line)
    };
    let unmet = claims.filter(|claim| !is_met(claim));
    unmet
        .map(|claim| format!("line {}: claimed to be no {}, refuted: {}, but it is not", claim.line, claim.kind, claim.text))
        .collect()
}

#[cfg(feature = "llvm")]
fn seen(finding: &serde_json::Value) -> Result<Seen, String> {
    let rule = finding["rule"].as_str().ok_or("a finding has no rule")?;
    let kind = match rule {
        "data-race" => "race",
        "atomicity" => "unserializable",
        other => other,
    };
    let sites = finding["sites"].as_array().ok_or("a finding has no sites")?;
    let line = |site: &serde_json::Value| site["line"].as_u64().map(|line| line as u32).ok_or("a site has no line".to_owned());
    let text = |site: &serde_json::Value, key: &str| site[key].as_str().unwrap_or_default().to_owned();
    let end = |site: &serde_json::Value| Ok((line(site)?, text(site, "role"), text(site, "object")));
    Ok(Seen {
        kind: kind.to_owned(),
        lines: sites.iter().map(line).collect::<Result<_, _>>()?,
        is_confirmed: finding["verdict"] == "confirmed",
        ends: sites.iter().map(end).collect::<Result<_, String>>()?,
    })
}
