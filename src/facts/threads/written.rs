//! Memory that is written once: what is read there later is what was stored.
//!
//! # Definition   A cell of an object that exists once is written once if one store is all that may touch it, writes all of it, and is executed at most once
//!                in a run. One instruction comes before another if whoever comes to the second has executed the first, and will not do so again.
//! # Theorem      What is read from the cell after its store is what was stored there: both have one name.
//! # Deviations   1. What was stored has a name only if the function that stores it has one activation, or gets it from functions that have.  2. Cells of
//!                objects that code outside may write, and of parameters passed by value, are never written once.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::accesses::Position;
use super::super::call_graph::{CallEdge, CallKind};
use super::super::loops::{Definition, Definitions};
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset, PointeesId};
use super::input::{Input, is_outside};
use super::places::{Address, Base, Places, Value};
use super::reach::Reach;
use super::tree::Point;
use super::types::ActivationId;
use crate::program::{BlockId, Function, FunctionId, Operand, Operation, TerminatorKind};

/// How far a value is followed through parameters.
const MOST_CALLERS: usize = 40;

/// What a cell holds from its one store on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub value: Value,
    pub at: Position,
}

/// An instruction that writes, and through which operand: so many bytes, or any number.
struct Writer {
    at: Position,
    operand: Operand,
    set: Option<PointeesId>,
    size: Option<u64>,
}

/// What has been found, and what it was found from.
#[derive(Default)]
pub(super) struct Cells {
    writers: OnceCell<Vec<Writer>>,
    known: RefCell<BTreeMap<(AbstractObjectId, u64, u64), Option<Written>>>,
    definitions: RefCell<FxHashMap<FunctionId, Rc<Definitions>>>,
}

impl Places<'_> {
    /// What a load by an activation finds, if that cell is written once; in time or before, that is for the caller to see (`comes_before`).
    pub fn written_once(&self, activation: ActivationId, load: &Operation, size: u64) -> Option<Written> {
        let Operation::Load { address, access } = load else { return None };
        let Address { base: Base::Object(object), constant, terms } = self.address(activation, *address)? else { return None };
        let at = u64::try_from(constant).ok().filter(|_| terms.is_empty() && !access.is_volatile)?;
        let key = (object, at, size);
        if let Some(known) = self.cells.known.borrow().get(&key) {
            return *known;
        }
        let written = self.only_store(Location { object, offset: Offset::At(at) }, size);
        self.cells.known.borrow_mut().insert(key, written);
        written
    }

    fn only_store(&self, cell: Location, size: u64) -> Option<Written> {
        let (input, points_to) = (self.input, self.input.points_to);
        let is_followed = matches!(
            points_to.object(cell.object).kind,
            AbstractObjectKind::Global(_) | AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::Heap { .. }
        );
        if !is_followed || is_outside(input, cell) {
            return None;
        }
        let cells = [Reach::to(cell)];
        let mut writers = self.writers_of(&cells, size);
        let (Some(at), None) = (writers.next(), writers.next()) else { return None };
        let function = input.function(at.function);
        let Operation::Store { address, value, access } = &input.instruction(at.function, at.block, at.index).operation else {
            return None;
        };
        let bytes = input.program.layout.store_bytes(input.program.type_of(function, *value));
        let mut targets = points_to.pointees(at.function, *address);
        let is_exact = targets.next() == Some(cell) && targets.next().is_none() && bytes == size && !access.is_volatile;
        let is_one = is_exact && self.once.is_once(at.function, at.block);
        Some(Written { value: self.only_value(at.function, *value).filter(|_| is_one)?, at })
    }

    /// All instructions that may write some of so many bytes.
    pub fn writers_of<'s>(&'s self, cells: &'s [Reach], size: u64) -> impl Iterator<Item = Position> + 's {
        let input = self.input;
        let mut of_set: FxHashMap<(Option<PointeesId>, Option<u64>), bool> = FxHashMap::default();
        let writers = self.writers().iter().filter(move |writer| {
            *of_set.entry((writer.set, writer.size)).or_insert_with(|| {
                let (function, operand) = (writer.at.function, writer.operand);
                let is_near = |object: AbstractObjectId| cells.iter().any(|cell| cell.location.object == object);
                let touches = |reach: Reach| cells.iter().any(|cell| reach.meets(input, writer.size, cell, size));
                Reach::within(input, function, operand, is_near).into_iter().any(touches)
            })
        });
        writers.map(|writer| writer.at)
    }

    fn writers(&self) -> &[Writer] {
        self.cells.writers.get_or_init(|| {
            let input = self.input;
            let mut writers = Vec::new();
            for function in input.program.functions.keys().filter(|id| input.points_to.is_reachable(*id)) {
                for (block, index) in input.positions(function) {
                    let at = Position { function, block, index };
                    writers.extend(input.all_written(function, block, index).into_iter().map(|(operand, size)| Writer {
                        at,
                        operand,
                        set: input.points_to.set_of(function, operand),
                        size,
                    }));
                }
            }
            writers
        })
    }

    /// The name of a value of a function that runs once.
    fn only_value(&self, function: FunctionId, operand: Operand) -> Option<Value> {
        let (mut function, mut operand) = (function, operand);
        for _ in 0..MOST_CALLERS {
            let Operand::Register(register) = operand else {
                let Operand::Constant(constant) = operand else { return None };
                return Some(Value::Constant(constant));
            };
            let mut activations = self.tree.activations.iter().enumerate().filter(|(_, one)| one.function == function);
            match (activations.next(), activations.next()) {
                (Some((number, activation)), None) if !activation.is_cut => {
                    return self.value(ActivationId::from(number), operand);
                }
                (None, _) => {}
                _ => return None,
            }
            let definition = self.definitions_of(function).get(register);
            let Some(Definition::Parameter(position)) = definition else { return None };
            let call = self.only_call(function)?;
            let instruction = self.input.instruction(call.function, call.block, call.index);
            operand = Input::argument(instruction, position)?;
            function = call.function;
        }
        None
    }

    fn definitions_of(&self, function: FunctionId) -> Rc<Definitions> {
        let mut known = self.cells.definitions.borrow_mut();
        let definitions = known.entry(function).or_insert_with(|| Rc::new(Definitions::of(self.input.function(function))));
        Rc::clone(definitions)
    }

    /// The call that makes a function run, if that is the only one.
    fn only_call(&self, function: FunctionId) -> Option<Position> {
        let [CallEdge { kind: CallKind::Call, caller: Some(caller), site: Some(site), .. }] = self.input.calls.calls_of(function)
        else {
            return None;
        };
        let is_call = |(block, index): &(BlockId, usize)| {
            let instruction = self.input.instruction(*caller, *block, *index);
            instruction.site == *site && matches!(instruction.operation, Operation::Call { .. })
        };
        let mut calls = self.input.positions(*caller).filter(is_call);
        let (Some((block, index)), None) = (calls.next(), calls.next()) else { return None };
        Some(Position { function: *caller, block, index })
    }

    /// Whether whoever comes to a point comes there after an instruction that is executed at most once, and so after the only time that it is.
    pub fn comes_before(&self, first: Position, point: Point) -> bool {
        let after = self.points_around(point);
        let mut first = first;
        for _ in 0..MOST_CALLERS {
            // The function runs once, so that this is the same run of it.
            if let Some(point) = after.iter().find(|point| self.tree.activation(point.activation).function == first.function) {
                let function = self.input.function(first.function);
                return match first.block == point.block {
                    true => first.index < point.index,
                    false => is_on_all_ways(function, first.block, |block, _| block == point.block),
                };
            }
            let returns = |_, terminator: &TerminatorKind| matches!(terminator, TerminatorKind::Return(_));
            if !is_on_all_ways(self.input.function(first.function), first.block, returns) {
                return false;
            }
            let Some(call) = self.only_call(first.function) else { return false };
            first = call;
        }
        false
    }

    /// The point, the calls that lead to it, and the creation of the thread, and of its creator, as long as each is the only one.
    pub fn points_around(&self, point: Point) -> Vec<Point> {
        let mut points = vec![point];
        let mut current = point;
        loop {
            let activation = self.tree.activation(current.activation);
            current = match (activation.caller, &self.tree.creations[activation.thread.index()][..]) {
                _ if activation.is_cut => return points,
                (Some((caller, CallKind::Call)), _) => caller,
                (None, [creation]) if self.tree.threads[activation.thread.index()].entry == Some(activation.function) => {
                    creation.point
                }
                _ => return points,
            };
            points.push(current);
        }
    }
}

/// Whether every way from the entry to one of these blocks leads through a block, which may be one of them.
pub(super) fn is_on_all_ways(function: &Function, through: BlockId, is_end: impl Fn(BlockId, &TerminatorKind) -> bool) -> bool {
    let entry = function.entry();
    if through == entry {
        return true;
    }
    let (mut open, mut seen) = (vec![entry], BTreeSet::from([entry, through]));
    while let Some(block) = open.pop() {
        let terminator = &function.blocks[block].terminator.kind;
        if is_end(block, terminator) {
            return false;
        }
        open.extend(terminator.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    true
}
