//! A wait for a signal with a lock held that every signaller needs first.
//!
//! # Definition   A thread waits for a condition and keeps a lock m, not the one that the wait gives back. Every thread that may signal the condition at
//!                that time takes m, for certain, on each of its ways to a signal.
//! # Theorem      If the waiter sleeps before the signallers have taken m, they wait for m, which it keeps, and it waits for them: nobody goes on.
//!                (Nothing wakes without cause, as everywhere.)
//! # False alarms Signallers that have always taken m before the waiter comes, for reasons of data; waits that data keep from sleeping.
//! # Misses       Signallers of which only some need m; locks that stand for several; conditions that code outside signals. Every wait for a condition
//!                is a limit as well, so nothing is called safe because of what is not raised here.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::in_program::{CycleCandidate, Writer};
use crate::deadline::Deadline;
use crate::facts::{Facts, Location};
use crate::findings::Role;
use crate::locks::Token;
use crate::locks::history::LockId;
use crate::models::{Attempt, BoundModels, Effect};
use crate::program::{Callee, FunctionId, Instruction, Operand, Operation, Program, SiteId};
use crate::pushdown::{Boolean, PAutomaton, SymbolId, post_star};
use crate::thread_pds::{Analysis, LockName, Origin, Spot, Step, ThreadId};

/// The effects of all library functions that an instruction may call.
pub(super) fn effects<'m>(models: &'m BoundModels<'_>, facts: &Facts<'_>, instruction: &Instruction) -> Vec<&'m Effect> {
    let Operation::Call { callee, .. } = &instruction.operation else { return Vec::new() };
    let callees = match callee {
        Callee::Direct(callee) => vec![*callee],
        Callee::Indirect(_) => facts.points_to.callees(instruction.site).to_vec(),
    };
    callees.iter().filter_map(|callee| models[*callee]).flat_map(|model| &model.effects).collect()
}

/// Where conditions are signalled, if anybody waits for one: places to stand at.
pub fn signal_sites(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>) -> BTreeSet<SiteId> {
    let (mut signals, mut has_wait) = (BTreeSet::new(), false);
    for (_, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.points_to.is_reachable(*id)) {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            for effect in effects(models, facts, instruction) {
                match effect {
                    Effect::Signal { .. } => _ = signals.insert(instruction.site),
                    Effect::Wait { attempt: Attempt::Blocking, .. } => has_wait = true,
                    // Nothing else signals a condition, or waits for one without end.
                    _ => {}
                }
            }
        }
    }
    if has_wait { signals } else { BTreeSet::new() }
}

/// A thread that stands before a wait or a signal.
struct Stop {
    thread: ThreadId,
    symbol: SymbolId,
    conditions: Vec<Location>,
    function: FunctionId,
    operand: Operand,
}

/// All waits that no signal ends, one candidate for each two lines.
pub fn stuck_waits(writer: &mut Writer<'_, '_, '_>, models: &BoundModels<'_>, analysis: &Analysis<'_>) -> Vec<CycleCandidate> {
    let mut search = Search { writer, models, analysis, takes: takes(analysis), without: FxHashMap::default() };
    let (waits, signals) = (search.waits(), search.signals());
    let mut found = BTreeMap::new();
    for (wait, given_back) in &waits {
        for lock in search.kept(wait, *given_back) {
            if analysis.is_out_of_time() {
                break;
            }
            if let Some(blocked) = search.blocked_signaller(wait, &signals, lock) {
                let candidate = search.candidate((wait, *given_back), lock, blocked);
                found.entry(candidate.lines()).or_insert(candidate);
            }
        }
    }
    found.into_values().collect()
}

/// What each thread may wait for somewhere.
fn takes(analysis: &Analysis<'_>) -> FxHashSet<(ThreadId, LockId)> {
    let of_thread = |thread: ThreadId| {
        let rules = analysis.threads.thread(thread).system.rules();
        rules.filter_map(move |(_, rule)| match rule.weight {
            Step::Acquire { lock, .. } => Some((thread, lock)),
            // Nothing else waits for a lock with no end of its own.
            _ => None,
        })
    };
    analysis.threads.ids().flat_map(of_thread).collect()
}

struct Search<'s, 'a, 't, 'p> {
    writer: &'s mut Writer<'a, 't, 'p>,
    models: &'s BoundModels<'s>,
    analysis: &'s Analysis<'s>,
    takes: FxHashSet<(ThreadId, LockId)>,
    /// By thread and lock: the symbols that the thread comes to without having waited for the lock.
    without: FxHashMap<(ThreadId, LockId), BTreeSet<SymbolId>>,
}

impl Search<'_, '_, '_, '_> {
    fn stop(&self, thread: ThreadId, symbol: SymbolId, of: impl Fn(&Effect) -> Option<usize>) -> Option<Stop> {
        let spot = self.writer.threads.spot(thread, symbol);
        let tabulation = self.writer.tabulation;
        let function = tabulation.contexts.all[spot.context].key.function;
        let instruction = tabulation.program.functions[function].blocks[spot.block].instructions.get(spot.index)?;
        let position = effects(self.models, tabulation.facts, instruction).into_iter().find_map(of)?;
        let Operation::Call { arguments, .. } = &instruction.operation else { return None };
        let operand = arguments.get(position)?.value;
        let conditions = tabulation.facts.points_to.pointees(function, operand).collect();
        Some(Stop { thread, symbol, conditions, function, operand })
    }

    fn comes_to(&self, thread: ThreadId, symbol: SymbolId) -> bool {
        let mut origins = [Origin::Start, Origin::Created].into_iter();
        origins.any(|origin| self.analysis.population.exists(thread, origin) && self.analysis.comes_to(thread, origin, symbol))
    }

    /// Waits without an end of their own, each with the lock that it gives back.
    fn waits(&self) -> Vec<(Stop, LockId)> {
        let mut waits = Vec::new();
        let blocking = |effect: &Effect| match effect {
            Effect::Wait { condition, attempt: Attempt::Blocking, .. } => Some(*condition),
            _ => None,
        };
        for thread in self.analysis.threads.ids() {
            for (_, rule) in self.analysis.threads.thread(thread).system.rules() {
                let (Step::Sleep { lock }, symbol) = (rule.weight, rule.from.symbol) else { continue };
                if self.comes_to(thread, symbol) {
                    waits.extend(self.stop(thread, symbol, blocking).map(|stop| (stop, lock)));
                }
            }
        }
        waits
    }

    fn signals(&self) -> Vec<Stop> {
        let signal = |effect: &Effect| match effect {
            Effect::Signal { condition, .. } => Some(*condition),
            _ => None,
        };
        let mut signals = Vec::new();
        for thread in self.analysis.threads.ids() {
            for symbol in &self.writer.threads.targets[thread.index()] {
                if self.comes_to(thread, *symbol) {
                    signals.extend(self.stop(thread, *symbol, signal));
                }
            }
        }
        signals
    }

    /// Locks that are certainly held at a place, each one run-time lock.
    fn held(&self, spot: &Spot) -> BTreeSet<LockId> {
        let lockset = self.writer.tabulation.locksets.get(spot.lockset);
        let places: Vec<LockName> = lockset
            .iter()
            .filter(|held| held.token == Token::Lock)
            .filter_map(|held| held.names.place.map(LockName::Place))
            .collect();
        let names = self.writer.threads.names.iter().enumerate();
        names.filter(|(_, name)| places.contains(name)).map(|(lock, _)| LockId(lock as u32)).collect()
    }

    /// What a waiter keeps.
    fn kept(&self, wait: &Stop, given_back: LockId) -> Vec<LockId> {
        let held = self.held(self.writer.threads.spot(wait.thread, wait.symbol));
        held.into_iter().filter(|lock| *lock != given_back && self.analysis.is_reliable(*lock)).collect()
    }

    fn are_apart(&self, one: (ThreadId, SymbolId), other: (ThreadId, SymbolId)) -> bool {
        let is_itself = one.0 == other.0 && self.analysis.population.instances(one.0) < 2;
        is_itself || self.analysis.threads.order.as_ref().is_some_and(|order| order.apart(one, other).is_some())
    }

    /// Where somebody who would signal waits for a lock that the waiter keeps, if all who might signal need it.
    fn blocked_signaller(&mut self, wait: &Stop, signals: &[Stop], lock: LockId) -> Option<(ThreadId, SymbolId)> {
        let points_to = &self.writer.tabulation.facts.points_to;
        let is_same = |signal: &&Stop| {
            let mut pairs = wait.conditions.iter().flat_map(|one| signal.conditions.iter().map(move |other| (*one, *other)));
            pairs.any(|(one, other)| points_to.may_alias(one, 1, other, 1))
        };
        let here = (wait.thread, wait.symbol);
        let heard = signals.iter().filter(is_same).filter(|signal| !self.are_apart(here, (signal.thread, signal.symbol)));
        let heard: Vec<(ThreadId, SymbolId)> = heard.map(|signal| (signal.thread, signal.symbol)).collect();
        // Who never waits for the lock comes to the signal without it: most do, and their ways need not be looked for.
        if heard.iter().any(|(thread, _)| !self.takes.contains(&(*thread, lock))) {
            return None;
        }
        let mut blocked = None;
        for (thread, symbol) in heard {
            if self.without(thread, lock).contains(&symbol) {
                return None;
            }
            blocked = blocked.or_else(|| self.acquisition(wait, thread, lock));
        }
        blocked
    }

    /// Where a thread first waits for a lock, while another one sleeps.
    fn acquisition(&mut self, wait: &Stop, thread: ThreadId, lock: LockId) -> Option<(ThreadId, SymbolId)> {
        let kept = self.held(self.writer.threads.spot(wait.thread, wait.symbol));
        let reached = self.without(thread, lock).clone();
        let rules = self.analysis.threads.thread(thread).system.rules();
        let here = rules.filter(|(_, rule)| matches!(rule.weight, Step::Acquire { lock: taken, .. } if taken == lock));
        let symbols: BTreeSet<SymbolId> = here.map(|(_, rule)| rule.from.symbol).filter(|at| reached.contains(at)).collect();
        let fits = |symbol: &SymbolId| {
            !self.are_apart((wait.thread, wait.symbol), (thread, *symbol))
                && self.comes_to(thread, *symbol)
                && self.held(self.writer.threads.spot(thread, *symbol)).is_disjoint(&kept)
        };
        let line = |symbol: &SymbolId| self.writer.threads.spot(thread, *symbol).site;
        symbols.into_iter().filter(fits).min_by_key(line).map(|symbol| (thread, symbol))
    }

    fn without(&mut self, thread: ThreadId, lock: LockId) -> &BTreeSet<SymbolId> {
        let body = self.analysis.threads.thread(thread);
        self.without.entry((thread, lock)).or_insert_with(|| {
            let is_open = |step: Step| !matches!(step, Step::Acquire { lock: taken, .. } if taken == lock);
            let system = body.system.weighted(|_, rule| is_open(rule.weight));
            let initial = PAutomaton::of([&body.initial()], &Boolean);
            let (reached, mut symbols) = (post_star(&system, &initial, &mut Boolean), BTreeSet::new());
            let heads = reached.each_head_within(&mut Boolean, Deadline::NEVER, |_, head, _| _ = symbols.insert(head.symbol));
            heads.expect("nothing ends it early");
            symbols
        })
    }

    fn candidate(
        &mut self,
        (wait, given_back): (&Stop, LockId),
        lock: LockId,
        (signaller, symbol): (ThreadId, SymbolId),
    ) -> CycleCandidate {
        let names = &self.writer.names;
        let condition = match &wait.conditions[..] {
            [one] => Some(names.whole(*one)),
            _ => names.spelled(wait.function, wait.operand),
        };
        let condition = condition.unwrap_or_else(|| "a condition".to_owned());
        let lock_name = self.writer.lock(lock);
        let mut waiter = self.writer.side_of(wait.thread, wait.symbol, (Role::Wait, condition.clone()), None);
        let given_back = self.writer.lock(given_back);
        waiter.locks.retain(|held| held.name != given_back);
        let signaller = self.writer.side_of(signaller, symbol, (Role::Acquire, lock_name.clone()), None);
        let why = format!(
            "{} may keep {lock_name} while it waits for a signal of {condition}; {} waits for {lock_name}, and so does everybody who could signal it",
            waiter.thread_name, signaller.thread_name
        );
        CycleCandidate {
            object: BTreeSet::from([condition, lock_name.clone()]).into_iter().collect::<Vec<_>>().join(", "),
            ends: vec![waiter, signaller],
            blocks_by: vec![Some(lock_name), None],
            headline: None,
            why,
        }
    }
}
