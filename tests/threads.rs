//! Threads and their order: shapes of creation and joining written by hand, each with the smallest edit that breaks it, and the machine as twin:
//! whatever two events of a run creations and joins leave unordered, the static order must let overlap.
#![cfg(feature = "llvm")]

#[path = "threads/accesses.rs"]
mod accesses;
#[path = "threads/arguments.rs"]
mod arguments;
#[path = "threads/generator.rs"]
mod generator;
#[path = "threads/runs.rs"]
mod runs;
#[path = "threads/shapes.rs"]
mod shapes;
#[path = "threads/size.rs"]
mod size;
#[path = "threads/watch.rs"]
mod watch;

use std::path::Path;

use lockcheck::frontend::{LoadOptions, load};
use lockcheck::program::Program;

/// What every small program begins with.
const HEAD: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <threads.h>\n#include <semaphore.h>\n#include <string.h>\nint x, y;\nint unknown(void);\n";

fn load_c(file: &Path) -> Program {
    let clang_args = ["-std=gnu11", "-w"].map(str::to_owned).to_vec();
    load(&[file.to_path_buf()], &LoadOptions { clang_args, ..LoadOptions::default() })
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn load_text(name: &str, source: &str) -> Program {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join(format!("{name}.c"));
    std::fs::write(&path, format!("{HEAD}{source}")).expect("the file can be written");
    load_c(&path)
}
