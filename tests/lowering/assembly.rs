//! Inline assembly: barriers are known, everything else is an assumption with its place.

use lockcheck::program::{AssumptionKind, Operation, Ordering, Scope};

use crate::support::*;

#[test]
fn a_compiler_barrier_is_a_fence_for_this_thread_only() {
    let program = lower_c("void f(void) { __asm__ volatile(\"\" ::: \"memory\"); __asm__ volatile(\"pause\"); }", PLAIN);
    let fences: Vec<_> = operations(function(&program, "f"))
        .filter(|operation| matches!(operation, Operation::Fence { scope: Scope::SingleThread, .. }))
        .collect();
    assert_eq!(fences.len(), 2);
    assert!(program.assumptions.is_empty());
}

#[test]
fn a_processor_barrier_orders_between_threads() {
    let program = lower_c("void f(void) { __asm__ volatile(\"mfence\" ::: \"memory\"); }", PLAIN);
    assert!(has(function(&program, "f"), |operation| {
        matches!(operation, Operation::Fence { ordering: Ordering::SequentiallyConsistent, scope: Scope::System })
    }));
}

#[test]
fn other_assembly_is_assumed() {
    let source =
        "\nint f(int x) {\n  int r;\n  __asm__(\"bsr %1, %0\" : \"=r\"(r) : \"r\"(x));\n  return r;\n}\nasm(\".globl nothing\");";
    let program = lower_c(source, PLAIN);
    let (text, arguments) = the(function(&program, "f"), |operation| match operation {
        Operation::InlineAssembly { text, arguments, .. } => Some((text.clone(), arguments.len())),
        _ => None,
    });
    assert!(text.starts_with("bsr") && arguments == 1);
    let places: Vec<_> = program
        .assumptions
        .iter()
        .map(|assumption| (assumption.kind, assumption.place.clone().map(|place| place.line)))
        .collect();
    // No address goes in, no memory is named: it computes a number, which no run knows.
    assert_eq!(places, [(AssumptionKind::NotComputed, Some(4)), (AssumptionKind::InlineAssembly, None)]);
}

/// An empty template may still change its operands.
#[test]
fn a_laundered_value_is_no_barrier() {
    let program = lower_c("int f(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }", PLAIN);
    assert!(has(function(&program, "f"), |operation| matches!(operation, Operation::InlineAssembly { .. })));
    assert_eq!(program.assumptions.len(), 1);
}

/// A clobber of memory, or an output that lies there: what else writes memory is no assembly that a compiler could work with.
#[test]
fn assembly_that_writes_memory_says_so() {
    let writes = |assembly: &str| {
        let program = lower_c(&format!("void f(long *p) {{ long r = 0; __asm__ volatile({assembly}); }}"), PLAIN);
        the(function(&program, "f"), |operation| match operation {
            Operation::InlineAssembly { may_store, .. } => Some(*may_store),
            _ => None,
        })
    };
    assert!(!writes("\"crc32q (%1), %0\" : \"+r\"(r) : \"r\"(p)"));
    assert!(writes("\"incq (%0)\" : : \"r\"(p) : \"memory\""));
    assert!(writes("\"incq %0\" : \"=m\"(*p)"));
}
