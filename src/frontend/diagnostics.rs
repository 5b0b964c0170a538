//! What LLVM says while it works: collected, so that nothing is lost and nothing is printed raw.
//!
//! Without a handler of its own a context prints errors and ends the process.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};

use inkwell::context::{AsContextRef, Context};
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::{LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity};
use llvm_sys::prelude::LLVMDiagnosticInfoRef;

/// A context whose messages are kept.
pub struct Session {
    // invariant: dropped before `errors`, which its handler writes to.
    context: Context,
    errors: Box<RefCell<Vec<String>>>,
}

impl Session {
    pub fn new() -> Session {
        super::read::silence_readers();
        let context = Context::create();
        let errors = Box::new(RefCell::new(Vec::new()));
        let place: *const RefCell<Vec<String>> = &*errors;
        // SAFETY: the box does not move its content and outlives the context.
        unsafe { LLVMContextSetDiagnosticHandler((&context).as_ctx_ref(), Some(keep), place as *mut c_void) };
        Session { context, errors }
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The first error since the last call, in one line.
    pub fn take_error(&self) -> Option<String> {
        let errors = std::mem::take(&mut *self.errors.borrow_mut());
        errors.into_iter().next()
    }
}

extern "C" fn keep(info: LLVMDiagnosticInfoRef, place: *mut c_void) {
    // SAFETY: LLVM passes a valid message, and the place that `Session::new` gave it.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) != LLVMDiagnosticSeverity::LLVMDSError {
            return;
        }
        let errors = &*(place as *const RefCell<Vec<String>>);
        errors.borrow_mut().push(take_message(LLVMGetDiagInfoDescription(info)));
    }
}

/// Copies a message that LLVM allocated, cut to its first line, and frees it.
///
/// # Safety
/// `message` is null or a string to be freed with `LLVMDisposeMessage`.
pub unsafe fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: by the contract of this function.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    unsafe { LLVMDisposeMessage(message) };
    first_line(&text)
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    let line = line.trim_start_matches("error: ");
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST).chain("…".chars()).collect()
}
