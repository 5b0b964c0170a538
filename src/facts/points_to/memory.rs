//! The content of abstract objects: cells that stores write, views that loads read, and the copies between objects.
//!
//! # Definition   A cell is a class of offsets and a form of storing at most one pointer there, with the set of what was stored. A view is a class and a
//!                form of reading, with the union of all cells that it may overlap and whose type it may read; as a number it reads of addresses only
//!                that they are there (`form`). A link says that a range of this object is copied into another. Copies make links (`copy`).
//! # Invariant    Every cell has an edge to each overlapping view of its object, and an image under each link it lies in: whoever creates a cell,
//!                a view or a link makes up for those that are there.
//! # Deviations   1. An object with too many offsets is folded: first by the size of its array elements, then into one class. Both are
//!                counted; neither loses a pointer.  2. Copies into an object with many cells lose their offset, not their pointers.

use super::declared::Declarations;
use super::form::Form;
use super::graph::NodeId;
use super::location::{Class, greatest_common_divisor};
use super::object::{AbstractObjectId, AbstractObjectKind};
use super::pool::Source;
use super::room::Room;
use super::solve::Solver;
use crate::program::{AliasType, Program};

/// Windows of an object after which new ones are given up.
const WINDOWS: u32 = 64;
/// Distinct offsets that ask for an explanation.
const MANY_OFFSETS: u32 = 32;
/// Distinct offsets of an array after which it is folded by its elements' size.
const ARRAY_OFFSETS: u32 = 64;
/// Distinct offsets after which an object is one class.
const OFFSETS: u32 = 1024;
/// Places of an object after which members are told apart by their types alone.
const TYPED_PLACES: usize = 64;
/// Cells of an object after which copies into it keep the offset modulo a pointer's size, and after twice as many none.
const COPIED_CELLS: usize = 512;

/// A class of offsets, how it is accessed, and what may be there.
pub(super) type Cell = (Class, Form, NodeId);

/// The content of one abstract object.
#[derive(Debug, Default)]
pub(super) struct ObjectMemory {
    pub cells: Vec<Cell>,
    pub views: Vec<Cell>,
    pub links: Vec<Link>,
    /// What views read beside the cells (`pool`).
    pub sources: Vec<Source>,
    /// The object that keeps the content of this one, and whether this one keeps that of others (`shared`).
    pub keeper: Option<AbstractObjectId>,
    pub is_shared: bool,
    /// Code outside the program may hold its address.
    pub is_escaped: bool,
    /// Each thread has one of its own, which the library keeps for it.
    pub is_of_thread: bool,
    locations: Vec<u32>,
    /// The location that contains all others of this object, once it exists.
    pub anywhere: Option<u32>,
    offsets: u32,
    /// Cells that differ in more than the type of their accesses.
    places: usize,
    windows: u32,
    /// Offsets count modulo this; 0 when they count as they are.
    fold: u64,
}

impl ObjectMemory {
    pub fn of_one_class() -> ObjectMemory {
        ObjectMemory { fold: 1, ..ObjectMemory::default() }
    }
}

/// `size` bytes from `from` are copied to `to` in another object (or the same).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub from: Class,
    pub object: AbstractObjectId,
    pub to: Class,
    /// Any number of bytes when unknown.
    pub size: Option<u64>,
    /// From the first place of `from` and `to` on: how many bytes can be read, and written, at the most (`room`).
    pub readable: Option<u64>,
    pub writable: Option<u64>,
    pub types: Types,
}

impl Link {
    /// Bytes from anywhere are copied to anywhere in another object.
    pub fn whole(object: AbstractObjectId) -> Link {
        let (readable, writable) = (None, None);
        Link { from: Class::ANY, object, to: Class::ANY, size: None, readable, writable, types: Types::Kept }
    }

    /// The places that are read.
    pub fn read(self) -> Class {
        let of_size = self.size.map(|size| self.from.reach().saturating_add(size));
        let bytes = self.readable.into_iter().chain(of_size).min();
        bytes.map_or(Class::ANY, |bytes| self.from.first().of_bytes(bytes))
    }

    /// Where it writes, and how many bytes at the most.
    pub fn written(self) -> (Class, Option<u64>) {
        match (self.size, self.writable) {
            (None, Some(bytes)) => (self.to.first(), Some(bytes)),
            (size, _) => (self.to, size),
        }
    }
}

/// What a copy does to the types of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Types {
    /// They go with the bytes: into memory without a declared type (C17 6.5p6), through arrays of single bytes, where a structure is assigned.
    Kept,
    /// The same, for want of anything better: nobody changes the types of pointers by a copy of a computed size.
    Assumed,
    /// What they are now the reader says.
    Forgotten,
}

/// Where the content of an object is kept.
pub(super) enum Content {
    Cells,
    /// With code outside the program: what is written there escapes, what is read is unknown.
    Outside,
    Nothing,
}

impl Solver<'_> {
    /// The number of a location: its class inside the bounds of the object. `None` when no valid pointer is there.
    pub fn locate(&mut self, object: AbstractObjectId, class: Class, in_bounds: bool) -> Option<u32> {
        let class = self.class_inside(object, class, in_bounds)?;
        let class = self.folded(object, class);
        let memory = &mut self.memories[object.index()];
        if class == Class::ANY && memory.anywhere.is_some() {
            return memory.anywhere;
        }
        let is_window = class.count > 1 && !self.locations.contains(object, class);
        // Arithmetic on addresses in a window makes new windows: a few of them are arrays, many are one array walked through.
        let class = if is_window && memory.windows == WINDOWS { class.flat() } else { class };
        memory.windows += u32::from(class.count > 1 && is_window);
        let (number, is_new) = self.locations.number(object, class, Room::NONE);
        if is_new {
            self.count_offset(object);
            let memory = &mut self.memories[object.index()];
            memory.locations.push(number);
            self.graph.known.add(memory.anywhere, self.objects[object.index()].is_code(), self.fits[object.index()].clone());
            if class == Class::ANY {
                memory.anywhere = Some(number);
                self.graph.known.contain(number, &memory.locations);
            }
        }
        Some(number)
    }

    /// The same, of an address that has a room: it keeps it as long as its place is told apart.
    pub fn locate_in_room(&mut self, object: AbstractObjectId, (class, room): (Class, Room), in_bounds: bool) -> Option<u32> {
        let size = self.objects[object.index()].size.filter(|_| room != Room::NONE);
        let class = size.map_or(class, |size| room.inside(class, size));
        let plain = self.locate(object, class, in_bounds)?;
        if room == Room::NONE || self.locations.get(plain).1 != class {
            return Some(plain);
        }
        let (number, is_new) = self.locations.number(object, class, room);
        if is_new {
            let memory = &mut self.memories[object.index()];
            memory.locations.push(number);
            self.graph.known.add(memory.anywhere, self.objects[object.index()].is_code(), self.fits[object.index()].clone());
        }
        Some(number)
    }

    fn class_inside(&self, object: AbstractObjectId, class: Class, in_bounds: bool) -> Option<Class> {
        let Some(size) = self.objects[object.index()].size else { return Some(class) };
        if self.objects[object.index()].is_code() {
            // An address and nothing behind it; what arithmetic makes of it matters only if it comes back.
            return match class.residue == 0 && (class == Class::at(0) || in_bounds) {
                true => Some(Class::at(0)),
                false => (!in_bounds).then_some(Class::ANY),
            };
        }
        match class.stride {
            // Pointers to nothing in particular are made by code only; the compiler promised that this one is inside.
            0 if class.residue > size => (!in_bounds).then_some(Class::ANY),
            0 if class.count > 1 && class.residue + class.reach() > size => Some(if in_bounds {
                let count = (size - class.residue) / u64::from(class.step) + 1;
                Class::at(class.residue).windowed(class.step, u32::try_from(count).expect("a window becomes smaller"))
            } else {
                class.flat()
            }),
            0 | 1 => Some(class),
            // One element: the class has one member.
            stride if stride >= size && class.residue < size && class.residue + class.reach() < stride => {
                self.class_inside(object, Class::at(class.residue).windowed(class.step, class.count), in_bounds)
            }
            // No member inside, nor at the end.
            stride if in_bounds && class.count == 1 && stride > size && class.residue > size => None,
            _ => Some(class),
        }
    }

    pub fn folded(&self, object: AbstractObjectId, class: Class) -> Class {
        class.widened(self.memories[object.index()].fold)
    }

    /// A member says where it is: in an object with very many places its type is enough.
    pub fn class_for(&self, object: AbstractObjectId, class: Class, form: Form) -> Class {
        let is_member = form.alias.is_some_and(|ty| matches!(self.program.alias_types[ty], AliasType::Member { .. }));
        if is_member && self.memories[object.index()].places > TYPED_PLACES { Class::ANY } else { self.folded(object, class) }
    }

    fn count_offset(&mut self, object: AbstractObjectId) {
        let element = self.objects[object.index()].element.unwrap_or(0);
        let memory = &mut self.memories[object.index()];
        memory.offsets += 1;
        // So many offsets may come from arithmetic in a circle: time to look for it.
        self.has_many_offsets |= memory.offsets >= MANY_OFFSETS && memory.offsets.is_power_of_two();
        if memory.offsets == ARRAY_OFFSETS && element > 1 {
            memory.fold = greatest_common_divisor(memory.fold, element);
            self.statistics.folded_arrays += 1;
        } else if memory.offsets == OFFSETS {
            memory.fold = 1;
            self.statistics.collapsed_objects += 1;
        }
    }

    /// Where a store of at most one pointer's width through this location goes.
    pub fn cell(&mut self, object: AbstractObjectId, class: Class, form: Form) -> Option<NodeId> {
        match self.content(object) {
            Content::Cells => {}
            Content::Outside => return Some(self.escaped),
            Content::Nothing => return None,
        }
        let (object, class) = self.kept_at(object, class);
        let class = self.class_for(object, class, form);
        let form = Form { width: form.width.min(self.pointer_bytes), ..form };
        if let Some(&node) = self.cells.get(&(object, class, form)) {
            return Some(node);
        }
        let node = self.new_cell(form);
        self.cells.insert((object, class, form), node);
        self.add_cell(object, (class, form, node));
        Some(node)
    }

    /// A new cell of an object: views see it, links copy it.
    pub fn add_cell(&mut self, object: AbstractObjectId, cell: Cell) {
        let (class, form, _) = cell;
        if self.places.insert((object, class, form.width)) {
            self.memories[object.index()].places += 1;
            self.count_offset(object);
        }
        let memory = &mut self.memories[object.index()];
        memory.cells.push(cell);
        let (program, declarations) = (self.program, &self.declarations);
        let views: Vec<Cell> = memory.views.iter().filter(|view| may_see(program, declarations, **view, cell)).copied().collect();
        for view in views {
            self.see(view, cell);
        }
        for index in 0..self.memories[object.index()].links.len() {
            let link = self.memories[object.index()].links[index];
            self.copy_cell(link, cell);
        }
    }

    /// What a load through this location may see.
    pub fn view(&mut self, object: AbstractObjectId, class: Class, form: Form) -> Option<NodeId> {
        match self.content(object) {
            Content::Cells => {}
            Content::Outside => return Some(self.unknown_value),
            Content::Nothing => return None,
        }
        let (object, class) = self.kept_at(object, class);
        let class = self.class_for(object, class, form);
        if let Some(&node) = self.views.get(&(object, class, form)) {
            return Some(node);
        }
        let node = self.new_view(form);
        self.views.insert((object, class, form), node);
        self.add_view(object, (class, form, node));
        Some(node)
    }

    /// A node for what is stored with this form.
    pub fn new_cell(&mut self, form: Form) -> NodeId {
        let node = self.graph.node();
        self.graph.point_to(node, self.typed.of_form(self.program, form));
        node
    }

    /// A node for what is loaded with this form. A pointer to an object never points to a function (C17 6.3.2.3).
    pub fn new_view(&mut self, form: Form) -> NodeId {
        let node = self.new_cell(form);
        if form.alias.is_some_and(|alias| self.program.is_pointer_to_object(alias)) {
            self.graph.take_no_code(node);
        }
        node
    }

    /// A new view of an object: it sees the cells that are there.
    pub fn add_view(&mut self, object: AbstractObjectId, view: Cell) {
        let memory = &mut self.memories[object.index()];
        memory.views.push(view);
        let (program, declarations) = (self.program, &self.declarations);
        let cells: Vec<Cell> = memory.cells.iter().filter(|cell| may_see(program, declarations, view, **cell)).copied().collect();
        for cell in cells {
            self.see(view, cell);
        }
        let sources = &self.memories[object.index()].sources;
        self.pulls.extend(sources.iter().map(|source| (object, view, *source)));
    }

    /// What is in the cell is read by the view.
    fn see(&mut self, (_, how, view): Cell, (_, _, cell): Cell) {
        if how.is_number {
            self.add_number(cell, view);
        } else {
            self.graph.add_edge(cell, view);
        }
    }

    pub fn content(&self, object: AbstractObjectId) -> Content {
        match self.objects[object.index()].kind {
            AbstractObjectKind::Unknown => Content::Outside,
            AbstractObjectKind::Residue | AbstractObjectKind::Function(_) | AbstractObjectKind::Label(..) => Content::Nothing,
            _ => Content::Cells,
        }
    }

    /// Whether an access of `width` bytes there can be made at all.
    pub fn is_accessible(&self, object: AbstractObjectId, class: Class, width: u64) -> bool {
        match self.objects[object.index()].size {
            Some(size) if class.stride == 0 => class.residue.saturating_add(width) <= size,
            Some(size) => width <= size,
            None => true,
        }
    }

    pub fn add_link(&mut self, object: AbstractObjectId, link: Link) {
        let (object, from) = self.kept_at(object, link.from);
        let (target, to) = self.kept_at(link.object, link.to);
        let link = Link { from, object: target, to, ..link };
        // What is one object needs no copy.
        let is_inside = object == target && from == Class::ANY && to == Class::ANY && link.types == Types::Kept;
        if !is_inside && self.links.insert((object, link)) {
            self.memories[object.index()].links.push(link);
            for index in 0..self.memories[object.index()].cells.len() {
                let cell = self.memories[object.index()].cells[index];
                self.copy_cell(link, cell);
            }
            self.draw_on(object, link);
            self.note_link(object, link);
        }
    }

    /// The image of a cell under a link.
    fn copy_cell(&mut self, link: Link, (class, form, node): Cell) {
        if !link.from.overlaps(link.size.unwrap_or(u64::MAX), class, form.width.into())
            || link.readable.is_some_and(|bytes| !link.from.first().overlaps(bytes, class, form.width.into()))
        {
            return;
        }
        let ty = self.objects[link.object.index()].ty;
        let form = if link.types == Types::Forgotten { form.copied_into(ty) } else { form };
        let is_read_alike = match (form.alias, form.declared) {
            (Some(alias), _) => ty.is_some_and(|ty| self.declarations.holds_only(ty, alias)),
            (None, Some(_)) => form.declared == ty,
            (None, None) => true,
        };
        self.assumes_types_of_copies |= link.types == Types::Assumed && !is_read_alike;
        let is_whole = class.count > 1 && class.stride == 0 && link.from == Class::at(link.from.residue);
        let before = class.residue.checked_sub(link.from.residue).and_then(|bytes| i64::try_from(bytes).ok());
        let (from, to) = (link.from.flat(), link.to.flat());
        let flat = class.flat();
        let common = greatest_common_divisor(greatest_common_divisor(from.stride, flat.stride), to.stride);
        let image = if is_whole && let Some(moved) = before.and_then(|bytes| link.to.plus(bytes)) {
            // A window keeps its form.
            moved.windowed(class.step, class.count)
        } else if common == 0 {
            // A cell that begins before the range is copied in part: its image begins where the range does.
            Class::at(to.residue.saturating_add(class.residue.saturating_sub(from.residue)))
        } else {
            let distance = (class.residue % common + common - from.residue % common) % common;
            let written = link.size.filter(|_| link.to.count == 1).into_iter().chain(link.writable).min();
            match written.and_then(|size| inside(size, common, distance)) {
                Some((step, count)) => link.to.first().windowed(step, count),
                None => Class::at(to.residue % common + distance).widened(common),
            }
        };
        if link.writable.is_some_and(|bytes| !link.to.first().overlaps(bytes, image, 1)) {
            return;
        }
        let is_declared = self.objects[link.object.index()].has_declared_type();
        let may_hold = |ty| self.declarations.may_hold(ty, form.alias, image.only(), is_declared);
        if link.types != Types::Forgotten && ty.is_some_and(|ty| !may_hold(ty)) {
            self.assumes_types_of_copies |= is_declared;
            return self.is_not_held(link.object);
        }
        // Copies back and forth would make up new offsets without end.
        let image = match self.memories[link.object.index()].places {
            cells if cells < COPIED_CELLS || self.cells.contains_key(&(link.object, image, form)) => image,
            cells if cells < 2 * COPIED_CELLS => image.widened(self.pointer_bytes.into()),
            _ => Class::ANY,
        };
        // A part of a pointer may fit where the whole does not.
        if self.is_accessible(link.object, image, 1)
            && let Some(cell) = self.cell(link.object, image, form)
        {
            // Less than a pointer is a part of one.
            self.carry(node, cell, link.size.unwrap_or(u64::MAX));
        }
    }
}

/// Steps from the first byte of a range that meet all of `distance`, `distance + stride`, … in it, and the first byte itself: their length and number.
fn inside(size: u64, stride: u64, distance: u64) -> Option<(u32, u32)> {
    let step = greatest_common_divisor(stride, distance);
    Some((u32::try_from(step).ok()?, u32::try_from(size.div_ceil(step).max(1)).ok()?))
}

/// Whether a load there may read what was stored here.
fn may_see<'p>(program: &'p Program, declarations: &Declarations<'p>, (view, how, _): Cell, (cell, stored, _): Cell) -> bool {
    view.overlaps(how.width.into(), cell, stored.width.into())
        && program.may_touch(how.alias, stored.alias)
        && stored.declared.is_none_or(|ty| declarations.may_hold(ty, how.alias, None, true))
}
