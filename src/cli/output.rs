//! Writing reports, and the exit code that follows from one.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
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
        let mut render = |output: &mut dyn Write| match destination.format {
            Format::Json => json::write(report, output),
            _ => {
                let options = text::TextOptions {
                    color,
                    inputs: command_line.to_owned(),
                    verbose: arguments.verbose,
                    quiet: arguments.quiet,
                };
                text::write(report, sources, &options, output)
            }
        };
        match &destination.file {
            Some(file) => write_file(file, &mut render)?,
            None => print_pieces(&mut render)?,
        }
    }
    Ok(())
}

/// Writes to the place it is given.
type Render<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

pub fn use_color(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<(), Error> {
    print_pieces(&mut |output| output.write_all(text.as_bytes()))
}

/// A reader that has gone away wants no more.
fn print_pieces(render: Render<'_>) -> Result<(), Error> {
    let mut output = BufWriter::new(io::stdout().lock());
    match render(&mut output).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Usage(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn write_file(file: &Path, render: Render<'_>) -> Result<(), Error> {
    let written = std::fs::File::create(file).and_then(|file| {
        let mut output = BufWriter::new(file);
        render(&mut output)?;
        output.flush()
    });
    written.map_err(|error| Error::Usage(format!("{}: cannot be written: {error}", file.display())))
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
