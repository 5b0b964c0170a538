//! Mutexes and spin locks: one owner at a time.

use crate::explore::thread_id::ThreadId;

/// What a second lock by the owner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutexKind {
    /// Blocks for ever (`PTHREAD_MUTEX_NORMAL`, the default, adaptive mutexes, spin locks).
    Normal,
    /// Counts.
    Recursive,
    /// Returns an error.
    ErrorChecking,
}

/// A lock with at most one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mutex {
    owner: Option<ThreadId>,
    /// How often the owner has locked it; 0 iff there is none.
    depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    Acquired,
    /// Another thread holds it.
    Busy,
    /// The calling thread holds it and would wait for itself.
    SelfDeadlock,
    /// The calling thread holds it, and the lock says so.
    AlreadyOwned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlockAnswer {
    /// Free now.
    Released,
    /// A recursive lock is still held.
    StillHeld,
    /// The calling thread does not hold it. `was_released`: the library unlocks it nevertheless.
    NotOwner { holder: Option<ThreadId>, was_released: bool },
}

impl Mutex {
    pub fn owner(&self) -> Option<ThreadId> {
        self.owner
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether a lock by this thread would succeed at once.
    pub fn is_available_to(&self, thread: ThreadId, kind: MutexKind) -> bool {
        match self.owner {
            None => true,
            Some(owner) => owner == thread && kind == MutexKind::Recursive,
        }
    }

    pub fn lock(&mut self, thread: ThreadId, kind: MutexKind) -> LockAnswer {
        match self.owner {
            None => {
                (self.owner, self.depth) = (Some(thread), 1);
                LockAnswer::Acquired
            }
            Some(owner) if owner != thread => LockAnswer::Busy,
            Some(_) => match kind {
                MutexKind::Recursive => {
                    self.depth += 1;
                    LockAnswer::Acquired
                }
                MutexKind::Normal => LockAnswer::SelfDeadlock,
                MutexKind::ErrorChecking => LockAnswer::AlreadyOwned,
            },
        }
    }

    pub fn unlock(&mut self, thread: ThreadId, kind: MutexKind) -> UnlockAnswer {
        if self.owner != Some(thread) {
            let holder = self.owner;
            // glibc looks at the owner only in the kinds that keep one.
            let was_released = kind == MutexKind::Normal && holder.is_some();
            if was_released {
                *self = Mutex::default();
            }
            return UnlockAnswer::NotOwner { holder, was_released };
        }
        self.depth -= 1;
        if self.depth > 0 {
            return UnlockAnswer::StillHeld;
        }
        self.owner = None;
        UnlockAnswer::Released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    #[test]
    fn one_owner_at_a_time() {
        for kind in [MutexKind::Normal, MutexKind::Recursive, MutexKind::ErrorChecking] {
            let mut mutex = Mutex::default();
            assert_eq!(mutex.lock(A, kind), LockAnswer::Acquired);
            assert_eq!(mutex.lock(B, kind), LockAnswer::Busy);
            assert!(!mutex.is_available_to(B, kind));
            assert_eq!(mutex.unlock(A, kind), UnlockAnswer::Released);
            assert_eq!(mutex.lock(B, kind), LockAnswer::Acquired);
            assert_eq!(mutex.owner(), Some(B));
        }
    }

    #[test]
    fn a_second_lock_by_the_owner_depends_on_the_kind() {
        for (kind, answer) in [
            (MutexKind::Normal, LockAnswer::SelfDeadlock),
            (MutexKind::Recursive, LockAnswer::Acquired),
            (MutexKind::ErrorChecking, LockAnswer::AlreadyOwned),
        ] {
            let mut mutex = Mutex::default();
            mutex.lock(A, kind);
            assert_eq!(mutex.is_available_to(A, kind), answer == LockAnswer::Acquired);
            assert_eq!(mutex.lock(A, kind), answer);
        }
    }

    #[test]
    fn a_recursive_lock_is_free_after_as_many_unlocks() {
        let mut mutex = Mutex::default();
        for _ in 0..3 {
            mutex.lock(A, MutexKind::Recursive);
        }
        assert_eq!(mutex.unlock(A, MutexKind::Recursive), UnlockAnswer::StillHeld);
        assert_eq!(mutex.unlock(A, MutexKind::Recursive), UnlockAnswer::StillHeld);
        assert_eq!(mutex.unlock(A, MutexKind::Recursive), UnlockAnswer::Released);
        assert_eq!(mutex.unlock(A, MutexKind::Recursive), UnlockAnswer::NotOwner { holder: None, was_released: false });
    }

    #[test]
    fn a_foreign_unlock_frees_a_normal_mutex_only() {
        let mut mutex = Mutex::default();
        mutex.lock(A, MutexKind::Normal);
        assert_eq!(mutex.unlock(B, MutexKind::Normal), UnlockAnswer::NotOwner { holder: Some(A), was_released: true });
        assert_eq!(mutex.owner(), None);
        mutex.lock(A, MutexKind::ErrorChecking);
        assert_eq!(mutex.unlock(B, MutexKind::ErrorChecking), UnlockAnswer::NotOwner { holder: Some(A), was_released: false });
        assert_eq!(mutex.owner(), Some(A));
    }
}
