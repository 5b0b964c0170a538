//! Several modules become one program; what LLVM's linker accepts in silence is checked before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use inkwell::module::Module;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::{LLVMGetLinkage, LLVMIsDeclaration};
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::LLVMValueRef;

use super::diagnostics::Session;
use super::{read, walk};
use crate::error::Error;

/// A module with the name of the file it came from.
pub struct Named<'a> {
    pub file: PathBuf,
    pub module: Module<'a>,
}

/// Links all into the first. There is at least one.
pub fn link<'a>(session: &'a Session, modules: Vec<Named<'a>>) -> Result<Module<'a>, Error> {
    check_layouts(&modules)?;
    check_definitions(&modules)?;
    let mut modules = modules.into_iter();
    let program = modules.next().expect("at least one module").module;
    for Named { file, module } in modules {
        let source = module.as_mut_ptr();
        // The linker consumes the source.
        std::mem::forget(module);
        // SAFETY: both modules belong to the session's context and are distinct.
        let failed = unsafe { LLVMLinkModules2(program.as_mut_ptr(), source) != 0 };
        let error = session.take_error();
        if failed || error.is_some() {
            let reason = error.unwrap_or_else(|| "LLVM gives no reason".to_owned());
            return Err(Error::Link { file, reason });
        }
    }
    Ok(program)
}

/// LLVM links an i386 module into an x86-64 one without a word.
fn check_layouts(modules: &[Named<'_>]) -> Result<(), Error> {
    let layout = |named: &Named<'_>| named.module.get_data_layout().as_str().to_string_lossy().into_owned();
    let describe = |named: &Named<'_>| {
        let triple = named.module.get_triple().as_str().to_string_lossy().into_owned();
        let processor = match triple.split('-').next().unwrap_or_default() {
            "" => "unnamed target",
            "i486" | "i586" | "i686" => "i386",
            "amd64" => "x86_64",
            name => name,
        };
        format!("{processor}, {}-bit pointers", read::pointer_bits(&named.module))
    };
    let first = &modules[0];
    let (first_layout, first_words) = (layout(first), describe(first));
    for second in &modules[1..] {
        // The processor counts as well: its name decides how arguments are passed.
        let second_words = describe(second);
        if layout(second) != first_layout || second_words != first_words {
            return Err(Error::TwoDataLayouts {
                first: first.file.clone(),
                first_layout: first_words,
                second: second.file.clone(),
                second_layout: second_words,
            });
        }
    }
    Ok(())
}

fn check_definitions(modules: &[Named<'_>]) -> Result<(), Error> {
    let mut definitions: BTreeMap<String, &Path> = BTreeMap::new();
    for Named { file, module } in modules {
        let values = walk::functions(module).chain(walk::globals(module)).chain(walk::aliases(module));
        for value in values.filter(|&value| is_strong_definition(value)) {
            let symbol = walk::name(value);
            if let Some(first) = definitions.insert(symbol.clone(), file) {
                return Err(Error::DuplicateSymbol { symbol, first: first.to_owned(), second: file.clone() });
            }
        }
    }
    Ok(())
}

fn is_strong_definition(value: LLVMValueRef) -> bool {
    // SAFETY: asked of global values only.
    unsafe { LLVMIsDeclaration(value) == 0 && LLVMGetLinkage(value) == LLVMLinkage::LLVMExternalLinkage }
}
