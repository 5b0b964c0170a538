//! Which threads come to which contexts, and on which way.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::context::ContextId;
use super::tabulate::Tabulation;
use crate::facts::{Facts, ThreadId};
use crate::program::SiteId;

/// How a context was first reached: from where, and by which call.
type Steps = FxHashMap<ContextId, Option<(ContextId, SiteId)>>;

#[derive(Default)]
pub struct Reach {
    /// By context, ascending.
    pub threads: TiVec<ContextId, Vec<ThreadId>>,
    steps: FxHashMap<ThreadId, Steps>,
}

impl Reach {
    pub fn of(facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>) -> Reach {
        let mut reach =
            Reach { threads: TiVec::from(vec![Vec::new(); tabulation.contexts.all.len()]), steps: FxHashMap::default() };
        for (thread, _) in facts.threads.threads() {
            for context in steps(facts, tabulation, thread).0 {
                reach.threads[context].push(thread);
            }
        }
        reach
    }

    /// One shortest path of calls from the thread's entry to a context, outermost first.
    pub fn path(
        &mut self,
        facts: &Facts<'_>,
        tabulation: &Tabulation<'_, '_>,
        thread: ThreadId,
        context: ContextId,
    ) -> Vec<SiteId> {
        let steps = self.steps.entry(thread).or_insert_with(|| steps(facts, tabulation, thread).1);
        let mut path = Vec::new();
        let mut current = context;
        while let Some(Some((caller, site))) = steps.get(&current) {
            path.push(*site);
            current = *caller;
        }
        path.reverse();
        path
    }
}

/// All contexts of a thread in the order of their distance from its entries.
fn steps(facts: &Facts<'_>, tabulation: &Tabulation<'_, '_>, thread: ThreadId) -> (Vec<ContextId>, Steps) {
    let roots = facts.threads.roots().iter().zip(&tabulation.roots).filter(|(root, _)| root.thread == thread);
    let mut steps = Steps::default();
    let mut order: Vec<ContextId> = Vec::new();
    let mut open: VecDeque<ContextId> = VecDeque::new();
    for (_, context) in roots {
        if steps.insert(*context, None).is_none() {
            open.push_back(*context);
        }
    }
    while let Some(context) = open.pop_front() {
        order.push(context);
        for (site, callee) in &tabulation.contexts.all[context].callees {
            if !steps.contains_key(callee) {
                steps.insert(*callee, Some((context, *site)));
                open.push_back(*callee);
            }
        }
    }
    (order, steps)
}
