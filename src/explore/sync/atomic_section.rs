//! Atomic sections (`__VERIFIER_atomic_begin` … `_end`): one global lock, and while it is held nobody else runs.

use crate::explore::thread_id::ThreadId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomicSection {
    /// The thread inside, and how deep; the depth is at least 1.
    inside: Option<(ThreadId, u32)>,
}

impl AtomicSection {
    /// `true` when this is the outermost section.
    pub fn enter(&mut self, thread: ThreadId) -> bool {
        match &mut self.inside {
            None => {
                self.inside = Some((thread, 1));
                true
            }
            Some((owner, depth)) => {
                assert_eq!(*owner, thread, "no other thread runs while one is inside an atomic section");
                *depth += 1;
                false
            }
        }
    }

    /// `true` when the outermost section ended; an end without a begin does nothing.
    pub fn leave(&mut self, thread: ThreadId) -> bool {
        match &mut self.inside {
            Some((owner, depth)) if *owner == thread => {
                *depth -= 1;
                let is_outermost = *depth == 0;
                if is_outermost {
                    self.inside = None;
                }
                is_outermost
            }
            _ => false,
        }
    }

    /// The thread ended inside; `true` when that freed the section.
    pub fn abandon(&mut self, thread: ThreadId) -> bool {
        let is_inside = self.owner() == Some(thread);
        if is_inside {
            self.inside = None;
        }
        is_inside
    }

    pub fn owner(self) -> Option<ThreadId> {
        self.inside.map(|(owner, _)| owner)
    }

    /// Whether a thread other than `thread` is inside.
    pub fn excludes(self, thread: ThreadId) -> bool {
        self.owner().is_some_and(|owner| owner != thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_nest_and_exclude_the_others() {
        let (a, b) = (ThreadId(1), ThreadId(2));
        let mut section = AtomicSection::default();
        assert!(section.enter(a));
        assert!(!section.enter(a));
        assert!(section.excludes(b) && !section.excludes(a));
        assert!(!section.leave(a));
        assert!(section.excludes(b));
        assert!(section.leave(a));
        assert!(!section.excludes(b));
        assert!(!section.leave(a), "an end without a begin");
    }

    #[test]
    fn a_thread_that_ends_inside_frees_it() {
        let (a, b) = (ThreadId(1), ThreadId(2));
        let mut section = AtomicSection::default();
        section.enter(a);
        assert!(!section.abandon(b));
        assert!(section.abandon(a));
        assert!(!section.excludes(b));
    }
}
