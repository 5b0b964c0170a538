//! Who may overlap with whom: two points, each of a thread in a phase.
//!
//! # Theorem      Let two instances have x, an instance of X, as their deepest common ancestor, reached through children c₁ ≠ c₂ of x, instances of C₁
//!                and C₂. One of the two was created first. If it was c₁, and A, on its side, is not live in X when C₂ is created, all of A's
//!                instances on that side have ended before c₂, and all that it creates, begins. If an instance of A is itself an ancestor of
//!                the other, that one runs only while it is live at A's point.
//!                A thread that exists once and has ended before one point (`remote`) is over there, and what its only creator does before it creates it is
//!                before that point.

use std::collections::{BTreeMap, BTreeSet};

use super::phases::Phases;
use super::tree::Tree;
use super::types::{OrderReason, PhaseId, Relation, ThreadId, ThreadKind};
use super::walk::Exchange;

/// Whether a thread has ended before the second point that the first one is a point of, or has not been created by then: that thread, and who is at
/// the second point.
fn ended_before(
    tree: &Tree,
    phases: &Phases,
    first: (ThreadId, PhaseId),
    second: (ThreadId, PhaseId),
) -> Option<(ThreadId, ThreadId)> {
    let creates_later = |thread: &ThreadId| {
        let creations = &tree.creations[thread.index()];
        !tree.threads[first.0.index()].is_many
            && creations.iter().all(|creation| creation.creator == first.0)
            && !phases.may_be_created(first.1, *thread)
    };
    let ended = phases.ended(second.1).iter();
    let over = ended.into_iter().find(|thread| **thread == first.0 || creates_later(thread))?;
    Some((*over, second.0))
}

/// What is known of creations.
pub(super) struct Order {
    /// By creator and child.
    live_at: BTreeMap<(ThreadId, ThreadId), BTreeSet<ThreadId>>,
    /// By thread: the creations on the way to it, as creator and child.
    ways: Vec<Vec<(ThreadId, ThreadId)>>,
    /// Nothing orders these: they may be created by code outside, at any time.
    is_free: Vec<bool>,
    /// Code outside alone leads to these: calls of a library's entries.
    is_called: Vec<bool>,
}

impl Order {
    pub fn of(tree: &Tree, exchange: &Exchange, has_given_up: bool) -> Order {
        let threads = || (0..tree.threads.len()).map(ThreadId::from);
        let reaches = |from: ThreadId, to: ThreadId| from == to || tree.descendants[from.index()].contains(&to);
        let mut ways = vec![Vec::new(); tree.threads.len()];
        for child in threads() {
            let creators: BTreeSet<ThreadId> = tree.creations[child.index()].iter().map(|creation| creation.creator).collect();
            for creator in creators {
                for below in threads().filter(|below| reaches(child, *below)) {
                    ways[below.index()].push((creator, child));
                }
            }
        }
        let is_root = |thread: ThreadId| tree.creations[thread.index()].is_empty();
        let is_loose = |root: &ThreadId| {
            is_root(*root)
                && matches!(tree.threads[root.index()].kind, ThreadKind::Library | ThreadKind::Handler | ThreadKind::Anywhere)
        };
        let is_free = threads().map(|thread| {
            let is_reached = exchange.entry[thread.index()].is_some();
            has_given_up || !is_reached || threads().filter(is_loose).any(|root| reaches(root, thread))
        });
        let is_free = is_free.collect();
        let is_entry = |root: ThreadId| tree.threads[root.index()].kind == ThreadKind::Library;
        let is_called =
            threads().map(|thread| threads().filter(|root| is_root(*root) && reaches(*root, thread)).all(is_entry)).collect();
        Order { live_at: exchange.live_at.clone(), ways, is_free, is_called }
    }

    pub fn relation(&self, tree: &Tree, phases: &Phases, left: (ThreadId, PhaseId), right: (ThreadId, PhaseId)) -> Relation {
        let ((a, p), (b, q)) = (left, right);
        if a == b && !tree.threads[a.index()].is_many {
            return Relation::Ordered(OrderReason::SameThread);
        }
        let is_before = |one: ThreadId, other: ThreadId| tree.ends_before_calls == Some(one) && self.is_called[other.index()];
        if is_before(a, b) || is_before(b, a) {
            let (ancestor, descendant) = if is_before(a, b) { (a, b) } else { (b, a) };
            return Relation::Ordered(OrderReason::NotRunning { ancestor, descendant, site: None });
        }
        if self.is_free[a.index()] || self.is_free[b.index()] {
            return Relation::MayOverlap;
        }
        if phases.joined(q).binary_search(&a).is_ok() {
            return Relation::Ordered(OrderReason::Joined { first: a, second: b });
        }
        if phases.joined(p).binary_search(&b).is_ok() {
            return Relation::Ordered(OrderReason::Joined { first: b, second: a });
        }
        if let Some((first, second)) = ended_before(tree, phases, left, right).or_else(|| ended_before(tree, phases, right, left))
        {
            return Relation::Ordered(OrderReason::Joined { first, second });
        }
        // One is an ancestor of the other.
        let creates = |creator: ThreadId, thread: ThreadId| tree.descendants[creator.index()].contains(&thread);
        let runs = |phase: PhaseId, thread: ThreadId| phases.live(phase).binary_search(&thread).is_ok();
        if creates(a, b) && runs(p, b) || creates(b, a) && runs(q, a) {
            return Relation::MayOverlap;
        }
        // A common ancestor has created both ways.
        for (creator, to_a) in &self.ways[a.index()] {
            for (other, to_b) in &self.ways[b.index()] {
                if creator != other {
                    continue;
                }
                let runs_at = |child: ThreadId, thread: ThreadId| {
                    self.live_at.get(&(*creator, child)).is_some_and(|live| live.contains(&thread))
                };
                if runs_at(*to_b, a) || runs_at(*to_a, b) {
                    return Relation::MayOverlap;
                }
            }
        }
        Relation::Ordered(if creates(a, b) {
            OrderReason::NotRunning { ancestor: a, descendant: b, site: tree.threads[b.index()].site() }
        } else if creates(b, a) {
            OrderReason::NotRunning { ancestor: b, descendant: a, site: tree.threads[a.index()].site() }
        } else {
            OrderReason::OneAfterAnother { left: a, right: b }
        })
    }

    /// Whether nothing is known of when the thread runs.
    pub fn is_free(&self, thread: ThreadId) -> bool {
        self.is_free[thread.index()]
    }

    /// Whether two instances of the thread that different instances of its creator have made may overlap.
    pub fn overlaps_beyond(&self, thread: ThreadId, creator: ThreadId) -> bool {
        let ways = self.ways[thread.index()].iter().filter(|(above, _)| *above != creator);
        self.is_free(thread) || ways.into_iter().any(|way| self.live_at.get(way).is_some_and(|live| live.contains(&thread)))
    }
}
