//! One schedule, run again in a fresh machine: its bugs are found anew.

use super::execution::{STEPS_PER_RUN, machine};
use super::settings::RunSettings;
use crate::error::Error;
use crate::explore::machine::End as RunEnd;
use crate::explore::run::{Limits, run as execute};
use crate::explore::schedule::Schedule;
use crate::explore::scheduler::Fixed;
use crate::explore::transcript::Transcript;
use crate::findings::Step;
use crate::models::Models;
use crate::program::Program;

pub struct Replayed {
    pub steps: Vec<Step>,
    /// The bugs that the run has shown.
    pub messages: Vec<String>,
    /// How the run ended, in words.
    pub end: String,
}

pub fn replay(program: &Program, models: &Models, run: &RunSettings, inputs: &[String], token: &str) -> Result<Replayed, Error> {
    let schedule: Schedule = token.parse().map_err(|error| Error::Usage(format!("{error}")))?;
    run.can_be_executed(program)?;
    let mut machine = machine(program, &models.bind(program), run, inputs)?;
    if schedule.fingerprint() != machine.fingerprint() {
        return Err(Error::Usage(format!(
            "{}: the program has changed since this schedule was recorded; check it again",
            inputs.join(", ")
        )));
    }
    let mut transcript = Transcript::default();
    let limits = Limits { steps: STEPS_PER_RUN, ..Limits::default() };
    let report = execute(&mut machine, &mut Fixed::new(schedule), &limits, &mut transcript);
    if let RunEnd::Diverged { step, wanted } = report.end {
        return Err(Error::Usage(format!(
            "{}: thread {wanted} cannot take step {step} of this schedule; were other options given?",
            inputs.join(", ")
        )));
    }
    let (steps, bugs) = transcript.finish(&machine);
    Ok(Replayed { steps, messages: bugs.into_iter().map(|bug| bug.message).collect(), end: report.end.to_string() })
}
