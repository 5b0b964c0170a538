//! What a race report says of each of its two accesses.

use crate::explore::sync::HeldLock;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::program::{Context, Ordering, SiteId};

/// How bytes are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Read,
    Write,
    AtomicRead(Ordering),
    AtomicWrite(Ordering),
    AtomicReadWrite(Ordering),
    /// A library operation on a primitive: races with plain accesses, orders nothing by itself.
    Operation,
    /// The end of an object's life, by `free` or by leaving its scope: a plain write of all its bytes.
    End,
}

impl AccessKind {
    pub fn is_atomic(self) -> bool {
        match self {
            Self::Read | Self::Write | Self::End => false,
            Self::AtomicRead(_) | Self::AtomicWrite(_) | Self::AtomicReadWrite(_) | Self::Operation => true,
        }
    }

    pub fn writes(self) -> bool {
        match self {
            Self::Read | Self::AtomicRead(_) => false,
            Self::Write | Self::AtomicWrite(_) | Self::AtomicReadWrite(_) | Self::Operation | Self::End => true,
        }
    }
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    pub object: ObjectId,
    /// The first common byte, and how many follow in one piece.
    pub offset: u64,
    pub size: u64,
    /// The one that came first in this run.
    pub first: RaceEnd,
    pub second: RaceEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceEnd {
    pub thread: ThreadId,
    pub site: Option<SiteId>,
    pub context: Context,
    pub role: Role,
    /// In the order they were taken.
    pub locks: Vec<HeldLock>,
}

/// What an access did, without its ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    /// The object was freed, or its scope was left.
    End,
}

impl From<AccessKind> for Role {
    fn from(kind: AccessKind) -> Role {
        match kind {
            AccessKind::Read => Role::Read,
            AccessKind::Write => Role::Write,
            AccessKind::AtomicRead(_) => Role::AtomicRead,
            AccessKind::AtomicWrite(_) | AccessKind::AtomicReadWrite(_) | AccessKind::Operation => Role::AtomicWrite,
            AccessKind::End => Role::End,
        }
    }
}
