//! The text form: what is printed is parsed back to the same program, and wrong text gets a line and a reason.

use lockcheck::program::text::{parse, print};

/// Every operation, terminator, constant and item once.
const EVERYTHING: &str = r#"lockcheck program 1
target "x86_64-pc-linux-gnu" pointer 8
file f0 "a.c" in "/home/ann"
location l0 f0 3 5 "main"
location l1 f0 9 1 "inner \"quoted\"" inlined l0
type t0 size 4 base "int"
type t1 size 8 pointer type t2
type t2 size 16 struct "conn" {"fd" 0 32 type t0, "bit" 33 1 type t0, "next" 64 64 type t1}
type t3 size 8 union "" {"a" 0 32 type t0, "" 0 64}
type t4 size 12 array count 3 type t0
type t5 size 0 array
type t6 size 4 alias "number" type t0
type t7 size 0 function (t1, t0) variadic returns t0
type t8 size 0 function ()
variable v0 "argc" type t0 at f0 2
variable v1 "hidden"
alias a0 "any pointer"
alias a1 "p1 conn" a0
global @hits "hits" size 4 align 4 type t0 at f0 1 = -
global @".str 1" "" size 4 align 1 constant = 68690a00
global @table "table" size 32 align 8 = 0100000000000000 [8: global @hits -4] [16: function @main 0] [24: block @main b1 0]
global @mine "mine" size 4 align 4 thread_local = -
global @elsewhere "elsewhere" size 4 align 4 external = -
site s0 @main 0 l0
site s1 @main 1 l1
site s2 @main 2
constructor @start
destructor @start
assumption inline-assembly "nop" at "a.c" 3 5
assumption external-function "f\n"
function @start "start" () returns void type t8 at f0 8
function @print "print" (%0: ptr, %1: ptr by_value 16 8) variadic returns i32
function @main "main" (%0: i32, %1: ptr) returns i32 at f0 2 {
  binding v0 is %0
  binding v1 at %2
b0:
  %2: ptr = stack_allocate 4 * i32 1 align 4 !s0
  lifetime_start %2 !s1
  %3: i32 = add nsw nuw %0, i32 4294967295 !s1
  %4: i1 = compare signed_less %3, i32 0 !s1
  %5: double = float_add double 0x3ff0000000000000, undef double !s1
  %6: double = negate %5 !s1
  %7: i1 = float_compare eu %5, %6 !s1
  %8: i64 = cast sign_extend %3 !s1
  %9: i32 = select %4, %3, poison i32 !s1
  %10: ptr = offset in_bounds %1, 8, %8 * 16 of 3, i64 2 * -4 !s1
  %11: bytes(16) = insert_bytes zero bytes(16) at 8, %9 !s1
  %12: i32 = extract_bytes %11 at 8 !s1
  %13: <4 x i32> = insert_lane vector i32 [i32 1, i32 2, i32 3, undef i32], %12, i32 0 !s1
  %14: i32 = extract_lane %13, i32 3 !s1
  %15: <2 x i32> = shuffle %13, poison <4 x i32>, [0, _] !s1
  %16: i32 = freeze %14 !s1
  %17: i32 = intrinsic leading_zeros (%16, i1 0) !s1
  %18: ptr = stack_save !s1
  stack_restore %18 !s1
  %19: ptr = thread_local_address @mine !s1
  %20: i32 = load %19 align 4 as a1 !s1
  %21: i32 = load global @hits volatile acquire align 4 !s1
  store %21 to global @hits release single_thread align 4 !s1
  %22: i32 = read_modify_write add global @hits, i32 1 sequentially_consistent align 4 !s1
  %23: bytes(8) = compare_exchange weak global @hits, i32 0, i32 1 acquire_release align 4 failure relaxed success_at 4 !s1
  fence sequentially_consistent !s1
  fence acquire single_thread !s1
  copy_memory may_overlap volatile %10, %1, i64 16 assignment !s1
  copy_memory %10, %1, i64 16 !s1
  set_memory %10, i8 0, i64 16 !s1
  %24: <2 x i32> = masked_load %10, vector i1 [i1 1, i1 0], %15 !s1
  masked_store %10, zero <2 x i1>, %24 !s1
  %25: i32 = call @print(null, %1 by_value 16 8, global @".str 1") variadic !s1
  %26: i32 = call_indirect %1 (function @main, bytes 8 {0: i32 7, 4: i8 1}) !s1
  %27: i32 = assembly "mov $0, %eax" (%26) storing !s1
  variadic_start %2 !s1
  variadic_copy %2, %1 !s1
  %28: i256 = variadic_next %2 !s1
  %29: i256 = xor %28, i256 [1 2 3 4] !s1
  variadic_end %2 !s1
  assume %4 !s1
  trap !s1
  %30: ptr = frame_address !s1
  %31: i64 = cycle_counter !s1
  lifetime_end %2 !s1
  switch %9 [i32 1: b1, i32 2: b2] else b3 !s2
b1:
  branch %4, b2, b3 !s2
b2:
  %32: i32 = phi b0 %9, b1 i32 3
  indirect_jump block @main b1 [b3, b4] !s2
b3:
  any_of [b4, b5] !s2
b4:
  return %20 !s2
b5:
  unreachable !s2
}
"#;

#[test]
fn everything_is_printed_as_it_was_written() {
    let program = parse(EVERYTHING).expect("the text is valid");
    assert_eq!(print(&program), EVERYTHING);
    assert_eq!(parse(&print(&program)).expect("what is printed is valid"), program);
}

#[test]
fn constants_are_numbered_as_the_text_names_them() {
    let program = parse(EVERYTHING).expect("the text is valid");
    let mut renumbered = program.clone();
    renumbered.renumber_constants();
    assert_eq!(renumbered, program);
}

#[test]
fn an_instruction_without_a_site_gets_its_own() {
    let text = "lockcheck program 1\nfunction @f \"f\" () returns void {\nb0:\n  trap\n  return\n}\n";
    let program = parse(text).expect("the text is valid");
    let indices: Vec<u32> = program.sites.iter().map(|site| site.index).collect();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn wrong_text_gets_its_line() {
    let cases = [
        ("lockcheck program 2\n", 1, "first line"),
        ("lockcheck program 1\ntarget \"x\" pointer 3\n", 2, "4 or 8"),
        ("lockcheck program 1\nfunction @f \"f\" () returns void {\nb0:\n  frobnicate %1\n}\n", 4, "frobnicate"),
        ("lockcheck program 1\nfunction @f \"f\" () returns void {\nb0:\n  jump b7\n}\n", 5, "b7"),
        ("lockcheck program 1\nfunction @f \"f\" () returns void {\nb0:\n  trap\n}\n", 5, "does not end"),
        ("lockcheck program 1\nfunction @f \"f\" () returns void {\nb0:\n  return\n", 4, "`}` is missing"),
        ("lockcheck program 1\nglobal @x \"x\" size 1 align 1 = 0102\n", 2, "more bytes"),
        ("lockcheck program 1\nconstructor @g\n", 2, "no function `g`"),
        ("lockcheck program 1\nfunction @f \"f\" () returns void\nfunction @f \"f\" () returns void\n", 3, "twice"),
        (
            "lockcheck program 1\nfunction @f \"f\" () returns i8 {\nb0:\n  %0: i8 = add i8 1, i8 2\n  %0: i8 = add i8 1, i8 2\n}\n",
            5,
            "twice",
        ),
        ("lockcheck program 1\nfunction @f \"f\" () returns i8 {\nb0:\n  %1: i8 = add i8 1, i8 2\n  return %1\n}\n", 6, "%0"),
    ];
    for (text, line, reason) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.reason.contains(reason), "{text}: {error}");
    }
}

/// What clang makes of real C, at several levels, survives a round trip.
#[cfg(feature = "llvm")]
#[test]
fn programs_from_c_are_parsed_back_to_the_same_program() {
    use lockcheck::frontend::{DataModel, LoadOptions, load};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples");
    let files = [
        "sequential/structs.c",
        "sequential/varargs.c",
        "sequential/floats.c",
        "sequential/switches.c",
        "bitfield/adjacent-bad.c",
    ];
    for file in files {
        for (data_model, level) in [(DataModel::Bits64, "-O0"), (DataModel::Bits64, "-O2"), (DataModel::Bits32, "-O0")] {
            let clang_args = vec![level.to_owned()];
            let options = LoadOptions { clang_args, data_model: Some(data_model), ..LoadOptions::default() };
            let program = load(&[root.join(file)], &options).expect("an example can be loaded");
            let parsed = parse(&print(&program)).unwrap_or_else(|error| panic!("{file} {level}: {error}"));
            assert!(parsed == program, "{file} {level}");
        }
    }
}
