//! Writing reports, and the exit code that follows from one.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use super::arguments::{Color, Destination, FailOn, Format, OutputArgs};
use crate::error::Error;
use crate::findings::{Finding, Report, Verdict};
use crate::report::source::Sources;
use crate::report::{json, text};

pub const FOUND: u8 = 1;
pub const INCOMPLETE: u8 = 3;

/// Refuses forms that do not exist before any work is done.
pub fn check_formats(destinations: &[Destination]) -> Result<(), Error> {
    match destinations.iter().find(|destination| !matches!(destination.format, Format::Text | Format::Json)) {
        Some(Destination { format, .. }) => {
            Err(Error::Usage(format!("--format {} is not built yet", format!("{format:?}").to_lowercase())))
        }
        None => Ok(()),
    }
}

/// Writes the report in each form asked for.
pub fn write(
    report: &Report,
    sources: &mut Sources,
    command_line: &str,
    destinations: &[Destination],
    arguments: &OutputArgs,
) -> Result<(), Error> {
    for destination in destinations {
        let color = destination.file.is_none() && use_color(arguments.color);
        let rendered = match destination.format {
            Format::Json => json::render(report),
            _ => {
                let options = text::TextOptions {
                    color,
                    inputs: command_line.to_owned(),
                    verbose: arguments.verbose,
                    quiet: arguments.quiet,
                };
                text::render(report, sources, &options)
            }
        };
        match &destination.file {
            Some(file) => write_file(file, &rendered)?,
            None => print(&rendered)?,
        }
    }
    Ok(())
}

pub fn use_color(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Prints to standard output. A reader that has gone away wants no more.
pub fn print(text: &str) -> Result<(), Error> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Usage(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn write_file(file: &Path, content: &str) -> Result<(), Error> {
    std::fs::write(file, content).map_err(|error| Error::Usage(format!("{}: cannot be written: {error}", file.display())))
}

/// 1 for findings at or above the threshold, 3 when there is nothing but the analysis is not complete, else 0.
pub fn exit_code(report: &Report, arguments: &OutputArgs) -> ExitCode {
    let counts = |verdict: &Verdict| match arguments.fail_on {
        FailOn::Never => false,
        FailOn::Confirmed => matches!(verdict, Verdict::Confirmed { .. }),
        FailOn::Possible => true,
    };
    let has_findings = report.findings.iter().any(|finding| finding.suppressed.is_none() && counts(&finding.verdict));
    // What is only possible is not decided.
    let is_open = |finding: &Finding| finding.suppressed.is_none() && matches!(finding.verdict, Verdict::Possible { .. });
    let is_complete = report.is_complete() && !report.findings.iter().any(is_open);
    if has_findings {
        ExitCode::from(FOUND)
    } else if is_complete || arguments.allow_incomplete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INCOMPLETE)
    }
}
