//! Arithmetic, comparisons, casts and the functions that compilers know.

use lockcheck::program::{BinaryOp, CastKind, Intrinsic, Operation, Predicate, Scalar, Type};

use crate::support::*;

#[test]
fn known_functions() {
    let source = r#"
    int ones(unsigned x) { return __builtin_popcount(x); }
    int leading(unsigned x) { return __builtin_clz(x); }
    int trailing(unsigned long long x) { return __builtin_ctzll(x); }
    unsigned swap(unsigned x) { return __builtin_bswap32(x); }
    unsigned rotate(unsigned x, unsigned n) { return __builtin_rotateleft32(x, n); }
    int overflow(int a, int b, int *r) { return __builtin_mul_overflow(a, b, r); }
    unsigned bits(unsigned x) { return __builtin_bitreverse32(x); }
    double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
    double contracted(double a, double b, double c) { return a * b + c; }
    double absolute(double a) { return __builtin_fabs(a); }
    long long_absolute(long a) { return __builtin_labs(a); }
    int saturated(int a, int b) { return __builtin_elementwise_add_sat(a, b); }
    int size(char *p) { return __builtin_object_size(p, 0); }
    int known(int x) { return __builtin_constant_p(x); }
    int likely(int x) { return __builtin_expect(x, 1) + 2; }
    "#;
    let program = lower_c(source, PLAIN);
    let intrinsic = |name| intrinsics(function(&program, name));
    assert_eq!(intrinsic("ones"), [Intrinsic::CountOnes]);
    assert_eq!(intrinsic("leading"), [Intrinsic::LeadingZeros]);
    assert_eq!(intrinsic("trailing"), [Intrinsic::TrailingZeros]);
    assert_eq!(intrinsic("swap"), [Intrinsic::ByteSwap]);
    assert_eq!(intrinsic("rotate"), [Intrinsic::FunnelShiftLeft]);
    assert_eq!(intrinsic("overflow"), [Intrinsic::SignedMultiplyOverflow]);
    assert_eq!(intrinsic("bits"), [Intrinsic::BitReverse]);
    assert_eq!(intrinsic("fused"), [Intrinsic::FusedMultiplyAdd]);
    assert_eq!(intrinsic("contracted"), [Intrinsic::MultiplyAdd]);
    assert_eq!(intrinsic("absolute"), [Intrinsic::FloatAbsolute]);
    assert_eq!(intrinsic("long_absolute"), [Intrinsic::Absolute]);
    assert_eq!(intrinsic("saturated"), [Intrinsic::SaturatingSignedAdd]);
    assert_eq!(intrinsic("size"), [Intrinsic::ObjectSize]);
    assert_eq!(intrinsic("known"), [Intrinsic::IsConstant]);
    // A hint to the compiler is its argument.
    assert!(intrinsic("likely").is_empty() && !has(function(&program, "likely"), |op| matches!(op, Operation::Call { .. })));
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
}

#[test]
fn promises_of_the_compiler() {
    let source = "int add(int a, int b) { return a + b; } unsigned wrap(unsigned a, unsigned b) { return a + b; }\n\
        long half(int *p, int *q) { return p - q; }";
    let program = lower_c(source, PLAIN);
    let flags = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Binary { op: BinaryOp::Add | BinaryOp::SignedDivide, flags, .. } => Some(*flags),
            _ => None,
        })
    };
    assert!(flags("add").no_signed_wrap && !flags("add").no_unsigned_wrap);
    assert!(!flags("wrap").no_signed_wrap && !flags("wrap").no_unsigned_wrap);
    assert!(flags("half").exact);
}

#[test]
fn floats_of_all_kinds() {
    let source = r#"
    long double extended(long double x) { return -x; }
    _Float16 half(float x) { return x; }
    __float128 quad(double x) { return x; }
    int less(double a, double b) { return a < b; }
    int not_equal(double a, double b) { return a != b; }
    "#;
    let program = lower_c(source, PLAIN);
    assert_eq!(function(&program, "extended").return_type, Type::Scalar(Scalar::X86Fp80));
    assert!(has(function(&program, "extended"), |operation| matches!(operation, Operation::Negate { .. })));
    assert_eq!(function(&program, "half").return_type, Type::Scalar(Scalar::Half));
    assert_eq!(function(&program, "quad").return_type, Type::Scalar(Scalar::Fp128));
    let predicate = |name| {
        the(function(&program, name), |operation| match operation {
            Operation::Compare { predicate: Predicate::Float(predicate), .. } => Some(*predicate),
            _ => None,
        })
    };
    assert!(predicate("less").less && !predicate("less").unordered && !predicate("less").equal);
    assert!(predicate("not_equal").unordered && predicate("not_equal").less && !predicate("not_equal").equal);
}

#[test]
fn strict_floating_point() {
    let source = r#"
    double f(double a, double b) { return a / b + 1.0; }
    int g(float a, float b) { return a <= b; }
    int h(double a) { return (int)a; }
    "#;
    let program = lower_c(source, &["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-ffp-model=strict"]);
    let f = function(&program, "f");
    assert!(has(f, |operation| matches!(operation, Operation::Binary { op: BinaryOp::FloatDivide, .. })));
    let predicate = the(function(&program, "g"), |operation| match operation {
        Operation::Compare { predicate: Predicate::Float(predicate), .. } => Some(*predicate),
        _ => None,
    });
    assert!(predicate.less && predicate.equal && !predicate.greater && !predicate.unordered);
    assert!(has(function(&program, "h"), |operation| matches!(operation, Operation::Cast { kind: CastKind::FloatToSigned, .. })));
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
}

#[test]
fn very_wide_integers() {
    let source = "_BitInt(256) add(_BitInt(256) a) { return a + ((_BitInt(256))1 << 200); }";
    let program = lower_c(source, PLAIN);
    assert!(has(function(&program, "add"), |operation| matches!(operation, Operation::Binary { op: BinaryOp::Add, .. })));
    let wide = program.constants.iter().find_map(|(_, constant)| match constant {
        lockcheck::program::Constant::WideInteger { bits: 256, words } => Some(words.clone()),
        _ => None,
    });
    assert_eq!(wide, Some(vec![0, 0, 0, 1 << 8]));
}

#[test]
fn aggregates_are_bytes() {
    let source = "struct two { long a; double b; }; struct two make(long a, double b) { return (struct two){a, b}; }\n\
        double second(void) { return make(1, 2).b; }";
    let program = lower_c(source, OPTIMIZED);
    assert_eq!(function(&program, "make").return_type, Type::Aggregate { size: 16 });
    let offsets: Vec<u64> = operations(function(&program, "make"))
        .filter_map(|operation| match operation {
            Operation::InsertBytes { offset, .. } => Some(*offset),
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [0, 8]);
}
