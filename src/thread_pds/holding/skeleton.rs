//! The skeleton of a function: the instructions that locksets depend on, and those that depend on locksets.
//!
//! Everything else is skipped. A function is *changing* if what is held may differ between its entry and some point behind it; the lockset
//! of a function that is not is its entry's, everywhere. A function is *relevant* if it, or what it calls, is changing, creates or joins threads, or
//! touches memory that threads share; the others are never entered.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use typed_index_collections::TiVec;

use super::action::{Action, LibraryCall};
use super::flags::Flags;
use crate::facts::Facts;
use crate::models::{BoundModels, Effect};
use crate::program::{Argument, BlockId, Callee, FunctionId, Instruction, Operation, Program, RegisterId, SiteId};

pub struct Skeleton {
    /// In the order of execution.
    pub blocks: TiVec<BlockId, Vec<Event>>,
    /// Where each register is defined by an instruction; `None` for parameters and phis.
    pub homes: TiVec<RegisterId, Option<BlockId>>,
    /// Blocks in reverse postorder: the rank of each.
    pub ranks: TiVec<BlockId, u32>,
    /// Where control may go from each block, each block once, ascending.
    pub successors: TiVec<BlockId, Box<[BlockId]>>,
    pub is_changing: bool,
    pub is_relevant: bool,
    /// The whole body is an atomic section.
    pub is_atomic: bool,
}

pub struct Event {
    pub index: usize,
    pub site: SiteId,
    pub kind: EventKind,
}

impl Event {
    pub fn is_call(&self) -> bool {
        matches!(self.kind, EventKind::Call(_))
    }

    /// Whether something is to be learnt here when all states are known.
    pub fn tells(&self) -> bool {
        match &self.kind {
            EventKind::Access => true,
            EventKind::Call(call) => call.targets.iter().any(|target| matches!(target, Target::Library(_))),
            EventKind::Define(_) => false,
        }
    }

    /// Whether the call may create threads.
    pub fn creates(&self) -> bool {
        let EventKind::Call(call) = &self.kind else { return false };
        let is_creation = |action: &Action| matches!(action, Action::Create { .. });
        call.targets.iter().any(|target| matches!(target, Target::Library(actions) if actions.iter().any(is_creation)))
    }
}

pub enum EventKind {
    /// The register gets a new value; names that depend on it mean something else from here on.
    Define(RegisterId),
    /// It touches memory that threads share.
    Access,
    Call(CallEvent),
}

pub struct CallEvent {
    pub targets: Vec<Target>,
    pub arguments: Vec<Argument>,
    pub result: Option<RegisterId>,
}

/// What a call may run.
pub enum Target {
    Body(FunctionId),
    Library(Vec<Action>),
}

pub type Skeletons = TiVec<FunctionId, Skeleton>;

/// Of all calls of functions that matter, with each of their targets.
pub fn number_of_calls(skeletons: &Skeletons) -> usize {
    let events = skeletons.iter().filter(|skeleton| skeleton.is_relevant).flat_map(|skeleton| skeleton.blocks.iter().flatten());
    let targets = events.flat_map(|event| match &event.kind {
        EventKind::Call(call) => call.targets.as_slice(),
        EventKind::Define(_) | EventKind::Access => &[],
    });
    targets.filter(|target| matches!(target, Target::Body(callee) if skeletons[*callee].is_relevant)).count()
}

/// The skeletons of all functions.
pub fn build(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    is_shared: &dyn Fn(FunctionId, BlockId, usize) -> bool,
) -> Skeletons {
    let flags = Flags::of(program, facts);
    let mut skeletons: Skeletons =
        program.functions.keys().map(|function| build_one(program, models, facts, &flags, function, is_shared)).collect();
    // Callees before callers; inside a cycle until nothing changes.
    for component in facts.call_graph.components() {
        loop {
            let mut is_done = true;
            for function in component {
                let (changing, relevant) = inherited(&skeletons, *function);
                let skeleton = &mut skeletons[*function];
                if changing && !skeleton.is_changing || relevant && !skeleton.is_relevant {
                    skeleton.is_changing |= changing;
                    skeleton.is_relevant |= relevant;
                    is_done = component.len() == 1;
                }
            }
            if is_done {
                break;
            }
        }
    }
    for skeleton in &mut skeletons {
        if !skeleton.is_changing {
            // Nothing depends on names here: they are the parameters' alone.
            for events in &mut skeleton.blocks {
                events.retain(|event| !matches!(event.kind, EventKind::Define(_)));
            }
        }
    }
    skeletons
}

/// Whether something that the function calls is changing, or relevant.
fn inherited(skeletons: &Skeletons, function: FunctionId) -> (bool, bool) {
    let mut answer = (false, false);
    for event in skeletons[function].blocks.iter().flatten() {
        let EventKind::Call(call) = &event.kind else { continue };
        for callee in call.targets.iter().flat_map(Target::bodies) {
            answer.0 |= skeletons[callee].is_changing;
            answer.1 |= skeletons[callee].is_relevant;
        }
    }
    answer
}

impl Target {
    /// The functions of the program that it runs before it returns.
    pub fn bodies(&self) -> Vec<FunctionId> {
        match self {
            Target::Body(function) => vec![*function],
            Target::Library(actions) => actions
                .iter()
                .flat_map(|action| match action {
                    Action::Once { routines, .. } | Action::Callback { routines } => routines.as_slice(),
                    _ => &[],
                })
                .copied()
                .collect(),
        }
    }
}

fn build_one(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    flags: &Flags,
    function: FunctionId,
    is_shared: &dyn Fn(FunctionId, BlockId, usize) -> bool,
) -> Skeleton {
    let body = &program.functions[function];
    let is_atomic = body.is_defined() && models[function].is_some_and(|model| model.effects.contains(&Effect::AtomicBody));
    let mut homes: TiVec<RegisterId, Option<BlockId>> = TiVec::from(vec![None; body.registers.len()]);
    let mut blocks: TiVec<BlockId, Vec<Event>> = TiVec::new();
    let is_reachable = facts.points_to.is_reachable(function);
    let has_shared = |block, index| is_shared(function, block, index);
    for (id, block) in body.blocks.iter_enumerated() {
        let mut events = Vec::new();
        for (index, instruction) in block.instructions.iter().enumerate() {
            if let Some(result) = instruction.result {
                homes[result] = Some(id);
            }
            if !is_reachable {
                continue;
            }
            let event = |kind| Event { index, site: instruction.site, kind };
            if has_shared(id, index) {
                events.push(event(EventKind::Access));
            }
            if let Some(call) = call(program, models, facts, function, instruction) {
                events.push(event(EventKind::Call(call)));
            }
            if let Some(action) = flags.action(program, facts, function, instruction) {
                let targets = vec![Target::Library(vec![action])];
                events.push(event(EventKind::Call(CallEvent { targets, arguments: Vec::new(), result: instruction.result })));
            }
            if let Some(result) = instruction.result {
                events.push(event(EventKind::Define(result)));
            }
        }
        let index = block.instructions.len();
        if is_reachable && has_shared(id, index) {
            events.push(Event { index, site: block.terminator.site, kind: EventKind::Access });
        }
        blocks.push(events);
    }
    let actions = || {
        blocks.iter().flatten().filter_map(|event| match &event.kind {
            EventKind::Call(call) => Some(call),
            _ => None,
        })
    };
    let has = |test: &dyn Fn(&Action) -> bool| {
        actions()
            .flat_map(|call| &call.targets)
            .any(|target| matches!(target, Target::Library(actions) if actions.iter().any(test)))
    };
    let is_changing = is_atomic || has(&Action::changes_locksets);
    let orders = has(&|action| matches!(action, Action::Create { .. } | Action::Join));
    let touches = blocks.iter().flatten().any(|event| matches!(event.kind, EventKind::Access));
    let ranks = ranks(body);
    let successors = body.blocks.iter().map(|block| {
        let successors: BTreeSet<BlockId> = block.terminator.kind.successors().into_iter().collect();
        successors.into_iter().collect()
    });
    let successors = successors.collect();
    Skeleton { blocks, homes, ranks, successors, is_changing, is_relevant: is_changing || orders || touches, is_atomic }
}

/// What a call instruction does, if it is one and does anything.
fn call(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    caller: FunctionId,
    instruction: &Instruction,
) -> Option<CallEvent> {
    let Operation::Call { callee, arguments, .. } = &instruction.operation else { return None };
    let callees = match callee {
        Callee::Direct(function) => vec![*function],
        Callee::Indirect(_) => facts.points_to.callees(instruction.site).to_vec(),
    };
    let library = LibraryCall { program, calls: &facts.call_graph, caller, site: instruction.site, arguments };
    let mut targets = Vec::new();
    for callee in callees {
        let body = &program.functions[callee];
        match models[callee] {
            Some(model) if !body.is_defined() || model.is_override => targets.push(Target::Library(library.actions(model))),
            _ if body.is_defined() => targets.push(Target::Body(callee)),
            // Nothing is known of it: an assumption says so.
            _ => targets.push(Target::Library(Vec::new())),
        }
    }
    let does_nothing = |target: &Target| matches!(target, Target::Library(actions) if actions.is_empty());
    if targets.iter().all(does_nothing) {
        return None;
    }
    Some(CallEvent { targets, arguments: arguments.clone(), result: instruction.result })
}

fn ranks(body: &crate::program::Function) -> TiVec<BlockId, u32> {
    let mut ranks: TiVec<BlockId, u32> = TiVec::from(vec![u32::MAX; body.blocks.len()]);
    if !body.is_defined() {
        return ranks;
    }
    let mut seen = FxHashSet::default();
    let mut stack = vec![(body.entry(), body.blocks[body.entry()].terminator.kind.successors())];
    let mut order = Vec::new();
    seen.insert(body.entry());
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(next) if seen.insert(next) => stack.push((next, body.blocks[next].terminator.kind.successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    for (rank, block) in order.iter().rev().enumerate() {
        ranks[*block] = rank as u32;
    }
    ranks
}
