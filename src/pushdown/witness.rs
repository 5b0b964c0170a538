//! Shortest witnesses: how a configuration is reached, rule by rule.
//!
//! # Definition   A witness of c is a configuration of the initial automaton and rules that lead from it to c; a shortest one has fewest rules.
//! # Theorem      Weigh every rule with 1 in the semiring of minimal lengths and saturate, shortest transition first. Every transition then remembers
//!                the derivation that gave it its length. Undoing the derivations of the transitions that read c's stack, from the top, spells a
//!                shortest path backwards: each undone rule is one step, and the stack of transitions always reads the configuration before it.
//! # Paper        Schwoon 2002 and Reps, Schwoon, Jha, Melski 2005 for witnesses of derivations; Knuth 1977 for the order.
//! # Deviations   1. One derivation is kept a transition, not one for every part of a weight: the witness is of the configuration, not of its weight.
//!                2. A shortest path can have exponentially many rules: ask for the length before the path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use typed_index_collections::TiVec;

use super::automaton::{PAutomaton, Reading, Transition};
use super::index::{ControlId, RuleId, StateId, TransitionId};
use super::post_star::saturate;
use super::saturation::{Derivation, ShortestFirst};
use super::semiring::{MinimalLength, Semiring};
use super::system::{Configuration, Head, PushdownSystem};
use crate::deadline::Deadline;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub start: Configuration,
    pub rules: Vec<RuleId>,
}

/// The shortest ways from the configurations of an automaton to all that they reach.
#[derive(Clone, Debug)]
pub struct ShortestPaths {
    automaton: PAutomaton<u64>,
    derivations: TiVec<TransitionId, Derivation>,
    /// By state: the length to a final state, and the transition to take; None where the state is final or leads to none.
    completions: TiVec<StateId, (u64, Option<TransitionId>)>,
}

impl ShortestPaths {
    /// From every configuration for which the automaton has a path; its weights and the system's play no part.
    pub fn of<W, V: Clone + PartialEq>(system: &PushdownSystem<W>, initial: &PAutomaton<V>) -> ShortestPaths {
        let lengths = system.weighted(|_, _| 1);
        let initial = initial.weighted(Reading::BottomFirst, |_| 0);
        let saturated = saturate(&lengths, &initial, &mut MinimalLength, ShortestFirst::default(), Deadline::NEVER);
        let (automaton, derivations) = saturated.expect("nothing ends it early");
        let completions = completions(&automaton);
        ShortestPaths { automaton, derivations, completions }
    }

    /// How many rules it takes to reach a configuration; None if it cannot be reached.
    pub fn length_to(&self, configuration: &Configuration) -> Option<u64> {
        let length = self.automaton.weight_of(configuration, &mut MinimalLength);
        (length != MinimalLength::NONE).then_some(length)
    }

    /// A shortest witness of a configuration; None if it cannot be reached. It takes as much memory as it is long.
    pub fn path_to(&self, configuration: &Configuration) -> Option<Witness> {
        self.length_to(configuration)?;
        self.shortest_reading(configuration).map(|reading| self.undo(configuration.control, reading))
    }

    /// The reached heads, each with the length to the nearest configuration that has it.
    pub fn heads(&self) -> BTreeMap<Head, u64> {
        let mut heads = BTreeMap::new();
        for (number, transition, _) in self.automaton.transitions() {
            let (Some(control), Some(symbol)) = (self.automaton.control_of(transition.from), transition.label) else { continue };
            let length = self.length_through(number);
            if length != MinimalLength::NONE {
                let known = heads.entry(Head { control, symbol }).or_insert(length);
                *known = length.min(*known);
            }
        }
        heads
    }

    /// A nearest configuration with this head and a shortest witness of it; None if no reachable configuration has the head.
    pub fn nearest(&self, head: Head) -> Option<(Configuration, Witness)> {
        if usize::from(head.control) >= self.automaton.control_count() {
            return None;
        }
        let state = self.automaton.state_of(head.control);
        let candidates = self.automaton.outgoing_with(state, Some(head.symbol)).iter();
        let first = candidates.copied().min_by_key(|number| (self.length_through(*number), *number))?;
        if self.length_through(first) == MinimalLength::NONE {
            return None;
        }
        let mut reading = vec![first];
        let mut state = self.automaton.transition(first).to;
        while let Some(next) = self.completions[state].1 {
            reading.push(next);
            state = self.automaton.transition(next).to;
        }
        let configuration = self.configuration(head.control, reading.iter().copied());
        Some((configuration, self.undo(head.control, reading)))
    }

    /// The length of a shortest path to a configuration whose top symbol this transition reads.
    fn length_through(&self, number: TransitionId) -> u64 {
        let (below, _) = self.completions[self.automaton.transition(number).to];
        MinimalLength.extend(self.automaton.weight(number), &below)
    }

    /// The transitions that read a configuration's stack at least length, the top first; ε alone for an empty stack that was emptied.
    fn shortest_reading(&self, configuration: &Configuration) -> Option<Vec<TransitionId>> {
        let start = self.automaton.state_of(configuration.control);
        if configuration.stack.is_empty() {
            return self.emptied(start);
        }
        // By state: the length so far, and the transition that led here.
        let mut levels: Vec<BTreeMap<StateId, (u64, Option<TransitionId>)>> = vec![BTreeMap::from([(start, (0, None))])];
        for symbol in &configuration.stack {
            let mut next: BTreeMap<StateId, (u64, Option<TransitionId>)> = BTreeMap::new();
            for (state, (above, _)) in &levels[levels.len() - 1] {
                for number in self.automaton.outgoing_with(*state, Some(*symbol)) {
                    let length = MinimalLength.extend(above, self.automaton.weight(*number));
                    let known = next.entry(self.automaton.transition(*number).to).or_insert((MinimalLength::NONE, None));
                    if length < known.0 {
                        *known = (length, Some(*number));
                    }
                }
            }
            levels.push(next);
        }
        let ends = levels[levels.len() - 1].iter().filter(|(state, _)| self.automaton.final_weight(**state).is_some());
        let mut state = *ends.min_by_key(|(_, (length, _))| *length)?.0;
        let mut reading = Vec::new();
        for level in levels.iter().rev() {
            if let Some(number) = level[&state].1 {
                reading.push(number);
                state = self.automaton.transition(number).from;
            }
        }
        reading.reverse();
        Some(reading)
    }

    /// No transition if the empty stack was there from the start, else the ε by which it was emptied first.
    fn emptied(&self, start: StateId) -> Option<Vec<TransitionId>> {
        let length = *self.automaton.final_weight(start)?;
        let is_last = |number: &TransitionId| self.automaton.final_weight(self.automaton.transition(*number).to).is_some();
        let mut epsilons = self.automaton.outgoing_with(start, None).iter().copied().filter(is_last);
        let epsilon = epsilons.find(|number| *self.automaton.weight(*number) == length);
        // An emptied stack took a rule, so a length of 0 is an initial one.
        Some(epsilon.into_iter().collect())
    }

    fn undo(&self, control: ControlId, reading: Vec<TransitionId>) -> Witness {
        let mut control = control;
        let mut rules = Vec::new();
        // What reads the stack, its top last.
        let mut stack = reading;
        stack.reverse();
        while let Some(top) = stack.pop() {
            if let Some(source) = self.automaton.control_of(self.automaton.transition(top).from) {
                control = source;
            }
            match self.derivations[top] {
                Derivation::Initial => {
                    stack.push(top);
                    break;
                }
                Derivation::Rule { rule, before } => {
                    rules.push(rule);
                    stack.push(before);
                }
                // A callee has just been entered: the call is in the derivation of what lies below.
                Derivation::Entry => match stack.pop().map(|below| self.derivations[below]) {
                    Some(Derivation::Rule { rule, before }) => {
                        rules.push(rule);
                        stack.push(before);
                    }
                    other => unreachable!("below a callee's entry lies what its call has left, not {other:?}"),
                },
                Derivation::Contraction { epsilon, below } => stack.extend([below, epsilon]),
            }
        }
        rules.reverse();
        Witness { start: self.configuration(control, stack.into_iter().rev()), rules }
    }

    fn configuration(&self, control: ControlId, reading: impl Iterator<Item = TransitionId>) -> Configuration {
        Configuration::new(control, reading.filter_map(|number| self.automaton.transition(number).label).collect::<Vec<_>>())
    }
}

/// Dijkstra's algorithm, backwards from the final states. The heap's order breaks ties, so cycles of length 0 are never walked.
fn completions(automaton: &PAutomaton<u64>) -> TiVec<StateId, (u64, Option<TransitionId>)> {
    let mut incoming: TiVec<StateId, Vec<(TransitionId, Transition, u64)>> = vec![Vec::new(); automaton.state_count()].into();
    for (number, transition, weight) in automaton.transitions().filter(|(_, transition, _)| transition.label.is_some()) {
        incoming[transition.to].push((number, transition, *weight));
    }
    let mut completions: TiVec<StateId, (u64, Option<TransitionId>)> =
        vec![(MinimalLength::NONE, None); automaton.state_count()].into();
    let mut heap = BinaryHeap::new();
    for state in automaton.states().filter(|state| automaton.final_weight(*state).is_some()) {
        completions[state].0 = 0;
        heap.push(Reverse((0, state)));
    }
    while let Some(Reverse((length, state))) = heap.pop() {
        if length > completions[state].0 {
            continue;
        }
        for (number, transition, weight) in &incoming[state] {
            let longer = MinimalLength.extend(weight, &length);
            if longer < completions[transition.from].0 {
                completions[transition.from] = (longer, Some(*number));
                heap.push(Reverse((longer, transition.from)));
            }
        }
    }
    completions
}
