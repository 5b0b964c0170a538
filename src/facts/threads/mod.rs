//! Threads and their order: which threads a program creates, and what of them may happen at the same time.
//!
//! # Definition   An abstract thread is a creation path (`tree`). Live: the descendants of a thread that may still do something at or after a point
//!                without being created anew; joined: threads that have ended before it (`walk`). A phase is both. Two points of different instances
//!                may overlap if the one with the deepest common ancestor's other child running allows it (`relation`).
//! # Theorem      If creations and joins alone leave two events of different threads of a run unordered, `relation` of their threads and phases is
//!                `MayOverlap`. It holds for runs without undefined behaviour.
//! # Paper        Live and joined sets are the thread ids and joined threads of Schwarz, Saan, Seidl, Erhard, Vojdani: Clustered Relational
//!                Thread-Modular Abstract Interpretation (2023), as digests; here without a value domain.
//! # Deviations   1. A join counts only when the handle certainly denotes every live instance (`walk`, `sweep`, `kept`), or every instance that there was when the joining
//!                thread was created (`inherit`).  2. What may be called at any time
//!                (handlers, exit routines, key destructors) is one thread beside all others.  3. Paths are cut (`tree`).  4. A detached thread,
//!                or one that several threads may join, is never joined.  5. A cancelled thread may end anywhere.

mod ahead;
mod argument;
mod barriers;
mod entries;
mod first;
mod flow;
mod handles;
mod inherit;
mod input;
mod joins;
mod kept;
mod null;
mod phases;
mod places;
mod reach;
mod relation;
mod relevant;
mod remote;
mod results;
mod stable;
mod state;
mod sweep;
mod text;
mod tree;
mod types;
mod walk;
mod writers;
mod written;

use std::cell::RefCell;
use std::collections::BTreeMap;

pub use ahead::Ahead;
pub use handles::JoinedThreads;
pub use types::{AbstractThread, ActivationId, OrderReason, PhaseId, Relation, Root, Stage, ThreadId, ThreadKind};

use super::accesses::{Accesses, Position};
use super::call_graph::CallGraph;
use super::once::Once;
use super::points_to::PointsTo;
use crate::models::BoundModels;
use crate::program::{BlockId, FunctionId, Operand, Program, SiteId};
use ahead::AllAhead;
use argument::Distance;
use barriers::{Barrier, Barriers};
use input::Input;
use phases::Phases;
use places::{Base, Places};
use relation::Order;
use relevant::Relevant;
use remote::CertainJoins;
use state::State;
use tree::{Creations, Tree};
use walk::{Exchange, Walk};
use writers::Writers;
use written::Cells;

/// Rounds of exchange between threads, beside three for each, after which nothing is said to be known.
const ROUNDS: usize = 20;

/// The abstract threads of a program and their order.
pub struct Threads {
    tree: Tree,
    roots: Vec<Root>,
    /// The functions that may be called at stage `Lost`, with what they create there.
    lost: BTreeMap<FunctionId, Creations>,
    /// By activation: the phases of its blocks, from which index on.
    phase_changes: Vec<BTreeMap<BlockId, Vec<(usize, PhaseId)>>>,
    phases: Phases,
    order: Order,
    argument_distances: Vec<Option<Distance>>,
    fixed_arguments: Vec<Option<(Base, i64)>>,
    ahead: AllAhead,
    joins: Vec<Vec<SiteId>>,
    instances: Vec<Option<u64>>,
    barriers: Vec<Barrier>,
}

impl Threads {
    /// `entries`: the functions of a library that code outside calls; `None` for a program that begins in `main`.
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        (points_to, calls, accesses): (&PointsTo, &CallGraph, &Accesses),
        entries: Option<&[FunctionId]>,
    ) -> Threads {
        let input = Input { program, models, points_to, calls, accesses };
        let relevant = Relevant::of(input);
        let tree = Tree::of(input, &relevant, entries);
        let once = Once::of(program, models, points_to, calls);
        let places =
            Places { input, relevant: &relevant, tree: &tree, once: &once, trips: RefCell::default(), cells: Cells::default() };
        let writers = Writers::of(&places);
        let barriers = Barriers::of(&places);
        let instances = (0..tree.threads.len()).map(|thread| barriers::instances(&places, ThreadId::from(thread))).collect();
        let certain = CertainJoins::of(input, &tree);
        let mut walk = Walk::new(places, writers, barriers, certain);
        let stages = exchange(&mut walk);
        let order = Order::of(&tree, &walk.exchange, walk.has_given_up);
        let argument_distances = argument::distances(&walk, &order);
        let fixed_arguments = argument::fixed(&walk);
        let ahead = ahead::ahead(&walk, &order, accesses);
        let Walk { records, mut phases, has_given_up, join_sites, barriers, .. } = walk;
        let all: Vec<ThreadId> = (0..tree.threads.len()).map(ThreadId::from).collect();
        phases.finish(all);
        let phase_changes = records.into_iter().map(|record| match record {
            Some(record) if !has_given_up => record.phases,
            _ => BTreeMap::new(),
        });
        let phase_changes = phase_changes.collect();
        let lost = tree.lost();
        let roots = tree.roots.iter().zip(stages).map(|(&(thread, function, activation), stage)| {
            let stage = match activation {
                Some(activation) if lost.contains_key(&function) && tree.activation(activation).is_cut => Stage::Lost,
                Some(activation) => Stage::Activation(activation),
                None if has_given_up => Stage::Phase(PhaseId::ANY),
                None => stage,
            };
            Root { thread, function, stage }
        });
        let roots = roots.collect();
        let mut join_sites = if has_given_up { BTreeMap::new() } else { join_sites.into_inner() };
        let joins = (0..tree.threads.len())
            .map(|index| join_sites.remove(&ThreadId::from(index)).unwrap_or_default().into_iter().collect());
        let joins = joins.collect();
        let barriers = barriers.all;
        Threads {
            roots,
            lost,
            phase_changes,
            phases,
            order,
            argument_distances,
            fixed_arguments,
            ahead,
            joins,
            instances,
            barriers,
            tree,
        }
    }

    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &AbstractThread)> {
        self.tree.threads.iter().enumerate().map(|(index, thread)| (ThreadId::from(index), thread))
    }

    pub fn thread(&self, thread: ThreadId) -> &AbstractThread {
        &self.tree.threads[thread.index()]
    }

    /// Every function that a thread begins with: entries, constructors, and whatever may be called at any time.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The stage of the thread's entry function.
    pub fn root(&self, thread: ThreadId) -> Stage {
        let entry = self.thread(thread).entry;
        let root = self.roots.iter().find(|root| root.thread == thread && Some(root.function) == entry);
        root.map_or(Stage::Phase(PhaseId::ANY), |root| root.stage)
    }

    /// The stage of a callee at a call instruction, or of a function that a library function calls back there.
    pub fn enter(&self, stage: Stage, block: BlockId, index: usize, callee: FunctionId) -> Stage {
        let child = match stage {
            Stage::Activation(activation) => self.tree.activation(activation).children.get(&(block, index, callee)),
            Stage::Lost if self.lost.contains_key(&callee) => return Stage::Lost,
            Stage::Lost | Stage::Phase(_) => None,
        };
        match child.map(|child| (*child, self.tree.activation(*child))) {
            Some((_, one)) if one.is_cut && !one.is_quiet => Stage::Lost,
            // One activation for many calls would know no phase, but here it is the caller's.
            Some((_, one)) if one.is_cut => Stage::Phase(self.phase(stage, block, index)),
            Some((child, _)) => Stage::Activation(child),
            None => Stage::Phase(self.phase(stage, block, index)),
        }
    }

    /// The phase before an instruction; the terminator's index is the number of instructions.
    pub fn phase(&self, stage: Stage, block: BlockId, index: usize) -> PhaseId {
        match stage {
            Stage::Phase(phase) => phase,
            Stage::Lost => PhaseId::ANY,
            Stage::Activation(activation) => match self.phase_changes[activation.index()].get(&block) {
                Some(changes) => {
                    let after = changes.partition_point(|(from, _)| *from <= index);
                    changes[after - 1].1
                }
                // Never reached, or cut.
                None => PhaseId::ANY,
            },
        }
    }

    /// The threads that an instruction of a function creates.
    pub fn created(&self, function: FunctionId, stage: Stage, block: BlockId, index: usize) -> impl Iterator<Item = ThreadId> {
        let created = match stage {
            Stage::Activation(activation) => self.tree.activation(activation).creations.get(&(block, index)),
            Stage::Lost => self.lost.get(&function).and_then(|created| created.get(&(block, index))),
            Stage::Phase(_) => None,
        };
        created.into_iter().flatten().copied()
    }

    /// The function of an activation, and whether it stands for several call paths.
    pub fn activation(&self, activation: ActivationId) -> (FunctionId, bool) {
        let activation = self.tree.activation(activation);
        (activation.function, activation.is_cut)
    }

    /// The descendants that may run in this phase, ascending; all threads for [`PhaseId::ANY`].
    pub fn live(&self, phase: PhaseId) -> &[ThreadId] {
        self.phases.live(phase)
    }

    /// The threads, none of them descendants, that have ended before this phase, ascending.
    pub fn joined(&self, phase: PhaseId) -> &[ThreadId] {
        self.phases.joined(phase)
    }

    /// Whether two instances of the thread may run at the same time.
    pub fn overlaps_itself(&self, thread: ThreadId) -> bool {
        self.relation((thread, PhaseId::ANY), (thread, PhaseId::ANY)).may_overlap()
    }

    /// Whether a point of one thread and a point of another instance, of the same or another thread, may happen at the same time.
    pub fn relation(&self, left: (ThreadId, PhaseId), right: (ThreadId, PhaseId)) -> Relation {
        self.order.relation(&self.tree, &self.phases, left, right)
    }

    /// Whether a barrier orders a point of one thread and a point of another instance, of the same or another thread.
    pub fn barrier_between(&self, left: (ThreadId, PhaseId), right: (ThreadId, PhaseId)) -> Option<OrderReason> {
        let is_known = left.1 != PhaseId::ANY && right.1 != PhaseId::ANY;
        let waiting = |barrier: &Barrier| barrier.threads.contains(&left.0) && barrier.threads.contains(&right.0);
        let common = self.barriers.iter().enumerate().filter(|(_, barrier)| is_known && waiting(barrier));
        let ordered = common.filter_map(|(number, barrier)| {
            let (one, other) = (self.phases.rounds(left.1, number), self.phases.rounds(right.1, number));
            let reason = |first, second| OrderReason::Barrier { barrier: barrier.location, first, second };
            if one.lies_before(other) {
                Some(reason(left.0, right.0))
            } else {
                other.lies_before(one).then(|| reason(right.0, left.0))
            }
        });
        ordered.into_iter().next()
    }

    /// Two instances of the thread that may overlap never get arguments closer than this, in bytes or units.
    pub fn argument_distance(&self, thread: ThreadId) -> Option<u64> {
        self.argument_distances[thread.index()].map(|distance| distance.least)
    }

    /// Whether each instance's argument points into an object that was allocated for its creation alone.
    pub fn has_argument_of_its_own(&self, thread: ThreadId) -> bool {
        self.argument_distances[thread.index()].is_some_and(|distance| distance.is_allocated)
    }

    /// The threads whose next instances' memory an instruction reaches by an operand.
    pub fn ahead(&self, position: Position, operand: Operand) -> &[Ahead] {
        self.ahead.get(&(position, operand)).map_or(&[], |found| &found[..])
    }

    pub fn has_any_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// How far the arguments of two threads are apart, if they certainly differ; `u64::MAX` when that is not known.
    pub fn argument_gap(&self, left: ThreadId, right: ThreadId) -> Option<u64> {
        let (one, other) = (self.fixed_arguments[left.index()]?, self.fixed_arguments[right.index()]?);
        match (one.0, other.0) {
            (left, right) if left == right => Some(one.1.abs_diff(other.1)).filter(|gap| *gap > 0),
            (Base::Object(_), Base::Object(_)) => Some(u64::MAX),
            _ => None,
        }
    }

    /// Whether another thread with the same entry certainly has another argument.
    pub fn has_peers(&self, thread: ThreadId) -> bool {
        let entry = self.thread(thread).entry;
        self.threads().any(|(other, known)| known.entry == entry && self.argument_gap(thread, other).is_some())
    }

    /// Where all instances of the thread are certainly joined; nothing if they never are.
    pub fn joined_at(&self, thread: ThreadId) -> &[SiteId] {
        &self.joins[thread.index()]
    }

    /// How many instances of the thread there are at most in a run, where that is known.
    pub fn instances(&self, thread: ThreadId) -> Option<u64> {
        self.instances[thread.index()]
    }

    /// How many activations and phases there are.
    pub fn sizes(&self) -> (usize, usize) {
        (self.tree.activations.len(), self.phases.len())
    }
}

/// Walks all threads until they have nothing new to tell one another; the stages of roots that are not walked.
fn exchange(walk: &mut Walk<'_>) -> Vec<Stage> {
    let tree = walk.places.tree;
    for (index, thread) in tree.threads.iter().enumerate() {
        if matches!(thread.kind, ThreadKind::Main | ThreadKind::Library) {
            walk.exchange.entry[index] = Some(State::default());
        }
    }
    loop {
        let before: Exchange = walk.exchange.clone();
        walk.round += 1;
        if walk.round > ROUNDS + 3 * tree.threads.len() {
            walk.has_given_up = true;
        }
        let stages = round(walk);
        if walk.exchange == before || walk.has_given_up {
            return stages;
        }
    }
}

fn round(walk: &mut Walk<'_>) -> Vec<Stage> {
    let tree = walk.places.tree;
    let mut stages = vec![Stage::Phase(PhaseId::ANY); tree.roots.len()];
    walk.join_sites.borrow_mut().clear();
    for (index, thread) in tree.threads.iter().enumerate() {
        let id = ThreadId::from(index);
        if matches!(thread.kind, ThreadKind::Anywhere | ThreadKind::Handler) {
            walk.create_in_cut_activations(id, &State::default());
            continue;
        }
        let Some(entry) = walk.exchange.entry[index].clone() else { continue };
        let mut state = Some(entry.clone());
        for (position, &(_, _, activation)) in tree.roots.iter().enumerate().filter(|(_, root)| root.0 == id) {
            let Some(before) = state else { break };
            stages[position] = Stage::Phase(walk.phases.of_state(&before));
            state = match activation {
                Some(activation) => walk.walk(activation, before),
                None => Some(before),
            };
        }
        if let Some(state) = state {
            walk.end(id, &state);
        }
        if walk.places.relevant.has_cancel {
            let mut anywhere = entry;
            anywhere.live.extend(tree.descendants[index].iter().map(|one| (*one, kept::Handles::default())));
            walk.end(id, &anywhere);
        }
    }
    stages
}
