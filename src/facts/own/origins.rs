//! Origins: what is each address of a function counted from, and how far?
//!
//! # Definition   The origins of a register are the allocations, parameters, results of calls and loads that it is counted from by offsets, casts, choices and phis. Its
//!                *reach* are the bytes between the origin and the address.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::accesses::library_model;
use super::super::points_to::{AbstractObjectKind, PointsTo};
use super::super::values::{greatest_common_divisor, reverse_postorder};
use super::parts::Part;
use crate::models::{AllocationResult, ArgumentIndex, BoundModels, Builtin, CallbackTime, Effect, FunctionModel};
use crate::program::{
    Callee, CastKind, Constant, FunctionId, Instruction, OffsetTerm, Operand, Operation, Program, RegisterId, SiteId,
    TerminatorKind,
};

/// More origins of a register are not told apart.
const MOST_ORIGINS: usize = 8;
/// A reach that still grows after so many rounds has no end.
const MOST_ROUNDS: usize = 8;

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Made,
    Parameter(usize),
    /// What functions of the program return in this call.
    Result(SiteId, RegisterId),
    /// What a load of the function finds in memory.
    Loaded(RegisterId),
    /// Anything else: what points-to says of it.
    Elsewhere(Operand),
}

/// Ascending, each once.
pub(super) type Origins = SmallVec<[Origin; 2]>;

/// How far an address lies behind its origins, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// No way to it is known yet.
    Nowhere,
    Between(i64, i64),
    Anywhere,
}

impl Reach {
    fn joined(self, other: Reach) -> Reach {
        match (self, other) {
            (Reach::Nowhere, one) | (one, Reach::Nowhere) => one,
            (Reach::Between(a, b), Reach::Between(c, d)) => Reach::Between(a.min(c), b.max(d)),
            _ => Reach::Anywhere,
        }
    }

    fn plus(self, least: i64, most: i64) -> Reach {
        match self {
            Reach::Between(a, b) => match (a.checked_add(least), b.checked_add(most)) {
                (Some(a), Some(b)) => Reach::Between(a, b),
                _ => Reach::Anywhere,
            },
            other => other,
        }
    }
}

/// A call of functions of the program.
pub(super) struct Call {
    pub callees: SmallVec<[FunctionId; 1]>,
    pub arguments: Vec<Operand>,
    /// Made by a library function, with addresses counted from these.
    pub is_of_library: bool,
}

#[derive(Default)]
pub(super) struct Body {
    /// By register.
    origins: Vec<Origins>,
    reaches: Vec<Reach>,
    pub calls: Vec<Call>,
    pub by_site: FxHashMap<SiteId, SmallVec<[FunctionId; 1]>>,
    pub returned: Vec<Operand>,
}

impl Body {
    pub fn of(program: &Program, models: &BoundModels<'_>, points_to: &PointsTo, parts: &[Part], id: FunctionId) -> Body {
        let function = &program.functions[id];
        let count = function.registers.len();
        let mut body = Body { origins: vec![Origins::new(); count], reaches: vec![Reach::Nowhere; count], ..Body::default() };
        for (number, parameter) in function.parameters.iter().enumerate() {
            let origin = if parameter.by_value.is_some() { Origin::Made } else { Origin::Parameter(number) };
            body.origins[usize::from(parameter.register)].push(origin);
            body.reaches[usize::from(parameter.register)] = Reach::Between(0, 0);
        }
        let order = reverse_postorder(function);
        // Phis stand before what they depend on; origins and reaches only grow.
        let (mut has_changed, mut round) = (true, 0);
        while has_changed {
            (has_changed, round) = (false, round + 1);
            for block in &order {
                let block = &function.blocks[*block];
                for phi in &block.phis {
                    let new = body.merged(program, phi.operands.iter().copied());
                    has_changed |= body.set(phi.result, new);
                    let reach = body.joined(phi.operands.iter().copied());
                    has_changed |= body.stretch(phi.result, reach, round);
                }
                for instruction in &block.instructions {
                    if let Some(result) = instruction.result {
                        let new = body.origins_of(program, models, points_to, instruction, result);
                        has_changed |= body.set(result, new);
                        let reach = body.reach_of((program, models, points_to), parts, id, instruction);
                        has_changed |= body.stretch(result, reach, round);
                    }
                }
            }
        }
        body.note_calls(program, models, points_to, id);
        body
    }

    /// What an operand is counted from.
    pub fn origins(&self, operand: Operand) -> Origins {
        match operand {
            Operand::Register(register) => self.origins[usize::from(register)].clone(),
            Operand::Constant(_) => SmallVec::from_slice(&[Origin::Elsewhere(operand)]),
        }
    }

    /// How far it lies behind what it is counted from.
    pub fn reach(&self, operand: Operand) -> Reach {
        match operand {
            Operand::Register(register) => self.reaches[usize::from(register)],
            Operand::Constant(_) => Reach::Between(0, 0),
        }
    }

    fn note_calls(&mut self, program: &Program, models: &BoundModels<'_>, points_to: &PointsTo, id: FunctionId) {
        for block in &program.functions[id].blocks {
            for instruction in &block.instructions {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                let is_body = |callee: &FunctionId| {
                    library_model(program, models, *callee).is_none() && program.functions[*callee].is_defined()
                };
                let callees: SmallVec<[FunctionId; 1]> = callees(points_to, instruction).filter(is_body).collect();
                if !callees.is_empty() {
                    self.by_site.entry(instruction.site).or_default().extend(callees.iter().copied());
                    let arguments = arguments.iter().map(|argument| argument.value).collect();
                    self.calls.push(Call { callees, arguments, is_of_library: false });
                }
                for (routine, positions) in callbacks(program, models, points_to, instruction) {
                    let Some(routine) = arguments.get(routine) else { continue };
                    let pointees = points_to.pointees(id, routine.value);
                    let callees = pointees.filter_map(|location| match points_to.object(location.object).kind {
                        AbstractObjectKind::Function(function) => Some(function),
                        _ => None,
                    });
                    let callees: SmallVec<[FunctionId; 1]> = callees.filter(is_body).collect();
                    let given: Option<Vec<Operand>> =
                        positions.iter().map(|position| Some(arguments.get(*position)?.value)).collect();
                    self.calls.push(Call { callees, arguments: given.unwrap_or_default(), is_of_library: true });
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

    fn stretch(&mut self, register: RegisterId, new: Reach, round: usize) -> bool {
        let known = &mut self.reaches[usize::from(register)];
        let mut new = known.joined(new);
        if new != *known && round > MOST_ROUNDS {
            new = Reach::Anywhere;
        }
        std::mem::replace(known, new) != new
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

    fn joined(&self, operands: impl Iterator<Item = Operand>) -> Reach {
        operands.fold(Reach::Nowhere, |reach, operand| reach.joined(self.reach(operand)))
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
            Operation::Load { .. } => SmallVec::from_slice(&[Origin::Loaded(result)]),
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
                            let text = returns_text(model).then(|| SmallVec::from_slice(&[Origin::Made]));
                            let origin = origin.or(text);
                            let inside = model.builtin.and_then(returned_inside).and_then(|position| arguments.get(position));
                            let inside = inside.map(|argument| self.merged(program, [argument.value].into_iter()));
                            origins.extend(origin.or(inside).unwrap_or_else(|| SmallVec::from_slice(&[elsewhere])));
                        }
                        None if program.functions[callee].is_defined() => origins.push(Origin::Result(instruction.site, result)),
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

    fn reach_of(
        &self,
        (program, models, points_to): (&Program, &BoundModels<'_>, &PointsTo),
        parts: &[Part],
        id: FunctionId,
        instruction: &Instruction,
    ) -> Reach {
        match &instruction.operation {
            Operation::Offset { base, constant, terms, in_bounds, .. } => {
                // An index stays in its array, or is one beyond.
                let width = terms.iter().try_fold(0i64, |width, term| {
                    let (count, stride) = (i64::try_from(term.count?).ok()?, Some(term.stride).filter(|stride| *stride >= 0)?);
                    width.checked_add(count.checked_mul(stride)?)
                });
                match width.filter(|_| *in_bounds || terms.is_empty()).and_then(|width| width.checked_add(*constant)) {
                    Some(most) => self.reach(*base).plus(*constant, most),
                    None => match around(points_to, parts, (id, *base), terms).filter(|_| *in_bounds) {
                        Some((before, after)) => {
                            self.reach(*base).plus(constant.saturating_sub(before), constant.saturating_add(after))
                        }
                        None => Reach::Anywhere,
                    },
                }
            }
            Operation::Freeze { value } | Operation::Cast { kind: CastKind::Bitcast, value } => self.reach(*value),
            Operation::Select { when_true, when_false, .. } => self.joined([*when_true, *when_false].into_iter()),
            Operation::Call { arguments, .. } => {
                let mut returned = callees(points_to, instruction).filter_map(|callee| library_model(program, models, callee));
                if returned.by_ref().any(|model| model.builtin.and_then(returned_inside).is_some()) {
                    return Reach::Anywhere;
                }
                let returned = callees(points_to, instruction).filter_map(|callee| library_model(program, models, callee));
                let returned = returned.flat_map(|model| &model.effects).filter_map(|effect| match effect {
                    Effect::Returns { argument } => arguments.get(*argument).map(|one| one.value),
                    _ => None,
                });
                self.joined(returned).joined(Reach::Between(0, 0))
            }
            _ => Reach::Between(0, 0),
        }
    }
}

/// How far any indices may move a pointer in the array of a part that it points into, back and on.
fn around(points_to: &PointsTo, parts: &[Part], (id, base): (FunctionId, Operand), terms: &[OffsetTerm]) -> Option<(i64, i64)> {
    let stride = terms.iter().map(|term| term.stride.unsigned_abs()).fold(0, greatest_common_divisor);
    if parts.is_empty() {
        return None;
    }
    let rooms = points_to.rooms_around(points_to.set_of(id, base)?, stride);
    let mut of_parts = rooms.iter().filter(|(object, _)| parts.iter().any(|part| part.object == **object));
    let (before, after) = of_parts.try_fold((0, 0), |(before, after), (_, room)| {
        let (more_before, more_after) = (*room)?;
        Some((more_before.max(before), more_after.max(after)))
    })?;
    Some((i64::try_from(before).ok()?, i64::try_from(after).ok()?))
}

/// The routines that a call makes a library function call before it returns, and what of its arguments they get.
fn callbacks<'a>(
    program: &'a Program,
    models: &'a BoundModels<'_>,
    points_to: &'a PointsTo,
    instruction: &'a Instruction,
) -> impl Iterator<Item = (ArgumentIndex, &'a [ArgumentIndex])> {
    let models = callees(points_to, instruction).filter_map(|callee| library_model(program, models, callee));
    models.flat_map(|model| &model.effects).filter_map(|effect| match effect {
        Effect::Callback { routine, arguments, when: CallbackTime::During, .. } => Some((*routine, &arguments[..])),
        _ => None,
    })
}

/// Whether each thread has a text of its own, which the function returns: glibc documents it of these.
pub(super) fn returns_text(model: &FunctionModel) -> bool {
    matches!(model.builtin, Some(Builtin::Strerror | Builtin::Strsignal))
}

/// The argument inside whose object a library function returns an address.
fn returned_inside(builtin: Builtin) -> Option<usize> {
    match builtin {
        Builtin::Memchr
        | Builtin::Rawmemchr
        | Builtin::Memrchr
        | Builtin::Memmem
        | Builtin::Strchr
        | Builtin::Strrchr
        | Builtin::Strchrnul
        | Builtin::Strstr
        | Builtin::Strcasestr
        | Builtin::Strpbrk
        | Builtin::Fgets
        | Builtin::FgetsChk
        | Builtin::Stpcpy
        | Builtin::Stpncpy
        | Builtin::Mempcpy
        | Builtin::Memccpy => Some(0),
        Builtin::Bsearch => Some(1),
        _ => None,
    }
}

pub(super) fn callees<'a>(points_to: &'a PointsTo, instruction: &'a Instruction) -> impl Iterator<Item = FunctionId> + 'a {
    let (direct, indirect) = match &instruction.operation {
        Operation::Call { callee: Callee::Direct(function), .. } => (Some(*function), &[][..]),
        Operation::Call { callee: Callee::Indirect(_), .. } => (None, points_to.callees(instruction.site)),
        _ => (None, &[][..]),
    };
    direct.into_iter().chain(indirect.iter().copied())
}
