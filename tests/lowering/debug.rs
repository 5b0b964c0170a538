//! Names and types from debug information.

use lockcheck::program::{DebugTypeId, DebugTypeKind, Field, Program};

use crate::support::*;

const SOURCE: &str = r#"
typedef struct node { struct node *next; int values[2][3]; union { int number; float real; }; unsigned ready : 1, mode : 3; char tail[]; } node_t;
node_t *head; static int hidden; int *counter(void) { static int hidden_too; return hidden ? &hidden : &hidden_too; }
int walk(const node_t *first, int limit) { int total = 0; for (const node_t *n = first; n; n = n->next) total += n->number + limit; return total; }
"#;

fn fields(program: &Program, ty: DebugTypeId) -> &[Field] {
    match &program.debug_types[ty].kind {
        DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. } => fields,
        DebugTypeKind::Alias { of: Some(of), .. } | DebugTypeKind::Pointer { to: Some(of) } => fields(program, *of),
        other => panic!("no struct: {other:?}"),
    }
}

#[test]
fn recursive_types_with_fields() {
    for (flags, pointer) in [(PLAIN, 8), (PLAIN_32, 4)] {
        let program = lower_c(SOURCE, flags);
        let head = program.globals.iter().find(|global| global.name == "head").unwrap();
        let node = fields(&program, head.debug_type.unwrap());
        let shape: Vec<(&str, u64, u64)> =
            node.iter().map(|field| (field.name.as_str(), field.offset_bits, field.size_bits)).collect();
        let after = pointer * 8 + 24 * 8;
        assert_eq!(
            shape,
            [
                ("next", 0, pointer * 8),
                ("values", pointer * 8, 24 * 8),
                ("", after, 32),
                ("ready", after + 32, 1),
                ("mode", after + 33, 3),
                ("tail", after + 40, 0),
            ]
        );
        // The pointer leads back to the struct it stands in.
        assert_eq!(fields(&program, node[0].ty.unwrap()).as_ptr(), node.as_ptr());
        assert_eq!(fields(&program, node[2].ty.unwrap())[1].name, "real");
        let DebugTypeKind::Array { element: Some(row), count: Some(2) } = program.debug_types[node[1].ty.unwrap()].kind else {
            panic!("two rows");
        };
        assert!(matches!(program.debug_types[row].kind, DebugTypeKind::Array { count: Some(3), .. }));
        assert_eq!(program.debug_types[row].size, 12);
    }
}

#[test]
fn variables_are_bound() {
    for flags in [PLAIN, UNOPTIMIZED, OPTIMIZED] {
        let program = lower_c(SOURCE, flags);
        let walk = function(&program, "walk");
        let mut names: Vec<&str> =
            walk.bindings.iter().map(|binding| program.variables[binding.variable].name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["first", "limit", "n", "total"], "{flags:?}");
        assert_eq!(walk.line, 4);
    }
}

#[test]
fn statics_keep_their_names() {
    let program = lower_c(SOURCE, PLAIN);
    let hidden = program.globals.iter().find(|global| global.source_name == "hidden_too").expect("the static in a function");
    assert_eq!(hidden.name, "counter.hidden_too");
    assert_eq!(hidden.line, 3);
    assert!(program.functions.iter().any(|function| function.source_name == "walk" && function.file.is_some()));
}

/// A variable that was optimised out is a list of no values: LLVM's own accessor crashes on it.
#[test]
fn variables_without_a_value() {
    let source = r#"
define i32 @f(i32 %x) !dbg !5 {
    #dbg_value(!DIArgList(), !9, !DIExpression(), !10)
    #dbg_value(!{}, !9, !DIExpression(), !10)
    #dbg_value(!DIArgList(i32 %x), !9, !DIExpression(DW_OP_LLVM_arg, 0), !10)
  ret i32 %x, !dbg !10
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{!8}
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DILocalVariable(name: "x", scope: !5, file: !1, line: 1, type: !8)
!10 = !DILocation(line: 2, column: 1, scope: !5)
"#;
    let program = lower_bytes(source.as_bytes());
    assert_eq!(function(&program, "f").bindings.len(), 1);
}

#[test]
fn bitcode_of_older_compilers() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures).expect("the fixtures") {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "bc") {
            let program = lower_bytes(&std::fs::read(&path).unwrap());
            assert!(function(&program, "main").is_defined(), "{}", path.display());
            assert!(!program.variables.is_empty(), "{}", path.display());
            assert!(program.assumptions.is_empty(), "{}: {:?}", path.display(), program.assumptions);
            seen += 1;
        }
    }
    assert!(seen >= 3, "bitcode of several compilers");
}
