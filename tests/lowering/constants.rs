//! Initial values and constant expressions.

use lockcheck::program::{AssumptionKind, Constant, Global, Operand, Operation, Program, RelocationTarget, Scalar};

use crate::support::*;

fn global<'a>(program: &'a Program, name: &str) -> &'a Global {
    program.globals.iter().find(|global| global.name == name).unwrap_or_else(|| panic!("no global {name}"))
}

#[test]
fn initial_bytes() {
    let source = r#"
    struct mixed { char c; short s; int i; double d; } m = {1, 2, 3, 1.0};
    int zeros[1000000]; int some[100000] = {1, 2}; const char text[] = "hello";
    unsigned __int128 wide = (unsigned __int128)0x0123456789abcdef << 64 | 0xfedcba9876543210;
    long double extended = 1.0L; _Bool flag = 1;
    struct bits { unsigned a : 3, b : 7, c : 20; } bits = {5, 100, 70000};
    extern int elsewhere; int *use(void) { return &elsewhere; }
    "#;
    let program = lower_c(source, PLAIN);
    let m = global(&program, "m");
    assert_eq!(m.size, 16);
    assert_eq!(m.bytes, [1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    assert!(global(&program, "zeros").bytes.is_empty() && global(&program, "zeros").size == 4_000_000);
    assert_eq!(global(&program, "some").bytes, [1, 0, 0, 0, 2]);
    let text = global(&program, "text");
    assert!(text.bytes == b"hello" && text.size == 6 && text.is_constant);
    let wide: Vec<u8> = 0x0123456789abcdef_fedcba9876543210_u128.to_le_bytes().to_vec();
    assert_eq!(global(&program, "wide").bytes, wide);
    let extended = global(&program, "extended");
    assert_eq!((extended.size, extended.bytes.as_slice()), (16, &[0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f][..]));
    assert_eq!(global(&program, "flag").bytes, [1]);
    assert_eq!(global(&program, "bits").bytes, (5u32 | 100 << 3 | 70000 << 10).to_le_bytes()[..4]);
    assert!(global(&program, "elsewhere").is_external);
}

#[test]
fn addresses_in_initial_data() {
    let source = r#"
    struct pair { int a, b; } pairs[4]; int f(void) { return 0; }
    int *inside = &pairs[2].b; int (*function)(void) = f; long number = (long)&pairs[1]; char *before = (char *)pairs - 3;
    struct node { struct node *next; const char *name; } nodes[2] = {{&nodes[1], "one"}, {0, "two"}};
    long distance = (char *)&pairs[3] - (char *)&pairs[1];
    "#;
    let program = lower_c(source, PLAIN);
    let relocation = |name| {
        let relocations = &global(&program, name).relocations;
        assert_eq!(relocations.len(), 1, "{name}");
        (relocations[0].target, relocations[0].addend)
    };
    let pairs = program.globals.iter_enumerated().find(|(_, global)| global.name == "pairs").unwrap().0;
    assert_eq!(relocation("inside"), (RelocationTarget::Global(pairs), 20));
    assert_eq!(relocation("function"), (RelocationTarget::Function(program.function_named("f").unwrap()), 0));
    assert_eq!(relocation("number"), (RelocationTarget::Global(pairs), 8));
    assert_eq!(relocation("before"), (RelocationTarget::Global(pairs), -3));
    assert_eq!(global(&program, "distance").bytes, [16]);
    let nodes = global(&program, "nodes");
    assert_eq!(nodes.relocations.iter().map(|relocation| relocation.offset).collect::<Vec<_>>(), [0, 8, 24]);
    let narrow = lower_c(source, PLAIN_32);
    let nodes = global(&narrow, "nodes");
    assert_eq!(nodes.relocations.iter().map(|relocation| relocation.offset).collect::<Vec<_>>(), [0, 4, 12]);
}

/// What bytes and addresses cannot say is stored before `main` runs.
#[test]
fn distances_of_labels() {
    let source = r#"
    int run(int i) {
        static const int table[] = { &&a - &&a, &&b - &&a };
        goto *(&&a + table[i]);
        a: return 1;
        b: return 2;
    }
    "#;
    let program = lower_c(source, PLAIN);
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
    let initialize = &program.functions[program.constructors[0]];
    assert!(has(initialize, |operation| matches!(operation, Operation::Store { .. })));
    let table = program.globals.iter().find(|global| global.name.contains("table")).unwrap();
    assert!(!table.is_constant, "it is written once");
}

#[test]
fn expressions_become_instructions() {
    let source = "@g = global [8 x i32] zeroinitializer\n\
        define i64 @f() {\n  %v = load i32, ptr getelementptr inbounds ([8 x i32], ptr @g, i64 0, i64 3)\n\
        %w = zext i32 %v to i64\n  %r = add i64 %w, ptrtoint (ptr getelementptr (i8, ptr @g, i64 5) to i64)\n  ret i64 %r\n}\n";
    let program = lower_bytes(source.as_bytes());
    let f = function(&program, "f");
    let constants: Vec<i64> = operations(f)
        .filter_map(|operation| match operation {
            Operation::Offset { base: Operand::Constant(_), constant, .. } => Some(*constant),
            _ => None,
        })
        .collect();
    assert_eq!(constants, [12, 5]);
    assert!(program.assumptions.iter().all(|assumption| assumption.kind == AssumptionKind::NoDebugInformation));
}

#[test]
fn undef_and_poison_stay_apart() {
    let source = "define i32 @u() {\n  ret i32 undef\n}\ndefine i32 @p() {\n  ret i32 poison\n}\n\
        define { i32, i32 } @z() {\n  ret { i32, i32 } zeroinitializer\n}\ndefine fp128 @q() {\n  ret fp128 0xL00000000000000003FFF000000000000\n}\n";
    let program = lower_bytes(source.as_bytes());
    let returned = |name| match terminators(function(&program, name)).next() {
        Some(lockcheck::program::TerminatorKind::Return(Some(Operand::Constant(constant)))) => {
            program.constants[*constant].clone()
        }
        other => panic!("{other:?}"),
    };
    assert!(matches!(returned("u"), Constant::Undef(_)));
    assert!(matches!(returned("p"), Constant::Poison(_)));
    assert!(matches!(returned("z"), Constant::Zero(lockcheck::program::Type::Aggregate { size: 8 })));
    assert_eq!(returned("q"), Constant::Float { kind: Scalar::Fp128, bits: 0x3fff << 112 });
}

#[test]
fn constructors_in_order_of_priority() {
    let source = r#"
    __attribute__((constructor(200))) void late(void) {}
    __attribute__((constructor(101))) void early(void) {}
    __attribute__((destructor(101))) void last(void) {}
    __attribute__((destructor(200))) void first(void) {}
    "#;
    let program = lower_c(source, PLAIN);
    let names =
        |ids: &[lockcheck::program::FunctionId]| ids.iter().map(|id| program.functions[*id].name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&program.constructors), ["early", "late"]);
    assert_eq!(names(&program.destructors), ["first", "last"]);
}

#[test]
fn indirect_functions_are_assumed() {
    let source = "static int real(void) { return 1; } static void *pick(void) { return real; }\n\
        __attribute__((ifunc(\"pick\"))) int chosen(void); int call(void) { return chosen(); }";
    let program = lower_c(source, PLAIN);
    assert!(program.assumptions.iter().any(|a| a.kind == AssumptionKind::IndirectFunction && a.what == "chosen"));
    assert!(!function(&program, "chosen").is_defined());
}
