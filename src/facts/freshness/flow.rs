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
use super::{Answers, Fresh, Freshness, PublicationsId};
use crate::facts::accesses::{Accesses, Action, MemoryAccess, Place, Position, Positions, library_model};
use crate::facts::call_graph::CallGraph;
use crate::facts::points_to::{AbstractObjectId, PointsTo};
use crate::facts::values::reverse_postorder;
use crate::models::BoundModels;
use crate::program::{Block, BlockId, Function, FunctionId, Instruction, Operand, Operation, Program, TerminatorKind, Type};

/// What is still assumed.
struct Assumed {
    /// By function and parameter.
    parameters: TiVec<FunctionId, Vec<Promise>>,
    returns: TiVec<FunctionId, Promise>,
}

/// That an address is fresh, object by object: whoever has the address of another one breaks nothing.
#[derive(Clone, Debug, Default)]
struct Promise {
    is_broken: bool,
    broken: SmallVec<[AbstractObjectId; 2]>,
}

impl Promise {
    fn holds(&self, object: AbstractObjectId) -> bool {
        !self.is_broken && !self.broken.contains(&object)
    }

    /// Whether it held before.
    fn give_up(&mut self, object: AbstractObjectId) -> bool {
        let held = self.holds(object);
        if held {
            self.broken.push(object);
        }
        held
    }

    /// For all objects. Whether it held before for some.
    fn give_up_all(&mut self) -> bool {
        !std::mem::replace(&mut self.is_broken, true)
    }
}

/// What the instructions of a function do to its roots, whatever is assumed.
struct Body {
    roots: Roots,
    /// By block: the number of its first instruction.
    firsts: Vec<usize>,
    /// By instruction: the roots whose objects it, or what it calls, may publish.
    lost: Vec<SmallVec<[u32; 2]>>,
    /// By instruction: the roots it makes.
    made: Vec<SmallVec<[u32; 2]>>,
}

struct Analysis<'a> {
    scan: Scan<'a>,
    publications: Publications,
    assumed: Assumed,
    bodies: TiVec<FunctionId, Option<Body>>,
    /// By function and parameter: the objects of its roots.
    given: TiVec<FunctionId, Vec<SmallVec<[AbstractObjectId; 2]>>>,
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
    let bodies: TiVec<FunctionId, Option<Body>> =
        program.functions.keys().map(|id| is_body(id).then(|| Body::of(&scan, &publications, id))).collect();
    let given = |(body, function): (&Option<Body>, &Function)| {
        let objects = |number| body.iter().flat_map(move |body| body.roots.objects_of(number)).collect();
        (0..function.parameters.len()).map(objects).collect()
    };
    let given = bodies.iter().zip(&program.functions).map(given).collect();
    let orders = program.functions.iter().map(reverse_postorder).collect();
    let promise = |holds: bool| Promise { is_broken: !holds, ..Promise::default() };
    let assumed = Assumed {
        parameters: program
            .functions
            .iter_enumerated()
            .map(|(id, function)| vec![promise(calls.is_only_called(id)); function.parameters.len()])
            .collect(),
        returns: program.functions.iter().map(|function| promise(function.return_type == Type::POINTER)).collect(),
    };
    let mut analysis = Analysis { scan, publications, assumed, bodies, given, orders };
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
                made.push(instruction.result.map_or(SmallVec::new(), |result| roots.made(result).into()));
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
        lost.extend(numbered().filter(|(root, _)| root.object == object).map(|(_, number)| number));
    });
    // What was published before a jump back is not seen on the way that leads here.
    if scan.saves_jump(instruction) {
        return numbered().map(|(_, number)| number).collect();
    }
    if let Operation::Call { callee, .. } = &instruction.operation {
        let callbacks = publications.callbacks.get(&instruction.site).into_iter().flatten().copied();
        for callee in scan.callees(*callee, instruction.site).into_iter().chain(callbacks) {
            let published = &publications.by_function[callee];
            let is_published = |root: &Root| published.contains(root.object.index());
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
            // A root that was not executed yet holds nothing that anyone could know.
            let is_parameter = function.parameters.iter().any(|parameter| parameter.register == root.register);
            if !is_parameter || self.begins_fresh(id, root) {
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
            Origin::Parameter(number) => self.assumed.parameters[id][*number].holds(root.object),
            Origin::Returned(functions) => functions.iter().all(|function| self.assumed.returns[*function].holds(root.object)),
        }
    }

    /// An instruction is executed.
    fn step(&self, id: FunctionId, body: &Body, block: BlockId, index: usize, state: &mut FixedBitSet) {
        let number = body.firsts[usize::from(block)] + index;
        body.lost[number].iter().for_each(|root| state.set(*root as usize, false));
        for root in &body.made[number] {
            state.set(*root as usize, self.begins_fresh(id, &body.roots.all[*root as usize]));
        }
    }

    /// Whether an operand, if it is the address of this object, is a fresh one.
    fn is_fresh(&self, id: FunctionId, roots: &Roots, state: &FixedBitSet, operand: Operand, object: AbstractObjectId) -> bool {
        match roots.behind(&self.scan, operand) {
            Some(behind) => {
                behind.iter().all(|number| roots.all[*number as usize].object != object || state.contains(*number as usize))
            }
            None => self.scan.points_to.pointees(id, operand).all(|location| location.object != object),
        }
    }

    /// Takes back what this function shows not to hold: the callees whose parameters changed, and whether its own result did.
    fn check(&mut self, id: FunctionId) -> (Vec<FunctionId>, bool) {
        let Some(body) = self.bodies[id].take() else { return (Vec::new(), false) };
        let entering = self.flow(id, &body);
        let roots = &body.roots;
        let mut changed = Vec::new();
        let mut is_changed = false;
        for &block_id in &self.orders[id].clone() {
            let program = self.scan.program;
            let block: &Block = &program.functions[id].blocks[block_id];
            let mut state = entering[usize::from(block_id)].clone();
            for (index, instruction) in block.instructions.iter().enumerate() {
                if let Operation::Call { callee, arguments, .. } = &instruction.operation {
                    for callee in self.scan.callees(*callee, instruction.site) {
                        for number in 0..self.given[callee].len() {
                            let argument = arguments.get(number).map(|argument| argument.value);
                            if self.gives(id, roots, &state, argument, (callee, number)) {
                                changed.push(callee);
                            }
                        }
                    }
                }
                self.step(id, &body, block_id, index, &mut state);
            }
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                is_changed |= self.returns(id, roots, &state, *value);
            }
        }
        self.bodies[id] = Some(body);
        (changed, is_changed)
    }

    /// A call gives an argument for a parameter. Whether less is promised of the parameter now.
    fn gives(
        &mut self,
        id: FunctionId,
        roots: &Roots,
        state: &FixedBitSet,
        argument: Option<Operand>,
        (callee, number): (FunctionId, usize),
    ) -> bool {
        let Some(argument) = argument else { return self.assumed.parameters[callee][number].give_up_all() };
        let mut is_less = false;
        for position in 0..self.given[callee][number].len() {
            let object = self.given[callee][number][position];
            if self.assumed.parameters[callee][number].holds(object) && !self.is_fresh(id, roots, state, argument, object) {
                is_less |= self.assumed.parameters[callee][number].give_up(object);
            }
        }
        is_less
    }

    /// Null, or something made in this activation, is promised to be fresh. Whether less is promised now.
    fn returns(&mut self, id: FunctionId, roots: &Roots, state: &FixedBitSet, value: Operand) -> bool {
        let promise = &mut self.assumed.returns[id];
        let Some(behind) = roots.behind(&self.scan, value) else { return promise.give_up_all() };
        let mut is_less = false;
        for number in behind {
            let root = &roots.all[*number as usize];
            if matches!(root.origin, Origin::Parameter(_)) || !state.contains(*number as usize) {
                is_less |= promise.give_up(root.object);
            }
        }
        is_less
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
                        let answers: Vec<Answers> = made
                            .iter()
                            .map(|access| self.answer(roots, &during, access, &mut freshness.publications, &mut known))
                            .collect();
                        if answers.iter().any(|answers| !answers.is_empty()) {
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

    /// What of an access is fresh.
    fn answer(
        &self,
        roots: &Roots,
        state: &FixedBitSet,
        access: &MemoryAccess,
        lists: &mut Vec<Box<[Position]>>,
        known: &mut FxHashMap<Box<[Position]>, PublicationsId>,
    ) -> Answers {
        let Place::Operand(operand) = access.place else { return Answers::new() };
        let behind: BTreeSet<u32> = roots.behind(&self.scan, operand).unwrap_or_default().iter().copied().collect();
        let mut answers = Answers::new();
        let mut old: SmallVec<[AbstractObjectId; 2]> = SmallVec::new();
        for number in behind {
            let root = &roots.all[number as usize];
            let object = root.object;
            // All instances end, also those that are no longer behind the register.
            let ends_others = access.action == Action::End && root.is_repeated;
            if !state.contains(number as usize) || ends_others || self.publications.is_lost.contains(object.index()) {
                old.push(object);
            } else if !answers.iter().any(|(known, _)| *known == object) {
                answers.push((object, self.fresh(object, lists, known)));
            }
        }
        answers.retain(|(object, _)| !old.contains(object));
        answers
    }

    /// The answer for an object that nobody knows yet.
    fn fresh(
        &self,
        object: AbstractObjectId,
        lists: &mut Vec<Box<[Position]>>,
        known: &mut FxHashMap<Box<[Position]>, PublicationsId>,
    ) -> Fresh {
        let mut publications: Vec<Position> = self.publications.stores[object.index()].clone();
        if self.publications.is_copied.contains(object.index()) {
            publications.extend(&self.publications.copies);
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
