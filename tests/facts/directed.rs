//! What functions call whose callers decide on it, and what copies into parts of structures leave alone: `directed.c`, which the machine runs as well.

use std::collections::BTreeSet;
use std::path::Path;

use lockcheck::facts::PointsTo;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::{Callee, Operation, Program};

fn directed() -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/directed.c");
    load(&[file], &LoadOptions::default()).expect("it loads")
}

/// What a function calls through pointers.
fn called(program: &Program, found: &PointsTo, caller: &str) -> String {
    let caller = program.function_named(caller).expect("it is there");
    let instructions = program.functions[caller].blocks.iter().flat_map(|block| &block.instructions);
    let calls = instructions.filter(|one| matches!(one.operation, Operation::Call { callee: Callee::Indirect(_), .. }));
    let callees = calls.flat_map(|call| found.callees(call.site)).map(|callee| program.functions[*callee].name.as_str());
    callees.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_made_for_one_caller_is_not_called_for_another() {
    let program = directed();
    let models = Models::embedded();
    let bound = models.bind(&program);
    let crowds = |crowd| PointsTo::of_crowds(&program, &bound, crowd, usize::MAX);
    for found in [PointsTo::of(&program, &bound), crowds(16)] {
        assert_eq!(called(&program, &found, "pack"), "pack");
        assert_eq!(called(&program, &found, "unpack"), "unpack");
        assert_eq!(called(&program, &found, "chain"), "find_packer find_unpacker");
    }
}

/// With copies through the pool, too: of all, or of those that have several sources or destinations.
#[test]
fn copies_into_an_array_of_a_structure_leave_its_other_members_alone() {
    let program = directed();
    let models = Models::embedded();
    let bound = models.bind(&program);
    for crowd in [16, 1, 0] {
        let found = PointsTo::of_crowds(&program, &bound, crowd, usize::MAX);
        assert_eq!(called(&program, &found, "steps"), "one", "pointers to more than {crowd} places are crowds");
        assert!(called(&program, &found, "moved_back").contains("hidden"), "pointers to more than {crowd} places are crowds");
        // In the pool nobody knows which copy moved what.
        let shown = if crowd > 0 { "other" } else { "buried hidden other" };
        assert_eq!(called(&program, &found, "shown"), shown, "pointers to more than {crowd} places are crowds");
    }
}
