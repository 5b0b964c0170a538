//! Barriers, one-time initialisation, semaphores, atomic sections, atomics by call.

use super::stand_in::{BASE, StandIn, at, number};
use crate::explore::sync::layout::errno::*;
use crate::explore::sync::{EffectOutcome, Readiness, Resume, SyncEvent, Touch};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, Value};
use crate::models::{AtomicCall, AtomicOperation, Attempt, Effect, SizeSource};
use crate::program::Ordering;

#[test]
fn a_barrier_opens_with_the_last_one_who_is_the_serial_thread() {
    let mut machine = StandIn::with_threads(2);
    let wait = || Effect::WaitBarrier { barrier: 0 };
    assert_eq!(machine.call(0, wait(), &[at(0)]), EINVAL, "not initialised");
    let initialize = Effect::InitializeBarrier { barrier: 0, count: 2 };
    assert_eq!(machine.call(0, initialize.clone(), &[at(0), number(0), number(0)]), EINVAL);
    machine.call(0, initialize, &[at(0), number(0), number(3)]);
    let first = machine.block(0, wait(), &[at(0)]);
    let second = machine.block(1, wait(), &[at(0)]);
    assert_eq!(machine.readiness(&first), Readiness::Blocked);
    assert_eq!(machine.call(2, wait(), &[at(0)]), -1);
    let next_round = machine.block(2, wait(), &[at(0)]);
    assert_eq!([machine.finish(first), machine.finish(second)], [0, 0]);
    assert_eq!(machine.readiness(&next_round), Readiness::Blocked);
}

#[test]
fn once_runs_the_routine_in_one_thread_and_the_others_wait() {
    let mut machine = StandIn::with_threads(1);
    let once = || Effect::Once { control: 0, routine: 1 };
    let routine = Pointer { address: 0x77, object: None };
    let arguments = [at(0), Value::pointer(routine)];
    let outcome = machine.outcome(0, &once(), &arguments, Resume::Start);
    let EffectOutcome::CallBack { function, resume, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(function, routine);
    let waiting = machine.block(1, once(), &arguments);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    assert!(matches!(machine.outcome(0, &once(), &arguments, resume), EffectOutcome::Done(_)));
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert_eq!(machine.finish(waiting), 0);
    assert_eq!(machine.call(0, once(), &arguments), 0);
    assert!(machine.events.contains(&SyncEvent::PassOnce { thread: ThreadId(1), control: key() }));
}

fn key() -> crate::explore::sync::SyncKey {
    crate::explore::sync::SyncKey { object: Some(super::stand_in::OBJECT), offset: 0 }
}

#[test]
fn semaphores_count_and_report_through_errno() {
    let mut machine = StandIn::with_threads(1);
    let wait = |attempt| Effect::WaitSemaphore { semaphore: 0, attempt };
    machine.call(0, Effect::InitializeSemaphore { semaphore: 0, value: 1 }, &[at(0), number(1)]);
    assert_eq!(machine.call(0, wait(Attempt::Blocking), &[at(0)]), 0);
    assert_eq!((machine.call(0, wait(Attempt::Try), &[at(0)]), machine.errno), (-1, EAGAIN));
    let timed = machine.block(0, wait(Attempt::Timed), &[at(0)]);
    assert_eq!(machine.readiness(&timed), Readiness::Expires);
    assert_eq!((machine.finish(timed), machine.errno), (-1, ETIMEDOUT));
    let waiting = machine.block(1, wait(Attempt::Blocking), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    machine.call(0, Effect::PostSemaphore { semaphore: 0 }, &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert_eq!(machine.finish(waiting), 0);
    machine.call(0, Effect::ReadSemaphore { semaphore: 0, value: 1 }, &[at(0), at(64)]);
    assert_eq!(machine.stored[&(BASE + 64)], number(0));
}

#[test]
fn an_atomic_section_stops_everybody_else() {
    let mut machine = StandIn::with_threads(1);
    machine.call(0, Effect::BeginAtomic, &[]);
    machine.call(0, Effect::BeginAtomic, &[]);
    assert!(machine.table.may_run(ThreadId(0)) && !machine.table.may_run(ThreadId(1)));
    machine.call(0, Effect::EndAtomic, &[]);
    assert!(!machine.table.may_run(ThreadId(1)));
    machine.call(0, Effect::EndAtomic, &[]);
    assert!(machine.table.may_run(ThreadId(1)));
    assert_eq!(machine.events.len(), 2, "only the outermost counts");
}

fn atomic(operation: AtomicOperation, output: Option<usize>, orderings: Vec<usize>) -> Effect {
    let operand = if operation == AtomicOperation::CompareExchange { 2 } else { 1 };
    Effect::Atomic(AtomicCall {
        operation,
        size: SizeSource::Constant(4),
        object: 0,
        operand: Some(operand),
        output,
        orderings,
        operands_are_pointers: false,
    })
}

#[test]
fn atomics_by_call_compute_and_order() {
    let mut machine = StandIn::with_threads(0);
    // memory_order_release
    machine.call(0, atomic(AtomicOperation::Store, None, vec![2]), &[at(0), number(12), number(3)]);
    assert_eq!(machine.touches.last(), Some(&(0, 4, Touch::AtomicWrite(Ordering::Release))));
    assert_eq!(machine.call(0, atomic(AtomicOperation::FetchAdd, None, vec![2]), &[at(0), number(5), number(0)]), 12);
    assert_eq!(machine.touches.last(), Some(&(0, 4, Touch::AtomicReadWrite(Ordering::Relaxed))));
    assert_eq!(machine.call(0, atomic(AtomicOperation::FetchNand, None, vec![]), &[at(0), number(1)]), 17);
    assert_eq!(machine.call(0, atomic(AtomicOperation::Load, None, vec![1]), &[at(0), number(2)]), !1);
}

#[test]
fn compare_exchange_writes_back_what_it_found() {
    let mut machine = StandIn::with_threads(0);
    let exchange = || atomic(AtomicOperation::CompareExchange, Some(1), vec![3, 4]);
    let orderings = [number(4), number(2)];
    let arguments = |desired| [vec![at(0), at(64), number(desired)], orderings.to_vec()].concat();
    assert_eq!(machine.call(0, exchange(), &arguments(9)), 1);
    assert_eq!(machine.touches.last(), Some(&(0, 4, Touch::AtomicReadWrite(Ordering::AcquireRelease))));
    assert_eq!(machine.call(0, exchange(), &arguments(7)), 0);
    assert_eq!(machine.touches.last(), Some(&(0, 4, Touch::AtomicRead(Ordering::Acquire))));
    assert_eq!((&machine.stored[&BASE], &machine.stored[&(BASE + 64)]), (&number(9), &number(9)));
}

#[test]
fn fences_take_their_ordering_from_the_call() {
    use crate::models::ArgumentIndexOrStrongest;
    let mut machine = StandIn::with_threads(0);
    machine.call(0, Effect::Fence { ordering: ArgumentIndexOrStrongest::Argument(0) }, &[number(2)]);
    machine.call(0, Effect::Fence { ordering: ArgumentIndexOrStrongest::SequentiallyConsistent }, &[]);
    let orderings = machine.events.iter().map(|event| match event {
        SyncEvent::Fence { ordering, .. } => *ordering,
        other => panic!("{other:?}"),
    });
    assert_eq!(orderings.collect::<Vec<_>>(), [Ordering::Acquire, Ordering::SequentiallyConsistent]);
}
