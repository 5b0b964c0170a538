//! Who writes where handles are kept, and which threads a handle may denote: the facts that hold at all times.
//!
//! # Definition   A cell is private to a thread if nothing but this thread writes it, and another instance of the thread has another cell. A cell is
//!                settled if one instruction, executed at most once, is all that ever writes it.
//! # Theorem      What a thread knows of the content of a private cell stays true until the thread itself writes there; what is known of a settled
//!                cell after its one write stays true.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::loops::{Definition, constant};
use super::super::points_to::{Location, PointeesId};
use super::input::{Called, Input, is_outside};
use super::places::{Address, Base, Places, Value};
use super::reach::Reach;
use super::state::Sweep;
use super::tree::Point;
use super::types::{ActivationId, ThreadId};
use crate::models::{Attribute, Effect};
use crate::program::{Constant, FunctionId, Instruction, Operand, Operation};

/// How often a handle that is copied from cell to cell is followed.
const COPIES: usize = 3;

/// Bytes that an instruction of an activation may write.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub point: Point,
    pub address: Option<Address>,
    pub written: Rc<Pointees>,
    /// `None` when any number of bytes around the address.
    pub size: Option<u64>,
    pub is_spawn: bool,
}

/// Where a pointer may lead, once for all operands that lead there.
#[derive(Debug)]
pub(super) struct Pointees {
    /// Ascending.
    reached: Rc<[Reach]>,
    /// Among them what is no object of the program.
    has_outside: bool,
}

impl Pointees {
    fn of(input: Input<'_>, function: FunctionId, operand: Operand) -> Pointees {
        let reached = Reach::all(input, function, operand);
        Pointees { has_outside: reached.iter().any(|reach| is_outside(input, reach.location)), reached: reached.into() }
    }
}

pub(super) struct Writers {
    writes: Vec<Write>,
    pointees: RefCell<FxHashMap<Option<PointeesId>, Rc<Pointees>>>,
    handle_size: u64,
    private: RefCell<BTreeMap<(Address, ThreadId), bool>>,
    /// Threads that may be detached, so that a join of them may fail.
    pub detached: BTreeSet<ThreadId>,
    /// The threads with a join that may be meant for a thread.
    pub joiners: Vec<BTreeSet<ThreadId>>,
    /// The cell that always holds the handle of a thread that exists once, from its creation on.
    pub settled: Vec<Option<Address>>,
}

impl Writers {
    pub fn of(places: &Places<'_>) -> Writers {
        let count = places.tree.threads.len();
        let handle_size = u64::from(places.input.program.layout.pointer_bytes);
        let mut writers = Writers {
            writes: Vec::new(),
            pointees: RefCell::default(),
            handle_size,
            private: RefCell::default(),
            detached: BTreeSet::new(),
            joiners: vec![BTreeSet::new(); count],
            settled: vec![None; count],
        };
        let points = points(places);
        for &point in &points {
            writers.collect(places, point);
        }
        for &point in &points {
            writers.collect_meanings(places, point);
        }
        writers.settle(places);
        writers
    }

    fn collect(&mut self, places: &Places<'_>, point: Point) {
        let activation = places.tree.activation(point.activation);
        let (input, function) = (places.input, activation.function);
        let instruction = input.instruction(function, point.block, point.index);
        let handle_size = self.handle_size;
        let mut add = |operand: Operand, size: Option<u64>, is_spawn: bool| {
            if places.relevant.may_touch_handle(input, function, operand, size) {
                let written = self.pointees(places, function, operand);
                self.writes.push(Write { point, address: places.address(point.activation, operand), written, size, is_spawn });
            }
        };
        if let Some((address, size)) = input.written(input.function(function), instruction) {
            add(address, size, false);
        }
        for called in input.called(instruction) {
            let Called::Library(model) = called else { continue };
            for effect in &model.effects {
                if let Effect::Spawn { handle: Some(handle), .. } = effect
                    && let Some(operand) = Input::argument(instruction, *handle)
                {
                    add(operand, Some(handle_size), true);
                }
            }
        }
        for (operand, size) in input.written_by_library(function, point.block, point.index) {
            add(operand, size, false);
        }
    }

    fn pointees(&self, places: &Places<'_>, function: FunctionId, operand: Operand) -> Rc<Pointees> {
        let mut known = self.pointees.borrow_mut();
        let pointees = known.entry(places.input.points_to.set_of(function, operand));
        Rc::clone(pointees.or_insert_with(|| Rc::new(Pointees::of(places.input, function, operand))))
    }

    /// All that a pointer may lead to.
    pub fn reached(&self, places: &Places<'_>, function: FunctionId, operand: Operand) -> Rc<[Reach]> {
        Rc::clone(&self.pointees(places, function, operand).reached)
    }

    /// Which threads joins and detaches may be meant for, and attributes that detach.
    fn collect_meanings(&mut self, places: &Places<'_>, point: Point) {
        let activation = places.tree.activation(point.activation);
        let instruction = places.input.instruction(activation.function, point.block, point.index);
        for called in places.input.called(instruction) {
            let Called::Library(model) = called else { continue };
            for effect in &model.effects {
                match effect {
                    Effect::Join { handle, .. } => {
                        // A thread that tries to join itself is refused.
                        let is_itself =
                            |thread: &ThreadId| *thread == activation.thread && !places.tree.threads[thread.index()].is_many;
                        let denoted = self.denoted(places, point.activation, instruction, *handle);
                        for thread in denoted.into_iter().filter(|thread| !is_itself(thread)) {
                            self.joiners[thread.index()].insert(activation.thread);
                        }
                    }
                    Effect::Detach { handle } => {
                        let threads = self.denoted(places, point.activation, instruction, *handle);
                        self.detached.extend(threads);
                    }
                    Effect::Spawn { attributes: Some(attributes), .. } => {
                        let object = Input::argument(instruction, *attributes);
                        // What a wrapper passes on is known at its call.
                        let given = object.and_then(|object| places.value(point.activation, object));
                        let is_default = given.is_some_and(|given| is_null(places.input, given));
                        if !is_default && !object.is_some_and(|object| is_joinable(places.input, activation.function, object)) {
                            let created = places.tree.activation(point.activation).creations.get(&(point.block, point.index));
                            self.detached.extend(created.into_iter().flatten());
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The threads that a handle may denote.
    fn denoted(
        &self,
        places: &Places<'_>,
        activation: ActivationId,
        instruction: &Instruction,
        handle: usize,
    ) -> BTreeSet<ThreadId> {
        let mut threads = BTreeSet::new();
        let is_known = Input::argument(instruction, handle)
            .is_some_and(|handle| self.follow(places, (activation, handle), COPIES, &mut threads).is_some());
        if is_known { threads } else { (0..places.tree.threads.len()).map(ThreadId::from).collect() }
    }

    /// Adds the threads that a value may denote, which may have been copied so often; `None` when that is not known.
    fn follow(
        &self,
        places: &Places<'_>,
        (activation, operand): (ActivationId, Operand),
        copies: usize,
        threads: &mut BTreeSet<ThreadId>,
    ) -> Option<()> {
        let (activation, register) = match (places.value(activation, operand), operand) {
            (Some(Value::Register(activation, register)), _) => (activation, register),
            (Some(Value::Constant(_)), _) => return Some(()),
            (None, Operand::Register(register)) => (activation, register),
            (None, Operand::Constant(_)) => return None,
        };
        let here = places.tree.activation(activation);
        let body = &places.relevant.bodies[&here.function];
        let Some(Definition::Instruction { block, index }) = body.definitions.get(register) else { return None };
        let source = places.input.instruction(here.function, block, index);
        let is_self =
            |called: &Called<'_>| matches!(called, Called::Library(model) if model.effects.contains(&Effect::CurrentThread));
        let called = places.input.called(source);
        if !called.is_empty() && called.iter().all(is_self) {
            threads.insert(here.thread);
            return Some(());
        }
        let Operation::Load { address, .. } = &source.operation else { return None };
        let locations = self.reached(places, here.function, *address);
        // Through a pointer that leads nowhere nothing is ever read.
        if locations.iter().any(|reach| is_outside(places.input, reach.location)) {
            return None;
        }
        let cell = places.address(activation, *address);
        let is_elsewhere = |write: &Write| match (&write.address, &cell) {
            (Some(written), Some(cell)) => {
                are_different_objects(places, written.base, cell.base)
                    || write.size.is_some_and(|size| is_always_apart(places, written, size, cell, self.handle_size))
            }
            _ => false,
        };
        for write in self.writes.iter().filter(|write| self.may_meet(places, write, &locations) && !is_elsewhere(write)) {
            let writer = places.tree.activation(write.point.activation);
            let instruction = places.input.instruction(writer.function, write.point.block, write.point.index);
            match &instruction.operation {
                _ if write.is_spawn => {
                    let creations = &places.tree.activation(write.point.activation).creations;
                    threads.extend(creations.get(&(write.point.block, write.point.index)).into_iter().flatten());
                }
                // A part of a handle is none.
                Operation::Store { value, .. } if copies > 0 && write.size == Some(self.handle_size) => {
                    self.follow(places, (write.point.activation, *value), copies - 1, threads)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    pub fn may_meet(&self, places: &Places<'_>, write: &Write, cells: &[Reach]) -> bool {
        let meets = |written: &Reach, cell: &Reach| written.meets(places.input, write.size, cell, self.handle_size);
        // What is outside may be several objects; others meet their own.
        let written = &write.written.reached;
        if write.written.has_outside || cells.iter().any(|cell| is_outside(places.input, cell.location)) {
            return written.iter().any(|written| cells.iter().any(|cell| meets(written, cell)));
        }
        cells.iter().any(|cell| {
            let first = written.partition_point(|written| written.location.object < cell.location.object);
            let same = written[first..].iter().take_while(|written| written.location.object == cell.location.object);
            same.into_iter().any(|written| meets(written, cell))
        })
    }

    /// Whether a write may ever touch a cell of a handle.
    fn may_write(&self, places: &Places<'_>, write: &Write, cell: &Address, locations: &[Reach]) -> bool {
        match (&write.address, write.size) {
            (Some(address), Some(size)) if is_always_apart(places, address, size, cell, self.handle_size) => false,
            _ => self.may_meet(places, write, locations),
        }
    }

    /// Whether a write that happens now touches a cell, as registers are now.
    pub fn may_write_now(&self, places: &Places<'_>, write: &Write, cell: &Address, locations: &[Reach]) -> bool {
        match (&write.address, write.size) {
            (Some(address), Some(size)) if is_apart(address, size, cell, self.handle_size) => false,
            (Some(address), _) if are_different_objects(places, address.base, cell.base) => false,
            _ => self.may_meet(places, write, locations),
        }
    }

    /// The writes of an instruction.
    pub fn writes_at(&self, point: Point) -> &[Write] {
        let first = self.writes.partition_point(|write| write.point < point);
        let count = self.writes[first..].partition_point(|write| write.point == point);
        &self.writes[first..first + count]
    }

    /// Whether only this thread writes the cell, each instance its own.
    pub fn is_private(&self, places: &Places<'_>, cell: &Address, locations: &[Reach], thread: ThreadId) -> bool {
        let key = (cell.clone(), thread);
        if let Some(known) = self.private.borrow().get(&key) {
            return *known;
        }
        let is_many = places.tree.threads[thread.index()].is_many;
        let is_own = |address: &Address| matches!(address.base, Base::Register(activation, register) if allocates(places, activation, register, thread));
        let only_here = |write: &Write| {
            places.tree.activation(write.point.activation).thread == thread
                && (!is_many || write.address.as_ref().is_some_and(is_own))
        };
        let answer = !locations.is_empty()
            && !locations.iter().any(|reach| is_outside(places.input, reach.location))
            && (!is_many || is_own(cell))
            && self.writes.iter().filter(|write| self.may_write(places, write, cell, locations)).all(only_here);
        self.private.borrow_mut().insert(key, answer);
        answer
    }

    fn settle(&mut self, places: &Places<'_>) {
        for (index, thread) in places.tree.threads.iter().enumerate() {
            let [creation] = places.tree.creations[index][..] else { continue };
            if thread.is_many {
                continue;
            }
            let Some(own) = self.writes.iter().find(|write| write.point == creation.point && write.is_spawn) else { continue };
            let Some(cell) = own.address.clone() else { continue };
            let is_settled = !own.written.has_outside
                && self.writes.iter().filter(|write| self.may_write(places, write, &cell, &own.written.reached)).count() == 1;
            if is_settled {
                self.settled[index] = Some(cell);
            }
        }
    }

    /// Whether the only write that may touch the cell is this one.
    pub fn is_settled_by(&self, places: &Places<'_>, cell: &Address, locations: &[Reach], point: Point) -> bool {
        let activation = places.tree.activation(point.activation);
        let body = &places.relevant.bodies[&activation.function];
        activation.is_once
            && !body.is_wild
            && !body.loops.is_in_cycle(point.block)
            && !locations.is_empty()
            && !locations.iter().any(|reach| is_outside(places.input, reach.location))
            && self.writes.iter().filter(|write| self.may_write(places, write, cell, locations)).all(|write| write.point == point)
    }

    /// The point of the only write that may touch the cell.
    pub fn settled_at(&self, places: &Places<'_>, cell: &Address, locations: &[Reach]) -> Option<Point> {
        let mut writes = self.writes.iter().filter(|write| self.may_write(places, write, cell, locations));
        let point = writes.next()?.point;
        (writes.next().is_none() && self.is_settled_by(places, cell, locations, point)).then_some(point)
    }

    /// Whether nothing ever writes the cells of a sweep but the instructions at some points.
    pub fn are_written_only_by(&self, places: &Places<'_>, sweep: &Sweep, cells: &[Reach], points: &BTreeSet<Point>) -> bool {
        let is_elsewhere = |write: &Write| match (&write.address, write.size) {
            (Some(address @ Address { base: Base::Object(_), .. }), Some(size)) => {
                sweep.is_apart_from(address, size, self.handle_size)
            }
            _ => false,
        };
        let mut writes = self.writes.iter().filter(|write| self.may_meet(places, write, cells) && !is_elsewhere(write));
        !cells.iter().any(|cell| is_outside(places.input, cell.location)) && writes.all(|write| points.contains(&write.point))
    }

    pub fn handle_size(&self) -> u64 {
        self.handle_size
    }
}

/// All instructions that matter, in all activations.
fn points(places: &Places<'_>) -> Vec<Point> {
    let mut points = Vec::new();
    for (number, activation) in places.tree.activations.iter().enumerate() {
        for (block, steps) in places.relevant.bodies[&activation.function].steps.iter_enumerated() {
            points.extend(steps.iter().map(|index| Point { activation: ActivationId::from(number), block, index: *index }));
        }
    }
    points
}

/// Whether a register is a new object that an instance of the thread has made for itself.
fn allocates(places: &Places<'_>, activation: ActivationId, register: crate::program::RegisterId, thread: ThreadId) -> bool {
    let here = places.tree.activation(activation);
    let body = &places.relevant.bodies[&here.function];
    let Some(Definition::Instruction { block, index }) = body.definitions.get(register) else { return false };
    let instruction = places.input.instruction(here.function, block, index);
    let allocates = |called: &Called<'_>| matches!(called, Called::Library(model) if model.effects.iter().any(|effect| matches!(effect, Effect::Allocate { .. })));
    here.thread == thread
        && !here.is_cut
        && match &instruction.operation {
            Operation::StackAllocate { .. } => true,
            _ => {
                let called = places.input.called(instruction);
                !called.is_empty() && called.iter().all(allocates)
            }
        }
}

/// Whether both are objects that activations have made for themselves, not the same one.
fn are_different_objects(places: &Places<'_>, left: Base, right: Base) -> bool {
    let is_new = |base: Base| match base {
        Base::Register(activation, register) => {
            allocates(places, activation, register, places.tree.activation(activation).thread)
        }
        Base::Nothing | Base::Object(_) => false,
    };
    left != right && is_new(left) && is_new(right)
}

/// Whether the two ranges cannot have a common byte, whenever the one and the other are computed.
fn is_always_apart(places: &Places<'_>, left: &Address, left_size: u64, right: &Address, right_size: u64) -> bool {
    let is_fixed = match left.base {
        Base::Object(_) => true,
        // Each execution makes an object of its own.
        Base::Register(activation, register) => {
            allocates(places, activation, register, places.tree.activation(activation).thread)
        }
        Base::Nothing => false,
    };
    if are_different_objects(places, left.base, right.base) {
        return true;
    }
    if left.base != right.base || left.terms.is_empty() && right.terms.is_empty() {
        return (is_fixed || left.base != right.base) && is_apart(left, left_size, right, right_size);
    }
    // The same register may have had another value then.
    is_fixed && is_apart_by_stride(left, left_size, right, right_size)
}

/// Whether the two ranges cannot have a common byte, by their addresses alone.
pub(super) fn is_apart(left: &Address, left_size: u64, right: &Address, right_size: u64) -> bool {
    if left.base != right.base {
        return matches!((left.base, right.base), (Base::Object(left), Base::Object(right)) if left != right);
    }
    let Some(distance) = right.constant.checked_sub(left.constant) else { return false };
    if left.terms == right.terms {
        return i128::from(distance) >= i128::from(left_size) || -i128::from(distance) >= i128::from(right_size);
    }
    is_apart_by_stride(left, left_size, right, right_size)
}

/// Elements of arrays of structures: the members lie at different offsets modulo the stride.
fn is_apart_by_stride(left: &Address, left_size: u64, right: &Address, right_size: u64) -> bool {
    let Some(distance) = right.constant.checked_sub(left.constant) else { return false };
    let strides = left.terms.iter().chain(&right.terms).map(|term| i128::from(term.stride.unsigned_abs()));
    let common = strides.fold(0, greatest_common_divisor);
    common > 0 && {
        let distance = i128::from(distance).rem_euclid(common);
        distance >= i128::from(left_size) && common - distance >= i128::from(right_size)
    }
}

fn greatest_common_divisor(left: i128, right: i128) -> i128 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

fn is_null(input: Input<'_>, value: Value) -> bool {
    matches!(value, Value::Constant(id) if input.program.constants[id] == Constant::Null)
}

/// Whether a thread with this attribute object can be joined: it is null, or nothing ever sets its detach state to another value.
fn is_joinable(input: Input<'_>, function: FunctionId, object: Operand) -> bool {
    if let Operand::Constant(id) = object
        && input.program.constants[id] == Constant::Null
    {
        return true;
    }
    let locations: Vec<Location> = input.points_to.pointees(function, object).collect();
    if locations.is_empty() || locations.iter().any(|location| is_outside(input, *location)) {
        return false;
    }
    let may_be_meant = |setter: FunctionId, operand: Operand| {
        input
            .points_to
            .pointees(setter, operand)
            .any(|set| locations.iter().any(|location| set.object == location.object) || is_outside(input, set))
    };
    for (library, model) in input.models.iter_enumerated() {
        let Some(model) = model else { continue };
        for effect in &model.effects {
            let Effect::SetAttribute { object, attribute: Attribute::DetachState, value } = effect else { continue };
            for edge in input.calls.calls_of(library) {
                let (Some(caller), Some(site)) = (edge.caller, edge.site) else { return false };
                for instruction in
                    input.function(caller).blocks.iter().flat_map(|block| &block.instructions).filter(|one| one.site == site)
                {
                    let is_default =
                        Input::argument(instruction, *value).and_then(|value| constant(input.program, value)) == Some(0);
                    let is_other = !Input::argument(instruction, *object).is_some_and(|object| may_be_meant(caller, object));
                    if !is_default && !is_other {
                        return false;
                    }
                }
            }
        }
    }
    true
}
