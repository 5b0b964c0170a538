//! Kinds of mutexes that are set through an attributes object: `pthread_mutexattr_settype` before `pthread_mutex_init`.
//!
//! # Definition   A call that initialises a mutex from an attributes object gives it a kind for certain if one call, which is on every way to it, sets
//!                that kind in that object, every other call that may set a kind in it sets the same one, and every call that may make the
//!                object new is on every way to the call that sets.
//! # Theorem      Whenever the mutex is initialised, the object has that kind. (Follow a run back from there to the last call that made the object
//!                new. It is on every way to the one that sets, so no such call comes before the first of it; and that one is on every way to the
//!                initialisation, so it comes between.) Only these functions may change an attributes object: what else is done to one
//!                is undefined.
//!                Where they stand in several functions the same is said of the calls of one function that lead to them (`frame`).

use super::frame::Frame;
use super::kinds::Call;
use crate::facts::{AbstractObjectKind, Facts, Location, Offset, ThreadKind};
use crate::models::{Attribute, Effect};
use crate::program::{FunctionId, Operand, Program};

/// A call that changes an attributes object.
pub(super) struct Change<'c, 'p> {
    pub call: &'c Call<'p>,
    /// The operand that says which one.
    pub operand: Option<Operand>,
    pub objects: Vec<Location>,
    /// `None`: the number is not known.
    pub kind: Option<u128>,
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
                let change = |object: usize, kind: Option<u128>| {
                    let operand = call.arguments.get(object).map(|argument| argument.value);
                    Change { call, operand, objects: call.locations(facts, object), kind }
                };
                match effect {
                    Effect::SetAttribute { object, attribute: Attribute::MutexType, value } => {
                        sets.push(change(*object, call.number(program, *value)));
                    }
                    Effect::InitializeAttribute { object } => renewals.push(change(*object, None)),
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
        let sets: Vec<_> = self.sets.iter().filter(concerns).collect();
        let renewals: Vec<_> = self.renewals.iter().filter(concerns).collect();
        let Some(first) = sets.first() else {
            // Nobody sets a kind: it is the default one, if the object was ever made.
            return (!renewals.is_empty()).then_some(0);
        };
        let kind = first.kind?;
        if !sets.iter().all(|set| set.kind == Some(kind)) || !self.is_one(object) {
            return None;
        }
        // All of it in the function that initialises, or in the one that the object belongs to.
        let of_owner = || {
            let owner = self.owner(object)?;
            Frame::of(self.program, self.facts, owner, object, (&sets, &renewals), call)
        };
        let is_settled = Frame::alone(self.program, object, (&sets, &renewals), call).is_some_and(|frame| frame.is_settled())
            || of_owner().is_some_and(|frame| frame.is_settled());
        is_settled.then_some(kind)
    }

    /// Whether the location is one place of one object, for each activation of a function if it is a variable of one.
    fn is_one(&self, object: Location) -> bool {
        let is_variable = match self.facts.points_to.object(object.object).kind {
            AbstractObjectKind::StackSlot { function, .. } => !self.facts.call_graph.is_recursive(function),
            _ => false,
        };
        matches!(object.offset, Offset::At(_)) && (is_variable || self.facts.is_one_object(object.object))
    }

    /// The function in whose activation everything happens to an object: the one whose variable it is, or the first of all.
    fn owner(&self, object: Location) -> Option<FunctionId> {
        match self.facts.points_to.object(object.object).kind {
            AbstractObjectKind::StackSlot { function, .. } => Some(function),
            AbstractObjectKind::Global(_) => {
                let mut threads = self.facts.threads.threads();
                let is_called = self.facts.threads.threads().any(|(_, thread)| thread.kind == ThreadKind::Library);
                threads.find(|(_, thread)| thread.kind == ThreadKind::Main && !is_called).and_then(|(_, thread)| thread.entry)
            }
            _ => None,
        }
    }
}
