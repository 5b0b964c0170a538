//! What is stored where, and which objects more than one thread reaches, on small programs in text form.

use super::text_programs::{points_to, program, show};
use lockcheck::facts::{AbstractObjectKind, Escape, Location, Offset, PointsTo};
use lockcheck::program::Program;

const BODY: &str = r#"
global @a "a" size 4 align 4 = -
global @pair "pair" size 16 align 8 = - [8: global @a 0]
global @key "key" size 4 align 4 = -
global @number "number" size 8 align 8 = -
function @pthread_create "pthread_create" (%0: ptr, %1: ptr, %2: ptr, %3: ptr) returns i32
function @pthread_exit "pthread_exit" (%0: ptr) returns void
function @pthread_key_create "pthread_key_create" (%0: ptr, %1: ptr) returns i32
function @pthread_setspecific "pthread_setspecific" (%0: i32, %1: ptr) returns i32
function @malloc "malloc" (%0: i64) returns ptr
function @worker "worker" (%0: ptr) returns ptr {
b0:
  %1: ptr = stack_allocate 8 * i32 1 align 8 !s0
  %2: ptr = stack_allocate 4 * i32 1 align 4 !s1
  %3: ptr = call @malloc(i64 16) !s2
  store %3 to %1 align 8 !s3
  store %2 to %3 align 8 !s4
  %4: i32 = load global @key align 4 !s5
  %5: ptr = call @malloc(i64 16) !s6
  %6: i32 = call @pthread_setspecific(%4, %5) !s7
  %7: ptr = call @malloc(i64 16) !s8
  store %7 to %0 align 8 !s9
  %8: ptr = call @malloc(i64 16) !s10
  call @pthread_exit(%8) !s11
  return null !s12
}
function @main "main" () returns i32 {
b0:
  %0: ptr = stack_allocate 8 * i32 1 align 8 !s13
  %1: ptr = stack_allocate 16 * i32 1 align 8 !s14
  %2: ptr = stack_allocate 4 * i32 1 align 4 !s15
  %3: i32 = call @pthread_key_create(global @key, null) !s16
  %4: ptr = offset in_bounds %1, 8 !s17
  store %2 to %4 align 8 !s18
  %5: i32 = call @pthread_create(%0, null, function @worker, %1) !s19
  %6: ptr = stack_allocate 4 * i32 1 align 4 !s20
  store %6 to global @pair align 8 !s21
  %7: ptr = stack_allocate 4 * i32 1 align 4 !s22
  %8: i64 = cast pointer_to_integer %7 !s23
  %9: i64 = multiply %8, i64 2 !s24
  store %9 to global @number align 8 !s25
  return i32 0 !s26
}"#;

fn shared(program: &Program, points_to: &PointsTo) -> Vec<String> {
    let escape = Escape::of(points_to);
    let is_made = |kind: &AbstractObjectKind| {
        matches!(kind, AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::Heap { .. } | AbstractObjectKind::Global(_))
    };
    let objects = points_to.objects().filter(|(id, object)| is_made(&object.kind) && escape.is_shared(*id));
    let mut shown: Vec<String> =
        objects.map(|(object, _)| show(program, points_to, Location { object, offset: Offset::At(0) })).collect();
    shown.sort();
    shown
}

#[test]
fn only_what_is_handed_over_or_stored_in_shared_memory_is_shared() {
    let program = program(BODY);
    let points_to = points_to(&program);
    // Not the worker's slots and the memory they lead to (s2), nor what it keeps under a key (s6), nor main's handle (slot0). The
    // doubled address is never used as one.
    let expected = ["a", "heap-s10", "heap-s8", "key", "number", "pair", "slot1", "slot2", "slot6"];
    let shared = shared(&program, &points_to);
    assert_eq!(shared, expected, "slots 1 and 2 are main's");
    let workers: Vec<_> = points_to
        .objects()
        .filter(|(_, object)| matches!(object.kind, AbstractObjectKind::StackSlot { function, .. } if program.functions[function].name == "worker"))
        .collect();
    let escape = Escape::of(&points_to);
    assert!(workers.len() == 2 && workers.iter().all(|(id, _)| !escape.is_shared(*id)));
}

#[test]
fn a_number_used_as_an_address_shares_what_it_was_computed_from() {
    let uses = BODY.replace(
        "  return i32 0 !s26",
        "  %10: i64 = load global @number align 8 !s27\n  %11: i64 = unsigned_divide %10, i64 2 !s28\n  %12: ptr = cast integer_to_pointer %11 !s29\n  store i32 1 to %12 align 4 !s30\n  return i32 0 !s26",
    );
    let program = program(&uses);
    let points_to = points_to(&program);
    assert!(shared(&program, &points_to).contains(&"slot7".to_owned()));
}

#[test]
fn contents_are_what_overlapping_stores_put_there() {
    let program = program(BODY);
    let points_to = points_to(&program);
    let pair = program.globals.position(|global| global.name == "pair").expect("it is there");
    let object = points_to.object_of_kind(&AbstractObjectKind::Global(pair)).expect("it is mentioned");
    let contents = |offset, size| -> Vec<String> {
        points_to.contents(Location { object, offset }, size).map(|location| show(&program, &points_to, location)).collect()
    };
    assert_eq!(contents(Offset::At(0), 8), ["slot6"]);
    assert_eq!(contents(Offset::At(8), 8), ["a"]);
    assert_eq!(contents(Offset::At(4), 8).len(), 2);
    assert_eq!(contents(Offset::Class { residue: 0, stride: 16 }, 8), ["slot6"]);
    assert_eq!(contents(Offset::Any, 1).len(), 2);
}
