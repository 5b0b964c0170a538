//! Random thread models: threads with calls, loops, recursion, spawn and join with locks held, nested and not, read locks, trylock,
//! re-entrant locks. A seed names one model.

use std::fmt::Write;

use super::random::Random;

/// How large models are, and what may occur in them.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub most_threads: u64,
    pub most_locks: u64,
    /// Steps of a thread that touch something shared, about.
    pub most_steps: u64,
    pub has_recursion: bool,
    pub has_attempts: bool,
    pub has_spawn: bool,
    pub has_loops: bool,
    /// Conditions and assignments.
    pub has_data: bool,
    /// Releases of locks that are not held.
    pub has_foreign_releases: bool,
    /// Locks held at the start.
    pub has_holds: bool,
    /// Threads that use each other's locks while they hold their own.
    pub has_crossings: bool,
}

impl Shape {
    pub const FULL: Shape = Shape {
        most_threads: 4,
        most_locks: 6,
        most_steps: 8,
        has_recursion: true,
        has_attempts: true,
        has_spawn: true,
        has_loops: true,
        has_data: true,
        has_foreign_releases: true,
        has_holds: false,
        has_crossings: false,
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mutex,
    Recursive,
    ReadWrite,
}

/// The text of the model with this seed.
pub fn model(seed: u64, shape: &Shape) -> String {
    let mut random = Random::new(seed.wrapping_mul(0x1000_0001).wrapping_add(seed));
    let threads = random.between(2, shape.most_threads as i64) as usize;
    // Few locks for many threads, so that they meet.
    let locks = random.between(2, shape.most_locks as i64) as usize;
    let locks = if random.chance(60) { locks.min(3) } else { locks };
    let kinds: Vec<Kind> = (0..locks)
        .map(|_| match random.below(100) {
            0..=64 => Kind::Mutex,
            65..=79 => Kind::Recursive,
            _ => Kind::ReadWrite,
        })
        .collect();
    let spawns = shape.has_spawn && random.chance(45);
    // Most models have some of the features only: with all of them in each, none would be explored whole.
    let shape = &Shape {
        has_recursion: shape.has_recursion && random.chance(45),
        has_attempts: shape.has_attempts && random.chance(40),
        has_loops: shape.has_loops && random.chance(35),
        has_foreign_releases: shape.has_foreign_releases && random.chance(30),
        most_steps: if threads == 4 { shape.most_steps.min(5) } else { shape.most_steps },
        ..*shape
    };
    let mut holds = Vec::new();
    let crossing = (shape.has_crossings && random.chance(25)).then(|| random.between(2, locks.min(threads) as i64) as usize);
    let is_ring = random.chance(15);
    let is_nested = random.chance(50);
    let mut text = String::new();
    let words: Vec<String> = kinds.iter().enumerate().map(|(index, kind)| format!("l{index}: {}", word(*kind))).collect();
    writeln!(text, "locks: {{{}}}", words.join(", ")).expect("a string grows");
    writeln!(text, "variables: {{x: 0, y: 0, f: {{initial: 0, atomic: {}}}}}\nthreads:", random.chance(50))
        .expect("a string grows");
    for thread in 0..threads {
        let mut children: Vec<usize> = if spawns && thread == 0 { (1..threads).collect() } else { Vec::new() };
        if shape.has_crossings && random.chance(30) {
            children.extend(children.last().copied());
        }
        let mut writer = Writer {
            random: &mut random,
            shape,
            kinds: &kinds,
            is_nested,
            children,
            labels: 0,
            left: 0,
            procedures: Vec::new(),
            recursive: false,
        };
        match is_ring {
            true => writer.ring(thread, threads),
            false => writer.thread(),
        }
        let mut procedures = writer.procedures;
        if let Some(count) = crossing {
            let (own, next) = (thread % count, (thread + 1) % count);
            let shared = if kinds[own] == Kind::ReadWrite && random.chance(30) { " shared" } else { "" };
            let steps = [format!("acquire l{own}{shared}"), format!("acquire l{next}"), format!("release l{next}")];
            let steps = steps.into_iter().chain(["write y".to_owned(), format!("release l{own}")]);
            procedures[0].splice(0..0, steps);
        }
        let held = (shape.has_holds && !(spawns && thread > 0) && random.chance(12))
            .then(|| thread % locks)
            .filter(|lock| !holds.contains(lock));
        if let Some(lock) = held {
            holds.push(lock);
            let at = random.below(procedures[0].len() as u64 + 1) as usize;
            let is_plain = at == 0 || !procedures[0][at - 1].starts_with("goto");
            procedures[0].insert(if is_plain { at } else { 0 }, format!("release l{lock}"));
        }
        let held = held.map_or(String::new(), |lock| format!("    holds: [l{lock}]\n"));
        writeln!(text, "  t{thread}:\n{held}    procedures:").expect("a string grows");
        for (index, steps) in procedures.iter().enumerate() {
            writeln!(text, "      p{index}:{}", if steps.is_empty() { " []" } else { "" }).expect("a string grows");
            steps.iter().for_each(|step| writeln!(text, "        - {step}").expect("a string grows"));
        }
    }
    text
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Mutex => "mutex",
        Kind::Recursive => "recursive",
        Kind::ReadWrite => "rw",
    }
}

struct Writer<'a> {
    random: &'a mut Random,
    shape: &'a Shape,
    kinds: &'a [Kind],
    is_nested: bool,
    /// Threads that are still to be spawned.
    children: Vec<usize>,
    labels: usize,
    /// Steps that may still be written.
    left: i64,
    /// The entry is the first.
    procedures: Vec<Vec<String>>,
    /// The procedure that is being written calls itself somewhere.
    recursive: bool,
}

type Steps = Vec<String>;

impl Writer<'_> {
    fn thread(&mut self) {
        self.left = self.random.between(2, self.shape.most_steps as i64);
        let helpers = self.random.below(3) as usize;
        self.procedures = vec![Vec::new(); helpers + 1];
        // The last one first: a procedure calls those after it, and itself.
        for index in (0..=helpers).rev() {
            let share = if index == 0 { self.left.max(1) } else { (self.left / 2).max(1) };
            let rest = self.left - share;
            self.left = share;
            self.recursive = self.shape.has_recursion && self.random.chance(35);
            let mut held = Vec::new();
            let mut steps = self.block(index, &mut held, 0);
            if index == 0 {
                steps.extend(self.children_steps());
                if let Some(helper) = (1..=helpers).find(|_| self.random.chance(50)) {
                    let at = self.random.below(steps.len() as u64 + 1) as usize;
                    // Not between a label and its step, not behind a jump.
                    if at == 0 || !steps[at - 1].starts_with("goto") {
                        steps.insert(at, format!("call p{helper}"));
                    }
                }
            }
            // Most give back what they hold; a wrapper does not.
            let keeps = self.random.chance(if index == 0 { 15 } else { 10 });
            if !keeps {
                steps.extend(self.releases(&mut held));
            }
            self.procedures[index] = steps;
            self.left += rest;
        }
    }

    /// One of a circle of threads: holds its own lock, has used or wants the next one's.
    fn ring(&mut self, thread: usize, threads: usize) {
        let count = threads.min(self.kinds.len());
        let (own, next) = (thread % count, (thread + 1) % count);
        let mut steps = vec![self.acquire(own)];
        if self.random.chance(30) {
            steps.push(self.access());
        }
        steps.push(self.acquire(next));
        let noise = self.access();
        match self.random.below(3) {
            0 => steps.extend([format!("release l{next}"), noise, format!("release l{own}")]),
            1 => steps.extend([format!("release l{own}"), noise, format!("release l{next}")]),
            _ => steps.extend([noise, format!("release l{next}")]),
        }
        if self.random.chance(20) {
            steps.insert(0, self.acquire(count - 1));
            steps.push(format!("release l{}", count - 1));
        }
        let mut children = self.children_steps();
        children.extend(steps);
        self.procedures = vec![children];
    }

    fn releases(&mut self, held: &mut Vec<usize>) -> Steps {
        if !self.is_nested && held.len() > 1 {
            held.rotate_left(1);
        }
        held.drain(..).rev().map(|lock| format!("release l{lock}")).collect()
    }

    /// Children that were not spawned yet, with joins sometimes.
    fn children_steps(&mut self) -> Steps {
        let mut steps = Vec::new();
        for child in std::mem::take(&mut self.children) {
            steps.push(format!("spawn t{child}"));
            if self.random.chance(25) {
                steps.push(format!("join t{child}"));
            }
        }
        steps
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("n{}", self.labels)
    }

    /// Some steps; `held` is what this procedure has taken and not given back on the way here.
    fn block(&mut self, index: usize, held: &mut Vec<usize>, depth: usize) -> Steps {
        let mut steps = Vec::new();
        while self.left > 0 && !(depth > 0 && self.random.chance(30)) {
            self.left -= 1;
            match self.random.below(100) {
                0..=40 => self.section(index, held, depth, &mut steps),
                41..=49 => steps.push(self.access()),
                50..=56 if self.shape.has_attempts => self.attempt(index, depth, &mut steps),
                57..=66 => self.choice(index, depth, &mut steps),
                67..=72 if self.shape.has_loops && depth < 2 => self.endless(index, depth, &mut steps),
                73..=80 if index + 1 < self.procedures.len() => steps.push(format!("call p{}", index + 1)),
                81..=86 if self.recursive => self.recursion(index, depth, &mut steps),
                87..=91 if depth == 0 && !self.children.is_empty() => {
                    let child = self.children.remove(0);
                    steps.push(format!("spawn t{child}"));
                    if self.random.chance(40) {
                        steps.push(format!("join t{child}"));
                    }
                }
                92..=95 if self.shape.has_data => steps.push(self.data()),
                96 if self.shape.has_foreign_releases => {
                    steps.push(format!("release l{}", self.random.below(self.kinds.len() as u64)))
                }
                97 => steps.push("skip".to_owned()),
                _ => steps.push(self.access()),
            }
        }
        if depth == 0 && self.recursive {
            self.recursion(index, depth, &mut steps);
        }
        steps
    }

    fn access(&mut self) -> String {
        format!("{} {}", self.random.pick(&["read", "write", "write"]), self.random.pick(&["x", "x", "y"]))
    }

    fn data(&mut self) -> String {
        self.random
            .pick(&["assign f = 1", "assign f = f + 1", "assign f = 0", "assume f == 0", "assume f != 0", "assume f <= 1"])
            .to_string()
    }

    fn acquire(&mut self, lock: usize) -> String {
        let shared = if self.kinds[lock] == Kind::ReadWrite && self.random.chance(60) { " shared" } else { "" };
        format!("acquire l{lock}{shared}")
    }

    /// A lock that may be taken here; one that is held already only if it is made for that, or by a rare mistake.
    fn free_lock(&mut self, held: &[usize]) -> Option<usize> {
        let lock = self.random.below(self.kinds.len() as u64) as usize;
        let is_free = !held.contains(&lock) || self.kinds[lock] == Kind::Recursive || self.random.chance(6);
        is_free.then_some(lock)
    }

    /// Takes a lock; gives it back after a block, or later, or in the wrong order.
    fn section(&mut self, index: usize, held: &mut Vec<usize>, depth: usize, steps: &mut Steps) {
        let Some(lock) = self.free_lock(held) else { return };
        steps.push(self.acquire(lock));
        held.push(lock);
        if self.is_nested {
            let before = held.len();
            let inner = self.block(index, held, depth + 1);
            steps.extend(inner);
            // What the block kept was taken later and goes first.
            if self.random.chance(75) {
                while held.len() >= before {
                    let lock = held.pop().expect("something is held");
                    steps.push(format!("release l{lock}"));
                }
            }
        } else if held.len() > 1 && self.random.chance(60) {
            let lock = held.remove(0);
            steps.push(format!("release l{lock}"));
        } else if self.random.chance(40) {
            let lock = held.pop().expect("something is held");
            steps.push(self.access());
            steps.push(format!("release l{lock}"));
        }
    }

    fn attempt(&mut self, index: usize, depth: usize, steps: &mut Steps) {
        let lock = self.random.below(self.kinds.len() as u64) as usize;
        let shared = if self.kinds[lock] == Kind::ReadWrite && self.random.chance(50) { " shared" } else { "" };
        let out = self.label();
        steps.push(format!("try l{lock}{shared} else {out}"));
        let inner = self.block(index, &mut vec![lock], depth + 1);
        steps.extend(inner);
        steps.push(format!("release l{lock}"));
        steps.push(format!("label {out}"));
    }

    /// Perhaps a block, perhaps not; what it takes it gives back.
    fn choice(&mut self, index: usize, depth: usize, steps: &mut Steps) {
        let (inside, out) = (self.label(), self.label());
        steps.push(format!("goto [{inside}, {out}]"));
        steps.push(format!("label {inside}"));
        let mut held = Vec::new();
        let inner = self.block(index, &mut held, depth + 1);
        steps.extend(inner);
        steps.extend(self.releases(&mut held));
        steps.push(format!("label {out}"));
    }

    fn endless(&mut self, index: usize, depth: usize, steps: &mut Steps) {
        let (again, out) = (self.label(), self.label());
        steps.push(format!("label {again}"));
        let mut held = Vec::new();
        let inner = self.block(index, &mut held, depth + 1);
        steps.extend(inner);
        steps.extend(self.releases(&mut held));
        steps.push(format!("goto [{again}, {out}]"));
        steps.push(format!("label {out}"));
    }

    fn recursion(&mut self, index: usize, depth: usize, steps: &mut Steps) {
        let (inside, out) = (self.label(), self.label());
        steps.push(format!("goto [{out}, {inside}]"));
        steps.push(format!("label {inside}"));
        let lock = self.random.below(self.kinds.len() as u64) as usize;
        // A plain mutex would be taken twice.
        let takes = depth == 0 && self.random.chance(50) && (self.kinds[lock] != Kind::Mutex || self.random.chance(20));
        if takes {
            steps.push(self.acquire(lock));
        }
        steps.push(format!("call p{index}"));
        if takes {
            steps.push(format!("release l{lock}"));
        }
        steps.push(format!("label {out}"));
        self.recursive = false;
    }
}
