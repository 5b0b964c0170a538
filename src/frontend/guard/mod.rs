//! The guard: a damaged file kills or hangs LLVM, so a child process of our own binary reads it, and the parent never does.
//!
//! The [`child`] reads, verifies, links, normalises and lowers the inputs and writes the program in text form; the parent reads only
//! that, and no LLVM is involved. On its standard output the child says where it is, and at last what it found. If it dies or takes too
//! long, the parent knows at which file. Reading the original a second time would not do: what LLVM makes of a damaged file may depend
//! on what happens to be in memory. (Handing over fresh bitcode would do, and costs LLVM's writer, its reader and a second lowering:
//! 40 % more instructions for the whole.)
//!
//! Bitcode that our own clang made a moment ago is not guarded.

mod child;

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sniff::Input;
use super::{Limits, LoadOptions, Stage};
use crate::error::Error;
use crate::program::{Program, text};

/// The first argument of a child; nothing that a user would type.
const FIRST_ARGUMENT: &str = "--read-as-guard";
/// A panic of ours in the child: the parent repeats the work, so that it is seen as what it is.
const PANICKED: i32 = 101;
/// The child's memory limit leaves no room for its stack.
const NO_ROOM: i32 = 3;
/// Begins the last line of the child.
const ANSWER: &str = "answer ";

/// What the child found, as the rest of its last line.
#[derive(Serialize, Deserialize)]
enum Answer {
    Done,
    Refused(Error),
}

/// What the child is to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// The program, in text form.
    Load,
    /// The linked module, as bitcode.
    Extract,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Extract => "extract",
        }
    }

    fn from_name(name: &str) -> Option<Task> {
        [Self::Load, Self::Extract].into_iter().find(|task| task.name() == name)
    }
}

/// Whether the running executable answers to [`FIRST_ARGUMENT`].
static CAN_ANSWER: AtomicBool = AtomicBool::new(false);

/// To be called first thing in `main`: in a guard child this does its work and ends the process.
pub fn answer_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == FIRST_ARGUMENT) {
        child::answer(arguments.collect());
    }
    CAN_ANSWER.store(true, Ordering::Relaxed);
}

/// Loads the inputs in a child, which writes into `directory`. `None` when there is nothing to guard against, no executable that
/// can be the child, or a bug of ours in the child: then the caller does the work itself.
pub fn load(inputs: &[Input], options: &LoadOptions, directory: &Path) -> Result<Option<Program>, Error> {
    let output = directory.join("guarded.program");
    if !run(Task::Load, inputs, options, &output)? {
        return Ok(None);
    }
    let file = &inputs[0].name;
    let not_run = |error: std::io::Error| Error::ReaderNotRun { file: file.clone(), reason: error.to_string() };
    let printed = std::fs::read_to_string(&output).map_err(not_run)?;
    // Two symbols whose names are no text, and the same once they are made text.
    let invalid = |error: text::ParseError| Error::Invalid { file: file.clone(), what: "bitcode".into(), reason: error.reason };
    text::parse(&printed).map(Some).map_err(invalid)
}

/// Writes the linked bitcode of the inputs in a child. Whether it was done; if not, the caller does it itself, as above.
pub fn extract(inputs: &[Input], options: &LoadOptions, output: &Path) -> Result<bool, Error> {
    run(Task::Extract, inputs, options, output)
}

fn run(task: Task, inputs: &[Input], options: &LoadOptions, output: &Path) -> Result<bool, Error> {
    let Some(first) = inputs.iter().find(|input| !input.is_trusted) else { return Ok(false) };
    let Some(executable) = executable(options) else { return Ok(false) };
    let not_run = |reason: String| Error::ReaderNotRun { file: first.name.clone(), reason };
    let size: u64 = inputs.iter().map(|input| input.bytes.len() as u64).sum();
    let limit = options.limits.seconds(size);
    let child = Command::new(executable)
        .arg(FIRST_ARGUMENT)
        .arg(options.limits.bytes(size).to_string())
        .arg(limit.to_string())
        .arg(options.data_model.map_or(0, |model| model.bits()).to_string())
        .arg(task.name())
        .arg(output)
        .args(inputs.iter().flat_map(|input| [input.path.as_ref().unwrap_or(&input.name), &input.name]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| not_run(error.to_string()))?;
    let (status, words) = wait(child, Duration::from_secs(limit)).map_err(|error| not_run(error.to_string()))?;
    let (index, stage) = last_step(&words).unwrap_or((0, Stage::Reading));
    let file = inputs.get(index).map_or(&first.name, |input| &input.name).clone();
    match status {
        None => Err(Error::ReaderTimedOut { file, stage: stage.to_string(), seconds: limit }),
        Some(status) if status.code() == Some(PANICKED) => Ok(false),
        Some(status) if !status.success() => Err(Error::ReaderDied { file, stage: stage.to_string(), how: how_it_ended(status) }),
        Some(_) => match answer_in(&words).ok_or_else(|| not_run("the guard is not lockcheck".to_owned()))? {
            Answer::Refused(error) => Err(error),
            Answer::Done => Ok(true),
        },
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
        Some(libc::SIGSEGV | libc::SIGBUS) => "invalid memory access".to_owned(),
        Some(libc::SIGABRT) => "abort, or out of memory".to_owned(),
        Some(libc::SIGXCPU | libc::SIGKILL) => "stopped by a limit".to_owned(),
        Some(signal) => format!("signal {signal}"),
        None if status.code() == Some(NO_ROOM) => "out of memory".to_owned(),
        None => format!("exit code {}", status.code().unwrap_or(-1)),
    }
}

/// The last step that the child began.
fn last_step(words: &str) -> Option<(usize, Stage)> {
    let line = words.split_inclusive('\n').rfind(|line| line.ends_with('\n') && !line.starts_with(ANSWER))?;
    let (index, stage) = line.trim().split_once(' ')?;
    Some((index.parse().ok()?, Stage::ALL.into_iter().find(|known| known.to_string() == stage)?))
}

fn answer_in(words: &str) -> Option<Answer> {
    words.lines().find_map(|line| line.strip_prefix(ANSWER)).and_then(|text| serde_json::from_str(text).ok())
}

impl Limits {
    fn seconds(&self, size: u64) -> u64 {
        self.seconds + self.seconds_per_mebibyte * (size >> 20)
    }

    fn bytes(&self, size: u64) -> u64 {
        self.bytes.saturating_add(self.bytes_per_byte.saturating_mul(size))
    }
}
