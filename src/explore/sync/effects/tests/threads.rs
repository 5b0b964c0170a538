//! Threads: create, join, detach, cancel, cleanup, thread-specific data, the end.

use super::stand_in::{BASE, MAIN, StandIn, at, number};
use crate::explore::sync::layout::errno::*;
use crate::explore::sync::threads::Threads;
use crate::explore::sync::{EffectOutcome, MisuseKind, Readiness, Resume, SyncEvent, thread_returned};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, Value};
use crate::models::{Attempt, Attribute, Effect, LockClass, LockMode, ResultConvention, SpawnCount, ThreadResult};

fn function(address: u64) -> Value {
    Value::pointer(Pointer { address, object: None })
}

fn handle(thread: u32) -> Value {
    Value::integer(64, u128::from(Threads::handle(ThreadId(thread))))
}

fn join(attempt: Attempt) -> Effect {
    Effect::Join { handle: 0, value: Some(1), returns: ThreadResult::Pointer, attempt }
}

fn spawn(machine: &mut StandIn, attributes: Value) -> ThreadId {
    let effect = Effect::Spawn {
        handle: Some(0),
        attributes: Some(1),
        entry: 2,
        argument: Some(3),
        count: SpawnCount::One,
        returns: ThreadResult::Pointer,
        result: None,
    };
    assert_eq!(machine.call(0, effect, &[at(500), attributes, function(0x40), number(7)]), 0);
    machine.spawned.last().unwrap().0
}

/// The thread's entry returns; callbacks are answered at once and listed.
fn return_from(machine: &mut StandIn, thread: u32, value: Value) -> Vec<(u64, Vec<Value>)> {
    let (mut resume, mut calls) = (Resume::Start, Vec::new());
    loop {
        match thread_returned(machine, ThreadId(thread), Some(value.clone()), resume).unwrap() {
            EffectOutcome::CallBack { function, arguments, resume: next } => {
                calls.push((function.address, arguments));
                resume = next;
            }
            EffectOutcome::EndThread => return calls,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_join_waits_for_the_end_and_fetches_the_value() {
    let mut machine = StandIn::default();
    let child = spawn(&mut machine, function(0));
    assert_eq!(machine.stored[&(BASE + 500)], handle(child.0));
    assert_eq!(machine.spawned[0], (child, Pointer { address: 0x40, object: None }, Some(number(7))));
    let arguments = [handle(child.0), at(600)];
    assert_eq!(machine.call(0, join(Attempt::Try), &arguments), EBUSY);
    let waiting = machine.block(0, join(Attempt::Blocking), &arguments);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    return_from(&mut machine, child.0, function(0x99));
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert_eq!(machine.finish(waiting), 0);
    assert_eq!(machine.stored[&(BASE + 600)], function(0x99));
    assert_eq!(machine.call(0, join(Attempt::Blocking), &arguments), ESRCH, "joined already");
    let expected = [
        SyncEvent::Fork { parent: MAIN, child },
        SyncEvent::End { thread: child },
        SyncEvent::Join { thread: MAIN, ended: child },
    ];
    assert_eq!(machine.events, expected);
}

#[test]
fn what_cannot_be_joined_is_said() {
    let mut machine = StandIn::default();
    let set = Effect::SetAttribute { object: 0, attribute: Attribute::DetachState, value: 1 };
    machine.call(0, set, &[at(100), number(1)]);
    let detached = spawn(&mut machine, at(100));
    let child = spawn(&mut machine, function(0));
    let mut join_of = |thread: Value| machine.call(0, join(Attempt::Blocking), &[thread, function(0)]);
    assert_eq!(join_of(handle(detached.0)), EINVAL);
    assert_eq!(join_of(handle(0)), EDEADLK);
    assert_eq!(join_of(Value::integer(64, 12345)), ESRCH);
    let detach = Effect::Detach { handle: 0 };
    assert_eq!(machine.call(0, detach.clone(), &[handle(child.0)]), 0);
    assert_eq!(machine.call(0, detach, &[handle(child.0)]), EINVAL);
}

#[test]
fn a_timed_join_may_give_up() {
    let mut machine = StandIn::default();
    let child = spawn(&mut machine, function(0));
    let waiting = machine.block(0, join(Attempt::Timed), &[handle(child.0), function(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Expires);
    assert_eq!(machine.finish(waiting), ETIMEDOUT);
}

#[test]
fn c11_threads_return_integers() {
    let mut machine = StandIn::with_threads(1);
    let join = Effect::Join { handle: 0, value: Some(1), returns: ThreadResult::Integer, attempt: Attempt::Blocking };
    return_from(&mut machine, 1, number(-3));
    assert_eq!(machine.call(0, join.clone(), &[handle(1), at(600)]), 0);
    assert_eq!(machine.stored[&(BASE + 600)], number(-3));
    assert_eq!(machine.call(0, join, &[handle(1), at(600)]), 2, "thrd_error");
}

#[test]
fn a_cancelled_thread_leaves_its_wait_with_the_mutex_and_runs_its_handlers() {
    let mut machine = StandIn::with_threads(1);
    let lock = Effect::Acquire {
        lock: 0,
        class: LockClass::Mutex,
        mode: LockMode::Exclusive,
        attempt: Attempt::Blocking,
        result: ResultConvention::ZeroIsSuccess,
    };
    let push = Effect::PushCleanup { routine: 0, argument: 1 };
    machine.outcome(1, &push, &[function(0x50), number(1)], Resume::Start);
    machine.outcome(1, &push, &[function(0x60), number(2)], Resume::Start);
    machine.call(1, lock, &[at(0)]);
    let wait = Effect::Wait { condition: 0, lock: 1, attempt: Attempt::Blocking, result: ResultConvention::ZeroIsSuccess };
    let mut waiting = machine.block(1, wait, &[at(64), at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    assert_eq!(machine.call(0, Effect::Cancel { handle: 0 }, &[handle(1)]), 0);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    let mut called = Vec::new();
    let end = loop {
        match machine.go_on(&mut waiting) {
            EffectOutcome::CallBack { function, arguments, .. } => {
                assert_eq!(machine.table.held_by(ThreadId(1)).len(), 1, "handlers run with the mutex");
                called.push((function.address, arguments));
            }
            other => break other,
        }
    };
    assert_eq!(end, EffectOutcome::EndThread);
    assert_eq!(called, [(0x60, vec![number(2)]), (0x50, vec![number(1)])]);
    assert_eq!(machine.misuse_kinds(), [MisuseKind::LockLeak], "no handler gave the mutex back");
    machine.call(0, join(Attempt::Blocking), &[handle(1), at(600)]);
    assert_eq!(machine.stored[&(BASE + 600)], function(u64::MAX), "PTHREAD_CANCELED");
}

#[test]
fn a_disabled_cancellation_waits() {
    let mut machine = StandIn::with_threads(1);
    let set = Effect::SetCancelState { state: 0, old: Some(1) };
    machine.call(1, set.clone(), &[number(1), at(600)]);
    assert_eq!(machine.stored[&(BASE + 600)], number(0));
    machine.call(0, Effect::Cancel { handle: 0 }, &[handle(1)]);
    let point = Effect::CancellationPoint;
    assert_eq!(machine.outcome(1, &point, &[], Resume::Start), EffectOutcome::Done(None));
    machine.call(1, set, &[number(0), function(0)]);
    assert_eq!(machine.outcome(1, &point, &[], Resume::Start), EffectOutcome::EndThread);
}

#[test]
fn destructors_run_again_while_they_set_values() {
    let mut machine = StandIn::with_threads(1);
    let create = Effect::CreateKey { key: 0, destructor: Some(1) };
    machine.call(0, create, &[at(500), function(0x70)]);
    let key = machine.stored[&(BASE + 500)].clone();
    machine.call(1, Effect::SetSpecific { key: 0, value: 1 }, &[key.clone(), at(8)]);
    let got = machine.outcome(1, &Effect::GetSpecific { key: 0 }, std::slice::from_ref(&key), Resume::Start);
    assert_eq!(got, EffectOutcome::Done(Some(at(8))));
    let (mut resume, mut rounds) = (Resume::Start, 0);
    loop {
        match thread_returned(&mut machine, ThreadId(1), Some(function(0)), resume).unwrap() {
            EffectOutcome::CallBack { function, arguments, resume: next } => {
                assert_eq!((function.address, arguments), (0x70, vec![at(8)]));
                rounds += 1;
                machine.call(1, Effect::SetSpecific { key: 0, value: 1 }, &[key.clone(), at(8)]);
                resume = next;
            }
            other => {
                assert_eq!(other, EffectOutcome::EndThread);
                break;
            }
        }
    }
    assert_eq!(rounds, 4, "PTHREAD_DESTRUCTOR_ITERATIONS");
}

#[test]
fn cleanup_handlers_are_popped_with_or_without_a_run() {
    let mut machine = StandIn::with_threads(0);
    let push = Effect::PushCleanup { routine: 0, argument: 1 };
    let pop = Effect::PopCleanup { execute: 0 };
    machine.outcome(0, &push, &[function(0x50), number(1)], Resume::Start);
    machine.outcome(0, &push, &[function(0x60), number(2)], Resume::Start);
    assert_eq!(machine.outcome(0, &pop, &[number(0)], Resume::Start), EffectOutcome::Done(None));
    let outcome = machine.outcome(0, &pop, &[number(1)], Resume::Start);
    let EffectOutcome::CallBack { function, resume, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(function.address, 0x50);
    assert_eq!(machine.outcome(0, &pop, &[number(1)], resume), EffectOutcome::Done(None));
}

#[test]
fn a_thread_that_ends_frees_the_atomic_section_and_its_once() {
    let mut machine = StandIn::with_threads(2);
    let once = Effect::Once { control: 0, routine: 1 };
    machine.outcome(1, &once, &[at(0), function(0x40)], Resume::Start);
    let waiting = machine.block(2, once, &[at(0), function(0x40)]);
    machine.call(1, Effect::BeginAtomic, &[]);
    return_from(&mut machine, 1, function(0));
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert!(machine.table.may_run(ThreadId(2)) && !machine.table.may_run(ThreadId(1)));
}

/// Handlers behind a `setjmp` and plain routines, innermost first, then the end.
#[test]
fn a_thread_that_ends_jumps_to_its_cleanup_handlers() {
    let mut machine = StandIn::with_threads(1);
    let push = Effect::PushCleanupJump { buffer: 0 };
    machine.outcome(1, &push, &[at(0)], Resume::Start);
    machine.outcome(1, &Effect::PushCleanup { routine: 0, argument: 1 }, &[function(0x50), number(1)], Resume::Start);
    machine.outcome(1, &push, &[at(100)], Resume::Start);
    machine.outcome(1, &push, &[at(200)], Resume::Start);
    assert_eq!(machine.outcome(1, &Effect::PopCleanupJump { buffer: 0 }, &[at(200)], Resume::Start), EffectOutcome::Done(None));
    let leave = Effect::ExitThread { value: Some(0), returns: ThreadResult::Pointer };
    let address = |outcome: EffectOutcome| match outcome {
        EffectOutcome::Jump { buffer } => buffer.address - BASE,
        other => panic!("{other:?}"),
    };
    assert_eq!(address(machine.outcome(1, &leave, &[function(7)], Resume::Start)), 100);
    let next = machine.outcome(1, &Effect::ContinueExit, &[], Resume::Start);
    let EffectOutcome::CallBack { function: routine, resume, .. } = next else { panic!("{next:?}") };
    assert_eq!(routine.address, 0x50);
    assert_eq!(address(machine.outcome(1, &Effect::ContinueExit, &[], resume)), 0);
    assert_eq!(machine.outcome(1, &Effect::ContinueExit, &[], Resume::Start), EffectOutcome::EndThread);
}

#[test]
fn the_cancellation_type_is_kept_and_only_deferred_is_exact() {
    let mut machine = StandIn::with_threads(0);
    let set = Effect::SetCancelType { kind: 0, old: Some(1) };
    for (kind, code) in [(1, 0), (0, 0), (2, EINVAL)] {
        assert_eq!(machine.call(0, set.clone(), &[number(kind), at(kind as u64 * 8)]), code);
    }
    assert_eq!(machine.stored.get(&(BASE + 8)), Some(&number(0)));
    assert_eq!(machine.stored.get(&BASE), Some(&number(1)));
    assert_eq!(machine.assumptions, [crate::program::AssumptionKind::PartialModel]);
}
