//! One lock of the product: who holds it, in which mode, how often; and what each operation on it does, kind by kind.

use super::state::Counts;
use crate::thread_model::{LockKind, LockMode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockState {
    Free,
    Exclusive {
        owner: u8,
        count: u8,
    },
    /// How often each slot reads; never all 0.
    Shared(Counts),
}

/// What taking a lock comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    Taken(LockState),
    Busy,
    /// Not taken, and nothing to wait for: a writer asks for its read-write lock again.
    Refused,
    /// Counted no further.
    Overflow,
}

/// What giving a lock back comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Giving {
    pub state: LockState,
    /// The thread did not hold it.
    pub is_misuse: bool,
    /// Another thread lost it.
    pub is_foreign: bool,
}

impl LockState {
    /// The slots that hold it, as bits.
    pub fn holders(self) -> u16 {
        match self {
            LockState::Free => 0,
            LockState::Exclusive { owner, .. } => 1 << owner,
            LockState::Shared(readers) => readers.nonzero(),
        }
    }

    pub fn take(self, kind: LockKind, slot: usize, mode: LockMode) -> Taking {
        let first = Taking::Taken(LockState::Exclusive { owner: slot as u8, count: 1 });
        match (self, kind, mode) {
            (LockState::Free, _, LockMode::Exclusive) => first,
            (LockState::Free, _, LockMode::Shared) => Taking::Taken(LockState::Shared(Counts::default().with(slot, 1))),
            // A recursive mutex counts.
            (LockState::Exclusive { owner, count }, LockKind::Recursive, _) if usize::from(owner) == slot => {
                match count.checked_add(1) {
                    Some(count) => Taking::Taken(LockState::Exclusive { owner, count }),
                    None => Taking::Overflow,
                }
            }
            (LockState::Exclusive { owner, .. }, LockKind::ReadWrite, _) if usize::from(owner) == slot => Taking::Refused,
            (LockState::Exclusive { .. }, ..) => Taking::Busy,
            // Readers share, whoever waits: glibc prefers them.
            (LockState::Shared(readers), _, LockMode::Shared) => match readers.get(slot) {
                Counts::MOST => Taking::Overflow,
                count => Taking::Taken(LockState::Shared(readers.with(slot, count + 1))),
            },
            (LockState::Shared(_), _, LockMode::Exclusive) => Taking::Busy,
        }
    }

    pub fn give(self, kind: LockKind, slot: usize) -> Giving {
        let own = |state| Giving { state, is_misuse: false, is_foreign: false };
        match self {
            LockState::Free => Giving { state: self, is_misuse: true, is_foreign: false },
            LockState::Exclusive { owner, count } if usize::from(owner) == slot => match count {
                1 => own(LockState::Free),
                _ => own(LockState::Exclusive { owner, count: count - 1 }),
            },
            // Only a recursive mutex looks at its owner.
            LockState::Exclusive { .. } if kind == LockKind::Recursive => {
                Giving { state: self, is_misuse: true, is_foreign: false }
            }
            LockState::Exclusive { .. } => Giving { state: LockState::Free, is_misuse: true, is_foreign: true },
            LockState::Shared(readers) => {
                let is_foreign = readers.get(slot) == 0;
                let reader = if is_foreign { readers.nonzero().trailing_zeros() as usize } else { slot };
                let readers = readers.with(reader, readers.get(reader) - 1);
                let state = if readers.nonzero() == 0 { LockState::Free } else { LockState::Shared(readers) };
                Giving { state, is_misuse: is_foreign, is_foreign }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockKind::{Mutex, ReadWrite, Recursive};
    use LockMode::{Exclusive, Shared};

    fn taken(state: LockState, kind: LockKind, slot: usize, mode: LockMode) -> LockState {
        match state.take(kind, slot, mode) {
            Taking::Taken(state) => state,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_recursive_lock_is_free_after_as_many_releases() {
        let once = taken(LockState::Free, Recursive, 2, Exclusive);
        let twice = taken(once, Recursive, 2, Exclusive);
        assert_eq!(twice.take(Recursive, 1, Exclusive), Taking::Busy);
        assert_eq!(twice.give(Recursive, 2).state, once);
        assert_eq!(once.give(Recursive, 2).state, LockState::Free);
        assert_eq!(once.give(Recursive, 1), Giving { state: once, is_misuse: true, is_foreign: false });
        assert_eq!(taken(LockState::Free, Mutex, 2, Exclusive).take(Mutex, 2, Exclusive), Taking::Busy);
    }

    #[test]
    fn readers_share_and_a_writer_does_not() {
        let one = taken(LockState::Free, ReadWrite, 0, Shared);
        let two = taken(one, ReadWrite, 1, Shared);
        assert_eq!(two.holders(), 0b11);
        assert_eq!(two.take(ReadWrite, 0, Exclusive), Taking::Busy);
        assert_eq!(two.give(ReadWrite, 1).state, one);
        let writer = taken(LockState::Free, ReadWrite, 0, Exclusive);
        assert_eq!(writer.take(ReadWrite, 1, Shared), Taking::Busy);
        assert_eq!(writer.take(ReadWrite, 0, Shared), Taking::Refused);
    }

    #[test]
    fn a_foreign_release_frees_what_has_no_owner_check() {
        let mutex = taken(LockState::Free, Mutex, 0, Exclusive);
        assert_eq!(mutex.give(Mutex, 1), Giving { state: LockState::Free, is_misuse: true, is_foreign: true });
        let reader = taken(LockState::Free, ReadWrite, 0, Shared);
        assert_eq!(reader.give(ReadWrite, 1), Giving { state: LockState::Free, is_misuse: true, is_foreign: true });
    }
}
