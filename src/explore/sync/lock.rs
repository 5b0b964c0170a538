//! A lock of any class: a mutex with its kind, or a read-write lock with its preference.

use super::mutex::{LockAnswer, Mutex, MutexKind, UnlockAnswer};
use super::read_write_lock::{Preference, ReadWriteLock};
use crate::explore::thread_id::ThreadId;
use crate::models::{LockClass, LockMode};

/// The rules a lock follows; read from its bytes at each operation, as the library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discipline {
    Mutex(MutexKind),
    ReadWrite(Preference),
    /// A lock of the user's own: shared or exclusive, not recursive.
    Custom,
}

impl Discipline {
    /// What holds when nothing else was said.
    pub fn default_of(class: LockClass) -> Discipline {
        match class {
            LockClass::Mutex | LockClass::Spin => Discipline::Mutex(MutexKind::Normal),
            LockClass::ReadWrite => Discipline::ReadWrite(Preference::Readers),
            LockClass::Custom => Discipline::Custom,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock {
    pub discipline: Discipline,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    Exclusive(Mutex),
    Shared(ReadWriteLock),
}

impl Lock {
    pub fn new(discipline: Discipline) -> Lock {
        let state = match discipline {
            Discipline::Mutex(_) => State::Exclusive(Mutex::default()),
            Discipline::ReadWrite(_) | Discipline::Custom => State::Shared(ReadWriteLock::default()),
        };
        Lock { discipline, state }
    }

    fn kind(&self) -> MutexKind {
        match self.discipline {
            Discipline::Mutex(kind) => kind,
            Discipline::ReadWrite(_) | Discipline::Custom => MutexKind::Normal,
        }
    }

    fn preference(&self) -> Preference {
        match self.discipline {
            Discipline::ReadWrite(preference) => preference,
            Discipline::Mutex(_) | Discipline::Custom => Preference::Readers,
        }
    }

    /// Whether `lock` would answer [`LockAnswer::Acquired`].
    pub fn is_available_to(&self, thread: ThreadId, mode: LockMode) -> bool {
        match &self.state {
            State::Exclusive(mutex) => mutex.is_available_to(thread, self.kind()),
            State::Shared(lock) => lock.is_available_to(thread, mode, self.preference()),
        }
    }

    pub fn lock(&mut self, thread: ThreadId, mode: LockMode) -> LockAnswer {
        let (kind, preference) = (self.kind(), self.preference());
        match &mut self.state {
            State::Exclusive(mutex) => mutex.lock(thread, kind),
            State::Shared(lock) => match lock.lock(thread, mode, preference) {
                LockAnswer::AlreadyOwned if self.discipline == Discipline::Custom => LockAnswer::SelfDeadlock,
                answer => answer,
            },
        }
    }

    /// Gives the lock back, and says in which mode it was held.
    pub fn unlock(&mut self, thread: ThreadId) -> (UnlockAnswer, LockMode) {
        let kind = self.kind();
        match &mut self.state {
            State::Exclusive(mutex) => (mutex.unlock(thread, kind), LockMode::Exclusive),
            State::Shared(lock) => lock.unlock(thread),
        }
    }

    /// Writers that wait can hold up readers.
    pub fn set_waiting(&mut self, thread: ThreadId, mode: LockMode, is_waiting: bool) {
        if let (State::Shared(lock), LockMode::Exclusive) = (&mut self.state, mode) {
            lock.set_waiting(thread, is_waiting);
        }
    }

    pub fn is_held(&self) -> bool {
        match &self.state {
            State::Exclusive(mutex) => mutex.owner().is_some(),
            State::Shared(lock) => lock.is_held(),
        }
    }

    pub fn is_held_by(&self, thread: ThreadId) -> bool {
        self.holders().contains(&thread)
    }

    /// The owner, or all readers, ascending.
    pub fn holders(&self) -> Vec<ThreadId> {
        match &self.state {
            State::Exclusive(mutex) => mutex.owner().into_iter().collect(),
            State::Shared(lock) => lock.writer().into_iter().chain(lock.readers()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    /// Every discipline and mode: what `is_available_to` says is what `lock` does.
    #[test]
    fn availability_is_what_a_lock_would_find() {
        let disciplines = [
            Discipline::Mutex(MutexKind::Normal),
            Discipline::Mutex(MutexKind::Recursive),
            Discipline::Mutex(MutexKind::ErrorChecking),
            Discipline::ReadWrite(Preference::Readers),
            Discipline::ReadWrite(Preference::Writers),
            Discipline::Custom,
        ];
        let modes = [LockMode::Exclusive, LockMode::Shared];
        let mut acquired = 0;
        for discipline in disciplines {
            for held in [None, Some((A, modes[0])), Some((A, modes[1])), Some((B, modes[0])), Some((B, modes[1]))] {
                for waiting in [None, Some(B)] {
                    let mut lock = Lock::new(discipline);
                    if let Some((thread, mode)) = held {
                        lock.lock(thread, mode);
                    }
                    if let Some(thread) = waiting {
                        lock.set_waiting(thread, LockMode::Exclusive, true);
                    }
                    for mode in modes {
                        let mut next = lock.clone();
                        let answer = next.lock(A, mode);
                        assert_eq!(lock.is_available_to(A, mode), answer == LockAnswer::Acquired, "{lock:?} {mode:?}");
                        assert_eq!(next.is_held_by(A), lock.is_held_by(A) || answer == LockAnswer::Acquired);
                        acquired += u32::from(answer == LockAnswer::Acquired);
                    }
                }
            }
        }
        assert!(acquired > 20, "{acquired}");
    }

    #[test]
    fn a_custom_lock_taken_twice_waits_for_itself() {
        let mut lock = Lock::new(Discipline::Custom);
        lock.lock(A, LockMode::Exclusive);
        assert_eq!(lock.lock(A, LockMode::Exclusive), LockAnswer::SelfDeadlock);
    }
}
