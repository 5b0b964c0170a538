//! Where an access may lie: its place as locations of points-to.

use std::collections::BTreeSet;

use super::{MemoryAccess, Place};
use crate::facts::call_graph::CallGraph;
use crate::facts::points_to::{AbstractObjectKind, Location, Offset, PointsTo};
use crate::program::{DataLayout, FunctionId};

impl MemoryAccess {
    /// The locations of the first byte, ascending; `function` is the one the instruction stands in.
    pub fn locations(&self, points_to: &PointsTo, calls: &CallGraph, layout: &DataLayout, function: FunctionId) -> Vec<Location> {
        let mut found: Vec<Location> = match self.place {
            Place::Operand(operand) => points_to.pointees(function, operand).collect(),
            Place::Foreign(owner, operand) => points_to.pointees(owner, operand).collect(),
            Place::Behind(operand) => {
                let places = points_to.pointees(function, operand);
                places.flat_map(|place| points_to.contents(place, layout.pointer_bytes.into())).map(anywhere).collect()
            }
            Place::Beyond(operand, hops) => points_to.beyond(function, operand, hops).into_iter().collect(),
            Place::Library(function) => {
                let object = points_to.object_of_kind(&AbstractObjectKind::Library(function));
                object.map(|object| Location { object, offset: Offset::Any }).into_iter().collect()
            }
            Place::ActiveStack => active_stack(points_to, calls, function).into_iter().collect(),
        };
        found.retain(|location| !points_to.object(location.object).is_code());
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// What a library function does with an address it finds may begin anywhere in the object.
fn anywhere(location: Location) -> Location {
    Location { offset: Offset::Any, ..location }
}

/// The stack objects of a function and of all that may have called it in its thread.
fn active_stack(points_to: &PointsTo, calls: &CallGraph, function: FunctionId) -> BTreeSet<Location> {
    let (mut active, mut open) = (BTreeSet::from([function]), vec![function]);
    while let Some(callee) = open.pop() {
        let callers =
            calls.calls_of(callee).iter().filter(|edge| runs_on_the_callers_stack(edge.kind)).filter_map(|edge| edge.caller);
        open.extend(callers.filter(|caller| active.insert(*caller)));
    }
    let owner = |kind: &AbstractObjectKind| match kind {
        AbstractObjectKind::StackSlot { function, .. }
        | AbstractObjectKind::ByValueCopy { function, .. }
        | AbstractObjectKind::VariadicArea(function) => Some(*function),
        _ => None,
    };
    let objects = points_to.objects().filter(|(_, object)| owner(&object.kind).is_some_and(|owner| active.contains(&owner)));
    objects.map(|(object, _)| Location { object, offset: Offset::At(0) }).collect()
}

/// Cleanup handlers run where they are popped, which need not be where they were pushed, but it is the same thread.
fn runs_on_the_callers_stack(kind: crate::facts::call_graph::CallKind) -> bool {
    use crate::facts::call_graph::CallKind;
    kind.is_nested() || kind == CallKind::Cleanup
}
