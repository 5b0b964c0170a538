//! Threads that take what they hold: raised where it is the same lock, open where that is not known, silent where it counts, refuses, or
//! is another lock.

use super::support::said_of;

/// Two threads that run these bodies.
fn two(declarations: &str, one: &str, other: &str) -> String {
    format!(
        "MUTEX(a); MUTEX(b); volatile int x; {declarations} void *f(void *p) {{ {one} return 0; }} void *g(void *p) {{ {other} return 0; }} TWO(f, g)"
    )
}

#[test]
fn a_plain_mutex_taken_twice() {
    said_of(&two("", "L(a); L(a); U(a); U(a);", "")).waits_for_itself("a");
    said_of(&two("", "L(a); U(a); L(a); U(a);", "")).none();
    // On some ways only.
    said_of(&two("", "if (x) L(a); L(a); U(a);", "")).waits_for_itself("a");
    // Under a condition that is the same both times nothing is taken twice.
    said_of(&two("", "int c = x; if (c) L(a); if (!c) L(a); U(a);", "")).none();
    // Another lock between.
    said_of(&two("", "L(a); L(b); L(a); U(a); U(b); U(a);", "L(b); U(b);")).waits_for_itself("a");
}

#[test]
fn through_calls() {
    said_of(&two("void h(void) { L(a); U(a); }", "L(a); h(); U(a);", "h();")).waits_for_itself("a");
    said_of(&two("void h(void) { L(a); U(a); }", "h(); L(a); U(a);", "h();")).none();
    said_of(&two("void h(pthread_mutex_t *m) { pthread_mutex_lock(m); }", "h(&a); h(&a); U(a);", "")).waits_for_itself("a");
    said_of(&two("void h(pthread_mutex_t *m) { pthread_mutex_lock(m); }", "h(&a); h(&b); U(b); U(a);", "")).none();
    // The lock is taken by a callee and kept.
    said_of(&two("void h(void) { L(a); }", "h(); L(a); U(a);", "")).waits_for_itself("a");
    let recursion = "void h(int n) { L(a); if (n) h(n - 1); x++; U(a); }";
    said_of(&two(recursion, "h(x);", "")).waits_for_itself("a");
    let between = "void h(int n) { L(a); x++; U(a); if (n) h(n - 1); }";
    said_of(&two(between, "h(x);", "")).none();
}

#[test]
fn trying_never_waits() {
    said_of(&two("", "L(a); if (!pthread_mutex_trylock(&a)) U(a); U(a);", "L(a); U(a);")).none();
    said_of(&two("struct timespec t;", "L(a); if (!pthread_mutex_timedlock(&a, &t)) U(a); U(a);", "L(a); U(a);")).none();
    // What was tried, and got, is held.
    said_of(&two("", "if (!pthread_mutex_trylock(&a)) { L(a); U(a); }", "")).waits_for_itself("a");
    said_of(&two("", "if (pthread_mutex_trylock(&a)) { L(a); } U(a);", "L(a); U(a);")).none();
}

#[test]
fn readers_may_read_again() {
    let rw = "pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
        #define R pthread_rwlock_rdlock(&r)\n#define W pthread_rwlock_wrlock(&r)\n#define V pthread_rwlock_unlock(&r)\n";
    let rw = &rw.replace("\\n", "\n");
    said_of(&two(rw, "R; R; V; V;", "W; V;")).none();
    said_of(&two(rw, "R; W; V; V;", "W; V;")).waits_for_itself("r");
    // The library may answer instead; it is against the rules.
    said_of(&two(rw, "W; R; V;", "")).waits_for_itself("r");
    said_of(&two(rw, "W; W; V;", "")).waits_for_itself("r");
    said_of(&two(rw, "R; V; W; V;", "W; V;")).none();
    // Two who read and would write wait for themselves already.
    let said = said_of(&two(rw, "R; W; V; V;", "R; W; V; V;"));
    said.waits_for_itself("r");
    assert!(said.result.candidates.is_empty(), "{}", said.summary());
}

#[test]
fn kinds_that_count_or_refuse() {
    let counting = "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;";
    said_of(&two(counting, "L(m); L(m); U(m); U(m);", "L(m); U(m);")).none();
    let refusing = "pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;";
    said_of(&two(refusing, "L(m); L(m); U(m);", "L(m); U(m);")).none();
    let with = |kind: &str, order: &str| {
        let init = order.replace("SET", &format!("pthread_mutexattr_settype(&s, {kind});"));
        format!(
            "pthread_mutex_t m; int x; void *f(void *p) {{ L(m); L(m); U(m); U(m); return 0; }}
            int main(int argc, char **argv) {{ pthread_mutexattr_t s; {init}
                pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
        )
    };
    let usual = "pthread_mutexattr_init(&s); SET pthread_mutex_init(&m, &s);";
    said_of(&with("PTHREAD_MUTEX_RECURSIVE", usual)).none();
    said_of(&with("PTHREAD_MUTEX_ERRORCHECK", usual)).none();
    said_of(&with("PTHREAD_MUTEX_NORMAL", usual)).waits_for_itself("m");
    said_of(&with("PTHREAD_MUTEX_DEFAULT", usual)).waits_for_itself("m");
    // Not known, or not always set.
    said_of(&with("argc", usual)).waits_for_itself("m");
    let sometimes = "pthread_mutexattr_init(&s); if (argc) SET pthread_mutex_init(&m, &s);";
    said_of(&with("PTHREAD_MUTEX_RECURSIVE", sometimes)).waits_for_itself("m");
    let late = "pthread_mutexattr_init(&s); pthread_mutex_init(&m, &s); SET";
    said_of(&with("PTHREAD_MUTEX_RECURSIVE", late)).waits_for_itself("m");
    let made_again = "pthread_mutexattr_init(&s); SET pthread_mutexattr_init(&s); pthread_mutex_init(&m, &s);";
    said_of(&with("PTHREAD_MUTEX_RECURSIVE", made_again)).waits_for_itself("m");
    let without = "pthread_mutexattr_init(&s); pthread_mutex_init(&m, &s);";
    said_of(&with("PTHREAD_MUTEX_RECURSIVE", without)).waits_for_itself("m");
}

/// A kind that is set in another function than the mutex is initialised in.
#[test]
fn kinds_that_a_helper_sets() {
    let program = |helpers: &str, main: &str| {
        format!(
            "pthread_mutex_t m; pthread_mutexattr_t s, other, all[3]; {helpers} void *f(void *p) {{ L(m); L(m); U(m); U(m); return 0; }}
            int main(int argc, char **argv) {{ pthread_mutexattr_t own; {main}
                pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
        )
    };
    let make =
        "void make(pthread_mutexattr_t *a) { pthread_mutexattr_init(a); pthread_mutexattr_settype(a, PTHREAD_MUTEX_RECURSIVE); }";
    let init = "void init(void) { pthread_mutex_init(&m, &s); }";
    said_of(&program(make, "make(&s); pthread_mutex_init(&m, &s);")).none();
    said_of(&program(make, "make(&own); pthread_mutex_init(&m, &own);")).none();
    said_of(&program(make, "make(&other); make(&own); pthread_mutex_init(&m, &own);")).none();
    said_of(&program(&format!("{make} {init}"), "make(&s); init();")).none();
    let set = "void set(void) { pthread_mutexattr_settype(&s, PTHREAD_MUTEX_RECURSIVE); }";
    said_of(&program(&format!("{set} {init}"), "pthread_mutexattr_init(&s); set(); for (int i = 0; i < argc; i++) init();"))
        .none();
    let thread = "void *g(void *p) { pthread_mutex_init(&m, &s); return 0; }";
    said_of(&program(&format!("{make} {thread}"), "make(&s); pthread_t u; pthread_create(&u, 0, g, 0); pthread_join(u, 0);"))
        .none();
    // Too late, not always, of another object, or undone.
    let is_open = |helpers: &str, main: &str| _ = said_of(&program(helpers, main)).waits_for_itself("m");
    is_open(&format!("{make} {init}"), "init(); make(&s);");
    is_open(&format!("{make} {init}"), "if (argc) make(&s); init();");
    is_open(make, "make(&other); pthread_mutexattr_init(&own); pthread_mutex_init(&m, &own);");
    is_open(&format!("{make} {init}"), "make(&s); pthread_mutexattr_init(&s); init();");
    is_open(&format!("{make} {init} void undo(void) {{ pthread_mutexattr_init(&s); }}"), "make(&s); undo(); init();");
    is_open(
        &format!("{make} {thread}"),
        "make(&s); pthread_t u; pthread_create(&u, 0, g, 0); pthread_mutexattr_init(&s); pthread_join(u, 0);",
    );
    is_open(
        &format!("{make} {init} void *g(void *p) {{ pthread_mutexattr_init(&s); return 0; }}"),
        "make(&s); pthread_t u; pthread_create(&u, 0, g, 0); init(); pthread_join(u, 0);",
    );
    let maybe = make.replace("pthread_mutexattr_settype", "if (rand()) return; pthread_mutexattr_settype");
    is_open(&format!("{maybe} {init}"), "make(&s); init();");
    let wrong =
        "void make(pthread_mutexattr_t *a) { pthread_mutexattr_settype(a, PTHREAD_MUTEX_RECURSIVE); pthread_mutexattr_init(a); }";
    is_open(&format!("{wrong} {init}"), "make(&s); init();");
    is_open(&format!("{init} __attribute__((constructor)) void early(void) {{ init(); }} {make}"), "make(&s);");
    // One of several objects is not another one.
    is_open(
        "",
        "for (int i = 0; i < 3; i++) pthread_mutexattr_init(&all[i]); pthread_mutexattr_settype(&all[argc % 3], PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&m, &all[rand() % 3]);",
    );
}

/// Two objects that differ are two objects whichever comes first.
#[test]
fn objects_that_were_swapped() {
    let program = |body: &str| {
        format!(
            "struct s {{ int v; pthread_mutex_t m; }} A, B; void both(struct s *a, struct s *b) {{ {body} L(a->m); L(b->m); U(b->m); U(a->m); }}
            void *f(void *p) {{ both(&A, &B); return 0; }} int main(void) {{ pthread_t t; both(&B, &A); A.v = rand(); B.v = rand();
            pthread_mutex_init(&A.m, 0); pthread_mutex_init(&B.m, 0); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
        )
    };
    let swap = "if (a->v > b->v) { struct s *c = a; a = b; b = c; }";
    let said = said_of(&program(&format!("if (a == b) return; {swap}")));
    assert!(said.self_waits().is_empty(), "{}", said.summary());
    said_of(&program(swap)).waits_for_itself("b->m");
    said_of(&program("if (a == b) return; if (a->v > b->v) a = b;")).waits_for_itself("A.m").waits_for_itself("B.m");
    said_of(&program(&format!("if (a->v == b->v) return; {swap}"))).waits_for_itself("b->m");
}

#[test]
fn locks_behind_pointers() {
    let node = "struct node { pthread_mutex_t m; struct node *next; }; struct node *list;
        void build(void) { for (int i = 0; i < 3; i++) { struct node *n = malloc(sizeof *n); pthread_mutex_init(&n->m, 0); n->next = list; list = n; } }";
    let main = "int main(void) { build(); pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }";
    let with = |body: &str| format!("{node} void *f(void *p) {{ struct node *n = list; {body} return 0; }} {main}");
    // The same pointer is the same lock.
    said_of(&with("L(n->m); L(n->m); U(n->m); U(n->m);")).waits_for_itself("n->m");
    // Another node: not known, and so a limit.
    said_of(&with("struct node *o = n->next; L(n->m); L(o->m); U(o->m); U(n->m);"))
        .open("may be taken by a thread that holds it already");
    said_of(&with("struct node *o = n->next; L(n->m); if (o != n) { L(o->m); U(o->m); } U(n->m);")).none();
    // One of two named locks.
    said_of(&two("", "pthread_mutex_t *m = x ? &a : &b; L(a); pthread_mutex_lock(m); pthread_mutex_unlock(m); U(a);", ""))
        .waits_for_itself("*m");
}

#[test]
fn elements_that_differ() {
    let array = "pthread_mutex_t k[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};";
    let array = &format!("{array} int y;");
    let with = |body: &str| two(array, &format!("int i = x, j = y; {body}"), "");
    said_of(&with("L(k[i]); L(k[i + 1]); U(k[i + 1]); U(k[i]);")).none();
    said_of(&with("if (i < j) { L(k[i]); L(k[j]); U(k[j]); U(k[i]); }")).none();
    said_of(&with("if (i != j) { L(k[i]); L(k[j]); U(k[j]); U(k[i]); }")).none();
    said_of(&with("if (i <= j) { L(k[i]); L(k[j]); U(k[j]); U(k[i]); }")).open("may be taken by a thread that holds it already");
    said_of(&with("L(k[i]); L(k[i]); U(k[i]); U(k[i]);")).waits_for_itself("k[i]");
}

#[test]
fn locks_that_threads_keep() {
    said_of(&two("", "L(a); if (x) return 0; U(a);", "L(a); U(a);")).leaks("a");
    said_of(&two("", "L(a); if (x) pthread_exit(0); U(a);", "L(a); U(a);")).leaks("a");
    said_of(&two("void h(pthread_mutex_t *m) { pthread_mutex_lock(m); }", "h(&b);", "L(b); U(b);")).leaks("b");
    let none = |said: &super::support::Said| assert!(said.result.own_faults.is_empty(), "{}", said.summary());
    none(&said_of(&two("", "L(a); if (x) { U(a); return 0; } U(a);", "L(a); U(a);")));
    none(&said_of(&two("", "if (pthread_mutex_trylock(&a)) return 0; U(a);", "L(a); U(a);")));
    // The program ends, and with it all threads.
    none(&said_of(&two("", "L(a); if (x) exit(1); U(a);", "L(a); U(a);")));
}

#[test]
fn waiting_gives_the_lock_back() {
    let wait = "pthread_cond_t c = PTHREAD_COND_INITIALIZER;";
    let said =
        said_of(&two(wait, "L(a); while (!x) pthread_cond_wait(&c, &a); U(a);", "L(a); x = 1; pthread_cond_signal(&c); U(a);"));
    assert!(said.self_waits().is_empty(), "{}", said.summary());
}

#[test]
fn a_routine_that_asks_for_its_own_end() {
    let once = "pthread_once_t o = PTHREAD_ONCE_INIT; void h(void) { pthread_once(&o, h); }";
    said_of(&two(once, "pthread_once(&o, h);", "")).waits_for_itself("o");
}
