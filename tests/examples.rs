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
        "race" | "deadlock" | "double-lock" | "unlock-not-held" | "lock-leak" | "wait-without-lock" | "destroy-held" | "assertion"
        | "use-after-free" | "out-of-bounds" | "null-dereference" => Engine::Execution,
        _ => Engine::None,
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples")
}

fn examples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("c-examples can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
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
        if changed == 0 || changed > MOST_CHANGED_LINES { vec![format!("differs from its twin in {changed} lines")] } else { Vec::new() }
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
    let complaints = for_all(&examples(), |file| match check(file) {
        Ok(complaints) => complaints,
        Err(error) => vec![error],
    });
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

#[cfg(feature = "llvm")]
fn check(file: &Path) -> Result<Vec<String>, String> {
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
    let seen = document["findings"].as_array().ok_or("no findings")?.iter().map(seen).collect::<Result<Vec<_>, _>>()?;
    Ok(claims::disagreements(&expectations, &seen, engine))
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
