//! Arguments in, exit code out.

use std::process::ExitCode;

/// Facts and engines make millions of small sets and lists: a fifth of the time went into the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc: after how many milliseconds it gives freed memory back to the system; -1 for never.
const PURGE_DELAY: libc::c_int = 15;

unsafe extern "C" {
    fn mi_option_set(option: libc::c_int, value: libc::c_long);
}

fn main() -> ExitCode {
    // What one stage frees the next one takes: giving it back between them costs more than it saves.
    // SAFETY: an option that mimalloc has, before there are other threads.
    unsafe { mi_option_set(PURGE_DELAY, -1) };
    #[cfg(feature = "llvm")]
    lockcheck::frontend::guard::answer_if_asked();
    lockcheck::cli::run()
}
