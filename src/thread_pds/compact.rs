//! A thread's system without the steps that do nothing, and threads that are alike.
//!
//! # Definition   A step is idle if it does nothing with locks and threads; a call is idle if all that its callee can do before it returns is, and it can
//!                return. A symbol follows another one if every way to it comes through that one and then goes on by idle steps only.
//! # Theorem      All ways to a symbol weigh together what all ways to the symbol that it follows do, in every semiring where idle steps weigh 1: each way to the
//!                one goes on to the other by steps that weigh nothing and need nothing of the stack. So one symbol stands for all that follow it.
//! # Paper        As copies of values: a symbol with one source is a copy, where two sources meet there is something new (Cytron et al. 1991).
//! # Deviations   1. A system with several control states is taken as it is.  2. Where the search for sources takes too many rounds, too.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::system::{Step, ThreadId, ThreadSystem, Threads};
use crate::deadline::{Deadline, OutOfTime};
use crate::pushdown::{ControlId, Head, PushdownSystem, Replacement, Rule, SymbolId};

const MOST_ROUNDS: usize = 100;

/// A system whose symbols stand for those that follow them.
#[derive(Debug)]
pub struct Compact {
    /// Numbers of symbols are as before; those that follow another one have no rules.
    pub system: PushdownSystem<Step>,
    /// By symbol; `None` where no way leads.
    leaders: Vec<Option<SymbolId>>,
}

impl Compact {
    pub fn of(body: &ThreadSystem) -> Compact {
        Compact::with(body, |step| step)
    }

    /// What a thread does with other threads, whatever locks say: every way that it has is one of these.
    pub fn of_creations(body: &ThreadSystem) -> Compact {
        let is_creation = |step: Step| matches!(step, Step::Spawn { .. } | Step::Join { .. });
        Compact::with(body, |step| if is_creation(step) { step } else { Step::Nothing })
    }

    /// With other steps in place of its own.
    fn with(body: &ThreadSystem, meaning: impl Fn(Step) -> Step) -> Compact {
        let body = &Body {
            start: body.start.symbol,
            system: body.system.weighted(|_, rule| meaning(rule.weight)),
            places: body.places.len(),
        };
        let count = body.system.symbol_count().max(body.places).max(usize::from(body.start) + 1);
        if body.system.control_count() > 1 {
            let leaders = (0..count).map(|symbol| Some(SymbolId::from(symbol))).collect();
            return Compact { system: body.system.weighted(|_, rule| rule.weight), leaders };
        }
        let ways = Ways::of(body, count);
        let leaders = ways.leaders(body, count);
        let leader = |symbol: SymbolId| leaders[usize::from(symbol)].expect("what a reached rule leads to is reached");
        let mut system = PushdownSystem::new(1, count);
        let mut seen: FxHashSet<(SymbolId, Replacement, Step)> = FxHashSet::default();
        for symbol in (0..count).map(SymbolId::from).filter(|symbol| ways.is_reached[usize::from(*symbol)]) {
            let from = leader(symbol);
            for rule in rules_at(body, symbol) {
                let replacement = match rule.replacement {
                    Replacement::Pop => Replacement::Pop,
                    Replacement::Step(to) => Replacement::Step(leader(to)),
                    // Nobody comes to where a call that does not return would go on.
                    Replacement::Push { callee, resume } => {
                        Replacement::Push { callee, resume: leaders[usize::from(resume)].unwrap_or(resume) }
                    }
                };
                let is_void = rule.weight == Step::Nothing && replacement == Replacement::Step(from);
                if !is_void && seen.insert((from, replacement, rule.weight)) {
                    system.add(Head { control: ControlId(0), symbol: from }, ControlId(0), replacement, rule.weight);
                }
            }
        }
        Compact { system, leaders }
    }

    /// The symbol whose histories are those of the given one; `None` where no way leads.
    pub fn leader(&self, symbol: SymbolId) -> Option<SymbolId> {
        self.leaders[usize::from(symbol)]
    }

    /// The symbols that stand for themselves.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> + '_ {
        let own = |(at, leader): (usize, &Option<SymbolId>)| leader.filter(|leader| usize::from(*leader) == at);
        self.leaders.iter().enumerate().filter_map(own)
    }
}

/// A thread's system with steps of its own or of others.
struct Body {
    start: SymbolId,
    system: PushdownSystem<Step>,
    places: usize,
}

fn rules_at(body: &Body, symbol: SymbolId) -> impl Iterator<Item = &Rule<Step>> {
    let rules = body.system.rules_at(Head { control: ControlId(0), symbol });
    rules.iter().map(|rule| body.system.rule(*rule))
}

/// What is reached if locks are not looked at, and which callees return and are idle.
struct Ways {
    is_reached: Vec<bool>,
    returns: FxHashSet<SymbolId>,
    busy: FxHashSet<SymbolId>,
}

impl Ways {
    fn of(body: &Body, count: usize) -> Ways {
        let mut ways = Ways { is_reached: vec![false; count], returns: FxHashSet::default(), busy: FxHashSet::default() };
        // Pairs of a procedure's entry and a symbol of it.
        let mut seen: FxHashSet<(SymbolId, SymbolId)> = FxHashSet::default();
        let mut waiting: FxHashMap<SymbolId, Vec<(SymbolId, SymbolId)>> = FxHashMap::default();
        let mut callers: FxHashMap<SymbolId, BTreeSet<SymbolId>> = FxHashMap::default();
        let mut open = vec![(body.start, body.start)];
        while let Some((entry, symbol)) = open.pop() {
            if !seen.insert((entry, symbol)) {
                continue;
            }
            ways.is_reached[usize::from(symbol)] = true;
            for rule in rules_at(body, symbol) {
                if rule.weight != Step::Nothing {
                    ways.busy.insert(entry);
                }
                match rule.replacement {
                    Replacement::Pop => {
                        if ways.returns.insert(entry) {
                            open.extend(waiting.remove(&entry).unwrap_or_default());
                        }
                    }
                    Replacement::Step(to) => open.push((entry, to)),
                    Replacement::Push { callee, resume } => {
                        callers.entry(callee).or_default().insert(entry);
                        open.push((callee, callee));
                        match ways.returns.contains(&callee) {
                            true => open.push((entry, resume)),
                            false => waiting.entry(callee).or_default().push((entry, resume)),
                        }
                    }
                }
            }
        }
        let mut open: Vec<SymbolId> = ways.busy.iter().copied().collect();
        while let Some(entry) = open.pop() {
            for caller in callers.get(&entry).into_iter().flatten() {
                if ways.busy.insert(*caller) {
                    open.push(*caller);
                }
            }
        }
        ways
    }

    fn leaders(&self, body: &Body, count: usize) -> Vec<Option<SymbolId>> {
        let reached = || (0..count).filter(|symbol| self.is_reached[*symbol]).map(SymbolId::from);
        // What something happens on the way to leads; what only idle steps lead to has these sources.
        let mut is_leader = vec![false; count];
        let mut sources: Vec<Vec<SymbolId>> = vec![Vec::new(); count];
        let mut targets: Vec<Vec<SymbolId>> = vec![Vec::new(); count];
        is_leader[usize::from(body.start)] = true;
        for symbol in reached() {
            for rule in rules_at(body, symbol) {
                let mut comes_to = |to: SymbolId, is_idle: bool| match is_idle {
                    true => {
                        sources[usize::from(to)].push(symbol);
                        targets[usize::from(symbol)].push(to);
                    }
                    false => is_leader[usize::from(to)] = true,
                };
                match rule.replacement {
                    Replacement::Pop => {}
                    Replacement::Step(to) => comes_to(to, rule.weight == Step::Nothing),
                    Replacement::Push { callee, resume } => {
                        comes_to(callee, false);
                        if self.returns.contains(&callee) {
                            comes_to(resume, rule.weight == Step::Nothing && !self.busy.contains(&callee));
                        }
                    }
                }
            }
        }
        let mut leaders: Vec<Option<SymbolId>> = vec![None; count];
        // Depth first, so that sources mostly come before what follows them.
        let mut order = Vec::new();
        let mut is_listed = vec![false; count];
        for first in reached().filter(|symbol| is_leader[usize::from(*symbol)]) {
            leaders[usize::from(first)] = Some(first);
            let mut open = vec![first];
            while let Some(symbol) = open.pop() {
                if !std::mem::replace(&mut is_listed[usize::from(symbol)], true) {
                    order.push(symbol);
                    open.extend(&targets[usize::from(symbol)]);
                }
            }
        }
        for _ in 0..MOST_ROUNDS {
            let mut is_stable = true;
            for symbol in order.iter().map(|symbol| usize::from(*symbol)) {
                if is_leader[symbol] {
                    continue;
                }
                let mut known = sources[symbol].iter().filter_map(|source| leaders[usize::from(*source)]);
                // Not `symbol` itself: a loop back to it brings nothing new.
                let Some(first) = known.next() else { continue };
                if known.any(|other| other != first) {
                    is_leader[symbol] = true;
                    leaders[symbol] = Some(SymbolId::from(symbol));
                    is_stable = false;
                } else if leaders[symbol] != Some(first) {
                    leaders[symbol] = Some(first);
                    is_stable = false;
                }
            }
            if is_stable {
                return leaders;
            }
        }
        (0..count).map(|symbol| self.is_reached[symbol].then(|| SymbolId::from(symbol))).collect()
    }
}

/// The compact systems of all threads; threads that are alike share one.
#[derive(Debug)]
pub struct Compacts {
    /// By thread: the first one that does the same, holds the same at its start and comes into being in the same ways.
    alike: Vec<ThreadId>,
    /// Of the first ones.
    compacts: Vec<Option<Compact>>,
    is_created: Vec<bool>,
}

impl Compacts {
    pub fn of(threads: &Threads, deadline: Deadline) -> Result<Compacts, OutOfTime> {
        let mut is_created: Vec<bool> = threads.threads.iter().map(|thread| thread.created > 0).collect();
        for (_, rule) in threads.threads.iter().flat_map(|thread| thread.system.rules()) {
            if let Step::Spawn { thread } = rule.weight {
                is_created[thread.index()] = true;
            }
        }
        let mut known: FxHashMap<u64, Vec<ThreadId>> = FxHashMap::default();
        let mut compacts = Compacts { alike: Vec::new(), compacts: Vec::new(), is_created };
        for thread in threads.ids() {
            deadline.check()?;
            let alike = known.entry(fingerprint(threads.thread(thread))).or_default();
            let same = |other: &&ThreadId| {
                let (one, two) = (threads.thread(thread), threads.thread(**other));
                one.start == two.start
                    && one.holds == two.holds
                    && (one.instances > 0) == (two.instances > 0)
                    && compacts.is_created[thread.index()] == compacts.is_created[other.index()]
                    && one.places.len() == two.places.len()
                    && one.system.control_count() == two.system.control_count()
                    && one.system.rules().eq(two.system.rules())
            };
            let first = alike.iter().find(same).copied();
            if first.is_none() {
                alike.push(thread);
            }
            compacts.compacts.push(first.is_none().then(|| Compact::of(threads.thread(thread))));
            compacts.alike.push(first.unwrap_or(thread));
        }
        Ok(compacts)
    }

    /// The first thread that is like this one.
    pub fn first(&self, thread: ThreadId) -> ThreadId {
        self.alike[thread.index()]
    }

    pub fn firsts(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (0..self.alike.len() as u32).map(ThreadId).filter(|thread| self.first(*thread) == *thread)
    }

    pub fn of_thread(&self, thread: ThreadId) -> &Compact {
        self.compacts[self.first(thread).index()].as_ref().expect("the first of those that are alike has one")
    }

    pub fn is_created(&self, thread: ThreadId) -> bool {
        self.is_created[thread.index()]
    }
}

fn fingerprint(body: &ThreadSystem) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    body.start.hash(&mut hasher);
    for (_, rule) in body.system.rules() {
        (rule.from, rule.to, rule.replacement, rule.weight).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Mode;
    use crate::locks::history::LockId;

    const LOCK: LockId = LockId(0);

    fn system(rules: &[(u32, Replacement, Step)]) -> ThreadSystem {
        let mut body = ThreadSystem::new("t", SymbolId(0));
        for (from, replacement, step) in rules {
            body.system.add(Head { control: ControlId(0), symbol: SymbolId(*from) }, ControlId(0), *replacement, *step);
        }
        body.places = (0..body.system.symbol_count() as u32).collect();
        body
    }

    fn to(symbol: u32) -> Replacement {
        Replacement::Step(SymbolId(symbol))
    }

    fn leaders(body: &ThreadSystem) -> Vec<Option<u32>> {
        let compact = Compact::of(body);
        (0..body.places.len()).map(|symbol| compact.leader(SymbolId::from(symbol)).map(|leader| leader.0)).collect()
    }

    #[test]
    fn branches_and_loops_without_locks_are_one_place() {
        let nothing = Step::Nothing;
        let body = system(&[
            (0, to(1), nothing),
            (0, to(2), nothing),
            (1, to(3), nothing),
            (2, to(3), nothing),
            (3, to(0), nothing),
            (3, to(4), Step::Acquire { lock: LOCK, mode: Mode::Exclusive }),
            (4, to(5), nothing),
            (5, Replacement::Pop, nothing),
        ]);
        assert_eq!(leaders(&body), [0, 0, 0, 0, 4, 4].map(Some));
        assert_eq!(Compact::of(&body).system.rules().len(), 2);
    }

    #[test]
    fn a_loop_with_a_lock_step_begins_anew() {
        let body = system(&[
            (0, to(1), Step::Nothing),
            (1, to(2), Step::Acquire { lock: LOCK, mode: Mode::Exclusive }),
            (2, to(3), Step::Release { lock: LOCK }),
            (3, to(1), Step::Nothing),
        ]);
        assert_eq!(leaders(&body), [0, 1, 2, 3].map(Some), "1 is reached with and without the use of the lock");
    }

    #[test]
    fn calls_are_idle_if_they_return_and_do_nothing() {
        let call = |callee: u32, resume: u32| Replacement::Push { callee: SymbolId(callee), resume: SymbolId(resume) };
        let body = system(&[
            (0, call(5, 1), Step::Nothing),
            (1, call(6, 2), Step::Nothing),
            (2, call(8, 3), Step::Nothing),
            (3, to(4), Step::Nothing),
            (5, Replacement::Pop, Step::Nothing),
            (6, to(7), Step::Release { lock: LOCK }),
            (7, Replacement::Pop, Step::Nothing),
            (8, to(8), Step::Nothing),
        ]);
        let expected = [Some(0), Some(0), Some(2), None, None, Some(5), Some(6), Some(7), Some(8)];
        assert_eq!(leaders(&body), expected, "5 is idle, 6 is not, 8 does not return");
    }
}
