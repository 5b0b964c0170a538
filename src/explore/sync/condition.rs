//! Condition variables: who waits, and who has been woken.

use std::collections::BTreeSet;

use crate::explore::thread_id::ThreadId;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// In the order they came.
    waiting: Vec<ThreadId>,
    /// Woken, but not yet on their way.
    woken: BTreeSet<ThreadId>,
}

impl Condition {
    pub fn wait(&mut self, thread: ThreadId) {
        debug_assert!(!self.waiting.contains(&thread) && !self.woken.contains(&thread), "a thread waits once");
        self.waiting.push(thread);
    }

    /// Those a signal may wake, in the order they came.
    pub fn waiting(&self) -> &[ThreadId] {
        &self.waiting
    }

    pub fn has_waiters(&self) -> bool {
        !self.waiting.is_empty() || !self.woken.is_empty()
    }

    pub fn is_woken(&self, thread: ThreadId) -> bool {
        self.woken.contains(&thread)
    }

    /// Wakes the waiter at `position`.
    pub fn signal(&mut self, position: usize) -> ThreadId {
        let thread = self.waiting.remove(position);
        self.woken.insert(thread);
        thread
    }

    pub fn broadcast(&mut self) {
        self.woken.extend(self.waiting.drain(..));
    }

    /// The thread goes on; `true` when it was woken, `false` when it gives up.
    pub fn leave(&mut self, thread: ThreadId) -> bool {
        self.waiting.retain(|waiter| *waiter != thread);
        self.woken.remove(&thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);
    const C: ThreadId = ThreadId(3);

    fn three_waiters() -> Condition {
        let mut condition = Condition::default();
        [A, B, C].into_iter().for_each(|thread| condition.wait(thread));
        condition
    }

    #[test]
    fn a_signal_wakes_the_chosen_one_alone() {
        let mut condition = three_waiters();
        assert_eq!(condition.signal(1), B);
        assert_eq!([A, B, C].map(|thread| condition.is_woken(thread)), [false, true, false]);
        assert_eq!(condition.waiting(), [A, C]);
    }

    #[test]
    fn a_broadcast_wakes_all_who_wait_now_and_nobody_later() {
        let mut condition = three_waiters();
        condition.broadcast();
        assert!([A, B, C].into_iter().all(|thread| condition.leave(thread)));
        condition.wait(A);
        assert!(!condition.is_woken(A), "a signal is not kept for those who come later");
    }

    #[test]
    fn who_gives_up_takes_no_signal_away() {
        let mut condition = three_waiters();
        assert!(!condition.leave(A));
        assert_eq!(condition.waiting(), [B, C]);
    }
}
