//! Arguments in, exit code out.

use std::process::ExitCode;

/// Facts and engines make millions of small sets and lists: a fifth of the time went into the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "llvm")]
    lockcheck::frontend::guard::answer_if_asked();
    lockcheck::cli::run()
}
