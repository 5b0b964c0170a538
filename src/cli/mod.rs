//! The commands: arguments to a report and an exit code. The only part that prints.

pub mod arguments;
mod check;
mod emit;
mod explore;
mod extract;
mod input;
mod model;
mod output;
mod progress;
mod replay;

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::error::Error;
use crate::findings::Rule;
use crate::report::explain;
use arguments::{Cli, Command, Destination};

/// Runs the command on the process's arguments.
pub fn run() -> ExitCode {
    let (cli, destinations) = Cli::from_arguments();
    match dispatch(cli, &destinations) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to be told that standard error is gone.
            let _ = writeln!(std::io::stderr(), "lockcheck: error: {error}");
            ExitCode::from(Error::EXIT_CODE)
        }
    }
}

fn dispatch(cli: Cli, destinations: &[Destination]) -> Result<ExitCode, Error> {
    match cli.command {
        None => check::run(&cli.check, destinations),
        Some(Command::Check(arguments)) => check::run(&arguments, destinations),
        Some(Command::Explore(arguments)) => explore::run(&arguments, destinations),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Emit(arguments)) => emit::run(&arguments),
        Some(Command::Explain { rule }) => explain(rule.as_deref()),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "lockcheck", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Certify { .. }) => Err(not_built("certify")),
        Some(Command::Extract { program, strict, output }) => extract::run(&program, strict, &output),
    }
}

fn not_built(what: &str) -> Error {
    Error::Usage(format!("`{what}` is not built yet"))
}

fn explain(rule: Option<&str>) -> Result<ExitCode, Error> {
    let known = || Rule::ALL.map(Rule::name).join(", ");
    match rule {
        None => output::print(&format!("Rules: {}\nlockcheck explain RULE says what one means.\n", known()))?,
        Some(word) => match Rule::from_name(word) {
            Some(rule) => output::print(explain::page(rule))?,
            None => return Err(Error::Usage(format!("there is no rule `{word}`; there are: {}", known()))),
        },
    }
    Ok(ExitCode::SUCCESS)
}
