//! Are a thread's locks nested, and if not, where does it break?
//!
//! # Definition   Nested: a released lock is always the last that was taken and is still held. Contextual: every procedure gives back what it took, in
//!                any order, and nothing else.
//! # Theorem      Lock histories decide reachability for nested paths (Kahlon, Ivančić, Gupta 2005); for contextual ones it stays decidable (Chadha,
//!                Madhusudan, Viswanathan 2012), for others not.

use super::analysis::Analysis;
use super::system::{Step, ThreadId};
use super::weights::Histories;
use crate::locks::history::{Doubt, LockHistory};
use crate::pushdown::{PAutomaton, Replacement, SymbolId, post_star};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nesting {
    Nested,
    /// Not nested; the releases that come out of order.
    Contextual(Vec<SymbolId>),
    NotNested(Vec<SymbolId>),
}

impl Analysis<'_> {
    /// How a thread uses its locks, those that play no part with others included.
    pub fn nesting(&mut self, thread: ThreadId) -> Nesting {
        let mut holding = self.holding.take().unwrap_or_else(|| Box::new(Analysis::holding(self.threads)));
        let breaks = holding.releases_out_of_order(thread);
        let nesting = match breaks.is_empty() {
            true => Nesting::Nested,
            false if holding.gives_back_in_frame(thread) => Nesting::Contextual(breaks),
            false => Nesting::NotNested(breaks),
        };
        self.holding = Some(holding);
        nesting
    }

    fn releases_out_of_order(&mut self, thread: ThreadId) -> Vec<SymbolId> {
        let threads = self.threads;
        let mut breaks = Vec::new();
        for (_, rule) in threads.thread(thread).system.rules() {
            if !matches!(rule.weight, Step::Release { .. } | Step::Sleep { .. }) {
                continue;
            }
            let step = self.weight(thread, rule.from.symbol, rule.weight);
            let is_break = self.first_pass.origins(threads, thread).any(|origin| {
                let before = self.set_of_symbol(thread, origin, rule.from.symbol);
                // A path that broke before breaks no more here.
                let Some(histories) = self.sets.histories(before) else { return true };
                let nested: Vec<_> = histories.filter(|history| !history.doubts.contains(Doubt::NotNested)).cloned().collect();
                // One by one: among all of them a path that breaks may be preceded by one that does not.
                nested.into_iter().any(|history| {
                    let one = self.sets.set_of([history]);
                    let after = self.sets.extend(one, step);
                    let breaks = |history: &LockHistory| history.doubts.contains(Doubt::NotNested);
                    self.sets.histories(after).is_none_or(|mut all| all.any(breaks))
                })
            });
            if is_break && !breaks.contains(&rule.from.symbol) {
                breaks.push(rule.from.symbol);
            }
        }
        breaks.sort_unstable();
        breaks
    }

    /// Whether each procedure that returns has given back exactly what it took.
    fn gives_back_in_frame(&mut self, thread: ThreadId) -> bool {
        let body = self.threads.thread(thread);
        let Ok(system) = self.weighted(thread) else { return false };
        let initial = {
            let semiring = Histories(&mut self.sets);
            PAutomaton::of([&body.initial()], &semiring)
        };
        let automaton = post_star(&system, &initial, &mut Histories(&mut self.sets));
        self.compact(thread).system.rules().filter(|(_, rule)| rule.replacement == Replacement::Pop).all(|(_, rule)| {
            let from = automaton.state_of(rule.from.control);
            automaton.outgoing_with(from, Some(rule.from.symbol)).iter().all(|number| {
                let histories = self.sets.histories(*automaton.weight(*number));
                histories.is_some_and(|mut all| all.all(|one| one.acquired.is_empty() && one.released.is_empty()))
            })
        })
    }
}
