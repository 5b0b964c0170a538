//! Pushdown systems: a finite control, a stack, and rules that look at the top of it.
//!
//! # Definition   (P, Γ, Δ): a configuration ⟨p, w⟩ is a control state p ∈ P and a stack w ∈ Γ*, its top first. A rule ⟨p,γ⟩ ↪ ⟨p′,u⟩ with |u| ≤ 2
//!                leads from ⟨p, γw⟩ to ⟨p′, uw⟩, for every w. A rule has a weight; a path r₁…rₙ weighs f(r₁) ⊗ … ⊗ f(rₙ).
//! # Theorem      A rule with a longer right-hand side is a chain of these with new control states in between, so |u| ≤ 2 loses nothing.
//! # Paper        Schwoon 2002; Reps, Schwoon, Jha, Melski 2005 for the weights.
//! # Deviations   1. Control states and symbols are dense numbers; a rule that names a new one makes the sets larger.  2. A rule can be there
//!                twice, with two weights.  3. A configuration whose stack is empty has no successor.

use std::sync::Arc;

use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::index::{ControlId, RuleId, SymbolId};

/// ⟨p, γ⟩: all that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Head {
    pub control: ControlId,
    pub symbol: SymbolId,
}

/// What a rule puts where the top symbol was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Replacement {
    /// ε: a return.
    Pop,
    /// γ′: a step inside a procedure.
    Step(SymbolId),
    /// γ′γ″: a call; `resume` is where the caller goes on.
    Push { callee: SymbolId, resume: SymbolId },
}

/// ⟨p,γ⟩ ↪ ⟨p′,u⟩
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule<W> {
    pub from: Head,
    pub to: ControlId,
    pub replacement: Replacement,
    pub weight: W,
}

/// ⟨p, w⟩, the top of the stack first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    pub control: ControlId,
    pub stack: Vec<SymbolId>,
}

impl Configuration {
    pub fn new(control: ControlId, stack: impl Into<Vec<SymbolId>>) -> Configuration {
        Configuration { control, stack: stack.into() }
    }

    /// None when the stack is empty.
    pub fn head(&self) -> Option<Head> {
        self.stack.first().map(|symbol| Head { control: self.control, symbol: *symbol })
    }
}

/// The rules that apply at each head: by symbol, then by control state, of which there are few for one symbol.
#[derive(Clone, Debug, Default)]
struct RulesByHead {
    /// In the order of their first rule.
    heads: Vec<Head>,
    by_symbol: TiVec<SymbolId, SmallVec<[RulesOfControl; 1]>>,
}

type RulesOfControl = (ControlId, SmallVec<[RuleId; 2]>);

impl RulesByHead {
    fn add(&mut self, head: Head, rule: RuleId) {
        if self.by_symbol.get(head.symbol).is_none() {
            self.by_symbol.resize(usize::from(head.symbol) + 1, SmallVec::new());
        }
        let controls = &mut self.by_symbol[head.symbol];
        match controls.iter_mut().find(|(control, _)| *control == head.control) {
            Some((_, rules)) => rules.push(rule),
            None => {
                controls.push((head.control, SmallVec::from_slice(&[rule])));
                self.heads.push(head);
            }
        }
    }

    fn get(&self, head: Head) -> &[RuleId] {
        let controls = self.by_symbol.get(head.symbol).map_or(&[][..], SmallVec::as_slice);
        controls.iter().find(|(control, _)| *control == head.control).map_or(&[], |(_, rules)| rules)
    }
}

#[derive(Clone, Debug)]
pub struct PushdownSystem<W> {
    control_count: usize,
    symbol_count: usize,
    rules: TiVec<RuleId, Rule<W>>,
    /// Shared by systems that differ in their weights.
    by_head: Arc<RulesByHead>,
}

impl<W> Default for PushdownSystem<W> {
    fn default() -> Self {
        PushdownSystem { control_count: 0, symbol_count: 0, rules: TiVec::new(), by_head: Arc::default() }
    }
}

impl<W> PushdownSystem<W> {
    /// A system without rules. Control states and symbols that no rule names must be counted here if they are to belong to it.
    pub fn new(control_count: usize, symbol_count: usize) -> PushdownSystem<W> {
        PushdownSystem { control_count, symbol_count, ..PushdownSystem::default() }
    }

    pub fn add(&mut self, from: Head, to: ControlId, replacement: Replacement, weight: W) -> RuleId {
        let controls = [from.control, to];
        let symbols = match replacement {
            Replacement::Pop => [from.symbol; 3],
            Replacement::Step(symbol) => [from.symbol, symbol, symbol],
            Replacement::Push { callee, resume } => [from.symbol, callee, resume],
        };
        let count = |seen: usize, ids: &[u32]| ids.iter().fold(seen, |seen, id| seen.max(*id as usize + 1));
        self.control_count = count(self.control_count, &controls.map(|control| control.0));
        self.symbol_count = count(self.symbol_count, &symbols.map(|symbol| symbol.0));
        let rule = self.rules.push_and_get_key(Rule { from, to, replacement, weight });
        Arc::make_mut(&mut self.by_head).add(from, rule);
        rule
    }

    pub fn control_count(&self) -> usize {
        self.control_count
    }

    /// |Γ|. A stack with another symbol in it is no stack of this system.
    pub fn symbol_count(&self) -> usize {
        self.symbol_count
    }

    pub fn rule(&self, rule: RuleId) -> &Rule<W> {
        &self.rules[rule]
    }

    pub fn rules(&self) -> impl ExactSizeIterator<Item = (RuleId, &Rule<W>)> {
        self.rules.iter().enumerate().map(|(index, rule)| (RuleId::from(index), rule))
    }

    /// The rules that apply at a head, in the order they were added.
    pub fn rules_at(&self, head: Head) -> &[RuleId] {
        self.by_head.get(head)
    }

    /// The heads at which some rule applies, in the order of their first rule.
    pub fn heads(&self) -> impl ExactSizeIterator<Item = Head> {
        self.by_head.heads.iter().copied()
    }

    /// The same rules under the same numbers, with other weights.
    pub fn weighted<V>(&self, mut weigh: impl FnMut(RuleId, &Rule<W>) -> V) -> PushdownSystem<V> {
        let weighted = |(id, rule): (RuleId, &Rule<W>)| Rule {
            from: rule.from,
            to: rule.to,
            replacement: rule.replacement,
            weight: weigh(id, rule),
        };
        let rules = self.rules().map(weighted).collect();
        PushdownSystem {
            control_count: self.control_count,
            symbol_count: self.symbol_count,
            rules,
            by_head: self.by_head.clone(),
        }
    }

    /// What a rule makes of a configuration; None where it does not apply.
    pub fn apply(&self, rule: RuleId, configuration: &Configuration) -> Option<Configuration> {
        let rule = self.rules.get(rule).filter(|rule| configuration.head() == Some(rule.from))?;
        let replaced = match rule.replacement {
            Replacement::Pop => SmallVec::<[SymbolId; 2]>::new(),
            Replacement::Step(symbol) => SmallVec::from_slice(&[symbol]),
            Replacement::Push { callee, resume } => SmallVec::from_slice(&[callee, resume]),
        };
        Some(Configuration { control: rule.to, stack: replaced.iter().chain(&configuration.stack[1..]).copied().collect() })
    }

    /// Every configuration on the way, the first one included; None where a rule does not apply.
    pub fn replay(&self, start: &Configuration, rules: &[RuleId]) -> Option<Vec<Configuration>> {
        let mut way = vec![start.clone()];
        for rule in rules {
            way.push(self.apply(*rule, &way[way.len() - 1])?);
        }
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: ControlId = ControlId(0);
    const Q: ControlId = ControlId(4);

    fn head(control: ControlId, symbol: u32) -> Head {
        Head { control, symbol: SymbolId(symbol) }
    }

    fn configuration(control: ControlId, stack: &[u32]) -> Configuration {
        Configuration::new(control, stack.iter().map(|symbol| SymbolId(*symbol)).collect::<Vec<_>>())
    }

    #[test]
    fn a_system_grows_with_its_rules() {
        let mut system = PushdownSystem::default();
        assert_eq!((system.control_count(), system.symbol_count(), system.rules().len()), (0, 0, 0));
        system.add(head(P, 2), Q, Replacement::Push { callee: SymbolId(1), resume: SymbolId(7) }, true);
        assert_eq!((system.control_count(), system.symbol_count(), system.rules().len()), (5, 8, 1));
        assert_eq!(system.rules_at(head(P, 9)), []);
    }

    #[test]
    fn rules_replace_the_top_alone() {
        let mut system = PushdownSystem::new(1, 1);
        let call = system.add(head(P, 0), Q, Replacement::Push { callee: SymbolId(1), resume: SymbolId(2) }, ());
        let step = system.add(head(Q, 1), Q, Replacement::Step(SymbolId(3)), ());
        let back = system.add(head(Q, 3), P, Replacement::Pop, ());
        let way = system.replay(&configuration(P, &[0, 9]), &[call, step, back]).expect("all apply");
        let expected = [(P, &[0, 9][..]), (Q, &[1, 2, 9]), (Q, &[3, 2, 9]), (P, &[2, 9])];
        assert_eq!(way, expected.map(|(control, stack)| configuration(control, stack)));
        assert_eq!(system.apply(back, &configuration(P, &[3])), None);
        assert_eq!(system.apply(step, &configuration(Q, &[])), None);
        assert_eq!(system.apply(RuleId(77), &configuration(Q, &[1])), None);
    }
}
