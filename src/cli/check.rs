//! `lockcheck check`: the main job.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::arguments::{self, CheckArgs, Destination, InputArgs, OutputArgs};
use super::progress::Progress;
use super::{input, model, not_built, output};
use crate::error::Error;
use crate::findings::Check;
use crate::pipeline::{self, ExploreSettings, Settings};
use crate::report::{source::Sources, suppression};

/// So much is executed unless told otherwise: enough for small programs, and over in a moment.
const SCHEDULES: u64 = 400;
const AIMED: u64 = 100;
const STEPS: u64 = 8_000_000;
const AIMED_STEPS: u64 = 2_000_000;
/// With a budget: how many schedules are aimed at one candidate before the rest of the time goes elsewhere.
const MOST_AIMED: u64 = 10_000;

pub fn run(arguments: &CheckArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
    refuse_what_is_not_built(arguments)?;
    if let Some(model) = model::among(&arguments.input.inputs)?.filter(|model| !model.queries.is_empty()) {
        return model::answer(&arguments.input.inputs[0], &model, &arguments.output, destinations);
    }
    let checks = arguments::checks(&arguments.check)?;
    if arguments.jobs == Some(0) {
        return Err(Error::Usage("--jobs 0: at least one thread is needed".to_owned()));
    }
    // With a budget, time is the limit and not the number of schedules.
    let explore = match arguments.budget {
        Some(_) => ExploreSettings { schedules: u64::MAX, aimed: MOST_AIMED, steps: u64::MAX, aimed_steps: u64::MAX, seed: 0 },
        None => ExploreSettings { schedules: SCHEDULES, aimed: AIMED, steps: STEPS, aimed_steps: AIMED_STEPS, seed: 0 },
    };
    if arguments.output.verbose {
        say_what_has_no_effect(arguments);
    }
    let method = Method::Check { explore: (!arguments.no_explore).then_some(explore) };
    let job = Job { checks, method, budget: arguments.budget, jobs: arguments.jobs };
    job.run(&arguments.input, &arguments.output, destinations)
}

fn refuse_what_is_not_built(arguments: &CheckArgs) -> Result<(), Error> {
    let has_property = arguments.check.iter().any(|word| word == Check::Property.name());
    let asked = [
        (has_property, "--check property"),
        (arguments.memory.is_some(), "--memory"),
        (arguments.baseline.is_some(), "--baseline"),
        (arguments.write_baseline.is_some(), "--write-baseline"),
    ];
    match asked.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, option)) => Err(not_built(option)),
        None => Ok(()),
    }
}

/// Options that are understood and change nothing.
fn say_what_has_no_effect(arguments: &CheckArgs) {
    let given = [(arguments.no_refine, "--no-refine has no effect: there is no refinement yet")];
    for (_, sentence) in given.iter().filter(|(is_given, _)| *is_given) {
        // Nobody is left to be told that standard error is gone.
        let _ = writeln!(std::io::stderr(), "lockcheck: note: {sentence}");
    }
}

/// What `check` and `explore` have in common.
pub struct Job {
    pub checks: Vec<Check>,
    pub method: Method,
    pub budget: Option<f64>,
    /// One for each core when nothing is said.
    pub jobs: Option<usize>,
}

/// How a program is looked at.
#[derive(Clone, Copy)]
pub enum Method {
    /// Static engines, then execution.
    Check { explore: Option<ExploreSettings> },
    /// Random schedules alone.
    Random(ExploreSettings),
    /// All executions, up to so many.
    All { executions: u64 },
}

impl Job {
    pub fn run(self, input: &InputArgs, output: &OutputArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
        let started = Instant::now();
        output::check_formats(destinations)?;
        let time = |seconds: f64| {
            Duration::try_from_secs_f64(seconds).map_err(|_| Error::Usage(format!("--budget {seconds} is no time")))
        };
        let budget = self.budget.map(time).transpose()?;
        let progress = Progress::new(output.quiet);
        progress.say("loading");
        let loaded = input::load(input)?;
        let settings = Settings {
            inputs: loaded.names.clone(),
            checks: self.checks,
            run: loaded.run.clone(),
            engines: matches!(self.method, Method::Check { .. }),
            explore: match self.method {
                Method::Check { explore } => explore,
                Method::Random(explore) => Some(explore),
                Method::All { .. } => None,
            },
            budget,
            jobs: self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            ignore: loaded.config.ignore.clone(),
            unused: loaded.config.unused.clone(),
        };
        if matches!(self.method, Method::Random(_)) {
            settings.run.can_be_executed(&loaded.program)?;
        }
        let mut report = match self.method {
            Method::Check { .. } | Method::Random(_) => {
                pipeline::check(&loaded.program, &loaded.models, &settings, started, &|what| progress.say(what))?
            }
            Method::All { executions } => {
                progress.say("executing in every way there is");
                pipeline::exhaust(&loaded.program, &loaded.models, &settings, executions, started)?
            }
        };
        drop(progress);
        let mut sources = Sources::of(&loaded.program);
        suppression::apply(&mut report, &loaded.program, &mut sources);
        output::write(&report, &mut sources, &loaded.command_line, destinations, output)?;
        let code = output::exit_code(&report, output);
        // The process ends: of a large program's report nothing needs to be given back piece by piece.
        std::mem::forget(report);
        Ok(code)
    }
}
