//! The guard: a damaged file kills or hangs LLVM, so a child process of our own binary loads it first.
//!
//! The child does all that the parent will do, and says on its standard output where it is and what error it found. Only a file that the
//! child loaded is touched by the parent, which then does the same again. If the child finds an error the parent returns it, because
//! even printing what is wrong with a module can kill; if it dies or takes too long, the parent says so.
//! Bitcode that our own clang made a moment ago is not guarded.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::assemble::{assemble, on_a_large_stack};
use super::sniff::{self, Input};
use super::{Limits, LoadOptions, Stage};
use crate::error::Error;

/// The first argument of a child; nothing that a user would type.
const FIRST_ARGUMENT: &str = "--read-as-guard";
/// A panic of ours in the child: the parent repeats it, so that it is seen as what it is.
const PANICKED: i32 = 101;
/// The child's memory limit leaves no room for its stack.
const NO_ROOM: i32 = 3;
/// Begins the line with which the child hands over an error.
const ERROR: &str = "error ";

/// Whether the running executable answers to [`FIRST_ARGUMENT`].
static CAN_ANSWER: AtomicBool = AtomicBool::new(false);

/// To be called first thing in `main`: in a guard child this does its work and ends the process.
pub fn answer_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == FIRST_ARGUMENT) {
        answer(arguments.collect());
    }
    CAN_ANSWER.store(true, Ordering::Relaxed);
}

/// Loads the inputs in a child first. Without an executable that can be the child, nothing is checked.
pub fn check(inputs: &[Input], options: &LoadOptions) -> Result<(), Error> {
    let Some(first) = inputs.iter().find(|input| !input.is_trusted) else { return Ok(()) };
    let Some(executable) = executable(options) else { return Ok(()) };
    let not_run = |error: std::io::Error| Error::ReaderNotRun { file: first.name.clone(), reason: error.to_string() };
    let size: u64 = inputs.iter().map(|input| input.bytes.len() as u64).sum();
    let limit = options.limits.seconds(size);
    let child = Command::new(executable)
        .arg(FIRST_ARGUMENT)
        .arg(options.limits.bytes(size).to_string())
        .arg(limit.to_string())
        .args(inputs.iter().flat_map(|input| [input.path.as_ref().unwrap_or(&input.name), &input.name]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(not_run)?;
    let (status, progress) = wait(child, Duration::from_secs(limit)).map_err(not_run)?;
    let last_step = last_step(&progress);
    let (index, stage) = last_step.unwrap_or((0, Stage::Reading));
    let file = inputs.get(index).map_or(&first.name, |input| &input.name).clone();
    match status {
        None => Err(Error::ReaderTimedOut { file, stage: stage.to_string(), seconds: limit }),
        Some(status) if status.success() && last_step.is_none() => {
            Err(Error::ReaderNotRun { file, reason: "the guard is not lockcheck".to_owned() })
        }
        Some(status) if status.success() => found_error(&progress, &file),
        Some(status) if status.code() == Some(PANICKED) => Ok(()),
        Some(status) => Err(Error::ReaderDied { file, stage: stage.to_string(), how: how_it_ended(status) }),
    }
}

fn executable(options: &LoadOptions) -> Option<PathBuf> {
    let own = || CAN_ANSWER.load(Ordering::Relaxed).then(std::env::current_exe).and_then(Result::ok);
    options.guard.clone().or_else(own)
}

/// The status, or none after the limit, and what the child said.
fn wait(mut child: Child, limit: Duration) -> std::io::Result<(Option<ExitStatus>, String)> {
    let mut output = child.stdout.take().expect("piped above");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        // What came before a failure is kept; the receiver may have given up.
        let _ = output.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    match receiver.recv_timeout(limit) {
        Ok(text) => Ok((Some(child.wait()?), text)),
        Err(_) => {
            child.kill()?;
            child.wait()?;
            Ok((None, receiver.recv().unwrap_or_default()))
        }
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGSEGV) => "invalid memory access".to_owned(),
        Some(libc::SIGABRT) => "abort, or out of memory".to_owned(),
        Some(libc::SIGXCPU | libc::SIGKILL) => "stopped by a limit".to_owned(),
        Some(signal) => format!("signal {signal}"),
        None if status.code() == Some(NO_ROOM) => "out of memory".to_owned(),
        None => format!("exit code {}", status.code().unwrap_or(-1)),
    }
}

/// The last step that the child began.
fn last_step(progress: &str) -> Option<(usize, Stage)> {
    let line = progress.split_inclusive('\n').rfind(|line| line.ends_with('\n') && !line.starts_with(ERROR))?;
    let (index, stage) = line.trim().split_once(' ')?;
    Some((index.parse().ok()?, Stage::ALL.into_iter().find(|known| known.to_string() == stage)?))
}

/// The error that the child found.
fn found_error(progress: &str, file: &Path) -> Result<(), Error> {
    let Some(error) = progress.lines().find_map(|line| line.strip_prefix(ERROR)) else { return Ok(()) };
    let unreadable = |reason: serde_json::Error| Error::ReaderNotRun { file: file.to_owned(), reason: reason.to_string() };
    Err(serde_json::from_str(error).map_err(unreadable)?)
}

/// The child: limits itself, loads, and forgets the result.
fn answer(arguments: Vec<OsString>) -> ! {
    let mut arguments = arguments.into_iter();
    let mut number = || arguments.next().and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
    let (bytes, seconds) = (number().unwrap_or(u64::MAX), number().unwrap_or(u64::MAX));
    limit_this_process(bytes, seconds);
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let survived = on_a_large_stack(|| {
        let mut report = |index: usize, stage: Stage| {
            if stage == Stage::Loaded {
                // Taking the module apart again would only cost time.
                exit(0);
            }
            say(&format!("{index} {stage}"));
        };
        report(0, Stage::Reading);
        let result = reopen(&paths).and_then(|inputs| assemble(&inputs, &LoadOptions::default(), &mut report));
        if let Err(error) = result {
            let text = serde_json::to_string(&error).or_else(|_| serde_json::to_string(&Error::Usage(error.to_string())));
            say(&format!("{ERROR}{}", text.expect("a sentence can be written")));
        }
    });
    exit(if survived.is_ok() { 0 } else { NO_ROOM })
}

/// Reads the files again, each given by where it is and how the user named it.
fn reopen(paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let open = |pair: &[PathBuf]| sniff::open(&pair[0]).map(|input| Input { name: pair[1].clone(), ..input });
    paths.chunks_exact(2).map(open).collect()
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

impl Limits {
    fn seconds(&self, size: u64) -> u64 {
        self.seconds + self.seconds_per_mebibyte * (size >> 20)
    }

    fn bytes(&self, size: u64) -> u64 {
        self.bytes.saturating_add(self.bytes_per_byte.saturating_mul(size))
    }
}
