//! What library calls do, as steps: locks are taken and given back, routines run, threads are waited for.

use super::super::holding::{Action, Alternative, CallAt, Identity, Standing, inside_once};
use super::super::system::{Step, ThreadId};
use super::graph::{Edge, Graph, Node, Spot};
use super::locks::Use;
use super::walk::{Front, Walker};
use crate::facts::{self, Stage, ThreadKind};
use crate::locks::history::LockId;
use crate::locks::{Family, Mode, Names, Token};
use crate::models::Attempt;
use crate::program::{FunctionId, Operand, SiteId};

impl Walker<'_, '_, '_> {
    /// All steps of a library call, one after another.
    pub fn library(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        actions: &[Action],
        start: (Node, Alternative),
        next: &mut Front,
    ) {
        let mut front = Front { points: vec![start] };
        for action in actions {
            let mut after = Front::default();
            for (node, alternative) in front.points {
                self.action(graph, at, action, (node, alternative), &mut after);
            }
            front = after;
        }
        for (node, alternative) in front.points {
            let spot = self.spot(graph, at, node);
            let to = next.point(graph, &spot, alternative);
            graph.step(node, Step::Nothing, to);
        }
    }

    fn action(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        action: &Action,
        (node, before): (Node, Alternative),
        next: &mut Front,
    ) {
        match action {
            Action::Acquire { lock, mode, attempt, is_read_write, .. } => {
                // A user's own lock that may be shared is one, too.
                let how = if *is_read_write || *mode == Mode::Shared { Use::ReadWrite } else { Use::Lock };
                let outcomes = self.tabulation.perform(at, std::slice::from_ref(action), before.clone(), None);
                let operand = *lock;
                let (names, family) = self.tabulation.lock_names(at.key, operand);
                self.remark(at, &names, family);
                let lock = self.walked.locks.number(&names, family, how);
                let taken: Vec<(Step, Alternative)> = match names.is_empty() {
                    // Nothing is known of it afterwards, so there is one outcome, whichever it is.
                    true => {
                        let mut steps = attempts(lock, *mode, *attempt, 2);
                        steps.dedup();
                        outcomes.into_iter().flat_map(|after| steps.iter().map(move |step| (*step, after.clone()))).collect()
                    }
                    false => attempts(lock, *mode, *attempt, outcomes.len()).into_iter().zip(outcomes).collect(),
                };
                let standing = self.standing(graph, at.context, (at.block, at.index, at.site), node, &before);
                graph.points[standing as usize].spot.lock = Some(operand);
                let spot = self.spot(graph, at, node);
                for (step, outcome) in taken {
                    let to = next.point(graph, &spot, outcome);
                    graph.step(standing, step, to);
                }
            }
            Action::Release { lock, is_read_write } => {
                let how = if *is_read_write { Use::ReadWrite } else { Use::Lock };
                let operand = *lock;
                let lock = self.given_back(at, operand, &before, how);
                // Through a pointer that is not known to be the one it was taken through: what is held may stay so.
                if !self.walked.locks.has_place(lock) && !self.is_held(at, operand, &before) {
                    self.one_step(graph, at, action, (node, before.clone()), Step::Nothing, next);
                }
                self.one_step(graph, at, action, (node, before), Step::Release { lock }, next);
            }
            Action::Forget { lock } => {
                // Whoever initialises or destroys a lock that it holds no longer holds it.
                let lock = self.is_held(at, *lock, &before).then(|| self.given_back(at, *lock, &before, Use::Lock));
                let step = lock.map_or(Step::Nothing, |lock| Step::Release { lock });
                self.one_step(graph, at, action, (node, before), step, next);
            }
            Action::Wait { lock } => {
                self.walked.remarks.waits.insert(at.site);
                let operand = *lock;
                let lock = self.given_back(at, *lock, &before, Use::Lock);
                let place = (at.block, at.index, at.site);
                let asleep = self.standing(graph, at.context, place, node, &before);
                // Who wakes has given the lock back, and stands before it with what is left.
                let given = Action::Release { lock: operand, is_read_write: false };
                let left = self.tabulation.perform(at, &[given], before.clone(), None).into_iter().next();
                let left = left.unwrap_or_else(|| before.clone());
                let woken = Spot {
                    lock: Some(operand),
                    lockset: left.lockset,
                    sites: left.sites,
                    ..graph.points[asleep as usize].spot.clone()
                };
                let woken = graph.add(woken);
                graph.step(asleep, Step::Sleep { lock }, woken);
                let step = Step::Acquire { lock, mode: Mode::Exclusive };
                for outcome in self.tabulation.perform(at, std::slice::from_ref(action), before, None) {
                    let spot = self.spot(graph, at, node);
                    let to = next.point(graph, &spot, outcome);
                    graph.step(woken, step, to);
                }
            }
            Action::Once { control, routines } => self.once(graph, at, *control, routines, (node, before), next),
            Action::Callback { routines } => self.callback(graph, at, routines, (node, before), next),
            Action::Join => {
                let joined = self.joined(at);
                let standing = self.standing(graph, at.context, (at.block, at.index, at.site), node, &before);
                let spot = self.spot(graph, at, node);
                let to = next.point(graph, &spot, before);
                match joined.is_empty() {
                    true => graph.step(standing, Step::Nothing, to),
                    false => {
                        joined.into_iter().for_each(|thread| graph.step(standing, Step::Join { thread, is_last: false }, to))
                    }
                }
            }
            // The way goes on behind the `setjmp`.
            Action::Jump => {}
            Action::End { leaves_others } => {
                if *leaves_others {
                    let end = self.standing(graph, at.context, (at.block, at.index, at.site), node, &before);
                    graph.connect(end, Edge::Leave);
                }
            }
            Action::SaveJump | Action::RunUnknown => {
                self.walked.remarks.jumps.insert(at.site);
                let outcomes = self.tabulation.perform(at, std::slice::from_ref(action), before, None);
                self.silently(graph, at, node, outcomes, next);
            }
            Action::BeginAtomic
            | Action::EndAtomic
            | Action::Create { .. }
            | Action::WaitForPermit { .. }
            | Action::PostPermit { .. }
            | Action::ResetPermits { .. } => {
                let outcomes = self.tabulation.perform(at, std::slice::from_ref(action), before, None);
                self.silently(graph, at, node, outcomes, next);
            }
        }
    }

    fn silently(&mut self, graph: &mut Graph, at: &CallAt<'_>, node: Node, outcomes: Vec<Alternative>, next: &mut Front) {
        for outcome in outcomes {
            let spot = self.spot(graph, at, node);
            let to = next.point(graph, &spot, outcome);
            graph.step(node, Step::Nothing, to);
        }
    }

    fn one_step(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        action: &Action,
        (node, before): (Node, Alternative),
        step: Step,
        next: &mut Front,
    ) {
        let standing = self.standing(graph, at.context, (at.block, at.index, at.site), node, &before);
        for outcome in self.tabulation.perform(at, std::slice::from_ref(action), before, None) {
            let spot = self.spot(graph, at, node);
            let to = next.point(graph, &spot, outcome);
            graph.step(standing, step, to);
        }
    }

    /// Whether what an operand names is certainly held.
    fn is_held(&mut self, at: &CallAt<'_>, lock: Operand, before: &Alternative) -> bool {
        let names = self.tabulation.lock_names(at.key, lock).0;
        self.tabulation.locksets.get(before.lockset).find(Token::Lock, &names).is_some()
    }

    /// Notes a pointer without a value.
    fn remark(&mut self, at: &CallAt<'_>, names: &Names, family: Family) {
        if names.place.is_none() && family == Identity::ANYWHERE {
            self.walked.remarks.unknown_locks.insert(at.site);
        }
    }

    /// The lock that an operand gives back, by the name under which it was taken.
    fn given_back(&mut self, at: &CallAt<'_>, lock: Operand, before: &Alternative, how: Use) -> LockId {
        let (names, family) = self.tabulation.lock_names(at.key, lock);
        self.remark(at, &names, family);
        let lockset = self.tabulation.locksets.get(before.lockset);
        self.walked.locks.held(lockset, &names, family, how)
    }

    /// The routine has run, or it runs now: whoever comes meanwhile waits for its end.
    fn once(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        control: Operand,
        routines: &[FunctionId],
        (node, before): (Node, Alternative),
        next: &mut Front,
    ) {
        let (names, family) = self.tabulation.lock_names(at.key, control);
        let done = |walker: &mut Self, alternative: Alternative| {
            walker.tabulation.perform(at, &[Action::Once { control, routines: Vec::new() }], alternative, None)
        };
        let was_done = self.tabulation.locksets.get(before.lockset).find(Token::OnceDone, &names).is_some();
        let outcomes = done(self, before.clone());
        self.silently(graph, at, node, outcomes, next);
        if was_done {
            return;
        }
        let inside = names.place.map(inside_once);
        // Which routine a control without a value stands for is not known, nor who waits for it.
        let is_known = names.place.is_some() || family != Identity::ANYWHERE;
        let of_place = Names { place: names.place, ..Names::default() };
        let lock = is_known.then(|| self.walked.locks.number(&of_place, family, Use::Once));
        for routine in routines {
            let standing = self.standing(graph, at.context, (at.block, at.index, at.site), node, &before);
            let running = graph.add(graph.points[standing as usize].spot.clone());
            let taken = lock.map_or(Step::Nothing, |lock| Step::Acquire { lock, mode: Mode::Exclusive });
            graph.step(standing, taken, running);
            let called = self.tabulation.call_body(at, &before, *routine, &[], None, inside.clone());
            let mut ended = Front::default();
            self.call(graph, at, (running, &before), *routine, called, &mut ended);
            for (end, alternative) in ended.points {
                let given = lock.map_or(Step::Nothing, |lock| Step::Release { lock });
                for outcome in done(self, alternative) {
                    let spot = self.spot(graph, at, node);
                    let to = next.point(graph, &spot, outcome);
                    graph.step(end, given, to);
                }
            }
        }
    }

    /// The routines run any number of times.
    fn callback(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        routines: &[FunctionId],
        (node, before): (Node, Alternative),
        next: &mut Front,
    ) {
        let mut points = Front::default();
        let spot = self.spot(graph, at, node);
        let first = points.point(graph, &spot, before);
        graph.step(node, Step::Nothing, first);
        let mut done = 0;
        while done < points.points.len() {
            let (point, alternative) = points.points[done].clone();
            done += 1;
            for routine in routines {
                let called = self.tabulation.call_body(at, &alternative, *routine, &[], None, None);
                self.call(graph, at, (point, &alternative), *routine, called, &mut points);
            }
        }
        for (point, alternative) in points.points {
            let to = next.point(graph, &spot, alternative);
            graph.step(point, Step::Nothing, to);
        }
    }

    /// The threads whose end a join may wait for: those of which it is known behind it, and not before, that they have ended; if there are
    /// none, any whose handle it may have.
    fn joined(&self, at: &CallAt<'_>) -> Vec<ThreadId> {
        let threads = &self.tabulation.facts.threads;
        let number = |thread: facts::ThreadId| ThreadId(thread.index() as u32);
        if let Standing::Activation(activation) = at.key.standing {
            let phase = |index: usize| threads.phase(Stage::Activation(activation), at.block, index);
            let (before, behind) = (phase(at.index), phase(at.index + 1));
            let ran = threads.live(before).iter().filter(|thread| !threads.live(behind).contains(thread));
            let known = threads.joined(behind).iter().filter(|thread| !threads.joined(before).contains(thread));
            let ended: Vec<ThreadId> = ran.chain(known).copied().map(number).collect();
            if !ended.is_empty() {
                return ended;
            }
        }
        let created = threads.threads().filter(|(_, thread)| thread.kind == ThreadKind::Created);
        let may_be = |created_at: &SiteId| self.joins.may_be_meant(at.site, *created_at);
        let meant = created.filter(|(_, thread)| thread.path.last().is_none_or(may_be));
        meant.map(|(thread, _)| number(thread)).collect()
    }
}

/// The steps of an acquisition, one for each outcome: taken, then not taken.
fn attempts(lock: LockId, mode: Mode, attempt: Attempt, outcomes: usize) -> Vec<Step> {
    match (attempt, outcomes) {
        (Attempt::Blocking, _) => vec![Step::Acquire { lock, mode }; outcomes],
        // A lock that its holder tries again, and that says so.
        (Attempt::Try | Attempt::Timed, 1) => vec![Step::TryFailed { lock, mode }],
        (Attempt::Try | Attempt::Timed, _) => vec![Step::TrySucceeded { lock, mode }, Step::TryFailed { lock, mode }],
    }
}
