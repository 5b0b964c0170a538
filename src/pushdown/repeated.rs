//! Repeated reachability: which runs meet accepting heads again and again?
//!
//! # Definition   A run is infinite; it is accepting iff infinitely many of its configurations have an accepting head. A head ⟨p,γ⟩ is repeating iff
//!                ⟨p,γ⟩ ⇒⁺ ⟨p,γv⟩ for some v, through a configuration with an accepting head.
//! # Theorem      1. An accepting run starts in c iff c ⇒* ⟨p,γw⟩ for a repeating ⟨p,γ⟩: these c are a pre*.
//!                2. In the head reachability graph, ⟨p,γ⟩ → ⟨p′,γ′⟩ iff a rule ⟨p,γ⟩ ↪ ⟨p″,v₁γ′v₂⟩ exists with ⟨p″,v₁⟩ ⇒* ⟨p′,ε⟩. The edge is marked iff
//!                ⟨p,γ⟩ is accepting, or some such way to ⟨p′,ε⟩ leaves an accepting head. A head is repeating iff its strongly
//!                connected component has a marked edge inside.
//! # Paper        Bouajjani, Esparza, Maler 1997; Esparza, Hansel, Rossmanith, Schwoon 2000; Schwoon 2002, chapter 3.
//! # Deviations   1. Accepting heads instead of accepting control states.  2. The ways to ⟨p′,ε⟩ are one weighted pre* over {0, unmarked, marked}.
//!                3. A run that halts (no rule, empty stack) is not infinite, hence not accepting.

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::automaton::{PAutomaton, Reading};
use super::index::{ControlId, SymbolId};
use super::pre_star::pre_star;
use super::semiring::{Boolean, Semiring};
use super::system::{Configuration, Head, PushdownSystem, Replacement, Rule};
use super::witness::{ShortestPaths, Witness};

/// Whether a way exists, and whether one exists that leaves an accepting head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    NoWay,
    Unmarked,
    Marked,
}

struct Marks;

impl Semiring for Marks {
    type Weight = Mark;

    fn zero(&self) -> Mark {
        Mark::NoWay
    }

    fn one(&self) -> Mark {
        Mark::Unmarked
    }

    fn combine(&mut self, left: &Mark, right: &Mark) -> Mark {
        *left.max(right)
    }

    fn extend(&mut self, first: &Mark, then: &Mark) -> Mark {
        match first.min(then) {
            Mark::NoWay => Mark::NoWay,
            _ => *first.max(then),
        }
    }
}

/// The heads that can come again for ever, through accepting heads.
pub fn repeating_heads<W>(system: &PushdownSystem<W>, is_accepting: impl Fn(Head) -> bool) -> BTreeSet<Head> {
    let mark_of = |head: Head| if is_accepting(head) { Mark::Marked } else { Mark::Unmarked };
    let marked = system.weighted(|_, rule| mark_of(rule.from));
    // pre* of all ⟨p′, ε⟩: p –γ→ p′ iff ⟨p,γ⟩ ⇒* ⟨p′,ε⟩
    let mut empty_stacks = PAutomaton::new(system.control_count(), Reading::TopFirst);
    for control in empty_stacks.controls() {
        empty_stacks.set_final(empty_stacks.state_of(control), Mark::Unmarked);
    }
    let returns = pre_star(&marked, &empty_stacks, &mut Marks);

    let mut graph: DiGraph<Head, Mark> = DiGraph::new();
    let mut nodes: FxHashMap<Head, NodeIndex> = FxHashMap::default();
    for (_, rule) in marked.rules() {
        let mut edge = |control: ControlId, symbol: SymbolId, mark: Mark| {
            let mut node = |head: Head| *nodes.entry(head).or_insert_with(|| graph.add_node(head));
            let (from, to) = (node(rule.from), node(Head { control, symbol }));
            graph.add_edge(from, to, mark);
        };
        match rule.replacement {
            Replacement::Pop => {}
            Replacement::Step(symbol) => edge(rule.to, symbol, rule.weight),
            Replacement::Push { callee, resume } => {
                edge(rule.to, callee, rule.weight);
                for number in returns.outgoing_with(returns.state_of(rule.to), Some(callee)) {
                    let back =
                        returns.control_of(returns.transition(*number).to).expect("an empty stack is a control state alone");
                    edge(back, resume, Marks.extend(&rule.weight, returns.weight(*number)));
                }
            }
        }
    }
    let mut repeating = BTreeSet::new();
    let mut component_of = vec![0; graph.node_count()];
    let components = kosaraju_scc(&graph);
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|node| component_of[node.index()] = number);
    }
    for edge in graph.edge_indices().filter(|edge| graph[*edge] == Mark::Marked) {
        let (from, to) = graph.edge_endpoints(edge).expect("an edge of the graph");
        let component = component_of[from.index()];
        if component == component_of[to.index()] && !repeating.contains(&graph[from]) {
            repeating.extend(components[component].iter().map(|node| graph[*node]));
        }
    }
    repeating
}

/// The configurations from which an accepting run starts, given the repeating heads.
pub fn configurations_with_accepting_run<W>(system: &PushdownSystem<W>, repeating: &BTreeSet<Head>) -> PAutomaton<bool> {
    // ⟨p,γw⟩ for every repeating ⟨p,γ⟩ and every stack w
    let mut target = PAutomaton::new(system.control_count(), Reading::TopFirst);
    let below = target.add_state();
    target.set_final(below, true);
    for symbol in (0..system.symbol_count()).map(SymbolId::from) {
        target.set_transition(below, symbol, below, true);
    }
    for head in repeating {
        target.set_transition(target.state_of(head.control), head.symbol, below, true);
    }
    pre_star(&system.weighted(|_, _| true), &target, &mut Boolean)
}

/// An accepting run: a way to a repeating head, and rules that lead from it to itself, with perhaps more below it, any number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    pub stem: Witness,
    pub head: Head,
    pub cycle: Witness,
}

/// An accepting run from a configuration of the automaton: the nearest repeating head, and a shortest cycle from it; None if there is no such run.
pub fn accepting_lasso<W, V>(
    system: &PushdownSystem<W>,
    initial: &PAutomaton<V>,
    repeating: &BTreeSet<Head>,
    is_accepting: impl Fn(Head) -> bool,
) -> Option<Lasso>
where
    V: Clone + PartialEq,
{
    let paths = ShortestPaths::of(system, initial);
    let reached = paths.heads().into_iter().filter(|(head, _)| repeating.contains(head));
    let (head, _) = reached.min_by_key(|(head, length)| (*length, *head))?;
    let (_, stem) = paths.nearest(head)?;
    Some(Lasso { stem, head, cycle: cycle_of(system, head, is_accepting)? })
}

/// A shortest way ⟨p,γ⟩ ⇒⁺ ⟨p,γv⟩ that leaves an accepting head; None if the head is not repeating.
pub fn cycle_of<W>(system: &PushdownSystem<W>, head: Head, is_accepting: impl Fn(Head) -> bool) -> Option<Witness> {
    // A second copy of the control states for "an accepting head has been left": the definition, as a reachability question.
    let count = system.control_count().max(usize::from(head.control) + 1) as u32;
    let after = |control: ControlId| ControlId(control.0 + count);
    let mut doubled: PushdownSystem<()> = PushdownSystem::default();
    for (_, Rule { from, to, replacement, .. }) in system.rules() {
        let first = if is_accepting(*from) { after(*to) } else { *to };
        doubled.add(*from, first, *replacement, ());
        doubled.add(Head { control: after(from.control), ..*from }, after(*to), *replacement, ());
    }
    let start = Configuration::new(head.control, [head.symbol]);
    let paths = ShortestPaths::of(&doubled, &PAutomaton::of([&start], &Boolean));
    let (_, mut cycle) = paths.nearest(Head { control: after(head.control), ..head })?;
    // Rule r has become rules 2r and 2r + 1.
    cycle.rules.iter_mut().for_each(|rule| rule.0 /= 2);
    Some(cycle)
}
