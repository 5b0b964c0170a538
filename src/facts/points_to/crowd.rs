//! Crowds: pointers that may point to very many objects.
//!
//! # Definition   A node whose set has more than a few locations (`Graph::crowd`) is a *crowd*. What is stored through crowds with one form is kept in one node, which is
//!                a cell of each place that such a store may reach; what is loaded through crowds with one form is read from one node, which is
//!                a view of each place that such a load may reach.
//! # Theorem      The solution contains that of the constraints as they are defined (`mod`): each cell and view is there, and holds more. With n pointers that may
//!                point to the same m places n + m edges are made instead of n · m. Each place is looked at once for each form: what is stored there
//!                later its view sees, whoever loads it.
//! # Deviations   What is lost is which of the crowds an address was stored through: it is in every place that crowds reach in this form. Sets of other pointers, and
//!                what is stored and loaded through them, stay apart.

use rustc_hash::{FxHashMap, FxHashSet};

use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::memory::Content;
use super::object::AbstractObjectId;
use super::set::LocationSet;
use super::solve::Solver;

#[derive(Debug, Default)]
pub(super) struct Crowds {
    stored: FxHashMap<Form, NodeId>,
    loaded: FxHashMap<Form, NodeId>,
    cells: FxHashSet<(AbstractObjectId, Class, Form)>,
    views: FxHashSet<(AbstractObjectId, Class, Form)>,
    /// Where crowds have stored and loaded with a form: what comes there later it sees.
    stored_at: FxHashMap<Form, LocationSet>,
    loaded_at: FxHashMap<Form, LocationSet>,
}

/// The locations that are new to a form; from now on they are not.
fn news(known: &mut FxHashMap<Form, LocationSet>, form: Form, locations: &LocationSet) -> LocationSet {
    let known = known.entry(form).or_default();
    let new = locations.without(known);
    known.absorb(&new);
    new
}

impl Solver<'_> {
    /// `to ⊇ *node` for what a crowd has gained.
    pub fn load_from_crowd(&mut self, node: NodeId, delta: &LocationSet, to: NodeId, form: Form) {
        let loaded = self.loaded_from_crowds(form);
        if to != loaded {
            self.carry(loaded, to, form.width.into());
        }
        self.expand_residue(node, delta);
        let new = news(&mut self.crowds.loaded_at, form, delta);
        self.for_each_content(node, &new, form, |solver, object, class| match solver.content(object) {
            Content::Cells => {
                let (object, class) = solver.kept_at(object, class);
                let class = solver.class_for(object, class, form);
                if solver.crowds.views.insert((object, class, form)) {
                    solver.add_view(object, (class, form, loaded));
                }
            }
            Content::Outside => solver.graph.add_edge(solver.unknown_value, loaded),
            Content::Nothing => {}
        });
    }

    /// `*node ⊇ from` for what a crowd has gained.
    pub fn store_to_crowd(&mut self, node: NodeId, delta: &LocationSet, from: NodeId, form: Form) {
        let stored = self.stored_to_crowds(form);
        self.graph.add_edge(from, stored);
        self.expand_residue(node, delta);
        let new = news(&mut self.crowds.stored_at, form, delta);
        self.for_each_content(node, &new, form, |solver, object, class| match solver.content(object) {
            Content::Cells if solver.is_constant(object) => {}
            Content::Cells => {
                for class in solver.parts(class, form) {
                    let (object, class) = solver.kept_at(object, class);
                    let class = solver.class_for(object, class, form);
                    let form = Form { width: form.width.min(solver.pointer_bytes), ..form };
                    if solver.crowds.cells.insert((object, class, form)) {
                        solver.add_cell(object, (class, form, stored));
                    }
                }
            }
            Content::Outside => solver.graph.add_edge(stored, solver.escaped),
            Content::Nothing => {}
        });
    }

    /// What is loaded through crowds with this form.
    pub fn loaded_from_crowds(&mut self, form: Form) -> NodeId {
        if let Some(loaded) = self.crowds.loaded.get(&form) {
            return *loaded;
        }
        let loaded = self.new_view(form);
        self.crowds.loaded.insert(form, loaded);
        loaded
    }

    /// What is stored through crowds with this form.
    pub fn stored_to_crowds(&mut self, form: Form) -> NodeId {
        if let Some(stored) = self.crowds.stored.get(&form) {
            return *stored;
        }
        let stored = self.new_cell(form);
        self.crowds.stored.insert(form, stored);
        stored
    }
}
