//! What the first pass knows of each thread, and which locks it makes unreliable.
//!
//! # Definition   A lock is reliable if it stands for one run-time lock and nobody releases it without holding it, unless it checks its owner.
//! # Theorem      Only the holder of a reliable lock ends its holding. (Before the first release by a stranger every thread's own view of its locks is
//!                right; that release would be one that its thread makes without holding the lock, and the first pass has all of those.)

use std::collections::BTreeMap;

use super::lock_table::{Identity, LockKind, Mode};
use super::states::{self, LockStates, Relations, StateRelations};
use super::system::{Step, ThreadId, Threads};
use crate::locks::history::{Atom, BitSet, LockHistory, LockId};
use crate::pushdown::{PAutomaton, Semiring, SymbolId, post_star};

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
    /// By thread and symbol.
    relations: Vec<BTreeMap<SymbolId, Relations>>,
}

impl FirstPass {
    pub fn of(threads: &Threads) -> FirstPass {
        let is_one = |lock: &LockId| threads.locks.lock(*lock).identity == Identity::One;
        let mut reliable: BitSet = threads.locks.ids().filter(is_one).map(|lock| lock.0 as usize).collect();
        loop {
            let mut relations: Vec<BTreeMap<SymbolId, Relations>> = Vec::new();
            for thread in &threads.threads {
                let mut semiring = StateRelations::new(&threads.locks, reliable.clone());
                let system = thread.system.weighted(|_, rule| semiring.weigh(rule.weight));
                let initial = PAutomaton::of([&thread.initial()], &semiring);
                let mut by_symbol: BTreeMap<SymbolId, Relations> = BTreeMap::new();
                for (head, weight) in post_star(&system, &initial, &mut semiring).weights_by_head(&mut semiring) {
                    let known = by_symbol.remove(&head.symbol).unwrap_or_else(|| semiring.zero());
                    by_symbol.insert(head.symbol, semiring.combine(&known, &weight));
                }
                relations.push(by_symbol);
            }
            let pass = FirstPass { reliable: reliable.clone(), relations };
            let strange = pass.released_by_strangers(threads);
            if strange.is_empty() {
                return pass;
            }
            strange.iter().for_each(|lock| reliable.remove(lock));
        }
    }

    fn released_by_strangers(&self, threads: &Threads) -> BitSet {
        let mut strange = BitSet::default();
        for (thread, rule) in threads.ids().flat_map(|id| threads.thread(id).system.rules().map(move |(_, rule)| (id, rule))) {
            let (Step::Release { lock } | Step::Sleep { lock }) = rule.weight else { continue };
            let is_free =
                |origin| self.states(threads, thread, origin, rule.from.symbol, lock).is_some_and(LockStates::may_be_free);
            if !origins(threads, thread).any(is_free) {
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

    /// `None` where the thread does not come.
    pub fn states(
        &self,
        threads: &Threads,
        thread: ThreadId,
        origin: Origin,
        symbol: SymbolId,
        lock: LockId,
    ) -> Option<LockStates> {
        let relations = self.relations[thread.index()].get(&symbol)?;
        Some(states::states(relations, lock, start(threads, thread, origin), threads.locks.lock(lock).kind))
    }

    /// Whether a thread may stand at a symbol.
    pub fn comes_to(&self, threads: &Threads, thread: ThreadId, origin: Origin, symbol: SymbolId) -> bool {
        let may_be = |lock| self.states(threads, thread, origin, symbol, lock).is_some_and(|states| !states.is_empty());
        self.relations[thread.index()].contains_key(&symbol) && threads.locks.ids().all(may_be)
    }

    /// All that may be held there.
    pub fn may_hold(&self, threads: &Threads, thread: ThreadId, origin: Origin, symbol: SymbolId) -> BitSet {
        let mut atoms = BitSet::default();
        for lock in threads.locks.ids() {
            if let Some(states) = self.states(threads, thread, origin, symbol, lock) {
                states.atoms(lock, threads.locks.lock(lock).kind).for_each(|atom| atoms.insert(atom.index()));
            }
        }
        atoms
    }

    /// Whether what a history needs of a lock can be so where a rule applies.
    pub fn allows(&self, threads: &Threads, thread: ThreadId, symbol: SymbolId, lock: LockId, history: &LockHistory) -> bool {
        if !self.reliable.contains(lock.0 as usize) {
            return true;
        }
        let kind = threads.locks.lock(lock).kind;
        origins(threads, thread).any(|origin| {
            self.states(threads, thread, origin, symbol, lock).is_some_and(|states| {
                states.counts(kind).any(|(read, write)| {
                    history.counts.iter().all(|(atom, count)| {
                        let held = if atom.mode() == Mode::Shared { read } else { write };
                        count.least <= held && held <= count.most
                    })
                })
            })
        })
    }
}

/// How instances of a thread may come into being.
fn origins(threads: &Threads, thread: ThreadId) -> impl Iterator<Item = Origin> {
    let creates = |rule: &crate::pushdown::Rule<Step>| rule.weight == Step::Spawn { thread };
    let is_created = threads.thread(thread).created > 0
        || threads.threads.iter().any(|creator| creator.system.rules().any(|(_, rule)| creates(rule)));
    let at_start = threads.thread(thread).instances > 0;
    at_start.then_some(Origin::Start).into_iter().chain(is_created.then_some(Origin::Created))
}

/// What an instance holds when it begins.
pub fn start(threads: &Threads, thread: ThreadId, origin: Origin) -> &[Atom] {
    match origin {
        Origin::Start => &threads.thread(thread).holds,
        Origin::Created => &[],
    }
}
