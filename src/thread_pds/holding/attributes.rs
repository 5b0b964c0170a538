//! Kinds of mutexes that are set through an attributes object: `pthread_mutexattr_settype` before `pthread_mutex_init`.
//!
//! # Definition   A call that initialises a mutex from an attributes object gives it a kind for certain if one call, which is on every way to it, sets
//!                that kind in that object, every other call that may set a kind in it sets the same one, and every call that may make the
//!                object new is on every way to the call that sets.
//! # Theorem      Whenever the mutex is initialised, the object has that kind. (Follow a run back from there to the last call that made the object
//!                new. It is on every way to the one that sets, so no such call comes before the first of it; and that one is on every way to the
//!                initialisation, so it comes between.) Only these functions may change an attributes object: what else is done to one
//!                is undefined.

use rustc_hash::FxHashSet;

use super::kinds::Call;
use crate::facts::{Facts, Location};
use crate::models::{Attribute, Effect};
use crate::program::{BlockId, Function, Program};

/// A call that changes an attributes object.
struct Change<'c, 'p> {
    call: &'c Call<'p>,
    objects: Vec<Location>,
    /// `None`: the number is not known.
    kind: Option<u128>,
}

pub struct Attributes<'c, 'p, 'f, 'g> {
    program: &'f Program,
    facts: &'f Facts<'g>,
    sets: Vec<Change<'c, 'p>>,
    renewals: Vec<Change<'c, 'p>>,
}

impl<'c, 'p, 'f, 'g> Attributes<'c, 'p, 'f, 'g> {
    pub(super) fn of(program: &'f Program, facts: &'f Facts<'g>, calls: &'c [Call<'p>]) -> Attributes<'c, 'p, 'f, 'g> {
        let (mut sets, mut renewals) = (Vec::new(), Vec::new());
        for call in calls {
            for effect in call.effects {
                match effect {
                    Effect::SetAttribute { object, attribute: Attribute::MutexType, value } => {
                        let kind = call.number(program, *value);
                        sets.push(Change { call, objects: call.locations(facts, *object), kind });
                    }
                    Effect::InitializeAttribute { object } => {
                        renewals.push(Change { call, objects: call.locations(facts, *object), kind: None });
                    }
                    // Nothing else touches the kind in an attributes object.
                    _ => {}
                }
            }
        }
        Attributes { program, facts, sets, renewals }
    }

    /// The kind of a mutex that a call initialises from an argument.
    pub(super) fn kind(&self, call: &Call<'_>, argument: usize) -> Option<u128> {
        let objects = call.locations(self.facts, argument);
        let [object] = objects[..] else { return None };
        let points_to = &self.facts.points_to;
        let concerns = |change: &&Change<'_, '_>| change.objects.iter().any(|other| points_to.may_alias(object, 1, *other, 1));
        let mut sets = self.sets.iter().filter(concerns).peekable();
        let renewals: Vec<_> = self.renewals.iter().filter(concerns).collect();
        let Some(first) = sets.peek() else {
            // Nobody sets a kind: it is the default one, if the object was ever made.
            return (!renewals.is_empty()).then_some(0);
        };
        let kind = first.kind?;
        let sets: Vec<_> = sets.collect();
        let is_before = |change: &&&Change<'_, '_>| change.objects == [object] && self.is_on_every_way(change.call, call);
        let settles = |change: &&&Change<'_, '_>| {
            is_before(change) && renewals.iter().all(|renewal| self.is_on_every_way(renewal.call, change.call))
        };
        (sets.iter().all(|set| set.kind == Some(kind)) && sets.iter().any(|set| settles(&set))).then_some(kind)
    }

    /// Whether every way from the entry of a function to the one call passes the other.
    fn is_on_every_way(&self, call: &Call<'_>, to: &Call<'_>) -> bool {
        if call.function != to.function {
            return false;
        }
        if call.block == to.block {
            return call.index < to.index;
        }
        !is_reached_without(&self.program.functions[call.function], call.block, to.block)
    }
}

fn is_reached_without(function: &Function, without: BlockId, to: BlockId) -> bool {
    let mut seen: FxHashSet<BlockId> = FxHashSet::from_iter([without, function.entry()]);
    let mut open: Vec<BlockId> = vec![function.entry()].into_iter().filter(|block| *block != without).collect();
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        open.extend(function.blocks[block].terminator.kind.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    false
}
