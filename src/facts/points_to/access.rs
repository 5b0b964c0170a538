//! Accesses: which contents a load or a store through a pointer may touch.

use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::object::{AbstractObjectId, AbstractObjectKind};
use super::set::LocationSet;
use super::solve::Solver;

impl Solver<'_> {
    pub fn for_each_content(
        &mut self,
        node: NodeId,
        delta: &LocationSet,
        form: Form,
        mut act: impl FnMut(&mut Self, AbstractObjectId, Class),
    ) {
        self.expand_residue(node, delta);
        let least = u64::from(form.width.min(self.pointer_bytes));
        for location in delta.iter() {
            let (object, class) = self.locations.get(location);
            let class = self.locations.room(location).accessible(class, form.width.into());
            let ty = self.objects[object.index()].ty;
            if !self.is_accessible(object, class, least) || self.is_without_pointers(object) {
                continue;
            }
            let is_declared = self.objects[object.index()].has_declared_type();
            if ty.is_none_or(|ty| self.declarations.may_hold(ty, form.alias, class.only(), is_declared)) {
                act(self, object, class);
            } else {
                self.is_not_held(object);
            }
        }
    }

    /// Something is used, or copied there, that is not in the object's type.
    pub fn is_not_held(&mut self, object: AbstractObjectId) {
        self.assumes_types_of_allocations |= !self.objects[object.index()].has_declared_type();
    }

    /// Constants that hold no address and are never written: text, tables of numbers.
    pub fn is_without_pointers(&self, object: AbstractObjectId) -> bool {
        match self.objects[object.index()].kind {
            AbstractObjectKind::Global(global) => {
                let global = &self.program.globals[global];
                global.is_constant && !global.is_external && global.relocations.is_empty()
            }
            AbstractObjectKind::Texts => true,
            _ => false,
        }
    }

    /// A constant: whoever writes it has no defined behaviour.
    pub fn is_constant(&self, object: AbstractObjectId) -> bool {
        match self.objects[object.index()].kind {
            AbstractObjectKind::Global(global) => {
                self.program.globals[global].is_constant && !self.program.globals[global].is_external
            }
            AbstractObjectKind::Texts => true,
            _ => false,
        }
    }

    pub fn store_cells(&mut self, object: AbstractObjectId, class: Class, from: NodeId, form: Form) {
        if self.is_constant(object) {
            return;
        }
        for class in self.parts(class, form) {
            if let Some(cell) = self.cell(object, class, form) {
                self.graph.add_edge(from, cell);
            }
        }
    }

    /// The places of the pointers that a value of this form may consist of.
    pub fn parts(&self, class: Class, form: Form) -> Vec<Class> {
        const MOST_PARTS: u32 = 64;
        let parts = form.width.div_ceil(self.pointer_bytes);
        if parts > MOST_PARTS {
            return vec![Class::ANY];
        }
        (0..parts.max(1)).filter_map(|part| class.plus((part * self.pointer_bytes).into())).collect()
    }
}
