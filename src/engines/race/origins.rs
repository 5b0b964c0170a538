//! Origins: which threads come to which functions, and to which objects by which accesses?
//!
//! # Theorem      A thread whose activations have an origin (`facts::points_to::origin`) runs no function that has no context of it, and by an operand touches no object
//!                that is in no set of such contexts: neither those of the origin, nor those that stand for any thread.
//! # Deviations   What stands for every thread (handlers, exit routines), and a library's entries, may be in any origin.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::accesses::Place;
use crate::facts::{AbstractObjectId, Facts, MemoryAccess, Origin, ThreadId, ThreadKind};
use crate::program::{FunctionId, Operand};

/// The origin of a thread's activations, where it has one.
pub(super) fn origin(facts: &Facts<'_>, thread: ThreadId) -> Option<Origin> {
    let thread = facts.threads.thread(thread);
    match thread.kind {
        ThreadKind::Main => Some(Origin::First),
        ThreadKind::Created => thread.entry.map(Origin::Entry),
        ThreadKind::Library | ThreadKind::Handler | ThreadKind::Anywhere => None,
    }
}

/// The functions that a thread runs, as far as origins tell.
pub(super) fn may_run(facts: &Facts<'_>, thread: ThreadId, function: FunctionId) -> bool {
    origin(facts, thread).is_none_or(|origin| facts.points_to.may_run_in(function, origin))
}

/// The objects of one operand, by origin.
pub struct ByOrigin {
    /// For each origin of the function's activations, with those of any thread.
    objects: Vec<(Origin, FxHashSet<AbstractObjectId>)>,
}

impl ByOrigin {
    /// Which of the origins do not come to the object: what is equal for two objects excludes the same threads.
    pub fn excluding(&self, object: AbstractObjectId) -> impl Iterator<Item = bool> + '_ {
        self.objects.iter().map(move |(_, objects)| !objects.contains(&object))
    }

    /// Whether the thread never touches the object by this operand.
    pub fn excludes(&self, origin: Option<Origin>, object: AbstractObjectId) -> bool {
        let known = self.objects.iter().find(|(known, _)| Some(*known) == origin);
        known.is_some_and(|(_, objects)| !objects.contains(&object))
    }
}

/// What was asked for before.
#[derive(Default)]
pub struct Origins {
    known: RefCell<FxHashMap<(FunctionId, Operand), Option<Rc<ByOrigin>>>>,
}

impl Origins {
    /// The objects that an access may touch, where that depends on the thread.
    pub fn of(&self, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Option<Rc<ByOrigin>> {
        let Place::Operand(operand) = access.place else { return None };
        if let Some(known) = self.known.borrow().get(&(function, operand)) {
            return known.clone();
        }
        let found = by_origin(facts, function, operand).map(Rc::new);
        self.known.borrow_mut().insert((function, operand), found.clone());
        found
    }
}

fn by_origin(facts: &Facts<'_>, function: FunctionId, operand: Operand) -> Option<ByOrigin> {
    let origins = facts.points_to.origins(function);
    if origins.len() < 2 {
        return None;
    }
    let of_any = facts.points_to.objects_in(Origin::Any, function, operand)?;
    let mut objects = Vec::with_capacity(origins.len());
    for origin in origins.into_iter().filter(|origin| *origin != Origin::Any) {
        let mut own: FxHashSet<AbstractObjectId> = facts.points_to.objects_in(origin, function, operand)?.into_iter().collect();
        own.extend(&of_any);
        objects.push((origin, own));
    }
    let is_alike = objects.windows(2).all(|pair| pair[0].1 == pair[1].1);
    (!is_alike).then_some(ByOrigin { objects })
}
