//! Through which pointers functions are called of which nothing is known but their types.

use std::collections::BTreeSet;
use std::fs;

use lockcheck::facts::PointsTo;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::{Callee, FunctionId, Operation, Program};

/// All functions go through one table, so that every pointer may be each of them.
const SOURCE: &str = r#"
typedef struct conn { int fd; } conn;
struct item { long key; };
struct ops {
    void (*run)(void *);
    void (*open)(conn *);
    union { long number; void (*hook)(struct item *); } either;
    union { void *any; void (*hook)(struct item *); } anything;
    struct { int (*deep)(const struct conn *, unsigned); } inner[2];
    void (*old)();
};

static void v0(void *p) {}
static void v1(void *p) {}
static void c0(conn *c) {}
static void c1(struct conn *c) {}
static void c2(struct conn *const c) {}
static void i0(struct item *i) {}
static void i1(struct item *i) {}
static int d0(conn *c, unsigned n) { return 0; }
static int d1(conn *c, int n) { return 0; }

static void c_stored(conn *c) {}
static void c_begun(conn *c) {}
static void c_passed(conn *c) {}
static void c_chosen(conn *c) {}
static void c_returned(conn *c) {}
static void c_number(conn *c) {}
static void c_local(conn *c) {}
static void c_somewhere(conn *c) {}
static void c_asked(conn *c) {}
static void i_union(struct item *i) {}
static void l_late(long *l) {}
static void l_read(long *l) {}
static void s_open(short *s) {}

static void *all[] = { v0, v1, c0, c1, c2, i0, i1, d0, d1, c_stored, c_begun, c_passed, c_chosen, c_returned, c_number, c_local,
                       c_somewhere, c_asked, i_union, l_late, l_read, s_open };
typedef void (*runner)(void *);
struct ops begun = { .run = (runner)c_begun };
struct { long count; runner all[]; } open_end = { 1, { (runner)s_open } };
static void (*reader)(long *);
static void (*generic)(void);
static runner kept;
static unsigned long number;

static struct ops ops, *pointer = &ops;
static void keep(int n, runner one, ...) { kept = one; }
static void register_late(void (*late)(long *)) { pointer->run = (runner)late; }
static runner give(void) { return (runner)c_returned; }

static void *pick(int n) { return all[n % 22]; }

static int use(int argc, conn *c, struct item *i) {
    pointer->run = (runner)c_stored;
    keep(argc, (runner)c_passed, 1);
    runner chosen = argc > 2 ? (runner)c_chosen : give();
    chosen(c);
    number = (unsigned long)c_number;
    void *somewhere = (char *)&ops + argc * 8;
    *(runner *)somewhere = (runner)c_somewhere;
    struct ops local = { .run = (runner)c_local, .open = c_local };
    pointer->run = pick(argc);
    pointer->open = pick(argc);
    pointer->either.hook = pick(argc);
    pointer->anything.hook = pick(argc);
    pointer->inner[argc % 2].deep = pick(argc);
    pointer->old = pick(argc);
    pointer->either.hook = i_union;
    if (pointer->open == c_asked) return 1;
    register_late(l_late);
    reader = l_read;
    runner read = (runner)reader;
    read(c);
    generic = pick(argc);

    pointer->run(c);
    pointer->open(c);
    pointer->either.hook(i);
    pointer->anything.hook(i);
    pointer->inner[argc % 2].deep(c, 1);
    pointer->old(c);
    ((runner)pick(argc))(c);
    ((runner)generic)(c);
    return local.run == kept;
}

int main(int argc, char **argv) {
    conn c;
    struct item i;
    return use(argc, &c, &i);
}
"#;

/// By call through a pointer in `use`, in their order.
fn called(program: &Program, found: &PointsTo) -> Vec<String> {
    let user = program.function_named("use").expect("use");
    let instructions = program.functions[user].blocks.iter().flat_map(|block| &block.instructions);
    let calls = instructions.filter(|one| matches!(one.operation, Operation::Call { callee: Callee::Indirect(_), .. }));
    let names = |callees: &[FunctionId]| callees.iter().map(|callee| program.functions[*callee].name.clone()).collect();
    calls.map(|call| names(found.callees(call.site))).map(|names: BTreeSet<String>| Vec::from_iter(names).join(" ")).collect()
}

#[test]
fn a_crowd_of_functions_is_called_through_the_types_they_are_taken_as() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("signatures.c");
    fs::write(&file, SOURCE).expect("the source is written");
    let program = load(&[file], &LoadOptions::default()).expect("it loads");
    let models = Models::embedded();
    let found = PointsTo::of_large(&program, &models.bind(&program));
    let conn = "c0 c1 c2 c_asked c_begun c_chosen c_local c_number c_passed c_returned c_somewhere c_stored";
    let long = "l_late l_read s_open";
    let expected = [
        "c_chosen c_returned",
        "l_read",
        &format!("c_begun c_chosen c_local c_passed c_returned c_somewhere c_stored {long} v0 v1"),
        conn,
        // One that is written anywhere is there before the pointers are crowds.
        "c_somewhere i0 i1 i_union",
        &format!("c_somewhere i0 i1 i_union {long} v0 v1"),
        "d0 d1",
        &format!("{conn} {long} v0 v1"),
        &format!("{conn} {long} v0 v1"),
        &format!("{conn} {long} v0 v1"),
    ];
    assert_eq!(called(&program, &found), expected);
    assert!(found.assumes_types_of_pointers());
    // Small programs are looked at without the assumption.
    let found = PointsTo::of(&program, &models.bind(&program));
    let all = format!("{conn} i0 i1 i_union {long} v0 v1");
    let expected = ["c_chosen c_returned", "l_read", &all, &all, &all, &all, "d0 d1", &all, &all, &all];
    assert_eq!(called(&program, &found), expected);
    assert!(!found.assumes_types_of_pointers());
}
