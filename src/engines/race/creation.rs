//! Locks that a thread's creator holds for it, from before it begins until after it has ended.
//!
//! # Definition   m is *held for* X by its ancestor P when P holds m wherever it creates the next thread on the way to X, and wherever P may release m,
//!                X does not run.
//! # Theorem      While X runs, P holds m: when X's ancestor was created P held m, and P cannot have released m since. So whoever else holds m at
//!                an access, does so before X begins or after X has ended.
//! # Source       The idea is that of Goblint's creation locksets.
//! # Deviations   Locks with a place only. A thread that stands for several creation paths has none.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Facts, PhaseId, Stage, ThreadId};
use crate::locks::{Mode, Place, Token};
use crate::thread_pds::holding::{Collected, Standing, Tabulation};

use super::order::Orders;
use super::reach::Reach;

/// A lock that somebody holds for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldFor {
    pub lock: Place,
    pub by: ThreadId,
    pub mode: Mode,
}

/// By thread: the locks that are held for it.
#[derive(Clone, Debug, Default)]
pub struct CreationLocks {
    of: BTreeMap<ThreadId, Vec<HeldFor>>,
}

impl CreationLocks {
    pub fn of(
        facts: &Facts<'_>,
        tabulation: &mut Tabulation<'_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        collected: &Collected,
    ) -> CreationLocks {
        let at_creation = at_creation(facts, tabulation, collected);
        if at_creation.values().all(BTreeMap::is_empty) {
            return CreationLocks::default();
        }
        let released = Released::of(facts, tabulation, (reach, orders), collected);
        let mut locks = CreationLocks::default();
        for (thread, known) in facts.threads.threads().filter(|(_, known)| !known.is_cut) {
            // From the thread upwards: who created it, and under which locks.
            let (mut child, mut parent) = (thread, known.parent);
            while let Some(creator) = parent {
                let held = at_creation.get(&child).into_iter().flatten();
                for (lock, mode) in held.filter(|(lock, _)| !released.while_running(facts, creator, **lock, thread)) {
                    locks.of.entry(thread).or_default().push(HeldFor { lock: *lock, by: creator, mode: *mode });
                }
                let above = facts.threads.thread(creator);
                (child, parent) = (creator, above.parent.filter(|_| !above.is_cut));
            }
        }
        locks
    }

    /// Leaves out locks that protect nothing.
    pub fn retain(&mut self, mut keeps: impl FnMut(Place) -> bool) {
        self.of.values_mut().for_each(|locks| locks.retain(|held| keeps(held.lock)));
        self.of.retain(|_, locks| !locks.is_empty());
    }

    pub fn for_thread(&self, thread: ThreadId) -> &[HeldFor] {
        self.of.get(&thread).map_or(&[], Vec::as_slice)
    }
}

/// By created thread: the locks that its creator holds at each of its creations, in the weakest mode.
fn at_creation(
    facts: &Facts<'_>,
    tabulation: &Tabulation<'_, '_>,
    collected: &Collected,
) -> BTreeMap<ThreadId, BTreeMap<Place, Mode>> {
    let mut found: BTreeMap<ThreadId, BTreeMap<Place, Mode>> = BTreeMap::new();
    for creation in &collected.creations {
        let Standing::Activation(activation) = tabulation.contexts.all[creation.context].key.standing else { continue };
        let lockset = tabulation.locksets.get(creation.lockset);
        let held: BTreeMap<Place, Mode> = lockset
            .iter()
            .filter(|held| held.token == Token::Lock)
            .filter_map(|held| Some((held.names.place?, held.mode)))
            .collect();
        for thread in facts.threads.created(Stage::Activation(activation), creation.block, creation.index) {
            match found.get_mut(&thread) {
                Some(known) => {
                    known.retain(|place, _| held.contains_key(place));
                    known.iter_mut().for_each(|(place, mode)| *mode = (*mode).min(held[place]));
                }
                None => _ = found.insert(thread, held.clone()),
            }
        }
    }
    found
}

/// In which phases each thread may release which locks.
struct Released {
    points: BTreeMap<ThreadId, BTreeSet<(Option<Place>, PhaseId)>>,
}

impl Released {
    fn of(
        facts: &Facts<'_>,
        tabulation: &mut Tabulation<'_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        collected: &Collected,
    ) -> Released {
        let mut points: BTreeMap<ThreadId, BTreeSet<(Option<Place>, PhaseId)>> = BTreeMap::new();
        for release in &collected.releases {
            let standing = tabulation.contexts.all[release.context].key.standing;
            let set = reach.at(orders, facts, (release.context, standing), (release.block, release.index));
            let locks: Vec<Option<Place>> = match release.lock {
                Some((Some(place), _)) => vec![Some(place)],
                // One of several, or any.
                Some((None, family)) => {
                    let may_be = |place: &Place| tabulation.identity.may_be(family, *place);
                    collected.held_at_creation.iter().copied().filter(may_be).map(Some).collect()
                }
                None => vec![None],
            };
            for (thread, phase) in orders.points(set) {
                points.entry(*thread).or_default().extend(locks.iter().map(|lock| (*lock, *phase)));
            }
        }
        Released { points }
    }

    /// Whether `thread` may release the lock while `running` runs.
    fn while_running(&self, facts: &Facts<'_>, thread: ThreadId, lock: Place, running: ThreadId) -> bool {
        let runs = |phase: PhaseId| phase == PhaseId::ANY || facts.threads.live(phase).contains(&running);
        let released = self.points.get(&thread).into_iter().flatten();
        released.filter(|(released, _)| released.is_none_or(|released| released == lock)).any(|(_, phase)| runs(*phase))
    }
}
