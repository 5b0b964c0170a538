//! The form in which post* and pre* take an automaton: no transition into a control state, no ε.
//!
//! # Definition   Saturation adds transitions that leave control states. If one could be entered in the middle of a stack, the words that pass through it
//!                would gain what belongs to whole configurations only.
//! # Theorem      The normal form accepts the same configurations with the same weights: a control state that is entered gets a twin with the same
//!                ways out, which is entered in its place. The ε-transitions that post* leaves behind mean nothing any more and are dropped.
//! # Paper        Schwoon 2002 assumes it, without loss of generality.
//! # Deviations   None.

use typed_index_collections::TiVec;

use super::automaton::{PAutomaton, Reading, Transition};
use super::index::StateId;
use super::semiring::Semiring;

/// Puts an automaton into the form that saturation needs, with room for the system's control states.
///
/// Panics if its weights were written to be read from the other end: post* reads its input bottom first, pre* top first, and weights
/// other than 1 that were made for one of them mean nothing to the other.
pub fn normal_form<S: Semiring>(
    automaton: &PAutomaton<S::Weight>,
    control_count: usize,
    reading: Reading,
    semiring: &S,
) -> PAutomaton<S::Weight> {
    assert!(
        automaton.reading() == reading || automaton.is_unweighted(semiring),
        "the weights are written to be read {:?}, not {reading:?}",
        automaton.reading()
    );
    let mut normal = PAutomaton::new(control_count.max(automaton.control_count()), reading);
    // Where each state is entered: control states by their twins.
    let mut entered: TiVec<StateId, Option<StateId>> = vec![None; automaton.state_count()].into();
    for (_, transition, _) in automaton.transitions() {
        if automaton.control_of(transition.to).is_some() && entered[transition.to].is_none() {
            entered[transition.to] = Some(normal.add_state());
        }
    }
    for state in automaton.states().skip(automaton.control_count()) {
        entered[state] = Some(normal.add_state());
    }
    let zero = semiring.zero();
    for state in automaton.states() {
        let copies = [automaton.control_of(state).map(|control| normal.state_of(control)), entered[state]];
        for copy in copies.into_iter().flatten() {
            for number in automaton.outgoing(state) {
                let (Transition { label, to, .. }, weight) = (automaton.transition(*number), automaton.weight(*number));
                if label.is_some() && *weight != zero {
                    let to = entered[to].expect("what is entered has a state to enter");
                    normal.set(Transition { from: copy, label, to }, weight.clone());
                }
            }
            if let Some(weight) = automaton.final_weight(state).filter(|weight| **weight != zero) {
                normal.set_final(copy, weight.clone());
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pushdown::{Configuration, ControlId, Head, MinimalLength, PushdownSystem, Replacement, SymbolId, post_star};

    /// A result of post* is an automaton like any other: what is added to it afterwards is not read through the ε it was made with.
    #[test]
    fn the_normal_form_of_a_changed_result_weighs_the_same() {
        let p = ControlId(0);
        let [a, b, c, d] = [0, 1, 2, 3].map(SymbolId);
        let at = |symbol| Head { control: p, symbol };
        let mut system = PushdownSystem::new(1, 4);
        system.add(at(a), p, Replacement::Push { callee: b, resume: c }, 2);
        system.add(at(b), p, Replacement::Pop, 3);
        let mut automaton =
            post_star(&system, &PAutomaton::of([&Configuration::new(p, [a])], &MinimalLength), &mut MinimalLength);
        let start = automaton.state_of(p);
        let mid = automaton.transition(automaton.outgoing_with(start, Some(b))[0]).to;
        let end = automaton.transition(automaton.outgoing_with(mid, Some(c))[0]).to;
        automaton.set_transition(mid, d, end, 7);
        automaton.set_transition(mid, c, start, 20);
        automaton.set_final(mid, 1);
        let normal = normal_form(&automaton, 1, Reading::BottomFirst, &MinimalLength);
        let configurations = automaton.configurations(4, &mut MinimalLength);
        assert_eq!(normal.configurations(4, &mut MinimalLength), configurations);
        assert_eq!(configurations[&Configuration::new(p, [b, d])], 7);
        assert_eq!(configurations.get(&Configuration::new(p, [d])), None);
        assert_eq!(configurations.get(&Configuration::new(p, [])), None);
        assert!(normal.transitions().all(|(_, transition, _)| transition.label.is_some() && transition.to != start));
    }
}
