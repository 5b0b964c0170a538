//! Deadlocks of a C program: cycles of its threads' systems in the words of the source.
//!
//! # Method       `thread_pds::ProgramThreads` are the systems, [`deadlocks`](super::deadlocks) finds the cycles. What is left is a candidate, to be shown by execution;
//!                what was dismissed keeps its reason.
//! # Theorem      A state of a run in which threads wait for each other in a cycle of locks and joins is among the candidates, unless a limit says
//!                what was not looked at.
//! # False alarms Data decide nothing here: a cycle may need branches that exclude each other.
//! # Misses       What is no lock and no join: conditions, semaphores, barriers. Their waits are limits. Waits for a condition that no signal can end
//!                because of a lock are candidates (`signals`); so are threads that wait for themselves (`again`), and handlers that wait for the thread which
//!                they interrupt (`handlers`).

use std::collections::{BTreeMap, BTreeSet};

use super::again::{OwnFault, relocks};
use super::ascending::{Addresses, Nature};
use super::children::joins_of_children;
use super::handlers::waiting_handlers;
use super::keys::Keys;
use super::limits::DeadlockLimit;
use super::signals::stuck_waits;
use super::{DeadlockCycle, Dismissal, DismissedCycle, Held, OrderEdge, Wait, deadlocks_in_order};
use crate::engines::race::names::Names;
use crate::engines::race::order::Orders;
use crate::engines::race::reach::Reach;
use crate::engines::race::{LockHeld, RefutedGroup, Side};
use crate::engines::reachability::NotTogether;
use crate::facts::{OrderReason, PhaseId};
use crate::findings::{Reason, Role};
use crate::locks::history::{Incompatible, LockId};
use crate::locks::{Held as HeldThing, Mode, Token};
use crate::models::BoundModels;
use crate::program::SiteId;
use crate::pushdown::SymbolId;
use crate::thread_pds::holding::Tabulation;
use crate::thread_pds::{Analysis, LockName, ProgramThreads, Spot, ThreadId};

/// Threads that may block each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleCandidate {
    /// What is waited for, all of it.
    pub object: String,
    /// Each waits for what the next one has: `object` is what it waits for.
    pub ends: Vec<Side>,
    /// By end: the lock by which it holds up the one before it; `None` when that one joins it.
    pub blocks_by: Vec<Option<String>>,
    /// The first line of a finding, where ends and locks do not say it all.
    pub headline: Option<String>,
    /// What was not excluded, for the last line of a finding.
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadlockResult {
    /// Sorted by the lines of their ends.
    pub candidates: Vec<CycleCandidate>,
    /// Threads that wait for themselves, and threads that keep a lock when they end.
    pub own_faults: Vec<OwnFault>,
    pub refuted: Vec<RefutedGroup>,
    pub limits: Vec<DeadlockLimit>,
}

impl DeadlockResult {
    /// Nothing was decided.
    pub fn out_of_time() -> DeadlockResult {
        DeadlockResult { limits: vec![DeadlockLimit::OutOfTime], ..DeadlockResult::default() }
    }
}

/// All cycles of waiting threads of a program of which it is known what is held where.
pub fn check(
    tabulation: &mut Tabulation<'_, '_>,
    models: &BoundModels<'_>,
    threads: &ProgramThreads,
    analysis: &mut Analysis<'_>,
) -> DeadlockResult {
    let (program, facts) = (tabulation.program, tabulation.facts);
    let mut children: Option<BTreeSet<SiteId>> = None;
    let mut orders = Orders::new(facts, false);
    let reach = Reach::of(facts, tabulation, &mut orders);
    let mut keys = Keys::default();
    let mut addresses = Addresses { tabulation, threads };
    let found = deadlocks_in_order(analysis, &mut |analysis, edge| {
        let is_unsure = match edge.holds {
            Held::Lock { lock, .. } => {
                let is_held = is_held(addresses.tabulation, threads, (edge.thread, edge.symbol), lock);
                !is_held && !addresses.is_worth_saying(lock, edge.waits)
            }
            Held::Running { .. } => false,
        };
        let joins_child = match (edge.holds, edge.waits) {
            (Held::Running { .. }, Wait::Join { .. }) => {
                let children = children.get_or_insert_with(|| joins_of_children(program, models, facts));
                children.contains(&threads.spot(edge.thread, edge.symbol).site)
            }
            (Held::Lock { .. }, _) | (Held::Running { .. }, Wait::Lock { .. }) => false,
        };
        let meant = addresses.meant(analysis, edge);
        let direction = addresses.direction(edge, &meant);
        let key = match direction.goes_up || direction.goes_down {
            true => None,
            false => keys.order(&mut addresses, (&reach, &mut orders), edge, &meant),
        };
        Nature { is_unsure, joins_child, key, ..direction }
    });
    let relocks = relocks(&mut addresses, analysis);
    let tabulation = &*tabulation;
    let mut writer =
        Writer { tabulation, names: Names::new(tabulation.program, tabulation.facts), threads, reach, refuted: BTreeMap::new() };
    let mut limits = writer.limits(analysis, models, &found, &relocks);
    limits.dedup_by_key(|limit| limit.to_string());
    let mut candidates: BTreeMap<BTreeSet<(String, String, u32)>, CycleCandidate> = BTreeMap::new();
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    // A member that waits for itself already is stuck without the others.
    let is_alone =
        |cycle: &DeadlockCycle| cycle.members.iter().any(|member| relocks.is_certain(member.standing.thread, member.symbol));
    for cycle in found.cycles.iter().filter(|cycle| !is_alone(cycle)) {
        let (places, more) = writer.places(cycle);
        for symbols in places {
            if analysis.is_out_of_time() && !candidates.is_empty() {
                break;
            }
            let candidate = writer.candidate(cycle, &symbols);
            if more > 0 {
                left_out.insert(candidate.object.clone(), more);
            }
            candidates.entry(candidate.lines()).or_insert(candidate);
        }
    }
    let waits = stuck_waits(&mut writer, models, analysis);
    for candidate in waits.into_iter().chain(waiting_handlers(&mut writer, analysis)) {
        candidates.entry(candidate.lines()).or_insert(candidate);
    }
    if found.has_unsure {
        limits.push(DeadlockLimit::NotKnownToBeHeld);
    }
    limits.extend(left_out.into_iter().map(|(object, count)| DeadlockLimit::MorePlaces { object, count }));
    for cycle in &found.dismissed {
        if analysis.is_out_of_time() {
            break;
        }
        writer.dismiss(cycle);
    }
    if analysis.is_out_of_time() {
        limits = vec![DeadlockLimit::OutOfTime];
    }
    let (candidates, unlisted) = listed(candidates.into_values().collect());
    if unlisted > 0 {
        limits.push(DeadlockLimit::MoreCycles(unlisted));
    }
    let mut own_faults = writer.waits_for_themselves(analysis, &relocks);
    own_faults.extend(writer.leaks(analysis));
    DeadlockResult { candidates, own_faults, refuted: writer.refuted.into_values().collect(), limits }
}

impl CycleCandidate {
    /// File, function and line of each end.
    pub fn lines(&self) -> BTreeSet<(String, String, u32)> {
        self.ends.iter().map(Side::line).collect()
    }
}

/// So many cycles are listed, whatever they are.
const MOST_LISTED: usize = 40;

/// Of very many cycles those that show a place which no shorter one shows; the others are counted. A cycle of places that others show is broken
/// where these are.
fn listed(candidates: Vec<CycleCandidate>) -> (Vec<CycleCandidate>, u64) {
    if candidates.len() <= MOST_LISTED {
        return (candidates, 0);
    }
    let mut by_length: Vec<usize> = (0..candidates.len()).collect();
    by_length.sort_by_key(|at| candidates[*at].ends.len());
    let mut shown: BTreeSet<(String, String, u32)> = BTreeSet::new();
    let is_new: BTreeSet<usize> = by_length
        .into_iter()
        .filter(|at| candidates[*at].lines().into_iter().filter(|line| shown.insert(line.clone())).count() > 0)
        .collect();
    let left_out = (candidates.len() - is_new.len()) as u64;
    let kept = candidates.into_iter().enumerate().filter(|(at, _)| is_new.contains(at)).map(|(_, candidate)| candidate);
    (kept.collect(), left_out)
}

/// More choices of places for one cycle are counted and not listed.
const MOST_PLACES: usize = 16;

/// What makes dismissed cycles one group: the locks, the reason, the functions.
type GroupKey = (String, Reason, BTreeSet<String>);

pub(super) struct Writer<'a, 't, 'p> {
    pub(super) tabulation: &'a Tabulation<'t, 'p>,
    pub(super) names: Names<'a, 'p>,
    pub(super) threads: &'a ProgramThreads,
    reach: Reach,
    refuted: BTreeMap<GroupKey, RefutedGroup>,
}

impl Writer<'_, '_, '_> {
    pub(super) fn lock(&self, lock: LockId) -> String {
        let identity = &self.tabulation.identity;
        match self.threads.name(lock) {
            name if name.is_any() => "a lock behind a pointer without a value".to_owned(),
            LockName::Place(place) => self.names.place(identity, place, crate::thread_pds::holding::Identity::NOWHERE),
            LockName::Family(family) => self.names.family(identity, family),
        }
    }

    pub(super) fn thread(&self, thread: ThreadId) -> &str {
        self.names.thread(self.threads.sources[thread.index()])
    }

    /// What an acquisition calls its lock.
    pub(super) fn acquired(&self, lock: LockId, spot: &Spot) -> String {
        let function = self.tabulation.contexts.all[spot.context].key.function;
        let is_one = matches!(self.threads.name(lock), LockName::Place(_));
        let spelled = spot.lock.filter(|_| !is_one).and_then(|operand| self.names.spelled(function, operand));
        spelled.unwrap_or_else(|| self.lock(lock))
    }

    fn waited_for(&self, waits: Wait, spot: &Spot) -> (Role, String) {
        match waits {
            Wait::Lock { lock, .. } => (Role::Acquire, self.acquired(lock, spot)),
            Wait::Join { thread } => (Role::Join, self.thread(thread).to_owned()),
        }
    }

    /// A thread that stands before an acquisition or a join.
    fn side(&mut self, thread: ThreadId, symbol: SymbolId, waits: Wait, blocks_by: Option<(LockId, Mode)>) -> Side {
        let waited_for = self.waited_for(waits, self.threads.spot(thread, symbol));
        self.side_of(thread, symbol, waited_for, blocks_by)
    }

    /// A thread that stands somewhere, and what it waits for there.
    pub(super) fn side_of(
        &mut self,
        thread: ThreadId,
        symbol: SymbolId,
        (role, object): (Role, String),
        blocks_by: Option<(LockId, Mode)>,
    ) -> Side {
        let facts = self.tabulation.facts;
        let program = self.tabulation.program;
        let spot = self.threads.spot(thread, symbol).clone();
        let mut locks: Vec<LockHeld> = Vec::new();
        for (held, taken_at) in self.tabulation.locksets.get(spot.lockset).iter().zip(&spot.sites) {
            if let Some(name) = self.names.held(&self.tabulation.identity, held) {
                locks.push(LockHeld { name, is_shared: held.mode == Mode::Shared, taken_at: *taken_at });
            }
        }
        locks.sort_by_key(|lock| (lock.taken_at, lock.name.clone()));
        if let Some((lock, mode)) = blocks_by {
            let name = self.lock(lock);
            if locks.iter().all(|held| held.name != name) {
                locks.push(LockHeld { name, is_shared: mode == Mode::Shared, taken_at: None });
            }
        }
        let source = self.threads.sources[thread.index()];
        let known = facts.threads.thread(source);
        let phase = self.threads.phases(thread, symbol).first().copied().unwrap_or(PhaseId::ANY);
        let calls = self.reach.path(facts, self.tabulation, (source, phase), spot.context);
        Side {
            thread: source,
            thread_name: self.names.thread(source).to_owned(),
            creation: known.path.last().copied().into_iter().collect(),
            site: spot.site,
            function: self.tabulation.contexts.all[spot.context].key.function,
            function_name: self.names.function(spot.site),
            place: program.place_of(spot.site),
            role,
            object,
            locks,
            calls,
            is_cut: known.is_cut,
        }
    }

    /// The places at which the members of a cycle may stand, one for each line, and how many more choices there are.
    fn places(&self, cycle: &DeadlockCycle) -> (Vec<Vec<SymbolId>>, u64) {
        let mut choices: Vec<Vec<SymbolId>> = vec![Vec::new()];
        let mut all: u64 = 1;
        for member in &cycle.members {
            let thread = member.standing.thread;
            let mut lines = BTreeMap::new();
            let all_places = std::iter::once(&member.symbol).chain(&member.others);
            for symbol in all_places {
                let site = self.threads.spot(thread, *symbol).site;
                let place = self.tabulation.program.place_of(site);
                lines
                    .entry(place.map_or((String::new(), usize::from(site) as u32), |place| (place.file, place.line)))
                    .or_insert(*symbol);
            }
            all = all.saturating_mul(lines.len() as u64);
            let longer = choices.iter().flat_map(|before| {
                lines.values().map(move |symbol| before.iter().copied().chain([*symbol]).collect::<Vec<SymbolId>>())
            });
            choices = longer.take(MOST_PLACES).collect();
        }
        let more = all - choices.len() as u64;
        (choices, more)
    }

    fn candidate(&mut self, cycle: &DeadlockCycle, symbols: &[SymbolId]) -> CycleCandidate {
        let mut members: Vec<(Side, Option<String>)> = Vec::new();
        for (member, symbol) in cycle.members.iter().zip(symbols) {
            let blocks_by = member.blocks_by.map(|lock| (lock, Mode::Exclusive));
            let side = self.side(member.standing.thread, *symbol, member.waits, blocks_by);
            members.push((side, member.blocks_by.map(|lock| self.lock(lock))));
        }
        // It begins where the source does; who follows whom stays.
        let first = (0..members.len()).min_by_key(|at| members[*at].0.line()).unwrap_or(0);
        members.rotate_left(first);
        let objects: BTreeSet<&str> = members.iter().map(|(side, _)| side.object.as_str()).collect();
        let object = objects.into_iter().collect::<Vec<_>>().join(", ");
        let sentence = |(side, blocks_by): &(Side, Option<String>)| {
            let waits = match side.role {
                Role::Join => format!("waits for the end of {}", side.object),
                _ => format!("waits for {}", side.object),
            };
            match blocks_by {
                Some(lock) => format!("{} may hold {lock} while it {waits}", side.thread_name),
                None => format!("{} {waits}", side.thread_name),
            }
        };
        let why = members.iter().map(sentence).collect::<Vec<_>>().join("; ");
        let (ends, blocks_by) = members.into_iter().unzip();
        CycleCandidate {
            object,
            ends,
            blocks_by,
            headline: None,
            why: format!("{why}; no order of threads and no other lock was found that excludes it"),
        }
    }

    /// Counts a cycle of the lock order that is no deadlock.
    fn dismiss(&mut self, cycle: &DismissedCycle) {
        let mut sides = Vec::new();
        for edge in &cycle.edges {
            let blocks_by = match edge.holds {
                Held::Lock { lock, mode } => Some((lock, mode)),
                Held::Running { .. } => None,
            };
            sides.push(self.side(edge.thread, edge.symbol, edge.waits, blocks_by));
        }
        let objects: BTreeSet<String> = sides.iter().map(|side| side.object.clone()).collect();
        let object = objects.into_iter().collect::<Vec<_>>().join(", ");
        let (reason, detail) = self.reason(&cycle.edges, &cycle.reason);
        let functions = sides.iter().map(|side| side.function_name.clone()).collect();
        let group = self.refuted.entry((object.clone(), reason, functions)).or_insert_with(|| RefutedGroup {
            object: object.clone(),
            whole: object,
            reason,
            detail,
            count: 0,
            ends: sides,
        });
        group.count += 1;
    }

    fn reason(&self, edges: &[OrderEdge], reason: &Dismissal) -> (Reason, String) {
        match reason {
            Dismissal::SingleInstance(thread) => {
                let name = self.thread(*thread);
                (Reason::SingleInstance, format!("it needs {name} at two places at once, and there is one such thread at a time"))
            }
            Dismissal::NotTogether(NotTogether::Ordered(reason @ OrderReason::Barrier { .. })) => {
                (Reason::HappensBefore, self.order(*reason))
            }
            Dismissal::NotTogether(NotTogether::Ordered(reason)) => (Reason::ForkJoin, self.order(*reason)),
            Dismissal::NotTogether(_) => (Reason::ForkJoin, "creation and joining keep the threads apart".to_owned()),
            Dismissal::GateLock(lock) => {
                let lock = self.lock(*lock);
                (Reason::GateLock, format!("all of them hold {lock} there, so that one at a time is between its two locks"))
            }
            Dismissal::Histories(Incompatible::HeldThroughout { lock, .. } | Incompatible::CommonLock { lock, .. }) => {
                (Reason::GateLock, format!("{} is held at two of the places", self.lock(*lock)))
            }
            Dismissal::Histories(Incompatible::AcquisitionCycle(cycle) | Incompatible::ReleaseCycle(cycle)) => {
                let locks: BTreeSet<String> = cycle.iter().map(|(_, lock)| self.lock(*lock)).collect();
                let locks = locks.into_iter().collect::<Vec<_>>().join(" and ");
                let detail = format!("each would have used a lock that another one of them held all the time: {locks}");
                (Reason::LockHistory, detail)
            }
            Dismissal::Children => {
                let detail = "each of them waits for a thread that it has created itself";
                (Reason::ForkJoin, detail.to_owned())
            }
            Dismissal::InOrder => {
                let detail = "each of them takes locks in the order of their addresses, so that no circle closes";
                (Reason::LockOrder, detail.to_owned())
            }
            Dismissal::InOrderOfKeys => {
                let detail =
                    "each of them takes locks in the order of numbers that lie beside them, which nobody changes while they run";
                (Reason::LockOrder, detail.to_owned())
            }
            Dismissal::NotHeld(thread) => {
                let lock = edges.iter().find(|edge| edge.thread == *thread).and_then(|edge| match edge.holds {
                    Held::Lock { lock, .. } => Some(self.lock(lock)),
                    Held::Running { .. } => None,
                });
                let lock = lock.unwrap_or_else(|| "its lock".to_owned());
                (Reason::LockHistory, format!("no path of {} comes there with {lock} held", self.thread(*thread)))
            }
        }
    }

    fn order(&self, reason: OrderReason) -> String {
        let name = |thread| self.names.thread(thread);
        match reason {
            OrderReason::SameThread => "one thread is at both places, one after the other".to_owned(),
            OrderReason::NotRunning { ancestor, descendant, .. } => {
                format!("when {} is there, {} has not been created yet, or has been joined", name(ancestor), name(descendant))
            }
            OrderReason::Joined { first, second } => format!("{} has joined {} before", name(second), name(first)),
            OrderReason::Barrier { barrier, first, second } => {
                let barrier = self.names.whole(barrier);
                format!("{} is there before it comes to {barrier}, {} after it has passed it", name(first), name(second))
            }
            OrderReason::OneAfterAnother { left, right } => {
                format!("whichever of {} and {} is created first has ended when the other is created", name(left), name(right))
            }
        }
    }
}

/// Whether a thread that stands at a symbol certainly holds a lock of this name.
fn is_held(
    tabulation: &Tabulation<'_, '_>,
    threads: &ProgramThreads,
    (thread, symbol): (ThreadId, SymbolId),
    lock: LockId,
) -> bool {
    let name = threads.name(lock);
    let is_this = |held: &HeldThing| match name {
        LockName::Place(place) => held.names.place == Some(place),
        LockName::Family(family) => held.family == family,
    };
    let lockset = tabulation.locksets.get(threads.spot(thread, symbol).lockset);
    lockset.iter().any(|held| matches!(held.token, Token::Lock | Token::InsideOnce) && is_this(held))
}
