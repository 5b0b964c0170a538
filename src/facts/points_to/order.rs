//! Cycles: nodes that copy in a circle become one, arithmetic in a circle becomes a stride, and the rest gets an order.
//!
//! # Theorem      In every solution the nodes of a strongly connected component of the copy graph have the same set; and when a component
//!                contains `to ⊇ node + c`, its set is closed under + c, so that only the class modulo |c| is of interest.
//! # Paper        Nuutila, Soisalon-Soininen 1994 for the search; Pearce, Kelly, Hankin 2007 for weighted cycles.
//! # Deviations   1. Components are looked for when the work done since the last search pays for the next, not after every edge (Hardekopf
//!                and Lin 2007 wait for equal sets instead).  2. A weighted cycle gets a stride; its nodes are not merged, for they differ
//!                in the offset at which they begin.

use super::constraint::Constraint;
use super::graph::{Graph, NodeId};
use super::location::greatest_common_divisor;

const UNSEEN: u32 = u32::MAX;
/// Its component is found: greater than the number of any node that is open.
const CLOSED: u32 = u32::MAX - 1;

impl Graph {
    /// Merges the cycles of copies, folds the cycles of arithmetic if asked to, numbers nodes in topological order. How many nodes were
    /// merged.
    pub fn order(&mut self, looks_for_arithmetic: bool) -> usize {
        self.flatten();
        if looks_for_arithmetic {
            self.fold_weighted_cycles();
        }
        let components = components(self, |graph, node, targets| {
            targets.extend(graph.successors[node.0 as usize].iter().map(|next| graph.find_flat(*next)));
        });
        let mut merged = 0;
        // A component is found after all components it leads to.
        let count = components.len() as u32;
        for (position, component) in components.iter().enumerate() {
            let kept = component[0];
            self.ranks[kept.0 as usize] = count - position as u32;
            for &gone in &component[1..] {
                self.merge(kept, gone);
                merged += 1;
            }
        }
        self.flatten();
        let merged_into: Vec<NodeId> =
            components.iter().filter(|component| component.len() > 1).map(|component| component[0]).collect();
        self.settle(&merged_into);
        merged
    }

    fn fold_weighted_cycles(&mut self) {
        let components = components(self, |graph, node, targets| {
            targets.extend(graph.successors[node.0 as usize].iter().map(|next| graph.find_flat(*next)));
            if graph.may_shift(node) {
                targets.extend(graph.constraints[node.0 as usize].iter().filter_map(|constraint| match constraint {
                    Constraint::Shift { to, .. } => Some(graph.find_flat(*to)),
                    _ => None,
                }));
            }
        });
        let mut component_of = vec![UNSEEN; self.len()];
        for (number, component) in components.iter().enumerate() {
            component.iter().for_each(|node| component_of[node.0 as usize] = number as u32);
        }
        for node in &components.nodes {
            if !self.may_shift(*node) {
                continue;
            }
            let mut constraints = std::mem::take(&mut self.constraints[node.0 as usize]);
            for constraint in &mut constraints {
                if let Constraint::Shift { to, constant, stride, step, count, .. } = constraint
                    && component_of[self.find(*to).0 as usize] == component_of[node.0 as usize]
                {
                    *stride = greatest_common_divisor(*stride, constant.unsigned_abs());
                    // Steps add up in a circle: the window has no end.
                    *stride = greatest_common_divisor(*stride, (*step).into());
                    (*step, *count) = (0, 1);
                }
            }
            self.constraints[node.0 as usize] = constraints;
        }
    }
}

/// When a node was found, and the first one that is open and that it leads to.
#[derive(Clone, Copy)]
struct Seen {
    number: u32,
    low: u32,
}

/// Strongly connected components: one after the other, for most are single nodes.
#[derive(Default)]
struct Components {
    nodes: Vec<NodeId>,
    /// Where each one ends.
    ends: Vec<usize>,
}

impl Components {
    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The nodes of each, ascending.
    fn iter(&self) -> impl Iterator<Item = &[NodeId]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.nodes[begin..*end])
    }
}

/// The strongly connected components, each after those it leads to; Tarjan's search with a stack of its own. `successors` adds those of a node to a list.
fn components(graph: &Graph, successors: impl Fn(&Graph, NodeId, &mut Vec<NodeId>)) -> Components {
    let mut seen = vec![Seen { number: UNSEEN, low: 0 }; graph.len()];
    let (mut open, mut found, mut next_number) = (Vec::new(), Components::default(), 0);
    // Node, and where its successors begin in `targets`.
    let mut path: Vec<(NodeId, usize)> = Vec::new();
    let mut targets: Vec<NodeId> = Vec::new();
    for index in 0..graph.len() {
        let root = NodeId(index as u32);
        if seen[index].number != UNSEEN || !graph.is_representative(root) {
            continue;
        }
        targets.push(root);
        loop {
            let begin = path.last().map_or(0, |(_, begin)| *begin);
            if targets.len() > begin {
                let target = targets.pop().expect("there is one more than at the beginning");
                let known = seen[target.0 as usize];
                if known.number != UNSEEN {
                    if let Some((node, _)) = path.last() {
                        let low = &mut seen[node.0 as usize].low;
                        *low = known.number.min(*low);
                    }
                    continue;
                }
                let begin = targets.len();
                successors(graph, target, &mut targets);
                if targets.len() == begin {
                    // It leads nowhere: a component of its own.
                    seen[target.0 as usize].number = CLOSED;
                    found.nodes.push(target);
                    found.ends.push(found.nodes.len());
                    continue;
                }
                seen[target.0 as usize] = Seen { number: next_number, low: next_number };
                next_number += 1;
                path.push((target, begin));
                open.push(target);
                continue;
            }
            let Some((node, _)) = path.pop() else { break };
            let Seen { number, low } = seen[node.0 as usize];
            if let Some((parent, _)) = path.last() {
                let above = &mut seen[parent.0 as usize].low;
                *above = low.min(*above);
            }
            if low == number {
                let begin = open.iter().rposition(|opened| *opened == node).expect("an open component has its root on the stack");
                let component = &mut open[begin..];
                component.iter().for_each(|member| seen[member.0 as usize].number = CLOSED);
                component.sort_unstable();
                found.nodes.extend(open.drain(begin..));
                found.ends.push(found.nodes.len());
            }
        }
    }
    found
}
