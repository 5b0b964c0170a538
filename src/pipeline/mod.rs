//! The whole method on one screen: a program in, a report out.
//!
//! Static engines raise candidates and refute what they can, each with a reason. The machine executes the program under random
//! schedules, and under schedules aimed at the candidates that are left: what it shows, and shows again, is confirmed. What is neither
//! refuted nor shown is possible, and says what was not excluded.

mod assumed;
mod deadlocks;
mod entries;
mod execution;
mod exhaustion;
mod externals;
mod locks;
mod possible;
mod races;
mod replay;
mod settings;
mod states;
mod suspected;
mod systems;
mod threads;

use std::time::Instant;

use crate::engines::race::RaceOptions;
use crate::engines::{self, Wanted};
use crate::error::Error;
use crate::facts::Facts;
use crate::findings::{Check, Finding, Mebibytes, Report};
use crate::models::Models;
use crate::program::Program;
pub use entries::{Entries, suggested};
use execution::Execution;
pub use exhaustion::exhaust;
pub use externals::externals;
pub use replay::{Replayed, replay};
pub use settings::{ExploreSettings, RunSettings, Settings};
use suspected::Suspected;
pub use systems::systems;
pub use threads::threads;

/// Checks a program. `progress` is told what is being done.
pub fn check(
    program: &Program,
    models: &Models,
    settings: &Settings,
    started: Instant,
    progress: &dyn Fn(&str),
) -> Result<Report, Error> {
    let bound = models.bind(program);
    let machine = execution::machine(program, &bound, &settings.run, &settings.inputs)?;
    let mut clock = Clock { last: started };
    let load = clock.lap();

    progress("looking who touches what");
    let wants = |check: Check| settings.engines && settings.checks.contains(&check);
    // Threads that wait for themselves are misuses, and the deadlock engine finds them.
    let wanted = Wanted { races: wants(Check::Race), deadlocks: wants(Check::Deadlock) || wants(Check::Misuse) };
    let deadline = settings.static_deadline(started);
    let facts = match wanted.races || wanted.deadlocks {
        true => Facts::within(program, &bound, settings.run.entries.of_library(program).as_deref(), deadline).ok(),
        false => None,
    };
    let facts_time = clock.lap();

    progress("looking for races and deadlocks");
    let options = RaceOptions {
        volatile_is_atomic: settings.run.volatile_is_atomic,
        assume_atomic: settings.run.assume_atomic.clone(),
        distrusts_library: settings.run.only_posix,
        deadline,
    };
    let results = facts.as_ref().map(|facts| (facts, engines::run(program, &bound, facts, wanted, &options)));
    let suspected = results.map(|(facts, results)| Suspected::new(program, facts, results, &settings.checks)).unwrap_or_default();
    let engines_time = clock.lap();

    let executed = Execution::run(&machine, suspected.aims(), settings, started, progress);
    progress("replaying what was found");
    let mut findings: Vec<Finding> = executed.confirm(&machine, settings, started);
    let contradictions = suspected.contradictions(&findings);
    findings.extend(suspected.not_shown(&executed, &findings));
    findings.iter_mut().for_each(|finding| finding.protection = suspected.forgotten_by(finding));
    let explore_time = clock.lap();

    let assumptions = assumed::all(program, &bound, facts.as_ref(), &machine, settings, &executed);
    let limits = states::limits(&suspected, &executed, settings);
    let mut report = Report {
        inputs: settings.inputs.clone(),
        checks: states::states(&findings, &assumptions, &suspected, settings),
        findings,
        refuted: suspected.refuted(),
        protection: suspected.protection(),
        assumptions,
        limits,
        notes: contradictions,
        statistics: states::statistics(program, facts.as_ref(), &suspected, &executed),
    };
    finish(&mut report, settings);
    let seconds = &mut report.statistics.seconds;
    (seconds.load, seconds.facts, seconds.engines, seconds.explore) =
        (load.seconds, facts_time.seconds, engines_time.seconds, explore_time.seconds);
    report.statistics.mebibytes = Mebibytes {
        load: load.mebibytes,
        facts: facts_time.mebibytes,
        engines: engines_time.mebibytes,
        explore: explore_time.mebibytes,
    };
    report.statistics.locks = facts.as_ref().map_or(0, |facts| locks::count(program, &bound, facts));
    Ok(report)
}

/// Sorts the findings and marks those that the settings ignore.
fn finish(report: &mut Report, settings: &Settings) {
    for finding in &mut report.findings {
        let ignored = settings.ignore.iter().find(|entry| entry.matches(finding.rule.name(), &finding.object));
        finding.suppressed = ignored.map(|entry| entry.because.clone());
    }
    report.findings.sort_by_key(|finding| {
        let place = finding.ends.iter().find_map(|end| end.place.as_ref());
        let (file, line, column) = place.map_or((String::new(), 0, 0), |place| (place.file.clone(), place.line, place.column));
        (file, line, column, finding.rule, finding.id.clone())
    });
}

/// What a stage took: wall time, and the most memory up to its end.
struct Lap {
    seconds: f64,
    mebibytes: u64,
}

struct Clock {
    last: Instant,
}

impl Clock {
    fn lap(&mut self) -> Lap {
        let before = std::mem::replace(&mut self.last, Instant::now());
        Lap { seconds: (self.last - before).as_secs_f64(), mebibytes: states::peak_rss_mib() }
    }
}
