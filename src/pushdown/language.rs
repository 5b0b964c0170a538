//! What an automaton accepts: the weight of a configuration, the configurations up to a height, the weight of all with one head.
//!
//! # Definition   See `automaton` for the weight of a path. The completion of a state q: the ⊕ over all paths from q to a final state.
//! # Theorem      One left-to-right pass that keeps a weight for each state weighs a configuration, since ⊗ distributes over ⊕. Completions are the
//!                greatest solution of C(q) = l(q) ⊕ ⊕ { l(t) joined with C(q′) | t = q –γ→ q′ }; what all configurations ⟨p, γw⟩ weigh together is the ⊕
//!                over t = p –γ→ q of l(t) joined with C(q).
//! # Paper        Reps, Schwoon, Jha, Melski 2005 (the path summary of a weighted automaton).
//! # Deviations   An automaton whose weights have zero divisors (a ⊗ b = 0) may have a path for a configuration that it does not accept: accepted
//!                is what weighs other than 0.

use std::collections::{BTreeMap, VecDeque};

use typed_index_collections::TiVec;

use super::automaton::PAutomaton;
use super::index::{ControlId, StateId, SymbolId};
use super::semiring::Semiring;
use super::system::{Configuration, Head};
use crate::deadline::{Deadline, OutOfTime};

/// By state: the weight of all ways to it.
type Frontier<W> = BTreeMap<StateId, W>;

impl<W: Clone + PartialEq> PAutomaton<W> {
    /// The weight of a configuration: 0 where it is not accepted.
    pub fn weight_of<S: Semiring<Weight = W>>(&self, configuration: &Configuration, semiring: &mut S) -> W {
        let mut frontier = self.start(configuration.control, semiring);
        for symbol in &configuration.stack {
            frontier = self.advance(&frontier, *symbol, semiring);
        }
        self.finish(&frontier, semiring)
    }

    pub fn accepts<S: Semiring<Weight = W>>(&self, configuration: &Configuration, semiring: &mut S) -> bool {
        let weight = self.weight_of(configuration, semiring);
        !semiring.is_zero(&weight)
    }

    /// All accepted configurations with at most so many symbols on the stack, and their weights.
    pub fn configurations<S: Semiring<Weight = W>>(&self, height: usize, semiring: &mut S) -> BTreeMap<Configuration, W> {
        let mut found = BTreeMap::new();
        let mut open: Vec<(Configuration, Frontier<W>)> = Vec::new();
        for control in self.controls() {
            open.push((Configuration::new(control, []), self.start(control, semiring)));
        }
        while let Some((configuration, frontier)) = open.pop() {
            if configuration.stack.len() < height {
                let leaving = frontier.keys().flat_map(|state| self.outgoing(*state));
                let mut symbols: Vec<SymbolId> = leaving.filter_map(|number| self.transition(*number).label).collect();
                symbols.sort_unstable();
                symbols.dedup();
                for symbol in symbols {
                    let mut longer = configuration.clone();
                    longer.stack.push(symbol);
                    open.push((longer, self.advance(&frontier, symbol, semiring)));
                }
            }
            let weight = self.finish(&frontier, semiring);
            if !semiring.is_zero(&weight) {
                found.insert(configuration, weight);
            }
        }
        found
    }

    /// By state: the weight of all paths from it to a final state.
    pub fn completions<S: Semiring<Weight = W>>(&self, semiring: &mut S) -> TiVec<StateId, W> {
        self.completions_within(semiring, Deadline::NEVER).expect("nothing ends it early")
    }

    /// The same, if there is time for it.
    pub fn completions_within<S: Semiring<Weight = W>>(
        &self,
        semiring: &mut S,
        deadline: Deadline,
    ) -> Result<TiVec<StateId, W>, OutOfTime> {
        let mut incoming: TiVec<StateId, Vec<_>> = vec![Vec::new(); self.state_count()].into();
        for (number, transition, _) in self.transitions().filter(|(_, transition, _)| transition.label.is_some()) {
            incoming[transition.to].push(number);
        }
        let zero = semiring.zero();
        let mut completions: TiVec<StateId, W> = vec![zero.clone(); self.state_count()].into();
        // What a state has gained since it was last looked at: only that goes on.
        let mut gains: TiVec<StateId, Option<W>> = vec![None; self.state_count()].into();
        let mut queue = VecDeque::new();
        for state in self.states() {
            if let Some(weight) = self.final_weight(state).filter(|weight| **weight != zero) {
                completions[state] = weight.clone();
                gains[state] = Some(weight.clone());
                queue.push_back(state);
            }
        }
        while let Some(state) = queue.pop_front() {
            deadline.check_steps()?;
            let Some(gain) = gains[state].take() else { continue };
            for number in &incoming[state] {
                let source = self.transition(*number).from;
                let joined = self.reading().join(semiring, self.weight(*number), &gain);
                let better = semiring.combine(&completions[source], &joined);
                if better == completions[source] {
                    continue;
                }
                completions[source] = better;
                match &mut gains[source] {
                    Some(waiting) => *waiting = semiring.combine(waiting, &joined),
                    none => {
                        *none = Some(joined);
                        queue.push_back(source);
                    }
                }
            }
        }
        Ok(completions)
    }

    /// By head: the weight of all accepted configurations that have it. Heads of weight 0 are absent.
    pub fn weights_by_head<S: Semiring<Weight = W>>(&self, semiring: &mut S) -> BTreeMap<Head, W> {
        self.weights_by_head_within(semiring, Deadline::NEVER).expect("nothing ends it early")
    }

    /// The same, if there is time for it.
    pub fn weights_by_head_within<S: Semiring<Weight = W>>(
        &self,
        semiring: &mut S,
        deadline: Deadline,
    ) -> Result<BTreeMap<Head, W>, OutOfTime> {
        let mut weights: BTreeMap<Head, W> = BTreeMap::new();
        self.each_head_within(semiring, deadline, |semiring, head, weight| gather(&mut weights, head, weight, semiring))?;
        Ok(weights)
    }

    /// The same, in parts: a head may come more than once, and its weight is the ⊕ of all that come with it.
    pub fn each_head_within<S: Semiring<Weight = W>>(
        &self,
        semiring: &mut S,
        deadline: Deadline,
        mut meet: impl FnMut(&mut S, Head, W),
    ) -> Result<(), OutOfTime> {
        let completions = self.completions_within(semiring, deadline)?;
        for control in self.controls() {
            for number in self.outgoing(self.state_of(control)) {
                deadline.check_steps()?;
                let transition = self.transition(*number);
                let Some(symbol) = transition.label else { continue };
                let whole = self.reading().join(semiring, self.weight(*number), &completions[transition.to]);
                if !semiring.is_zero(&whole) {
                    meet(semiring, Head { control, symbol }, whole);
                }
            }
        }
        Ok(())
    }

    fn start<S: Semiring<Weight = W>>(&self, control: ControlId, semiring: &S) -> Frontier<W> {
        let state = (usize::from(control) < self.control_count()).then(|| self.state_of(control));
        state.into_iter().map(|state| (state, semiring.one())).collect()
    }

    fn advance<S: Semiring<Weight = W>>(&self, frontier: &Frontier<W>, symbol: SymbolId, semiring: &mut S) -> Frontier<W> {
        let mut next = Frontier::new();
        for (state, above) in frontier {
            for number in self.outgoing_with(*state, Some(symbol)) {
                let joined = self.reading().join(semiring, above, self.weight(*number));
                gather(&mut next, self.transition(*number).to, joined, semiring);
            }
        }
        next
    }

    fn finish<S: Semiring<Weight = W>>(&self, frontier: &Frontier<W>, semiring: &mut S) -> W {
        let mut weight = semiring.zero();
        for (state, above) in frontier {
            if let Some(last) = self.final_weight(*state) {
                let whole = self.reading().join(semiring, above, last);
                weight = semiring.combine(&weight, &whole);
            }
        }
        weight
    }
}

fn gather<K: Ord, S: Semiring>(weights: &mut BTreeMap<K, S::Weight>, key: K, weight: S::Weight, semiring: &mut S) {
    match weights.get_mut(&key) {
        Some(known) => *known = semiring.combine(known, &weight),
        None => drop(weights.insert(key, weight)),
    }
}
