//! C to bitcode: clang, with flags that keep every access of the source.
//!
//! They are those of lockcheck-cc. Ours come last and win over the user's `-O2`, `-o` or `-E`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::sniff::{self, Input, Kind};
use super::{DataModel, LoadOptions, toolchain};
use crate::capture::bitcode::{ANALYSIS, LENIENT, host_headers};
use crate::error::Error;

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
    let of_database = source.command.as_ref();
    if let Some(compiled) = of_database {
        // Warnings were seen when it was built.
        command.current_dir(&compiled.directory).arg("-Qunused-arguments").args(&compiled.options).arg("-w");
    }
    command.args(&options.clang_args);
    let has_m32 = options.clang_args.iter().any(|word| word == "-m32")
        || of_database.is_some_and(|compiled| compiled.options.iter().any(|word| word == "-m32"));
    if options.data_model == Some(DataModel::Bits32) || has_m32 {
        command.args(host_headers(Path::new("/usr/include")));
    }
    command.args(ANALYSIS).arg(output).arg("--").arg(source.path.as_ref().unwrap_or(&source.name));
    command.stdin(Stdio::inherit()).stdout(Stdio::null());
    command
}
