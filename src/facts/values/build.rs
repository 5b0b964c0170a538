//! The terms of a function's registers, in an order in which definitions come before uses.
//!
//! What the compiler promises (no wrapping, in bounds) is used: a broken promise makes the value poison, and an access through it undefined.
//! The factors of an address are exact: in `base + 4·i` no factor wraps, because only offsets in bounds and products that do not wrap
//! are taken apart. Whatever may wrap stays one operation, or a leaf.

use smallvec::SmallVec;

use super::Workshop;
use super::pure::Pure;
use super::term::{LeafKind, Operands, Term, TermId};
use crate::program::{
    ArithmeticFlags, BinaryOp, BlockId, Callee, CastKind, Constant, Function, FunctionId, Instruction, Operand, Operation,
    Predicate, Program, RegisterId, Scalar, Type,
};

/// How deep calls of functions that return a term are looked through.
const MOST_CALLS: usize = 6;

pub(super) struct Builder<'w, 'p> {
    pub workshop: &'w mut Workshop<'p>,
    pub function: &'p Function,
    /// By register.
    terms: Vec<Option<TermId>>,
    definitions: Vec<Option<&'p Instruction>>,
    /// How many calls are being looked through.
    depth: usize,
}

impl<'w, 'p> Builder<'w, 'p> {
    pub fn of(workshop: &'w mut Workshop<'p>, id: FunctionId, depth: usize) -> Vec<TermId> {
        let function = &workshop.program.functions[id];
        let mut definitions = vec![None; function.registers.len()];
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(result) = instruction.result {
                definitions[usize::from(result)] = Some(instruction);
            }
        }
        let terms = vec![None; function.registers.len()];
        let mut builder = Builder { workshop, function, terms, definitions, depth };
        for block in reverse_postorder(function) {
            for phi in &function.blocks[block].phis {
                let mut others = phi.operands.iter().filter(|operand| **operand != Operand::Register(phi.result));
                let first = others.next().copied();
                // Ways that bring the same value.
                let term = match first.filter(|first| others.all(|other| other == first)) {
                    Some(operand) => builder.operand(operand),
                    None => builder.leaf(phi.result),
                };
                builder.terms[usize::from(phi.result)] = Some(term);
            }
            for instruction in &function.blocks[block].instructions {
                if let Some(result) = instruction.result {
                    let term = builder.instruction(instruction, result).filter(|term| builder.workshop.table.is_small(*term));
                    let term = term.unwrap_or_else(|| builder.leaf(result));
                    builder.terms[usize::from(result)] = Some(term);
                }
            }
        }
        (0..function.registers.len()).map(|number| builder.register(RegisterId::from(number))).collect()
    }

    fn leaf(&mut self, register: RegisterId) -> TermId {
        let kind = leaf_kind(self.function.registers[register].ty);
        self.workshop.table.intern(Term::Leaf { register, kind })
    }

    /// Parameters, and registers of blocks that are never reached, are leaves.
    fn register(&mut self, register: RegisterId) -> TermId {
        self.terms[usize::from(register)].unwrap_or_else(|| self.leaf(register))
    }

    fn operand(&mut self, operand: Operand) -> TermId {
        match operand {
            Operand::Register(register) => self.register(register),
            Operand::Constant(_) => self.workshop.constant(operand).expect("the operand is a constant"),
        }
    }

    fn definition(&self, operand: Operand) -> Option<&'p Operation> {
        match operand {
            Operand::Register(register) => self.definitions[usize::from(register)].map(|instruction| &instruction.operation),
            Operand::Constant(_) => None,
        }
    }

    fn bits_of(&self, operand: Operand) -> Option<u32> {
        bits_of(self.workshop.program, self.workshop.program.type_of(self.function, operand))
    }

    /// `None`: the register is a leaf.
    fn instruction(&mut self, instruction: &'p Instruction, result: RegisterId) -> Option<TermId> {
        let ty = self.function.registers[result].ty;
        match &instruction.operation {
            Operation::Binary { op, flags, left, right } => {
                let bits = bits_of(self.workshop.program, ty)?;
                self.binary(*op, *flags, *left, *right, bits)
            }
            Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => {
                self.bits_of(*left)?;
                let operands = Operands::from_slice(&[self.operand(*left), self.operand(*right)]);
                (ty == Type::BOOL).then(|| self.workshop.table.operation(Pure::Compare(*predicate), 1, operands))
            }
            Operation::Cast { kind, value } => self.cast(*kind, *value, ty),
            // Which of two objects an address lies in is no arithmetic.
            Operation::Select { condition, when_true, when_false } if matches!(ty, Type::Scalar(Scalar::Integer(_))) => {
                let bits = bits_of(self.workshop.program, ty)?;
                let condition = self.operand(*condition);
                let values = [condition, self.operand(*when_true), self.operand(*when_false)];
                Some(self.workshop.table.operation(Pure::Select, bits, Operands::from_slice(&values)))
            }
            Operation::Offset { base, constant, terms, in_bounds, structure: _, target: _ } => {
                if ty != Type::POINTER || !terms.is_empty() && !in_bounds {
                    return None;
                }
                let mut parts: SmallVec<[(TermId, u64); 4]> = SmallVec::new();
                parts.push((self.operand(*base), 1));
                for term in terms {
                    parts.push((self.index(term.index)?, term.stride as u64));
                }
                let bits = self.workshop.table.pointer_bits;
                Some(self.workshop.table.sum(bits, *constant as u64, &parts))
            }
            Operation::Intrinsic { function, arguments } => {
                let bits = bits_of(self.workshop.program, ty)?;
                let mut operands = Operands::new();
                for argument in arguments {
                    self.bits_of(*argument)?;
                    operands.push(self.operand(*argument));
                }
                Some(self.workshop.table.operation(Pure::Intrinsic(*function), bits, operands))
            }
            Operation::Call { callee: Callee::Direct(callee), arguments, .. } if self.depth < MOST_CALLS => {
                let returned = self.workshop.returned(*callee, self.depth + 1)?;
                let target = &self.workshop.program.functions[*callee];
                let mut given: SmallVec<[(RegisterId, TermId); 4]> = SmallVec::new();
                for (parameter, argument) in target.parameters.iter().zip(arguments) {
                    let fits =
                        target.registers[parameter.register].ty == self.workshop.program.type_of(self.function, argument.value);
                    if parameter.by_value.is_none() && argument.by_value.is_none() && fits {
                        given.push((parameter.register, self.operand(argument.value)));
                    }
                }
                let is_same_type = target.return_type == ty;
                let substituted = self.workshop.substitute(returned, &|register| {
                    given.iter().find(|(parameter, _)| *parameter == register).map(|(_, term)| *term)
                });
                substituted.filter(|_| is_same_type)
            }
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOp, flags: ArithmeticFlags, left: Operand, right: Operand, bits: u32) -> Option<TermId> {
        let (first, second) = (self.operand(left), self.operand(right));
        let table = &mut self.workshop.table;
        let is_exact = flags.no_signed_wrap || flags.no_unsigned_wrap;
        match op {
            BinaryOp::Add | BinaryOp::Subtract => {
                let (_, left_parts) = table.as_sum(first);
                let (_, right_parts) = table.as_sum(second);
                let sign = if op == BinaryOp::Add { 1 } else { u64::MAX };
                let sum = table.sum(bits, 0, &[(first, 1), (second, sign)]);
                // x + x may wrap where 2·x as a factor must not.
                let known = |term: &TermId| left_parts.iter().chain(&right_parts).filter(|part| part.0 == *term).count() > 1;
                let merges = table.as_sum(sum).1.iter().any(|(term, _)| known(term));
                (is_exact || !merges).then_some(sum)
            }
            BinaryOp::Multiply | BinaryOp::ShiftLeft => {
                let factor = match (op, table.as_integer(second)) {
                    (BinaryOp::Multiply, Some(factor)) => Some(factor),
                    (_, Some(shift)) if shift < u64::from(bits) => Some(1u64 << shift),
                    _ => None,
                };
                match factor {
                    Some(factor) if is_exact => Some(table.sum(bits, 0, &[(first, factor)])),
                    _ => Some(table.operation(Pure::Binary(op), bits, Operands::from_slice(&[first, second]))),
                }
            }
            BinaryOp::FloatAdd
            | BinaryOp::FloatSubtract
            | BinaryOp::FloatMultiply
            | BinaryOp::FloatDivide
            | BinaryOp::FloatRemainder => None,
            _ => Some(table.operation(Pure::Binary(op), bits, Operands::from_slice(&[first, second]))),
        }
    }

    fn cast(&mut self, kind: CastKind, value: Operand, ty: Type) -> Option<TermId> {
        let (from, to) = (self.bits_of(value)?, bits_of(self.workshop.program, ty)?);
        match kind {
            CastKind::SignExtend => self.extended(value, from, to, true),
            CastKind::ZeroExtend => self.extended(value, from, to, false),
            CastKind::Truncate => {
                let value = self.operand(value);
                Some(self.workshop.table.operation(Pure::Truncate, to, Operands::from_slice(&[value])))
            }
            CastKind::PointerToInteger | CastKind::IntegerToPointer => {
                let value = self.operand(value);
                let operation = if to < from { Pure::Truncate } else { Pure::ZeroExtend };
                Some(if to == from {
                    value
                } else {
                    self.workshop.table.operation(operation, to, Operands::from_slice(&[value]))
                })
            }
            CastKind::Bitcast if from == to => Some(self.operand(value)),
            _ => None,
        }
    }

    /// An index is sign-extended or truncated to the width of addresses.
    fn index(&mut self, index: Operand) -> Option<TermId> {
        let (from, to) = (self.bits_of(index)?, self.workshop.table.pointer_bits);
        if from < to {
            return self.extended(index, from, to, true);
        }
        let term = self.operand(index);
        Some(if from == to { term } else { self.workshop.table.operation(Pure::Truncate, to, Operands::from_slice(&[term])) })
    }

    /// The extension of a sum that does not wrap is the sum of the extensions.
    fn extended(&mut self, value: Operand, from: u32, to: u32, is_signed: bool) -> Option<TermId> {
        if let Some(Operation::Binary { op, flags, left, right }) = self.definition(value) {
            let does_not_wrap = if is_signed { flags.no_signed_wrap } else { flags.no_unsigned_wrap };
            if does_not_wrap && matches!(op, BinaryOp::Add | BinaryOp::Subtract) {
                let left = self.extended_term(*left, to, is_signed);
                let right = self.extended_term(*right, to, is_signed);
                let sign = if *op == BinaryOp::Add { 1 } else { u64::MAX };
                return Some(self.workshop.table.sum(to, 0, &[(left, 1), (right, sign)]));
            }
            let factor = self.operand(*right);
            if let (true, BinaryOp::Multiply, Some(factor)) = (does_not_wrap, op, self.workshop.table.as_integer(factor)) {
                let left = self.extended_term(*left, to, is_signed);
                let factor = if is_signed { super::pure::signed(from, factor) as u64 } else { factor };
                return Some(self.workshop.table.sum(to, 0, &[(left, factor)]));
            }
        }
        Some(self.extended_term(value, to, is_signed))
    }

    fn extended_term(&mut self, value: Operand, to: u32, is_signed: bool) -> TermId {
        let value = self.operand(value);
        let operation = if is_signed { Pure::SignExtend } else { Pure::ZeroExtend };
        self.workshop.table.operation(operation, to, Operands::from_slice(&[value]))
    }
}

/// The width of an integer of up to 64 bits or of an address.
pub(super) fn bits_of(program: &Program, ty: Type) -> Option<u32> {
    match ty {
        Type::Scalar(Scalar::Integer(bits)) if bits <= 64 => Some(bits),
        Type::POINTER => Some(program.layout.pointer_bits()),
        _ => None,
    }
}

pub(super) fn leaf_kind(ty: Type) -> LeafKind {
    match ty {
        Type::Scalar(Scalar::Integer(bits)) if bits <= 64 => LeafKind::Integer(bits),
        Type::POINTER => LeafKind::Pointer,
        _ => LeafKind::Other,
    }
}

/// The term of a constant.
pub(super) fn constant_term(program: &Program, id: crate::program::ConstantId) -> Term {
    match &program.constants[id] {
        Constant::Integer { bits, value } if *bits <= 64 => Term::Integer { bits: *bits, value: *value as u64 },
        Constant::Null => Term::Integer { bits: program.layout.pointer_bits(), value: 0 },
        Constant::Global(global) => Term::Global(*global),
        Constant::Function(function) => Term::Function(*function),
        _ => Term::Constant(id),
    }
}

/// Every block that can be reached, after those that dominate it.
pub(in crate::facts) fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    if !function.is_defined() {
        return Vec::new();
    }
    let mut seen = vec![false; function.blocks.len()];
    let mut order = Vec::with_capacity(function.blocks.len());
    let mut open = vec![(function.entry(), function.blocks[function.entry()].terminator.kind.successors(), 0)];
    seen[usize::from(function.entry())] = true;
    while let Some((block, successors, next)) = open.last_mut() {
        match successors.get(*next).copied() {
            Some(successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[usize::from(successor)], true) {
                    open.push((successor, function.blocks[successor].terminator.kind.successors(), 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
