//! Excuses: what keeps one thread apart from another at these points, and perhaps not from a third.
//!
//! # Own part     Two instances, or two threads, with different arguments touch different bytes, if the address says which argument it was: if they touched a common one, their
//!                arguments were equal. Arguments that were allocated for one creation each differ whatever the threads.
//! # Next part    See `ahead`.
//! # Lock held at creation   Say P holds l since a moment when no thread of C ran, and goes on holding it at its access; C's thread, a descendant of P's
//!                one instance, has taken l before its access. C's thread was created after P took l, so that C took l after P released it.
//! # Handed       See `semaphores`.
//! # In a handler See `signals`.
//! # Held for a thread, initialised before a thread   See `creation`.

use super::cover::Covers;
use super::creation::{CreationLocks, HeldFor};
use super::order::{Orders, Point, descends};
use super::pairs::Why;
use super::record::ClassKey;
use super::signals::is_handler;
use crate::facts::{Facts, PhaseId, ThreadId};
use crate::locks::{Mode, Moment, Place};

/// What keeps two threads apart at these points, and perhaps not others.
pub fn excuse(
    facts: &Facts<'_>,
    covers: &Covers<'_, '_>,
    orders: &Orders<'_, '_>,
    left: (Point, &ClassKey),
    right: (Point, &ClassKey),
) -> Option<Why> {
    let locks = orders.creation_locks();
    own_part(facts, covers, left, right)
        .or_else(|| next_part(facts, covers, left, right))
        .or_else(|| next_part(facts, covers, right, left))
        .or_else(|| held_at_creation(facts, locks, covers, left, right))
        .or_else(|| held_at_creation(facts, locks, covers, right, left))
        .or_else(|| held_for(locks, covers, left, right))
        .or_else(|| held_for(locks, covers, right, left))
        .or_else(|| held_for_before(facts, locks, covers, left, right))
        .or_else(|| held_for_before(facts, locks, covers, right, left))
        .or_else(|| initialised_before(locks, covers, left, right))
        .or_else(|| initialised_before(locks, covers, right, left))
        .or_else(|| in_handler(facts, covers, left, right))
        .or_else(|| covers.handed(left.1.cover, right.1.cover, (left.0.0, right.0.0)).map(Why::Handed))
        .or_else(|| covers.handed(right.1.cover, left.1.cover, (right.0.0, left.0.0)).map(Why::Handed))
}

/// One access is made by a signal handler, and both to an object that handlers may touch.
fn in_handler(facts: &Facts<'_>, covers: &Covers<'_, '_>, left: (Point, &ClassKey), right: (Point, &ClassKey)) -> Option<Why> {
    let handler = [left.0.0, right.0.0].into_iter().find(|thread| is_handler(facts, *thread))?;
    covers.are_signal_atomic(left.1.cover, right.1.cover).then_some(Why::Signal(handler))
}

/// The first access is a part of a one-time initialisation that had ended before the second one's thread began.
fn initialised_before(
    locks: &CreationLocks,
    covers: &Covers<'_, '_>,
    left: (Point, &ClassKey),
    right: (Point, &ClassKey),
) -> Option<Why> {
    covers.inside_once(left.1.cover).find(|control| locks.is_initialised(right.0.0, *control)).map(Why::Once)
}

/// Two instances of one thread, or of two whose arguments were allocated for them, each in the part that its own argument leads to.
fn own_part(facts: &Facts<'_>, covers: &Covers<'_, '_>, left: (Point, &ClassKey), right: (Point, &ClassKey)) -> Option<Why> {
    let (thread, other) = (left.0.0, right.0.0);
    if thread != other {
        let is_own = facts.threads.has_argument_of_its_own(thread) && facts.threads.has_argument_of_its_own(other);
        let is_apart = |gap| covers.own_in_common(left.1.cover, right.1.cover, gap);
        let has_own_part = is_own && covers.own_argument_in_common(left.1.cover, right.1.cover)
            || facts.threads.argument_gap(thread, other).is_some_and(is_apart);
        return has_own_part.then_some(Why::OwnPart(thread));
    }
    let distance = facts.threads.argument_distance(thread).filter(|distance| *distance > 0)?;
    // Two allocations may lie any distance apart, also one that the lower half of an address does not show.
    let most = if facts.threads.has_argument_of_its_own(thread) { u64::MAX } else { distance };
    covers.own_in_common(left.1.cover, right.1.cover, most).then_some(Why::OwnPart(thread))
}

/// The first access touches what the next instance of the second one's thread gets, the second one what an instance has got.
fn next_part(facts: &Facts<'_>, covers: &Covers<'_, '_>, left: (Point, &ClassKey), right: (Point, &ClassKey)) -> Option<Why> {
    let thread = right.0.0;
    let distance = facts.threads.argument_distance(thread).filter(|distance| *distance > 0)?;
    covers.next_in_common(left.1.cover, right.1.cover, thread, distance).then_some(Why::NextPart(thread))
}

/// The creator of the first thread holds a lock as long as it runs; the second access is made under that lock, or its thread's creator holds it.
fn held_for(locks: &CreationLocks, covers: &Covers<'_, '_>, left: (Point, &ClassKey), right: (Point, &ClassKey)) -> Option<Why> {
    let (thread, other) = (left.0.0, right.0.0);
    let excludes = |held: &&HeldFor| {
        let is_held_itself = other != held.by && covers.is_under(right.1.cover, held.lock, held.mode);
        let is_held_for = |theirs: &HeldFor| {
            theirs.lock == held.lock && theirs.by != held.by && (theirs.mode == Mode::Exclusive || held.mode == Mode::Exclusive)
        };
        is_held_itself || locks.for_thread(other).iter().any(is_held_for)
    };
    locks.for_thread(thread).iter().find(excludes).map(|held| Why::HeldFor(*held, thread))
}

/// A lock was taken for the first thread before the second one, or the creator of it that has taken the lock since, existed.
fn held_for_before(
    facts: &Facts<'_>,
    locks: &CreationLocks,
    covers: &Covers<'_, '_>,
    left: (Point, &ClassKey),
    right: (Point, &ClassKey),
) -> Option<Why> {
    let (thread, waiting) = (left.0.0, right.0.0);
    let is_waited_for = |held: &&HeldFor| {
        let excludes = |place: Place, mode: Mode| place == held.lock && (mode == Mode::Exclusive || held.mode == Mode::Exclusive);
        let is_once = !facts.threads.thread(held.by).is_many && descends(facts, waiting, held.by);
        let own = covers.taken(right.1.cover).map(|(place, mode)| (waiting, place, mode));
        let mut taken = own.chain(locks.taken_above(facts, waiting, held.by));
        is_once && taken.any(|(taker, place, mode)| excludes(place, mode) && locks.is_since_before(facts, held, taker))
    };
    locks.for_thread(thread).iter().find(is_waited_for).map(|held| Why::HeldAtCreation(held.lock))
}

/// The holder's lock was taken before the waiter's thread, or a creator of it, existed, and that one has taken it since.
fn held_at_creation(
    facts: &Facts<'_>,
    locks: &CreationLocks,
    covers: &Covers<'_, '_>,
    holder: (Point, &ClassKey),
    waiter: (Point, &ClassKey),
) -> Option<Why> {
    let ((thread, now), (waiting, _)) = (holder.0, waiter.0);
    if facts.threads.thread(thread).is_many || !descends(facts, waiting, thread) {
        return None;
    }
    let is_since_before = |moment: Moment, taker: ThreadId| {
        let phase = if moment == Moment::HERE { now } else { PhaseId::from(moment.0 as usize) };
        phase != PhaseId::ANY && !facts.threads.live(phase).contains(&taker)
    };
    let own = covers.taken(waiter.1.cover).map(|(place, mode)| (waiting, place, mode));
    for (taker, taken, mode) in own.chain(locks.taken_above(facts, waiting, thread)) {
        let mut held = covers
            .held_since(holder.1.cover)
            .filter(|(place, how, _)| *place == taken && (*how == Mode::Exclusive || mode == Mode::Exclusive));
        if held.any(|(_, _, moment)| is_since_before(moment, taker)) {
            return Some(Why::HeldAtCreation(taken));
        }
    }
    None
}
