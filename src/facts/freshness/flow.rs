//! The flow of freshness through a function, and from callers to callees and back.
//!
//! Forwards through each function: the set of roots whose objects have not been published since they were executed, intersected where ways meet.
//! What parameters and results are is assumed fresh at first, and taken back until nothing changes: each is taken back once.

use std::collections::{BTreeSet, VecDeque};

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::publication::{Publications, Scan};
use super::roots::{Origin, Root, Roots};
use super::{Fresh, Freshness, PublicationsId};
use crate::facts::accesses::{Accesses, Action, MemoryAccess, Place, Position, Positions, library_model};
use crate::facts::call_graph::{CallGraph, CallKind};
use crate::facts::points_to::PointsTo;
use crate::facts::values::reverse_postorder;
use crate::models::BoundModels;
use crate::program::{Block, BlockId, Constant, FunctionId, Instruction, Operand, Operation, Program, TerminatorKind, Type};

/// What is still assumed.
struct Assumed {
    /// By function and parameter.
    parameters: TiVec<FunctionId, Vec<bool>>,
    returns: TiVec<FunctionId, bool>,
}

/// What the instructions of a function do to its roots, whatever is assumed.
struct Body {
    roots: Roots,
    /// By block: the number of its first instruction.
    firsts: Vec<usize>,
    /// By instruction: the roots whose objects it, or what it calls, may publish.
    lost: Vec<SmallVec<[u32; 2]>>,
    /// By instruction: the root it executes.
    made: Vec<Option<u32>>,
}

struct Analysis<'a> {
    scan: Scan<'a>,
    publications: Publications,
    assumed: Assumed,
    bodies: TiVec<FunctionId, Option<Body>>,
    orders: TiVec<FunctionId, Vec<BlockId>>,
}

pub(super) fn solve(
    program: &Program,
    models: &BoundModels<'_>,
    points_to: &PointsTo,
    calls: &CallGraph,
    accesses: &Accesses,
) -> Freshness {
    let scan = Scan { program, models, points_to };
    let publications = scan.all(calls);
    let is_body = |id: FunctionId| {
        points_to.is_reachable(id) && program.functions[id].is_defined() && library_model(program, models, id).is_none()
    };
    let bodies = program.functions.keys().map(|id| is_body(id).then(|| Body::of(&scan, &publications, id))).collect();
    let orders = program.functions.iter().map(reverse_postorder).collect();
    let assumed = Assumed {
        parameters: program
            .functions
            .iter_enumerated()
            .map(|(id, function)| vec![is_only_called(calls, id); function.parameters.len()])
            .collect(),
        returns: program.functions.iter().map(|function| function.return_type == Type::POINTER).collect(),
    };
    let mut analysis = Analysis { scan, publications, assumed, bodies, orders };
    let mut is_queued: TiVec<FunctionId, bool> = program.functions.keys().map(is_body).collect();
    // Callers come first: they say what parameters are.
    let mut queue: VecDeque<FunctionId> =
        calls.components().iter().rev().flatten().copied().filter(|id| is_queued[*id]).collect();
    let listed: BTreeSet<FunctionId> = queue.iter().copied().collect();
    queue.extend(program.functions.keys().filter(|id| is_queued[*id] && !listed.contains(id)));
    while let Some(id) = queue.pop_front() {
        is_queued[id] = false;
        let (changed_callees, is_changed) = analysis.check(id);
        let callers = calls.calls_of(id).iter().filter(|_| is_changed).filter_map(|edge| edge.caller);
        for again in changed_callees.into_iter().chain(callers) {
            if analysis.bodies[again].is_some() && !std::mem::replace(&mut is_queued[again], true) {
                queue.push_back(again);
            }
        }
    }
    analysis.answers(accesses)
}

/// Whether a function begins to run only by call instructions.
fn is_only_called(calls: &CallGraph, function: FunctionId) -> bool {
    let edges = calls.calls_of(function);
    !edges.is_empty() && edges.iter().all(|edge| edge.kind == CallKind::Call && edge.caller.is_some())
}

impl Body {
    fn of(scan: &Scan<'_>, publications: &Publications, id: FunctionId) -> Body {
        let function = &scan.program.functions[id];
        let roots = Roots::of(scan, id);
        let (mut firsts, mut lost, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for block in &function.blocks {
            firsts.push(lost.len());
            for instruction in &block.instructions {
                lost.push(if roots.all.is_empty() {
                    SmallVec::new()
                } else {
                    lost_by(scan, publications, id, &roots, instruction)
                });
                let root = instruction.result.and_then(|result| match roots.behind(Operand::Register(result)) {
                    Some(&[number]) if roots.all[number as usize].register == result => Some(number),
                    _ => None,
                });
                made.push(root);
            }
        }
        Body { roots, firsts, lost, made }
    }
}

/// The roots whose objects the instruction, or what it calls, may publish.
fn lost_by(
    scan: &Scan<'_>,
    publications: &Publications,
    id: FunctionId,
    roots: &Roots,
    instruction: &Instruction,
) -> SmallVec<[u32; 2]> {
    let mut lost: SmallVec<[u32; 2]> = SmallVec::new();
    let numbered = || roots.all.iter().zip(0u32..);
    scan.published(id, instruction, &mut |object| {
        lost.extend(numbered().filter(|(root, _)| root.objects.contains(&object)).map(|(_, number)| number));
    });
    // What was published before a jump back is not seen on the way that leads here.
    if scan.saves_jump(instruction) {
        return numbered().map(|(_, number)| number).collect();
    }
    if let Operation::Call { callee, .. } = &instruction.operation {
        let callbacks = publications.callbacks.get(&instruction.site).into_iter().flatten().copied();
        for callee in scan.callees(*callee, instruction.site).into_iter().chain(callbacks) {
            let published = &publications.by_function[callee];
            let is_published = |root: &Root| root.objects.iter().any(|object| published.contains(object.index()));
            lost.extend(numbered().filter(|(root, _)| is_published(root)).map(|(_, number)| number));
        }
    }
    lost.sort_unstable();
    lost.dedup();
    lost
}

impl Analysis<'_> {
    /// The roots that are fresh at the beginning of each block.
    fn flow(&self, id: FunctionId, body: &Body) -> Vec<FixedBitSet> {
        let function = &self.scan.program.functions[id];
        let roots = &body.roots;
        let mut full = FixedBitSet::with_capacity(roots.all.len());
        full.insert_range(..);
        let mut entering = vec![full; function.blocks.len()];
        let mut start = FixedBitSet::with_capacity(roots.all.len());
        for (number, root) in roots.all.iter().enumerate() {
            let is_parameter = function.parameters.iter().any(|parameter| parameter.register == root.register);
            if is_parameter && self.begins_fresh(id, root) {
                start.insert(number);
            }
        }
        entering[usize::from(function.entry())] = start;
        let mut has_changed = !roots.all.is_empty();
        while has_changed {
            has_changed = false;
            for &block in &self.orders[id] {
                let mut state = entering[usize::from(block)].clone();
                for index in 0..function.blocks[block].instructions.len() {
                    self.step(id, body, block, index, &mut state);
                }
                for successor in function.blocks[block].terminator.kind.successors() {
                    let before = entering[usize::from(successor)].count_ones(..);
                    entering[usize::from(successor)].intersect_with(&state);
                    has_changed |= entering[usize::from(successor)].count_ones(..) != before;
                }
            }
        }
        entering
    }

    fn begins_fresh(&self, id: FunctionId, root: &Root) -> bool {
        match &root.origin {
            Origin::Made => true,
            Origin::Parameter(number) => self.assumed.parameters[id][*number],
            Origin::Returned(functions) => functions.iter().all(|function| self.assumed.returns[*function]),
        }
    }

    /// An instruction is executed.
    fn step(&self, id: FunctionId, body: &Body, block: BlockId, index: usize, state: &mut FixedBitSet) {
        let number = body.firsts[usize::from(block)] + index;
        body.lost[number].iter().for_each(|root| state.set(*root as usize, false));
        if let Some(root) = body.made[number] {
            state.set(root as usize, self.begins_fresh(id, &body.roots.all[root as usize]));
        }
    }

    /// Whether an operand is the address of something fresh.
    fn is_fresh(&self, roots: &Roots, state: &FixedBitSet, operand: Operand) -> bool {
        roots.behind(operand).is_some_and(|behind| behind.iter().all(|number| state.contains(*number as usize)))
    }

    /// Takes back what this function shows not to hold: the callees whose parameters changed, and whether its own result did.
    fn check(&mut self, id: FunctionId) -> (Vec<FunctionId>, bool) {
        let Some(body) = self.bodies[id].take() else { return (Vec::new(), false) };
        let entering = self.flow(id, &body);
        let roots = &body.roots;
        let mut changed = Vec::new();
        let mut returns_fresh = self.assumed.returns[id];
        for &block_id in &self.orders[id] {
            let program = self.scan.program;
            let block: &Block = &program.functions[id].blocks[block_id];
            let mut state = entering[usize::from(block_id)].clone();
            for (index, instruction) in block.instructions.iter().enumerate() {
                if let Operation::Call { callee, arguments, .. } = &instruction.operation {
                    for callee in self.scan.callees(*callee, instruction.site) {
                        let count = self.assumed.parameters[callee].len();
                        for number in 0..count {
                            let is_fresh =
                                arguments.get(number).is_some_and(|argument| self.is_fresh(roots, &state, argument.value));
                            if self.assumed.parameters[callee][number] && !is_fresh {
                                self.assumed.parameters[callee][number] = false;
                                changed.push(callee);
                            }
                        }
                    }
                }
                self.step(id, &body, block_id, index, &mut state);
            }
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                returns_fresh = returns_fresh && self.returns_new(roots, &state, *value);
            }
        }
        let is_changed = std::mem::replace(&mut self.assumed.returns[id], returns_fresh) != returns_fresh;
        self.bodies[id] = Some(body);
        (changed, is_changed)
    }

    /// Null, or something made in this activation.
    fn returns_new(&self, roots: &Roots, state: &FixedBitSet, value: Operand) -> bool {
        if let Operand::Constant(constant) = value {
            return matches!(self.scan.program.constants[constant], Constant::Null);
        }
        let is_own = |number: &u32| !matches!(roots.all[*number as usize].origin, Origin::Parameter(_));
        roots.behind(value).is_some_and(|behind| behind.iter().all(is_own)) && self.is_fresh(roots, state, value)
    }

    fn answers(mut self, accesses: &Accesses) -> Freshness {
        let program = self.scan.program;
        let mut freshness = Freshness {
            positions: Positions::of(program),
            starts: FxHashMap::default(),
            answers: Vec::new(),
            publications: Vec::new(),
        };
        let mut known: FxHashMap<Box<[Position]>, PublicationsId> = FxHashMap::default();
        for (id, function) in program.functions.iter_enumerated() {
            let Some(body) = self.bodies[id].take().filter(|body| !body.roots.all.is_empty()) else { continue };
            let entering = self.flow(id, &body);
            let roots = &body.roots;
            for &block_id in &self.orders[id] {
                let block = &function.blocks[block_id];
                let mut state = entering[usize::from(block_id)].clone();
                for index in 0..=block.instructions.len() {
                    let instruction = block.instructions.get(index);
                    let made = accesses.at(id, block_id, index);
                    if !made.is_empty() && !state.is_clear() {
                        let mut during = state.clone();
                        // What a library function publishes it may publish before it touches it.
                        if instruction.is_some_and(|one| matches!(one.operation, Operation::Call { .. })) {
                            let number = body.firsts[usize::from(block_id)] + index;
                            body.lost[number].iter().for_each(|root| during.set(*root as usize, false));
                        }
                        let answers: Vec<Fresh> = made
                            .iter()
                            .map(|access| self.answer(roots, &during, access, &mut freshness.publications, &mut known))
                            .collect();
                        if answers.iter().any(|answer| *answer != Fresh::No) {
                            freshness
                                .starts
                                .insert(freshness.positions.number(id, block_id, index), freshness.answers.len() as u32);
                            freshness.answers.extend(answers);
                        }
                    }
                    if instruction.is_some() {
                        self.step(id, &body, block_id, index, &mut state);
                    }
                }
            }
        }
        freshness
    }

    fn answer(
        &self,
        roots: &Roots,
        state: &FixedBitSet,
        access: &MemoryAccess,
        lists: &mut Vec<Box<[Position]>>,
        known: &mut FxHashMap<Box<[Position]>, PublicationsId>,
    ) -> Fresh {
        let Place::Operand(operand) = access.place else { return Fresh::No };
        if !self.is_fresh(roots, state, operand) {
            return Fresh::No;
        }
        let behind = roots.behind(operand).unwrap_or_default();
        let mut publications: Vec<Position> = Vec::new();
        for root in behind.iter().map(|number| &roots.all[*number as usize]) {
            // All instances end, also those that are no longer behind the register.
            if access.action == Action::End && root.is_repeated {
                return Fresh::No;
            }
            for object in &root.objects {
                if self.publications.is_lost.contains(object.index()) {
                    return Fresh::No;
                }
                publications.extend(&self.publications.stores[object.index()]);
                if self.publications.is_copied.contains(object.index()) {
                    publications.extend(&self.publications.copies);
                }
            }
        }
        publications.sort_unstable();
        publications.dedup();
        if publications.is_empty() {
            return Fresh::Always;
        }
        let list: Box<[Position]> = publications.into();
        let id = *known.entry(list.clone()).or_insert_with(|| {
            lists.push(list);
            PublicationsId(lists.len() as u32 - 1)
        });
        Fresh::Unless(id)
    }
}
