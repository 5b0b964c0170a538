//! Cycles of threads that wait for each other, and whether they last.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::state::State;
use super::{Limit, Product, StateIndex};

/// The slots that lie on a cycle of at least two, as bits; `waits_for[s]` are the slots that s waits for.
///
/// A thread waits for *all* it waits for: any cycle keeps its members where they are.
pub fn cycle(waits_for: &[u16]) -> u16 {
    if waits_for.iter().filter(|waits| **waits != 0).count() < 2 {
        return 0;
    }
    let reachable = |from: usize| {
        let mut seen = waits_for[from] & !(1 << from);
        loop {
            let more =
                (0..waits_for.len()).filter(|slot| seen & (1 << slot) != 0).fold(seen, |seen, slot| seen | waits_for[slot]);
            if more == seen {
                return seen;
            }
            seen = more;
        }
    };
    (0..waits_for.len()).filter(|slot| reachable(*slot) & (1 << slot) != 0).map(|slot| 1 << slot).sum()
}

impl Product<'_> {
    /// The first state with a cycle that nothing can undo, and its members. `Err` when a bound stopped the search for what undoes it.
    pub(super) fn lasting_cycle(&mut self) -> Result<Option<(StateIndex, u16)>, Limit> {
        if !self.has_foreign_release {
            return Ok(self.cycles.first().copied());
        }
        let mut limit = None;
        for (index, members) in self.cycles.clone() {
            match self.is_for_ever(self.states[index as usize].clone(), members) {
                Ok(true) => return Ok(Some((index, members))),
                Ok(false) => {}
                Err(hit) => limit = Some(hit),
            }
        }
        limit.map_or(Ok(None), Err)
    }

    /// Whether no member takes a step in any state that can be reached from here.
    fn is_for_ever(&mut self, state: State, members: u16) -> Result<bool, Limit> {
        let mut seen = FxHashSet::default();
        seen.insert(state.clone());
        let mut open = VecDeque::from([state]);
        let mut limit = None;
        while let Some(state) = open.pop_front() {
            for slot in 0..state.threads.len() {
                if self.stacks.top(state.threads[slot].stack).is_none() {
                    continue;
                }
                let outcome = self.successors(&state, slot);
                if outcome.is_enabled && members & (1 << slot) != 0 {
                    return Ok(false);
                }
                limit = limit.or(outcome.limit);
                for successor in outcome.states {
                    if seen.len() >= self.bounds.states {
                        return Err(Limit::States);
                    }
                    if seen.insert(successor.clone()) {
                        open.push_back(successor);
                    }
                }
            }
        }
        limit.map_or(Ok(true), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::cycle;

    #[test]
    fn cycles_are_found_and_tails_are_not() {
        assert_eq!(cycle(&[0b010, 0b001, 0b001]), 0b011, "the third waits for a member only");
        assert_eq!(cycle(&[0b010, 0b100, 0b001]), 0b111);
        assert_eq!(cycle(&[0b001, 0b001]), 0, "the first waits for itself");
        assert_eq!(cycle(&[0b011, 0b011]), 0b011, "two readers that both want to write");
        assert_eq!(cycle(&[0b010, 0b000]), 0);
        assert_eq!(cycle(&[0b010, 0b100, 0b000]), 0, "the last has ended with the lock");
    }
}
