//! Records: the accesses of all contexts, grouped into classes that no check can tell apart.
//!
//! Two accesses are of one class when they touch the same location with the same size and in the same way, under the same cover, in threads and phases
//! that overlap with the same others. Pairs are checked class by class, so that the work does not grow with the square of the accesses.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::cover::{CoverId, Covers};
use super::order::{Orders, PointSetId};
use super::result::RaceOptions;
use super::rows::{Row, Rows};
use super::spans::Within;
use crate::deadline::OutOfTime;
use crate::facts::accesses::{Action, Place, WHOLE};
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, Fresh, Location, MemoryAccess, Offset, PointeesId, Position};
use crate::findings::Role;
use crate::program::{AliasTypeId, FunctionId, Program, SiteId};
use crate::thread_pds::holding::Tabulation;

/// A pointer to more places of one object may as well point anywhere in it: nobody chooses among so many fields.
const MOST_OFFSETS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey {
    pub location: Location,
    pub size: u64,
    /// The bytes that it stays in, where that says more.
    pub within: Option<Within>,
    /// As which type the bytes are accessed.
    pub alias: Option<AliasTypeId>,
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
    /// Whether it goes through a pointer to very many places.
    pub fn is_of_many(&self, facts: &Facts<'_>) -> bool {
        let function = self.position.function;
        match self.access.place {
            Place::Operand(operand) | Place::Behind(operand) | Place::Beyond(operand, _) => {
                facts.points_to.points_to_many(function, operand)
            }
            Place::Foreign(owner, operand) => facts.points_to.points_to_many(owner, operand),
            Place::Library(_) | Place::ActiveStack => false,
        }
    }

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

/// Accesses that differ in nothing but where they are made: they are in the classes of all their locations.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    set: usize,
    size: u64,
    alias: Option<AliasTypeId>,
    is_write: bool,
    is_atomic: bool,
    is_last: bool,
    points: PointSetId,
    cover: CoverId,
}

#[derive(Default)]
pub struct Class {
    groups: SmallVec<[u32; 2]>,
}

pub struct Records {
    pub classes: IndexMap<ClassKey, Class, FxBuildHasher>,
    groups: IndexMap<GroupKey, Vec<Member>, FxBuildHasher>,
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
        rows: &Rows,
        orders: &mut Orders<'_, '_>,
        covers: &mut Covers<'_, '_>,
        racing: &FxHashSet<Position>,
        options: &RaceOptions,
    ) -> Result<Records, OutOfTime> {
        let facts = tabulation.facts;
        let mut records = Records {
            classes: IndexMap::default(),
            groups: IndexMap::default(),
            by_object: BTreeMap::new(),
            thread_local: thread_local_objects(tabulation.program, facts),
            publications: FxHashSet::default(),
        };
        let mut private: FxHashMap<Fresh, bool> = FxHashMap::default();
        for row in &rows.all {
            options.deadline.check_steps()?;
            if let Fresh::Unless(publications) = row.fresh {
                // What ends before it is published is known to nobody, however it would have been published: no later use is possible.
                if row.access.action == Action::End {
                    continue;
                }
                let is_private = *private.entry(row.fresh).or_insert_with(|| {
                    let publications = facts.freshness.publications(publications);
                    let is_private = publications.iter().all(|publication| !racing.contains(publication));
                    if is_private {
                        records.publications.extend(publications);
                    }
                    is_private
                });
                if is_private {
                    continue;
                }
            }
            for (cover, points, states) in under_covers(tabulation, orders, covers, row) {
                let member = Member { site: row.site, position: row.position, access: row.access, states, points };
                records.add(rows, row, member, orders.alike(points), cover);
            }
        }
        for (index, (key, _)) in records.classes.iter().enumerate() {
            records.by_object.entry(key.location.object).or_default().push(index);
        }
        Ok(records)
    }

    fn add(&mut self, rows: &Rows, row: &Row, member: Member, points: PointSetId, cover: CoverId) {
        let (size, alias) = (row.access.size.unwrap_or(WHOLE), row.access.alias);
        let (is_write, is_atomic) = (row.access.action.writes(), row.is_atomic);
        let is_last = matches!(row.access.action, Action::End | Action::Destroy);
        match self.groups.entry(GroupKey { set: row.set, size, alias, is_write, is_atomic, is_last, points, cover }) {
            Entry::Occupied(mut known) => known.get_mut().push(member),
            Entry::Vacant(free) => {
                let group = free.index() as u32;
                free.insert(vec![member]);
                for (location, within) in rows.spots(row) {
                    let (location, within) = (*location, *within);
                    let class = ClassKey { location, size, within, alias, is_write, is_atomic, is_last, points, cover };
                    self.classes.entry(class).or_default().groups.push(group);
                }
            }
        }
    }

    /// The accesses of a class, in no order that matters.
    pub fn members<'r>(&'r self, class: &'r Class) -> impl Iterator<Item = &'r Member> {
        class.groups.iter().flat_map(|group| &self.groups[*group as usize])
    }

    /// The accesses of a class, in the order of the program.
    pub fn members_in_order<'r>(&'r self, class: &'r Class) -> Vec<&'r Member> {
        let mut members: Vec<&Member> = self.members(class).collect();
        if class.groups.len() > 1 {
            members.sort_by_key(|member| member.position);
        }
        members
    }
}

/// The covers of a row, each with all the points it is made at under that cover: what keeps others away depends on nothing else.
fn under_covers(
    tabulation: &mut Tabulation<'_, '_>,
    orders: &mut Orders<'_, '_>,
    covers: &mut Covers<'_, '_>,
    row: &Row,
) -> SmallVec<[(CoverId, PointSetId, Rc<[usize]>); 2]> {
    let mut found: SmallVec<[(CoverId, PointSetId, Rc<[usize]>); 2]> = SmallVec::new();
    for side in row.sides.iter() {
        let lockset = tabulation.locksets.get(side.lockset);
        let cover = covers.of(&mut tabulation.identity, row, (side.lockset, lockset));
        match found.iter_mut().find(|(known, ..)| *known == cover) {
            Some((_, points, states)) => {
                *points = orders.union(*points, side.points);
                let mut all: Vec<usize> = states.iter().chain(side.states.iter()).copied().collect();
                all.sort_unstable();
                *states = all.into();
            }
            None => found.push((cover, side.points, side.states.clone())),
        }
    }
    found
}

/// Whether an access touches anything that more than one thread may reach.
pub fn is_shared(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> bool {
    let is_meant = |location: Location| {
        let is_code = facts.points_to.object(location.object).is_code();
        !is_code && facts.escape.is_shared(location.object) && !is_constant(program, facts, location)
    };
    match access.place {
        Place::Operand(operand) => facts.points_to.pointees(function, operand).any(is_meant),
        Place::Foreign(owner, operand) => facts.points_to.pointees(owner, operand).any(is_meant),
        _ => !shared_locations(program, facts, function, access).is_empty(),
    }
}

/// The same locations for all accesses through the same set: asked once.
#[derive(Default)]
pub(super) struct SharedLocations {
    known: FxHashMap<PointeesId, Rc<[Location]>>,
}

impl SharedLocations {
    pub fn of(&mut self, program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Rc<[Location]> {
        let set = match access.place {
            Place::Operand(operand) => facts.points_to.set_of(function, operand),
            Place::Foreign(owner, operand) => facts.points_to.set_of(owner, operand),
            _ => None,
        };
        let find = || shared_locations(program, facts, function, access).into();
        match set {
            Some(set) => self.known.entry(set).or_insert_with(find).clone(),
            None => find(),
        }
    }
}

pub(super) fn shared_locations(
    program: &Program,
    facts: &Facts<'_>,
    function: FunctionId,
    access: &MemoryAccess,
) -> Vec<Location> {
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
        AbstractObjectKind::Texts => true,
        _ => false,
    }
}
