//! Thread models as inputs: their queries are answered, and without queries they are programs like any other.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::arguments::{Destination, Format, OutputArgs};
use super::{not_built, output};
use crate::engines::queries::{Answered, answer_all};
use crate::error::Error;
use crate::program::Program;
use crate::thread_model::{FILE_ENDING, Query, Question, ThreadModel, lower};

/// The thread model among the inputs, if there is one.
pub fn among(inputs: &[PathBuf]) -> Result<Option<ThreadModel>, Error> {
    let is_model = |file: &&PathBuf| file.to_string_lossy().ends_with(FILE_ENDING);
    match (inputs.iter().find(is_model), inputs) {
        (None, _) => Ok(None),
        (Some(file), [_]) => ThreadModel::read(file).map(Some),
        (Some(file), _) => Err(Error::Usage(format!(
            "{}: a thread model is whole and cannot be linked with other files; pass it alone",
            file.display()
        ))),
    }
}

/// The program that a model stands for.
pub fn program(inputs: &[PathBuf]) -> Result<Option<Program>, Error> {
    let model = among(inputs)?;
    Ok(model.map(|model| lower::lower(&model, &inputs[0].display().to_string()).program))
}

/// What became of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// As expected, or nothing was expected and nothing is wrong.
    Fine,
    Wrong,
    /// A bound was hit.
    Open,
}

/// Answers the queries of a model. 1 when an expectation is not met, or a race or deadlock is found that no one expects; 3 when a
/// bound left a query open.
pub fn answer(file: &Path, model: &ThreadModel, arguments: &OutputArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
    if destinations.iter().any(|destination| destination.format != Format::Text || destination.file.is_some()) {
        return Err(not_built("--format and --output for the queries of a thread model"));
    }
    if let Some(query) = model.queries.iter().find(|query| matches!(query.question, Question::Other(_))) {
        return Err(Error::ThreadModel {
            file: file.to_owned(),
            line: query.position.line,
            reason: format!("`{}` is not built yet", query.text),
        });
    }
    let answers = answer_all(model, model.queries.iter().map(|query| &query.question));
    let mut text = String::new();
    let mut counts = [0; 3];
    for (query, answer) in model.queries.iter().zip(answers) {
        let answer = answer.expect("other questions were refused");
        let outcome = outcome(query, &answer);
        counts[outcome as usize] += 1;
        if arguments.quiet && outcome != Outcome::Wrong {
            continue;
        }
        let line = format!("{}:{}: {}: {}", file.display(), query.position.line, query.text, sentence(query, &answer));
        writeln!(text, "{line}").expect("a string grows");
        if outcome == Outcome::Wrong || query.expect.is_none() || arguments.verbose {
            answer.lines.iter().for_each(|line| writeln!(text, "    {line}").expect("a string grows"));
        }
    }
    let [fine, wrong, open] = counts;
    if !arguments.quiet {
        writeln!(text, "{fine} answered as expected, {wrong} not as expected, {open} open").expect("a string grows");
    }
    output::print(&text)?;
    Ok(match (wrong, open) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) if arguments.allow_incomplete => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(output::INCOMPLETE),
        _ => ExitCode::from(output::FOUND),
    })
}

fn outcome(query: &Query, answer: &Answered) -> Outcome {
    match (answer.truth, query.expect) {
        (None, _) => Outcome::Open,
        (Some(truth), Some(expected)) if truth != expected => Outcome::Wrong,
        (Some(true), None) if !matches!(query.question, Question::Reachable(_)) => Outcome::Wrong,
        (Some(_), _) => Outcome::Fine,
    }
}

fn sentence(query: &Query, answer: &Answered) -> String {
    let found = &answer.sentence;
    match (answer.truth, query.expect) {
        (Some(truth), Some(expected)) if truth == expected => format!("{found}, as expected"),
        (_, Some(expected)) => format!("{found}; expected {}", if expected { "yes" } else { "no" }),
        (_, None) => found.clone(),
    }
}
