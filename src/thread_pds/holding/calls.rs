//! Calls: entering a callee under its own names, and coming back from it.

use smallvec::SmallVec;

use super::action::Action;
use super::context::{Bindings, ContextId, ContextKey, Edge, Exit, ReturnFact, Standing};
use super::effects::MOST_LEVELS;
use super::skeleton::{CallEvent, EventKind, Target};
use super::state::{Alternative, State};
use super::tabulate::{Collected, Tabulation};
use crate::facts::{Location, Offset, PhaseId, Stage, TermId, ThreadId};
use crate::locks::{Held, LocksetId, Moment, Names, Sites, Term, Token, Working};
use crate::program::{BlockId, FunctionId, Operand, Operation, RegisterId, SiteId};

/// A call instruction in a context.
#[derive(Clone, Copy)]
pub struct CallAt<'e> {
    pub context: ContextId,
    pub key: &'e ContextKey,
    pub block: BlockId,
    pub index: usize,
    pub site: SiteId,
    pub call: &'e CallEvent,
}

/// What comes of a call of a body.
pub struct Called {
    /// The context that is entered; `None` when nothing in the callee matters.
    pub context: Option<ContextId>,
    /// What may hold afterwards: one for each way in which the context returns, in their order; one for a callee that changes no lockset.
    pub outcomes: Vec<Alternative>,
}

/// So many loads and offsets lead from a parameter to a lock, and no more.
const MOST_HOPS: usize = 6;

/// More names for one thing are not kept.
pub(super) const MOST_NAMES: usize = 4;

impl Tabulation<'_, '_> {
    /// All that may hold after a call.
    pub(super) fn call(&mut self, at: &CallAt<'_>, state: State, mut collected: Option<&mut Collected>) -> State {
        let mut after = State::default();
        for alternative in state.alternatives {
            for target in &at.call.targets {
                let outcomes = match target {
                    Target::Body(callee) => {
                        self.call_body(at, &alternative, *callee, &at.arguments(), at.call.result, None).outcomes
                    }
                    Target::Library(actions) => self.perform(at, actions, alternative.clone(), collected.as_deref_mut()),
                };
                for outcome in outcomes {
                    after.add(&mut self.locksets, outcome);
                }
            }
        }
        after
    }

    /// What may hold after a callee of the program has run. `extra` is held inside it and only there.
    pub(in crate::thread_pds) fn call_body(
        &mut self,
        at: &CallAt<'_>,
        before: &Alternative,
        callee: FunctionId,
        arguments: &[Operand],
        result: Option<RegisterId>,
        extra: Option<Held>,
    ) -> Called {
        let skeletons = self.skeletons;
        let skeleton = &skeletons[callee];
        if !skeleton.is_relevant {
            return Called { context: None, outcomes: vec![before.clone()] };
        }
        let facts = self.facts;
        let standing = match at.key.standing {
            Standing::Activation(activation) => {
                facts.threads.enter(Stage::Activation(activation), at.block, at.index, callee).into()
            }
            Standing::AsCaller => Standing::AsCaller,
        };
        let phase = self.phase(at);
        let pairs = self.parameters(at.key.function, callee, arguments);
        let holdings = Working::of(self.locksets.get(before.lockset), &before.sites);
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
        for extra in extra.iter().cloned().chain(skeleton.is_atomic.then(super::effects::atomic_section)) {
            entry.take(extra, Some(at.site));
        }
        let bindings = self.bindings(at.key, callee, arguments);
        let numbers = self.numbers(at, before, callee, arguments);
        let context = self.enter(callee, standing, entry, (bindings, numbers));
        // A weaker context may stand for this one: what it does not know of is as little its business as the caller's further levels.
        let known = self.locksets.get(self.contexts.all[context].key.lockset);
        for (names, held, site) in given {
            let is_known = known.iter().any(|one| one.token == held.token && one.names.agree(&names));
            match held.count {
                count if is_known && count > 1 => aside.items.push((Held { count: count - 1, ..held }, site)),
                _ if !is_known && is_kept_by_callers(held.token) => aside.items.push((held, site)),
                _ => {}
            }
        }
        self.contexts.call(at.context, Edge { site: at.site, callee: context, phase });
        if !skeleton.is_changing {
            return Called { context: Some(context), outcomes: vec![before.clone()] };
        }
        self.contexts.all[context].waiting.insert((at.context, at.block));
        let exits: Vec<_> =
            self.contexts.all[context].summary.exits.iter().map(|(lockset, exit)| (*lockset, exit.clone())).collect();
        let mut outcomes = Vec::new();
        for (lockset, exit) in exits {
            let mut after = Working::default();
            for (held, site) in Working::of(self.locksets.get(lockset), &exit.sites).items {
                let names = self.out_of_callee(at.key, &held.names, &pairs, arguments, &passed);
                if names.is_empty() {
                    after.lose(&held);
                } else {
                    let since = if held.since == Some(Moment::HERE) { Some(self.moment(at)) } else { held.since };
                    after.items.push((Held { names, since, ..held }, site));
                }
            }
            if let Some(extra) = &extra {
                after.give_back(extra.token, &extra.names);
            }
            if skeleton.is_atomic {
                let section = super::effects::atomic_section();
                after.give_back(section.token, &section.names);
            }
            for (held, site) in &aside.items {
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
            let mut outcome =
                Alternative { lockset, sites, valuation: before.valuation.clone(), released: before.released.clone() };
            outcome.released.absorb(&exit.released);
            if let (Some(result), Some(fact)) = (result, exit.fact) {
                outcome.valuation.forget(result);
                outcome.valuation.state(result, fact);
            }
            outcomes.push(outcome);
        }
        Called { context: Some(context), outcomes }
    }

    /// The phase that a call is made in; `None` in a context that stands as its caller.
    pub(super) fn phase(&self, at: &CallAt<'_>) -> Option<PhaseId> {
        match at.key.standing {
            Standing::Activation(activation) => Some(self.facts.threads.phase(Stage::Activation(activation), at.block, at.index)),
            Standing::AsCaller => None,
        }
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

    /// Where an operand points in a context, if that is one exact location.
    pub(super) fn exact_location(&mut self, key: &ContextKey, operand: Operand) -> Option<Location> {
        self.location_within(key, operand, MOST_HOPS)
    }

    fn location_within(&mut self, key: &ContextKey, operand: Operand, hops: usize) -> Option<Location> {
        let mut locations = self.facts.points_to.pointees(key.function, operand);
        if let (Some(location), None) = (locations.next(), locations.next())
            && let Offset::At(_) = location.offset
        {
            return Some(location);
        }
        let values = &self.facts.values;
        let term = values.term(key.function, operand);
        let bound = key.bindings.iter().find_map(|(parameter, location)| {
            let register = self.program.functions[key.function].parameters[*parameter].register;
            let distance = values.difference(term, values.term(key.function, Operand::Register(register)))?;
            let Offset::At(at) = location.offset else { return None };
            Some(Location { object: location.object, offset: Offset::At(at.checked_add_signed(distance)?) })
        });
        if bound.is_some() || !key.is_told_apart() || hops == 0 {
            return bound;
        }
        let Operand::Register(register) = operand else { return None };
        let program = self.program;
        let mut instructions = program.functions[key.function].blocks.iter().flat_map(|block| &block.instructions);
        match &instructions.find(|instruction| instruction.result == Some(register))?.operation {
            // The only address that is ever stored there.
            Operation::Load { address, .. } => {
                let from = self.location_within(key, *address, hops - 1).filter(|from| self.facts.is_one_object(from.object))?;
                let mut stored = self.facts.points_to.contents(from, program.layout.pointer_bytes.into());
                let (Some(only), None) = (stored.next(), stored.next()) else { return None };
                matches!(only.offset, Offset::At(_)).then_some(only)
            }
            offset @ Operation::Offset { .. } => {
                let (base, distance) = self.distance(key, offset)?;
                let from = self.location_within(key, base, hops - 1)?;
                let Offset::At(at) = from.offset else { return None };
                Some(Location { object: from.object, offset: Offset::At(at.checked_add_signed(distance)?) })
            }
            // Nothing else leads from one address to another.
            _ => None,
        }
    }

    /// What a thread's entry gets to find locks through, where its own view does not tell threads apart.
    pub(super) fn given_to_thread(&mut self, thread: ThreadId, entry: FunctionId) -> Bindings {
        let facts = self.facts;
        if self.lock_parameters[entry].first() != Some(&0) || self.program.functions[entry].parameters.len() != 1 {
            return Bindings::new();
        }
        let known = facts.threads.thread(thread);
        let Some(site) = known.site().filter(|_| !known.is_cut) else { return Bindings::new() };
        let creator = self.program.sites[site].function;
        let created: Vec<&Action> = self.skeletons[creator]
            .blocks
            .iter()
            .flatten()
            .filter(|event| event.site == site)
            .flat_map(|event| match &event.kind {
                EventKind::Call(call) => call.targets.as_slice(),
                EventKind::Define(_) | EventKind::Access => &[],
            })
            .flat_map(|target| match target {
                Target::Library(actions) => actions.as_slice(),
                Target::Body(_) => &[],
            })
            .collect();
        let [Action::Create { argument: Some(argument) }] = created[..] else { return Bindings::new() };
        let mut locations = facts.points_to.pointees(creator, *argument);
        match (locations.next(), locations.next()) {
            (Some(location), None) if matches!(location.offset, Offset::At(_)) && facts.is_one_object(location.object) => {
                vec![(0, location)]
            }
            _ => Bindings::new(),
        }
    }

    /// What the parameters through which the callee finds its locks point to, where its own view does not tell them apart.
    fn bindings(&mut self, key: &ContextKey, callee: FunctionId, arguments: &[Operand]) -> Bindings {
        let mut bindings = Bindings::new();
        for parameter in self.lock_parameters[callee].clone() {
            let Some(argument) = arguments.get(parameter) else { continue };
            if let Some(location) = self.exact_location(key, *argument)
                && self.facts.is_one_object(location.object)
            {
                bindings.push((parameter, location));
            }
        }
        bindings
    }

    /// What is held when a function returns, in names that its caller understands.
    fn at_return(&mut self, function: FunctionId, alternative: &Alternative) -> (LocksetId, Sites) {
        let facts = self.facts;
        let parameters: SmallVec<[RegisterId; 4]> =
            self.program.functions[function].parameters.iter().map(|parameter| parameter.register).collect();
        let mut working = Working::of(self.locksets.get(alternative.lockset), &alternative.sites);
        // Registers of this call mean nothing to the caller, but parameters do.
        working.change_terms(|terms| {
            let is_known =
                |term: &&Term| facts.values.leaves(TermId::from_number(term.0)).iter().all(|leaf| parameters.contains(leaf));
            terms.iter().filter(is_known).copied().collect()
        });
        working.seal(&mut self.locksets)
    }

    /// By which of its ways a context returns in this alternative, in the order of [`Called::outcomes`]; any of them where it is not told apart.
    pub(in crate::thread_pds) fn ways_out(&mut self, context: ContextId, alternative: &Alternative) -> std::ops::Range<usize> {
        let (lockset, _) = self.at_return(self.contexts.all[context].key.function, alternative);
        let exits = &self.contexts.all[context].summary.exits;
        // Ways that were merged are one; a weaker context that stands for this one may return otherwise.
        exits.get_index_of(&lockset).map_or(0..exits.len(), |way| way..way + 1)
    }

    /// The ways in which a block returns.
    pub(super) fn add_exits(&mut self, context: ContextId, key: &ContextKey, value: Option<Operand>, state: State) {
        let definitions = self.definitions(key.function);
        let mut is_new = false;
        for alternative in state.alternatives {
            let fact: ReturnFact = value.and_then(|value| alternative.valuation.known(&definitions, value));
            let (lockset, sites) = self.at_return(key.function, &alternative);
            let exit = Exit { sites, released: alternative.released, fact };
            is_new |= self.contexts.all[context].summary.add(&mut self.locksets, lockset, exit);
        }
        if is_new {
            let waiting: Vec<(ContextId, BlockId)> = self.contexts.all[context].waiting.iter().copied().collect();
            waiting.into_iter().for_each(|(caller, block)| self.plan(caller, block));
        }
    }
}

/// Whether a thing stays what it is while a callee runs that does not know of it, unless the callee says that it may be released.
fn is_kept_by_callers(token: Token) -> bool {
    match token {
        Token::Lock | Token::OnceDone | Token::OwnArgument | Token::Acquired | Token::Handed => true,
        Token::AtomicSection | Token::InsideOnce | Token::Permit | Token::Unsent => false,
    }
}

impl CallAt<'_> {
    pub fn arguments(&self) -> Vec<Operand> {
        self.call.arguments.iter().map(|argument| argument.value).collect()
    }
}
