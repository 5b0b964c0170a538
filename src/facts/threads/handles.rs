//! Which threads a join may be meant for: where its handle may have come from.
//!
//! # Definition   The sources of a value are followed backwards, without regard to order: through what computes values from values, arguments, returned
//!                values, and from what is read to all that is written there. A source is a creation that stores the handle of its thread, or it is
//!                one that cannot be told: a result of code that is not looked at, or memory that such code may write.
//! # Theorem      If all sources of a join's handle can be told, the thread was created at one of them. For a handle is made by creations, and by a
//!                thread that asks for its own.
//! # Deviations   Functions are looked at once for all their callers. After so many values nothing is said to be known.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::accesses::Accesses;
use super::super::call_graph::{CallGraph, CallKind};
use super::super::loops::{Definition, Definitions};
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset, PointsTo};
use super::input::{Called, Input, is_outside};
use crate::deadline::{Deadline, OutOfTime};
use crate::models::{BoundModels, Effect, FunctionModel};
use crate::program::{FunctionId, Instruction, Operand, Operation, Program, RegisterId, SiteId, TerminatorKind};

/// So many values and places are followed for one join.
const MOST_STEPS: usize = 5_000;

/// By site of a join: the sites that create the threads it may be meant for. Where nothing is known there is no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedThreads {
    creations: BTreeMap<SiteId, BTreeSet<SiteId>>,
}

impl JoinedThreads {
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        (points_to, calls, accesses): (&PointsTo, &CallGraph, &Accesses),
        deadline: Deadline,
    ) -> Result<JoinedThreads, OutOfTime> {
        let input = Input { program, models, points_to, calls, accesses };
        let joins = joins(input);
        // What one creation makes is what any join is meant for.
        if joins.is_empty() || calls.spawns().count() < 2 {
            return Ok(JoinedThreads::default());
        }
        let index = Index::of(input, deadline)?;
        let mut definitions = FxHashMap::default();
        let mut creations: BTreeMap<SiteId, BTreeSet<SiteId>> = BTreeMap::new();
        let mut unknown: BTreeSet<SiteId> = BTreeSet::new();
        for (function, site, handle) in joins {
            deadline.check()?;
            let mut search = Search {
                input,
                index: &index,
                definitions: &mut definitions,
                seen: FxHashSet::default(),
                open: Vec::new(),
                found: BTreeSet::new(),
            };
            match search.run(Node::Value(function, handle)) {
                Some(found) if !found.is_empty() => creations.entry(site).or_default().extend(found),
                _ => _ = unknown.insert(site),
            }
        }
        creations.retain(|site, _| !unknown.contains(site));
        Ok(JoinedThreads { creations })
    }

    /// Whether a join at a site may be meant for a thread that is created at another one.
    pub fn may_be_meant(&self, join: SiteId, created_at: SiteId) -> bool {
        self.creations.get(&join).is_none_or(|creations| creations.contains(&created_at))
    }
}

/// All joins, each with its handle.
fn joins(input: Input<'_>) -> Vec<(FunctionId, SiteId, Operand)> {
    let mut joins = Vec::new();
    for (id, function) in input.program.functions.iter_enumerated().filter(|(id, _)| input.points_to.is_reachable(*id)) {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            for called in input.called(instruction) {
                let Called::Library(model) = called else { continue };
                let handles = model.effects.iter().filter_map(|effect| match effect {
                    Effect::Join { handle, .. } => Input::argument(instruction, *handle),
                    _ => None,
                });
                joins.extend(handles.map(|handle| (id, instruction.site, handle)));
            }
        }
    }
    joins
}

/// What is written to an object.
#[derive(Clone, Copy)]
enum Written {
    Value {
        function: FunctionId,
        to: Location,
        size: u64,
        value: Operand,
    },
    /// Bytes from wherever a pointer points.
    Copy {
        function: FunctionId,
        source: Operand,
    },
    Handle {
        to: Location,
        creation: SiteId,
    },
}

struct Index {
    writes: FxHashMap<AbstractObjectId, Vec<Written>>,
    /// Objects that code that is not looked at may write.
    mixed: FxHashSet<AbstractObjectId>,
}

impl Index {
    fn of(input: Input<'_>, deadline: Deadline) -> Result<Index, OutOfTime> {
        let mut index = Index { writes: FxHashMap::default(), mixed: FxHashSet::default() };
        for (id, function) in input.program.functions.iter_enumerated().filter(|(id, _)| input.points_to.is_reachable(*id)) {
            deadline.check()?;
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                index.instruction(input, id, instruction);
            }
        }
        Ok(index)
    }

    fn instruction(&mut self, input: Input<'_>, id: FunctionId, instruction: &Instruction) {
        match &instruction.operation {
            Operation::Store { address, value, .. }
            | Operation::ReadModifyWrite { address, value, .. }
            | Operation::CompareExchange { address, replacement: value, .. } => {
                let size = input.program.layout.store_bytes(input.program.type_of(input.function(id), *value));
                // A constant is no handle.
                if matches!(value, Operand::Register(_)) {
                    for to in input.points_to.pointees(id, *address) {
                        self.write(to, Written::Value { function: id, to, size, value: *value });
                    }
                }
            }
            Operation::CopyMemory { destination, source, .. } => {
                for to in input.points_to.pointees(id, *destination) {
                    self.write(to, Written::Copy { function: id, source: *source });
                }
            }
            Operation::SetMemory { destination: address, byte: Operand::Register(_), .. } => {
                self.mix(input, id, *address);
            }
            Operation::MaskedStore { address, .. } => self.mix(input, id, *address),
            Operation::InlineAssembly { arguments, .. } => {
                arguments.iter().for_each(|argument| self.mix(input, id, *argument));
            }
            Operation::VariadicCopy { to, .. } => self.mix(input, id, *to),
            Operation::Call { arguments, .. } => {
                for called in input.called(instruction) {
                    if is_hidden(&called) {
                        let results = instruction.result.map(Operand::Register);
                        let operands = arguments.iter().map(|argument| argument.value).chain(results);
                        operands.for_each(|operand| self.mix(input, id, operand));
                    }
                    let Called::Library(model) = called else { continue };
                    for effect in &model.effects {
                        if let Effect::Writes(range) | Effect::ChooseBytes(range) = effect
                            && let Some(operand) = Input::argument(instruction, range.argument)
                        {
                            let beyond = input.points_to.beyond(id, operand, range.hops);
                            self.mixed.extend(beyond.into_iter().map(|location| location.object));
                        }
                        if let Effect::Spawn { handle: Some(handle), .. } = effect
                            && let Some(handle) = Input::argument(instruction, *handle)
                        {
                            for to in input.points_to.pointees(id, handle) {
                                self.write(to, Written::Handle { to, creation: instruction.site });
                            }
                        }
                    }
                }
            }
            // Lists of arguments hold addresses, and nothing else writes memory.
            _ => {}
        }
    }

    fn write(&mut self, to: Location, written: Written) {
        self.writes.entry(to.object).or_default().push(written);
    }

    fn mix(&mut self, input: Input<'_>, id: FunctionId, operand: Operand) {
        self.mixed.extend(input.points_to.pointees(id, operand).map(|location| location.object));
    }
}

/// Whether a call does what is not looked at with memory that it gets at.
fn is_hidden(called: &Called<'_>) -> bool {
    match called {
        Called::Body(_) => false,
        Called::Library(model) => {
            model.builtin.is_some() || model.effects.is_empty() || !model.effects.iter().all(moves_no_value)
        }
        Called::Outside => true,
    }
}

/// Something whose sources are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Value(FunctionId, Operand),
    /// So many bytes at a place; without a number anywhere in its object.
    Memory(Location, Option<u64>),
}

struct Search<'a> {
    input: Input<'a>,
    index: &'a Index,
    definitions: &'a mut FxHashMap<FunctionId, Definitions>,
    seen: FxHashSet<Node>,
    open: Vec<Node>,
    found: BTreeSet<SiteId>,
}

impl Search<'_> {
    /// The creations that a value may come from; `None` when one of its sources cannot be told.
    fn run(&mut self, start: Node) -> Option<BTreeSet<SiteId>> {
        self.add(start);
        while let Some(node) = self.open.pop() {
            if self.seen.len() > MOST_STEPS {
                return None;
            }
            match node {
                Node::Value(_, Operand::Constant(_)) => {}
                Node::Value(function, Operand::Register(register)) => self.value(function, register)?,
                Node::Memory(location, size) => self.memory(location, size)?,
            }
        }
        Some(std::mem::take(&mut self.found))
    }

    fn add(&mut self, node: Node) {
        if self.seen.insert(node) {
            self.open.push(node);
        }
    }

    fn add_all(&mut self, function: FunctionId, operands: &[Operand]) {
        operands.iter().for_each(|operand| self.add(Node::Value(function, *operand)));
    }

    fn value(&mut self, id: FunctionId, register: RegisterId) -> Option<()> {
        let function = self.input.function(id);
        let definition = self.definitions.entry(id).or_insert_with(|| Definitions::of(function)).get(register)?;
        match definition {
            Definition::Parameter(position) => self.parameter(id, position),
            Definition::Phi { block, index } => {
                self.add_all(id, &function.blocks[block].phis[index].operands);
                Some(())
            }
            Definition::Instruction { block, index } => self.result(id, &function.blocks[block].instructions[index], register),
        }
    }

    /// What callers give, and creators.
    fn parameter(&mut self, id: FunctionId, position: usize) -> Option<()> {
        for edge in self.input.calls.calls_of(id) {
            let (caller, site) = (edge.caller?, edge.site?);
            let instructions = self.input.function(caller).blocks.iter().flat_map(|block| &block.instructions);
            for call in instructions.filter(|instruction| instruction.site == site) {
                let position = match edge.kind {
                    CallKind::Call => Some(position),
                    CallKind::Spawn => self.input.called(call).iter().find_map(|called| match called {
                        Called::Library(model) => argument_of_thread(model),
                        Called::Body(_) | Called::Outside => None,
                    }),
                    _ => None,
                };
                // What is passed by value is a copy in memory.
                let argument = Input::argument(call, position?)?;
                self.add(Node::Value(caller, argument));
            }
        }
        Some(())
    }

    fn result(&mut self, id: FunctionId, instruction: &Instruction, register: RegisterId) -> Option<()> {
        let size = self.input.program.layout.store_bytes(self.input.function(id).registers[register].ty);
        match &instruction.operation {
            Operation::Load { address, .. } | Operation::ReadModifyWrite { address, .. } => self.read(id, *address, Some(size)),
            Operation::CompareExchange { address, .. } => self.read(id, *address, None),
            Operation::Call { .. } => {
                for called in self.input.called(instruction) {
                    let Called::Body(callee) = called else { return None };
                    for block in &self.input.function(callee).blocks {
                        if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                            self.add(Node::Value(callee, *value));
                        }
                    }
                }
                Some(())
            }
            Operation::MaskedLoad { .. } | Operation::InlineAssembly { .. } | Operation::VariadicNext { .. } => None,
            // A truth is no handle, and neither is an address of memory.
            Operation::Compare { .. } | Operation::StackAllocate { .. } => Some(()),
            // Whatever is computed from a handle may be that handle.
            other => {
                let operands: Vec<Operand> = other.clone().operands_mut().into_iter().map(|operand| *operand).collect();
                self.add_all(id, &operands);
                Some(())
            }
        }
    }

    fn read(&mut self, id: FunctionId, address: Operand, size: Option<u64>) -> Option<()> {
        let mut is_known = false;
        for location in self.input.points_to.pointees(id, address) {
            self.add(Node::Memory(location, size));
            is_known = true;
        }
        is_known.then_some(())
    }

    fn memory(&mut self, location: Location, size: Option<u64>) -> Option<()> {
        let is_followed = matches!(
            self.input.points_to.object(location.object).kind,
            AbstractObjectKind::Global(_)
                | AbstractObjectKind::ThreadLocal(_)
                | AbstractObjectKind::StackSlot { .. }
                | AbstractObjectKind::Heap { .. }
        );
        if !is_followed || self.index.mixed.contains(&location.object) || is_outside(self.input, location) {
            return None;
        }
        let points_to = self.input.points_to;
        let meets = |to: Location, written: u64| size.is_none_or(|size| points_to.may_alias(to, written, location, size));
        let handle_size = u64::from(self.input.program.layout.pointer_bytes);
        for written in self.index.writes.get(&location.object).into_iter().flatten() {
            match *written {
                Written::Value { function, to, size, value } if meets(to, size) => self.add(Node::Value(function, value)),
                Written::Handle { to, creation } if meets(to, handle_size) => _ = self.found.insert(creation),
                Written::Value { .. } | Written::Handle { .. } => {}
                Written::Copy { function, source } => {
                    let mut is_known = false;
                    for from in points_to.pointees(function, source) {
                        self.add(Node::Memory(Location { object: from.object, offset: Offset::Any }, None));
                        is_known = true;
                    }
                    is_known.then_some(())?;
                }
            }
        }
        Some(())
    }
}

fn argument_of_thread(model: &FunctionModel) -> Option<usize> {
    model.effects.iter().find_map(|effect| match effect {
        Effect::Spawn { argument, .. } => *argument,
        _ => None,
    })
}

/// Whether an effect moves no value that the program can get at again.
fn moves_no_value(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Acquire { .. }
            | Effect::Release { .. }
            | Effect::InitializeLock { .. }
            | Effect::DestroyLock { .. }
            | Effect::InitializeAttribute { .. }
            | Effect::SetAttribute { .. }
            | Effect::Spawn { .. }
            | Effect::Join { value: None, .. }
            | Effect::Detach { .. }
            | Effect::Cancel { .. }
            | Effect::CurrentThread
            | Effect::EqualThreads { .. }
            | Effect::Yield
            | Effect::Sleep
            | Effect::InitializeCondition { .. }
            | Effect::DestroyCondition { .. }
            | Effect::Wait { .. }
            | Effect::Signal { .. }
            | Effect::InitializeBarrier { .. }
            | Effect::WaitBarrier { .. }
            | Effect::DestroyBarrier { .. }
            | Effect::InitializeSemaphore { .. }
            | Effect::WaitSemaphore { .. }
            | Effect::PostSemaphore { .. }
            | Effect::DestroySemaphore { .. }
            | Effect::BeginAtomic
            | Effect::EndAtomic
            | Effect::Fence { .. }
            | Effect::Allocate { .. }
            | Effect::Free { .. }
            | Effect::Reads(_)
            | Effect::Assume { .. }
            | Effect::Assert { .. }
            | Effect::Fail
            | Effect::Exit { .. }
    )
}
