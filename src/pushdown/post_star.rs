//! post*: every configuration that can be reached from a regular set, and the weight of all ways to it.
//!
//! # Definition   post*(C) = { c′ | c ⇒* c′, c ∈ C }; c′ weighs ⊕ { l(c) ⊗ f(r₁) ⊗ … ⊗ f(rₙ) | c –r₁…rₙ→ c′ }, l(c) the weight of c in the given automaton.
//! # Theorem      Saturation of the given automaton by these rules, read bottom first, has exactly these weights:
//!                ⟨p,γ⟩ ↪ ⟨p′,ε⟩ and p –γ→ q     ⟹   p′ –ε→ q
//!                ⟨p,γ⟩ ↪ ⟨p′,γ′⟩ and p –γ→ q    ⟹   p′ –γ′→ q
//!                ⟨p,γ⟩ ↪ ⟨p′,γ′γ″⟩ and p –γ→ q  ⟹   p′ –γ′→ mid (weight 1), mid –γ″→ q, with one state mid for each (p′, γ′)
//!                p –ε→ q and q –γ→ q′           ⟹   p –γ→ q′
//!                p –ε→ q and q final            ⟹   p final
//!                l(p′ –γ′→ mid) is the weight from the callee's start on, l(mid –γ″→ q) that up to the call. At most |Δ| states are added; without
//!                weights it takes O(|P|·|Δ|·n + |P|·t) time and space, n the states that are no control states, t the given transitions.
//! # Paper        Esparza, Hansel, Rossmanith, Schwoon 2000; Schwoon 2002, chapter 3; Reps, Schwoon, Jha, Melski 2005 for the weights.
//! # Deviations   None but those of `automaton` and `saturation`.

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::automaton::{PAutomaton, Reading, Transition};
use super::callees_first::CalleesFirst;
use super::index::{ControlId, StateId, SymbolId, TransitionId};
use super::normal_form::normal_form;
use super::saturation::{Derivation, InTurn, Memory, Saturation, Worklist};
use super::semiring::Semiring;
use super::system::{Head, PushdownSystem, Replacement};
use crate::deadline::{Deadline, OutOfTime};

/// The configurations that can be reached from those of an automaton, with the weights of all ways to them.
pub fn post_star<S: Semiring>(
    system: &PushdownSystem<S::Weight>,
    initial: &PAutomaton<S::Weight>,
    semiring: &mut S,
) -> PAutomaton<S::Weight> {
    post_star_within(system, initial, semiring, Deadline::NEVER).expect("nothing ends it early")
}

/// The same, if there is time for it.
pub fn post_star_within<S: Semiring>(
    system: &PushdownSystem<S::Weight>,
    initial: &PAutomaton<S::Weight>,
    semiring: &mut S,
    deadline: Deadline,
) -> Result<PAutomaton<S::Weight>, OutOfTime> {
    Ok(saturate::<S, _, ()>(system, initial, semiring, InTurn::default(), deadline)?.0)
}

/// The same, for weights that gain in small parts.
pub fn post_star_callees_first<S: Semiring>(
    system: &PushdownSystem<S::Weight>,
    initial: &PAutomaton<S::Weight>,
    semiring: &mut S,
    deadline: Deadline,
) -> Result<PAutomaton<S::Weight>, OutOfTime> {
    let starts = initial.transitions().filter_map(|(_, transition, _)| transition.label);
    let worklist = CalleesFirst::of(system, starts);
    Ok(saturate::<S, _, ()>(system, initial, semiring, worklist, deadline)?.0)
}

/// post* with a chosen worklist, and with what the memory has kept.
pub fn saturate<S, Q, M>(
    system: &PushdownSystem<S::Weight>,
    initial: &PAutomaton<S::Weight>,
    semiring: &mut S,
    worklist: Q,
    deadline: Deadline,
) -> Result<(PAutomaton<S::Weight>, M), OutOfTime>
where
    S: Semiring,
    Q: Worklist<S::Weight>,
    M: Memory<Derivation> + Default,
{
    let normal = normal_form(initial, system.control_count(), Reading::BottomFirst, &*semiring);
    let states = normal.state_count();
    let mut post = PostStar {
        saturation: Saturation::<S, Q, M>::of(normal, semiring, worklist, Derivation::Initial),
        mids: FxHashMap::default(),
        epsilons_into: vec![Vec::new(); states].into(),
    };
    while let Some((number, gain)) = post.saturation.next() {
        deadline.check_steps()?;
        post.follow(system, number, &gain);
    }
    post.accept_empty_stacks();
    Ok((post.saturation.automaton, post.saturation.memory))
}

struct PostStar<'a, S: Semiring, Q, M> {
    saturation: Saturation<'a, S, Q, M>,
    /// By (p′, γ′): the state between a callee's part of the stack and its caller's.
    mids: FxHashMap<(ControlId, SymbolId), StateId>,
    epsilons_into: TiVec<StateId, Vec<TransitionId>>,
}

impl<S: Semiring, Q: Worklist<S::Weight>, M: Memory<Derivation> + Default> PostStar<'_, S, Q, M> {
    fn follow(&mut self, system: &PushdownSystem<S::Weight>, number: TransitionId, gain: &S::Weight) {
        let Transition { from, label, to } = self.saturation.automaton.transition(number);
        match (self.saturation.automaton.control_of(from), label) {
            (Some(control), Some(symbol)) => self.apply_rules(system, Head { control, symbol }, number, gain),
            // p –ε→ q has gained: with every q –γ→ q′   ⟹   p –γ→ q′
            (Some(_), None) => {
                for at in 0..self.saturation.automaton.outgoing(to).len() {
                    let below = self.saturation.automaton.outgoing(to)[at];
                    let weight = self.saturation.semiring.extend(self.saturation.automaton.weight(below), gain);
                    self.contract(number, below, weight);
                }
            }
            // q –γ→ q′ has gained: with every p –ε→ q   ⟹   p –γ→ q′
            (None, _) => {
                for at in 0..self.epsilons_into[from].len() {
                    let epsilon = self.epsilons_into[from][at];
                    let weight = self.saturation.semiring.extend(gain, self.saturation.automaton.weight(epsilon));
                    self.contract(epsilon, number, weight);
                }
            }
        }
    }

    fn contract(&mut self, epsilon: TransitionId, below: TransitionId, weight: S::Weight) {
        let (above, lower) = (self.saturation.automaton.transition(epsilon), self.saturation.automaton.transition(below));
        let contracted = Transition { from: above.from, label: lower.label, to: lower.to };
        self.saturation.contribute(contracted, weight, Derivation::Contraction { epsilon, below });
    }

    fn apply_rules(&mut self, system: &PushdownSystem<S::Weight>, head: Head, before: TransitionId, gain: &S::Weight) {
        let q = self.saturation.automaton.transition(before).to;
        for rule_id in system.rules_at(head) {
            let rule = system.rule(*rule_id);
            let weight = self.saturation.semiring.extend(gain, &rule.weight);
            if self.saturation.semiring.is_zero(&weight) {
                continue;
            }
            let derivation = Derivation::Rule { rule: *rule_id, before };
            let to = self.saturation.automaton.state_of(rule.to);
            match rule.replacement {
                // p′ –ε→ q
                Replacement::Pop => {
                    let epsilon = Transition { from: to, label: None, to: q };
                    if let Some(new) = self.saturation.contribute(epsilon, weight, derivation) {
                        self.epsilons_into[q].push(new);
                    }
                }
                // p′ –γ′→ q
                Replacement::Step(symbol) => {
                    self.saturation.contribute(Transition { from: to, label: Some(symbol), to: q }, weight, derivation);
                }
                // p′ –γ′→ mid, mid –γ″→ q
                Replacement::Push { callee, resume } => {
                    let mid = self.mid_state(rule.to, callee);
                    let one = self.saturation.semiring.one();
                    self.saturation.contribute(Transition { from: to, label: Some(callee), to: mid }, one, Derivation::Entry);
                    self.saturation.contribute(Transition { from: mid, label: Some(resume), to: q }, weight, derivation);
                }
            }
        }
    }

    /// p –ε→ q and q final   ⟹   p final. For all other stacks ε has been contracted: nothing needs it any more.
    fn accept_empty_stacks(&mut self) {
        let Saturation { automaton, semiring, .. } = &mut self.saturation;
        for epsilon in self.epsilons_into.iter().flatten() {
            let Transition { from, to, .. } = automaton.transition(*epsilon);
            let Some(below) = automaton.final_weight(to) else { continue };
            let emptied = semiring.extend(below, automaton.weight(*epsilon));
            let known = automaton.final_weight(from).cloned().unwrap_or_else(|| semiring.zero());
            let better = semiring.combine(&known, &emptied);
            automaton.set_final(from, better);
        }
    }

    fn mid_state(&mut self, control: ControlId, callee: SymbolId) -> StateId {
        *self.mids.entry((control, callee)).or_insert_with(|| {
            self.epsilons_into.push(Vec::new());
            let mid = self.saturation.automaton.add_state();
            self.saturation.worklist.enter(callee, mid);
            mid
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::semiring::MinimalLength;
    use super::super::system::Configuration;
    use super::*;

    /// How often a transition was new, or gained something.
    #[derive(Default)]
    struct Changes(usize);

    impl Memory<Derivation> for Changes {
        fn remember(&mut self, _: TransitionId, _: Derivation) {
            self.0 += 1;
        }
    }

    /// Time and again the way with more steps is the cheaper one: who hurries ahead finds a shorter way to all that comes behind, later.
    #[test]
    fn in_order_little_is_found_twice() {
        const P: ControlId = ControlId(0);
        let mut system = PushdownSystem::default();
        let step = |symbol: u32| Replacement::Step(SymbolId(symbol));
        for part in (0..100).map(|part| 3 * part) {
            let at = |symbol: u32| Head { control: P, symbol: SymbolId(symbol) };
            system.add(at(part), P, step(part + 3), 10);
            system.add(at(part), P, step(part + 1), 1);
            system.add(at(part + 1), P, step(part + 2), 1);
            system.add(at(part + 2), P, step(part + 3), 1);
        }
        let initial = PAutomaton::of([&Configuration::new(P, [SymbolId(0)])], &MinimalLength);
        let never = Deadline::NEVER;
        let worklist = CalleesFirst::of(&system, [SymbolId(0)].into_iter());
        let in_order =
            saturate::<_, _, Changes>(&system, &initial, &mut MinimalLength, worklist, never).unwrap_or_else(|_| unreachable!());
        let in_turn = saturate::<_, _, Changes>(&system, &initial, &mut MinimalLength, InTurn::default(), never)
            .unwrap_or_else(|_| unreachable!());
        let last = Configuration::new(P, [SymbolId(300)]);
        let weights = [&in_order.0, &in_turn.0].map(|automaton| automaton.weight_of(&last, &mut MinimalLength));
        assert_eq!(weights, [300, 300]);
        assert_eq!(in_order.1.0, 1 + 400, "each symbol once, and each end of a part a second time");
        assert!(in_turn.1.0 > 10 * in_order.1.0, "{}", in_turn.1.0);
    }
}
