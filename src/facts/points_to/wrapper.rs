//! Allocation wrappers: functions that return memory they have just allocated, told apart by their callers.
//!
//! # Definition   A function is a wrapper if some value that it returns is, unchanged, the result of one of its calls, *sources*, of an allocating library
//!                function or of a wrapper. Its level is one more than its sources' highest; functions above [`LEVELS`] and recursive ones are none.
//!                A *context* of a wrapper is the call sites from its caller outwards, as long as they are sources of a wrapper.
//! # Theorem      What a source has returned to a wrapper was allocated inside that activation, so it is named by the allocating call and the
//!                context; objects of different contexts are different. A constant that the context passes for the size is the object's size.
//! # Deviations   1. Inside the wrapper's body all contexts' objects are seen together.  2. What a wrapper returns besides (an element of a list of
//!                free ones, the result of an allocator that is called through a pointer) goes to all callers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{Call, CallArgument};
use super::graph::NodeId;
use super::library::constant_size;
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind, Callers};
use super::solve::Solver;
use crate::models::{AllocationResult, BoundModels, Effect, SizeSource};
use crate::program::{
    Callee, CastKind, Constant, Function, FunctionId, Operand, Operation, Program, SiteId, TerminatorKind, Type,
};

/// How deep wrappers of wrappers are told apart.
pub(super) const LEVELS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Wrappers {
    returned: FxHashMap<FunctionId, Returned>,
    contexts: FxHashMap<FunctionId, Vec<Callers>>,
    known: FxHashSet<(FunctionId, Callers)>,
    /// Calls that were connected, of allocations in wrappers and of wrappers: where the result goes, and what the call passes.
    calls: FxHashMap<SiteId, (Option<NodeId>, Vec<CallArgument>)>,
    /// How many bytes the allocating calls ask for.
    sizes: FxHashMap<SiteId, SizeSource>,
}

/// What a function may return.
#[derive(Clone, Debug, Default)]
struct Returned {
    /// Results of direct calls; of a wrapper, its sources.
    calls: Vec<(SiteId, FunctionId)>,
    /// Anything else; of a wrapper, results of other calls among it.
    others: Vec<Operand>,
}

impl Wrappers {
    pub fn of(program: &Program, models: &BoundModels<'_>) -> Wrappers {
        let is_allocator = |function: FunctionId| models[function].is_some_and(|model| model.effects.iter().any(returns_fresh));
        let is_overridden = |function: FunctionId| models[function].is_some_and(|model| model.is_override);
        let functions = program.functions.iter_enumerated().filter(|(id, _)| !is_overridden(*id));
        let mut candidates: Vec<(FunctionId, Returned)> =
            functions.filter_map(|(id, function)| Some((id, returned(program, function)?))).collect();
        let mut wrappers = Wrappers::default();
        // First those that return nothing but fresh memory; a function that returns more is one as soon as it can be.
        for round in 0..2 * LEVELS {
            let is_source = |callee: &FunctionId| is_allocator(*callee) || wrappers.returned.contains_key(callee);
            let is_wrapper = |(_, returned): &(FunctionId, Returned)| {
                let mut calls = returned.calls.iter().map(|(_, callee)| callee);
                match round < LEVELS {
                    true => returned.others.is_empty() && calls.all(is_source),
                    false => calls.any(is_source),
                }
            };
            let (found, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_wrapper);
            candidates = rest;
            let found: Vec<_> = found
                .into_iter()
                .map(|(id, returned)| {
                    let (sources, others): (Vec<_>, Vec<_>) =
                        returned.calls.into_iter().partition(|(_, callee)| is_source(callee));
                    let others = results_of(&program.functions[id], &others).chain(returned.others).collect();
                    (id, Returned { calls: sources, others })
                })
                .collect();
            wrappers.returned.extend(found);
        }
        wrappers
    }

    /// What a wrapper returns besides what its sources return.
    pub fn others(&self, wrapper: FunctionId) -> Option<&[Operand]> {
        self.returned.get(&wrapper).map(|returned| returned.others.as_slice())
    }

    pub fn contains(&self, function: FunctionId) -> bool {
        self.returned.contains_key(&function)
    }

    pub fn len(&self) -> usize {
        self.returned.len()
    }

    /// Whether the result of this call is what the wrapper around it returns.
    pub fn is_source(&self, function: FunctionId, site: SiteId) -> bool {
        self.returned.get(&function).is_some_and(|returned| returned.calls.iter().any(|(source, _)| *source == site))
    }
}

fn returns_fresh(effect: &Effect) -> bool {
    matches!(effect, Effect::Allocate { result: AllocationResult::Returned, .. } | Effect::Reallocate { .. })
}

/// The results of these calls.
fn results_of(function: &Function, calls: &[(SiteId, FunctionId)]) -> impl Iterator<Item = Operand> {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    let results = instructions.filter(|instruction| calls.iter().any(|(site, _)| *site == instruction.site));
    results.filter_map(|instruction| instruction.result.map(Operand::Register)).collect::<Vec<_>>().into_iter()
}

/// What the function may return, looked for behind phis and selections; `None` when it returns no address.
fn returned(program: &Program, function: &Function) -> Option<Returned> {
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
    let values = function.blocks.iter().filter_map(|block| match block.terminator.kind {
        TerminatorKind::Return(value) => value,
        _ => None,
    });
    let (mut open, mut seen, mut returned) = (values.collect::<Vec<Operand>>(), FxHashSet::default(), Returned::default());
    while let Some(operand) = open.pop() {
        if !seen.insert(operand) {
            continue;
        }
        let register = match operand {
            Operand::Register(register) => usize::from(register),
            Operand::Constant(constant) => {
                if !matches!(program.constants[constant], Constant::Null | Constant::Undef(_) | Constant::Poison(_)) {
                    returned.others.push(operand);
                }
                continue;
            }
        };
        match (phis[register], definitions[register].map(|instruction| (instruction.site, &instruction.operation))) {
            (Some(phi), _) => open.extend(&phi.operands),
            (None, Some((site, Operation::Call { callee: Callee::Direct(callee), .. }))) => returned.calls.push((site, *callee)),
            (None, Some((_, Operation::Cast { kind: CastKind::Bitcast, value } | Operation::Freeze { value }))) => {
                open.push(*value)
            }
            (None, Some((_, Operation::Select { when_true, when_false, .. }))) => open.extend([*when_true, *when_false]),
            // Parameters, loads, addresses that were moved.
            _ => returned.others.push(operand),
        }
    }
    returned.calls.sort_unstable();
    returned.calls.dedup();
    (!returned.calls.is_empty()).then_some(returned)
}

impl Solver<'_> {
    /// The call allocates what it returns.
    pub fn allocate(&mut self, call: &Call, size: SizeSource) {
        let (site, result) = (call.site, call.result.map(|(node, _)| node));
        if self.wrappers.is_source(call.caller, site) {
            self.wrappers.sizes.insert(site, size);
            self.wrappers.calls.insert(site, (result, call.arguments.clone()));
            for context in self.wrappers.contexts.get(&call.caller).cloned().unwrap_or_default() {
                self.make_heap_object(site, context);
            }
        } else if let Some(result) = result {
            let location = self.heap_location(site, Callers::new(), constant_size(call, size));
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
    pub fn connect_wrapper(&mut self, call: &Call, wrapper: FunctionId) {
        let (site, result) = (call.site, call.result.map(|(node, _)| node));
        self.wrappers.calls.insert(site, (result, call.arguments.clone()));
        if self.wrappers.is_source(call.caller, site) {
            for context in self.wrappers.contexts.get(&call.caller).cloned().unwrap_or_default() {
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
        for (site, callee) in self.wrappers.returned[&wrapper].calls.clone() {
            if !self.wrappers.calls.contains_key(&site) {
                // The wrapper's own body comes later, and finds this context.
            } else if self.wrappers.contains(callee) {
                self.add_context(callee, extended(site, &context));
            } else {
                self.make_heap_object(site, context.clone());
            }
        }
    }

    fn make_heap_object(&mut self, site: SiteId, context: Callers) {
        let sites: Vec<SiteId> = [site].into_iter().chain(context.iter().copied()).collect();
        let size = self.size_in(&sites);
        let location = self.heap_location(site, context, size);
        for site in sites {
            if let Some((Some(result), _)) = self.wrappers.calls.get(&site) {
                self.graph.add_location(*result, location);
            }
        }
    }

    /// What the allocation at the first of these calls asks for: a constant, there or where a wrapper is called with it.
    fn size_in(&self, sites: &[SiteId]) -> Option<u64> {
        let passed = |position: usize| {
            let mut position = position;
            for site in sites {
                let argument = self.wrappers.calls.get(site)?.1.get(position)?;
                if argument.constant.is_some() {
                    return argument.constant;
                }
                position = argument.parameter?;
            }
            None
        };
        match self.wrappers.sizes.get(&sites[0])? {
            SizeSource::Constant(size) => Some(*size),
            SizeSource::Argument(position) => passed(*position),
            SizeSource::Product(left, right) => passed(*left)?.checked_mul(passed(*right)?),
            SizeSource::String(_) | SizeSource::Unknown => None,
        }
    }
}

fn extended(site: SiteId, context: &Callers) -> Callers {
    [site].into_iter().chain(context.iter().copied()).collect()
}
