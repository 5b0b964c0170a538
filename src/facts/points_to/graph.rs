//! The constraint graph: nodes with their sets, copy edges between them, and what else waits for a node's set to grow.
//!
//! Sets grow by differences: a node keeps apart what its successors and constraints have not seen yet. A set that holds a whole object takes no more of its places. Nodes on a cycle of copy edges
//! have equal sets in every solution, so they are merged (`order`); a merged node answers for all of its parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use super::form::Form;
use super::set::LocationSet;
use super::typed::Pointed;
use crate::program::StructureId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub u32);

/// What happens when the set of the node it is attached to grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Constraint {
    /// `to ⊇ *node`.
    Load {
        to: NodeId,
        form: Form,
    },
    /// `*node ⊇ from`.
    Store {
        from: NodeId,
        form: Form,
    },
    /// As soon as the node holds anything: `*address ⊇ node`. Most stored numbers never do.
    StoreTo {
        address: NodeId,
        form: Form,
    },
    /// `to ⊇ node + constant + n·stride + m·step`, 0 ≤ m < `count`.
    Shift {
        to: NodeId,
        constant: i64,
        stride: u64,
        step: u32,
        count: u32,
        in_bounds: bool,
        /// The node is used as a pointer to this structure.
        structure: Option<StructureId>,
    },
    /// The low bits of the address are cleared, set or flipped.
    LowBits {
        to: NodeId,
        operation: LowBits,
        bits: u64,
    },
    /// `to` is a number computed from the node.
    Residue {
        to: NodeId,
    },
    /// The node is the source, or the destination, of a copy of memory.
    CopySource {
        copy: u32,
    },
    CopyDestination {
        copy: u32,
    },
    /// What the node points to is called.
    Call {
        call: u32,
    },
    /// What the node points to is known outside the program.
    Escape,
}

impl Constraint {
    /// `to` is the node's addresses, `constant` and any number of strides further on.
    pub fn shift(to: NodeId, constant: i64, stride: u64, in_bounds: bool) -> Constraint {
        Constraint::Shift { to, constant, stride, step: 0, count: 1, in_bounds, structure: None }
    }

    /// `to` is the node's addresses, moved anywhere inside their objects.
    pub fn anywhere(to: NodeId) -> Constraint {
        Constraint::shift(to, 0, 1, false)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LowBits {
    Clear,
    Set,
    Flip,
}

/// The structures whose pointers an object fits (`typed`).
#[derive(Clone, Debug, Default)]
pub(super) struct Fit(Option<Rc<FixedBitSet>>);

impl Fit {
    pub fn all() -> Fit {
        Fit(None)
    }

    pub fn some(structures: FixedBitSet) -> Fit {
        Fit(Some(Rc::new(structures)))
    }

    fn contains(&self, structure: u16) -> bool {
        self.0.as_ref().is_none_or(|structures| structures.contains(structure.into()))
    }
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The node that answers for each node; itself for most.
    parents: Vec<u32>,
    pub sets: Vec<LocationSet>,
    /// By location: the one that contains it, anywhere in the object, if there is such a location; else itself.
    pub wholes: Vec<u32>,
    /// By location: whether it contains others.
    pub covers: Vec<bool>,
    /// Locations beyond which a set is a crowd (`crowd`).
    crowd: usize,
    /// By location, and by node: what it points to if it is typed.
    pub fits: Vec<Fit>,
    pointed: Vec<Pointed>,
    /// Something did not fit a typed crowd.
    pub has_misfits: bool,
    /// Locations of code, and by node: whether it takes none of them.
    pub code: LocationSet,
    takes_no_code: Vec<bool>,
    /// What of the set was not passed on yet.
    pub deltas: Vec<LocationSet>,
    pub successors: Vec<Vec<NodeId>>,
    pub constraints: Vec<Vec<Constraint>>,
    edges: FxHashSet<(NodeId, NodeId)>,
    attached: FxHashSet<(NodeId, Constraint)>,
    /// Position in the last topological order; sources of copies first.
    pub ranks: Vec<u32>,
    waiting: BinaryHeap<Reverse<(u32, NodeId)>>,
    is_waiting: Vec<bool>,
    /// Edges added since the last order was made.
    pub new_edges: usize,
}

impl Graph {
    pub fn new(crowd: usize) -> Graph {
        Graph { crowd, ..Graph::default() }
    }

    pub fn node(&mut self) -> NodeId {
        self.nodes(1)
    }

    /// The first of `count` new nodes in a row.
    pub fn nodes(&mut self, count: usize) -> NodeId {
        let first = self.parents.len();
        let all = first + count;
        self.parents.extend(first as u32..all as u32);
        self.sets.resize_with(all, LocationSet::default);
        self.deltas.resize_with(all, LocationSet::default);
        self.successors.resize_with(all, Vec::new);
        self.constraints.resize_with(all, Vec::new);
        self.ranks.resize(all, 0);
        self.takes_no_code.resize(all, false);
        self.pointed.resize(all, None);
        self.is_waiting.resize(all, false);
        NodeId(first as u32)
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The node that answers for this one.
    pub fn find(&self, node: NodeId) -> NodeId {
        let mut at = node.0;
        while self.parents[at as usize] != at {
            at = self.parents[at as usize];
        }
        NodeId(at)
    }

    pub fn set(&self, node: NodeId) -> &LocationSet {
        &self.sets[self.find(node).0 as usize]
    }

    pub fn is_representative(&self, node: NodeId) -> bool {
        self.parents[node.0 as usize] == node.0
    }

    /// Whether a set says with another location of the object all that this one would say.
    fn is_covered(&self, node: NodeId, location: u32) -> bool {
        let whole = self.wholes[location as usize];
        whole != location && self.sets[node.0 as usize].contains(whole)
    }

    pub fn point_to(&mut self, node: NodeId, pointed: Pointed) {
        self.pointed[node.0 as usize] = pointed;
    }

    pub fn is_crowd(&self, node: NodeId) -> bool {
        self.set(node).len() > self.crowd
    }

    /// The node holds pointers to objects, never to functions.
    pub fn take_no_code(&mut self, node: NodeId) {
        self.takes_no_code[node.0 as usize] = true;
    }

    pub fn add_location(&mut self, node: NodeId, location: u32) {
        let node = self.find(node);
        if self.takes_no_code[node.0 as usize] && self.code.contains(location) {
            return;
        }
        if self.pointed[node.0 as usize].is_some_and(|to| self.is_crowd(node) && !self.fits[location as usize].contains(to)) {
            self.has_misfits = true;
            return;
        }
        if !self.is_covered(node, location) && self.sets[node.0 as usize].insert(location) {
            self.deltas[node.0 as usize].insert(location);
            if self.covers[location as usize] {
                self.drop_covered(node);
            }
            self.wait(node);
        }
    }

    pub fn add_set(&mut self, node: NodeId, set: &LocationSet) {
        let node = self.find(node);
        let mut new = set.without(&self.sets[node.0 as usize]);
        if self.takes_no_code[node.0 as usize] && !new.is_empty() {
            new = new.without(&self.code);
        }
        if let Some(to) = self.pointed[node.0 as usize]
            && self.sets[node.0 as usize].len() + new.len() > self.crowd
            && new.iter().any(|location| !self.fits[location as usize].contains(to))
        {
            new = LocationSet::of(new.iter().filter(|location| self.fits[*location as usize].contains(to)).collect());
            self.has_misfits = true;
        }
        let is_needed = |location: u32| {
            let whole = self.wholes[location as usize];
            whole == location || !new.contains(whole) && !self.sets[node.0 as usize].contains(whole)
        };
        if new.iter().any(|location| !is_needed(location)) {
            new = LocationSet::of(new.iter().filter(|location| is_needed(*location)).collect());
        }
        if !new.is_empty() {
            self.sets[node.0 as usize].absorb(&new);
            let has_whole = new.iter().any(|location| self.covers[location as usize]);
            let delta = &mut self.deltas[node.0 as usize];
            if delta.is_empty() {
                *delta = new;
            } else {
                delta.absorb(&new);
            }
            if has_whole {
                self.drop_covered(node);
            }
            self.wait(node);
        }
    }

    /// Whole objects came into the set: their places have no say there any more.
    fn drop_covered(&mut self, node: NodeId) {
        let at = node.0 as usize;
        for set in [&mut self.sets[at], &mut self.deltas[at]] {
            let needed = LocationSet::of(
                set.iter()
                    .filter(|location| {
                        let whole = self.wholes[*location as usize];
                        whole == *location || !set.contains(whole)
                    })
                    .collect(),
            );
            *set = needed;
        }
    }

    /// `to` holds what `from` holds now.
    pub fn add_to(&mut self, to: NodeId, from: NodeId) {
        let from = self.find(from);
        let set = std::mem::take(&mut self.sets[from.0 as usize]);
        self.add_set(to, &set);
        self.sets[from.0 as usize] = set;
    }

    /// `to ⊇ from`.
    pub fn add_edge(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.successors[from.0 as usize].push(to);
        self.new_edges += 1;
        if !self.sets[from.0 as usize].is_empty() {
            let set = std::mem::take(&mut self.sets[from.0 as usize]);
            self.add_set(to, &set);
            self.sets[from.0 as usize] = set;
        }
    }

    /// Whether the constraint is new at this node; the caller shows it the node's set.
    pub fn attach(&mut self, node: NodeId, constraint: Constraint) -> bool {
        let node = self.find(node);
        let is_new = self.attached.insert((node, constraint));
        if is_new {
            self.constraints[node.0 as usize].push(constraint);
        }
        is_new
    }

    fn wait(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_waiting[node.0 as usize], true) {
            self.waiting.push(Reverse((self.ranks[node.0 as usize], node)));
        }
    }

    /// The next node whose set grew, sources first.
    pub fn next(&mut self) -> Option<NodeId> {
        while let Some(Reverse((_, node))) = self.waiting.pop() {
            self.is_waiting[node.0 as usize] = false;
            if self.is_representative(node) && !self.deltas[node.0 as usize].is_empty() {
                return Some(node);
            }
        }
        None
    }

    /// Merges two nodes; `gone` is answered for by `kept` from now on.
    pub fn merge(&mut self, kept: NodeId, gone: NodeId) {
        let (kept_at, gone_at) = (kept.0 as usize, gone.0 as usize);
        self.parents[gone_at] = kept.0;
        self.takes_no_code[kept_at] &= self.takes_no_code[gone_at];
        self.pointed[kept_at] = self.pointed[kept_at].filter(|to| self.pointed[gone_at] == Some(*to));
        let (set, delta) = (std::mem::take(&mut self.sets[gone_at]), std::mem::take(&mut self.deltas[gone_at]));
        // What successors and constraints of both have seen; all else must be shown again.
        let seen = self.sets[kept_at].without(&self.deltas[kept_at]).common(&set.without(&delta));
        self.sets[kept_at].absorb(&set);
        self.deltas[kept_at] = self.sets[kept_at].without(&seen);
        let successors = std::mem::take(&mut self.successors[gone_at]);
        self.successors[kept_at].extend(successors);
        for constraint in std::mem::take(&mut self.constraints[gone_at]) {
            if self.attached.insert((kept, constraint)) {
                self.constraints[kept_at].push(constraint);
            }
        }
    }

    /// After merging and ordering: edges out of merged nodes lead between representatives, once each, and the queue follows the new order.
    pub fn settle(&mut self, merged: &[NodeId]) {
        for &node in merged {
            let mut successors = std::mem::take(&mut self.successors[node.0 as usize]);
            for successor in &mut successors {
                *successor = self.find(*successor);
            }
            successors.sort_unstable();
            successors.dedup();
            successors.retain(|successor| *successor != node);
            for &successor in &successors {
                self.edges.insert((node, successor));
            }
            self.successors[node.0 as usize] = successors;
        }
        self.waiting.clear();
        self.is_waiting.iter_mut().for_each(|waits| *waits = false);
        for index in 0..self.parents.len() {
            let node = NodeId(index as u32);
            if self.is_representative(node) && !self.deltas[index].is_empty() {
                self.wait(node);
            }
        }
        self.new_edges = 0;
    }

    /// Makes every node name its representative directly.
    pub fn flatten(&mut self) {
        for index in 0..self.parents.len() {
            self.parents[index] = self.find(NodeId(index as u32)).0;
        }
    }
}
