//! The time that the engine has: kept wherever it is cut off, and what was not looked at is said.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lockcheck::deadline::Deadline;
use lockcheck::engines::deadlock::{DeadlockLimit, DeadlockResult};
use lockcheck::engines::race::RaceOptions;
use lockcheck::engines::{Wanted, run};
use lockcheck::facts::Facts;
use lockcheck::models::Models;
use lockcheck::program::Program;

use super::random::Random;
use super::shared::{HEAD, load_c};

/// Functions that call each other under two locks, chosen at random: an order of locks with very many cycles.
fn entangled(locks: usize, functions: usize, threads: usize) -> String {
    let mut random = Random::new(7);
    let mut text = String::from(HEAD);
    (0..locks).for_each(|lock| writeln!(text, "pthread_mutex_t m{lock} = PTHREAD_MUTEX_INITIALIZER;").expect("written"));
    text += "volatile int x;\n";
    for function in (0..functions).rev() {
        writeln!(text, "static void f{function}(void) {{").expect("written");
        for _ in 0..2 {
            let lock = random.below(locks as u64);
            writeln!(text, "pthread_mutex_lock(&m{lock});").expect("written");
            for _ in 0..2 {
                let callee = function + 1 + random.below(11) as usize;
                if callee < functions {
                    writeln!(text, "if (x > {callee}) f{callee}();").expect("written");
                }
            }
            writeln!(text, "pthread_mutex_unlock(&m{lock});").expect("written");
        }
        text += "}\n";
    }
    for thread in 0..threads {
        writeln!(text, "static void *t{thread}(void *a) {{ while (x) f{thread}(); return a; }}").expect("written");
    }
    text += "int main(void) {\n";
    for thread in 0..threads {
        writeln!(text, "pthread_t h{thread}; pthread_create(&h{thread}, 0, t{thread}, 0);").expect("written");
    }
    text + "return x; }\n"
}

fn program(text: &str) -> Program {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("entangled.c");
    std::fs::write(&file, text).expect("a program can be written");
    load_c(&file, &[])
}

fn within(program: &Program, time: Option<Duration>) -> (DeadlockResult, Duration) {
    let models = Models::embedded();
    let bound = models.bind(program);
    let facts = Facts::of(program, &bound, None);
    let started = Instant::now();
    let deadline = time.map_or(Deadline::NEVER, |time| Deadline::at(started + time));
    let options = RaceOptions { deadline, ..RaceOptions::default() };
    let results = run(program, &bound, &facts, Wanted { races: false, deadlocks: true }, &options);
    (results.deadlocks.expect("it was asked"), started.elapsed())
}

#[test]
fn wherever_it_is_cut_off_it_stops_and_says_so() {
    let program = program(&entangled(20, 60, 8));
    let (whole, all) = within(&program, None);
    assert!(!whole.candidates.is_empty() && !whole.limits.contains(&DeadlockLimit::OutOfTime));
    for part in 0..6 {
        let time = all * part / 6;
        let (result, elapsed) = within(&program, Some(time));
        assert!(elapsed <= time.mul_f64(1.1) + Duration::from_millis(250), "{time:?} of {all:?}: {elapsed:?}");
        let is_cut = result.limits.contains(&DeadlockLimit::OutOfTime);
        assert!(is_cut || result == whole, "{time:?} of {all:?} were enough?");
        assert!(part > 3 || is_cut, "half of the time is not enough");
    }
}
