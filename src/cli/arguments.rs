//! The command line: words in, one [`Command`] out.

use std::path::PathBuf;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::error::Error;
use crate::findings::Check;

#[derive(Debug, Parser)]
#[command(
    name = "lockcheck",
    version,
    about = "Finds, proves and explains concurrency bugs in C: data races, deadlocks, atomicity violations",
    long_about = None,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit codes: 0 nothing found; 1 findings; 2 bad usage or input; 3 nothing found, but incomplete; 101 a bug of lockcheck's."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub check: CheckArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a program (the default command)
    Check(CheckArgs),
    /// Run one schedule again, step by step
    Replay(ReplayArgs),
    /// Execute the program under many schedules
    Explore(ExploreArgs),
    /// Print what a stage of the pipeline made
    Emit(EmitArgs),
    /// Prove the refutations of an earlier report again
    Certify { report: PathBuf, inputs: Vec<PathBuf> },
    /// What a rule means, with a bad and a good example
    Explain {
        /// data-race, deadlock, …; all rules are listed when none is given
        rule: Option<String>,
    },
    /// Write the linked bitcode that lockcheck-cc embedded
    Extract {
        #[arg(required = true)]
        program: Vec<PathBuf>,
        /// Missing bitcode is an error
        #[arg(long)]
        strict: bool,
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// What is loaded, and how.
#[derive(Debug, Args, Clone)]
pub struct InputArgs {
    /// A program, object or archive built by lockcheck-cc, C (.c, .i), compile_commands.json, bitcode (.bc), LLVM text (.ll), or a
    /// program in text form; several are linked into one program
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Compile C for this model, and insist that bitcode has it
    #[arg(long, value_name = "32|64")]
    pub data_model: Option<DataModelArg>,
    /// Settings [default: the nearest .lockcheck.yaml upwards of the first input]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The functions of a library that its users call, at the same time and any number of times: a,b,c [default: main]
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',')]
    pub entry: Vec<String>,
    /// Accesses to this variable count as atomic
    #[arg(long, value_name = "NAME")]
    pub assume_atomic: Vec<String>,
    /// Let allocations fail and condition variables wake without a signal
    #[arg(long)]
    pub faults: bool,
    /// Missing bitcode is an error
    #[arg(long)]
    pub strict: bool,
    /// Given to clang for each C file
    #[arg(last = true, value_name = "CLANG-ARGS")]
    pub clang_args: Vec<String>,
}

/// How much may be spent, and how it is shown.
#[derive(Debug, Args, Clone)]
pub struct OutputArgs {
    /// The form of the report; each may be followed by its --output
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Vec<Format>,
    /// Where the report goes [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Which findings give exit code 1
    #[arg(long, value_enum, default_value = "possible")]
    pub fail_on: FailOn,
    /// Exit with 0, not 3, when nothing was found but the analysis is not complete
    #[arg(long)]
    pub allow_incomplete: bool,
    #[arg(short, long)]
    pub verbose: bool,
    /// Print findings only
    #[arg(short, long)]
    pub quiet: bool,
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Debug, Args, Clone)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// What to look for: race, deadlock, atomicity, misuse, safety [default: all of them]
    #[arg(long, value_delimiter = ',', value_name = "CHECK")]
    pub check: Vec<String>,
    /// Wall time of the whole run; what is not decided by then is reported as such
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<f64>,
    /// Memory that may be used
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Threads to work with [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Do not execute the program
    #[arg(long)]
    pub no_explore: bool,
    /// Do not refine predicates
    #[arg(long)]
    pub no_refine: bool,
    /// Report only what is not in this file
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all findings to this file, to be passed as --baseline later
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The schedule of a finding (lc1:…), or a file with one
    pub schedule: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Debug, Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// How schedules are chosen
    #[arg(long, value_enum, default_value = "random")]
    pub strategy: Strategy,
    /// How many schedules to run [default: 1000; with dfs at most 200000]
    #[arg(long, short = 'n', value_name = "N")]
    pub schedules: Option<u64>,
    /// Where random choices begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Wall time of the whole run
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<f64>,
    /// Threads to work with [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

#[derive(Debug, Args)]
pub struct EmitArgs {
    #[arg(value_enum)]
    pub kind: EmitKind,
    #[command(flatten)]
    pub input: InputArgs,
    /// As a graph in DOT
    #[arg(long)]
    pub dot: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataModelArg {
    #[value(name = "32")]
    Bits32,
    #[value(name = "64")]
    Bits64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Html,
    Witness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Confirmed,
    Possible,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    Random,
    Dfs,
    Dpor,
    Optimal,
    Pdp,
    Stateful,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitKind {
    Program,
    Threads,
    Pds,
    Histories,
    LockOrder,
    Externals,
}

/// A report to be written: its form, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub format: Format,
    /// `None` is standard output.
    pub file: Option<PathBuf>,
}

impl Cli {
    /// Parses the arguments and pairs each `--output` with the `--format` before it. Ends the process for help and usage errors.
    pub fn from_arguments() -> (Cli, Vec<Destination>) {
        let matches = Cli::command().get_matches();
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let of_command = match matches.subcommand() {
            Some((_, sub)) => sub,
            None => &matches,
        };
        let destinations = destinations(of_command)
            .unwrap_or_else(|error| Cli::command().error(clap::error::ErrorKind::ArgumentConflict, error).exit());
        (cli, destinations)
    }
}

fn destinations(matches: &ArgMatches) -> Result<Vec<Destination>, String> {
    let positioned = |name: &str| -> Vec<usize> {
        matches.try_contains_id(name).ok().and_then(|_| matches.indices_of(name)).map_or(Vec::new(), Iterator::collect)
    };
    if !matches!(matches.try_contains_id("format"), Ok(true)) && !matches!(matches.try_contains_id("output"), Ok(true)) {
        return Ok(vec![Destination { format: Format::Text, file: None }]);
    }
    let Ok(Some(formats)) = matches.try_get_many::<Format>("format") else {
        // `--output` without a format: the text report, in a file. Other commands' `--output` is their own.
        let files = matches.try_get_many::<PathBuf>("output").ok().flatten().map_or(Vec::new(), |files| files.cloned().collect());
        return match files.as_slice() {
            [file] => Ok(vec![Destination { format: Format::Text, file: Some(file.clone()) }]),
            _ => Err("each --output needs the --format it belongs to before it".to_owned()),
        };
    };
    let mut destinations: Vec<(usize, Destination)> = positioned("format")
        .into_iter()
        .zip(formats)
        .map(|(at, format)| (at, Destination { format: *format, file: None }))
        .collect();
    let files = matches.try_get_many::<PathBuf>("output").ok().flatten().into_iter().flatten();
    for (at, file) in positioned("output").into_iter().zip(files) {
        match destinations.iter_mut().rev().find(|(format_at, _)| *format_at < at) {
            Some((_, destination)) if destination.file.is_none() => destination.file = Some(file.clone()),
            _ => return Err(format!("--output {} has no --format of its own before it", file.display())),
        }
    }
    if destinations.iter().filter(|(_, destination)| destination.file.is_none()).count() > 1 {
        return Err("only one report can go to standard output: give the others an --output".to_owned());
    }
    Ok(destinations.into_iter().map(|(_, destination)| destination).collect())
}

/// The checks asked for.
pub fn checks(words: &[String]) -> Result<Vec<Check>, Error> {
    if words.is_empty() {
        return Ok(Check::DEFAULT.to_vec());
    }
    let known = || Check::DEFAULT.map(Check::name).join(", ");
    let parse = |word: &String| {
        Check::from_name(word).ok_or_else(|| Error::Usage(format!("there is no check `{word}`; there are: {}", known())))
    };
    words.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Vec<Destination>, String> {
        let words = ["lockcheck"].into_iter().chain(words.iter().copied());
        let matches = Cli::command().try_get_matches_from(words).map_err(|error| error.to_string())?;
        destinations(matches.subcommand().map_or(&matches, |(_, sub)| sub))
    }

    #[test]
    fn outputs_belong_to_the_format_before_them() {
        let text = Destination { format: Format::Text, file: None };
        let json = Destination { format: Format::Json, file: Some("r.json".into()) };
        assert_eq!(parse(&["a.c"]), Ok(vec![text.clone()]));
        assert_eq!(
            parse(&["a.c", "--format", "json", "--output", "r.json", "--format", "text"]),
            Ok(vec![json.clone(), text.clone()])
        );
        assert_eq!(parse(&["check", "a.c", "--format", "text", "--format", "json", "--output", "r.json"]), Ok(vec![text, json]));
        assert!(parse(&["a.c", "--output", "r.json", "--format", "json"]).is_err());
        assert!(parse(&["a.c", "--format", "text", "--format", "json"]).is_err());
        assert!(parse(&["explain", "deadlock"]).is_ok());
    }

    #[test]
    fn the_default_command_is_check() {
        let cli = Cli::try_parse_from(["lockcheck", "a.bc", "b.bc", "--", "-DX"]).unwrap();
        assert_eq!(cli.check.input.inputs.len(), 2);
        assert_eq!(cli.check.input.clang_args, ["-DX"]);
        assert!(Cli::try_parse_from(["lockcheck"]).is_err());
    }
}
