//! Can two threads stand before accesses of one object at once, one of them a write?

use super::{Answer, Refutation, Standing, Target, reachable};
use crate::locks::history::Doubts;
use crate::thread_pds::Analysis;

/// Two accesses that conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RacePair(pub Target, pub Target);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceAnswer {
    Yes(RacePair, Vec<Standing>),
    /// Every pair, and why not.
    Refuted(Vec<(RacePair, Refutation)>),
    /// The first pair that is not excluded, and why it is not sure.
    Possible(RacePair, Doubts),
}

impl RaceAnswer {
    pub fn truth(&self) -> Option<bool> {
        match self {
            RaceAnswer::Yes(..) => Some(true),
            RaceAnswer::Refuted(_) => Some(false),
            RaceAnswer::Possible(..) => None,
        }
    }
}

/// The conflicting pairs of accesses of an object, each once.
pub fn pairs(analysis: &Analysis<'_>, object: u32) -> Vec<RacePair> {
    let mut accesses = Vec::new();
    for thread in analysis.threads.ids() {
        for (symbol, access) in &analysis.threads.thread(thread).accesses {
            if access.object == object {
                accesses.push((Target { thread, symbol: *symbol }, *access));
            }
        }
    }
    let mut pairs = Vec::new();
    for (at, (one, access)) in accesses.iter().enumerate() {
        for (other, partner) in &accesses[at..] {
            let conflict = (access.is_write || partner.is_write) && !(access.is_atomic && partner.is_atomic);
            let possible = one.thread != other.thread || analysis.population.instances(one.thread) > 1;
            if conflict && possible {
                pairs.push(RacePair(*one, *other));
            }
        }
    }
    pairs
}

/// The answer for all pairs of accesses of an object.
pub fn race(analysis: &mut Analysis<'_>, object: u32) -> RaceAnswer {
    let mut refuted = Vec::new();
    let mut possible = None;
    for pair in pairs(analysis, object) {
        match reachable(analysis, &[pair.0, pair.1]) {
            Answer::Yes(standing) => return RaceAnswer::Yes(pair, standing),
            Answer::Refuted(reason) => refuted.push((pair, reason)),
            Answer::Possible(doubts) => possible = possible.or(Some((pair, doubts))),
        }
    }
    match possible {
        Some((pair, doubts)) => RaceAnswer::Possible(pair, doubts),
        None => RaceAnswer::Refuted(refuted),
    }
}
