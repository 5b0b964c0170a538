//! Random small C programs that do little else than lock: nested and not, through wrappers and helpers, tried, read and written, under gates, with
//! threads that are created and joined under locks. Every statement has its own line, so that lines tell sites apart.

use std::fmt::Write;

use super::random::Random;

pub struct Generated {
    pub source: String,
    /// What the program uses, for coverage over many seeds.
    pub features: Vec<&'static str>,
}

/// All that a program may use.
pub const FEATURES: [&str; 10] = [
    "wrapper",
    "helper",
    "trylock",
    "read-write",
    "recursive",
    "not nested",
    "gate",
    "join under a lock",
    "three threads",
    "same thread twice",
];

struct Writer {
    random: Random,
    text: String,
    features: Vec<&'static str>,
    /// Locks that the current thread holds, in the order it took them.
    held: Vec<usize>,
    /// It may take them again.
    takes_again: bool,
}

const MUTEXES: usize = 3;
/// The number of the read-write lock, and of the recursive mutex.
const READ_WRITE: usize = 3;
const RECURSIVE: usize = 4;

pub fn program(seed: u64) -> Generated {
    write(seed, false)
}

/// A program that may take a lock which it holds.
pub fn program_that_takes_again(seed: u64) -> Generated {
    write(seed, true)
}

fn write(seed: u64, takes_again: bool) -> Generated {
    let mut writer =
        Writer { random: Random::new(seed), text: String::new(), features: Vec::new(), held: Vec::new(), takes_again };
    writer.line("#define _GNU_SOURCE");
    writer.line("#include <pthread.h>");
    for mutex in 0..MUTEXES {
        writer.line(&format!("pthread_mutex_t m{mutex} = PTHREAD_MUTEX_INITIALIZER;"));
    }
    writer.line("pthread_rwlock_t m3 = PTHREAD_RWLOCK_INITIALIZER;");
    writer.line("pthread_mutex_t m4 = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;");
    writer.line("static void take(pthread_mutex_t *m) { pthread_mutex_lock(m); }");
    writer.line("static void give(pthread_mutex_t *m) { pthread_mutex_unlock(m); }");
    let helper = writer.random.below(MUTEXES as u64) as usize;
    writer.line("static void helper(void) {");
    writer.line(&format!("  pthread_mutex_lock(&m{helper});"));
    writer.line(&format!("  pthread_mutex_unlock(&m{helper});"));
    writer.line("}");
    let bodies = if writer.random.below(6) == 0 { 3 } else { 2 };
    if bodies == 3 {
        writer.features.push("three threads");
    }
    for body in 0..bodies {
        writer.line(&format!("static void *t{body}(void *p) {{"));
        let gate = (bodies == 2 && writer.random.below(4) == 0).then_some(0);
        if let Some(gate) = gate {
            writer.features.push("gate");
            writer.acquire(gate);
        }
        let steps = 2 + writer.random.below(3);
        for _ in 0..steps {
            writer.step(helper);
        }
        while let Some(lock) = writer.held.last().copied() {
            writer.release(lock);
        }
        writer.line("  return p;");
        writer.line("}");
    }
    writer.main(bodies as usize);
    let Writer { text, mut features, .. } = writer;
    features.sort_unstable();
    features.dedup();
    Generated { source: text, features }
}

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string grows");
    }

    /// Whether the thread may go for a lock.
    fn may_take(&mut self, lock: usize) -> bool {
        !self.held.contains(&lock) || self.takes_again && self.random.below(4) == 0
    }

    fn acquire(&mut self, lock: usize) {
        let text = match lock {
            READ_WRITE if self.random.below(2) == 0 => "pthread_rwlock_rdlock(&m3);".to_owned(),
            READ_WRITE => "pthread_rwlock_wrlock(&m3);".to_owned(),
            RECURSIVE => "pthread_mutex_lock(&m4);".to_owned(),
            _ if self.random.below(4) == 0 => {
                self.features.push("wrapper");
                format!("take(&m{lock});")
            }
            _ => format!("pthread_mutex_lock(&m{lock});"),
        };
        if lock == READ_WRITE {
            self.features.push("read-write");
        }
        self.line(&format!("  {text}"));
        self.held.push(lock);
    }

    fn release(&mut self, lock: usize) {
        if self.held.last() != Some(&lock) {
            self.features.push("not nested");
        }
        let at = self.held.iter().rposition(|held| *held == lock).expect("it is held");
        self.held.remove(at);
        match lock {
            READ_WRITE => self.line("  pthread_rwlock_unlock(&m3);"),
            RECURSIVE => self.line("  pthread_mutex_unlock(&m4);"),
            _ if self.random.below(4) == 0 => self.line(&format!("  give(&m{lock});")),
            _ => self.line(&format!("  pthread_mutex_unlock(&m{lock});")),
        }
    }

    fn step(&mut self, helper: usize) {
        // Few locks, so that threads meet.
        let lock = if self.random.below(5) == 0 { self.random.below(MUTEXES as u64 + 1) } else { self.random.below(2) } as usize;
        match self.random.below(10) {
            0..=4 if self.held.len() < 3 && self.may_take(lock) => self.acquire(lock),
            5..=6 if !self.held.is_empty() => {
                let at = if self.random.below(3) == 0 {
                    self.random.below(self.held.len() as u64) as usize
                } else {
                    self.held.len() - 1
                };
                self.release(self.held[at]);
            }
            7 if self.may_take(helper) => {
                self.features.push("helper");
                self.line("  helper();");
            }
            8 if lock < MUTEXES && self.may_take(lock) => {
                self.features.push("trylock");
                self.line(&format!("  if (pthread_mutex_trylock(&m{lock}) == 0)"));
                self.line(&format!("    pthread_mutex_unlock(&m{lock});"));
            }
            9 if self.held.iter().filter(|held| **held == RECURSIVE).count() < 2 && self.held.len() < 3 => {
                self.features.push("recursive");
                self.acquire(RECURSIVE);
            }
            _ => {}
        }
    }

    fn main(&mut self, bodies: usize) {
        let threads: Vec<usize> = match self.random.below(5) {
            0 if bodies == 2 => {
                self.features.push("same thread twice");
                vec![0, 0]
            }
            _ => (0..bodies).collect(),
        };
        self.line("int main(void) {");
        self.line("  pthread_t h[3];");
        let under = (self.random.below(4) == 0).then(|| self.random.below(MUTEXES as u64));
        let in_turn = threads.len() == 2 && self.random.below(8) == 0;
        for (at, body) in threads.iter().enumerate() {
            self.line(&format!("  pthread_create(&h[{at}], 0, t{body}, 0);"));
            if in_turn {
                self.line(&format!("  pthread_join(h[{at}], 0);"));
            }
        }
        if let Some(lock) = under {
            self.features.push("join under a lock");
            self.line(&format!("  pthread_mutex_lock(&m{lock});"));
        }
        if !in_turn {
            for at in 0..threads.len() {
                self.line(&format!("  pthread_join(h[{at}], 0);"));
            }
        }
        if let Some(lock) = under {
            self.line(&format!("  pthread_mutex_unlock(&m{lock});"));
        }
        self.line("  return 0;");
        self.line("}");
    }
}
