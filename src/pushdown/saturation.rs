//! Saturation: what post* and pre* share, a worklist of transitions that have gained weight.
//!
//! # Definition   Rules of the form "if these transitions are there, this one is, with this weight" are applied until nothing changes.
//! # Theorem      In a bounded idempotent semiring this ends, with the greatest solution, in whatever order transitions are taken from the list. Since ⊗
//!                distributes over ⊕ it is enough to go on with what a transition has gained since it was last taken, not with all of its weight.
//! # Paper        Reps, Schwoon, Jha, Melski 2005; Bancilhon 1986 for the gains (semi-naive evaluation).
//! # Deviations   The paper goes on with the whole weight. Gains cost nothing where weights are numbers, and much less where they are sets.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use typed_index_collections::TiVec;

use super::automaton::{PAutomaton, Transition};
use super::index::{RuleId, StateId, SymbolId, TransitionId};
use super::semiring::Semiring;

/// In which order transitions are taken.
pub trait Worklist<W> {
    fn put(&mut self, number: TransitionId, transition: Transition, weight: &W);
    fn take(&mut self) -> Option<TransitionId>;

    /// A state stands between a callee's part of the stack and its caller's.
    fn enter(&mut self, _callee: SymbolId, _mid: StateId) {}
}

/// First in, first out.
#[derive(Debug, Default)]
pub struct InTurn(VecDeque<TransitionId>);

impl<W> Worklist<W> for InTurn {
    fn put(&mut self, number: TransitionId, _: Transition, _: &W) {
        self.0.push_back(number);
    }

    fn take(&mut self) -> Option<TransitionId> {
        self.0.pop_front()
    }
}

/// The shortest first (Knuth's generalisation of Dijkstra's algorithm): each transition is taken once, with its final length.
#[derive(Debug, Default)]
pub struct ShortestFirst(BinaryHeap<Reverse<(u64, TransitionId)>>);

impl Worklist<u64> for ShortestFirst {
    fn put(&mut self, number: TransitionId, _: Transition, length: &u64) {
        self.0.push(Reverse((*length, number)));
    }

    fn take(&mut self) -> Option<TransitionId> {
        self.0.pop().map(|Reverse((_, transition))| transition)
    }
}

/// Why a transition of post* is there with the weight it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// It was in the automaton from the start.
    Initial,
    /// It starts a callee's part of the stack: the path of no rules.
    Entry,
    /// A rule, applied to the top symbol that another transition reads.
    Rule { rule: RuleId, before: TransitionId },
    /// p –ε→ q and q –γ→ q′ make p –γ→ q′.
    Contraction { epsilon: TransitionId, below: TransitionId },
}

/// Who remembers derivations: nobody, or a table.
pub trait Memory<D> {
    fn remember(&mut self, transition: TransitionId, derivation: D);
}

impl<D> Memory<D> for () {
    fn remember(&mut self, _: TransitionId, _: D) {}
}

impl Memory<Derivation> for TiVec<TransitionId, Derivation> {
    fn remember(&mut self, transition: TransitionId, derivation: Derivation) {
        match self.get_mut(transition) {
            Some(known) => *known = derivation,
            None => {
                assert_eq!(self.push_and_get_key(derivation), transition, "transitions are numbered in the order they appear")
            }
        }
    }
}

/// An automaton that grows.
pub struct Saturation<'a, S: Semiring, Q, M> {
    pub automaton: PAutomaton<S::Weight>,
    pub semiring: &'a mut S,
    pub memory: M,
    pub worklist: Q,
    zero: S::Weight,
    /// What each transition has gained since it was last taken.
    gains: TiVec<TransitionId, Option<S::Weight>>,
}

impl<'a, S: Semiring, Q: Worklist<S::Weight>, M> Saturation<'a, S, Q, M> {
    /// Starts with every transition of an automaton on an empty list, all for the same reason.
    pub fn of<D: Copy>(automaton: PAutomaton<S::Weight>, semiring: &'a mut S, mut worklist: Q, initial: D) -> Self
    where
        M: Memory<D> + Default,
    {
        let (mut memory, mut gains) = (M::default(), TiVec::new());
        for (number, transition, weight) in automaton.transitions() {
            worklist.put(number, transition, weight);
            memory.remember(number, initial);
            gains.push(Some(weight.clone()));
        }
        let zero = semiring.zero();
        Saturation { automaton, semiring, memory, zero, worklist, gains }
    }

    /// A transition that gained something, and what.
    pub fn next(&mut self) -> Option<(TransitionId, S::Weight)> {
        while let Some(number) = self.worklist.take() {
            if let Some(gain) = self.gains[number].take() {
                return Some((number, gain));
            }
        }
        None
    }

    /// Adds to the weight of a transition. Gives its number if it is new.
    pub fn contribute<D>(&mut self, transition: Transition, weight: S::Weight, derivation: D) -> Option<TransitionId>
    where
        M: Memory<D>,
    {
        if weight == self.zero {
            return None;
        }
        let Some(number) = self.automaton.find(transition) else {
            let number = self.automaton.add(transition, weight.clone());
            self.worklist.put(number, transition, &weight);
            self.memory.remember(number, derivation);
            self.gains.push(Some(weight));
            return Some(number);
        };
        let known = self.automaton.weight(number);
        let better = self.semiring.combine(known, &weight);
        if better != *known {
            self.worklist.put(number, transition, &better);
            self.memory.remember(number, derivation);
            self.automaton.set_weight(number, better);
            self.gains[number] = Some(match self.gains[number].take() {
                Some(waiting) => self.semiring.combine(&waiting, &weight),
                None => weight,
            });
        }
        None
    }
}
