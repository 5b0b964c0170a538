//! Phases: who may run, who has been joined, which barriers have been passed, and what is known of threads that others join, as one number.

use std::collections::{BTreeMap, BTreeSet};

use super::barriers::Rounds;
use super::state::State;
use super::types::{PhaseId, ThreadId};

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sets {
    live: Vec<ThreadId>,
    joined: Vec<ThreadId>,
    rounds: Vec<(usize, Rounds)>,
    ended: Vec<ThreadId>,
    /// Those that others join (`remote`), and that may have been created.
    created: Vec<ThreadId>,
}

#[derive(Default)]
pub(super) struct Phases {
    /// The threads whose creation matters.
    remote: BTreeSet<ThreadId>,
    /// The first is [`PhaseId::ANY`]; its live set is filled in at the end.
    sets: Vec<Sets>,
    numbers: BTreeMap<Sets, PhaseId>,
}

impl Phases {
    pub fn with(remote: BTreeSet<ThreadId>) -> Phases {
        Phases { remote, ..Phases::default() }
    }

    pub fn of_state(&mut self, state: &State) -> PhaseId {
        self.intern(Sets {
            live: state.running().collect(),
            joined: state.joined.iter().copied().collect(),
            rounds: state.rounds.iter().map(|(barrier, rounds)| (*barrier, *rounds)).collect(),
            ended: state.ended.iter().copied().collect(),
            created: state.ever.intersection(&self.remote).copied().collect(),
        })
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
        let created = self.remote.iter().copied().collect();
        self.sets[PhaseId::ANY.index()] = Sets { live: all, created, ..Sets::default() };
    }

    pub fn live(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].live
    }

    pub fn joined(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].joined
    }

    /// Threads that exist once and have ended.
    pub fn ended(&self, phase: PhaseId) -> &[ThreadId] {
        &self.sets[phase.index()].ended
    }

    /// Whether a thread that others join may have been created by the one that is in this phase.
    pub fn may_be_created(&self, phase: PhaseId, thread: ThreadId) -> bool {
        self.sets[phase.index()].created.binary_search(&thread).is_ok()
    }

    /// How often the barrier has been passed.
    pub fn rounds(&self, phase: PhaseId, barrier: usize) -> Rounds {
        let known = self.sets[phase.index()].rounds.iter().find(|(one, _)| *one == barrier);
        known.map_or_else(Rounds::default, |(_, rounds)| *rounds)
    }

    pub fn len(&self) -> usize {
        self.sets.len()
    }
}
