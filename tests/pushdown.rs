//! The pushdown library against its naive twin: configurations one by one, on random small systems, recursion included.
//!
//! Sets of words weigh exactly: a word is a sequence of rules, and all short sequences can be tried. Reachability, lengths and costs are
//! compared with a search of bounded height: what it finds must be there at no greater length, what is there must replay, and
//! where the height provably suffices both must be equal. Büchi acceptance: cycles are replayed, and searched for.

#[path = "pushdown/explicit.rs"]
mod explicit;
#[path = "pushdown/generator.rs"]
mod generator;
#[path = "pushdown/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};

use explicit::{Bounds, Reach, all_configurations, has_lasso, least_costs, repeats, successors, words_after, words_of};
use generator::{Random, Sample, sample};
use lockcheck::deadline::Deadline;
use lockcheck::pushdown::{
    Boolean, Configuration, ControlId, Head, MinimalLength, PAutomaton, PushdownSystem, Reading, Replacement, RuleId, Semiring,
    ShortestPaths, SymbolId, Witness, accepting_lasso, configurations_with_accepting_run, cycle_of, post_star,
    post_star_callees_first, pre_star, repeating_heads,
};
use words::{Word, Words};

const SYSTEMS: u64 = 5_000;
/// Words of at most so many letters.
const LONGEST: usize = 5;

fn automaton<S: Semiring>(
    sample: &Sample,
    reading: Reading,
    semiring: &S,
    weigh: impl Fn(Option<u8>) -> S::Weight,
) -> PAutomaton<S::Weight> {
    if let Some(configurations) = &sample.configurations {
        return PAutomaton::of(configurations, semiring);
    }
    let mut automaton = PAutomaton::new(sample.system.control_count(), reading);
    while automaton.state_count() < sample.state_count {
        automaton.add_state();
    }
    for edge in &sample.edges {
        automaton.set_transition(edge.from, edge.symbol, edge.to, weigh(edge.letter));
    }
    for (state, letter) in &sample.finals {
        automaton.set_final(*state, weigh(*letter));
    }
    automaton
}

fn samples() -> impl Iterator<Item = (u64, Sample)> {
    (0..SYSTEMS).map(|seed| (seed, sample(seed)))
}

fn word(letter: Option<u8>) -> BTreeSet<Word> {
    BTreeSet::from([Word::of(letter)])
}

fn in_words(sample: &Sample, reading: Reading, longest: usize) -> (PushdownSystem<BTreeSet<Word>>, PAutomaton<BTreeSet<Word>>) {
    let system = sample.system.weighted(|_, rule| word(Some(rule.weight.letter)));
    (system, automaton(sample, reading, &Words { longest }, word))
}

/// A share of all systems, printed and held to a minimum.
fn assert_share(what: &str, count: usize, percent: usize) {
    println!("{what}: {count} of {SYSTEMS}");
    assert!(count * 100 >= SYSTEMS as usize * percent, "{what}: {count} of {SYSTEMS} are fewer than {percent} %");
}

#[test]
fn the_generator_covers_what_matters() {
    let (mut recursive, mut deep, mut emptied, mut regular, mut entered, mut many, mut finite) = (0, 0, 0, 0, 0, 0, 0);
    for (_, sample) in samples() {
        let system = &sample.system;
        let everywhere =
            |head: &Head| repeats(system, *head, &system.heads().collect::<Vec<_>>(), Bounds { height: 8, most: 200 });
        let grows = |head: &Head| {
            system.rules_at(*head).iter().any(|rule| matches!(system.rule(*rule).replacement, Replacement::Push { .. }))
        };
        recursive += usize::from(system.heads().any(|head| grows(&head) && everywhere(&head).0));
        match &sample.configurations {
            Some(start) => {
                let (reached, reach) = least_costs(system, start, Bounds { height: 8, most: 500 }, |_| 1);
                let lowest = start.iter().map(|configuration| configuration.stack.len()).min().unwrap_or(0);
                deep += usize::from(
                    reached.keys().any(|configuration| configuration.stack.len() < lowest && !configuration.stack.is_empty()),
                );
                emptied += usize::from(lowest > 0 && reached.keys().any(|configuration| configuration.stack.is_empty()));
                finite += usize::from(reach == Reach::Everything);
                many += usize::from(reached.len() > 10);
            }
            None => {
                regular += 1;
                entered += usize::from(sample.edges.iter().any(|edge| usize::from(edge.to) < system.control_count()));
            }
        }
    }
    assert_share("recursive", recursive, 20);
    assert_share("pops below the lowest initial stack, not empty", deep, 10);
    assert_share("empties the stack", emptied, 20);
    assert_share("initial automaton any", regular, 20);
    assert_share("… that enters control states", entered, 10);
    assert_share("reaches more than ten configurations", many, 20);
    assert_share("reaches finitely many", finite, 10);
}

#[test]
fn post_star_weighs_every_way_there() {
    let (mut several, mut ordered) = (0, 0);
    for (seed, sample) in samples() {
        let mut semiring = Words { longest: LONGEST };
        let (system, initial) = in_words(&sample, Reading::BottomFirst, LONGEST);
        let post = post_star(&system, &initial, &mut semiring);
        // A rule removes at most one symbol: what stands at height 2 after n rules was at most n higher.
        let height = 2;
        let start: Vec<Configuration> = match &sample.configurations {
            Some(configurations) => configurations.clone(),
            None => all_configurations(&sample.system, height + LONGEST),
        };
        let start = start.into_iter().map(|configuration| (configuration.clone(), words_of(&sample, &configuration, false)));
        let reached = words_after(&sample.system, start, LONGEST);
        several += usize::from(reached.values().any(|words| words.len() > 1));
        let in_order = post_star_callees_first(&system, &initial, &mut semiring, Deadline::NEVER).expect("nothing ends it early");
        let all = |post: &PAutomaton<_>, semiring: &mut _| post.configurations(height, semiring);
        assert_eq!(all(&in_order, &mut semiring), all(&post, &mut semiring), "system {seed}");
        for (configuration, words) in &reached {
            if sample.configurations.is_some() || configuration.stack.len() <= height {
                assert_eq!(post.weight_of(configuration, &mut semiring), *words, "system {seed}, {configuration:?}");
            }
        }
        for (configuration, words) in post.configurations(height, &mut semiring) {
            assert_eq!(reached.get(&configuration), Some(&words), "system {seed}, {configuration:?}");
        }
        if sample.configurations.is_some() {
            let mut by_head: BTreeMap<Head, BTreeSet<Word>> = BTreeMap::new();
            for (configuration, words) in &reached {
                if let Some(head) = configuration.head() {
                    by_head.entry(head).or_default().extend(words);
                }
            }
            assert_eq!(post.weights_by_head(&mut semiring), by_head, "system {seed}");
        }
        // Nothing is reached from what is reached that was not reached before.
        let again = post_star(&system, &post, &mut semiring);
        assert_eq!(again.configurations(height, &mut semiring), post.configurations(height, &mut semiring), "system {seed}");
        ordered += usize::from(reached.values().any(|words| words.iter().any(|word| word.length() > 2)));
    }
    assert_share("several ways to one configuration", several, 20);
    assert_share("ways of three rules and more", ordered, 30);
}

#[test]
fn pre_star_weighs_every_way_there() {
    let mut weighed = 0;
    for (seed, sample) in samples() {
        let longest = 4;
        let mut semiring = Words { longest };
        let (system, target) = in_words(&sample, Reading::TopFirst, longest);
        let pre = pre_star(&system, &target, &mut semiring);
        let height = 2;
        let mut expected = BTreeMap::new();
        for configuration in all_configurations(&sample.system, height) {
            let mut words = BTreeSet::new();
            let ways = words_after(&sample.system, [(configuration.clone(), word(None))], longest);
            for (end, ways) in ways {
                words.extend(semiring.extend(&ways, &words_of(&sample, &end, true)));
            }
            if !words.is_empty() {
                expected.insert(configuration, words);
            }
        }
        weighed += usize::from(expected.values().any(|words| words.iter().any(|word| word.length() > 1)));
        assert_eq!(pre.configurations(height, &mut semiring), expected, "system {seed}");
        let again = pre_star(&system, &pre, &mut semiring);
        assert_eq!(again.configurations(height, &mut semiring), expected, "system {seed}");
    }
    assert_share("ways of two rules and more", weighed, 30);
}

/// A search of this height misses nothing that ends at `height`: on a least path every return ⟨p,γ⟩ ⇒* ⟨p′,ε⟩ nests each triple (p, γ, p′) once.
fn sufficient_height(sample: &Sample, height: usize) -> usize {
    let highest = sample.configurations.iter().flatten().map(|configuration| configuration.stack.len()).max().unwrap_or(0);
    highest.max(height) + sample.system.control_count().pow(2) * sample.system.symbol_count() + 1
}

#[test]
fn lengths_and_costs_are_least_and_witnesses_replay() {
    let (mut exact, mut replayed, mut longest) = (0, 0, 0);
    for (seed, sample) in samples() {
        let Some(start) = &sample.configurations else { continue };
        let height = 3;
        let paths = ShortestPaths::of(&sample.system, &PAutomaton::of(start, &Boolean));
        let costs = sample.system.weighted(|_, rule| rule.weight.cost);
        let post = post_star(&costs, &PAutomaton::of(start, &MinimalLength), &mut MinimalLength);
        let bounds = Bounds { height: sufficient_height(&sample, height), most: 400 };
        let (lengths, reach) = least_costs(&sample.system, start, bounds, |_| 1);
        let (least, cost_reach) = least_costs(&sample.system, start, bounds, |rule| sample.system.rule(rule).weight.cost);
        // What the search found is there, no further away.
        for (configuration, length) in &lengths {
            assert!(paths.length_to(configuration).is_some_and(|found| found <= *length), "system {seed}, {configuration:?}");
        }
        for (configuration, cost) in &least {
            assert!(post.weight_of(configuration, &mut MinimalLength) <= *cost, "system {seed}, {configuration:?}");
        }
        let claimed = post.configurations(height, &mut MinimalLength);
        if reach != Reach::Cut && cost_reach != Reach::Cut {
            exact += 1;
            let low = |(configuration, _): &(&Configuration, &u64)| configuration.stack.len() <= height;
            assert!(claimed.iter().eq(least.iter().filter(low)), "system {seed}: {claimed:?}, {least:?}");
            for (configuration, length) in lengths.iter().filter(low) {
                assert_eq!(paths.length_to(configuration), Some(*length), "system {seed}, {configuration:?}");
            }
        }
        // What is claimed replays.
        let check = |end: &Configuration, witness: &Witness| {
            assert!(start.contains(&witness.start), "system {seed}: {witness:?}");
            let way = sample.system.replay(&witness.start, &witness.rules).expect("every rule applies");
            assert_eq!(way.last(), Some(end), "system {seed}");
            assert_eq!(paths.length_to(end), Some(witness.rules.len() as u64), "system {seed}, {end:?}");
        };
        for configuration in claimed.keys() {
            let witness = paths.path_to(configuration).expect("what can be reached has a witness");
            check(configuration, &witness);
            replayed += 1;
            longest = longest.max(witness.rules.len());
        }
        let heads = paths.heads();
        for (head, length) in &heads {
            let (end, witness) = paths.nearest(*head).expect("a reached head has a nearest configuration");
            assert_eq!((end.head(), witness.rules.len() as u64), (Some(*head), *length), "system {seed}");
            check(&end, &witness);
        }
        for (configuration, length) in &lengths {
            let nearest = configuration.head().map(|head| heads.get(&head));
            assert!(
                nearest.is_none_or(|nearest| nearest.is_some_and(|nearest| nearest <= length)),
                "system {seed}, {configuration:?}"
            );
        }
        for configuration in all_configurations(&sample.system, 2) {
            assert_eq!(
                paths.path_to(&configuration).is_some(),
                claimed.contains_key(&configuration),
                "system {seed}, {configuration:?}"
            );
        }
    }
    println!("{replayed} witnesses replayed, the longest has {longest} rules");
    assert_share("exactly the search's configurations, lengths and costs", exact, 30);
    assert!(longest >= 8);
}

#[test]
fn forwards_and_backwards_agree() {
    let mut yes = 0;
    for (seed, sample) in samples() {
        let system = sample.system.weighted(|_, _| true);
        let mut random = Random::new(!seed);
        let all = all_configurations(&sample.system, 2);
        let mut pick = || all[random.below(all.len() as u32) as usize].clone();
        let (first, last) = (pick(), pick());
        let after = post_star(&system, &PAutomaton::of([&first], &Boolean), &mut Boolean);
        let before = pre_star(&system, &PAutomaton::of([&last], &Boolean), &mut Boolean);
        let is_reached = after.accepts(&last, &mut Boolean);
        assert_eq!(is_reached, before.accepts(&first, &mut Boolean), "system {seed}: {first:?} to {last:?}");
        yes += usize::from(is_reached && first != last);
        // A set that both saturations have gone over: what can reach something that `first` can reach.
        let around = pre_star(&system, &after, &mut Boolean);
        let meets = |configuration: &Configuration| {
            let reached =
                post_star(&system, &PAutomaton::of([configuration], &Boolean), &mut Boolean).configurations(3, &mut Boolean);
            reached.keys().any(|configuration| after.accepts(configuration, &mut Boolean))
        };
        for configuration in
            all.iter().filter(|configuration| configuration.stack.len() < 2).filter(|configuration| meets(configuration))
        {
            assert!(around.accepts(configuration, &mut Boolean), "system {seed}: {configuration:?}");
        }
    }
    assert_share("pairs reached", yes, 5);
}

#[test]
fn accepting_runs_are_those_that_can_be_walked() {
    let (mut repeating_count, mut growing, mut finite, mut accepted_count, mut closed) = (0, 0, 0, 0, 0);
    for (seed, sample) in samples() {
        let system = &sample.system;
        let is_accepting = |head: Head| sample.accepting.contains(&head);
        let repeating = repeating_heads(system, is_accepting);
        repeating_count += usize::from(!repeating.is_empty());
        let mut grows = false;
        let heads = (0..system.control_count() * system.symbol_count()).map(|number| Head {
            control: ControlId::from(number / system.symbol_count()),
            symbol: SymbolId::from(number % system.symbol_count()),
        });
        for head in heads {
            let (found, reach) = repeats(system, head, &sample.accepting, Bounds { height: 6, most: 150 });
            let claimed = repeating.contains(&head);
            assert!(claimed || !found, "system {seed}: {head:?} repeats");
            closed += u64::from(reach == Reach::Everything);
            assert!(found || !claimed || reach != Reach::Everything, "system {seed}: {head:?} does not repeat");
            let cycle = cycle_of(system, head, is_accepting);
            assert_eq!(cycle.is_some(), claimed, "system {seed}: {head:?}");
            if let Some(cycle) = cycle {
                grows |= walk(&sample, &cycle.start, &cycle.rules, head) > 0;
            }
        }
        growing += usize::from(grows);
        let runs = configurations_with_accepting_run(system, &repeating);
        for configuration in all_configurations(system, 2) {
            let claimed = runs.accepts(&configuration, &mut Boolean);
            let start = std::slice::from_ref(&configuration);
            let (reached, reach) = least_costs(system, start, Bounds { height: 6, most: 60 }, |_| 1);
            if reach == Reach::Everything {
                finite += 1;
                assert_eq!(claimed, has_lasso(system, &reached, &sample.accepting), "system {seed}: {configuration:?}");
            }
            let meets = reached.keys().filter_map(Configuration::head).any(|head| repeating.contains(&head));
            assert!(claimed || !meets, "system {seed}: {configuration:?}");
            let lasso = accepting_lasso(system, &PAutomaton::of(start, &Boolean), &repeating, is_accepting);
            assert_eq!(lasso.is_some(), claimed, "system {seed}: {configuration:?}");
            if let Some(lasso) = lasso {
                accepted_count += 1;
                assert_eq!(lasso.stem.start, configuration);
                let way = system.replay(&lasso.stem.start, &lasso.stem.rules).expect("the stem applies");
                let end = &way[way.len() - 1];
                assert_eq!(end.head(), Some(lasso.head), "system {seed}");
                walk(&sample, end, &lasso.cycle.rules, lasso.head);
            }
        }
    }
    println!(
        "{accepted_count} accepting runs walked, {finite} configurations with finitely many successors, {closed} heads searched to the end"
    );
    assert_share("some head repeats", repeating_count, 20);
    assert_share("a cycle that grows the stack", growing, 5);
    assert!(accepted_count > 2 * SYSTEMS && finite > 5 * SYSTEMS && closed > 2 * SYSTEMS);
}

/// Goes round a cycle three times; gives the height that one round gains.
fn walk(sample: &Sample, start: &Configuration, cycle: &[RuleId], head: Head) -> usize {
    let mut at = start.clone();
    let mut gained = 0;
    for _ in 0..3 {
        let way = sample.system.replay(&at, cycle).expect("a cycle applies again");
        assert!(way[..way.len() - 1].iter().filter_map(Configuration::head).any(|head| sample.accepting.contains(&head)));
        let end = way.last().expect("a way has an end").clone();
        assert_eq!(end.head(), Some(head));
        assert!(end.stack[1..].ends_with(&at.stack[1..]), "what lies below the head stays");
        gained = end.stack.len() - at.stack.len();
        at = end;
    }
    assert!(!successors(&sample.system, &at).is_empty());
    gained
}
