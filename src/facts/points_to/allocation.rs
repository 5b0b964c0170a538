//! Allocations: how many bytes, and as what.
//!
//! # Definition   The calls of a context (`context`) pass a number, or a multiple of one, on to the allocation. The memory *is allocated as* a structure when the functions
//!                of these calls use the pointer that is returned to them as one to this structure alone (the variable it is assigned to, the member it is stored in, or else the
//!                parameter that it is passed for; there or after it was stored and loaded again), and the size is that of one or more such structures, or the structure ends with an array without a length.
//! # Theorem      An allocation has at most the size that is found for its context. That memory which is allocated as a structure holds such structures and
//!                nothing else is what almost every program does, and not what C demands: where it matters, the program rests on the
//!                assumption `typed-allocation`.
//! # Deviations   1. A size that is one of several numbers is the largest of them.  2. Programs that are not large are looked at again without types of allocated memory
//!                where those were of importance: nothing needs to be assumed there.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::call::Call;
use super::declared::{Declarations, goes_on, structure_pointed_to};
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind};
use super::solve::Solver;
use crate::models::SizeSource;
use crate::program::describe::{pointee, resolve};
use crate::program::{
    AliasType, BinaryOp, Callee, Constant, DebugType, DebugTypeId, DebugTypeKind, Function, FunctionId, Instruction, Operand,
    Operation, Parameter, Program, RegisterId, SiteId,
};

/// What allocated memory is taken to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocated {
    /// What it is allocated as.
    AsUsed,
    AsAnything,
}

/// What a call passes to its callee, as far as its text says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    Number(u64),
    /// Something times this.
    Multiple(u64),
    /// What its own caller has passed, or `or` if that is more, and `plus`.
    Parameter {
        position: usize,
        or: u64,
        plus: u64,
    },
    Other,
}

/// How many bytes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    AtMost(u64),
    Multiple(u64),
    Unknown,
}

impl Amount {
    fn times(self, other: Amount) -> Amount {
        match (self, other) {
            (Amount::AtMost(left), Amount::AtMost(right)) => left.checked_mul(right).map_or(Amount::Unknown, Amount::AtMost),
            (Amount::AtMost(left) | Amount::Multiple(left), Amount::AtMost(right) | Amount::Multiple(right)) => {
                left.checked_mul(right).map_or(Amount::Unknown, Amount::Multiple)
            }
            (Amount::AtMost(one) | Amount::Multiple(one), Amount::Unknown)
            | (Amount::Unknown, Amount::AtMost(one) | Amount::Multiple(one)) => Amount::Multiple(one),
            (Amount::Unknown, Amount::Unknown) => Amount::Unknown,
        }
    }

    /// Whether so many bytes fit into it, or may do so.
    fn may_reach(self, size: u64) -> bool {
        if let Amount::AtMost(amount) = self { amount >= size } else { true }
    }

    /// Whether one or more things of this size fill it.
    fn is_filled_by(self, size: u64) -> bool {
        match self {
            Amount::AtMost(amount) | Amount::Multiple(amount) => size > 0 && amount > 0 && amount.is_multiple_of(size),
            Amount::Unknown => false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Allocations {
    /// What the calls of a site pass at each position.
    passed: FxHashMap<SiteId, Vec<Passed>>,
    /// What the result of a call is used as, if its function says so.
    used_as: FxHashMap<SiteId, Use>,
    allocated: Allocated,
}

impl Allocations {
    pub fn of<'p>(program: &'p Program, structures: &Declarations<'p>, allocated: Allocated) -> Allocations {
        let mut found = Allocations { passed: FxHashMap::default(), used_as: FxHashMap::default(), allocated };
        let taken: TiVec<FunctionId, Vec<Option<DebugTypeId>>> =
            program.functions.iter().map(|one| taken(program, one)).collect();
        for function in &program.functions {
            let body = Text::of(program, function);
            let uses = Uses::of(&body, structures, &taken);
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                let passed: Vec<Passed> = arguments.iter().map(|argument| body.passed(argument.value)).collect();
                // Calls of one site have to agree.
                let known = found.passed.entry(instruction.site).or_insert_with(|| passed.clone());
                known.truncate(passed.len());
                for (known, passed) in known.iter_mut().zip(passed) {
                    *known = if *known == passed { passed } else { Passed::Other };
                }
                if let Some(used) = instruction.result.and_then(|result| uses.0[usize::from(result)].as_ref()) {
                    let known = found.used_as.entry(instruction.site).or_insert_with(|| used.clone());
                    known.retain(|one| used.iter().any(|other| is_same(program, *one, *other)));
                }
            }
        }
        found
    }

    /// What the allocation at the first of these calls asks for: there, or where the context passes it on.
    fn amount(&self, sites: &[SiteId], size: SizeSource) -> Amount {
        match size {
            SizeSource::Constant(size) => Amount::AtMost(size),
            SizeSource::Argument(position) => self.passed(sites, position),
            SizeSource::Product(left, right) => self.passed(sites, left).times(self.passed(sites, right)),
            SizeSource::String(_) | SizeSource::Unknown => Amount::Unknown,
        }
    }

    /// What the results of these calls are used as, when that is one structure, and one or more of it fill what is asked for.
    fn structure(&self, program: &Program, sites: &[SiteId], amount: Amount) -> Option<DebugTypeId> {
        if self.allocated == Allocated::AsAnything {
            return None;
        }
        let mut said = sites.iter().filter_map(|site| self.used_as.get(site));
        let mut candidates = said.next()?.clone();
        said.for_each(|used| candidates.retain(|one| used.iter().any(|other| is_same(program, *one, *other))));
        candidates.retain(|one| {
            let size = program.debug_types[*one].size;
            amount.is_filled_by(size) || goes_on(program, *one) && amount.may_reach(size)
        });
        let first = *candidates.first()?;
        candidates.iter().all(|other| is_same(program, first, *other)).then_some(first)
    }

    fn passed(&self, sites: &[SiteId], position: usize) -> Amount {
        let Some((site, outer)) = sites.split_first() else { return Amount::Unknown };
        match self.passed.get(site).and_then(|passed| passed.get(position)) {
            Some(Passed::Number(number)) => Amount::AtMost(*number),
            Some(Passed::Multiple(of)) => Amount::Multiple(*of),
            Some(Passed::Parameter { position, or, plus }) => match self.passed(outer, *position) {
                Amount::AtMost(number) => number.max(*or).checked_add(*plus).map_or(Amount::Unknown, Amount::AtMost),
                Amount::Multiple(of) if *plus == 0 => Amount::Multiple(of),
                Amount::Multiple(_) | Amount::Unknown => Amount::Unknown,
            },
            Some(Passed::Other) | None => Amount::Unknown,
        }
    }
}

/// An address as a register and a distance.
type Place = (Operand, i64);

/// What defines each register of a function.
struct Text<'p> {
    program: &'p Program,
    function: &'p Function,
    operations: Vec<Option<&'p Operation>>,
    phis: Vec<Option<&'p [Operand]>>,
}

impl<'p> Text<'p> {
    fn of(program: &'p Program, function: &'p Function) -> Text<'p> {
        let count = function.registers.len();
        let mut text = Text { program, function, operations: vec![None; count], phis: vec![None; count] };
        for block in &function.blocks {
            block.phis.iter().for_each(|phi| text.phis[usize::from(phi.result)] = Some(&phi.operands));
            for instruction in &block.instructions {
                if let Some(result) = instruction.result {
                    text.operations[usize::from(result)] = Some(&instruction.operation);
                }
            }
        }
        text
    }

    fn place(&self, address: Operand) -> Place {
        let (mut base, mut distance) = (address, 0i64);
        while let Operand::Register(register) = base
            && let Some(Operation::Offset { base: inner, constant, terms, .. }) = self.operations[usize::from(register)]
            && terms.is_empty()
        {
            (base, distance) = (*inner, distance.wrapping_add(*constant));
        }
        (base, distance)
    }

    fn number(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Constant(constant) => match self.program.constants[constant] {
                Constant::Integer { value, .. } => u64::try_from(value).ok(),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    fn passed(&self, value: Operand) -> Passed {
        if let Some(number) = self.number(value) {
            return Passed::Number(number);
        }
        let Operand::Register(register) = value else { return Passed::Other };
        let position =
            |register: RegisterId| self.function.parameters.iter().position(|parameter| parameter.register == register);
        if let Some(position) = position(register) {
            return Passed::Parameter { position, or: 0, plus: 0 };
        }
        match self.operations[usize::from(register)] {
            Some(Operation::Binary { op: BinaryOp::Multiply, left, right, .. }) => {
                self.number(*left).or(self.number(*right)).map_or(Passed::Other, Passed::Multiple)
            }
            Some(Operation::Binary { op: BinaryOp::ShiftLeft, right, .. }) => {
                self.number(*right).filter(|by| *by < 32).map_or(Passed::Other, |by| Passed::Multiple(1 << by))
            }
            Some(Operation::Binary { op: BinaryOp::Add, left, right, .. }) => {
                let sum = self.number(*right).map(|number| (*left, number)).or(self.number(*left).map(|number| (*right, number)));
                match sum.map(|(other, number)| (self.alternative(other), number)) {
                    Some((Passed::Parameter { position, or, plus: 0 }, plus)) => Passed::Parameter { position, or, plus },
                    _ => Passed::Other,
                }
            }
            _ => self.alternative(value),
        }
    }

    /// A parameter, or one of several numbers instead of it.
    fn alternative(&self, value: Operand) -> Passed {
        let Operand::Register(register) = value else { return Passed::Other };
        let alternatives: Vec<Operand> = match (self.phis[usize::from(register)], self.operations[usize::from(register)]) {
            (Some(operands), _) => operands.to_vec(),
            (None, Some(Operation::Select { when_true, when_false, .. })) => vec![*when_true, *when_false],
            _ => vec![value],
        };
        let (mut parameter, mut or) = (None, 0);
        for alternative in alternatives {
            if let Some(number) = self.number(alternative) {
                or = or.max(number);
                continue;
            }
            let Operand::Register(register) = alternative else { return Passed::Other };
            let Some(position) = self.function.parameters.iter().position(|parameter| parameter.register == register) else {
                return Passed::Other;
            };
            if parameter.is_some_and(|known| known != position) {
                return Passed::Other;
            }
            parameter = Some(position);
        }
        parameter.map_or(Passed::Other, |position| Passed::Parameter { position, or, plus: 0 })
    }
}

/// What the text says a pointer points to: one of these structures, each file's description of it for itself; none if it says several things.
type Use = SmallVec<[DebugTypeId; 1]>;

/// By register; `None` where nothing is said.
struct Uses(Vec<Option<Use>>);

/// The structures that the parameters of a function point to, as they are declared.
fn taken(program: &Program, function: &Function) -> Vec<Option<DebugTypeId>> {
    let declared = |parameter: &Parameter| {
        let mut bindings = function.bindings.iter().filter(|binding| !binding.is_address);
        let own = bindings.find(|binding| binding.value == Operand::Register(parameter.register))?;
        structure_behind(program, program.variables[own.variable].ty)
    };
    function.parameters.iter().map(|parameter| declared(parameter).filter(|_| parameter.by_value.is_none())).collect()
}

/// The structure that a pointer of this type points to.
fn structure_behind(program: &Program, ty: Option<DebugTypeId>) -> Option<DebugTypeId> {
    let (id, content) = resolve(program, pointee(program, ty?)?)?;
    matches!(&content.kind, DebugTypeKind::Struct { .. }).then_some(id)
}

impl Uses {
    fn of<'p>(text: &Text<'p>, structures: &Declarations<'p>, taken: &TiVec<FunctionId, Vec<Option<DebugTypeId>>>) -> Uses {
        let (program, function) = (text.program, text.function);
        let mut uses = Uses(vec![None; function.registers.len()]);
        // What is said where nothing else is: functions may take what their structure begins with.
        let mut passed = Uses(vec![None; function.registers.len()]);
        for binding in function.bindings.iter().filter(|binding| !binding.is_address) {
            if let Some(id) = structure_behind(program, program.variables[binding.variable].ty) {
                uses.add(program, binding.value, &[id]);
            }
        }
        let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
        for instruction in instructions() {
            match &instruction.operation {
                Operation::Store { value, access, .. } => {
                    let scalar = access.alias.map(|alias| match &program.alias_types[alias] {
                        AliasType::Member { scalar, .. } => &program.alias_types[*scalar],
                        scalar => scalar,
                    });
                    if let Some(name) = scalar.and_then(structure_pointed_to) {
                        uses.add(program, *value, structures.named(name));
                    }
                }
                Operation::Call { callee: Callee::Direct(callee), arguments, .. } => {
                    for (argument, taken) in arguments.iter().zip(&taken[*callee]) {
                        taken.iter().for_each(|id| passed.add(program, argument.value, &[*id]));
                    }
                }
                // Nothing else tells what a pointer points to.
                _ => {}
            }
        }
        uses.0.iter_mut().zip(passed.0).for_each(|(used, passed)| *used = used.take().or(passed));
        uses.through_memory(text, instructions());
        uses
    }

    /// What is stored and loaded again is used as what was loaded.
    fn through_memory<'p>(&mut self, text: &Text<'p>, instructions: impl Iterator<Item = &'p Instruction>) {
        let mut stored: Vec<(Place, Operand)> = Vec::new();
        let mut loaded: FxHashMap<Place, Use> = FxHashMap::default();
        for instruction in instructions {
            match (&instruction.operation, instruction.result) {
                (Operation::Store { address, value: value @ Operand::Register(_), .. }, _) => {
                    stored.push((text.place(*address), *value));
                }
                (Operation::Load { address, .. }, Some(result)) => {
                    if let Some(used) = &self.0[usize::from(result)] {
                        let known = loaded.entry(text.place(*address)).or_insert_with(|| used.clone());
                        known.retain(|one| used.iter().any(|other| is_same(text.program, *one, *other)));
                    }
                }
                // Memory is looked at only as it is named here.
                _ => {}
            }
        }
        for (place, value) in stored {
            if let Some(used) = loaded.get(&place) {
                self.add(text.program, value, used);
            }
        }
    }

    fn add(&mut self, program: &Program, value: Operand, structures: &[DebugTypeId]) {
        let Operand::Register(register) = value else { return };
        match &mut self.0[usize::from(register)] {
            Some(known) => known.retain(|one| structures.iter().any(|other| is_same(program, *one, *other))),
            none => *none = Some(Use::from_slice(structures)),
        }
    }
}

/// One structure is described by each file for itself: its name and size tell.
fn is_same(program: &Program, one: DebugTypeId, other: DebugTypeId) -> bool {
    let (content, other_content) = (&program.debug_types[one], &program.debug_types[other]);
    let name = |ty: &DebugType| match &ty.kind {
        DebugTypeKind::Struct { name, .. } if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    one == other || content.size == other_content.size && name(content).is_some() && name(content) == name(other_content)
}

impl Solver<'_> {
    /// The call allocates: the object, as large as the call or those around it say, and as what they use it.
    pub fn allocated(&mut self, call: &Call, size: SizeSource) -> AbstractObject {
        let callers = self.contexts.callers_of_memory(self.program, call.context, call.site);
        let sites: Vec<SiteId> = [call.site].into_iter().chain(self.contexts.returning_calls(call.context, call.site)).collect();
        let amount = self.allocations.amount(&sites, size);
        let ty = self.allocations.structure(self.program, &sites, amount);
        let size = if let Amount::AtMost(size) = amount { Some(size) } else { None };
        // What `malloc` promises at least.
        let align = u64::from(self.pointer_bytes);
        let origin = self.contexts.origin(call.context);
        AbstractObject { kind: AbstractObjectKind::Heap { site: call.site, callers, origin }, size, align, ty, element: None }
    }

    /// The call returns what it allocates.
    pub fn allocate(&mut self, call: &Call, size: SizeSource) {
        let Some((result, _)) = call.result else { return };
        let object = self.allocated(call, size);
        let object = self.object(object);
        let location = self.locate(object, Class::at(0), true).expect("an object has a first byte");
        self.graph.add_location(result, location);
    }
}

#[cfg(test)]
mod tests {
    use super::Amount::{AtMost, Multiple, Unknown};

    #[test]
    fn a_product_is_a_multiple_of_what_is_known_of_its_factors() {
        assert_eq!(AtMost(3).times(AtMost(16)), AtMost(48));
        assert_eq!(AtMost(1).times(Multiple(16)), Multiple(16));
        assert_eq!(Multiple(16).times(AtMost(2)), Multiple(32));
        assert_eq!(Unknown.times(Multiple(16)), Multiple(16));
        assert_eq!(AtMost(16).times(Unknown), Multiple(16));
        assert_eq!(Unknown.times(Unknown), Unknown);
        assert_eq!(AtMost(u64::MAX).times(AtMost(2)), Unknown);
        assert!(
            Multiple(32).is_filled_by(16)
                && !Multiple(24).is_filled_by(16)
                && !AtMost(0).is_filled_by(16)
                && !Unknown.is_filled_by(1)
        );
    }
}
