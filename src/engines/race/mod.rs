//! Data races: which conflicting accesses does nothing keep apart?
//!
//! # Method       1. `skeleton`: what of each function matters.  2. `tabulate`: what is certainly held at each point of each context.  3. `reach`: which threads
//!                come to each context, and when.  4. `record`: accesses grouped into classes, each with its cover.  5. `pairs`: every two classes that
//!                conflict are refuted for a reason, or are a candidate.  6. `report`: the same in words of the source.
//! # Theorem      A race that a run of the program shows, without undefined behaviour before it, is among the candidates. (Facts err on the side of more:
//!                more accesses, more threads at the same time, fewer locks.)
//! # False alarms Flags, semaphores, condition variables and release/acquire hand-over order nothing here; values of data are known only as far
//!                as branches on lock results need it.
//! # Misses       What the program's assumptions say: unknown functions, inline assembly, undefined behaviour.

mod arguments;
mod cover;
mod creation;
mod excuses;
mod names;
mod order;
mod pairs;
mod reach;
mod record;
mod report;
mod result;
mod words;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

pub use result::{
    Candidate, CandidateKey, LockHeld, Protection, QuietCounts, RaceLimit, RaceOptions, RaceResult, RefutedGroup, Side,
};

use crate::deadline::OutOfTime;
use crate::facts::{Facts, Location, Manner, Position};
use crate::locks::Family;
use crate::models::BoundModels;
use crate::program::Program;
use crate::thread_pds::holding::{self, Identity, Kinds, Tabulation};
use arguments::Arguments;
use cover::Covers;
use creation::CreationLocks;
use order::Orders;
use pairs::{Checker, Judgement};
use reach::Reach;
use record::Records;
use report::Reporter;

/// All conflicting pairs of accesses of a program: those that something keeps apart, with the reason, and the others.
pub fn check(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>, options: &RaceOptions) -> RaceResult {
    match check_in_time(program, models, facts, options) {
        Ok(result) => result,
        Err(OutOfTime) => RaceResult { limits: vec![RaceLimit::OutOfTime], ..RaceResult::default() },
    }
}

fn check_in_time(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    options: &RaceOptions,
) -> Result<RaceResult, OutOfTime> {
    let is_shared = |function, block, index| {
        facts.accesses.at(function, block, index).iter().any(|access| record::is_shared(program, facts, function, access))
    };
    let skeletons = holding::skeletons(program, models, facts, &is_shared);
    let kinds = Kinds::of(program, models, facts);
    let mut tabulation =
        Tabulation::new(program, facts, &skeletons, &kinds, BTreeSet::new(), Identity::new(program, facts), options.deadline);
    tabulation.solve()?;
    let mut collected = tabulation.collect();
    if !collected.held_at_creation.is_empty() {
        // Some thread begins under a lock: whether it has taken that lock since is worth knowing.
        tabulation = Tabulation::new(
            program,
            facts,
            &skeletons,
            &kinds,
            collected.held_at_creation,
            tabulation.identity,
            options.deadline,
        );
        tabulation.solve()?;
        collected = tabulation.collect();
    }
    let mut orders = Orders::new(facts, !tabulation.tracked.is_empty());
    let mut reach = Reach::of(facts, &tabulation, &mut orders);
    reach.announce(facts, &tabulation, &collected.accesses, &mut orders);
    let held_for_threads = CreationLocks::of(facts, &mut tabulation, (&reach, &mut orders), &collected);
    let arguments = Arguments::of(program, models, facts, &tabulation);
    let tainted: FxHashSet<Family> = collected.tainted.iter().copied().collect();
    let mut unsafe_ground = Ground::default();
    loop {
        let mut covers = Covers::new(program, facts, tainted.clone(), unsafe_ground.unsettled.clone());
        let mut creation_locks = held_for_threads.clone();
        creation_locks.retain(|place| !covers.is_bad_place(&mut tabulation.identity, place));
        orders.set_creation_locks(creation_locks);
        let racing = &unsafe_ground.racing;
        let records =
            Records::of(&mut tabulation, (&reach, &mut orders, &arguments), &collected.accesses, &mut covers, racing, options);
        let mut checker = Checker { facts, records: &records, covers: &covers, orders: &mut orders };
        let judgement = checker.judge(options.deadline)?;
        // A lock that is initialised while others use it protects nothing, and what a race publishes may be known too early.
        if unsafe_ground.grow(&records, &judgement) {
            continue;
        }
        let reporter = Reporter::new(
            program,
            facts,
            &tabulation,
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
        for (index, other_writes) in judgement.ends.iter() {
            let (key, class) = records.classes.get_index(index).expect("a class of the table");
            for member in &class.members {
                is_new |= self.racing.insert(member.position) && records.rests_on_publications;
                if member.access.manner == Manner::Operation && other_writes {
                    is_new |= self.unsettled.insert(key.location);
                }
            }
        }
        is_new
    }
}
