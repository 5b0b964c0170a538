//! Lock histories on what locksets leave: can two threads stand at the two accesses at once?
//!
//! # Definition   A candidate is refuted if for every two threads, and every two ways in which they come to accesses on its two lines, no run lets both stand
//!                there at once (`engines::reachability`).
//! # Theorem      Two accesses race only if a run lets both threads stand before them at once. All accesses on the lines are looked at, not only those
//!                that make the candidate, so more is asked for than is needed.
//! # Paper        Kahlon, Ivančić, Gupta 2005, theorem 5: of it the direction that refutes, which needs no nesting.
//! # Deviations   1. Only where both ends hold a lock for certain: else no history forbids anything.  2. A lock that may itself be raced on refutes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Names;
use super::result::{Candidate, RaceResult, RefutedGroup, Side};
use crate::deadline::Deadline;
use crate::engines::reachability::{Answer, Refutation, Standing, Target, reachable};
use crate::findings::Reason;
use crate::locks::history::{Incompatible, LockId};
use crate::program::SiteId;
use crate::thread_pds::holding::{EventKind, Tabulation};
use crate::thread_pds::{Analysis, LockName, ProgramThreads, ThreadId};

/// So many candidates are looked at, and so many pairs of places for each.
const MOST_CANDIDATES: usize = 400;
const MOST_PAIRS: usize = 4_000;

/// File, function and line.
type Line = (String, String, u32);

/// The accesses on the lines of candidates that histories may refute, by line.
pub struct Asked {
    sites: BTreeMap<Line, BTreeSet<SiteId>>,
}

impl Asked {
    pub fn of(tabulation: &Tabulation<'_, '_>, result: &RaceResult) -> Asked {
        let worth_it = result.candidates.iter().filter(|candidate| is_worth_it(candidate)).take(MOST_CANDIDATES);
        let lines: BTreeSet<Line> = worth_it.flat_map(|one| one.ends.iter().map(Side::line)).collect();
        Asked { sites: if lines.is_empty() { BTreeMap::new() } else { sites_on(tabulation, &lines) } }
    }

    /// Where the systems of threads need a place to stand at.
    pub fn targets(&self) -> BTreeSet<SiteId> {
        self.sites.values().flatten().copied().collect()
    }
}

fn is_worth_it(candidate: &Candidate) -> bool {
    candidate.ends.iter().all(|end| !end.locks.is_empty())
}

/// Moves what lock histories refute from the candidates to what is refuted. The systems have the targets of what is asked.
pub fn refute(
    tabulation: &Tabulation<'_, '_>,
    threads: &ProgramThreads,
    analysis: &mut Analysis<'_>,
    asked: &Asked,
    result: &mut RaceResult,
    deadline: Deadline,
) {
    if asked.sites.is_empty() {
        return;
    }
    let sites = &asked.sites;
    let raced: BTreeSet<String> = result.candidates.iter().map(|candidate| candidate.whole.clone()).collect();
    let names = Names::new(tabulation.program, tabulation.facts);
    let mut judge = Judge { names, tabulation, places: places(threads), analysis, threads, sites, raced };
    let mut kept = Vec::new();
    for candidate in std::mem::take(&mut result.candidates) {
        let is_known = candidate.ends.iter().all(|end| sites.contains_key(&end.line()));
        let is_open = is_known && is_worth_it(&candidate) && deadline.check().is_ok();
        let refuted = is_open.then(|| judge.refutation(&candidate)).flatten();
        match refuted {
            Some((reason, detail)) => result.refuted.push(RefutedGroup {
                object: candidate.object,
                whole: candidate.whole,
                reason,
                detail,
                count: 1,
                ends: candidate.ends,
            }),
            None => kept.push(candidate),
        }
    }
    result.candidates = kept;
}

/// The accesses of shared memory on these lines.
fn sites_on(tabulation: &Tabulation<'_, '_>, lines: &BTreeSet<Line>) -> BTreeMap<Line, BTreeSet<SiteId>> {
    let names = Names::new(tabulation.program, tabulation.facts);
    let mut found: BTreeMap<Line, BTreeSet<SiteId>> = BTreeMap::new();
    let events = tabulation.skeletons.iter().flat_map(|skeleton| skeleton.blocks.iter().flatten());
    for site in events.filter(|event| matches!(event.kind, EventKind::Access)).map(|event| event.site) {
        let place = tabulation.program.place_of(site);
        let (file, number) = place.map_or((String::new(), 0), |place| (place.file, place.line));
        let line = (file, names.function(site), number);
        if lines.contains(&line) {
            found.entry(line).or_default().insert(site);
        }
    }
    found
}

/// Where threads stand before each access.
fn places(threads: &ProgramThreads) -> BTreeMap<SiteId, Vec<Target>> {
    let mut places: BTreeMap<SiteId, Vec<Target>> = BTreeMap::new();
    for thread in threads.threads.ids() {
        for symbol in &threads.targets[thread.index()] {
            places.entry(threads.spot(thread, *symbol).site).or_default().push(Target { thread, symbol: *symbol });
        }
    }
    places
}

struct Judge<'a, 'n, 't, 'p> {
    tabulation: &'a Tabulation<'t, 'p>,
    names: Names<'a, 'p>,
    threads: &'a ProgramThreads,
    analysis: &'a mut Analysis<'n>,
    sites: &'a BTreeMap<Line, BTreeSet<SiteId>>,
    places: BTreeMap<SiteId, Vec<Target>>,
    /// Whole objects that something races on.
    raced: BTreeSet<String>,
}

impl Judge<'_, '_, '_, '_> {
    /// Why nobody stands at both ends at once; nothing if somebody may.
    fn refutation(&mut self, candidate: &Candidate) -> Option<(Reason, String)> {
        let of_end = |judge: &Self, end: &Side| -> Vec<Target> {
            let sites = judge.sites[&end.line()].iter();
            sites.filter_map(|site| judge.places.get(site)).flatten().copied().collect()
        };
        let first = of_end(self, candidate.ends.first()?);
        let second = of_end(self, candidate.ends.last()?);
        if first.is_empty() || second.is_empty() || first.len() * second.len() > MOST_PAIRS {
            return None;
        }
        let mut why = None;
        for one in &first {
            for other in &second {
                if self.analysis.is_out_of_time() {
                    return None;
                }
                match reachable(self.analysis, &[*one, *other]) {
                    Answer::Refuted(Refutation::Locks { participants, reason }) => {
                        let detail = self.locks(&participants, &reason)?;
                        why = why.or(Some(detail));
                    }
                    Answer::Refuted(_) => {}
                    Answer::Yes(_) | Answer::Possible(_) => return None,
                }
            }
        }
        why
    }

    /// The reason in words; nothing when it rests on a lock that is raced on.
    fn locks(&self, participants: &[Standing], reason: &Incompatible) -> Option<(Reason, String)> {
        let thread = |at: usize| self.thread(participants[at].thread);
        let cycle = |cycle: &[(usize, LockId)], verb: &str| -> Option<String> {
            let locks: Option<Vec<String>> = cycle.iter().map(|(_, lock)| self.lock(*lock)).collect();
            let locks = locks?;
            let clauses = cycle.iter().enumerate().map(|(at, (who, _))| {
                let next = &locks[(at + 1) % locks.len()];
                format!("{} {verb} {} and uses {next}", thread(*who), locks[at])
            });
            Some(clauses.collect::<Vec<_>>().join(", "))
        };
        match reason {
            Incompatible::CommonLock { lock, .. } => {
                Some((Reason::CommonLock, format!("{} is held at both accesses", self.lock(*lock)?)))
            }
            Incompatible::HeldThroughout { lock, holder, taker } => {
                let lock = self.lock(*lock)?;
                Some((
                    Reason::LockHistory,
                    format!("{} holds {lock} all the time, and {} has taken it", thread(*holder), thread(*taker)),
                ))
            }
            Incompatible::AcquisitionCycle(members) => {
                let how = cycle(members, "keeps")?;
                Some((
                    Reason::AcquisitionHistory,
                    format!("on its way to the access {how} after it has taken that: not both can be there"),
                ))
            }
            Incompatible::ReleaseCycle(members) => {
                let how = cycle(members, "begins with")?;
                Some((Reason::LockHistory, format!("{how} before it first releases that: not both can be there")))
            }
        }
    }

    fn thread(&self, thread: ThreadId) -> &str {
        self.names.thread(self.threads.sources[thread.index()])
    }

    fn lock(&self, lock: LockId) -> Option<String> {
        let identity = &self.tabulation.identity;
        match self.threads.name(lock) {
            LockName::Place(place) => {
                let whole = identity.location(place).map(|location| self.names.whole(location));
                let is_raced = whole.is_none_or(|whole| self.raced.contains(&whole));
                (!is_raced).then(|| self.names.place(identity, place, crate::thread_pds::holding::Identity::NOWHERE))
            }
            LockName::Family(_) => None,
        }
    }
}
