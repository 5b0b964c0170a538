//! Copies of memory: what is read from all sources is written to all destinations.
//!
//! # Definition   A copy links its sources to a transfer, and the transfer to its destinations: n + m links, not n · m.

use super::constraint::Constraint;
use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::memory::{Content, Link, Types};
use super::object::{AbstractObject, AbstractObjectId, AbstractObjectKind};
use super::solve::Solver;

/// A copy of memory: what passes through it, and how many bytes, if that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyOfMemory {
    pub transfer: AbstractObjectId,
    pub size: Option<u64>,
    /// What is copied is read with the type it was stored with.
    pub keeps_types: bool,
    /// It goes through the pool (`pool`).
    pub is_pooled: bool,
}

impl Solver<'_> {
    /// Bytes are copied: what is read there later may have another type.
    pub fn copy(&mut self, to: Option<NodeId>, from: Option<NodeId>, size: Option<u64>) {
        self.copy_as(to, from, size, false);
    }

    pub fn copy_as(&mut self, to: Option<NodeId>, from: Option<NodeId>, size: Option<u64>, keeps_types: bool) {
        if let (Some(to), Some(from)) = (to, from) {
            let copy = self.copies.len() as u32;
            let transfer = self.new_transfer();
            self.copies.push(CopyOfMemory { transfer, size, keeps_types, is_pooled: false });
            self.attach(from, Constraint::CopySource { copy });
            self.attach(to, Constraint::CopyDestination { copy });
        }
    }

    /// Bytes on their way.
    pub fn new_transfer(&mut self) -> AbstractObjectId {
        self.transfers += 1;
        self.object(AbstractObject::new(AbstractObjectKind::Transfer(self.transfers)))
    }

    /// A copy of memory reads what this location points at: its bytes are in the transfer from its first byte on.
    pub fn copy_from(&mut self, copy: u32, location: u32) {
        let (object, class) = self.locations.get(location);
        let CopyOfMemory { transfer, size, is_pooled, .. } = self.copies[copy as usize];
        let (transfer, to) = if is_pooled { (self.pool(), Class::ANY) } else { (transfer, Class::at(0)) };
        match self.content(object) {
            Content::Cells if !self.is_without_pointers(object) => {
                let readable = self.bytes_of_copy(location, size);
                let from = self.folded(object, class);
                let link = Link { from, object: transfer, to, size, readable, writable: None, types: Types::Kept };
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

    /// The bytes behind a location that a copy may touch: it stays in the room, unless its size says that the program does not care.
    fn bytes_of_copy(&self, location: u32, size: Option<u64>) -> Option<u64> {
        self.locations.room(location).after().filter(|after| size.is_none_or(|size| size <= *after))
    }

    /// A copy of memory writes what this location points at.
    pub fn copy_to(&mut self, copy: u32, location: u32) {
        let (object, class) = self.locations.get(location);
        let CopyOfMemory { transfer, size, keeps_types, is_pooled } = self.copies[copy as usize];
        match self.content(object) {
            Content::Cells if self.is_constant(object) => {}
            Content::Cells => {
                let target = &self.objects[object.index()];
                let types = match (keeps_types || !target.has_declared_type() || target.is_of_bytes(), size) {
                    (true, _) => Types::Kept,
                    (false, None) => Types::Assumed,
                    (false, Some(_)) => Types::Forgotten,
                };
                let writable = self.bytes_of_copy(location, size);
                if is_pooled {
                    let (to, size) = writable.map_or((class, size), |bytes| (class.first(), Some(bytes)));
                    return self.draw_from_pool(object, to, size, types);
                }
                let from = Class::at(0);
                self.add_link(transfer, Link { from, object, to: class, size, readable: None, writable, types });
            }
            Content::Outside => {
                let transfer = if is_pooled { self.pool() } else { transfer };
                if let Some(view) = self.view(transfer, Class::ANY, Form::of(1)) {
                    self.graph.add_edge(view, self.escaped);
                }
            }
            Content::Nothing => {}
        }
    }
}
