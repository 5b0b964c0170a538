//! `lockcheck explore`: the machine alone, under many schedules or under all of them, and how many there were.

use std::process::ExitCode;

use super::arguments::{Destination, ExploreArgs, Strategy};
use super::check::{Job, Method};
use super::not_built;
use crate::error::Error;
use crate::findings::Check;
use crate::pipeline::ExploreSettings;

/// Unless `--schedules` says otherwise.
const RANDOM_SCHEDULES: u64 = 1_000;
const ALL_EXECUTIONS: u64 = 200_000;

pub fn run(arguments: &ExploreArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
    let method = match arguments.strategy {
        Strategy::Random => {
            let schedules = arguments.schedules.unwrap_or(RANDOM_SCHEDULES);
            Method::Random(ExploreSettings { schedules, aimed: 0, steps: u64::MAX, aimed_steps: 0, seed: arguments.seed })
        }
        Strategy::Dfs => Method::All { executions: arguments.schedules.unwrap_or(ALL_EXECUTIONS) },
        Strategy::Dpor | Strategy::Optimal | Strategy::Pdp | Strategy::Stateful => {
            return Err(not_built(&format!("explore --strategy {}", format!("{:?}", arguments.strategy).to_lowercase())));
        }
    };
    if arguments.jobs == Some(0) {
        return Err(Error::Usage("--jobs 0: at least one thread is needed".to_owned()));
    }
    let checks = vec![Check::Race, Check::Deadlock, Check::Misuse, Check::Safety];
    // The counts of executions and transitions are what this command is for.
    let output = super::arguments::OutputArgs { verbose: true, ..arguments.output.clone() };
    Job { checks, method, budget: arguments.budget, jobs: arguments.jobs }.run(&arguments.input, &output, destinations)
}
