//! Hordes: pointers of which the analysis has lost track.
//!
//! # Definition   Once all sets together have taken some millions of members, a node whose set has more than a few hundred locations, or more than some tens if it is typed, joins the *horde* of its type (`typed`): one node for all of them. A horde points to whole objects. What is
//!                stored through hordes is kept once, by form of access, for all of their objects, which *draw* from there (`pool`); what is loaded through them is read from all that is kept in those, by form.
//! # Theorem      The solution contains that of the constraints as they are defined (`mod`): nodes that become one hold the union of what they held. So a pointer is either told
//!                apart, with a set of bounded size, or one of a few hordes: sets grow with the number of nodes, not with the number of nodes times the number of objects; and the accesses through a
//!                horde cost an edge for each cell and view of its objects, and one for each pair of forms.
//! # Paper        Steensgaard 1996, where all pointers that meet become one; here only those that are beyond telling apart.
//! # Deviations   1. Where in an object a horde points is lost; what is loaded and stored there is still told apart by types.  2. Nodes that stand for something themselves (what escaped, what numbers
//!                were computed from) never join.

use rustc_hash::{FxHashMap, FxHashSet};

use super::constraint::Constraint;
use super::copy::CopyOfMemory;
use super::form::Form;
use super::graph::{GivenUp, Kind, NodeId};
use super::location::Class;
use super::memory::{Content, Link};
use super::object::{AbstractObjectId, AbstractObjectKind};
use super::set::LocationSet;
use super::solve::Solver;

/// Copies with more bytes than any object has.
const BOUNDLESS: u64 = u64::MAX;

#[derive(Debug, Default)]
pub(super) struct Hordes {
    nodes: FxHashMap<Kind, NodeId>,
    memory: Option<HordeMemory>,
    /// Objects that are accessed through hordes.
    members: FxHashSet<AbstractObjectId>,
    /// The copy that stands for all to a horde: of a size that is known or not, with types that are kept or not.
    copies: FxHashMap<(bool, bool), u32>,
}

/// What is accessed through hordes.
#[derive(Clone, Copy, Debug)]
struct HordeMemory {
    /// Its objects draw from here.
    stored: AbstractObjectId,
    /// Whatever lies in its objects is here.
    loaded: AbstractObjectId,
}

impl Solver<'_> {
    fn horde(&mut self, kind: Kind) -> NodeId {
        if let Some(horde) = self.hordes.nodes.get(&kind) {
            return self.graph.find(*horde);
        }
        let horde = self.graph.new_horde(kind);
        self.hordes.nodes.insert(kind, horde);
        horde
    }

    /// The node becomes one with the horde of its type.
    pub fn join_horde(&mut self, node: NodeId) {
        let horde = self.horde(self.graph.kind_of(node));
        let GivenUp { set, successors, numbers, constraints } = self.graph.give_up(node, horde);
        self.graph.add_set(horde, &set);
        for successor in successors {
            self.graph.add_edge(horde, successor);
        }
        for number in numbers {
            self.add_number(horde, number);
        }
        for constraint in constraints {
            self.attach(horde, constraint);
        }
    }

    /// What a horde has gained, as whole objects that it did not hold before.
    pub fn widen(&mut self, horde: NodeId, delta: LocationSet) -> LocationSet {
        let (whole, narrow): (Vec<u32>, Vec<u32>) = delta.iter().partition(|location| {
            let (object, class) = self.locations.get(*location);
            class == Class::ANY || matches!(self.objects[object.index()].kind, AbstractObjectKind::Key(_))
        });
        if narrow.is_empty() {
            return delta;
        }
        let widened = narrow.into_iter().filter_map(|location| self.locate(self.locations.get(location).0, Class::ANY, false));
        let widened = LocationSet::of(widened.collect());
        self.graph.add_set(horde, &widened);
        let mut gained = std::mem::take(&mut self.graph.deltas[horde.0 as usize]);
        gained.absorb(&LocationSet::of(whole));
        gained
    }

    /// The constraint as it is for whole objects: many become the same.
    pub fn attach_to_horde(&mut self, horde: NodeId, constraint: Constraint) {
        match constraint {
            Constraint::Load { to, form } => {
                let loaded = self.memory_of_horde(horde).loaded;
                let view = self.view(loaded, Class::ANY, form).expect("it has a content");
                self.carry(view, to, form.width.into());
            }
            Constraint::Store { from, form } => {
                let stored = self.memory_of_horde(horde).stored;
                let cell = self.cell(stored, Class::ANY, form).expect("it has a content");
                self.graph.add_edge(from, cell);
            }
            Constraint::CopySource { copy } => {
                self.pool_copy(copy);
                let (loaded, pool) = (self.memory_of_horde(horde).loaded, self.pool());
                self.add_whole_link(loaded, pool);
            }
            Constraint::CopyDestination { copy } => {
                self.pool_copy(copy);
                let CopyOfMemory { size, keeps_types, .. } = self.copies[copy as usize];
                let copy = self.boundless_copy(size.is_some(), keeps_types);
                self.keep_at_horde(horde, Constraint::CopyDestination { copy });
            }
            Constraint::Shift { to, structure: None, .. } | Constraint::LowBits { to, .. } => self.graph.add_edge(horde, to),
            Constraint::Shift { to, structure: Some(structure), .. } => {
                // What can hold the structure is looked for once, for all of its members.
                let members = self.horde(Kind { inside: Some(structure), ..Kind::default() });
                self.keep_at_horde(horde, Constraint::anywhere_inside(members, structure));
                self.graph.add_edge(members, to);
            }
            Constraint::StoreTo { .. } | Constraint::Call { .. } | Constraint::Escape | Constraint::Access => {
                self.keep_at_horde(horde, constraint);
            }
        }
    }

    fn keep_at_horde(&mut self, horde: NodeId, constraint: Constraint) {
        if self.graph.attach(horde, constraint) {
            // The rest it will see when it is the horde's turn.
            let set = self.graph.set(horde).without(&self.graph.deltas[horde.0 as usize]);
            if !set.is_empty() {
                self.apply(horde, constraint, &set);
            }
        }
    }

    /// Where accesses through this horde go.
    fn memory_of_horde(&mut self, horde: NodeId) -> HordeMemory {
        let memory = match self.hordes.memory {
            Some(memory) => memory,
            None => {
                let memory = HordeMemory { stored: self.new_transfer(), loaded: self.new_transfer() };
                self.hordes.memory = Some(memory);
                self.add_whole_link(memory.stored, memory.loaded);
                memory
            }
        };
        self.keep_at_horde(horde, Constraint::Access);
        memory
    }

    fn add_whole_link(&mut self, from: AbstractObjectId, to: AbstractObjectId) {
        self.add_link(from, Link::whole(to));
    }

    /// A horde that is accessed has gained these objects.
    pub fn add_members(&mut self, horde: NodeId, delta: &LocationSet) {
        self.expand_residue(horde, delta);
        let HordeMemory { stored, loaded } = self.memory_of_horde(horde);
        for location in delta.iter() {
            let (object, _) = self.locations.get(location);
            if !self.hordes.members.insert(object) {
                continue;
            }
            match self.content(object) {
                Content::Cells => {
                    if !self.is_without_pointers(object) {
                        self.add_whole_link(object, loaded);
                    }
                    if !self.is_constant(object) {
                        self.draw_stored(object, stored);
                    }
                }
                Content::Outside => {
                    if let Some(cell) = self.cell(loaded, Class::ANY, Form::of(self.pointer_bytes)) {
                        self.graph.add_edge(self.unknown_value, cell);
                    }
                    if let Some(view) = self.view(stored, Class::ANY, Form::of(1)) {
                        self.graph.add_edge(view, self.escaped);
                    }
                }
                Content::Nothing => {}
            }
        }
    }

    fn boundless_copy(&mut self, has_size: bool, keeps_types: bool) -> u32 {
        if let Some(copy) = self.hordes.copies.get(&(has_size, keeps_types)) {
            return *copy;
        }
        let copy = self.copies.len() as u32;
        let transfer = self.pool();
        self.copies.push(CopyOfMemory { transfer, size: has_size.then_some(BOUNDLESS), keeps_types, is_pooled: true });
        self.hordes.copies.insert((has_size, keeps_types), copy);
        copy
    }

    /// By object.
    pub fn reached_by_hordes(&self) -> Vec<bool> {
        let mut is_reached = vec![false; self.objects.len()];
        for node in (0..self.graph.len() as u32)
            .map(NodeId)
            .filter(|node| self.graph.is_representative(*node) && self.graph.is_horde(*node))
        {
            self.graph.set(node).iter().for_each(|location| is_reached[self.locations.get(location).0.index()] = true);
        }
        is_reached
    }
}
