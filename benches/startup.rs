//! What a check of a small program costs from start to exit: the time, and the most memory of the process and its children.
//! Prints `startup NAME SECONDS MEBIBYTES`; `cargo bench --bench startup`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const EXAMPLES: [&str; 2] = ["visits-bad", "visits-good"];
const ROUNDS: u32 = 11;

/// Bitcode as users make it.
fn compile(directory: &Path, name: &str) -> PathBuf {
    let source: PathBuf = [env!("CARGO_MANIFEST_DIR"), "c-examples", name].iter().collect();
    let bitcode = directory.join(name).with_extension("bc");
    let version = include_str!("../ci/toolchain")
        .lines()
        .find_map(|line| line.strip_prefix("LLVM_VERSION="))
        .expect("the version is pinned");
    let mut clang = Command::new(format!("clang-{version}"));
    clang
        .args(["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-o"])
        .arg(&bitcode)
        .arg(source.with_extension("c"));
    assert!(clang.status().expect("clang runs").success(), "{name} compiles");
    bitcode
}

/// One check: seconds, and the largest resident set of it and of the processes it started.
fn check(bitcode: &Path) -> (f64, f64) {
    let start = Instant::now();
    let child = Command::new(env!("CARGO_BIN_EXE_lockcheck")).arg(bitcode).stdout(Stdio::null()).spawn().expect("lockcheck runs");
    let mut status = 0;
    // SAFETY: a structure of numbers may be all zero; the child is ours and nobody else waits for it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage), child.id() as libc::pid_t);
        usage
    };
    let seconds = start.elapsed().as_secs_f64();
    assert!(libc::WIFEXITED(status) && matches!(libc::WEXITSTATUS(status), 0 | 1 | 3), "the check ends by itself");
    (seconds, usage.ru_maxrss as f64 / 1024.0)
}

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    for name in EXAMPLES {
        let bitcode = compile(directory.path(), name);
        let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| check(&bitcode)).collect();
        let seconds = rounds.iter().map(|(seconds, _)| *seconds).fold(f64::INFINITY, f64::min);
        let mebibytes = rounds.iter().map(|(_, mebibytes)| *mebibytes).fold(0.0, f64::max);
        println!("startup {name} {seconds:.3} {mebibytes:.0}");
    }
}
