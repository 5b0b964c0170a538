//! What a join does to a thread's knowledge: which threads have certainly ended, and what they leave behind.
//!
//! # Definition   A join counts for the threads whose handle it certainly takes; in a loop, for those whose handles are in the cells that it sweeps.
//! # Theorem      See [`super::walk`]: what is removed from the live threads has ended, unless another creator may have made it again.

use std::collections::BTreeSet;

use super::super::loops::Definition;
use super::input::Input;
use super::places::Value;
use super::state::{Place, State, Sweep};
use super::sweep::sweep;
use super::tree::Point;
use super::types::ThreadId;
use super::walk::Walk;
use crate::program::{Instruction, Operation, SiteId};

impl Walk<'_> {
    pub fn join(&mut self, point: Point, instruction: &Instruction, handle: usize, mut state: State) -> Option<State> {
        let thread = self.thread_of(point);
        if let Some(target) = self.certain.at(instruction.site).filter(|target| self.is_joined_only_by(*target, thread)) {
            // Nobody comes past the join of a thread that does not end.
            self.exchange.end[target.index()].as_ref()?;
            state.ended.insert(target);
        }
        let Some(value) = Input::argument(instruction, handle).and_then(|handle| self.places.value(point.activation, handle))
        else {
            return Some(state);
        };
        let place = Place::Value(value);
        let own: Vec<ThreadId> =
            state.live.iter().filter(|(_, handles)| handles.only_one_is_at(&place)).map(|(one, _)| *one).collect();
        let others: Vec<ThreadId> =
            state.known.iter().filter(|(_, places)| places.contains(&place)).map(|(one, _)| *one).collect();
        if let Some(swept) = self.swept_by(point, value) {
            self.swept_sites.entry(swept.clone()).or_default().insert(instruction.site);
            state.done.insert(swept);
        }
        let targets: Vec<ThreadId> = own.into_iter().chain(others).filter(|one| self.is_joined_only_by(*one, thread)).collect();
        self.note_joins(&targets, &BTreeSet::from([instruction.site]));
        self.joined(thread, &targets, state, true)
    }

    pub fn note_joins(&self, targets: &[ThreadId], sites: &BTreeSet<SiteId>) {
        let mut all = self.join_sites.borrow_mut();
        targets.iter().for_each(|target| all.entry(*target).or_default().extend(sites));
    }

    /// The cells that a join in a loop takes its handles from.
    pub fn swept_by(&self, point: Point, handle: Value) -> Option<Sweep> {
        let Value::Register(activation, register) = handle else { return None };
        let here = self.places.tree.activation(activation);
        let body = &self.places.relevant.bodies[&here.function];
        let Some(Definition::Instruction { block, index }) = body.definitions.get(register) else { return None };
        let Operation::Load { address, .. } = &self.places.input.instruction(here.function, block, index).operation else {
            return None;
        };
        let address = self.places.address(activation, *address)?;
        let swept = sweep(&self.places, &address, Point { activation, block, index }, false)?;
        // The join itself belongs to the same iteration.
        let at = self.places.tree.lifted(point, swept.activation)?;
        let body = &self.places.relevant.bodies[&self.places.tree.activation(swept.activation).function];
        body.loops.get(swept.in_loop).blocks.contains(&at.block).then_some(swept)
    }

    /// Whether a join by `joiner` cannot fail because the thread is detached or someone else joins it.
    pub fn is_joined_only_by(&self, thread: ThreadId, joiner: ThreadId) -> bool {
        !self.writers.detached.contains(&thread) && self.writers.joiners[thread.index()].iter().all(|one| *one == joiner)
    }

    /// Whichever of the targets was live has ended. If there may have been none of them, nothing is known of what they would have done.
    pub fn joined(&self, thread: ThreadId, targets: &[ThreadId], mut state: State, there_are: bool) -> Option<State> {
        if !targets.is_empty() {
            // Who runs now is another question.
            state.tried.clear();
        }
        let ends = targets.iter().filter(|target| self.exchange.end[target.index()].is_some()).count();
        if there_are && !targets.is_empty() && ends == 0 {
            return None;
        }
        for target in targets {
            let end = self.exchange.end[target.index()].as_ref();
            if state.live.contains_key(target) {
                self.remove_child(*target, end, &mut state, there_are);
            } else if state.known.contains_key(target)
                && !self.exchange.ever_at[target.index()].contains(&thread)
                && let Some((live, joined)) = end
            {
                let family = &self.places.tree.descendants[target.index()];
                let is_inside = |one: &ThreadId| {
                    self.places.tree.creations[one.index()]
                        .iter()
                        .all(|creation| creation.creator == *target || family.contains(&creation.creator))
                };
                state.joined.insert(*target);
                state.joined.extend(family.iter().filter(|one| is_inside(one) && !live.contains(one)));
                state.joined.extend(joined);
            }
        }
        Some(state)
    }

    fn remove_child(
        &self,
        child: ThreadId,
        end: Option<&(BTreeSet<ThreadId>, BTreeSet<ThreadId>)>,
        state: &mut State,
        there_is: bool,
    ) {
        let tree = self.places.tree;
        let mut removed = tree.descendants[child.index()].clone();
        removed.insert(child);
        state.direct.remove(&child);
        // A thread that several may create stays if another one of its creators runs, or this thread has created it as well.
        let direct = &state.direct;
        state.live.retain(|one, _| !removed.contains(one) || direct.contains(one));
        let others: Vec<ThreadId> = state.live.keys().copied().collect();
        let again = others.iter().flat_map(|one| tree.descendants[one.index()].iter()).filter(|one| removed.contains(one));
        let stays: BTreeSet<ThreadId> = again.copied().collect();
        for one in stays {
            state.live.entry(one).or_default();
        }
        if let Some((live, joined)) = end {
            for one in live {
                state.live.entry(*one).or_default();
            }
            if !there_is {
                return;
            }
            state.live.retain(|one, _| !joined.contains(one));
            state.direct.retain(|one| !joined.contains(one));
            state.joined.extend(joined);
        }
    }
}
