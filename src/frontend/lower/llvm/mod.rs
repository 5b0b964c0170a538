//! LLVM's C interface, as much of it as lowering reads: handles with methods, so that `unsafe` stays in this folder.
//!
//! A handle is a pointer into a module that [`super::lower`] borrows for its whole run, so it never dangles. Methods that LLVM
//! defines for some kinds of values only say so; calling them on others is a bug of ours.

mod metadata;
mod types;
mod value;

pub use metadata::{DebugRecord, Metadata};
pub use types::{Layout, LlvmType};
pub use value::{BasicBlock, Value};

use std::ffi::{CStr, c_char, c_uint};

use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};

/// The module that is lowered.
#[derive(Clone, Copy)]
pub struct ModuleHandle {
    raw: LLVMModuleRef,
    context: LLVMContextRef,
}

impl ModuleHandle {
    pub fn new(module: &inkwell::module::Module<'_>) -> Self {
        let raw = module.as_mut_ptr();
        Self { raw, context: unsafe { LLVMGetModuleContext(raw) } }
    }

    pub fn triple(self) -> String {
        unsafe { from_c_string(LLVMGetTarget(self.raw)) }
    }

    pub fn identifier(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMGetModuleIdentifier(self.raw, &mut length), length) }
    }

    /// Assembly outside all functions.
    pub fn inline_assembly(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMGetModuleInlineAsm(self.raw, &mut length), length) }
    }

    pub fn layout(self) -> Layout {
        Layout::of(self.raw)
    }

    pub fn functions(self) -> impl Iterator<Item = Value> {
        chain(unsafe { LLVMGetFirstFunction(self.raw) }, |value| unsafe { LLVMGetNextFunction(value) })
    }

    pub fn globals(self) -> impl Iterator<Item = Value> {
        chain(unsafe { LLVMGetFirstGlobal(self.raw) }, |value| unsafe { LLVMGetNextGlobal(value) })
    }

    pub fn indirect_functions(self) -> impl Iterator<Item = Value> {
        chain(unsafe { LLVMGetFirstGlobalIFunc(self.raw) }, |value| unsafe { LLVMGetNextGlobalIFunc(value) })
    }

    pub fn integer_type(self, bits: u32) -> LlvmType {
        LlvmType::new(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }

    pub fn metadata_kind(self, name: &str) -> c_uint {
        unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as c_uint) }
    }

    /// The node `!DIExpression()`: there is one in a context.
    pub fn empty_debug_expression(self) -> Metadata {
        use llvm_sys::debuginfo::*;
        unsafe {
            let builder = LLVMCreateDIBuilder(self.raw);
            let expression = LLVMDIBuilderCreateExpression(builder, std::ptr::null_mut(), 0);
            LLVMDisposeDIBuilder(builder);
            Metadata::new(self.context, expression).expect("LLVM makes an empty expression")
        }
    }

    pub fn metadata(self, raw: llvm_sys::prelude::LLVMMetadataRef) -> Option<Metadata> {
        Metadata::new(self.context, raw)
    }
}

/// The number by which LLVM knows an attribute such as `byval`.
pub fn attribute_kind(name: &str) -> c_uint {
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

fn chain(
    first: llvm_sys::prelude::LLVMValueRef,
    next: impl Fn(llvm_sys::prelude::LLVMValueRef) -> llvm_sys::prelude::LLVMValueRef,
) -> impl Iterator<Item = Value> {
    std::iter::successors(Value::new(first), move |value| Value::new(next(value.raw())))
}

unsafe fn from_c_string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe fn from_parts(text: *const c_char, length: usize) -> String {
    if text.is_null() || length == 0 {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Takes over a string that LLVM allocated.
unsafe fn from_message(text: *mut c_char) -> String {
    unsafe {
        let owned = from_c_string(text);
        LLVMDisposeMessage(text);
        owned
    }
}
