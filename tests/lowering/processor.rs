//! Instructions of the x86 family.

use lockcheck::program::{AssumptionKind, BinaryOp, Intrinsic, Operation, Ordering, Program, Scope};

use crate::support::*;

const SOURCE: &str = r#"
#include <immintrin.h>
int mask(__m128i v) { return _mm_movemask_epi8(v); }
void fence(void) { _mm_mfence(); }
void spin(void) { _mm_pause(); }
unsigned long long clock_cycles(void) { return __rdtsc(); }
__attribute__((target("bmi2"))) unsigned long high(unsigned long x, unsigned n) { return _bzhi_u64(x, n); }
__attribute__((target("sse4.2"))) unsigned crc(unsigned c, unsigned x) { return __builtin_ia32_crc32si(c, x); }
"#;

/// Whether some function of the program has such an operation: intrinsics are wrapped by functions of the header, or not.
fn somewhere(program: &Program, predicate: impl Fn(&Operation) -> bool) -> bool {
    program.functions.iter().any(|function| has(function, &predicate))
}

#[test]
fn known_instructions() {
    let program = lower_c(SOURCE, PLAIN);
    assert!(somewhere(&program, |operation| matches!(operation, Operation::Intrinsic { function: Intrinsic::SignMask, .. })));
    assert!(somewhere(&program, |operation| {
        matches!(operation, Operation::Fence { ordering: Ordering::SequentiallyConsistent, scope: Scope::System })
    }));
    assert!(somewhere(&program, |operation| matches!(operation, Operation::CycleCounter)));
    let called: Vec<&str> = program.functions.iter().filter(|function| !function.is_defined()).map(|f| f.name.as_str()).collect();
    assert_eq!(called, ["llvm.x86.sse42.crc32.32.32"]);
}

#[test]
fn others_are_assumed_with_their_place() {
    let program = lower_c(SOURCE, PLAIN);
    let [assumption] = program.assumptions.as_slice() else { panic!("{:?}", program.assumptions) };
    assert_eq!((assumption.kind, assumption.what.as_str()), (AssumptionKind::NotComputed, "llvm.x86.sse42.crc32.32.32"));
    assert!(assumption.place.is_some());
}

/// Shifts of all lanes by one count are expanded: past the width they give zeros, or signs.
#[test]
fn shifts_of_lanes() {
    let source = r#"
    #include <immintrin.h>
    __m128i left(__m128i v, int n) { return _mm_slli_epi64(v, n); }
    __m128i right(__m128i v, __m128i n) { return _mm_sra_epi32(v, n); }
    "#;
    let program = lower_c(source, UNOPTIMIZED);
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
    for op in [BinaryOp::ShiftLeft, BinaryOp::ArithmeticShiftRight] {
        assert!(somewhere(&program, |operation| matches!(operation, Operation::Binary { op: found, .. } if *found == op)));
    }
}
