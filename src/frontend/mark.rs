//! Names of structures, kept from the linker: each element pointer of a file gets the name of the structure that it addresses as metadata.
//!
//! LLVM's linker makes one of types that look alike, whatever their names. Of a file that a compiler made the names are those of the source; a module that was linked before
//! describes several files in its debug information, and is left as it is. So is one without types of accesses, which is compiled with `-fno-strict-aliasing`: there
//! a structure may be used as another one.

use std::ffi::c_uint;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use rustc_hash::FxHashMap;

use super::walk;

/// Lowering reads this kind of metadata back: one node `!{!"struct.NAME"}` an element pointer.
pub const METADATA_NAME: &str = "lockcheck.structure";

/// Marks the element pointers of a module that was not linked yet.
pub fn mark(module: &Module<'_>) {
    if module.get_global_metadata_size("llvm.dbg.cu") != 1 {
        return;
    }
    // SAFETY: module and context are alive for the length of the call, and values come from walking that module.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let instructions = || walk::functions(module).flat_map(walk::blocks).flat_map(walk::instructions);
        let types_of_accesses = kind(context, "tbaa");
        if !instructions().any(|instruction| !LLVMGetMetadata(instruction, types_of_accesses).is_null()) {
            return;
        }
        let names = kind(context, METADATA_NAME);
        let mut nodes: FxHashMap<LLVMTypeRef, LLVMValueRef> = FxHashMap::default();
        for pointer in instructions().filter(|value| LLVMGetInstructionOpcode(*value) == LLVMOpcode::LLVMGetElementPtr) {
            let ty = LLVMGetGEPSourceElementType(pointer);
            let has_name = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind && !LLVMGetStructName(ty).is_null();
            if has_name && LLVMGetMetadata(pointer, names).is_null() {
                LLVMSetMetadata(pointer, names, *nodes.entry(ty).or_insert_with(|| node(context, ty)));
            }
        }
    }
}

unsafe fn kind(context: LLVMContextRef, name: &str) -> c_uint {
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as c_uint) }
}

unsafe fn node(context: LLVMContextRef, structure: LLVMTypeRef) -> LLVMValueRef {
    unsafe {
        let name = std::ffi::CStr::from_ptr(LLVMGetStructName(structure)).to_bytes();
        let mut operand = LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len());
        LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &mut operand, 1))
    }
}
