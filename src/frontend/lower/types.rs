//! LLVM's types as a program's types.

use llvm_sys::LLVMTypeKind::*;
use rustc_hash::FxHashMap;

use super::llvm::{Layout, LlvmType};
use crate::program::{Scalar, Type};

/// Types that were asked for, with the module's layout.
pub struct Types {
    pub layout: Layout,
    known: FxHashMap<LlvmType, Option<Type>>,
}

impl Types {
    pub fn new(layout: Layout) -> Self {
        Self { layout, known: FxHashMap::default() }
    }

    /// `None` for what no C program holds in a register: tokens, metadata, scalable vectors, pointers into another address space.
    pub fn get(&mut self, ty: LlvmType) -> Option<Type> {
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let lowered = self.lower(ty);
        self.known.insert(ty, lowered);
        lowered
    }

    fn lower(&mut self, ty: LlvmType) -> Option<Type> {
        let scalar = match ty.kind() {
            LLVMVoidTypeKind => return Some(Type::Void),
            LLVMStructTypeKind | LLVMArrayTypeKind => {
                return (ty.is_sized() && self.holds_only_known(ty)).then(|| Type::Aggregate { size: self.layout.size(ty) });
            }
            LLVMVectorTypeKind => {
                return match self.get(ty.element()) {
                    Some(Type::Scalar(element)) => Some(Type::Vector { lanes: ty.lanes(), element }),
                    _ => None,
                };
            }
            LLVMIntegerTypeKind => Scalar::Integer(ty.integer_bits()),
            LLVMHalfTypeKind => Scalar::Half,
            LLVMBFloatTypeKind => Scalar::BFloat,
            LLVMFloatTypeKind => Scalar::Float,
            LLVMDoubleTypeKind => Scalar::Double,
            LLVMX86_FP80TypeKind => Scalar::X86Fp80,
            LLVMFP128TypeKind => Scalar::Fp128,
            LLVMPointerTypeKind if ty.address_space() == 0 => Scalar::Pointer,
            LLVMPointerTypeKind
            | LLVMPPC_FP128TypeKind
            | LLVMLabelTypeKind
            | LLVMFunctionTypeKind
            | LLVMMetadataTypeKind
            | LLVMTokenTypeKind
            | LLVMScalableVectorTypeKind
            | LLVMX86_AMXTypeKind
            | LLVMTargetExtTypeKind => return None,
        };
        Some(Type::Scalar(scalar))
    }

    fn holds_only_known(&mut self, ty: LlvmType) -> bool {
        match ty.kind() {
            LLVMArrayTypeKind => self.get(ty.element()).is_some(),
            _ => (0..ty.field_count()).all(|index| self.get(ty.field(index)).is_some()),
        }
    }

    /// The byte offset and type of the part of an aggregate type that a path of indices names.
    pub fn part(&self, aggregate: LlvmType, path: &[u32]) -> (u64, LlvmType) {
        path.iter().fold((0, aggregate), |(offset, ty), &index| match ty.kind() {
            LLVMStructTypeKind => (offset + self.layout.offset(ty, index), ty.field(index)),
            _ => (offset + u64::from(index) * self.layout.size(ty.element()), ty.element()),
        })
    }
}
