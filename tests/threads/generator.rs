//! Random C programs that create and join threads in many ways, and do little else.

pub struct Generated {
    pub source: String,
    pub covered: std::collections::BTreeSet<&'static str>,
}

struct Writer {
    state: u64,
    globals: String,
    functions: String,
    names: usize,
    covered: std::collections::BTreeSet<&'static str>,
}

/// A thread that a body has created and may join.
#[derive(Clone)]
enum Handle {
    /// A C expression of type `pthread_t`.
    One(String),
    /// An array and how many of its elements are used, as C.
    Array(String, String),
    /// A call that joins all that a pool has.
    Pool(String),
}

pub fn program(seed: u64) -> Generated {
    let mut writer = Writer {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995,
        globals: String::new(),
        functions: String::new(),
        names: 0,
        covered: Default::default(),
    };
    writer.globals.push_str("int count = 2;\nstruct slot { int id; pthread_t handle; pthread_t second; };\n");
    writer.globals.push_str("struct pool { int n; pthread_t inside[4]; int used; pthread_t *apart; };\n");
    writer
        .functions
        .push_str("static void spawn(pthread_t *t, void *(*entry)(void *), void *a) { pthread_create(t, 0, entry, a); }\n");
    writer.functions.push_str("static int start(pthread_t *kept, void *(*entry)(void *), void *a) { pthread_t t; int failed = pthread_create(&t, 0, entry, a); if (failed == 0 && kept) *kept = t; return failed; }\n");
    writer.functions.push_str("static void wait_for(pthread_t t) { pthread_join(t, 0); }\n");
    writer
        .functions
        .push_str("static void join_all(pthread_t *t, int n) { for (int i = 0; i < n; i++) pthread_join(t[i], 0); }\n");
    let body = writer.body(0);
    let source = format!("{}{}int main(int argc, char **argv) {{\n{body}    return 0;\n}}\n", writer.globals, writer.functions);
    Generated { source, covered: writer.covered }
}

impl Writer {
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn cover(&mut self, shape: &'static str) {
        self.covered.insert(shape);
    }

    /// A function for a new thread: a leaf, or one that creates more.
    fn entry(&mut self, depth: usize, joins: Option<&str>) -> String {
        let body = match (depth < 2 && self.chance(30), joins) {
            (_, Some(handle)) => format!("    x++;\n    pthread_join({handle}, 0);\n    y++;\n"),
            (true, None) => {
                self.cover("nested");
                self.body(depth + 1)
            }
            (false, None) => "    x++;\n".to_owned(),
        };
        let name = self.name("entry");
        let end = if self.chance(15) { "    pthread_exit(0);\n" } else { "" };
        self.functions.push_str(&format!("static void *{name}(void *a) {{\n    int argc = 2;\n{body}{end}    return 0;\n}}\n"));
        name
    }

    /// A place for a handle: its declaration inside the body, and the place.
    fn cell(&mut self) -> (String, String) {
        let name = self.name("t");
        match self.below(5) {
            0 => {
                self.cover("global-handle");
                self.globals.push_str(&format!("pthread_t {name};\n"));
                (String::new(), name)
            }
            1 => {
                self.cover("field-handle");
                (format!("    struct slot {name} = {{0}};\n"), format!("{name}.handle"))
            }
            2 => {
                self.cover("heap-handle");
                (format!("    struct slot *{name} = calloc(1, sizeof *{name});\n"), format!("{name}->handle"))
            }
            3 => {
                self.cover("element-handle");
                (format!("    pthread_t {name}[2] = {{0}};\n"), format!("{name}[1]"))
            }
            _ => (format!("    pthread_t {name} = 0;\n"), name),
        }
    }

    fn body(&mut self, depth: usize) -> String {
        let mut text = String::new();
        let mut handles: Vec<Handle> = Vec::new();
        for _ in 0..2 + self.below(4) {
            if self.chance(60) {
                text.push_str("    x++;\n");
            }
            match self.below(if depth == 0 { 12 } else { 6 }) {
                0 | 1 => {
                    let (declaration, cell) = self.cell();
                    let entry = self.entry(depth, None);
                    text.push_str(&declaration);
                    text.push_str(&self.create(&cell, &entry));
                    handles.push(Handle::One(cell));
                }
                2 => self.joins(&mut text, &mut handles),
                3 => self.loop_of_creates(depth, &mut text, &mut handles),
                4 => {
                    self.cover("each-iteration");
                    let (entry, name, bound) = (self.entry(2, None), self.name("t"), self.bound());
                    let join = if self.chance(70) {
                        format!("pthread_join({name}, 0);")
                    } else {
                        format!("if (y % 2) pthread_join({name}, 0);")
                    };
                    text.push_str(&format!(
                        "    for (int i = 0; i < {bound}; i++) {{ pthread_t {name} = 0; {} x++; {join} }}\n",
                        self.create(&name, &entry).trim()
                    ));
                }
                5 => {
                    if let Some(Handle::One(cell)) = handles.last().cloned() {
                        match self.below(4) {
                            0 => {
                                self.cover("detached");
                                text.push_str(&format!("    if (y < 3) pthread_detach({cell});\n"));
                            }
                            1 => {
                                self.cover("overwritten");
                                let entry = self.entry(2, None);
                                text.push_str(&self.create(&cell, &entry));
                            }
                            2 => {
                                self.cover("copied");
                                let copy = self.name("copy");
                                text.push_str(&format!("    pthread_t {copy} = {cell};\n"));
                                handles.pop();
                                handles.push(Handle::One(copy));
                            }
                            _ => {
                                self.cover("conditional-join");
                                text.push_str(&format!("    if (y % 2) pthread_join({cell}, 0);\n"));
                            }
                        }
                    }
                }
                6 => {
                    // Another thread joins what this one has created, its handle in a global.
                    self.cover("joined-by-another");
                    let (first, second) = (self.name("shared"), self.name("t"));
                    self.globals.push_str(&format!("pthread_t {first};\n"));
                    let entry = self.entry(2, None);
                    let joiner = self.entry(2, Some(&first));
                    let mut creates = [
                        format!("    pthread_create(&{first}, 0, {entry}, 0);\n"),
                        format!("    pthread_create(&{second}, 0, {joiner}, 0);\n"),
                    ];
                    if self.chance(20) {
                        creates.swap(0, 1);
                    }
                    text.push_str(&format!("    pthread_t {second} = 0;\n{}", creates.concat()));
                    handles.push(Handle::One(second));
                    if self.chance(10) {
                        handles.push(Handle::One(first));
                    }
                }
                7 => {
                    self.cover("handle-as-argument");
                    let (declaration, cell) = self.cell();
                    let entry = self.entry(2, None);
                    let joiner = self.entry(2, Some("(pthread_t)a"));
                    let second = self.name("t");
                    text.push_str(&format!("{declaration}    pthread_create(&{cell}, 0, {entry}, 0);\n    pthread_t {second} = 0;\n    pthread_create(&{second}, 0, {joiner}, (void *){cell});\n"));
                    handles.push(Handle::One(second));
                }
                8 => self.remote_join(&mut text, &mut handles),
                9 | 10 => self.pool(&mut text, &mut handles),
                _ => {
                    self.cover("constant-elements");
                    let (name, entry, other) = (self.name("t"), self.entry(2, None), self.entry(2, None));
                    let wrong = if self.chance(25) { 0 } else { 1 };
                    text.push_str(&format!("    pthread_t {name}[2] = {{0}};\n    pthread_create(&{name}[0], 0, {entry}, 0);\n    pthread_create(&{name}[{wrong}], 0, {other}, 0);\n"));
                    handles.push(Handle::Array(name, "2".to_owned()));
                }
            }
        }
        while !handles.is_empty() && self.chance(85) {
            self.joins(&mut text, &mut handles);
        }
        text.push_str("    x++;\n");
        text
    }

    /// A thread is created by a child and joined here, its handle in a global.
    fn remote_join(&mut self, text: &mut String, handles: &mut Vec<Handle>) {
        self.cover("joined-by-the-grandparent");
        let (shared, ready, child) = (self.name("shared"), self.name("ready"), self.name("t"));
        self.globals.push_str(&format!("pthread_t {shared};\nsem_t {ready};\n"));
        let (entry, maker) = (self.entry(2, None), self.name("maker"));
        let create = format!("    pthread_create(&{shared}, 0, {entry}, 0);\n");
        let twice = if self.chance(15) { create.as_str() } else { "" };
        self.functions.push_str(&format!(
            "static void *{maker}(void *a) {{\n    x++;\n{twice}{create}    x++;\n    sem_post(&{ready});\n    x++;\n    return 0;\n}}\n"
        ));
        let again = if self.chance(15) { format!("    pthread_create(&{child}, 0, {maker}, 0);\n") } else { String::new() };
        text.push_str(&format!(
            "    sem_init(&{ready}, 0, 0);\n    pthread_t {child} = 0;\n{again}    pthread_create(&{child}, 0, {maker}, 0);\n    x++;\n"
        ));
        let join = match self.chance(70) {
            true => format!("    pthread_t {child}h = {shared};\n    if (!{child}h) exit(0);\n    pthread_join({child}h, 0);\n"),
            false => format!("    pthread_join({shared}, 0);\n"),
        };
        // Without the wait it may not be there yet.
        let wait = if self.chance(60) { format!("    sem_wait(&{ready});\n") } else { String::new() };
        text.push_str(&format!("{wait}{join}"));
        handles.push(Handle::One(child));
    }

    /// Threads that one function creates and another one joins, their handles and their number in an object on the heap.
    fn pool(&mut self, text: &mut String, handles: &mut Vec<Handle>) {
        self.cover("pool");
        let (entry, name) = (self.entry(2, None), self.name("pool"));
        let cell = self.pick(&["p->inside[i]", "p->apart[i]"]);
        let create = match self.below(3) {
            0 => {
                self.cover("pool-by-wrapper");
                format!("if (start(&{cell}, {entry}, p)) break;")
            }
            1 => format!("if (pthread_create(&{cell}, 0, {entry}, p)) exit(1);"),
            _ => self.create(cell, &entry).trim().to_owned(),
        };
        let (early, late) = match self.below(6) {
            0 => ("if (y % 2) p->n = n;", ""),
            1 => ("", "p->n = n;"),
            2 => ("p->n = n;", "p->used = n - 1;"),
            3 => ("p->n = n;", "if (n == 3) p->n = 2;"),
            _ => ("p->n = n;", ""),
        };
        let (first, last) = (self.pick(&["n", "p->n"]), self.pick(&["p->n", "p->n", "p->n", "p->used"]));
        let join = match self.below(5) {
            0 => {
                self.cover("pool-joins-what-is-there");
                format!("if ({cell} != 0) pthread_join({cell}, 0);")
            }
            1 => format!("if (i != 1) pthread_join({cell}, 0);"),
            _ => format!("pthread_join({cell}, 0);"),
        };
        self.functions.push_str(&format!(
            "static struct pool *{name}_new(int n) {{\n    struct pool *p = calloc(1, sizeof *p);\n    p->apart = calloc(4, sizeof *p->apart);\n    {early}\n    for (int i = 0; i < {first}; i++) {{ {create} x++; }}\n    {late}\n    return p;\n}}\n\
             static void {name}_end(struct pool *p) {{ for (int i = 0; i < {last}; i++) {{ {join} }} }}\n"
        ));
        if self.chance(30) {
            self.cover("pool-ended-by-another");
            self.functions.push_str(&format!("static void *{name}_master(void *a) {{ {name}_end(a); x++; return 0; }}\n"));
            let (bound, master) = (self.bound(), self.name("t"));
            text.push_str(&format!("    struct pool *{name} = {name}_new({bound});\n    pthread_t {master} = 0;\n    pthread_create(&{master}, 0, {name}_master, {name});\n"));
            handles.push(Handle::One(master));
            return;
        }
        let bound = self.bound();
        text.push_str(&format!("    struct pool *{name} = {name}_new({bound});\n"));
        if self.chance(10) {
            self.cover("two-pools");
            text.push_str(&format!("    {name}_new({bound});\n"));
        }
        handles.push(Handle::Pool(format!("{name}_end({name});")));
    }

    fn bound(&mut self) -> String {
        self.pick(&["2", "count", "argc + 1", "3", "argc - 1"]).to_owned()
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u64) as usize]
    }

    fn create(&mut self, cell: &str, entry: &str) -> String {
        if self.chance(30) {
            self.cover("spawn-helper");
            return format!("    spawn(&{cell}, {entry}, 0);\n");
        }
        if self.chance(20) {
            self.cover("conditional-create");
            return format!("    if (y % 3 != 1) pthread_create(&{cell}, 0, {entry}, 0);\n");
        }
        format!("    pthread_create(&{cell}, 0, {entry}, 0);\n")
    }

    fn loop_of_creates(&mut self, depth: usize, text: &mut String, handles: &mut Vec<Handle>) {
        let (name, entry, bound) = (self.name("t"), self.entry(depth.max(1), None), self.bound());
        match self.below(4) {
            0 => {
                self.cover("array-of-structures");
                text.push_str(&format!("    struct slot {name}[4] = {{0}};\n    for (int i = 0; i < 3; i++) pthread_create(&{name}[i].handle, 0, {entry}, &{name}[i]);\n    x++;\n"));
                let last = if self.chance(20) { 2 } else { 3 };
                if self.chance(80) {
                    text.push_str(&format!("    for (int i = 0; i < {last}; i++) pthread_join({name}[i].handle, 0);\n"));
                }
                return;
            }
            1 => {
                self.cover("pointer-loop");
                text.push_str(&format!("    pthread_t {name}[4] = {{0}};\n    for (pthread_t *p = {name}; p < {name} + 3; p++) pthread_create(p, 0, {entry}, 0);\n"));
                handles.push(Handle::Array(name, self.pick(&["3", "3", "4", "2"]).to_owned()));
                return;
            }
            2 => {
                self.cover("global-array");
                self.globals.push_str(&format!("pthread_t {name}[4];\n"));
            }
            _ => text.push_str(&format!("    pthread_t {name}[4] = {{0}};\n")),
        }
        let create = self.create(&format!("{name}[i]"), &entry);
        text.push_str(&format!("    for (int i = 0; i < {bound}; i++) {{ {} x++; }}\n", create.trim()));
        if self.chance(10) {
            self.cover("bound-changed");
            text.push_str("    count = 1;\n");
        }
        let joined = if self.chance(80) { bound } else { self.bound() };
        handles.push(Handle::Array(name, joined));
    }

    fn joins(&mut self, text: &mut String, handles: &mut Vec<Handle>) {
        if handles.is_empty() {
            return;
        }
        let index = self.below(handles.len() as u64) as usize;
        match handles.remove(index) {
            Handle::One(cell) => {
                let join = match self.below(4) {
                    0 => {
                        self.cover("join-helper");
                        format!("    wait_for({cell});\n")
                    }
                    1 => format!("    if (pthread_join({cell}, 0)) y++;\n"),
                    _ => format!("    pthread_join({cell}, 0);\n"),
                };
                text.push_str(&join);
            }
            Handle::Pool(end) => text.push_str(&format!("    {end}\n")),
            Handle::Array(name, bound) => {
                let join = match self.below(5) {
                    0 => {
                        self.cover("join-all");
                        format!("    join_all({name}, {bound});\n")
                    }
                    1 => {
                        self.cover("partial-join");
                        format!("    for (int i = 0; i < {bound}; i++) if (i != 1) pthread_join({name}[i], 0);\n")
                    }
                    2 => {
                        self.cover("join-with-break");
                        format!("    for (int i = 0; i < {bound}; i++) {{ if (y == 2) break; pthread_join({name}[i], 0); }}\n")
                    }
                    3 => format!("    {{ int i = 0; while (i < {bound}) {{ pthread_join({name}[i], 0); i++; }} }}\n"),
                    _ => format!("    for (int i = 0; i < {bound}; i++) pthread_join({name}[i], 0);\n"),
                };
                text.push_str(&join);
            }
        }
    }
}
