//! What the first pass knows of each thread, and which locks it makes unreliable.
//!
//! # Definition   A lock is reliable if it stands for one run-time lock and nobody releases it without holding it, unless it checks its owner.
//! # Theorem      Only the holder of a reliable lock ends its holding. (Before the first release by a stranger every thread's own view of its locks is
//!                right; that release would be one that its thread makes without holding the lock, and the first pass has all of those.)

use rustc_hash::FxHashMap;

use super::compact::Compacts;
use super::lock_table::{Identity, LockKind, Mode};
use super::states::{LockStates, RelationsId, StateRelations};
use super::system::{Step, ThreadId, Threads};
use crate::deadline::{Deadline, OutOfTime};
use crate::locks::history::{Atom, BitSet, LockHistory, LockId};
use crate::pushdown::{PAutomaton, Semiring, SymbolId, post_star_callees_first};

/// How an instance of a thread came into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// It was there at the start, with what its thread holds then.
    Start,
    /// Another thread created it: it begins with nothing.
    Created,
}

/// The states of all locks at all symbols that a thread may come to.
#[derive(Debug)]
pub struct FirstPass {
    pub reliable: BitSet,
    pub(super) compacts: Compacts,
    semiring: StateRelations,
    /// By thread, the first of those that are alike, and leading symbol.
    relations: Vec<FxHashMap<SymbolId, RelationsId>>,
}

impl FirstPass {
    pub fn of(threads: &Threads, deadline: Deadline) -> Result<FirstPass, OutOfTime> {
        let is_one = |lock: &LockId| threads.locks.lock(*lock).identity == Identity::One;
        let mut pass = FirstPass {
            reliable: threads.locks.ids().filter(is_one).map(|lock| lock.0 as usize).collect(),
            compacts: Compacts::of(threads, deadline)?,
            semiring: StateRelations::default(),
            relations: vec![FxHashMap::default(); threads.threads.len()],
        };
        let mut open: Vec<ThreadId> = pass.compacts.firsts().collect();
        loop {
            for thread in open {
                pass.relations[thread.index()] = pass.saturate(threads, thread, deadline)?;
            }
            let strange = pass.released_by_strangers(threads);
            if strange.is_empty() {
                return Ok(pass);
            }
            strange.iter().for_each(|lock| pass.reliable.remove(lock));
            // Only who has to do with these locks sees anything new.
            let touches = |thread: &ThreadId| {
                let mut rules = pass.compacts.of_thread(*thread).system.rules();
                rules.any(|(_, rule)| rule.weight.lock().is_some_and(|lock| strange.contains(lock.0 as usize)))
            };
            open = pass.compacts.firsts().filter(touches).collect();
        }
    }

    fn saturate(
        &mut self,
        threads: &Threads,
        thread: ThreadId,
        deadline: Deadline,
    ) -> Result<FxHashMap<SymbolId, RelationsId>, OutOfTime> {
        let FirstPass { compacts, reliable, .. } = self;
        // Most of what comes up on the way is of no use afterwards.
        let semiring = &mut StateRelations::default();
        let system = compacts.of_thread(thread).system.weighted(|_, rule| semiring.weigh(rule.weight, &threads.locks, reliable));
        let initial = PAutomaton::of([&threads.thread(thread).initial()], semiring);
        let mut by_symbol: FxHashMap<SymbolId, RelationsId> = FxHashMap::default();
        // Relations gain state by state: taken in turn, each transition would be taken several times.
        let reached = post_star_callees_first(&system, &initial, semiring, deadline)?;
        let zero = semiring.zero();
        reached.each_head_within(semiring, deadline, |semiring, head, weight| {
            let known = by_symbol.entry(head.symbol).or_insert(zero);
            *known = semiring.combine(known, &weight);
        })?;
        Ok(by_symbol.into_iter().map(|(symbol, relations)| (symbol, self.semiring.copy(semiring, relations))).collect())
    }

    fn released_by_strangers(&self, threads: &Threads) -> BitSet {
        let mut strange = BitSet::default();
        let firsts = self.compacts.firsts();
        for (thread, rule) in firsts.flat_map(|id| self.compacts.of_thread(id).system.rules().map(move |(_, rule)| (id, rule))) {
            let (Step::Release { lock } | Step::Sleep { lock }) = rule.weight else { continue };
            let is_free =
                |origin| self.states(threads, thread, origin, rule.from.symbol, lock).is_some_and(LockStates::may_be_free);
            if !self.origins(threads, thread).any(is_free) {
                continue;
            }
            let table = &threads.locks;
            // What a pointer releases that it did not take may be any lock it may point to.
            let possible = match &table.lock(lock).identity {
                Identity::OneOf(locks) => locks.clone(),
                Identity::One | Identity::Many => vec![lock],
            };
            let checks = |lock: &LockId| matches!(table.lock(*lock).kind, LockKind::Recursive | LockKind::ErrorCheck);
            let reliable = |lock: &LockId| self.reliable.contains(lock.0 as usize);
            possible.iter().filter(|lock| reliable(lock) && !checks(lock)).for_each(|lock| strange.insert(lock.0 as usize));
        }
        strange
    }

    fn relations_at(&self, thread: ThreadId, symbol: SymbolId) -> Option<RelationsId> {
        let leader = self.compacts.of_thread(thread).leader(symbol)?;
        self.relations[self.compacts.first(thread).index()].get(&leader).copied()
    }

    /// `None` where the thread does not come.
    pub fn states(
        &self,
        threads: &Threads,
        thread: ThreadId,
        origin: Origin,
        symbol: SymbolId,
        lock: LockId,
    ) -> Option<LockStates> {
        let relations = self.relations_at(thread, symbol)?;
        Some(self.semiring.states(relations, lock, start(threads, thread, origin), threads.locks.lock(lock).kind))
    }

    /// Whether a thread may stand at a symbol.
    pub fn comes_to(&self, threads: &Threads, thread: ThreadId, origin: Origin, symbol: SymbolId) -> bool {
        let Some(relations) = self.relations_at(thread, symbol) else { return false };
        let mut touched = self.semiring.touched(relations, start(threads, thread, origin), &threads.locks);
        touched.all(|(_, states)| !states.is_empty())
    }

    /// All that may be held there.
    pub fn may_hold(&self, threads: &Threads, thread: ThreadId, origin: Origin, symbol: SymbolId) -> BitSet {
        let mut atoms = BitSet::default();
        let Some(relations) = self.relations_at(thread, symbol) else { return atoms };
        let begins = start(threads, thread, origin);
        let mut insert = |lock: LockId, states: LockStates| {
            states.atoms(lock, threads.locks.lock(lock).kind).for_each(|atom| atoms.insert(atom.index()));
        };
        for atom in begins {
            let kind = threads.locks.lock(atom.lock()).kind;
            insert(atom.lock(), self.semiring.states(relations, atom.lock(), begins, kind));
        }
        self.semiring.touched(relations, begins, &threads.locks).for_each(|(lock, states)| insert(lock, states));
        atoms
    }

    /// Whether no more than so many locks are held there: as many names, each for one.
    pub fn holds_at_most(&self, threads: &Threads, thread: ThreadId, origin: Origin, symbol: SymbolId, most: usize) -> bool {
        let names = self.may_hold(threads, thread, origin, symbol);
        let is_once = |atom: Atom| {
            let states = self.states(threads, thread, origin, symbol, atom.lock());
            states.is_some_and(|states| !states.may_be_held_again())
        };
        names.iter().count() <= most && names.iter().map(Atom::from_index).all(is_once)
    }

    /// How often a lock may be held for reading and for writing where a rule applies, whoever comes there.
    fn counts(&self, threads: &Threads, thread: ThreadId, symbol: SymbolId, lock: LockId) -> Vec<(i16, i16)> {
        let kind = threads.locks.lock(lock).kind;
        let states = self.origins(threads, thread).filter_map(|origin| self.states(threads, thread, origin, symbol, lock));
        states.flat_map(|states| states.counts(kind)).collect()
    }

    /// Whether what a history needs of a lock can be so where a rule applies.
    pub fn allows(&self, threads: &Threads, thread: ThreadId, symbol: SymbolId, lock: LockId, history: &LockHistory) -> bool {
        if !self.reliable.contains(lock.0 as usize) {
            return true;
        }
        self.counts(threads, thread, symbol, lock).iter().any(|counts| is_met(history, *counts))
    }

    /// Whether what a history needs of a lock is always so where a rule applies.
    pub fn grants(&self, threads: &Threads, thread: ThreadId, symbol: SymbolId, lock: LockId, history: &LockHistory) -> bool {
        self.counts(threads, thread, symbol, lock).iter().all(|counts| is_met(history, *counts))
    }

    /// How instances of a thread may come into being.
    pub fn origins(&self, threads: &Threads, thread: ThreadId) -> impl Iterator<Item = Origin> + use<> {
        let at_start = threads.thread(thread).instances > 0;
        let is_created = self.compacts.is_created(thread);
        at_start.then_some(Origin::Start).into_iter().chain(is_created.then_some(Origin::Created))
    }
}

fn is_met(history: &LockHistory, (read, write): (i16, i16)) -> bool {
    history.counts.iter().all(|(atom, count)| {
        let held = if atom.mode() == Mode::Shared { read } else { write };
        count.least <= held && held <= count.most
    })
}

/// What an instance holds when it begins.
pub fn start(threads: &Threads, thread: ThreadId, origin: Origin) -> &[Atom] {
    match origin {
        Origin::Start => &threads.thread(thread).holds,
        Origin::Created => &[],
    }
}
