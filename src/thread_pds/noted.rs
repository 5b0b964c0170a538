//! Which acquisitions anybody needs to know of.
//!
//! # Definition   The lock order: l before m if some thread may hold l when it takes m. A lock is entangled with the others of its strongly connected part.
//! # Theorem      An acquisition of m can refute something only if its thread may hold a lock there with which m is entangled, or somebody holds m at the
//!                start, or a thread may hold m when it creates another one. For a cycle of acquisition or release histories is a cycle
//!                of the lock order, and each of its edges is an acquisition made with the edge's lock held; what is held throughout is
//!                held at the start; and a creation is part of a cycle only if the child takes what its creator holds since before
//!                (if the child's history leads back to such a lock, the child has taken it).
//!                All others may be left out of histories without any answer being another one.
//! # Paper        Kahlon, Ivančić, Gupta 2005, §5.1: only locks that can be part of an answer.

use rustc_hash::FxHashSet;

use super::first_pass::FirstPass;
use super::system::{Step, ThreadId, Threads};
use crate::deadline::{Deadline, OutOfTime};
use crate::locks::history::{Atom, BitSet, LockId};
use crate::pushdown::SymbolId;

#[derive(Debug)]
pub enum Noted {
    All,
    /// Where only holding counts.
    Nothing,
    Entangled {
        /// By lock: its part of the lock order, if others are in it.
        parts: Vec<Option<u32>>,
        /// Locks of which every acquisition is noted.
        always: BitSet,
    },
}

impl Noted {
    /// Locks that are not reliable have no part in histories.
    pub fn entangled(threads: &Threads, pass: &FirstPass, deadline: Deadline) -> Result<Noted, OutOfTime> {
        let mut always = BitSet::default();
        let mut edges: FxHashSet<(LockId, LockId)> = FxHashSet::default();
        threads.threads.iter().flat_map(|thread| &thread.holds).for_each(|atom| always.insert(atom.lock().0 as usize));
        for thread in pass.compacts.firsts() {
            for (_, rule) in pass.compacts.of_thread(thread).system.rules() {
                deadline.check_steps()?;
                match rule.weight {
                    Step::Acquire { lock, .. } | Step::TrySucceeded { lock, .. } => {
                        let before = held(threads, pass, thread, rule.from.symbol).filter(|before| *before != lock);
                        edges.extend(before.map(|before| (before, lock)));
                    }
                    Step::Spawn { .. } => {
                        held(threads, pass, thread, rule.from.symbol).for_each(|lock| always.insert(lock.0 as usize))
                    }
                    Step::Nothing
                    | Step::TryFailed { .. }
                    | Step::Release { .. }
                    | Step::Sleep { .. }
                    | Step::Join { .. }
                    | Step::Condition => {}
                }
            }
        }
        let mut order = petgraph::graph::DiGraph::<(), ()>::new();
        let nodes: Vec<_> = threads.locks.ids().map(|_| order.add_node(())).collect();
        for (before, lock) in edges {
            order.add_edge(nodes[before.0 as usize], nodes[lock.0 as usize], ());
        }
        let mut parts = vec![None; nodes.len()];
        for (number, members) in petgraph::algo::tarjan_scc(&order).into_iter().enumerate().filter(|(_, part)| part.len() > 1) {
            members.into_iter().for_each(|node| parts[node.index()] = Some(number as u32));
        }
        Ok(Noted::Entangled { parts, always })
    }

    /// Whether the acquisition of a lock at a symbol stands in histories.
    pub fn is_noted(&self, threads: &Threads, pass: &FirstPass, thread: ThreadId, symbol: SymbolId, lock: LockId) -> bool {
        match self {
            Noted::All => true,
            Noted::Nothing => false,
            Noted::Entangled { parts, always } => {
                always.contains(lock.0 as usize)
                    || parts[lock.0 as usize].is_some_and(|part| {
                        held(threads, pass, thread, symbol).any(|other| other != lock && parts[other.0 as usize] == Some(part))
                    })
            }
        }
    }
}

/// The reliable locks that some instance may hold at a symbol.
fn held<'a>(threads: &'a Threads, pass: &'a FirstPass, thread: ThreadId, symbol: SymbolId) -> impl Iterator<Item = LockId> + 'a {
    let mut atoms = BitSet::default();
    for origin in pass.origins(threads, thread) {
        atoms.union_with(&pass.may_hold(threads, thread, origin, symbol));
    }
    let locks: Vec<LockId> = atoms.iter().map(|atom| Atom::from_index(atom).lock()).collect();
    locks.into_iter().filter(|lock| pass.reliable.contains(lock.0 as usize))
}
