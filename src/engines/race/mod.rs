//! Data races: which conflicting accesses does nothing keep apart?
//!
//! # Method       1. `skeleton`: what of each function matters.  2. `tabulate`: what is certainly held at each point of each context.  3. `reach`: which threads
//!                come to each context, and when.  4. `rows`, `record`: accesses grouped into classes, each with its cover.  5. `pairs`: every two classes that
//!                conflict are refuted for a reason, or are a candidate.  6. `report`: the same in words of the source.  7. `histories`: what lock
//!                histories refute of the candidates.
//! # Theorem      A race that a run of the program shows, without undefined behaviour before it, is among the candidates. (Facts err on the side of more:
//!                more accesses, more threads at the same time, fewer locks.)
//! # Rounds       What races may not be rested on, so that steps 4 and 5 are made again until no further ends of candidates say so. What depends on the accesses alone is kept from
//!                round to round: extents and their sets, covers of locks that stay good, and verdicts as long as creators hold the same locks.
//! # False alarms Flags, condition variables and release/acquire hand-over order nothing here, semaphores only where `semaphores` says so; values of data are known only as far
//!                as branches on lock results need it.
//! # Misses       What the program's assumptions say: unknown functions, inline assembly, undefined behaviour.

mod ahead;
mod arguments;
mod common;
mod cover;
mod creation;
mod excuses;
mod extents;
pub(in crate::engines) mod histories;
mod listed;
pub(in crate::engines) mod names;
mod on_lines;
pub(in crate::engines) mod order;
mod origins;
mod pairs;
pub(in crate::engines) mod reach;
mod record;
mod refuted_groups;
mod report;
mod result;
mod rows;
mod semaphores;
mod signals;
mod spans;
mod streams;
mod words;

use rustc_hash::{FxHashMap, FxHashSet};

pub use result::{
    Candidate, CandidateKey, LockHeld, Protection, QuietCounts, RaceLimit, RaceOptions, RaceResult, RefutedGroup, Side,
};

use crate::deadline::OutOfTime;
use crate::facts::{Facts, JoinedThreads, Location, Manner, Position};
use crate::locks::Family;
use crate::models::BoundModels;
use crate::program::Program;
use crate::thread_pds::holding::{Collected, Prepared, Tabulation};
use crate::thread_pds::{Analysis, ProgramThreads};
use arguments::Arguments;
use cover::Covers;
use creation::CreationLocks;
use histories::Asked;
use order::Orders;
use pairs::{Checker, Judgement, Verdicts};
use reach::Reach;
use record::Records;
use report::Reporter;
use rows::Rows;
use semaphores::Semaphores;

/// All conflicting pairs of accesses of a program: those that something keeps apart, with the reason, and the others.
pub fn check(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>, options: &RaceOptions) -> RaceResult {
    let prepared = prepare(program, models, facts);
    match prepared.solve(options.deadline) {
        Ok((mut tabulation, collected)) => {
            let mut result = judge(&mut tabulation, models, collected, options);
            let asked = Asked::of(&tabulation, &result);
            let Ok(threads) = ProgramThreads::of(&mut tabulation, &asked.targets(), &JoinedThreads::default(), options.deadline)
            else {
                return result;
            };
            let Ok(mut analysis) = Analysis::within(&threads.threads, options.deadline) else { return result };
            histories::refute(&tabulation, &threads, &mut analysis, &asked, &mut result, options.deadline);
            result
        }
        Err(OutOfTime) => RaceResult::out_of_time(),
    }
}

/// What the engine wants to know of a program: what is held at accesses of memory that threads share.
pub fn prepare<'a, 'p>(program: &'a Program, models: &BoundModels<'_>, facts: &'a Facts<'p>) -> Prepared<'a, 'p> {
    let is_shared = |function, block, index| {
        facts.accesses.at(function, block, index).iter().any(|access| record::is_shared(program, facts, function, access))
    };
    Prepared::of(program, models, facts, &is_shared)
}

/// The same without lock histories, when it is known what is held where.
pub fn judge(
    tabulation: &mut Tabulation<'_, '_>,
    models: &BoundModels<'_>,
    collected: Collected,
    options: &RaceOptions,
) -> RaceResult {
    judge_in_time(tabulation, models, collected, options).unwrap_or_else(|OutOfTime| RaceResult::out_of_time())
}

fn judge_in_time(
    tabulation: &mut Tabulation<'_, '_>,
    models: &BoundModels<'_>,
    collected: Collected,
    options: &RaceOptions,
) -> Result<RaceResult, OutOfTime> {
    let (program, facts) = (tabulation.program, tabulation.facts);
    let mut orders = Orders::new(facts, !tabulation.tracked.is_empty());
    let mut reach = Reach::of(facts, tabulation, &mut orders);
    reach.announce(facts, tabulation, &collected.accesses, &mut orders);
    let held_for_threads = CreationLocks::of(facts, tabulation, (&reach, &mut orders), &collected);
    let arguments = Arguments::of(program, models, facts, tabulation, options.deadline)?;
    let tainted: FxHashSet<Family> = collected.tainted.iter().copied().collect();
    let semaphores = Semaphores::of(facts, tabulation, (&reach, &mut orders), &collected);
    let rows = Rows::of(tabulation, (&reach, &mut orders, &arguments), &collected.accesses, options)?;
    let mut covers = Covers::new(program, facts, tainted, &semaphores);
    let (mut unsafe_ground, mut extents, mut verdicts) = (Ground::default(), FxHashMap::default(), Verdicts::default());
    loop {
        covers.unsettle(&mut tabulation.identity, &tabulation.locksets, &unsafe_ground.unsettled);
        let mut creation_locks = held_for_threads.clone();
        creation_locks.retain(|place| !covers.is_bad_place(&mut tabulation.identity, place));
        // What is said of two covers and two sets of points rests on nothing else that changes.
        if creation_locks != *orders.creation_locks() {
            verdicts.clear();
        }
        orders.set_creation_locks(creation_locks);
        let racing = &unsafe_ground.racing;
        let records = Records::of(tabulation, &rows, &mut orders, &mut covers, racing, options)?;
        let mut checker = Checker {
            program,
            facts,
            records: &records,
            covers: &covers,
            orders: &mut orders,
            extents: &mut extents,
            numbers: vec![0; records.classes.len()],
            verdicts: &mut verdicts,
        };
        let judgement = checker.judge(options.deadline)?;
        // A lock that is initialised while others use it protects nothing, and what a race publishes may be known too early. (A lock that is
        // destroyed or freed too early protects until then, and who uses it afterwards breaks the rules of C before any other race.)
        if unsafe_ground.grow(&records, &judgement) {
            continue;
        }
        let reporter = Reporter::new(
            program,
            facts,
            tabulation,
            &records,
            &covers,
            &collected.accesses,
            (&mut reach, &mut orders, &arguments),
        );
        return Ok(reporter.run(&judgement.judged, judgement.quiet, options.deadline));
    }
}

/// What conclusions must not rest on, because it races itself.
#[derive(Default)]
struct Ground {
    /// Where locks and controls lie that are initialised or overwritten while others may use them.
    unsettled: FxHashSet<Location>,
    /// The accesses that are an end of some candidate.
    racing: FxHashSet<Position>,
}

impl Ground {
    /// Adds the ends of candidates. Whether anything must be looked at again.
    fn grow(&mut self, records: &Records, judgement: &Judgement) -> bool {
        let mut is_new = false;
        for (index, is_overwritten) in judgement.ends.iter() {
            let (key, class) = records.classes.get_index(index).expect("a class of the table");
            for member in records.members(class) {
                is_new |= self.racing.insert(member.position) && records.publications.contains(&member.position);
                if member.access.manner == Manner::Operation && is_overwritten {
                    is_new |= self.unsettled.insert(key.location);
                }
            }
        }
        is_new
    }
}
