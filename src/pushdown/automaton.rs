//! P-automata: regular sets of configurations, each configuration with a weight.
//!
//! # Definition   A finite automaton over Γ whose first states are the control states. It accepts ⟨p, w⟩ iff w leads from p to a final state. A path
//!                over t₁…tₙ to the final state q weighs l(t₁) ⊗ … ⊗ l(tₙ) ⊗ l(q) if it is read top first, and l(q) ⊗ l(tₙ) ⊗ … ⊗ l(t₁) if it is read bottom
//!                first; a configuration weighs the ⊕ of its paths (`language`).
//! # Theorem      post* and pre* of a regular set are regular. What pre* gives is read top first: the top of the stack is used up first. What post*
//!                gives is read bottom first: the bottom of the stack was there first.
//! # Paper        Bouajjani, Esparza, Maler 1997; Schwoon 2002; Reps, Schwoon, Jha, Melski 2005 for the weights.
//! # Deviations   1. Final states have weights too, so that ⟨p, ε⟩ has one.  2. post* needs ε-transitions while it works. In its result
//!                they are contracted into the others and into final weights: they are still listed, and no reading takes them.
//!                3. A transition of weight 0 is none.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::index::{ControlId, StateId, SymbolId, TransitionId};
use super::semiring::Semiring;
use super::system::Configuration;

/// In which order the weights along a path are extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    TopFirst,
    BottomFirst,
}

impl Reading {
    /// The weight of two parts of a path, one above the other in the stack.
    pub fn join<S: Semiring>(self, semiring: &mut S, above: &S::Weight, below: &S::Weight) -> S::Weight {
        match self {
            Reading::TopFirst => semiring.extend(above, below),
            Reading::BottomFirst => semiring.extend(below, above),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    pub from: StateId,
    /// None is ε, which only post* makes, for itself.
    pub label: Option<SymbolId>,
    pub to: StateId,
}

type ByLabel = FxHashMap<(StateId, Option<SymbolId>), SmallVec<[TransitionId; 2]>>;

#[derive(Clone, Debug)]
pub struct PAutomaton<W> {
    reading: Reading,
    control_count: usize,
    transitions: TiVec<TransitionId, Transition>,
    weights: TiVec<TransitionId, W>,
    numbers: FxHashMap<Transition, TransitionId>,
    outgoing: TiVec<StateId, Vec<TransitionId>>,
    /// Made when somebody asks.
    by_label: OnceLock<ByLabel>,
    finals: TiVec<StateId, Option<W>>,
}

impl<W: Clone + PartialEq> PAutomaton<W> {
    /// Accepts nothing. `control_count` should be the system's; post* and pre* make it larger if it is smaller.
    pub fn new(control_count: usize, reading: Reading) -> PAutomaton<W> {
        PAutomaton {
            reading,
            control_count,
            transitions: TiVec::new(),
            weights: TiVec::new(),
            numbers: FxHashMap::default(),
            outgoing: vec![Vec::new(); control_count].into(),
            by_label: OnceLock::new(),
            finals: vec![None; control_count].into(),
        }
    }

    /// Accepts these configurations, each with the weight 1, which reads the same from both ends.
    pub fn of<'a, S>(configurations: impl IntoIterator<Item = &'a Configuration>, semiring: &S) -> PAutomaton<W>
    where
        S: Semiring<Weight = W>,
    {
        let configurations: Vec<&Configuration> = configurations.into_iter().collect();
        let count = configurations.iter().map(|configuration| usize::from(configuration.control) + 1).max();
        let mut automaton = PAutomaton::new(count.unwrap_or(0), Reading::BottomFirst);
        for configuration in configurations {
            let mut state = automaton.state_of(configuration.control);
            for symbol in &configuration.stack {
                let next = automaton.add_state();
                automaton.set_transition(state, *symbol, next, semiring.one());
                state = next;
            }
            automaton.set_final(state, semiring.one());
        }
        automaton
    }

    pub fn add_state(&mut self) -> StateId {
        self.outgoing.push(Vec::new());
        self.finals.push_and_get_key(None)
    }

    /// A transition and its weight, or another weight for a transition that is there.
    pub fn set_transition(&mut self, from: StateId, symbol: SymbolId, to: StateId, weight: W) -> TransitionId {
        self.set(Transition { from, label: Some(symbol), to }, weight)
    }

    pub(super) fn set(&mut self, transition: Transition, weight: W) -> TransitionId {
        match self.find(transition) {
            Some(known) => {
                self.set_weight(known, weight);
                known
            }
            None => self.add(transition, weight),
        }
    }

    pub(super) fn set_weight(&mut self, number: TransitionId, weight: W) {
        self.weights[number] = weight;
    }

    /// A transition that is not there yet.
    pub(super) fn add(&mut self, transition: Transition, weight: W) -> TransitionId {
        let number = self.transitions.push_and_get_key(transition);
        self.weights.push(weight);
        self.numbers.insert(transition, number);
        self.outgoing[transition.from].push(number);
        if let Some(by_label) = self.by_label.get_mut() {
            by_label.entry((transition.from, transition.label)).or_default().push(number);
        }
        number
    }

    pub fn set_final(&mut self, state: StateId, weight: W) {
        self.finals[state] = Some(weight);
    }

    pub fn reading(&self) -> Reading {
        self.reading
    }

    pub fn control_count(&self) -> usize {
        self.control_count
    }

    pub fn state_count(&self) -> usize {
        self.finals.len()
    }

    pub fn states(&self) -> impl Iterator<Item = StateId> + use<W> {
        (0..self.state_count()).map(StateId::from)
    }

    pub fn controls(&self) -> impl Iterator<Item = ControlId> + use<W> {
        (0..self.control_count).map(ControlId::from)
    }

    /// The state at which the stack of a configuration starts. Panics on a control state that this automaton does not have.
    pub fn state_of(&self, control: ControlId) -> StateId {
        assert!(usize::from(control) < self.control_count, "{control:?} is no control state of this automaton");
        StateId(control.0)
    }

    /// Which control state this is, if it is one.
    pub fn control_of(&self, state: StateId) -> Option<ControlId> {
        (usize::from(state) < self.control_count).then_some(ControlId(state.0))
    }

    pub fn final_weight(&self, state: StateId) -> Option<&W> {
        self.finals[state].as_ref()
    }

    /// All transitions, in the order they were added.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = (TransitionId, Transition, &W)> {
        self.transitions.iter().zip(&self.weights).enumerate().map(|(at, (transition, weight))| (at.into(), *transition, weight))
    }

    pub fn transition(&self, number: TransitionId) -> Transition {
        self.transitions[number]
    }

    pub fn weight(&self, number: TransitionId) -> &W {
        &self.weights[number]
    }

    pub fn find(&self, transition: Transition) -> Option<TransitionId> {
        self.numbers.get(&transition).copied()
    }

    pub fn outgoing(&self, state: StateId) -> &[TransitionId] {
        &self.outgoing[state]
    }

    pub fn outgoing_with(&self, state: StateId, label: Option<SymbolId>) -> &[TransitionId] {
        let by_label = self.by_label.get_or_init(|| {
            let mut by_label = ByLabel::default();
            for (number, transition, _) in self.transitions() {
                by_label.entry((transition.from, transition.label)).or_default().push(number);
            }
            by_label
        });
        by_label.get(&(state, label)).map_or(&[], |transitions| transitions)
    }

    /// The same automaton with other weights.
    pub fn weighted<V>(&self, reading: Reading, weigh: impl Fn(&W) -> V) -> PAutomaton<V> {
        PAutomaton {
            reading,
            control_count: self.control_count,
            transitions: self.transitions.clone(),
            weights: self.weights.iter().map(&weigh).collect(),
            numbers: self.numbers.clone(),
            outgoing: self.outgoing.clone(),
            by_label: self.by_label.clone(),
            finals: self.finals.iter().map(|weight| weight.as_ref().map(&weigh)).collect(),
        }
    }

    /// Whether every weight is 1, so that both readings are the same.
    pub fn is_unweighted<S: Semiring<Weight = W>>(&self, semiring: &S) -> bool {
        let one = semiring.one();
        self.weights.iter().chain(self.finals.iter().flatten()).all(|weight| *weight == one)
    }
}

#[cfg(test)]
mod tests {
    use super::super::semiring::Boolean;
    use super::*;

    #[test]
    fn what_is_added_after_a_question_is_found_by_the_next() {
        let (one, other) = (SymbolId(0), SymbolId(1));
        let mut automaton = PAutomaton::of([&Configuration::new(ControlId(0), [one])], &Boolean);
        let start = automaton.state_of(ControlId(0));
        assert_eq!(automaton.outgoing_with(start, Some(one)).len(), 1);
        assert_eq!(automaton.outgoing_with(start, Some(other)), []);
        let end = automaton.add_state();
        let added = [one, other].map(|symbol| automaton.set_transition(start, symbol, end, true));
        assert_eq!(automaton.outgoing_with(start, Some(one)).last(), Some(&added[0]));
        assert_eq!(automaton.outgoing_with(start, Some(other)), [added[1]]);
    }
}
