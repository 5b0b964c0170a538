//! The lock order: who may hold what while waiting for what. Only edges that lie on a cycle are of interest.

use std::collections::BTreeSet;

use super::{Held, OrderEdge, Wait};
use crate::locks::Mode;
use crate::locks::history::{Atom, BitSet, LockId};
use crate::thread_pds::{Analysis, Identity, Origin, Step};

/// Who holds up whom.
pub struct Blocking {
    /// By lock: all names that may mean the same run-time lock.
    same: Vec<Vec<LockId>>,
}

impl Blocking {
    pub fn of(analysis: &Analysis<'_>) -> Blocking {
        let table = &analysis.threads.locks;
        let mut same: Vec<Vec<LockId>> = table.ids().map(|lock| vec![lock]).collect();
        let several: Vec<LockId> = table.ids().filter(|lock| matches!(table.lock(*lock).identity, Identity::OneOf(_))).collect();
        for name in &several {
            for lock in table.ids().filter(|lock| lock != name && table.may_be_same(*name, *lock)) {
                same[name.0 as usize].push(lock);
                if !several.contains(&lock) {
                    same[lock.0 as usize].push(*name);
                }
            }
        }
        Blocking { same }
    }

    /// Whether a thread that waits so can be held up by another one that has this.
    pub fn blocks(&self, waits: Wait, holds: Held) -> bool {
        match (waits, holds) {
            (Wait::Lock { lock, mode }, Held::Lock { lock: held, mode: held_mode }) => {
                (mode == Mode::Exclusive || held_mode == Mode::Exclusive)
                    && (lock == held || self.same[lock.0 as usize].contains(&held))
            }
            (Wait::Join { thread }, Held::Running { thread: running }) => thread == running,
            (Wait::Lock { .. }, Held::Running { .. }) | (Wait::Join { .. }, Held::Lock { .. }) => false,
        }
    }

    /// All that can hold up a thread that waits so.
    pub fn held(&self, waits: Wait) -> Vec<Held> {
        match waits {
            Wait::Lock { lock, .. } => {
                let both = |lock: &LockId| [Mode::Shared, Mode::Exclusive].map(|mode| Held::Lock { lock: *lock, mode });
                let all = self.same[lock.0 as usize].iter().flat_map(both);
                all.filter(|held| self.blocks(waits, *held)).collect()
            }
            Wait::Join { thread } => vec![Held::Running { thread }],
        }
    }

    /// Whether one who surely holds these atoms, of locks that are one each, holds up a thread that waits so.
    pub fn is_held_up(&self, waits: Wait, surely: &BitSet) -> bool {
        match waits {
            Wait::Lock { lock, mode } => self.same[lock.0 as usize].len() == 1 && Atom::new(lock, mode).conflicts_with(surely),
            Wait::Join { .. } => false,
        }
    }
}

/// The edges of the lock order that lie on a cycle of it.
pub fn order_edges(analysis: &Analysis<'_>, blocking: &Blocking) -> Vec<OrderEdge> {
    on_cycles(blocking, all_edges(analysis))
}

/// All edges of the lock order.
pub fn all_edges(analysis: &Analysis<'_>) -> Vec<OrderEdge> {
    let mut edges: BTreeSet<OrderEdge> = BTreeSet::new();
    for thread in analysis.threads.ids() {
        for origin in [Origin::Start, Origin::Created] {
            if !analysis.population.exists(thread, origin) {
                continue;
            }
            for (_, rule) in analysis.threads.thread(thread).system.rules() {
                let symbol = rule.from.symbol;
                let waits = match rule.weight {
                    Step::Acquire { lock, mode } => Wait::Lock { lock, mode },
                    Step::Join { thread, .. } => Wait::Join { thread },
                    Step::Nothing
                    | Step::TrySucceeded { .. }
                    | Step::TryFailed { .. }
                    | Step::Release { .. }
                    | Step::Sleep { .. }
                    | Step::Spawn { .. }
                    | Step::Condition => continue,
                };
                if analysis.is_out_of_time() || !analysis.comes_to(thread, origin, symbol) {
                    continue;
                }
                let atoms = analysis.may_hold(thread, origin, symbol);
                let locks = atoms.iter().map(Atom::from_index).map(|atom| Held::Lock { lock: atom.lock(), mode: atom.mode() });
                let running = (origin == Origin::Created).then_some(Held::Running { thread });
                edges.extend(locks.chain(running).map(|holds| OrderEdge { thread, origin, symbol, holds, waits }));
            }
        }
    }
    edges.into_iter().collect()
}

/// Edges whose ends lie in one strongly connected part. Edges are the nodes: e is followed by f if f's thread holds up e's.
fn on_cycles(blocking: &Blocking, edges: Vec<OrderEdge>) -> Vec<OrderEdge> {
    // What is held and what is waited for are few, the edges are many: the graph has these as nodes.
    let holds: Vec<Held> = edges.iter().map(|edge| edge.holds).collect::<BTreeSet<_>>().into_iter().collect();
    let waits: Vec<Wait> = edges.iter().map(|edge| edge.waits).collect::<BTreeSet<_>>().into_iter().collect();
    let hold_node = |holds_this: &Held| holds.binary_search(holds_this).expect("it was listed");
    let wait_node = |waits_this: &Wait| holds.len() + waits.binary_search(waits_this).expect("it was listed");
    let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
    let nodes: Vec<_> = (0..holds.len() + waits.len()).map(|_| graph.add_node(())).collect();
    for (holds, waits) in edges.iter().map(|edge| (edge.holds, edge.waits)).collect::<BTreeSet<_>>() {
        graph.add_edge(nodes[hold_node(&holds)], nodes[wait_node(&waits)], ());
    }
    for wait in &waits {
        for held in blocking.held(*wait).iter().filter_map(|held| holds.binary_search(held).ok()) {
            graph.add_edge(nodes[wait_node(wait)], nodes[held], ());
        }
    }
    let mut part = vec![0; nodes.len()];
    for (number, members) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
        members.into_iter().for_each(|node| part[node.index()] = number);
    }
    edges.into_iter().filter(|edge| part[hold_node(&edge.holds)] == part[wait_node(&edge.waits)]).collect()
}
