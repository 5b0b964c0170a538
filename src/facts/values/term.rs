//! The table of terms: each symbolic value has one number, sums are in normal form.
//!
//! # Definition   A term is a number, an address of the program, a leaf (the value of a register), a sum `constant + Σ cₖ·tₖ` modulo 2ᵇ, or a pure
//!                operation on terms. In a sum each tₖ stands once, no cₖ is 0, and no tₖ is a sum of the same width.
//! # Theorem      Terms with equal numbers have equal values whenever their leaves have. (Every rewriting here is an identity of arithmetic modulo 2ᵇ.)

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::pure::{Pure, signed, wrap};
use crate::program::{BinaryOp, ConstantId, FunctionId, GlobalId, RegisterId};

/// A number in the table of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub(super) u32);

impl TermId {
    pub fn number(self) -> u32 {
        self.0
    }

    /// The inverse of [`TermId::number`].
    pub fn from_number(number: u32) -> TermId {
        TermId(number)
    }
}

/// What a leaf's register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafKind {
    Pointer,
    /// Of up to 64 bits.
    Integer(u32),
    Other,
}

pub(super) type Parts = SmallVec<[(TermId, u64); 2]>;
pub(super) type Operands = SmallVec<[TermId; 2]>;
/// Ascending.
pub type Leaves = SmallVec<[RegisterId; 4]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Integer {
        bits: u32,
        value: u64,
    },
    Global(GlobalId),
    Function(FunctionId),
    /// Any other constant: equal to itself.
    Constant(ConstantId),
    Leaf {
        register: RegisterId,
        kind: LeafKind,
    },
    Sum {
        bits: u32,
        constant: u64,
        parts: Parts,
    },
    Operation {
        operation: Pure,
        bits: u32,
        operands: Operands,
    },
    /// Of shapes: the address of the accessed object, and the numbers of the cell that is accessed (`relative`).
    Object,
    Coordinate(u8),
}

/// More leaves than this make a register a leaf of its own.
pub(super) const MOST_LEAVES: usize = 6;
/// More nodes than this likewise.
pub(super) const MOST_NODES: u32 = 40;

#[derive(Clone, Debug)]
struct Facts {
    bits: u32,
    nodes: u32,
    leaves: Leaves,
}

#[derive(Debug)]
pub(super) struct Table {
    terms: IndexSet<Term, FxBuildHasher>,
    facts: Vec<Facts>,
    pub pointer_bits: u32,
}

impl Table {
    pub fn new(pointer_bits: u32) -> Table {
        Table { terms: IndexSet::default(), facts: Vec::new(), pointer_bits }
    }

    pub fn get(&self, term: TermId) -> &Term {
        &self.terms[term.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// 0 for what is neither a number of up to 64 bits nor an address.
    pub fn bits(&self, term: TermId) -> u32 {
        self.facts[term.0 as usize].bits
    }

    pub fn leaves(&self, term: TermId) -> &Leaves {
        &self.facts[term.0 as usize].leaves
    }

    pub fn is_small(&self, term: TermId) -> bool {
        let facts = &self.facts[term.0 as usize];
        facts.leaves.len() <= MOST_LEAVES && facts.nodes <= MOST_NODES
    }

    pub fn intern(&mut self, term: Term) -> TermId {
        if let Some(number) = self.terms.get_index_of(&term) {
            return TermId(number as u32);
        }
        let mut leaves = Leaves::new();
        let mut nodes = 1u32;
        let mut inside = |table: &Table, part: TermId| {
            let facts = &table.facts[part.0 as usize];
            nodes = nodes.saturating_add(facts.nodes);
            leaves.extend(facts.leaves.iter().copied());
        };
        let bits = match &term {
            Term::Integer { bits, .. } => *bits,
            Term::Global(_) | Term::Function(_) | Term::Object => self.pointer_bits,
            Term::Coordinate(_) => self.pointer_bits,
            Term::Constant(_) => 0,
            Term::Leaf { register, kind } => {
                leaves.push(*register);
                match kind {
                    LeafKind::Pointer => self.pointer_bits,
                    LeafKind::Integer(bits) => *bits,
                    LeafKind::Other => 0,
                }
            }
            Term::Sum { bits, parts, .. } => {
                parts.iter().for_each(|(part, _)| inside(self, *part));
                *bits
            }
            Term::Operation { bits, operands, .. } => {
                operands.iter().for_each(|operand| inside(self, *operand));
                *bits
            }
        };
        leaves.sort_unstable();
        leaves.dedup();
        let (number, _) = self.terms.insert_full(term);
        self.facts.push(Facts { bits, nodes, leaves });
        TermId(number as u32)
    }

    pub fn integer(&mut self, bits: u32, value: u64) -> TermId {
        self.intern(Term::Integer { bits, value: wrap(bits, value) })
    }

    pub fn as_integer(&self, term: TermId) -> Option<u64> {
        match self.get(term) {
            Term::Integer { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// A term as a sum: its constant and its parts.
    pub fn as_sum(&self, term: TermId) -> (u64, Parts) {
        match self.get(term) {
            Term::Integer { value, .. } => (*value, Parts::new()),
            Term::Sum { constant, parts, .. } => (*constant, parts.clone()),
            _ => (0, Parts::from_slice(&[(term, 1)])),
        }
    }

    /// `constant + Σ cₖ·tₖ` for parts that may be sums, numbers, and stand several times.
    pub fn sum(&mut self, bits: u32, constant: u64, added: &[(TermId, u64)]) -> TermId {
        let mut constant = constant;
        let mut parts = Parts::new();
        for (part, factor) in added {
            let (inner, inner_parts) = self.as_sum(*part);
            constant = constant.wrapping_add(inner.wrapping_mul(*factor));
            for (term, coefficient) in inner_parts {
                let scaled = wrap(bits, coefficient.wrapping_mul(*factor));
                match parts.binary_search_by_key(&term, |(known, _)| *known) {
                    Ok(at) => parts[at].1 = wrap(bits, parts[at].1.wrapping_add(scaled)),
                    Err(at) => parts.insert(at, (term, scaled)),
                }
            }
        }
        parts.retain(|(_, coefficient)| *coefficient != 0);
        let constant = wrap(bits, constant);
        match parts.as_slice() {
            [] => self.integer(bits, constant),
            [(term, 1)] if constant == 0 => *term,
            _ => self.intern(Term::Sum { bits, constant, parts }),
        }
    }

    pub fn plus(&mut self, term: TermId, by: i64) -> TermId {
        let bits = self.bits(term);
        self.sum(bits, by as u64, &[(term, 1)])
    }

    pub fn operation(&mut self, operation: Pure, bits: u32, mut operands: Operands) -> TermId {
        let numbers: Option<SmallVec<[(u32, u64); 3]>> =
            operands.iter().map(|operand| Some((self.bits(*operand), self.as_integer(*operand)?))).collect();
        if let Some(value) = numbers.and_then(|numbers| operation.evaluate(bits, &numbers)) {
            return self.integer(bits, value);
        }
        match (operation, operands.as_slice()) {
            (Pure::Truncate, [value]) => return self.truncated(*value, bits),
            (Pure::ZeroExtend | Pure::SignExtend, [value]) if self.bits(*value) == bits => return *value,
            (Pure::Binary(BinaryOp::Add), [left, right]) => return self.sum(bits, 0, &[(*left, 1), (*right, 1)]),
            (Pure::Binary(BinaryOp::Subtract), [left, right]) => return self.sum(bits, 0, &[(*left, 1), (*right, u64::MAX)]),
            _ => {}
        }
        if operation.is_commutative() {
            operands.sort_unstable();
        }
        self.intern(Term::Operation { operation, bits, operands })
    }

    /// The low bits: those of a sum are the sum of its parts' low bits, those of an extended value lie in the value.
    fn truncated(&mut self, term: TermId, bits: u32) -> TermId {
        match self.get(term).clone() {
            _ if self.bits(term) == bits => term,
            Term::Sum { constant, parts, .. } => {
                let parts: Parts = parts.iter().map(|(part, factor)| (self.truncated(*part, bits), *factor)).collect();
                self.sum(bits, constant, &parts)
            }
            Term::Operation {
                operation: operation @ (Pure::ZeroExtend | Pure::SignExtend | Pure::Truncate), operands, ..
            } => {
                let inner = operands[0];
                match self.bits(inner).cmp(&bits) {
                    std::cmp::Ordering::Less => self.operation(operation, bits, operands),
                    std::cmp::Ordering::Equal => inner,
                    std::cmp::Ordering::Greater => self.truncated(inner, bits),
                }
            }
            Term::Integer { value, .. } => self.integer(bits, value),
            _ => self.intern(Term::Operation { operation: Pure::Truncate, bits, operands: Operands::from_slice(&[term]) }),
        }
    }

    /// `left − right` when it is a number.
    pub fn difference(&mut self, left: TermId, right: TermId) -> Option<i64> {
        let bits = self.bits(left);
        if bits == 0 || bits != self.bits(right) {
            return (left == right).then_some(0);
        }
        let difference = self.sum(bits, 0, &[(left, 1), (right, u64::MAX)]);
        self.as_integer(difference).map(|value| signed(bits, value))
    }

    /// Rebuilds a term bottom-up. `replace` is asked for every node, from the outside in; a leaf it does not answer for ends the attempt.
    pub fn rewrite(&mut self, term: TermId, replace: &mut dyn FnMut(&mut Table, TermId) -> Option<TermId>) -> Option<TermId> {
        if let Some(new) = replace(self, term) {
            return (self.bits(new) == self.bits(term)).then_some(new);
        }
        match self.get(term).clone() {
            Term::Leaf { .. } => None,
            Term::Sum { bits, constant, parts } => {
                let mut new = Parts::new();
                for (part, factor) in parts {
                    new.push((self.rewrite(part, replace)?, factor));
                }
                Some(self.sum(bits, constant, &new))
            }
            Term::Operation { operation, bits, operands } => {
                let mut new = Operands::new();
                for operand in operands {
                    new.push(self.rewrite(operand, replace)?);
                }
                Some(self.operation(operation, bits, new))
            }
            Term::Integer { .. }
            | Term::Global(_)
            | Term::Function(_)
            | Term::Constant(_)
            | Term::Object
            | Term::Coordinate(_) => Some(term),
        }
    }
}
