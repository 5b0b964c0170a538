//! Tabulation: what is certainly held at each point of each context.
//!
//! # Definition   The least solution of: a root is entered with nothing held; a call enters its callee with the caller's lockset in the callee's names;
//!                a return hands the lockset back in the caller's names, together with what the caller alone could name; each block's state
//!                contains what its predecessors' ends hold, edge by edge.
//! # Theorem      For every run, thread and instruction the thread executes, some context of the instruction's function has an alternative there all
//!                of whose things the thread holds. Paths that return to another caller than the one they came from are not looked at.
//! # Papers       Reps, Horwitz, Sagiv 1995 (tabulation); Das, Lerner, Seigle 2002 (property simulation).
//! # Deviations   1. A callee is summarised once for each entry that matters, never inlined; recursion is a cycle of summaries.
//!                2. What a lock is called in the caller alone is kept aside, and dropped if the callee may have released such a lock.
//!                3. After a second return of `setjmp` what `jumps` says is held.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::constants::{Deciding, Numbers};
use super::context::{ContextId, ContextKey, Contexts, Standing};
use super::effects::Renamed;
use super::identity::Identity;
use super::jumps::Jumps;
use super::passage::{PassageKey, Passages};
use super::permits::Permits;
use super::skeleton::{Event, EventKind, Skeletons};
use super::state::{Alternative, Released, State};
use super::usefulness::Usefulness;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{Definitions, Facts, Knowledge, Valuation};
use crate::locks::{Family, LocksetId, Locksets, Place, Sites, Working};
use crate::program::{BlockId, FunctionId, Program, RegisterId, SiteId, TerminatorKind};

/// The tables of one tabulation.
pub struct Tabulation<'a, 'p> {
    pub program: &'a Program,
    pub facts: &'a Facts<'p>,
    pub skeletons: &'a Skeletons,
    pub kinds: &'a super::kinds::Kinds,
    pub identity: Identity<'a, 'p>,
    pub locksets: Locksets,
    pub contexts: Contexts,
    /// The contexts that threads begin in, in the order of `Threads::roots`.
    pub roots: Vec<ContextId>,
    /// Locks whose first acquisition by a thread is remembered.
    pub tracked: BTreeSet<Place>,
    /// Blocks to look at again; the last one first, by context, then in the order of execution.
    open: Vec<ContextId>,
    definitions: FxHashMap<FunctionId, Rc<Definitions<'a>>>,
    usefulness: FxHashMap<FunctionId, Rc<Usefulness>>,
    /// What phis do to the names in a lockset, edge by edge.
    pub(super) renamed: FxHashMap<(FunctionId, BlockId, BlockId, LocksetId), Renamed>,
    /// What is known behind an edge before which nothing was known.
    pub(super) from_nothing: FxHashMap<(FunctionId, BlockId, BlockId), Behind>,
    /// By function: the parameters through which it, or what it calls, finds locks.
    pub lock_parameters: TiVec<FunctionId, Vec<usize>>,
    pub(super) jumps: Jumps,
    /// The blocks with locks that are taken exclusively, unless their thread may hold them shared.
    pub(super) upgrades: BTreeSet<(ContextId, BlockId)>,
    /// How many families of lost locks they know of.
    known_lost: usize,
    /// The semaphores that are followed.
    pub permits: Permits,
    /// By function: the parameters in which numbers decide.
    pub(super) deciding: Deciding,
    /// By function: the numbers that calls have given to those.
    pub(super) tuples: FxHashMap<FunctionId, BTreeSet<Numbers>>,
    /// By function: loads that always give the same number, and where they are.
    fixed: FxHashMap<FunctionId, Rc<Vec<(BlockId, RegisterId, u64)>>>,
    pub(super) passages: FxHashMap<PassageKey, Box<Passages>>,
    dirty: BTreeMap<ContextId, BTreeSet<(u32, BlockId)>>,
    deadline: Deadline,
    /// Blocks that were looked at.
    visits: u64,
}

/// What is known behind an edge.
#[derive(Clone)]
pub(super) enum Behind {
    Nothing,
    Something(Rc<Valuation>),
    /// It cannot be taken.
    Nobody,
}

impl Behind {
    pub fn of(valuation: Option<Valuation>) -> Behind {
        match valuation {
            None => Behind::Nobody,
            Some(valuation) if valuation.is_empty() => Behind::Nothing,
            Some(valuation) => Behind::Something(Rc::new(valuation)),
        }
    }

    pub fn valuation(&self) -> Option<Valuation> {
        match self {
            Behind::Nothing => Some(Valuation::default()),
            Behind::Something(valuation) => Some(Valuation::clone(valuation)),
            Behind::Nobody => None,
        }
    }
}

/// What is learnt when all states are known.
#[derive(Default)]
pub struct Collected {
    pub accesses: Vec<AccessState>,
    /// Families of which a lock may be released by a thread that does not hold it.
    pub tainted: BTreeSet<Family>,
    /// Locks that are held where a thread is created.
    pub held_at_creation: BTreeSet<Place>,
    pub creations: Vec<CreationState>,
    pub releases: Vec<ReleaseState>,
    pub posts: Vec<PostState>,
}

/// A creation of threads in one alternative of one context.
#[derive(Clone, Copy, Debug)]
pub struct CreationState {
    pub context: ContextId,
    pub block: BlockId,
    pub index: usize,
    pub lockset: LocksetId,
}

/// Where a lock may be released, for good or for a while.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseState {
    pub context: ContextId,
    pub block: BlockId,
    pub index: usize,
    /// `None`: any lock.
    pub lock: Option<(Option<Place>, Family)>,
}

/// Where a semaphore is posted, in one alternative of one context.
#[derive(Clone, Copy, Debug)]
pub struct PostState {
    pub context: ContextId,
    pub block: BlockId,
    pub index: usize,
    pub semaphore: (Option<Place>, Family),
    /// The thread has waited for it before, and not posted since.
    pub has_permit: bool,
}

/// An access in one alternative of one context.
#[derive(Clone, Debug)]
pub struct AccessState {
    pub context: ContextId,
    pub block: BlockId,
    pub index: usize,
    pub site: SiteId,
    pub lockset: crate::locks::LocksetId,
    pub sites: Sites,
}

impl<'a, 'p> Tabulation<'a, 'p> {
    pub fn new(
        program: &'a Program,
        facts: &'a Facts<'p>,
        skeletons: &'a Skeletons,
        kinds: &'a super::kinds::Kinds,
        tracked: BTreeSet<Place>,
        identity: Identity<'a, 'p>,
        deadline: Deadline,
    ) -> Tabulation<'a, 'p> {
        let mut identity = identity;
        let permits = super::permits::find(skeletons, &mut identity);
        let lock_parameters = super::parameters::find(program, facts, skeletons);
        let deciding = super::constants::find(program, facts, skeletons, &lock_parameters);
        Tabulation {
            program,
            facts,
            skeletons,
            kinds,
            identity,
            locksets: Locksets::default(),
            contexts: Contexts::new(super::skeleton::number_of_calls(skeletons)),
            roots: Vec::new(),
            tracked,
            open: Vec::new(),
            definitions: FxHashMap::default(),
            usefulness: FxHashMap::default(),
            renamed: FxHashMap::default(),
            from_nothing: FxHashMap::default(),
            jumps: Jumps::of(skeletons),
            upgrades: BTreeSet::new(),
            known_lost: 0,
            permits,
            lock_parameters,
            deciding,
            tuples: FxHashMap::default(),
            fixed: FxHashMap::default(),
            passages: FxHashMap::default(),
            dirty: BTreeMap::new(),
            deadline,
            visits: 0,
        }
    }

    /// All that is kept of a tabulation that is made again.
    pub(super) fn into_identity(self) -> Identity<'a, 'p> {
        self.identity
    }

    pub(super) fn definitions(&mut self, function: FunctionId) -> Rc<Definitions<'a>> {
        let program = self.program;
        self.definitions.entry(function).or_insert_with(|| Rc::new(Definitions::of(program, function))).clone()
    }

    pub(super) fn usefulness(&mut self, function: FunctionId) -> Rc<Usefulness> {
        let (program, skeletons, deciding) = (self.program, self.skeletons, &self.deciding);
        let find = || {
            let passed = super::constants::passed(&skeletons[function], deciding);
            Rc::new(super::usefulness::find(&program.functions[function], &skeletons[function].homes, &passed))
        };
        self.usefulness.entry(function).or_insert_with(find).clone()
    }

    pub fn solve(&mut self) -> Result<(), OutOfTime> {
        let facts = self.facts;
        for root in facts.threads.roots() {
            let mut entry = Working::default();
            entry.items.extend(self.unsent().into_iter().map(|unsent| (unsent, None)));
            if facts.threads.argument_distance(root.thread).is_some() || facts.threads.has_peers(root.thread) {
                entry.items.extend(self.own_argument(root.function).map(|own| (own, None)));
            }
            let bindings = self.given_to_thread(root.thread, root.function);
            let id = self.enter(root.function, root.stage.into(), entry, (bindings, Vec::new()));
            self.roots.push(id);
            self.run()?;
        }
        Ok(())
    }

    /// Callees before callers: a context that is new goes on top, so that its exits are there when its caller goes on.
    fn run(&mut self) -> Result<(), OutOfTime> {
        loop {
            self.run_open()?;
            let lost = self.locksets.lost().len();
            if lost == self.known_lost {
                return Ok(());
            }
            self.known_lost = lost;
            for (context, block) in self.upgrades.clone() {
                self.plan(context, block);
            }
        }
    }

    fn run_open(&mut self) -> Result<(), OutOfTime> {
        while let Some(context) = self.open.last().copied() {
            self.visits += 1;
            if self.visits.is_multiple_of(64) {
                self.deadline.check()?;
            }
            match self.dirty.get_mut(&context).and_then(BTreeSet::pop_first) {
                Some((_, block)) => self.block(context, block),
                None => {
                    self.open.pop();
                    self.dirty.remove(&context);
                }
            }
        }
        Ok(())
    }

    /// The context for an entry; its work is planned when it is new.
    pub(super) fn enter(
        &mut self,
        function: FunctionId,
        standing: Standing,
        entry: Working,
        (bindings, numbers): (super::context::Bindings, Numbers),
    ) -> ContextId {
        let (lockset, sites) = entry.seal(&mut self.locksets);
        let is_changing = self.skeletons[function].is_changing;
        let blocks = if is_changing { self.program.functions[function].blocks.len() } else { 0 };
        let key = ContextKey { function, standing, lockset, bindings, numbers };
        let (id, is_new) = self.contexts.enter(&mut self.locksets, key, sites, blocks);
        if is_new {
            if is_changing {
                let valuation = self.at_entry(&self.contexts.all[id].key);
                let context = &mut self.contexts.all[id];
                let alternative = Alternative {
                    lockset: context.key.lockset,
                    sites: context.entry_sites.clone(),
                    valuation,
                    released: Released::default(),
                };
                context.blocks[self.program.functions[function].entry()] = State::one(alternative);
                self.plan(id, self.program.functions[function].entry());
            } else {
                // All that can happen in it is that others are called.
                let skeletons = self.skeletons;
                let blocks = skeletons[function].blocks.iter_enumerated();
                blocks.filter(|(_, events)| events.iter().any(Event::is_call)).for_each(|(block, _)| self.plan(id, block));
            }
        }
        id
    }

    pub(super) fn plan(&mut self, context: ContextId, block: BlockId) {
        let rank = self.skeletons[self.contexts.all[context].key.function].ranks[block];
        // A block that no path leads to is never executed.
        if rank == u32::MAX {
            return;
        }
        let open = &mut self.open;
        let blocks = self.dirty.entry(context).or_insert_with(|| {
            open.push(context);
            BTreeSet::new()
        });
        blocks.insert((rank, block));
    }

    /// Looks at all states once more, and notes what they say. Nothing is tabulated afterwards.
    pub fn collect(&mut self) -> Collected {
        // In a debug build every call is looked at once more, for the theorem of `passage`.
        let collected = self.collect_in(|event| event.tells() || cfg!(debug_assertions) && event.is_call());
        self.passages = FxHashMap::default();
        collected
    }

    /// Locks that are held where a thread is created.
    pub(super) fn held_at_creation(&mut self) -> BTreeSet<Place> {
        self.collect_in(Event::creates).held_at_creation
    }

    /// What the states say at such events.
    fn collect_in(&mut self, is_meant: impl Fn(&Event) -> bool) -> Collected {
        let mut collected = Collected::default();
        let skeletons = self.skeletons;
        let last = |events: &Vec<Event>| events.iter().rposition(&is_meant).map_or(0, |last| last + 1);
        let mut ends: FxHashMap<FunctionId, Vec<(BlockId, usize)>> = FxHashMap::default();
        for id in 0..self.contexts.all.len() {
            let id = ContextId::from(id);
            let function = self.contexts.all[id].key.function;
            let skeleton = &skeletons[function];
            let ends = ends.entry(function).or_insert_with(|| {
                let blocks = skeleton.blocks.iter_enumerated().filter(|(block, _)| skeleton.ranks[*block] != u32::MAX);
                blocks.map(|(block, events)| (block, last(events))).filter(|(_, end)| *end > 0).collect()
            });
            for (block, end) in ends {
                self.events(id, *block, &skeleton.blocks[*block][..*end], Some(&mut collected));
            }
        }
        collected
    }

    /// A block begins: what is defined in it gets a new value, which for some loads is known.
    pub(in crate::thread_pds) fn begin(&mut self, function: FunctionId, block: BlockId, alternative: &mut Alternative) {
        let homes = &self.skeletons[function].homes;
        if !alternative.valuation.is_empty() {
            alternative.valuation.retain(|register| homes[register] != Some(block));
        }
        let identity = &self.identity;
        let fixed = self.fixed.entry(function).or_insert_with(|| Rc::new(identity.fixed_loads(function)));
        for (_, register, number) in fixed.iter().filter(|(home, ..)| *home == block) {
            alternative.valuation.state(*register, Knowledge::Equal(*number));
        }
    }

    /// One block: its events, then its edges.
    fn block(&mut self, context: ContextId, block: BlockId) {
        let function = self.contexts.all[context].key.function;
        let skeletons = self.skeletons;
        let state = self.events(context, block, &skeletons[function].blocks[block], None);
        if skeletons[function].is_changing {
            self.leave(context, function, block, state);
        }
    }

    /// What the first events of a block make of the state at its beginning.
    fn events(&mut self, context: ContextId, block: BlockId, events: &[Event], mut collected: Option<&mut Collected>) -> State {
        let skeletons = self.skeletons;
        let key = self.contexts.all[context].key.clone();
        let skeleton = &skeletons[key.function];
        let mut state = if skeleton.is_changing {
            let mut state = self.contexts.all[context].blocks[block].clone();
            for alternative in &mut state.alternatives {
                self.begin(key.function, block, alternative);
            }
            state
        } else {
            let sites = self.contexts.all[context].entry_sites.clone();
            State::one(Alternative {
                lockset: key.lockset,
                sites,
                valuation: Valuation::default(),
                released: Released::default(),
            })
        };
        for event in events {
            if state.alternatives.is_empty() {
                return state;
            }
            match &event.kind {
                EventKind::Define(register) => self.define(&mut state, *register),
                EventKind::Access => {
                    if let Some(collected) = collected.as_deref_mut() {
                        collected.accesses.extend(state.alternatives.iter().map(|alternative| AccessState {
                            context,
                            block,
                            index: event.index,
                            site: event.site,
                            lockset: alternative.lockset,
                            sites: alternative.sites.clone(),
                        }));
                    }
                }
                EventKind::Call(call) => {
                    let at = super::calls::CallAt { context, key: &key, block, index: event.index, site: event.site, call };
                    state = self.call(&at, state, collected.as_deref_mut());
                }
            }
        }
        state
    }

    /// The edges to the next blocks, and the return.
    fn leave(&mut self, context: ContextId, function: FunctionId, block: BlockId, state: State) {
        if let TerminatorKind::Return(value) = &self.program.functions[function].blocks[block].terminator.kind {
            return self.add_exits(context, function, *value, state);
        }
        let skeletons = self.skeletons;
        for next in &skeletons[function].successors[block] {
            for alternative in &state.alternatives {
                if let Some(moved) = self.follow(function, block, *next, alternative)
                    && self.contexts.all[context].blocks[*next].add(&mut self.locksets, moved)
                {
                    self.plan(context, *next);
                }
            }
        }
    }
}
