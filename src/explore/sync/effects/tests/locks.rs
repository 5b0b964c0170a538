//! Mutexes, read-write locks, spin locks: status values, blocking, misuse.

use super::stand_in::{StandIn, at, number};
use crate::explore::fault::Fault;
use crate::explore::sync::layout::errno::*;
use crate::explore::sync::{MisuseKind, Readiness, SyncEvent, Touch};
use crate::explore::thread_id::ThreadId;
use crate::models::{Attempt, Attribute, Effect, LockClass, LockKindSource, LockMode, ResultConvention};

fn acquire_as(class: LockClass, mode: LockMode, attempt: Attempt, result: ResultConvention) -> Effect {
    Effect::Acquire { lock: 0, class, mode, attempt, result }
}

fn acquire(class: LockClass, mode: LockMode, attempt: Attempt) -> Effect {
    acquire_as(class, mode, attempt, ResultConvention::ZeroIsSuccess)
}

fn lock() -> Effect {
    acquire(LockClass::Mutex, LockMode::Exclusive, Attempt::Blocking)
}

fn unlock() -> Effect {
    Effect::Release { lock: 0, class: LockClass::Mutex }
}

fn read_write(mode: LockMode) -> Effect {
    acquire(LockClass::ReadWrite, mode, Attempt::Blocking)
}

#[test]
fn a_mutex_blocks_until_it_is_given_back() {
    let mut machine = StandIn::with_threads(1);
    assert_eq!(machine.call(0, lock(), &[at(0)]), 0);
    let waiting = machine.block(1, lock(), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    assert_eq!(machine.call(0, unlock(), &[at(0)]), 0);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert_eq!(machine.finish(waiting), 0);
    assert_eq!(machine.table.held_by(ThreadId(1)).len(), 1);
    let acquires = machine.events.iter().filter(|event| matches!(event, SyncEvent::Acquire { .. })).count();
    assert_eq!((acquires, machine.misuses.len()), (2, 0));
    assert!(machine.touches.iter().all(|touch| *touch == (0, 40, Touch::Operation)));
}

#[test]
fn a_second_lock_waits_for_itself_and_is_reported_once() {
    let mut machine = StandIn::with_threads(1);
    machine.call(0, lock(), &[at(0)]);
    let mut waiting = machine.block(0, lock(), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    machine.go_on(&mut waiting);
    assert_eq!(machine.misuse_kinds(), [MisuseKind::DoubleLock]);
    machine.call(1, unlock(), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready, "a foreign unlock sets it free");
}

#[test]
fn kinds_come_from_attributes_and_from_static_initialisers() {
    for pointer_bytes in [4, 8] {
        let mut machine = StandIn::with_threads(0);
        machine.layout.pointer_bytes = pointer_bytes;
        let set_type = Effect::SetAttribute { object: 0, attribute: Attribute::MutexType, value: 1 };
        machine.call(0, Effect::InitializeAttribute { object: 0 }, &[at(100)]);
        assert_eq!(machine.call(0, set_type.clone(), &[at(100), number(9)]), EINVAL);
        machine.call(0, set_type, &[at(100), number(1)]);
        let kind = LockKindSource::Attributes(1);
        machine.call(0, Effect::InitializeLock { lock: 0, class: LockClass::Mutex, kind }, &[at(0), at(100)]);
        assert_eq!([machine.call(0, lock(), &[at(0)]), machine.call(0, lock(), &[at(0)])], [0, 0]);
        assert_eq!(machine.call(0, unlock(), &[at(0)]), 0);
        assert_eq!(machine.table.held_by(ThreadId(0)).len(), 1, "one level is left");
        // PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP at 200
        let kind_offset = if pointer_bytes == 8 { 16 } else { 12 };
        machine.bytes.insert(super::stand_in::BASE + 200 + kind_offset, 2);
        assert_eq!(machine.call(0, lock(), &[at(200)]), 0);
        assert_eq!(machine.call(0, lock(), &[at(200)]), EDEADLK);
        assert!(machine.misuses.is_empty(), "it was asked to check");
    }
}

#[test]
fn c11_mutexes_speak_in_status_values() {
    let mut machine = StandIn::with_threads(1);
    let with = |attempt| acquire_as(LockClass::Mutex, LockMode::Exclusive, attempt, ResultConvention::ThreadStatus);
    let kind = LockKindSource::TypeFlags(1);
    machine.call(0, Effect::InitializeLock { lock: 0, class: LockClass::Mutex, kind }, &[at(0), number(3)]);
    assert_eq!(machine.call(0, with(Attempt::Blocking), &[at(0)]), 0);
    assert_eq!(machine.call(0, with(Attempt::Blocking), &[at(0)]), 0, "mtx_timed | mtx_recursive");
    assert_eq!(machine.call(1, with(Attempt::Try), &[at(0)]), 1, "thrd_busy");
    let waiting = machine.block(1, with(Attempt::Timed), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Expires);
    assert_eq!(machine.finish(waiting), 4, "thrd_timedout");
}

#[test]
fn attempts_fail_without_waiting() {
    let mut machine = StandIn::with_threads(1);
    for class in [LockClass::Mutex, LockClass::Spin, LockClass::ReadWrite] {
        let lock = at(class as u64 * 64);
        let attempt = |mode| acquire(class, mode, Attempt::Try);
        assert_eq!(machine.call(0, attempt(LockMode::Exclusive), std::slice::from_ref(&lock)), 0);
        assert_eq!(machine.call(1, attempt(LockMode::Exclusive), std::slice::from_ref(&lock)), EBUSY);
        assert_eq!(machine.call(0, attempt(LockMode::Exclusive), &[lock]), EBUSY);
    }
    let custom = acquire_as(LockClass::Custom, LockMode::Exclusive, Attempt::Try, ResultConvention::NonzeroIsSuccess);
    assert_eq!(machine.call(0, custom.clone(), &[number(7)]), 1);
    assert_eq!(machine.call(1, custom, &[number(7)]), 0);
    assert!(machine.misuses.is_empty());
}

#[test]
fn a_deadline_passes_only_while_the_lock_is_taken() {
    let mut machine = StandIn::with_threads(1);
    let timed = acquire(LockClass::Mutex, LockMode::Exclusive, Attempt::Timed);
    machine.call(0, lock(), &[at(0)]);
    let gives_up = machine.block(1, timed.clone(), &[at(0)]);
    assert_eq!(machine.readiness(&gives_up), Readiness::Expires);
    assert_eq!(machine.finish(gives_up), ETIMEDOUT);
    let succeeds = machine.block(1, timed, &[at(0)]);
    machine.call(0, unlock(), &[at(0)]);
    assert_eq!(machine.readiness(&succeeds), Readiness::Ready);
    assert_eq!(machine.finish(succeeds), 0);
}

#[test]
fn unlocks_and_destroys_have_rules() {
    let mut machine = StandIn::with_threads(1);
    let destroy = Effect::DestroyLock { lock: 0, class: LockClass::Mutex };
    machine.call(0, unlock(), &[at(0)]);
    machine.call(0, lock(), &[at(0)]);
    assert_eq!(machine.call(1, destroy.clone(), &[at(0)]), EBUSY);
    machine.call(1, unlock(), &[at(0)]);
    assert_eq!(machine.misuse_kinds(), [MisuseKind::UnlockNotHeld, MisuseKind::DestroyHeld, MisuseKind::UnlockNotHeld]);
    assert_eq!(
        machine.misuses.iter().map(|misuse| misuse.holder).collect::<Vec<_>>(),
        [None, Some(ThreadId(0)), Some(ThreadId(0))]
    );
    assert!(machine.table.held_by(ThreadId(0)).is_empty(), "the foreign unlock took it away");
    assert_eq!(machine.call(1, destroy, &[at(0)]), 0);
    assert!(matches!(machine.fault(0, lock(), &[at(0)]), Fault::Undefined { .. }), "destroyed");
    assert!(machine.touches.contains(&(0, 40, Touch::PlainWrite)));
}

#[test]
fn a_waiting_writer_holds_up_readers_when_writers_are_preferred() {
    for (preference, readiness) in [(0, Readiness::Ready), (1, Readiness::Ready), (2, Readiness::Blocked)] {
        let mut machine = StandIn::with_threads(2);
        // PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP sets `__flags`.
        machine.bytes.insert(super::stand_in::BASE + 48, preference);
        machine.call(0, read_write(LockMode::Shared), &[at(0)]);
        let writer = machine.block(1, read_write(LockMode::Exclusive), &[at(0)]);
        let probe = machine.table.lock(key(0)).unwrap().is_available_to(ThreadId(2), LockMode::Shared);
        assert_eq!(probe, readiness == Readiness::Ready, "{preference}");
        machine.call(0, Effect::Release { lock: 0, class: LockClass::ReadWrite }, &[at(0)]);
        assert_eq!(machine.finish(writer), 0);
        let reader = machine.block(2, read_write(LockMode::Shared), &[at(0)]);
        machine.call(1, Effect::Release { lock: 0, class: LockClass::ReadWrite }, &[at(0)]);
        assert_eq!(machine.finish(reader), 0, "no writer waits any more");
    }
}

#[test]
fn a_writer_that_locks_again_is_told_and_an_upgrade_deadlocks() {
    let mut machine = StandIn::with_threads(0);
    machine.call(0, read_write(LockMode::Exclusive), &[at(0)]);
    assert_eq!(machine.call(0, read_write(LockMode::Exclusive), &[at(0)]), EDEADLK);
    machine.call(0, read_write(LockMode::Shared), &[at(64)]);
    let upgrade = machine.block(0, read_write(LockMode::Exclusive), &[at(64)]);
    assert_eq!(machine.readiness(&upgrade), Readiness::Blocked);
    assert_eq!(machine.misuse_kinds(), [MisuseKind::DoubleLock, MisuseKind::DoubleLock]);
    assert_eq!(machine.misuses.iter().map(|misuse| misuse.returns_error).collect::<Vec<_>>(), [true, false]);
}

fn key(offset: u64) -> crate::explore::sync::SyncKey {
    crate::explore::sync::SyncKey { object: Some(super::stand_in::OBJECT), offset }
}
