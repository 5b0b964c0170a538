//! The child of the guard: limits itself, loads the inputs, and writes what the parent asked for.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::assemble::{finish, on_a_large_stack, prepare, write_linked};
use super::super::diagnostics::Session;
use super::super::sniff::{self, Input};
use super::super::{DataModel, LoadOptions, Stage};
use super::{ANSWER, Answer, NO_ROOM, Task};
use crate::error::Error;
use crate::program::text;

/// Arguments: bytes and seconds it may use, the data model or 0, the task, the file to write, then two names for each input.
pub fn answer(arguments: Vec<OsString>) -> ! {
    let mut arguments = arguments.into_iter();
    let mut number = || arguments.next().and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
    let (bytes, seconds) = (number().unwrap_or(u64::MAX), number().unwrap_or(u64::MAX));
    let data_model = match number() {
        Some(32) => Some(DataModel::Bits32),
        Some(64) => Some(DataModel::Bits64),
        _ => None,
    };
    limit_this_process(bytes, seconds);
    let task = arguments.next().and_then(|word| Task::from_name(word.to_str()?)).unwrap_or(Task::Load);
    let output = PathBuf::from(arguments.next().unwrap_or_default());
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let options = LoadOptions { data_model, ..LoadOptions::default() };
    let survived = on_a_large_stack(|| {
        let Err(error) = work(task, &paths, &options, &output);
        tell(&Answer::Refused(error));
    });
    exit(if survived.is_ok() { 0 } else { NO_ROOM })
}

/// Returns only with an error: what is done ends the process.
fn work(task: Task, paths: &[PathBuf], options: &LoadOptions, output: &Path) -> Result<Infallible, Error> {
    let session = Session::new();
    let inputs = reopen(paths)?;
    match task {
        Task::Load => {
            let prepared = prepare(&session, &inputs, options, &mut step)?;
            step(0, Stage::Lowering);
            let program = finish(&prepared)?;
            let failed = |error: std::io::Error| Error::Temporary { reason: format!("{}: {error}", output.display()) };
            std::fs::write(output, text::print(&program)).map_err(failed)?;
        }
        Task::Extract => write_linked(&session, &inputs, options, output, &mut step)?,
    }
    tell(&Answer::Done)
}

/// Reads the files again, each given by where it is and how the user named it.
fn reopen(paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let open = |pair: &[PathBuf]| sniff::open(&pair[0]).map(|input| Input { name: pair[1].clone(), ..input });
    paths.chunks_exact(2).map(open).collect()
}

fn step(index: usize, stage: Stage) {
    say(&format!("{index} {stage}"));
}

/// The last line. Nothing is left to do, and taking the module apart would only cost time.
fn tell(answer: &Answer) -> ! {
    let text = serde_json::to_string(answer).or_else(|_| match answer {
        // A path that is not UTF-8 has no JSON; its sentence has.
        Answer::Refused(error) => serde_json::to_string(&Answer::Refused(Error::Usage(error.to_string()))),
        Answer::Done => unreachable!("a word can be written"),
    });
    say(&format!("{ANSWER}{}", text.expect("a sentence can be written")));
    exit(0)
}

/// A parent that is gone reads nothing: there is no one to tell.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Ends the process without the destructors of libraries.
fn exit(code: i32) -> ! {
    // SAFETY: standard output is flushed at every line, and nothing else is buffered.
    unsafe { libc::_exit(code) }
}

fn limit_this_process(bytes: u64, seconds: u64) {
    let limits = [(libc::RLIMIT_AS, bytes), (libc::RLIMIT_CPU, seconds), (libc::RLIMIT_CORE, 0)];
    for (resource, value) in limits {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: passes a pointer to a whole structure. A limit that cannot be set leaves the parent's clock as the guard.
        unsafe { libc::setrlimit(resource, &limit) };
    }
    // SAFETY: asks the kernel to end this process with its parent.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}
