//! Random programs of locks without any discipline: sections that match and some that do not, locks by name, by index, through pointers and
//! wrappers, tried, shared, re-entrant, error-checking, held where threads are created, destroyed too early; barriers with any count, semaphores
//! with any number of permits.

use std::collections::BTreeSet;

use super::random::Random;

pub struct Chaos {
    random: Random,
    pub features: BTreeSet<&'static str>,
    functions: Vec<String>,
    /// Helpers that have a name; one that is being written is not among the functions yet.
    helpers: usize,
    /// Visible operations that may still be written.
    left: i64,
    /// In `main` there is no argument.
    in_main: bool,
    depth: u32,
    /// Whether there are barriers at all.
    has_barrier: bool,
    has_semaphore: bool,
}

/// The program of a seed.
pub fn program(seed: u64) -> (String, BTreeSet<&'static str>) {
    let mut chaos = Chaos {
        random: Random::new(seed ^ 0x5eed_1057),
        features: BTreeSet::new(),
        functions: Vec::new(),
        helpers: 0,
        left: 0,
        in_main: false,
        depth: 0,
        has_barrier: false,
        has_semaphore: false,
    };
    let text = chaos.write();
    (text, chaos.features)
}

/// What a hundred programs cover.
pub const FEATURES: [&str; 25] = [
    "barrier",
    "branch",
    "chosen-lock",
    "created-in-loop",
    "destroyed",
    "early-return",
    "error-checking",
    "helper",
    "inside-wrapper",
    "lock-by-index",
    "lock-held-at-creation",
    "lock-in-node",
    "main-takes-part",
    "nested-read-write",
    "one-after-another",
    "one-entry-twice",
    "read-write-lock",
    "recursion",
    "recursive",
    "semaphore",
    "semaphore-tried",
    "trylock",
    "trylock-ignored",
    "unmatched",
    "wrapper",
];

const HEAD: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
struct node { pthread_mutex_t lock; int v; };
static pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER, locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t bar, bars[2];
static sem_t s, sems[2];
static int x, y, data[2];
static void pass(pthread_barrier_t *b) { pthread_barrier_wait(b); }
static void down(sem_t *c) { sem_wait(c); }
static void up(sem_t *c) { sem_post(c); }
static void enter(pthread_mutex_t *l) { pthread_mutex_lock(l); }
static void leave(pthread_mutex_t *l) { pthread_mutex_unlock(l); }
static int attempt(pthread_mutex_t *l) { return pthread_mutex_trylock(l) == 0; }
static void add(pthread_mutex_t *l, int *d) { pthread_mutex_lock(l); *d = 3; pthread_mutex_unlock(l); }";

impl Chaos {
    fn cover(&mut self, feature: &'static str) {
        assert!(FEATURES.contains(&feature), "{feature} is not among the features");
        self.features.insert(feature);
    }

    fn write(&mut self) -> String {
        let kind = match self.random.below(4) {
            0 => {
                self.cover("recursive");
                "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP"
            }
            1 => {
                self.cover("error-checking");
                "PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP"
            }
            _ => "PTHREAD_MUTEX_INITIALIZER",
        };
        self.has_barrier = self.random.chance(30);
        self.has_semaphore = self.random.chance(40);
        let mut lines = vec![HEAD.to_owned(), format!("static pthread_mutex_t m = {kind};")];
        let shape = self.random.below(5);
        let first = self.worker("first", if shape == 2 { 5 } else { 4 });
        let second = if shape == 0 || shape == 3 { self.worker("second", 3) } else { String::new() };
        let main = self.main(shape);
        lines.append(&mut self.functions);
        lines.extend([first, second, main]);
        lines.retain(|line| !line.is_empty());
        lines.join("\n") + "\n"
    }

    fn worker(&mut self, name: &str, budget: i64) -> String {
        self.left = budget;
        self.in_main = false;
        let body = self.statements(3);
        // Reading the index and choosing a lock are visible operations too: only who uses them does them.
        let uses = |words: &[&str]| body.iter().any(|line| words.iter().any(|word| line.contains(word)));
        let index = if uses(&["[i", "- i]", ", i,"]) { " long i = p->v & 1;" } else { "" };
        let chosen = if uses(&["(q)", "(q,", ", q)"]) { " pthread_mutex_t *q = __VERIFIER_nondet_bool() ? &m : &n;" } else { "" };
        format!(
            "static void *{name}(void *a) {{\n    struct node *p = a; int seen = 0;{index}{chosen}\n{}    return (void *)(long)seen;\n}}",
            indent(&body)
        )
    }

    fn main(&mut self, shape: u64) -> String {
        let create = |handle: &str, entry: &str, node: &str| format!("pthread_create(&{handle}, 0, {entry}, {node});");
        let other = if self.random.chance(50) { "&b" } else { "&a" };
        let mut lines: Vec<String> = vec![
            format!(
                "static struct node a = {{PTHREAD_MUTEX_INITIALIZER, 0}}, b = {{PTHREAD_MUTEX_INITIALIZER, {}}};",
                self.random.below(2)
            ),
            "pthread_t t, u; int seen = 0; pthread_mutex_t *q = &m;".to_owned(),
        ];
        if self.has_barrier {
            for barrier in ["bar", "bars[0]", "bars[1]"] {
                lines.push(format!("pthread_barrier_init(&{barrier}, 0, {});", self.random.between(1, 3)));
            }
        }
        if self.has_semaphore {
            for semaphore in ["s", "sems[0]", "sems[1]"] {
                let permits = *self.random.pick(&[0, 0, 0, 1, 1, 1, 2]);
                lines.push(format!("sem_init(&{semaphore}, 0, {permits});"));
            }
        }
        match shape {
            0 => lines.extend([
                create("t", "first", "&a"),
                create("u", "second", other),
                "pthread_join(t, 0);".into(),
                "pthread_join(u, 0);".into(),
            ]),
            1 => {
                self.cover("one-entry-twice");
                lines.extend([
                    create("t", "first", "&a"),
                    create("u", "first", other),
                    "pthread_join(t, 0);".into(),
                    "pthread_join(u, 0);".into(),
                ]);
            }
            2 => {
                self.cover("main-takes-part");
                let holds = self.random.chance(60);
                if holds {
                    self.cover("lock-held-at-creation");
                    lines.push("pthread_mutex_lock(&m);".into());
                }
                lines.push(create("t", "first", "&a"));
                (self.left, self.in_main) = (3, true);
                lines.extend(self.statements(2));
                if holds && self.random.chance(85) {
                    lines.push("pthread_mutex_unlock(&m);".into());
                    if self.random.chance(40) {
                        lines.push("x = 9;".into());
                    }
                }
                lines.push("pthread_join(t, 0);".into());
            }
            3 => {
                self.cover("one-after-another");
                lines.extend([
                    create("t", "first", "&a"),
                    "pthread_join(t, 0);".into(),
                    create("u", "second", other),
                    "x = 8;".into(),
                    "pthread_join(u, 0);".into(),
                ]);
            }
            _ => {
                self.cover("created-in-loop");
                lines.extend([
                    "pthread_t h[2]; static struct node nodes[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 1}};".into(),
                    format!("for (long k = 0; k < 2; k++) pthread_create(&h[k], 0, first, {});", if self.random.chance(70) { "&nodes[k]" } else { "&nodes[0]" }),
                    "for (int k = 0; k < 2; k++) pthread_join(h[k], 0);".into(),
                ]);
            }
        }
        if self.random.chance(40) {
            lines.push("y = x;".into());
        }
        lines.push("return seen;".into());
        format!("int main(void) {{\n{}}}", indent(&lines))
    }

    fn statements(&mut self, most: u64) -> Vec<String> {
        let count = 1 + self.random.below(most);
        (0..count).flat_map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Vec<String> {
        if self.left <= 0 {
            return Vec::new();
        }
        self.depth += 1;
        let text = match self.random.below(if self.depth > 3 { 3 } else { 16 }) {
            0..=2 => self.access(),
            3..=7 => self.section(),
            8 => self.tried(),
            9 => self.shared(),
            10 | 11 => {
                self.cover("branch");
                let mut lines = vec!["if (__VERIFIER_nondet_bool()) {".to_owned()];
                lines.extend(nested(self.statements(2)));
                if self.random.chance(40) {
                    lines.push("} else {".into());
                    lines.extend(nested(self.statements(2)));
                }
                lines.push("}".into());
                lines
            }
            _ if self.has_barrier && self.random.chance(35) => {
                self.cover("barrier");
                self.left -= 1;
                let barrier = if self.in_main { "&bar" } else { *self.random.pick(&["&bar", "&bar", "&bar", "&bars[i]"]) };
                let call = *self.random.pick(&["pthread_barrier_wait", "pass"]);
                vec![format!("{call}({barrier});")]
            }
            _ if self.has_semaphore && self.random.chance(45) => self.semaphore(),
            12 => self.helper(),
            13 => {
                self.cover("unmatched");
                self.left -= 1;
                let lock = self.lock();
                vec![if self.random.chance(50) {
                    format!("pthread_mutex_lock({lock});")
                } else {
                    format!("pthread_mutex_unlock({lock});")
                }]
            }
            14 if self.random.chance(15) => {
                self.cover("destroyed");
                self.left -= 1;
                vec![format!("pthread_mutex_destroy({});", self.lock())]
            }
            14 => {
                self.cover("inside-wrapper");
                self.left -= 3;
                let (lock, place) = (self.lock(), self.place());
                vec![format!("add({lock}, &{place});")]
            }
            _ => {
                self.cover("early-return");
                let result = if self.in_main { "return 1;" } else { "return 0;" };
                vec![format!("if (__VERIFIER_nondet_bool()) {result}")]
            }
        };
        self.depth -= 1;
        text
    }

    /// A semaphore as a lock, as a message, or anyhow.
    fn semaphore(&mut self) -> Vec<String> {
        self.cover("semaphore");
        self.left -= 1;
        let semaphore = if self.in_main { "&s" } else { *self.random.pick(&["&s", "&s", "&s", "&sems[0]", "&sems[i]"]) };
        let (wait, post) = *self.random.pick(&[("sem_wait", "sem_post"), ("down", "up")]);
        let mut lines = Vec::new();
        match self.random.below(7) {
            0 | 1 => {
                self.left -= 1;
                lines.push(format!("{wait}({semaphore});"));
                lines.extend(self.access());
                lines.push(format!("{post}({semaphore});"));
            }
            2 => {
                lines.push(format!("{wait}({semaphore});"));
                lines.extend(self.access());
            }
            3 | 4 => {
                lines.extend(self.access());
                lines.push(format!("{post}({semaphore});"));
            }
            _ => {
                self.cover("semaphore-tried");
                lines.push(format!("if (sem_trywait({semaphore}) == 0) {{"));
                lines.extend(nested(self.access()));
                lines.push("}".into());
            }
        }
        lines
    }

    fn place(&mut self) -> &'static str {
        let places: &[&'static str] = if self.in_main {
            &["x", "y", "data[0]", "a.v"]
        } else {
            &["x", "x", "y", "data[i]", "data[0]", "data[1 - i]", "data[i >> 1]", "p->v"]
        };
        *self.random.pick(places)
    }

    fn lock(&mut self) -> &'static str {
        let locks: &[&'static str] = if self.in_main {
            &["&m", "&m", "&n", "&locks[0]", "&a.lock", "q"]
        } else {
            &["&m", "&m", "&n", "&locks[i]", "&locks[0]", "&locks[1 - i]", "&p->lock", "&p->lock", "q"]
        };
        let lock = *self.random.pick(locks);
        match lock {
            "q" => self.cover("chosen-lock"),
            "&locks[i]" | "&locks[1 - i]" => self.cover("lock-by-index"),
            "&p->lock" => self.cover("lock-in-node"),
            _ => {}
        }
        lock
    }

    fn access(&mut self) -> Vec<String> {
        self.left -= 1;
        let place = self.place();
        match self.random.below(3) {
            0 => vec![format!("seen += {place};")],
            // `p->v` chooses the index: writing it is a story of its own.
            _ => vec![format!("{place} = {};", self.random.below(2))],
        }
    }

    fn section(&mut self) -> Vec<String> {
        self.left -= 2;
        let lock = self.lock();
        let (take, give) = match self.random.below(3) {
            0 => {
                self.cover("wrapper");
                (format!("enter({lock});"), format!("leave({lock});"))
            }
            _ => (format!("pthread_mutex_lock({lock});"), format!("pthread_mutex_unlock({lock});")),
        };
        let mut lines = vec![take];
        lines.extend(self.access());
        if self.random.chance(30) {
            lines.extend(self.statement());
        }
        if self.random.chance(92) {
            lines.push(give);
        }
        lines
    }

    fn tried(&mut self) -> Vec<String> {
        self.cover("trylock");
        self.left -= 2;
        let lock = self.lock();
        let give = format!("    pthread_mutex_unlock({lock});");
        let inner = nested(self.access());
        let mut lines = match self.random.below(5) {
            0 => vec![format!("if (pthread_mutex_trylock({lock}) == 0) {{")],
            1 => vec![format!("if (attempt({lock})) {{")],
            2 => vec![format!("switch (pthread_mutex_trylock({lock})) {{ case 0: ;")],
            3 => {
                let name = format!("r{}", self.random.below(1_000_000));
                vec![format!("int {name} = pthread_mutex_trylock({lock});"), format!("if (!{name}) {{")]
            }
            _ => {
                self.cover("trylock-ignored");
                vec![format!("pthread_mutex_trylock({lock});"), "{".to_owned()]
            }
        };
        let is_switch = lines[0].starts_with("switch");
        lines.extend(inner);
        lines.push(give);
        if is_switch {
            lines.push("    break;".into());
        } else if lines.iter().any(|line| line.starts_with("if")) && self.random.chance(40) {
            lines.push("} else {".into());
            lines.extend(nested(self.access()));
        }
        lines.push("}".into());
        lines
    }

    fn shared(&mut self) -> Vec<String> {
        self.cover("read-write-lock");
        self.left -= 2;
        let mode = *self.random.pick(&["rd", "rd", "wr"]);
        let mut lines = Vec::new();
        match self.random.below(4) {
            0 => {
                lines.push(format!("if (!pthread_rwlock_try{mode}lock(&rw)) {{"));
                lines.extend(nested(self.access()));
                lines.extend(["    pthread_rwlock_unlock(&rw);".to_owned(), "}".into()]);
            }
            1 => {
                self.cover("nested-read-write");
                let second = *self.random.pick(&["rd", "wr"]);
                lines.extend([format!("pthread_rwlock_{mode}lock(&rw);"), format!("pthread_rwlock_{second}lock(&rw);")]);
                lines.extend(self.access());
                lines.push("pthread_rwlock_unlock(&rw);".into());
            }
            _ => {
                lines.push(format!("pthread_rwlock_{mode}lock(&rw);"));
                lines.extend(self.access());
                lines.push("pthread_rwlock_unlock(&rw);".into());
            }
        }
        lines
    }

    /// A function of its own, called with a lock, perhaps by itself.
    fn helper(&mut self) -> Vec<String> {
        if self.in_main {
            return self.access();
        }
        self.cover("helper");
        let name = format!("helper{}", self.helpers);
        self.helpers += 1;
        let lock = self.lock();
        let mut body = self.statements(2);
        if self.random.chance(30) {
            self.cover("recursion");
            body.push(format!("if (k > 0) {name}(k - 1, p, i, q);"));
            body.extend(self.access());
        }
        body.retain(|line| !line.contains("return"));
        let body: Vec<String> = body
            .iter()
            .map(|line| {
                line.replace("seen +=", "int seen = 0; seen +=").replace("int seen = 0; seen += ", "(void)*(volatile int *)&")
            })
            .collect();
        self.functions
            .push(format!("static void {name}(int k, struct node *p, long i, pthread_mutex_t *q) {{\n{}}}", indent(&body)));
        vec![format!("{name}({}, p, i, {lock});", self.random.below(2))]
    }
}

fn nested(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("    {line}")).collect()
}

fn indent(lines: &[String]) -> String {
    lines.iter().map(|line| format!("    {line}\n")).collect()
}
