//! What happened between threads: the one vocabulary of vector clocks, locksets and observers.

use super::table::SyncKey;
use crate::explore::thread_id::ThreadId;
use crate::models::{LockClass, LockMode};
use crate::program::{Ordering, SiteId};

/// A synchronisation that took place. Failed attempts are not events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncEvent {
    /// The outermost level only, of a recursive lock and of nested read locks.
    Acquire {
        thread: ThreadId,
        lock: SyncKey,
        class: LockClass,
        mode: LockMode,
        site: Option<SiteId>,
    },
    /// `holder` is another thread when a lock is unlocked that its owner did not give back.
    Release {
        thread: ThreadId,
        holder: ThreadId,
        lock: SyncKey,
        class: LockClass,
        mode: LockMode,
    },
    Fork {
        parent: ThreadId,
        child: ThreadId,
    },
    End {
        thread: ThreadId,
    },
    Join {
        thread: ThreadId,
        ended: ThreadId,
    },
    /// Every arrival of a round is before every departure of it.
    ArriveBarrier {
        thread: ThreadId,
        barrier: SyncKey,
        round: u64,
    },
    LeaveBarrier {
        thread: ThreadId,
        barrier: SyncKey,
        round: u64,
    },
    /// Posts and waits are matched first in, first out; units of the initial value order nothing.
    InitializeSemaphore {
        thread: ThreadId,
        semaphore: SyncKey,
        value: u64,
    },
    PostSemaphore {
        thread: ThreadId,
        semaphore: SyncKey,
    },
    TakeSemaphore {
        thread: ThreadId,
        semaphore: SyncKey,
    },
    FinishOnce {
        thread: ThreadId,
        control: SyncKey,
    },
    PassOnce {
        thread: ThreadId,
        control: SyncKey,
    },
    Fence {
        thread: ThreadId,
        ordering: Ordering,
    },
    BeginAtomic {
        thread: ThreadId,
    },
    EndAtomic {
        thread: ThreadId,
    },
    /// A wait, a signal: order nothing, shown in traces.
    BeginWait {
        thread: ThreadId,
        condition: SyncKey,
    },
    EndWait {
        thread: ThreadId,
        condition: SyncKey,
    },
    Signal {
        thread: ThreadId,
        condition: SyncKey,
        woken: Option<ThreadId>,
    },
    Cancel {
        thread: ThreadId,
        target: ThreadId,
    },
    /// The thread acts on a cancellation.
    ActOnCancel {
        thread: ThreadId,
    },
    RegisterExitHandler {
        thread: ThreadId,
    },
    RunExitHandlers {
        thread: ThreadId,
    },
}

/// A lock used against its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Misuse {
    pub kind: MisuseKind,
    pub thread: ThreadId,
    pub lock: SyncKey,
    /// The thread that holds the lock, where that is another one.
    pub holder: Option<ThreadId>,
    /// The library call returns an error, so that the program could notice.
    pub returns_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MisuseKind {
    /// A second lock of a lock that the thread holds and that is not recursive.
    DoubleLock,
    /// An unlock of a lock that is free or held by another thread.
    UnlockNotHeld,
    /// The thread ends while it holds the lock.
    LockLeak,
    /// A condition wait without holding the mutex.
    WaitWithoutLock,
    /// A lock is destroyed while it is held.
    DestroyHeld,
}

impl MisuseKind {
    /// The rule's name in reports.
    pub fn rule(self) -> &'static str {
        match self {
            Self::DoubleLock => "double-lock",
            Self::UnlockNotHeld => "unlock-not-held",
            Self::LockLeak => "lock-leak",
            Self::WaitWithoutLock => "wait-without-lock",
            Self::DestroyHeld => "destroy-held",
        }
    }
}
