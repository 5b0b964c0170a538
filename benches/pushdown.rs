//! How fast saturation is: post*, pre*, shortest paths and repeating heads of generated pushdown systems, with the shape of programs, and of ones four
//! times as large. Prints a line for each: what, rules, transitions of the automaton, seconds of processor time, microseconds a rule.

#[path = "clock/mod.rs"]
mod clock;

use clock::processor_seconds;
use lockcheck::pushdown::{
    Boolean, Configuration, ControlId, Head, MinimalLength, PAutomaton, PushdownSystem, Replacement, ShortestPaths, SymbolId,
    post_star, pre_star, repeating_heads,
};

/// Points of a procedure.
const POINTS: u32 = 20;

/// Procedures with loops and branches that call others, above and below them, and themselves; control states are the values of a global.
fn program(procedures: u32, controls: u32) -> PushdownSystem<u64> {
    let mut system = PushdownSystem::new(controls as usize, (procedures * POINTS) as usize);
    let mut state = 0x9e37_79b9_u64;
    let mut random = |bound: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % bound
    };
    for procedure in 0..procedures {
        for point in 0..POINTS {
            let symbol = |point: u32| SymbolId(procedure * POINTS + point.min(POINTS - 1));
            let kind = random(10);
            let (callee, target, value) = (random(procedures), random(POINTS), ControlId(random(controls)));
            for control in (0..controls).map(ControlId) {
                let head = Head { control, symbol: symbol(point) };
                match kind {
                    _ if point == POINTS - 1 => drop(system.add(head, control, Replacement::Pop, 1)),
                    // A call of a later procedure, or of any: then it can be passed by, so that recursion ends.
                    0 if procedure + 1 < procedures => {
                        let entry = SymbolId((procedure + 1 + callee % (procedures - procedure - 1)) * POINTS);
                        system.add(head, control, Replacement::Push { callee: entry, resume: symbol(point + 1) }, 1);
                    }
                    1 => {
                        let entry = SymbolId(callee * POINTS);
                        system.add(head, control, Replacement::Push { callee: entry, resume: symbol(point + 1) }, 1);
                        system.add(head, control, Replacement::Step(symbol(point + 1)), 1);
                    }
                    2 | 3 => {
                        system.add(head, control, Replacement::Step(symbol(point + 1)), 1);
                        system.add(head, control, Replacement::Step(symbol(target)), 1);
                    }
                    4 => drop(system.add(head, value, Replacement::Step(symbol(point + 1)), 1)),
                    _ => drop(system.add(head, control, Replacement::Step(symbol(point + 1)), 1)),
                }
            }
        }
    }
    system
}

fn report(what: &str, system: &PushdownSystem<u64>, run: impl FnOnce() -> usize) {
    let start = processor_seconds();
    let transitions = run();
    let seconds = processor_seconds() - start;
    let rules = system.rules().len();
    println!(
        "{what:<32} {rules:>9} rules {transitions:>10} transitions {seconds:>8.3} s {:>8.2} µs/rule",
        seconds * 1e6 / rules as f64
    );
}

fn main() {
    for (procedures, controls) in [(1_000, 1), (4_000, 1), (1_000, 8), (4_000, 8)] {
        println!("{procedures} procedures, {controls} control states");
        let system = program(procedures, controls);
        let plain = system.weighted(|_, _| true);
        let start = Configuration::new(ControlId(0), [SymbolId(0)]);
        let initial = PAutomaton::of([&start], &Boolean);
        report("post*", &system, || post_star(&plain, &initial, &mut Boolean).transitions().len());
        report("post*, lengths", &system, || {
            let initial = PAutomaton::of([&start], &MinimalLength);
            post_star(&system, &initial, &mut MinimalLength).transitions().len()
        });
        report("post*, shortest first", &system, || ShortestPaths::of(&system, &initial).heads().len());
        report("pre*", &system, || pre_star(&plain, &initial, &mut Boolean).transitions().len());
        report("repeating heads", &system, || repeating_heads(&system, |head| head.symbol.0.is_multiple_of(97)).len());
    }
}
