//! The lock order: who may hold what while waiting for what. Only edges that lie on a cycle are of interest.

use std::collections::BTreeSet;

use super::{Held, OrderEdge, Wait};
use crate::locks::Mode;
use crate::locks::history::Atom;
use crate::thread_pds::{Analysis, Origin, Step};

/// Whether a thread that waits so can be held up by another one that has this.
pub fn blocks(analysis: &Analysis<'_>, waits: Wait, holds: Held) -> bool {
    match (waits, holds) {
        (Wait::Lock { lock, mode }, Held::Lock { lock: held, mode: held_mode }) => {
            (mode == Mode::Exclusive || held_mode == Mode::Exclusive) && analysis.threads.locks.may_be_same(lock, held)
        }
        (Wait::Join { thread }, Held::Running { thread: running }) => thread == running,
        (Wait::Lock { .. }, Held::Running { .. }) | (Wait::Join { .. }, Held::Lock { .. }) => false,
    }
}

/// The edges of the lock order that lie on a cycle of it.
pub fn order_edges(analysis: &Analysis<'_>) -> Vec<OrderEdge> {
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
                if !analysis.comes_to(thread, origin, symbol) {
                    continue;
                }
                let atoms = analysis.may_hold(thread, origin, symbol);
                let locks = atoms.iter().map(Atom::from_index).map(|atom| Held::Lock { lock: atom.lock(), mode: atom.mode() });
                let running = (origin == Origin::Created).then_some(Held::Running { thread });
                edges.extend(locks.chain(running).map(|holds| OrderEdge { thread, origin, symbol, holds, waits }));
            }
        }
    }
    on_cycles(analysis, edges.into_iter().collect())
}

/// Edges whose ends lie in one strongly connected part. Edges are the nodes: e is followed by f if f's thread holds up e's.
fn on_cycles(analysis: &Analysis<'_>, edges: Vec<OrderEdge>) -> Vec<OrderEdge> {
    // What is held and what is waited for are few, the edges are many: the graph has these as nodes.
    let holds: Vec<Held> = edges.iter().map(|edge| edge.holds).collect::<BTreeSet<_>>().into_iter().collect();
    let waits: Vec<Wait> = edges.iter().map(|edge| edge.waits).collect::<BTreeSet<_>>().into_iter().collect();
    let hold_node = |holds_this: &Held| holds.binary_search(holds_this).expect("it was listed");
    let wait_node = |waits_this: &Wait| holds.len() + waits.binary_search(waits_this).expect("it was listed");
    let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
    let nodes: Vec<_> = (0..holds.len() + waits.len()).map(|_| graph.add_node(())).collect();
    for edge in &edges {
        graph.update_edge(nodes[hold_node(&edge.holds)], nodes[wait_node(&edge.waits)], ());
    }
    for wait in &waits {
        for held in holds.iter().filter(|held| blocks(analysis, *wait, **held)) {
            graph.update_edge(nodes[wait_node(wait)], nodes[hold_node(held)], ());
        }
    }
    let mut part = vec![0; nodes.len()];
    for (number, members) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
        members.into_iter().for_each(|node| part[node.index()] = number);
    }
    edges.into_iter().filter(|edge| part[hold_node(&edge.holds)] == part[wait_node(&edge.waits)]).collect()
}
