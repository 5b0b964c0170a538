//! What the vectorisers make of loops.

use lockcheck::program::{AssumptionKind, Intrinsic, Operation, Scalar, Type};

use crate::support::*;

#[test]
fn vectorised_loops() {
    let source = r#"
    int sum(int *a) { int s = 0; for (int i = 0; i < 1024; i++) s += a[i]; return s; }
    int largest(int *a) { int m = a[0]; for (int i = 0; i < 1024; i++) if (a[i] > m) m = a[i]; return m; }
    float dot(float *a, float *b) { float s = 0; for (int i = 0; i < 1024; i++) s += a[i] * b[i]; return s; }
    void add(int *restrict a, int *restrict b) { for (int i = 0; i < 1024; i++) a[i] += b[i] > 3 ? b[i] : 7; }
    "#;
    let program = lower_c(source, &["-g", "-O3", "-ffast-math"]);
    assert!(intrinsics(function(&program, "sum")).contains(&Intrinsic::ReduceAdd));
    assert!(intrinsics(function(&program, "largest")).contains(&Intrinsic::ReduceSignedMax));
    assert!(intrinsics(function(&program, "dot")).contains(&Intrinsic::ReduceFloatAdd));
    let add = function(&program, "add");
    assert!(add.registers.iter().any(|register| matches!(register.ty, Type::Vector { element: Scalar::Integer(32), .. })));
    assert!(has(add, |operation| matches!(operation, Operation::Select { .. })));
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
}

#[test]
fn masked_and_gathered() {
    let source = r#"
    void masked(int *restrict a, int *restrict b, int n) { for (int i = 0; i < 1024; i++) if (b[i]) a[i] = n; }
    int gathered(int *restrict a, int *restrict i) { int s = 0; for (int k = 0; k < 1024; k++) s += a[i[k]]; return s; }
    "#;
    let program = lower_c(source, &["-g", "-O3", "-mavx512f", "-mavx512vl"]);
    assert!(has(function(&program, "masked"), |operation| matches!(operation, Operation::MaskedStore { .. })));
    let gathered = function(&program, "gathered");
    assert!(has(gathered, |operation| matches!(operation, Operation::MaskedLoad { .. })));
    // The addresses of a gather are made lane by lane.
    assert!(gathered.registers.iter().any(|register| matches!(register.ty, Type::Vector { element: Scalar::Pointer, .. })));
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
}

#[test]
fn lanes() {
    let source = r#"
    typedef int v4 __attribute__((vector_size(16)));
    v4 shuffle(v4 a, v4 b) { return __builtin_shufflevector(a, b, 0, 5, 2, 7); }
    int third(v4 a) { return a[2]; }
    v4 put(v4 a, int x, int i) { a[i] = x; return a; }
    v4 compare(v4 a, v4 b) { return a < b; }
    "#;
    let program = lower_c(source, OPTIMIZED);
    let mask = the(function(&program, "shuffle"), |operation| match operation {
        Operation::Shuffle { mask, .. } => Some(mask.clone()),
        _ => None,
    });
    assert_eq!(mask, [Some(0), Some(5), Some(2), Some(7)]);
    assert!(has(function(&program, "third"), |operation| matches!(operation, Operation::ExtractLane { .. })));
    assert!(has(function(&program, "put"), |operation| matches!(operation, Operation::InsertLane { .. })));
    assert!(has(function(&program, "compare"), |operation| matches!(operation, Operation::Compare { .. })));
}

#[test]
fn parts_of_vectors() {
    let source = "declare <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32>, i64)\n\
        declare <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32>, <2 x i32>, i64)\n\
        declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)\n\
        define <4 x i32> @f(<4 x i32> %v) {\n  %p = call <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32> %v, i64 2)\n\
        %w = call <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32> %v, <2 x i32> %p, i64 0)\n\
        %r = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %w)\n  ret <4 x i32> %r\n}\n";
    let program = lower_bytes(source.as_bytes());
    let masks: Vec<Vec<Option<u32>>> = operations(function(&program, "f"))
        .filter_map(|operation| match operation {
            Operation::Shuffle { mask, .. } => Some(mask.clone()),
            _ => None,
        })
        .collect();
    let lanes = |lanes: &[u32]| lanes.iter().map(|lane| Some(*lane)).collect::<Vec<_>>();
    assert_eq!(masks[0], lanes(&[2, 3]));
    assert_eq!(masks[1], [Some(0), Some(1), None, None]);
    assert_eq!(masks[2], lanes(&[4, 5, 2, 3]));
    assert_eq!(masks[3], lanes(&[3, 2, 1, 0]));
    assert!(program.assumptions.iter().all(|assumption| assumption.kind == AssumptionKind::NoDebugInformation));
}
