//! Was this bitcode optimised? Then accesses of the source, and races with them, may be gone.
//!
//! Debug information does not tell: its flag is set as well by `-O1` without passes. Two signs do:
//! 1. clang itself gives every parameter a stack slot and stores it there; `mem2reg` or `sroa` remove the store.
//! 2. clang itself declares variables by their stack slot; a variable that is bound to a value was promoted by a pass.
//!
//! # Misses   optimised code whose functions have neither parameters nor debug information.

use std::ffi::c_uint;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMDbgRecordKind, LLVMOpcode};

use super::walk;

/// Asked before anything of ours runs.
pub fn is_optimised(module: &Module<'_>) -> bool {
    walk::functions(module)
        .filter(|&function| walk::blocks(function).next().is_some())
        .any(|function| binds_a_variable_to_a_value(function) || keeps_a_parameter_in_a_register(function))
}

fn binds_a_variable_to_a_value(function: LLVMValueRef) -> bool {
    walk::blocks(function).flat_map(walk::instructions).any(|instruction| {
        // SAFETY: records are followed inside a live module.
        unsafe {
            let mut record = LLVMGetFirstDbgRecord(instruction);
            while !record.is_null() {
                if LLVMDbgRecordGetKind(record) == LLVMDbgRecordKind::LLVMDbgRecordValue {
                    return true;
                }
                record = LLVMGetNextDbgRecord(record);
            }
            false
        }
    })
}

fn keeps_a_parameter_in_a_register(function: LLVMValueRef) -> bool {
    if has_attribute(function, LLVMAttributeFunctionIndex, "naked") {
        return false;
    }
    // SAFETY: parameters are asked of a live function by an index below their number.
    unsafe {
        (0..LLVMCountParams(function)).any(|index| {
            let is_memory = ["byval", "sret", "inalloca"].iter().any(|name| has_attribute(function, index + 1, name));
            !is_memory && !is_stored(LLVMGetParam(function, index))
        })
    }
}

fn is_stored(parameter: LLVMValueRef) -> bool {
    // SAFETY: uses are followed inside a live module; a store has two operands.
    unsafe {
        let mut using = LLVMGetFirstUse(parameter);
        while !using.is_null() {
            let user = LLVMGetUser(using);
            let is_store = !LLVMIsAInstruction(user).is_null() && LLVMGetInstructionOpcode(user) == LLVMOpcode::LLVMStore;
            if is_store && LLVMGetOperand(user, 0) == parameter && is_stack_slot(LLVMGetOperand(user, 1)) {
                return true;
            }
            // Narrow integers are widened by the calling convention and shortened before they are stored.
            let is_cast = !LLVMIsACastInst(user).is_null();
            if is_cast && is_stored(user) {
                return true;
            }
            using = LLVMGetNextUse(using);
        }
        false
    }
}

/// A stack object, or a part of one: structs are passed in pieces.
fn is_stack_slot(mut pointer: LLVMValueRef) -> bool {
    // SAFETY: the first operand of a cast or an element address is what it is made from.
    unsafe {
        while !LLVMIsAGetElementPtrInst(pointer).is_null() || !LLVMIsACastInst(pointer).is_null() {
            pointer = LLVMGetOperand(pointer, 0);
        }
        !LLVMIsAAllocaInst(pointer).is_null()
    }
}

fn has_attribute(function: LLVMValueRef, index: c_uint, name: &str) -> bool {
    // SAFETY: the kind is one that LLVM knows.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        !LLVMGetEnumAttributeAtIndex(function, index, kind).is_null()
    }
}
