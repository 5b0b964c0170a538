//! What is executed at most once in a run.
//!
//! # Definition   A function runs once if one thing alone makes it run, and that is the start of the program, a call or a thread creation that is
//!                executed at most once, or `pthread_once` with a control that is one object. An instruction is executed at most once if its
//!                function runs once and no path in the function leads from it back to it.
//! # Theorem      In every run an instruction that is said to be executed at most once is.
//! # Deviations   A function that may be returned to a second time (`setjmp`) is one big cycle, and so is whatever it calls.

use std::cell::RefCell;
use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use super::call_graph::{CallGraph, CallKind};
use super::loops::Loops;
use super::points_to::{AbstractObjectId, AbstractObjectKind, Offset, PointsTo};
use crate::models::{BoundModels, Effect, SpawnCount};
use crate::program::{BlockId, Callee, Function, FunctionId, Instruction, Operation, Program, SiteId};

/// Answers are found when asked for, and kept.
pub struct Once<'a> {
    program: &'a Program,
    models: &'a BoundModels<'a>,
    points_to: &'a PointsTo,
    calls: &'a CallGraph,
    /// `None` while it is being found: a function that depends on itself does not run once.
    functions: RefCell<BTreeMap<FunctionId, Option<bool>>>,
    cycles: RefCell<BTreeMap<FunctionId, TiVec<BlockId, bool>>>,
}

impl<'a> Once<'a> {
    pub fn of(program: &'a Program, models: &'a BoundModels<'a>, points_to: &'a PointsTo, calls: &'a CallGraph) -> Once<'a> {
        Once { program, models, points_to, calls, functions: RefCell::default(), cycles: RefCell::default() }
    }

    /// Whether the instructions of a block are executed at most once in a run.
    pub fn is_once(&self, function: FunctionId, block: BlockId) -> bool {
        self.runs_once(function) && !self.is_in_cycle(function, block)
    }

    /// Whether the function is called at most once in a run.
    pub fn runs_once(&self, function: FunctionId) -> bool {
        if let Some(known) = self.functions.borrow().get(&function) {
            return known.unwrap_or(false);
        }
        self.functions.borrow_mut().insert(function, None);
        let answer = self.find(function);
        self.functions.borrow_mut().insert(function, Some(answer));
        answer
    }

    fn find(&self, function: FunctionId) -> bool {
        let edges = self.calls.calls_of(function);
        match edges {
            [edge] => match (edge.kind, edge.caller.zip(edge.site)) {
                (CallKind::Main | CallKind::Constructor, _) => true,
                (CallKind::Call | CallKind::Spawn, Some((caller, site))) => {
                    self.is_executed_once(caller, site) && (edge.kind == CallKind::Call || self.spawns_one(caller, site))
                }
                (CallKind::Once, Some((caller, site))) => self.is_executed_once(caller, site) || self.has_one_control(function),
                _ => false,
            },
            [] => false,
            _ => edges.iter().all(|edge| edge.kind == CallKind::Once) && self.has_one_control(function),
        }
    }

    /// Whether one instruction alone stands at the site, and is executed at most once.
    fn is_executed_once(&self, function: FunctionId, site: SiteId) -> bool {
        let blocks = self.blocks_of_calls(function, site);
        matches!(blocks[..], [block] if self.is_once(function, block))
    }

    fn spawns_one(&self, caller: FunctionId, site: SiteId) -> bool {
        let models = self.callees(caller, site).filter_map(|callee| self.models[callee]);
        let mut spawns = models.flat_map(|model| &model.effects).filter_map(|effect| match effect {
            Effect::Spawn { count, .. } => Some(*count),
            _ => None,
        });
        spawns.next() == Some(SpawnCount::One) && spawns.next().is_none()
    }

    fn callees(&self, caller: FunctionId, site: SiteId) -> impl Iterator<Item = FunctionId> + '_ {
        let edges = self.calls.calls_in(caller).iter();
        edges.filter(move |edge| edge.site == Some(site) && edge.kind == CallKind::Call).map(|edge| edge.callee)
    }

    /// Whether every `pthread_once` that may call the routine has the same control, which is one object.
    fn has_one_control(&self, routine: FunctionId) -> bool {
        let mut controls = Vec::new();
        for edge in self.calls.calls_of(routine) {
            let Some((caller, site)) = edge.caller.zip(edge.site) else { return false };
            for instruction in calls_at(&self.program.functions[caller], site) {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                for model in self.callees(caller, site).filter_map(|callee| self.models[callee]) {
                    for effect in &model.effects {
                        let Effect::Once { control, .. } = effect else { continue };
                        let Some(argument) = arguments.get(*control) else { return false };
                        controls.extend(self.points_to.pointees(caller, argument.value));
                    }
                }
            }
        }
        controls.sort_unstable();
        controls.dedup();
        matches!(controls[..], [control] if matches!(control.offset, Offset::At(_)) && self.points_to.must_be_unique(control.object))
    }

    /// Whether the block may run several times in one activation.
    pub fn is_in_cycle(&self, function: FunctionId, block: BlockId) -> bool {
        let mut cycles = self.cycles.borrow_mut();
        let blocks = cycles.entry(function).or_insert_with(|| {
            let body = &self.program.functions[function];
            let returns_twice = saves_jump(self.models, self.points_to, body);
            let loops = Loops::of(self.program, body);
            body.blocks.keys().map(|block| returns_twice || loops.is_in_cycle(block)).collect()
        });
        blocks[block]
    }

    /// Whether an abstract object stands for at most one object of a run.
    pub fn is_one_object(&self, object: AbstractObjectId) -> bool {
        if self.points_to.must_be_unique(object) {
            return true;
        }
        match &self.points_to.object(object).kind {
            AbstractObjectKind::StackSlot { function, register, .. } => {
                let defines = |body: &crate::program::Block| body.instructions.iter().any(|one| one.result == Some(*register));
                let home = self.program.functions[*function].blocks.position(defines);
                home.is_some_and(|home| self.is_once(*function, home))
            }
            AbstractObjectKind::Heap { site, callers, .. } => {
                let chain: Vec<SiteId> = std::iter::once(*site).chain(callers.iter().copied()).collect();
                let (outermost, wrapped) = chain.split_last().expect("the allocation itself is in the chain");
                // A wrapper allocates at most once for each of its calls.
                let allocates_once = |site: &SiteId| {
                    let function = self.program.sites[*site].function;
                    !self.calls.is_recursive(function)
                        && matches!(self.blocks_of_calls(function, *site)[..], [block] if !self.is_in_cycle(function, block))
                };
                wrapped.iter().all(allocates_once) && self.is_executed_once(self.program.sites[*outermost].function, *outermost)
            }
            _ => false,
        }
    }

    fn blocks_of_calls(&self, function: FunctionId, site: SiteId) -> Vec<BlockId> {
        let blocks = self.program.functions[function].blocks.iter_enumerated();
        let is_call = |one: &Instruction| one.site == site && matches!(one.operation, Operation::Call { .. });
        blocks.flat_map(|(block, body)| body.instructions.iter().filter(|one| is_call(one)).map(move |_| block)).collect()
    }
}

fn calls_at(function: &Function, site: SiteId) -> impl Iterator<Item = &Instruction> {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions.filter(move |one| one.site == site && matches!(one.operation, Operation::Call { .. }))
}

/// Whether a call in the function may return a second time.
pub fn saves_jump(models: &BoundModels<'_>, points_to: &PointsTo, function: &Function) -> bool {
    let saves = |callee: &FunctionId| {
        models[*callee].is_some_and(|model| model.effects.iter().any(|effect| matches!(effect, Effect::SaveJump { .. })))
    };
    function.blocks.iter().flat_map(|block| &block.instructions).any(|instruction| match &instruction.operation {
        Operation::Call { callee: Callee::Direct(callee), .. } => saves(callee),
        Operation::Call { callee: Callee::Indirect(_), .. } => points_to.callees(instruction.site).iter().any(saves),
        _ => false,
    })
}
