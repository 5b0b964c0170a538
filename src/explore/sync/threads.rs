//! The life of threads: who runs, who has ended with what, who joins whom, who is to be cancelled.

use super::table::HeldLock;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, Value};

#[derive(Clone, Debug, PartialEq)]
pub enum ThreadStatus {
    Alive,
    /// Has ended with this value and can be joined, unless detached.
    Ended(Value),
    /// Has ended, and its value has been fetched.
    Joined,
}

/// What is known of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRecord {
    pub status: ThreadStatus,
    pub is_detached: bool,
    /// Who waits in a join for this thread.
    pub joiner: Option<ThreadId>,
    pub is_cancel_enabled: bool,
    pub is_cancel_pending: bool,
    pub is_cancelled_at_once: bool,
    /// Innermost last.
    pub cleanup: Vec<Cleanup>,
    /// Where its end goes on when the cleanup handler that it jumped to is done.
    pub exit: Option<ThreadExit>,
    /// In the order they were taken.
    pub held: Vec<HeldLock>,
}

impl ThreadRecord {
    fn new(is_detached: bool) -> Self {
        Self {
            status: ThreadStatus::Alive,
            is_detached,
            joiner: None,
            is_cancel_enabled: true,
            is_cancel_pending: false,
            is_cancelled_at_once: false,
            cleanup: Vec::new(),
            exit: None,
            held: Vec::new(),
        }
    }

    /// A cancellation point ends the thread.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancel_enabled && self.is_cancel_pending
    }
}

/// A cleanup handler of `pthread_cleanup_push`.
#[derive(Clone, Debug, PartialEq)]
pub enum Cleanup {
    Routine {
        function: Pointer,
        argument: Value,
    },
    /// Called by code behind the `setjmp` that filled this buffer.
    Jump {
        buffer: Pointer,
    },
}

/// How far a thread is on its way out: cleanup handlers, then destructors of thread-specific data, then the end.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadExit {
    pub value: Value,
    pub stage: ExitStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStage {
    Cleanup,
    /// The next key to look at in this round.
    Destructors {
        round: u32,
        from: u32,
    },
}

/// Why a thread cannot be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinAnswer {
    /// The value can be fetched.
    Ended,
    Alive,
    /// The caller itself, or one that waits for the caller.
    Deadlock,
    /// Detached, or another thread joins it.
    NotJoinable,
    /// No such thread, or joined already.
    Unknown,
}

/// All threads of a run; the first is there from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Threads(Vec<ThreadRecord>);

impl Default for Threads {
    fn default() -> Self {
        Threads(vec![ThreadRecord::new(false)])
    }
}

impl Threads {
    pub fn create(&mut self, is_detached: bool) -> ThreadId {
        self.0.push(ThreadRecord::new(is_detached));
        ThreadId(self.0.len() as u32 - 1)
    }

    pub fn get(&self, thread: ThreadId) -> &ThreadRecord {
        &self.0[thread.index()]
    }

    pub fn get_mut(&mut self, thread: ThreadId) -> &mut ThreadRecord {
        &mut self.0[thread.index()]
    }

    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, &ThreadRecord)> {
        self.0.iter().enumerate().map(|(index, record)| (ThreadId(index as u32), record))
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value of `pthread_t`: opaque to the program, and never 0.
    pub fn handle(thread: ThreadId) -> u64 {
        (u64::from(thread.0) + 1) << 12
    }

    /// The thread a handle names; `None` for a number that is no handle.
    pub fn from_handle(&self, handle: u64) -> Option<ThreadId> {
        let number = handle >> 12;
        let is_handle = handle & 0xfff == 0 && number >= 1 && number <= self.0.len() as u64;
        is_handle.then(|| ThreadId(number as u32 - 1))
    }

    pub fn can_join(&self, caller: ThreadId, target: ThreadId) -> JoinAnswer {
        let record = self.get(target);
        if record.status == ThreadStatus::Joined {
            return JoinAnswer::Unknown;
        }
        if record.is_detached || record.joiner.is_some_and(|joiner| joiner != caller) {
            return JoinAnswer::NotJoinable;
        }
        if target == caller || self.get(caller).joiner == Some(target) {
            return JoinAnswer::Deadlock;
        }
        match record.status {
            ThreadStatus::Ended(_) => JoinAnswer::Ended,
            ThreadStatus::Alive | ThreadStatus::Joined => JoinAnswer::Alive,
        }
    }

    /// Fetches the value of an ended thread.
    pub fn take_value(&mut self, target: ThreadId) -> Value {
        let record = self.get_mut(target);
        record.joiner = None;
        match std::mem::replace(&mut record.status, ThreadStatus::Joined) {
            ThreadStatus::Ended(value) => value,
            other => panic!("only an ended thread has a value to fetch, {target} is {other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_name_threads_and_nothing_else() {
        let mut threads = Threads::default();
        let child = threads.create(false);
        assert_eq!(threads.from_handle(Threads::handle(child)), Some(child));
        assert_eq!(threads.from_handle(Threads::handle(ThreadId::MAIN)), Some(ThreadId::MAIN));
        for number in [0, 1, Threads::handle(ThreadId(2)), Threads::handle(child) + 1, u64::MAX] {
            assert_eq!(threads.from_handle(number), None, "{number}");
        }
    }

    #[test]
    fn joining_has_rules() {
        let mut threads = Threads::default();
        let (main, a) = (ThreadId::MAIN, threads.create(false));
        let (b, detached) = (threads.create(false), threads.create(true));
        assert_eq!(threads.can_join(main, a), JoinAnswer::Alive);
        assert_eq!(threads.can_join(a, a), JoinAnswer::Deadlock);
        assert_eq!(threads.can_join(main, detached), JoinAnswer::NotJoinable);
        threads.get_mut(a).joiner = Some(main);
        assert_eq!(threads.can_join(b, a), JoinAnswer::NotJoinable);
        assert_eq!(threads.can_join(a, main), JoinAnswer::Deadlock, "each waits for the other");
        threads.get_mut(a).status = ThreadStatus::Ended(Value::integer(64, 7));
        assert_eq!(threads.can_join(main, a), JoinAnswer::Ended);
        assert_eq!(threads.take_value(a), Value::integer(64, 7));
        assert_eq!(threads.can_join(main, a), JoinAnswer::Unknown);
    }

    #[test]
    fn a_cancellation_waits_until_it_is_enabled() {
        let mut threads = Threads::default();
        let record = threads.get_mut(ThreadId::MAIN);
        record.is_cancel_enabled = false;
        record.is_cancel_pending = true;
        assert!(!record.is_cancelled());
        record.is_cancel_enabled = true;
        assert!(record.is_cancelled());
    }
}
