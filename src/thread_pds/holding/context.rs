//! Contexts: the ways in which a function is entered that matter, and what is known of each.
//!
//! # Definition   A context is a function with what is held at its entry in the function's own names, the locks that its parameters are known to
//!                point to, the numbers in its parameters that decide (`constants`), and, if it creates or joins threads, its place in their order. Threads are no part of it: threads that enter a
//!                function alike share one context, and which threads come to a context, and when, is found afterwards, over the graph
//!                of contexts.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};
use typed_index_collections::TiVec;

use super::constants::Numbers;
use super::state::{Released, State};
use crate::facts::{ActivationId, Knowledge, Location, PhaseId, Stage};
use crate::locks::{LocksetId, Locksets, Sites};
use crate::program::{BlockId, FunctionId, SiteId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

impl From<usize> for ContextId {
    fn from(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 contexts"))
    }
}

impl From<ContextId> for usize {
    fn from(id: ContextId) -> usize {
        id.0 as usize
    }
}

/// The exact locations that parameters point to, by the parameter's position.
pub type Bindings = Vec<(usize, Location)>;

/// Where in the order of threads a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// A function in which the phase changes.
    Activation(ActivationId),
    /// One of the calls that are not told apart, of a function in which the phase changes: any phase, in whichever thread.
    Lost,
    /// Wherever its caller stands: one phase from beginning to end.
    AsCaller,
}

impl Standing {
    /// The stage of a context that has phases of its own.
    pub fn stage(self) -> Option<Stage> {
        match self {
            Standing::Activation(activation) => Some(Stage::Activation(activation)),
            Standing::Lost => Some(Stage::Lost),
            Standing::AsCaller => None,
        }
    }
}

impl From<Stage> for Standing {
    fn from(stage: Stage) -> Standing {
        match stage {
            Stage::Activation(activation) => Standing::Activation(activation),
            Stage::Lost => Standing::Lost,
            Stage::Phase(_) => Standing::AsCaller,
        }
    }
}

/// A call that was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub site: SiteId,
    pub callee: ContextId,
    /// The caller's phase; `None` when the caller stands as its own caller.
    pub phase: Option<PhaseId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContextKey {
    pub function: FunctionId,
    pub standing: Standing,
    pub lockset: LocksetId,
    pub bindings: Bindings,
    pub numbers: Numbers,
}

impl ContextKey {
    /// Whether something is known of the parameters beyond what holds for all callers.
    pub fn is_told_apart(&self) -> bool {
        !self.bindings.is_empty() || !self.numbers.is_empty()
    }
}

/// What is known of the value that a call returns.
pub type ReturnFact = Option<Knowledge>;

/// One way in which a function returns.
#[derive(Clone, Debug)]
pub struct Exit {
    pub sites: Sites,
    pub released: Released,
    pub fact: ReturnFact,
}

impl Exit {
    /// Stands for the other way, too, which holds the same. Whether that changed anything.
    fn absorb(&mut self, other: &Exit) -> bool {
        let either = match (&self.fact, &other.fact) {
            (Some(mine), Some(theirs)) => mine.or(theirs),
            _ => None,
        };
        let is_lower = either != self.fact;
        self.fact = either;
        self.released.absorb(&other.released) | is_lower
    }
}

/// Ways that hold the same are one: a caller would join them at once.
#[derive(Debug, Default)]
pub struct Summary {
    pub exits: IndexMap<LocksetId, Exit, FxBuildHasher>,
    /// There were too many ways: they are one.
    is_merged: bool,
}

/// More ways to return are not told apart.
const MOST_EXITS: usize = 12;

impl Summary {
    /// Adds a way to return. Whether anything is new.
    pub fn add(&mut self, locksets: &mut Locksets, lockset: LocksetId, exit: Exit) -> bool {
        if self.is_merged {
            return self.merge(locksets, lockset, exit);
        }
        match self.exits.entry(lockset) {
            Entry::Occupied(mut known) => return known.get_mut().absorb(&exit),
            Entry::Vacant(free) => free.insert(exit),
        };
        if self.exits.len() > MOST_EXITS {
            self.is_merged = true;
            for (lockset, exit) in std::mem::take(&mut self.exits) {
                self.merge(locksets, lockset, exit);
            }
        }
        true
    }

    fn merge(&mut self, locksets: &mut Locksets, lockset: LocksetId, exit: Exit) -> bool {
        let Some((known, mut one)) = self.exits.pop() else {
            self.exits.insert(lockset, exit);
            return true;
        };
        let (met, sites) = locksets.meet_with_sites((known, &one.sites), lockset);
        one.sites = sites;
        let is_new = one.absorb(&exit);
        self.exits.insert(met, one);
        is_new || met != known
    }
}

pub struct Context {
    pub key: ContextKey,
    pub entry_sites: Sites,
    /// By block: what is known at its start. Empty for a function that changes no lockset.
    pub blocks: TiVec<BlockId, State>,
    pub summary: Summary,
    /// The calls that wait for this context's exits.
    pub waiting: BTreeSet<(ContextId, BlockId)>,
    /// The contexts that its calls enter.
    pub callees: BTreeSet<Edge>,
    /// By block: when which of the contexts that it waits for have changed their summaries.
    changes: FxHashMap<BlockId, Vec<(u64, ContextId)>>,
}

impl Context {
    /// The contexts that a block waits for and that have changed their summaries since then; some of them several times.
    pub fn changed_since(&self, block: BlockId, time: u64) -> &[(u64, ContextId)] {
        let changes = self.changes.get(&block).map_or(&[][..], Vec::as_slice);
        &changes[changes.partition_point(|(at, _)| *at <= time)..]
    }
}

/// All contexts, each once.
pub struct Contexts {
    pub all: TiVec<ContextId, Context>,
    numbers: FxHashMap<ContextKey, ContextId>,
    /// How many calls were followed, and from how many on contexts are merged.
    calls: usize,
    most_calls: usize,
    /// How many changes of summaries there were.
    clock: u64,
    /// How many contexts a function has.
    crowds: FxHashMap<FunctionId, Crowd>,
    /// The entry that stands for all others when there were too many.
    overflows: FxHashMap<(FunctionId, Standing), LocksetId>,
}

#[derive(Default)]
struct Crowd {
    count: usize,
    with_terms: usize,
}

/// More contexts of one function are told apart by their standing only; fewer when their locks are known by terms only.
const MOST_CONTEXTS: usize = 256;
const MOST_CONTEXTS_WITH_TERMS: usize = 48;
/// Of all functions together: from then on a function has one entry for each standing.
const MOST_CONTEXTS_IN_ALL: usize = 32_000;
/// So it is when so many calls were followed, less those that the program has in all and that have to be followed in any case: calls through tables of functions make many of
/// few contexts.
const MOST_CALLS_IN_ALL: usize = 60_000;
const LEAST_CALLS_IN_ALL: usize = 10_000;

impl Contexts {
    /// For a program that has so many calls, with each of their targets.
    pub fn new(calls: usize) -> Contexts {
        Contexts {
            all: TiVec::new(),
            numbers: FxHashMap::default(),
            calls: 0,
            most_calls: MOST_CALLS_IN_ALL.saturating_sub(calls).max(LEAST_CALLS_IN_ALL),
            clock: 0,
            crowds: FxHashMap::default(),
            overflows: FxHashMap::default(),
        }
    }

    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// The summary of a context has changed: the blocks that wait for it.
    pub fn change(&mut self, context: ContextId) -> Vec<(ContextId, BlockId)> {
        self.clock += 1;
        let waiting: Vec<(ContextId, BlockId)> = self.all[context].waiting.iter().copied().collect();
        for (caller, block) in &waiting {
            self.all[*caller].changes.entry(*block).or_default().push((self.clock, context));
        }
        waiting
    }

    /// A call from one context enters another.
    pub fn call(&mut self, caller: ContextId, edge: Edge) {
        self.calls += usize::from(self.all[caller].callees.insert(edge));
    }

    /// The context for a key, or for a weaker one when there are too many. `true` when it is new.
    pub fn enter(&mut self, locksets: &mut Locksets, mut key: ContextKey, sites: Sites, blocks: usize) -> (ContextId, bool) {
        if let Some(known) = self.numbers.get(&key) {
            return (*known, false);
        }
        let crowd = self.crowds.entry(key.function).or_default();
        let has_terms = locksets.get(key.lockset).iter().any(|held| !held.names.terms.is_empty());
        let mut sites = sites;
        let is_crowded = crowd.count >= MOST_CONTEXTS || has_terms && crowd.with_terms >= MOST_CONTEXTS_WITH_TERMS;
        if is_crowded || self.all.len() >= MOST_CONTEXTS_IN_ALL || self.calls >= self.most_calls {
            // From here on one entry stands for all: it falls until nothing is left, so that this ends.
            let lowest = self.overflows.entry((key.function, key.standing)).or_insert(key.lockset);
            (key.lockset, sites) = locksets.meet_with_sites((key.lockset, &sites), *lowest);
            *lowest = key.lockset;
            key.bindings.clear();
            key.numbers.clear();
            if let Some(known) = self.numbers.get(&key) {
                return (*known, false);
            }
        }
        crowd.count += 1;
        crowd.with_terms += usize::from(has_terms);
        let id = ContextId::from(self.all.len());
        self.numbers.insert(key.clone(), id);
        self.all.push(Context {
            key,
            entry_sites: sites,
            blocks: TiVec::from_iter((0..blocks).map(|_| State::default())),
            summary: Summary::default(),
            waiting: BTreeSet::new(),
            callees: BTreeSet::new(),
            changes: FxHashMap::default(),
        });
        (id, true)
    }
}
