//! The happens-before order itself: one clock a thread, and what each primitive passes on.

use std::collections::{BTreeMap, VecDeque};

use super::clock::{Epoch, VectorClock};
use crate::explore::sync::shared::Shared;
use crate::explore::sync::{SyncEvent, SyncKey};
use crate::explore::thread_id::ThreadId;
use crate::models::LockMode;
use crate::program::Ordering;

#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    now: VectorClock,
    /// What relaxed loads have read and no acquire fence has taken up yet.
    read: VectorClock,
    /// At the last release fence: what relaxed stores since then pass on.
    fenced: VectorClock,
    /// What those who cancelled this thread knew.
    cancellers: VectorClock,
    has_ended: bool,
}

#[derive(Clone, Debug, Default)]
struct LockClocks {
    /// Joined over all releases.
    any: VectorClock,
    /// Joined over exclusive releases.
    exclusive: VectorClock,
}

/// Units that no wait has taken yet, the oldest first.
#[derive(Clone, Debug, Default)]
struct Units {
    initial: u64,
    posted: VecDeque<VectorClock>,
}

/// One round of a barrier, until all have left it.
#[derive(Clone, Debug, Default)]
struct Round {
    arrivals: VectorClock,
    /// How many have arrived and not left. Nobody leaves before all have arrived.
    inside: u64,
}

/// The clocks of a run. Copies share what they have in common.
#[derive(Clone, Debug)]
pub struct Order {
    threads: Shared<Vec<ThreadClocks>>,
    locks: Shared<BTreeMap<SyncKey, LockClocks>>,
    barriers: Shared<BTreeMap<(SyncKey, u64), Round>>,
    semaphores: Shared<BTreeMap<SyncKey, Units>>,
    onces: Shared<BTreeMap<SyncKey, VectorClock>>,
    atomic_sections: VectorClock,
    exit_handlers: VectorClock,
    /// The thread that is ahead of all the others, which have ended: whatever it does now is before all that can still come.
    alone: Option<ThreadId>,
}

impl Default for Order {
    fn default() -> Self {
        let mut first = ThreadClocks::default();
        first.now.advance(ThreadId::MAIN);
        Order {
            threads: Shared::new(vec![first]),
            locks: Shared::default(),
            barriers: Shared::default(),
            semaphores: Shared::default(),
            onces: Shared::default(),
            atomic_sections: VectorClock::default(),
            exit_handlers: VectorClock::default(),
            alone: Some(ThreadId::MAIN),
        }
    }
}

impl Order {
    /// Whether all that ever happened is before, and all that can still happen after, what this thread does now.
    pub fn is_alone(&self, thread: ThreadId) -> bool {
        self.alone == Some(thread)
    }

    pub fn now(&self, thread: ThreadId) -> &VectorClock {
        &self.threads[thread.index()].now
    }

    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, tick: self.now(thread).tick_of(thread) }
    }

    fn clocks(&mut self, thread: ThreadId) -> &mut ThreadClocks {
        &mut self.threads.change()[thread.index()]
    }

    fn learn(&mut self, thread: ThreadId, other: &VectorClock) {
        if !self.now(thread).includes(other) {
            self.clocks(thread).now.join(other);
        }
    }

    /// What the thread knows, to be passed on; what it does next is no longer part of it.
    fn publish(&mut self, thread: ThreadId) -> VectorClock {
        let now = &mut self.clocks(thread).now;
        let published = now.clone();
        now.advance(thread);
        published
    }

    pub fn observe(&mut self, event: &SyncEvent) {
        match *event {
            SyncEvent::Acquire { thread, lock, mode, .. } => {
                if let Some(clocks) = self.locks.get(&lock) {
                    let known = match mode {
                        LockMode::Exclusive => clocks.any.clone(),
                        LockMode::Shared => clocks.exclusive.clone(),
                    };
                    self.learn(thread, &known);
                }
            }
            SyncEvent::Release { thread, lock, mode, .. } => {
                let published = self.publish(thread);
                let clocks = self.locks.change().entry(lock).or_default();
                clocks.any.join(&published);
                if mode == LockMode::Exclusive {
                    clocks.exclusive.join(&published);
                }
            }
            SyncEvent::Fork { parent, child } => {
                let published = self.publish(parent);
                let threads = self.threads.change();
                if threads.len() <= child.index() {
                    threads.resize_with(child.index() + 1, ThreadClocks::default);
                }
                let now = &mut threads[child.index()].now;
                now.join(&published);
                now.advance(child);
                self.alone = None;
            }
            SyncEvent::End { thread } => self.clocks(thread).has_ended = true,
            SyncEvent::Join { thread, ended } => {
                let last = self.now(ended).clone();
                self.learn(thread, &last);
                self.alone = self.finds_itself_alone(thread).then_some(thread);
            }
            SyncEvent::ArriveBarrier { thread, barrier, round } => {
                let published = self.publish(thread);
                let state = self.barriers.change().entry((barrier, round)).or_default();
                state.arrivals.join(&published);
                state.inside += 1;
            }
            SyncEvent::LeaveBarrier { thread, barrier, round } => {
                let barriers = self.barriers.change();
                let Some(state) = barriers.get_mut(&(barrier, round)) else {
                    panic!("{thread} leaves round {round} of a barrier where nobody arrived");
                };
                state.inside -= 1;
                let arrivals = state.arrivals.clone();
                if state.inside == 0 {
                    barriers.remove(&(barrier, round));
                }
                self.learn(thread, &arrivals);
            }
            SyncEvent::InitializeSemaphore { semaphore, value, .. } => {
                self.semaphores.change().insert(semaphore, Units { initial: value, posted: VecDeque::new() });
            }
            SyncEvent::PostSemaphore { thread, semaphore } => {
                let published = self.publish(thread);
                self.semaphores.change().entry(semaphore).or_default().posted.push_back(published);
            }
            SyncEvent::TakeSemaphore { thread, semaphore } => {
                let units = self.semaphores.change().entry(semaphore).or_default();
                if units.initial > 0 {
                    units.initial -= 1;
                } else if let Some(posted) = units.posted.pop_front() {
                    self.learn(thread, &posted);
                }
            }
            SyncEvent::FinishOnce { thread, control } => {
                let published = self.publish(thread);
                self.onces.change().insert(control, published);
            }
            SyncEvent::PassOnce { thread, control } => {
                let finished = self.onces.get(&control).cloned().unwrap_or_default();
                self.learn(thread, &finished);
            }
            SyncEvent::Fence { thread, ordering } => self.fence(thread, ordering),
            SyncEvent::BeginAtomic { thread } => {
                let sections = self.atomic_sections.clone();
                self.learn(thread, &sections);
            }
            SyncEvent::EndAtomic { thread } => {
                let published = self.publish(thread);
                self.atomic_sections.join(&published);
            }
            SyncEvent::Cancel { thread, target } => {
                let published = self.publish(thread);
                self.clocks(target).cancellers.join(&published);
            }
            SyncEvent::ActOnCancel { thread } => {
                let cancellers = self.clocks(thread).cancellers.clone();
                self.learn(thread, &cancellers);
            }
            SyncEvent::RegisterExitHandler { thread } => {
                let published = self.publish(thread);
                self.exit_handlers.join(&published);
            }
            SyncEvent::RunExitHandlers { thread } => {
                let handlers = self.exit_handlers.clone();
                self.learn(thread, &handlers);
            }
            SyncEvent::BeginWait { .. } | SyncEvent::EndWait { .. } | SyncEvent::Signal { .. } => {}
        }
    }

    fn finds_itself_alone(&self, thread: ThreadId) -> bool {
        let now = self.now(thread);
        let mut others = self.threads.iter().enumerate().filter(|(index, _)| *index != thread.index());
        others.all(|(_, other)| other.has_ended && now.includes(&other.now))
    }

    fn fence(&mut self, thread: ThreadId, ordering: Ordering) {
        if ordering.acquires() {
            let read = self.clocks(thread).read.clone();
            self.learn(thread, &read);
        }
        if ordering.releases() {
            let published = self.publish(thread);
            self.clocks(thread).fenced = published;
        }
    }

    /// An atomic load read a value that passes this clock on.
    pub fn read(&mut self, thread: ThreadId, ordering: Ordering, passed_on: &VectorClock) {
        if ordering.acquires() {
            self.learn(thread, passed_on);
        } else if !self.threads[thread.index()].read.includes(passed_on) {
            self.clocks(thread).read.join(passed_on);
        }
    }

    /// What an atomic store passes on to those who read it.
    pub fn write(&mut self, thread: ThreadId, ordering: Ordering) -> VectorClock {
        if ordering.releases() { self.publish(thread) } else { self.threads[thread.index()].fenced.clone() }
    }
}
