//! Terms: what registers are, what callees return, and a caller's term in its callee's words.

use lockcheck::facts::{TermId, Values};
use lockcheck::models::Models;
use lockcheck::program::{Operand, Program, RegisterId};

const PROGRAM: &str = r#"
global @table "table" size 256 align 8 = -
function @entry_of "entry_of" (%0: ptr, %1: i32) returns ptr {
b0:
  %2: i64 = cast sign_extend %1 !s0
  %3: ptr = offset in_bounds %0, 8, %2 * 16 !s0
  return %3 !s0
}
function @either "either" (%0: ptr, %1: ptr, %2: i1) returns ptr {
b0:
  branch %2, b1, b2 !s0
b1:
  return %0 !s0
b2:
  return %1 !s0
}
function @again "again" (%0: ptr, %1: i32) returns ptr {
b0:
  %2: ptr = call @again(%0, %1) !s0
  return %2 !s0
}
function @loaded "loaded" (%0: ptr) returns ptr {
b0:
  %1: ptr = load %0 align 8 !s0
  return %1 !s0
}
function @main "main" (%0: i32, %1: ptr) returns i32 {
b0:
  %2: i32 = add nsw %0, i32 1 !s0
  %3: i64 = cast sign_extend %2 !s0
  %4: ptr = offset in_bounds global @table, 0, %3 * 16 !s0
  %5: i64 = cast sign_extend %0 !s0
  %6: ptr = offset in_bounds global @table, 0, %5 * 16 !s0
  %7: ptr = call @entry_of(global @table, %0) !s1
  %8: ptr = call @either(%1, %1, i1 0) !s1
  %9: ptr = call @again(%1, %0) !s1
  %10: ptr = call @loaded(%1) !s1
  %11: i32 = add %0, i32 1 !s0
  %12: i64 = cast sign_extend %11 !s0
  %13: ptr = offset in_bounds global @table, 0, %12 * 16 !s0
  %14: i64 = add %5, %5 !s0
  %15: ptr = offset %6, 0, %5 * 4 !s0
  return i32 0 !s2
}"#;

struct Fixture {
    program: Program,
}

impl Fixture {
    fn term(&self, values: &Values<'_>, function: &str, register: usize) -> TermId {
        let function = self.program.function_named(function).expect("the function is there");
        values.term(function, Operand::Register(RegisterId::from(register)))
    }
}

#[test]
fn sums_that_do_not_wrap_are_taken_apart() {
    let fixture = Fixture { program: super::program(PROGRAM) };
    let models = Models::embedded();
    let values = Values::of(&fixture.program, &models.bind(&fixture.program));
    let term = |register: usize| fixture.term(&values, "main", register);
    assert_eq!(values.difference(term(4), term(6)), Some(16), "(i + 1) promised not to wrap");
    assert_eq!(values.difference(term(13), term(6)), None, "(i + 1) that may wrap");
    assert_eq!(values.difference(term(6), term(4)), Some(-16));
    assert_eq!(values.leaves(term(4)).as_slice(), [RegisterId::from(0)]);
    assert_eq!(values.leaves(term(14)).as_slice(), [RegisterId::from(14)], "i + i may wrap, 2·i as a factor must not");
    assert_eq!(values.leaves(term(15)).as_slice(), [RegisterId::from(15)], "an offset that may leave its object");
}

#[test]
fn what_a_callee_returns_is_a_term_of_the_arguments() {
    let fixture = Fixture { program: super::program(PROGRAM) };
    let models = Models::embedded();
    let values = Values::of(&fixture.program, &models.bind(&fixture.program));
    let term = |register: usize| fixture.term(&values, "main", register);
    assert_eq!(values.difference(term(7), term(6)), Some(8));
    for (register, why) in [(8, "one of two"), (9, "calls itself"), (10, "loads it")] {
        assert_eq!(values.leaves(term(register)).as_slice(), [RegisterId::from(register)], "{why}");
    }
}

#[test]
fn a_callers_term_is_said_in_the_callees_words() {
    let fixture = Fixture { program: super::program(PROGRAM) };
    let models = Models::embedded();
    let values = Values::of(&fixture.program, &models.bind(&fixture.program));
    let callee = fixture.program.function_named("entry_of").expect("the function is there");
    let caller = fixture.program.function_named("main").expect("the function is there");
    let parameters = [values.leaf(callee, RegisterId::from(0)), values.leaf(callee, RegisterId::from(1))];
    let (i, p) = (values.leaf(caller, RegisterId::from(0)), values.leaf(caller, RegisterId::from(1)));
    // entry_of(&table[i], i): the lock table[i] + 4 is the first parameter + 4.
    let element = fixture.term(&values, "main", 6);
    let lock = values.plus(element, 4);
    let bindings = [(element, parameters[0]), (i, parameters[1])];
    assert_eq!(values.rebase(lock, &bindings), Some(values.plus(parameters[0], 4)));
    // entry_of(p, i): table[i] can be said with i, table[i] + p cannot without p.
    let rebased = values.rebase(element, &[(p, parameters[0]), (i, parameters[1])]).expect("i is a parameter");
    let back = values.substitute(rebased, &|register| (register == RegisterId::from(1)).then_some(i));
    assert_eq!(back, Some(element));
    assert_eq!(values.rebase(p, &[(i, parameters[1])]), None);
    // entry_of(p + 8, i): p is the parameter − 8.
    assert_eq!(values.rebase(p, &[(values.plus(p, 8), parameters[0])]), Some(values.plus(parameters[0], -8)));
}
