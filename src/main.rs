//! Arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "llvm")]
    lockcheck::frontend::guard::answer_if_asked();
    lockcheck::cli::run()
}
