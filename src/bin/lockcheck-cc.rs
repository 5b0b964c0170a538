//! The compiler wrapper: `make CC=lockcheck-cc`. It has the capture module alone, not the library, so that no LLVM is loaded for each file.

#[path = "../capture/mod.rs"]
#[allow(dead_code, reason = "records are read by the front end")]
mod capture;

use std::process::ExitCode;

fn main() -> ExitCode {
    capture::run(std::env::args_os().skip(1).collect())
}
