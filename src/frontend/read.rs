//! Bytes to a verified module: bitcode of this and older LLVMs, and LLVM's text form.
//!
//! Debug information that is broken, or of another version, is removed: the code is still worth checking. LLVM would do that by itself,
//! but prints its reasons to stderr; that step of its readers is switched off.

use std::ffi::{CString, c_int};
use std::path::Path;
use std::sync::Once;

use inkwell::context::{AsContextRef, Context};
use inkwell::module::Module;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::core::{
    LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMemoryBuffer, LLVMGetDataLayoutStr, LLVMGetTarget, LLVMSetDataLayout,
    LLVMSetTarget,
};
use llvm_sys::debuginfo::{LLVMDebugMetadataVersion, LLVMGetModuleDebugMetadataVersion, LLVMStripModuleDebugInfo};
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::prelude::LLVMMemoryBufferRef;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::{LLVMByteOrder, LLVMByteOrdering, LLVMGetModuleDataLayout, LLVMPointerSize};

use super::diagnostics::{Session, take_message};
use crate::error::Error;

/// What a module without a target is taken for.
const DEFAULT_TRIPLE: &str = "x86_64-pc-linux-gnu";
const DEFAULT_LAYOUT: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

/// Bitcode of any origin, raw or in its wrapper.
pub fn bitcode<'a>(session: &'a Session, file: &Path, bytes: &[u8]) -> Result<Module<'a>, Error> {
    finish(session, file, parse(session, file, bytes)?, "bitcode")
}

fn parse<'a>(session: &'a Session, file: &Path, bytes: &[u8]) -> Result<Module<'a>, Error> {
    let context: &'a Context = session.context();
    let mut module = std::ptr::null_mut();
    // SAFETY: the buffer is ours before and after; the module belongs to the context, which outlives it by its lifetime.
    unsafe {
        let buffer = buffer(bytes);
        let failed = LLVMParseBitcodeInContext2(context.as_ctx_ref(), buffer, &mut module) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        if failed {
            let reason = session.take_error().unwrap_or_else(|| "LLVM gives no reason".to_owned());
            return Err(Error::Invalid { file: file.to_owned(), what: "bitcode".into(), reason });
        }
        Ok(Module::new(module))
    }
}

/// LLVM's text form.
pub fn assembly<'a>(session: &'a Session, file: &Path, bytes: &[u8]) -> Result<Module<'a>, Error> {
    let context: &'a Context = session.context();
    let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: as above.
    unsafe {
        let buffer = buffer(bytes);
        let failed = LLVMParseIRInContext2(context.as_ctx_ref(), buffer, &mut module, &mut message) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        if failed {
            let reason = take_message(message);
            return Err(Error::Invalid { file: file.to_owned(), what: "LLVM text".into(), reason });
        }
        finish(session, file, Module::new(module), "LLVM text")
    }
}

fn finish<'a>(session: &Session, file: &Path, module: Module<'a>, what: &'static str) -> Result<Module<'a>, Error> {
    let invalid = |reason| Error::Invalid { file: file.to_owned(), what: what.into(), reason };
    if let Some(reason) = session.take_error() {
        return Err(invalid(reason));
    }
    // SAFETY: the module is alive; removing what is absent does nothing.
    unsafe {
        if LLVMGetModuleDebugMetadataVersion(module.as_mut_ptr()) != LLVMDebugMetadataVersion() {
            LLVMStripModuleDebugInfo(module.as_mut_ptr());
        }
        if let Err(reason) = verify(&module) {
            let had_debug_information = LLVMStripModuleDebugInfo(module.as_mut_ptr()) != 0;
            if !had_debug_information || verify(&module).is_err() {
                return Err(invalid(reason));
            }
        }
    }
    give_target(&module);
    check_target(file, &module)?;
    Ok(module)
}

fn verify(module: &Module<'_>) -> Result<(), String> {
    let mut message = std::ptr::null_mut();
    let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
    // SAFETY: the module is alive; the message is LLVM's to be freed, also when it is empty.
    unsafe {
        let is_broken = LLVMVerifyModule(module.as_mut_ptr(), action, &mut message) != 0;
        let reason = take_message(message);
        if is_broken { Err(reason) } else { Ok(()) }
    }
}

/// Options of LLVM are global to the process.
pub fn silence_readers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let arguments = [c"lockcheck".as_ptr(), c"-disable-auto-upgrade-debug-info".as_ptr()];
        // SAFETY: as many strings as said, each ending with a zero byte.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as c_int, arguments.as_ptr(), std::ptr::null()) };
    });
}

/// Text written by hand often names no target: compilers then take the machine's own.
fn give_target(module: &Module<'_>) {
    // SAFETY: strings end with a zero byte and are copied.
    unsafe {
        if *LLVMGetTarget(module.as_mut_ptr()) == 0 && *LLVMGetDataLayoutStr(module.as_mut_ptr()) == 0 {
            let (triple, layout) = (CString::new(DEFAULT_TRIPLE), CString::new(DEFAULT_LAYOUT));
            LLVMSetTarget(module.as_mut_ptr(), triple.expect("no zero byte").as_ptr());
            LLVMSetDataLayout(module.as_mut_ptr(), layout.expect("no zero byte").as_ptr());
        }
    }
}

fn check_target(file: &Path, module: &Module<'_>) -> Result<(), Error> {
    // SAFETY: the layout belongs to the module.
    let is_little_endian =
        unsafe { LLVMByteOrder(LLVMGetModuleDataLayout(module.as_mut_ptr())) == LLVMByteOrdering::LLVMLittleEndian };
    if is_little_endian && matches!(pointer_bits(module), 32 | 64) {
        return Ok(());
    }
    Err(Error::UnsupportedTarget { file: file.to_owned(), target: module.get_triple().as_str().to_string_lossy().into_owned() })
}

pub fn pointer_bits(module: &Module<'_>) -> u32 {
    // SAFETY: the layout belongs to the module.
    unsafe { LLVMPointerSize(LLVMGetModuleDataLayout(module.as_mut_ptr())) * 8 }
}

/// A copy that ends with the zero byte which the text parser relies on.
unsafe fn buffer(bytes: &[u8]) -> LLVMMemoryBufferRef {
    unsafe { LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.as_ptr().cast(), bytes.len(), c"input".as_ptr()) }
}
