//! Loops over arrays of handles: which cells a loop goes through, and whether one loop goes through all that another did.
//!
//! # Theorem      If a loop stores the handle of a new thread in another cell in each iteration, and a later loop goes through at least the same cells and
//!                joins in each iteration what it finds there, then at the later loop's counted exit every thread of the first has been joined. Both loops
//!                run equally often if they have the same bound: one value, or a cell that nobody writes any more (`stable`), or has written once (`written`).

use super::super::accesses::Position;
use super::super::call_graph::CallKind;
use super::super::loops::{CountedExit, Definition, LoopId, constant, trip_count};
use super::places::{Address, Base, Extension, Places, Value};
use super::stable::is_stable;
use super::state::{Bound, Sweep, Trip, predicate_number, widening};
use super::tree::Point;
use super::types::ActivationId;
use crate::program::{Operand, Operation, RegisterId};

/// An address, or a number, that changes by a constant in each iteration of a loop.
pub(super) struct Progression {
    pub activation: ActivationId,
    pub in_loop: LoopId,
    pub base: Base,
    /// In the first iteration.
    pub first: i64,
    pub stride: i64,
}

/// How an address at a point changes while the loop of its counter runs. With `once_per_iteration`, only if the point is executed at most once in
/// each iteration.
pub(super) fn progression(places: &Places<'_>, address: &Address, point: Point, once_per_iteration: bool) -> Option<Progression> {
    let (activation, register, factor, extension) = match (&address.terms[..], address.base) {
        ([term], _) => (term.activation, term.register, term.stride, term.extension),
        ([], Base::Register(activation, register)) => (activation, register, 1, Extension::None),
        _ => return None,
    };
    let here = places.tree.activation(activation);
    let body = &places.relevant.bodies[&here.function];
    let at = places.tree.lifted(point, activation)?;
    let (in_loop, counter) = body.loops.counter(register)?;
    if body.is_wild || here.is_cut || !body.loops.get(in_loop).blocks.contains(&at.block) {
        return None;
    }
    if once_per_iteration && !is_once_per_iteration(places, point, activation, in_loop) {
        return None;
    }
    let stride = factor.checked_mul(counter.step).filter(|stride| *stride != 0)?;
    let (base, first) = if address.terms.is_empty() {
        // The counter is a pointer.
        let start = places.address(activation, counter.start)?;
        if !start.terms.is_empty() || start.base == Base::Nothing {
            return None;
        }
        (start.base, start.constant.checked_add(address.constant)?)
    } else {
        let start = constant(places.input.program, counter.start)?;
        if extension == Extension::Zero && (start < 0 || counter.step < 0) {
            return None;
        }
        (address.base, address.constant.checked_add(factor.checked_mul(start)?)?)
    };
    // The base must be the same in all iterations.
    let is_fixed = match base {
        Base::Nothing | Base::Object(_) => true,
        Base::Register(of, register) if of == activation => {
            let block = body.definitions.get(register).and_then(Definition::block);
            !block.is_some_and(|block| body.loops.get(in_loop).blocks.contains(&block))
        }
        // Of a function that is active around the loop, and not called by it; or of the thread's creator.
        Base::Register(of, _) => !places.tree.is_within(of, activation),
    };
    is_fixed.then_some(Progression { activation, in_loop, base, first, stride })
}

/// The cells of handles that an address at a point goes through.
pub(super) fn sweep(places: &Places<'_>, address: &Address, point: Point, once_per_iteration: bool) -> Option<Sweep> {
    let Progression { activation, in_loop, base, first, stride } = progression(places, address, point, once_per_iteration)?;
    if base == Base::Nothing || stride.unsigned_abs() < u64::from(places.input.program.layout.pointer_bytes) {
        return None;
    }
    let one = places.relevant.bodies[&places.tree.activation(activation).function].loops.get(in_loop);
    let exits = one.counted_exits.iter().filter(|exit| is_tested_always(places, activation, in_loop, exit));
    let trip =
        exits.map(|exit| trip(places, activation, in_loop, exit)).find(|trip| *trip != Trip::Unknown).unwrap_or(Trip::Unknown);
    Some(Sweep { activation, in_loop, base, first, stride, trip })
}

/// Whether no inner loop, and no loop in a function between, repeats the point within one iteration.
fn is_once_per_iteration(places: &Places<'_>, point: Point, activation: ActivationId, in_loop: LoopId) -> bool {
    let body = &places.relevant.bodies[&places.tree.activation(activation).function];
    once_within(places, point, activation).is_some_and(|at| body.loops.innermost(at.block) == Some(in_loop))
}

/// The call of an activation during which a point is executed, if that is at most once in each execution of the call.
pub(super) fn once_within(places: &Places<'_>, point: Point, activation: ActivationId) -> Option<Point> {
    let mut current = point;
    while current.activation != activation {
        let here = places.tree.activation(current.activation);
        let body = &places.relevant.bodies[&here.function];
        let Some((caller, CallKind::Call)) = here.caller else { return None };
        if body.is_wild || body.loops.is_in_cycle(current.block) {
            return None;
        }
        current = caller;
    }
    Some(current)
}

/// Whether every iteration comes by the exit's test: it stands in the header, or in the only latch.
pub(super) fn is_tested_always(places: &Places<'_>, activation: ActivationId, in_loop: LoopId, exit: &CountedExit) -> bool {
    let one = places.relevant.bodies[&places.tree.activation(activation).function].loops.get(in_loop);
    exit.from == one.header && !one.latches.contains(&one.header) || one.latches == [exit.from]
}

/// Whether the exit's test comes before the iteration's work.
pub(super) fn is_tested_first(places: &Places<'_>, activation: ActivationId, in_loop: LoopId, exit: &CountedExit) -> bool {
    let one = places.relevant.bodies[&places.tree.activation(activation).function].loops.get(in_loop);
    exit.from == one.header && !one.latches.contains(&one.header)
}

/// How often the loop runs when it is left by this exit, and at most otherwise.
pub(super) fn trip(places: &Places<'_>, activation: ActivationId, in_loop: LoopId, exit: &CountedExit) -> Trip {
    let key = (activation, in_loop, exit.from);
    if let Some(known) = places.trips.borrow().get(&key) {
        return known.clone();
    }
    let trip = trip_if(places, (activation, in_loop, exit), &|_| false);
    places.trips.borrow_mut().insert(key, trip.clone());
    trip
}

/// The same, where it is known of some stores that they have been executed when the loop begins, which may load its bound only then.
pub(super) fn trip_if(
    places: &Places<'_>,
    (activation, in_loop, exit): (ActivationId, LoopId, &CountedExit),
    is_executed: &dyn Fn(Position) -> bool,
) -> Trip {
    let program = places.input.program;
    let function = places.tree.activation(activation).function;
    let body = &places.relevant.bodies[&function];
    let one = body.loops.get(in_loop);
    let counter = one.counters[exit.counter];
    let first = is_tested_first(places, activation, in_loop, exit);
    if let (Some(start), Some(bound)) = (places.address(activation, counter.start), places.address(activation, exit.bound))
        && start.base != Base::Nothing
        && start.base == bound.base
        && start.terms.is_empty()
        && bound.terms.is_empty()
    {
        // A pointer runs from one place of an object to another.
        return trip_count(start.constant, counter.step, exit, first, bound.constant).map_or(Trip::Unknown, Trip::Count);
    }
    let Some(start) = places.value(activation, counter.start).and_then(|start| match start {
        Value::Constant(id) => constant(program, Operand::Constant(id)),
        Value::Register(..) => None,
    }) else {
        return Trip::Unknown;
    };
    let shape = |bound: Bound| Trip::Shape {
        start,
        step: counter.step,
        predicate: predicate_number(exit.predicate),
        of_next: exit.of_next,
        widened: widening(exit.widened),
        is_tested_first: first,
        bound,
    };
    let bound = places
        .value(activation, exit.bound)
        .map(|bound| stored(places, (activation, in_loop), bound, is_executed).unwrap_or(bound));
    match bound {
        Some(Value::Constant(id)) => match constant(program, Operand::Constant(id)) {
            Some(bound) => trip_count(start, counter.step, exit, first, bound).map_or(Trip::Unknown, Trip::Count),
            None => Trip::Unknown,
        },
        Some(Value::Register(of, register)) => {
            let body = &places.relevant.bodies[&places.tree.activation(of).function];
            let definition = body.definitions.get(register);
            let is_inside =
                of == activation && definition.and_then(Definition::block).is_some_and(|block| one.blocks.contains(&block));
            match body.definitions.operation(places.input.function(places.tree.activation(of).function), register) {
                // A bound in memory is the same each time if nothing writes it any more.
                Some(Operation::Load { address, .. }) => {
                    match places.address(of, *address).zip(definition.and_then(Definition::block)) {
                        Some((cell, block))
                            if is_stable(
                                places,
                                (of, *address, size_of(places, of, register)),
                                &cell,
                                if is_inside { one.header } else { block },
                            ) =>
                        {
                            shape(Bound::Memory(cell))
                        }
                        _ if is_inside => Trip::Unknown,
                        _ => shape(Bound::Value(Value::Register(of, register))),
                    }
                }
                _ if is_inside => Trip::Unknown,
                _ => shape(Bound::Value(Value::Register(of, register))),
            }
        }
        None => Trip::Unknown,
    }
}

/// What a value that was loaded from a cell that is written once is, if that has been done when it is loaded.
fn stored(
    places: &Places<'_>,
    (looping, in_loop): (ActivationId, LoopId),
    value: Value,
    is_executed: &dyn Fn(Position) -> bool,
) -> Option<Value> {
    let Value::Register(activation, register) = value else { return None };
    let function = places.tree.activation(activation).function;
    let body = &places.relevant.bodies[&function];
    let Some(Definition::Instruction { block, index }) = body.definitions.get(register) else { return None };
    let load = &places.input.instruction(function, block, index).operation;
    let written = places.written_once(activation, load, size_of(places, activation, register))?;
    let is_inside = activation == looping && body.loops.get(in_loop).blocks.contains(&block);
    let is_in_time = is_inside && is_executed(written.at) || places.comes_before(written.at, Point { activation, block, index });
    is_in_time.then_some(written.value)
}

fn size_of(places: &Places<'_>, activation: ActivationId, register: RegisterId) -> u64 {
    let function = places.input.function(places.tree.activation(activation).function);
    places.input.program.layout.store_bytes(function.registers[register].ty)
}

impl Sweep {
    /// Whether all cells of `other` are among those of this sweep.
    pub fn covers(&self, other: &Sweep) -> bool {
        if self.base != other.base {
            return false;
        }
        match (&self.trip, &other.trip) {
            (Trip::Count(_), Trip::Count(count)) => {
                let cell = |turn: u64| {
                    i64::try_from(turn).ok().and_then(|turn| other.first.checked_add(other.stride.checked_mul(turn)?))
                };
                (0..*count).all(|turn| cell(turn).is_some_and(|cell| self.contains(cell)))
            }
            (Trip::Shape { .. }, Trip::Shape { .. }) => {
                self.trip == other.trip && self.first == other.first && self.stride == other.stride
            }
            _ => false,
        }
    }

    /// Whether it goes through the cell at this distance from its base.
    pub fn contains(&self, cell: i64) -> bool {
        let Trip::Count(count) = self.trip else { return false };
        let distance = i128::from(cell) - i128::from(self.first);
        let stride = i128::from(self.stride);
        distance % stride == 0 && (0..i128::from(count)).contains(&(distance / stride))
    }

    /// Whether no cell that it goes through has a byte in common with so many bytes at an address.
    pub fn is_apart_from(&self, address: &Address, size: u64, handle_size: u64) -> bool {
        if address.base != self.base {
            return matches!((address.base, self.base), (Base::Object(left), Base::Object(right)) if left != right);
        }
        let strides = address.terms.iter().map(|term| term.stride.unsigned_abs()).chain([self.stride.unsigned_abs()]);
        let common = i128::from(strides.fold(0, common_divisor));
        let distance = (i128::from(address.constant) - i128::from(self.first)).rem_euclid(common);
        if distance >= i128::from(handle_size) && common - distance >= i128::from(size) {
            return true;
        }
        let (Trip::Count(count), true) = (&self.trip, address.terms.is_empty()) else { return false };
        let (at, first) = (i128::from(address.constant), i128::from(self.first));
        let last = first + i128::from(self.stride) * i128::from(count.saturating_sub(1));
        *count == 0 || at >= first.max(last) + i128::from(handle_size) || at + i128::from(size) <= first.min(last)
    }
}

fn common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { common_divisor(right, left % right) }
}
