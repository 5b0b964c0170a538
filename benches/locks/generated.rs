//! Threads made up for measuring: philosophers, and programs with many functions and locks.

use lockcheck::locks::Mode;
use lockcheck::locks::history::LockId;
use lockcheck::pushdown::{ControlId, Head, Replacement, SymbolId};
use lockcheck::thread_pds::{Access, Identity, Lock, LockKind, Step, ThreadId, ThreadSystem, Threads};

/// Writes the rules of one thread.
struct Writer {
    system: ThreadSystem,
}

impl Writer {
    fn new(name: String, symbols: usize) -> Writer {
        let mut system = ThreadSystem::new(name, SymbolId(0));
        system.instances = 1;
        system.system = lockcheck::pushdown::PushdownSystem::new(1, symbols);
        system.places = (0..symbols as u32).collect();
        Writer { system }
    }

    fn rule(&mut self, from: u32, replacement: Replacement, step: Step) {
        let head = Head { control: ControlId(0), symbol: SymbolId(from) };
        self.system.system.add(head, ControlId(0), replacement, step);
    }

    fn step(&mut self, from: u32, step: Step) {
        self.rule(from, Replacement::Step(SymbolId(from + 1)), step);
    }
}

fn acquire(lock: u32) -> Step {
    Step::Acquire { lock: LockId(lock), mode: Mode::Exclusive }
}

fn release(lock: u32) -> Step {
    Step::Release { lock: LockId(lock) }
}

fn mutexes(threads: &mut Threads, count: u32, word: &str) {
    for number in 0..count {
        threads.locks.add(Lock { name: format!("{word}{number}"), kind: LockKind::Mutex, identity: Identity::One });
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Plain,
    /// A lock that each takes first.
    Gate,
    /// One takes the forks the other way round.
    LeftHanded,
}

/// Philosophers around a table, each taking two forks, again and again.
pub fn philosophers(count: u32, table: Table) -> Threads {
    let mut threads = Threads::default();
    mutexes(&mut threads, count, "fork");
    let gate = LockId(count);
    threads.locks.add(Lock { name: "gate".to_owned(), kind: LockKind::Mutex, identity: Identity::One });
    for number in 0..count {
        let (mut first, mut second) = (number, (number + 1) % count);
        if table == Table::LeftHanded && number == 0 {
            std::mem::swap(&mut first, &mut second);
        }
        let mut steps = vec![acquire(first), acquire(second), Step::Nothing, release(second), release(first)];
        if table == Table::Gate {
            steps.insert(0, acquire(gate.0));
            steps.push(release(gate.0));
        }
        let mut writer = Writer::new(format!("philosopher{number}"), steps.len() + 1);
        for (at, step) in steps.iter().enumerate() {
            writer.step(at as u32, *step);
        }
        let end = steps.len() as u32;
        writer.rule(end, Replacement::Pop, Step::Nothing);
        writer.rule(end, Replacement::Step(SymbolId(0)), Step::Nothing);
        threads.threads.push(writer.system);
    }
    threads
}

/// How a made-up program looks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub threads: u32,
    pub functions: u32,
    pub locks: u32,
    /// Locks held at once.
    pub nesting: u32,
    /// Points of a function.
    pub points: u32,
    /// Of a hundred points at which nothing is held: how many take a lock.
    pub sections: u32,
    /// Of a hundred locks that are taken: how many do not follow the order of the others.
    pub disorder: u32,
    /// The first thread creates the others and joins them.
    pub is_created: bool,
    /// Every fifth thread is a copy of the one before it.
    pub has_copies: bool,
}

pub const OBJECTS: u32 = 100;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % bound
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// Functions with branches, loops and critical sections that call functions further down; a function of level n takes locks of level n and calls
/// functions of higher levels while it holds one, so that locks nest as deep as there are levels.
pub fn program(shape: Shape) -> Threads {
    let mut threads = Threads::default();
    mutexes(&mut threads, shape.locks, "lock");
    for number in 0..shape.threads {
        let is_copy = shape.has_copies && number % 5 == 4;
        let seed = u64::from(if is_copy { number - 1 } else { number });
        let mut system = body(shape, number, seed);
        if shape.is_created && number > 0 {
            system.instances = 0;
        }
        threads.threads.push(system);
    }
    threads
}

fn body(shape: Shape, number: u32, seed: u64) -> ThreadSystem {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let length = shape.points + 2 * shape.threads;
    let mut writer = Writer::new(format!("thread{number}"), (shape.functions * shape.points + length) as usize);
    let mut create_at = 0;
    // The first function of the first thread is longer: it creates and joins.
    let entry_of = |function: u32| if function == 0 { 0 } else { length + (function - 1) * shape.points };
    for function in 0..shape.functions {
        let points = if function == 0 { length } else { shape.points };
        let entry = entry_of(function);
        let level = function * shape.nesting / shape.functions;
        let mut section: Option<(u32, u32)> = None;
        // No lock is taken where a branch may pass by.
        let mut quiet_until = 0;
        let mut at = 0;
        if function == 0 && number == 0 && shape.is_created {
            for child in 1..shape.threads {
                writer.step(entry + create_at, Step::Spawn { thread: ThreadId(child) });
                create_at += 1;
            }
            at = create_at;
        }
        while at + 1 < points {
            let here = entry + at;
            let last = at + 2 >= points;
            match section {
                Some((lock, until)) if at >= until || last => {
                    writer.step(here, release(lock));
                    section = None;
                }
                None if at >= quiet_until && at + 8 < points && random.chance(shape.sections) => {
                    let classes = shape.locks / shape.nesting;
                    let class = if random.chance(shape.disorder) { random.below(shape.nesting) } else { level };
                    let lock = class * classes + random.below(classes);
                    writer.step(here, acquire(lock));
                    let until = (at + 2 + random.below(6)).min(points - 2);
                    // Every section may be passed by, and every call, so that all of the program is reached.
                    writer.rule(here, Replacement::Step(SymbolId(entry + until + 1)), Step::Nothing);
                    section = Some((lock, until));
                }
                _ => {
                    // A callee of a higher level, so that no lock is taken while one of its level is held.
                    let first = (level + 1) * shape.functions / shape.nesting;
                    let first = if section.is_none() { (function + 1).max(first.min(function + 1)) } else { first };
                    match random.below(20) {
                        0 | 1 if first < shape.functions => {
                            let callee = first + random.below((shape.functions - first).min(12));
                            let (callee, resume) = (SymbolId(entry_of(callee)), SymbolId(here + 1));
                            writer.rule(here, Replacement::Push { callee, resume }, Step::Nothing);
                            writer.step(here, Step::Nothing);
                        }
                        2 if section.is_none() && at + 4 < points => {
                            let over = 2 + random.below(2);
                            quiet_until = quiet_until.max(at + over);
                            writer.step(here, Step::Nothing);
                            writer.rule(here, Replacement::Step(SymbolId(here + over)), Step::Nothing);
                        }
                        3 if section.is_none() && at > 3 && function > 0 => {
                            writer.step(here, Step::Nothing);
                            writer.rule(here, Replacement::Step(SymbolId(entry)), Step::Nothing);
                        }
                        4 => {
                            let access = Access { object: random.below(OBJECTS), is_write: random.chance(40), is_atomic: false };
                            writer.system.accesses.insert(SymbolId(here), access);
                            writer.step(here, Step::Nothing);
                        }
                        _ => writer.step(here, Step::Nothing),
                    }
                }
            }
            at += 1;
        }
        if function == 0 {
            // The end of the thread calls on: every function is of use.
            let end = entry + points - 1;
            for callee in (1..shape.functions).step_by((shape.functions as usize / 40).max(1)) {
                let callee = SymbolId(entry_of(callee));
                writer.rule(end, Replacement::Push { callee, resume: SymbolId(end) }, Step::Nothing);
            }
        }
        writer.rule(entry + points - 1, Replacement::Pop, Step::Nothing);
    }
    writer.system
}
