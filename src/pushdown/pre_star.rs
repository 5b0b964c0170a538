//! pre*: every configuration from which a regular set can be reached, and the weight of all ways into it.
//!
//! # Definition   pre*(C) = { c′ | c′ ⇒* c, c ∈ C }; c′ weighs ⊕ { f(r₁) ⊗ … ⊗ f(rₙ) ⊗ l(c) | c′ –r₁…rₙ→ c }, l(c) the weight of c in the given automaton.
//! # Theorem      Saturation of the given automaton by these rules, read top first, has exactly these weights; no state is added:
//!                ⟨p,γ⟩ ↪ ⟨p′,ε⟩                                       ⟹   p –γ→ p′
//!                ⟨p,γ⟩ ↪ ⟨p′,γ′⟩ and p′ –γ′→ q                        ⟹   p –γ→ q
//!                ⟨p,γ⟩ ↪ ⟨p′,γ′γ″⟩ and p′ –γ′→ q, q –γ″→ q′           ⟹   p –γ→ q′
//!                Without weights it takes O(|Q|²·|Δ|) time and O(|Q|·|Δ|) space.
//! # Paper        Esparza, Hansel, Rossmanith, Schwoon 2000; Schwoon 2002, chapter 3; Reps, Schwoon, Jha, Melski 2005 for the weights.
//! # Deviations   The paper adds an auxiliary rule ⟨p,γ⟩ ↪ ⟨q,γ″⟩ for the first half of a call; here the pair (rule, p′ –γ′→ q) waits at (q, γ″).

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::automaton::{PAutomaton, Reading, Transition};
use super::index::{ControlId, RuleId, StateId, SymbolId, TransitionId};
use super::normal_form::normal_form;
use super::saturation::{InTurn, Saturation};
use super::semiring::Semiring;
use super::system::{PushdownSystem, Replacement, Rule};

/// The configurations from which those of an automaton can be reached, with the weights of all ways into it.
pub fn pre_star<S: Semiring>(
    system: &PushdownSystem<S::Weight>,
    target: &PAutomaton<S::Weight>,
    semiring: &mut S,
) -> PAutomaton<S::Weight> {
    let normal = normal_form(target, system.control_count(), Reading::TopFirst, &*semiring);
    let into = rules_into(system);
    let mut pre = PreStar {
        system,
        into: &into,
        saturation: Saturation::of(normal, semiring, InTurn::default(), ()),
        waiting: FxHashMap::default(),
        has_waited: FixedBitSet::new(),
    };
    for (id, rule) in system.rules() {
        if rule.replacement == Replacement::Pop {
            // p –γ→ p′
            let to = pre.saturation.automaton.state_of(rule.to);
            pre.lead(id, to, rule.weight.clone());
        }
    }
    while let Some((number, gain)) = pre.saturation.next() {
        pre.follow(number, &gain);
    }
    pre.saturation.automaton
}

/// Steps and pushes by the control state and the top symbol they lead to.
type RulesInto = FxHashMap<(ControlId, SymbolId), Vec<RuleId>>;

fn rules_into<W>(system: &PushdownSystem<W>) -> RulesInto {
    let mut into = RulesInto::default();
    for (id, rule) in system.rules() {
        match rule.replacement {
            Replacement::Pop => {}
            Replacement::Step(top) | Replacement::Push { callee: top, .. } => into.entry((rule.to, top)).or_default().push(id),
        }
    }
    into
}

struct PreStar<'a, S: Semiring> {
    system: &'a PushdownSystem<S::Weight>,
    into: &'a RulesInto,
    saturation: Saturation<'a, S, InTurn, ()>,
    /// By (q, γ″): calls whose callee's part of the stack ends in q, and whose caller goes on with γ″.
    waiting: FxHashMap<(StateId, SymbolId), Vec<(RuleId, TransitionId)>>,
    has_waited: FixedBitSet,
}

impl<S: Semiring> PreStar<'_, S> {
    fn follow(&mut self, number: TransitionId, gain: &S::Weight) {
        let Transition { from, label, to } = self.saturation.automaton.transition(number);
        let symbol = label.expect("a normal form has no ε, and pre* adds none");
        if let Some(control) = self.saturation.automaton.control_of(from) {
            self.lead_into(control, symbol, number, gain);
        }
        // q –γ″→ q′ has gained: for each call that waits at (q, γ″)   ⟹   p –γ→ q′
        let Some(calls) = self.waiting.get_mut(&(from, symbol)).map(std::mem::take) else { return };
        for &(id, first) in &calls {
            let semiring = &mut *self.saturation.semiring;
            let callee = semiring.extend(&self.system.rule(id).weight, self.saturation.automaton.weight(first));
            let weight = semiring.extend(&callee, gain);
            self.lead(id, to, weight);
        }
        self.waiting.insert((from, symbol), calls);
    }

    /// p′ –γ′→ q has gained: the rules that lead to ⟨p′,γ′…⟩.
    fn lead_into(&mut self, control: ControlId, symbol: SymbolId, number: TransitionId, gain: &S::Weight) {
        let q = self.saturation.automaton.transition(number).to;
        self.has_waited.grow(usize::from(number) + 1);
        let is_first = !self.has_waited.put(usize::from(number));
        let into = self.into;
        for &id in into.get(&(control, symbol)).map_or(&[][..], |rules| rules) {
            let Rule { replacement, weight, .. } = self.system.rule(id);
            let above = self.saturation.semiring.extend(weight, gain);
            match *replacement {
                Replacement::Pop => unreachable!("a pop leads to no symbol"),
                // p –γ→ q
                Replacement::Step(_) => self.lead(id, q, above),
                // q –γ″→ q′   ⟹   p –γ→ q′
                Replacement::Push { resume, .. } => {
                    if is_first {
                        self.waiting.entry((q, resume)).or_default().push((id, number));
                    }
                    for at in 0..self.saturation.automaton.outgoing_with(q, Some(resume)).len() {
                        let below = self.saturation.automaton.outgoing_with(q, Some(resume))[at];
                        let weight = self.saturation.semiring.extend(&above, self.saturation.automaton.weight(below));
                        let last = self.saturation.automaton.transition(below).to;
                        self.lead(id, last, weight);
                    }
                }
            }
        }
    }

    /// p –γ→ state, for the left-hand side ⟨p,γ⟩ of a rule.
    fn lead(&mut self, rule: RuleId, state: StateId, weight: S::Weight) {
        let head = self.system.rule(rule).from;
        let from = self.saturation.automaton.state_of(head.control);
        self.saturation.contribute(Transition { from, label: Some(head.symbol), to: state }, weight, ());
    }
}
