//! The pool: copies of memory between very many objects.
//!
//! # Definition   A copy of memory is *pooled* when its source or its destination is a crowd (`crowd`). What is copied from is copied into the pool, one for all such
//!                copies; what is copied to *draws* from the pool: its views read the pool's bytes, and are not filled with cells. Whoever copies from an object that
//!                draws, draws from it.
//! # Theorem      Every cell that the copies as they are defined (`copy`) would make in an object is in the pool, or in what the object draws from, with a type that the object's views
//!                read. So nothing is lost; with n sources and m destinations, each with k cells, n · k + m edges are made instead of n · m · k.
//! # Deviations   1. Which copy moved an address is lost, and where to: it is in every object that draws from the pool, wherever its type is read in
//!                the bytes that some copy may write there; who copies from an object draws from the bytes that the copy reads, where threads are told apart (`origin`), else from all of it.  2. A structure that is
//!                drawn into something of another type is dropped as in copies of other objects; that this may matter is said once for all.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::declared::Declarations;
use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::memory::{Cell, Link, Types};
use super::object::{AbstractObject, AbstractObjectId, AbstractObjectKind};
use super::set::LocationSet;
use super::solve::Solver;
use crate::program::DebugTypeId;

/// Views that wait for what they read beyond which they are not kept waiting: in very large programs they were a third of all memory.
const MANY_PULLS: usize = 1 << 20;

/// What an object draws from: bytes at `at` in `from` may lie in `size` bytes from `to` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub from: AbstractObjectId,
    at: Class,
    to: Class,
    size: Option<u64>,
    types: Types,
}

/// What of a source makes a difference to a view that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    from: AbstractObjectId,
    at: Class,
    forgets_types: bool,
    is_part: bool,
}

impl Source {
    /// What a link brings from an object: all that lies where it reads, wherever it writes.
    fn of_link(from: AbstractObjectId, link: Link) -> Source {
        Source { from, at: link.read(), to: Class::ANY, size: None, types: link.types }.through(link)
    }

    /// What a view reads that draws from here; nothing if what is drawn lies elsewhere.
    fn read_by(self, (class, form, _): Cell, pointer_bytes: u32) -> Option<Read> {
        let is_there = self.to.overlaps(self.size.unwrap_or(u64::MAX), class, form.width.into());
        // Less than a pointer is a part of one.
        let is_part = self.size.is_some_and(|size| size < pointer_bytes.into());
        is_there.then_some(Read { from: self.from, at: self.at, forgets_types: self.types == Types::Forgotten, is_part })
    }

    /// What is drawn by the object that the link leads out of, seen from the one that it leads to.
    fn through(self, link: Link) -> Source {
        let types = if self.types == Types::Forgotten { Types::Forgotten } else { link.types };
        let (to, size) = link.written();
        Source { to, size, types, ..self }
    }
}

impl Solver<'_> {
    pub fn pool(&mut self) -> AbstractObjectId {
        self.object(AbstractObject::new(AbstractObjectKind::Transfer(u32::MAX)))
    }

    /// From now on the copy goes through the pool; what it has moved already moves on from where it is.
    pub fn pool_copy(&mut self, copy: u32) {
        if std::mem::replace(&mut self.copies[copy as usize].is_pooled, true) {
            return;
        }
        let (transfer, pool) = (self.copies[copy as usize].transfer, self.pool());
        self.add_link(transfer, Link::whole(pool));
        for index in 0..self.memories[transfer.index()].links.len() {
            let link = self.memories[transfer.index()].links[index];
            if link.object != pool {
                self.draw(link.object, Source { at: Class::ANY, ..Source::of_link(pool, link) });
            }
        }
    }

    pub fn draw_from_pool(&mut self, object: AbstractObjectId, to: Class, size: Option<u64>, types: Types) {
        let from = self.pool();
        self.draw(object, Source { from, at: Class::ANY, to, size, types });
    }

    /// What is stored through pointers to very many objects lies in each of them, where its type can be (`horde`).
    pub fn draw_stored(&mut self, object: AbstractObjectId, from: AbstractObjectId) {
        let (object, to) = self.kept_at(object, Class::ANY);
        let source = Source { from: self.keeper(from), at: Class::ANY, to, size: None, types: Types::Kept };
        if object != source.from && self.drawn.insert((object, source)) {
            self.add_source(object, source);
        }
    }

    /// What somebody draws from is copied on: who gets the copy draws, too.
    pub fn draw_on(&mut self, from: AbstractObjectId, link: Link) {
        if self.memories[from.index()].sources.is_empty() {
            return;
        }
        if self.objects[from.index()].ty.is_some() {
            let source = Source::of_link(from, link);
            // Views of each range cost more than they tell where track of pointers is lost.
            let at = if self.contexts.has_origins { source.at } else { Class::ANY };
            return self.draw(link.object, Source { at, ..source });
        }
        for index in 0..self.memories[from.index()].sources.len() {
            self.pass_on(self.memories[from.index()].sources[index], link);
        }
    }

    /// Whatever an object draws to where the link reads is passed on as it is.
    fn pass_on(&mut self, source: Source, link: Link) {
        if source.to.overlaps(source.size.unwrap_or(u64::MAX), link.read(), 1) {
            self.draw(link.object, source.through(link));
        }
    }

    pub fn draw(&mut self, object: AbstractObjectId, source: Source) {
        let (object, to) = self.kept_at(object, source.to);
        let source = Source { from: self.keeper(source.from), to, ..source };
        if object == source.from || !self.drawn.insert((object, source)) {
            return;
        }
        let known = &self.objects[object.index()];
        if known.ty.is_some() && source.types != Types::Forgotten {
            self.assumes_types_of_copies |= known.has_declared_type();
            self.is_not_held(object);
        }
        self.add_source(object, source);
    }

    fn add_source(&mut self, object: AbstractObjectId, source: Source) {
        if self.pulls.len() > MANY_PULLS {
            self.pull_all();
        }
        let memory = &mut self.memories[object.index()];
        memory.sources.push(source);
        self.pulls.extend(memory.views.iter().map(|view| (object, *view, source)));
        // What was drawn before was passed on then.
        if self.objects[object.index()].ty.is_none() {
            for link in memory.links.clone() {
                self.pass_on(source, link);
            }
        } else if memory.sources.len() == 1 {
            for link in memory.links.clone() {
                self.draw_on(object, link);
            }
        }
    }

    /// What each object draws, as one cell more. To be asked when everything is solved.
    pub fn drawn_cells(&mut self) -> Vec<Option<Cell>> {
        let mut known: FxHashMap<(Option<DebugTypeId>, Vec<AbstractObjectId>), NodeId> = FxHashMap::default();
        let objects = (0..self.objects.len() as u32).map(AbstractObjectId);
        let drawn: Vec<Option<Cell>> = objects
            .map(|object| {
                let sources = self.sources_of(object);
                let key = (self.objects[object.index()].ty, sources);
                let node = match known.get(&key) {
                    _ if key.1.is_empty() => return None,
                    Some(node) => *node,
                    None => {
                        let node = self.graph.node();
                        self.fill(node, key.0, &key.1);
                        known.insert(key, node);
                        node
                    }
                };
                Some((Class::ANY, Form::of(self.pointer_bytes), node))
            })
            .collect();
        drawn
    }

    /// Everything that an object draws from, through others as well; ascending.
    fn sources_of(&self, object: AbstractObjectId) -> Vec<AbstractObjectId> {
        let (mut open, mut found) = (vec![self.keeper(object)], BTreeSet::new());
        while let Some(object) = open.pop() {
            for source in &self.memories[object.index()].sources {
                let from = self.keeper(source.from);
                if found.insert(from) {
                    open.push(from);
                }
            }
        }
        found.into_iter().collect()
    }

    /// All that lies in the sources and that something of this type may hold.
    fn fill(&mut self, node: NodeId, ty: Option<DebugTypeId>, sources: &[AbstractObjectId]) {
        let cells: BTreeSet<NodeId> = sources
            .iter()
            .flat_map(|source| &self.memories[source.index()].cells)
            .filter(|(_, form, _)| ty.is_none_or(|ty| self.declarations.may_hold(ty, form.alias, None, true)))
            .map(|(.., cell)| self.graph.find(*cell))
            .collect();
        let mut held = LocationSet::default();
        cells.into_iter().for_each(|cell| held.absorb(self.graph.set(cell)));
        self.graph.add_set(node, &held);
    }

    /// Views read what their objects draw from.
    pub fn pull_all(&mut self) {
        let (mut reader, mut has_read) = (None, Vec::new());
        while let Some((object, view, source)) = self.pulls.pop() {
            if reader.replace((object, view)) != Some((object, view)) {
                has_read.clear();
            }
            // Many sources differ only in where they lie.
            if let Some(read) = source.read_by(view, self.pointer_bytes)
                && !has_read.contains(&read)
            {
                has_read.push(read);
                self.pull(object, view, read);
            }
        }
    }

    fn pull(&mut self, object: AbstractObjectId, (_, form, node): Cell, Read { from, at, forgets_types, is_part }: Read) {
        let may_hold = |declarations: &Declarations<'_>, object: &AbstractObject, form: Form| {
            object.ty.is_none_or(|ty| declarations.may_hold(ty, form.alias, None, object.has_declared_type()))
        };
        let read = if forgets_types { Form { alias: None, ..form } } else { form };
        let (to, source) = (&self.objects[object.index()], &self.objects[from.index()]);
        if !may_hold(&self.declarations, to, form) || !may_hold(&self.declarations, source, read) {
            return;
        }
        if let Some(view) = self.view(from, at, read) {
            if is_part {
                self.add_number(view, node);
            } else {
                self.graph.add_edge(view, node);
            }
        }
    }
}
