//! Barriers: who has passed which barrier how often?
//!
//! # Definition   A barrier counts here when it is one object of the run, every initialisation that may be meant for it has the same constant count N and
//!                no attributes, and at most N threads of a run may ever wait for it. The *rounds* of a point: the least and the greatest number of
//!                waits for the barrier that its thread has behind it.
//! # Theorem      Let a and b be points of two threads that may wait for the barrier, a with at most h rounds behind it, b with at least l > h. Then a
//!                happens before b. A thread waits once at a time, so that every round needs all N threads there are, and the r-th wait of
//!                each of them belongs to the r-th round. Round l is complete before b, so a's thread has come to its l-th wait, which lies
//!                behind a. (With fewer than N threads no round is ever complete, and there is no b.)
//! # Deviations   1. Rounds are counted up to a small number.  2. How many instances a thread has is known when it is created once, or by one loop with a
//!                constant number of turns.  3. Barriers with attributes may be shared with other processes, and count for nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::super::loops::constant;
use super::super::points_to::{Location, Offset};
use super::input::{Called, Input};
use super::places::{Base, Places};
use super::state::Trip;
use super::sweep::{is_tested_always, is_tested_first, trip};
use super::tree::Point;
use super::types::{ActivationId, ThreadId, ThreadKind};
use crate::models::Effect;
use crate::program::{Constant, Instruction, Operand};

/// So many rounds, or more, are not counted.
const MOST_ROUNDS: u8 = 7;

/// How many waits a thread has behind it, at least and at most; [`MOST_ROUNDS`] as the greatest number stands for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Rounds {
    pub least: u8,
    pub most: u8,
}

impl Rounds {
    /// One more wait, or perhaps one more.
    pub fn passed(self, is_certain: bool) -> Rounds {
        Rounds { least: (self.least + u8::from(is_certain)).min(MOST_ROUNDS), most: self.most.saturating_add(1).min(MOST_ROUNDS) }
    }

    pub fn either(self, other: Rounds) -> Rounds {
        Rounds { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// At least as many as so far.
    pub fn any_more(self) -> Rounds {
        Rounds { most: MOST_ROUNDS, ..self }
    }

    /// Whether whoever is here comes before whoever is there, by the theorem.
    pub fn lies_before(self, other: Rounds) -> bool {
        self.most < other.least
    }
}

/// A barrier that orders the threads that wait for it.
pub(super) struct Barrier {
    pub location: Location,
    /// The threads that may wait for it.
    pub threads: BTreeSet<ThreadId>,
}

/// The barriers of a program.
#[derive(Default)]
pub(super) struct Barriers {
    pub all: Vec<Barrier>,
    /// By wait: the barriers it may be for, and whether it is for certain.
    waits: BTreeMap<Point, Vec<(usize, bool)>>,
}

/// A call that waits, and where its barrier may lie.
struct Wait {
    point: Point,
    exact: Option<Location>,
    locations: Vec<Location>,
}

impl Barriers {
    pub fn of(places: &Places<'_>) -> Barriers {
        let waits = waits(places);
        let candidates: BTreeSet<Location> = waits.iter().filter_map(|wait| wait.exact).collect();
        let mut barriers = Barriers::default();
        for location in candidates {
            let may_be = |wait: &&Wait| match wait.exact {
                Some(exact) => exact == location,
                None => wait.locations.is_empty() || wait.locations.iter().any(|one| may_alias(places, *one, location)),
            };
            let here: Vec<&Wait> = waits.iter().filter(may_be).collect();
            let threads: BTreeSet<ThreadId> =
                here.iter().map(|wait| places.tree.activation(wait.point.activation).thread).collect();
            let instances = threads.iter().try_fold(0u64, |sum, thread| sum.checked_add(instances(places, *thread)?));
            let (Some(instances), Some(count)) = (instances, count(places, location)) else { continue };
            if instances > count {
                continue;
            }
            for wait in here {
                barriers.waits.entry(wait.point).or_default().push((barriers.all.len(), wait.exact.is_some()));
            }
            barriers.all.push(Barrier { location, threads });
        }
        barriers
    }

    /// The barriers that a call may wait for, and whether it does for certain.
    pub fn waited_for(&self, point: Point) -> &[(usize, bool)] {
        self.waits.get(&point).map_or(&[], Vec::as_slice)
    }
}

fn may_alias(places: &Places<'_>, left: Location, right: Location) -> bool {
    places.input.points_to.may_alias(left, 1, right, 1)
}

fn waits(places: &Places<'_>) -> Vec<Wait> {
    let input = places.input;
    let mut waits = Vec::new();
    for (number, activation) in places.tree.activations.iter().enumerate() {
        let id = ActivationId::from(number);
        for (block, steps) in places.relevant.bodies[&activation.function].steps.iter_enumerated() {
            for &index in steps {
                let instruction = input.instruction(activation.function, block, index);
                for called in input.called(instruction) {
                    let Called::Library(model) = called else { continue };
                    for effect in &model.effects {
                        let Effect::WaitBarrier { barrier } = effect else { continue };
                        let point = Point { activation: id, block, index };
                        let operand = Input::argument(instruction, *barrier);
                        let pointees = operand.map(|operand| input.points_to.pointees(activation.function, operand).collect());
                        let locations: Vec<Location> = pointees.unwrap_or_default();
                        let exact = operand.and_then(|operand| exact(places, id, operand, &locations));
                        waits.push(Wait { point, exact, locations });
                    }
                }
            }
        }
    }
    waits
}

/// The one object of the run that the operand certainly points to, and where in it.
fn exact(places: &Places<'_>, activation: ActivationId, operand: Operand, locations: &[Location]) -> Option<Location> {
    let address = places.address(activation, operand);
    if let Some(address) = address.filter(|address| address.terms.is_empty())
        && let Base::Object(object) = address.base
    {
        return Some(Location { object, offset: Offset::At(u64::try_from(address.constant).ok()?) });
    }
    match locations {
        [location @ Location { object, offset: Offset::At(_) }] if places.once.is_one_object(*object) => Some(*location),
        _ => None,
    }
}

/// The count that every initialisation of the barrier gives it.
fn count(places: &Places<'_>, location: Location) -> Option<u64> {
    let input = places.input;
    let mut found = None;
    for (library, model) in input.models.iter_enumerated() {
        let Some(model) = model else { continue };
        for effect in &model.effects {
            let Effect::InitializeBarrier { barrier, count } = effect else { continue };
            for edge in input.calls.calls_of(library) {
                let (caller, site) = (edge.caller?, edge.site?);
                let instructions = input.function(caller).blocks.iter().flat_map(|block| &block.instructions);
                for instruction in instructions.filter(|one| one.site == site) {
                    let operand = Input::argument(instruction, *barrier)?;
                    if !input.points_to.pointees(caller, operand).any(|one| may_alias(places, one, location)) {
                        continue;
                    }
                    let number = Input::argument(instruction, *count).and_then(|count| constant(input.program, count));
                    let number = u64::try_from(number?).ok()?;
                    if has_attributes(places, instruction, [*barrier, *count]) || *found.get_or_insert(number) != number {
                        return None;
                    }
                }
            }
        }
    }
    found
}

fn has_attributes(places: &Places<'_>, instruction: &Instruction, others: [usize; 2]) -> bool {
    let is_null = |operand: Operand| matches!(operand, Operand::Constant(constant) if places.input.program.constants[constant] == Constant::Null);
    (0..)
        .map_while(|position| Some((position, Input::argument(instruction, position)?)))
        .any(|(position, operand)| !others.contains(&position) && !is_null(operand))
}

/// How many instances of the thread there are at most in a run.
pub(super) fn instances(places: &Places<'_>, thread: ThreadId) -> Option<u64> {
    let known = &places.tree.threads[thread.index()];
    match known.kind {
        ThreadKind::Library | ThreadKind::Handler | ThreadKind::Anywhere => return None,
        ThreadKind::Main | ThreadKind::Created if !known.is_many => return Some(1),
        ThreadKind::Main | ThreadKind::Created => {}
    }
    let [creation] = places.tree.creations[thread.index()][..] else { return None };
    let activation = places.tree.activation(creation.point.activation);
    let body = &places.relevant.bodies[&activation.function];
    let in_loop = body.loops.innermost(creation.point.block)?;
    let one = body.loops.get(in_loop);
    // One creation a turn: nothing repeats the loop, and nothing in it the creation.
    if !activation.is_once || activation.is_cut || body.is_wild || one.parent.is_some() || !creates_one(places, creation.point) {
        return None;
    }
    let exits = one.counted_exits.iter().filter(|exit| is_tested_always(places, creation.point.activation, in_loop, exit));
    exits.into_iter().find_map(|exit| match trip(places, creation.point.activation, in_loop, exit) {
        // The test of a loop runs once more than its body.
        Trip::Count(count) => {
            let is_in_test =
                is_tested_first(places, creation.point.activation, in_loop, exit) && creation.point.block == one.header;
            count.checked_add(u64::from(is_in_test))
        }
        Trip::Shape { .. } | Trip::Unknown => None,
    })
}

/// Whether the instruction creates one thread each time it is executed.
fn creates_one(places: &Places<'_>, point: Point) -> bool {
    let function = places.tree.activation(point.activation).function;
    let called = places.input.called(places.input.instruction(function, point.block, point.index));
    called.iter().all(|called| match called {
        Called::Library(model) => {
            !model.effects.iter().any(|effect| matches!(effect, Effect::Spawn { count: crate::models::SpawnCount::Many, .. }))
        }
        Called::Body(_) | Called::Outside => false,
    })
}
