//! What the race engine says: candidates, what was refuted and why, and what protects each object.

use std::collections::BTreeSet;
use std::fmt;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::deadline::Deadline;
use crate::facts::ThreadId;
use crate::findings::{Reason, Role};
use crate::program::{FunctionId, Place, SiteId};

/// What may be taken for granted on request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaceOptions {
    /// A volatile access counts as a sequentially consistent one.
    pub volatile_is_atomic: bool,
    /// Names of globals whose accesses count as atomic.
    pub assume_atomic: Vec<String>,
    /// What the C library guards, but POSIX does not, is not guarded.
    pub distrusts_library: bool,
    pub deadline: Deadline,
}

/// Everything the engine has to say, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaceResult {
    /// Sorted by file, line and object; one for each object and unordered pair of file, function and line.
    pub candidates: Vec<Candidate>,
    /// Grouped by object, reason and pair of functions.
    pub refuted: Vec<RefutedGroup>,
    /// One for each object that threads share and somebody changes.
    pub protection: Vec<Protection>,
    pub quiet: QuietCounts,
    /// Why the list of candidates is not complete; empty when it is.
    pub limits: Vec<RaceLimit>,
}

impl RaceResult {
    /// Nothing was decided.
    pub fn out_of_time() -> RaceResult {
        RaceResult { limits: vec![RaceLimit::OutOfTime], ..RaceResult::default() }
    }
}

/// Two accesses that nothing is known to keep apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is touched, in the words of the source: `total`, `conn->hits`.
    pub object: String,
    /// The whole object it is part of, by the name that runs give it.
    pub whole: String,
    /// It has no name in the source: memory that was allocated, or that is not known.
    pub is_memory: bool,
    /// One when both stand on one line: a site that races with another instance of itself, or two threads that come to it.
    pub ends: Vec<Side>,
    /// The other thread, when there is one end and two threads come to it.
    pub other_thread: Option<String>,
    /// What was not excluded, for the last line of a finding.
    pub why: String,
}

/// One end of a pair: who touches it where, holding what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub thread: ThreadId,
    /// `main`, or `visitor@a.c:30`.
    pub thread_name: String,
    /// The sites that created the thread and its ancestors, outermost first.
    pub creation: Vec<SiteId>,
    pub site: SiteId,
    pub function: FunctionId,
    /// The source name of the function that the line belongs to.
    pub function_name: String,
    pub place: Option<Place>,
    pub role: Role,
    /// This end's own expression for what it touches.
    pub object: String,
    pub locks: Vec<LockHeld>,
    /// One shortest path of calls from the thread's entry, outermost first.
    pub calls: Vec<SiteId>,
    /// The path of creations or calls was cut: it is one of several that were merged.
    pub is_cut: bool,
}

/// A lock that is certainly held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockHeld {
    pub name: String,
    pub is_shared: bool,
    /// One place where it was taken.
    pub taken_at: Option<SiteId>,
}

/// Pairs that are no race, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefutedGroup {
    pub object: String,
    pub whole: String,
    pub reason: Reason,
    /// One sentence that a C programmer can check.
    pub detail: String,
    /// How many pairs of sites.
    pub count: u64,
    /// One pair of them.
    pub ends: Vec<Side>,
}

/// What protects an object, at how many of its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    pub object: String,
    /// Sites that access it while other threads may.
    pub accesses: usize,
    /// Locks, the one that protects most first.
    pub rows: Vec<(String, usize)>,
}

/// Objects about which nothing needs to be said pair by pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuietCounts {
    /// Reached by one thread only.
    pub thread_local: usize,
    /// All accesses while others may run are reads.
    pub only_read: usize,
    /// All accesses are atomic.
    pub only_atomic: usize,
}

/// What keeps the list from being complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaceLimit {
    /// So many further pairs on this object were counted and not listed; some may be of lines that are.
    MorePairs { object: String, count: u64 },
    /// So many pairs are of lines that are listed in others: both go through pointers to very many objects.
    OneOfMany { count: u64 },
    /// Lock histories might refute some of the candidates, and were not asked.
    WithoutHistories,
    /// Some pairs were not looked at.
    OutOfTime,
}

impl fmt::Display for RaceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfTime => write!(f, "the time was used up before all pairs of accesses were looked at"),
            Self::WithoutHistories => {
                write!(f, "lock histories were not looked at: too many functions are called in too many ways")
            }
            Self::OneOfMany { count } => write!(
                f,
                "of accesses through pointers to very many objects each line is listed once; up to {count} further pairs are on the same lines"
            ),
            Self::MorePairs { object, count } => write!(f, "up to {count} further pairs of accesses to {object} are not listed"),
        }
    }
}

/// What makes two candidates one finding: the whole object, and file, function and line of each end.
pub type CandidateKey = (String, BTreeSet<(String, String, u32)>);

impl Candidate {
    pub fn key(&self) -> CandidateKey {
        (self.whole.clone(), self.ends.iter().map(Side::line).collect())
    }

    /// Smaller is stronger: write–write before write–read, fewest locks, shortest trace.
    pub fn weakness(&self) -> (usize, usize, usize) {
        let reads = self.ends.iter().filter(|end| matches!(end.role, Role::Read | Role::AtomicRead)).count();
        let locks = self.ends.iter().map(|end| end.locks.len()).sum();
        let trace = self.ends.iter().map(|end| end.calls.len() + end.creation.len()).sum();
        (reads, locks, trace)
    }
}

impl Side {
    /// File, function and line.
    pub fn line(&self) -> (String, String, u32) {
        let place = self.place.as_ref();
        (place.map_or(String::new(), |place| place.file.clone()), self.function_name.clone(), place.map_or(0, |place| place.line))
    }
}

/// Expressions that meet in several objects without names are one candidate: the strongest, which says so.
pub(super) fn one_for_each_place(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut places: IndexMap<_, (usize, Candidate), FxBuildHasher> = IndexMap::default();
    for candidate in candidates {
        // Without debug information each instruction is a place of its own.
        let place = |end: &Side| (end.place.clone().ok_or(end.site), end.role);
        let name = (!candidate.is_memory).then(|| candidate.whole.clone());
        let (others, known) = places
            .entry((name, candidate.ends.iter().map(place).collect::<Vec<_>>()))
            .and_modify(|(others, _)| *others += 1)
            .or_insert_with(|| (0, candidate.clone()));
        if *others > 0 && candidate.weakness() < known.weakness() {
            *known = candidate;
        }
    }
    let told = places.into_values().map(|(others, mut candidate)| {
        match others {
            0 => {}
            1 => candidate.why += "; the same lines meet in another object",
            _ => candidate.why += &format!("; the same lines meet in {others} other objects"),
        }
        candidate
    });
    told.collect()
}
