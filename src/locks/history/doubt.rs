//! Why a path that no history forbids may still not be one.

/// What the theory of lock histories does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Doubt {
    /// A lock was released that was not the last one taken.
    NotNested,
    /// A trylock failed on a lock that the thread does not hold: somebody else must have held it then.
    FailedTry,
    /// A condition on data was passed.
    Data,
    /// A thread was joined: it must have ended by then.
    Join,
    /// A condition variable was waited for: somebody must have woken the thread.
    Signal,
    /// A lock was held too often to be counted.
    Overflow,
    /// A lock was taken that may be another one, or that another thread may have released.
    Lock,
    /// The thread is created by another one, which must have come that far.
    Created,
    /// There were too many histories to keep them apart.
    TooMany,
}

impl Doubt {
    pub const ALL: [Doubt; 9] = [
        Doubt::NotNested,
        Doubt::FailedTry,
        Doubt::Data,
        Doubt::Join,
        Doubt::Signal,
        Doubt::Overflow,
        Doubt::Lock,
        Doubt::Created,
        Doubt::TooMany,
    ];

    pub fn sentence(self) -> &'static str {
        match self {
            Doubt::NotNested => "locks are not nested",
            Doubt::FailedTry => "a trylock must find its lock taken",
            Doubt::Data => "a condition on data must hold",
            Doubt::Join => "a joined thread must have ended",
            Doubt::Signal => "a waiting thread must be woken",
            Doubt::Overflow => "a lock is held too often to be counted",
            Doubt::Lock => "a lock may be another one, or may be released by another thread",
            Doubt::Created => "a thread must have been created",
            Doubt::TooMany => "there are too many lock histories",
        }
    }
}

/// A set of doubts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doubts(u16);

impl Doubts {
    pub const NONE: Doubts = Doubts(0);

    pub fn of(doubt: Doubt) -> Doubts {
        Doubts(1 << doubt as u16)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn with(self, doubt: Doubt) -> Doubts {
        self.union(Doubts::of(doubt))
    }

    pub fn union(self, other: Doubts) -> Doubts {
        Doubts(self.0 | other.0)
    }

    pub fn is_subset(self, other: Doubts) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn contains(self, doubt: Doubt) -> bool {
        Doubts::of(doubt).is_subset(self)
    }

    pub fn iter(self) -> impl Iterator<Item = Doubt> {
        Doubt::ALL.into_iter().filter(move |doubt| self.contains(*doubt))
    }
}
