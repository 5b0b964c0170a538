//! What memory is allocated as, how large it is, and what may lie in it.

use lockcheck::facts::PointsTo;
use lockcheck::models::Models;
use lockcheck::program::Program;

use crate::text_programs::{expect, expect_of, points_to, program};

const TYPES: &str = r#"
type t0 size 16 struct "conn" {"self" 0 64 type t1, "next" 64 64 type t1}
type t1 size 8 pointer type t0
type t2 size 24 struct "item" {"left" 0 64 type t3, "right" 64 64 type t3, "up" 128 64 type t3}
type t3 size 8 pointer type t2
type t4 size 1 base "char"
type t5 size 20 array count 20 type t4
type t6 size 64 array count 64 type t4
type t7 size 16 struct "small" {"self" 0 64 type t1, "tail" 64 64 type t1}
type t8 size 8 base "unsigned long"
structure c0 "conn"
structure c1 "item"
variable v0 "conn" type t1
variable v1 "item" type t3
variable v2 "number" type t8
global @a "a" size 4 align 4 = -
global @declared "declared" size 16 align 8 type t0 = -
global @short "short" size 20 align 8 type t5 = -
global @long "long" size 64 align 8 type t6 = -
global @any "any" size 64 align 8 = -
function @malloc "malloc" (%0: i64) returns ptr
function @calloc "calloc" (%0: i64, %1: i64) returns ptr
"#;

/// Where a pointer is used as one to a structure, it points to an object that holds one, or to bytes that are enough for one.
#[test]
fn members_are_addressed_where_their_structure_can_lie() {
    let body = r#"
function @main "main" () returns i32 {
b0:
  %0: ptr = offset in_bounds global @declared, 8 in c0 !s0
  %1: ptr = offset in_bounds global @declared, 8 in c1 !s1
  %2: ptr = offset in_bounds global @short, 8 in c0 !s2
  %3: ptr = offset in_bounds global @short, 8 in c1 !s3
  %4: ptr = offset in_bounds global @long, 8 in c1 !s4
  %5: ptr = offset in_bounds global @any, 8 in c1 !s5
  %6: ptr = offset in_bounds global @declared, 8 !s6
  %7: ptr = offset in_bounds global @short, 8 !s7
  %8: ptr = offset in_bounds %7, 0 in c0 !s8
  return i32 0 !s9
}"#;
    let expected = [
        (0, "declared+8"),
        (1, ""),
        (2, "short+8"),
        (3, ""),
        (4, "long+8"),
        (5, "any+8"),
        (6, "declared+8"),
        (7, "short+8"),
        (8, ""),
    ];
    expect(&format!("{TYPES}{body}"), &expected.map(|(register, set)| ("main", register, set)));
}

fn of_large(program: &Program) -> PointsTo {
    let models = Models::embedded();
    PointsTo::of_large(program, &models.bind(program))
}

/// Two allocations reach one pointer, which is used as a pointer to `item`: what was allocated as `conn` is none. `allocate` makes the first of them.
fn two_allocations(allocate: &str, binding: &str) -> String {
    format!(
        r#"{TYPES}
function @main "main" (%0: i64, %1: i1) returns i32 {{
  {binding}
b0:
  {allocate}
  %3: ptr = call @malloc(i64 24) !s1
  %4: ptr = select %1, %2, %3 !s2
  %5: ptr = offset in_bounds %4, 8 in c1 !s3
  return i32 0 !s4
}}"#
    )
}

#[test]
fn memory_is_used_as_what_it_is_allocated_as() {
    for (allocate, binding, set, is_assumed) in [
        // A variable says what it is, and the size is that of one, or of several.
        ("%2: ptr = call @malloc(i64 16) !s0", "binding v0 is %2", "heap-s1+8", true),
        ("%2: ptr = call @malloc(i64 32) !s0", "binding v0 is %2", "heap-s1+8", true),
        ("%2: ptr = call @calloc(%0, i64 16) !s0", "binding v0 is %2", "heap-s1+8", true),
        // The size is another, or unknown: it may be a head with more behind it.
        ("%2: ptr = call @malloc(i64 40) !s0", "binding v0 is %2", "heap-s0+8 heap-s1+8", false),
        ("%2: ptr = call @malloc(%0) !s0", "binding v0 is %2", "heap-s0+8 heap-s1+8", false),
        // Nobody says what it is, or two do.
        ("%2: ptr = call @malloc(i64 16) !s0", "", "heap-s0+8 heap-s1+8", false),
        ("%2: ptr = call @malloc(i64 48) !s0", "binding v0 is %2\n  binding v1 is %2", "heap-s0+8 heap-s1+8", false),
    ] {
        let program = program(&two_allocations(allocate, binding));
        let found = of_large(&program);
        expect_of(&program, &found, &[("main", 5, set)]);
        assert_eq!(found.assumes_types_of_allocations(), is_assumed, "{allocate} {binding}");
        // A small program is looked at again, and nothing is assumed.
        let found = points_to(&program);
        expect_of(&program, &found, &[("main", 5, "heap-s0+8 heap-s1+8")]);
        assert!(!found.assumes_types_of_allocations(), "{allocate} {binding}");
    }
}

/// What the pointer is loaded as after it was stored says it as well, if it is loaded from there.
#[test]
fn memory_is_named_where_it_is_loaded_again() {
    let body = |place: &str| {
        format!(
            r#"{TYPES}
function @main "main" (%0: ptr, %1: i1) returns i32 {{
  binding v0 is %4
b0:
  %2: ptr = call @malloc(i64 16) !s0
  store %2 to global @any align 8 !s1
  %3: ptr = offset in_bounds global @any, {place} !s2
  %4: ptr = load %3 align 8 !s3
  %5: ptr = select %1, %2, global @long !s4
  %6: ptr = offset in_bounds %5, 8 in c1 !s5
  return i32 0 !s6
}}"#
        )
    };
    for (place, set) in [("0", "long+8"), ("8", "heap-s0+8 long+8")] {
        let program = program(&body(place));
        expect_of(&program, &of_large(&program), &[("main", 6, set)]);
    }
}

/// Files have structures of one name that differ: they are told apart by their size.
#[test]
fn structures_of_one_name_and_different_sizes_are_two() {
    let more = r#"
type t9 size 24 struct "conn" {"self" 0 64 type t10, "head" 64 64 type t10, "tail" 128 64 type t10}
type t10 size 8 pointer type t9
structure c2 "conn" size 16
structure c3 "conn" size 24
variable v3 "conn" type t10
"#;
    let body = r#"
function @main "main" (%0: i64, %1: i1) returns i32 {
  binding v0 is %2
  binding v3 is %3
b0:
  %2: ptr = call @malloc(i64 16) !s0
  %3: ptr = call @malloc(i64 24) !s1
  %4: ptr = select %1, %2, %3 !s2
  %5: ptr = offset in_bounds %4, 8 in c2 !s3
  %6: ptr = offset in_bounds %4, 8 in c3 !s4
  %7: ptr = offset in_bounds %4, 8 in c0 !s5
  return i32 0 !s6
}"#;
    let program = program(&format!("{TYPES}{more}{body}"));
    let expected = [(5, "heap-s0+8"), (6, "heap-s1+8"), (7, "heap-s0+8 heap-s1+8")];
    expect_of(&program, &of_large(&program), &expected.map(|(register, set)| ("main", register, set)));
}

/// The parameter that memory is passed for says what it is, where nothing else does; and a structure that ends with an array without a length is as long as it is made.
#[test]
fn memory_is_what_it_is_passed_for() {
    let body = |size: &str, callee: &str| {
        format!(
            r#"{TYPES}
type t9 size 16 struct "open" {{"count" 0 64 type t8, "tail" 128 0 type t10}}
type t10 size 0 array type t4
type t11 size 8 pointer type t9
variable v3 "open" type t11
variable v4 "item" type t3
function @as_conn "as_conn" (%0: ptr) returns void {{
  binding v0 is %0
b0:
  return !s0
}}
function @as_open "as_open" (%0: ptr) returns void {{
  binding v3 is %0
b0:
  return !s1
}}
function @as_both "as_both" (%0: ptr, %1: ptr) returns void {{
  binding v0 is %0
  binding v4 is %1
b0:
  return !s2
}}
function @main "main" (%0: i64, %1: i1) returns i32 {{
b0:
  %2: ptr = call @malloc({size}) !s3
  {callee} !s4
  %3: ptr = select %1, %2, global @long !s5
  %4: ptr = offset in_bounds %3, 8 in c1 !s6
  return i32 0 !s7
}}"#
        )
    };
    for (size, callee, set) in [
        ("i64 16", "call @as_conn(%2)", "long+8"),
        ("i64 40", "call @as_conn(%2)", "heap-s3+8 long+8"),
        ("%0", "call @as_open(%2)", "long+8"),
        ("i64 8", "call @as_open(%2)", "heap-s3+8 long+8"),
        ("i64 48", "call @as_both(%2, %2)", "heap-s3+8 long+8"),
    ] {
        let program = program(&body(size, callee));
        expect_of(&program, &of_large(&program), &[("main", 4, set)]);
    }
}

/// A wrapper that never asks for nothing asks for what it is told to; one that asks for more, for more.
#[test]
fn sizes_pass_through_wrappers() {
    let body = |size: &str| {
        format!(
            r#"{TYPES}
function @get "get" (%0: i64) returns ptr {{
b0:
  %1: i1 = compare equal %0, i64 0 !s0
  %2: i64 = select %1, i64 1, %0 !s1
  {size}
  %4: ptr = call @malloc(%3) !s3
  return %4 !s4
}}
function @main "main" () returns i32 {{
b0:
  %0: ptr = call @get(i64 16) !s5
  %1: ptr = offset in_bounds %0, 20 !s6
  return i32 0 !s7
}}"#
        )
    };
    expect(&body("%3: i64 = add %2, i64 0 !s2"), &[("main", 0, "heap-s3<s5"), ("main", 1, "")]);
    expect(&body("%3: i64 = add %2, i64 8 !s2"), &[("main", 1, "heap-s3<s5+20")]);
    expect(&body("%3: i64 = multiply %2, i64 8 !s2"), &[("main", 1, "heap-s3<s5+20")]);
}

/// A number that is declared as one is no address when it is read, unless its function makes one of it.
#[test]
fn declared_numbers_are_numbers() {
    let body = |last: &str| {
        format!(
            r#"{TYPES}
function @number "number" (%0: ptr) returns i64 {{
  binding v2 at %1
b0:
  %1: ptr = stack_allocate 8 * i64 1 align 8 !s0
  copy_memory %1, %0, i64 8 !s1
  %2: i64 = load %1 align 8 !s2
  {last}
  return %2 !s4
}}
function @main "main" () returns i32 {{
b0:
  store global @a to global @any align 8 !s5
  %0: i64 = call @number(global @any) !s6
  return i32 0 !s7
}}"#
        )
    };
    let number = body("%3: i64 = add %2, i64 1 !s3");
    let address = body("%3: ptr = cast integer_to_pointer %2 !s3");
    expect(&address, &[("number", 2, "a"), ("main", 0, "a")]);
    let program = program(&number);
    let found = points_to(&program);
    let main = program.function_named("main").expect("it is there");
    let held = found.pointees(main, lockcheck::program::Operand::Register(lockcheck::program::RegisterId::from(0usize)));
    assert!(held.count() <= 1, "at most what numbers that were computed from addresses may be");
}

/// A copy that may read very many places loses none of them, wherever it is made, and whenever its destination is found.
#[test]
fn copies_with_a_crowd_of_sources_lose_nothing() {
    let count = 40;
    let globals: String = (0..count)
        .map(|number| format!("global @x{number} \"x{number}\" size 4 align 4 = -\nglobal @from{number} \"from{number}\" size 8 align 8 = - [0: global @x{number} 0]\n"))
        .collect();
    let stores: String =
        (0..count).map(|number| format!("  store global @from{number} to global @source align 8 !s{number}\n")).collect();
    let body = format!(
        r#"{globals}
global @source "source" size 8 align 8 = -
global @to "to" size 8 align 8 = -
global @other "other" size 8 align 8 = -
function @main "main" (%0: i64) returns i32 {{
b0:
{stores}
  %1: ptr = load global @source align 8 !s100
  copy_memory global @to, %1, %0 !s101
  copy_memory global @other, global @to, %0 !s102
  %2: ptr = load global @to align 8 !s103
  %3: ptr = load global @other align 8 !s104
  return i32 0 !s105
}}"#
    );
    let mut all: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
    all.sort();
    expect(&body, &[("main", 2, &all.join(" ")), ("main", 3, &all.join(" "))]);
}

/// In a program with many texts those without directives are one object; formats, and everything else that is constant, stay what they are.
#[test]
fn many_texts_are_one() {
    let texts: String =
        (0..200).map(|number| format!("global @t{number} \"t{number}\" size 2 align 1 constant static = 4100\n")).collect();
    let body = format!(
        r#"{texts}
global @format "format" size 4 align 1 constant static = 25640a00
global @table "table" size 8 align 8 constant static type t0 = -
type t0 size 8 array count 2 type t1
type t1 size 4 base "int"
function @main "main" (%0: i1) returns i32 {{
b0:
  %1: ptr = select %0, global @t1, global @t2 !s0
  %2: ptr = select %0, global @format, global @table !s1
  return i32 0 !s2
}}"#
    );
    expect(&body, &[("main", 1, "Texts+*"), ("main", 2, "format+* table+*")]);
}

/// Two pieces of memory that are copied into one another, from anywhere to anywhere, hold the same, at all places; one that is only copied from, or only copied to, does
/// not take part, and neither does one that is filled at a known place.
#[test]
fn memory_that_is_copied_back_and_forth_is_one() {
    let body = r#"
function @malloc "malloc" (%0: i64) returns ptr
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @c "c" size 4 align 4 = -
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = call @malloc(%0) !s0
  %2: ptr = call @malloc(%0) !s1
  %3: ptr = call @malloc(%0) !s2
  %4: ptr = call @malloc(%0) !s3
  store global @a to %1 align 8 !s4
  store global @b to %2 align 8 !s5
  store global @c to %3 align 8 !s6
  %5: ptr = offset %1, 0, %0 * 1 !s7
  %6: ptr = offset %2, 0, %0 * 1 !s8
  %7: ptr = offset %3, 0, %0 * 1 !s9
  copy_memory %5, %6, %0 !s10
  copy_memory %6, %5, %0 !s11
  copy_memory %4, %7, %0 !s12
  copy_memory %5, %7, %0 !s13
  %8: ptr = offset %1, 24 !s14
  %9: ptr = load %8 align 8 !s15
  %10: ptr = load %2 align 8 !s16
  %11: ptr = load %3 align 8 !s17
  %12: ptr = load %4 align 8 !s18
  store global @a to %6 align 8 !s19
  return i32 0 !s20
}"#;
    expect(body, &[("main", 9, "a b c"), ("main", 10, "a b c"), ("main", 11, "c"), ("main", 12, "c")]);
}
