//! The naive twin: configurations one by one, straight from the definitions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::generator::{Sample, Tag};
use super::words::Word;
use lockcheck::pushdown::{Configuration, ControlId, Head, PushdownSystem, RuleId, StateId, SymbolId};

pub type System = PushdownSystem<Tag>;

pub fn successors(system: &System, configuration: &Configuration) -> Vec<(RuleId, Configuration)> {
    let all = system.rules().map(|(rule, _)| rule);
    all.filter_map(|rule| system.apply(rule, configuration).map(|next| (rule, next))).collect()
}

/// Every configuration of the system with at most so many symbols.
pub fn all_configurations(system: &System, height: usize) -> Vec<Configuration> {
    let mut stacks: Vec<Vec<SymbolId>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..height {
        let until = stacks.len();
        for at in from..until {
            for symbol in 0..system.symbol_count() {
                let mut stack = stacks[at].clone();
                stack.push(SymbolId::from(symbol));
                stacks.push(stack);
            }
        }
        from = until;
    }
    let controls = 0..system.control_count();
    controls
        .flat_map(|control| stacks.iter().map(move |stack| Configuration::new(ControlId::from(control), stack.clone())))
        .collect()
}

/// The words of all paths of the sample's automaton over a configuration, read from the top or from the bottom. Walks every path.
pub fn words_of(sample: &Sample, configuration: &Configuration, is_top_first: bool) -> BTreeSet<Word> {
    let join = |above: Word, below: Word| if is_top_first { above.then(below) } else { below.then(above) };
    let mut words = BTreeSet::new();
    let mut open: Vec<(StateId, usize, Word)> = vec![(StateId(configuration.control.0), 0, Word::EMPTY)];
    while let Some((state, read, word)) = open.pop() {
        if read == configuration.stack.len() {
            let finals = sample.finals.iter().filter(|(last, _)| *last == state);
            words.extend(finals.map(|(_, letter)| join(word, Word::of(*letter))));
            continue;
        }
        for edge in sample.edges.iter().filter(|edge| edge.from == state && edge.symbol == configuration.stack[read]) {
            open.push((edge.to, read + 1, join(word, Word::of(edge.letter))));
        }
    }
    words
}

/// The words of at most `longest` letters of all rule sequences from these configurations, by where they lead.
pub fn words_after(
    system: &System,
    start: impl IntoIterator<Item = (Configuration, BTreeSet<Word>)>,
    longest: usize,
) -> BTreeMap<Configuration, BTreeSet<Word>> {
    let mut found: BTreeMap<Configuration, BTreeSet<Word>> = BTreeMap::new();
    let mut open: Vec<(Configuration, Word)> = Vec::new();
    for (configuration, words) in start {
        open.extend(words.into_iter().filter(|word| word.length() <= longest).map(|word| (configuration.clone(), word)));
    }
    while let Some((configuration, word)) = open.pop() {
        if word.length() < longest {
            for (rule, next) in successors(system, &configuration) {
                open.push((next, word.then(Word::of(Some(system.rule(rule).weight.letter)))));
            }
        }
        found.entry(configuration).or_default().insert(word);
    }
    found
}

/// A search that gives up on stacks higher than `height` and after `most` configurations.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub height: usize,
    pub most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing was cut off: all that can be reached was seen.
    Everything,
    /// Stacks were cut off at the height.
    UpToHeight,
    /// The count was used up.
    Cut,
}

/// The least cost of every configuration that a bounded search finds.
pub fn least_costs(
    system: &System,
    start: &[Configuration],
    bounds: Bounds,
    cost: impl Fn(RuleId) -> u64,
) -> (BTreeMap<Configuration, u64>, Reach) {
    let mut costs: BTreeMap<Configuration, u64> = BTreeMap::new();
    let mut open: BTreeSet<(u64, Configuration)> = start.iter().map(|configuration| (0, configuration.clone())).collect();
    let mut reach = Reach::Everything;
    while let Some((sum, configuration)) = open.pop_first() {
        if costs.contains_key(&configuration) {
            continue;
        }
        if costs.len() == bounds.most {
            return (costs, Reach::Cut);
        }
        for (rule, next) in successors(system, &configuration) {
            if next.stack.len() > bounds.height {
                reach = Reach::UpToHeight;
            } else if !costs.contains_key(&next) {
                open.insert((sum + cost(rule), next));
            }
        }
        costs.insert(configuration, sum);
    }
    (costs, reach)
}

/// ⟨p,γ⟩ ⇒⁺ ⟨p,γv⟩ through an accepting head, within the bounds.
pub fn repeats(system: &System, head: Head, accepting: &[Head], bounds: Bounds) -> (bool, Reach) {
    let start = (Configuration::new(head.control, [head.symbol]), false);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = VecDeque::from([start]);
    let mut reach = Reach::Everything;
    while let Some((configuration, has_left)) = open.pop_front() {
        let leaves = has_left || configuration.head().is_some_and(|head| accepting.contains(&head));
        for (_, next) in successors(system, &configuration) {
            if leaves && next.head() == Some(head) {
                return (true, reach);
            }
            if next.stack.len() > bounds.height {
                reach = Reach::UpToHeight;
            } else if seen.len() == bounds.most {
                return (false, Reach::Cut);
            } else if seen.insert((next.clone(), leaves)) {
                open.push_back((next, leaves));
            }
        }
    }
    (false, reach)
}

/// Whether a configuration with an accepting head lies on a cycle of this closed set and can be reached: an accepting run, if the set is all there is.
pub fn has_lasso(system: &System, reached: &BTreeMap<Configuration, u64>, accepting: &[Head]) -> bool {
    let is_accepting = |configuration: &&Configuration| configuration.head().is_some_and(|head| accepting.contains(&head));
    reached.keys().filter(is_accepting).any(|configuration| {
        let mut seen = BTreeSet::new();
        let mut open = vec![configuration.clone()];
        while let Some(at) = open.pop() {
            for (_, next) in successors(system, &at) {
                if next == *configuration {
                    return true;
                }
                if reached.contains_key(&next) && seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        false
    })
}
