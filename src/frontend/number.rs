//! Sites: every instruction gets its number before any pass runs, and keeps it as metadata through all of them.
//!
//! The number is the position in the function, counted over all blocks in order; it does not depend on what else is linked.
//! What a pass creates has no number; lowering lets it inherit that of a neighbour.

use std::ffi::c_uint;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};

use super::walk;

/// Lowering reads this kind of metadata back: one node `!{i32 index}` an instruction.
pub const METADATA_NAME: &str = "lockcheck.site";

/// Numbers all instructions of a module.
pub fn number(module: &Module<'_>) {
    // SAFETY: module and context are alive for the length of the call, and values come from walking that module.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let mut marks = Marks::new(context);
        for function in walk::functions(module) {
            for (index, instruction) in walk::blocks(function).flat_map(walk::instructions).enumerate() {
                LLVMSetMetadata(instruction, marks.kind, marks.node(index));
            }
        }
    }
}

/// The metadata nodes `!{i32 0}`, `!{i32 1}`, …, shared by all functions.
struct Marks {
    context: LLVMContextRef,
    kind: c_uint,
    nodes: Vec<LLVMValueRef>,
}

impl Marks {
    unsafe fn new(context: LLVMContextRef) -> Marks {
        let name = METADATA_NAME;
        let kind = unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as c_uint) };
        Marks { context, kind, nodes: Vec::new() }
    }

    fn node(&mut self, index: usize) -> LLVMValueRef {
        while self.nodes.len() <= index {
            // SAFETY: plain construction of constants and nodes in a live context.
            unsafe {
                let integer = LLVMConstInt(LLVMInt32TypeInContext(self.context), self.nodes.len() as u64, 0);
                let mut operand: LLVMMetadataRef = LLVMValueAsMetadata(integer);
                let node = LLVMMDNodeInContext2(self.context, &mut operand, 1);
                self.nodes.push(LLVMMetadataAsValue(self.context, node));
            }
        }
        self.nodes[index]
    }
}
