//! Locks that a thread's creator holds for it, from before it begins until after it has ended.
//!
//! # Definition   m is *held for* X by its ancestor P when P holds m wherever it creates the next thread on the way to X, and wherever P may release m,
//!                X does not run.
//! # Theorem      While X runs, P holds m: when X's ancestor was created P held m, and P cannot have released m since. So whoever else holds m at
//!                an access, does so before X begins or after X has ended.
//! # Waiting      If P holds m for X since a moment when no W ran, and W, a descendant of P's one instance, or an ancestor of W below P, has taken m, it has done so
//!                after P released m, and so after X has ended.
//! # Once         Whoever was created after a one-time initialisation had ended, by a creator for whom it had, comes after all of it.
//! # Source       The idea is that of Goblint's creation locksets.
//! # Deviations   Locks with a place only. A thread that stands for several creation paths has none.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Facts, PhaseId, ThreadId};
use crate::locks::{Mode, Moment, Place, Token};
use crate::thread_pds::holding::{Collected, Tabulation};

use super::order::Orders;
use super::reach::Reach;

/// A lock that somebody holds for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldFor {
    pub lock: Place,
    pub by: ThreadId,
    pub mode: Mode,
    /// The thread that is created under the lock: the one it is held for, or an ancestor of it.
    pub child: ThreadId,
}

/// By thread: the locks that are held for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreationLocks {
    of: BTreeMap<ThreadId, Vec<HeldFor>>,
    at_creation: BTreeMap<ThreadId, AtCreation>,
    /// By thread: the one-time initialisations that have ended before it begins.
    initialised: BTreeMap<ThreadId, BTreeSet<Place>>,
}

/// What a thread's creator holds, and has held since it began itself, at each creation of the thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AtCreation {
    /// In the weakest mode.
    held: BTreeMap<Place, Mode>,
    /// By lock: the phases in which it was taken; none where that is not known of every creation.
    since: BTreeMap<Place, BTreeSet<PhaseId>>,
    taken: BTreeMap<Place, Mode>,
    initialised: BTreeSet<Place>,
}

impl CreationLocks {
    pub fn of(
        facts: &Facts<'_>,
        tabulation: &mut Tabulation<'_, '_>,
        (reach, orders): (&Reach, &mut Orders<'_, '_>),
        collected: &Collected,
    ) -> CreationLocks {
        let at_creation = at_creation(facts, tabulation, collected);
        let mut locks = CreationLocks { initialised: initialised(facts, &at_creation), ..CreationLocks::default() };
        if at_creation.values().all(|known| known.held.is_empty() && known.taken.is_empty()) {
            return locks;
        }
        let released = Released::of(facts, tabulation, (reach, orders), collected);
        for (thread, known) in facts.threads.threads().filter(|(_, known)| !known.is_cut) {
            // From the thread upwards: who created it, and under which locks.
            let (mut child, mut parent) = (thread, known.parent);
            while let Some(creator) = parent {
                let held = at_creation.get(&child).into_iter().flat_map(|known| &known.held);
                for (lock, mode) in held.filter(|(lock, _)| !released.while_running(facts, creator, **lock, thread)) {
                    locks.of.entry(thread).or_default().push(HeldFor { lock: *lock, by: creator, mode: *mode, child });
                }
                let above = facts.threads.thread(creator);
                (child, parent) = (creator, above.parent.filter(|_| !above.is_cut));
            }
        }
        locks.at_creation = at_creation;
        locks
    }

    /// Leaves out locks that protect nothing.
    pub fn retain(&mut self, mut keeps: impl FnMut(Place) -> bool) {
        self.of.values_mut().for_each(|locks| locks.retain(|held| keeps(held.lock)));
        self.of.retain(|_, locks| !locks.is_empty());
        self.initialised.values_mut().for_each(|controls| controls.retain(|control| keeps(*control)));
        self.initialised.retain(|_, controls| !controls.is_empty());
        for known in self.at_creation.values_mut() {
            known.taken.retain(|place, _| keeps(*place));
        }
        self.at_creation.retain(|thread, known| !known.taken.is_empty() || self.of.contains_key(thread));
    }

    /// Whether it matters which thread this is: locks are held for it, its creators have taken some, or it comes after an initialisation.
    pub fn concern(&self, thread: ThreadId) -> bool {
        self.of.contains_key(&thread) || self.at_creation.contains_key(&thread) || self.initialised.contains_key(&thread)
    }

    /// Whether the one-time initialisation has ended before the thread begins.
    pub fn is_initialised(&self, thread: ThreadId, control: Place) -> bool {
        self.initialised.get(&thread).is_some_and(|controls| controls.contains(&control))
    }

    /// The threads from one up to a child of an ancestor, each with the locks that its creator has taken before; nothing for other threads.
    pub fn taken_above<'s>(
        &'s self,
        facts: &'s Facts<'_>,
        thread: ThreadId,
        ancestor: ThreadId,
    ) -> impl Iterator<Item = (ThreadId, Place, Mode)> + 's {
        let above = move |child: &ThreadId| {
            let known = facts.threads.thread(*child);
            known.parent.filter(|parent| !known.is_cut && *parent != ancestor)
        };
        let chain = std::iter::successors(Some(thread), above);
        chain
            .filter_map(move |child| Some((above(&child)?, self.at_creation.get(&child)?)))
            .flat_map(|(creator, known)| known.taken.iter().map(move |(place, mode)| (creator, *place, *mode)))
    }

    /// Whether the lock that is held for a thread was taken, each time, when `waiting` did not run.
    pub fn is_since_before(&self, facts: &Facts<'_>, held: &HeldFor, waiting: ThreadId) -> bool {
        let since = self.at_creation.get(&held.child).and_then(|known| known.since.get(&held.lock));
        let runs = |phase: &PhaseId| *phase == PhaseId::ANY || facts.threads.live(*phase).contains(&waiting);
        since.is_some_and(|phases| !phases.iter().any(runs))
    }

    pub fn for_thread(&self, thread: ThreadId) -> &[HeldFor] {
        self.of.get(&thread).map_or(&[], Vec::as_slice)
    }
}

/// What has ended before each thread begins: for its creator there, or before its creator began.
fn initialised(facts: &Facts<'_>, at_creation: &BTreeMap<ThreadId, AtCreation>) -> BTreeMap<ThreadId, BTreeSet<Place>> {
    let mut found: BTreeMap<ThreadId, BTreeSet<Place>> = BTreeMap::new();
    for (thread, _) in facts.threads.threads() {
        let above = |child: &ThreadId| facts.threads.thread(*child).parent.filter(|_| !facts.threads.thread(*child).is_cut);
        let chain = std::iter::successors(Some(thread), above).filter(|child| !facts.threads.thread(*child).is_cut);
        let controls: BTreeSet<Place> =
            chain.filter_map(|child| at_creation.get(&child)).flat_map(|known| &known.initialised).copied().collect();
        if !controls.is_empty() {
            found.insert(thread, controls);
        }
    }
    found
}

/// By created thread: the locks that its creator holds, or has taken before, at each of its creations.
fn at_creation(facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>, collected: &Collected) -> BTreeMap<ThreadId, AtCreation> {
    let mut found: BTreeMap<ThreadId, AtCreation> = BTreeMap::new();
    for creation in &collected.creations {
        let key = &tabulation.contexts.all[creation.context].key;
        let Some(stage) = key.standing.stage() else { continue };
        let lockset = tabulation.locksets.get(creation.lockset);
        let mut here = AtCreation::default();
        for held in lockset.iter() {
            let Some(place) = held.names.place else { continue };
            match held.token {
                Token::Lock => {
                    here.held.insert(place, held.mode);
                    let now = || facts.threads.phase(stage, creation.block, creation.index);
                    let since =
                        held.since.map(|since| if since == Moment::HERE { now() } else { PhaseId::from(since.0 as usize) });
                    here.since.extend(since.map(|since| (place, BTreeSet::from([since]))));
                }
                Token::Acquired => _ = here.taken.insert(place, held.mode),
                Token::OnceDone => _ = here.initialised.insert(place),
                Token::AtomicSection | Token::InsideOnce | Token::OwnArgument | Token::Permit | Token::Unsent | Token::Handed => {
                }
            }
        }
        for thread in facts.threads.created(key.function, stage, creation.block, creation.index) {
            match found.get_mut(&thread) {
                Some(known) => known.meet(&here),
                None => _ = found.insert(thread, here.clone()),
            }
        }
    }
    found
}

impl AtCreation {
    /// What holds at both creations.
    fn meet(&mut self, other: &AtCreation) {
        for (mine, theirs) in [(&mut self.held, &other.held), (&mut self.taken, &other.taken)] {
            mine.retain(|place, _| theirs.contains_key(place));
            mine.iter_mut().for_each(|(place, mode)| *mode = (*mode).min(theirs[place]));
        }
        self.initialised.retain(|control| other.initialised.contains(control));
        self.since.retain(|place, _| other.since.contains_key(place));
        self.since.iter_mut().for_each(|(place, phases)| phases.extend(&other.since[place]));
    }
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
