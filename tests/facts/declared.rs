//! What declarations say about the types of what is read, and what copies do to them.

use crate::text_programs::{expect, points_to, program};

const TYPES: &str = r#"
type t0 size 8 struct "conn" {"self" 0 64 type t1}
type t1 size 8 pointer type t0
type t2 size 8 struct "item" {"next" 0 64 type t3}
type t3 size 8 pointer type t2
type t4 size 1 base "char"
type t5 size 64 array count 64 type t4
type t6 size 16 array count 2 type t2
alias a0 "any pointer"
alias a1 "p1 _ZTS4conn" a0
alias a2 "p1 _ZTS4item" a0
alias a3 member "conn" 0 a1
alias a4 member "item" 0 a2
global @a "a" size 4 align 4 = -
global @pool "pool" size 64 align 8 = -
global @items "items" size 16 align 8 type t6 = -
global @bytes "bytes" size 64 align 8 type t5 = -
global @later "later" size 64 align 8 = -
"#;

/// An object that is declared is read as what it is declared as; what the compiler calls by another structure's name is not there.
#[test]
fn a_declared_object_holds_what_it_is_declared_as() {
    let body = r#"
function @main "main" () returns i32 {
b0:
  store global @a to global @items align 8 !s0
  %0: ptr = load global @items align 8 as a3 !s1
  %1: ptr = load global @items align 8 as a4 !s2
  %2: ptr = load global @items align 8 as a1 !s3
  %3: ptr = load global @items align 8 as a0 !s4
  store global @a to global @pool align 8 !s5
  %4: ptr = load global @pool align 8 as a3 !s6
  store global @a to global @bytes align 8 !s7
  %5: ptr = load global @bytes align 8 as a3 !s8
  return i32 0 !s9
}"#;
    let expected = [(0, ""), (1, "a"), (2, ""), (3, "a"), (4, "a"), (5, "a")];
    expect(&format!("{TYPES}{body}"), &expected.map(|(register, set)| ("main", register, set)));
}

/// A copy of a fixed size changes the type of what it copies into something declared. One of a computed size is taken not to, and the report says so; through
/// an array of characters everything stays what it was.
#[test]
fn copies_of_computed_sizes_keep_types() {
    let body = |size: &str, target: &str| {
        format!(
            r#"{TYPES}
function @main "main" (%0: i64) returns i32 {{
b0:
  store global @a to global @pool align 8 as a1 !s0
  copy_memory global @{target}, global @pool, {size} !s1
  copy_memory global @later, global @{target}, i64 64 !s2
  %1: ptr = load global @items align 8 as a4 !s3
  %2: ptr = load global @later align 8 as a1 !s4
  return i32 0 !s5
}}"#
        )
    };
    let assumes = |text: &str| points_to(&program(text)).assumes_types_of_copies();
    let (fixed, computed, bytes) = (body("i64 8", "items"), body("%0", "items"), body("%0", "bytes"));
    expect(&fixed, &[("main", 1, "a")]);
    expect(&computed, &[("main", 1, "")]);
    expect(&bytes, &[("main", 2, "a")]);
    assert_eq!((assumes(&fixed), assumes(&computed), assumes(&bytes)), (false, true, false));
}

/// What a declared object begins with has its type; copied with a computed size into something declared otherwise it is not followed, and the report says so.
#[test]
fn copies_of_what_is_declared_otherwise_are_assumed_not_to_be_read() {
    let body = |source: &str| {
        format!(
            r#"{TYPES}
global @conn "conn" size 8 align 8 type t0 = - [0: global @a 0]
global @more "more" size 16 align 8 type t6 = - [0: global @a 0]
function @main "main" (%0: i64) returns i32 {{
b0:
  copy_memory global @items, global @{source}, %0 !s0
  %1: ptr = load global @items align 8 as a4 !s1
  return i32 0 !s2
}}"#
        )
    };
    let assumes = |text: &str| points_to(&program(text)).assumes_types_of_copies();
    expect(&body("conn"), &[("main", 1, "")]);
    expect(&body("more"), &[("main", 1, "a")]);
    assert_eq!((assumes(&body("conn")), assumes(&body("more"))), (true, false));
}

/// What is somewhere in the bytes that a copy of a fixed size takes is somewhere in the bytes that it fills, and nowhere else.
#[test]
fn copies_of_fixed_sizes_fill_no_more() {
    let body = r#"
function @main "main" (%0: i64) returns i32 {
b0:
  %1: ptr = offset in_bounds global @pool, 0, %0 * 1 !s0
  store global @a to %1 align 8 !s1
  %2: ptr = offset in_bounds global @later, 16 !s2
  copy_memory %2, global @pool, i64 16 !s3
  %3: ptr = load global @later align 8 !s4
  %4: ptr = load %2 align 8 !s5
  %5: ptr = offset in_bounds global @later, 24 !s6
  %6: ptr = load %5 align 8 !s7
  %7: ptr = offset in_bounds global @later, 40 !s8
  %8: ptr = load %7 align 8 !s9
  return i32 0 !s10
}"#;
    let expected = [(3, ""), (4, "a"), (6, "a"), (8, "")];
    expect(&format!("{TYPES}{body}"), &expected.map(|(register, set)| ("main", register, set)));
}
