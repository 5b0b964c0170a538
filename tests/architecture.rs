//! The architecture as a test: who may import whom, a head in each file, no file that has outgrown its idea.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which parts of the crate each part may use. `config`, `deadline` and `error` are open to all; ARCHITECTURE.md says why.
const MAY_USE: &[(&str, &[&str])] = &[
    ("bin", &["capture"]),
    ("capture", &[]),
    ("program", &[]),
    ("pushdown", &[]),
    ("models", &["program"]),
    ("thread_model", &["program", "models"]),
    ("facts", &["program", "models"]),
    ("findings", &["program", "models"]),
    ("locks", &["program", "models"]),
    ("thread_pds", &["program", "models", "facts", "pushdown", "locks", "thread_model"]),
    ("engines", &["program", "models", "facts", "pushdown", "locks", "thread_pds", "findings", "thread_model"]),
    ("frontend", &["program", "models", "capture"]),
    ("explore", &["program", "models", "findings"]),
    // `report/locks` shows what the lock engines work on: their threads, histories and lock order.
    ("report", &["program", "findings", "engines", "thread_pds", "locks", "pushdown"]),
    ("pipeline", &["program", "models", "facts", "locks", "engines", "findings", "explore"]),
    ("config", &["models", "findings"]),
    ("deadline", &[]),
    ("error", &[]),
    (
        "cli",
        &["program", "models", "findings", "frontend", "pipeline", "report", "thread_model", "engines", "thread_pds", "pushdown"],
    ),
    ("lib", &[]),
    ("main", &["frontend", "cli"]),
];
const OPEN_TO_ALL: &[&str] = &["config", "deadline", "error"];
const MOST_LINES: usize = 500;

fn source_files(directory: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("a source directory can be listed") {
            let path = entry.expect("an entry can be read").path();
            match path.extension() {
                _ if path.is_dir() => directories.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn part_of(file: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let inside = file.strip_prefix(root).expect("a file of src");
    let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The parts named after `crate::` (or `lockcheck::` in the binary), groups in braces included.
fn parts_used(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect();
    for marker in ["crate::", "lockcheck::"] {
        for (at, _) in code.match_indices(marker) {
            let rest = &code[at + marker.len()..];
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(group) => group.split('}').next().unwrap_or_default().split(',').collect(),
                None => vec![rest],
            };
            let word = |name: &&str| name.trim().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
            used.extend(names.iter().map(word).filter(|name| !name.is_empty()));
        }
    }
    used
}

#[test]
fn parts_use_only_what_they_may() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let known = |name: &str| allowed.contains_key(name);
    let mut complaints = Vec::new();
    for file in source_files("src") {
        let part = part_of(&file);
        let Some(may_use) = allowed.get(part.as_str()) else {
            complaints.push(format!("{}: a part that the architecture does not know", file.display()));
            continue;
        };
        let text = std::fs::read_to_string(&file).expect("a source file can be read");
        for used in parts_used(&text).iter().filter(|used| known(used) && **used != part) {
            if !may_use.contains(&used.as_str()) && !OPEN_TO_ALL.contains(&used.as_str()) {
                complaints.push(format!("{}: {part} must not use {used}", file.display()));
            }
        }
        if part != "frontend" && ["inkwell::", "llvm_sys::"].iter().any(|name| text.contains(name)) {
            complaints.push(format!("{}: LLVM does not pass the front end's door", file.display()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn groups_and_paths_are_both_seen() {
    assert_eq!(
        parts_used("use crate::{program::Site, models};\n// crate::explore\nlet x = crate::facts::f();"),
        ["program", "models", "facts"]
    );
}

#[test]
fn every_file_has_a_head_and_one_idea() {
    let mut complaints = Vec::new();
    for file in source_files("src").into_iter().chain(source_files("tests")) {
        let text = std::fs::read_to_string(&file).expect("a source file can be read");
        if !text.starts_with("//! ") {
            complaints.push(format!("{}: has no head", file.display()));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            complaints.push(format!("{}: {lines} lines: its parts have names, find them", file.display()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
