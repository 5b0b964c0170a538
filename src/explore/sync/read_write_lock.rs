//! Read-write locks as glibc has them: readers first, unless the attribute prefers writers.

use std::collections::{BTreeMap, BTreeSet};

use super::mutex::{LockAnswer, UnlockAnswer};
use crate::explore::thread_id::ThreadId;
use crate::models::LockMode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preference {
    /// A waiting writer does not hold up a reader (glibc's default, and `PTHREAD_RWLOCK_PREFER_WRITER_NP`).
    Readers,
    /// A reader waits for waiting writers (`PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`).
    Writers,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadWriteLock {
    writer: Option<ThreadId>,
    /// How often each reader holds it; no entry is 0.
    readers: BTreeMap<ThreadId, u32>,
    waiting_writers: BTreeSet<ThreadId>,
}

impl ReadWriteLock {
    pub fn writer(&self) -> Option<ThreadId> {
        self.writer
    }

    pub fn readers(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.readers.keys().copied()
    }

    pub fn is_held(&self) -> bool {
        self.writer.is_some() || !self.readers.is_empty()
    }

    pub fn mode_held_by(&self, thread: ThreadId) -> Option<LockMode> {
        if self.writer == Some(thread) {
            Some(LockMode::Exclusive)
        } else {
            self.readers.contains_key(&thread).then_some(LockMode::Shared)
        }
    }

    /// A thread that is in the way of `thread`, itself last.
    pub fn holder_in_the_way(&self, thread: ThreadId) -> Option<ThreadId> {
        let others = self.writer.into_iter().chain(self.readers()).filter(|holder| *holder != thread);
        others.chain([thread]).find(|holder| self.mode_held_by(*holder).is_some())
    }

    pub fn is_available_to(&self, _thread: ThreadId, mode: LockMode, preference: Preference) -> bool {
        match mode {
            LockMode::Exclusive => !self.is_held(),
            LockMode::Shared => {
                let yields_to_writer = preference == Preference::Writers && !self.waiting_writers.is_empty();
                self.writer.is_none() && !yields_to_writer
            }
        }
    }

    pub fn lock(&mut self, thread: ThreadId, mode: LockMode, preference: Preference) -> LockAnswer {
        if self.writer == Some(thread) {
            return LockAnswer::AlreadyOwned;
        }
        if !self.is_available_to(thread, mode, preference) {
            let waits_for_itself = mode == LockMode::Exclusive && self.readers.contains_key(&thread);
            return if waits_for_itself { LockAnswer::SelfDeadlock } else { LockAnswer::Busy };
        }
        match mode {
            LockMode::Exclusive => {
                self.waiting_writers.remove(&thread);
                self.writer = Some(thread);
            }
            LockMode::Shared => *self.readers.entry(thread).or_default() += 1,
        }
        LockAnswer::Acquired
    }

    /// A writer begins or ceases to wait.
    pub fn set_waiting(&mut self, thread: ThreadId, is_waiting: bool) {
        if is_waiting {
            self.waiting_writers.insert(thread);
        } else {
            self.waiting_writers.remove(&thread);
        }
    }

    /// Gives back what the thread holds, and says in which mode it held it.
    pub fn unlock(&mut self, thread: ThreadId) -> (UnlockAnswer, LockMode) {
        if self.writer == Some(thread) {
            self.writer = None;
            return (UnlockAnswer::Released, LockMode::Exclusive);
        }
        if let Some(count) = self.readers.get_mut(&thread) {
            *count -= 1;
            if *count > 0 {
                return (UnlockAnswer::StillHeld, LockMode::Shared);
            }
            self.readers.remove(&thread);
            return (UnlockAnswer::Released, LockMode::Shared);
        }
        // glibc checks no owner: a foreign unlock frees the writer, or takes one reader away.
        if let Some(holder) = self.writer.take() {
            return (UnlockAnswer::NotOwner { holder: Some(holder), was_released: true }, LockMode::Exclusive);
        }
        let Some((&holder, _)) = self.readers.iter().next() else {
            return (UnlockAnswer::NotOwner { holder: None, was_released: false }, LockMode::Exclusive);
        };
        let was_released = !matches!(self.unlock(holder).0, UnlockAnswer::StillHeld);
        (UnlockAnswer::NotOwner { holder: Some(holder), was_released }, LockMode::Shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);
    const C: ThreadId = ThreadId(3);
    use LockMode::{Exclusive, Shared};
    use Preference::{Readers, Writers};

    #[test]
    fn readers_share_and_writers_do_not() {
        let mut lock = ReadWriteLock::default();
        assert_eq!(lock.lock(A, Shared, Readers), LockAnswer::Acquired);
        assert_eq!(lock.lock(B, Shared, Readers), LockAnswer::Acquired);
        assert_eq!(lock.lock(C, Exclusive, Readers), LockAnswer::Busy);
        lock.unlock(A);
        assert_eq!(lock.lock(C, Exclusive, Readers), LockAnswer::Busy);
        lock.unlock(B);
        assert_eq!(lock.lock(C, Exclusive, Readers), LockAnswer::Acquired);
        assert_eq!(lock.lock(A, Shared, Readers), LockAnswer::Busy);
        assert_eq!(lock.lock(A, Exclusive, Readers), LockAnswer::Busy);
    }

    #[test]
    fn a_waiting_writer_stops_readers_only_when_writers_are_preferred() {
        let mut lock = ReadWriteLock::default();
        lock.lock(A, Shared, Readers);
        lock.set_waiting(B, true);
        assert!(lock.is_available_to(C, Shared, Readers));
        assert!(!lock.is_available_to(C, Shared, Writers));
        assert!(!lock.is_available_to(A, Shared, Writers), "not even the reader itself: non-recursive");
        lock.set_waiting(B, false);
        assert!(lock.is_available_to(C, Shared, Writers));
    }

    #[test]
    fn a_writer_that_gets_the_lock_waits_no_more() {
        let mut lock = ReadWriteLock::default();
        lock.set_waiting(A, true);
        assert_eq!(lock.lock(A, Exclusive, Writers), LockAnswer::Acquired);
        lock.unlock(A);
        assert_eq!(lock.lock(B, Shared, Writers), LockAnswer::Acquired);
    }

    #[test]
    fn read_locks_nest_and_upgrades_deadlock() {
        let mut lock = ReadWriteLock::default();
        lock.lock(A, Shared, Readers);
        assert_eq!(lock.lock(A, Shared, Readers), LockAnswer::Acquired);
        assert_eq!(lock.lock(A, Exclusive, Readers), LockAnswer::SelfDeadlock);
        assert_eq!(lock.unlock(A), (UnlockAnswer::StillHeld, Shared));
        assert_eq!(lock.unlock(A), (UnlockAnswer::Released, Shared));
    }

    #[test]
    fn a_writer_that_locks_again_is_told() {
        let mut lock = ReadWriteLock::default();
        lock.lock(A, Exclusive, Readers);
        assert_eq!(lock.lock(A, Exclusive, Readers), LockAnswer::AlreadyOwned);
        assert_eq!(lock.lock(A, Shared, Readers), LockAnswer::AlreadyOwned);
    }

    #[test]
    fn a_foreign_unlock_names_the_holder() {
        let mut lock = ReadWriteLock::default();
        assert_eq!(lock.unlock(A).0, UnlockAnswer::NotOwner { holder: None, was_released: false });
        lock.lock(A, Exclusive, Readers);
        assert_eq!(lock.unlock(B).0, UnlockAnswer::NotOwner { holder: Some(A), was_released: true });
        assert!(!lock.is_held());
    }
}
