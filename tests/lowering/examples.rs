//! Every example of the project lowers completely, however it is compiled.

use std::path::{Path, PathBuf};

use lockcheck::program::AssumptionKind;

use crate::support::*;

fn c_files(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.join("Makefile").exists() {
            c_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "c") {
            found.push(path);
        }
    }
}

/// Lowers and validates all examples; nothing may be unknown, and nothing is without a name for its place.
fn check_all(flags: &[&str]) {
    let mut files = Vec::new();
    c_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples"), &mut files);
    assert!(files.len() >= 40, "the examples are there");
    std::thread::scope(|scope| {
        for part in files.chunks(files.len().div_ceil(2)) {
            scope.spawn(move || {
                for file in part {
                    let program = lower_file(file, flags);
                    let unknown: Vec<_> = program
                        .assumptions
                        .iter()
                        .filter(|assumption| assumption.kind != AssumptionKind::InlineAssembly)
                        .collect();
                    assert!(unknown.is_empty(), "{}: {unknown:?}", file.display());
                    let main = function(&program, "main");
                    assert!(main.is_defined(), "{}", file.display());
                }
            });
        }
    });
}

#[test]
fn plain() {
    check_all(PLAIN);
}

#[test]
fn unoptimized() {
    check_all(UNOPTIMIZED);
}

#[test]
fn optimized() {
    check_all(OPTIMIZED);
}

#[test]
fn plain_32_bit() {
    check_all(PLAIN_32);
}
