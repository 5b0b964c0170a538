//! Copies of memory: what is read from all sources is written to all destinations.
//!
//! # Definition   A copy links its sources to a transfer, and the transfer to its destinations: n + m links, not n · m.
//! # Deviations   A copy of a computed size that may read very many places reads, with all others of this kind, from one *pool* of bytes, and what it reads goes there: so
//!                many sources are what it is not known of, and hundreds of copies between hundreds of objects are one.

use super::form::Form;
use super::graph::{Constraint, NodeId};
use super::location::Class;
use super::memory::{Content, Link, Types};
use super::object::{AbstractObject, AbstractObjectId, AbstractObjectKind};
use super::solve::Solver;

/// Places that a copy may read beyond which it reads from the pool.
const CROWD: u32 = 24;
/// The pool: the number of no copy.
const POOL: u32 = u32::MAX;

/// A copy of memory: what passes through it, and how many bytes, if that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyOfMemory {
    pub transfer: AbstractObjectId,
    pub size: Option<u64>,
    /// What is copied is read with the type it was stored with.
    pub keeps_types: bool,
    /// How many places it may read.
    sources: u32,
}

impl Solver<'_> {
    /// Bytes are copied: what is read there later may have another type.
    pub fn copy(&mut self, to: Option<NodeId>, from: Option<NodeId>, size: Option<u64>) {
        self.copy_as(to, from, size, false);
    }

    pub fn copy_as(&mut self, to: Option<NodeId>, from: Option<NodeId>, size: Option<u64>, keeps_types: bool) {
        if let (Some(to), Some(from)) = (to, from) {
            let copy = self.copies.len() as u32;
            let transfer = self.object(AbstractObject::new(AbstractObjectKind::Transfer(copy)));
            self.copies.push(CopyOfMemory { transfer, size, keeps_types, sources: 0 });
            self.attach(from, Constraint::CopySource { copy });
            self.attach(to, Constraint::CopyDestination { copy });
        }
    }

    /// A copy of memory reads what this location points at: its bytes are in the transfer from its first byte on.
    pub fn copy_from(&mut self, copy: u32, object: AbstractObjectId, class: Class) {
        self.copies[copy as usize].sources += 1;
        if self.copies[copy as usize].sources == CROWD {
            self.pour(copy);
        }
        let CopyOfMemory { transfer, size, .. } = self.copies[copy as usize];
        match self.content(object) {
            Content::Cells if !self.is_without_pointers(object) => {
                // Where in the pool something lies tells nothing.
                let is_pool = self.objects[transfer.index()].kind == AbstractObjectKind::Transfer(POOL);
                let to = if is_pool { Class::ANY } else { Class::at(0) };
                let link = Link { from: self.folded(object, class), object: transfer, to, size, types: Types::Kept };
                self.add_link(object, link);
            }
            Content::Outside => {
                if let Some(cell) = self.cell(transfer, Class::ANY, Form::of(self.pointer_bytes)) {
                    self.graph.add_edge(self.unknown_value, cell);
                }
            }
            // Code, marks and constants without addresses have nothing to copy.
            Content::Cells | Content::Nothing => {}
        }
    }

    /// A copy of memory writes what this location points at.
    pub fn copy_to(&mut self, copy: u32, object: AbstractObjectId, class: Class) {
        let CopyOfMemory { transfer, size, keeps_types, .. } = self.copies[copy as usize];
        match self.content(object) {
            Content::Cells if self.is_constant(object) => {}
            Content::Cells => {
                let target = &self.objects[object.index()];
                let types = match (keeps_types || !target.has_declared_type() || target.is_of_bytes(), size) {
                    (true, _) => Types::Kept,
                    (false, None) => Types::Assumed,
                    (false, Some(_)) => Types::Forgotten,
                };
                self.add_link(transfer, Link { from: Class::at(0), object, to: class, size, types });
            }
            Content::Outside => {
                if let Some(view) = self.view(transfer, Class::ANY, Form::of(1)) {
                    self.graph.add_edge(view, self.escaped);
                }
            }
            Content::Nothing => {}
        }
    }

    /// From now on the copy reads from the pool; what it has read goes there.
    fn pour(&mut self, copy: u32) {
        let CopyOfMemory { transfer, size: None, .. } = self.copies[copy as usize] else { return };
        let pool = self.object(AbstractObject::new(AbstractObjectKind::Transfer(POOL)));
        self.copies[copy as usize].transfer = pool;
        let destinations = std::mem::take(&mut self.memories[transfer.index()].links);
        self.add_link(transfer, Link { from: Class::at(0), object: pool, to: Class::ANY, size: None, types: Types::Kept });
        for link in destinations {
            self.add_link(pool, Link { from: Class::ANY, ..link });
        }
    }
}
