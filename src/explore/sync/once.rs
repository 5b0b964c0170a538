//! One-time initialisation: the first runs the routine, the others wait for its end.

use crate::explore::thread_id::ThreadId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Once {
    #[default]
    Untouched,
    Running(ThreadId),
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceAnswer {
    /// The caller runs the routine.
    Run,
    /// Another thread, or the caller itself further out, is running it.
    Wait,
    AlreadyDone,
}

impl Once {
    pub fn enter(&mut self, thread: ThreadId) -> OnceAnswer {
        match self {
            Once::Untouched => {
                *self = Once::Running(thread);
                OnceAnswer::Run
            }
            Once::Running(_) => OnceAnswer::Wait,
            Once::Done => OnceAnswer::AlreadyDone,
        }
    }

    pub fn finish(&mut self) {
        *self = Once::Done;
    }

    /// The thread ended inside the routine: as if it had never been called.
    pub fn abandon(&mut self, thread: ThreadId) {
        if *self == Once::Running(thread) {
            *self = Once::Untouched;
        }
    }

    pub fn is_running(self) -> bool {
        matches!(self, Once::Running(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_routine_runs_once_and_the_others_wait_for_its_end() {
        let (a, b) = (ThreadId(1), ThreadId(2));
        let mut once = Once::default();
        assert_eq!(once.enter(a), OnceAnswer::Run);
        assert_eq!(once.enter(b), OnceAnswer::Wait);
        assert_eq!(once.enter(a), OnceAnswer::Wait, "calling it from inside waits for ever");
        once.finish();
        assert_eq!(once.enter(b), OnceAnswer::AlreadyDone);
    }

    #[test]
    fn a_cancelled_routine_runs_again() {
        let (a, b) = (ThreadId(1), ThreadId(2));
        let mut once = Once::default();
        once.enter(a);
        once.abandon(b);
        assert!(once.is_running());
        once.abandon(a);
        assert_eq!(once.enter(b), OnceAnswer::Run);
    }
}
