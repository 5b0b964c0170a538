//! One model, both engines: what they must agree on, and what they do not decide.

use std::collections::BTreeSet;

use lockcheck::engines::deadlock::{Dismissal, Member, deadlocks};
use lockcheck::engines::product::Product;
use lockcheck::engines::reachability::{Answer, Refutation};
use lockcheck::locks::history::{Doubt, Doubts, Incompatible};
use lockcheck::pushdown::SymbolId;
use lockcheck::thread_model::ThreadModel;
use lockcheck::thread_pds::{Analysis, ModelThreads};

use super::random::Random;
use super::support::{Place, ask, doubts, is_decided, places};

/// What came of the questions about models.
#[derive(Debug, Default)]
pub struct Tally {
    pub models: usize,
    pub decided: usize,
    pub yes: usize,
    pub refuted: usize,
    pub possible: usize,
    /// Possible, and the product knows that it is not so.
    pub spurious: usize,
    /// Models with a group that only histories refute.
    pub by_history: usize,
    /// Models with three places of which only all together are refuted.
    pub by_three: usize,
    /// Pairs that histories leave open, and contextual locking refutes.
    pub contextual: usize,
    /// Paths of members of cycles that were checked.
    pub paths: usize,
    pub deadlock: DeadlockTally,
    pub complaints: Vec<String>,
}

#[derive(Debug, Default)]
pub struct DeadlockTally {
    pub yes: usize,
    pub no: usize,
    pub possible: usize,
    pub spurious: usize,
    /// Models with an exact cycle of three or more.
    pub of_three: usize,
    /// Models with a cycle of the lock order that histories, not a gate, dismiss.
    pub dismissed_by_history: usize,
    pub dismissed_by_gate: usize,
    pub incomplete: usize,
}

impl Tally {
    fn note(&mut self, group: &[Place], answer: &Answer, product: &BTreeSet<Vec<Place>>, is_whole: bool, is_decided: bool) {
        let mut sorted = group.to_vec();
        sorted.sort_unstable();
        let is_real = product.contains(&sorted);
        match answer {
            Answer::Yes(_) => {
                self.yes += 1;
                if !is_real && is_whole {
                    self.complaints.push(format!("{sorted:?}: said to be reachable, and is not"));
                }
            }
            Answer::Refuted(reason) => {
                self.refuted += 1;
                self.contextual += usize::from(matches!(reason, Refutation::Contextual(_)));
                if is_real {
                    self.complaints.push(format!("{sorted:?}: refuted, and is reachable: {reason:?}"));
                }
            }
            Answer::Possible(_) => {
                self.possible += 1;
                self.spurious += usize::from(is_whole && !is_real);
                let doubts = doubts(answer);
                if doubts.is_empty() || is_decided && !doubts.contains(Doubt::Overflow) && !doubts.contains(Doubt::TooMany) {
                    self.complaints.push(format!("{sorted:?}: not decided, for no reason: {doubts:?}"));
                }
            }
        }
    }
}

/// Asks whether threads block each other.
pub fn deadlock(model: &ThreadModel, product: &mut Product<'_>, tally: &mut Tally) {
    let truth = product.deadlock().truth();
    let threads = ModelThreads::of(model);
    let mut analysis = Analysis::of(&threads.threads);
    let found = deadlocks(&mut analysis);
    let count = &mut tally.deadlock;
    count.incomplete += usize::from(!found.is_complete);
    count.of_three += usize::from(found.cycles.iter().any(|cycle| cycle.doubts.is_empty() && cycle.members.len() > 2));
    let dismissed = |test: &dyn Fn(&Dismissal) -> bool| usize::from(found.dismissed.iter().any(|cycle| test(&cycle.reason)));
    count.dismissed_by_history += dismissed(&|reason| matches!(reason, Dismissal::Histories(_)));
    count.dismissed_by_gate += dismissed(&|reason| matches!(reason, Dismissal::GateLock(_)));
    match found.truth() {
        Some(true) => {
            count.yes += 1;
            if truth == Some(false) {
                tally.complaints.push(format!("a deadlock that is none: {:?}", found.cycles[0]));
            }
        }
        Some(false) => {
            count.no += 1;
            if truth == Some(true) {
                tally.complaints.push(format!("a deadlock is missed: {:?}", found.dismissed));
            }
        }
        None => {
            count.possible += 1;
            count.spurious += usize::from(truth == Some(false));
            let doubts = found.cycles.first().map_or(Doubts::of(Doubt::TooMany), |cycle| cycle.doubts);
            let unclear = doubts.contains(Doubt::Overflow) || doubts.contains(Doubt::TooMany);
            if !unclear && is_decided(model, &analysis) {
                tally.complaints.push(format!("a deadlock is not decided, for no reason: {doubts:?}"));
            }
        }
    }
    for member in found.cycles.iter().flat_map(|cycle| &cycle.members).take(4) {
        check_path(&mut analysis, member, tally);
    }
}

/// A path that is shown is one of the thread, ends where it should, and holds what holds up the other one.
fn check_path(analysis: &mut Analysis<'_>, member: &Member, tally: &mut Tally) {
    let Some(path) = member.path(analysis) else { return };
    tally.paths += 1;
    let body = analysis.threads.thread(member.standing.thread);
    let way = body.system.replay(&body.initial(), &path.rules);
    let ends = way.is_some_and(|way| way.last().and_then(|end| end.head()).is_some_and(|head| head.symbol == member.symbol));
    // A lock that was counted no further may be held or not.
    let is_counted = !member.standing.history.doubts.contains(Doubt::Overflow);
    let is_sure = |lock| analysis.is_reliable(lock) && is_counted;
    let holds = member.blocks_by.is_none_or(|lock| !is_sure(lock) || path.holds.iter().any(|taken| taken.atom.lock() == lock));
    let was_taken = path
        .holds
        .iter()
        .all(|taken| taken.at.is_none_or(|symbol| body.steps_at(symbol).any(|(_, step)| step.lock() == Some(taken.atom.lock()))));
    if !ends || !holds || !was_taken {
        tally.complaints.push(format!("a path that is none: {path:?} of {member:?}"));
    }
}

pub fn is_by_history(answer: &Answer) -> bool {
    use Incompatible::{AcquisitionCycle, ReleaseCycle};
    matches!(answer, Answer::Refuted(Refutation::Locks { reason: AcquisitionCycle(_) | ReleaseCycle(_), .. }))
}

const MOST_PAIRS: usize = 250;

/// Asks for pairs of places and for some groups of three.
pub fn reachability(model: &ThreadModel, product: &Product<'_>, tally: &mut Tally) {
    let is_whole = product.limits().is_empty();
    let threads = ModelThreads::of(model);
    let mut analysis = Analysis::of(&threads.threads);
    let decided = is_decided(model, &analysis);
    tally.models += 1;
    tally.decided += usize::from(decided);
    let pairs = product.groups(2);
    let all: Vec<Vec<(Place, Vec<SymbolId>)>> = (0..model.threads.len()).map(|thread| places(&threads, thread)).collect();
    let mut by_history = false;
    let flat: Vec<&(Place, Vec<SymbolId>)> = all.iter().flatten().collect();
    // Large models: a part of the pairs, evenly.
    let stride = (flat.len() * flat.len() / 2).div_ceil(MOST_PAIRS).max(1);
    for (at, one) in flat.iter().enumerate() {
        for other in flat[at..].iter().skip(at % stride).step_by(stride) {
            let answer = ask(&mut analysis, &[one, other]);
            by_history |= is_by_history(&answer);
            tally.note(&[one.0, other.0], &answer, &pairs, is_whole, decided);
        }
    }
    let mut by_three = false;
    let triples = if model.threads.len() > 2 { product.groups(3) } else { BTreeSet::new() };
    let mut random = Random::new(flat.len() as u64);
    for _ in 0..if model.threads.len() > 2 { 40 } else { 0 } {
        let group: Vec<&(Place, Vec<SymbolId>)> =
            (0..3).map(|thread| *random.pick(&all[thread].iter().collect::<Vec<_>>())).collect();
        let answer = ask(&mut analysis, &group);
        by_history |= is_by_history(&answer);
        if let Answer::Refuted(Refutation::Locks { reason, .. }) = &answer {
            by_three |= reason.participants().len() > 2;
        }
        tally.note(&group.iter().map(|place| place.0).collect::<Vec<_>>(), &answer, &triples, is_whole, decided);
    }
    tally.by_history += usize::from(by_history);
    tally.by_three += usize::from(by_three);
}
