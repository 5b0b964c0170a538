//! What a thread does after it has created another one: its places and histories while the child may be running.
//!
//! # Definition   One creation of the child is chosen on each path; the path goes on in the phase after it. In the histories of that phase the creation
//!                is a moment: what is held since before it has the moment in its acquisition history.
//! # Theorem      If parent and child run at once, the parent is in that phase, and has not joined the child: a join of the instance created last
//!                blocks while that is the chosen one. (An ancestor further up may have joined the line's next member.)
//! # Deviations   Not in the papers, which have no creation.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::analysis::Analysis;
use super::compact::Compact;
use super::first_pass::Origin;
use super::system::{Step, ThreadId};
use super::weights::Histories;
use crate::deadline::OutOfTime;
use crate::locks::history::{LockHistory, SetId, Whole};
use crate::pushdown::{Boolean, ControlId, Head, PAutomaton, PushdownSystem, Rule, RuleId, SymbolId, post_star_within};

/// Nothing chosen yet; the chosen child is the one created last; a later one was created.
const BEFORE: u32 = 0;
const LAST: u32 = 1;
const OLDER: u32 = 2;

/// In a system with more rules the order of creations is looked at without locks.
const MOST_RULES: usize = 1_000;

impl Analysis<'_> {
    /// The histories with which a thread stands at a symbol after it has created an instance of `child`.
    pub fn histories_after_creation(
        &mut self,
        parent: ThreadId,
        origin: Origin,
        child: ThreadId,
        child_runs: bool,
        symbol: SymbolId,
    ) -> Vec<Whole> {
        let Some(symbol) = self.compact(parent).leader(symbol) else { return Vec::new() };
        let set = match self.after_creation(parent, origin, child, child_runs) {
            Ok(sets) => sets.get(&symbol).copied(),
            Err(OutOfTime) => Some(SetId::ALL),
        };
        set.map_or_else(Vec::new, |set| self.read(parent, origin, Some(symbol), set))
    }

    /// Whether a thread can create an instance of `second` after one of `first`, which it has not joined in between if that one still runs. In a large
    /// thread locks are not looked at.
    pub fn creates_after(&mut self, parent: ThreadId, first: ThreadId, second: ThreadId, first_runs: bool) -> bool {
        let is_small = self.compact(parent).system.rules().len() <= MOST_RULES;
        self.may_create_after(parent, first, second, first_runs)
            && (!is_small
                || self.first_pass.origins(self.threads, parent).any(|origin| {
                    let Ok(after) = self.after_creation(parent, origin, first, first_runs) else { return true };
                    let creates = |rule: &Rule<Step>| rule.weight == Step::Spawn { thread: second };
                    self.compact(parent).system.rules().any(|(_, rule)| creates(rule) && after.contains_key(&rule.from.symbol))
                }))
    }

    fn may_create_after(&mut self, parent: ThreadId, first: ThreadId, second: ThreadId, first_runs: bool) -> bool {
        let parent = self.first_pass.compacts.first(parent);
        if !self.creations.contains_key(&parent) {
            let creations = Rc::new(Compact::of_creations(self.threads.thread(parent)));
            self.creations.insert(parent, creations);
        }
        let body = self.creations[&parent].clone();
        let key = (parent, first, first_runs);
        if !self.creates_after.contains_key(&key) {
            let system = phases(&body.system, first, first_runs, true, |_| true);
            let initial = PAutomaton::of([&self.threads.thread(parent).initial()], &Boolean);
            let controls = body.system.control_count() as u32;
            let Ok(reached) = post_star_within(&system, &initial, &mut Boolean, self.deadline) else { return true };
            let heads = reached.weights_by_head(&mut Boolean).into_keys();
            let after = heads.filter(|head| head.control.0 / controls != BEFORE).map(|head| head.symbol).collect();
            self.creates_after.insert(key, after);
        }
        let after = &self.creates_after[&key];
        let creates = |rule: &Rule<Step>| rule.weight == Step::Spawn { thread: second };
        body.system.rules().any(|(_, rule)| creates(rule) && after.contains(&rule.from.symbol))
    }

    fn after_creation(
        &mut self,
        parent: ThreadId,
        origin: Origin,
        child: ThreadId,
        child_runs: bool,
    ) -> Result<Rc<BTreeMap<SymbolId, SetId>>, OutOfTime> {
        let parent = self.first_pass.compacts.first(parent);
        if let Some(known) = self.after_creation.get(&(parent, origin, child, child_runs)) {
            return Ok(known.clone());
        }
        let weights = self.weighted(parent)?;
        let moment = self.sets.set_of([LockHistory::at_moment(self.moment())]);
        let body = &self.compact(parent).system;
        let system = phases(body, child, child_runs, moment, |id| weights.rule(id).weight);
        let initial = self.initial(parent, origin);
        let mut semiring = Histories(&mut self.sets);
        let reached = post_star_within(&system, &initial, &mut semiring, self.deadline)?;
        let weights = reached.weights_by_head_within(&mut semiring, self.deadline)?;
        let controls = self.threads.thread(parent).system.control_count() as u32;
        let mut by_symbol: BTreeMap<SymbolId, SetId> = BTreeMap::new();
        for (head, set) in weights {
            if head.control.0 / controls != BEFORE {
                let known = by_symbol.get(&head.symbol).copied().unwrap_or(SetId::NONE);
                by_symbol.insert(head.symbol, self.sets.combine(known, set));
            }
        }
        self.sets.forget();
        let by_symbol = Rc::new(by_symbol);
        self.after_creation.insert((parent, origin, child, child_runs), by_symbol.clone());
        Ok(by_symbol)
    }
}

/// The system in three phases, for each rule its weight and, where the chosen child is created, that of the moment.
fn phases<W: Copy>(
    body: &PushdownSystem<Step>,
    child: ThreadId,
    child_runs: bool,
    moment: W,
    weigh: impl Fn(RuleId) -> W,
) -> PushdownSystem<W> {
    let controls = body.control_count() as u32;
    let mut system = PushdownSystem::new(3 * controls as usize, body.symbol_count());
    for (id, rule) in body.rules() {
        let weight = weigh(id);
        let mut add = |from: u32, to: u32, weight: W| {
            let head = Head { control: ControlId(from * controls + rule.from.control.0), symbol: rule.from.symbol };
            system.add(head, ControlId(to * controls + rule.to.0), rule.replacement, weight);
        };
        match rule.weight {
            Step::Spawn { thread } if thread == child => {
                add(BEFORE, BEFORE, weight);
                add(BEFORE, LAST, moment);
                add(LAST, OLDER, weight);
                add(OLDER, OLDER, weight);
            }
            Step::Join { thread, is_last: true } if thread == child && child_runs => {
                add(BEFORE, BEFORE, weight);
                add(OLDER, OLDER, weight);
            }
            Step::Nothing
            | Step::Acquire { .. }
            | Step::TrySucceeded { .. }
            | Step::TryFailed { .. }
            | Step::Release { .. }
            | Step::Sleep { .. }
            | Step::Spawn { .. }
            | Step::Join { .. }
            | Step::Condition => [BEFORE, LAST, OLDER].into_iter().for_each(|phase| add(phase, phase, weight)),
        }
    }
    system
}
