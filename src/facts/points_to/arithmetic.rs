//! Addresses in numbers: which arithmetic keeps one, which leaves a residue.
//!
//! # Definition   A residue is a mark on a number that was computed from addresses so that none of them is at hand, but one might be computed
//!                back (a difference, a half, a hash, a byte). Used as an address, it stands for every address that left a residue.
//! # Theorem      A number that has a residue gets nothing more from what else it is computed from, but for keys (`library`): that a residue of it was left is noted once for each
//!                node, and not for each number computed from it.
//! # Deviations   1. When a residue is used as an address, all addresses that left one count as escaped, and it as `Unknown`: sets stay
//!                small.  2. That is done while few objects have left one (`RESIDUE_OBJECTS`). Beyond, numbers of all kinds look like
//!                residues, and nothing is known if each is every address: it is none, and the program rests on the assumption `computed-address`.
//!                3. An address that was printed as text and read back is lost.

use std::collections::BTreeSet;

use super::constraint::{Constraint, LowBits};
use super::form::Form;
use super::generate::Body;
use super::graph::NodeId;
use super::location::Class;
use super::object::AbstractObjectId;
use super::set::LocationSet;
use super::solve::{RESIDUE, Solver, UNKNOWN};
use crate::program::{BinaryOp, CastKind, Intrinsic, Operand, Operation, ReadModifyWriteOp, RegisterId};

/// Objects whose addresses left residues beyond which a residue is no address any more.
const RESIDUE_OBJECTS: usize = 8;

/// Bits of an address below this are flags that programs keep in aligned pointers.
const FLAG_BITS: u64 = 1 << 12;

impl<'p> Solver<'p> {
    pub fn binary(&mut self, body: &Body<'p>, op: BinaryOp, left: Operand, right: Operand, result: Option<RegisterId>) {
        let Some((to, width)) = self.result(body, result) else { return };
        if width < self.pointer_bytes.into() {
            return self.computed(body, &[left, right], result);
        }
        let walks = result.is_some_and(|register| body.walks[usize::from(register)]);
        match (op, self.signed_number(left), self.signed_number(right)) {
            (BinaryOp::Add, _, Some(number)) => self.shift(body, left, number, walks, to),
            (BinaryOp::Add, Some(number), _) => self.shift(body, right, number, walks, to),
            (BinaryOp::Subtract, _, Some(number)) => self.shift(body, left, number.wrapping_neg(), walks, to),
            (BinaryOp::Add, ..) => self.kept(body, &[left, right], to),
            (BinaryOp::Subtract, ..) => {
                let is_difference =
                    matches!(body.definition(right), Some(Operation::Cast { kind: CastKind::PointerToInteger, .. }));
                if is_difference {
                    self.computed(body, &[left, right], result);
                } else {
                    self.kept(body, &[left], to);
                    self.computed(body, &[right], result);
                }
            }
            (BinaryOp::And, Some(number), _) => self.masked(body, right, number as u64, to, result),
            (BinaryOp::And, _, Some(number)) => self.masked(body, left, number as u64, to, result),
            (BinaryOp::Or, _, Some(number)) if (number as u64) < FLAG_BITS => {
                self.low_bits(body, left, LowBits::Set, number as u64, to)
            }
            (BinaryOp::Xor, _, Some(number)) if (number as u64) < FLAG_BITS => {
                self.low_bits(body, left, LowBits::Flip, number as u64, to)
            }
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, ..) => self.kept(body, &[left, right], to),
            (
                BinaryOp::Multiply
                | BinaryOp::UnsignedDivide
                | BinaryOp::SignedDivide
                | BinaryOp::UnsignedRemainder
                | BinaryOp::SignedRemainder
                | BinaryOp::ShiftLeft
                | BinaryOp::LogicalShiftRight
                | BinaryOp::ArithmeticShiftRight
                | BinaryOp::FloatAdd
                | BinaryOp::FloatSubtract
                | BinaryOp::FloatMultiply
                | BinaryOp::FloatDivide
                | BinaryOp::FloatRemainder,
                ..,
            ) => self.computed(body, &[left, right], result),
        }
    }

    /// The result is computed from the operands; no address is in it as it is.
    pub fn computed(&mut self, body: &Body<'p>, operands: &[Operand], result: Option<RegisterId>) {
        let Some((to, _)) = self.result(body, result) else { return };
        for operand in operands {
            if let Some(operand) = self.operand(body, *operand) {
                self.add_number(operand, to);
            }
        }
    }

    /// The result may be any of the operands, moved inside its object.
    fn kept(&mut self, body: &Body<'p>, operands: &[Operand], to: NodeId) {
        for operand in operands {
            if let Some(operand) = self.operand(body, *operand) {
                self.attach(operand, Constraint::anywhere(to));
            }
        }
    }

    fn shift(&mut self, body: &Body<'p>, operand: Operand, constant: i64, walks: bool, to: NodeId) {
        if let Some(operand) = self.operand(body, operand) {
            let stride = if walks { constant.unsigned_abs() } else { 0 };
            self.attach(operand, Constraint::shift(to, constant, stride, false));
        }
    }

    fn masked(&mut self, body: &Body<'p>, operand: Operand, mask: u64, to: NodeId, result: Option<RegisterId>) {
        let cleared = !mask & (u64::MAX >> (64 - self.pointer_bytes * 8));
        if cleared < FLAG_BITS {
            self.low_bits(body, operand, LowBits::Clear, cleared, to);
        } else if mask < FLAG_BITS {
            self.computed(body, &[operand], result);
        } else {
            self.kept(body, &[operand], to);
        }
    }

    fn low_bits(&mut self, body: &Body<'p>, operand: Operand, operation: LowBits, bits: u64, to: NodeId) {
        if let Some(operand) = self.operand(body, operand) {
            self.attach(operand, Constraint::LowBits { to, operation, bits });
        }
    }

    /// A constant of at most 64 bits, sign-extended.
    fn signed_number(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Constant(constant) => match self.program.constants[constant] {
                crate::program::Constant::Integer { bits, value } if bits <= 64 && bits > 0 => {
                    Some(((value as u64) << (64 - bits)) as i64 >> (64 - bits))
                }
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    pub fn cast(&mut self, body: &Body<'p>, kind: CastKind, value: Operand, result: Option<RegisterId>) {
        match kind {
            CastKind::Truncate
            | CastKind::ZeroExtend
            | CastKind::SignExtend
            | CastKind::PointerToInteger
            | CastKind::IntegerToPointer
            | CastKind::Bitcast => self.flow(body, value, result),
            CastKind::FloatTruncate
            | CastKind::FloatExtend
            | CastKind::FloatToUnsigned
            | CastKind::FloatToSigned
            | CastKind::UnsignedToFloat
            | CastKind::SignedToFloat => self.computed(body, &[value], result),
        }
    }

    pub fn intrinsic(&mut self, body: &Body<'p>, intrinsic: Intrinsic, arguments: &[Operand], result: Option<RegisterId>) {
        let Some((to, _)) = self.result(body, result) else { return };
        match intrinsic {
            Intrinsic::SignedMax | Intrinsic::SignedMin | Intrinsic::UnsignedMax | Intrinsic::UnsignedMin => {
                arguments.iter().for_each(|argument| self.flow(body, *argument, result));
            }
            Intrinsic::PointerMask => match (arguments, arguments.get(1).and_then(|mask| self.signed_number(*mask))) {
                ([pointer, ..], Some(mask)) => self.masked(body, *pointer, mask as u64, to, result),
                _ => self.kept(body, arguments, to),
            },
            Intrinsic::SignedAddOverflow
            | Intrinsic::UnsignedAddOverflow
            | Intrinsic::SignedSubtractOverflow
            | Intrinsic::UnsignedSubtractOverflow
            | Intrinsic::SaturatingSignedAdd
            | Intrinsic::SaturatingUnsignedAdd
            | Intrinsic::SaturatingSignedSubtract
            | Intrinsic::SaturatingUnsignedSubtract => {
                self.kept(body, arguments, to);
                self.computed(body, arguments, result);
            }
            // Numbers about an address, not of it.
            Intrinsic::ObjectSize | Intrinsic::IsConstant => {}
            // All others compute a number from numbers.
            _ => self.computed(body, arguments, result),
        }
    }

    pub fn read_modify_write(
        &mut self,
        body: &Body<'p>,
        op: ReadModifyWriteOp,
        address: Operand,
        value: Operand,
        result: Option<RegisterId>,
    ) {
        let width = self.bytes_of(body, value);
        self.load(body, address, result, Form::of(width));
        let (Some(address), value) = (self.operand(body, address), self.operand(body, value)) else { return };
        if op == ReadModifyWriteOp::Exchange {
            return self.store(Some(address), value, width);
        }
        self.update(address, value, width);
    }

    /// `*address` becomes a number computed from itself and `value`.
    pub fn update(&mut self, address: NodeId, value: Option<NodeId>, width: u32) {
        let (old, new) = (self.graph.node(), self.graph.node());
        self.attach(address, Constraint::Load { to: old, form: Form::of(width) });
        for operand in [Some(old), value].into_iter().flatten() {
            if width < self.pointer_bytes {
                self.add_number(operand, new);
            } else {
                self.attach(operand, Constraint::anywhere(new));
            }
        }
        self.store(Some(address), Some(new), width);
    }

    /// Whether there was something to do: numbers computed from addresses are used as addresses, and few objects can be meant.
    pub fn take_residues_for_addresses(&mut self) -> bool {
        if self.residues_are_addresses {
            return false;
        }
        let mut objects: BTreeSet<AbstractObjectId> = BTreeSet::new();
        for location in self.graph.set(self.residue_sources).iter() {
            objects.insert(self.locations.get(location).0);
            if objects.len() > RESIDUE_OBJECTS {
                break;
            }
        }
        self.residues_are_addresses = objects.len() <= RESIDUE_OBJECTS;
        if !self.residues_are_addresses || self.used_residues.is_empty() {
            return false;
        }
        self.graph.add_edge(self.residue_sources, self.escaped);
        for node in std::mem::take(&mut self.used_residues) {
            self.graph.add_location(node, UNKNOWN);
        }
        true
    }

    /// A number computed from addresses is used as an address: it may be any of those that such numbers were computed from, which is as
    /// if they had escaped.
    pub fn expand_residue(&mut self, node: NodeId, delta: &LocationSet) {
        if !delta.contains(RESIDUE) {
            return;
        }
        if self.residues_are_addresses {
            self.graph.add_edge(self.residue_sources, self.escaped);
            self.graph.add_location(node, UNKNOWN);
        } else {
            self.used_residues.push(node);
        }
    }

    /// `to` is a number computed from the node.
    pub fn add_number(&mut self, node: NodeId, to: NodeId) {
        // More than the mark a number never gets, unless there are keys: one that has it stands for all that have.
        let is_marked = !self.creates_keys && self.graph.set(to).contains(RESIDUE);
        let is_new = if is_marked { self.graph.add_marked(node, self.marked) } else { self.graph.add_number(node, to) };
        let to = if is_marked { self.marked } else { to };
        if is_new {
            let node = self.graph.find(node);
            let set = &self.graph.sets[node.0 as usize];
            if !set.is_empty() {
                let set = set.clone();
                self.leave_residue(node, &[to], &set);
            }
        }
    }

    /// What a node has gained leaves a residue in the numbers computed from it.
    pub fn leave_residues(&mut self, node: NodeId, delta: &LocationSet) {
        let at = node.0 as usize;
        if self.graph.numbers[at].is_empty() {
            return;
        }
        let numbers = std::mem::take(&mut self.graph.numbers[at]);
        self.leave_residue(node, &numbers, delta);
        // Nothing above adds any.
        self.graph.numbers[at] = numbers;
    }

    fn leave_residue(&mut self, node: NodeId, numbers: &[NodeId], gained: &LocationSet) {
        // Keys are small numbers: whole in every width.
        let keys = self.keys.common(gained);
        if !keys.is_empty() {
            numbers.iter().for_each(|to| self.graph.add_set(*to, &keys));
        }
        if gained.len() == keys.len() {
            return;
        }
        if gained.len() > keys.len() + usize::from(gained.contains(RESIDUE)) {
            self.attach(node, Constraint::anywhere(self.residue_sources));
        }
        numbers.iter().for_each(|to| self.graph.add_location(*to, RESIDUE));
    }

    pub fn with_low_bits(&mut self, location: u32, operation: LowBits, bits: u64) -> Option<u32> {
        if location == UNKNOWN || location == RESIDUE {
            return Some(location);
        }
        let (object, class) = self.locations.get(location);
        // What the bits of the offset are is known only when the object begins at a multiple of a higher power of two.
        let reach = (bits + 1).next_power_of_two();
        let is_aligned = self.objects[object.index()].align.is_multiple_of(reach)
            && class.stride.is_multiple_of(reach)
            && u64::from(class.step).is_multiple_of(reach);
        let residue = match operation {
            LowBits::Clear => class.residue & !bits,
            LowBits::Set => class.residue | bits,
            LowBits::Flip => class.residue ^ bits,
        };
        let class = if is_aligned { Class { residue, ..class } } else { Class::ANY };
        self.locate(object, class, false)
    }
}
