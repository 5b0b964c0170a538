//! Records: the accesses of all contexts, grouped into classes that no check can tell apart.
//!
//! Two accesses are of one class when they touch the same location with the same size and in the same way, under the same cover, in threads and phases
//! that overlap with the same others. Pairs are checked class by class, so that the work does not grow with the square of the accesses.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::arguments::{Ambiguous, Arguments, ambiguous};
use super::cover::{CoverId, Covers};
use super::order::{Orders, PointSetId};
use super::reach::Reach;
use super::result::RaceOptions;
use crate::deadline::OutOfTime;
use crate::facts::accesses::{Action, WHOLE};
use crate::facts::{
    AbstractObjectId, AbstractObjectKind, Facts, Fresh, Location, Manner, MemoryAccess, Offset, Position, ThreadId,
};
use crate::findings::Role;
use crate::program::{FunctionId, Program, SiteId};
use crate::thread_pds::holding::{AccessState, ContextId, Tabulation};

/// A pointer to more places of one object may as well point anywhere in it: nobody chooses among so many fields.
const MOST_OFFSETS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey {
    pub location: Location,
    pub size: u64,
    pub is_write: bool,
    pub is_atomic: bool,
    /// Whoever uses the bytes afterwards, as what they were, breaks the rules of C: they are freed, or a lock that was destroyed.
    pub is_last: bool,
    pub points: PointSetId,
    pub cover: CoverId,
}

/// One access of a class.
#[derive(Clone, Debug)]
pub struct Member {
    pub site: SiteId,
    pub position: Position,
    pub access: MemoryAccess,
    /// The states in which it is made, under the class's cover: into the list of all access states, never empty.
    pub states: Rc<[usize]>,
    /// Who is there, and when; the class's points are alike.
    pub points: PointSetId,
}

impl Member {
    pub fn role(&self, is_atomic: bool) -> Role {
        match (self.access.action, is_atomic) {
            (Action::Read, false) => Role::Read,
            (Action::Read, true) => Role::AtomicRead,
            (Action::Write | Action::Update | Action::Destroy, false) => Role::Write,
            (Action::Write | Action::Update | Action::Destroy, true) => Role::AtomicWrite,
            (Action::End, _) => Role::Free,
        }
    }
}

#[derive(Default)]
pub struct Class {
    pub members: Vec<Member>,
}

pub struct Records {
    pub classes: IndexMap<ClassKey, Class, FxBuildHasher>,
    /// By object: its classes.
    pub by_object: BTreeMap<AbstractObjectId, Vec<usize>>,
    /// Objects that are touched, and never by more than one thread.
    pub thread_local: usize,
    /// Accesses were left out because their object is not published yet, which holds as long as none of these races.
    pub publications: FxHashSet<Position>,
}

impl Records {
    pub fn of(
        tabulation: &mut Tabulation<'_, '_>,
        (reach, orders, arguments): (&Reach, &mut Orders<'_, '_>, &Arguments),
        states: &[AccessState],
        covers: &mut Covers<'_, '_>,
        racing: &FxHashSet<Position>,
        options: &RaceOptions,
    ) -> Result<Records, OutOfTime> {
        let (program, facts) = (tabulation.program, tabulation.facts);
        let mut records = Records {
            classes: IndexMap::default(),
            by_object: BTreeMap::new(),
            thread_local: thread_local_objects(program, facts),
            publications: FxHashSet::default(),
        };
        for (position, states_here) in by_position(tabulation, states) {
            options.deadline.check()?;
            let Position { function, block, index } = position;
            for (place, access) in facts.accesses.at(function, block, index).iter().enumerate() {
                let mut locations = shared_locations(program, facts, function, access);
                locations.retain(|location| match facts.freshness.at(position, place, location.object) {
                    Fresh::No => true,
                    Fresh::Always => false,
                    Fresh::Unless(publications) => {
                        let publications = facts.freshness.publications(publications);
                        let is_private = publications.iter().all(|publication| !racing.contains(publication));
                        if is_private {
                            records.publications.extend(publications);
                        }
                        !is_private
                    }
                });
                if locations.is_empty() {
                    continue;
                }
                let site = states[states_here[0]].site;
                let decided = ambiguous(program, facts, function, access);
                // Where callers decide on the object, each object has its own threads.
                for locations in locations.chunk_by(|one, other| decided.is_none() || one.object == other.object) {
                    let object = locations[0].object;
                    let is_there = |thread: ThreadId, context: ContextId| {
                        !decided.as_ref().is_some_and(|decided: &Ambiguous| arguments.exclude(thread, context, decided, object))
                    };
                    let here = (states, &states_here[..]);
                    for (cover, (points, states)) in sides(tabulation, (reach, orders), covers, here, access, &is_there) {
                        let member = Member { site, position, access: *access, states: states.into(), points };
                        let points = orders.alike(points);
                        for location in locations {
                            let class = ClassKey {
                                location: *location,
                                size: access.size.unwrap_or(WHOLE),
                                is_write: access.action.writes(),
                                is_atomic: is_atomic(program, facts, options, access, *location),
                                is_last: matches!(access.action, Action::End | Action::Destroy),
                                points,
                                cover,
                            };
                            records.classes.entry(class).or_default().members.push(member.clone());
                        }
                    }
                }
            }
        }
        for (index, (key, _)) in records.classes.iter().enumerate() {
            records.by_object.entry(key.location.object).or_default().push(index);
        }
        Ok(records)
    }
}

/// The states of each instruction, over all contexts.
fn by_position(tabulation: &Tabulation<'_, '_>, states: &[AccessState]) -> BTreeMap<Position, Vec<usize>> {
    let mut positions: BTreeMap<Position, Vec<usize>> = BTreeMap::new();
    for (number, state) in states.iter().enumerate() {
        let function = tabulation.contexts.all[state.context].key.function;
        positions.entry(Position { function, block: state.block, index: state.index }).or_default().push(number);
    }
    positions
}

/// The covers of one access, each with all the points it is made at under that cover: what keeps others away depends on nothing else.
fn sides(
    tabulation: &mut Tabulation<'_, '_>,
    (reach, orders): (&Reach, &mut Orders<'_, '_>),
    covers: &mut Covers<'_, '_>,
    (states, here): (&[AccessState], &[usize]),
    access: &MemoryAccess,
    is_there: &dyn Fn(ThreadId, ContextId) -> bool,
) -> IndexMap<CoverId, (PointSetId, Vec<usize>), FxBuildHasher> {
    let facts = tabulation.facts;
    let mut sides: IndexMap<CoverId, (PointSetId, Vec<usize>), FxBuildHasher> = IndexMap::default();
    for number in here {
        let state = &states[*number];
        let key = &tabulation.contexts.all[state.context].key;
        let points = reach.at(orders, facts, (state.context, key.standing), (state.block, state.index));
        let points = orders.only(points, &|point| is_there(point.0, state.context));
        if orders.points(points).is_empty() {
            continue;
        }
        let lockset = tabulation.locksets.get(state.lockset);
        let cover = covers.of(&mut tabulation.identity, key.function, access, state.lockset, lockset);
        match sides.entry(cover) {
            Entry::Occupied(mut known) => {
                let (all, states) = known.get_mut();
                *all = orders.union(*all, points);
                states.push(*number);
            }
            Entry::Vacant(free) => _ = free.insert((points, vec![*number])),
        }
    }
    sides
}

/// Whether an access touches anything that more than one thread may reach.
pub fn is_shared(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> bool {
    !shared_locations(program, facts, function, access).is_empty()
}

fn shared_locations(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Vec<Location> {
    let mut locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
    locations.sort_unstable();
    locations.retain(|location| facts.escape.is_shared(location.object) && !is_constant(program, facts, *location));
    let is_crowded = |of_object: &[Location]| of_object.len() > MOST_OFFSETS;
    if locations.chunk_by(|one, other| one.object == other.object).any(is_crowded) {
        let by_object = locations.chunk_by(|one, other| one.object == other.object);
        let fewer = by_object.flat_map(|of_object| match is_crowded(of_object) {
            true => vec![Location { object: of_object[0].object, offset: Offset::Any }],
            false => of_object.to_vec(),
        });
        locations = fewer.collect();
    }
    locations
}

/// Objects of the program's own that no second thread can reach.
fn thread_local_objects(program: &Program, facts: &Facts<'_>) -> usize {
    let is_memory = |kind: &AbstractObjectKind| match kind {
        AbstractObjectKind::Global(global) | AbstractObjectKind::ThreadLocal(global) => !program.globals[*global].is_constant,
        AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::Heap { .. } => true,
        _ => false,
    };
    facts.points_to.objects().filter(|(id, object)| is_memory(&object.kind) && !facts.escape.is_shared(*id)).count()
}

/// Whether nobody can write it.
fn is_constant(program: &Program, facts: &Facts<'_>, location: Location) -> bool {
    match facts.points_to.object(location.object).kind {
        AbstractObjectKind::Global(global) => program.globals[global].is_constant,
        _ => false,
    }
}

fn is_atomic(program: &Program, facts: &Facts<'_>, options: &RaceOptions, access: &MemoryAccess, location: Location) -> bool {
    let is_assumed = || match facts.points_to.object(location.object).kind {
        AbstractObjectKind::Global(global) => {
            let global = &program.globals[global];
            options.assume_atomic.iter().any(|name| *name == global.name || *name == global.source_name)
        }
        _ => false,
    };
    match access.manner {
        Manner::Atomic(_) | Manner::Operation => true,
        Manner::Plain => access.action != Action::End && (access.is_volatile && options.volatile_is_atomic || is_assumed()),
    }
}
