//! All executions of a small program, one after another: the naive twin of every cleverer search.
//!
//! # Definition   An execution is a path from the first state to one where the run has ended or no thread can go on. At each state every
//!                thread that can take a turn takes it, once for each combination of the inputs it asks for. Nothing is reduced, no
//!                state is recognised, so that nothing can be lost.
//! # Exact for    Programs without busy waiting whose inputs have few values: the bugs found are the bugs there are, under sequential
//!                consistency, with as many executions as there are interleavings of visible operations.
//! # Deviations   1. Whatever was cut off is a [`Limit`], and then the search is not complete: a bound, an execution without end,
//!                   an input with too many values.
//!                2. A deadline that may pass is a choice like any other: a timed wait is also given up while others could go on.
//!                3. An execution that an assumption of the program rejects shows nothing.
//!                4. Of weaker orderings than sequential consistency only the executions are seen that are sequentially consistent;
//!                   the vector clocks judge them by the orderings as written. [`Exhaustion::weaker_orderings`] names the sites.

mod estimate;
mod inputs;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::bugs::{self, Key};
use super::campaign::Shown;
use super::machine::end::Limit as RunLimit;
use super::machine::{End, Machine};
use super::schedule::Schedule;
use super::thread_id::ThreadId;
use crate::findings::Limit;
use crate::program::{Assumption, Operation, Ordering, Program, SiteId};
pub use estimate::estimated_executions;
use inputs::Script;
pub use pairs::{Origin, Pair, PairState, Pairs};

/// How much may be spent. What does not fit in makes the search incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub executions: u64,
    /// Of all executions together; what two of them have in common counts once.
    pub transitions: u64,
    /// Transitions of one execution: a longer one is taken to have no end.
    pub length: u64,
    pub deadline: Option<Instant>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { executions: 100_000, transitions: 2_000_000, length: 2_000, deadline: None }
    }
}

/// What all executions have shown.
#[derive(Clone, Debug, Default)]
pub struct Exhaustion {
    pub executions: u64,
    pub transitions: u64,
    /// Each bug once, in the order of their keys, with the first schedule that shows it best.
    pub shown: Vec<Shown>,
    /// The pairs of sites that ever touched the same bytes from two threads, and those that raced.
    pub pairs: Pairs,
    /// The pairs that were seen side by side: they race by definition, without any clock.
    pub met: BTreeSet<Pair>,
    /// Nothing was cut off: what is not shown does not happen in a sequentially consistent execution.
    pub is_complete: bool,
    /// What was cut off.
    pub limits: BTreeSet<Limit>,
    pub assumptions: BTreeSet<Assumption>,
    /// Atomic accesses and fences of the program that ask for less than sequential consistency: two of them may allow executions
    /// that are not among these.
    pub weaker_orderings: BTreeSet<SiteId>,
    /// The most threads of one execution.
    pub threads: u64,
}

impl Exhaustion {
    pub fn keys(&self) -> BTreeSet<Key> {
        self.shown.iter().map(|shown| shown.bug.key()).collect()
    }
}

/// An execution that has come to its end.
pub struct Execution<'a, 'p> {
    pub machine: &'a Machine<'p>,
    path: &'a [ThreadId],
    inputs: &'a [u128],
}

impl Execution<'_, '_> {
    pub fn schedule(&self) -> Schedule {
        let mut schedule = Schedule::new(self.machine.fingerprint());
        self.path.iter().for_each(|thread| schedule.push_step(*thread));
        self.inputs.iter().for_each(|input| schedule.push_input(*input));
        schedule
    }
}

/// A state with choices that are still to be tried.
struct Branch<'p> {
    machine: Machine<'p>,
    /// Threads still to be tried, the next one last.
    threads: Vec<ThreadId>,
    /// The thread that is being tried, with the inputs of its next attempt.
    repeated: Option<(ThreadId, Script)>,
    /// How much of path and inputs led here.
    length: usize,
    inputs: usize,
}

/// Runs a fresh machine in every way there is. `sink` is told every execution at its end, rejected ones too.
pub fn explore(machine: &Machine<'_>, bounds: &Bounds, sink: &mut dyn FnMut(&Execution<'_, '_>)) -> Exhaustion {
    let mut search = Search {
        bounds: *bounds,
        result: Exhaustion { weaker_orderings: weaker_orderings(machine.program), ..Exhaustion::default() },
        strongest: BTreeMap::new(),
        path: Vec::new(),
        inputs: Vec::new(),
        trail: pairs::Trail::default(),
    };
    search.run(machine.clone(), sink);
    let mut result = search.result;
    result.shown = search.strongest.into_values().collect();
    (result.pairs, result.met) = search.trail.into_pairs();
    result.is_complete =
        result.limits.is_empty() && !result.assumptions.iter().any(|assumption| assumption.kind.could_hide_a_bug());
    result
}

struct Search {
    bounds: Bounds,
    result: Exhaustion,
    strongest: BTreeMap<Key, Shown>,
    path: Vec<ThreadId>,
    inputs: Vec<u128>,
    trail: pairs::Trail,
}

impl Search {
    fn run<'p>(&mut self, first: Machine<'p>, sink: &mut dyn FnMut(&Execution<'_, 'p>)) {
        let mut stack = Vec::new();
        self.visit(first, &mut stack, sink);
        while let Some(branch) = stack.last_mut() {
            if let Some(limit) = self.used_up() {
                self.result.limits.insert(limit);
                return;
            }
            let Some((thread, mut script)) =
                branch.repeated.take().or_else(|| branch.threads.pop().map(|thread| (thread, Script::default())))
            else {
                stack.pop();
                continue;
            };
            self.path.truncate(branch.length);
            self.inputs.truncate(branch.inputs);
            self.trail.begin_turn(branch.length);
            let mut machine = branch.machine.clone();
            machine.step(thread, &mut script, &mut self.trail);
            self.trail.end_turn(&machine);
            self.path.push(thread);
            self.inputs.extend(script.values());
            self.result.transitions += 1;
            if script.is_sampled() {
                self.result.limits.insert(Limit::NotAnalysed("an input has too many values to try them all".to_owned()));
            }
            branch.repeated = script.following().map(|following| (thread, following));
            self.visit(machine, &mut stack, sink);
        }
    }

    fn used_up(&self) -> Option<Limit> {
        if self.result.executions >= self.bounds.executions || self.result.transitions >= self.bounds.transitions {
            return Some(Limit::Schedules(self.result.executions));
        }
        // The clock is looked at now and then.
        let looks = self.result.transitions.is_multiple_of(256);
        let is_late = looks && self.bounds.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Limit::Budget)
    }

    /// A state that was just reached: an end, or a branch.
    fn visit<'p>(&mut self, mut machine: Machine<'p>, stack: &mut Vec<Branch<'p>>, sink: &mut dyn FnMut(&Execution<'_, 'p>)) {
        if machine.end().is_none() {
            if let Some(stuck) = machine.stuck() {
                machine.stop(stuck);
            } else if self.path.len() as u64 >= self.bounds.length {
                machine.stop(End::OutOf(RunLimit::Transitions));
            }
        }
        if machine.end().is_some() {
            self.finish(&machine, sink);
            return;
        }
        let mut threads: Vec<ThreadId> = machine.enabled().collect();
        threads.reverse();
        let (length, inputs) = (self.path.len(), self.inputs.len());
        stack.push(Branch { machine, threads, repeated: None, length, inputs });
    }

    fn finish<'p>(&mut self, machine: &Machine<'p>, sink: &mut dyn FnMut(&Execution<'_, 'p>)) {
        self.result.executions += 1;
        self.result.threads = self.result.threads.max(machine.threads().count() as u64);
        self.result.assumptions.extend(machine.assumptions().iter().cloned());
        let execution = Execution { machine, path: &self.path, inputs: &self.inputs };
        sink(&execution);
        match machine.end().expect("an execution has ended") {
            End::Rejected => return,
            End::OutOf(_) => {
                self.result.limits.insert(Limit::Steps(self.bounds.length));
            }
            End::Fault { site, fault, .. } if bugs::of_end(&bugs::Names::new(machine)).is_none() => {
                let place = site.and_then(|site| machine.program.place_of(site));
                self.result.limits.insert(Limit::EndedEarly { what: fault.to_string(), place });
            }
            End::Diverged { .. } => panic!("a search follows no schedule"),
            End::Exited(_) | End::Killed(_) | End::Stuck(_) | End::Fault { .. } | End::AssertionFailed { .. } => {}
        }
        machine.races.iter().for_each(|race| self.trail.note_race(machine, race));
        let uncertain = || machine.assumptions().iter().filter(|assumption| assumption.kind.makes_runs_uncertain());
        let is_uncertain = uncertain().next().is_some();
        for bug in bugs::shown_by(machine) {
            let rank = (is_uncertain, bug.weakness());
            let is_known = |known: &Shown| (!known.assumptions.is_empty(), known.bug.weakness()) <= rank;
            if !self.strongest.get(&bug.key()).is_some_and(is_known) {
                self.strongest.insert(
                    bug.key(),
                    Shown { bug, schedule: execution.schedule(), assumptions: uncertain().cloned().collect() },
                );
            }
        }
    }
}

/// The sites whose ordering allows more than sequential consistency.
fn weaker_orderings(program: &Program) -> BTreeSet<SiteId> {
    let is_weaker = |ordering: &Ordering| *ordering != Ordering::SequentiallyConsistent;
    let instructions = program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
    let weaker = instructions.filter(|instruction| match &instruction.operation {
        Operation::Load { access, .. } | Operation::Store { access, .. } | Operation::ReadModifyWrite { access, .. } => {
            access.ordering.as_ref().is_some_and(is_weaker)
        }
        Operation::CompareExchange { access, failure, .. } => {
            access.ordering.as_ref().is_some_and(is_weaker) || is_weaker(failure)
        }
        Operation::Fence { ordering, .. } => is_weaker(ordering),
        _ => false,
    });
    weaker.map(|instruction| instruction.site).collect()
}
