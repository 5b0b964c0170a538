//! Own: which accesses touch an object that the running thread has made itself?
//!
//! # Definition   An address is *of the thread's own making* for an object when it was counted from what this activation has made (a variable, a thread-local, an
//!                allocation), from a parameter or a result of which the same is true in every call, and never from anything else that may
//!                point to the object. Greatest solution over all calls; what is computed is its complement, the objects that may be *foreign*.
//! # Theorem      The object that an access touches through such an address was made by the thread that executes the access: registers, arguments and
//!                results stay in one thread, and a function that begins otherwise than by a call promises nothing. So two threads that touch one abstract object, each
//!                through such an address, touch two objects.
//! # Example      Every worker has its own `char path[4096]`, gives it to a function that stores where the name ends into a table, and goes on writing to
//!                it: the table's readers may race with that, other workers' writes do not.
//! # Deviations   An address that was kept in memory is foreign, also in memory of one's own. A register with many origins is taken for what points-to says.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::accesses::{MemoryAccess, Place, library_model};
use super::call_graph::CallGraph;
use super::escape::Escape;
use super::points_to::{AbstractObjectId, AbstractObjectKind, PointsTo};
use super::values::reverse_postorder;
use crate::deadline::{Deadline, OutOfTime};
use crate::models::{AllocationResult, BoundModels, Effect};
use crate::program::{
    Callee, CastKind, Constant, Function, FunctionId, Instruction, Operand, Operation, Program, RegisterId, SiteId,
    TerminatorKind,
};

/// More origins of a register are not told apart.
const MOST_ORIGINS: usize = 8;

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Made,
    Parameter(usize),
    /// What functions of the program return in this call.
    Result(SiteId),
    /// Anything else: what points-to says of it.
    Elsewhere(Operand),
}

/// Ascending, each once.
type Origins = SmallVec<[Origin; 2]>;

/// Objects whose addresses may come from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Foreign {
    are_all: bool,
    objects: FixedBitSet,
}

impl Foreign {
    const ALL: Foreign = Foreign { are_all: true, objects: FixedBitSet::new() };

    /// Whether there are more now.
    fn add(&mut self, other: &Foreign) -> bool {
        if self.are_all || other.are_all {
            return !std::mem::replace(&mut self.are_all, true);
        }
        let is_more = !other.objects.is_subset(&self.objects);
        if is_more {
            self.objects.union_with(&other.objects);
        }
        is_more
    }

    fn contains(&self, object: AbstractObjectId) -> bool {
        self.are_all || self.objects.contains(object.index())
    }
}

/// A call of functions of the program.
struct Call {
    callees: SmallVec<[FunctionId; 1]>,
    arguments: Vec<Operand>,
}

#[derive(Default)]
struct Body {
    /// By register.
    origins: Vec<Origins>,
    calls: Vec<Call>,
    by_site: FxHashMap<SiteId, SmallVec<[FunctionId; 1]>>,
    returned: Vec<Operand>,
}

pub struct Own {
    bodies: TiVec<FunctionId, Option<Body>>,
    parameters: TiVec<FunctionId, Vec<Foreign>>,
    results: TiVec<FunctionId, Foreign>,
    /// What points-to has for operands: objects that a thread makes and others may reach.
    pointees: RefCell<FxHashMap<(FunctionId, Operand), Rc<Foreign>>>,
    found: RefCell<FxHashMap<(FunctionId, Operand), Rc<Foreign>>>,
}

impl Own {
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        (points_to, calls, escape): (&PointsTo, &CallGraph, &Escape),
        deadline: Deadline,
    ) -> Result<Own, OutOfTime> {
        let is_body = |id: FunctionId| {
            points_to.is_reachable(id) && program.functions[id].is_defined() && library_model(program, models, id).is_none()
        };
        let parameters = program.functions.iter_enumerated().map(|(id, function)| {
            let known = if calls.is_only_called(id) { Foreign::default() } else { Foreign::ALL };
            vec![known; function.parameters.len()]
        });
        let parameters = parameters.collect();
        let body = |id: FunctionId| is_body(id).then(|| Body::of(program, models, points_to, id));
        let mut own = Own {
            bodies: program.functions.keys().map(body).collect(),
            parameters,
            results: program.functions.iter().map(|_| Foreign::default()).collect(),
            pointees: RefCell::default(),
            found: RefCell::default(),
        };
        own.solve((points_to, calls, escape), deadline)?;
        Ok(own)
    }

    /// Whether an access of a function, when it touches this object, touches one that its own thread has made.
    pub fn is_own(
        &self,
        points_to: &PointsTo,
        escape: &Escape,
        function: FunctionId,
        access: &MemoryAccess,
        object: AbstractObjectId,
    ) -> bool {
        let Place::Operand(operand) = access.place else { return false };
        if !is_made(points_to, object) {
            return false;
        }
        let known = self.found.borrow().get(&(function, operand)).cloned();
        let found = known.unwrap_or_else(|| {
            let found = Rc::new(self.foreign((points_to, escape), function, operand));
            self.found.borrow_mut().insert((function, operand), found.clone());
            found
        });
        !found.contains(object)
    }

    fn solve(&mut self, facts: (&PointsTo, &CallGraph, &Escape), deadline: Deadline) -> Result<(), OutOfTime> {
        let (points_to, calls, escape) = facts;
        // Callers come first: they say what parameters are.
        let mut queue: VecDeque<FunctionId> = calls.components().iter().rev().flatten().copied().collect();
        let mut is_queued: TiVec<FunctionId, bool> = self.bodies.iter().map(|_| false).collect();
        queue.iter().for_each(|id| is_queued[*id] = true);
        while let Some(id) = queue.pop_front() {
            deadline.check()?;
            is_queued[id] = false;
            let Some(body) = self.bodies[id].take() else { continue };
            let mut again: Vec<FunctionId> = Vec::new();
            for call in &body.calls {
                let given: Vec<Foreign> =
                    call.arguments.iter().map(|one| self.foreign_in(&body, (points_to, escape), id, *one)).collect();
                for callee in &call.callees {
                    for (number, parameter) in self.parameters[*callee].iter_mut().enumerate() {
                        if parameter.add(given.get(number).unwrap_or(&Foreign::ALL)) {
                            again.push(*callee);
                        }
                    }
                }
            }
            for value in &body.returned {
                let returned = self.foreign_in(&body, (points_to, escape), id, *value);
                if self.results[id].add(&returned) {
                    again.extend(calls.calls_of(id).iter().filter_map(|edge| edge.caller));
                }
            }
            self.bodies[id] = Some(body);
            for one in again {
                if !std::mem::replace(&mut is_queued[one], true) {
                    queue.push_back(one);
                }
            }
        }
        Ok(())
    }

    fn foreign(&self, facts: (&PointsTo, &Escape), function: FunctionId, operand: Operand) -> Foreign {
        match &self.bodies[function] {
            Some(body) => self.foreign_in(body, facts, function, operand),
            None => Foreign::ALL,
        }
    }

    /// The objects that an operand may point to by an address from elsewhere.
    fn foreign_in(&self, body: &Body, facts: (&PointsTo, &Escape), function: FunctionId, operand: Operand) -> Foreign {
        let mut found = Foreign::default();
        let elsewhere: Origins;
        let origins = match operand {
            Operand::Register(register) => &body.origins[usize::from(register)],
            Operand::Constant(_) => {
                elsewhere = SmallVec::from_slice(&[Origin::Elsewhere(operand)]);
                &elsewhere
            }
        };
        for origin in origins {
            match origin {
                Origin::Made => {}
                Origin::Parameter(number) => _ = found.add(&self.parameters[function][*number]),
                Origin::Result(site) => {
                    for callee in body.by_site.get(site).into_iter().flatten() {
                        found.add(&self.results[*callee]);
                    }
                }
                Origin::Elsewhere(operand) => _ = found.add(&self.pointees(facts, function, *operand)),
            }
        }
        found
    }

    fn pointees(&self, (points_to, escape): (&PointsTo, &Escape), function: FunctionId, operand: Operand) -> Rc<Foreign> {
        if let Some(known) = self.pointees.borrow().get(&(function, operand)) {
            return known.clone();
        }
        let mut found = Foreign::default();
        for location in points_to.pointees(function, operand) {
            match points_to.object(location.object).kind {
                AbstractObjectKind::Unknown | AbstractObjectKind::Residue => found.are_all = true,
                _ if is_made(points_to, location.object) && escape.is_shared(location.object) => {
                    found.objects.grow_and_insert(location.object.index());
                }
                // Nobody asks for it.
                _ => {}
            }
        }
        let found = Rc::new(found);
        self.pointees.borrow_mut().insert((function, operand), found.clone());
        found
    }
}

impl Body {
    fn of(program: &Program, models: &BoundModels<'_>, points_to: &PointsTo, id: FunctionId) -> Body {
        let function = &program.functions[id];
        let mut body = Body { origins: vec![Origins::new(); function.registers.len()], ..Body::default() };
        for (number, parameter) in function.parameters.iter().enumerate() {
            let origin = if parameter.by_value.is_some() { Origin::Made } else { Origin::Parameter(number) };
            body.origins[usize::from(parameter.register)].push(origin);
        }
        let order = reverse_postorder(function);
        // Phis stand before what they depend on; origins only grow.
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for block in &order {
                let block = &function.blocks[*block];
                for phi in &block.phis {
                    let new = body.merged(program, phi.operands.iter().copied());
                    has_changed |= body.set(phi.result, new);
                }
                for instruction in &block.instructions {
                    if let Some(result) = instruction.result {
                        let new = body.origins_of(program, models, points_to, instruction, result);
                        has_changed |= body.set(result, new);
                    }
                }
            }
        }
        body.note_calls(program, models, points_to, function);
        body
    }

    fn note_calls(&mut self, program: &Program, models: &BoundModels<'_>, points_to: &PointsTo, function: &Function) {
        for block in &function.blocks {
            for instruction in &block.instructions {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                let is_body = |callee: &FunctionId| {
                    library_model(program, models, *callee).is_none() && program.functions[*callee].is_defined()
                };
                let callees: SmallVec<[FunctionId; 1]> = callees(points_to, instruction).filter(is_body).collect();
                if !callees.is_empty() {
                    self.by_site.entry(instruction.site).or_default().extend(callees.iter().copied());
                    self.calls.push(Call { callees, arguments: arguments.iter().map(|argument| argument.value).collect() });
                }
            }
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                self.returned.push(*value);
            }
        }
    }

    fn set(&mut self, register: RegisterId, new: Origins) -> bool {
        let known = &mut self.origins[usize::from(register)];
        let is_crowded = new.len() > MOST_ORIGINS || known[..] == [Origin::Elsewhere(Operand::Register(register))];
        let new = if is_crowded { SmallVec::from_slice(&[Origin::Elsewhere(Operand::Register(register))]) } else { new };
        let has_changed = *known != new;
        *known = new;
        has_changed
    }

    fn merged(&self, program: &Program, operands: impl Iterator<Item = Operand>) -> Origins {
        let mut merged = Origins::new();
        for operand in operands {
            match operand {
                Operand::Register(register) => merged.extend(self.origins[usize::from(register)].iter().copied()),
                // Nothing lies behind null.
                Operand::Constant(constant) if matches!(program.constants[constant], Constant::Null) => {}
                Operand::Constant(_) => merged.push(Origin::Elsewhere(operand)),
            }
        }
        merged.sort_unstable();
        merged.dedup();
        merged
    }

    fn origins_of(
        &self,
        program: &Program,
        models: &BoundModels<'_>,
        points_to: &PointsTo,
        instruction: &Instruction,
        result: RegisterId,
    ) -> Origins {
        let elsewhere = Origin::Elsewhere(Operand::Register(result));
        match &instruction.operation {
            Operation::Offset { base, .. } => self.merged(program, [*base].into_iter()),
            Operation::Freeze { value } | Operation::Cast { kind: CastKind::Bitcast, value } => {
                self.merged(program, [*value].into_iter())
            }
            Operation::Select { when_true, when_false, .. } => self.merged(program, [*when_true, *when_false].into_iter()),
            Operation::StackAllocate { .. } | Operation::ThreadLocalAddress { .. } => SmallVec::from_slice(&[Origin::Made]),
            Operation::Call { arguments, .. } => {
                let mut origins = Origins::new();
                let mut is_called = false;
                for callee in callees(points_to, instruction) {
                    is_called = true;
                    match library_model(program, models, callee) {
                        Some(model) => {
                            let origin = model.effects.iter().find_map(|effect| match effect {
                                Effect::Allocate { result: AllocationResult::Returned, .. } | Effect::Reallocate { .. } => {
                                    Some(SmallVec::from_slice(&[Origin::Made]))
                                }
                                Effect::Returns { argument } => {
                                    Some(self.merged(program, arguments.get(*argument).map(|one| one.value).into_iter()))
                                }
                                _ => None,
                            });
                            origins.extend(origin.unwrap_or_else(|| SmallVec::from_slice(&[elsewhere])));
                        }
                        None if program.functions[callee].is_defined() => origins.push(Origin::Result(instruction.site)),
                        None => origins.push(elsewhere),
                    }
                }
                if !is_called {
                    origins.push(elsewhere);
                }
                origins.sort_unstable();
                origins.dedup();
                origins
            }
            _ => SmallVec::from_slice(&[elsewhere]),
        }
    }
}

fn callees<'a>(points_to: &'a PointsTo, instruction: &'a Instruction) -> impl Iterator<Item = FunctionId> + 'a {
    let (direct, indirect) = match &instruction.operation {
        Operation::Call { callee: Callee::Direct(function), .. } => (Some(*function), &[][..]),
        Operation::Call { callee: Callee::Indirect(_), .. } => (None, points_to.callees(instruction.site)),
        _ => (None, &[][..]),
    };
    direct.into_iter().chain(indirect.iter().copied())
}

/// Objects that a thread makes as it runs.
fn is_made(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    matches!(
        points_to.object(object).kind,
        AbstractObjectKind::Heap { .. }
            | AbstractObjectKind::StackSlot { .. }
            | AbstractObjectKind::ByValueCopy { .. }
            | AbstractObjectKind::ThreadLocal(_)
    )
}
