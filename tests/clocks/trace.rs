//! Random traces: only what can happen, over all kinds of synchronisation and access.

use std::collections::{BTreeMap, BTreeSet};

use lockcheck::explore::happens_before::AccessKind;
use lockcheck::explore::scheduler::Generator;
use lockcheck::explore::sync::{SyncEvent, SyncKey};
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::explore::value::ObjectId;
use lockcheck::models::{LockClass, LockMode};
use lockcheck::program::Ordering;

use Event::{Access, Sync};

/// A set of events is one word.
pub const EVENTS: usize = 110;
const THREADS: u32 = 5;

/// Bytes that are read and written in all sizes.
const DATA: u32 = 0;
/// Two atomic locations, 4 bytes each, at 0 and 8; plain accesses happen to them too.
const ATOMICS: u32 = 1;
/// The bytes of a primitive: operations and plain writes.
const PRIMITIVE: u32 = 2;
/// Objects whose life ends in the trace.
const MORTAL: std::ops::Range<u32> = 3..6;

#[derive(Clone, Copy, Debug)]
pub enum Event {
    Sync(SyncEvent),
    Access { thread: ThreadId, object: u32, offset: u64, size: u64, kind: AccessKind },
}

fn key(number: u64) -> SyncKey {
    SyncKey { object: Some(ObjectId(100)), offset: number }
}

/// Where a trace can go: enough state to make only what can happen.
pub struct World {
    random: Generator,
    /// All accesses to data are of one byte.
    is_bytewise: bool,
    events: Vec<Event>,
    alive: BTreeSet<ThreadId>,
    ended: BTreeSet<ThreadId>,
    count: u32,
    /// By lock: who holds it, and how.
    held: BTreeMap<u64, Vec<(ThreadId, LockMode)>>,
    units: u64,
    is_once_done: bool,
    in_section: Option<ThreadId>,
    /// At the barrier for two: the one who waits, and those who may leave a round.
    arrived: Option<ThreadId>,
    leaving: BTreeMap<ThreadId, u64>,
    round: u64,
    cancelled: BTreeSet<ThreadId>,
    dead: BTreeSet<u32>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut world = World {
            random: Generator::new(seed),
            is_bytewise: seed % 2 == 1,
            events: Vec::new(),
            alive: BTreeSet::from([ThreadId(0)]),
            ended: BTreeSet::new(),
            count: 1,
            held: BTreeMap::new(),
            units: 0,
            is_once_done: false,
            in_section: None,
            arrived: None,
            leaving: BTreeMap::new(),
            round: 0,
            cancelled: BTreeSet::new(),
            dead: BTreeSet::new(),
        };
        world.units = world.random.below(3);
        let value = world.units;
        world.sync(SyncEvent::InitializeSemaphore { thread: ThreadId(0), semaphore: key(20), value });
        world
    }

    fn sync(&mut self, event: SyncEvent) {
        self.events.push(Sync(event));
    }

    pub fn generate(mut self) -> Vec<Event> {
        let length = 10 + self.random.below(EVENTS as u64 - 14) as usize;
        while self.events.len() < length {
            let free = self.alive.iter().copied();
            let free: Vec<ThreadId> = free
                .filter(|thread| self.in_section.is_none_or(|owner| owner == *thread) && self.arrived != Some(*thread))
                .collect();
            let Some(index) = (!free.is_empty()).then(|| self.random.below(free.len() as u64) as usize) else { break };
            self.step(free[index]);
        }
        self.events
    }

    fn step(&mut self, thread: ThreadId) {
        if let Some(round) = self.leaving.remove(&thread) {
            return self.sync(SyncEvent::LeaveBarrier { thread, barrier: key(10), round });
        }
        if self.cancelled.contains(&thread) && self.random.once_in(8) {
            return self.cancel_or_signal(thread);
        }
        match self.random.below(40) {
            0..=10 => self.access(thread),
            11..=17 => self.atomic_access(thread),
            18..=21 => self.acquire(thread),
            22..=26 => self.release(thread),
            27..=29 if self.count < THREADS => {
                let child = ThreadId(self.count);
                self.count += 1;
                self.alive.insert(child);
                self.sync(SyncEvent::Fork { parent: thread, child });
            }
            30 if thread != ThreadId(0) && self.in_section != Some(thread) => {
                self.alive.remove(&thread);
                self.ended.insert(thread);
                self.sync(SyncEvent::End { thread });
            }
            31 => {
                if let Some(ended) = self.ended.pop_first() {
                    self.sync(SyncEvent::Join { thread, ended });
                }
            }
            32 if self.in_section.is_none() => self.arrive(thread),
            33 => {
                self.units += 1;
                self.sync(SyncEvent::PostSemaphore { thread, semaphore: key(20) });
            }
            34 if self.units > 0 => {
                self.units -= 1;
                self.sync(SyncEvent::TakeSemaphore { thread, semaphore: key(20) });
            }
            35 if self.is_once_done => self.sync(SyncEvent::PassOnce { thread, control: key(30) }),
            35 if self.random.once_in(3) => {
                self.is_once_done = true;
                self.sync(SyncEvent::FinishOnce { thread, control: key(30) });
            }
            36 => {
                let ordering = self.random.pick(&ORDERINGS);
                self.sync(SyncEvent::Fence { thread, ordering });
            }
            37 if self.in_section == Some(thread) => {
                self.in_section = None;
                self.sync(SyncEvent::EndAtomic { thread });
            }
            37 => {
                self.in_section = Some(thread);
                self.sync(SyncEvent::BeginAtomic { thread });
            }
            38 => self.cancel_or_signal(thread),
            39 => self.end_object_or_handlers(thread),
            _ => {}
        }
    }

    fn access(&mut self, thread: ThreadId) {
        let kind = self.random.pick(&[AccessKind::Read, AccessKind::Write]);
        let (object, offset, size) = match self.random.below(10) {
            0 => (ATOMICS, self.random.pick(&[0, 8]), 4),
            1 | 2 => {
                let kind = self.random.pick(&[AccessKind::Operation, AccessKind::Operation, AccessKind::Write]);
                return self.events.push(Access { thread, object: PRIMITIVE, offset: 0, size: 4, kind });
            }
            3 | 4 => (MORTAL.start + self.random.below(3) as u32, self.random.below(3), self.size()),
            _ => (DATA, self.random.below(6), self.size()),
        };
        if !self.dead.contains(&object) {
            self.events.push(Access { thread, object, offset, size, kind });
        }
    }

    fn size(&mut self) -> u64 {
        if self.is_bytewise { 1 } else { 1 + self.random.below(3) }
    }

    fn atomic_access(&mut self, thread: ThreadId) {
        let ordering = self.random.pick(&ORDERINGS);
        let kind = match self.random.below(3) {
            0 => AccessKind::AtomicRead(ordering),
            1 => AccessKind::AtomicWrite(ordering),
            _ => AccessKind::AtomicReadWrite(ordering),
        };
        let offset = self.random.pick(&[0, 8]);
        self.events.push(Access { thread, object: ATOMICS, offset, size: 4, kind });
    }

    fn acquire(&mut self, thread: ThreadId) {
        let lock = self.random.below(3);
        let mode = if lock == 2 { self.random.pick(&[LockMode::Shared, LockMode::Exclusive]) } else { LockMode::Exclusive };
        let holders = self.held.entry(lock).or_default();
        let is_free = match mode {
            LockMode::Exclusive => holders.is_empty(),
            LockMode::Shared => holders.iter().all(|(other, mode)| *mode == LockMode::Shared && *other != thread),
        };
        if is_free {
            holders.push((thread, mode));
            let class = if lock == 2 { LockClass::ReadWrite } else { LockClass::Mutex };
            self.sync(SyncEvent::Acquire { thread, lock: key(lock), class, mode, site: None });
        }
    }

    fn release(&mut self, thread: ThreadId) {
        let lock = self.random.below(3);
        // Now and then a lock that another thread holds.
        let may_be_foreign = self.random.once_in(20);
        let holders = self.held.entry(lock).or_default();
        if let Some(position) = holders.iter().position(|(holder, _)| *holder == thread || may_be_foreign) {
            let (holder, mode) = holders.remove(position);
            let class = if lock == 2 { LockClass::ReadWrite } else { LockClass::Mutex };
            self.sync(SyncEvent::Release { thread, holder, lock: key(lock), class, mode });
        }
    }

    fn arrive(&mut self, thread: ThreadId) {
        let round = self.round;
        self.sync(SyncEvent::ArriveBarrier { thread, barrier: key(10), round });
        match self.arrived.take() {
            None => self.arrived = Some(thread),
            Some(first) => {
                self.round += 1;
                self.leaving.insert(first, round);
                self.sync(SyncEvent::LeaveBarrier { thread, barrier: key(10), round });
            }
        }
    }

    fn cancel_or_signal(&mut self, thread: ThreadId) {
        if self.cancelled.remove(&thread) {
            return self.sync(SyncEvent::ActOnCancel { thread });
        }
        let target = ThreadId(self.random.below(u64::from(self.count)) as u32);
        if target != thread && self.alive.contains(&target) && self.random.once_in(2) {
            self.cancelled.insert(target);
            return self.sync(SyncEvent::Cancel { thread, target });
        }
        let condition = key(40);
        let event = match self.random.below(3) {
            0 => SyncEvent::BeginWait { thread, condition },
            1 => SyncEvent::EndWait { thread, condition },
            _ => SyncEvent::Signal { thread, condition, woken: None },
        };
        self.sync(event);
    }

    fn end_object_or_handlers(&mut self, thread: ThreadId) {
        match self.random.below(3) {
            0 => self.sync(SyncEvent::RegisterExitHandler { thread }),
            1 => self.sync(SyncEvent::RunExitHandlers { thread }),
            _ => {
                let object = MORTAL.start + self.random.below(3) as u32;
                if self.dead.insert(object) {
                    self.events.push(Access { thread, object, offset: 0, size: 6, kind: AccessKind::End });
                }
            }
        }
    }
}

const ORDERINGS: [Ordering; 5] =
    [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcquireRelease, Ordering::SequentiallyConsistent];
