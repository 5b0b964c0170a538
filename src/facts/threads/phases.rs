//! Phases: who may run, who has been joined, and which barriers have been passed, as one number.

use std::collections::BTreeMap;

use super::barriers::Rounds;
use super::state::State;
use super::types::{PhaseId, ThreadId};

type Sets = (Vec<ThreadId>, Vec<ThreadId>, Vec<(usize, Rounds)>);

#[derive(Default)]
pub(super) struct Phases {
    /// The first is [`PhaseId::ANY`]; its live set is filled in at the end.
    sets: Vec<Sets>,
    numbers: BTreeMap<Sets, PhaseId>,
}

impl Phases {
    pub fn of_state(&mut self, state: &State) -> PhaseId {
        let rounds = state.rounds.iter().map(|(barrier, rounds)| (*barrier, *rounds)).collect();
        self.intern((state.live.keys().copied().collect(), state.joined.iter().copied().collect(), rounds))
    }

    fn intern(&mut self, sets: Sets) -> PhaseId {
        if self.sets.is_empty() {
            self.sets.push(Sets::default());
        }
        if let Some(known) = self.numbers.get(&sets) {
            return *known;
        }
        let id = PhaseId::from(self.sets.len());
        self.numbers.insert(sets.clone(), id);
        self.sets.push(sets);
        id
    }

    /// In the phase of which nothing is known, every thread may run.
    pub fn finish(&mut self, all: Vec<ThreadId>) {
        if self.sets.is_empty() {
            self.sets.push(Sets::default());
        }
        self.sets[PhaseId::ANY.index()] = (all, Vec::new(), Vec::new());
    }

    pub fn live(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].0
    }

    pub fn joined(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].1
    }

    /// How often the barrier has been passed.
    pub fn rounds(&self, phase: PhaseId, barrier: usize) -> Rounds {
        let known = self.sets[phase.index()].2.iter().find(|(one, _)| *one == barrier);
        known.map_or_else(Rounds::default, |(_, rounds)| *rounds)
    }

    pub fn len(&self) -> usize {
        self.sets.len()
    }
}
