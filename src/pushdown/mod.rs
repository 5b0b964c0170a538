//! Pushdown systems with weights: which configurations can be reached, by which ways, and which runs go on for ever. Knows nothing of programs or locks.
//!
//! A pushdown system is a finite control with a stack: a thread, its globals in the control state, its calls on the stack. It has infinitely many
//! configurations as soon as it recurses, but those it reaches are a regular set, so that a finite automaton holds them all.
//!
//! | question | answer | file |
//! |---|---|---|
//! | what can be reached from these configurations? | `post_star` | `post_star`, `normal_form`, `saturation`, `callees_first` |
//! | from where can these configurations be reached? | `pre_star` | `pre_star`, … |
//! | is this configuration in the set, with which weight? which are? | `PAutomaton::{accepts, weight_of, configurations}` | `automaton`, `language` |
//! | what do all configurations at one program point weigh together? | `PAutomaton::weights_by_head` | `language` |
//! | by which rules is it reached, at least? | `ShortestPaths::{path_to, nearest}` | `witness` |
//! | from where can something happen again and again, and how? | `repeating_heads`, `configurations_with_accepting_run`, `accepting_lasso` | `repeated` |
//!
//! A weight says what is of interest about a way: that there is one (`Boolean`), how long it is (`MinimalLength`), which facts it leaves behind; any
//! bounded idempotent `Semiring` will do. Two ways to one configuration are combined, two parts of a way are extended, first part first.
//!
//! # Example      `main: m0: f(); m1: return;` and `f: f0: if (*) { f(); f1: ; } return;`, the stack holding what is to be executed next:
//!
//! ```
//! let p = ControlId(0);
//! let [m0, m1, f0, f1] = [0, 1, 2, 3].map(SymbolId);
//! let at = |symbol| Head { control: p, symbol };
//! let mut system = PushdownSystem::default();
//! let start = system.add(at(m0), p, Replacement::Push { callee: f0, resume: m1 }, true);
//! let recurse = system.add(at(f0), p, Replacement::Push { callee: f0, resume: f1 }, true);
//! let leave = system.add(at(f0), p, Replacement::Pop, true);
//! system.add(at(f1), p, Replacement::Pop, true);
//! system.add(at(m1), p, Replacement::Pop, true);
//!
//! // Two frames of f wait for a third one that has just returned.
//! let initial = PAutomaton::of([&Configuration::new(p, [m0])], &Boolean);
//! let nested = Configuration::new(p, [f1, f1, m1]);
//! let reached = post_star(&system, &initial, &mut Boolean);
//! assert!(reached.accepts(&nested, &mut Boolean));
//! assert!(!reached.accepts(&Configuration::new(p, [m1, f1]), &mut Boolean));
//!
//! // How: rule by rule.
//! let witness = ShortestPaths::of(&system, &initial).path_to(&nested).expect("it is reached");
//! assert_eq!(witness.rules, [start, recurse, recurse, leave]);
//!
//! // From wherever f or main is, the program can come to its end.
//! let end = PAutomaton::of([&Configuration::new(p, [])], &Boolean);
//! assert!(pre_star(&system, &end, &mut Boolean).accepts(&nested, &mut Boolean));
//!
//! // The cheapest way there, if only a recursive call costs something.
//! let costs = system.weighted(|rule, _| if rule == recurse { 5 } else { 0 });
//! let initial = PAutomaton::of([&Configuration::new(p, [m0])], &MinimalLength);
//! let weighed = post_star(&costs, &initial, &mut MinimalLength);
//! assert_eq!(weighed.weight_of(&nested, &mut MinimalLength), 10);
//! assert_eq!(weighed.weights_by_head(&mut MinimalLength)[&at(f1)], 5);
//!
//! // f can call itself for ever; main is left behind once.
//! assert_eq!(repeating_heads(&system, |head| head == at(f0)), BTreeSet::from([at(f0)]));
//! assert_eq!(repeating_heads(&system, |head| head == at(m0)), BTreeSet::new());
//! ```

mod automaton;
mod callees_first;
mod index;
mod language;
mod normal_form;
mod post_star;
mod pre_star;
mod repeated;
mod saturation;
mod semiring;
mod system;
mod witness;

pub use automaton::{PAutomaton, Reading, Transition};
pub use index::{ControlId, RuleId, StateId, SymbolId, TransitionId};
pub use post_star::{post_star, post_star_callees_first, post_star_within};
pub use pre_star::pre_star;
pub use repeated::{Lasso, accepting_lasso, configurations_with_accepting_run, cycle_of, repeating_heads};
pub use semiring::{Boolean, MinimalLength, Semiring};
pub use system::{Configuration, Head, PushdownSystem, Replacement, Rule};
pub use witness::{ShortestPaths, Witness};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_example_of_the_head() {
        // begin of the example
        let p = ControlId(0);
        let [m0, m1, f0, f1] = [0, 1, 2, 3].map(SymbolId);
        let at = |symbol| Head { control: p, symbol };
        let mut system = PushdownSystem::default();
        let start = system.add(at(m0), p, Replacement::Push { callee: f0, resume: m1 }, true);
        let recurse = system.add(at(f0), p, Replacement::Push { callee: f0, resume: f1 }, true);
        let leave = system.add(at(f0), p, Replacement::Pop, true);
        system.add(at(f1), p, Replacement::Pop, true);
        system.add(at(m1), p, Replacement::Pop, true);

        // Two frames of f wait for a third one that has just returned.
        let initial = PAutomaton::of([&Configuration::new(p, [m0])], &Boolean);
        let nested = Configuration::new(p, [f1, f1, m1]);
        let reached = post_star(&system, &initial, &mut Boolean);
        assert!(reached.accepts(&nested, &mut Boolean));
        assert!(!reached.accepts(&Configuration::new(p, [m1, f1]), &mut Boolean));

        // How: rule by rule.
        let witness = ShortestPaths::of(&system, &initial).path_to(&nested).expect("it is reached");
        assert_eq!(witness.rules, [start, recurse, recurse, leave]);

        // From wherever f or main is, the program can come to its end.
        let end = PAutomaton::of([&Configuration::new(p, [])], &Boolean);
        assert!(pre_star(&system, &end, &mut Boolean).accepts(&nested, &mut Boolean));

        // The cheapest way there, if only a recursive call costs something.
        let costs = system.weighted(|rule, _| if rule == recurse { 5 } else { 0 });
        let initial = PAutomaton::of([&Configuration::new(p, [m0])], &MinimalLength);
        let weighed = post_star(&costs, &initial, &mut MinimalLength);
        assert_eq!(weighed.weight_of(&nested, &mut MinimalLength), 10);
        assert_eq!(weighed.weights_by_head(&mut MinimalLength)[&at(f1)], 5);

        // f can call itself for ever; main is left behind once.
        assert_eq!(repeating_heads(&system, |head| head == at(f0)), BTreeSet::from([at(f0)]));
        assert_eq!(repeating_heads(&system, |head| head == at(m0)), BTreeSet::new());
        // end of the example
    }

    #[test]
    fn the_head_shows_the_example_that_is_tested() {
        let text = include_str!("mod.rs");
        let between = |begin: &str, end: &str, cut: &str| -> Vec<String> {
            let from = text.lines().skip_while(|line| line.trim() != begin).skip(1);
            from.take_while(|line| line.trim() != end)
                .map(|line| line.trim_start().trim_start_matches(cut).trim().to_owned())
                .collect()
        };
        let shown = between("//! ```", "//! ```", "//!");
        assert_eq!(shown, between("// begin of the example", "// end of the example", ""));
        assert!(shown.len() > 20);
    }

    #[test]
    fn empty_systems_and_strangers_are_answered() {
        let system: PushdownSystem<bool> = PushdownSystem::default();
        let nothing = PAutomaton::new(0, Reading::TopFirst);
        let stranger = Configuration::new(ControlId(7), [SymbolId(9)]);
        for automaton in [post_star(&system, &nothing, &mut Boolean), pre_star(&system, &nothing, &mut Boolean)] {
            assert!(!automaton.accepts(&stranger, &mut Boolean));
            assert!(automaton.configurations(3, &mut Boolean).is_empty());
            assert!(automaton.weights_by_head(&mut Boolean).is_empty());
        }
        let paths = ShortestPaths::of(&system, &nothing);
        let head = Head { control: ControlId(7), symbol: SymbolId(9) };
        assert_eq!((paths.length_to(&stranger), paths.path_to(&stranger), paths.nearest(head)), (None, None, None));
        assert!(repeating_heads(&system, |_| true).is_empty());
        assert_eq!(cycle_of(&system, head, |_| true), None);
        assert!(!configurations_with_accepting_run(&system, &BTreeSet::new()).accepts(&stranger, &mut Boolean));

        // An initial configuration that the system does not know is reached, by no rule.
        let initial = PAutomaton::of([&stranger], &Boolean);
        assert!(post_star(&system, &initial, &mut Boolean).accepts(&stranger, &mut Boolean));
        let paths = ShortestPaths::of(&system, &initial);
        assert_eq!(paths.path_to(&stranger), Some(Witness { start: stranger.clone(), rules: Vec::new() }));
        assert_eq!(accepting_lasso(&system, &initial, &BTreeSet::new(), |_| true), None);
        let heads = paths.heads();
        assert_eq!(heads.into_iter().collect::<Vec<_>>(), [(head, 0)]);
    }

    #[test]
    #[should_panic(expected = "written to be read")]
    fn weights_of_one_direction_are_not_taken_for_the_other() {
        let mut system = PushdownSystem::default();
        let head = Head { control: ControlId(0), symbol: SymbolId(0) };
        system.add(head, ControlId(0), Replacement::Pop, 3);
        let end = PAutomaton::of([&Configuration::new(ControlId(0), [])], &MinimalLength);
        let before = pre_star(&system, &end, &mut MinimalLength);
        post_star(&system, &before, &mut MinimalLength);
    }
}
