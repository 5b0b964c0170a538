//! Happens-before by its definition: edges between events, closed; and the pairs of accesses that race.

use lockcheck::explore::happens_before::AccessKind;
use lockcheck::explore::sync::SyncEvent;
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::models::LockMode;

use super::trace::Event::{self, Access, Sync};

/// For each event the set of those that happen before it.
pub fn happens_before(events: &[Event]) -> Vec<u128> {
    let mut before: Vec<u128> = Vec::new();
    for later in 0..events.len() {
        let mut set = 0;
        for earlier in 0..later {
            if is_edge(events, earlier, later) {
                set |= before[earlier] | 1 << earlier;
            }
        }
        before.push(set);
    }
    before
}

pub fn thread_of(event: &Event) -> ThreadId {
    match *event {
        Access { thread, .. } => thread,
        Sync(event) => match event {
            SyncEvent::Fork { parent: thread, .. }
            | SyncEvent::Acquire { thread, .. }
            | SyncEvent::Release { thread, .. }
            | SyncEvent::End { thread }
            | SyncEvent::Join { thread, .. }
            | SyncEvent::ArriveBarrier { thread, .. }
            | SyncEvent::LeaveBarrier { thread, .. }
            | SyncEvent::InitializeSemaphore { thread, .. }
            | SyncEvent::PostSemaphore { thread, .. }
            | SyncEvent::TakeSemaphore { thread, .. }
            | SyncEvent::FinishOnce { thread, .. }
            | SyncEvent::PassOnce { thread, .. }
            | SyncEvent::Fence { thread, .. }
            | SyncEvent::BeginAtomic { thread }
            | SyncEvent::EndAtomic { thread }
            | SyncEvent::BeginWait { thread, .. }
            | SyncEvent::EndWait { thread, .. }
            | SyncEvent::Signal { thread, .. }
            | SyncEvent::Cancel { thread, .. }
            | SyncEvent::ActOnCancel { thread }
            | SyncEvent::RegisterExitHandler { thread }
            | SyncEvent::RunExitHandlers { thread } => thread,
        },
    }
}

fn is_edge(events: &[Event], earlier: usize, later: usize) -> bool {
    if thread_of(&events[earlier]) == thread_of(&events[later]) {
        return true;
    }
    let (Sync(first), Sync(second)) = (events[earlier], events[later]) else {
        return is_fork_edge(&events[earlier], &events[later]) || c11_synchronizes(events, earlier, later);
    };
    match (first, second) {
        (SyncEvent::Release { lock: a, mode: released, .. }, SyncEvent::Acquire { lock: b, mode: acquired, .. }) => {
            a == b && (released == LockMode::Exclusive || acquired == LockMode::Exclusive)
        }
        (SyncEvent::End { thread }, SyncEvent::Join { ended, .. }) => thread == ended,
        (SyncEvent::ArriveBarrier { round: a, .. }, SyncEvent::LeaveBarrier { round: b, .. }) => a == b,
        (SyncEvent::PostSemaphore { .. }, SyncEvent::TakeSemaphore { .. }) => unit_of(events, later) == Some(earlier),
        (SyncEvent::FinishOnce { .. }, SyncEvent::PassOnce { .. })
        | (SyncEvent::EndAtomic { .. }, SyncEvent::BeginAtomic { .. })
        | (SyncEvent::RegisterExitHandler { .. }, SyncEvent::RunExitHandlers { .. }) => true,
        (SyncEvent::Cancel { target, .. }, SyncEvent::ActOnCancel { thread }) => target == thread,
        _ => is_fork_edge(&events[earlier], &events[later]) || c11_synchronizes(events, earlier, later),
    }
}

fn is_fork_edge(first: &Event, second: &Event) -> bool {
    matches!(first, Sync(SyncEvent::Fork { child, .. }) if *child == thread_of(second))
}

/// The post whose unit a wait takes: the n-th wait takes the n-th unit, the initial ones first.
fn unit_of(events: &[Event], take: usize) -> Option<usize> {
    let Sync(SyncEvent::InitializeSemaphore { value, .. }) = events[0] else { panic!("every trace begins with it") };
    let is_take = |event: &&Event| matches!(event, Sync(SyncEvent::TakeSemaphore { .. }));
    let number = events[..take].iter().filter(is_take).count();
    let posts = (0..take).filter(|index| matches!(events[*index], Sync(SyncEvent::PostSemaphore { .. })));
    number.checked_sub(value as usize).and_then(|number| posts.clone().nth(number))
}

/// C11 7.17.3 and 7.17.4, with release sequences as 5.1.2.4 has them: `earlier` is a release operation or fence, `later` an
/// acquire operation or fence.
fn c11_synchronizes(events: &[Event], earlier: usize, later: usize) -> bool {
    // The loads through which `later` can read: itself, or relaxed ones before an acquire fence.
    let loads: Vec<usize> = match events[later] {
        Access { kind: AccessKind::AtomicRead(o) | AccessKind::AtomicReadWrite(o), .. } if o.acquires() => vec![later],
        Sync(SyncEvent::Fence { thread, ordering }) if ordering.acquires() => {
            (0..later).filter(|index| thread_of(&events[*index]) == thread && is_atomic_read(&events[*index])).collect()
        }
        _ => return false,
    };
    loads.into_iter().flat_map(|load| release_sequence(events, load)).any(|store| match events[earlier] {
        Access { kind: AccessKind::AtomicWrite(o) | AccessKind::AtomicReadWrite(o), .. } => store == earlier && o.releases(),
        Sync(SyncEvent::Fence { thread, ordering }) => {
            ordering.releases() && earlier < store && thread_of(&events[store]) == thread
        }
        _ => false,
    })
}

fn is_atomic_read(event: &Event) -> bool {
    matches!(event, Access { kind: AccessKind::AtomicRead(_) | AccessKind::AtomicReadWrite(_), .. })
}

/// The heads of the release sequences that the store a load reads belongs to: going back, a store that is no read-modify-write
/// leaves only those of its own thread.
fn release_sequence(events: &[Event], load: usize) -> Vec<usize> {
    let Access { object, offset, .. } = events[load] else { panic!("a load is an access") };
    let mut heads = Vec::new();
    let mut only = None;
    for index in (0..load).rev() {
        let Access { object: other, offset: at, kind, .. } = events[index] else { continue };
        if (other, at) != (object, offset) {
            continue;
        }
        let thread = thread_of(&events[index]);
        match kind {
            AccessKind::AtomicReadWrite(_) if only.is_none_or(|only| only == thread) => heads.push(index),
            AccessKind::AtomicReadWrite(_) => {}
            AccessKind::AtomicWrite(_) if only.is_none_or(|only| only == thread) => {
                heads.push(index);
                only = Some(thread);
            }
            AccessKind::AtomicWrite(_) | AccessKind::Write => break,
            _ => {}
        }
    }
    heads
}

/// The bytes of two accesses that race.
pub fn racing_bytes(events: &[Event], before: &[u128], earlier: usize, later: usize) -> Vec<(u32, u64)> {
    let (
        Access { object: a, offset: from_a, size: size_a, kind: kind_a, .. },
        Access { object: b, offset: from_b, size: size_b, kind: kind_b, .. },
    ) = (events[earlier], events[later])
    else {
        return Vec::new();
    };
    let conflicts = (kind_a.writes() || kind_b.writes()) && !(kind_a.is_atomic() && kind_b.is_atomic());
    if a != b || !conflicts || before[later] >> earlier & 1 == 1 {
        return Vec::new();
    }
    (from_a.max(from_b)..(from_a + size_a).min(from_b + size_b)).map(|byte| (a, byte)).collect()
}
