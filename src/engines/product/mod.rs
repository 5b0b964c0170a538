//! The global product of a thread model, state by state: the naive twin of every engine that reasons about locks.
//!
//! # Definition   A global state is, for each thread instance, its stack of program points (none: it has ended), the values it has just
//!                loaded and the last instance it spawned of each thread; for each lock who holds it, how and how often; for each
//!                variable its value. One step of one thread leads from a state to the next. All states that can be reached are
//!                listed breadth first, so the first that shows something shows it with the fewest steps.
//! # Queries
//! - `reachable: [T@N, …]`: a state where distinct instances stand at these places, all at once.
//! - `race: X`: a state where two instances stand before accesses of X, one of them a write.
//! - `deadlock: true`: a state with a cycle of at least two instances in the relation *waits for*, none of which takes another step
//!   in any state that can still be reached. A thread waits for every holder of the lock that it stands before and cannot take,
//!   and for the thread it joins. A thread that waits for itself (a mutex taken twice) or for one that has ended with the lock is
//!   stuck, but in no cycle: that is a misuse of the lock, not a deadlock.
//! # Theorem      Where nobody releases a lock that another thread holds, the members of such a cycle never move: each needs a step of
//!                the next. Otherwise the states after the cycle are searched for a step of a member.
//! # Exact        A query that is answered with a witness is true. Without one it is false when nothing was cut off ([`Answer::Exhausted`]),
//!                and undecided when a stack, the number of threads, a count of locks or the number of states hit a bound.
//! # Deviations   None: no reduction, no symmetry, no abstraction. It is slow on purpose.

mod answer;
mod code;
mod deadlock;
mod locks;
mod state;
mod successors;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::thread_model::{ProcedureIndex, ThreadIndex, ThreadModel, VariableIndex};
pub use answer::{Answer, Move, Standing, Witness};
use code::{Code, Point};
use state::{Stacks, State};

/// How far the search may go. What does not fit makes negative answers inexact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub states: usize,
    /// Frames of one thread.
    pub stack: usize,
    /// Instances, ended ones included; at most 15.
    pub threads: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { states: 200_000, stack: 16, threads: 8 }
    }
}

/// What was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    States,
    Stack,
    Threads,
    /// A lock was taken more often by one thread than is counted.
    Counts,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Limit::States => "number of states",
            Limit::Stack => "height of a stack",
            Limit::Threads => "number of threads",
            Limit::Counts => "how often a lock is held",
        }
    }
}

/// A lock used against its rules, and the step that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misuse {
    /// Taken again by its holder, who waits for ever or gets an error.
    DoubleLock(ProcedureIndex, usize),
    UnlockNotHeld(ProcedureIndex, usize),
    /// A thread has ended with a lock.
    LockLeak(ThreadIndex),
}

/// Two steps before which two threads stand at once, the smaller first, and the variable they access.
pub type RacingSteps = ((ProcedureIndex, usize), (ProcedureIndex, usize), VariableIndex);

/// Index into the states, in the order they were found.
type StateIndex = u32;

/// How a state was found.
#[derive(Clone, Copy, Debug)]
struct Origin {
    from: StateIndex,
    slot: u8,
    /// Where the thread stood before its step.
    point: Point,
}

/// All states that were found, and what they show.
pub struct Product<'m> {
    model: &'m ThreadModel,
    code: Code,
    bounds: Bounds,
    stacks: Stacks,
    states: IndexSet<State, FxBuildHasher>,
    /// One for each state; the first has none of its own.
    origins: Vec<Origin>,
    limits: BTreeSet<Limit>,
    misuses: BTreeSet<Misuse>,
    /// Somebody released what another held: cycles may come undone.
    has_foreign_release: bool,
    /// The first state that shows each race.
    races: BTreeMap<RacingSteps, StateIndex>,
    /// States with a cycle of waiting threads: their slots as bits.
    cycles: Vec<(StateIndex, u16)>,
    /// States where no thread can take a step, and not all have ended.
    stuck: Vec<StateIndex>,
}

impl<'m> Product<'m> {
    /// Lists all states of a model within the bounds.
    pub fn explore(model: &'m ThreadModel, bounds: &Bounds) -> Product<'m> {
        let mut product = Product {
            model,
            code: Code::of(model),
            bounds: Bounds { threads: bounds.threads.min(state::MOST_SLOTS), ..*bounds },
            stacks: Stacks::default(),
            states: IndexSet::default(),
            origins: Vec::new(),
            limits: BTreeSet::new(),
            misuses: BTreeSet::new(),
            has_foreign_release: false,
            races: BTreeMap::new(),
            cycles: Vec::new(),
            stuck: Vec::new(),
        };
        product.run();
        product
    }

    fn run(&mut self) {
        let Some(first) = self.first_state() else {
            self.limits.insert(Limit::Threads);
            return;
        };
        self.states.insert(first);
        self.origins.push(Origin { from: 0, slot: 0, point: Point::NONE });
        let mut next = 0;
        while next < self.states.len() {
            let state = self.states[next].clone();
            let index = next as StateIndex;
            self.note_races(&state, index);
            self.visit(&state, index);
            next += 1;
        }
    }

    /// Takes every step that is possible in a state.
    fn visit(&mut self, state: &State, index: StateIndex) {
        let mut waits = [0u16; state::MOST_SLOTS];
        let (mut can_move, mut is_over) = (false, true);
        for (slot, thread) in state.threads.iter().enumerate() {
            let Some(point) = self.stacks.top(thread.stack) else { continue };
            is_over = false;
            let outcome = self.successors(state, slot);
            waits[slot] = outcome.waits_for;
            can_move |= outcome.is_enabled;
            self.limits.extend(outcome.limit);
            self.misuses.extend(outcome.misuse);
            self.has_foreign_release |= outcome.is_foreign_release;
            for successor in outcome.states {
                if self.states.len() >= self.bounds.states && !self.states.contains(&successor) {
                    self.limits.insert(Limit::States);
                } else if self.states.insert(successor) {
                    self.origins.push(Origin { from: index, slot: slot as u8, point });
                }
            }
        }
        let members = deadlock::cycle(&waits[..state.threads.len()]);
        if members != 0 {
            self.cycles.push((index, members));
        }
        if !can_move && !is_over {
            self.stuck.push(index);
        }
    }

    /// Two threads before accesses of one variable, one of them a write, race.
    fn note_races(&mut self, state: &State, index: StateIndex) {
        let tops = state.threads.iter().map(|thread| self.stacks.top(thread.stack));
        let accesses: Vec<(Point, VariableIndex, bool)> = tops
            .flatten()
            .filter_map(|point| self.code.access(point).map(|(variable, is_write)| (point, variable, is_write)))
            .collect();
        for (at, (one, variable, is_write)) in accesses.iter().enumerate() {
            for (other, same, also_writes) in &accesses[at + 1..] {
                if variable == same && (*is_write || *also_writes) && !self.model.variables[*variable].is_atomic {
                    let (one, other) = (self.code.step(*one), self.code.step(*other));
                    self.races.entry((one.min(other), one.max(other), *variable)).or_insert(index);
                }
            }
        }
    }
}
