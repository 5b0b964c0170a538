//! Condition variables: who wakes, who does not, and what a wait needs.

use super::stand_in::{StandIn, at};
use crate::explore::sync::layout::errno::*;
use crate::explore::sync::{EffectOutcome, MisuseKind, Readiness};
use crate::explore::thread_id::ThreadId;
use crate::models::{Attempt, Effect, LockClass, LockMode, ResultConvention, Wakes};

const CONDITION: u64 = 64;

fn lock() -> Effect {
    Effect::Acquire {
        lock: 0,
        class: LockClass::Mutex,
        mode: LockMode::Exclusive,
        attempt: Attempt::Blocking,
        result: ResultConvention::ZeroIsSuccess,
    }
}

fn unlock() -> Effect {
    Effect::Release { lock: 0, class: LockClass::Mutex }
}

fn wait(attempt: Attempt) -> Effect {
    Effect::Wait { condition: 0, lock: 1, attempt, result: ResultConvention::ZeroIsSuccess }
}

fn signal(machine: &mut StandIn, thread: u32, wakes: Wakes) {
    assert_eq!(machine.call(thread, Effect::Signal { condition: 0, wakes }, &[at(CONDITION)]), 0);
}

/// The thread holds the mutex and waits.
fn waits(machine: &mut StandIn, thread: u32, attempt: Attempt) -> super::stand_in::Waiting {
    machine.call(thread, lock(), &[at(0)]);
    machine.block(thread, wait(attempt), &[at(CONDITION), at(0)])
}

#[test]
fn a_wait_gives_the_mutex_back_and_takes_it_again() {
    let mut machine = StandIn::with_threads(1);
    let mut waiting = waits(&mut machine, 1, Attempt::Blocking);
    assert!(machine.table.held_by(ThreadId(1)).is_empty());
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    assert_eq!(machine.call(0, lock(), &[at(0)]), 0);
    signal(&mut machine, 0, Wakes::One);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert!(matches!(machine.go_on(&mut waiting), EffectOutcome::Block { .. }), "the mutex is still taken");
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
    machine.call(0, unlock(), &[at(0)]);
    assert_eq!(machine.readiness(&waiting), Readiness::Ready);
    assert_eq!(machine.finish(waiting), 0);
    assert_eq!(machine.table.held_by(ThreadId(1)).len(), 1);
}

#[test]
fn a_signal_before_the_wait_is_lost() {
    let mut machine = StandIn::with_threads(1);
    signal(&mut machine, 0, Wakes::One);
    let waiting = waits(&mut machine, 1, Attempt::Blocking);
    assert_eq!(machine.readiness(&waiting), Readiness::Blocked);
}

#[test]
fn the_schedule_says_which_waiter_wakes() {
    for picked in [0, 1, 2] {
        let mut machine = StandIn::with_threads(3);
        let waiting: Vec<_> = (1..=3).map(|thread| waits(&mut machine, thread, Attempt::Blocking)).collect();
        machine.picks = vec![picked];
        signal(&mut machine, 0, Wakes::One);
        let ready: Vec<usize> = (0..3).filter(|index| machine.readiness(&waiting[*index]) == Readiness::Ready).collect();
        assert_eq!(ready, [picked]);
    }
}

#[test]
fn a_broadcast_wakes_all() {
    let mut machine = StandIn::with_threads(3);
    let waiting: Vec<_> = (1..=3).map(|thread| waits(&mut machine, thread, Attempt::Blocking)).collect();
    signal(&mut machine, 0, Wakes::All);
    for waiter in waiting {
        let thread = waiter.thread.0;
        assert_eq!(machine.finish(waiter), 0);
        machine.call(thread, unlock(), &[at(0)]);
    }
}

#[test]
fn a_timed_wait_may_give_up_and_takes_no_signal_with_it() {
    let mut machine = StandIn::with_threads(2);
    let gives_up = waits(&mut machine, 1, Attempt::Timed);
    assert_eq!(machine.readiness(&gives_up), Readiness::Expires);
    assert_eq!(machine.finish(gives_up), ETIMEDOUT);
    machine.call(1, unlock(), &[at(0)]);
    let stays = waits(&mut machine, 2, Attempt::Blocking);
    signal(&mut machine, 0, Wakes::One);
    assert_eq!(machine.readiness(&stays), Readiness::Ready);
}

#[test]
fn waits_wake_for_no_reason_only_with_faults() {
    let mut machine = StandIn::with_threads(1);
    machine.has_faults = true;
    let waiting = waits(&mut machine, 1, Attempt::Blocking);
    assert_eq!(machine.readiness(&waiting), Readiness::Expires);
    assert_eq!(machine.finish(waiting), 0);
}

#[test]
fn a_wait_without_the_mutex_is_reported() {
    let mut machine = StandIn::with_threads(1);
    machine.block(1, wait(Attempt::Blocking), &[at(CONDITION), at(0)]);
    assert_eq!(machine.misuse_kinds(), [MisuseKind::WaitWithoutLock]);
    // An error-checking mutex answers.
    machine.bytes.insert(super::stand_in::BASE + 200 + 16, 2);
    assert_eq!(machine.call(0, wait(Attempt::Blocking), &[at(CONDITION), at(200)]), EPERM);
}

#[test]
fn a_condition_in_use_is_not_destroyed() {
    let mut machine = StandIn::with_threads(1);
    let waiting = waits(&mut machine, 1, Attempt::Blocking);
    let destroying = machine.block(0, Effect::DestroyCondition { condition: 0 }, &[at(CONDITION)]);
    assert_eq!(machine.readiness(&destroying), Readiness::Blocked);
    signal(&mut machine, 0, Wakes::One);
    assert_eq!(machine.finish(waiting), 0);
    assert_eq!(machine.finish(destroying), 0);
}
