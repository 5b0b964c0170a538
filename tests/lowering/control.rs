//! Branches, switches, computed jumps, loops.

use lockcheck::program::{AssumptionKind, Operation, TerminatorKind};

use crate::support::*;

#[test]
fn branch_order() {
    // The operands of LLVM's branch stand in the opposite order of its successors.
    let source = "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %yes, label %no\nyes:\n  ret i32 1\nno:\n  ret i32 0\n}\n";
    let program = lower_bytes(source.as_bytes());
    let f = function(&program, "f");
    let TerminatorKind::Branch { when_true, when_false, .. } = f.blocks[f.entry()].terminator.kind else { panic!("a branch") };
    assert_eq!((usize::from(when_true), usize::from(when_false)), (1, 2));
}

#[test]
fn switches() {
    let source = "int f(int x) { switch (x) { case -1: return 5; case 3: case 4: return 6; default: return 7; } }";
    let program = lower_c(source, PLAIN);
    let f = function(&program, "f");
    let cases = terminators(f)
        .find_map(|terminator| match terminator {
            TerminatorKind::Switch { cases, .. } => Some(cases.clone()),
            _ => None,
        })
        .expect("a switch");
    let numbers: Vec<_> = cases.iter().map(|(case, _)| program.constants[*case].clone()).collect();
    let number = |value: u32| lockcheck::program::Constant::integer(32, value.into());
    assert_eq!(numbers, [number(u32::MAX), number(3), number(4)]);
    assert_eq!(cases[1].1, cases[2].1);
}

#[test]
fn computed_jumps() {
    let source = r#"
    int f(int i) { static void *targets[] = {&&one, &&two}; goto *targets[i]; one: return 1; two: return 2; }
    "#;
    let program = lower_c(source, PLAIN);
    let targets = terminators(function(&program, "f")).find_map(|terminator| match terminator {
        TerminatorKind::IndirectJump { targets, .. } => Some(targets.len()),
        _ => None,
    });
    assert_eq!(targets, Some(2));
    let table = program.globals.iter().find(|global| global.name.contains("targets")).unwrap();
    assert_eq!(table.relocations.len(), 2);
}

#[test]
fn phis_follow_predecessors() {
    let source = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i ^ s; return s; }";
    let program = lower_c(source, &["-g", "-O2", "-fno-vectorize", "-fno-unroll-loops"]);
    let f = function(&program, "f");
    assert!(f.blocks.iter().any(|block| block.phis.len() >= 2 && block.predecessors.len() == 2));
}

/// A block that is entered twice from one place counts it once.
#[test]
fn repeated_edges() {
    let source = "define i32 @f(i32 %x) {\nentry:\n  switch i32 %x, label %a [ i32 1, label %b\n i32 2, label %b ]\n\
        a:\n  br label %b\nb:\n  %r = phi i32 [ 7, %entry ], [ 7, %entry ], [ 8, %a ]\n  ret i32 %r\n}\n";
    let program = lower_bytes(source.as_bytes());
    let block = &function(&program, "f").blocks[lockcheck::program::BlockId::from(2)];
    assert_eq!((block.predecessors.len(), block.phis[0].operands.len()), (2, 2));
}

#[test]
fn assembly_that_jumps() {
    let source = "int f(void) { asm goto(\"jmp %l0\" : : : : out); return 0; out: return 1; }";
    let program = lower_c(source, PLAIN);
    assert!(
        terminators(function(&program, "f"))
            .any(|terminator| matches!(terminator, TerminatorKind::AnyOf(targets) if targets.len() == 2))
    );
    assert!(program.assumptions.iter().any(|assumption| assumption.kind == AssumptionKind::InlineAssembly));
}

#[test]
fn exceptions_are_assumed_away() {
    let source = r#"
    void g(void); void done(int *p);
    void f(void) { int x __attribute__((cleanup(done))) = 0; g(); }
    "#;
    let program = lower_c(source, &["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-fexceptions"]);
    assert!(program.assumptions.iter().any(|assumption| assumption.kind == AssumptionKind::NonLocalJump));
    assert!(has(function(&program, "f"), |operation| matches!(operation, Operation::Call { .. })));
}

#[test]
fn fifty_thousand_blocks() {
    let mut source = String::from("define i32 @f(i32 %x) {\nentry:\n  br label %b0\n");
    for block in 0..50_000 {
        source += &format!("b{block}:\n  %v{block} = add i32 %x, {block}\n  br label %b{}\n", block + 1);
    }
    source += "b50000:\n  ret i32 %v49999\n}\n";
    let program = lower_bytes(source.as_bytes());
    assert_eq!(function(&program, "f").blocks.len(), 50_002);
}

#[test]
fn traps_and_unreachable() {
    let program = lower_c("int f(int x) { if (x) __builtin_trap(); if (x == 2) __builtin_unreachable(); return x; }", PLAIN);
    let f = function(&program, "f");
    assert!(has(f, |operation| matches!(operation, Operation::Trap)));
    assert!(terminators(f).any(|terminator| *terminator == TerminatorKind::Unreachable));
}
