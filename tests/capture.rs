//! lockcheck-cc: it builds what clang builds, and what it builds can be checked. With the real compilers, linkers and archivers.

#![cfg(feature = "llvm")]

mod capture {
    pub mod carried;
    pub mod compilers;
    pub mod foreign;
    pub mod forms;
    pub mod missing;
    pub mod support;
    pub mod tools;
}
