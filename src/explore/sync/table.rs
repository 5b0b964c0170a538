//! The state of all primitives of a run, by address. Copies share what they have in common.

use std::collections::{BTreeMap, BTreeSet};

use super::atomic_section::AtomicSection;
use super::barrier::Barrier;
use super::condition::Condition;
use super::keys::Keys;
use super::lock::Lock;
use super::once::Once;
use super::outcome::{BlockReason, Readiness};
use super::semaphore::Semaphore;
use super::shared::Shared;
use super::threads::{ThreadRecord, ThreadStatus, Threads};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::models::{Attribute, LockClass, LockMode};
use crate::program::SiteId;

/// Where a primitive lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncKey {
    /// `None` for a user's lock that is named by a number, not by an object.
    pub object: Option<ObjectId>,
    /// Inside the object, or the number itself.
    pub offset: u64,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeldLock {
    pub lock: SyncKey,
    pub class: LockClass,
    pub mode: LockMode,
    /// Where the outermost level was taken.
    pub site: Option<SiteId>,
}

/// Attribute objects by address and field.
type Attributes = BTreeMap<(SyncKey, u8), i64>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncTable {
    pub(super) locks: Shared<BTreeMap<SyncKey, Lock>>,
    /// Locks that were destroyed, and not initialised again.
    pub(super) destroyed: Shared<BTreeSet<SyncKey>>,
    pub(super) conditions: Shared<BTreeMap<SyncKey, Condition>>,
    pub(super) barriers: Shared<BTreeMap<SyncKey, Barrier>>,
    pub(super) onces: Shared<BTreeMap<SyncKey, Once>>,
    pub(super) semaphores: Shared<BTreeMap<SyncKey, Semaphore>>,
    pub(super) attributes: Shared<Attributes>,
    pub(super) keys: Shared<Keys>,
    pub(super) threads: Shared<Threads>,
    pub(super) atomic: AtomicSection,
}

impl SyncTable {
    /// Whether a thread that stands in no blocking call may take a step.
    pub fn may_run(&self, thread: ThreadId) -> bool {
        self.thread(thread).status == ThreadStatus::Alive && !self.atomic.excludes(thread)
    }

    /// Whether a thread that is blocked for this reason can take a step, and of which sort.
    pub fn readiness(&self, thread: ThreadId, reason: &BlockReason) -> Readiness {
        if !self.may_run(thread) {
            return Readiness::Blocked;
        }
        let (is_there, may_expire, is_cancellation_point) = match *reason {
            BlockReason::Lock { lock, mode, is_timed } => {
                (self.locks.get(&lock).is_none_or(|state| state.is_available_to(thread, mode)), is_timed, false)
            }
            BlockReason::Condition { condition, is_timed, may_wake_spuriously } => {
                let is_woken = self.conditions.get(&condition).is_some_and(|state| state.is_woken(thread));
                (is_woken, is_timed || may_wake_spuriously, true)
            }
            BlockReason::ConditionUnused { condition } => {
                (self.conditions.get(&condition).is_none_or(|state| !state.has_waiters()), false, false)
            }
            BlockReason::Barrier { barrier, round } => {
                (self.barriers.get(&barrier).is_none_or(|state| state.is_complete(round)), false, false)
            }
            BlockReason::Once { control } => (self.onces.get(&control).is_none_or(|state| !state.is_running()), false, false),
            BlockReason::Semaphore { semaphore, is_timed } => {
                (self.semaphores.get(&semaphore).is_some_and(|state| state.value() > 0), is_timed, true)
            }
            BlockReason::Join { thread: target, is_timed } => (self.thread(target).status != ThreadStatus::Alive, is_timed, true),
        };
        if is_there || is_cancellation_point && self.thread(thread).is_cancelled() {
            Readiness::Ready
        } else if may_expire {
            Readiness::Expires
        } else {
            Readiness::Blocked
        }
    }

    pub fn is_enabled(&self, thread: ThreadId, reason: &BlockReason) -> bool {
        self.readiness(thread, reason).is_enabled()
    }

    /// The threads that stand in the way of a blocked one: for deadlock reports.
    pub fn waits_for(&self, thread: ThreadId, reason: &BlockReason) -> Vec<ThreadId> {
        match reason {
            BlockReason::Lock { lock, .. } => self.locks.get(lock).map(Lock::holders).unwrap_or_default(),
            BlockReason::Join { thread: target, .. } => vec![*target],
            BlockReason::Once { control } => match self.onces.get(control) {
                Some(Once::Running(runner)) => vec![*runner],
                _ => Vec::new(),
            },
            BlockReason::Condition { .. }
            | BlockReason::ConditionUnused { .. }
            | BlockReason::Barrier { .. }
            | BlockReason::Semaphore { .. } => self.atomic.owner().filter(|owner| *owner != thread).into_iter().collect(),
        }
    }

    pub fn thread(&self, thread: ThreadId) -> &ThreadRecord {
        self.threads.get(thread)
    }

    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The locks a thread holds, in the order it took them.
    pub fn held_by(&self, thread: ThreadId) -> &[HeldLock] {
        &self.thread(thread).held
    }

    pub fn lock(&self, key: SyncKey) -> Option<&Lock> {
        self.locks.get(&key)
    }

    pub fn condition(&self, key: SyncKey) -> Option<&Condition> {
        self.conditions.get(&key)
    }

    pub fn barrier(&self, key: SyncKey) -> Option<&Barrier> {
        self.barriers.get(&key)
    }

    pub fn semaphore(&self, key: SyncKey) -> Option<Semaphore> {
        self.semaphores.get(&key).copied()
    }

    /// A thread that is there before anything runs.
    pub fn create_thread(&mut self) -> ThreadId {
        self.threads.change().create(false)
    }

    /// The thread inside an atomic section.
    pub fn atomic_owner(&self) -> Option<ThreadId> {
        self.atomic.owner()
    }

    pub(super) fn record(&mut self, thread: ThreadId) -> &mut ThreadRecord {
        self.threads.change().get_mut(thread)
    }

    pub(super) fn add_held(&mut self, thread: ThreadId, held: HeldLock) {
        self.record(thread).held.push(held);
    }

    pub(super) fn remove_held(&mut self, thread: ThreadId, lock: SyncKey) {
        let held = &mut self.record(thread).held;
        if let Some(position) = held.iter().rposition(|entry| entry.lock == lock) {
            held.remove(position);
        }
    }

    pub(super) fn set_attribute(&mut self, object: SyncKey, attribute: Attribute, value: i64) {
        self.attributes.change().insert((object, attribute as u8), value);
    }

    /// What was set in an attribute object, or the default.
    pub(super) fn attribute(&self, object: SyncKey, attribute: Attribute) -> i64 {
        let default = match attribute {
            // The usual limit of Linux, and a page.
            Attribute::StackSize => 8 << 20,
            Attribute::GuardSize => 4096,
            _ => 0,
        };
        self.attributes.get(&(object, attribute as u8)).copied().unwrap_or(default)
    }

    pub(super) fn clear_attributes(&mut self, object: SyncKey) {
        self.attributes.change().retain(|(key, _), _| *key != object);
    }
}
