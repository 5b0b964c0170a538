//! Random small pushdown systems with an automaton for the initial (or target) configurations, from a seed.

use lockcheck::pushdown::{Configuration, ControlId, Head, PushdownSystem, Replacement, StateId, SymbolId};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound.max(1))) as u32
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// What a rule weighs in the semirings of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Below 10.
    pub letter: u8,
    pub cost: u64,
}

/// A transition of the automaton; states below the number of control states are these.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: StateId,
    pub symbol: SymbolId,
    pub to: StateId,
    /// 10 or above; None weighs 1.
    pub letter: Option<u8>,
}

#[derive(Clone, Debug)]
pub struct Sample {
    pub system: PushdownSystem<Tag>,
    /// Some: the automaton accepts exactly these, all of weight 1.
    pub configurations: Option<Vec<Configuration>>,
    pub state_count: usize,
    pub edges: Vec<Edge>,
    pub finals: Vec<(StateId, Option<u8>)>,
    /// Accepting heads.
    pub accepting: Vec<Head>,
}

pub fn sample(seed: u64) -> Sample {
    let mut random = Random::new(seed);
    let (controls, symbols) = (1 + random.below(3), 1 + random.below(3));
    let mut system = PushdownSystem::new(controls as usize, symbols as usize);
    let (pops, pushes) = [(34, 33), (45, 35), (15, 60), (25, 15)][random.below(4) as usize];
    let count = random.below(2 + 2 * symbols + 2 * controls) + random.below(controls * symbols);
    // Some systems have rules with equal letters: their order must not be mixed up with their number.
    let letters = if random.chance(50) { 10 } else { 3 };
    for number in 0..count {
        let mut control = || ControlId(random.below(controls));
        let (from, to) = (control(), control());
        let mut symbol = || SymbolId(random.below(symbols));
        let (top, first, second) = (symbol(), symbol(), symbol());
        let replacement = match random.below(100) {
            kind if kind < pops => Replacement::Pop,
            kind if kind < pops + pushes => Replacement::Push { callee: first, resume: second },
            _ => Replacement::Step(first),
        };
        let tag = Tag { letter: (number % letters) as u8, cost: u64::from(random.below(4)) };
        system.add(Head { control: from, symbol: top }, to, replacement, tag);
    }
    let accepting = (0..controls * symbols)
        .filter(|_| random.chance(30))
        .map(|number| Head { control: ControlId(number / symbols), symbol: SymbolId(number % symbols) })
        .collect();
    let mut sample =
        Sample { system, configurations: None, state_count: controls as usize, edges: Vec::new(), finals: Vec::new(), accepting };
    if symbols == 3 || random.chance(60) {
        finite(&mut sample, &mut random, controls, symbols);
    } else {
        regular(&mut sample, &mut random, controls, symbols);
    }
    sample
}

/// One or two configurations.
fn finite(sample: &mut Sample, random: &mut Random, controls: u32, symbols: u32) {
    let mut configurations = Vec::new();
    for _ in 0..1 + random.below(2) {
        let control = ControlId(random.below(controls));
        let height = [1, 1, 2, 2, 3, 0][random.below(6) as usize];
        let stack: Vec<SymbolId> = (0..height).map(|_| SymbolId(random.below(symbols))).collect();
        let mut state = StateId(control.0);
        for symbol in &stack {
            let to = StateId::from(sample.state_count);
            sample.state_count += 1;
            sample.edges.push(Edge { from: state, symbol: *symbol, to, letter: None });
            state = to;
        }
        sample.finals.push((state, None));
        configurations.push(Configuration::new(control, stack));
    }
    configurations.sort();
    configurations.dedup();
    sample.configurations = Some(configurations);
}

/// Any automaton: loops, control states entered and final, weights.
fn regular(sample: &mut Sample, random: &mut Random, controls: u32, symbols: u32) {
    sample.state_count += 1 + random.below(2) as usize;
    let states = sample.state_count as u32;
    let letter = |random: &mut Random| random.chance(50).then(|| 10 + random.below(6) as u8);
    for _ in 0..2 + random.below(4) {
        let (from, to) = (StateId(random.below(states)), StateId(random.below(states)));
        let (symbol, letter) = (SymbolId(random.below(symbols)), letter(random));
        if sample.edges.iter().all(|edge| (edge.from, edge.symbol, edge.to) != (from, symbol, to)) {
            sample.edges.push(Edge { from, symbol, to, letter });
        }
    }
    sample.finals.push((StateId(states - 1), letter(random)));
    if random.chance(30) {
        sample.finals.push((StateId(random.below(controls)), letter(random)));
    }
}
