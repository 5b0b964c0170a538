//! Names for values and memory cells that hold across calls: a parameter is what the caller passed, a thread's argument what its creator gave.
//!
//! # Definition   A value is a constant, or the latest value of a register of an activation. An address is a base, a constant, and multiples of
//!                values; its base is an object that exists once, or a register.
//! # Theorem      Two equal addresses whose registers have not been assigned in between are the same run-time address.

use std::cell::RefCell;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::super::CallKind;
use super::super::loops::{Definition, LoopId, constant};
use super::super::once::Once;
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset};
use super::input::{Called, Input};
use super::relevant::Relevant;
use super::state::Trip;
use super::tree::{Point, Tree};
use super::types::ActivationId;
use super::written::Cells;
use crate::models::Effect;
use crate::program::{
    ArithmeticFlags, BinaryOp, BlockId, CastKind, Constant, ConstantId, FunctionId, Operand, Operation, RegisterId,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Value {
    Constant(ConstantId),
    Register(ActivationId, RegisterId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    /// A number, no pointer.
    Nothing,
    /// It stands for one object of the run.
    Object(AbstractObjectId),
    Register(ActivationId, RegisterId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Term {
    pub stride: i64,
    pub activation: ActivationId,
    pub register: RegisterId,
    pub extension: Extension,
}

/// How a narrow index became wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Extension {
    None,
    Sign,
    Zero,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    pub base: Base,
    pub constant: i64,
    pub terms: SmallVec<[Term; 1]>,
}

impl Address {
    fn of(base: Base, constant: i64) -> Address {
        Address { base, constant, terms: SmallVec::new() }
    }

    /// The registers that the address is computed from.
    pub fn registers(&self) -> impl Iterator<Item = (ActivationId, RegisterId)> + '_ {
        let base = match self.base {
            Base::Register(activation, register) => Some((activation, register)),
            Base::Nothing | Base::Object(_) => None,
        };
        base.into_iter().chain(self.terms.iter().map(|term| (term.activation, term.register)))
    }

    fn plus(mut self, other: &Address, factor: i64) -> Option<Address> {
        if other.base != Base::Nothing {
            if factor != 1 || self.base != Base::Nothing {
                return None;
            }
            self.base = other.base;
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for term in &other.terms {
            self.terms.push(Term { stride: term.stride.checked_mul(factor)?, ..*term });
        }
        self.terms.sort_unstable();
        Some(self)
    }
}

/// How deep an expression may be.
const DEPTH: usize = 40;

pub(super) struct Places<'a> {
    pub input: Input<'a>,
    pub relevant: &'a Relevant,
    pub tree: &'a Tree,
    pub once: &'a Once<'a>,
    /// How often loops run, as far as it was asked.
    pub trips: RefCell<BTreeMap<(ActivationId, LoopId, BlockId), Trip>>,
    pub cells: Cells,
}

impl Places<'_> {
    /// The value of an operand of an activation; `None` where paths were cut.
    pub fn value(&self, activation: ActivationId, operand: Operand) -> Option<Value> {
        let (mut activation, mut operand) = (activation, operand);
        for _ in 0..DEPTH {
            let Operand::Register(register) = operand else {
                let Operand::Constant(constant) = operand else { return None };
                return Some(Value::Constant(constant));
            };
            let here = self.tree.activation(activation);
            if self.is_unknown(activation) {
                return None;
            }
            if let Some((outer, passed)) = self.passed(activation, register) {
                (activation, operand) = (outer, passed);
                continue;
            }
            let body = &self.relevant.bodies[&here.function];
            match body.definitions.operation(self.input.function(here.function), register) {
                Some(Operation::Cast {
                    kind: CastKind::Bitcast | CastKind::PointerToInteger | CastKind::IntegerToPointer,
                    value,
                }) => operand = *value,
                Some(Operation::Freeze { value }) => operand = *value,
                _ => return Some(Value::Register(activation, register)),
            }
        }
        None
    }

    /// Whether registers may change in ways that are not followed.
    fn is_unknown(&self, activation: ActivationId) -> bool {
        let here = self.tree.activation(activation);
        here.is_cut || self.relevant.bodies[&here.function].is_wild
    }

    /// What was passed for a parameter, and by whom.
    fn passed(&self, activation: ActivationId, register: RegisterId) -> Option<(ActivationId, Operand)> {
        let here = self.tree.activation(activation);
        let body = &self.relevant.bodies[&here.function];
        let Some(Definition::Parameter(position)) = body.definitions.get(register) else { return None };
        match here.caller {
            Some((point, CallKind::Call)) => {
                let caller = self.tree.activation(point.activation);
                let call = self.input.instruction(caller.function, point.block, point.index);
                Input::argument(call, position).map(|argument| (point.activation, argument))
            }
            Some(_) => None,
            None => {
                // Only the first function of a created thread has an argument that is known.
                let thread = here.thread.index();
                let [creation] = self.tree.creations[thread][..] else { return None };
                if position != 0
                    || self.tree.threads[thread].entry != Some(here.function)
                    || self.tree.activation(creation.point.activation).is_cut
                {
                    return None;
                }
                let argument = self.thread_argument(creation.point)?;
                Some((creation.point.activation, argument))
            }
        }
    }

    /// The argument that a creating instruction gives to the new thread.
    pub fn thread_argument(&self, point: Point) -> Option<Operand> {
        let creator = self.tree.activation(point.activation);
        let call = self.input.instruction(creator.function, point.block, point.index);
        let called = self.input.called(call);
        let [Called::Library(model)] = called[..] else { return None };
        let position = model.effects.iter().find_map(|effect| match effect {
            Effect::Spawn { argument, .. } => *argument,
            _ => None,
        })?;
        Input::argument(call, position)
    }

    pub fn address(&self, activation: ActivationId, operand: Operand) -> Option<Address> {
        self.address_within(activation, operand, DEPTH)
    }

    fn address_within(&self, activation: ActivationId, operand: Operand, depth: usize) -> Option<Address> {
        let depth = depth.checked_sub(1)?;
        let register = match operand {
            Operand::Constant(id) => return self.constant_address(id, operand),
            Operand::Register(register) => register,
        };
        let here = self.tree.activation(activation);
        if self.is_unknown(activation) {
            return self.one_object(here.function, operand);
        }
        if let Some((outer, passed)) = self.passed(activation, register) {
            return self.address_within(outer, passed, depth);
        }
        let body = &self.relevant.bodies[&here.function];
        let within = |operand: Operand| self.address_within(activation, operand, depth);
        let computed = match body.definitions.operation(self.input.function(here.function), register) {
            Some(Operation::Cast {
                kind: CastKind::Bitcast | CastKind::PointerToInteger | CastKind::IntegerToPointer,
                value,
            })
            | Some(Operation::Freeze { value }) => within(*value),
            Some(Operation::Cast { kind: CastKind::SignExtend, value }) => {
                within(*value).and_then(|inner| self.extended(&inner, Extension::Sign))
            }
            Some(Operation::Cast { kind: CastKind::ZeroExtend, value }) => {
                within(*value).and_then(|inner| self.extended(&inner, Extension::Zero))
            }
            Some(Operation::Offset { base, constant: by, terms, .. }) => within(*base).and_then(|base| {
                let mut sum = base.plus(&Address::of(Base::Nothing, *by), 1)?;
                for term in terms {
                    sum = match constant(self.input.program, term.index) {
                        Some(index) => sum.plus(&Address::of(Base::Nothing, index.checked_mul(term.stride)?), 1)?,
                        None => sum.plus(&self.extended(&within(term.index)?, Extension::Sign)?, term.stride)?,
                    };
                }
                Some(sum)
            }),
            Some(Operation::Binary { op, flags, left, right }) => self.sum(*op, *flags, &within, *left, *right),
            _ => None,
        };
        computed.or_else(|| self.one_object(here.function, operand)).or_else(|| self.opaque(activation, register))
    }

    /// Sums keep their shape under extension only if they cannot wrap; `extended` relies on this.
    fn sum(
        &self,
        op: BinaryOp,
        flags: ArithmeticFlags,
        within: &dyn Fn(Operand) -> Option<Address>,
        left: Operand,
        right: Operand,
    ) -> Option<Address> {
        if !flags.no_signed_wrap {
            return None;
        }
        let number = |operand: Operand| constant(self.input.program, operand);
        match op {
            BinaryOp::Add => within(left)?.plus(&within(right)?, 1),
            BinaryOp::Subtract => within(left)?.plus(&within(right)?, -1),
            BinaryOp::Multiply => match (number(left), number(right)) {
                (Some(factor), None) => Address::of(Base::Nothing, 0).plus(&within(right)?, factor),
                (None, Some(factor)) => Address::of(Base::Nothing, 0).plus(&within(left)?, factor),
                _ => None,
            },
            _ => None,
        }
    }

    /// A narrow number made wide: every sum in it is free of signed wrap, so a sign extension goes inside; a zero extension only of a single register.
    fn extended(&self, inner: &Address, extension: Extension) -> Option<Address> {
        if inner.base != Base::Nothing {
            return Some(inner.clone());
        }
        let is_single = inner.constant == 0 && matches!(inner.terms[..], [Term { stride: 1, .. }]);
        let mut wide = inner.clone();
        for term in &mut wide.terms {
            term.extension = match (term.extension, extension) {
                (Extension::None, Extension::Zero) if !is_single => return None,
                (Extension::None, extension) => extension,
                // What is wide already is as wide as an address.
                (done, Extension::Sign | Extension::None) => done,
                (Extension::Zero, Extension::Zero) => Extension::Zero,
                (Extension::Sign, Extension::Zero) => return None,
            };
        }
        Some(wide)
    }

    fn constant_address(&self, id: ConstantId, operand: Operand) -> Option<Address> {
        match &self.input.program.constants[id] {
            Constant::Global(global) => {
                let object = self.input.points_to.object_of_kind(&AbstractObjectKind::Global(*global))?;
                Some(Address::of(Base::Object(object), 0))
            }
            Constant::Integer { .. } | Constant::Null => Some(Address::of(Base::Nothing, constant(self.input.program, operand)?)),
            _ => None,
        }
    }

    /// A pointer that can only point to one place of one object.
    fn one_object(&self, function: FunctionId, operand: Operand) -> Option<Address> {
        let mut pointees = self.input.points_to.pointees(function, operand);
        let (Some(Location { object, offset: Offset::At(offset) }), None) = (pointees.next(), pointees.next()) else {
            return None;
        };
        if self.input.points_to.object(object).is_code() || !self.once.is_one_object(object) {
            return None;
        }
        Some(Address::of(Base::Object(object), i64::try_from(offset).ok()?))
    }

    fn opaque(&self, activation: ActivationId, register: RegisterId) -> Option<Address> {
        let here = self.tree.activation(activation);
        match self.input.function(here.function).registers[register].ty {
            crate::program::Type::Scalar(crate::program::Scalar::Integer(_)) => {
                let term = Term { stride: 1, activation, register, extension: Extension::None };
                Some(Address { base: Base::Nothing, constant: 0, terms: SmallVec::from_buf([term]) })
            }
            crate::program::Type::POINTER => Some(Address::of(Base::Register(activation, register), 0)),
            _ => None,
        }
    }
}
