//! The race detector: gets every access and every synchronisation of a run, and says which accesses race.

use std::collections::BTreeSet;

use triomphe::Arc;

use super::interner::{Actor, LocksetId, Stacks};
use super::location::Locations;
use super::order::Order;
use super::race::{AccessKind, Race, RaceEnd, Role};
use super::shadow::{Conflict, Record, Shadow};
use crate::explore::sync::shared::Shared;
use crate::explore::sync::{HeldLock, SyncEvent};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::program::SiteId;

/// An access to bytes of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    pub object: ObjectId,
    pub offset: u64,
    pub size: u64,
    pub kind: AccessKind,
    pub actor: Actor,
}

#[derive(Clone, Debug, Default)]
struct ObjectState {
    shadow: Shadow,
    locations: Locations,
    /// Who ended the object's life.
    ended: Option<Record>,
}

/// Objects a chunk of the table.
const CHUNK: usize = 64;

type Chunk = Vec<Option<Arc<ObjectState>>>;

/// A pair of sites, the smaller first, and the object.
type Pair = (ObjectId, Option<SiteId>, Option<SiteId>);

/// Which locks a thread holds, as the detector was told.
#[derive(Clone, Debug, Default)]
struct Holdings {
    held: Vec<HeldLock>,
    lockset: Option<LocksetId>,
}

/// Copies share what they have in common.
#[derive(Clone, Debug, Default)]
pub struct RaceDetector {
    order: Order,
    objects: Shared<Vec<Arc<Chunk>>>,
    holdings: Shared<Vec<Holdings>>,
    stacks: Stacks,
    /// Each is reported once.
    reported: Shared<BTreeSet<Pair>>,
}

impl RaceDetector {
    pub fn new() -> RaceDetector {
        RaceDetector::default()
    }

    /// Nothing that this thread does now can race: it need not be recorded.
    pub fn is_alone(&self, thread: ThreadId) -> bool {
        self.order.is_alone(thread)
    }

    /// Where call stacks get their numbers.
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    pub fn order(&self) -> &Order {
        &self.order
    }

    pub fn synchronize(&mut self, event: &SyncEvent) {
        match *event {
            SyncEvent::Acquire { thread, lock, class, mode, site } => {
                self.change_holdings(thread, |held| held.push(HeldLock { lock, class, mode, site }));
            }
            SyncEvent::Release { holder, lock, .. } => self.change_holdings(holder, |held| {
                if let Some(position) = held.iter().rposition(|entry| entry.lock == lock) {
                    held.remove(position);
                }
            }),
            // These change what is ordered, below, and not what is held.
            SyncEvent::Fork { .. }
            | SyncEvent::End { .. }
            | SyncEvent::Join { .. }
            | SyncEvent::ArriveBarrier { .. }
            | SyncEvent::LeaveBarrier { .. }
            | SyncEvent::InitializeSemaphore { .. }
            | SyncEvent::PostSemaphore { .. }
            | SyncEvent::TakeSemaphore { .. }
            | SyncEvent::FinishOnce { .. }
            | SyncEvent::PassOnce { .. }
            | SyncEvent::Fence { .. }
            | SyncEvent::BeginAtomic { .. }
            | SyncEvent::EndAtomic { .. }
            | SyncEvent::BeginWait { .. }
            | SyncEvent::EndWait { .. }
            | SyncEvent::Signal { .. }
            | SyncEvent::Cancel { .. }
            | SyncEvent::ActOnCancel { .. }
            | SyncEvent::RegisterExitHandler { .. }
            | SyncEvent::RunExitHandlers { .. } => {}
        }
        self.order.observe(event);
    }

    fn change_holdings(&mut self, thread: ThreadId, change: impl FnOnce(&mut Vec<HeldLock>)) {
        let holdings = self.holdings.change();
        if holdings.len() <= thread.index() {
            holdings.resize_with(thread.index() + 1, Holdings::default);
        }
        let mine = &mut holdings[thread.index()];
        change(&mut mine.held);
        mine.lockset = Some(self.stacks.lockset(&mine.held));
    }

    fn lockset(&self, thread: ThreadId) -> LocksetId {
        self.holdings.get(thread.index()).and_then(|mine| mine.lockset).unwrap_or(LocksetId::EMPTY)
    }

    fn record(&self, actor: Actor, role: Role) -> Record {
        Record {
            epoch: self.order.epoch(actor.thread),
            site: actor.site,
            stack: actor.stack,
            locks: self.lockset(actor.thread),
            role,
        }
    }

    /// Records an access; the races it closes, each pair of sites once an object.
    #[inline]
    pub fn access(&mut self, access: &MemoryAccess) -> Vec<Race> {
        if access.size == 0 || self.order.is_alone(access.actor.thread) {
            return Vec::new();
        }
        let is_plain = matches!(access.kind, AccessKind::Read | AccessKind::Write);
        if is_plain && self.is_repetition(access) {
            return Vec::new();
        }
        self.access_slowly(access)
    }

    fn is_repetition(&self, access: &MemoryAccess) -> bool {
        let Some(state) = self.object(access.object) else { return false };
        let epoch = self.order.epoch(access.actor.thread);
        let (from, to) = (access.offset, access.offset + access.size);
        // A plain write may end a release sequence.
        let passes_nothing_on = access.kind == AccessKind::Read || state.locations.is_empty();
        passes_nothing_on
            && state.ended.is_none()
            && state.shadow.is_repetition(from, to, epoch, access.actor.site, access.kind.into())
    }

    fn access_slowly(&mut self, access: &MemoryAccess) -> Vec<Race> {
        let MemoryAccess { object, offset, size, kind, actor } = *access;
        self.take_in(access);
        let record = self.record(actor, kind.into());
        let state = object_slot(&mut self.objects, object);
        let now = self.order.now(actor.thread);
        let mut conflicts = state.shadow.access(offset, offset + size, record, now);
        if let Some(ended) = state.ended.filter(|ended| !now.has_seen(ended.epoch)) {
            conflicts.push((ended, offset, offset + size));
        }
        self.pass_on(access);
        self.report(object, record, conflicts)
    }

    /// What an atomic read learns from the stores it reads. Before the check: they may order the access itself.
    fn take_in(&mut self, access: &MemoryAccess) {
        let MemoryAccess { object, offset, size, kind, actor: Actor { thread, .. } } = *access;
        match kind {
            AccessKind::AtomicRead(ordering) | AccessKind::AtomicReadWrite(ordering) => {
                if let Some(state) = self.object(object).filter(|state| !state.locations.is_empty()) {
                    let read = state.locations.load(offset, size);
                    self.order.read(thread, ordering, &read);
                }
            }
            AccessKind::Read | AccessKind::Write | AccessKind::AtomicWrite(_) | AccessKind::Operation | AccessKind::End => {}
        }
    }

    /// What a write leaves to those who read it.
    fn pass_on(&mut self, access: &MemoryAccess) {
        let MemoryAccess { object, offset, size, kind, actor: Actor { thread, .. } } = *access;
        let locations = &mut object_slot(&mut self.objects, object).locations;
        match kind {
            AccessKind::Read | AccessKind::AtomicRead(_) | AccessKind::Operation => {}
            AccessKind::Write | AccessKind::End => {
                if !locations.is_empty() {
                    locations.overwrite(offset, size);
                }
            }
            AccessKind::AtomicWrite(ordering) => locations.store(offset, size, thread, self.order.write(thread, ordering)),
            AccessKind::AtomicReadWrite(ordering) => locations.update(offset, size, thread, self.order.write(thread, ordering)),
        }
    }

    /// The object's life ends here: a plain write of all its bytes.
    pub fn end_object(&mut self, object: ObjectId, actor: Actor) -> Vec<Race> {
        let Some(state) = self.object(object) else { return Vec::new() };
        if self.order.is_alone(actor.thread) {
            *object_slot(&mut self.objects, object) = ObjectState::default();
            return Vec::new();
        }
        let record = self.record(actor, Role::End);
        let conflicts = state.shadow.end(self.order.now(actor.thread));
        *object_slot(&mut self.objects, object) = ObjectState { ended: Some(record), ..ObjectState::default() };
        self.report(object, record, conflicts)
    }

    /// The object's life begins (again): what was before is forgotten.
    pub fn begin_object(&mut self, object: ObjectId) {
        if self.object(object).is_some() {
            *object_slot(&mut self.objects, object) = ObjectState::default();
        }
    }

    fn object(&self, object: ObjectId) -> Option<&ObjectState> {
        let index = object.0 as usize;
        self.objects.get(index / CHUNK)?.get(index % CHUNK)?.as_deref()
    }

    fn report(&mut self, object: ObjectId, second: Record, conflicts: Vec<Conflict>) -> Vec<Race> {
        let mut races = Vec::new();
        for (first, from, to) in conflicts {
            let pair = (object, first.site.min(second.site), first.site.max(second.site));
            if self.reported.contains(&pair) {
                continue;
            }
            self.reported.change().insert(pair);
            let (first, second) = (self.race_end(first), self.race_end(second));
            races.push(Race { object, offset: from, size: to - from, first, second });
        }
        races
    }

    fn race_end(&self, record: Record) -> RaceEnd {
        RaceEnd {
            thread: record.epoch.thread,
            site: record.site,
            context: self.stacks.context(record.stack),
            role: record.role,
            locks: self.stacks.locks(record.locks),
        }
    }
}

/// The state of an object, made when it is not there.
fn object_slot(objects: &mut Shared<Vec<Arc<Chunk>>>, object: ObjectId) -> &mut ObjectState {
    let index = object.0 as usize;
    let chunks = objects.change();
    if chunks.len() <= index / CHUNK {
        chunks.resize_with(index / CHUNK + 1, Arc::default);
    }
    let chunk = Arc::make_mut(&mut chunks[index / CHUNK]);
    if chunk.len() <= index % CHUNK {
        chunk.resize(index % CHUNK + 1, None);
    }
    Arc::make_mut(chunk[index % CHUNK].get_or_insert_with(Arc::default))
}
