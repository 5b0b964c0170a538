//! The order of threads between classes of accesses, asked once for each pair of thread sets and phases.

use rustc_hash::FxHashMap;

use super::record::{Records, ThreadSetId};
use crate::facts::{Facts, OrderReason, PhaseId, Relation, ThreadId};

/// Which threads of two sets may do something at the same time.
#[derive(Clone, Debug, Default)]
pub struct Overlap {
    pub pairs: Vec<(ThreadId, ThreadId)>,
    /// Why the first of the others may not.
    pub reason: Option<OrderReason>,
}

type Point = (ThreadSetId, PhaseId);

#[derive(Default)]
pub struct Orders {
    known: FxHashMap<(Point, Point), Overlap>,
}

impl Orders {
    pub fn overlap(&mut self, facts: &Facts<'_>, records: &Records, left: Point, right: Point) -> &Overlap {
        self.known.entry((left, right)).or_insert_with(|| {
            let mut overlap = Overlap::default();
            for one in records.threads(left.0) {
                for other in records.threads(right.0) {
                    match facts.threads.relation((*one, left.1), (*other, right.1)) {
                        Relation::MayOverlap => overlap.pairs.push((*one, *other)),
                        Relation::Ordered(reason) => {
                            // That one thread does both says least.
                            if overlap.reason.is_none_or(|known| known == OrderReason::SameThread) {
                                overlap.reason = Some(reason);
                            }
                        }
                    }
                }
            }
            overlap
        })
    }
}

/// Whether `thread` is a descendant of `ancestor`, by creations that are told apart.
pub fn descends(facts: &Facts<'_>, thread: ThreadId, ancestor: ThreadId) -> bool {
    let mut current = thread;
    loop {
        let known = facts.threads.thread(current);
        if known.is_cut {
            return false;
        }
        match known.parent {
            Some(parent) if parent == ancestor => return true,
            Some(parent) => current = parent,
            None => return false,
        }
    }
}
