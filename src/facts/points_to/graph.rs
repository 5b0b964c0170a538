//! The constraint graph: nodes with their sets, copy edges between them, and what else waits for a node's set to grow.
//!
//! Sets grow by differences: a node keeps apart what its successors and constraints have not seen yet. A set that holds a whole object takes no more of its places. Nodes on a cycle of copy edges
//! have equal sets in every solution, so they are merged (`order`); a merged node answers for all of its parts. Beside the edges along which addresses are copied there
//! are those along which only a residue of them passes (`arithmetic`), many times as many in programs that compute.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::constraint::Constraint;
use super::known::KnownLocations;
use super::set::LocationSet;
use super::typed::Pointed;
use crate::program::StructureId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub u32);

/// Locations beyond which a set is a crowd (`crowd`), and joins a horde (`horde`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub crowd: usize,
    pub horde: usize,
    /// The same, for a set of typed pointers.
    pub typed_horde: usize,
    /// Members that sets have taken before there are hordes at all.
    pub members: usize,
    /// The same, after which threads are not told apart (`origin`).
    pub origins: usize,
}

/// What is known of the pointers in a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// What they point to if the node is typed.
    pub pointed: Pointed,
    /// They never point to functions.
    pub takes_no_code: bool,
    /// They point to a member of this structure.
    pub inside: Option<StructureId>,
}

/// What a node held and led to that another one answers for now.
pub(super) struct GivenUp {
    pub set: LocationSet,
    pub successors: Vec<NodeId>,
    pub numbers: Vec<NodeId>,
    pub constraints: Vec<Constraint>,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The node that answers for each node; itself for most.
    parents: Vec<u32>,
    pub sets: Vec<LocationSet>,
    pub known: KnownLocations,
    /// How many members all sets together have taken.
    members: usize,
    pub limits: Limits,
    /// By node: whether it is a horde (`horde`), and whether it never joins one.
    is_horde: Vec<bool>,
    pub has_hordes: bool,
    stays_apart: Vec<bool>,
    kinds: Vec<Kind>,
    /// Something did not fit a typed crowd.
    pub has_misfits: bool,
    /// What of the set was not passed on yet.
    pub deltas: Vec<LocationSet>,
    pub successors: Vec<Vec<NodeId>>,
    pub constraints: Vec<Vec<Constraint>>,
    /// By node: false if none of its constraints is a shift.
    may_shift: Vec<bool>,
    edges: FxHashSet<(NodeId, NodeId)>,
    /// Numbers that are computed from the node.
    pub numbers: Vec<Vec<NodeId>>,
    number_edges: FxHashSet<(NodeId, NodeId)>,
    /// By node: whether a number is computed from it that stands for others (`arithmetic`).
    leaves_mark: Vec<bool>,
    attached: FxHashSet<(NodeId, Constraint)>,
    /// Position in the last topological order; sources of copies first.
    pub ranks: Vec<u32>,
    waiting: BinaryHeap<Reverse<(u32, NodeId)>>,
    is_waiting: Vec<bool>,
    /// Edges added since the last order was made.
    pub new_edges: usize,
}

impl Graph {
    pub fn new(limits: Limits) -> Graph {
        Graph { limits, ..Graph::default() }
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
        self.numbers.resize_with(all, Vec::new);
        self.ranks.resize(all, 0);
        self.kinds.resize(all, Kind::default());
        self.is_waiting.resize(all, false);
        self.is_horde.resize(all, false);
        self.stays_apart.resize(all, false);
        self.may_shift.resize(all, false);
        self.leaves_mark.resize(all, false);
        NodeId(first as u32)
    }

    /// How many members all sets together have taken.
    pub fn members(&self) -> usize {
        self.members
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

    /// The same, right after `flatten`.
    pub fn find_flat(&self, node: NodeId) -> NodeId {
        NodeId(self.parents[node.0 as usize])
    }

    pub fn set(&self, node: NodeId) -> &LocationSet {
        &self.sets[self.find(node).0 as usize]
    }

    pub fn is_representative(&self, node: NodeId) -> bool {
        self.parents[node.0 as usize] == node.0
    }

    pub fn point_to(&mut self, node: NodeId, pointed: Pointed) {
        self.kinds[node.0 as usize].pointed = pointed;
    }

    pub fn is_crowd(&self, node: NodeId) -> bool {
        self.set(node).len() > self.limits.crowd
    }

    pub fn is_horde(&self, node: NodeId) -> bool {
        self.is_horde[self.find(node).0 as usize]
    }

    /// Whether a node that answers for itself is beyond telling apart, and no horde yet.
    pub fn joins_horde(&self, node: NodeId) -> bool {
        let at = node.0 as usize;
        let is_typed = self.kinds[at].pointed.is_some() || self.kinds[at].inside.is_some();
        let most = if is_typed { self.limits.typed_horde } else { self.limits.horde };
        self.members > self.limits.members && self.sets[at].len() > most && !self.is_horde[at] && !self.stays_apart[at]
    }

    pub fn stay_apart(&mut self, node: NodeId) {
        self.stays_apart[node.0 as usize] = true;
    }

    pub fn kind_of(&self, node: NodeId) -> Kind {
        self.kinds[node.0 as usize]
    }

    /// A horde comes after everything else, so that it sees much at once.
    pub fn new_horde(&mut self, kind: Kind) -> NodeId {
        self.has_hordes = true;
        let node = self.node();
        let at = node.0 as usize;
        (self.kinds[at], self.is_horde[at], self.ranks[at]) = (kind, true, u32::MAX);
        node
    }

    /// The node is the address of a member.
    pub fn lie_inside(&mut self, node: NodeId, structure: StructureId) {
        self.kinds[node.0 as usize].inside = Some(structure);
    }

    /// `kept` answers for `gone` from now on; what `gone` held and led to is the caller's to pass on.
    pub fn give_up(&mut self, gone: NodeId, kept: NodeId) -> GivenUp {
        let at = gone.0 as usize;
        self.parents[at] = kept.0;
        self.deltas[at] = LocationSet::default();
        GivenUp {
            set: std::mem::take(&mut self.sets[at]),
            successors: std::mem::take(&mut self.successors[at]),
            numbers: std::mem::take(&mut self.numbers[at]),
            constraints: std::mem::take(&mut self.constraints[at]),
        }
    }

    /// Constraints that a horde has got by merging, and that are others for whole objects.
    pub fn take_constraints_of_places(&mut self, horde: NodeId) -> Vec<Constraint> {
        let is_of_places = |constraint: &mut Constraint| {
            matches!(
                constraint,
                Constraint::Load { .. }
                    | Constraint::Store { .. }
                    | Constraint::Shift { structure: None, .. }
                    | Constraint::LowBits { .. }
                    | Constraint::CopySource { .. }
            )
        };
        self.constraints[horde.0 as usize].extract_if(.., is_of_places).collect()
    }

    /// The node holds pointers to objects, never to functions.
    pub fn take_no_code(&mut self, node: NodeId) {
        self.kinds[node.0 as usize].takes_no_code = true;
    }

    pub fn add_location(&mut self, node: NodeId, location: u32) {
        let node = self.find(node);
        let at = node.0 as usize;
        if self.kinds[at].takes_no_code && self.known.is_code(location) {
            return;
        }
        if self.kinds[at].pointed.is_some_and(|to| self.is_crowd(node) && !self.known.fits(location, to)) {
            self.has_misfits = true;
            return;
        }
        if !self.known.is_covered(location, &[&self.sets[at]]) && self.sets[at].insert(location) {
            self.deltas[at].insert(location);
            self.members += 1;
            if self.known.contains_others(location) {
                self.drop_covered(node);
            }
            self.wait(node);
        }
    }

    pub fn add_set(&mut self, node: NodeId, set: &LocationSet) {
        let node = self.find(node);
        let at = node.0 as usize;
        let mut new = set.without(&self.sets[at]);
        if self.kinds[at].takes_no_code {
            new = self.known.without_code(new);
        }
        if let Some(to) = self.kinds[at].pointed
            && self.sets[at].len() + new.len() > self.limits.crowd
            && let Some(fitting) = self.known.only_fitting(&new, to)
        {
            new = fitting;
            self.has_misfits = true;
        }
        if new.is_empty() {
            return;
        }
        // Those that the new ones themselves say are dropped below.
        new = self.known.uncovered(new, &[&self.sets[at]]);
        if new.is_empty() {
            return;
        }
        self.members += new.len();
        let has_whole = self.known.some_contain_others(&new);
        self.sets[at].absorb(&new);
        if self.deltas[at].is_empty() {
            self.deltas[at] = new;
        } else {
            self.deltas[at].absorb(&new);
        }
        if has_whole {
            self.drop_covered(node);
        }
        self.wait(node);
    }

    /// Whole objects came into the set: their places have no say there any more.
    fn drop_covered(&mut self, node: NodeId) {
        let at = node.0 as usize;
        let covered = self.known.covered(&self.sets[at], &[&self.sets[at]]);
        if !covered.is_empty() {
            self.sets[at] = self.sets[at].without(&covered);
            self.deltas[at] = self.deltas[at].without(&covered);
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

    /// Whether it is news that `to` is computed from the node; the caller shows it the node's set.
    pub fn add_number(&mut self, from: NodeId, to: NodeId) -> bool {
        let (from, to) = (self.find(from), self.find(to));
        let is_new = self.number_edges.insert((from, to));
        if is_new {
            self.numbers[from.0 as usize].push(to);
        }
        is_new
    }

    /// The same for the number that stands for all that have their mark.
    pub fn add_marked(&mut self, from: NodeId, marked: NodeId) -> bool {
        let from = self.find(from);
        !std::mem::replace(&mut self.leaves_mark[from.0 as usize], true) && self.add_number(from, marked)
    }

    /// Whether the constraint is new at this node; the caller shows it the node's set.
    pub fn attach(&mut self, node: NodeId, constraint: Constraint) -> bool {
        let node = self.find(node);
        let is_new = self.attached.insert((node, constraint));
        if is_new {
            self.may_shift[node.0 as usize] |= matches!(constraint, Constraint::Shift { .. });
            self.constraints[node.0 as usize].push(constraint);
        }
        is_new
    }

    /// Whether some constraint of the node may be a shift.
    pub fn may_shift(&self, node: NodeId) -> bool {
        self.may_shift[node.0 as usize]
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
        let (gone_kind, kept_kind) = (self.kinds[gone_at], &mut self.kinds[kept_at]);
        kept_kind.takes_no_code &= gone_kind.takes_no_code;
        kept_kind.pointed = kept_kind.pointed.filter(|to| gone_kind.pointed == Some(*to));
        kept_kind.inside = kept_kind.inside.filter(|structure| gone_kind.inside == Some(*structure));
        self.is_horde[kept_at] |= self.is_horde[gone_at];
        self.stays_apart[kept_at] |= self.stays_apart[gone_at];
        self.may_shift[kept_at] |= self.may_shift[gone_at];
        self.leaves_mark[kept_at] |= self.leaves_mark[gone_at];
        let (set, delta) = (std::mem::take(&mut self.sets[gone_at]), std::mem::take(&mut self.deltas[gone_at]));
        // What successors and constraints of both have seen; all else must be shown again.
        let seen = self.sets[kept_at].without(&self.deltas[kept_at]).common(&set.without(&delta));
        self.sets[kept_at].absorb(&set);
        self.deltas[kept_at] = self.sets[kept_at].without(&seen);
        let successors = std::mem::take(&mut self.successors[gone_at]);
        self.successors[kept_at].extend(successors);
        for number in std::mem::take(&mut self.numbers[gone_at]) {
            let number = self.find(number);
            if self.number_edges.insert((kept, number)) {
                self.numbers[kept_at].push(number);
            }
        }
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
