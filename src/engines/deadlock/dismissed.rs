//! Cycles of the lock order that are no deadlocks, and why not: for each edge a shortest cycle through it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::candidates::Blocking;
use super::{
    DeadlockCycle, Dismissal, DismissedCycle, Held, Natures, OrderEdge, Wait, are_all_creators, are_in_order,
    are_in_order_of_keys,
};
use crate::engines::reachability::{Answer, Participant, Refutation, choose, not_together};
use crate::locks::history::{Atom, Incompatible, Whole};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

/// How many are explained.
const MOST_DISMISSED: usize = 200;
/// Through how many edges a cycle is looked for.
const MOST_EDGES: usize = 2_000;

pub fn dismissed(
    analysis: &mut Analysis<'_>,
    blocking: &Blocking,
    (edges, natures): (&[OrderEdge], &Natures),
    cycles: &[DeadlockCycle],
) -> Vec<DismissedCycle> {
    let reported: BTreeSet<(ThreadId, SymbolId)> =
        cycles.iter().flat_map(|cycle| cycle.members.iter().map(|member| (member.standing.thread, member.symbol))).collect();
    let graph = Order::of(blocking, edges);
    let mut seen = BTreeSet::new();
    let mut dismissed = Vec::new();
    let unreported = edges.iter().filter(|edge| !reported.contains(&(edge.thread, edge.symbol)));
    for edge in unreported.take(MOST_EDGES) {
        if dismissed.len() >= MOST_DISMISSED || analysis.is_out_of_time() {
            break;
        }
        let Some(cycle) = graph.shortest_through(edge) else { continue };
        let key: BTreeSet<OrderEdge> = cycle.iter().copied().collect();
        if !seen.insert(key) {
            continue;
        }
        if let Some(reason) = reason(analysis, natures, &cycle) {
            dismissed.push(DismissedCycle { edges: cycle, reason });
        }
    }
    dismissed
}

/// The lock order by what is held.
struct Order<'e> {
    by_hold: BTreeMap<Held, Vec<&'e OrderEdge>>,
    blocking: BTreeMap<Wait, Vec<Held>>,
}

impl<'e> Order<'e> {
    fn of(blocking: &Blocking, edges: &'e [OrderEdge]) -> Order<'e> {
        let mut by_hold: BTreeMap<Held, Vec<&OrderEdge>> = BTreeMap::new();
        edges.iter().for_each(|edge| by_hold.entry(edge.holds).or_default().push(edge));
        let waits: BTreeSet<Wait> = edges.iter().map(|edge| edge.waits).collect();
        let held = |wait: Wait| blocking.held(wait).into_iter().filter(|held| by_hold.contains_key(held)).collect();
        let blocking = waits.into_iter().map(|wait| (wait, held(wait))).collect();
        Order { by_hold, blocking }
    }

    /// e, and then edges whose holders hold up the one before, the last held up by e's.
    fn shortest_through(&self, edge: &OrderEdge) -> Option<Vec<OrderEdge>> {
        let mut from: BTreeMap<Held, &OrderEdge> = BTreeMap::new();
        let mut open: VecDeque<&OrderEdge> = VecDeque::from([edge]);
        while let Some(at) = open.pop_front() {
            for held in &self.blocking[&at.waits] {
                if *held == edge.holds {
                    let mut cycle = vec![*at];
                    while *cycle.last().expect("it has a member") != *edge {
                        let before = from[&cycle[cycle.len() - 1].holds];
                        cycle.push(*before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if from.contains_key(held) {
                    continue;
                }
                from.insert(*held, at);
                // One edge for each thing that is waited for will do.
                let mut waited = BTreeSet::new();
                open.extend(self.by_hold[held].iter().copied().filter(|edge| waited.insert(edge.waits)));
            }
        }
        None
    }
}

fn reason(analysis: &mut Analysis<'_>, natures: &Natures, cycle: &[OrderEdge]) -> Option<Dismissal> {
    for (at, edge) in cycle.iter().enumerate() {
        let same = |other: &&OrderEdge| (other.thread, other.origin) == (edge.thread, edge.origin);
        if cycle[..=at].iter().filter(same).count() > analysis.population.with_origin(edge.thread, edge.origin) {
            return Some(Dismissal::SingleInstance(edge.thread));
        }
    }
    if let [edge] = cycle {
        // With another instance of itself.
        if analysis.population.with_origin(edge.thread, edge.origin) < 2 {
            return Some(Dismissal::SingleInstance(edge.thread));
        }
    }
    let members: Vec<OrderEdge> = if cycle.len() == 1 { vec![cycle[0]; 2] } else { cycle.to_vec() };
    let mut participants = Vec::new();
    for edge in &members {
        let histories = analysis.histories_at(edge.thread, edge.origin, edge.symbol);
        let holding: Vec<Whole> = histories.iter().filter(|history| may_hold(history, edge)).cloned().collect();
        if holding.is_empty() {
            return Some(Dismissal::NotHeld(edge.thread));
        }
        participants.push(Participant {
            thread: edge.thread,
            origin: edge.origin,
            symbol: Some(edge.symbol),
            histories: holding.into(),
        });
    }
    for (at, one) in members.iter().enumerate() {
        for other in &members[at + 1..] {
            let place = |edge: &OrderEdge| (edge.thread, edge.origin, edge.symbol);
            if let Some(reason) = not_together(analysis, place(one), place(other)) {
                return Some(Dismissal::NotTogether(reason));
            }
        }
    }
    if are_all_creators(natures, members.iter()) {
        return Some(Dismissal::Children);
    }
    if are_in_order_of_keys(natures, members.iter()) {
        return Some(Dismissal::InOrderOfKeys);
    }
    if are_in_order(natures, members.iter()) {
        return Some(Dismissal::InOrder);
    }
    match choose(analysis, participants) {
        Answer::Refuted(Refutation::Locks { reason: Incompatible::CommonLock { lock, .. }, .. }) => {
            Some(Dismissal::GateLock(lock))
        }
        Answer::Refuted(Refutation::Locks { reason, .. }) => Some(Dismissal::Histories(reason)),
        Answer::Refuted(_) | Answer::Yes(_) | Answer::Possible(_) => None,
    }
}

fn may_hold(history: &Whole, edge: &OrderEdge) -> bool {
    match edge.holds {
        Held::Lock { lock, mode } => history.may_hold.contains(Atom::new(lock, mode).index()),
        Held::Running { .. } => edge.origin == Origin::Created,
    }
}
