//! The search for cycles: members one after another, each holding up the one before it, no two of them excluded.
//!
//! # Definition   A node is an edge of the lock order: a place, what is held there, what is waited for, and the histories with which it is held. Threads that
//!                are there from the start and do the same are one thread with more instances.
//! # Theorem      If threads block each other there is a cycle without chords, its nodes fit two by two, and all of its nodes lie in one strongly
//!                connected part of the nodes that follow and fit each other. So pairs are looked at first, then, where such a part is left,
//!                chains: no member of one surely holds up any but the one before it.
//!                A part in which all locks are taken in one order of addresses, or of keys, has no cycle (`ascending`, `keys`).
//! # Deviations   Chains are followed up to a number of steps, cycles are kept up to a number, and all of it lasts as long as there is time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::alike::Alike;
use super::ascending::Nature;
use super::candidates::Blocking;
use super::{DeadlockCycle, Held, Member, Natures, OrderEdge, Wait, are_in_order};
use crate::engines::reachability::{Answer, Participant, Standing, chosen, contextual, not_together};
use crate::locks::history::{Atom, BitSet, Doubt, Doubts, LockId, Whole, check};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

#[derive(Clone)]
struct Node {
    edge: OrderEdge,
    is_unsure: bool,
    /// Those with which it may hold what it holds.
    histories: Rc<[Whole]>,
    /// Atoms that all of them hold.
    surely: BitSet,
}

impl Node {
    fn place(&self) -> (ThreadId, Origin, SymbolId) {
        (self.edge.thread, self.edge.origin, self.edge.symbol)
    }
}

/// How many members are tried: in pairs, and in longer chains.
const MOST_PAIRS: usize = 4_000_000;
const MOST_STEPS: usize = 400_000;
/// How many cycles are kept, and how many are looked at together.
const MOST_CYCLES: usize = 1_000;
const MOST_CLOSED: usize = 20_000;

/// Places in the source, and what is waited for there.
type Sites = BTreeSet<(u32, Wait)>;

struct Search<'a, 't> {
    analysis: &'a mut Analysis<'t>,
    blocking: &'a Blocking,
    places: &'a Alike,
    natures: &'a Natures,
    nodes: Vec<Node>,
    /// By node: those that hold it up; nodes that wait for the same share one list.
    next: Vec<Rc<[usize]>>,
    fits: FxHashMap<(usize, usize), bool>,
    /// By thread: all that are like it, if they are one here.
    alike: BTreeMap<ThreadId, Vec<ThreadId>>,
    found: BTreeMap<Sites, DeadlockCycle>,
    /// Only cycles with something that is not certain count, and one of them is enough.
    seeks_unsure: bool,
    steps: usize,
    closed: usize,
}

/// The cycles of what is certain, whether all were looked at, and whether there is one with something that is not.
pub fn search(
    analysis: &mut Analysis<'_>,
    blocking: &Blocking,
    (edges, natures): (&[OrderEdge], &Natures),
    places: &Alike,
) -> (Vec<DeadlockCycle>, bool, bool) {
    let alike = alike(analysis);
    let mut nodes = Vec::new();
    for edge in edges {
        if analysis.is_out_of_time() {
            break;
        }
        let is_first = edge.origin == Origin::Created || alike.contains_key(&edge.thread);
        if !is_first {
            continue;
        }
        let all = analysis.histories_at(edge.thread, edge.origin, edge.symbol);
        let holding = |history: &&Whole| match edge.holds {
            Held::Lock { lock, mode } => history.may_hold.contains(Atom::new(lock, mode).index()),
            Held::Running { .. } => true,
        };
        let histories: Rc<[Whole]> = all.iter().filter(holding).cloned().collect();
        let surely = |history: &Whole| history.final_atoms().map(Atom::index).collect::<BitSet>();
        let Some(common) = histories.iter().map(surely).reduce(|one, two| one.intersection(&two)) else { continue };
        let is_unsure = natures.get(edge).is_some_and(|nature| nature.is_unsure);
        nodes.push(Node { edge: *edge, is_unsure, histories, surely: common });
    }
    let (sure, has_unsure) =
        (nodes.iter().filter(|node| !node.is_unsure).cloned().collect(), nodes.iter().any(|node| node.is_unsure));
    let mut search = Search::of(analysis, (blocking, places, natures), sure, alike);
    let is_complete = search.run();
    let Search { analysis, alike, found, .. } = search;
    if !has_unsure {
        return (found.into_values().collect(), is_complete, false);
    }
    // Of the others it is asked only whether there is one.
    let mut search = Search::of(analysis, (blocking, places, natures), nodes, alike);
    search.seeks_unsure = true;
    let is_decided = search.run() || search.has_unsure();
    let has_unsure = search.has_unsure();
    (found.into_values().collect(), is_complete && is_decided, has_unsure)
}

/// Threads of the start that do the same and begin with nothing, by the first of them; others alone.
fn alike(analysis: &Analysis<'_>) -> BTreeMap<ThreadId, Vec<ThreadId>> {
    let mut alike: BTreeMap<ThreadId, Vec<ThreadId>> = BTreeMap::new();
    for thread in analysis.threads.ids() {
        let is_plain = analysis.threads.thread(thread).holds.is_empty();
        let first = if is_plain { analysis.first_alike(thread) } else { thread };
        alike.entry(first).or_default().push(thread);
    }
    alike
}

/// By node: those that hold it up.
fn following(blocking: &Blocking, nodes: &[Node]) -> Vec<Rc<[usize]>> {
    let mut holders: BTreeMap<Held, Vec<usize>> = BTreeMap::new();
    nodes.iter().enumerate().for_each(|(at, node)| holders.entry(node.edge.holds).or_default().push(at));
    let waits: BTreeSet<Wait> = nodes.iter().map(|node| node.edge.waits).collect();
    let held_up = |wait: Wait| {
        let holding = blocking.held(wait).into_iter().filter_map(|held| holders.get(&held)).flatten();
        holding.copied().collect::<BTreeSet<usize>>().into_iter().collect::<Rc<[usize]>>()
    };
    let by_wait: BTreeMap<Wait, Rc<[usize]>> = waits.into_iter().map(|wait| (wait, held_up(wait))).collect();
    nodes.iter().map(|node| by_wait[&node.edge.waits].clone()).collect()
}

impl<'a, 't> Search<'a, 't> {
    fn of(
        analysis: &'a mut Analysis<'t>,
        (blocking, places, natures): (&'a Blocking, &'a Alike, &'a Natures),
        nodes: Vec<Node>,
        alike: BTreeMap<ThreadId, Vec<ThreadId>>,
    ) -> Search<'a, 't> {
        let next = following(blocking, &nodes);
        Search {
            analysis,
            blocking,
            places,
            natures,
            nodes,
            next,
            fits: FxHashMap::default(),
            alike,
            found: BTreeMap::new(),
            seeks_unsure: false,
            steps: 0,
            closed: 0,
        }
    }

    /// What was sought was found.
    fn has_unsure(&self) -> bool {
        self.seeks_unsure && !self.found.is_empty()
    }

    fn run(&mut self) -> bool {
        let mut is_complete = self.pairs();
        // From here on only what lies on cycles of nodes that fit.
        if !self.thin_out() {
            return false;
        }
        for start in 0..self.nodes.len() {
            if !self.next[start].is_empty() {
                is_complete &= self.grow(&mut vec![start]);
            }
        }
        is_complete
    }

    fn is_in_order(&self, chain: &[usize]) -> bool {
        are_in_order(self.natures, chain.iter().map(|at| &self.nodes[*at].edge))
    }

    fn is_full(&self) -> bool {
        self.found.len() > MOST_CYCLES || self.closed > MOST_CLOSED || self.has_unsure() || self.analysis.is_out_of_time()
    }

    /// Cycles of two; false when the search was cut off.
    fn pairs(&mut self) -> bool {
        let mut steps = 0;
        for one in 0..self.nodes.len() {
            for at in 0..self.next[one].len() {
                let other = self.next[one][at];
                steps += 1;
                if steps > MOST_PAIRS || self.is_full() {
                    return false;
                }
                let closes = other >= one && self.blocking.blocks(self.nodes[other].edge.waits, self.nodes[one].edge.holds);
                if closes && self.has_instances(&[one], other) && self.fit(one, other) {
                    self.close(&[one, other]);
                }
            }
        }
        true
    }

    /// Leaves of what follows only what fits and lies in one strongly connected part; false when that takes too long.
    fn thin_out(&mut self) -> bool {
        if self.next.iter().map(|following| following.len()).sum::<usize>() > MOST_PAIRS {
            return false;
        }
        for one in 0..self.nodes.len() {
            if self.is_full() {
                return false;
            }
            let following = self.next[one].clone();
            self.next[one] = following.iter().copied().filter(|other| self.fit(one, *other)).collect();
        }
        let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(self.nodes.len(), 0);
        let numbers: Vec<_> = self.nodes.iter().map(|_| graph.add_node(())).collect();
        for (one, following) in self.next.iter().enumerate() {
            following.iter().for_each(|other| {
                graph.add_edge(numbers[one], numbers[*other], ());
            });
        }
        let mut part = vec![0; self.nodes.len()];
        let mut is_in_order = Vec::new();
        for (number, members) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
            is_in_order.push(are_in_order(self.natures, members.iter().map(|node| &self.nodes[node.index()].edge)));
            members.into_iter().for_each(|node| part[node.index()] = number);
        }
        for (one, following) in self.next.iter_mut().enumerate() {
            let stays = |other: &usize| part[*other] == part[one] && !is_in_order[part[one]];
            *following = following.iter().copied().filter(stays).collect();
        }
        true
    }

    /// Adds members to a chain; false when the search was cut off. The first member is the smallest, so each cycle has one beginning.
    fn grow(&mut self, chain: &mut Vec<usize>) -> bool {
        let last = chain[chain.len() - 1];
        for at in 0..self.next[last].len() {
            let candidate = self.next[last][at];
            self.steps += 1;
            if self.steps > MOST_STEPS || self.is_full() {
                return false;
            }
            // Equal nodes are different instances.
            let is_smallest = candidate >= chain[0];
            if !is_smallest || !self.may_follow(chain, candidate) {
                continue;
            }
            let (first, waits) = (&self.nodes[chain[0]], self.nodes[candidate].edge.waits);
            let closes = self.blocking.blocks(waits, first.edge.holds);
            // With another of its locks the first one closes a chain of its own.
            if !closes && self.blocking.is_held_up(waits, &first.surely) {
                continue;
            }
            chain.push(candidate);
            let is_complete = match closes {
                // These do not wait for each other after all; with others they may.
                true if self.is_in_order(chain) => self.grow(chain),
                true if chain.len() > 2 => {
                    self.close(chain);
                    true
                }
                true => true,
                false => self.grow(chain),
            };
            chain.pop();
            if !is_complete {
                return false;
            }
        }
        true
    }

    fn has_instances(&self, chain: &[usize], candidate: usize) -> bool {
        let edge = &self.nodes[candidate].edge;
        let same = |at: &&usize| (self.nodes[**at].edge.thread, self.nodes[**at].edge.origin) == (edge.thread, edge.origin);
        let of = |thread: &ThreadId| self.analysis.population.with_origin(*thread, edge.origin);
        let there = match (edge.origin, self.alike.get(&edge.thread)) {
            (Origin::Start, Some(all)) => all.iter().map(of).fold(0, usize::saturating_add),
            _ => of(&edge.thread),
        };
        chain.iter().filter(same).count() < there
    }

    fn may_follow(&mut self, chain: &[usize], candidate: usize) -> bool {
        if !self.has_instances(chain, candidate) {
            return false;
        }
        // A chord: it holds up an earlier member, or an earlier one it; then a shorter cycle is looked at on its own.
        // Where addresses are in order that shorter one may be none, so only what is sure counts.
        let node = &self.nodes[candidate];
        let has_order = |edge: &OrderEdge| self.natures.get(edge).is_some_and(Nature::has_order);
        let is_plain = !has_order(&node.edge) && !chain.iter().any(|at| has_order(&self.nodes[*at].edge));
        let holds_up = |at: &usize| {
            let waits = self.nodes[*at].edge.waits;
            is_plain && self.blocking.blocks(waits, node.edge.holds) || self.blocking.is_held_up(waits, &node.surely)
        };
        if chain[..chain.len() - 1].iter().any(holds_up) {
            return false;
        }
        let is_held_up = |at: &usize| {
            let earlier = &self.nodes[*at];
            is_plain && self.blocking.blocks(node.edge.waits, earlier.edge.holds)
                || self.blocking.is_held_up(node.edge.waits, &earlier.surely)
        };
        if chain[1..].iter().any(is_held_up) {
            return false;
        }
        // Three or more wait for different locks; names that may mean several can come back.
        if chain.len() >= 2
            && self.is_sure(candidate)
            && chain.iter().any(|at| self.nodes[*at].edge.waits.is_for_same_lock(node.edge.waits))
        {
            return false;
        }
        if chain.len() > 2 * (self.analysis.threads.locks.len() + self.analysis.threads.threads.len()) {
            return false;
        }
        chain.iter().all(|at| self.fit(*at, candidate))
    }

    fn is_sure(&self, node: usize) -> bool {
        match self.nodes[node].edge.waits {
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
        let conflict = |atom: usize| Atom::from_index(atom).conflicts_with(&right.surely);
        let pairs = || left.histories.iter().flat_map(|one| right.histories.iter().map(move |two| (one, two)));
        let fits = !left.surely.iter().any(conflict)
            && pairs().any(|(one, two)| check(&[one, two], &[]).is_ok())
            && not_together(self.analysis, left.place(), right.place()).is_none();
        self.fits.insert(key, fits);
        fits
    }

    /// All members together.
    fn close(&mut self, chain: &[usize]) {
        let place = |edge: &OrderEdge| self.analysis.threads.thread(edge.thread).place(edge.symbol);
        let edges = chain.iter().map(|at| &self.nodes[*at].edge);
        let sites: Sites = edges.map(|edge| (place(edge), edge.waits)).collect();
        if self.found.get(&sites).is_some_and(|known| known.doubts.is_empty()) {
            return;
        }
        let is_unsure = chain.iter().any(|at| self.nodes[*at].is_unsure);
        if self.is_in_order(chain) || self.seeks_unsure && !is_unsure {
            return;
        }
        self.closed += 1;
        let threads = self.threads_of(chain);
        let participants = chain.iter().zip(&threads).map(|(at, thread)| Participant {
            thread: *thread,
            origin: self.nodes[*at].edge.origin,
            symbol: Some(self.nodes[*at].edge.symbol),
            histories: self.nodes[*at].histories.clone(),
        });
        let (answer, standing) = chosen(self.analysis, participants.collect());
        let mut doubts = match answer {
            Answer::Yes(_) => Doubts::NONE,
            Answer::Possible(doubts) => doubts,
            Answer::Refuted(_) => return,
        };
        match self.contextually(chain, &threads, doubts) {
            Some(true) => doubts = Doubts::NONE,
            Some(false) => return,
            None => {}
        }
        if chain.iter().any(|at| matches!(self.nodes[*at].edge.waits, Wait::Join { .. })) {
            doubts = doubts.with(Doubt::Join);
        }
        let members: Vec<Member> =
            chain.iter().zip(standing).map(|(at, standing)| self.member(&self.nodes[*at].edge, standing)).collect();
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
    }

    /// Whether two members with contextual locking meet, where histories leave it open. What is excluded of one place is not of others like it.
    fn contextually(&self, chain: &[usize], threads: &[ThreadId], doubts: Doubts) -> Option<bool> {
        let ([one, other], [first, second]) = (chain, threads) else { return None };
        if !contextual::is_for(self.analysis, [*first, *second], doubts) {
            return None;
        }
        let wanted = |at: usize, thread: ThreadId| {
            let edge = &self.nodes[at].edge;
            let holds = match edge.holds {
                Held::Lock { lock, .. } => Some(lock),
                Held::Running { .. } => None,
            };
            contextual::Wanted { thread, symbol: edge.symbol, holds }
        };
        let is_alone = chain.iter().all(|at| self.places.others(&self.nodes[*at].edge).is_empty());
        let meet = contextual::together(self.analysis, [wanted(*one, *first), wanted(*other, *second)]);
        meet.filter(|meet| *meet || is_alone)
    }

    /// Who the members are: where one thread stands for several, each in its turn.
    fn threads_of(&self, chain: &[usize]) -> Vec<ThreadId> {
        let mut used: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let one_of = |at: &usize| {
            let edge = &self.nodes[*at].edge;
            let alike = self.alike.get(&edge.thread).filter(|_| edge.origin == Origin::Start);
            let Some(all) = alike else { return edge.thread };
            let turn = used.entry(edge.thread).or_default();
            let instances = |thread: &&ThreadId| self.analysis.population.with_origin(**thread, Origin::Start);
            let each = all.iter().flat_map(|thread| std::iter::repeat_n(*thread, instances(&thread).min(chain.len())));
            let chosen = each.into_iter().nth(*turn).expect("there are as many instances as members");
            *turn += 1;
            chosen
        };
        chain.iter().map(one_of).collect()
    }

    fn member(&self, edge: &OrderEdge, standing: Standing) -> Member {
        let blocks_by: Option<LockId> = match edge.holds {
            Held::Lock { lock, .. } => Some(lock),
            Held::Running { .. } => None,
        };
        let others = self.places.others(edge).to_vec();
        Member { standing, symbol: edge.symbol, waits: edge.waits, blocks_by, others }
    }
}
