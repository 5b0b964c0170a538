//! What covers say: of two accesses, and of one and a lock or a thread.
//!
//! # Definition   Two covers have in common what orders their accesses: a lock of the same key that one of them excludes others with, an atomic section, a routine that runs once, a
//!                permit; and, for some threads alone, which argument the thread was created with.
//! # Theorem      That of `cover`.

use super::cover::{CoverId, Covers, Item, LockKey, OwnBy};
use crate::facts::ThreadId;
use crate::locks::{Family, Mode, Moment, Place};

/// What two covers have in common that orders their accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    Lock(Place),
    Relative(Family),
    Section,
    Once(Place),
    Permit(Place),
}

impl Covers<'_, '_> {
    /// What orders two accesses with these covers, whatever their threads.
    pub fn common(&self, left: CoverId, right: CoverId) -> Option<Common> {
        let (left, right) = (self.get(left), self.get(right));
        let mut relative = None;
        for one in left {
            for other in right {
                match (one, other) {
                    (Item::Lock { key, mode, family, .. }, Item::Lock { key: other_key, mode: other_mode, .. })
                        if self.is_one_lock(*key, *other_key) && (*mode == Mode::Exclusive || *other_mode == Mode::Exclusive) =>
                    {
                        match key {
                            LockKey::Place(place) => return Some(Common::Lock(*place)),
                            LockKey::Shape(_) => relative = relative.or(Some(Common::Relative(*family))),
                        }
                    }
                    (Item::Section, Item::Section) => return Some(Common::Section),
                    (Item::Permit(place), Item::Permit(other)) if place == other => return Some(Common::Permit(*place)),
                    (Item::InsideOnce(place), Item::InsideOnce(other) | Item::OnceDone(other))
                    | (Item::OnceDone(place), Item::InsideOnce(other))
                        if place == other =>
                    {
                        return Some(Common::Once(*place));
                    }
                    _ => {}
                }
            }
        }
        relative
    }

    fn is_one_lock(&self, left: LockKey, right: LockKey) -> bool {
        match (left, right) {
            (LockKey::Place(left), LockKey::Place(right)) => left == right,
            (LockKey::Shape(left), LockKey::Shape(right)) => self.agree(left, right),
            (LockKey::Place(_), LockKey::Shape(_)) | (LockKey::Shape(_), LockKey::Place(_)) => false,
        }
    }

    /// Whether two different threads each touch an object of their own making.
    pub fn are_own_instances(&self, left: CoverId, right: CoverId) -> bool {
        self.get(left).contains(&Item::OwnInstance) && self.get(right).contains(&Item::OwnInstance)
    }

    /// Whether the access is made under the lock at a place, when one of the two modes excludes others.
    pub fn is_under(&self, cover: CoverId, lock: Place, mode: Mode) -> bool {
        self.get(cover).iter().any(|item| match item {
            Item::Lock { key: LockKey::Place(place), mode: own, .. } => {
                *place == lock && (mode == Mode::Exclusive || *own == Mode::Exclusive)
            }
            _ => false,
        })
    }

    /// Whether the cover keeps some threads away and not others.
    pub fn tells_threads_apart(&self, cover: CoverId) -> bool {
        self.get(cover).iter().any(|item| {
            matches!(item, Item::Own(..) | Item::Next(..) | Item::Acquired(..) | Item::Unsent(..) | Item::SignalAtomic)
        })
    }

    /// Whether both addresses say, in the same way, which argument their thread was created with.
    pub fn own_in_common(&self, left: CoverId, right: CoverId, distance: u64) -> bool {
        let right = self.get(right);
        self.get(left).iter().any(|item| match item {
            // 2³² / 256 threads at the same time would be needed for two equal numbers.
            Item::Own(_, OwnBy::LowBits) if distance > 256 => false,
            Item::Own(shape, by) => {
                right.iter().any(|other| matches!(other, Item::Own(other, same) if by == same && self.agree(*shape, *other)))
            }
            _ => false,
        })
    }

    /// Whether both addresses say, in the same way, which argument their thread was created with, and not only a part of it.
    pub fn own_argument_in_common(&self, left: CoverId, right: CoverId) -> bool {
        let own = |cover: CoverId| {
            self.get(cover).iter().filter_map(|item| match item {
                Item::Own(shape, OwnBy::Argument) => Some(*shape),
                _ => None,
            })
        };
        own(left).any(|one| own(right).any(|other| self.agree(one, other)))
    }

    /// Whether the first access's address says of the thread's next instance what the second one's says of the thread that makes it: which argument it was created with.
    pub fn next_in_common(&self, left: CoverId, right: CoverId, thread: ThreadId, distance: u64) -> bool {
        let right = self.get(right);
        self.get(left).iter().any(|item| match item {
            Item::Next(_, _, OwnBy::LowBits) if distance > 256 => false,
            Item::Next(next, shape, by) if *next == thread => {
                right.iter().any(|other| matches!(other, Item::Own(other, same) if by == same && self.agree(*shape, *other)))
            }
            _ => false,
        })
    }

    /// The locks by place that an access is made under, each with the moment since when it is held.
    pub fn held_since(&self, cover: CoverId) -> impl Iterator<Item = (Place, Mode, Moment)> + '_ {
        self.get(cover).iter().filter_map(|item| match item {
            Item::Lock { key: LockKey::Place(place), mode, since: Some(since), .. } => Some((*place, *mode, *since)),
            _ => None,
        })
    }

    /// The channel to which the thread has not posted yet at the first access, if the second one's has waited for it.
    pub fn handed(&self, left: CoverId, right: CoverId, (thread, other): (ThreadId, ThreadId)) -> Option<Place> {
        self.get(left).iter().find_map(|item| match item {
            Item::Unsent(channel, sender) if *sender == thread && thread != other => {
                self.get(right).contains(&Item::Handed(*channel)).then_some(*channel)
            }
            _ => None,
        })
    }

    /// Whether both accesses are to an object that signal handlers may touch.
    pub fn are_signal_atomic(&self, left: CoverId, right: CoverId) -> bool {
        self.get(left).contains(&Item::SignalAtomic) && self.get(right).contains(&Item::SignalAtomic)
    }

    /// The one-time initialisations that the access is a part of.
    pub fn inside_once(&self, cover: CoverId) -> impl Iterator<Item = Place> + '_ {
        self.get(cover).iter().filter_map(|item| match item {
            Item::InsideOnce(control) => Some(*control),
            _ => None,
        })
    }

    /// The locks by place that the access's thread has taken before, whether it holds them or not.
    pub fn taken(&self, cover: CoverId) -> impl Iterator<Item = (Place, Mode)> + '_ {
        self.get(cover).iter().filter_map(|item| match item {
            Item::Acquired(place, mode) => Some((*place, *mode)),
            _ => None,
        })
    }
}
