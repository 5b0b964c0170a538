//! Valuations: what is known of some registers at a point, and what follows for others.
//!
//! # Definition   A valuation states of some registers that their latest value is a number, or is none of some numbers. It is small and
//!                ordered, so that states can be kept apart by it.
//! # Theorem      If all statements hold before an edge is taken and `assume` says that it can be, they hold after it, and `assume` says
//!                no only when no run takes the edge from such a state. `evaluate` gives a value only if every run has it.

use smallvec::SmallVec;

use super::branch::{Definition, Definitions, EdgeFacts, Knowledge, MOST_STEPS};
use super::pure::{Pure, wrap};
use crate::program::{BinaryOp, BlockId, CastKind, IntegerPredicate, Operand, Operation, Predicate, RegisterId};

#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Valuation {
    /// Ascending by register; mostly none.
    facts: SmallVec<[(RegisterId, Knowledge); 2]>,
}

/// As it would be derived, but that nothing is copied at once.
impl Clone for Valuation {
    fn clone(&self) -> Valuation {
        if self.is_empty() { Valuation::default() } else { Valuation { facts: self.facts.clone() } }
    }
}

impl Valuation {
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &(RegisterId, Knowledge)> {
        self.facts.iter()
    }

    pub fn knowledge(&self, register: RegisterId) -> Option<&Knowledge> {
        self.facts.binary_search_by_key(&register, |(known, _)| *known).ok().map(|at| &self.facts[at].1)
    }

    /// States one thing more; whether it can be.
    pub fn state(&mut self, register: RegisterId, knowledge: Knowledge) -> bool {
        match self.facts.binary_search_by_key(&register, |(known, _)| *known) {
            Ok(at) => match self.facts[at].1.and(&knowledge) {
                Some(both) => self.facts[at].1 = both,
                None => return false,
            },
            Err(at) => self.facts.insert(at, (register, knowledge)),
        }
        true
    }

    /// The register is executed again.
    pub fn forget(&mut self, register: RegisterId) {
        if let Ok(at) = self.facts.binary_search_by_key(&register, |(known, _)| *known) {
            self.facts.remove(at);
        }
    }

    pub fn retain(&mut self, mut keeps: impl FnMut(RegisterId) -> bool) {
        self.facts.retain(|(register, _)| keeps(*register));
    }

    /// What holds when the one or the other does.
    pub fn join(&self, other: &Valuation) -> Valuation {
        let both = self.facts.iter().filter_map(|(register, knowledge)| {
            let either = knowledge.or(other.knowledge(*register)?)?;
            Some((*register, either))
        });
        Valuation { facts: both.collect() }
    }

    /// The edge is taken: whether that can be. Phis of the next block are not looked at; see [`Valuation::enter`].
    pub fn assume(&mut self, definitions: &Definitions<'_>, from: BlockId, to: BlockId) -> bool {
        let facts = definitions.edge(from, to, &|operand| self.evaluate(definitions, operand));
        self.add(facts)
    }

    /// An operand that `block` uses is known in this way: whether that can be.
    pub fn learn(&mut self, definitions: &Definitions<'_>, block: BlockId, operand: Operand, knowledge: Knowledge) -> bool {
        let facts = definitions.consequences(block, operand, knowledge, &|operand| self.evaluate(definitions, operand));
        self.add(facts)
    }

    fn add(&mut self, facts: Option<EdgeFacts>) -> bool {
        facts.is_some_and(|facts| facts.into_iter().all(|(register, knowledge)| self.state(register, knowledge)))
    }

    /// The phis of a block are executed, all at once, on the way from a predecessor.
    pub fn enter(&mut self, definitions: &Definitions<'_>, from: BlockId, to: BlockId) {
        let block = &definitions.function.blocks[to];
        if block.phis.is_empty() {
            return;
        }
        let Some(way) = block.predecessors.iter().position(|predecessor| *predecessor == from) else { return };
        let taken: SmallVec<[(RegisterId, Option<Knowledge>); 4]> =
            block.phis.iter().map(|phi| (phi.result, self.known(definitions, phi.operands[way]))).collect();
        for (register, knowledge) in taken {
            self.forget(register);
            if let Some(knowledge) = knowledge {
                self.state(register, knowledge);
            }
        }
    }

    /// All that is known of an operand.
    pub fn known(&self, definitions: &Definitions<'_>, operand: Operand) -> Option<Knowledge> {
        if let Some(value) = self.evaluate(definitions, operand) {
            return Some(Knowledge::Equal(value));
        }
        match operand {
            Operand::Register(register) => self.knowledge(register).cloned(),
            Operand::Constant(_) => None,
        }
    }

    /// The value of an operand where it is used, if it follows.
    pub fn evaluate(&self, definitions: &Definitions<'_>, operand: Operand) -> Option<u64> {
        if self.facts.is_empty() && matches!(operand, Operand::Register(_)) {
            return None;
        }
        self.value(definitions, operand, MOST_STEPS)
    }

    fn value(&self, definitions: &Definitions<'_>, operand: Operand, steps: usize) -> Option<u64> {
        let register = match operand {
            Operand::Constant(_) => return definitions.constant(operand),
            Operand::Register(register) => register,
        };
        if let Some(Knowledge::Equal(value)) = self.knowledge(register) {
            return Some(*value);
        }
        let Definition::Instruction(_, operation) = definitions.of_register(register) else { return None };
        if steps == 0 {
            return None;
        }
        let value = |operand: Operand| self.value(definitions, operand, steps - 1);
        let bits = definitions.bits(operand)?;
        let pair = |operand: Operand| Some((definitions.bits(operand)?, value(operand)?));
        match operation {
            Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => match (pair(*left), pair(*right)) {
                (Some(left), Some(right)) => Pure::Compare(*predicate).evaluate(bits, &[left, right]),
                (None, Some((_, number))) => self.differs(definitions, *left, number, *predicate),
                (Some((_, number)), None) => self.differs(definitions, *right, number, *predicate),
                (None, None) => None,
            },
            Operation::Binary { op, left, right, .. } => match (op, value(*left), value(*right)) {
                (_, Some(left_value), Some(right_value)) => {
                    Pure::Binary(*op).evaluate(bits, &[(bits, left_value), (bits, right_value)])
                }
                (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => Some(0),
                (BinaryOp::Or, Some(all), _) | (BinaryOp::Or, _, Some(all)) if all == wrap(bits, u64::MAX) => Some(all),
                _ => None,
            },
            Operation::Cast { kind, value: inner } => {
                let operation = match kind {
                    CastKind::SignExtend => Pure::SignExtend,
                    CastKind::ZeroExtend => Pure::ZeroExtend,
                    CastKind::Truncate => Pure::Truncate,
                    CastKind::PointerToInteger | CastKind::IntegerToPointer | CastKind::Bitcast
                        if definitions.bits(*inner)? == bits =>
                    {
                        Pure::ZeroExtend
                    }
                    _ => return None,
                };
                operation.evaluate(bits, &[pair(*inner)?])
            }
            Operation::Select { condition, when_true, when_false } => match value(*condition) {
                Some(0) => value(*when_false),
                Some(_) => value(*when_true),
                None => {
                    let (left, right) = (value(*when_true)?, value(*when_false)?);
                    (left == right).then_some(left)
                }
            },
            _ => None,
        }
    }

    /// A comparison for equality with a number that the register does not have.
    fn differs(&self, definitions: &Definitions<'_>, operand: Operand, number: u64, predicate: IntegerPredicate) -> Option<u64> {
        let Operand::Register(register) = operand else { return None };
        let excluded = |knowledge: &Knowledge| !knowledge.allows(number);
        let differs = self.knowledge(register).is_some_and(excluded) || self.narrow_differs(definitions, register, number);
        match predicate {
            IntegerPredicate::Equal if differs => Some(0),
            IntegerPredicate::NotEqual if differs => Some(1),
            _ => None,
        }
    }

    /// An extended value differs where the narrow one does.
    fn narrow_differs(&self, definitions: &Definitions<'_>, register: RegisterId, number: u64) -> bool {
        let Definition::Instruction(_, Operation::Cast { kind: CastKind::ZeroExtend, value: Operand::Register(narrow) }) =
            definitions.of_register(register)
        else {
            return false;
        };
        let bits = definitions.bits(Operand::Register(*narrow)).unwrap_or(64);
        wrap(bits, number) != number || self.knowledge(*narrow).is_some_and(|knowledge| !knowledge.allows(number))
    }
}
