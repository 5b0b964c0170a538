//! Passages: what a call of a body hands to the callee, and what comes back, in the names of either.
//!
//! # Definition   The passage of a call, with what is held before it and the numbers it gives, is the context that it enters, with what the callee does not know of set aside; its ways are
//!                the context's exits in the caller's names.
//! # Theorem      A passage depends on nothing else, and its ways on the context's summary alone. So a block that is looked at again goes through its calls again only as far as summaries have changed: calls through
//!                tables of hundreds of functions would cost their number each time.

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::calls::CallAt;
use super::constants::Numbers;
use super::context::{ContextId, ContextKey, Edge, ReturnFact, Standing};
use super::effects::MOST_LEVELS;
use super::skeleton::Target;
use super::state::{Alternative, Released, State};
use super::tabulate::{Collected, Tabulation};
use crate::facts::{TermId, Valuation};
use crate::locks::{Held, LocksetId, Moment, Names, Sites, Term, Token, Working};
use crate::program::{BlockId, FunctionId, Operand, RegisterId};

/// More names for one thing are not kept.
pub(super) const MOST_NAMES: usize = 4;

/// What these leave is put together again whenever one of them changes.
const FEW_TARGETS: usize = 16;

/// A call instruction of a context, and what is held before it.
pub(super) type PassageKey = (ContextId, BlockId, usize, LocksetId);

pub(super) struct Passage {
    /// The context that is entered; `None` when nothing in the callee matters.
    pub context: Option<ContextId>,
    numbers: Numbers,
    /// Nothing if nothing is held.
    held: Option<Box<Divided>>,
    /// Kept where targets are few.
    ways: Vec<Way>,
}

/// What is held before a call.
#[derive(Default)]
struct Divided {
    /// What the callee calls something, and what the caller does.
    passed: Vec<(Names, Names)>,
    /// What the callee does not know of.
    aside: Working,
}

/// The passages of one call.
#[derive(Default)]
pub(super) struct Passages {
    /// What was known when they were made, and when that was.
    valuation: Option<Valuation>,
    made_at: u64,
    /// By target that is a body.
    targets: Vec<Passage>,
    /// By context: those that enter it.
    positions: FxHashMap<ContextId, SmallVec<[u32; 1]>>,
    /// What all of them leave, if they are several: those that leave the same are one. Of many targets none is taken back.
    ways: IndexMap<LocksetId, Way, FxBuildHasher>,
}

impl Passages {
    /// What the calls leave; where there is one target, ways that leave the same are as its exits are.
    fn all_ways(&self) -> impl Iterator<Item = &Way> {
        let only = match &self.targets[..] {
            [only] => only.ways.as_slice(),
            _ => &[],
        };
        only.iter().chain(self.ways.values())
    }
}

/// Adds ways: those that leave the same are one.
fn add_ways(known: &mut IndexMap<LocksetId, Way, FxBuildHasher>, new: impl IntoIterator<Item = Way>) {
    for way in new {
        match known.entry(way.lockset) {
            Entry::Occupied(mut known) => known.get_mut().absorb(&way),
            Entry::Vacant(free) => _ = free.insert(way),
        }
    }
}

/// What one way to return leaves.
#[derive(Clone)]
pub(super) struct Way {
    lockset: LocksetId,
    sites: Sites,
    released: Released,
    fact: ReturnFact,
}

impl Way {
    /// Stands for the other way, too, which leaves the same.
    fn absorb(&mut self, other: &Way) {
        self.released.absorb(&other.released);
        self.fact = self.fact.as_ref().zip(other.fact.as_ref()).and_then(|(mine, theirs)| mine.or(theirs));
    }

    pub fn after(&self, before: &Alternative, result: Option<RegisterId>) -> Alternative {
        let mut after = Alternative {
            lockset: self.lockset,
            sites: self.sites.clone(),
            valuation: before.valuation.clone(),
            released: before.released.clone(),
        };
        after.released.absorb(&self.released);
        if let (Some(result), Some(fact)) = (result, &self.fact) {
            after.valuation.forget(result);
            after.valuation.state(result, fact.clone());
        }
        after
    }
}

impl Tabulation<'_, '_> {
    /// All that may hold after a call.
    pub(super) fn call(&mut self, at: &CallAt<'_>, state: State, mut collected: Option<&mut Collected>) -> State {
        let mut after = State::default();
        for alternative in state.alternatives {
            if at.call.targets.iter().any(|target| matches!(target, Target::Body(_))) {
                let key = (at.context, at.block, at.index, alternative.lockset);
                let mut passages = self.passages.remove(&key).unwrap_or_default();
                self.refresh(at, &alternative, &mut passages);
                if cfg!(debug_assertions) && collected.is_some() {
                    self.check(at, &alternative, &passages);
                }
                for way in passages.all_ways() {
                    after.add(&mut self.locksets, way.after(&alternative, at.call.result));
                }
                self.passages.insert(key, passages);
            }
            for target in &at.call.targets {
                let Target::Library(actions) = target else { continue };
                for outcome in self.perform(at, actions, alternative.clone(), collected.as_deref_mut()) {
                    after.add(&mut self.locksets, outcome);
                }
            }
        }
        after
    }

    /// Goes through those targets of a call of which something has changed.
    fn refresh(&mut self, at: &CallAt<'_>, before: &Alternative, passages: &mut Passages) {
        let is_other = passages.valuation.as_ref() != Some(&before.valuation);
        let changed = self.contexts.all[at.context].changed_since(at.block, passages.made_at);
        if !is_other && changed.is_empty() {
            return;
        }
        let mut changed: Vec<u32> =
            changed.iter().filter_map(|(_, context)| passages.positions.get(context)).flatten().copied().collect();
        passages.made_at = self.contexts.clock();
        let arguments = at.arguments();
        if is_other {
            passages.valuation = Some(before.valuation.clone());
            let bodies = at.call.targets.iter().filter_map(|target| match target {
                Target::Body(callee) => Some(*callee),
                Target::Library(_) => None,
            });
            for (position, callee) in bodies.enumerate() {
                let numbers = self.numbers(at, before, callee, &arguments);
                if passages.targets.get(position).is_some_and(|known| known.numbers == numbers) {
                    continue;
                }
                let passage = self.pass(at, before, callee, &arguments, numbers, None);
                if let Some(context) = passage.context {
                    passages.positions.entry(context).or_default().push(position as u32);
                }
                match passages.targets.get_mut(position) {
                    Some(known) => *known = passage,
                    None => passages.targets.push(passage),
                }
                changed.push(position as u32);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let are_few = passages.targets.len() <= FEW_TARGETS;
        for position in changed {
            let passage = &mut passages.targets[position as usize];
            let ways = self.ways(at, passage, before, &arguments, None);
            if are_few {
                passage.ways = ways;
            } else {
                add_ways(&mut passages.ways, ways);
            }
        }
        if are_few && passages.targets.len() > 1 {
            passages.ways.clear();
            let Passages { targets, ways, .. } = passages;
            targets.iter().for_each(|passage| add_ways(ways, passage.ways.iter().cloned()));
        }
    }

    /// The theorem: when all is solved, what was put together from changes is what the summaries say now.
    fn check(&mut self, at: &CallAt<'_>, before: &Alternative, passages: &Passages) {
        for passage in &passages.targets {
            for way in self.ways(at, passage, before, &at.arguments(), None) {
                let mut known = passages.all_ways().filter(|known| known.lockset == way.lockset).peekable();
                assert!(known.peek().is_some(), "every way of a callee is known to its caller");
                let knows = |known: &Way| !known.released.clone().absorb(&way.released);
                assert!(known.any(knows), "a callee releases what its caller does not know of");
            }
        }
    }

    /// A call enters a callee of the program.
    pub(super) fn pass(
        &mut self,
        at: &CallAt<'_>,
        before: &Alternative,
        callee: FunctionId,
        arguments: &[Operand],
        numbers: Numbers,
        extra: Option<&Held>,
    ) -> Passage {
        let skeletons = self.skeletons;
        let skeleton = &skeletons[callee];
        if !skeleton.is_relevant {
            return Passage { context: None, numbers, held: None, ways: Vec::new() };
        }
        let facts = self.facts;
        let entered = at.key.standing.stage().map(|stage| facts.threads.enter(stage, at.block, at.index, callee));
        let standing = entered.map_or(Standing::AsCaller, Standing::from);
        let phase = self.phase(at);
        let holdings = Working::of(self.locksets.get(before.lockset), &before.sites);
        let pairs = if holdings.items.is_empty() { Vec::new() } else { self.parameters(at.key.function, callee, arguments) };
        let (mut entry, mut aside, mut passed) = (Working::default(), Working::default(), Vec::new());
        let mut given = Vec::new();
        for (held, site) in holdings.items {
            let names = self.in_callee(&held.names, &pairs);
            if names.is_empty() {
                aside.items.push((held, site));
            } else {
                passed.push((names.clone(), held.names.clone()));
                // The callee knows one level: how many there are is the caller's business, so that recursion needs one context.
                entry.items.push((Held { names: names.clone(), count: 1, ..held.clone() }, site));
                given.push((names, held, site));
            }
        }
        for extra in extra.into_iter().cloned().chain(skeleton.is_atomic.then(super::effects::atomic_section)) {
            entry.take(extra, Some(at.site));
        }
        let bindings = self.bindings(at.key, callee, arguments);
        let context = self.enter(callee, standing, entry, (bindings, numbers.clone()));
        // A weaker context may stand for this one: what it does not know of is as little its business as the caller's further levels.
        let known = self.locksets.get(self.contexts.all[context].key.lockset);
        for (names, held, site) in given {
            let is_known = known.iter().any(|one| one.token == held.token && one.names.agree(&names));
            match held.count {
                count if is_known && count > 1 => aside.items.push((Held { count: count - 1, ..held }, site)),
                _ if !is_known && is_kept_by_callers(held.token) => aside.items.push((held, site)),
                // The callee has it, and hands it back or not.
                _ => {}
            }
        }
        self.contexts.call(at.context, Edge { site: at.site, callee: context, phase });
        if skeleton.is_changing {
            self.contexts.all[context].waiting.insert((at.context, at.block));
        }
        let is_empty = passed.is_empty() && aside.items.is_empty();
        let held = (!is_empty).then(|| Box::new(Divided { passed, aside }));
        Passage { context: Some(context), numbers, held, ways: Vec::new() }
    }

    /// What may hold after it: one for each way in which the context returns, in their order; one for a callee that changes no lockset.
    pub(super) fn ways(
        &mut self,
        at: &CallAt<'_>,
        passage: &Passage,
        before: &Alternative,
        arguments: &[Operand],
        extra: Option<&Held>,
    ) -> Vec<Way> {
        let skeletons = self.skeletons;
        let function_of = |context: ContextId| self.contexts.all[context].key.function;
        let Some(context) = passage.context.filter(|context| skeletons[function_of(*context)].is_changing) else {
            let (lockset, sites) = (before.lockset, before.sites.clone());
            return vec![Way { lockset, sites, released: Released::default(), fact: None }];
        };
        let callee = function_of(context);
        let skeleton = &skeletons[callee];
        let exits: Vec<_> =
            self.contexts.all[context].summary.exits.iter().map(|(lockset, exit)| (*lockset, exit.clone())).collect();
        let (passed, aside) = match passage.held.as_deref() {
            Some(Divided { passed, aside }) => (passed.as_slice(), aside.items.as_slice()),
            None => (&[][..], &[][..]),
        };
        let is_needed = exits.iter().any(|(lockset, _)| *lockset != LocksetId::EMPTY);
        let pairs = if is_needed { self.parameters(at.key.function, callee, arguments) } else { Vec::new() };
        let mut ways = Vec::with_capacity(exits.len());
        for (lockset, exit) in exits {
            let mut after = Working::default();
            for (held, site) in Working::of(self.locksets.get(lockset), &exit.sites).items {
                let names = self.out_of_callee(at.key, &held.names, &pairs, arguments, passed);
                if names.is_empty() {
                    after.lose(&held);
                } else {
                    let since = if held.since == Some(Moment::HERE) { Some(self.moment(at)) } else { held.since };
                    after.items.push((Held { names, since, ..held }, site));
                }
            }
            if let Some(extra) = extra {
                after.give_back(extra.token, &extra.names);
            }
            if skeleton.is_atomic {
                let section = super::effects::atomic_section();
                after.give_back(section.token, &section.names);
            }
            for (held, site) in aside {
                let is_released = held.token == Token::Lock
                    && (exit.released.all || exit.released.families().any(|family| self.identity.may_alias(family, held.family)));
                if is_released {
                    after.lose(held);
                    continue;
                }
                match after.position(held.token, &held.names) {
                    Some(at) => after.items[at].0.count = after.items[at].0.count.saturating_add(held.count).min(MOST_LEVELS),
                    None => after.items.push((held.clone(), *site)),
                }
            }
            let (lockset, sites) = after.seal(&mut self.locksets);
            ways.push(Way { lockset, sites, released: exit.released, fact: exit.fact });
        }
        ways
    }

    /// The caller's terms for arguments, with the callee's for parameters.
    fn parameters(&mut self, caller: FunctionId, callee: FunctionId, arguments: &[Operand]) -> Vec<(TermId, TermId)> {
        let parameters = &self.program.functions[callee].parameters;
        let pairs = arguments.iter().zip(parameters).filter(|(_, parameter)| parameter.by_value.is_none());
        let identity = &mut self.identity;
        pairs
            .map(|(argument, parameter)| {
                (identity.term(caller, *argument), identity.term(callee, Operand::Register(parameter.register)))
            })
            .collect()
    }

    /// The names that mean the same in the callee.
    fn in_callee(&mut self, names: &Names, pairs: &[(TermId, TermId)]) -> Names {
        let mut inside = Names { place: names.place, ..Names::default() };
        for term in &names.terms {
            if let Some(rebased) = self.facts.values.rebase(TermId::from_number(term.0), pairs) {
                inside.add_term(Term(rebased.number()));
            }
        }
        inside
    }

    /// The names that mean the same in the caller, and those that it had for the same thing before.
    fn out_of_callee(
        &mut self,
        key: &ContextKey,
        names: &Names,
        pairs: &[(TermId, TermId)],
        arguments: &[Operand],
        passed: &[(Names, Names)],
    ) -> Names {
        let values = &self.facts.values;
        let mut outside = Names { place: names.place, ..Names::default() };
        for (inner, outer) in passed {
            if inner.agree(names) {
                outer.terms.iter().for_each(|term| outside.add_term(*term));
                outside.place = outside.place.or(outer.place);
            }
        }
        let registers: SmallVec<[(RegisterId, TermId); 4]> =
            pairs.iter().filter_map(|(argument, parameter)| Some((*values.leaves(*parameter).first()?, *argument))).collect();
        for term in &names.terms {
            // The table is locked while it asks.
            let argument_of =
                |register: RegisterId| registers.iter().find(|(parameter, _)| *parameter == register).map(|pair| pair.1);
            if let Some(moved) = values.substitute(TermId::from_number(term.0), &argument_of) {
                if outside.place.is_none() {
                    outside.place = self.place_near(key, moved, arguments);
                }
                if outside.terms.len() < MOST_NAMES {
                    outside.add_term(Term(moved.number()));
                }
            }
        }
        outside
    }

    /// The place of a term that is an argument plus some bytes.
    fn place_near(&mut self, key: &ContextKey, term: TermId, arguments: &[Operand]) -> Option<crate::locks::Place> {
        let facts = self.facts;
        for argument in arguments {
            if let Some(distance) = facts.values.difference(term, self.identity.term(key.function, *argument))
                && let Some(location) = self.exact_location(key, *argument)
                && let Some(place) = self.identity.shifted(location, distance)
            {
                return Some(place);
            }
        }
        None
    }
}

/// Whether a thing stays what it is while a callee runs that does not know of it, unless the callee says that it may be released.
fn is_kept_by_callers(token: Token) -> bool {
    match token {
        Token::Lock | Token::OnceDone | Token::OwnArgument | Token::Acquired | Token::Handed => true,
        Token::AtomicSection | Token::InsideOnce | Token::Permit | Token::Unsent => false,
    }
}
