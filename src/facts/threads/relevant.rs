//! Which functions and instructions matter for threads: those that create, join, detach or end threads, that wait at a barrier, that write where a thread's handle
//! is kept, and those that call such functions. All others have one constant phase.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::super::call_graph::CallKind;
use super::super::loops::{Definitions, LoopId, Loops, constant, trip_count};
use super::super::once::saves_jump;
use super::super::points_to::{AbstractObjectId, PointeesId};
use super::first::{FirstTurn, first_turns};
use super::input::{Called, Input, is_handle_type};
use super::reach::Reach;
use crate::models::Effect;
use crate::program::{BlockId, FunctionId, Instruction, Operand, Operation, Program};

/// How often a handle that is copied from cell to cell is followed; a copy beyond is only not recognised.
const COPIES: usize = 3;

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
    pub handles: BTreeMap<AbstractObjectId, Vec<Reach>>,
    /// Some thread may be cancelled.
    pub has_cancel: bool,
    /// By what a pointer leads to and how many bytes are meant: whether handles may be among them.
    touching: RefCell<FxHashMap<(PointeesId, Option<u64>), bool>>,
}

impl Relevant {
    pub fn of(input: Input<'_>) -> Relevant {
        let mut relevant = Relevant {
            bodies: BTreeMap::new(),
            acting: BTreeSet::new(),
            handles: BTreeMap::new(),
            has_cancel: false,
            touching: RefCell::default(),
        };
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
            if instructions.into_iter().any(|instruction| acts_on_threads(input, instruction)) {
                relevant.acting.insert(id);
            }
            if input.positions(id).any(|at| relevant.acts(input, id, at)) {
                needed.insert(id);
            }
        }
        add_callers(input, &mut relevant.acting);
        add_callers(input, &mut needed);
        for id in &needed {
            let function = input.function(*id);
            let loops = Loops::of(input.program, function);
            let matters = |at: (BlockId, usize)| relevant.matters(input, *id, at, &needed);
            let steps = function
                .blocks
                .iter_enumerated()
                .map(|(block, body)| (0..body.instructions.len()).filter(|index| matters((block, *index))).collect());
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
        let mut locations: BTreeSet<Reach> = BTreeSet::new();
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
                            locations.extend(Reach::all(input, caller, argument));
                        }
                    }
                }
            }
        }
        let mut new: Vec<Reach> = locations.iter().copied().collect();
        // Where handles are copied to, and copied to from there.
        for _ in 0..COPIES {
            for reach in new.drain(..) {
                self.handles.entry(reach.location.object).or_default().push(reach);
            }
            self.touching.borrow_mut().clear();
            new.extend(self.copies(input).into_iter().filter(|reach| locations.insert(*reach)));
            if new.is_empty() {
                break;
            }
        }
    }

    /// Where functions store handles that they have loaded.
    fn copies(&self, input: Input<'_>) -> BTreeSet<Reach> {
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
                    copies.extend(Reach::all(input, id, *address));
                }
            }
        }
        copies
    }

    /// Whether a pointer may point to bytes where a handle is kept.
    pub fn may_touch_handle(&self, input: Input<'_>, function: FunctionId, address: Operand, size: Option<u64>) -> bool {
        let Some(set) = input.points_to.set_of(function, address).filter(|_| !self.handles.is_empty()) else { return false };
        *self.touching.borrow_mut().entry((set, size)).or_insert_with(|| {
            let handle_size = u64::from(input.program.layout.pointer_bytes);
            let touches = |reach: Reach| {
                let mut handles = self.handles.get(&reach.location.object).into_iter().flatten();
                handles.any(|handle| reach.meets(input, size, handle, handle_size))
            };
            Reach::within(input, function, address, |object| self.handles.contains_key(&object)).into_iter().any(touches)
        })
    }

    /// Whether an instruction itself does something to threads or their handles.
    fn acts(&self, input: Input<'_>, id: FunctionId, (block, index): (BlockId, usize)) -> bool {
        let instruction = input.instruction(id, block, index);
        if let Some((address, size)) = input.written(input.function(id), instruction) {
            return self.may_touch_handle(input, id, address, size);
        }
        acts_on_threads(input, instruction) || self.library_may_write_handle(input, id, block, index)
    }

    /// Whether a library function may write where a handle is kept, other than the handle of the thread that it creates.
    pub fn library_may_write_handle(&self, input: Input<'_>, id: FunctionId, block: BlockId, index: usize) -> bool {
        let written = input.written_by_library(id, block, index);
        written.into_iter().any(|(operand, size)| self.may_touch_handle(input, id, operand, size))
    }

    fn matters(&self, input: Input<'_>, id: FunctionId, at: (BlockId, usize), needed: &BTreeSet<FunctionId>) -> bool {
        let instruction = input.instruction(id, at.0, at.1);
        if let Operation::Load { address, .. } = &instruction.operation {
            let size = instruction.result.map(|result| input.program.layout.store_bytes(input.function(id).registers[result].ty));
            return size == Some(u64::from(input.program.layout.pointer_bytes))
                && self.may_touch_handle(input, id, *address, size);
        }
        if !matches!(instruction.operation, Operation::Call { .. }) {
            return self.acts(input, id, at);
        }
        let nested = [CallKind::Call, CallKind::Callback, CallKind::Once];
        let ends = |called: &Called<'_>| match called {
            Called::Library(model) => model
                .effects
                .iter()
                .any(|effect| matches!(effect, Effect::Exit { .. } | Effect::Jump { .. } | Effect::SaveJump { .. })),
            Called::Body(_) | Called::Outside => false,
        };
        self.acts(input, id, at)
            || input.called(instruction).iter().any(ends)
            || nested.into_iter().any(|kind| input.started(id, instruction, kind).any(|callee| needed.contains(&callee)))
    }
}
