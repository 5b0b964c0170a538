//! `lockcheck check`: the main job.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::arguments::{self, CheckArgs, Destination, InputArgs, OutputArgs};
use super::progress::Progress;
use super::{input, not_built, output};
use crate::error::Error;
use crate::findings::Check;
use crate::pipeline::{self, ExploreSettings, Settings};
use crate::report::{source::Sources, suppression};

/// So much is executed unless told otherwise: enough for small programs, and over in a moment.
const SCHEDULES: u64 = 400;
const STEPS: u64 = 8_000_000;

pub fn run(arguments: &CheckArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
    refuse_what_is_not_built(arguments)?;
    let checks = arguments::checks(&arguments.check)?;
    if arguments.jobs == Some(0) {
        return Err(Error::Usage("--jobs 0: at least one thread is needed".to_owned()));
    }
    // With a budget, time is the limit and not the number of schedules.
    let explore = match arguments.budget {
        Some(_) => ExploreSettings { schedules: u64::MAX, steps: u64::MAX, seed: 0 },
        None => ExploreSettings { schedules: SCHEDULES, steps: STEPS, seed: 0 },
    };
    let job = Job { checks, explore: (!arguments.no_explore).then_some(explore), budget: arguments.budget };
    job.run(&arguments.input, &arguments.output, destinations)
}

fn refuse_what_is_not_built(arguments: &CheckArgs) -> Result<(), Error> {
    let has_property = arguments.check.iter().any(|word| word == Check::Property.name());
    let asked = [(has_property, "--check property"), (arguments.memory.is_some(), "--memory"), (arguments.baseline.is_some(), "--baseline"), (arguments.write_baseline.is_some(), "--write-baseline")];
    match asked.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, option)) => Err(not_built(option)),
        None => Ok(()),
    }
}

/// What `check` and `explore` have in common.
pub struct Job {
    pub checks: Vec<Check>,
    pub explore: Option<ExploreSettings>,
    pub budget: Option<f64>,
}

impl Job {
    pub fn run(self, input: &InputArgs, output: &OutputArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
        let started = Instant::now();
        output::check_formats(destinations)?;
        let time = |seconds: f64| Duration::try_from_secs_f64(seconds).map_err(|_| Error::Usage(format!("--budget {seconds} is no time")));
        let budget = self.budget.map(time).transpose()?;
        let progress = Progress::new(output.quiet);
        progress.say("loading");
        let loaded = input::load(input)?;
        let settings = Settings {
            inputs: loaded.names.clone(),
            checks: self.checks,
            run: loaded.run.clone(),
            explore: self.explore,
            budget,
            ignore: loaded.config.ignore.clone(),
            unused: loaded.config.unused.clone(),
        };
        let mut report = pipeline::check(&loaded.program, &loaded.models, &settings, started, &|what| progress.say(what))?;
        drop(progress);
        let mut sources = Sources::of(&loaded.program);
        suppression::apply(&mut report, &loaded.program, &mut sources);
        output::write(&report, &mut sources, &loaded.command_line, destinations, output)?;
        Ok(output::exit_code(&report, output))
    }
}
