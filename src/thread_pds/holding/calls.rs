//! Calls: entering a callee under its own names, and coming back from it.

use smallvec::SmallVec;

use super::action::Action;
use super::context::{Bindings, ContextId, ContextKey, Exit, ReturnFact};
use super::skeleton::{CallEvent, EventKind, Target};
use super::state::{Alternative, State};
use super::tabulate::Tabulation;
use crate::facts::{Location, Offset, PhaseId, TermId, ThreadId};
use crate::locks::{Held, LocksetId, Sites, Term, Working};
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

impl Tabulation<'_, '_> {
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
        let numbers = self.numbers(at, before, callee, arguments);
        let passage = self.pass(at, before, callee, arguments, numbers, extra.as_ref());
        let ways = self.ways(at, &passage, before, arguments, extra.as_ref());
        Called { context: passage.context, outcomes: ways.iter().map(|way| way.after(before, result)).collect() }
    }

    /// The phase that a call is made in; `None` in a context that stands as its caller.
    pub(super) fn phase(&self, at: &CallAt<'_>) -> Option<PhaseId> {
        at.key.standing.stage().map(|stage| self.facts.threads.phase(stage, at.block, at.index))
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
    pub(super) fn bindings(&mut self, key: &ContextKey, callee: FunctionId, arguments: &[Operand]) -> Bindings {
        let mut bindings = Bindings::new();
        if self.lock_parameters[callee].is_empty() {
            return bindings;
        }
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
    pub(super) fn add_exits(&mut self, context: ContextId, function: FunctionId, value: Option<Operand>, state: State) {
        let definitions = self.definitions(function);
        let mut is_new = false;
        for alternative in state.alternatives {
            let fact: ReturnFact = value.and_then(|value| alternative.valuation.known(&definitions, value));
            let (lockset, sites) = self.at_return(function, &alternative);
            let exit = Exit { sites, released: alternative.released, fact };
            is_new |= self.contexts.all[context].summary.add(&mut self.locksets, lockset, exit);
        }
        if is_new {
            self.contexts.change(context).into_iter().for_each(|(caller, block)| self.plan(caller, block));
        }
    }
}

impl CallAt<'_> {
    pub fn arguments(&self) -> Vec<Operand> {
        self.call.arguments.iter().map(|argument| argument.value).collect()
    }
}
