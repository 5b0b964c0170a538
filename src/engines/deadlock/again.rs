//! A thread that takes a lock which it holds already: it waits for itself.
//!
//! # Definition   A thread stands before an acquisition that waits, and may hold the same lock in a mode that excludes it: any hold of a mutex that does
//!                not count and does not refuse; of a read-write lock all but reading again; inside the routine of a one-time
//!                initialisation, its own control.
//! # Theorem      Every state of a run in which a thread waits for itself is among what is raised, or a limit names the line. What is held is a
//!                may-fact where only its holder releases the lock, else a must-fact. *That it is the same lock* is certain (one place, or values known to be equal), or left open between named locks; of
//!                locks that one name stands for in their hundreds (elements of arrays, of objects on the heap) it says nothing, so there it is a
//!                limit, unless the two are shown to be different.
//! # Rule         `double-lock`, as for execution; of a one-time initialisation `deadlock`.
//! # False alarms Branches that exclude each other; kinds of mutexes that are chosen at run time.
//! # Misses       None beside the limits.

use std::collections::{BTreeMap, BTreeSet};

use super::Wait;
use super::ascending::Addresses;
use super::in_program::Writer;
use crate::engines::race::Side;
use crate::facts::Offset;
use crate::findings::{Role, Rule};
use crate::locks::history::{Atom, LockId};
use crate::locks::{Held as HeldThing, Mode, Token};
use crate::program::SiteId;
use crate::pushdown::{Replacement, SymbolId};
use crate::thread_pds::{Analysis, LockName, Origin, Step, ThreadId};

/// What one thread may do wrong by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFault {
    pub rule: Rule,
    pub object: String,
    pub end: Side,
    pub message: String,
    /// What was not excluded.
    pub why: String,
}

impl OwnFault {
    /// File, function and line.
    pub fn line(&self) -> (String, String, u32) {
        self.end.line()
    }
}

/// How much is known of a thread that takes what it holds; the more the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Whoever comes here holds it.
    Holds,
    /// It is this lock, and some ways here hold it.
    MayHold,
    /// It is one of several locks, and one of them is held on some ways here.
    MayBe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relock {
    site: SiteId,
    lock: LockId,
    certainty: Certainty,
    thread: ThreadId,
    symbol: SymbolId,
}

/// What was found: places to raise, and lines of which nothing is known.
#[derive(Default)]
pub(super) struct Relocks {
    pub raised: BTreeSet<Relock>,
    pub open: BTreeSet<(SiteId, LockId)>,
}

impl Relocks {
    /// Whether a thread that stands there waits for itself, whatever others do.
    pub fn is_certain(&self, thread: ThreadId, symbol: SymbolId) -> bool {
        let is_here = |relock: &&Relock| (relock.thread, relock.symbol) == (thread, symbol);
        self.raised.iter().filter(is_here).any(|relock| relock.certainty == Certainty::Holds)
    }
}

/// All places where a thread may take what it holds.
pub(super) fn relocks(addresses: &mut Addresses<'_, '_, '_>, analysis: &Analysis<'_>) -> Relocks {
    let mut found = Relocks::default();
    for thread in analysis.threads.ids() {
        for origin in [Origin::Start, Origin::Created] {
            if !analysis.population.exists(thread, origin) {
                continue;
            }
            let system = &analysis.threads.thread(thread).system;
            // Whoever wakes from a wait has given the lock back.
            let woken: BTreeSet<SymbolId> = system
                .rules()
                .filter_map(|(_, rule)| match (rule.weight, rule.replacement) {
                    (Step::Sleep { .. }, Replacement::Step(symbol)) => Some(symbol),
                    _ => None,
                })
                .collect();
            for (_, rule) in system.rules() {
                let (Step::Acquire { lock, mode }, symbol) = (rule.weight, rule.from.symbol) else { continue };
                if woken.contains(&symbol) {
                    continue;
                }
                if analysis.is_out_of_time() {
                    return found;
                }
                let threads = addresses.threads;
                if !threads.may_wait_for_itself(lock) || !analysis.comes_to(thread, origin, symbol) {
                    continue;
                }
                let held = analysis.may_hold(thread, origin, symbol);
                for atom in held.iter().map(Atom::from_index) {
                    let excludes = mode == Mode::Exclusive || atom.mode() == Mode::Exclusive;
                    if !excludes || !analysis.threads.locks.may_be_same(lock, atom.lock()) {
                        continue;
                    }
                    let site = threads.spot(thread, symbol).site;
                    match addresses.certainty(analysis, (thread, origin, symbol), (lock, atom.lock())) {
                        Known::Same(certainty) => {
                            found.raised.insert(Relock { site, lock, certainty, thread, symbol });
                        }
                        Known::Different => {}
                        Known::Nothing => {
                            found.open.insert((site, lock));
                        }
                    }
                }
            }
        }
    }
    found
}

/// What is known of two names.
enum Known {
    Same(Certainty),
    Different,
    Nothing,
}

impl Addresses<'_, '_, '_> {
    fn certainty(
        &mut self,
        analysis: &Analysis<'_>,
        (thread, origin, symbol): (ThreadId, Origin, SymbolId),
        (lock, held): (LockId, LockId),
    ) -> Known {
        let spot = self.threads.spot(thread, symbol).clone();
        let key = self.tabulation.contexts.all[spot.context].key.clone();
        let lockset: Vec<HeldThing> = self.tabulation.locksets.get(spot.lockset).iter().cloned().collect();
        if let Some(operand) = spot.lock {
            let (names, _) = self.tabulation.lock_names(&key, operand);
            if lockset.iter().any(|thing| thing.token == Token::Lock && thing.names.agree(&names)) {
                return Known::Same(Certainty::Holds);
            }
        }
        if lock == held && matches!(self.threads.name(lock), LockName::Place(_)) {
            let is_inside = |thing: &HeldThing| {
                thing.token == Token::InsideOnce && thing.names.place.map(LockName::Place) == Some(self.threads.name(lock))
            };
            return match lockset.iter().any(is_inside) {
                true => Known::Same(Certainty::Holds),
                // Of a lock that others may have released it is not known whether it is still held.
                false if analysis.is_reliable(lock) => Known::Same(Certainty::MayHold),
                false => Known::Nothing,
            };
        }
        let locks: Vec<HeldThing> = lockset.into_iter().filter(|thing| thing.token == Token::Lock).collect();
        let name = self.threads.name(held);
        let meant: Vec<HeldThing> = locks.iter().filter(|thing| self.may_be(name, thing)).cloned().collect();
        let is_all = !meant.is_empty() && analysis.holds_at_most(thread, origin, symbol, locks.len());
        let place = (key.function, spot.block);
        if let (Some(operand), true) = (spot.lock, is_all)
            && meant.iter().all(|thing| self.are_apart(place, operand, thing))
        {
            return Known::Different;
        }
        let waited = self.threads.name(lock);
        let is_kept = locks.iter().any(|thing| self.may_be(waited, thing));
        match is_kept && self.is_named(lock) && self.is_named(held) {
            true => Known::Same(Certainty::MayBe),
            false => Known::Nothing,
        }
    }

    /// Whether a cycle is raised in which it is not certain that a lock is still held: it was taken through a pointer to one of a few locks that have
    /// names, or to who knows which, and given back through another such pointer. (One lock that is held on some ways only is held by
    /// ways that meet, and of those that go on together most do not exist.)
    pub(super) fn is_worth_saying(&self, held: LockId, waits: Wait) -> bool {
        let is_known = |lock: LockId| self.threads.name(lock).is_any() || self.is_named(lock);
        let is_waited_known = match waits {
            Wait::Lock { lock, .. } => is_known(lock),
            Wait::Join { .. } => true,
        };
        matches!(self.threads.name(held), LockName::Family(_)) && is_known(held) && is_waited_known
    }

    /// Whether a name means one of a few locks, each of which is one run-time lock.
    fn is_named(&self, lock: LockId) -> bool {
        let family = match self.threads.name(lock) {
            LockName::Place(_) => return true,
            LockName::Family(family) => family,
        };
        let facts = self.tabulation.facts;
        let locations = self.tabulation.identity.locations(family);
        let is_one =
            |location: &crate::facts::Location| matches!(location.offset, Offset::At(_)) && facts.is_one_object(location.object);
        !locations.is_empty() && locations.iter().all(is_one)
    }
}

impl Writer<'_, '_, '_> {
    /// Threads that wait for themselves in words, one for each line and lock: the most certain.
    pub(super) fn waits_for_themselves(&mut self, analysis: &Analysis<'_>, relocks: &Relocks) -> Vec<OwnFault> {
        let mut best: BTreeMap<(SiteId, LockId), Relock> = BTreeMap::new();
        for relock in &relocks.raised {
            best.entry((relock.site, relock.lock)).or_insert(*relock);
        }
        let mut waits: BTreeMap<((String, String, u32), String), OwnFault> = BTreeMap::new();
        for relock in best.into_values() {
            if analysis.is_out_of_time() {
                break;
            }
            let wait = self.waits_for_itself(&relock);
            waits.entry((wait.line(), wait.object.clone())).or_insert(wait);
        }
        waits.into_values().collect()
    }

    fn waits_for_itself(&mut self, relock: &Relock) -> OwnFault {
        let Relock { lock, thread, symbol, certainty, .. } = *relock;
        let is_once = self.threads.spot(thread, symbol).lock.is_none();
        let object = match is_once {
            true => self.lock(lock),
            false => self.acquired(lock, self.threads.spot(thread, symbol)),
        };
        let (rule, role) = if is_once { (Rule::Deadlock, Role::Wait) } else { (Rule::DoubleLock, Role::Acquire) };
        let end = self.side_of(thread, symbol, (role, object.clone()), None);
        let name = end.thread_name.split('@').next().unwrap_or_default().to_owned();
        let (message, why) = match (is_once, certainty) {
            (true, _) => (
                format!("possible deadlock: {name} waits for {object} inside the routine that it runs for {object}"),
                format!("{} waits for the end of the routine that it is in", end.thread_name),
            ),
            (false, Certainty::Holds) => (
                format!("{name} may lock {object}, which it holds already"),
                format!("whenever {} comes here, it holds {object}", end.thread_name),
            ),
            (false, Certainty::MayHold) => (
                format!("{name} may lock {object}, which it may hold already"),
                format!("{} holds {object} on some ways here; that they are all cut off was not shown", end.thread_name),
            ),
            (false, Certainty::MayBe) => (
                format!("{name} may lock {object}, which it may hold already"),
                format!("{object} may be a lock that {} holds on some ways here", end.thread_name),
            ),
        };
        OwnFault { rule, object, end, message, why }
    }
}
