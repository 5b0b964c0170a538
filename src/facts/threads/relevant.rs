//! Which functions and instructions matter for threads: those that create, join, detach or end threads, that wait at a barrier, that write where a thread's handle
//! is kept, and those that call such functions. All others have one constant phase.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::super::call_graph::{CallGraph, CallKind};
use super::super::loops::{Definitions, LoopId, Loops, constant, trip_count};
use super::super::once::saves_jump;
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, PointsTo};
use super::first::{FirstTurn, first_turns};
use crate::models::{BoundModels, Effect, FunctionModel};
use crate::program::{BlockId, Callee, Function, FunctionId, Instruction, Operand, Operation, Program, Type};

/// How often a handle that is copied from cell to cell is followed; a copy beyond is only not recognised.
const COPIES: usize = 3;

/// What all parts of the analysis read.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub program: &'a Program,
    pub models: &'a BoundModels<'a>,
    pub points_to: &'a PointsTo,
    pub calls: &'a CallGraph,
}

/// What a call instruction may call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Called<'a> {
    Library(&'a FunctionModel),
    Body(FunctionId),
    Outside,
}

impl<'a> Input<'a> {
    pub fn function(&self, function: FunctionId) -> &'a Function {
        &self.program.functions[function]
    }

    pub fn instruction(&self, function: FunctionId, block: BlockId, index: usize) -> &'a Instruction {
        &self.function(function).blocks[block].instructions[index]
    }

    /// What a call instruction may call; nothing for another instruction.
    pub fn called(&self, instruction: &Instruction) -> Vec<Called<'a>> {
        let kind = |function: FunctionId| {
            let is_defined = self.program.functions[function].is_defined();
            match self.models[function] {
                Some(model) if !is_defined || !model.effects.contains(&Effect::AtomicBody) => Called::Library(model),
                _ if is_defined => Called::Body(function),
                _ => Called::Outside,
            }
        };
        match &instruction.operation {
            Operation::Call { callee: Callee::Direct(function), .. } => vec![kind(*function)],
            Operation::Call { callee: Callee::Indirect(_), .. } => {
                self.points_to.callees(instruction.site).iter().map(|one| kind(*one)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The functions that a call instruction makes run by some kind of edge.
    pub fn started(
        &self,
        caller: FunctionId,
        instruction: &Instruction,
        kind: CallKind,
    ) -> impl Iterator<Item = FunctionId> + 'a {
        let (site, calls) = (instruction.site, self.calls);
        calls.calls_in(caller).iter().filter(move |edge| edge.site == Some(site) && edge.kind == kind).map(|edge| edge.callee)
    }

    pub fn argument(instruction: &Instruction, position: usize) -> Option<Operand> {
        match &instruction.operation {
            Operation::Call { arguments, .. } => {
                arguments.get(position).filter(|one| one.by_value.is_none()).map(|one| one.value)
            }
            _ => None,
        }
    }

    /// The address and bytes that an instruction other than a call writes; no size when it is not known.
    pub fn written(&self, function: &Function, instruction: &Instruction) -> Option<(Operand, Option<u64>)> {
        let bytes = |operand: Operand| Some(self.program.layout.store_bytes(self.program.type_of(function, operand)));
        match &instruction.operation {
            Operation::Store { address, value, .. } | Operation::ReadModifyWrite { address, value, .. } => {
                Some((*address, bytes(*value)))
            }
            Operation::CompareExchange { address, expected, .. } => Some((*address, bytes(*expected))),
            Operation::CopyMemory { destination, size, .. } | Operation::SetMemory { destination, size, .. } => {
                let size = super::super::loops::constant(self.program, *size).and_then(|size| u64::try_from(size).ok());
                Some((*destination, size))
            }
            Operation::MaskedStore { address, .. } => Some((*address, None)),
            _ => None,
        }
    }
}

/// A function that is walked.
pub(super) struct Body {
    pub loops: Loops,
    pub definitions: Definitions,
    /// The instructions that matter, ascending, by block.
    pub steps: TiVec<BlockId, Vec<usize>>,
    /// The edges that are taken in the first turn of a loop only.
    pub first_turns: Vec<FirstTurn>,
    /// A call may return twice, or a cycle is no loop: nothing is certain in it.
    pub is_wild: bool,
}

impl Body {
    /// Whether the block may run several times in one activation; a loop that runs at most once repeats nothing.
    pub fn repeats(&self, program: &Program, block: BlockId) -> bool {
        let is_once = |in_loop: LoopId| {
            let one = self.loops.get(in_loop);
            one.counted_exits.iter().any(|exit| {
                let is_first = exit.from == one.header && !one.latches.contains(&one.header);
                let counter = one.counters[exit.counter];
                let numbers = constant(program, counter.start).zip(constant(program, exit.bound));
                // The test itself runs once more than the rest.
                let turns = numbers.and_then(|(start, bound)| trip_count(start, counter.step, exit, is_first, bound));
                (is_first && block != one.header || one.latches == [exit.from]) && turns.is_some_and(|turns| turns <= 1)
            })
        };
        self.is_wild || self.loops.is_in_cycle(block) && !self.loops.around(block).all(is_once)
    }
}

/// Whether an instruction itself creates, joins, detaches or ends threads, or waits at a barrier.
fn acts_on_threads(input: Input<'_>, instruction: &Instruction) -> bool {
    let is_thread = |effect: &Effect| {
        matches!(
            effect,
            Effect::Spawn { .. }
                | Effect::Join { .. }
                | Effect::WaitBarrier { .. }
                | Effect::Detach { .. }
                | Effect::ExitThread { .. }
                | Effect::ContinueExit
        )
    };
    input.called(instruction).iter().any(|called| match called {
        Called::Library(model) => model.effects.iter().any(is_thread),
        Called::Body(_) | Called::Outside => false,
    })
}

/// Adds whoever calls one of these functions, and their callers.
fn add_callers(input: Input<'_>, functions: &mut BTreeSet<FunctionId>) {
    let mut open: Vec<FunctionId> = functions.iter().copied().collect();
    while let Some(callee) = open.pop() {
        for edge in input.calls.calls_of(callee).iter().filter(|edge| edge.kind.is_nested()) {
            if let Some(caller) = edge.caller
                && functions.insert(caller)
            {
                open.push(caller);
            }
        }
    }
}

pub(super) struct Relevant {
    pub bodies: BTreeMap<FunctionId, Body>,
    /// Those of them that create, join, detach or end threads or wait at a barrier, themselves or by a call. The others only write where handles
    /// may be kept: the phase does not change in them.
    pub acting: BTreeSet<FunctionId>,
    /// Where handles of new threads are stored, by object.
    pub handles: BTreeMap<AbstractObjectId, Vec<Location>>,
    /// Some thread may be cancelled.
    pub has_cancel: bool,
}

impl Relevant {
    pub fn of(input: Input<'_>) -> Relevant {
        let mut relevant =
            Relevant { bodies: BTreeMap::new(), acting: BTreeSet::new(), handles: BTreeMap::new(), has_cancel: false };
        let reachable: Vec<FunctionId> = input
            .program
            .functions
            .keys()
            .filter(|id| input.points_to.is_reachable(*id) && input.function(*id).is_defined())
            .collect();
        relevant.find_handles(input);
        let mut needed: BTreeSet<FunctionId> = BTreeSet::new();
        for &id in &reachable {
            let instructions = input.function(id).blocks.iter().flat_map(|block| &block.instructions);
            if instructions.clone().any(|instruction| acts_on_threads(input, instruction)) {
                relevant.acting.insert(id);
            }
            if instructions.into_iter().any(|instruction| relevant.acts(input, id, instruction)) {
                needed.insert(id);
            }
        }
        add_callers(input, &mut relevant.acting);
        add_callers(input, &mut needed);
        for id in &needed {
            let function = input.function(*id);
            let loops = Loops::of(input.program, function);
            let matters = |instruction: &Instruction| relevant.matters(input, *id, instruction, &needed);
            let steps = function.blocks.iter().map(|block| {
                block
                    .instructions
                    .iter()
                    .enumerate()
                    .filter(|(_, instruction)| matters(instruction))
                    .map(|(index, _)| index)
                    .collect()
            });
            let steps = steps.collect();
            let is_wild = !loops.is_reducible || saves_jump(input.models, input.points_to, function);
            let definitions = Definitions::of(function);
            let first_turns = if is_wild { Vec::new() } else { first_turns(input.program, function, &loops, &definitions) };
            let body = Body { loops, definitions, steps, first_turns, is_wild };
            relevant.bodies.insert(*id, body);
        }
        relevant
    }

    fn find_handles(&mut self, input: Input<'_>) {
        let mut locations: BTreeSet<Location> = BTreeSet::new();
        for (library, model) in input.models.iter_enumerated() {
            let Some(model) = model else { continue };
            self.has_cancel |= model.effects.iter().any(|effect| matches!(effect, Effect::Cancel { .. }))
                && !input.calls.calls_of(library).is_empty();
            for effect in &model.effects {
                let Effect::Spawn { handle: Some(handle), .. } = effect else { continue };
                for edge in input.calls.calls_of(library) {
                    let (Some(caller), Some(site)) = (edge.caller, edge.site) else { continue };
                    for instruction in input.function(caller).blocks.iter().flat_map(|block| &block.instructions) {
                        if instruction.site == site
                            && let Some(argument) = Input::argument(instruction, *handle)
                        {
                            locations.extend(input.points_to.pointees(caller, argument));
                        }
                    }
                }
            }
        }
        let mut new: Vec<Location> = locations.iter().copied().collect();
        // Where handles are copied to, and copied to from there.
        for _ in 0..COPIES {
            for location in new.drain(..) {
                self.handles.entry(location.object).or_default().push(location);
            }
            new.extend(self.copies(input).into_iter().filter(|location| locations.insert(*location)));
            if new.is_empty() {
                break;
            }
        }
    }

    /// Where functions store handles that they have loaded.
    fn copies(&self, input: Input<'_>) -> BTreeSet<Location> {
        let mut copies = BTreeSet::new();
        if self.handles.is_empty() {
            return copies;
        }
        let handle_size = u64::from(input.program.layout.pointer_bytes);
        for (id, function) in input.program.functions.iter_enumerated().filter(|(id, _)| input.points_to.is_reachable(*id)) {
            let mut loaded: BTreeSet<Operand> = BTreeSet::new();
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                let Some(result) = instruction.result else { continue };
                let is_handle = match &instruction.operation {
                    Operation::Load { address, .. } => {
                        is_handle_type(input, function.registers[result].ty)
                            && self.may_touch_handle(input, id, *address, Some(handle_size))
                    }
                    Operation::Cast { value, .. } => loaded.contains(value),
                    _ => false,
                };
                if is_handle {
                    loaded.insert(Operand::Register(result));
                }
            }
            if loaded.is_empty() {
                continue;
            }
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                if let Operation::Store { address, value, .. } = &instruction.operation
                    && loaded.contains(value)
                {
                    copies.extend(input.points_to.pointees(id, *address));
                }
            }
        }
        copies
    }

    /// Whether a pointer may point to bytes where a handle is kept.
    pub fn may_touch_handle(&self, input: Input<'_>, function: FunctionId, address: Operand, size: Option<u64>) -> bool {
        let handle_size = u64::from(input.program.layout.pointer_bytes);
        !self.handles.is_empty()
            && input.points_to.pointees(function, address).any(|location| match size {
                Some(size) => self.handles.get(&location.object).is_some_and(|handles| {
                    handles.iter().any(|handle| input.points_to.may_alias(location, size, *handle, handle_size))
                }),
                None => self.handles.contains_key(&location.object),
            })
    }

    /// Whether an instruction itself does something to threads or their handles.
    fn acts(&self, input: Input<'_>, id: FunctionId, instruction: &Instruction) -> bool {
        if let Some((address, size)) = input.written(input.function(id), instruction) {
            return self.may_touch_handle(input, id, address, size);
        }
        let writes = |called: &Called<'_>| match called {
            Called::Library(model) => self.library_may_write_handle(input, id, instruction, model),
            Called::Body(_) | Called::Outside => false,
        };
        acts_on_threads(input, instruction) || input.called(instruction).iter().any(writes)
    }

    /// A library function that gets a pointer to a handle may write there, unless it is known what it does.
    pub fn library_may_write_handle(
        &self,
        input: Input<'_>,
        id: FunctionId,
        instruction: &Instruction,
        model: &FunctionModel,
    ) -> bool {
        let is_harmless = |effect: &Effect| {
            matches!(
                effect,
                Effect::Spawn { .. }
                    | Effect::Detach { .. }
                    | Effect::Reads(_)
                    | Effect::Free { .. }
                    | Effect::Join { value: None, .. }
            )
        };
        let Operation::Call { arguments, .. } = &instruction.operation else { return false };
        !(model.builtin.is_none() && !model.effects.is_empty() && model.effects.iter().all(is_harmless))
            && arguments.iter().any(|argument| self.may_touch_handle(input, id, argument.value, None))
    }

    fn matters(&self, input: Input<'_>, id: FunctionId, instruction: &Instruction, needed: &BTreeSet<FunctionId>) -> bool {
        if let Operation::Load { address, .. } = &instruction.operation {
            let size = instruction.result.map(|result| input.program.layout.store_bytes(input.function(id).registers[result].ty));
            return size == Some(u64::from(input.program.layout.pointer_bytes))
                && self.may_touch_handle(input, id, *address, size);
        }
        if !matches!(instruction.operation, Operation::Call { .. }) {
            return self.acts(input, id, instruction);
        }
        let nested = [CallKind::Call, CallKind::Callback, CallKind::Once];
        let ends = |called: &Called<'_>| match called {
            Called::Library(model) => model
                .effects
                .iter()
                .any(|effect| matches!(effect, Effect::Exit { .. } | Effect::Jump { .. } | Effect::SaveJump { .. })),
            Called::Body(_) | Called::Outside => false,
        };
        self.acts(input, id, instruction)
            || input.called(instruction).iter().any(ends)
            || nested.into_iter().any(|kind| input.started(id, instruction, kind).any(|callee| needed.contains(&callee)))
    }
}

/// Where a location may be written by code that is not looked at.
pub(super) fn is_outside(input: Input<'_>, location: Location) -> bool {
    input.points_to.object(location.object).kind == AbstractObjectKind::Unknown || input.points_to.is_escaped(location.object)
}

/// The type of a thread's handle.
pub(super) fn is_handle_type(input: Input<'_>, ty: Type) -> bool {
    input.program.layout.store_bytes(ty) == u64::from(input.program.layout.pointer_bytes)
}
