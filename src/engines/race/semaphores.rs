//! Semaphores that order accesses.
//!
//! # Definition   A semaphore that begins with 1 permit is a *lock* if whoever posts has the permit. One that begins with 0 is a *channel* of a
//!                thread if that thread alone posts, and exists once.
//! # Theorem      Lock: the permits that are left and those that threads have are 1 together, so accesses with the permit are made one after another,
//!                and a post happens before the return of the next wait. Channel: all posts come after an access that the thread makes before its first one;
//!                who has waited has waited for one of them.
//! # Deviations   A semaphore that may be initialised or destroyed while others use it is neither (`Covers`).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::order::Orders;
use super::reach::Reach;
use crate::facts::{Facts, ThreadId, ThreadKind};
use crate::locks::Place;
use crate::thread_pds::holding::{Collected, PostState, Tabulation};

#[derive(Clone, Debug, Default)]
pub struct Semaphores {
    locks: FxHashSet<Place>,
    /// By channel: who posts.
    senders: FxHashMap<Place, ThreadId>,
}

impl Semaphores {
    pub fn of(
        facts: &Facts<'_>,
        tabulation: &Tabulation<'_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        collected: &Collected,
    ) -> Semaphores {
        let mut found = Semaphores::default();
        for (semaphore, permits) in &tabulation.permits {
            let is_meant = |post: &&PostState| match post.semaphore {
                (Some(place), _) => place == *semaphore,
                (None, family) => tabulation.identity.may_be(family, *semaphore),
            };
            let posts: Vec<&PostState> = collected.posts.iter().filter(is_meant).collect();
            if *permits == 1 {
                if posts.iter().all(|post| post.has_permit) {
                    found.locks.insert(*semaphore);
                }
                continue;
            }
            let mut threads: BTreeSet<ThreadId> = BTreeSet::new();
            for post in posts {
                let standing = tabulation.contexts.all[post.context].key.standing;
                let points = reach.at(orders, facts, (post.context, standing), (post.block, post.index));
                threads.extend(orders.points(points).iter().map(|point| point.0));
            }
            // What runs before or after a thread's entry begins as if it had posted nothing.
            let begins_once = |thread: ThreadId| facts.threads.roots().iter().filter(|root| root.thread == thread).count() == 1;
            if let (Some(sender), 1) = (threads.first(), threads.len())
                && begins_once(*sender)
                && !facts.threads.thread(*sender).is_many
                && matches!(facts.threads.thread(*sender).kind, ThreadKind::Main | ThreadKind::Created)
            {
                found.senders.insert(*semaphore, *sender);
            }
        }
        found
    }

    pub fn is_lock(&self, semaphore: Place) -> bool {
        self.locks.contains(&semaphore)
    }

    /// Whose channel it is.
    pub fn sender(&self, semaphore: Place) -> Option<ThreadId> {
        self.senders.get(&semaphore).copied()
    }
}
