//! Records: the accesses of all contexts, grouped into classes that no check can tell apart.
//!
//! Two accesses are of one class when they touch the same location with the same size and in the same way, in the same threads, in the same phase,
//! under the same cover. Pairs are checked class by class, so that the work does not grow with the square of the accesses.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::context::ContextId;
use super::cover::{CoverId, Covers};
use super::result::RaceOptions;
use super::tabulate::{AccessState, Tabulation};
use crate::facts::accesses::Action;
use crate::facts::{
    AbstractObjectId, AbstractObjectKind, Facts, Fresh, Location, Manner, MemoryAccess, PhaseId, Position, ThreadId,
};
use crate::findings::Role;
use crate::program::{FunctionId, Program, SiteId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadSetId(u32);

/// Up to the end of the object.
pub const WHOLE: u64 = u64::MAX / 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey {
    pub location: Location,
    pub size: u64,
    pub is_write: bool,
    pub is_atomic: bool,
    pub threads: ThreadSetId,
    pub phase: PhaseId,
    pub cover: CoverId,
}

/// One access of a class: a site, and one context in which it is made.
#[derive(Clone, Debug)]
pub struct Member {
    pub site: SiteId,
    pub function: FunctionId,
    pub context: ContextId,
    pub access: MemoryAccess,
    /// Into the list of all access states.
    pub state: usize,
}

impl Member {
    pub fn role(&self, is_atomic: bool) -> Role {
        match (self.access.action, is_atomic) {
            (Action::Read, false) => Role::Read,
            (Action::Read, true) => Role::AtomicRead,
            (Action::Write | Action::Update, false) => Role::Write,
            (Action::Write | Action::Update, true) => Role::AtomicWrite,
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
    pub thread_sets: IndexSet<Vec<ThreadId>, FxBuildHasher>,
    /// By object: its classes.
    pub by_object: BTreeMap<AbstractObjectId, Vec<usize>>,
    /// Objects that are touched, and never by more than one thread.
    pub thread_local: usize,
    /// Accesses were left out because their object is not published yet, which holds as long as no publication races.
    pub rests_on_publications: bool,
}

impl Records {
    pub fn threads(&self, id: ThreadSetId) -> &[ThreadId] {
        &self.thread_sets[id.0 as usize]
    }

    pub fn of(
        program: &Program,
        facts: &Facts<'_>,
        options: &RaceOptions,
        tabulation: &mut Tabulation<'_, '_>,
        reached: &TiVec<ContextId, Vec<ThreadId>>,
        states: &[AccessState],
        covers: &mut Covers<'_, '_>,
        racing: &FxHashSet<Position>,
    ) -> Records {
        let mut records = Records {
            classes: IndexMap::default(),
            thread_sets: IndexSet::default(),
            by_object: BTreeMap::new(),
            thread_local: thread_local_objects(program, facts),
            rests_on_publications: false,
        };
        let sets: TiVec<ContextId, ThreadSetId> =
            reached.iter().map(|threads| ThreadSetId(records.thread_sets.insert_full(threads.clone()).0 as u32)).collect();
        let mut locations: FxHashMap<(FunctionId, MemoryAccess), Vec<Location>> = FxHashMap::default();
        let mut seen: FxHashSet<(usize, SiteId, Action)> = FxHashSet::default();
        for (number, state) in states.iter().enumerate() {
            let key = &tabulation.contexts.all[state.context].key;
            let (function, stage) = (key.function, key.stage);
            if reached[state.context].is_empty() {
                continue;
            }
            let phase = facts.threads.phase(stage, state.block, state.index);
            for (place, access) in facts.accesses.at(function, state.block, state.index).iter().enumerate() {
                let is_fresh = match facts.freshness.at(function, state.block, state.index, place) {
                    Fresh::No => false,
                    Fresh::Always => true,
                    Fresh::Unless(publications) => {
                        let is_private =
                            facts.freshness.publications(publications).iter().all(|publication| !racing.contains(publication));
                        records.rests_on_publications |= is_private;
                        is_private
                    }
                };
                if is_fresh {
                    continue;
                }
                let places =
                    locations.entry((function, *access)).or_insert_with(|| shared_locations(program, facts, function, access));
                if places.is_empty() {
                    continue;
                }
                let lockset = tabulation.locksets.get(state.lockset);
                let cover = covers.of(&mut tabulation.identity, function, access, state.lockset, lockset);
                for location in places.iter() {
                    let is_atomic = is_atomic(program, facts, options, access, *location);
                    let class = ClassKey {
                        location: *location,
                        size: access.size.unwrap_or(WHOLE),
                        is_write: access.action.writes(),
                        is_atomic,
                        threads: sets[state.context],
                        phase,
                        cover,
                    };
                    let entry = records.classes.entry(class);
                    let index = entry.index();
                    let class = entry.or_default();
                    if seen.insert((index, state.site, access.action)) {
                        class.members.push(Member {
                            site: state.site,
                            function,
                            context: state.context,
                            access: *access,
                            state: number,
                        });
                    }
                }
            }
        }
        for (index, (key, _)) in records.classes.iter().enumerate() {
            records.by_object.entry(key.location.object).or_default().push(index);
        }
        records
    }
}

/// Whether an access touches anything that more than one thread may reach.
pub fn is_shared(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> bool {
    !shared_locations(program, facts, function, access).is_empty()
}

fn shared_locations(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Vec<Location> {
    let mut locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
    locations.retain(|location| facts.escape.is_shared(location.object) && !is_constant(program, facts, *location));
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
