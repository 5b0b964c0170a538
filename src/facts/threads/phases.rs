//! Phases: interned pairs of who may run and who has been joined.

use std::collections::BTreeMap;

use super::state::State;
use super::types::{PhaseId, ThreadId};

type Sets = (Vec<ThreadId>, Vec<ThreadId>);

#[derive(Default)]
pub(super) struct Phases {
    /// The first is [`PhaseId::ANY`]; its live set is filled in at the end.
    sets: Vec<Sets>,
    numbers: BTreeMap<Sets, PhaseId>,
}

impl Phases {
    pub fn of_state(&mut self, state: &State) -> PhaseId {
        self.intern(state.live.keys().copied().collect(), state.joined.iter().copied().collect())
    }

    pub fn intern(&mut self, live: Vec<ThreadId>, joined: Vec<ThreadId>) -> PhaseId {
        if self.sets.is_empty() {
            self.sets.push(Sets::default());
        }
        let sets = (live, joined);
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
        self.sets[PhaseId::ANY.index()] = (all, Vec::new());
    }

    pub fn live(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].0
    }

    pub fn joined(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].1
    }

    pub fn len(&self) -> usize {
        self.sets.len()
    }
}
