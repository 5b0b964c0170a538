//! Contexts: functions that are small, hand out fresh memory, or call what their callers say, are looked at once for each way of calling them.
//!
//! # Definition   A function is *told apart* if it has a body, no variadic arguments, gets or returns an address, is in no circle of direct calls, and has at most
//!                [`SMALL`] instructions, or [`LARGE`] if it returns what an allocation, or a function of this kind, has returned to it, or is directed (`directed`). The context of its
//!                activation is the site of its call, followed by the caller's context, cut after [`DEPTH`] sites. Activations of all other functions,
//!                and those that no call instruction began (threads, callbacks, `main`), have the empty context. With each goes the origin of the activation (`origin`).
//! # Theorem      Every activation of a run has one context, and what its registers hold is in the sets of that context's registers; so heap objects of one
//!                allocation in different contexts are different.
//! # Paper        Sharir, Pnueli 1981 (call strings); Smaragdakis, Kastrinis, Balatsouras 2014 for choosing the functions that are worth it.
//! # Deviations   1. Stack slots are shared by the contexts of their function and origin, but for directed functions.  2. After [`MOST_REGISTERS`] new contexts have one caller alone, and then the
//!                empty one of origin `Any`.  3. Where track of pointers is lost (`origin`), functions are told apart by one caller, and directed ones as all others.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::call::Call;
use super::directed::directed;
use super::graph::NodeId;
use super::object::Callers;
use super::origin::Origin;
use super::solve::Solver;
use crate::facts::call_graph::CallKind;
use crate::models::{AllocationResult, BoundModels, Effect};
use crate::program::{
    Callee, CastKind, Function, FunctionId, Operand, Operation, Parameter, Program, SiteId, TerminatorKind, Type,
};

/// Instructions of a function that is told apart, and of one that hands out memory.
const SMALL: usize = 16;
const LARGE: usize = 200;
/// Sites of a context.
const DEPTH: usize = 2;
/// How deep functions that hand out memory are followed.
const LEVELS: usize = 3;
/// Registers of all contexts of one caller, of those of two, and of those of more origins, each: what small programs need, and for large ones half as many as they have, and as many of origins.
const MOST_REGISTERS: usize = 30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContextId(u32);

#[derive(Debug)]
struct Context {
    function: FunctionId,
    origin: Origin,
    callers: Callers,
    /// The first node of the function's registers.
    registers: NodeId,
}

#[derive(Debug)]
pub(super) struct Contexts {
    is_told_apart: TiVec<FunctionId, bool>,
    pub has_origins: bool,
    /// What callers direct (`directed`): what is made there is told apart by them, too.
    is_directed: TiVec<FunctionId, bool>,
    /// Calls whose results their function may return as they are.
    returned: FxHashSet<SiteId>,
    known: Vec<Context>,
    of_function: TiVec<FunctionId, Vec<ContextId>>,
    numbers: FxHashMap<(FunctionId, Origin, Callers), ContextId>,
    /// By the caller's context, the call and the callee.
    steps: FxHashMap<(ContextId, SiteId, FunctionId), ContextId>,
    /// Functions and callers that are looked at in some origin.
    begun: FxHashSet<(FunctionId, Callers)>,
    /// For callers, for theirs, and for more origins.
    registers_left: usize,
    registers_left_for_outer_calls: usize,
    registers_left_for_origins: usize,
}

impl Contexts {
    pub fn of(program: &Program, models: &BoundModels<'_>, has_origins: bool) -> Contexts {
        let mut returned = FxHashSet::default();
        let size: usize = program.functions.iter().map(|function| function.registers.len()).sum();
        let is_directed = if has_origins { directed(program) } else { program.functions.iter().map(|_| false).collect() };
        Contexts {
            is_told_apart: told_apart(program, models, &is_directed, &mut returned),
            is_directed,
            has_origins,
            returned,
            known: Vec::new(),
            of_function: program.functions.iter().map(|_| Vec::new()).collect(),
            numbers: FxHashMap::default(),
            steps: FxHashMap::default(),
            begun: FxHashSet::default(),
            registers_left: MOST_REGISTERS.max(size / 2),
            // Where track of pointers is lost, one caller tells as much as two.
            registers_left_for_outer_calls: if has_origins { MOST_REGISTERS.max(size / 2) } else { 0 },
            registers_left_for_origins: MOST_REGISTERS.max(size),
        }
    }

    pub fn function(&self, context: ContextId) -> FunctionId {
        self.known[context.0 as usize].function
    }

    pub fn origin(&self, context: ContextId) -> Origin {
        self.known[context.0 as usize].origin
    }

    /// The contexts in which a function is looked at.
    pub fn of_function(&self, function: FunctionId) -> impl Iterator<Item = ContextId> + '_ {
        self.of_function[function].iter().copied()
    }

    pub fn callers(&self, context: ContextId) -> &Callers {
        &self.known[context.0 as usize].callers
    }

    /// The calls that return what is allocated in this context, innermost first.
    pub fn returning_calls(&self, context: ContextId, site: SiteId) -> Callers {
        self.calls_around(context, site, |site| self.returned.contains(&site))
    }

    /// The calls that a heap object's name consists of, when it is allocated in this context: as far out as it is returned, or made as callers direct.
    pub fn callers_of_memory(&self, program: &Program, context: ContextId, site: SiteId) -> Callers {
        let is_directed = |site: SiteId| self.is_directed[program.sites[site].function];
        self.calls_around(context, site, |site| self.returned.contains(&site) || is_directed(site))
    }

    fn calls_around(&self, context: ContextId, site: SiteId, goes_on: impl Fn(SiteId) -> bool) -> Callers {
        let callers = self.callers(context);
        let inner = std::iter::once(site).chain(callers.iter().copied());
        callers.iter().copied().zip(inner).take_while(|(_, inner)| goes_on(*inner)).map(|(site, _)| site).collect()
    }

    /// The calls that a stack slot's name consists of.
    pub fn callers_of_slots(&self, context: ContextId) -> Callers {
        if self.is_directed[self.function(context)] { self.callers(context).clone() } else { Callers::new() }
    }

    pub fn registers(&self, context: ContextId) -> NodeId {
        self.known[context.0 as usize].registers
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The context of the innermost of these activations, if the outermost is of this origin: each the call instruction that began it, if one did, and its function; innermost first.
    pub fn of_activations(
        &self,
        activations: impl IntoIterator<Item = (Option<SiteId>, FunctionId)>,
        origin: Origin,
    ) -> Option<ContextId> {
        let mut path = Vec::new();
        for (site, function) in activations {
            let site = site.filter(|_| self.is_told_apart[function]);
            path.push((site, function));
            if site.is_none() {
                break;
            }
        }
        let (_, outermost) = path.pop()?;
        let first = self.numbers.get(&(outermost, origin, Callers::new())).copied()?;
        path.into_iter().rev().try_fold(first, |context, (site, function)| self.steps.get(&(context, site?, function)).copied())
    }
}

fn told_apart(
    program: &Program,
    models: &BoundModels<'_>,
    is_directed: &TiVec<FunctionId, bool>,
    returned: &mut FxHashSet<SiteId>,
) -> TiVec<FunctionId, bool> {
    let hands_out = functions_that_hand_out_memory(program, models, returned);
    let in_circle = functions_in_circles(program);
    let is_told_apart = program.functions.iter_enumerated().map(|(id, function)| {
        let most = if hands_out.contains(&id) || is_directed[id] { LARGE } else { SMALL };
        let has_address = |parameter: &Parameter| {
            program.layout.store_bytes(function.registers[parameter.register].ty) >= u64::from(program.layout.pointer_bytes)
        };
        function.is_defined()
            && !function.is_variadic
            && !in_circle[id]
            && !models[id].is_some_and(|model| model.is_override)
            && (function.return_type == Type::POINTER || function.parameters.iter().any(has_address))
            && function.blocks.iter().map(|block| block.instructions.len()).sum::<usize>() <= most
    });
    is_told_apart.collect()
}

/// Whether each function may, by direct calls, call itself.
fn functions_in_circles(program: &Program) -> TiVec<FunctionId, bool> {
    let mut graph: petgraph::Graph<(), ()> = petgraph::Graph::new();
    program.functions.iter().for_each(|_| {
        graph.add_node(());
    });
    let node = |function: FunctionId| petgraph::graph::NodeIndex::new(usize::from(function));
    let mut in_circle: TiVec<FunctionId, bool> = program.functions.iter().map(|_| false).collect();
    for (caller, function) in program.functions.iter_enumerated() {
        for callee in called(function).map(|(_, callee)| callee) {
            graph.add_edge(node(caller), node(callee), ());
            in_circle[caller] |= caller == callee;
        }
    }
    for component in petgraph::algo::tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1) {
        component.into_iter().for_each(|member| in_circle[FunctionId::from(member.index())] = true);
    }
    in_circle
}

fn called(function: &Function) -> impl Iterator<Item = (SiteId, FunctionId)> {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions.filter_map(|instruction| match instruction.operation {
        Operation::Call { callee: Callee::Direct(callee), .. } => Some((instruction.site, callee)),
        _ => None,
    })
}

fn functions_that_hand_out_memory(
    program: &Program,
    models: &BoundModels<'_>,
    returned: &mut FxHashSet<SiteId>,
) -> FxHashSet<FunctionId> {
    let returns_fresh = |effect: &Effect| {
        matches!(effect, Effect::Allocate { result: AllocationResult::Returned, .. } | Effect::Reallocate { .. })
    };
    let is_allocator = |function: FunctionId| models[function].is_some_and(|model| model.effects.iter().any(returns_fresh));
    let mut candidates: Vec<(FunctionId, Vec<(SiteId, FunctionId)>)> =
        program.functions.iter_enumerated().map(|(id, function)| (id, returned_calls(function))).collect();
    returned.extend(candidates.iter().flat_map(|(_, calls)| calls).map(|(site, _)| *site));
    let mut found: FxHashSet<FunctionId> = FxHashSet::default();
    for _ in 0..LEVELS {
        let is_source = |(_, callee): &(SiteId, FunctionId)| is_allocator(*callee) || found.contains(callee);
        let (new, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|(_, calls)| calls.iter().any(is_source));
        candidates = rest;
        found.extend(new.into_iter().map(|(id, _)| id));
    }
    found
}

/// The calls whose results this function may return as they are, looked for behind phis and selections.
fn returned_calls(function: &Function) -> Vec<(SiteId, FunctionId)> {
    if function.return_type != Type::POINTER || !function.is_defined() {
        return Vec::new();
    }
    let mut definitions = vec![None; function.registers.len()];
    let mut phis = vec![None; function.registers.len()];
    for block in &function.blocks {
        block.phis.iter().for_each(|phi| phis[usize::from(phi.result)] = Some(phi));
        for instruction in &block.instructions {
            if let Some(result) = instruction.result {
                definitions[usize::from(result)] = Some(instruction);
            }
        }
    }
    let values = function.blocks.iter().filter_map(|block| match block.terminator.kind {
        TerminatorKind::Return(value) => value,
        _ => None,
    });
    let (mut open, mut seen, mut calls) = (values.collect::<Vec<Operand>>(), FxHashSet::default(), Vec::new());
    while let Some(operand) = open.pop() {
        let Operand::Register(register) = operand else { continue };
        if !seen.insert(register) {
            continue;
        }
        if let Some(phi) = phis[usize::from(register)] {
            open.extend(&phi.operands);
            continue;
        }
        let Some(instruction) = definitions[usize::from(register)] else { continue };
        match &instruction.operation {
            Operation::Call { callee: Callee::Direct(callee), .. } => calls.push((instruction.site, *callee)),
            Operation::Cast { kind: CastKind::Bitcast, value } | Operation::Freeze { value } => open.push(*value),
            Operation::Select { when_true, when_false, .. } => open.extend([*when_true, *when_false]),
            // Parameters, loads, addresses that were moved: not fresh.
            _ => {}
        }
    }
    calls
}

impl Solver<'_> {
    /// The function can run in this context, or in a coarser one if there are too many: its constraints will be made.
    fn reach_in(&mut self, function: FunctionId, origin: Origin, callers: Callers) -> ContextId {
        let origin = if self.contexts.has_origins { origin } else { Origin::Any };
        let key = (function, origin, callers);
        if let Some(&context) = self.contexts.numbers.get(&key) {
            return context;
        }
        let (_, _, callers) = key;
        let size = self.program.functions[function].registers.len();
        let is_first = !self.contexts.begun.contains(&(function, callers.clone()));
        let is_coarsest = callers.is_empty() && (is_first || origin == Origin::Any);
        if !is_coarsest {
            let left = match (is_first, callers.len()) {
                (false, _) => &mut self.contexts.registers_left_for_origins,
                (true, 0 | 1) => &mut self.contexts.registers_left,
                (true, _) => &mut self.contexts.registers_left_for_outer_calls,
            };
            match left.checked_sub(size) {
                Some(rest) => *left = rest,
                None if is_first && callers.len() > 1 => {
                    return self.reach_in(function, origin, callers.into_iter().take(1).collect());
                }
                // Callers say more than threads: without them all memory from one wrapper is one.
                None if origin != Origin::Any => return self.reach_in(function, Origin::Any, callers),
                None => return self.reach_in(function, Origin::Any, Callers::new()),
            }
        }
        let registers = self.graph.nodes(size);
        let context = ContextId(self.contexts.known.len() as u32);
        self.contexts.begun.insert((function, callers.clone()));
        self.contexts.known.push(Context { function, origin, callers: callers.clone(), registers });
        self.contexts.of_function[function].push(context);
        self.contexts.numbers.insert((function, origin, callers), context);
        self.pending.push_back(context);
        context
    }

    /// The same, for an activation that no call instruction begins.
    pub fn reach(&mut self, function: FunctionId, origin: Origin) -> ContextId {
        self.reach_in(function, origin, Callers::new())
    }

    /// The context in which a call runs its callee.
    pub fn context_of(&mut self, call: &Call, callee: FunctionId) -> ContextId {
        let origin = self.origin_of(call, callee);
        if call.kind != CallKind::Call || !self.contexts.is_told_apart[callee] {
            return self.reach(callee, origin);
        }
        let step = (call.context, call.site, callee);
        if let Some(&context) = self.contexts.steps.get(&step) {
            return context;
        }
        let outer = self.contexts.callers(call.context);
        let callers: Callers = [call.site].into_iter().chain(outer.iter().copied()).take(DEPTH).collect();
        let context = self.reach_in(callee, origin, callers);
        self.contexts.steps.insert(step, context);
        context
    }

    /// The first node of each reachable function's registers: of its only context, or with what the sets of all its contexts hold.
    pub fn registers_of_functions(&mut self) -> TiVec<FunctionId, Option<NodeId>> {
        let contexts: TiVec<FunctionId, Vec<NodeId>> = self
            .contexts
            .of_function
            .iter()
            .map(|contexts| contexts.iter().map(|context| self.contexts.registers(*context)).collect())
            .collect();
        let mut all: TiVec<FunctionId, Option<NodeId>> = TiVec::new();
        for (function, contexts) in contexts.into_iter_enumerated() {
            all.push(match contexts[..] {
                [] => None,
                [only] => Some(only),
                _ => {
                    let count = self.program.functions[function].registers.len();
                    let union = self.graph.nodes(count);
                    for first in contexts {
                        for register in 0..count as u32 {
                            self.graph.add_to(NodeId(union.0 + register), NodeId(first.0 + register));
                        }
                    }
                    Some(union)
                }
            });
        }
        all
    }
}
