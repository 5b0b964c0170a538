//! Parts of aggregates: address arithmetic, `extractvalue`, `insertvalue`. All in bytes, by the module's layout.

use llvm_sys::LLVMTypeKind;

use super::Lowering;
use super::body::Body;
use super::llvm::Value;
use crate::program::{Constant, OffsetTarget, OffsetTerm, Operand, Operation, Type};

impl Lowering {
    /// What the indices of a GEP add to its base: a constant, and the indices that are not constant with their strides and, inside
    /// structs, the number of elements. And what they address: of arrays in arrays the outermost counts, which programs walk through as one.
    pub(super) fn element_path(&mut self, gep: Value) -> (i64, Vec<(Value, i64, Option<u64>)>, OffsetTarget) {
        let layout = self.types.layout;
        let mut constant: i64 = 0;
        let mut terms = Vec::new();
        let mut ty = gep.source_element_type();
        let mut place = place_of(gep.operand(0));
        let mut target = OffsetTarget::Moved;
        for position in 1..gep.operand_count() {
            let index = gep.operand(position);
            let number = constant_index(index).or_else(|| self.folded_index(index));
            if position > 1 && ty.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let field = u32::try_from(number.expect("a field is named by a constant")).expect("a field has a small number");
                constant = constant.wrapping_add(layout.offset(ty, field) as i64);
                place = if field + 1 < ty.field_count() { Place::Followed } else { Place::Last };
                ty = ty.field(field);
                target = OffsetTarget::Member;
                continue;
            }
            // An array of one element may stand for one of any length.
            let is_array = position > 1 && ty.kind() == LLVMTypeKind::LLVMArrayTypeKind;
            let count = (is_array && place == Place::Followed).then(|| ty.array_length()).filter(|count| *count > 1);
            let whole =
                if count.is_some() { u32::try_from(layout.size(ty)).unwrap_or(OffsetTarget::OPEN) } else { OffsetTarget::OPEN };
            if position > 1 {
                ty = ty.element();
            }
            let stride = layout.size(ty) as i64;
            if let Some(element) = u32::try_from(stride).ok().filter(|stride| *stride > 0 && is_array && place != Place::Alone) {
                target = match (target, number.unwrap_or(0).checked_mul(stride)) {
                    (OffsetTarget::Moved | OffsetTarget::Member, Some(moved)) => array_around(0, whole, moved, element),
                    (OffsetTarget::Array { before, after, .. }, Some(moved)) => array_around(before, after, moved, element),
                    (_, None) => OffsetTarget::Member,
                };
            }
            match number {
                Some(number) => constant = constant.wrapping_add(number.wrapping_mul(stride)),
                None if stride == 0 => {}
                None => terms.push((index, stride, count)),
            }
        }
        (constant, terms, target)
    }

    /// An index that is a constant expression and comes to a number, as in `(char *)p - (size_t)&((struct s *)0)->member`.
    fn folded_index(&mut self, index: Value) -> Option<i64> {
        let leaf = self.leaf(index)?;
        match self.program.constants[leaf] {
            Constant::Integer { bits, value } if bits <= 64 => Some(((value as u64) << (64 - bits)) as i64 >> (64 - bits)),
            _ => None,
        }
    }
}

/// An array of which so many bytes lie before and behind a place, seen from a place so many bytes further on.
fn array_around(before: u32, after: u32, moved: i64, element: u32) -> OffsetTarget {
    let is_open = after == OffsetTarget::OPEN;
    let before = i64::from(before).checked_add(moved).and_then(|before| u32::try_from(before).ok());
    let left = i64::from(after).checked_sub(moved).and_then(|after| u32::try_from(after).ok());
    match (before, if is_open { Some(after) } else { left }) {
        (Some(before), Some(after)) => OffsetTarget::Array { before, after, element },
        // Beyond the array: not for this rule to say where.
        _ => OffsetTarget::Member,
    }
}

/// Where something lies that a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In no struct, as far as is known.
    Alone,
    /// It is a member of a struct, or lies in an array that is one, and other members follow.
    Followed,
    /// The same, and it is the last member: it may go on beyond its type, as in programs that allocate more than a struct.
    Last,
}

fn place_of(mut pointer: Value) -> Place {
    let mut place = Place::Alone;
    // Arrays of arrays: one step for each subscript.
    const MOST_SUBSCRIPTS: usize = 8;
    for _ in 0..MOST_SUBSCRIPTS {
        if !pointer.is_element_pointer() {
            return place;
        }
        let mut answer = None;
        let mut ty = pointer.source_element_type();
        for position in 2..pointer.operand_count() {
            if ty.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let field = constant_index(pointer.operand(position)).and_then(|field| u32::try_from(field).ok());
                let field = field.expect("a field is named by a small constant");
                answer = Some(field + 1 < ty.field_count());
                ty = ty.field(field);
            } else {
                ty = ty.element();
            }
        }
        match answer {
            Some(true) => return Place::Followed,
            Some(false) => place = Place::Last,
            None => {}
        }
        // What is last in its struct may stand in a struct that goes on.
        if constant_index(pointer.operand(1)) != Some(0) {
            return place;
        }
        pointer = pointer.operand(0);
    }
    place
}

/// The number that a GEP's index is, also as a vector of equal numbers.
fn constant_index(index: Value) -> Option<i64> {
    if index.ty().kind() == LLVMTypeKind::LLVMVectorTypeKind {
        use llvm_sys::LLVMValueKind::*;
        return match index.kind() {
            LLVMConstantAggregateZeroValueKind => Some(0),
            LLVMConstantDataVectorValueKind | LLVMConstantVectorValueKind => {
                let first = constant_index(index.aggregate_element(0)?)?;
                let lanes = 1..index.ty().lanes();
                lanes
                    .map(|lane| constant_index(index.aggregate_element(lane)?))
                    .all(|number| number == Some(first))
                    .then_some(first)
            }
            _ => None,
        };
    }
    if !index.is_integer_constant() {
        return None;
    }
    if index.ty().integer_bits() <= 64 {
        return Some(index.signed_value());
    }
    // Truncated to pointer width, as the machine would.
    let digits = index.text();
    digits.rsplit(' ').next()?.parse::<i128>().ok().map(|number| number as i64)
}

impl Body<'_> {
    pub(super) fn offset(&mut self, gep: Value) -> Operation {
        let in_bounds = gep.is_in_bounds();
        let (constant, indices, target) = self.lowering.element_path(gep);
        let mut base = self.operand(gep.operand(0));
        let mut terms: Vec<OffsetTerm> =
            indices.into_iter().map(|(index, stride, count)| OffsetTerm { index: self.operand(index), stride, count }).collect();
        if let Some(Type::Vector { lanes, .. }) = self.value_type(gep) {
            base = self.splat(base, lanes);
            for term in &mut terms {
                term.index = self.splat(term.index, lanes);
            }
        }
        let structure = self.lowering.structure_of(gep);
        Operation::Offset { base, constant, terms, in_bounds, structure, target }
    }

    /// A scalar in every lane; a vector as it is.
    pub(super) fn splat(&mut self, operand: Operand, lanes: u32) -> Operand {
        let Type::Scalar(element) = self.type_of(operand) else { return operand };
        if let Operand::Constant(constant) = operand {
            return self.constant(Constant::Vector { element, lanes: vec![constant; lanes as usize] });
        }
        let ty = Type::Vector { lanes, element };
        let vector = self.constant(Constant::Poison(ty));
        let lane = self.integer(32, 0);
        let single = self.emit(ty, Operation::InsertLane { vector, value: operand, lane });
        self.emit(ty, Operation::Shuffle { left: single, right: vector, mask: vec![Some(0); lanes as usize] })
    }

    pub(super) fn extract_value(&mut self, instruction: Value) {
        let whole = instruction.operand(0);
        let (offset, _) = self.lowering.types.part(whole.ty(), instruction.indices());
        let aggregate = self.operand(whole);
        self.define(instruction, Operation::ExtractBytes { aggregate, offset });
    }

    pub(super) fn insert_value(&mut self, instruction: Value) {
        let whole = instruction.operand(0);
        let (offset, _) = self.lowering.types.part(whole.ty(), instruction.indices());
        let aggregate = self.operand(whole);
        let value = self.operand(instruction.operand(1));
        self.define(instruction, Operation::InsertBytes { aggregate, offset, value });
    }
}
