//! The lock order: who may hold what while it waits for what, which of it is a cycle, and what became of the cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Places, quoted};
use crate::engines::deadlock::{
    DeadlockCycle, Deadlocks, Dismissal, DismissedCycle, Held, OrderEdge, Wait, deadlocks, lock_order_edges,
};
use crate::locks::Mode;
use crate::locks::history::{Doubt, Incompatible};
use crate::thread_pds::{Analysis, Threads};

fn lock_word(threads: &Threads, lock: crate::locks::history::LockId, mode: Mode) -> String {
    format!("{}{}", threads.locks.name(lock), if mode == Mode::Shared { " shared" } else { "" })
}

fn held_word(threads: &Threads, held: Held) -> String {
    match held {
        Held::Lock { lock, mode } => lock_word(threads, lock, mode),
        Held::Running { thread } => format!("the end of {}", threads.thread(thread).name),
    }
}

fn wait_word(threads: &Threads, wait: Wait) -> String {
    match wait {
        Wait::Lock { lock, mode } => lock_word(threads, lock, mode),
        Wait::Join { thread } => format!("the end of {}", threads.thread(thread).name),
    }
}

/// By what is held and what is waited for: the places, and whether that is part of a cycle.
type Order = BTreeMap<(String, String), (BTreeSet<String>, bool)>;

fn order(analysis: &Analysis<'_>, places: Places<'_>) -> Order {
    let threads = analysis.threads;
    let (edges, on_cycles) = lock_order_edges(analysis);
    let on_cycles: BTreeSet<OrderEdge> = on_cycles.into_iter().collect();
    let mut order = Order::new();
    for edge in edges {
        let entry = order.entry((held_word(threads, edge.holds), wait_word(threads, edge.waits))).or_default();
        entry.0.insert(format!("{}, {}", threads.thread(edge.thread).name, places(edge.thread, edge.symbol)));
        entry.1 |= on_cycles.contains(&edge);
    }
    order
}

/// "a before b" and where, then the cycles that are deadlocks, may be, or are none.
pub fn lock_order(threads: &Threads, places: Places<'_>) -> String {
    let mut analysis = Analysis::of(threads);
    let mut text = String::new();
    for ((held, waited), (places, is_cyclic)) in order(&analysis, places) {
        let cyclic = if is_cyclic { "  (part of a cycle)" } else { "" };
        writeln!(text, "{held} before {waited}{cyclic}").expect("a string grows");
        places.iter().for_each(|place| writeln!(text, "  {place}").expect("a string grows"));
    }
    if text.is_empty() {
        text.push_str("no thread waits for a lock or for another thread while it holds a lock\n");
    }
    let found = deadlocks(&mut analysis);
    for cycle in &found.cycles {
        text.push_str(&cycle_words(threads, cycle, places));
    }
    for cycle in &found.dismissed {
        text.push_str(&dismissed_words(threads, cycle));
    }
    let Deadlocks { is_complete, .. } = found;
    if !is_complete {
        text.push_str("not complete: there are more cycles than were looked at\n");
    }
    text
}

fn cycle_words(threads: &Threads, cycle: &DeadlockCycle, places: Places<'_>) -> String {
    let doubts: Vec<&str> = cycle.doubts.iter().map(Doubt::sentence).collect();
    let mut text = match doubts.is_empty() {
        true => "deadlock\n".to_owned(),
        false => format!("deadlock, not sure: {}\n", doubts.join(", ")),
    };
    for member in &cycle.members {
        let thread = member.standing.thread;
        let holds = member.blocks_by.map_or_else(|| "runs".to_owned(), |lock| format!("holds {}", threads.locks.name(lock)));
        let (waits, place) = (wait_word(threads, member.waits), places(thread, member.symbol));
        writeln!(text, "  {} {holds} and waits for {waits}: {place}", threads.thread(thread).name).expect("a string grows");
    }
    text
}

fn dismissed_words(threads: &Threads, cycle: &DismissedCycle) -> String {
    let edges =
        cycle.edges.iter().map(|edge| format!("{} before {}", held_word(threads, edge.holds), wait_word(threads, edge.waits)));
    let why = match &cycle.reason {
        Dismissal::SingleInstance(thread) => format!("needs {} more often than it exists", threads.thread(*thread).name),
        Dismissal::NotTogether(_) => "two of its threads are never there at once".to_owned(),
        Dismissal::GateLock(lock) => format!("{} lets one in at a time", threads.locks.name(*lock)),
        Dismissal::Histories(Incompatible::CommonLock { lock, .. } | Incompatible::HeldThroughout { lock, .. }) => {
            format!("{} keeps two apart", threads.locks.name(*lock))
        }
        Dismissal::Histories(Incompatible::AcquisitionCycle(cycle) | Incompatible::ReleaseCycle(cycle)) => {
            let locks: Vec<&str> = cycle.iter().map(|(_, lock)| threads.locks.name(*lock)).collect();
            format!("the lock histories of {} contradict each other", locks.join(", "))
        }
        Dismissal::Children => "each of them waits for a thread that it has created itself".to_owned(),
        Dismissal::InOrder => "locks are taken in the order of their addresses".to_owned(),
        Dismissal::InOrderOfKeys => "locks are taken in the order of numbers beside them".to_owned(),
        Dismissal::NotHeld(thread) => format!("{} does not hold that lock there", threads.thread(*thread).name),
    };
    format!("no deadlock: {}: {why}\n", edges.collect::<Vec<_>>().join(", "))
}

/// A graph of locks; what is part of a cycle is red.
pub fn lock_order_dot(threads: &Threads, places: Places<'_>) -> String {
    let analysis = Analysis::of(threads);
    let mut text = "digraph lock_order {\n  node [shape=box];\n".to_owned();
    for ((held, waited), (places, is_cyclic)) in order(&analysis, places) {
        let color = if is_cyclic { ", color=red" } else { "" };
        let label = places.into_iter().collect::<Vec<_>>().join("\\n");
        // The line breaks of a label are DOT's own.
        let label = quoted(&label).replace("\\\\n", "\\n");
        writeln!(text, "  {} -> {} [label={label}{color}];", quoted(&held), quoted(&waited)).expect("a string grows");
    }
    text.push_str("}\n");
    text
}
