//! Callees first: an order in which a transition is rarely taken before all that it gains is there.
//!
//! # Definition   A procedure is what steps lead to from a symbol that a call puts on the stack, or that stacks start with. Of two transitions that have gained
//!                weight the one of the procedure further down in the calls is taken first; in a procedure, in the order of its steps as far as that has no cycles; last,
//!                what its returns have gained.
//! # Theorem      None is needed: see `saturation`. But what a callee makes of its entry is known when its callers go on, and what comes together behind a branch
//!                goes on as one: where weights gain in small parts, taking transitions in turn takes each of them many times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::automaton::Transition;
use super::index::{StateId, SymbolId, TransitionId};
use super::saturation::Worklist;
use super::system::{PushdownSystem, Replacement};

#[derive(Debug)]
pub struct CalleesFirst {
    ranks: Ranks,
    /// By state, where it stands between a callee and its callers: the rank behind the callee.
    behind: TiVec<StateId, u32>,
    open: BinaryHeap<Reverse<(u32, TransitionId)>>,
}

/// By symbol: its rank, and the one behind all of its procedure.
#[derive(Debug)]
struct Ranks {
    own: TiVec<SymbolId, u32>,
    behind: TiVec<SymbolId, u32>,
}

/// The rank of what belongs to no procedure.
const LAST: u32 = u32::MAX;

impl CalleesFirst {
    /// For a system and stacks that start with these symbols.
    pub fn of<W>(system: &PushdownSystem<W>, starts: impl Iterator<Item = SymbolId>) -> CalleesFirst {
        CalleesFirst { ranks: Ranks::of(system, starts), behind: TiVec::new(), open: BinaryHeap::new() }
    }
}

impl<W> Worklist<W> for CalleesFirst {
    fn put(&mut self, number: TransitionId, transition: Transition, _: &W) {
        let rank = match transition.label {
            Some(symbol) => self.ranks.own.get(symbol),
            None => self.behind.get(transition.to),
        };
        self.open.push(Reverse((rank.copied().unwrap_or(LAST), number)));
    }

    fn take(&mut self) -> Option<TransitionId> {
        self.open.pop().map(|Reverse((_, number))| number)
    }

    fn enter(&mut self, callee: SymbolId, mid: StateId) {
        self.behind.resize(usize::from(mid) + 1, LAST);
        self.behind[mid] = self.ranks.behind[callee];
    }
}

/// What leads on from a symbol: inside its procedure, and into others.
#[derive(Clone, Default)]
struct Onward {
    inside: SmallVec<[SymbolId; 2]>,
    callees: SmallVec<[SymbolId; 1]>,
}

/// A procedure whose callees are being looked at.
struct Procedure {
    /// In the order of steps.
    symbols: Vec<SymbolId>,
    callees: Vec<SymbolId>,
}

impl Ranks {
    fn of<W>(system: &PushdownSystem<W>, starts: impl Iterator<Item = SymbolId>) -> Ranks {
        let mut onward: TiVec<SymbolId, Onward> = vec![Onward::default(); system.symbol_count()].into();
        for (_, rule) in system.rules() {
            let onward = &mut onward[rule.from.symbol];
            match rule.replacement {
                Replacement::Pop => {}
                Replacement::Step(symbol) => onward.inside.push(symbol),
                Replacement::Push { callee, resume } => {
                    onward.inside.push(resume);
                    onward.callees.push(callee);
                }
            }
        }
        let none: TiVec<SymbolId, u32> = vec![LAST; system.symbol_count()].into();
        let mut ranks = Ranks { own: none.clone(), behind: none };
        let mut is_seen: TiVec<SymbolId, bool> = vec![false; system.symbol_count()].into();
        let mut next = 0;
        for start in starts.filter(|start| usize::from(*start) < system.symbol_count()) {
            let mut calling = vec![Procedure::of(&onward, start, &mut is_seen)];
            while let Some(procedure) = calling.last_mut() {
                if let Some(callee) = procedure.callees.pop() {
                    if !is_seen[callee] {
                        calling.push(Procedure::of(&onward, callee, &mut is_seen));
                    }
                    continue;
                }
                let end = next + procedure.symbols.len() as u32;
                for (rank, symbol) in (next..end).zip(&procedure.symbols) {
                    ranks.own[*symbol] = rank;
                    ranks.behind[*symbol] = end;
                }
                next = end + 1;
                calling.pop();
            }
        }
        ranks
    }
}

impl Procedure {
    /// What steps lead to from an entry and belongs to no other procedure yet.
    fn of(onward: &TiVec<SymbolId, Onward>, entry: SymbolId, is_seen: &mut TiVec<SymbolId, bool>) -> Procedure {
        let mut symbols = Vec::new();
        let mut open = vec![(entry, 0)];
        if std::mem::replace(&mut is_seen[entry], true) {
            open.clear();
        }
        while let Some((symbol, at)) = open.last_mut() {
            match onward[*symbol].inside.get(*at) {
                Some(next) => {
                    *at += 1;
                    if !std::mem::replace(&mut is_seen[*next], true) {
                        open.push((*next, 0));
                    }
                }
                None => {
                    symbols.push(*symbol);
                    open.pop();
                }
            }
        }
        // What was left last comes first.
        symbols.reverse();
        let callees = symbols.iter().flat_map(|symbol| onward[*symbol].callees.iter().copied()).collect();
        Procedure { symbols, callees }
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::ControlId;
    use super::super::system::Head;
    use super::*;

    const P: ControlId = ControlId(0);

    fn system(rules: &[(u32, Replacement)]) -> PushdownSystem<()> {
        let mut system = PushdownSystem::default();
        for (symbol, replacement) in rules {
            system.add(Head { control: P, symbol: SymbolId(*symbol) }, P, *replacement, ());
        }
        system
    }

    fn step(to: u32) -> Replacement {
        Replacement::Step(SymbolId(to))
    }

    fn call(callee: u32, resume: u32) -> Replacement {
        Replacement::Push { callee: SymbolId(callee), resume: SymbolId(resume) }
    }

    #[test]
    fn callees_come_before_their_callers_and_what_branches_before_what_joins() {
        // 0 calls 4, which recurses by way of 6; 0 branches to 2 and 1 behind it, and 2 goes on to 1.
        let rules = [
            (0, call(4, 3)),
            (3, step(1)),
            (3, step(2)),
            (2, step(1)),
            (1, Replacement::Pop),
            (4, call(6, 5)),
            (5, Replacement::Pop),
            (6, call(4, 7)),
            (7, Replacement::Pop),
        ];
        let ranks = Ranks::of(&system(&rules), [SymbolId(0)].into_iter());
        let in_order = |symbols: &[u32]| symbols.is_sorted_by_key(|symbol| ranks.own[SymbolId(*symbol)]);
        assert!(in_order(&[6, 7, 4, 5, 0, 3, 2, 1]), "{ranks:?}");
        let behind = |symbol: u32| ranks.behind[SymbolId(symbol)];
        assert!(ranks.own[SymbolId(5)] < behind(4) && behind(4) < ranks.own[SymbolId(0)]);
    }
}
