//! Atomic accesses keep their orderings, scopes and volatility.

use lockcheck::program::{Operation, Ordering, ReadModifyWriteOp, Scope};

use crate::support::*;

const SOURCE: &str = r#"
#include <stdatomic.h>
atomic_int a; volatile int v; int plain; long long wide;
int load_acquire(void) { return atomic_load_explicit(&a, memory_order_acquire); }
int load_relaxed(void) { return atomic_load_explicit(&a, memory_order_relaxed); }
void store_release(int x) { atomic_store_explicit(&a, x, memory_order_release); }
void store_default(int x) { a = x; }
int add(int x) { return atomic_fetch_add_explicit(&a, x, memory_order_acq_rel); }
int nand(int x) { return __sync_fetch_and_nand(&plain, x); }
int exchange(int x) { return atomic_exchange(&a, x); }
int compare(int *e, int d) {
    return atomic_compare_exchange_weak_explicit(&a, e, d, memory_order_seq_cst, memory_order_acquire);
}
int compare_strong(int *e, int d) { return atomic_compare_exchange_strong(&a, e, d); }
void thread_fence(void) { atomic_thread_fence(memory_order_acquire); }
void signal_fence(void) { atomic_signal_fence(memory_order_seq_cst); }
int read_volatile(void) { return v; }
int read_plain(void) { return plain; }
"#;

#[test]
fn orderings() {
    let program = lower_c(SOURCE, PLAIN);
    let load = |name| {
        the(function(&program, name), |operation| match operation {
            // The loads of parameters and of results are plain.
            Operation::Load { access, .. } if access.is_atomic() => Some(*access),
            _ => None,
        })
    };
    assert_eq!(load("load_acquire").ordering, Some(Ordering::Acquire));
    assert_eq!(load("load_relaxed").ordering, Some(Ordering::Relaxed));
    let store = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Store { access, .. } if access.is_atomic() => Some(*access),
            _ => None,
        })
    };
    assert_eq!(store("store_release").ordering, Some(Ordering::Release));
    assert_eq!(store("store_default").ordering, Some(Ordering::SequentiallyConsistent));
    assert_eq!(store("store_default").align, 4);
}

#[test]
fn read_modify_write() {
    let program = lower_c(SOURCE, PLAIN);
    let op = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::ReadModifyWrite { op, access, .. } => Some((*op, access.ordering.unwrap())),
            _ => None,
        })
    };
    assert_eq!(op("add"), (ReadModifyWriteOp::Add, Ordering::AcquireRelease));
    assert_eq!(op("nand"), (ReadModifyWriteOp::Nand, Ordering::SequentiallyConsistent));
    assert_eq!(op("exchange"), (ReadModifyWriteOp::Exchange, Ordering::SequentiallyConsistent));
}

#[test]
fn compare_exchange() {
    let program = lower_c(SOURCE, PLAIN);
    let found = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::CompareExchange { access, failure, is_weak, success_offset, .. } => {
                Some((access.ordering.unwrap(), *failure, *is_weak, *success_offset))
            }
            _ => None,
        })
    };
    assert_eq!(found("compare"), (Ordering::SequentiallyConsistent, Ordering::Acquire, true, 4));
    assert_eq!(found("compare_strong"), (Ordering::SequentiallyConsistent, Ordering::SequentiallyConsistent, false, 4));
}

#[test]
fn fences() {
    let program = lower_c(SOURCE, PLAIN);
    let fence = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Fence { ordering, scope } => Some((*ordering, *scope)),
            _ => None,
        })
    };
    assert_eq!(fence("thread_fence"), (Ordering::Acquire, Scope::System));
    assert_eq!(fence("signal_fence"), (Ordering::SequentiallyConsistent, Scope::SingleThread));
}

#[test]
fn volatile_is_not_atomic() {
    let program = lower_c(SOURCE, PLAIN);
    let access = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Load { access, .. } => Some(*access),
            _ => None,
        })
    };
    assert!(access("read_volatile").is_volatile && !access("read_volatile").is_atomic());
    assert!(!access("read_plain").is_volatile && !access("read_plain").is_atomic());
}
