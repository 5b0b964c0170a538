//! One small program for each trap: what must be raised, what must be dismissed and why, and what must stay open.

use lockcheck::findings::Reason;

use super::support::said_of;

/// Two threads that run these bodies, with three mutexes.
fn two(one: &str, other: &str) -> String {
    format!(
        "MUTEX(a); MUTEX(b); MUTEX(c); volatile int x; void *f(void *p) {{ {one} return 0; }} void *g(void *p) {{ {other} return 0; }} TWO(f, g)"
    )
}

#[test]
fn two_locks_in_opposite_orders() {
    said_of(&two("L(a); L(b); U(b); U(a);", "L(b); L(a); U(a); U(b);")).deadlock(&["a", "b"]);
    said_of(&two("L(a); L(b); U(b); U(a);", "L(a); L(b); U(b); U(a);")).none();
    said_of(&two("L(a); U(a); L(b); U(b);", "L(b); L(a); U(a); U(b);")).none();
    // Not nested, and still in order.
    said_of(&two("L(a); L(b); U(a); U(b);", "L(a); L(b); U(b); U(a);")).none();
    said_of(&two("L(a); L(b); U(a); L(c); U(c); U(b);", "L(c); L(b); U(b); U(c);")).deadlock(&["b", "c"]);
}

#[test]
fn a_gate_keeps_threads_from_meeting() {
    let gated = |gate: &str| two("L(c); L(a); L(b); U(b); U(a); U(c);", &format!("{gate} L(b); L(a); U(a); U(b);"));
    said_of(&gated("L(c); U(c);")).deadlock(&["a", "b"]);
    said_of(&two("L(c); L(a); L(b); U(b); U(a); U(c);", "L(c); L(b); L(a); U(a); U(b); U(c);"))
        .none()
        .dismissed(Reason::GateLock);
}

#[test]
fn histories_tell_that_two_never_meet() {
    // Whoever holds a and has used b since, and whoever holds b and has used a since, cannot both be.
    let one = "L(a); L(b); U(b); L(c); U(c); U(a);";
    let other = "L(b); L(c); U(c); U(b);";
    said_of(&two(one, other)).none();
    let crossed = "MUTEX(a); MUTEX(b); MUTEX(c); MUTEX(d);
        void *f(void *p) { L(a); L(b); U(b); L(c); L(d); U(d); U(c); U(a); return 0; }
        void *g(void *p) { L(b); L(a); U(a); L(d); L(c); U(c); U(d); U(b); return 0; } TWO(f, g)";
    // The first pair of nestings is a deadlock; behind them the histories exclude the second.
    let said = said_of(crossed);
    said.deadlock(&["a", "b"]).dismissed(Reason::LockHistory);
    assert_eq!(said.result.candidates.len(), 1, "{}", said.summary());
}

#[test]
fn readers_do_not_hold_each_other_up() {
    let rw = |one: &str, other: &str| {
        format!(
            "pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;
            #define R(m) pthread_rwlock_rdlock(&m)\n#define W(m) pthread_rwlock_wrlock(&m)\n#define V(m) pthread_rwlock_unlock(&m)\n
            void *f(void *p) {{ {one} return 0; }} void *g(void *p) {{ {other} return 0; }} TWO(f, g)"
        )
    };
    let forward = |first: &str, second: &str| format!("{first}(a); {second}(b); V(b); V(a);");
    let backward = |first: &str, second: &str| format!("{first}(b); {second}(a); V(a); V(b);");
    said_of(&rw(&forward("R", "R"), &backward("R", "R"))).none();
    said_of(&rw(&forward("R", "W"), &backward("R", "R"))).none();
    said_of(&rw(&forward("R", "W"), &backward("R", "W"))).deadlock(&["a", "b"]);
    said_of(&rw(&forward("W", "R"), &backward("W", "R"))).deadlock(&["a", "b"]);
    said_of(&rw(&forward("W", "W"), &backward("W", "W"))).deadlock(&["a", "b"]);
}

#[test]
fn what_only_tries_does_not_wait() {
    let back_off = "L(b); if (pthread_mutex_trylock(&a) == 0) U(a); U(b);";
    said_of(&two("L(a); L(b); U(b); U(a);", back_off)).none();
    let wrapped = "MUTEX(a); MUTEX(b); int try(pthread_mutex_t *m) { return !pthread_mutex_trylock(m); }
        void *f(void *p) { L(a); L(b); U(b); U(a); return 0; }
        void *g(void *p) { L(b); int got = try(&a); if (got) U(a); U(b); return 0; } TWO(f, g)";
    said_of(wrapped).none();
    // What was got by trying is held like any other lock.
    said_of(&two("if (!pthread_mutex_trylock(&a)) { L(b); U(b); U(a); }", "L(b); L(a); U(a); U(b);")).deadlock(&["a", "b"]);
    said_of(&two("if (pthread_mutex_trylock(&a)) { L(b); U(b); } else U(a);", "L(b); L(a); U(a); U(b);")).none();
}

#[test]
fn one_instance_does_not_wait_for_itself() {
    let body = "MUTEX(a); MUTEX(b); void *f(void *p) { L(a); L(b); U(b); U(a); L(b); L(a); U(a); U(b); return 0; }";
    let once = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }";
    said_of(&format!("{body} {once}")).none().dismissed(Reason::SingleInstance);
    said_of(&format!("{body} TWO(f, f)")).deadlock(&["a", "b"]);
    let many = "int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }";
    said_of(&format!("{body} {many}")).deadlock(&["a", "b"]);
}

#[test]
fn threads_that_do_not_run_at_once() {
    let body = "MUTEX(a); MUTEX(b); void *f(void *p) { L(a); L(b); U(b); U(a); return 0; } void *g(void *p) { L(b); L(a); U(a); U(b); return 0; }";
    let in_turn = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_create(&t, 0, g, 0); pthread_join(t, 0); return 0; }";
    said_of(&format!("{body} {in_turn}")).none().dismissed(Reason::ForkJoin);
    let main_after = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); g(0); return 0; }";
    said_of(&format!("{body} {main_after}")).none().dismissed(Reason::ForkJoin);
    let main_meanwhile = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g(0); pthread_join(t, 0); return 0; }";
    said_of(&format!("{body} {main_meanwhile}")).deadlock(&["a", "b"]);
}

#[test]
fn a_join_waits_for_a_thread_that_needs_a_lock() {
    let joined = |under: &str, before: &str| {
        format!(
            "MUTEX(a); MUTEX(b); void *c(void *p) {{ L(a); U(a); return 0; }}
            int main(void) {{ pthread_t t; L({under}); pthread_create(&t, 0, c, 0); {before} pthread_join(t, 0); return 0; }}"
        )
    };
    said_of(&joined("a", "")).deadlock(&["a", "c"]);
    said_of(&joined("a", "U(a);")).none();
    said_of(&joined("b", "")).none();
}

#[test]
fn cycles_of_three() {
    let ring = |last: &str| {
        format!(
            "MUTEX(a); MUTEX(b); MUTEX(c); void *f(void *p) {{ L(a); L(b); U(b); U(a); return 0; }}
            void *g(void *p) {{ L(b); L(c); U(c); U(b); return 0; }} void *h(void *p) {{ {last} return 0; }}
            int main(void) {{ pthread_t t, u, v; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_create(&v, 0, h, 0);
            pthread_join(t, 0); pthread_join(u, 0); pthread_join(v, 0); return 0; }}"
        )
    };
    said_of(&ring("L(c); L(a); U(a); U(c);")).deadlock(&["a", "b", "c"]);
    said_of(&ring("L(a); L(c); U(c); U(a);")).none();
    // More members than kinds of threads.
    let seats = "pthread_mutex_t f[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
        void *w(void *p) { int i = (int)(long)p; L(f[i]); L(f[(i + 1) % 3]); U(f[(i + 1) % 3]); U(f[i]); return 0; }
        int main(void) { pthread_t t[3]; for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, w, (void *)i);
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }";
    assert!(!said_of(seats).result.candidates.is_empty());
}

#[test]
fn locks_through_wrappers_and_pointers() {
    let wrapped = |first: &str, second: &str| {
        format!(
            "MUTEX(a); MUTEX(b); void lk(pthread_mutex_t *m) {{ L(*m); }} void ul(pthread_mutex_t *m) {{ U(*m); }}
            void both(pthread_mutex_t *m, pthread_mutex_t *n) {{ lk(m); lk(n); ul(n); ul(m); }}
            void *f(void *p) {{ both(&a, &b); return 0; }} void *g(void *p) {{ both({first}, {second}); return 0; }} TWO(f, g)"
        )
    };
    said_of(&wrapped("&b", "&a")).deadlock(&["a", "b"]);
    said_of(&wrapped("&a", "&b")).none();
    // Which of two locks it is, is not known: it may be the wrong one.
    let chosen = "MUTEX(a); MUTEX(b); int n; void *f(void *p) { L(a); L(b); U(b); U(a); return 0; }
        void *g(void *p) { pthread_mutex_t *m = n ? &a : &b, *k = n ? &b : &a; L(*m); L(*k); U(*k); U(*m); return 0; } TWO(f, g)";
    assert!(!said_of(chosen).result.candidates.is_empty());
}

#[test]
fn a_lock_of_each_object() {
    let objects = |second: &str| {
        format!(
            "struct node {{ pthread_mutex_t m; struct node *next; }};
            struct node *make(struct node *next) {{ struct node *n = malloc(sizeof *n); pthread_mutex_init(&n->m, 0); n->next = next; return n; }}
            struct node *list; MUTEX(a);
            void *f(void *p) {{ struct node *n = list; L(n->m); {second} U(n->m); return 0; }}
            int main(void) {{ for (int i = 0; i < 3; i++) list = make(list); pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
            pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )
    };
    said_of(&objects("")).none();
    said_of(&objects("L(a); U(a);")).none();
    // Two locks of one kind at once: in which order is not known.
    assert!(!said_of(&objects("struct node *k = n->next; L(k->m); U(k->m);")).result.candidates.is_empty());
}

#[test]
fn recursion_and_re_entrance() {
    let recursive = "pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; MUTEX(b);
        void down(int n) { L(r); if (n) down(n - 1); U(r); }
        void *f(void *p) { down(3); L(b); down(2); U(b); return 0; } void *g(void *p) { L(r); LAST U(r); return 0; } TWO(f, g)";
    said_of(&recursive.replace("LAST", "")).none();
    said_of(&recursive.replace("LAST", "L(b); U(b);")).deadlock(&["b", "r"]);
    let deeper = "MUTEX(a); MUTEX(b); void walk(int n) { L(a); U(a); if (n) walk(n - 1); L(b); U(b); }
        void *f(void *p) { walk(5); return 0; } TWO(f, f)";
    said_of(deeper).none();
}

#[test]
fn what_no_lock_decides_stays_open() {
    let wait = "pthread_cond_t k = PTHREAD_COND_INITIALIZER; MUTEX(a); int x;
        void *f(void *p) { L(a); while (!x) pthread_cond_wait(&k, &a); U(a); return 0; } void *g(void *p) { L(a); x = 1; pthread_cond_signal(&k); U(a); return 0; } TWO(f, g)";
    said_of(wait).open("a condition variable");
    said_of(&two("L(a);", "L(a); U(a);")).open("may end while it holds a");
    // Nobody else wants it.
    said_of(&two("L(a);", "")).none();
    let exits = "MUTEX(a); void *f(void *p) { L(a); pthread_exit(0); } void *g(void *p) { L(a); U(a); return 0; } TWO(f, g)";
    said_of(exits).open("may end while it holds a");
}

#[test]
fn a_wait_takes_its_lock_anew() {
    // While it waits for the condition it holds b, and then it takes a: the other way round than g does.
    let text = "pthread_cond_t k = PTHREAD_COND_INITIALIZER; MUTEX(a); MUTEX(b); int x;
        void *f(void *p) { L(a); L(b); while (!x) pthread_cond_wait(&k, &a); U(b); U(a); return 0; }
        void *g(void *p) { L(a); x = 1; pthread_cond_signal(&k); L(b); U(b); U(a); return 0; } TWO(f, g)";
    said_of(text).deadlock(&["a", "b"]);
}

#[test]
fn one_time_initialisation_is_waited_for() {
    let once = |order: &str| {
        format!(
            "pthread_once_t o = PTHREAD_ONCE_INIT; MUTEX(a); void init(void) {{ L(a); U(a); }}
            void *f(void *p) {{ pthread_once(&o, init); return 0; }} void *g(void *p) {{ {order} return 0; }} TWO(f, g)"
        )
    };
    said_of(&once("L(a); pthread_once(&o, init); U(a);")).deadlock(&["a", "o"]);
    said_of(&once("pthread_once(&o, init); L(a); U(a);")).none();
}

#[test]
fn a_release_through_another_pointer_may_be_of_another_lock() {
    let text = "MUTEX(a); MUTEX(b); MUTEX(c); void *f(void *p) { L(a); L(b); U(b); U(a); return 0; }
        void *g(void *p) { pthread_mutex_t *m = rand() ? &b : &c, *n = rand() ? &b : &c; L(*m); U(*n); L(a); U(a); return 0; } TWO(f, g)";
    let said = said_of(text);
    assert!(!said.result.candidates.is_empty() || !said.result.limits.is_empty(), "b may still be held: {}", said.summary());
}

#[test]
fn of_very_many_cycles_every_place_is_listed() {
    let locks: String = (0..16).map(|lock| format!("MUTEX(g{lock});\n")).collect();
    let nests = |first: usize, one: &str, other: &str| -> String {
        let nest = |lock: usize| {
            format!("if (x == {lock}) {{ L(g{lock}); L({one});\nL({other});\nU({other}); U({one}); U(g{lock}); }}\n")
        };
        (first..first + 8).map(nest).collect()
    };
    // Both threads have to do with all locks.
    let all: String = (0..16).map(|lock| format!("L(g{lock}); U(g{lock});\n")).collect();
    let (up, down) = (all.clone() + &nests(0, "a", "b"), all + &nests(8, "b", "a"));
    let program = format!(
        "MUTEX(a); MUTEX(b); volatile int x; {locks} void *f(void *p) {{ {up} return 0; }} void *g(void *p) {{ {down} return 0; }} TWO(f, g)"
    );
    let said = said_of(&program);
    let listed: std::collections::BTreeSet<_> = said.result.candidates.iter().flat_map(|one| one.lines()).collect();
    assert_eq!(listed.len(), 16, "eight places of each thread: {}", said.summary());
    assert!(said.result.candidates.len() <= 16, "{}", said.result.candidates.len());
    let rest = format!("{} further possible deadlocks", 64 - said.result.candidates.len());
    assert!(said.result.limits.iter().any(|limit| limit.to_string().starts_with(&rest)), "{rest}: {}", said.summary());
}
