//! Cycles: nodes that copy in a circle become one, arithmetic in a circle becomes a stride, and the rest gets an order.
//!
//! # Theorem      In every solution the nodes of a strongly connected component of the copy graph have the same set; and when a component
//!                contains `to ⊇ node + c`, its set is closed under + c, so that only the class modulo |c| is of interest.
//! # Paper        Nuutila, Soisalon-Soininen 1994 for the search; Pearce, Kelly, Hankin 2007 for weighted cycles.
//! # Deviations   1. Components are looked for when the work done since the last search pays for the next, not after every edge (Hardekopf
//!                and Lin 2007 wait for equal sets instead).  2. A weighted cycle gets a stride; its nodes are not merged, for they differ
//!                in the offset at which they begin.

use super::graph::{Constraint, Graph, NodeId};
use super::location::greatest_common_divisor;

const UNSEEN: u32 = u32::MAX;

impl Graph {
    /// Merges the cycles of copies, folds the cycles of arithmetic if asked to, numbers nodes in topological order. How many nodes were
    /// merged.
    pub fn order(&mut self, looks_for_arithmetic: bool) -> usize {
        self.flatten();
        if looks_for_arithmetic {
            self.fold_weighted_cycles();
        }
        let components = components(self, |graph, node, visit| {
            graph.successors[node.0 as usize].iter().for_each(|next| visit(graph.find(*next)))
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
        let components = components(self, |graph, node, visit| {
            graph.successors[node.0 as usize].iter().for_each(|next| visit(graph.find(*next)));
            for constraint in &graph.constraints[node.0 as usize] {
                if let Constraint::Shift { to, .. } = constraint {
                    visit(graph.find(*to));
                }
            }
        });
        let mut component_of = vec![UNSEEN; self.len()];
        for (number, component) in components.iter().enumerate() {
            component.iter().for_each(|node| component_of[node.0 as usize] = number as u32);
        }
        for node in &components.nodes {
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

/// The strongly connected components, each after those it leads to; Tarjan's search with a stack of its own.
fn components(graph: &Graph, successors: impl Fn(&Graph, NodeId, &mut dyn FnMut(NodeId))) -> Components {
    let mut numbers = vec![UNSEEN; graph.len()];
    let mut low = vec![0u32; graph.len()];
    let mut is_open = vec![false; graph.len()];
    let (mut open, mut found, mut next_number) = (Vec::new(), Components::default(), 0);
    // Node, and where its successors begin and end in `targets`.
    let mut path: Vec<(NodeId, usize)> = Vec::new();
    let mut targets: Vec<NodeId> = Vec::new();
    for index in 0..graph.len() {
        let root = NodeId(index as u32);
        if !graph.is_representative(root) || numbers[index] != UNSEEN {
            continue;
        }
        let mut enter =
            |node: NodeId, path: &mut Vec<(NodeId, usize)>, targets: &mut Vec<NodeId>, numbers: &mut [u32], low: &mut [u32]| {
                numbers[node.0 as usize] = next_number;
                low[node.0 as usize] = next_number;
                next_number += 1;
                path.push((node, targets.len()));
                successors(graph, node, &mut |target| targets.push(target));
            };
        enter(root, &mut path, &mut targets, &mut numbers, &mut low);
        open.push(root);
        is_open[index] = true;
        while let Some(&(node, begin)) = path.last() {
            if targets.len() > begin {
                let target = targets.pop().expect("there is one more than at the beginning");
                let at = target.0 as usize;
                if numbers[at] == UNSEEN {
                    enter(target, &mut path, &mut targets, &mut numbers, &mut low);
                    open.push(target);
                    is_open[at] = true;
                } else if is_open[at] {
                    low[node.0 as usize] = low[node.0 as usize].min(numbers[at]);
                }
                continue;
            }
            path.pop();
            let reached = low[node.0 as usize];
            if let Some(&(parent, _)) = path.last() {
                low[parent.0 as usize] = low[parent.0 as usize].min(reached);
            }
            if reached == numbers[node.0 as usize] {
                let begin = open.iter().rposition(|opened| *opened == node).expect("an open component has its root on the stack");
                let component = &mut open[begin..];
                component.iter().for_each(|member| is_open[member.0 as usize] = false);
                component.sort_unstable();
                found.nodes.extend(open.drain(begin..));
                found.ends.push(found.nodes.len());
            }
        }
    }
    found
}
