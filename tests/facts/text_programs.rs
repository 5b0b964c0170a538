//! Small programs in text form whose points-to sets can be read off the page.

use lockcheck::facts::{AbstractObjectKind, CallGraph, Location, Offset, PointsTo};
use lockcheck::models::Models;
use lockcheck::program::{Operand, Program, RegisterId, text};

/// A program from its globals and functions.
pub fn program(body: &str) -> Program {
    let sites: String = (0..700).map(|number| format!("site s{number} @main {number}\n")).collect();
    let (globals, functions): (Vec<&str>, Vec<&str>) =
        body.trim().lines().map(str::trim_end).partition(|line| {
            ["global ", "alias ", "type ", "structure ", "variable "].iter().any(|word| line.starts_with(word))
        });
    let text = format!(
        "lockcheck program 1\ntarget \"x86_64-pc-linux-gnu\" pointer 8\n{}\n{sites}{}\n",
        globals.join("\n"),
        functions.join("\n")
    );
    text::parse(&text).unwrap_or_else(|error| panic!("line {}: {}\n{text}", error.line, error.reason))
}

pub fn points_to(program: &Program) -> PointsTo {
    let models = Models::embedded();
    PointsTo::of(program, &models.bind(program))
}

pub fn show(program: &Program, points_to: &PointsTo, location: Location) -> String {
    let object = match &points_to.object(location.object).kind {
        AbstractObjectKind::Global(global) | AbstractObjectKind::ThreadLocal(global) => program.globals[*global].name.clone(),
        AbstractObjectKind::StackSlot { register, .. } => format!("slot{}", usize::from(*register)),
        AbstractObjectKind::Heap { site, callers, .. } => {
            let callers: String = callers.iter().map(|site| format!("<s{}", usize::from(*site))).collect();
            format!("heap-s{}{callers}", usize::from(*site))
        }
        AbstractObjectKind::Function(function) => program.functions[*function].name.clone(),
        other => format!("{other:?}"),
    };
    match location.offset {
        Offset::At(0) => object,
        Offset::At(offset) => format!("{object}+{offset}"),
        Offset::Class { residue, stride } => format!("{object}+{residue}%{stride}"),
        Offset::Any => format!("{object}+*"),
    }
}

/// The pointees of a register, sorted, as one line.
fn set(program: &Program, points_to: &PointsTo, function: &str, register: usize) -> String {
    let function = program.function_named(function).expect("the function is there");
    let operand = Operand::Register(RegisterId::from(register));
    let mut shown: Vec<String> =
        points_to.pointees(function, operand).map(|location| show(program, points_to, location)).collect();
    shown.sort();
    shown.join(" ")
}

#[track_caller]
pub fn expect(body: &str, expected: &[(&str, usize, &str)]) {
    let program = program(body);
    expect_of(&program, &points_to(&program), expected);
}

#[track_caller]
pub fn expect_of(program: &Program, points_to: &PointsTo, expected: &[(&str, usize, &str)]) {
    for (function, register, pointees) in expected {
        assert_eq!(set(program, points_to, function, *register), *pointees, "register {register} of {function}");
    }
}

#[test]
fn fields_are_told_apart_and_container_of_finds_back() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @pair "pair" size 16 align 8 = - [8: global @b 0]
function @main "main" () returns i32 {
b0:
  store global @a to global @pair align 8 !s0
  %0: ptr = offset in_bounds global @pair, 8 !s1
  %1: ptr = load %0 align 8 !s2
  %2: ptr = load global @pair align 8 !s3
  %3: ptr = offset %0, -8 !s4
  %4: ptr = load %3 align 8 !s5
  %5: ptr = offset %0, -16 !s6
  %6: ptr = load %5 align 8 !s7
  return i32 0 !s8
}"#;
    expect(
        body,
        &[
            ("main", 0, "pair+8"),
            ("main", 1, "b"),
            ("main", 2, "a"),
            ("main", 3, "pair"),
            ("main", 4, "a"),
            ("main", 5, "pair+*"),
            ("main", 6, "a b"),
        ],
    );
}

#[test]
fn elements_of_an_array_share_their_class() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @table "table" size 64 align 8 = -
function @main "main" (%0: i32, %1: ptr) returns i32 {
b0:
  %2: i64 = cast sign_extend %0 !s0
  %3: ptr = offset in_bounds global @table, 8, %2 * 16 !s1
  store global @a to %3 align 8 !s2
  %4: ptr = offset in_bounds global @table, 0, %2 * 16 !s3
  store global @b to %4 align 8 !s4
  %5: ptr = offset in_bounds global @table, 40 !s5
  %6: ptr = load %5 align 8 !s6
  %7: ptr = offset in_bounds global @table, 48 !s7
  %8: ptr = load %7 align 8 !s8
  jump b1 !s9
b1:
  %9: ptr = phi b0 global @table, b1 %10
  %10: ptr = offset in_bounds %9, 16 !s10
  %11: ptr = load %9 align 8 !s11
  branch i1 0, b1, b2 !s12
b2:
  return i32 0 !s13
}"#;
    expect(
        body,
        &[("main", 3, "table+8%16"), ("main", 6, "a"), ("main", 8, "b"), ("main", 9, "table table+0%16"), ("main", 11, "b")],
    );
}

#[test]
fn copies_move_every_pointer_by_the_same_distance() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @from "from" size 32 align 8 = - [8: global @a 0] [16: global @b 0]
global @to "to" size 64 align 8 = -
function @memcpy "memcpy" (%0: ptr, %1: ptr, %2: i64) returns ptr
function @main "main" () returns i32 {
b0:
  %0: ptr = offset in_bounds global @to, 40 !s0
  copy_memory %0, global @from, i64 16 !s1
  %1: ptr = offset in_bounds global @to, 48 !s2
  %2: ptr = load %1 align 8 !s3
  %3: ptr = offset in_bounds global @to, 56 !s4
  %4: ptr = load %3 align 8 !s5
  %5: ptr = offset in_bounds global @from, 16 !s6
  %6: ptr = call @memcpy(global @to, %5, i64 8) !s7
  %7: ptr = load %6 align 8 !s8
  return i32 0 !s9
}"#;
    expect(body, &[("main", 2, "a"), ("main", 4, ""), ("main", 6, "to"), ("main", 7, "b")]);
}

#[test]
fn wrappers_are_told_apart_by_their_callers() {
    let body = r#"
function @malloc "malloc" (%0: i64) returns ptr
function @make "make" (%0: i64) returns ptr {
b0:
  %1: ptr = call @malloc(%0) !s0
  return %1 !s1
}
function @make_pair "make_pair" () returns ptr {
b0:
  %0: ptr = call @make(i64 16) !s2
  return %0 !s3
}
function @main "main" () returns i32 {
b0:
  %0: ptr = call @make(i64 8) !s4
  %1: ptr = call @make(i64 8) !s5
  %2: ptr = call @make_pair() !s6
  %3: ptr = call @make_pair() !s7
  store %0 to %2 align 8 !s8
  store %1 to %3 align 8 !s9
  %4: ptr = load %2 align 8 !s10
  return i32 0 !s11
}"#;
    expect(
        body,
        &[
            ("main", 0, "heap-s0<s4"),
            ("main", 1, "heap-s0<s5"),
            ("main", 2, "heap-s0<s2<s6"),
            ("main", 3, "heap-s0<s2<s7"),
            ("main", 4, "heap-s0<s4"),
            ("make", 1, "heap-s0<s2<s6 heap-s0<s2<s7 heap-s0<s4 heap-s0<s5"),
        ],
    );
}

#[test]
fn addresses_survive_in_numbers() {
    let body = r#"
global @a "a" size 16 align 8 = -
global @b "b" size 16 align 8 = -
global @kept "kept" size 8 align 8 = -
global @bytes "bytes" size 8 align 1 = -
function @main "main" () returns i32 {
b0:
  %0: i64 = cast pointer_to_integer global @a !s0
  store %0 to global @kept align 8 !s1
  %1: ptr = load global @kept align 8 !s2
  %2: i64 = or %0, i64 1 !s3
  %3: i64 = and %2, i64 18446744073709551614 !s4
  %4: ptr = cast integer_to_pointer %3 !s5
  %5: i64 = cast pointer_to_integer global @b !s6
  %6: i64 = subtract %0, %5 !s7
  %7: i64 = add %5, %6 !s8
  %8: ptr = cast integer_to_pointer %7 !s9
  store i32 0 to %8 align 4 !s10
  %9: i8 = load global @kept align 1 !s11
  store %9 to global @bytes align 1 !s12
  %10: ptr = load global @bytes align 8 !s13
  %11: i32 = load %10 align 4 !s14
  return i32 0 !s15
}"#;
    let program = program(body);
    let points_to = points_to(&program);
    assert_eq!(set(&program, &points_to, "main", 1), "a");
    assert_eq!(set(&program, &points_to, "main", 4), "a");
    // The difference of two addresses, added to one of them, is the other; eight loads of a byte are a pointer.
    assert!(set(&program, &points_to, "main", 8).contains("a+*"));
    assert!(set(&program, &points_to, "main", 10).contains("a+*"));
}

/// One that is known to be computed from an address may be computed from others as well.
#[test]
fn numbers_stand_for_all_that_they_are_computed_from() {
    let body = r#"
global @a "a" size 16 align 8 = -
global @b "b" size 16 align 8 = -
function @main "main" () returns i32 {
b0:
  %0: i64 = cast pointer_to_integer global @a !s0
  %1: i64 = cast pointer_to_integer global @b !s1
  %2: i64 = multiply %0, %1 !s2
  %3: ptr = cast integer_to_pointer %2 !s3
  %4: i32 = load %3 align 4 !s4
  return i32 0 !s5
}"#;
    let program = program(body);
    let found = set(&program, &points_to(&program), "main", 3);
    assert!(found.contains("a+*") && found.contains("b+*"), "{found}");
}

/// Once every number looks as if it were computed from addresses, none is taken for one, and that is said.
#[test]
fn numbers_computed_from_many_addresses_are_no_addresses() {
    let computed = |objects: usize| {
        let globals: String = (0..objects).map(|index| format!("global @g{index} \"g{index}\" size 4 align 4 = -\n")).collect();
        let halves: String =
            (0..objects).map(|index| format!("  %{index}: i64 = cast pointer_to_integer global @g{index} !s{index}\n")).collect();
        let products: String = (0..objects)
            .map(|index| format!("  %{}: i64 = multiply %{index}, i64 3 !s{}\n", objects + index, objects + index))
            .collect();
        let stores: String = (0..objects)
            .map(|index| format!("  store %{} to global @kept align 8 !s{}\n", objects + index, 2 * objects + index))
            .collect();
        let (first, second) = (2 * objects, 2 * objects + 1);
        program(&format!(
            "{globals}global @kept \"kept\" size 8 align 8 = -
function @main \"main\" () returns i32 {{
b0:
{halves}{products}{stores}  %{first}: ptr = load global @kept align 8 !s{0}
  %{second}: i32 = load %{first} align 4 !s{1}
  return i32 0 !s{2}
}}",
            3 * objects,
            3 * objects + 1,
            3 * objects + 2
        ))
    };
    let few = computed(4);
    assert!(set(&few, &points_to(&few), "main", 8).contains("g3+*"));
    assert!(!points_to(&few).misses_computed_addresses());
    let many = computed(200);
    assert!(!set(&many, &points_to(&many), "main", 400).contains("g3"));
    assert!(points_to(&many).misses_computed_addresses());
}

#[test]
fn constants_and_assembly_that_writes_nothing_keep_nothing() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @table "table" size 8 align 8 constant = - [0: global @a 0]
global @b "b" size 4 align 4 = -
function @main "main" () returns i32 {
b0:
  %0: i64 = assembly "crc32q (%1), %0" (global @a) !s0
  store global @b to global @table align 8 !s1
  %1: ptr = load global @table align 8 !s2
  assembly "incq (%0)" (global @b) storing !s3
  return i32 0 !s4
}"#;
    let program = program(body);
    let points_to = points_to(&program);
    assert_eq!(set(&program, &points_to, "main", 1), "a");
    let is_escaped = |name: &str| {
        let global = program.globals.iter_enumerated().find(|(_, global)| global.name == name).expect("the global is there").0;
        let object = points_to.object_of_kind(&lockcheck::facts::AbstractObjectKind::Global(global)).expect("it is mentioned");
        points_to.is_escaped(object)
    };
    assert!(!is_escaped("a") && is_escaped("b"));
}

#[test]
fn an_array_inside_a_struct_keeps_to_itself() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @c "c" size 4 align 4 = -
global @whole "whole" size 48 align 8 = - [0: global @a 0] [40: global @b 0]
function @main "main" (%0: i32, %1: ptr) returns i32 {
b0:
  %2: i64 = cast sign_extend %0 !s0
  %3: ptr = offset in_bounds global @whole, 8, %2 * 8 of 4 !s1
  store global @c to %3 align 8 !s2
  %4: ptr = load global @whole align 8 !s3
  %5: ptr = load %3 align 8 !s4
  %6: ptr = offset in_bounds global @whole, 32 !s5
  %7: ptr = load %6 align 8 !s6
  %8: ptr = offset in_bounds global @whole, 40 !s7
  %9: ptr = load %8 align 8 !s8
  %10: ptr = offset in_bounds global @whole, 8, %2 * 8 !s9
  %11: ptr = load %10 align 8 !s10
  return i32 0 !s11
}"#;
    expect(body, &[("main", 4, "a"), ("main", 5, "c"), ("main", 7, "c"), ("main", 9, "b"), ("main", 11, "a b c")]);
}

#[test]
fn functions_are_called_as_they_are_found() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @operations "operations" size 16 align 8 constant = - [0: function @first 0] [8: function @second 0]
function @first "first" (%0: ptr) returns ptr {
b0:
  return %0 !s0
}
function @second "second" () returns ptr {
b0:
  return null !s1
}
function @never "never" (%0: ptr) returns ptr {
b0:
  %1: ptr = call @never(%0) !s2
  return %1 !s3
}
function @main "main" () returns i32 {
b0:
  %0: ptr = load global @operations align 8 !s4
  %1: ptr = call_indirect %0 (global @a) !s5
  %2: ptr = offset in_bounds global @operations, 8 !s6
  %3: ptr = load %2 align 8 !s7
  %4: ptr = call_indirect %3 (global @a) !s8
  %5: i32 = call @main() !s9
  return i32 0 !s10
}"#;
    let program = program(body);
    let points_to = points_to(&program);
    assert_eq!(set(&program, &points_to, "main", 1), "a");
    assert_eq!(set(&program, &points_to, "main", 4), "");
    let graph = CallGraph::of(&points_to);
    let id = |name| program.function_named(name).expect("the function is there");
    let site = |number: usize| lockcheck::program::SiteId::from(number);
    assert_eq!(points_to.callees(site(5)), [id("first")]);
    assert_eq!(points_to.callees(site(8)), [id("second")]);
    assert_eq!(graph.reachable().iter().copied().collect::<Vec<_>>(), [id("first"), id("second"), id("main")]);
    assert!(graph.is_recursive(id("main")) && !graph.is_recursive(id("first")));
    assert_eq!(graph.bindings_of(&program, id("first"), 0).len(), 1);
}

#[test]
fn threads_keys_and_outside_code_pass_addresses_on() {
    let body = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @key "key" size 4 align 4 = -
global @other "other" size 4 align 4 = -
global @result "result" size 8 align 8 = -
global @seen "seen" size 8 align 8 = -
global @private "private" size 8 align 8 = -
function @pthread_create "pthread_create" (%0: ptr, %1: ptr, %2: ptr, %3: ptr) returns i32
function @pthread_join "pthread_join" (%0: i64, %1: ptr) returns i32
function @pthread_key_create "pthread_key_create" (%0: ptr, %1: ptr) returns i32
function @pthread_setspecific "pthread_setspecific" (%0: i32, %1: ptr) returns i32
function @pthread_getspecific "pthread_getspecific" (%0: i32) returns ptr
function @outside "outside" (%0: ptr) returns ptr
function @worker "worker" (%0: ptr) returns ptr {
b0:
  %1: i32 = load global @key align 4 !s0
  %2: i32 = call @pthread_setspecific(%1, %0) !s1
  %3: ptr = call @pthread_getspecific(%1) !s2
  %4: i32 = load global @other align 4 !s3
  %5: ptr = call @pthread_getspecific(%4) !s4
  return global @b !s5
}
function @main "main" () returns i32 {
b0:
  %0: ptr = stack_allocate 8 * i32 1 align 8 !s6
  %1: i32 = call @pthread_key_create(global @key, null) !s7
  %2: i32 = call @pthread_key_create(global @other, null) !s8
  %3: i32 = call @pthread_create(%0, null, function @worker, global @a) !s9
  %4: i32 = call @pthread_join(i64 1, global @result) !s10
  %5: ptr = load global @result align 8 !s11
  %6: ptr = call @outside(global @seen) !s12
  %7: ptr = load global @seen align 8 !s13
  %8: ptr = load global @private align 8 !s14
  return i32 0 !s15
}"#;
    let program = program(body);
    let points_to = points_to(&program);
    let shown = |function, register| set(&program, &points_to, function, register);
    assert_eq!(shown("worker", 0), "a");
    assert_eq!(shown("worker", 3), "a");
    assert_eq!(shown("worker", 5), "");
    assert_eq!(shown("main", 5), "b");
    assert!(shown("main", 6).contains("Unknown") && shown("main", 7).contains("Unknown") && shown("main", 8).is_empty());
    let object = |kind| points_to.object_of_kind(&kind).expect("the object is mentioned");
    let global = |name: &str| {
        AbstractObjectKind::Global(program.globals.position(|global| global.name == name).expect("the global is there"))
    };
    assert!(points_to.is_escaped(object(global("seen"))) && !points_to.is_escaped(object(global("private"))));
    assert!(points_to.must_be_unique(object(global("a"))));
    let slot = points_to
        .objects()
        .find(|(_, object)| matches!(object.kind, AbstractObjectKind::StackSlot { .. }))
        .expect("main has a slot")
        .0;
    assert!(points_to.must_be_unique(slot), "main runs once, and its slot is in no loop");
    let at = |offset| Location { object: object(global("seen")), offset };
    assert!(
        points_to.may_alias(at(Offset::At(0)), 8, at(Offset::At(4)), 4)
            && !points_to.may_alias(at(Offset::At(0)), 4, at(Offset::At(4)), 4)
    );
    let unknown = Location { object: object(AbstractObjectKind::Unknown), offset: Offset::Any };
    assert!(points_to.may_alias(unknown, 1, at(Offset::At(0)), 1));
    assert!(!points_to.may_alias(unknown, 1, Location { object: object(global("private")), offset: Offset::At(0) }, 1));
}
