//! Answers to queries, each with the shortest interleaving that shows it.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::code::Point;
use super::state::State;
use super::{Limit, Misuse, Product, RacingSteps, StateIndex};
use crate::thread_model::{Place, ProcedureIndex, Question, ThreadIndex, ThreadModel};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes(Witness),
    /// No: all states were seen.
    Exhausted,
    /// Not found, but these bounds were hit.
    Bounded(BTreeSet<Limit>),
}

impl Answer {
    /// What is certain.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Answer::Yes(_) => Some(true),
            Answer::Exhausted => Some(false),
            Answer::Bounded(_) => None,
        }
    }
}

/// One step of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The instance that takes it, in the order they come into being.
    pub instance: usize,
    pub thread: ThreadIndex,
    pub procedure: ProcedureIndex,
    /// Position in the procedure's steps; their number for the return at the end.
    pub step: usize,
}

/// Where an instance stands; `None` when it has ended.
pub type Standing = (ThreadIndex, Option<(ProcedureIndex, usize)>);

/// An interleaving from the start, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub moves: Vec<Move>,
    /// Where every instance stands at its end.
    pub standing: Vec<Standing>,
    /// The instances that show it: those that stand at the places, race, or block each other.
    pub members: Vec<usize>,
}

impl Product<'_> {
    /// The answer to a question; `None` for one that is not about states.
    pub fn answer(&mut self, question: &Question) -> Option<Answer> {
        Some(match question {
            Question::Reachable(places) => self.reachable(places),
            Question::Race(variable) => self.race(*variable),
            Question::Deadlock => self.deadlock(),
            Question::Other(_) => return None,
        })
    }

    pub fn reachable(&self, places: &[Place]) -> Answer {
        let wanted: Vec<(ThreadIndex, Point)> = places
            .iter()
            .map(|place| {
                let (procedure, at) = self.model.place(place);
                (place.thread, self.code.point(procedure, at))
            })
            .collect();
        let found = self
            .states
            .iter()
            .enumerate()
            .find_map(|(index, state)| Some((index, self.assign(state, &wanted, &mut Vec::new())?)));
        match found {
            Some((index, members)) => Answer::Yes(self.witness(index as StateIndex, members)),
            None => self.nothing(None),
        }
    }

    pub fn race(&self, variable: usize) -> Answer {
        let first = self.races.iter().filter(|((.., raced), _)| *raced == variable).min_by_key(|(_, index)| **index);
        let Some(((one, other, _), index)) = first else { return self.nothing(None) };
        let state = &self.states[*index as usize];
        let stands = |slot: usize, step: (ProcedureIndex, usize)| {
            let top = self.stacks.top(state.threads[slot].stack);
            top.is_some_and(|point| {
                self.code.step(point) == step && self.code.access(point).is_some_and(|(accessed, _)| accessed == variable)
            })
        };
        let pairs = (0..state.threads.len()).flat_map(|a| (0..state.threads.len()).map(move |b| (a, b)));
        let (a, b) =
            pairs.filter(|(a, b)| a != b).find(|(a, b)| stands(*a, *one) && stands(*b, *other)).expect("a race has two threads");
        Answer::Yes(self.witness(*index, vec![a.min(b), a.max(b)]))
    }

    pub fn deadlock(&mut self) -> Answer {
        match self.lasting_cycle() {
            Ok(Some((index, members))) => {
                Answer::Yes(self.witness(index, (0..16).filter(|slot| members & (1 << slot) != 0).collect()))
            }
            Ok(None) => self.nothing(None),
            Err(limit) => self.nothing(Some(limit)),
        }
    }

    fn nothing(&self, more: Option<Limit>) -> Answer {
        let limits: BTreeSet<Limit> = self.limits.iter().copied().chain(more).collect();
        if limits.is_empty() { Answer::Exhausted } else { Answer::Bounded(limits) }
    }

    /// Distinct slots for the wanted places, if there are.
    fn assign(&self, state: &State, wanted: &[(ThreadIndex, Point)], taken: &mut Vec<usize>) -> Option<Vec<usize>> {
        let Some((thread, point)) = wanted.get(taken.len()) else { return Some(taken.clone()) };
        for (slot, standing) in state.threads.iter().enumerate() {
            let fits = usize::from(standing.thread) == *thread && self.stacks.top(standing.stack) == Some(*point);
            if fits && !taken.contains(&slot) {
                taken.push(slot);
                if let Some(found) = self.assign(state, wanted, taken) {
                    return Some(found);
                }
                taken.pop();
            }
        }
        None
    }

    fn witness(&self, index: StateIndex, members: Vec<usize>) -> Witness {
        let mut moves = Vec::new();
        let mut at = index;
        while at != 0 {
            let origin = self.origins[at as usize];
            let (procedure, step) = self.code.step(origin.point);
            let thread = usize::from(self.states[at as usize].threads[usize::from(origin.slot)].thread);
            moves.push(Move { instance: usize::from(origin.slot), thread, procedure, step });
            at = origin.from;
        }
        moves.reverse();
        Witness { moves, standing: self.standing(&self.states[index as usize]), members }
    }

    fn standing(&self, state: &State) -> Vec<Standing> {
        let place = |thread: &super::state::ThreadState| self.stacks.top(thread.stack).map(|point| self.code.step(point));
        state.threads.iter().map(|thread| (usize::from(thread.thread), place(thread))).collect()
    }

    /// Every race: the two steps, and the variable.
    pub fn races(&self) -> impl Iterator<Item = RacingSteps> + '_ {
        self.races.keys().copied()
    }

    /// Where the instances stand in each state that no thread can leave and where not all have ended; without repetitions.
    pub fn stuck(&self) -> BTreeSet<Vec<Standing>> {
        self.stuck.iter().map(|index| self.standing(&self.states[*index as usize])).collect()
    }

    /// The pairs of places that two instances ever stand at together, each pair once, the smaller first.
    pub fn together(&self) -> BTreeSet<[(ThreadIndex, ProcedureIndex, usize); 2]> {
        let mut pairs = BTreeSet::new();
        for state in &self.states {
            let places: Vec<_> = self
                .standing(state)
                .into_iter()
                .filter_map(|(thread, place)| place.map(|(procedure, at)| (thread, procedure, at)))
                .collect();
            for (index, one) in places.iter().enumerate() {
                pairs.extend(places[index + 1..].iter().map(|other| [*one.min(other), *one.max(other)]));
            }
        }
        pairs
    }

    /// The places that so many instances ever stand at together, each group once, sorted.
    pub fn groups(&self, size: usize) -> BTreeSet<Vec<(ThreadIndex, ProcedureIndex, usize)>> {
        let mut everywhere = FxHashSet::default();
        for state in &self.states {
            let standing = self.standing(state).into_iter();
            let mut places: Vec<_> =
                standing.filter_map(|(thread, place)| place.map(|(procedure, at)| (thread, procedure, at))).collect();
            places.sort_unstable();
            everywhere.insert(places);
        }
        let mut groups = FxHashSet::default();
        for places in everywhere {
            let mut chosen: Vec<Vec<_>> = vec![Vec::new()];
            for place in places {
                let longer: Vec<Vec<_>> = chosen
                    .iter()
                    .filter(|group| group.len() < size)
                    .map(|group| group.iter().copied().chain([place]).collect())
                    .collect();
                chosen.extend(longer);
            }
            groups.extend(chosen.into_iter().filter(|group| group.len() == size));
        }
        groups.into_iter().collect()
    }

    pub fn misuses(&self) -> &BTreeSet<Misuse> {
        &self.misuses
    }

    /// Somebody released a lock that another thread held.
    pub fn has_foreign_release(&self) -> bool {
        self.has_foreign_release
    }

    pub fn limits(&self) -> &BTreeSet<Limit> {
        &self.limits
    }

    pub fn states(&self) -> usize {
        self.states.len()
    }
}

impl Witness {
    /// One line a step: the instance, the line of the model, the step.
    pub fn lines(&self, model: &ThreadModel) -> Vec<String> {
        let name = |instance: usize, thread: ThreadIndex| match self.standing.iter().filter(|(other, _)| *other == thread).count()
        {
            1 => model.threads[thread].name.clone(),
            _ => format!("{}#{instance}", model.threads[thread].name),
        };
        let text = |procedure: ProcedureIndex, step: usize| {
            let body = &model.procedures[procedure];
            let step = body.steps.get(step).map(|step| (step.position.line, model.step_text(procedure, &step.kind)));
            step.unwrap_or_else(|| (body.end.line, format!("end of {}", body.name)))
        };
        let mut lines = Vec::new();
        for Move { instance, thread, procedure, step } in &self.moves {
            let (line, text) = text(*procedure, *step);
            lines.push(format!("{}, line {line}: {text}", name(*instance, *thread)));
        }
        for instance in &self.members {
            let (thread, Some((procedure, step))) = self.standing[*instance] else { continue };
            let (line, text) = text(procedure, step);
            lines.push(format!("{} now stands before line {line}: {text}", name(*instance, thread)));
        }
        lines
    }
}
