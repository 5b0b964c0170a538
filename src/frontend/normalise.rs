//! Normalisation: the pipeline of `passes/normalise.pipeline`, after what a compiler put there to forbid passes is removed.
//!
//! Why each pass keeps every site is argued in `passes/README.md`.

use std::ffi::{CStr, CString};

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::transforms::pass_builder::{LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};

use super::walk;

const PIPELINE: &str = include_str!("../../passes/normalise.pipeline");

/// Runs the pipeline. The text is part of this program: that LLVM rejects it is our own bug.
pub fn normalise(module: &Module<'_>) {
    let pipeline = CString::new(PIPELINE.trim()).expect("the pipeline has no zero byte");
    // SAFETY: the module is alive; without a target machine LLVM uses the module's own layout.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let failure = LLVMRunPasses(module.as_mut_ptr(), pipeline.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if !failure.is_null() {
            let message = LLVMGetErrorMessage(failure);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            panic!("LLVM runs every pass of the normalising pipeline, but: {text}");
        }
    }
}

/// `clang -O0` marks functions so that every pass succeeds and does nothing.
pub fn allow_passes(module: &Module<'_>) {
    const FUNCTION: LLVMAttributeIndex = LLVMAttributeFunctionIndex;
    for name in ["optnone", "noinline"] {
        // SAFETY: the name is one that LLVM knows; removing an absent attribute does nothing.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            for function in walk::functions(module) {
                LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, kind);
            }
        }
    }
}

#[cfg(test)]
mod tests;
