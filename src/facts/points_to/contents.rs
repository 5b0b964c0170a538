//! Questions about memory: which addresses may be stored where, and which objects can be reached through them.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::PointsTo;
use super::graph::NodeId;
use super::location::{Class, Location, Offset};
use super::object::{AbstractObjectId, AbstractObjectKind};
use super::set::LocationSet;
use super::solve::RESIDUE;
use crate::facts::accesses::WHOLE;
use crate::program::{Callee, FunctionId, Operand, Operation, Program, Type};

/// A set of locations by its number: what has the same number points to the same places, so that questions need to be asked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointeesId(NodeId);

/// Places beyond which nobody can say which one is meant.
const MANY: usize = 32;

impl PointsTo {
    /// Which addresses may be stored in `size` bytes from a location on, in a fixed order; what outside memory holds is `Unknown`.
    pub fn contents(&self, location: Location, size: u64) -> impl Iterator<Item = Location> + '_ {
        let is_outside = self.object(location.object).kind == AbstractObjectKind::Unknown;
        let outside = is_outside.then_some(Location { object: location.object, offset: Offset::Any });
        let stored: BTreeSet<Location> = self.sets_in(location, size).into_iter().flat_map(|set| self.members(set)).collect();
        outside.into_iter().chain(stored)
    }

    /// The sets whose union is what may be stored in `size` bytes from a location on; nothing for outside memory.
    pub fn sets_in(&self, location: Location, size: u64) -> BTreeSet<PointeesId> {
        let class = Class::from(location.offset);
        let cells = self.cells[location.object.index()].iter();
        let overlapping = cells.filter(|(cell, form, _)| class.overlaps(size, *cell, form.width.into()));
        overlapping.map(|(.., node)| PointeesId(self.graph.find(*node))).collect()
    }

    /// The set that `pointees` lists; nothing for a function that never runs.
    pub fn set_of(&self, function: FunctionId, operand: Operand) -> Option<PointeesId> {
        self.node(function, operand).map(|node| PointeesId(self.graph.find(node)))
    }

    pub fn members(&self, set: PointeesId) -> impl Iterator<Item = Location> + '_ {
        self.expanded(Some(set.0))
    }

    /// Where what is accessed through pointers of this set stays in an array (`room`), by location: the bytes, from where on and how many; `None` for a location that stands for
    /// several places which differ in that.
    pub fn rooms(&self, set: PointeesId) -> FxHashMap<Location, Option<(Location, u64)>> {
        self.rooms_in(set, |_| true)
    }

    /// The same for the locations in some objects.
    pub fn rooms_in(
        &self,
        set: PointeesId,
        is_meant: impl Fn(AbstractObjectId) -> bool,
    ) -> FxHashMap<Location, Option<(Location, u64)>> {
        let mut rooms = FxHashMap::default();
        let numbers = self.graph.set(set.0);
        if self.residues_are_addresses && numbers.contains(RESIDUE) {
            return rooms;
        }
        for number in numbers.iter() {
            let (object, class) = self.locations.get(number);
            if !is_meant(object) {
                continue;
            }
            let first = class.first();
            let bytes = self.locations.room(number).after().filter(|bytes| first.stride == 0 || *bytes <= first.stride);
            let room = bytes.map(|bytes| (Location { object, offset: first.offset() }, bytes));
            let known = rooms.entry(Location { object, offset: class.offset() }).or_insert(room);
            *known = known.filter(|known| Some(*known) == room);
        }
        rooms
    }

    /// How many bytes of the array that a pointer of this set points into (`room`) lie before it, and from it on, at most, if it is moved by multiples of `stride`: by object, `None`
    /// where nothing bounds them. Where it points into no structure's array they are those of the object.
    pub fn rooms_around(&self, set: PointeesId, stride: u64) -> FxHashMap<AbstractObjectId, Option<(u64, u64)>> {
        let mut rooms = FxHashMap::default();
        let numbers = self.graph.set(set.0);
        if self.residues_are_addresses && numbers.contains(RESIDUE) {
            return rooms;
        }
        for number in numbers.iter() {
            let (object, class) = self.locations.get(number);
            let of_object = || {
                let behind = self.object(object).size?.checked_sub(class.residue)?;
                (class.stride == 0).then_some((class.residue, behind))
            };
            let room = self.locations.room(number).around(stride).or_else(of_object).filter(|_| class.count == 1);
            let most = |(before, after): (u64, u64), (more_before, more_after)| (before.max(more_before), after.max(more_after));
            let known = rooms.entry(object).or_insert(room);
            *known = known.zip(room).map(|(known, room)| most(known, room));
        }
        rooms
    }

    /// Whether an operand is among the pointers that are not told apart (`horde`).
    pub fn is_of_horde(&self, function: FunctionId, operand: Operand) -> bool {
        self.node(function, operand).is_some_and(|node| self.graph.is_horde(node))
    }

    /// Whether an operand may point to very many places, in a program that has hordes: nobody can say which is meant.
    pub fn points_to_many(&self, function: FunctionId, operand: Operand) -> bool {
        self.graph.has_hordes && self.node(function, operand).is_some_and(|node| self.graph.set(node).len() > MANY)
    }

    /// Whether pointers that are not told apart may point to the object.
    pub fn is_reached_by_horde(&self, object: AbstractObjectId) -> bool {
        self.is_reached_by_horde[object.index()]
    }

    /// Where addresses lead that are found behind an operand after so many pointers, each to the end of its object.
    pub fn beyond(&self, function: FunctionId, operand: Operand, hops: u8) -> BTreeSet<Location> {
        let mut places: BTreeSet<Location> = self.pointees(function, operand).collect();
        for _ in 0..hops {
            let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
            let mut next: BTreeSet<Location> = BTreeSet::new();
            for place in places {
                if self.object(place.object).kind == AbstractObjectKind::Unknown {
                    next.insert(place);
                }
                // Forwards alone: what stands before the place is not read.
                let class = Class::from(place.offset);
                let cells = self.cells[place.object.index()].iter();
                let reached = cells.filter(|(cell, form, _)| class.overlaps(WHOLE, *cell, form.width.into()));
                nodes.extend(reached.map(|(.., node)| self.graph.find(*node)));
            }
            next.extend(nodes.into_iter().flat_map(|node| self.expanded(Some(node))));
            places = next;
        }
        places
    }

    /// The objects whose addresses may be computed from numbers that are used as addresses.
    pub(crate) fn computed(&self) -> impl Iterator<Item = AbstractObjectId> + '_ {
        let sources = (self.has_used_residues && self.residues_are_addresses).then(|| self.graph.set(self.residue_sources));
        sources.into_iter().flat_map(LocationSet::iter).map(|number| self.locations.get(number).0)
    }

    /// The objects whose addresses an operand may hold as they are, some of them several times: what a number was computed from is not
    /// among them (`computed`).
    pub(crate) fn held_objects(&self, function: FunctionId, operand: Operand) -> impl Iterator<Item = AbstractObjectId> + '_ {
        let set = self.node(function, operand).map(|node| self.graph.set(node));
        let numbers = set.into_iter().flat_map(LocationSet::iter).filter(|number| *number != RESIDUE);
        numbers.map(|number| self.locations.get(number).0)
    }

    /// Whether a pointer that some instruction uses is a number computed from addresses.
    pub(super) fn uses_residues(&self, program: &Program) -> bool {
        let is_residue = |function: FunctionId, operand: Operand| {
            self.node(function, operand).is_some_and(|node| self.graph.set(node).contains(RESIDUE))
        };
        let reachable = program.functions.iter_enumerated().filter(|(id, _)| self.is_reachable(*id));
        reachable.into_iter().any(|(id, function)| {
            function.blocks.iter().flat_map(|block| &block.instructions).any(|instruction| match &instruction.operation {
                Operation::Load { address, .. }
                | Operation::Store { address, .. }
                | Operation::ReadModifyWrite { address, .. }
                | Operation::CompareExchange { address, .. }
                | Operation::MaskedLoad { address, .. }
                | Operation::MaskedStore { address, .. }
                | Operation::SetMemory { destination: address, .. }
                | Operation::VariadicStart { list: address }
                | Operation::VariadicNext { list: address } => is_residue(id, *address),
                Operation::CopyMemory { destination: to, source: from, .. } | Operation::VariadicCopy { to, from } => {
                    is_residue(id, *to) || is_residue(id, *from)
                }
                Operation::Call { callee, arguments, .. } => {
                    let is_pointer = |operand: Operand| program.type_of(function, operand) == Type::POINTER;
                    let called = if let Callee::Indirect(address) = callee { Some(*address) } else { None };
                    let arguments = arguments.iter().map(|argument| argument.value).filter(|operand| is_pointer(*operand));
                    arguments.chain(called).any(|operand| is_residue(id, operand))
                }
                // Inline assembly gets what escapes; nothing else uses an address.
                _ => false,
            })
        })
    }

    /// What threads hand to one another other than through memory: arguments of new threads and of routines that run at exit, results.
    pub fn handed_over(&self) -> impl Iterator<Item = Location> + '_ {
        self.graph.set(self.handed_over).iter().map(|number| {
            let (object, class) = self.locations.get(number);
            Location { object, offset: class.offset() }
        })
    }

    /// By object: whether it is a root, or its address may be stored in an object that is; `leads_on` says in which objects to look.
    /// Escaped and computed objects must be among the roots.
    pub(crate) fn reached_from(
        &self,
        roots: impl IntoIterator<Item = AbstractObjectId>,
        leads_on: impl Fn(AbstractObjectId) -> bool,
    ) -> Vec<bool> {
        let mut is_reached = vec![false; self.objects.len()];
        let mut open: Vec<AbstractObjectId> = Vec::new();
        let mut reach = |object: AbstractObjectId, open: &mut Vec<AbstractObjectId>| {
            if !std::mem::replace(&mut is_reached[object.index()], true) {
                open.push(object);
            }
        };
        roots.into_iter().for_each(|root| reach(root, &mut open));
        // Cells that hold the same are one node.
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(object) = open.pop() {
            if !leads_on(object) {
                continue;
            }
            for (.., node) in &self.cells[object.index()] {
                if seen.insert(self.graph.find(*node)) {
                    // A number computed from addresses leads nowhere until it is used as one (`computed`).
                    self.graph.set(*node).iter().for_each(|number| reach(self.locations.get(number).0, &mut open));
                }
            }
        }
        is_reached
    }

    /// The locations of a node; a number computed from addresses stands for all that such numbers were computed from.
    pub(super) fn expanded(&self, node: Option<NodeId>) -> impl Iterator<Item = Location> + '_ {
        let set = node.map(|node| self.graph.set(node));
        let sources =
            set.filter(|set| self.residues_are_addresses && set.contains(RESIDUE)).map(|_| self.graph.set(self.residue_sources));
        let own = set.into_iter().flat_map(LocationSet::iter).filter(|number| *number != RESIDUE);
        let computed =
            sources.into_iter().flat_map(LocationSet::iter).filter(move |number| set.is_some_and(|set| !set.contains(*number)));
        own.chain(computed).map(|number| {
            let (object, class) = self.locations.get(number);
            Location { object, offset: class.offset() }
        })
    }
}
