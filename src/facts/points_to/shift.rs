//! Shifts: addresses that are moved inside their objects.
//!
//! # Theorem      What a shift makes of a set depends on the set and on the shift alone, and not on where the result goes. Programs address the same member through many registers that hold the same, one after
//!                the other in the order of the solver: what the last set became is remembered for each shift.
//! # Deviations   1. A result that is remembered is as fine as it was then: an object that was folded since (`memory`) has one place for several of its members.  2. What the place that it goes to
//!                holds already as a whole object is not computed; such a result is not remembered.

use rustc_hash::FxHashMap;

use super::constraint::Constraint;
use super::covered::Covered;
use super::graph::NodeId;
use super::location::Class;
use super::room::Room;
use super::set::LocationSet;
use super::solve::{RESIDUE, Solver, UNKNOWN};

/// Locations of a set up to which it is as fast to move them again.
const FEW: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Shifts {
    covered: Covered,
    /// By shift, wherever its result goes: a set, and what it becomes.
    last: FxHashMap<Constraint, (LocationSet, LocationSet)>,
}

impl Shifts {
    fn known(&self, shift: Constraint, set: &LocationSet) -> Option<&LocationSet> {
        self.last.get(&shift).filter(|(known, _)| known == set).map(|(_, becomes)| becomes)
    }
}

impl Solver<'_> {
    /// `to` holds what the shift makes of the set.
    pub fn shift_all(&mut self, shift: Constraint, to: NodeId, set: &LocationSet) {
        if set.len() <= FEW {
            let (shifted, _) = self.shifted(shift, to, set);
            return self.graph.add_set(to, &shifted);
        }
        let anywhere = shift.going(NodeId(u32::MAX));
        if let Some(known) = self.shifts.known(anywhere, set) {
            return self.graph.add_set(to, known);
        }
        let (shifted, is_whole) = self.shifted(shift, to, set);
        self.graph.add_set(to, &shifted);
        if is_whole {
            self.shifts.last.insert(anywhere, (set.clone(), shifted));
        }
    }

    /// What the shift makes of the set, and whether that is all: what `to` holds already need not be among it.
    fn shifted(&mut self, shift: Constraint, to: NodeId, set: &LocationSet) -> (LocationSet, bool) {
        let Constraint::Shift { constant, stride, step, count, in_bounds, structure, target, .. } = shift else {
            panic!("only shifts are moved");
        };
        let mut all: Vec<u32> = Vec::with_capacity(set.len());
        let mut is_whole = true;
        let mut covered = std::mem::take(&mut self.shifts.covered);
        covered.begin(self.objects.len());
        for location in set.iter() {
            if location == UNKNOWN || location == RESIDUE {
                all.push(location);
                continue;
            }
            let (object, class) = self.locations.get(location);
            let known = &self.objects[object.index()];
            // What is left out of declared objects nobody is told of: programs overlay structures that begin alike.
            let member = known.has_declared_type().then_some(u64::try_from(constant).unwrap_or(0));
            if structure
                .zip(known.ty)
                .is_some_and(|(structure, ty)| !self.declarations.may_contain(ty, structure, class.only(), member))
            {
                self.is_not_held(object);
                continue;
            }
            let anywhere = self.memories[object.index()].anywhere;
            let mut has_all = || {
                let has_all = anywhere.is_some_and(|anywhere| self.graph.set(to).contains(anywhere));
                is_whole &= !has_all;
                has_all
            };
            if covered.get_or_find(object, &mut has_all) {
                continue;
            }
            // Below the object's start: the whole object, for `container_of` comes back.
            let room = self.locations.room(location).addressed(constant, target);
            let place = match class.plus(constant) {
                Some(class) => room.walk(class, stride, (step, count)),
                None => {
                    let class = class.widened(stride).windowed(step, count);
                    (class.plus(constant).unwrap_or(Class::ANY), Room::NONE)
                }
            };
            if let Some(shifted) = self.locate_in_room(object, place, in_bounds) {
                covered.set(object, self.memories[object.index()].anywhere == Some(shifted));
                all.push(shifted);
            }
        }
        self.shifts.covered = covered;
        (LocationSet::of(all), is_whole)
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocation::Allocated;
    use super::super::graph::Limits;
    use super::super::location::Offset;
    use super::super::object::AbstractObject;
    use super::*;
    use crate::models::Models;
    use crate::program::{GlobalId, text};

    /// One that gets less, because it holds a whole object already, leaves nothing out for the next.
    #[test]
    fn what_one_result_holds_already_another_gets() {
        const OBJECTS: usize = 2 * FEW;
        let globals: String = (0..OBJECTS).map(|n| format!("global @g{n} \"g{n}\" size 16 align 8 = -\n")).collect();
        let program = text::parse(&format!("lockcheck program 1\ntarget \"x86_64-pc-linux-gnu\" pointer 8\n{globals}"))
            .expect("it is a program");
        let models = Models::embedded();
        let bound = models.bind(&program);
        let mut solver = Solver::new(&program, &bound, Allocated::AsAnything, Limits::default());
        let objects: Vec<_> =
            program.globals.keys().map(|id: GlobalId| solver.object(AbstractObject::of_global(&program, id))).collect();
        let from = LocationSet::of(objects.iter().filter_map(|object| solver.locate(*object, Class::at(0), true)).collect());
        let whole = solver.locate(objects[0], Class::ANY, false).expect("it is in the object");
        let results: Vec<NodeId> = (0..3).map(|_| solver.graph.node()).collect();
        solver.graph.add_location(results[0], whole);
        for to in &results {
            solver.shift_all(Constraint::shift(*to, 8, 0, true), *to, &from);
        }
        for to in &results[1..] {
            let moved: Vec<_> = solver.graph.set(*to).iter().map(|location| solver.locations.get(location)).collect();
            assert_eq!(moved.len(), OBJECTS);
            assert!(moved.iter().all(|(_, class)| class.offset() == Offset::At(8)));
        }
        assert_eq!(solver.shifts.last.len(), 1);
    }
}
