//! The compiler: the one that also makes the bitcode of built programs.

use std::path::PathBuf;

use crate::capture::clang;
pub use crate::capture::clang::llvm_version;
use crate::error::Error;

pub fn find_clang() -> Result<PathBuf, Error> {
    clang::find_clang().ok_or(Error::NoCompiler { version: llvm_version() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_llvm_is_the_pinned_one() {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: writes three integers.
        unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
        assert_eq!(major, llvm_version());
    }

    #[test]
    fn without_a_compiler_the_sentence_says_what_to_install() {
        let sentence = Error::NoCompiler { version: llvm_version() }.to_string();
        assert!(sentence.contains(&format!("install the Debian package clang-{}", llvm_version())), "{sentence}");
    }
}
