//! Small functions are told apart by the calls that lead to them, as far as that goes.

use crate::text_programs::expect;

/// What one call passes does not come back to another, also through a second function; inside, all calls are seen together.
#[test]
fn small_functions_are_told_apart_by_their_calls() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
function @same "same" (%0: ptr) returns ptr {
b0:
  return %0 !s0
}
function @outer "outer" (%0: ptr) returns ptr {
b0:
  %1: ptr = call @same(%0) !s1
  return %1 !s2
}
function @main "main" () returns i32 {
b0:
  %0: ptr = call @outer(global @a) !s3
  %1: ptr = call @outer(global @b) !s4
  %2: ptr = call @same(%0) !s5
  return i32 0 !s6
}"#;
    expect(body, &[("main", 0, "a"), ("main", 1, "b"), ("main", 2, "a"), ("same", 0, "a b"), ("outer", 1, "a b")]);
}

/// Elements that are put into one list are not taken from another.
#[test]
fn lists_of_their_callers_stay_apart() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @left "left" size 8 align 8 = -
global @right "right" size 8 align 8 = -
function @put "put" (%0: ptr, %1: ptr) returns void {
b0:
  store %1 to %0 align 8 !s0
  return !s1
}
function @take "take" (%0: ptr) returns ptr {
b0:
  %1: ptr = load %0 align 8 !s2
  return %1 !s3
}
function @main "main" () returns i32 {
b0:
  call @put(global @left, global @a) !s4
  call @put(global @right, global @b) !s5
  %0: ptr = call @take(global @left) !s6
  %1: ptr = call @take(global @right) !s7
  return i32 0 !s8
}"#;
    expect(body, &[("main", 0, "a"), ("main", 1, "b")]);
}

/// Who calls itself, and who is called through a chain that is too long, is one for all that follow; nothing is lost.
#[test]
fn circles_and_long_chains_are_looked_at_together() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
function @again "again" (%0: ptr, %1: i1) returns ptr {
b0:
  branch %1, b1, b2 !s0
b1:
  %2: ptr = call @again(%0, i1 0) !s1
  return %2 !s2
b2:
  return %0 !s3
}
function @one "one" (%0: ptr) returns ptr {
b0:
  return %0 !s4
}
function @two "two" (%0: ptr) returns ptr {
b0:
  %1: ptr = call @one(%0) !s5
  return %1 !s6
}
function @three "three" (%0: ptr) returns ptr {
b0:
  %1: ptr = call @two(%0) !s7
  return %1 !s8
}
function @four "four" (%0: ptr) returns ptr {
b0:
  %1: ptr = call @three(%0) !s9
  return %1 !s10
}
function @main "main" (%0: i1) returns i32 {
b0:
  %1: ptr = call @again(global @a, %0) !s11
  %2: ptr = call @again(global @b, %0) !s12
  %3: ptr = call @four(global @a) !s13
  %4: ptr = call @four(global @b) !s14
  return i32 0 !s15
}"#;
    expect(body, &[("main", 1, "a b"), ("main", 2, "a b"), ("main", 3, "a b"), ("main", 4, "a b")]);
}
