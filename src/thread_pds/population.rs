//! Which instances of threads there can be, who creates them, and which of them never exist at once.
//!
//! # Definition   An instance of a thread is there at the start or is created. A thread's only parent is the one thread that creates it, if that is one
//!                instance; its line is its parent, its parent's parent, and so on.
//! # Theorem      Two created instances whose lines part at one instance exist at once only if that one can create towards both without having
//!                joined the first when it creates the second.

use super::analysis::Analysis;
use super::first_pass::Origin;
use super::system::{Step, ThreadId};
use crate::pushdown::SymbolId;

/// "Any number" of instances.
pub const MANY: usize = usize::MAX;

#[derive(Clone, Debug, Default)]
pub struct Population {
    /// By thread: instances at the start, and those created.
    at_start: Vec<usize>,
    created: Vec<usize>,
    /// By thread: the threads that may create it.
    creators: Vec<Vec<ThreadId>>,
}

/// Where a thread creates others.
fn spawns(analysis: &Analysis<'_>, creator: ThreadId) -> Vec<(SymbolId, ThreadId)> {
    let rules = analysis.compact(creator).system.rules();
    let spawn = |step: Step| match step {
        Step::Spawn { thread } => Some(thread),
        _ => None,
    };
    rules.filter_map(|(_, rule)| spawn(rule.weight).map(|thread| (rule.from.symbol, thread))).collect()
}

impl Population {
    pub(super) fn of(analysis: &mut Analysis<'_>) -> Population {
        let threads = analysis.threads;
        let at_start: Vec<usize> = threads.threads.iter().map(|thread| thread.instances).collect();
        let mut population =
            Population { at_start, created: vec![0; threads.threads.len()], creators: vec![Vec::new(); threads.threads.len()] };
        let spawns: Vec<Vec<(SymbolId, ThreadId)>> = threads.ids().map(|creator| spawns(analysis, creator)).collect();
        let mut repeats = vec![vec![None; threads.threads.len()]; threads.threads.len()];
        // More instances of a creator only make more instances: ends when nothing grows.
        loop {
            let mut created: Vec<usize> = threads.threads.iter().map(|thread| thread.created).collect();
            for creator in threads.ids() {
                if population.instances(creator) == 0 {
                    continue;
                }
                for (symbol, thread) in &spawns[creator.index()] {
                    let thread = *thread;
                    let comes = |origin| population.exists(creator, origin) && analysis.comes_to(creator, origin, *symbol);
                    if !comes(Origin::Start) && !comes(Origin::Created) {
                        continue;
                    }
                    if !population.creators[thread.index()].contains(&creator) {
                        population.creators[thread.index()].push(creator);
                    }
                    let again = *repeats[creator.index()][thread.index()]
                        .get_or_insert_with(|| analysis.creates_after(creator, thread, thread, false));
                    let each = if again { MANY } else { population.instances(creator) };
                    created[thread.index()] = created[thread.index()].saturating_add(each);
                }
            }
            // A thread that creates its own ancestor grows without end.
            let grown: Vec<usize> = created
                .iter()
                .zip(&population.created)
                .map(|(now, before)| if *now > 64 || *now > *before && *before > 16 { MANY } else { *now })
                .collect();
            if grown == population.created {
                return population;
            }
            population.created = grown;
        }
    }

    /// How many instances there can be in one run, at the start and created.
    pub fn instances(&self, thread: ThreadId) -> usize {
        self.at_start[thread.index()].saturating_add(self.created[thread.index()])
    }

    pub fn with_origin(&self, thread: ThreadId, origin: Origin) -> usize {
        match origin {
            Origin::Start => self.at_start[thread.index()],
            Origin::Created => self.created[thread.index()],
        }
    }

    pub fn exists(&self, thread: ThreadId, origin: Origin) -> bool {
        self.with_origin(thread, origin) > 0
    }

    /// The one instance that creates every created instance of a thread, if that is known.
    pub fn only_parent(&self, thread: ThreadId) -> Option<ThreadId> {
        match self.creators[thread.index()][..] {
            [creator] if self.instances(creator) == 1 => Some(creator),
            _ => None,
        }
    }

    /// The line of a created instance: itself, its only parent, that one's, …, as far as it is known.
    pub fn line(&self, thread: ThreadId) -> Vec<ThreadId> {
        let mut line = vec![thread];
        let mut at = thread;
        while let Some(parent) = self.only_parent(at).filter(|parent| !line.contains(parent)) {
            line.push(parent);
            if self.at_start[parent.index()] > 0 {
                break;
            }
            at = parent;
        }
        line
    }
}
