//! Which threads come to which contexts, in which phases, and on which way.
//!
//! # Definition   A context in which the phase changes has its own; one that stands as its caller is come to from all
//!                points of its callers, as the least solution over the graph of contexts.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::order::{Orders, Point, PointSetId};
use super::origins;
use crate::facts::{Facts, PhaseId, Stage, ThreadId};
use crate::program::{BlockId, FunctionId, SiteId};
use crate::thread_pds::holding::{AccessState, Tabulation};
use crate::thread_pds::holding::{ContextId, Edge, Standing};

/// A context, and the phase it is come to in; `None` for one that has its own phases.
type Node = (ContextId, Option<PhaseId>);

/// How a node was first reached: from where, and by which call.
type Steps = FxHashMap<Node, Option<(Node, SiteId)>>;

pub struct Reach {
    arrivals: TiVec<ContextId, Arrivals>,
    steps: FxHashMap<ThreadId, Steps>,
}

/// Who comes to a context.
enum Arrivals {
    /// It has its own phases.
    Threads(Vec<ThreadId>),
    Points(PointSetId),
}

impl Reach {
    pub fn of(facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>, orders: &mut Orders<'_, '_>) -> Reach {
        let contexts = &tabulation.contexts.all;
        let mut found: TiVec<ContextId, BTreeSet<Point>> = contexts.iter().map(|_| BTreeSet::new()).collect();
        for (thread, _) in facts.threads.threads() {
            for (context, phase) in steps(facts, tabulation, thread).0 {
                found[context].insert((thread, phase.unwrap_or(PhaseId::ANY)));
            }
        }
        let arrivals = contexts
            .iter_enumerated()
            .map(|(id, context)| match context.key.standing {
                Standing::Activation(_) | Standing::Lost => {
                    Arrivals::Threads(found[id].iter().map(|(thread, _)| *thread).collect())
                }
                Standing::AsCaller => Arrivals::Points(orders.intern(found[id].iter().copied().collect())),
            })
            .collect();
        Reach { arrivals, steps: FxHashMap::default() }
    }

    /// Who may be at an instruction of a context, and when.
    pub fn at(
        &self,
        orders: &mut Orders<'_, '_>,
        facts: &Facts<'_>,
        (context, standing): (ContextId, Standing),
        at: (BlockId, usize),
    ) -> PointSetId {
        match (&self.arrivals[context], standing.stage()) {
            (Arrivals::Threads(threads), Some(stage)) => {
                let phase = facts.threads.phase(stage, at.0, at.1);
                orders.intern(threads.iter().map(|thread| (*thread, phase)).collect())
            }
            (Arrivals::Points(points), None) => *points,
            _ => unreachable!("a context has phases of its own, or none"),
        }
    }

    /// Makes the points of all accesses known, so that what is alike is so for all of them.
    pub fn announce(
        &self,
        facts: &Facts<'_>,
        tabulation: &Tabulation<'_, '_>,
        states: &[AccessState],
        orders: &mut Orders<'_, '_>,
    ) {
        for state in states {
            let standing = tabulation.contexts.all[state.context].key.standing;
            self.at(orders, facts, (state.context, standing), (state.block, state.index));
        }
    }

    /// One shortest path of calls from the thread's entry to a context, outermost first.
    pub fn path(&mut self, facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>, point: Point, context: ContextId) -> Vec<SiteId> {
        let steps = self.steps.entry(point.0).or_insert_with(|| steps(facts, tabulation, point.0).1);
        let phase = match tabulation.contexts.all[context].key.standing {
            Standing::Activation(_) | Standing::Lost => None,
            Standing::AsCaller => Some(point.1),
        };
        let mut path = Vec::new();
        let mut current = (context, phase);
        while let Some(Some((caller, site))) = steps.get(&current) {
            path.push(*site);
            current = *caller;
        }
        path.reverse();
        path
    }
}

/// All contexts of a thread in the order of their distance from its entries, each in every phase it is come to in.
pub(super) fn steps(facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>, thread: ThreadId) -> (Vec<Node>, Steps) {
    let contexts = &tabulation.contexts.all;
    let mut steps = Steps::default();
    let mut order: Vec<Node> = Vec::new();
    let mut open: VecDeque<Node> = VecDeque::new();
    for (root, context) in facts.threads.roots().iter().zip(&tabulation.roots).filter(|(root, _)| root.thread == thread) {
        let node = match root.stage {
            Stage::Activation(_) | Stage::Lost => (*context, None),
            Stage::Phase(phase) => (*context, Some(phase)),
        };
        if steps.insert(node, None).is_none() {
            open.push_back(node);
        }
    }
    let mut known: FxHashMap<FunctionId, bool> = FxHashMap::default();
    let mut may_run = |function| *known.entry(function).or_insert_with(|| origins::may_run(facts, thread, function));
    while let Some(node) = open.pop_front() {
        order.push(node);
        for Edge { site, callee, phase } in &contexts[node.0].callees {
            let next = match contexts[*callee].key.standing {
                Standing::Activation(_) | Standing::Lost => (*callee, None),
                Standing::AsCaller => (*callee, phase.or(node.1)),
            };
            if !steps.contains_key(&next) && may_run(contexts[*callee].key.function) {
                steps.insert(next, Some((node, *site)));
                open.push_back(next);
            }
        }
    }
    (order, steps)
}
