//! Rows: what each access touches, under which locksets, and who is there. None of it changes while the engine learns what races.
//!
//! A row is an access with some of its locations: those that are fresh for the same reason, are atomic or not, and, where callers decide on the
//! object, have the same threads.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::map::Entry;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::ahead::{AheadOf, NextPart};
use super::arguments::Arguments;
use super::order::{Orders, PointSetId};
use super::origins::{Origins, origin};
use super::reach::Reach;
use super::record::SharedLocations;
use super::result::RaceOptions;
use super::spans::{Span, Spans, Within};
use crate::deadline::OutOfTime;
use crate::facts::accesses::Action;
use crate::facts::{
    AbstractObjectId, AbstractObjectKind, Facts, Fresh, InPart, Location, Manner, MemoryAccess, Origin, Position, ThreadId,
};
use crate::locks::LocksetId;
use crate::program::{FunctionId, Program, SiteId};
use crate::thread_pds::holding::{AccessState, ContextId, Tabulation};

pub struct Row {
    pub site: SiteId,
    pub position: Position,
    pub access: MemoryAccess,
    /// The number of its set of locations.
    pub set: usize,
    /// The bytes that it stays in, counted from a register: what is held for all of them is held for those that it touches.
    pub span: Option<Span>,
    pub is_atomic: bool,
    /// Its thread has made what it touches.
    pub is_own: bool,
    /// It touches this object alone, in its thread's own part.
    pub part: Option<(AbstractObjectId, InPart)>,
    /// It touches what the next instances of these threads get.
    pub next: SmallVec<[NextPart; 1]>,
    /// Never `Always`.
    pub fresh: Fresh,
    pub sides: Rc<[RowSide]>,
}

/// The states under one lockset.
pub struct RowSide {
    pub lockset: LocksetId,
    pub points: PointSetId,
    /// Into the list of all access states, ascending, never empty.
    pub states: Rc<[usize]>,
}

/// What the locations of a row have in common: freshness, whether the access is atomic, of the thread's own making, in its own part, in that of a thread to come.
type Kind = (Fresh, bool, bool, Option<(AbstractObjectId, InPart)>, SmallVec<[NextPart; 1]>);

/// Where an access may begin, and the bytes that it stays in where that says more.
pub type Spot = (Location, Option<Within>);

pub struct Rows {
    pub all: Vec<Row>,
    sets: IndexSet<Box<[Spot]>, FxBuildHasher>,
}

impl Rows {
    pub fn of(
        tabulation: &Tabulation<'_, '_>,
        (reach, orders, arguments): (&Reach, &mut Orders<'_, '_>, &Arguments),
        states: &[AccessState],
        options: &RaceOptions,
    ) -> Result<Rows, OutOfTime> {
        let (program, facts) = (tabulation.program, tabulation.facts);
        let mut rows = Rows { all: Vec::new(), sets: IndexSet::default() };
        let (spans, ahead) = (Spans::new(program), AheadOf::new(program, facts));
        let mut shared = SharedLocations::default();
        let origins = Origins::default();
        let of_thread: Vec<Option<Origin>> = facts.threads.threads().map(|(thread, _)| origin(facts, thread)).collect();
        for (position, states_here) in by_position(tabulation, states) {
            options.deadline.check()?;
            let Position { function, block, index } = position;
            let site = states[states_here[0]].site;
            let here = (states, &states_here[..]);
            let mut of_all: Option<Rc<[RowSide]>> = None;
            for (place, access) in facts.accesses.at(function, block, index).iter().enumerate() {
                let is_meant = |location: &Location| facts.freshness.at(position, place, location.object) != Fresh::Always;
                let locations: Vec<Location> =
                    shared.of(program, facts, function, access).iter().copied().filter(is_meant).collect();
                if locations.is_empty() {
                    continue;
                }
                let decided = arguments.ambiguous(program, facts, function, access);
                let by_origin = origins.of(facts, function, access);
                let choices = decided.as_ref().map(|decided| {
                    let nodes = states_here.iter().flat_map(|number| {
                        let state = &states[*number];
                        let standing = tabulation.contexts.all[state.context].key.standing;
                        let points = reach.at(orders, facts, (state.context, standing), (state.block, state.index));
                        orders.points(points).iter().map(|point| (point.0, state.context)).collect::<Vec<_>>()
                    });
                    arguments.choices(decided, nodes)
                });
                let mut of_choice: FxHashMap<Vec<bool>, Rc<[RowSide]>> = FxHashMap::default();
                let inside = spans.inside(facts, function, access);
                let bounded = spans.of(function, access);
                let bases = spans.all_of(function, access);
                // Where callers or the thread decide on the object, each object has its own threads.
                let is_one = decided.is_none() && by_origin.is_none();
                for locations in locations.chunk_by(|one, other| is_one || one.object == other.object) {
                    let object = locations[0].object;
                    let sides = if is_one {
                        of_all.get_or_insert_with(|| sides(tabulation, (reach, orders), here, None)).clone()
                    } else {
                        let mut excluding: Vec<bool> = Vec::new();
                        excluding.extend(by_origin.iter().flat_map(|by_origin| by_origin.excluding(object)));
                        if let Some(decided) = &decided {
                            excluding.extend(arguments.excluding(decided, choices.as_deref().unwrap_or_default(), object));
                        }
                        let is_excluded = |thread: ThreadId, context| {
                            by_origin.as_ref().is_some_and(|by_origin| by_origin.excludes(of_thread[thread.index()], object))
                                || decided.as_ref().is_some_and(|decided| arguments.exclude(thread, context, decided, object))
                        };
                        let found = || sides(tabulation, (reach, orders), here, Some(&is_excluded));
                        of_choice.entry(excluding).or_insert_with(found).clone()
                    };
                    if sides.is_empty() {
                        continue;
                    }
                    let mut kinds: IndexMap<Kind, Vec<Spot>, FxBuildHasher> = IndexMap::default();
                    for location in locations {
                        let fresh = facts.freshness.at(position, place, location.object);
                        let is_atomic = is_atomic(program, facts, options, access, *location);
                        let is_own = is_own(facts, options, function, access, *location);
                        let part = facts.own.in_part(function, access, location.object).map(|part| (location.object, part));
                        let within = inside.at(*location);
                        let next = ahead.next_parts((position, access), &bases, location.object);
                        kinds.entry((fresh, is_atomic, is_own, part, next)).or_default().push((*location, within));
                    }
                    for ((fresh, is_atomic, is_own, part, next), locations) in kinds {
                        let objects = locations.iter().map(|(location, _)| location.object);
                        let span = bounded.or_else(|| spans.around(facts, (function, access), objects));
                        let set = rows.sets.insert_full(locations.into()).0;
                        let sides = sides.clone();
                        rows.all.push(Row {
                            site,
                            position,
                            access: *access,
                            set,
                            span,
                            is_atomic,
                            is_own,
                            part,
                            next,
                            fresh,
                            sides,
                        });
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Where a row's access may lie, ascending.
    pub fn spots(&self, row: &Row) -> &[Spot] {
        &self.sets[row.set]
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

/// The locksets of one access, each with all the points it is made at under that lockset.
fn sides(
    tabulation: &Tabulation<'_, '_>,
    (reach, orders): (&Reach, &mut Orders<'_, '_>),
    (states, here): (&[AccessState], &[usize]),
    is_excluded: Option<&dyn Fn(ThreadId, ContextId) -> bool>,
) -> Rc<[RowSide]> {
    let mut sides: IndexMap<LocksetId, (PointSetId, Vec<usize>), FxBuildHasher> = IndexMap::default();
    for number in here {
        let state = &states[*number];
        let standing = tabulation.contexts.all[state.context].key.standing;
        let mut points = reach.at(orders, tabulation.facts, (state.context, standing), (state.block, state.index));
        if let Some(is_excluded) = is_excluded {
            points = orders.only(points, &|point| !is_excluded(point.0, state.context));
        }
        if orders.points(points).is_empty() {
            continue;
        }
        match sides.entry(state.lockset) {
            Entry::Occupied(mut known) => {
                let (all, states) = known.get_mut();
                *all = orders.union(*all, points);
                states.push(*number);
            }
            Entry::Vacant(free) => _ = free.insert((points, vec![*number])),
        }
    }
    let side =
        |(lockset, (points, states)): (LocksetId, (PointSetId, Vec<usize>))| RowSide { lockset, points, states: states.into() };
    sides.into_iter().map(side).collect()
}

/// Whether the access's thread has made what it touches. That each thread has a text of its own is a promise of the C library alone.
fn is_own(facts: &Facts<'_>, options: &RaceOptions, function: FunctionId, access: &MemoryAccess, location: Location) -> bool {
    let is_of_library = matches!(facts.points_to.object(location.object).kind, AbstractObjectKind::Library(_));
    facts.own.is_own(function, access, location.object) && !(is_of_library && options.distrusts_library)
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
        Manner::Guarded => !options.distrusts_library,
        Manner::Plain => access.action != Action::End && (access.is_volatile && options.volatile_is_atomic || is_assumed()),
    }
}
