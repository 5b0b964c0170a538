//! Branch facts: what taking an edge says about registers.
//!
//! # Definition   The edges of a branch say that its condition is 1 or 0, those of a switch that the value is a case or none of the others.
//!                Such knowledge goes back through definitions whose operand it determines: comparisons with a number, extensions,
//!                truncations, exclusive or, sums with a number, `and`, `or`, `select`, and a phi of the branch's own block of
//!                which only one operand fits.
//! # Theorem      When a run takes the edge, every register stated has, at that moment, the stated value or not (see the theorem of `values`:
//!                the operands of a register that is used have not been executed again since).
//! # Deviations   No ranges: of `x < 7` only `x ≠ 7`, and that x is not 0 where 0 is out of the range, are kept.

use smallvec::SmallVec;

use super::build::bits_of;
use super::pure::{compare, wrap};
use crate::program::{
    BinaryOp, BlockId, CastKind, Constant, Function, FunctionId, IntegerPredicate, Operand, Operation, Phi, Predicate, Program,
    RegisterId, TerminatorKind,
};

/// How many values that a register does not have are kept.
const MOST_EXCLUDED: usize = 4;
/// How far back definitions are looked at.
pub(super) const MOST_STEPS: usize = 8;

/// What is known of a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knowledge {
    Equal(u64),
    /// None of these, ascending; not empty.
    NotEqual(SmallVec<[u64; 2]>),
}

impl Knowledge {
    pub fn not_equal(value: u64) -> Knowledge {
        Knowledge::NotEqual(SmallVec::from_slice(&[value]))
    }

    pub fn allows(&self, value: u64) -> bool {
        match self {
            Knowledge::Equal(known) => *known == value,
            Knowledge::NotEqual(excluded) => !excluded.contains(&value),
        }
    }

    /// Both; `None` when that cannot be.
    pub fn and(&self, other: &Knowledge) -> Option<Knowledge> {
        match (self, other) {
            (Knowledge::Equal(value), other) | (other, Knowledge::Equal(value)) => {
                other.allows(*value).then_some(Knowledge::Equal(*value))
            }
            (Knowledge::NotEqual(left), Knowledge::NotEqual(right)) => {
                let mut all = left.clone();
                all.extend(right.iter().copied());
                Some(Knowledge::excluding(all))
            }
        }
    }

    /// The one or the other; `None` when that says nothing.
    pub fn or(&self, other: &Knowledge) -> Option<Knowledge> {
        match (self, other) {
            (Knowledge::Equal(left), Knowledge::Equal(right)) if left == right => Some(self.clone()),
            (Knowledge::Equal(_), Knowledge::Equal(_)) => None,
            (Knowledge::NotEqual(excluded), other) | (other, Knowledge::NotEqual(excluded)) => {
                let kept: SmallVec<[u64; 2]> = excluded.iter().copied().filter(|value| !other.allows(*value)).collect();
                (!kept.is_empty()).then_some(Knowledge::NotEqual(kept))
            }
        }
    }

    /// Small values first: 0 and 1 are what programs test for.
    fn excluding(mut values: SmallVec<[u64; 2]>) -> Knowledge {
        values.sort_unstable();
        values.dedup();
        values.truncate(MOST_EXCLUDED);
        Knowledge::NotEqual(values)
    }

    /// Of a number of one bit, what it is not says what it is.
    fn of_width(self, bits: u32) -> Knowledge {
        match &self {
            Knowledge::NotEqual(excluded) if bits == 1 => Knowledge::Equal(u64::from(excluded.as_slice() == [0])),
            _ => self,
        }
    }
}

/// What an edge says, in the order it was found: of some registers twice.
pub type EdgeFacts = SmallVec<[(RegisterId, Knowledge); 4]>;

pub(super) enum Definition<'p> {
    /// A parameter.
    Given,
    Instruction(BlockId, &'p Operation),
    Phi(BlockId, &'p Phi),
}

/// The definitions of a function's registers.
pub struct Definitions<'p> {
    pub(super) program: &'p Program,
    pub(super) function: &'p Function,
    by_register: Vec<Definition<'p>>,
}

impl<'p> Definitions<'p> {
    pub fn of(program: &'p Program, id: FunctionId) -> Definitions<'p> {
        let function = &program.functions[id];
        let mut by_register: Vec<Definition<'p>> = function.registers.iter().map(|_| Definition::Given).collect();
        for (block_id, block) in function.blocks.iter_enumerated() {
            block.phis.iter().for_each(|phi| by_register[usize::from(phi.result)] = Definition::Phi(block_id, phi));
            for instruction in &block.instructions {
                if let Some(result) = instruction.result {
                    by_register[usize::from(result)] = Definition::Instruction(block_id, &instruction.operation);
                }
            }
        }
        Definitions { program, function, by_register }
    }

    pub(super) fn of_register(&self, register: RegisterId) -> &Definition<'p> {
        &self.by_register[usize::from(register)]
    }

    pub(super) fn bits(&self, operand: Operand) -> Option<u32> {
        bits_of(self.program, self.program.type_of(self.function, operand))
    }

    pub(super) fn constant(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Constant(constant) => match &self.program.constants[constant] {
                Constant::Integer { bits, value } if *bits <= 64 => Some(*value as u64),
                Constant::Null => Some(0),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    /// What the edge from one block to another says; `None` when it can never be taken. `known` gives the values of registers.
    pub fn edge(&self, from: BlockId, to: BlockId, known: &dyn Fn(Operand) -> Option<u64>) -> Option<EdgeFacts> {
        let mut search = Search { definitions: self, block: from, known, facts: EdgeFacts::new() };
        let is_feasible = match &self.function.blocks[from].terminator.kind {
            TerminatorKind::Branch { condition, when_true, when_false } if when_true != when_false => {
                search.learn(*condition, Knowledge::Equal(u64::from(to == *when_true)), MOST_STEPS)
            }
            TerminatorKind::Switch { value, cases, default } => {
                let number = |constant| self.constant(Operand::Constant(constant));
                let here: Vec<u64> =
                    cases.iter().filter(|(_, target)| *target == to).filter_map(|(case, _)| number(*case)).collect();
                let elsewhere = cases.iter().filter(|(_, target)| *target != to).filter_map(|(case, _)| number(*case));
                let elsewhere: SmallVec<[u64; 2]> = elsewhere.collect();
                match here.as_slice() {
                    [case] if *default != to => search.learn(*value, Knowledge::Equal(*case), MOST_STEPS),
                    _ if elsewhere.is_empty() => true,
                    _ => search.learn(*value, Knowledge::excluding(elsewhere), MOST_STEPS),
                }
            }
            TerminatorKind::Branch { .. }
            | TerminatorKind::Return(_)
            | TerminatorKind::Jump(_)
            | TerminatorKind::IndirectJump { .. }
            | TerminatorKind::AnyOf(_)
            | TerminatorKind::Unreachable => true,
        };
        is_feasible.then_some(search.facts)
    }

    /// What it says that an operand is known in this way, where `block` uses it.
    pub fn consequences(
        &self,
        block: BlockId,
        operand: Operand,
        knowledge: Knowledge,
        known: &dyn Fn(Operand) -> Option<u64>,
    ) -> Option<EdgeFacts> {
        let mut search = Search { definitions: self, block, known, facts: EdgeFacts::new() };
        search.learn(operand, knowledge, MOST_STEPS).then_some(search.facts)
    }
}

struct Search<'a, 'p> {
    definitions: &'a Definitions<'p>,
    block: BlockId,
    known: &'a dyn Fn(Operand) -> Option<u64>,
    facts: EdgeFacts,
}

impl Search<'_, '_> {
    /// Whether it can be.
    fn learn(&mut self, operand: Operand, knowledge: Knowledge, steps: usize) -> bool {
        let Some(bits) = self.definitions.bits(operand) else { return true };
        let register = match operand {
            Operand::Register(register) => register,
            Operand::Constant(_) => return self.definitions.constant(operand).is_none_or(|value| knowledge.allows(value)),
        };
        let knowledge = knowledge.of_width(bits);
        if (self.known)(operand).is_some_and(|value| !knowledge.allows(value)) {
            return false;
        }
        self.facts.push((register, knowledge.clone()));
        if steps == 0 {
            return true;
        }
        match self.definitions.of_register(register) {
            Definition::Given => true,
            Definition::Phi(block, phi) => *block != self.block || self.learn_phi(phi, &knowledge, steps - 1),
            Definition::Instruction(_, operation) => self.learn_operation(operation, &knowledge, bits, steps - 1),
        }
    }

    /// Of a phi in the branch's own block: the operand that was taken is one that fits.
    fn learn_phi(&mut self, phi: &Phi, knowledge: &Knowledge, steps: usize) -> bool {
        let fits = |operand: &&Operand| self.definitions.constant(**operand).is_none_or(|value| knowledge.allows(value));
        let mut fitting = phi.operands.iter().filter(fits);
        let Some(first) = fitting.next().copied() else { return false };
        if fitting.any(|other| *other != first) {
            return true;
        }
        // One that this block has executed again since is another value.
        let is_older = match first {
            Operand::Constant(_) => false,
            Operand::Register(register) => match self.definitions.of_register(register) {
                Definition::Given => true,
                Definition::Instruction(block, _) | Definition::Phi(block, _) => *block != self.block,
            },
        };
        !is_older || self.learn(first, knowledge.clone(), steps)
    }

    fn learn_operation(&mut self, operation: &Operation, knowledge: &Knowledge, bits: u32, steps: usize) -> bool {
        match operation {
            Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => {
                let Knowledge::Equal(truth) = knowledge else { return true };
                let holding = if *truth == 1 { *predicate } else { negated(*predicate) };
                self.learn_relation(holding, *left, *right, steps) && self.learn_relation(mirrored(holding), *right, *left, steps)
            }
            Operation::Cast { kind, value } => self.learn_cast(*kind, *value, knowledge, bits, steps),
            Operation::Binary { op, left, right, .. } => self.learn_binary(*op, *left, *right, knowledge, bits, steps),
            Operation::Select { condition, when_true, when_false } => {
                let fits = |operand: Operand| self.value(operand).is_none_or(|value| knowledge.allows(value));
                match (fits(*when_true), fits(*when_false)) {
                    (true, true) => true,
                    (false, false) => false,
                    (true, false) => {
                        self.learn(*condition, Knowledge::Equal(1), steps) && self.learn(*when_true, knowledge.clone(), steps)
                    }
                    (false, true) => {
                        self.learn(*condition, Knowledge::Equal(0), steps) && self.learn(*when_false, knowledge.clone(), steps)
                    }
                }
            }
            _ => true,
        }
    }

    fn value(&self, operand: Operand) -> Option<u64> {
        self.definitions.constant(operand).or_else(|| (self.known)(operand))
    }

    /// `left` stands in this relation to `right`.
    fn learn_relation(&mut self, predicate: IntegerPredicate, left: Operand, right: Operand, steps: usize) -> bool {
        let (Some(number), Some(bits)) = (self.value(right), self.definitions.bits(left)) else { return true };
        let holds = |value: u64| compare(predicate, bits, value, number);
        let knowledge = match predicate {
            IntegerPredicate::Equal => Knowledge::Equal(number),
            IntegerPredicate::UnsignedLess if number == 0 => return false,
            // Only 0 is below 1.
            IntegerPredicate::UnsignedLess if number == 1 => Knowledge::Equal(0),
            IntegerPredicate::UnsignedLessEqual if number == 0 => Knowledge::Equal(0),
            _ => {
                let excluded: SmallVec<[u64; 2]> = [0, number].into_iter().filter(|value| !holds(*value)).collect();
                if excluded.is_empty() {
                    return true;
                }
                Knowledge::excluding(excluded)
            }
        };
        self.learn(left, knowledge, steps)
    }

    fn learn_cast(&mut self, kind: CastKind, value: Operand, knowledge: &Knowledge, bits: u32, steps: usize) -> bool {
        let Some(from) = self.definitions.bits(value) else { return true };
        let extend = |narrow: u64| match kind {
            CastKind::SignExtend => wrap(bits, super::pure::signed(from, narrow) as u64),
            _ => narrow,
        };
        let is_same = from == bits && matches!(kind, CastKind::PointerToInteger | CastKind::IntegerToPointer | CastKind::Bitcast);
        match kind {
            _ if is_same => self.learn(value, knowledge.clone(), steps),
            CastKind::ZeroExtend | CastKind::SignExtend => match knowledge {
                Knowledge::Equal(wide) if extend(wrap(from, *wide)) == *wide => {
                    self.learn(value, Knowledge::Equal(wrap(from, *wide)), steps)
                }
                // No narrow value extends to it.
                Knowledge::Equal(_) => false,
                Knowledge::NotEqual(excluded) => {
                    let narrow = excluded.iter().copied().filter(|wide| extend(wrap(from, *wide)) == *wide);
                    let narrow: SmallVec<[u64; 2]> = narrow.map(|wide| wrap(from, wide)).collect();
                    narrow.is_empty() || self.learn(value, Knowledge::excluding(narrow), steps)
                }
            },
            CastKind::Truncate => match knowledge {
                Knowledge::Equal(0) => true,
                Knowledge::Equal(_) => self.learn(value, Knowledge::not_equal(0), steps),
                Knowledge::NotEqual(excluded) => self.learn(value, Knowledge::NotEqual(excluded.clone()), steps),
            },
            _ => true,
        }
    }

    fn learn_binary(
        &mut self,
        op: BinaryOp,
        left: Operand,
        right: Operand,
        knowledge: &Knowledge,
        bits: u32,
        steps: usize,
    ) -> bool {
        let is_not_zero = !knowledge.allows(0);
        match op {
            BinaryOp::And if bits == 1 && is_not_zero => {
                self.learn(left, Knowledge::Equal(1), steps) && self.learn(right, Knowledge::Equal(1), steps)
            }
            BinaryOp::And if is_not_zero => {
                self.learn(left, Knowledge::not_equal(0), steps) && self.learn(right, Knowledge::not_equal(0), steps)
            }
            BinaryOp::Or if *knowledge == Knowledge::Equal(0) => {
                self.learn(left, Knowledge::Equal(0), steps) && self.learn(right, Knowledge::Equal(0), steps)
            }
            BinaryOp::Xor | BinaryOp::Add | BinaryOp::Subtract => {
                let Some(number) = self.value(right) else { return true };
                let before = |value: u64| match op {
                    BinaryOp::Xor => value ^ number,
                    BinaryOp::Add => wrap(bits, value.wrapping_sub(number)),
                    _ => wrap(bits, value.wrapping_add(number)),
                };
                let earlier = match knowledge {
                    Knowledge::Equal(value) => Knowledge::Equal(before(*value)),
                    Knowledge::NotEqual(excluded) => Knowledge::excluding(excluded.iter().map(|value| before(*value)).collect()),
                };
                self.learn(left, earlier, steps)
            }
            _ => true,
        }
    }
}

fn negated(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        Equal => NotEqual,
        NotEqual => Equal,
        UnsignedGreater => UnsignedLessEqual,
        UnsignedGreaterEqual => UnsignedLess,
        UnsignedLess => UnsignedGreaterEqual,
        UnsignedLessEqual => UnsignedGreater,
        SignedGreater => SignedLessEqual,
        SignedGreaterEqual => SignedLess,
        SignedLess => SignedGreaterEqual,
        SignedLessEqual => SignedGreater,
    }
}

fn mirrored(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        Equal => Equal,
        NotEqual => NotEqual,
        UnsignedGreater => UnsignedLess,
        UnsignedGreaterEqual => UnsignedLessEqual,
        UnsignedLess => UnsignedGreater,
        UnsignedLessEqual => UnsignedGreaterEqual,
        SignedGreater => SignedLess,
        SignedGreaterEqual => SignedLessEqual,
        SignedLess => SignedGreater,
        SignedLessEqual => SignedGreaterEqual,
    }
}
