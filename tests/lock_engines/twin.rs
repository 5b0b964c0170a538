//! One model, both engines: what they must agree on, and what they do not decide.

use std::collections::BTreeSet;

use lockcheck::engines::product::Product;
use lockcheck::engines::reachability::{Answer, Refutation};
use lockcheck::locks::history::{Doubt, Incompatible};
use lockcheck::pushdown::SymbolId;
use lockcheck::thread_model::ThreadModel;
use lockcheck::thread_pds::{Analysis, ModelThreads};

use super::random::Random;
use super::support::{BOUNDS, Place, ask, doubts, is_decided, places};

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
    pub complaints: Vec<String>,
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

pub fn is_by_history(answer: &Answer) -> bool {
    use Incompatible::{AcquisitionCycle, ReleaseCycle};
    matches!(answer, Answer::Refuted(Refutation::Locks { reason: AcquisitionCycle(_) | ReleaseCycle(_), .. }))
}

/// Asks for all pairs of places and for some groups of three.
pub fn reachability(model: &ThreadModel, tally: &mut Tally) {
    let product = Product::explore(model, &BOUNDS);
    let is_whole = product.limits().is_empty();
    let threads = ModelThreads::of(model);
    let mut analysis = Analysis::of(&threads.threads);
    let decided = is_decided(model, &mut analysis);
    tally.models += 1;
    tally.decided += usize::from(decided);
    let pairs = product.groups(2);
    let all: Vec<Vec<(Place, Vec<SymbolId>)>> = (0..model.threads.len()).map(|thread| places(&threads, thread)).collect();
    let mut by_history = false;
    let flat: Vec<&(Place, Vec<SymbolId>)> = all.iter().flatten().collect();
    for (at, one) in flat.iter().enumerate() {
        for other in &flat[at..] {
            let answer = ask(&mut analysis, &[one, other]);
            by_history |= is_by_history(&answer);
            tally.note(&[one.0, other.0], &answer, &pairs, is_whole, decided);
        }
    }
    let mut by_three = false;
    let triples = if model.threads.len() > 2 { product.groups(3) } else { BTreeSet::new() };
    let mut random = Random::new(flat.len() as u64);
    for _ in 0..if model.threads.len() > 2 { 40 } else { 0 } {
        let group: Vec<&(Place, Vec<SymbolId>)> = (0..3).map(|thread| *random.pick(&all[thread].iter().collect::<Vec<_>>())).collect();
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
