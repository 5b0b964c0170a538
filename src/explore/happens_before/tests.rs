//! Small traces whose verdict is known: the C11 traps, bytes, locks, lives of objects.

use super::race::Role;
use super::*;
use crate::explore::sync::{SyncEvent, SyncKey};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::models::{LockClass, LockMode};
use crate::program::{Ordering, SiteId};

const X: ObjectId = ObjectId(1);
const FLAG: ObjectId = ObjectId(2);
const RELEASE: AccessKind = AccessKind::AtomicWrite(Ordering::Release);
const ACQUIRE: AccessKind = AccessKind::AtomicRead(Ordering::Acquire);
const LOCK: SyncKey = SyncKey { object: Some(ObjectId(9)), offset: 0 };

struct Trace {
    detector: RaceDetector,
    races: Vec<Race>,
    sites: usize,
}

impl Trace {
    /// The first thread has created this many others.
    fn with_threads(count: u32) -> Trace {
        let mut trace = Trace { detector: RaceDetector::new(), races: Vec::new(), sites: 0 };
        (1..=count).for_each(|child| trace.sync(SyncEvent::Fork { parent: ThreadId(0), child: ThreadId(child) }));
        trace
    }

    fn sync(&mut self, event: SyncEvent) {
        self.detector.synchronize(&event);
    }

    fn actor(&mut self, thread: u32) -> Actor {
        self.sites += 1;
        Actor { thread: ThreadId(thread), site: Some(SiteId::from(self.sites)), stack: StackId::ROOT }
    }

    fn bytes(&mut self, thread: u32, object: ObjectId, offset: u64, size: u64, kind: AccessKind) -> &mut Self {
        let actor = self.actor(thread);
        let races = self.detector.access(&MemoryAccess { object, offset, size, kind, actor });
        self.races.extend(races);
        self
    }

    fn access(&mut self, thread: u32, object: ObjectId, kind: AccessKind) -> &mut Self {
        self.bytes(thread, object, 0, 4, kind)
    }

    fn fence(&mut self, thread: u32, ordering: Ordering) -> &mut Self {
        self.sync(SyncEvent::Fence { thread: ThreadId(thread), ordering });
        self
    }

    fn lock(&mut self, thread: u32, mode: LockMode) -> &mut Self {
        let thread = ThreadId(thread);
        self.sync(SyncEvent::Acquire { thread, lock: LOCK, class: LockClass::ReadWrite, mode, site: None });
        self
    }

    fn unlock(&mut self, thread: u32, mode: LockMode) -> &mut Self {
        let thread = ThreadId(thread);
        self.sync(SyncEvent::Release { thread, holder: thread, lock: LOCK, class: LockClass::ReadWrite, mode });
        self
    }

    fn count(&self) -> usize {
        self.races.len()
    }
}

#[test]
fn two_sites_at_the_same_epoch_are_two_races() {
    let sites = |trace: &Trace| trace.races.iter().map(|race| (race.first.site, race.second.site)).collect::<Vec<_>>();
    let site = |number: usize| Some(SiteId::from(number));
    for second in [AccessKind::Write, AccessKind::Read] {
        let mut trace = Trace::with_threads(1);
        trace.access(0, X, AccessKind::Write).access(0, X, second).access(1, X, AccessKind::Write);
        assert!(sites(&trace).contains(&(site(2), site(3))), "{second:?}: {:?}", sites(&trace));
    }
}

#[test]
fn a_release_store_that_replaces_another_hands_over_its_own_past_only() {
    let mut trace = Trace::with_threads(3);
    trace.access(1, X, AccessKind::Write).access(1, FLAG, RELEASE).access(2, FLAG, RELEASE);
    trace.access(3, FLAG, ACQUIRE).access(3, X, AccessKind::Read);
    assert_eq!(trace.count(), 1);
}

#[test]
fn a_release_store_hands_over_to_the_acquire_load_that_reads_it() {
    let mut trace = Trace::with_threads(2);
    trace.access(1, X, AccessKind::Write).access(1, FLAG, RELEASE);
    trace.access(2, FLAG, ACQUIRE).access(2, X, AccessKind::Write);
    assert_eq!(trace.count(), 0);
    trace.access(1, X, AccessKind::Write);
    assert_eq!(trace.count(), 1, "what the first thread does after its store is not handed over");
}

#[test]
fn a_release_sequence_with_an_acquire_fence_protects_a_reference_count() {
    for (has_fence, races) in [(true, 0), (false, 1)] {
        let mut trace = Trace::with_threads(2);
        let decrement = AccessKind::AtomicReadWrite(Ordering::Release);
        trace.access(1, X, AccessKind::Write).access(1, FLAG, decrement);
        trace.access(2, FLAG, decrement);
        if has_fence {
            trace.fence(2, Ordering::Acquire);
        }
        let actor = trace.actor(2);
        let ended = trace.detector.end_object(X, actor);
        assert_eq!(ended.len(), races);
        assert!(ended.iter().all(|race| (race.first.role, race.second.role) == (Role::Write, Role::End)));
    }
}

#[test]
fn a_relaxed_flag_orders_nothing_without_fences() {
    for (release_fence, acquire_fence, races) in [(false, false, 1), (true, false, 1), (false, true, 1), (true, true, 0)] {
        let mut trace = Trace::with_threads(2);
        trace.access(1, X, AccessKind::Write);
        if release_fence {
            trace.fence(1, Ordering::Release);
        }
        trace.access(1, FLAG, AccessKind::AtomicWrite(Ordering::Relaxed));
        trace.access(2, FLAG, AccessKind::AtomicRead(Ordering::Relaxed));
        if acquire_fence {
            trace.fence(2, Ordering::Acquire);
        }
        trace.access(2, X, AccessKind::Read);
        assert_eq!(trace.count(), races, "{release_fence} {acquire_fence}");
    }
}

#[test]
fn read_modify_writes_and_own_stores_continue_a_release_sequence_and_others_end_it() {
    let relaxed = Ordering::Relaxed;
    let between = [
        (AccessKind::AtomicReadWrite(relaxed), 2, 0),
        (AccessKind::AtomicWrite(relaxed), 2, 1),
        (AccessKind::AtomicWrite(relaxed), 1, 0),
        (AccessKind::AtomicRead(relaxed), 2, 0),
    ];
    for (kind, thread, races) in between {
        let mut trace = Trace::with_threads(3);
        trace.access(1, X, AccessKind::Write).access(1, FLAG, RELEASE).access(thread, FLAG, kind);
        trace.access(3, FLAG, ACQUIRE).access(3, X, AccessKind::Read);
        assert_eq!(trace.count(), races, "{kind:?} by {thread}");
    }
}

#[test]
fn a_plain_write_of_the_flag_ends_the_release_sequence() {
    let mut trace = Trace::with_threads(2);
    trace.access(1, X, AccessKind::Write).access(1, FLAG, RELEASE).access(1, FLAG, AccessKind::Write);
    trace.access(2, FLAG, ACQUIRE).access(2, X, AccessKind::Read);
    assert_eq!(trace.races.iter().map(|race| race.object).collect::<Vec<_>>(), [FLAG, X]);
}

#[test]
fn a_new_thread_knows_its_creator_and_nobody_else() {
    let mut trace = Trace::with_threads(2);
    trace.access(1, X, AccessKind::Write);
    trace.sync(SyncEvent::Fork { parent: ThreadId(1), child: ThreadId(3) });
    trace.access(3, X, AccessKind::Write);
    assert_eq!(trace.count(), 0);
    trace.access(2, X, AccessKind::Write);
    assert_eq!(trace.count(), 1);
    assert_eq!((trace.races[0].first.thread, trace.races[0].second.thread), (ThreadId(3), ThreadId(2)));
}

#[test]
fn read_locks_order_readers_after_writers_only() {
    use LockMode::{Exclusive, Shared};
    for (first, second, races) in [(Shared, Shared, 1), (Shared, Exclusive, 0), (Exclusive, Shared, 0), (Exclusive, Exclusive, 0)]
    {
        let mut trace = Trace::with_threads(2);
        trace.lock(1, first).access(1, X, AccessKind::Write).unlock(1, first);
        trace.lock(2, second).access(2, X, AccessKind::Write).unlock(2, second);
        assert_eq!(trace.count(), races, "{first:?} {second:?}");
    }
}

#[test]
fn a_signal_orders_nothing() {
    let mut trace = Trace::with_threads(2);
    let condition = SyncKey { object: None, offset: 3 };
    trace.sync(SyncEvent::BeginWait { thread: ThreadId(2), condition });
    trace.access(1, X, AccessKind::Write);
    trace.sync(SyncEvent::Signal { thread: ThreadId(1), condition, woken: Some(ThreadId(2)) });
    trace.sync(SyncEvent::EndWait { thread: ThreadId(2), condition });
    trace.access(2, X, AccessKind::Read);
    assert_eq!(trace.count(), 1);
}

#[test]
fn operations_of_a_primitive_race_with_its_initialisation_only() {
    let mut trace = Trace::with_threads(2);
    trace.access(1, X, AccessKind::Operation).access(2, X, AccessKind::Operation);
    assert_eq!(trace.count(), 0);
    trace.access(2, X, AccessKind::Write);
    assert_eq!(trace.count(), 1);
    assert_eq!((trace.races[0].first.role, trace.races[0].second.role), (Role::AtomicWrite, Role::Write));
}

#[test]
fn atomic_accesses_race_with_plain_ones_only() {
    let relaxed = Ordering::Relaxed;
    let (read, write) = (AccessKind::AtomicRead(relaxed), AccessKind::AtomicWrite(relaxed));
    let cases = [
        (write, write, 0),
        (write, read, 0),
        (write, AccessKind::Read, 1),
        (write, AccessKind::Write, 1),
        (read, AccessKind::Read, 0),
        (read, AccessKind::Write, 1),
        (AccessKind::Read, read, 0),
        (AccessKind::Read, write, 1),
        (AccessKind::Write, read, 1),
        (AccessKind::Read, AccessKind::Read, 0),
    ];
    for (first, second, races) in cases {
        let mut trace = Trace::with_threads(2);
        trace.access(1, X, first).access(2, X, second);
        assert_eq!(trace.count(), races, "{first:?} {second:?}");
    }
}

#[test]
fn races_are_exact_to_the_byte() {
    let write = AccessKind::Write;
    // Adjacent chars; adjacent bit-fields share the byte that LLVM touches.
    for (second, races) in [((1, 1), 0), ((0, 1), 1)] {
        let mut trace = Trace::with_threads(2);
        trace.bytes(1, X, 0, 1, write).bytes(2, X, second.0, second.1, write);
        assert_eq!(trace.count(), races);
    }
    let mut trace = Trace::with_threads(2);
    trace.bytes(1, X, 250, 20, write).bytes(2, X, 240, 12, write);
    assert_eq!((trace.races[0].offset, trace.races[0].size), (250, 2));
    trace.bytes(2, X, 253, 8, write);
    assert_eq!((trace.races[1].offset, trace.races[1].size), (253, 8), "over the border of a page");
}

#[test]
fn the_end_of_an_object_is_a_write_of_it() {
    let mut trace = Trace::with_threads(2);
    trace.bytes(1, X, 3, 1, AccessKind::Read);
    let actor = trace.actor(2);
    let races = trace.detector.end_object(X, actor);
    assert_eq!(races.len(), 1);
    assert_eq!((races[0].offset, races[0].size), (3, 1));
    trace.bytes(1, X, 0, 1, AccessKind::Read);
    assert_eq!(trace.races[0].first.role, Role::End, "used after it was freed elsewhere");
    trace.detector.begin_object(X);
    trace.bytes(1, X, 0, 1, AccessKind::Write);
    assert_eq!(trace.count(), 1, "a new life");
}

#[test]
fn a_pair_of_sites_is_reported_once_with_both_sides() {
    let mut trace = Trace::with_threads(2);
    let stack = trace.detector.stacks().call(StackId::ROOT, SiteId::from(77));
    let mut races = Vec::new();
    for _ in 0..3 {
        for (thread, site) in [(1, 10), (2, 20)] {
            trace.lock(1, LockMode::Shared);
            let actor = Actor { thread: ThreadId(thread), site: Some(SiteId::from(site)), stack };
            let access = MemoryAccess { object: X, offset: 0, size: 4, kind: AccessKind::Write, actor };
            races.extend(trace.detector.access(&access));
            trace.unlock(1, LockMode::Shared);
        }
    }
    assert_eq!(races.len(), 1);
    assert_eq!((races[0].first.site, races[0].second.site), (Some(SiteId::from(10)), Some(SiteId::from(20))));
    assert_eq!((races[0].first.locks.len(), races[0].second.locks.len()), (1, 0));
    assert_eq!(races[0].first.context.calls, [SiteId::from(77)]);
}

#[test]
fn a_thread_is_alone_before_the_first_and_after_the_last_of_the_others() {
    let mut trace = Trace::with_threads(0);
    let main = ThreadId(0);
    assert!(trace.detector.is_alone(main));
    trace.sync(SyncEvent::Fork { parent: main, child: ThreadId(1) });
    trace.access(1, X, AccessKind::Write);
    assert!(!trace.detector.is_alone(main));
    trace.sync(SyncEvent::End { thread: ThreadId(1) });
    assert!(!trace.detector.is_alone(main), "ended, but not known to have");
    trace.sync(SyncEvent::Join { thread: main, ended: ThreadId(1) });
    assert!(trace.detector.is_alone(main));
    trace.access(0, X, AccessKind::Write);
    trace.sync(SyncEvent::Fork { parent: main, child: ThreadId(2) });
    trace.access(2, X, AccessKind::Write);
    assert_eq!(trace.count(), 0);
    trace.access(0, X, AccessKind::Read);
    assert_eq!(trace.count(), 1);
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut trace = Trace::with_threads(2);
    trace.access(1, X, AccessKind::Write);
    let mut copy = trace.detector.clone();
    trace.lock(1, LockMode::Exclusive).unlock(1, LockMode::Exclusive).lock(2, LockMode::Exclusive);
    trace.access(2, X, AccessKind::Write);
    assert_eq!(trace.count(), 0);
    let actor = trace.actor(2);
    let races = copy.access(&MemoryAccess { object: X, offset: 0, size: 4, kind: AccessKind::Write, actor });
    assert_eq!(races.len(), 1);
}
