//! C to bitcode: clang, with flags that keep every access of the source.
//!
//! `-O1 -Xclang -disable-llvm-passes` optimises nothing, but unlike `-O0` it keeps the bodies of plain `inline` functions and marks
//! no function `optnone`. Ours come last and win over the user's `-O2`, `-o` or `-E`.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::sniff::{self, Input, Kind};
use super::{DataModel, LoadOptions, toolchain};
use crate::error::Error;

/// Old C is accepted as compilers accepted it when it was written.
const LENIENT: [&str; 4] = [
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-pointer-types",
];
const OURS: [&str; 7] = ["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o"];

/// Replaces every C file by its bitcode, made in `directory`. clang's messages go to stderr as they are, in the order of the inputs.
pub fn compile_all(inputs: &mut [Input], options: &LoadOptions, directory: &Path) -> Result<(), Error> {
    let sources: Vec<usize> = (0..inputs.len()).filter(|&index| inputs[index].kind == Kind::C).collect();
    if sources.is_empty() {
        return Ok(());
    }
    let clang = toolchain::find_clang()?;
    let outputs: Mutex<Vec<Option<std::io::Result<Output>>>> = Mutex::new(sources.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    let work = || {
        while let Some(&index) = sources.get(next.fetch_add(1, Ordering::Relaxed)).as_ref() {
            let position = sources.binary_search(index).expect("taken from this list");
            let output = command(&clang, &inputs[*index], options, &output_file(directory, *index)).output();
            outputs.lock().expect("no worker panics")[position] = Some(output);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let outputs = outputs.into_inner().expect("no worker panics");
    for (&index, output) in sources.iter().zip(outputs) {
        let output = output.expect("every source is taken by a worker").map_err(|error| Error::CompilerNotRun {
            compiler: clang.clone(),
            version: toolchain::llvm_version(),
            reason: error.to_string(),
        })?;
        // A closed stderr must not change the verdict.
        let _ = std::io::stderr().write_all(&output.stderr);
        inputs[index] = take_output(&inputs[index], &output, output_file(directory, index))?;
    }
    Ok(())
}

fn output_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("{index}.bc"))
}

fn take_output(source: &Input, output: &Output, made: PathBuf) -> Result<Input, Error> {
    let file = || source.name.clone();
    if !output.status.success() {
        return Err(Error::Compile { file: file() });
    }
    let mut bitcode = sniff::open(&made).map_err(|_| Error::NoCompilerOutput { file: file() })?;
    if !matches!(bitcode.kind, Kind::Bitcode | Kind::Assembly) {
        return Err(Error::NoCompilerOutput { file: file() });
    }
    bitcode.name = file();
    bitcode.is_trusted = true;
    Ok(bitcode)
}

fn command(clang: &Path, source: &Input, options: &LoadOptions, output: &Path) -> Command {
    let mut command = Command::new(clang);
    command.args(LENIENT);
    match options.data_model {
        Some(DataModel::Bits32) => _ = command.arg("-m32"),
        Some(DataModel::Bits64) => _ = command.arg("-m64"),
        None => {}
    }
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        command.arg("-fcolor-diagnostics");
    }
    command.args(&options.clang_args);
    if options.data_model == Some(DataModel::Bits32) || options.clang_args.iter().any(|word| word == "-m32") {
        command.args(host_headers(Path::new("/usr/include")));
    }
    command.args(OURS).arg(output).arg("--").arg(source.path.as_ref().unwrap_or(&source.name));
    command.stdin(Stdio::inherit()).stdout(Stdio::null());
    command
}

/// For 32 bits clang does not look where Debian keeps the kernel's headers (`asm/errno.h`), which serve both models.
fn host_headers(include: &Path) -> Vec<OsString> {
    let host = include.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    if host.is_dir() { vec!["-idirafter".into(), host.into()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_headers_are_added_only_where_they_are() {
        let include = tempfile::tempdir().unwrap();
        assert!(host_headers(include.path()).is_empty());
        let host = include.path().join(format!("{}-linux-gnu", std::env::consts::ARCH));
        std::fs::create_dir(&host).unwrap();
        assert_eq!(host_headers(include.path()), ["-idirafter".into(), host.into_os_string()]);
    }
}
