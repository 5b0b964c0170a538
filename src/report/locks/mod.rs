//! What the lock engines work on, for people: the pushdown systems of threads, the lock histories of their places, the lock order.
//!
//! Nothing here depends on where threads come from: who has them says what their places are called ([`Places`]).

mod histories;
mod order;
mod pds;

pub use histories::histories;
pub use order::{lock_order, lock_order_dot};
pub use pds::{pds, pds_dot};

use crate::locks::Mode;
use crate::locks::history::{Atom, BitSet};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Step, ThreadId, Threads};

/// How the place of a symbol is called: "line 4: acquire a", "queue.c:17: pthread_mutex_lock".
pub type Places<'p> = &'p dyn Fn(ThreadId, SymbolId) -> String;

/// A step in words; nothing for one that does nothing.
fn step_words(threads: &Threads, step: Step) -> String {
    let lock = |lock, mode| format!("{}{}", threads.locks.name(lock), if mode == Mode::Shared { " shared" } else { "" });
    match step {
        Step::Nothing => String::new(),
        Step::Acquire { lock: taken, mode } => format!("acquire {}", lock(taken, mode)),
        Step::TrySucceeded { lock: taken, mode } => format!("try {}: taken", lock(taken, mode)),
        Step::TryFailed { lock: tried, mode } => format!("try {}: not taken", lock(tried, mode)),
        Step::Release { lock } => format!("release {}", threads.locks.name(lock)),
        Step::Sleep { lock } => format!("release {} and sleep", threads.locks.name(lock)),
        Step::Spawn { thread } => format!("create {}", threads.thread(thread).name),
        Step::Join { thread, is_last: true } => format!("join the last {}", threads.thread(thread).name),
        Step::Join { thread, is_last: false } => format!("join a {}", threads.thread(thread).name),
        Step::Condition => "if data allow".to_owned(),
    }
}

fn atom_word(threads: &Threads, atom: Atom) -> String {
    let shared = if atom.mode() == Mode::Shared { " shared" } else { "" };
    format!("{}{shared}", threads.locks.name(atom.lock()))
}

/// "a, b shared"; "nothing" for no atom. The moment of a creation is no lock.
fn atom_words(threads: &Threads, atoms: &BitSet) -> String {
    let locks = atoms.iter().map(Atom::from_index).filter(|atom| (atom.lock().0 as usize) < threads.locks.len());
    let words: Vec<String> = locks.map(|atom| atom_word(threads, atom)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// A string of DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
