//! How the lock engines scale: philosophers from 2 to 64, and made-up programs with many functions and locks.
//!
//! Each case runs in a process of its own. Prints `locks CASE SECONDS MEBIBYTES`, and a line of what was found. With an argument: that case alone,
//! in this process.

#[path = "clock/mod.rs"]
mod clock;
#[path = "locks/generated.rs"]
mod generated;

use std::process::Command;

use clock::processor_seconds;
use generated::{OBJECTS, Shape, Table, philosophers, program};
use lockcheck::engines::deadlock::{Deadlocks, deadlocks};
use lockcheck::engines::reachability::{Answer, RaceAnswer, Refutation, Target, race, reachable};
use lockcheck::pushdown::SymbolId;
use lockcheck::thread_pds::{Analysis, ThreadId, Threads};

/// 8 threads, 200 functions each, 50 locks, 4 held at once; most of them in one order.
const ORDERED: Shape = Shape {
    threads: 8,
    functions: 200,
    locks: 50,
    nesting: 4,
    points: 20,
    sections: 6,
    disorder: 3,
    is_created: false,
    has_copies: false,
};
/// The same with no order at all.
const DISORDERED: Shape = Shape { disorder: 100, ..ORDERED };
/// What C programs look like: many threads, many points that do nothing with locks.
const LARGE: Shape = Shape {
    threads: 40,
    functions: 400,
    locks: 400,
    nesting: 4,
    points: 60,
    sections: 1,
    disorder: 1,
    is_created: true,
    has_copies: true,
};

fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process can be read");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has a peak");
    peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

fn of_program(shape: Shape, queries: &[&str]) -> String {
    let threads = program(shape);
    let before = processor_seconds();
    let mut analysis = Analysis::of(&threads);
    let mut words = vec![format!("first pass in {:.2} s", processor_seconds() - before)];
    for query in queries {
        let before = processor_seconds();
        let found = match *query {
            "pairs" => pairs(&mut analysis, &threads),
            "races" => races(&mut analysis),
            _ => cycles(&deadlocks(&mut analysis)),
        };
        words.push(format!("{found} in {:.2} s", processor_seconds() - before));
    }
    words.join("; ")
}

/// Pairs of accesses and other places, spread over all threads.
fn pairs(analysis: &mut Analysis<'_>, threads: &Threads) -> String {
    let mut counts = [0; 4];
    for sample in 0..2_000u32 {
        let pick = |number: u32| {
            let thread = ThreadId(number % threads.threads.len() as u32);
            let symbols = threads.thread(thread).places.len() as u32;
            Target { thread, symbol: SymbolId(number.wrapping_mul(2_654_435_761) % symbols) }
        };
        match reachable(analysis, &[pick(2 * sample), pick(2 * sample + 3)]) {
            Answer::Yes(_) => counts[0] += 1,
            Answer::Refuted(Refutation::NotReached(_)) => counts[3] += 1,
            Answer::Refuted(_) => counts[1] += 1,
            Answer::Possible(_) => counts[2] += 1,
        }
    }
    format!("pairs: {} yes, {} no, {} possible, {} not reached", counts[0], counts[1], counts[2], counts[3])
}

fn races(analysis: &mut Analysis<'_>) -> String {
    let mut counts = [0; 3];
    for object in 0..OBJECTS {
        match race(analysis, object) {
            RaceAnswer::Yes(..) => counts[0] += 1,
            RaceAnswer::Refuted(_) => counts[1] += 1,
            RaceAnswer::Possible(..) => counts[2] += 1,
        }
    }
    format!("races: {} yes, {} no, {} possible", counts[0], counts[1], counts[2])
}

fn cycles(found: &Deadlocks) -> String {
    let sure = found.cycles.iter().filter(|cycle| cycle.doubts.is_empty()).count();
    let complete = if found.is_complete { "complete" } else { "not complete" };
    format!("deadlocks: {} cycles, {sure} sure, {} dismissed, {complete}", found.cycles.len(), found.dismissed.len())
}

fn of_philosophers(count: u32, table: Table) -> String {
    let threads = philosophers(count, table);
    let found = deadlocks(&mut Analysis::of(&threads));
    assert_eq!(found.truth(), Some(table == Table::Plain), "{count} philosophers, {table:?}: {}", cycles(&found));
    cycles(&found)
}

fn run(case: &str) -> String {
    if let Some((table, count)) = case.split_once('-').filter(|(_, count)| count.parse::<u32>().is_ok()) {
        let table = match table {
            "plain" => Table::Plain,
            "gate" => Table::Gate,
            _ => Table::LeftHanded,
        };
        return of_philosophers(count.parse().expect("a number"), table);
    }
    match case {
        "ordered" => of_program(ORDERED, &["pairs", "races", "deadlocks"]),
        "disordered" => of_program(DISORDERED, &["pairs", "races", "deadlocks"]),
        _ => of_program(LARGE, &["pairs", "deadlocks"]),
    }
}

fn main() {
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if let Some(case) = named {
        let before = processor_seconds();
        let found = run(&case);
        println!("locks {case} {:.4} {}", processor_seconds() - before, peak_mebibytes());
        println!("  {found}");
        return;
    }
    let programs = ["ordered", "disordered", "large"].map(str::to_owned);
    let tables = ["plain", "gate", "left"];
    let philosophers = tables.iter().flat_map(|table| [2, 4, 8, 16, 32, 64].map(|count| format!("{table}-{count}")));
    for case in programs.into_iter().chain(philosophers) {
        let binary = std::env::current_exe().expect("this program has a name");
        let status = Command::new(binary).arg(&case).status().expect("it runs again");
        assert!(status.success(), "{case}");
    }
}
