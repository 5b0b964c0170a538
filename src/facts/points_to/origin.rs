//! Origins: in which threads does an activation run?
//!
//! # Definition   The origin of an activation is its thread's: the program's first thread, or the function that the thread was created with. What may run in any thread
//!                (handlers of signals, exit routines, destructors of keys, what code outside calls) has the origin `Any`, and so has all that it calls. Contexts of different
//!                origins are different (`context`), and so are the stack slots and heap objects that they make.
//! # Theorem      What the registers of an activation hold in a run is in the sets of a context of its thread's origin, or of `Any`. By induction over the calls: a thread begins
//!                in its origin, and a call, a callback, a cleanup routine and a routine that runs once leave their caller's origin only for `Any`.
//! # Paper        Liu, Li, Liu, Feng, Li, Huang 2021 (origin-sensitive points-to for race detection).
//! # Example      `main` and its workers run the same coders through the same table of functions, each on memory that it has allocated: two coders, and two buffers.
//! # Deviations   1. Threads with one entry have one origin, wherever they are created.  2. Functions are looked at once for each origin until that has taken as many
//!                registers as `context` allows; from then on in `Any`. Where all sets together become too large, because track of pointers is lost, everything is looked at
//!                again in `Any` alone: it would cost much and tell little.  3. Arguments by value and lists of arguments are shared by all origins.

use super::context::{ContextId, Contexts};
use super::graph::NodeId;
use super::object::AbstractObjectId;
use super::solve::{RESIDUE, Solver};
use super::{Call, PointsTo};
use crate::facts::call_graph::CallKind;
use crate::program::{FunctionId, Operand};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Any,
    /// The program's first thread.
    First,
    /// The threads that begin with this function.
    Entry(FunctionId),
}

impl Solver<'_> {
    /// Of the activation that a call begins.
    pub fn origin_of(&self, call: &Call, callee: FunctionId) -> Origin {
        match call.kind {
            CallKind::Spawn => Origin::Entry(callee),
            CallKind::Call | CallKind::Callback | CallKind::Once | CallKind::Cleanup => self.contexts.origin(call.context),
            CallKind::KeyDestructor
            | CallKind::AtExit
            | CallKind::SignalHandler
            | CallKind::Main
            | CallKind::Constructor
            | CallKind::Destructor
            | CallKind::Outside => Origin::Any,
        }
    }
}

impl PointsTo {
    /// Whether the function may run in threads of this origin.
    pub fn may_run_in(&self, function: FunctionId, origin: Origin) -> bool {
        self.contexts.of_function(function).any(|context| is_covered(&self.contexts, context, origin))
    }

    /// The origins of a function's activations, ascending.
    pub fn origins(&self, function: FunctionId) -> Vec<Origin> {
        let mut origins: Vec<Origin> = self.contexts.of_function(function).map(|context| self.contexts.origin(context)).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    /// The objects that an operand may point into in activations of this origin, those of `Any` not among them, ascending; `None`: any of those that it may point to.
    pub fn objects_in(&self, origin: Origin, function: FunctionId, operand: Operand) -> Option<Vec<AbstractObjectId>> {
        let Operand::Register(register) = operand else { return None };
        let contexts = self.contexts.of_function(function).filter(|context| self.contexts.origin(*context) == origin);
        let mut objects: Vec<AbstractObjectId> = Vec::new();
        for context in contexts {
            let set = self.graph.set(NodeId(self.contexts.registers(context).0 + usize::from(register) as u32));
            if self.residues_are_addresses && set.contains(RESIDUE) {
                return None;
            }
            objects.extend(set.iter().map(|number| self.locations.get(number).0));
            objects.sort_unstable();
            objects.dedup();
        }
        Some(objects)
    }
}

fn is_covered(contexts: &Contexts, context: ContextId, origin: Origin) -> bool {
    matches!(contexts.origin(context), own if own == origin || own == Origin::Any)
}
