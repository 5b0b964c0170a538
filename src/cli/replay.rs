//! `lockcheck replay`: one schedule again, step by step.

use std::process::ExitCode;

use super::arguments::ReplayArgs;
use super::{input, output};
use crate::error::Error;
use crate::pipeline::{self, Replayed};
use crate::report::{source::Sources, steps};

const REACHED: u8 = 1;

pub fn run(arguments: &ReplayArgs) -> Result<ExitCode, Error> {
    let token = read_token(&arguments.schedule)?;
    let loaded = input::load(&arguments.input)?;
    let replayed = pipeline::replay(&loaded.program, &loaded.models, &loaded.run, &loaded.names, &token)?;
    let Replayed { steps: taken, messages, .. } = &replayed;
    let mut text = steps::render(taken, &mut Sources::of(&loaded.program), output::use_color(arguments.color));
    text.push('\n');
    for message in messages {
        text.push_str(&format!("reached again: {message}\n"));
    }
    if messages.is_empty() {
        text.push_str(&format!("no bug is reached: the run {}\n", replayed.end));
    }
    output::print(&text)?;
    Ok(if messages.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(REACHED) })
}

/// The token itself, or the first one in a file (a JSON report will do).
fn read_token(word: &str) -> Result<String, Error> {
    if word.starts_with("lc") && word.contains(':') {
        return Ok(word.to_owned());
    }
    let text = std::fs::read_to_string(word)
        .map_err(|error| Error::Usage(format!("{word}: no schedule token (lc1:…), and no file with one: {error}")))?;
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c));
    let token = text.find("lc1:").map(|at| text[at..].split(is_end).next().unwrap_or_default().to_owned());
    token.ok_or_else(|| Error::Usage(format!("{word}: there is no schedule token (lc1:…) in it")))
}
