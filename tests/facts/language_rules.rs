//! What C leaves undefined is not followed: reads as another type, calls that do not fit; numbers that nobody makes an address of.

use crate::text_programs::{expect, points_to, program};

/// What was stored as a pointer to one type is not read as a pointer to another; `any pointer` and no type see all. Copies of bytes lose the type, assignments
/// keep it.
#[test]
fn pointers_are_read_with_the_type_they_were_stored_with() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @pool "pool" size 64 align 8 = -
global @copied "copied" size 64 align 8 = -
global @assigned "assigned" size 64 align 8 = -
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = offset in_bounds global @pool, 0, %0 * 8 !s0
  store global @a to %1 align 8 as a1 !s1
  store global @b to %1 align 8 as a2 !s2
  %2: ptr = load %1 align 8 as a1 !s3
  %3: ptr = load %1 align 8 as a2 !s4
  %4: ptr = load %1 align 8 as a0 !s5
  %5: ptr = load %1 align 8 !s6
  %6: i64 = load %1 align 8 as a3 !s7
  copy_memory global @copied, global @pool, i64 64 !s8
  copy_memory global @assigned, global @pool, i64 64 assignment !s9
  %7: ptr = load global @copied align 8 as a1 !s10
  %8: ptr = load global @assigned align 8 as a1 !s11
  return i32 0 !s12
}"#;
    let types = "alias a0 \"any pointer\"\nalias a1 \"p1 conn\" a0\nalias a2 \"p1 item\" a0\nalias a3 \"long\"";
    let expected = [(2, "a"), (3, "b"), (4, "a b"), (5, "a b"), (6, ""), (7, "a b"), (8, "a")];
    expect(&format!("{types}{body}"), &expected.map(|(register, set)| ("main", register, set)));
}

/// A call through a pointer reaches the functions that take what it passes and return what it wants.
#[test]
fn a_call_through_a_pointer_fits_its_function() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @table "table" size 48 align 8 = - [0: function @fits 0] [8: function @takes_two 0] [16: function @takes_number 0] [24: function @returns_nothing 0] [32: function @variadic 0] [40: function @takes_none 0]
function @fits "fits" (%0: ptr) returns ptr {
b0:
  return %0 !s0
}
function @takes_two "takes_two" (%0: ptr, %1: ptr) returns ptr {
b0:
  return %0 !s1
}
function @takes_number "takes_number" (%0: i64) returns ptr {
b0:
  return null !s2
}
function @returns_nothing "returns_nothing" (%0: ptr) returns void {
b0:
  return !s3
}
function @variadic "variadic" (%0: ptr) variadic returns ptr {
b0:
  return %0 !s4
}
function @takes_none "takes_none" () returns ptr {
b0:
  return null !s5
}
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = offset in_bounds global @table, 0, %0 * 8 !s6
  %2: ptr = load %1 align 8 !s7
  %3: ptr = call_indirect %2 (global @a) !s8
  call_indirect %2 (global @a) !s9
  return i32 0 !s10
}"#;
    let program = program(body);
    let points_to = points_to(&program);
    let id = |name| program.function_named(name).expect("the function is there");
    let site = |number: usize| lockcheck::program::SiteId::from(number);
    assert_eq!(points_to.callees(site(8)), [id("fits"), id("variadic")]);
    // A result that nobody wants may be of any kind.
    assert_eq!(points_to.callees(site(9)), [id("fits"), id("returns_nothing"), id("variadic")]);
}

/// What was stored as one member is not read as another, wherever in the object both may be; a pointer to a pointer reads every member of its type.
#[test]
fn members_are_read_as_they_were_stored() {
    let body = r#"
alias a0 "any pointer"
alias a1 "p1 char" a0
alias a2 member "conn" 8 a1
alias a3 member "item" 8 a1
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @pool "pool" size 64 align 8 = -
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = offset in_bounds global @pool, 0, %0 * 1 !s0
  store global @a to %1 align 8 as a2 !s1
  store global @b to %1 align 8 as a3 !s2
  %2: ptr = load %1 align 8 as a2 !s3
  %3: ptr = load %1 align 8 as a3 !s4
  %4: ptr = load %1 align 8 as a1 !s5
  %5: ptr = load %1 align 8 as a0 !s6
  return i32 0 !s7
}"#;
    expect(body, &[("main", 2, "a"), ("main", 3, "b"), ("main", 4, "a b"), ("main", 5, "a b")]);
}

/// A counter that an imprecise pointer may reach holds no address; a number of which an address is made does.
#[test]
fn numbers_hold_addresses_only_where_addresses_are_made_of_them() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @pool "pool" size 64 align 8 = -
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = offset in_bounds global @pool, 0, %0 * 8 !s0
  store global @a to %1 align 8 !s1
  %2: i64 = load %1 align 8 !s2
  %3: i64 = add %2, i64 1 !s3
  store %3 to %1 align 8 !s4
  %4: i64 = load %1 align 8 !s5
  %5: i64 = and %4, i64 -8 !s6
  %6: ptr = cast integer_to_pointer %5 !s7
  return i32 0 !s8
}"#;
    // A residue is shown as what it may have been computed from: anywhere in the object.
    expect(body, &[("main", 2, "a+*"), ("main", 3, "a+*"), ("main", 4, "a a+*"), ("main", 6, "a+*")]);
}

/// A function that returns fresh memory among other things: what its callers get of it is told apart, and as large as they say; the rest goes to all.
#[test]
fn partial_wrappers_are_told_apart_by_their_callers() {
    let body = r#"
global @spare "spare" size 8 align 8 = -
function @malloc "malloc" (%0: i64) returns ptr
function @take "take" (%0: i64, %1: i1) returns ptr {
b0:
  branch %1, b1, b2 !s0
b1:
  %2: ptr = call @malloc(%0) !s1
  jump b3 !s2
b2:
  jump b3 !s3
b3:
  %3: ptr = phi b1 %2, b2 global @spare
  return %3 !s5
}
function @main "main" (%0: i1) returns i32 {
b0:
  %1: ptr = call @take(i64 8, %0) !s6
  %2: ptr = call @take(i64 24, %0) !s7
  %3: ptr = offset in_bounds %1, 16 !s8
  %4: ptr = offset in_bounds %2, 16 !s9
  return i32 0 !s10
}"#;
    expect(
        body,
        &[("main", 1, "heap-s1<s6 spare"), ("main", 2, "heap-s1<s7 spare"), ("main", 3, ""), ("main", 4, "heap-s1<s7+16")],
    );
}
