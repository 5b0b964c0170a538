//! The checker of programs notices each kind of damage.

use lockcheck::program::validate::validate;
use lockcheck::program::{BlockId, Operand, Operation, Program, RegisterId, Scalar, TerminatorKind, Type};

use crate::support::*;

const SOURCE: &str = r#"
_Thread_local int mine; int shared; int *address = &shared;
int f(int n) { int s = 0; for (int i = 0; i < n; i++) { s += shared; mine = i; } return s; }
"#;

/// The first complaint about a program that was changed.
fn complaint(damage: impl FnOnce(&mut Program)) -> String {
    let mut program = lower_c(SOURCE, OPTIMIZED_LOOPS);
    assert_eq!(validate(&program), Ok(()));
    damage(&mut program);
    validate(&program).expect_err("the damage is noticed")
}

const OPTIMIZED_LOOPS: &[&str] = &["-g", "-O1", "-fno-vectorize", "-fno-unroll-loops"];

fn with_f(program: &mut Program, damage: impl FnOnce(&mut lockcheck::program::Function)) {
    let id = program.function_named("f").unwrap();
    damage(&mut program.functions[id]);
}

#[test]
fn a_register_defined_twice() {
    let text = complaint(|program| {
        with_f(program, |f| {
            let block = f.blocks.iter_mut().find(|block| block.instructions.iter().any(|i| i.result.is_some())).unwrap();
            let copy = block.instructions.iter().find(|instruction| instruction.result.is_some()).unwrap().clone();
            block.instructions.push(copy);
        })
    });
    assert!(text.contains("2 definitions"), "{text}");
}

#[test]
fn an_operand_that_does_not_exist() {
    let text = complaint(|program| {
        with_f(program, |f| {
            let nowhere = Operand::Register(RegisterId::from(9999));
            f.blocks.last_mut().unwrap().terminator.kind = TerminatorKind::Return(Some(nowhere));
        })
    });
    assert!(text.contains("does not exist"), "{text}");
}

#[test]
fn a_type_that_does_not_fit() {
    let text = complaint(|program| {
        with_f(program, |f| {
            let result = f.blocks.iter().flat_map(|block| &block.instructions).find_map(|instruction| {
                matches!(instruction.operation, Operation::Binary { .. }).then_some(instruction.result).flatten()
            });
            f.registers[result.unwrap()].ty = Type::Scalar(Scalar::Double);
        })
    });
    assert!(text.contains("binary operation"), "{text}");
}

#[test]
fn a_wrong_predecessor() {
    let text = complaint(|program| {
        with_f(program, |f| {
            let block = f.blocks.iter_mut().find(|block| block.predecessors.len() == 2).unwrap();
            block.predecessors[1] = BlockId::from(99);
        })
    });
    assert!(text.contains("predecessors"), "{text}");
}

#[test]
fn a_phi_that_forgets_a_predecessor() {
    let text = complaint(|program| {
        with_f(program, |f| {
            let block = f.blocks.iter_mut().find(|block| !block.phis.is_empty()).unwrap();
            block.phis[0].operands.pop();
        })
    });
    assert!(text.contains("a phi has"), "{text}");
}

#[test]
fn the_one_address_of_a_thread_local() {
    let text = complaint(|program| {
        let shared = program.globals.iter().position(|global| global.name == "shared").unwrap();
        program.globals[lockcheck::program::GlobalId::from(shared)].is_thread_local = true;
    });
    assert!(text.contains("relocation") || text.contains("malformed"), "{text}");
}

#[test]
fn two_symbols_of_one_name() {
    let text = complaint(|program| {
        let name = program.functions[lockcheck::program::FunctionId::from(0)].name.clone();
        program.globals[lockcheck::program::GlobalId::from(0)].name = name;
    });
    assert!(text.contains("two symbols"), "{text}");
}
