//! Edges of the lock order that no search can tell apart: one stands for all of them.
//!
//! # Definition   Two edges are alike if the same thread holds the same and waits for the same, in the same order of addresses, with the same histories, at
//!                places that are apart from the same other places.
//! # Theorem      In a cycle an edge can be replaced by one that is alike: whether members fit depends on these alone.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ascending::Nature;
use super::{Held, Natures, OrderEdge, Wait};
use crate::locks::history::Whole;
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

/// The places that stand for one another.
#[derive(Default)]
pub struct Alike {
    /// By edge that stands for others: where the others are.
    others: BTreeMap<OrderEdge, Vec<SymbolId>>,
}

/// What edges that are alike have in common, beside their histories.
type Key = (ThreadId, Origin, Held, Wait, Nature, Vec<u32>);

/// An edge, and the histories that tell it from others.
type Told = (Rc<[Whole]>, OrderEdge);

impl Alike {
    /// The edges that stand for all, and those they stand for. Without a known order every place is its own, unless all threads are there from the start:
    /// then no two places are apart.
    pub fn of(analysis: &mut Analysis<'_>, edges: Vec<OrderEdge>, natures: &Natures) -> (Vec<OrderEdge>, Alike) {
        let threads = analysis.threads;
        let is_created = |thread: ThreadId| analysis.population.exists(thread, Origin::Created);
        if threads.order.is_none() && threads.ids().any(is_created) {
            return (edges, Alike::default());
        }
        let mut known: BTreeMap<Key, Vec<Told>> = BTreeMap::new();
        let mut alike = Alike::default();
        let mut first = Vec::new();
        for edge in edges {
            if analysis.is_out_of_time() {
                break;
            }
            let histories = analysis.histories_at(edge.thread, edge.origin, edge.symbol);
            let direction = natures.get(&edge).copied().unwrap_or_default();
            let points = threads.order.as_ref().map_or(&[][..], |order| order.points(edge.thread, edge.symbol)).to_vec();
            let same = known.entry((edge.thread, edge.origin, edge.holds, edge.waits, direction, points)).or_default();
            match same.iter().find(|(other, _)| *other == histories) {
                Some((_, one)) => alike.others.entry(*one).or_default().push(edge.symbol),
                None => {
                    same.push((histories, edge));
                    first.push(edge);
                }
            }
        }
        (first, alike)
    }

    /// The other places that an edge stands for.
    pub fn others(&self, edge: &OrderEdge) -> &[SymbolId] {
        self.others.get(edge).map_or(&[], Vec::as_slice)
    }
}
