//! Inputs of a command: the program, the models, the user's settings.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use super::arguments::{DataModelArg, InputArgs};
use crate::config::Config;
use crate::error::Error;
use crate::frontend::coverage::Coverage;
use crate::frontend::{self, DataModel, LoadOptions};
use crate::models::Models;
use crate::pipeline::{self, Entries, RunSettings};
use crate::program::Program;

const MAIN: &str = "main";
/// So many functions are named when there is no `main`.
const SUGGESTED: usize = 4;

/// Everything a command works on.
pub struct Loaded {
    pub program: Program,
    pub models: Models,
    pub config: Config,
    pub run: RunSettings,
    /// As the user wrote them.
    pub names: Vec<String>,
    /// The words after `lockcheck replay TOKEN` that load the same program.
    pub command_line: String,
}

pub fn load(arguments: &InputArgs) -> Result<Loaded, Error> {
    let (config, models) = load_models(arguments)?;
    let program = load_program(arguments)?;
    let names: Vec<String> = arguments.inputs.iter().map(|input| input.display().to_string()).collect();
    let run = run_settings(arguments, &config, &program, &names)?;
    Ok(Loaded { program, models, config, run, command_line: command_line(arguments, &names), names })
}

fn config_file(arguments: &InputArgs) -> Option<PathBuf> {
    match (&arguments.config, arguments.inputs.first()) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(first)) => Config::nearest(first),
        (None, None) => None,
    }
}

/// The user's settings, and what is known of library functions with them.
pub fn load_models(arguments: &InputArgs) -> Result<(Config, Models), Error> {
    let file = config_file(arguments);
    let config = file.as_deref().map_or(Ok(Config::default()), Config::read)?;
    let mut models = Models::embedded();
    let file = || file.clone().unwrap_or_else(|| PathBuf::from(".lockcheck.yaml"));
    models.add_user_entries(&config.functions).map_err(|reason| Error::Config { file: file(), reason })?;
    Ok((config, models))
}

/// The program alone; it need not have an entry.
pub fn load_program(arguments: &InputArgs) -> Result<Program, Error> {
    if let Some(program) = super::model::program(&arguments.inputs)? {
        return Ok(program);
    }
    let data_model = arguments.data_model.map(|model| match model {
        DataModelArg::Bits32 => DataModel::Bits32,
        DataModelArg::Bits64 => DataModel::Bits64,
    });
    let (clang_args, strict) = (arguments.clang_args.clone(), arguments.strict);
    let options = LoadOptions { clang_args, data_model, strict, ..LoadOptions::default() };
    let (mut program, coverages) = frontend::load_and_count(&arguments.inputs, &options)?;
    say_coverage(&coverages);
    if let Ok(directory) = std::env::current_dir() {
        name_files(&mut program, &arguments.inputs, &directory);
    }
    Ok(program)
}

/// Of which objects there is bitcode: beside the report, not in it, because it speaks of the input.
pub fn say_coverage(coverages: &[Coverage]) {
    for coverage in coverages {
        // Nobody is left to be told that standard error is gone.
        let _ = writeln!(std::io::stderr(), "lockcheck: note: {coverage}");
    }
}

/// Names the files that were compiled here so that they can be opened from here: inputs as they were given, others in full.
///
/// clang splits an absolute name where it parts from the current directory, and the second half alone leads nowhere.
fn name_files(program: &mut Program, inputs: &[PathBuf], directory: &Path) {
    let is_source = |input: &&PathBuf| input.extension().is_some_and(|extension| extension == "c" || extension == "i");
    let sources: Vec<(PathBuf, &PathBuf)> =
        inputs.iter().filter(is_source).map(|input| (resolved(&directory.join(input)), input)).collect();
    if sources.is_empty() {
        return;
    }
    for file in &mut program.files {
        let full = resolved(&file.absolute());
        let compiled_in = Path::new(&file.directory).to_owned();
        if let Some((_, input)) = sources.iter().find(|(source, _)| *source == full) {
            file.name = input.display().to_string();
            file.directory = directory.display().to_string();
        } else if compiled_in != directory && directory.starts_with(&compiled_in) {
            file.name = full.display().to_string();
        }
    }
}

/// Without `.` and `..`, by the words of the path alone.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
    }
    resolved
}

fn run_settings(arguments: &InputArgs, config: &Config, program: &Program, names: &[String]) -> Result<RunSettings, Error> {
    let entries = entries(arguments, config, program, names)?;
    let assume_atomic = arguments.assume_atomic.iter().chain(&config.assume_atomic).cloned().collect();
    let (volatile_is_atomic, only_posix) = (config.volatile_is_atomic, config.only_posix);
    Ok(RunSettings { entries, faults: arguments.faults, volatile_is_atomic, only_posix, assume_atomic })
}

/// Where the program begins: as the command line says, else in `main` and the entries of the settings.
fn entries(arguments: &InputArgs, config: &Config, program: &Program, names: &[String]) -> Result<Entries, Error> {
    let inputs = names.join(", ");
    let has_main = program.function_named(MAIN).is_some_and(|main| program.functions[main].is_defined());
    if !arguments.entry.is_empty() {
        return Entries::named(program, &arguments.entry).map_err(|entry| Error::NoEntry { entry, inputs });
    }
    if !has_main && config.entries.is_empty() {
        let suggested = pipeline::suggested(program, SUGGESTED);
        let example = if suggested.is_empty() { "a,b,c".to_owned() } else { suggested.join(",") };
        return Err(Error::NoMain { inputs, example });
    }
    let main = has_main.then(|| MAIN.to_owned());
    let all: Vec<String> = main.into_iter().chain(config.entries.iter().cloned()).collect();
    let file = || config_file(arguments).unwrap_or_else(|| PathBuf::from(".lockcheck.yaml"));
    let unknown =
        |entry| Error::Config { file: file(), reason: format!("`entries` names `{entry}`, which is not defined in {inputs}") };
    Entries::named(program, &all).map_err(unknown)
}

/// The same for commands that also show programs without a beginning: each function of such a one is an entry.
pub fn entries_or_all(arguments: &InputArgs, config: &Config, program: &Program) -> Result<Entries, Error> {
    let names: Vec<String> = arguments.inputs.iter().map(|input| input.display().to_string()).collect();
    match entries(arguments, config, program, &names) {
        Err(Error::NoMain { .. }) => Ok(Entries::default()),
        answer => answer,
    }
}

/// Inputs and the options that change what is loaded, quoted for a shell.
fn command_line(arguments: &InputArgs, names: &[String]) -> String {
    let mut words: Vec<String> = names.iter().map(|name| quote(name)).collect();
    if let Some(model) = arguments.data_model {
        words.push(format!("--data-model {}", if model == DataModelArg::Bits32 { 32 } else { 64 }));
    }
    if !arguments.entry.is_empty() {
        words.push(format!("--entry {}", arguments.entry.join(",")));
    }
    if arguments.faults {
        words.push("--faults".to_owned());
    }
    words.extend(arguments.assume_atomic.iter().map(|name| format!("--assume-atomic {}", quote(name))));
    if let Some(config) = &arguments.config {
        words.push(format!("--config {}", quote(&config.display().to_string())));
    }
    if !arguments.clang_args.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.clang_args.iter().map(|word| quote(word)));
    }
    words.join(" ")
}

/// A word as a shell takes it whole.
fn quote(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_each_word_whole() {
        assert_eq!(quote("a/b-1.c"), "a/b-1.c");
        assert_eq!(quote("my file.c"), "'my file.c'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_path_is_resolved_by_its_words() {
        assert_eq!(resolved(Path::new("/a/./b/../c//d.c")), Path::new("/a/c/d.c"));
        assert_eq!(resolved(Path::new("/../a")), Path::new("/a"));
    }
}
