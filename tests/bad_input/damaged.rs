//! Damaged bitcode: cut off, or with a few bytes changed. LLVM itself dies on some of it; lockcheck must not.
//!
//! `LOCKCHECK_MUTATIONS` sets how many damaged files are tried (`ci/mutate` does).

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{Scratch, assert_one_sentence, fixture, guarded, load_guarded, refused, refused_with};
use lockcheck::error::Error;
use lockcheck::frontend::{Limits, LoadOptions};

const FILES: [&str; 4] =
    ["two-threads-clang14-O0.bc", "two-threads-clang16-O2.bc", "two-threads-clang19-m32.bc", "two-threads-clang19-O2.bc"];

#[test]
fn bitcode_cut_off_anywhere() {
    let whole = std::fs::read(fixture(FILES[0])).unwrap();
    let scratch = Scratch::new();
    for length in [4, 5, 8, 20, 64, whole.len() / 2, whole.len() - 4] {
        refused(&[scratch.file("cut.bc", &whole[..length])], &["cut.bc"]);
    }
}

#[test]
fn a_guard_that_has_no_time_is_an_error() {
    let limits = Limits { seconds: 0, ..Limits::default() };
    let error = refused_with(&[fixture(FILES[0])], &LoadOptions { limits, ..guarded() }, &[FILES[0]]);
    assert!(matches!(error, Error::ReaderTimedOut { .. } | Error::ReaderDied { .. }), "{error}");
}

#[test]
fn a_guard_that_has_no_memory_is_an_error() {
    let limits = Limits { bytes: 64 << 20, ..Limits::default() };
    let error = refused_with(&[fixture(FILES[0])], &LoadOptions { limits, ..guarded() }, &[FILES[0]]);
    assert!(matches!(error, Error::ReaderDied { .. }), "{error}");
}

#[test]
fn a_guard_that_cannot_run_is_an_error() {
    for guard in ["no/such/guard", "/bin/true"] {
        let options = LoadOptions { guard: Some(guard.into()), ..LoadOptions::default() };
        let error = refused_with(&[fixture(FILES[0])], &options, &[FILES[0]]);
        assert!(matches!(error, Error::ReaderNotRun { .. }), "{error}");
    }
}

#[derive(Default)]
struct Counts {
    loaded: AtomicUsize,
    refused: AtomicUsize,
    died: AtomicUsize,
}

#[test]
fn mutated_bitcode_never_crashes() {
    let number = std::env::var("LOCKCHECK_MUTATIONS").map_or(300, |text| text.parse().expect("a number"));
    let whole: Vec<Vec<u8>> = FILES.iter().map(|name| std::fs::read(fixture(name)).unwrap()).collect();
    let scratch = Scratch::new();
    let (next, counts) = (AtomicUsize::new(0), Counts::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= number {
                break;
            }
            let file = scratch.file(&format!("{seed}.bc"), mutated(&whole[seed % whole.len()], seed as u64));
            try_one(&file, &counts);
            std::fs::remove_file(file).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let [loaded, refused, died] = [&counts.loaded, &counts.refused, &counts.died].map(|count| count.load(Ordering::Relaxed));
    println!("{number} damaged files: {loaded} loaded, {refused} refused, {died} of these killed or stopped the guard");
    assert_eq!(loaded + refused, number);
    // The test means nothing if the damage is harmless, or if no file ever needed the guard.
    assert!(refused * 4 > number && died * 100 > number, "{refused} refused, {died} died");
}

fn try_one(file: &PathBuf, counts: &Counts) {
    match load_guarded(std::slice::from_ref(file)) {
        Ok(program) => {
            assert!(program.functions.iter().any(|function| function.is_defined()), "{file:?} has code");
            counts.loaded.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => {
            let sentence = error.to_string();
            assert_one_sentence(&sentence);
            assert!(sentence.contains(file.to_str().unwrap()), "{sentence:?} names its file");
            counts.refused.fetch_add(1, Ordering::Relaxed);
            if matches!(error, Error::ReaderDied { .. } | Error::ReaderTimedOut { .. }) {
                counts.died.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Changes 1 to 16 bytes or bits, and keeps the magic so that the file gets past the first look.
pub fn mutated(whole: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    };
    let mut bytes = whole.to_vec();
    for _ in 0..1 + random(16) {
        let position = 4 + random(bytes.len() - 4);
        match random(2) {
            0 => bytes[position] = random(256) as u8,
            _ => bytes[position] ^= 1 << random(8),
        }
    }
    bytes
}
