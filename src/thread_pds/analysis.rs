//! The lock histories of all threads: at every place, computed when they are asked for.
//!
//! # Definition   post* of a thread's pushdown system with sets of minimal lock histories for weights.
//! # Theorem      Every path of the thread to a place has a history that one in the result precedes (or nothing is known: [`Doubt::TooMany`](crate::locks::history::Doubt)).
//! # Paper        Kidd, Lammich, Touili, Reps 2009, §7; Kahlon, Ivančić, Gupta 2005, §5.1 for what is left out.
//! # Deviations   1. An alternative of a step that the first pass excludes is left out, and what a step always finds as it needs it is not asked for.  2. Locks
//!                that only one instance ever touches, and never while it holds them, are left out: they exclude nobody.  3. Acquisitions that nobody needs
//!                to know of are left out (`noted`).  4. Steps that do nothing are passed over, and threads that are alike are one (`compact`).

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::compact::Compact;
use super::first_pass::{FirstPass, Origin, start};
use super::lock_table::Identity;
use super::meaning::{self, Nature};
use super::noted::Noted;
use super::population::Population;
use super::system::{Step, ThreadId, Threads};
use super::weights::Histories;
use crate::deadline::{Deadline, OutOfTime};
use crate::locks::Mode;
use crate::locks::history::{Atom, BitSet, Count, HistorySets, LockHistory, LockId, Reading, SetId, Whole};
use crate::pushdown::{Configuration, ControlId, PAutomaton, PushdownSystem, StateId, SymbolId, post_star_within};

/// What a thread reaches, with the histories of all ways there.
#[derive(Debug)]
struct Reached {
    automaton: PAutomaton<SetId>,
    completions: TiVec<StateId, SetId>,
}

/// Threads in keys are the first of those that are alike, symbols lead.
/// Systems with more rules together keep fewer histories apart.
const LARGE: usize = 40_000;

/// How many histories of one place are told apart.
fn most_histories(threads: &Threads) -> usize {
    let rules: usize = threads.threads.iter().map(|thread| thread.system.rules().len()).sum();
    if rules > LARGE { 8 } else { HistorySets::MOST }
}

pub struct Analysis<'t> {
    pub threads: &'t Threads,
    pub first_pass: FirstPass,
    pub population: Population,
    /// Locks whose histories are followed.
    pub(super) tracked: BitSet,
    noted: Noted,
    /// By thread: locks that all its steps find as they need them. Nothing has to be counted.
    plain: Vec<BitSet>,
    /// Atoms of reliable locks, and the moment.
    refuting: BitSet,
    pub(super) sets: HistorySets,
    weights: FxHashMap<(ThreadId, SymbolId, Step), SetId>,
    initials: FxHashMap<(ThreadId, Origin), SetId>,
    reached: FxHashMap<(ThreadId, Origin), Rc<Reached>>,
    wholes: FxHashMap<(ThreadId, Origin, SymbolId), Rc<[Whole]>>,
    anywhere: FxHashMap<(ThreadId, Origin), Rc<[Whole]>>,
    pub(super) after_creation: FxHashMap<(ThreadId, Origin, ThreadId, bool), Rc<BTreeMap<SymbolId, SetId>>>,
    pub(super) creations: FxHashMap<ThreadId, Rc<Compact>>,
    /// By creator, child and whether that one runs: where the creator may be then.
    pub(super) creates_after: FxHashMap<(ThreadId, ThreadId, bool), FxHashSet<SymbolId>>,
    /// All locks, and nothing but what is held: for questions about nesting.
    pub(super) holding: Option<Box<Analysis<'t>>>,
    pub(super) deadline: Deadline,
}

impl<'t> Analysis<'t> {
    pub fn of(threads: &'t Threads) -> Analysis<'t> {
        Analysis::within(threads, Deadline::NEVER).expect("nothing ends it early")
    }

    /// The same, if there is time for it. When the time is up later, what is asked then is answered with "nothing is known".
    pub fn within(threads: &'t Threads, deadline: Deadline) -> Result<Analysis<'t>, OutOfTime> {
        let mut analysis = Analysis::of_holding(threads, deadline)?;
        analysis.tracked = analysis.tracked_locks();
        let noted = Noted::entangled(threads, &analysis.first_pass, deadline)?;
        analysis.follow(noted);
        deadline.check()?;
        Ok(analysis)
    }

    /// Whether answers may be weaker than they would be with more time.
    pub fn is_out_of_time(&self) -> bool {
        self.deadline.check().is_err()
    }

    /// Nothing is left out.
    pub fn of_all_locks(threads: &'t Threads) -> Analysis<'t> {
        let mut analysis = Analysis::holding(threads);
        analysis.follow(Noted::All);
        analysis
    }

    pub(super) fn holding(threads: &'t Threads) -> Analysis<'t> {
        Analysis::of_holding(threads, Deadline::NEVER).expect("nothing ends it early")
    }

    /// All locks, and what is held; no acquisition is noted.
    fn of_holding(threads: &'t Threads, deadline: Deadline) -> Result<Analysis<'t>, OutOfTime> {
        let first_pass = FirstPass::of(threads, deadline)?;
        let mut analysis = Analysis {
            threads,
            first_pass,
            population: Population::default(),
            tracked: threads.locks.ids().map(|lock| lock.0 as usize).collect(),
            noted: Noted::Nothing,
            plain: Vec::new(),
            refuting: BitSet::default(),
            sets: HistorySets::default(),
            weights: FxHashMap::default(),
            initials: FxHashMap::default(),
            reached: FxHashMap::default(),
            wholes: FxHashMap::default(),
            anywhere: FxHashMap::default(),
            after_creation: FxHashMap::default(),
            creations: FxHashMap::default(),
            creates_after: FxHashMap::default(),
            holding: None,
            deadline,
        };
        let reliable = analysis.first_pass.reliable.iter().map(|lock| LockId(lock as u32));
        let atoms = reliable.flat_map(|lock| [Mode::Shared, Mode::Exclusive].map(|mode| Atom::new(lock, mode).index()));
        analysis.refuting = atoms.chain([analysis.moment().index()]).collect();
        analysis.follow(Noted::Nothing);
        analysis.population = Population::of(&mut analysis);
        deadline.check()?;
        Ok(analysis)
    }

    /// Begins anew, with other acquisitions noted.
    fn follow(&mut self, noted: Noted) {
        self.noted = noted;
        self.sets = HistorySets::of_at_most(most_histories(self.threads));
        self.weights.clear();
        self.initials.clear();
        self.reached.clear();
        self.wholes.clear();
        self.anywhere.clear();
        self.after_creation.clear();
        self.plain = self.threads.ids().map(|thread| self.plain_locks(thread)).collect();
    }

    /// The atom that stands for the creation of a thread in the histories of its creator.
    pub fn moment(&self) -> Atom {
        Atom::new(LockId(self.threads.locks.len() as u32), Mode::Exclusive)
    }

    pub fn is_reliable(&self, lock: LockId) -> bool {
        self.first_pass.reliable.contains(lock.0 as usize)
    }

    /// The first of the threads that do the same as this one, hold the same at the start and come into being in the same ways.
    pub fn first_alike(&self, thread: ThreadId) -> ThreadId {
        self.first_pass.compacts.first(thread)
    }

    /// Whether an instance may stand at a symbol, as far as the first pass knows.
    pub fn comes_to(&self, thread: ThreadId, origin: Origin, symbol: SymbolId) -> bool {
        self.first_pass.comes_to(self.threads, thread, origin, symbol)
    }

    pub fn may_hold(&self, thread: ThreadId, origin: Origin, symbol: SymbolId) -> BitSet {
        self.first_pass.may_hold(self.threads, thread, origin, symbol)
    }

    /// Whether no more than so many locks are held at a symbol.
    pub fn holds_at_most(&self, thread: ThreadId, origin: Origin, symbol: SymbolId, most: usize) -> bool {
        self.first_pass.holds_at_most(self.threads, thread, origin, symbol, most)
    }

    /// The minimal histories of all ways to a symbol.
    pub fn histories_at(&mut self, thread: ThreadId, origin: Origin, symbol: SymbolId) -> Rc<[Whole]> {
        let Some(leader) = self.compact(thread).leader(symbol) else { return Rc::default() };
        let thread = self.first_pass.compacts.first(thread);
        if let Some(known) = self.wholes.get(&(thread, origin, leader)) {
            return known.clone();
        }
        let set = self.set_of_symbol(thread, origin, leader);
        let wholes: Rc<[Whole]> = self.read(thread, origin, Some(leader), set).into();
        self.wholes.insert((thread, origin, leader), wholes.clone());
        wholes
    }

    pub(super) fn compact(&self, thread: ThreadId) -> &Compact {
        self.first_pass.compacts.of_thread(thread)
    }

    pub(super) fn set_of_symbol(&mut self, thread: ThreadId, origin: Origin, symbol: SymbolId) -> SetId {
        let Some(leader) = self.compact(thread).leader(symbol) else { return SetId::NONE };
        match self.reached(thread, origin) {
            Ok(reached) => self.set_at(&reached, leader),
            Err(OutOfTime) => SetId::ALL,
        }
    }

    /// The minimal histories of all ways to anywhere, the end of the thread included.
    pub fn histories_anywhere(&mut self, thread: ThreadId, origin: Origin) -> Rc<[Whole]> {
        let thread = self.first_pass.compacts.first(thread);
        if let Some(known) = self.anywhere.get(&(thread, origin)) {
            return known.clone();
        }
        let mut wholes: Vec<Whole> = Vec::new();
        let symbols: Vec<SymbolId> = self.compact(thread).symbols().collect();
        for symbol in symbols {
            wholes.extend(self.histories_at(thread, origin, symbol).iter().cloned());
        }
        let Ok(reached) = self.reached(thread, origin) else { return self.read(thread, origin, None, SetId::ALL).into() };
        for control in reached.automaton.controls() {
            if let Some(set) = reached.automaton.final_weight(reached.automaton.state_of(control)) {
                wholes.extend(self.read(thread, origin, None, *set));
            }
        }
        let wholes: Rc<[Whole]> = Whole::minimal(wholes).into();
        self.anywhere.insert((thread, origin), wholes.clone());
        wholes
    }

    /// A set of histories as others see them.
    pub(super) fn read(&self, thread: ThreadId, origin: Origin, symbol: Option<SymbolId>, set: SetId) -> Vec<Whole> {
        let start = start(self.threads, thread, origin);
        let mut unreliable = symbol.map_or_else(BitSet::default, |symbol| self.may_hold(thread, origin, symbol));
        self.refuting.iter().for_each(|atom| unreliable.remove(atom));
        let reading = Reading { start, refuting: &self.refuting, may_hold: &unreliable };
        match self.sets.histories(set) {
            Some(histories) => {
                let begins = |history: &&LockHistory| history.counts.iter().all(|(_, count)| count.least <= 0 && 0 <= count.most);
                Whole::minimal(histories.filter(begins).map(|history| Whole::of(history, reading)).collect())
            }
            None => {
                let all = || (0..2 * self.threads.locks.len()).collect();
                vec![Whole::unknown(symbol.map_or_else(all, |symbol| self.may_hold(thread, origin, symbol)))]
            }
        }
    }

    fn reached(&mut self, thread: ThreadId, origin: Origin) -> Result<Rc<Reached>, OutOfTime> {
        let thread = self.first_pass.compacts.first(thread);
        if let Some(known) = self.reached.get(&(thread, origin)) {
            return Ok(known.clone());
        }
        let system = self.weighted(thread)?;
        let initial = self.initial(thread, origin);
        let mut semiring = Histories(&mut self.sets);
        let automaton = post_star_within(&system, &initial, &mut semiring, self.deadline)?;
        let completions = automaton.completions_within(&mut semiring, self.deadline)?;
        self.sets.forget();
        let reached = Rc::new(Reached { automaton, completions });
        self.reached.insert((thread, origin), reached.clone());
        Ok(reached)
    }

    fn set_at(&mut self, reached: &Reached, symbol: SymbolId) -> SetId {
        let mut all = SetId::NONE;
        for control in reached.automaton.controls() {
            for number in reached.automaton.outgoing_with(reached.automaton.state_of(control), Some(symbol)) {
                let below = reached.completions[reached.automaton.transition(*number).to];
                let whole = self.sets.extend(below, *reached.automaton.weight(*number));
                all = self.sets.combine(all, whole);
            }
        }
        all
    }

    /// The thread's compact system with histories for weights.
    pub(super) fn weighted(&mut self, thread: ThreadId) -> Result<PushdownSystem<SetId>, OutOfTime> {
        let rules = self.compact(thread).system.rules().map(|(_, rule)| (rule.from.symbol, rule.weight));
        let rules: Vec<(SymbolId, Step)> = rules.collect();
        let mut weights: Vec<SetId> = Vec::with_capacity(rules.len());
        for (symbol, step) in rules {
            self.deadline.check_steps()?;
            weights.push(self.weight(thread, symbol, step));
        }
        Ok(self.compact(thread).system.weighted(|id, _| weights[usize::from(id)]))
    }

    /// The histories of one step.
    pub(super) fn weight(&mut self, thread: ThreadId, symbol: SymbolId, step: Step) -> SetId {
        if step == Step::Nothing {
            return SetId::EMPTY_PATH;
        }
        let Some(leader) = self.compact(thread).leader(symbol) else { return SetId::NONE };
        let thread = self.first_pass.compacts.first(thread);
        if let Some(known) = self.weights.get(&(thread, leader, step)) {
            return *known;
        }
        let mut histories = self.alternatives(thread, leader, step);
        if let Some(lock) = step.lock() {
            if self.plain[thread.index()].contains(lock.0 as usize) {
                histories.iter_mut().for_each(|history| history.counts.clear());
            }
            if !self.noted.is_noted(self.threads, &self.first_pass, thread, leader, lock) {
                histories = histories.into_iter().map(LockHistory::unnoted).collect();
            }
        }
        let set = self.sets.set_of(histories);
        self.weights.insert((thread, leader, step), set);
        set
    }

    fn alternatives(&self, thread: ThreadId, symbol: SymbolId, step: Step) -> Vec<LockHistory> {
        let Some(lock) = step.lock() else {
            return meaning::histories(step, Nature { kind: super::LockKind::Mutex, is_reliable: true });
        };
        if !self.tracked.contains(lock.0 as usize) {
            // Nobody else has it, and the thread itself not yet: a trylock does not fail.
            let never = matches!(step, Step::TryFailed { .. });
            return if never { Vec::new() } else { vec![LockHistory::default()] };
        }
        let nature = Nature { kind: self.threads.locks.lock(lock).kind, is_reliable: self.is_reliable(lock) };
        let mut histories = meaning::histories(step, nature);
        histories.retain(|history| self.first_pass.allows(self.threads, thread, symbol, lock, history));
        histories
    }

    /// Locks of which every step of a thread knows what it finds.
    fn plain_locks(&self, thread: ThreadId) -> BitSet {
        let mut plain = self.tracked.intersection(&self.first_pass.reliable);
        if self.first_pass.compacts.first(thread) != thread {
            return plain;
        }
        for (_, rule) in self.compact(thread).system.rules() {
            let Some(lock) = rule.weight.lock().filter(|lock| plain.contains(lock.0 as usize)) else { continue };
            let is_sure = match &self.alternatives(thread, rule.from.symbol, rule.weight)[..] {
                [] => true,
                [only] => self.first_pass.grants(self.threads, thread, rule.from.symbol, lock, only),
                _ => false,
            };
            if !is_sure {
                plain.remove(lock.0 as usize);
            }
        }
        plain
    }

    /// The thread's first configuration. Counts that steps distinguish are fixed from the beginning, so that no path waits to be excluded.
    pub(super) fn initial(&mut self, thread: ThreadId, origin: Origin) -> PAutomaton<SetId> {
        let thread = self.first_pass.compacts.first(thread);
        let body = self.threads.thread(thread);
        let weight = match self.initials.get(&(thread, origin)) {
            Some(known) => *known,
            None => {
                let counts = self.initial_counts(thread, origin);
                let weight = self.sets.set_of([LockHistory::needs(counts)]);
                self.initials.insert((thread, origin), weight);
                weight
            }
        };
        let Configuration { control, stack } = body.initial();
        let controls = body.system.control_count().max(usize::from(control) + 1);
        let mut automaton = PAutomaton::new(controls, crate::pushdown::Reading::BottomFirst);
        let end = automaton.add_state();
        let begin = automaton.state_of(ControlId(control.0));
        automaton.set_transition(begin, stack[0], end, weight);
        automaton.set_final(end, SetId::EMPTY_PATH);
        automaton
    }

    fn initial_counts(&self, thread: ThreadId, origin: Origin) -> BTreeMap<Atom, Count> {
        let is_plain = |lock: LockId| self.plain[thread.index()].contains(lock.0 as usize);
        let held = start(self.threads, thread, origin).iter().filter(|atom| !is_plain(atom.lock()));
        let mut counts: BTreeMap<Atom, Count> = held.map(|atom| (*atom, Count::exactly(0, 1))).collect();
        for (_, rule) in self.compact(thread).system.rules() {
            if rule.weight.lock().is_none_or(is_plain) {
                continue;
            }
            let alternatives = self.alternatives(thread, rule.from.symbol, rule.weight);
            if alternatives.len() > 1 {
                for (atom, _) in alternatives.iter().flat_map(|history| &history.counts) {
                    counts.entry(*atom).or_insert(Count::exactly(0, 0));
                }
            }
        }
        counts
    }

    /// Locks that can play a part: two instances touch them, or one may meet itself.
    fn tracked_locks(&self) -> BitSet {
        let mut touching = vec![0usize; self.threads.locks.len()];
        let mut tracked = BitSet::default();
        for thread in self.threads.ids() {
            let body = self.threads.thread(thread);
            let mut touched = BitSet::default();
            for (_, rule) in self.compact(thread).system.rules() {
                let Some(lock) = rule.weight.lock() else { continue };
                touched.insert(lock.0 as usize);
                // One of several may be any of them.
                if let Identity::OneOf(locks) = &self.threads.locks.lock(lock).identity {
                    locks.iter().for_each(|lock| touched.insert(lock.0 as usize));
                }
                let origins = [Origin::Start, Origin::Created];
                let states = origins.map(|origin| self.first_pass.states(self.threads, thread, origin, rule.from.symbol, lock));
                let takes = !matches!(rule.weight, Step::Release { .. } | Step::Sleep { .. });
                if !self.is_reliable(lock) || takes && states.iter().flatten().any(|states| states.may_be_held()) {
                    tracked.insert(lock.0 as usize);
                }
            }
            body.holds.iter().for_each(|atom| tracked.insert(atom.lock().0 as usize));
            let instances = self.population.instances(thread);
            touched.iter().for_each(|lock| touching[lock] = touching[lock].saturating_add(instances));
        }
        tracked.union_with(&(0..touching.len()).filter(|lock| touching[*lock] > 1).collect());
        tracked
    }
}
