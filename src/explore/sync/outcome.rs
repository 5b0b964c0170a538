//! What performing an effect can lead to: done, blocked, a call back into the program, the end of the thread.

use super::table::SyncKey;
use super::threads::ThreadExit;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, Value};
use crate::models::{Effect, LockMode};
use crate::program::Type;

/// One effect of one library call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub effect: &'a Effect,
    pub arguments: &'a [Value],
    /// What the library function returns.
    pub return_type: Type,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EffectOutcome {
    /// Complete; the value, if any, has the call's return type.
    Done(Option<Value>),
    /// Complete, and other threads should get a turn first (`sched_yield`, `sleep`).
    Yielded(Option<Value>),
    Block {
        reason: BlockReason,
        resume: Resume,
    },
    /// Call `function`, drop what it returns, then perform the effect again with `resume`.
    CallBack {
        function: Pointer,
        arguments: Vec<Value>,
        resume: Resume,
    },
    /// Return once more from the `setjmp` that filled this buffer, with 1: a cleanup handler stands there.
    Jump {
        buffer: Pointer,
    },
    /// The calling thread has ended.
    EndThread,
    /// The effect concerns no thread: memory, input and process effects are the machine's.
    NotSynchronization,
}

/// What a thread waits for. Together with the table it decides exactly whether the thread can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockReason {
    Lock {
        lock: SyncKey,
        mode: LockMode,
        is_timed: bool,
    },
    /// Waiting to be woken.
    Condition {
        condition: SyncKey,
        is_timed: bool,
        may_wake_spuriously: bool,
    },
    /// `pthread_cond_destroy` waits for those who still wait.
    ConditionUnused {
        condition: SyncKey,
    },
    Barrier {
        barrier: SyncKey,
        round: u64,
    },
    Once {
        control: SyncKey,
    },
    Semaphore {
        semaphore: SyncKey,
        is_timed: bool,
    },
    Join {
        thread: ThreadId,
        is_timed: bool,
    },
}

/// Whether a blocked thread can take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Readiness {
    Blocked,
    /// What it waits for is there, or it was cancelled.
    Ready,
    /// It can only give up: its deadline passes, or it wakes for no reason.
    Expires,
}

impl Readiness {
    pub fn is_enabled(self) -> bool {
        self != Readiness::Blocked
    }
}

/// Where inside an effect to go on; opaque to the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Resume {
    #[default]
    Start,
    /// A blocking call that is tried again: what it waited for decides what a failure means.
    Again,
    /// Inside a condition wait: woken or not is in the table.
    Waiting,
    /// The wait is over; the mutex must be taken again before the caller learns how it ended.
    Reacquire(WaitEnd),
    BarrierRound(u64),
    /// The routine of `pthread_once` runs in this thread.
    OnceRunning,
    /// The handler of `pthread_cleanup_pop` has been called.
    CleanupDone,
    /// The thread is on its way out.
    Exit(Box<ThreadExit>),
}

/// How a condition wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    Woken,
    TimedOut,
    Cancelled,
}
