//! Static engines: functions from a program and its facts to candidates, each with what refutes it or what does not.

pub mod deadlock;
pub mod product;
pub mod queries;
pub mod race;
pub mod reachability;
mod systems;

pub use systems::NamedSystems;

use crate::facts::{Facts, JoinedThreads};
use crate::models::BoundModels;
use crate::program::Program;
use crate::thread_pds::{Analysis, ProgramThreads};
use deadlock::DeadlockResult;
use race::histories::Asked;
use race::{RaceLimit, RaceOptions, RaceResult};

/// What the engines for C programs say; `None` for those that were not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    pub races: Option<RaceResult>,
    pub deadlocks: Option<DeadlockResult>,
}

/// Which engines are to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub races: bool,
    pub deadlocks: bool,
}

/// Contexts of a program beyond which races are not looked at once more by histories, when nothing else needs those.
const MOST_CONTEXTS: usize = 15_000;

/// Runs the engines; what is held where is found once for all of them.
pub fn run(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>, wanted: Wanted, options: &RaceOptions) -> Results {
    let prepared = race::prepare(program, models, facts);
    let Ok((mut tabulation, collected)) = prepared.solve(options.deadline) else {
        return Results {
            races: wanted.races.then(RaceResult::out_of_time),
            deadlocks: wanted.deadlocks.then(DeadlockResult::out_of_time),
        };
    };
    let mut races = wanted.races.then(|| race::judge(&mut tabulation, models, collected, options));
    if options.deadline.check().is_err() {
        return Results { races, deadlocks: wanted.deadlocks.then(DeadlockResult::out_of_time) };
    }
    // Histories only refute, and of what is as tangled as this they refute nothing in the time there is.
    if !wanted.deadlocks && tabulation.contexts.all.len() > MOST_CONTEXTS {
        if let Some(races) = races.as_mut().filter(|races| !races.candidates.is_empty()) {
            races.limits.push(RaceLimit::WithoutHistories);
        }
        return Results { races, deadlocks: None };
    }
    // One system a thread, for both.
    let asked = races.as_ref().map(|races| Asked::of(&tabulation, races));
    let mut targets = asked.as_ref().map_or_else(Default::default, Asked::targets);
    if targets.is_empty() && !wanted.deadlocks {
        return Results { races, deadlocks: None };
    }
    if wanted.deadlocks {
        targets.extend(deadlock::signal_sites(program, models, facts));
    }
    // Without them races stay what they are: histories only refute.
    let out_of_time = || wanted.deadlocks.then(DeadlockResult::out_of_time);
    let joins = match wanted.deadlocks {
        true => JoinedThreads::of(program, models, (&facts.points_to, &facts.call_graph, &facts.accesses), options.deadline),
        false => Ok(JoinedThreads::default()),
    };
    let Ok(joins) = joins else { return Results { races, deadlocks: out_of_time() } };
    let Ok(threads) = ProgramThreads::of(&mut tabulation, &targets, &joins, options.deadline) else {
        return Results { races, deadlocks: out_of_time() };
    };
    let Ok(mut analysis) = Analysis::within(&threads.threads, options.deadline) else {
        return Results { races, deadlocks: out_of_time() };
    };
    if let (Some(races), Some(asked)) = (&mut races, &asked) {
        race::histories::refute(&tabulation, &threads, &mut analysis, asked, races, options.deadline);
    }
    let deadlocks = wanted.deadlocks.then(|| deadlock::check(&mut tabulation, models, &threads, &mut analysis));
    Results { races, deadlocks }
}
