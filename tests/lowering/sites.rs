//! Sites and source locations.

use lockcheck::program::{Operation, SiteId};

use crate::support::*;

#[test]
fn numbers_of_the_module_are_kept() {
    let source = "define i32 @f(i32 %x) {\n  %a = add i32 %x, 1, !lockcheck.site !1\n  %b = add i32 %a, 2\n\
        %c = add i32 %b, 3, !lockcheck.site !2\n  ret i32 %c\n}\n!1 = !{i32 4}\n!2 = !{i32 9}\n";
    let program = lower_bytes(source.as_bytes());
    let f = function(&program, "f");
    let indices: Vec<u32> = instructions(f).map(|instruction| program.sites[instruction.site].index).collect();
    // The second has none and inherits the next one's; so does the terminator, which has nothing after it.
    assert_eq!(indices, [4, 9, 9]);
    assert_eq!(program.sites[f.blocks[f.entry()].terminator.site].index, 9);
}

#[test]
fn an_unnumbered_module_is_numbered_in_order() {
    let program = lower_c("int f(int x) { return x + 1; }", PLAIN);
    let f = function(&program, "f");
    let indices: Vec<u32> = instructions(f).map(|instruction| program.sites[instruction.site].index).collect();
    assert!(indices.windows(2).all(|pair| pair[0] < pair[1]) && indices[0] == 0, "{indices:?}");
}

#[test]
fn locations_with_inlined_frames() {
    let source =
        "static inline __attribute__((always_inline)) void inner(int *p) {\n  *p = 1;\n}\nvoid outer(int *q) {\n  inner(q);\n}\n";
    let program = lower_c(source, OPTIMIZED);
    let outer = function(&program, "outer");
    let site: SiteId = instructions(outer)
        .find(|instruction| matches!(instruction.operation, Operation::Store { .. }))
        .map(|instruction| instruction.site)
        .expect("the inlined store");
    let location = program.location_of(site).expect("a location");
    assert_eq!((location.line, location.function.as_str()), (2, "inner"));
    let caller = &program.locations[location.inlined_at.expect("it was inlined")];
    assert_eq!((caller.line, caller.function.as_str(), caller.inlined_at), (5, "outer", None));
    assert!(program.place_of(site).unwrap().file.ends_with("program.c"));
}

#[test]
fn missing_debug_information_is_said() {
    let program = lower_c("int f(int x) { return x + 1; }", &["-O1"]);
    let kinds: Vec<_> = program.assumptions.iter().map(|assumption| assumption.kind).collect();
    assert_eq!(kinds, [lockcheck::program::AssumptionKind::NoDebugInformation]);
}
