//! What a join does to a thread's knowledge: which threads have certainly ended, and what they leave behind.
//!
//! # Definition   A join counts for the threads whose handle it certainly takes; in a loop, for those whose handles are in the cells that it sweeps. A cell that holds 0
//!                holds no handle: the C library's are addresses.
//! # Theorem      See [`super::walk`]: what is removed from the live threads has ended, unless another creator may have made it again. What those who are joined have joined
//!                themselves has ended if there were any: a loop that may run no time does not say so.

use std::collections::{BTreeMap, BTreeSet};

use super::super::loops::{CountedExit, Definition, Loop, LoopId};
use super::flow::Outs;
use super::input::Input;
use super::kept::Handles;
use super::places::{Base, Value};
use super::state::{Place, State, Sweep, Trip, both_done};
use super::sweep::{is_tested_first, sweep, trip, trip_if};
use super::tree::Point;
use super::types::{ActivationId, ThreadId};
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
            state.done.insert(swept, true);
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

    /// A loop ends at its counted exit: what every iteration has joined is joined.
    pub fn leave(
        &self,
        id: ActivationId,
        (in_loop, exit): (LoopId, &CountedExit),
        mut state: State,
        outs: &Outs,
        released: &BTreeSet<LoopId>,
    ) -> Option<State> {
        let function = self.places.tree.activation(id).function;
        let one = self.places.relevant.bodies[&function].loops.get(in_loop);
        let mut done: Option<BTreeMap<Sweep, bool>> = None;
        if is_tested_first(&self.places, id, in_loop, exit) {
            for latch in &one.latches {
                let Some(latch) = &outs[*latch] else { continue };
                match &mut done {
                    Some(done) => *done = both_done(done, &latch.done),
                    None => done = Some(latch.done.clone()),
                }
            }
            if done.is_none() && !released.contains(&in_loop) {
                // The body comes first, so that what it joins is known.
                return None;
            }
        } else {
            done = Some(state.done.clone());
        }
        let mut done = done.unwrap_or_default();
        done.retain(|swept, _| (swept.activation, swept.in_loop) == (id, in_loop));
        let sites: BTreeSet<SiteId> = done.keys().filter_map(|swept| self.swept_sites.get(swept)).flatten().copied().collect();
        let thread = self.places.tree.activation(id).thread;
        let joined: Vec<ThreadId> = state.live.keys().chain(state.known_in.keys()).copied().collect();
        // A loop that runs no time joins nobody, and neither does one that finds no handles.
        let runs = matches!(trip(&self.places, id, in_loop, exit), Trip::Count(1..));
        let (mut certain, mut others): (Vec<ThreadId>, Vec<ThreadId>) = Default::default();
        for target in joined.into_iter().filter(|target| self.is_joined_only_by(*target, thread)) {
            // Where there is such a thread at all, what comes before its creation has been executed.
            let is_executed = |store| {
                let creations = &self.places.tree.creations[target.index()];
                creations.iter().all(|creation| self.places.comes_before(store, creation.point))
            };
            let trip = trip_if(&self.places, (id, in_loop, exit), &is_executed);
            let swept = |swept: &Sweep| Sweep { trip: trip.clone(), ..swept.clone() };
            let finds = |handles: &Handles| done.keys().any(|one| is_found(handles, &swept(one)));
            if let Some(handles) = state.live.get(&target).filter(|handles| finds(handles)) {
                let has_joined = done.iter().any(|(one, has_joined)| *has_joined && is_found(handles, &swept(one)));
                let found = if runs && has_joined { &mut certain } else { &mut others };
                found.extend(self.is_found_before(id, one, target, outs, &finds).then_some(target));
            } else if let Some(cells) = state.known_in.get(&target)
                && !self.exchange.ever_at[target.index()].contains(&thread)
                && done.keys().any(|one| swept(one).covers(cells))
            {
                self.note_joins(&[target], &sites);
                state.joined.insert(target);
            }
        }
        self.note_joins(&certain, &sites);
        self.note_joins(&others, &sites);
        let state = self.joined(thread, &certain, state, true)?;
        self.joined(thread, &others, state, false)
    }

    /// Whether the thread's handles were in the array before the loop began, and the loop creates no more of them.
    fn is_found_before(
        &self,
        id: ActivationId,
        one: &Loop,
        thread: ThreadId,
        outs: &Outs,
        finds: &dyn Fn(&Handles) -> bool,
    ) -> bool {
        let function = self.places.input.function(self.places.tree.activation(id).function);
        let creations = &self.places.tree.creations[thread.index()];
        let is_created_inside = creations.iter().any(|creation| {
            let at = self.places.tree.lifted(creation.point, id);
            at.is_some_and(|at| one.blocks.contains(&at.block))
        });
        let entries = function.blocks[one.header].predecessors.iter().filter(|from| !one.blocks.contains(from));
        let mut known = entries.filter_map(|from| outs[*from].as_ref()).filter_map(|state| state.live.get(&thread));
        !is_created_inside && known.all(finds)
    }
}

/// Whether all handles of a thread are among the cells.
fn is_found(handles: &Handles, swept: &Sweep) -> bool {
    let is_swept = handles.sweep().is_some_and(|cells| swept.covers(cells));
    let is_cell = handles.places_of_only_one().any(|place| match place {
        Place::Cell(cell) => {
            cell.terms.is_empty() && cell.base != Base::Nothing && cell.base == swept.base && swept.contains(cell.constant)
        }
        Place::Value(_) | Place::Returned(_) => false,
    });
    is_swept || is_cell
}
