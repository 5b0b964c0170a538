//! How fast memory and evaluation are: snapshots, loads, stores, arithmetic. Prints one line a figure; `cargo bench --bench memory`.

use std::hint::black_box;
use std::time::Instant;

use lockcheck::explore::evaluate;
use lockcheck::explore::memory::{Fill, Memory, ObjectKind};
use lockcheck::explore::value::{Pointer, Value};
use lockcheck::program::{ArithmeticFlags, BinaryOp, DataLayout, IntegerPredicate, Predicate, Type};

const HEAP: ObjectKind = ObjectKind::Heap { thread: 0, site: None };
const I32: Type = Type::integer(32);

/// A heap of 1 MiB in objects of `size` bytes, all written.
fn heap(size: u64) -> (Memory, Vec<Pointer>) {
    let mut memory = Memory::new(&DataLayout::default());
    let objects: Vec<Pointer> = (0..(1 << 20) / size)
        .map(|_| {
            let object = memory.allocate(HEAP, size, 16, Fill::Undef).expect("there is room");
            memory.fill(object, Some(1), size).expect("it is alive");
            object
        })
        .collect();
    (memory, objects)
}

/// The best of many short rounds, in nanoseconds a step: what the work takes when nothing disturbs it.
fn nanoseconds(steps: u32, mut round: impl FnMut()) -> f64 {
    let best = (0..100).map(|_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    });
    best.fold(f64::INFINITY, f64::min) * 1e9 / f64::from(steps)
}

fn report(what: &str, nanoseconds: f64) {
    println!("{what:<58} {nanoseconds:>10.1} ns {:>10.1} M/s", 1e3 / nanoseconds);
}

fn snapshots() {
    for (size, what) in [(1 << 20, "one object"), (4096, "256 objects"), (16, "65,536 objects")] {
        let (memory, objects) = heap(size);
        let cost = nanoseconds(1000, || (0..1000).for_each(|_| drop(black_box(memory.clone()))));
        report(&format!("snapshot of 1 MiB, {what}"), cost);
        let value = Value::integer(32, 7);
        let cost = nanoseconds(200, || {
            for index in 0..200 {
                let mut copy = memory.clone();
                let at = objects[index * 7919 % objects.len()];
                copy.store(at, &value, I32).expect("it is alive");
                black_box(copy);
            }
        });
        report(&format!("snapshot and one store after it, {what}"), cost);
    }
}

fn accesses() {
    const STEPS: u32 = 20_000;
    for (size, used, what) in [(1 << 20, 1, "1 MiB"), (16, 64, "64 objects"), (16, 1 << 16, "65,536 objects")] {
        let (mut memory, mut objects) = heap(size);
        objects.truncate(used);
        let at = |step: u32| match objects.len() {
            1 => objects[0].plus(u64::from(step) * 4 % (1 << 20)),
            count => objects[step as usize * 7 % count],
        };
        let value = Value::integer(32, 7);
        report(
            &format!("load of i32, {what}"),
            nanoseconds(STEPS, || (0..STEPS).for_each(|step| drop(black_box(memory.load(at(step), I32))))),
        );
        report(
            &format!("store of i32, {what}"),
            nanoseconds(STEPS, || (0..STEPS).for_each(|step| memory.store(at(step), &value, I32).expect("it is alive"))),
        );
        let pointer = Value::pointer(objects[0]);
        report(
            &format!("store of a pointer, {what}"),
            nanoseconds(STEPS, || {
                (0..STEPS).for_each(|step| {
                    let address = at(step);
                    let address = Pointer { address: address.address & !7, ..address };
                    memory.store(address, &pointer, Type::POINTER).expect("it is alive");
                });
            }),
        );
    }
}

fn stack() {
    const STEPS: u32 = 10_000;
    let cost = nanoseconds(STEPS, || {
        let mut memory = Memory::new(&DataLayout::default());
        for _ in 0..STEPS {
            let object = memory.allocate(HEAP, 8, 8, Fill::Undef).expect("there is room");
            memory.release(object.object.expect("it has one"), lockcheck::explore::memory::Death::ScopeLeft);
        }
    });
    report("allocate and release 8 bytes", cost);
}

fn arithmetic() {
    const STEPS: u32 = 20_000;
    let memory = Memory::new(&DataLayout::default());
    let (left, right) = (Value::integer(32, 1234), Value::integer(32, 77));
    let flags = ArithmeticFlags { no_signed_wrap: true, ..ArithmeticFlags::default() };
    for op in [BinaryOp::Add, BinaryOp::Multiply, BinaryOp::SignedDivide, BinaryOp::And] {
        let run = || (0..STEPS).for_each(|_| drop(black_box(evaluate::binary(op, flags, black_box(&left), &right))));
        report(&format!("{op:?} of i32"), nanoseconds(STEPS, run));
    }
    let less = Predicate::Integer(IntegerPredicate::SignedLess);
    let run = || (0..STEPS).for_each(|_| drop(black_box(evaluate::compare(&memory, less, black_box(&left), &right))));
    report("signed comparison of i32", nanoseconds(STEPS, run));
    let (left, right) = (Value::float64(1.5), Value::float64(2.5));
    let run =
        || (0..STEPS).for_each(|_| drop(black_box(evaluate::binary(BinaryOp::FloatMultiply, flags, black_box(&left), &right))));
    report("multiplication of double", nanoseconds(STEPS, run));
}

fn main() {
    snapshots();
    accesses();
    stack();
    arithmetic();
}
