//! Semaphores: what a thread knows of them from its own waits and posts.
//!
//! # Definition   A semaphore is followed if every initialisation that may be its own gives it the same number of permits, 0 or 1. With 1, a thread has the
//!                *permit* from a wait to its next post. With 0, it is *unsent* until the thread's first post, and *handed* from the thread's first wait on.
//!                Flags (`flags`) are semaphores without permits.
//! # Theorem      Each of these is certain: it holds on all ways that lead here. What they say about other threads depends on who else posts
//!                (`engines::race::semaphores`).
//! # Deviations   1. Nothing interrupts a wait.  2. A second initialisation takes the permit away from the thread that makes it.

use rustc_hash::FxHashMap;

use super::action::{Action, ResultFact};
use super::calls::CallAt;
use super::effects::special;
use super::identity::Identity;
use super::skeleton::{EventKind, Skeletons, Target};
use super::state::Alternative;
use super::tabulate::{Collected, PostState, Tabulation};
use crate::locks::{Family, Held, Mode, Names, Place, Token};
use crate::models::Attempt;
use crate::program::Operand;

/// More semaphores are not followed.
const MOST_SEMAPHORES: usize = 16;

/// The semaphores that are followed, each with its number of permits at the start.
pub type Permits = FxHashMap<Place, u64>;

/// Finds them.
pub(super) fn find(skeletons: &Skeletons, identity: &mut Identity<'_, '_>) -> Permits {
    let mut resets: Vec<(Family, Option<u64>)> = Vec::new();
    let mut flags: Vec<Place> = Vec::new();
    for (function, skeleton) in skeletons.iter_enumerated() {
        for event in skeleton.blocks.iter().flatten() {
            let EventKind::Call(call) = &event.kind else { continue };
            for target in &call.targets {
                let Target::Library(actions) = target else { continue };
                for action in actions {
                    match action {
                        Action::ResetPermits { semaphore, permits } => {
                            resets.push((identity.operand(function, *semaphore).family, *permits));
                        }
                        Action::PostPermit { semaphore, is_flag: true } => {
                            flags.extend(identity.operand(function, *semaphore).place);
                        }
                        // Who waits and posts is asked later.
                        _ => {}
                    }
                }
            }
        }
    }
    let mut found: Permits = flags.into_iter().map(|flag| (flag, 0)).collect();
    for (family, permits) in resets.iter().take(MOST_SEMAPHORES) {
        for location in identity.locations(*family).to_vec() {
            let Some(place) = identity.place(location) else { continue };
            let is_same = |(other, number): &(Family, Option<u64>)| number == permits || !identity.may_be(*other, place);
            if let (Some(number @ 0..=1), true) = (*permits, resets.iter().all(is_same)) {
                found.insert(place, number);
            }
        }
    }
    found
}

impl Tabulation<'_, '_> {
    /// What a thread begins with: it has posted nothing.
    pub(super) fn unsent(&self) -> Vec<Held> {
        let mut places: Vec<Place> = self.permits.iter().filter(|(_, permits)| **permits == 0).map(|(place, _)| *place).collect();
        places.sort_unstable();
        places.into_iter().map(|place| special(Token::Unsent, Names::of_place(place), Mode::Exclusive)).collect()
    }

    /// A wait: with the permit, or handed something, afterwards; neither when it gives up.
    pub(super) fn wait_for_permit(
        &mut self,
        at: &CallAt<'_>,
        (semaphore, attempt): (Operand, Attempt),
        (worked, failed): (ResultFact, ResultFact),
        before: Alternative,
        next: &mut Vec<Alternative>,
    ) {
        let place = self.lock_names(at.key, semaphore).0.place;
        let mut working = self.working(&before);
        if let Some((place, permits)) = place.and_then(|place| Some((place, *self.permits.get(&place)?))) {
            let token = if permits == 1 { Token::Permit } else { Token::Handed };
            let names = Names::of_place(place);
            if working.get(token, &names).is_none() {
                working.items.push((special(token, names, Mode::Exclusive), Some(at.site)));
            }
        }
        let after = self.with(before.clone(), working);
        next.push(self.learn(at, after, worked));
        if attempt != Attempt::Blocking {
            next.push(self.learn(at, before, failed));
        }
    }

    pub(super) fn post_permit(
        &mut self,
        at: &CallAt<'_>,
        semaphore: Operand,
        before: Alternative,
        collected: Option<&mut Collected>,
    ) -> Alternative {
        let (names, family) = self.lock_names(at.key, semaphore);
        let mut working = self.working(&before);
        if let Some(collected) = collected {
            let has_permit = working.get(Token::Permit, &names).is_some();
            let CallAt { context, block, index, .. } = *at;
            collected.posts.push(PostState { context, block, index, semaphore: (names.place, family), has_permit });
        }
        let identity = &self.identity;
        working.retain(|held| match held.token {
            Token::Permit | Token::Unsent => !is_meant(identity, (names.place, family), held),
            _ => true,
        });
        self.with(before, working)
    }

    pub(super) fn reset_permits(&mut self, at: &CallAt<'_>, semaphore: Operand, before: Alternative) -> Alternative {
        let (names, family) = self.lock_names(at.key, semaphore);
        let mut working = self.working(&before);
        let identity = &self.identity;
        working.retain(|held| held.token != Token::Permit || !is_meant(identity, (names.place, family), held));
        self.with(before, working)
    }
}

/// Whether a name may mean the semaphore that something is known of.
fn is_meant(identity: &Identity<'_, '_>, (place, family): (Option<Place>, Family), held: &Held) -> bool {
    match (held.names.place, place) {
        (Some(known), Some(place)) => known == place,
        (Some(known), None) => identity.may_be(family, known),
        (None, _) => true,
    }
}
