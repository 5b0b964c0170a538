//! Shared contents: objects that are copied into one another, whole, hold the same.
//!
//! # Definition   A link is *whole* if it takes all cells of an object, keeps their types, and puts them anywhere into the other: the sources and destinations of a copy
//!                whose pointers may be anywhere in memory without a type.
//! # Theorem      When whole links lead from one object to another and back, then in the least solution what is stored in either, with some form, is anywhere in
//!                both. So one content, without offsets, stands for both, and nothing is lost.
//! # Paper        The merging of cycles of copies (Nuutila, Soisalon-Soininen 1994; `order`) for objects instead of nodes: their cells need not be made one by one.
//! # Invariant    An object that has given its content away has no cells, views or links of its own any more. The object that keeps it is a transfer.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::location::Class;
use super::memory::{Cell, Link, Types};
use super::object::{AbstractObjectId, AbstractObjectKind};
use super::pool::Source;
use super::solve::Solver;

impl Solver<'_> {
    /// The object that keeps the content of this one; mostly itself.
    pub fn keeper(&self, object: AbstractObjectId) -> AbstractObjectId {
        let mut at = object;
        while let Some(keeper) = self.memories[at.index()].keeper {
            at = keeper;
        }
        at
    }

    /// Where an access to an object goes.
    pub fn kept_at(&self, object: AbstractObjectId, class: Class) -> (AbstractObjectId, Class) {
        let keeper = self.keeper(object);
        (keeper, if self.memories[keeper.index()].is_shared { Class::ANY } else { class })
    }

    /// A link was made: if another one leads back, both ends are one.
    pub fn note_link(&mut self, from: AbstractObjectId, link: Link) {
        let is_whole = link.size.is_none()
            && link.types == Types::Kept
            && link.readable.is_none()
            && link.writable.is_none()
            && (link.from == Class::ANY || link.to == Class::ANY && link.from == Class::at(0));
        if is_whole && self.may_share(from) && self.may_share(link.object) && self.whole_links.add(from, link.object) {
            self.share(from, link.object);
        }
    }

    fn may_share(&self, object: AbstractObjectId) -> bool {
        let known = &self.objects[object.index()];
        known.ty.is_none() && matches!(known.kind, AbstractObjectKind::Heap { .. } | AbstractObjectKind::Transfer(_))
    }

    fn share(&mut self, one: AbstractObjectId, other: AbstractObjectId) {
        let (one, other) = (self.keeper(one), self.keeper(other));
        if one == other {
            return;
        }
        let weight = |object: AbstractObjectId| {
            let is_transfer = matches!(self.objects[object.index()].kind, AbstractObjectKind::Transfer(_));
            (is_transfer, self.memories[object.index()].is_shared, self.memories[object.index()].cells.len())
        };
        let (keeper, gone) = if weight(one) >= weight(other) { (one, other) } else { (other, one) };
        self.memories[gone.index()].keeper = Some(keeper);
        let others = self.whole_links.replace(gone, keeper);
        let mut moved = Moved::default();
        moved.take(self, gone, |_| true);
        if !std::mem::replace(&mut self.memories[keeper.index()].is_shared, true) {
            moved.take(self, keeper, |class| class != Class::ANY);
        }
        for (_, form, node) in moved.cells {
            if let Some(cell) = self.cell(keeper, Class::ANY, form) {
                self.graph.add_edge(node, cell);
            }
        }
        for (_, form, node) in moved.views {
            if let Some(view) = self.view(keeper, Class::ANY, form) {
                self.graph.add_edge(view, node);
            }
        }
        for link in moved.links {
            self.add_link(keeper, link);
        }
        for source in moved.sources {
            self.draw(keeper, source);
        }
        for other in others {
            self.share(keeper, other);
        }
    }

    /// The cells of each object, wherever they are kept.
    pub fn cells_of_objects(&self) -> Vec<Vec<Cell>> {
        let keepers: Vec<AbstractObjectId> =
            (0..self.memories.len() as u32).map(|object| self.keeper(AbstractObjectId(object))).collect();
        keepers.into_iter().map(|keeper| self.memories[keeper.index()].cells.clone()).collect()
    }
}

/// Which objects are copied whole into which.
#[derive(Debug, Default)]
pub(super) struct WholeLinks {
    into: FxHashMap<AbstractObjectId, BTreeSet<AbstractObjectId>>,
    out_of: FxHashMap<AbstractObjectId, BTreeSet<AbstractObjectId>>,
}

impl WholeLinks {
    /// Whether this one leads back where another comes from.
    fn add(&mut self, from: AbstractObjectId, to: AbstractObjectId) -> bool {
        self.into.entry(to).or_default().insert(from);
        self.out_of.entry(from).or_default().insert(to);
        self.into.get(&from).is_some_and(|sources| sources.contains(&to))
    }

    /// One object stands for another from now on: those that are one with it, too, now.
    fn replace(&mut self, gone: AbstractObjectId, keeper: AbstractObjectId) -> BTreeSet<AbstractObjectId> {
        let mut others = BTreeSet::new();
        for to in self.out_of.remove(&gone).unwrap_or_default() {
            self.into.entry(to).or_default().remove(&gone);
            if to != keeper && self.add(keeper, to) {
                others.insert(to);
            }
        }
        for from in self.into.remove(&gone).unwrap_or_default() {
            self.out_of.entry(from).or_default().remove(&gone);
            if from != keeper && self.add(from, keeper) {
                others.insert(from);
            }
        }
        others
    }
}

/// What an object gives away.
#[derive(Default)]
struct Moved {
    cells: Vec<Cell>,
    views: Vec<Cell>,
    links: Vec<Link>,
    sources: Vec<Source>,
}

impl Moved {
    fn take(&mut self, solver: &mut Solver<'_>, object: AbstractObjectId, is_moved: impl Fn(Class) -> bool) {
        let memory = &mut solver.memories[object.index()];
        let split = |all: &mut Vec<Cell>| -> Vec<Cell> {
            let (moved, kept) = std::mem::take(all).into_iter().partition(|(class, ..)| is_moved(*class));
            *all = kept;
            moved
        };
        self.cells.extend(split(&mut memory.cells));
        self.views.extend(split(&mut memory.views));
        // Where they go from now on they are new.
        memory.links.iter().for_each(|link| _ = solver.links.remove(&(object, *link)));
        memory.sources.iter().for_each(|source| _ = solver.drawn.remove(&(object, *source)));
        self.links.append(&mut memory.links);
        self.sources.append(&mut memory.sources);
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocation::Allocated;
    use super::super::form::Form;
    use super::super::graph::Limits;
    use super::*;
    use crate::models::Models;
    use crate::program::Program;

    /// Links that lead on before objects become one lead on afterwards.
    #[test]
    fn what_was_copied_on_before_is_copied_on() {
        let program = Program::default();
        let models = Models::embedded();
        let bound = models.bind(&program);
        let mut solver = Solver::new(&program, &bound, Allocated::AsAnything, Limits::default());
        let [one, other, beyond] = std::array::from_fn(|_| solver.new_transfer());
        for from in [one, other] {
            solver.add_link(from, Link::whole(beyond));
        }
        solver.add_link(one, Link::whole(other));
        solver.add_link(other, Link::whole(one));
        assert_eq!(solver.keeper(one), solver.keeper(other));
        solver.cell(one, Class::ANY, Form::of(solver.pointer_bytes));
        assert_eq!(solver.memories[beyond.index()].cells.len(), 1);
    }
}
