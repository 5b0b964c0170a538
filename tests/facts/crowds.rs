//! Pointers to very many places: what is stored, loaded and copied through them, and what their types say.

use lockcheck::facts::{AbstractObjectKind, Location, Offset, PointsTo};
use lockcheck::models::Models;
use lockcheck::program::Program;

use crate::text_programs::{expect_of, points_to, program, show};

fn of_crowds(program: &Program, crowd: usize) -> PointsTo {
    of_hordes(program, crowd, usize::MAX)
}

fn of_hordes(program: &Program, crowd: usize, horde: usize) -> PointsTo {
    let models = Models::embedded();
    PointsTo::of_crowds(program, &models.bind(program), crowd, horde)
}

const TYPES: &str = r#"
type t0 size 16 struct "conn" {"self" 0 64 type t1, "next" 64 64 type t1}
type t1 size 8 pointer type t0
type t2 size 24 struct "item" {"left" 0 64 type t3, "right" 64 64 type t3, "up" 128 64 type t3}
type t3 size 8 pointer type t2
variable v0 "item" type t3
"#;

const PLACES: &str = r#"
global @a "a" size 4 align 4 = -
global @b "b" size 4 align 4 = -
global @x "x" size 16 align 8 = -
global @y "y" size 16 align 8 = -
global @z "z" size 16 align 8 = -
"#;

/// Crowds share what is stored through them; other pointers read it where it may have been stored.
#[test]
fn what_is_stored_through_crowds_is_in_every_place_that_they_reach() {
    let body = r#"
function @main "main" (%0: i1) returns i32 {
b0:
  %1: ptr = select %0, global @x, global @y !s0
  %2: ptr = select %0, global @y, global @z !s1
  store global @a to %1 align 8 !s2
  store global @b to %2 align 8 !s3
  %3: ptr = load global @x align 8 !s4
  %4: ptr = load global @y align 8 !s5
  %5: ptr = load global @z align 8 !s6
  %6: ptr = load %1 align 8 !s7
  return i32 0 !s8
}"#;
    let program = program(&format!("{PLACES}{body}"));
    expect_of(&program, &of_crowds(&program, 2), &[("main", 3, "a"), ("main", 4, "a b"), ("main", 5, "b"), ("main", 6, "a b")]);
    expect_of(
        &program,
        &of_crowds(&program, 1),
        &[("main", 3, "a b"), ("main", 4, "a b"), ("main", 5, "a b"), ("main", 6, "a b")],
    );
}

/// Each place is looked at once for all crowds that load it alike: what is stored there later is seen, and so are places that other crowds add.
#[test]
fn what_one_crowd_loads_another_need_not_look_for() {
    let body = r#"
function @main "main" (%0: i1) returns i32 {
b0:
  %1: ptr = select %0, global @x, global @y !s0
  %2: ptr = select %0, global @y, global @z !s1
  %3: ptr = load %1 align 8 !s2
  %4: ptr = load %2 align 8 !s3
  store global @a to global @y align 8 !s4
  store global @b to global @z align 8 !s5
  return i32 0 !s6
}"#;
    let program = program(&format!("{PLACES}{body}"));
    expect_of(&program, &of_crowds(&program, 2), &[("main", 3, "a"), ("main", 4, "a b")]);
    expect_of(&program, &of_crowds(&program, 1), &[("main", 3, "a b"), ("main", 4, "a b")]);
}

/// A horde is one pointer, to whole objects: what is stored through it is in all of them, and nowhere else; what lies in one of them is loaded through it.
#[test]
fn a_horde_is_one_pointer() {
    let body = r#"
global @c "c" size 4 align 4 = -
global @w "w" size 16 align 8 = -
global @alone "alone" size 16 align 8 = -
function @main "main" (%0: i1) returns i32 {
b0:
  %1: ptr = select %0, global @x, global @y !s0
  %2: ptr = select %0, %1, global @z !s1
  %3: ptr = select %0, %1, global @w !s2
  store global @a to %2 align 8 !s3
  store global @b to global @z align 8 !s4
  store global @c to global @alone align 8 !s5
  %4: ptr = load global @w align 8 !s6
  %5: ptr = load global @z align 8 !s7
  %6: ptr = load %3 align 8 !s8
  %7: ptr = load global @alone align 8 !s9
  return i32 0 !s10
}"#;
    let program = program(&format!("{PLACES}{body}"));
    let found = of_hordes(&program, 1, 2);
    expect_of(&program, &found, &[("main", 1, "x y"), ("main", 2, "w+* x+* y+* z+*"), ("main", 3, "w+* x+* y+* z+*")]);
    expect_of(&program, &found, &[("main", 4, "a"), ("main", 5, "a b"), ("main", 6, "a b"), ("main", 7, "c")]);
    let found = of_hordes(&program, 1, 3);
    expect_of(&program, &found, &[("main", 2, "x y z"), ("main", 3, "w x y")]);
}

/// What was copied between crowds is read where it was copied to, is copied on from there, and counts as what is there.
#[test]
fn copies_between_crowds_go_through_the_pool() {
    let copies = ["copy_memory %2, %1, i64 16 !s3", "copy_memory global @last, global @y, i64 16 !s4"];
    let body = r#"
global @last "last" size 16 align 8 = -
global @other "other" size 16 align 8 = -
function @main "main" (%0: i1) returns i32 {
b0:
  store global @a to global @x align 8 !s0
  %1: ptr = select %0, global @x, global @other !s1
  %2: ptr = select %0, global @y, global @other !s2
  FIRST
  SECOND
  %3: ptr = load global @y align 8 !s5
  %4: ptr = load global @last align 8 !s6
  %5: ptr = load global @z align 8 !s7
  return i32 0 !s8
}"#;
    for [first, second] in [copies, [copies[1], copies[0]]] {
        let body = body.replace("FIRST", first).replace("SECOND", second);
        let program = program(&format!("{PLACES}{body}"));
        let found = of_crowds(&program, 1);
        expect_of(&program, &found, &[("main", 3, "a"), ("main", 4, "a"), ("main", 5, "")]);
        for (name, content) in [("y", vec!["a"]), ("last", vec!["a"]), ("z", vec![])] {
            let global = program.globals.position(|global| global.name == name).expect("it is declared");
            let object = found.object_of_kind(&AbstractObjectKind::Global(global)).expect("it is mentioned");
            let held = found.contents(Location { object, offset: Offset::At(0) }, 8);
            let held: Vec<String> = held.map(|location| show(&program, &found, location)).collect();
            assert_eq!(held, content, "{name}");
        }
    }
}

/// Ten `conn` and ten `item` reach a variable that is a pointer to `item`.
fn two_kinds(binding: &str) -> Program {
    let globals: String = (0..10)
        .map(|number| {
            format!(
                "global @c{number} \"c{number}\" size 16 align 8 type t0 = -\nglobal @i{number} \"i{number}\" size 24 align 8 type t2 = -\n"
            )
        })
        .collect();
    let steps: String = (0..10)
        .map(|number| {
            let (first, last) = (if number == 0 { "global @c0".to_owned() } else { format!("%{}", 2 * number) }, 2 * number + 1);
            format!(
                "  %{last}: ptr = select %0, {first}, global @c{number} !s{last}\n  %{}: ptr = select %0, %{last}, global @i{number} !s{}\n",
                last + 1,
                last + 1
            )
        })
        .collect();
    program(&format!(
        "{TYPES}{globals}function @main \"main\" (%0: i1) returns i32 {{\n  {binding}\nb0:\n{steps}  %21: ptr = select %0, %20, %20 !s21\n  return i32 0 !s22\n}}"
    ))
}

/// A pointer of which the analysis has lost track points to what its type says. That is assumed, and only of programs that are large.
#[test]
fn crowds_are_believed_what_their_types_say() {
    let all = |kinds: &[char]| -> String {
        let mut names: Vec<String> = kinds.iter().flat_map(|kind| (0..10).map(move |number| format!("{kind}{number}"))).collect();
        names.sort();
        names.join(" ")
    };
    let models = Models::embedded();
    for (binding, kinds, is_assumed) in [("binding v0 is %21", &['i'][..], true), ("", &['c', 'i'][..], false)] {
        let program = two_kinds(binding);
        let found = PointsTo::of_large(&program, &models.bind(&program));
        expect_of(&program, &found, &[("main", 21, &all(kinds)), ("main", 20, &all(&['c', 'i']))]);
        assert_eq!(found.assumes_types_of_pointers(), is_assumed, "{binding}");
        let found = points_to(&program);
        expect_of(&program, &found, &[("main", 21, &all(&['c', 'i']))]);
        assert!(!found.assumes_types_of_pointers(), "{binding}");
    }
}

/// A structure without a tag is called by its typedef, also when it is allocated, and lies where it is a member.
#[test]
fn structures_without_a_tag_are_called_by_their_typedefs() {
    let body = r#"
type t4 size 16 struct "" {"first" 0 64 type t1, "second" 64 64 type t1}
type t5 size 16 alias "pair" type t4
type t6 size 8 pointer type t5
type t7 size 32 struct "" {"base" 0 128 type t5, "more" 128 128 type t5}
type t8 size 32 alias "pool" type t7
type t9 size 8 pointer type t8
variable v1 "pool" type t9
structure c0 "pair"
structure c1 "pool"
structure c2 "conn"
function @malloc "malloc" (%0: i64) returns ptr
function @main "main" () returns i32 {
  binding v1 is %0
b0:
  %0: ptr = call @malloc(i64 32) !s0
  %1: ptr = offset in_bounds %0, 16 in c1 !s1
  %2: ptr = offset in_bounds %0, 8 in c0 !s2
  %3: ptr = offset in_bounds %0, 8 in c2 !s3
  return i32 0 !s4
}"#;
    let program = program(&format!("{TYPES}{body}"));
    let models = Models::embedded();
    let found = PointsTo::of_large(&program, &models.bind(&program));
    expect_of(&program, &found, &[("main", 1, "heap-s0+16"), ("main", 2, "heap-s0+8"), ("main", 3, "")]);
}

/// A name that a linker may have given to another structure of the same form stands for all of its size; so does every name where an object is declared.
#[test]
fn merged_names_stand_for_structures_of_their_size() {
    let models = Models::embedded();
    for (structure, set) in [("structure c0 \"conn\"", ""), ("structure c0 like \"conn\"", "heap-s1+8")] {
        let body = r#"
type t4 size 16 struct "pair" {"first" 0 64 type t1, "second" 64 64 type t1}
type t5 size 8 pointer type t4
variable v1 "pair" type t5
global @pair "pair" size 16 align 8 type t4 = -
function @malloc "malloc" (%0: i64) returns ptr
function @main "main" () returns i32 {
  binding v1 is %1
b0:
  %0: ptr = offset in_bounds global @pair, 8 in c0 !s0
  %1: ptr = call @malloc(i64 16) !s1
  %2: ptr = offset in_bounds %1, 8 in c0 !s2
  return i32 0 !s3
}"#;
        let program = program(&format!("{TYPES}{structure}\n{body}"));
        let found = PointsTo::of_large(&program, &models.bind(&program));
        expect_of(&program, &found, &[("main", 0, "pair+8"), ("main", 2, set)]);
    }
}

/// A call through a crowd of functions reaches those to whose parameters its arguments fit, in programs that are large; one whose structure is the beginning of the other's fits.
#[test]
fn crowds_of_functions_are_called_with_what_they_take() {
    let kinds = [("c", "v1"), ("i", "v0"), ("d", "v2"), ("n", "")];
    let functions: String = kinds
        .iter()
        .flat_map(|(kind, variable)| (0..6).map(move |number| (kind, variable, number)))
        .map(|(kind, variable, number)| {
            let binding = if variable.is_empty() { String::new() } else { format!("  binding {variable} is %0\n") };
            format!(
                "function @{kind}{number} \"{kind}{number}\" (%0: ptr) returns void {{\n{binding}b0:\n  return !s{}\n}}\n",
                90 + number
            )
        })
        .collect();
    let names: Vec<String> = kinds.iter().flat_map(|(kind, _)| (0..6).map(move |number| format!("{kind}{number}"))).collect();
    let selects: String = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let before = if number == 0 { format!("function @{name}") } else { format!("%{number}") };
            format!("  %{}: ptr = select %0, {before}, function @{name} !s{number}\n", number + 1)
        })
        .collect();
    let program = program(&format!(
        r#"{TYPES}
type t4 size 32 struct "derived" {{"base" 0 128 type t0, "more" 128 64 type t1}}
type t5 size 8 pointer type t4
variable v1 "conn" type t1
variable v2 "derived" type t5
global @conn "conn" size 16 align 8 type t0 = -
{functions}function @main "main" (%0: i1) returns i32 {{
  binding v1 is %25
b0:
{selects}  %25: ptr = select %0, global @conn, global @conn !s30
  call_indirect %24 (%25) !s31
  return i32 0 !s32
}}"#
    ));
    let models = Models::embedded();
    let bound = models.bind(&program);
    let called = |found: &PointsTo| -> String {
        let callees = names.iter().filter(|name| found.is_reachable(program.function_named(name).expect("it is there")));
        callees.map(|name| &name[..1]).collect()
    };
    let found = PointsTo::of_large(&program, &bound);
    assert_eq!(called(&found), "ccccccddddddnnnnnn");
    assert!(found.assumes_types_of_pointers());
    let found = points_to(&program);
    assert_eq!(called(&found), "cccccciiiiiiddddddnnnnnn");
    assert!(!found.assumes_types_of_pointers());
}
