//! A path of one thread to a place, with a given history: what it did, what it holds there and where it took that.
//!
//! # Definition   Breadth-first search of the thread's configurations, each with the history of the way to it. A shortest path is found.
//! # Deviations   Configurations are looked at up to a number; beyond it there is no path to show.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::analysis::Analysis;
use super::first_pass::{Origin, start};
use super::system::ThreadId;
use crate::locks::history::{Atom, SetId, Whole};
use crate::pushdown::{Configuration, RuleId, SymbolId};

/// A lock that is held, and the symbol at which it was taken; `None` when it was held at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub atom: Atom,
    pub at: Option<SymbolId>,
}

/// One thread's own steps to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub rules: Vec<RuleId>,
    /// The symbols it stood at, the last one included.
    pub symbols: Vec<SymbolId>,
    /// In the order they were taken.
    pub holds: Vec<Taken>,
}

const MOST_CONFIGURATIONS: usize = 60_000;

impl Analysis<'_> {
    /// A shortest path to a symbol whose history is at least as good as the given one.
    pub fn path_to(&mut self, thread: ThreadId, origin: Origin, symbol: SymbolId, history: &Whole) -> Option<Path> {
        let threads = self.threads;
        let system = &threads.thread(thread).system;
        let first = *self.initial(thread, origin).transitions().next()?.2;
        let start_configuration = threads.thread(thread).initial();
        let mut seen: FxHashSet<(Configuration, SetId)> = FxHashSet::default();
        let mut nodes: Vec<(Configuration, SetId, Option<(usize, RuleId)>)> = vec![(start_configuration.clone(), first, None)];
        seen.insert((start_configuration, first));
        let mut open = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let (configuration, set, _) = nodes[at].clone();
            let Some(head) = configuration.head() else { continue };
            if head.symbol == symbol && self.read(thread, origin, Some(symbol), set).iter().any(|whole| whole.precedes(history)) {
                return Some(self.path(thread, origin, &nodes, at));
            }
            if nodes.len() > MOST_CONFIGURATIONS {
                return None;
            }
            for rule in system.rules_at(head) {
                let next = system.apply(*rule, &configuration)?;
                // One path has one history, up to the alternatives of its start.
                let step = self.weight(thread, head.symbol, system.rule(*rule).weight);
                let after = self.sets.extend(set, step);
                if after != SetId::NONE && next.stack.len() < 200 && seen.insert((next.clone(), after)) {
                    open.push_back(nodes.len());
                    nodes.push((next, after, Some((at, *rule))));
                }
            }
        }
        None
    }

    fn path(
        &self,
        thread: ThreadId,
        origin: Origin,
        nodes: &[(Configuration, SetId, Option<(usize, RuleId)>)],
        end: usize,
    ) -> Path {
        let mut way = vec![end];
        let mut rules = Vec::new();
        while let Some((before, rule)) = nodes[way[way.len() - 1]].2 {
            rules.push(rule);
            way.push(before);
        }
        way.reverse();
        rules.reverse();
        let mut holds: Vec<Taken> = Vec::new();
        let mut symbols = Vec::new();
        for (step, node) in way.iter().enumerate() {
            let (configuration, set, _) = &nodes[*node];
            let before = step.checked_sub(1).and_then(|step| symbols.get(step).copied());
            symbols.extend(configuration.head().map(|head| head.symbol));
            let held: Vec<Atom> = self.held(thread, origin, *set);
            holds.retain(|taken| held.contains(&taken.atom));
            for atom in held {
                if !holds.iter().any(|taken| taken.atom == atom) {
                    holds.push(Taken { atom, at: before });
                }
            }
        }
        Path { rules, symbols, holds }
    }

    fn held(&self, thread: ThreadId, origin: Origin, set: SetId) -> Vec<Atom> {
        let Some(history) = self.sets.histories(set).and_then(|mut all| all.next().cloned()) else { return Vec::new() };
        let begins = start(self.threads, thread, origin).iter().copied();
        let kept = begins.filter(|atom| !history.released.iter().any(|first| first.atom == *atom));
        kept.chain(history.acquired.iter().map(|last| last.atom)).collect()
    }
}
