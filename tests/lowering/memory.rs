//! Stack objects, memory intrinsics, variadic functions, arguments by value, thread-local storage.

use lockcheck::program::{AliasTypeId, AssumptionKind, Callee, Constant, Operand, Operation, Program, Type};

use crate::support::*;

#[test]
fn memory_intrinsics() {
    let source = r#"
    #include <string.h>
    struct big { char bytes[300]; } a, b;
    volatile struct big w;
    void copy(void) { a = b; }
    void move(char *p, char *q, size_t n) { __builtin_memmove(p, q, n); }
    void set(void) { __builtin_memset(&a, 7, sizeof a); }
    void inline_copy(char *p, char *q) { __builtin_memcpy_inline(p, q, 16); }
    "#;
    let program = lower_c(source, PLAIN);
    let copy = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::CopyMemory { may_overlap, is_volatile, .. } => Some((*may_overlap, *is_volatile)),
            _ => None,
        })
    };
    assert_eq!(copy("copy"), (false, false));
    assert_eq!(copy("move"), (true, false));
    assert_eq!(copy("inline_copy"), (false, false));
    let byte = the(function(&program, "set"), |operation| match operation {
        Operation::SetMemory { byte: Operand::Constant(byte), .. } => Some(program.constants[*byte].clone()),
        _ => None,
    });
    assert_eq!(byte, Constant::integer(8, 7));
}

#[test]
fn stack_objects_live_and_die() {
    let source = r#"
    void use(int *);
    void scoped(void) { { int x[4]; use(x); } }
    void variable(int n) { for (int i = 0; i < n; i++) { int x[i + 1]; use(x); } }
    "#;
    let program = lower_c(source, PLAIN);
    let scoped = function(&program, "scoped");
    assert!(has(scoped, |operation| matches!(operation, Operation::LifetimeStart { .. })));
    assert!(has(scoped, |operation| matches!(operation, Operation::LifetimeEnd { .. })));
    assert_eq!(
        the(scoped, |operation| match operation {
            Operation::StackAllocate { element_size, align, .. } => Some((*element_size, *align)),
            _ => None,
        }),
        (16, 16)
    );
    let variable = function(&program, "variable");
    assert!(has(variable, |operation| matches!(operation, Operation::StackSave)));
    assert!(has(variable, |operation| matches!(operation, Operation::StackRestore { .. })));
    assert!(has(variable, |operation| matches!(
        operation,
        Operation::StackAllocate { count: Operand::Register(_), element_size: 4, .. }
    )));
}

#[test]
fn variadic_functions() {
    let source = r#"
    #include <stdarg.h>
    int sum(int n, ...) { va_list l, m; va_start(l, n); va_copy(m, l); int s = va_arg(l, int) + va_arg(m, int); va_end(l); va_end(m); return s; }
    int call(void) { return sum(2, 3, 4.5); }
    "#;
    for flags in [PLAIN, PLAIN_32] {
        let program = lower_c(source, flags);
        let sum = function(&program, "sum");
        assert!(sum.is_variadic && sum.parameters.len() == 1);
        assert!(has(sum, |operation| matches!(operation, Operation::VariadicStart { .. })));
        assert!(has(sum, |operation| matches!(operation, Operation::VariadicCopy { .. })));
        assert_eq!(operations(sum).filter(|operation| matches!(operation, Operation::VariadicEnd { .. })).count(), 2);
        let (count, is_variadic) = the(function(&program, "call"), |operation| match operation {
            Operation::Call { arguments, is_variadic, .. } => Some((arguments.len(), *is_variadic)),
            _ => None,
        });
        assert_eq!((count, is_variadic), (3, true));
    }
}

#[test]
fn structs_by_value() {
    let source = r#"
    struct big { long a[5]; };
    long first(struct big b) { return b.a[0]; }
    long call(struct big *p) { return first(*p); }
    struct big make(void) { struct big b = {{1}}; return b; }
    "#;
    let program = lower_c(source, PLAIN);
    let first = function(&program, "first");
    assert_eq!(first.parameters[0].by_value.unwrap().size, 40);
    assert_eq!(first.parameters[0].by_value.unwrap().align, 8);
    let passed = the(function(&program, "call"), |operation| match operation {
        Operation::Call { arguments, .. } => Some(arguments[0].by_value),
        _ => None,
    });
    assert_eq!(passed.unwrap().size, 40);
    // A returned struct is an ordinary pointer that the caller passes.
    let make = function(&program, "make");
    assert_eq!(make.return_type, Type::Void);
    assert!(make.parameters.len() == 1 && make.parameters[0].by_value.is_none());
    let narrow = lower_c(source, PLAIN_32);
    assert_eq!(function(&narrow, "first").parameters[0].by_value.unwrap().size, 20);
}

#[test]
fn thread_local_storage() {
    let source = "_Thread_local int mine = 3; static __thread char other; int get(void) { return mine; } char *where(void) { return &other; }";
    let program = lower_c(source, PLAIN);
    let global = the(function(&program, "get"), |operation| match operation {
        Operation::ThreadLocalAddress { global } => Some(&program.globals[*global]),
        _ => None,
    });
    assert!(global.name == "mine" && global.is_thread_local && global.bytes == [3]);
}

#[test]
fn thread_local_storage_of_older_compilers() {
    let source = "@mine = thread_local global i32 0\n\
        define i32 @get() {\n  %v = load i32, ptr getelementptr (i8, ptr @mine, i64 0)\n  ret i32 %v\n}\n\
        define ptr @choose(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  br label %b\n\
        b:\n  %p = phi ptr [ @mine, %a ], [ null, %entry ]\n  ret ptr %p\n}\n";
    let program = lower_bytes(source.as_bytes());
    assert!(has(function(&program, "get"), |operation| matches!(operation, Operation::ThreadLocalAddress { .. })));
    // The phi's operand is computed where control comes from.
    let choose = function(&program, "choose");
    let from = choose.blocks.iter().position(|block| block.instructions.len() == 1).expect("one block computes the address");
    assert_eq!(from, 1);
}

#[test]
fn calls() {
    let source = r#"
    int plus(int a, int b) { return a + b; }
    int direct(void) { return plus(1, 2); }
    int indirect(int (*f)(int, int)) { return f(1, 2); }
    __attribute__((alias("plus"))) int other_name(int, int);
    int by_alias(void) { return other_name(1, 2); }
    "#;
    let program = lower_c(source, PLAIN);
    let plus = program.function_named("plus").unwrap();
    let callee = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Call { callee, .. } => Some(*callee),
            _ => None,
        })
    };
    assert_eq!(callee("direct"), Callee::Direct(plus));
    assert_eq!(callee("by_alias"), Callee::Direct(plus));
    assert!(matches!(callee("indirect"), Callee::Indirect(Operand::Register(_))));
}

/// What is not modelled is said, with its place, and its result is any value.
#[test]
fn other_address_spaces_are_unknown() {
    let source = "int read(int __seg_gs *p) {\n  return *p;\n}\nint fixed(void) {\n  return *(int __seg_fs *)40;\n}\n";
    let program = lower_c(source, OPTIMIZED);
    let lines: Vec<_> = program.assumptions.iter().map(|a| (a.kind, a.place.as_ref().map(|place| place.line))).collect();
    assert_eq!(lines, [(AssumptionKind::UnknownInstruction, Some(2)), (AssumptionKind::UnknownInstruction, Some(5))]);
    assert!(has(function(&program, "read"), |operation| matches!(operation, Operation::Freeze { .. })));
}

/// The type of a function's last store; arguments are stored first, in the stack.
fn stored_as(program: &Program, name: &str) -> Option<AliasTypeId> {
    let stores = operations(function(program, name)).filter_map(|operation| match operation {
        Operation::Store { access, .. } => Some(access.alias),
        _ => None,
    });
    stores.last().expect("it stores")
}

/// The compiler's tree of types: a pointer to one structure is not read where a pointer to another was stored, `void *` is above both, a union and a
/// character touch all. Without strict aliasing there are no types.
#[test]
fn accesses_have_the_types_that_the_compiler_gives_them() {
    let source = r#"
    struct conn { int fd; }; struct item { long key; };
    union word { struct conn *c; struct item *i; };
    void conn(struct conn **p, struct conn *c) { *p = c; }
    void item(struct item **p, struct item *i) { *p = i; }
    void any(void **p, void *v) { *p = v; }
    void number(long *p, long v) { *p = v; }
    void character(char *p, char v) { *p = v; }
    void member(union word *p, struct conn *c) { p->c = c; }
    "#;
    let strict = lower_c(source, &["-O1", "-Xclang", "-disable-llvm-passes"]);
    let alias = |name: &str| stored_as(&strict, name);
    assert!(!strict.may_touch(alias("conn"), alias("item")));
    assert!(!strict.may_touch(alias("conn"), alias("number")));
    assert!(strict.may_touch(alias("conn"), alias("any")) && strict.may_touch(alias("any"), alias("item")));
    assert!(strict.may_touch(alias("conn"), alias("conn")));
    assert_eq!((alias("character"), alias("member")), (None, None));
    let loose = lower_c(source, &["-O1", "-Xclang", "-disable-llvm-passes", "-fno-strict-aliasing"]);
    assert!(loose.alias_types.is_empty());
}

/// A member is the same wherever its structure lies, and another one in another structure; a pointer to its type touches it.
#[test]
fn members_have_types_of_their_own() {
    let source = r#"
    struct list { struct list *next; char *name; };
    struct conn { int fd; struct list link; char *text; };
    struct item { int key; char *text; };
    void direct(struct list *l, char *t) { l->name = t; }
    void nested(struct conn *c, char *t) { c->link.name = t; }
    void first(struct list *l, struct list *t) { l->next = t; }
    void conn(struct conn *c, char *t) { c->text = t; }
    void item(struct item *i, char *t) { i->text = t; }
    void behind(char **p, char *t) { *p = t; }
    void number(struct item *i, int n) { i->key = n; }
    "#;
    let program = lower_c(source, &["-O1", "-Xclang", "-disable-llvm-passes"]);
    let alias = |name: &str| stored_as(&program, name);
    let touches = |one: &str, other: &str| program.may_touch(alias(one), alias(other));
    assert_eq!(alias("direct"), alias("nested"));
    assert!(touches("direct", "behind") && touches("conn", "behind") && touches("item", "behind"));
    for (one, other) in [("direct", "first"), ("direct", "conn"), ("conn", "item"), ("item", "number"), ("number", "behind")] {
        assert!(!touches(one, other) && !touches(other, one), "{one} {other}");
    }
}

/// The members of a structure with a flexible array are told from each other, and not from those of a structure that begins like it.
#[test]
fn members_before_a_flexible_array_touch_their_likes() {
    let source = r#"
    struct item { struct item *next; struct item *prev; char data[]; };
    struct marker { struct item *next; struct item *prev; int where; };
    struct other { int n; struct item *first; };
    void next(struct item *i, struct item *t) { i->next = t; }
    void prev(struct item *i, struct item *t) { i->prev = t; }
    void marker(struct marker *m, struct item *t) { m->next = t; }
    void other(struct other *o, struct item *t) { o->first = t; }
    void behind(struct item **p, struct item *t) { *p = t; }
    "#;
    let program = lower_c(source, &["-O1", "-Xclang", "-disable-llvm-passes"]);
    let alias = |name: &str| stored_as(&program, name);
    let touches = |one: &str, other: &str| program.may_touch(alias(one), alias(other));
    assert!(touches("next", "next") && touches("next", "marker") && touches("marker", "next"));
    assert!(touches("next", "behind") && touches("behind", "prev"));
    assert!(!touches("next", "prev") && !touches("prev", "marker") && !touches("next", "other"));
}

#[test]
fn an_assignment_of_a_structure_is_told_from_a_copy_of_bytes() {
    let source = r#"
    struct big { char *text; long more[40]; };
    void assign(struct big *a, struct big *b) { *a = *b; }
    void copy(struct big *a, struct big *b) { __builtin_memcpy(a, b, sizeof *a); }
    "#;
    let program = lower_c(source, &["-O1", "-Xclang", "-disable-llvm-passes"]);
    let is_assignment = |name: &str| {
        the(function(&program, name), |operation| match operation {
            Operation::CopyMemory { is_assignment, .. } => Some(*is_assignment),
            _ => None,
        })
    };
    assert!(is_assignment("assign") && !is_assignment("copy"));
}
