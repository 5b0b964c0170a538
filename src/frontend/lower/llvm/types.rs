//! Types and their layout in memory.

use std::ffi::{CStr, c_uint};

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMModuleRef, LLVMTypeRef};
use llvm_sys::target::*;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LlvmType(LLVMTypeRef);

impl LlvmType {
    pub(super) fn new(raw: LLVMTypeRef) -> Self {
        debug_assert!(!raw.is_null());
        Self(raw)
    }

    pub(super) fn raw(self) -> LLVMTypeRef {
        self.0
    }

    pub fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// Of an integer type.
    pub fn integer_bits(self) -> u32 {
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    /// Of a pointer type.
    pub fn address_space(self) -> u32 {
        unsafe { LLVMGetPointerAddressSpace(self.0) }
    }

    /// Of a vector or array type.
    pub fn element(self) -> LlvmType {
        LlvmType(unsafe { LLVMGetElementType(self.0) })
    }

    /// Of a vector type.
    pub fn lanes(self) -> u32 {
        unsafe { LLVMGetVectorSize(self.0) }
    }

    /// Of an array type.
    pub fn array_length(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    /// Of a struct type.
    pub fn field_count(self) -> u32 {
        unsafe { LLVMCountStructElementTypes(self.0) }
    }

    /// Of a struct type.
    pub fn field(self, index: u32) -> LlvmType {
        LlvmType(unsafe { LLVMStructGetTypeAtIndex(self.0, index) })
    }

    /// Of a struct type.
    pub fn name(self) -> Option<String> {
        let name = unsafe { LLVMGetStructName(self.0) };
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    pub fn is_sized(self) -> bool {
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    /// Of a function type.
    pub fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// Of a function type.
    pub fn return_type(self) -> LlvmType {
        LlvmType(unsafe { LLVMGetReturnType(self.0) })
    }

    /// Of a function type.
    pub fn parameters(self) -> Vec<LlvmType> {
        let count = unsafe { LLVMCountParamTypes(self.0) } as usize;
        let mut types: Vec<LLVMTypeRef> = vec![std::ptr::null_mut(); count];
        unsafe { LLVMGetParamTypes(self.0, types.as_mut_ptr()) };
        types.into_iter().map(LlvmType).collect()
    }
}

/// Sizes, offsets and alignments as the module's data layout says.
#[derive(Clone, Copy)]
pub struct Layout(LLVMTargetDataRef);

impl Layout {
    pub(super) fn of(module: LLVMModuleRef) -> Self {
        Self(unsafe { LLVMGetModuleDataLayout(module) })
    }

    pub fn is_little_endian(self) -> bool {
        unsafe { LLVMByteOrder(self.0) == LLVMByteOrdering::LLVMLittleEndian }
    }

    pub fn pointer_bytes(self) -> u32 {
        unsafe { LLVMPointerSize(self.0) }
    }

    /// The distance between two elements of an array of this type.
    pub fn size(self, ty: LlvmType) -> u64 {
        unsafe { LLVMABISizeOfType(self.0, ty.raw()) }
    }

    pub fn bits(self, ty: LlvmType) -> u64 {
        unsafe { LLVMSizeOfTypeInBits(self.0, ty.raw()) }
    }

    pub fn align(self, ty: LlvmType) -> u64 {
        u64::from(unsafe { LLVMABIAlignmentOfType(self.0, ty.raw()) })
    }

    /// Of a struct's field.
    pub fn offset(self, ty: LlvmType, field: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(self.0, ty.raw(), field as c_uint) }
    }
}
