//! Initial values of globals: bytes, and addresses inside them.
//!
//! What neither can say (the distance of two labels, half of an address) is stored by a constructor that runs before all others.

use llvm_sys::LLVMOpcode::*;
use llvm_sys::LLVMTypeKind;
use llvm_sys::LLVMValueKind::*;

use super::Lowering;
use super::body::Body;
use super::constant::aggregate_length;
use super::llvm::Value;
use crate::program::{
    Access, AssumptionKind, Constant, Function, FunctionId, OffsetTarget, Operand, Operation, Relocation, RelocationTarget,
    Scope, Site, Terminator, TerminatorKind, Type,
};

/// The name of the constructor that computes what bytes cannot say.
const INITIALIZE: &str = "lockcheck.initialize";

#[derive(Default)]
pub struct Image {
    /// Up to the last byte that is not zero.
    pub bytes: Vec<u8>,
    pub relocations: Vec<Relocation>,
    pub pending: Vec<(u64, Value)>,
}

impl Image {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if used == 0 {
            return;
        }
        let start = usize::try_from(offset).expect("initial bytes are in memory");
        if self.bytes.len() < start + used {
            self.bytes.resize(start + used, 0);
        }
        self.bytes[start..start + used].copy_from_slice(&bytes[..used]);
    }
}

/// What a constant expression comes to.
#[derive(Clone, Copy, PartialEq)]
enum Folded {
    /// Modulo 2^64.
    Number(u64),
    Address(RelocationTarget, i64),
}

impl Lowering {
    pub(super) fn write_initializer(&mut self, image: &mut Image, value: Value, offset: u64) {
        match value.kind() {
            LLVMConstantAggregateZeroValueKind | LLVMConstantPointerNullValueKind => {}
            // Compilers emit zeros for what a static initialiser leaves open.
            LLVMUndefValueValueKind | LLVMPoisonValueKind => {}
            LLVMConstantDataArrayValueKind | LLVMConstantDataVectorValueKind => {
                image.write(offset, value.raw_data());
            }
            LLVMConstantArrayValueKind | LLVMConstantStructValueKind => {
                let ty = value.ty();
                for index in 0..aggregate_length(ty) {
                    let element = value.aggregate_element(index).expect("a constant aggregate has all its elements");
                    let (part, _) = self.types.part(ty, &[index]);
                    self.write_initializer(image, element, offset + part);
                }
            }
            LLVMConstantIntValueKind | LLVMConstantFPValueKind => self.write_number(image, value, offset),
            _ => self.write_computed(image, value, offset),
        }
    }

    fn write_number(&mut self, image: &mut Image, value: Value, offset: u64) {
        let Some(leaf) = self.leaf(value) else { return image.pending.push((offset, value)) };
        let constant = &self.program.constants[leaf];
        let size = self.program.layout.store_bytes(constant.type_of()) as usize;
        match constant {
            Constant::Integer { value, .. } | Constant::Float { bits: value, .. } => {
                image.write(offset, &value.to_le_bytes()[..size]);
            }
            Constant::WideInteger { words, .. } => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                image.write(offset, &bytes[..size]);
            }
            _ => image.pending.push((offset, value)),
        }
    }

    fn write_computed(&mut self, image: &mut Image, value: Value, offset: u64) {
        let size = self.types.get(value.ty()).map(|ty| self.program.layout.store_bytes(ty));
        let pointer_bytes = u64::from(self.program.layout.pointer_bytes);
        match (self.fold(value), size) {
            (Some(Folded::Number(number)), Some(size)) if size <= 8 => {
                image.write(offset, &number.to_le_bytes()[..size as usize])
            }
            (Some(Folded::Address(target, addend)), Some(size)) if size == pointer_bytes => {
                image.relocations.push(Relocation { offset, target, addend });
            }
            _ => image.pending.push((offset, value)),
        }
    }

    fn fold(&mut self, value: Value) -> Option<Folded> {
        let target = match value.kind() {
            LLVMConstantIntValueKind
                if value.ty().kind() == LLVMTypeKind::LLVMIntegerTypeKind && value.ty().integer_bits() <= 64 =>
            {
                return Some(Folded::Number(value.signed_value() as u64));
            }
            LLVMConstantPointerNullValueKind => return Some(Folded::Number(0)),
            LLVMGlobalAliasValueKind => return self.fold(value.aliasee()),
            LLVMConstantExprValueKind => return self.fold_expression(value),
            _ => match self.leaf(value).map(|leaf| &self.program.constants[leaf])? {
                Constant::Global(global) => RelocationTarget::Global(*global),
                Constant::Function(function) => RelocationTarget::Function(*function),
                Constant::Block(function, block) => RelocationTarget::Block(*function, *block),
                _ => return None,
            },
        };
        Some(Folded::Address(target, 0))
    }

    /// The number that a constant expression comes to, modulo 2^64.
    pub(super) fn fold_number(&mut self, expression: Value) -> Option<u64> {
        match self.fold_expression(expression)? {
            Folded::Number(number) => Some(number),
            Folded::Address(..) => None,
        }
    }

    fn fold_expression(&mut self, value: Value) -> Option<Folded> {
        match value.constant_opcode() {
            LLVMGetElementPtr => {
                let (constant, terms, _) = self.element_path(value);
                if !terms.is_empty() {
                    return None;
                }
                add(self.fold(value.operand(0))?, Folded::Number(constant as u64))
            }
            LLVMPtrToInt | LLVMPtrToAddr | LLVMIntToPtr | LLVMBitCast | LLVMTrunc => {
                let to = self.types.layout.bits(value.ty());
                let from = self.types.layout.bits(value.operand(0).ty());
                match self.fold(value.operand(0))? {
                    Folded::Number(number) if to >= from => Some(Folded::Number(number & low_bits(from))),
                    Folded::Number(number) => Some(Folded::Number(number & low_bits(to))),
                    address if to == from => Some(address),
                    Folded::Address(..) => None,
                }
            }
            LLVMAdd => add(self.fold(value.operand(0))?, self.fold(value.operand(1))?),
            LLVMSub => match (self.fold(value.operand(0))?, self.fold(value.operand(1))?) {
                (left, Folded::Number(number)) => add(left, Folded::Number(number.wrapping_neg())),
                (Folded::Address(left, start), Folded::Address(right, end)) if left == right => {
                    Some(Folded::Number(start.wrapping_sub(end) as u64))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The constructor that stores the pending parts, if there are any.
    pub(super) fn lower_pending_initializers(&mut self) -> Option<FunctionId> {
        let pending = std::mem::take(&mut self.pending);
        let (thread_local, pending): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|part| self.program.globals[part.global].is_thread_local);
        for part in thread_local {
            // Every thread has its own copy, and no code of ours runs when one is made.
            let what = format!("initial value of {}: {}", self.program.globals[part.global].source_name, part.value.text());
            self.assume(AssumptionKind::UnknownInstruction, what, None);
        }
        if pending.is_empty() {
            return None;
        }
        let id = self.program.functions.push_and_get_key(Function {
            name: INITIALIZE.to_owned(),
            source_name: INITIALIZE.to_owned(),
            parameters: Vec::new(),
            is_variadic: false,
            return_type: Type::Void,
            registers: Default::default(),
            blocks: Default::default(),
            bindings: Vec::new(),
            debug_type: None,
            file: None,
            line: 0,
        });
        let site = self.program.sites.push_and_get_key(Site { function: id, index: 0, location: None });
        let mut body = Body::new(self, id);
        body.site = site;
        for part in pending {
            let value = body.operand(part.value);
            let global = body.lowering.intern(Constant::Global(part.global));
            let operation = Operation::Offset {
                base: Operand::Constant(global),
                constant: part.offset as i64,
                terms: Vec::new(),
                in_bounds: true,
                structure: None,
                target: OffsetTarget::Member,
            };
            let address = body.emit(Type::POINTER, operation);
            let access = Access { ordering: None, scope: Scope::System, is_volatile: false, align: 1, alias: None };
            body.perform(Operation::Store { address, value, access });
        }
        body.finish_block(Terminator { site, kind: TerminatorKind::Return(None) });
        body.finish();
        Some(id)
    }
}

fn low_bits(bits: u64) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn add(left: Folded, right: Folded) -> Option<Folded> {
    match (left, right) {
        (Folded::Number(left), Folded::Number(right)) => Some(Folded::Number(left.wrapping_add(right))),
        (Folded::Address(target, addend), Folded::Number(number)) | (Folded::Number(number), Folded::Address(target, addend)) => {
            Some(Folded::Address(target, addend.wrapping_add(number as i64)))
        }
        (Folded::Address(..), Folded::Address(..)) => None,
    }
}
