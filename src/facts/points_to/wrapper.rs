//! Allocation wrappers: functions that return memory they have just allocated, told apart by their callers.
//!
//! # Definition   A function is a wrapper if each value it returns is null or the result of one of its calls, *sources*, of an allocating library
//!                function or of a wrapper. Its level is one more than its sources' highest; functions above [`LEVELS`] and recursive
//!                ones are none. A *context* of a wrapper is the call sites from its caller outwards, as long as they are sources of a wrapper.
//! # Theorem      A value that a call of a wrapper returns was allocated inside that activation, so it is named by the allocating call and the
//!                context; objects of different contexts are different.
//! # Deviations   Inside the wrapper's body all contexts' objects are seen together.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::NodeId;
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind, Callers};
use super::solve::Solver;
use crate::models::{AllocationResult, BoundModels, Effect};
use crate::program::{
    Callee, CastKind, Constant, Function, FunctionId, Operand, Operation, Program, SiteId, TerminatorKind, Type,
};

/// How deep wrappers of wrappers are told apart.
pub(super) const LEVELS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Wrappers {
    /// The calls whose results a wrapper returns, and what they call.
    sources: FxHashMap<FunctionId, Vec<(SiteId, FunctionId)>>,
    contexts: FxHashMap<FunctionId, Vec<Callers>>,
    known: FxHashSet<(FunctionId, Callers)>,
    /// The results of calls that were connected: of allocations in wrappers, and of wrappers.
    results: FxHashMap<SiteId, Option<NodeId>>,
    sizes: FxHashMap<SiteId, Option<u64>>,
}

impl Wrappers {
    pub fn of(program: &Program, models: &BoundModels<'_>) -> Wrappers {
        let is_allocator = |function: FunctionId| models[function].is_some_and(|model| model.effects.iter().any(returns_fresh));
        let is_overridden = |function: FunctionId| models[function].is_some_and(|model| model.is_override);
        let mut candidates: Vec<(FunctionId, Vec<(SiteId, FunctionId)>)> = Vec::new();
        for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| !is_overridden(*id)) {
            if let Some(sources) = returned_calls(program, function) {
                candidates.push((id, sources));
            }
        }
        let mut wrappers = Wrappers::default();
        for _ in 0..LEVELS {
            let is_source = |callee: &FunctionId| is_allocator(*callee) || wrappers.sources.contains_key(callee);
            let (found, rest): (Vec<_>, Vec<_>) =
                candidates.into_iter().partition(|(_, sources)| sources.iter().all(|(_, callee)| is_source(callee)));
            candidates = rest;
            wrappers.sources.extend(found);
        }
        wrappers
    }

    pub fn contains(&self, function: FunctionId) -> bool {
        self.sources.contains_key(&function)
    }

    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether the result of this call is what the wrapper around it returns.
    pub fn is_source(&self, function: FunctionId, site: SiteId) -> bool {
        self.sources.get(&function).is_some_and(|sources| sources.iter().any(|(source, _)| *source == site))
    }
}

fn returns_fresh(effect: &Effect) -> bool {
    matches!(effect, Effect::Allocate { result: AllocationResult::Returned, .. } | Effect::Reallocate { .. })
}

/// The direct calls whose results the function returns; `None` when it may return anything else.
fn returned_calls(program: &Program, function: &Function) -> Option<Vec<(SiteId, FunctionId)>> {
    if function.return_type != Type::POINTER || !function.is_defined() {
        return None;
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
    let returned = function.blocks.iter().filter_map(|block| match block.terminator.kind {
        TerminatorKind::Return(value) => value,
        _ => None,
    });
    let (mut open, mut seen, mut calls) = (returned.collect::<Vec<Operand>>(), FxHashSet::default(), Vec::new());
    while let Some(operand) = open.pop() {
        if !seen.insert(operand) {
            continue;
        }
        let register = match operand {
            Operand::Register(register) => usize::from(register),
            Operand::Constant(constant) => match program.constants[constant] {
                Constant::Null | Constant::Undef(_) | Constant::Poison(_) => continue,
                _ => return None,
            },
        };
        match (phis[register], definitions[register].map(|instruction| (instruction.site, &instruction.operation))) {
            (Some(phi), _) => open.extend(&phi.operands),
            (None, Some((site, Operation::Call { callee: Callee::Direct(callee), .. }))) => calls.push((site, *callee)),
            (None, Some((_, Operation::Cast { kind: CastKind::Bitcast, value } | Operation::Freeze { value }))) => {
                open.push(*value)
            }
            (None, Some((_, Operation::Select { when_true, when_false, .. }))) => open.extend([*when_true, *when_false]),
            _ => return None,
        }
    }
    calls.sort_unstable();
    calls.dedup();
    (!calls.is_empty()).then_some(calls)
}

impl Solver<'_> {
    /// The call at this site allocates what it returns.
    pub fn allocate(&mut self, caller: FunctionId, site: SiteId, result: Option<NodeId>, size: Option<u64>) {
        self.wrappers.sizes.insert(site, size);
        if self.wrappers.is_source(caller, site) {
            self.wrappers.results.insert(site, result);
            for context in self.wrappers.contexts.get(&caller).cloned().unwrap_or_default() {
                self.make_heap_object(site, context);
            }
        } else if let Some(result) = result {
            let location = self.heap_location(site, Callers::new(), size);
            self.graph.add_location(result, location);
        }
    }

    pub fn heap_location(&mut self, site: SiteId, callers: Callers, size: Option<u64>) -> u32 {
        let kind = AbstractObjectKind::Heap { site, callers };
        // What `malloc` promises at least.
        let align = u64::from(self.pointer_bytes);
        let object = self.object(AbstractObject { kind, size, align, element: None });
        self.locate(object, Class::at(0), true).expect("an object has a first byte")
    }

    /// A wrapper is called: its context is the call, and what lies around the call if that is a wrapper again.
    pub fn connect_wrapper(&mut self, caller: FunctionId, site: SiteId, result: Option<NodeId>, wrapper: FunctionId) {
        self.wrappers.results.insert(site, result);
        if self.wrappers.is_source(caller, site) {
            for context in self.wrappers.contexts.get(&caller).cloned().unwrap_or_default() {
                self.add_context(wrapper, extended(site, &context));
            }
        } else {
            self.add_context(wrapper, Callers::from_slice(&[site]));
        }
    }

    /// The empty context is that of callers that are no calls: thread creations, callbacks, code outside.
    pub fn add_context(&mut self, wrapper: FunctionId, context: Callers) {
        if !self.wrappers.known.insert((wrapper, context.clone())) {
            return;
        }
        self.wrappers.contexts.entry(wrapper).or_default().push(context.clone());
        for (site, callee) in self.wrappers.sources[&wrapper].clone() {
            if !self.wrappers.results.contains_key(&site) {
                // The wrapper's own body comes later, and finds this context.
            } else if self.wrappers.contains(callee) {
                self.add_context(callee, extended(site, &context));
            } else {
                self.make_heap_object(site, context.clone());
            }
        }
    }

    fn make_heap_object(&mut self, site: SiteId, context: Callers) {
        let size = self.wrappers.sizes.get(&site).copied().flatten();
        let sites: Vec<SiteId> = [site].into_iter().chain(context.iter().copied()).collect();
        let location = self.heap_location(site, context, size);
        for site in sites {
            if let Some(Some(result)) = self.wrappers.results.get(&site) {
                self.graph.add_location(*result, location);
            }
        }
    }
}

fn extended(site: SiteId, context: &Callers) -> Callers {
    [site].into_iter().chain(context.iter().copied()).collect()
}
