//! The vocabulary of threads and their order: abstract threads, activations, stages, phases, relations.

use super::super::points_to::Location;
use crate::program::{FunctionId, SiteId};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table has fewer than 2^32 entries"))
            }
        }

        impl From<$name> for usize {
            fn from(number: $name) -> usize {
                number.index()
            }
        }
    )*};
}

numbers! {
    /// An abstract thread: all run-time threads that one creation path stands for.
    ThreadId,
    /// A call path inside an abstract thread to a function that may create, join or end threads.
    ActivationId,
    /// An interned pair of a live set and a joined set.
    PhaseId,
}

impl PhaseId {
    /// At any time: what stands here overlaps with everything, in every thread.
    pub const ANY: PhaseId = PhaseId(0);
}

/// Where in the order of threads an activation of a function stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A function in which the phase changes.
    Activation(ActivationId),
    /// One of the calls that are not told apart, of a function that creates or joins: nothing is known of when it runs, in whichever thread.
    Lost,
    /// A function that neither creates nor joins: one phase, its caller's.
    Phase(PhaseId),
}

/// What starts a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadKind {
    /// The program's first thread: constructors, then `main`.
    Main,
    /// Code outside the program calls the entry, at any time, any number of times.
    Library,
    Created,
    /// Stands for every thread that the entry, a signal handler, interrupts.
    Handler,
    /// Stands for every thread: exit routines, destructors of keys, functions that code outside calls back.
    Anywhere,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractThread {
    pub kind: ThreadKind,
    /// `None` for [`ThreadKind::Anywhere`].
    pub entry: Option<FunctionId>,
    /// Who creates it; the first of several for a thread that was merged (`is_cut`).
    pub parent: Option<ThreadId>,
    /// The call sites inside the parent from its entry, outermost first, and the creating site last; empty for roots.
    pub path: Vec<SiteId>,
    /// More than one run-time thread may be this one.
    pub is_many: bool,
    /// Creation paths were too many or recursive: it stands for several of them, and its `path` is only the first.
    pub is_cut: bool,
}

impl AbstractThread {
    /// Where it is created.
    pub fn site(&self) -> Option<SiteId> {
        self.path.last().copied()
    }
}

/// A function that a thread begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root {
    pub thread: ThreadId,
    pub function: FunctionId,
    pub stage: Stage,
}

/// May something in one thread and something in another happen at the same time?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    MayOverlap,
    Ordered(OrderReason),
}

impl Relation {
    pub fn may_overlap(self) -> bool {
        self == Relation::MayOverlap
    }
}

/// Why two points of threads never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderReason {
    /// One run-time thread does both, one after the other.
    SameThread,
    /// At `ancestor`'s point, `descendant` (created at `site`) does not run: it is not created yet, or has been joined.
    NotRunning { ancestor: ThreadId, descendant: ThreadId, site: Option<SiteId> },
    /// `first` has been joined by `second` before its point.
    Joined { first: ThreadId, second: ThreadId },
    /// Whichever of the two is created first has ended when the other one is created.
    OneAfterAnother { left: ThreadId, right: ThreadId },
    /// `first` comes to the barrier after its point, and `second` has passed it then.
    Barrier { barrier: Location, first: ThreadId, second: ThreadId },
}
