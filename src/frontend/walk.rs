//! Iteration over a module by handles: functions, blocks, instructions, globals, in the order of the file.

use std::iter::successors;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};

fn present<T>(handle: *mut T) -> Option<*mut T> {
    (!handle.is_null()).then_some(handle)
}

/// All functions, declared ones included.
pub fn functions(module: &Module<'_>) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: handles are followed inside a live module.
    successors(present(unsafe { LLVMGetFirstFunction(module.as_mut_ptr()) }), |&f| present(unsafe { LLVMGetNextFunction(f) }))
}

pub fn globals(module: &Module<'_>) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as above.
    successors(present(unsafe { LLVMGetFirstGlobal(module.as_mut_ptr()) }), |&g| present(unsafe { LLVMGetNextGlobal(g) }))
}

pub fn aliases(module: &Module<'_>) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as above.
    let first = unsafe { LLVMGetFirstGlobalAlias(module.as_mut_ptr()) };
    successors(present(first), |&a| present(unsafe { LLVMGetNextGlobalAlias(a) }))
}

pub fn blocks(function: LLVMValueRef) -> impl Iterator<Item = LLVMBasicBlockRef> {
    // SAFETY: as above.
    successors(present(unsafe { LLVMGetFirstBasicBlock(function) }), |&b| present(unsafe { LLVMGetNextBasicBlock(b) }))
}

pub fn instructions(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as above.
    successors(present(unsafe { LLVMGetFirstInstruction(block) }), |&i| present(unsafe { LLVMGetNextInstruction(i) }))
}

pub fn name(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the name lives as long as the value; it is copied.
    unsafe {
        let start = LLVMGetValueName2(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), length)).into_owned()
    }
}
