//! The search for cycles: members one after another, each holding up the one before it, no two of them excluded.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::candidates::blocks;
use super::{DeadlockCycle, Held, Member, OrderEdge, Wait};
use crate::engines::reachability::{Answer, Participant, Standing, choose, not_together};
use crate::locks::history::{Atom, Doubt, Doubts, LockId, Whole, check};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

/// A thread that waits, with one of its histories.
struct Node {
    thread: ThreadId,
    origin: Origin,
    symbol: SymbolId,
    waits: Wait,
    history: Whole,
}

impl Node {
    fn place(&self) -> (ThreadId, Origin, SymbolId) {
        (self.thread, self.origin, self.symbol)
    }

    fn holds(&self) -> impl Iterator<Item = Held> + '_ {
        let locks =
            self.history.may_hold.iter().map(Atom::from_index).map(|atom| Held::Lock { lock: atom.lock(), mode: atom.mode() });
        let running = (self.origin == Origin::Created).then_some(Held::Running { thread: self.thread });
        locks.chain(running)
    }
}

/// How many members are tried.
const MOST_STEPS: usize = 400_000;
/// How many cycles are kept.
const MOST_CYCLES: usize = 1_000;

type Sites = BTreeSet<(ThreadId, SymbolId, Wait)>;

struct Search<'a, 't> {
    analysis: &'a mut Analysis<'t>,
    nodes: Vec<Node>,
    /// By node: those that hold it up.
    next: Vec<Vec<usize>>,
    fits: FxHashMap<(usize, usize), bool>,
    found: BTreeMap<Sites, DeadlockCycle>,
    steps: usize,
}

/// The cycles, and whether all were looked at.
pub fn search(analysis: &mut Analysis<'_>, edges: &[OrderEdge]) -> (Vec<DeadlockCycle>, bool) {
    let places: BTreeSet<(ThreadId, Origin, SymbolId, Wait)> =
        edges.iter().map(|edge| (edge.thread, edge.origin, edge.symbol, edge.waits)).collect();
    let mut nodes = Vec::new();
    for (thread, origin, symbol, waits) in places {
        for history in analysis.histories_at(thread, origin, symbol).iter() {
            let node = Node { thread, origin, symbol, waits, history: history.clone() };
            let is_of_use = edges.iter().any(|edge| {
                (edge.thread, edge.origin, edge.symbol) == node.place() && node.holds().any(|held| held == edge.holds)
            });
            if is_of_use {
                nodes.push(node);
            }
        }
    }
    let mut holders: BTreeMap<Held, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        node.holds().for_each(|held| holders.entry(held).or_default().push(at));
    }
    let mut next = Vec::new();
    for node in &nodes {
        let blocking = holders.iter().filter(|(held, _)| blocks(analysis, node.waits, **held));
        let following: BTreeSet<usize> = blocking.flat_map(|(_, holders)| holders.iter().copied()).collect();
        next.push(following.into_iter().collect());
    }
    let mut search = Search { analysis, nodes, next, fits: FxHashMap::default(), found: BTreeMap::new(), steps: 0 };
    let mut is_complete = true;
    for start in 0..search.nodes.len() {
        is_complete &= search.grow(&mut vec![start]);
    }
    let Search { found, .. } = search;
    (found.into_values().collect(), is_complete)
}

impl Search<'_, '_> {
    /// Adds members to a chain; false when the search was cut off. The first member is the smallest, so each cycle has one beginning.
    fn grow(&mut self, chain: &mut Vec<usize>) -> bool {
        let last = chain[chain.len() - 1];
        for candidate in self.next[last].clone() {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.found.len() > MOST_CYCLES {
                return false;
            }
            // Equal nodes are different instances.
            let is_smallest = candidate >= chain[0];
            if !is_smallest || !self.may_follow(chain, candidate) {
                continue;
            }
            chain.push(candidate);
            let closes = self.next[candidate].contains(&chain[0]);
            let is_complete = if closes { self.close(chain) } else { self.grow(chain) };
            chain.pop();
            if !is_complete {
                return false;
            }
        }
        true
    }

    fn may_follow(&mut self, chain: &[usize], candidate: usize) -> bool {
        let (thread, origin) = (self.nodes[candidate].thread, self.nodes[candidate].origin);
        let same = chain.iter().filter(|at| (self.nodes[**at].thread, self.nodes[**at].origin) == (thread, origin)).count();
        if same >= self.analysis.population.with_origin(thread, origin) {
            return false;
        }
        // A chord: it holds up an earlier member, or an earlier one it; then a shorter cycle is looked at on its own.
        let before_last = &chain[..chain.len() - 1];
        if before_last.iter().any(|at| self.next[*at].contains(&candidate)) {
            return false;
        }
        if chain[1..].iter().any(|at| self.next[candidate].contains(at)) {
            return false;
        }
        // Three or more wait for different locks; names that may mean several can come back.
        if chain.len() >= 2
            && self.is_sure(candidate)
            && chain.iter().any(|at| self.nodes[*at].waits_for_same(&self.nodes[candidate]))
        {
            return false;
        }
        if chain.len() > 2 * (self.analysis.threads.locks.len() + self.analysis.threads.threads.len()) {
            return false;
        }
        chain.iter().all(|at| self.fit(*at, candidate))
    }

    fn is_sure(&self, node: usize) -> bool {
        match self.nodes[node].waits {
            Wait::Lock { lock, .. } => self.analysis.is_reliable(lock),
            Wait::Join { .. } => false,
        }
    }

    /// Whether two members can stand there at once.
    fn fit(&mut self, one: usize, other: usize) -> bool {
        let key = (one.min(other), one.max(other));
        if let Some(known) = self.fits.get(&key) {
            return *known;
        }
        let (left, right) = (&self.nodes[key.0], &self.nodes[key.1]);
        let fits = check(&[&left.history, &right.history], &[]).is_ok()
            && not_together(self.analysis, left.place(), right.place()).is_none();
        self.fits.insert(key, fits);
        fits
    }

    /// All members together; false when that could not be decided in time, and no cycle stands for it.
    fn close(&mut self, chain: &[usize]) -> bool {
        let sites: Sites =
            chain.iter().map(|at| (self.nodes[*at].thread, self.nodes[*at].symbol, self.nodes[*at].waits)).collect();
        if self.found.get(&sites).is_some_and(|known| known.doubts.is_empty()) {
            return true;
        }
        let participants = chain.iter().map(|at| &self.nodes[*at]).map(|node| Participant {
            thread: node.thread,
            origin: node.origin,
            symbol: Some(node.symbol),
            histories: vec![node.history.clone()].into(),
        });
        let mut doubts = match choose(self.analysis, participants.collect()) {
            Answer::Yes(_) => Doubts::NONE,
            Answer::Possible(doubts) => doubts,
            Answer::Refuted(_) => return true,
        };
        if chain.iter().any(|at| matches!(self.nodes[*at].waits, Wait::Join { .. })) {
            doubts = doubts.with(Doubt::Join);
        }
        let members = (0..chain.len()).map(|at| {
            let before = &self.nodes[chain[(at + chain.len() - 1) % chain.len()]];
            self.member(&self.nodes[chain[at]], before)
        });
        let members: Vec<Member> = members.collect();
        // Somebody may take from a member what it holds.
        let is_sure = |member: &Member| {
            let locks = member.blocks_by.into_iter().chain(match member.waits {
                Wait::Lock { lock, .. } => Some(lock),
                Wait::Join { .. } => None,
            });
            locks.into_iter().all(|lock| self.analysis.is_reliable(lock))
        };
        if !members.iter().all(is_sure) {
            doubts = doubts.with(Doubt::Lock);
        }
        let cycle = DeadlockCycle { members, doubts };
        match self.found.get_mut(&sites) {
            Some(known) if known.doubts.is_subset(doubts) => {}
            Some(known) => *known = cycle,
            None => drop(self.found.insert(sites, cycle)),
        }
        true
    }

    fn member(&self, node: &Node, before: &Node) -> Member {
        let blocking = node.holds().find(|held| blocks(self.analysis, before.waits, *held));
        let blocks_by: Option<LockId> = match blocking {
            Some(Held::Lock { lock, .. }) => Some(lock),
            Some(Held::Running { .. }) | None => None,
        };
        let standing =
            Standing { thread: node.thread, origin: node.origin, symbol: Some(node.symbol), history: node.history.clone() };
        Member { standing, symbol: node.symbol, waits: node.waits, blocks_by }
    }
}

impl Node {
    fn waits_for_same(&self, other: &Node) -> bool {
        match (self.waits, other.waits) {
            (Wait::Lock { lock, .. }, Wait::Lock { lock: same, .. }) => lock == same,
            (Wait::Lock { .. }, Wait::Join { .. }) | (Wait::Join { .. }, Wait::Lock { .. } | Wait::Join { .. }) => false,
        }
    }
}
