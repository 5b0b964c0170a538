//! `lockcheck explore`: execute under many schedules, and say how many.

use std::process::ExitCode;

use super::arguments::{Destination, ExploreArgs, Strategy};
use super::check::Job;
use super::not_built;
use crate::error::Error;
use crate::findings::Check;
use crate::pipeline::ExploreSettings;

pub fn run(arguments: &ExploreArgs, destinations: &[Destination]) -> Result<ExitCode, Error> {
    if arguments.strategy != Strategy::Random {
        return Err(not_built(&format!("explore --strategy {}", format!("{:?}", arguments.strategy).to_lowercase())));
    }
    let explore = ExploreSettings { schedules: arguments.schedules, steps: u64::MAX, seed: arguments.seed };
    let checks = vec![Check::Race, Check::Deadlock, Check::Misuse, Check::Safety];
    // The counts of executions and transitions are what this command is for.
    let output = super::arguments::OutputArgs { verbose: true, ..arguments.output.clone() };
    Job { checks, explore: Some(explore), budget: arguments.budget }.run(&arguments.input, &output, destinations)
}
