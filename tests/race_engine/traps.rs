//! One small program for each trap of locksets, fork and join: what must be refuted, and what must not.

use lockcheck::findings::Reason;

use super::support::said_of;

#[test]
fn a_common_lock_protects() {
    said_of("MUTEX(m); int x; void *f(void *a) { L(m); x++; U(m); return 0; } TWO(f, f)").refuted("x", Reason::CommonLock);
    said_of("MUTEX(m); MUTEX(n); int x; void *f(void *a) { L(m); x++; U(m); return 0; } void *g(void *a) { L(n); x++; U(n); return 0; } TWO(f, g)").race("x");
    said_of("MUTEX(m); int x; void *f(void *a) { L(m); U(m); x++; return 0; } TWO(f, f)").race("x");
}

#[test]
fn what_there_was_no_time_for_is_not_refuted() {
    use lockcheck::deadline::{Deadline, OutOfTime};
    use lockcheck::engines::race::{self, RaceLimit, RaceOptions};
    use lockcheck::facts::Facts;
    use lockcheck::models::Models;

    let program = super::support::load_c(&super::support::examples()[0], &[]);
    let models = Models::embedded();
    let bound = models.bind(&program);
    let over = Deadline::at(std::time::Instant::now());
    assert_eq!(Facts::within(&program, &bound, None, over).err(), Some(OutOfTime));
    let facts = Facts::of(&program, &bound, None);
    let result = race::check(&program, &bound, &facts, &RaceOptions { deadline: over, ..RaceOptions::default() });
    assert!(result.limits.contains(&RaceLimit::OutOfTime) && result.refuted.is_empty() && result.candidates.is_empty());
}

#[test]
fn a_lock_on_one_way_only_does_not_protect() {
    said_of("MUTEX(m); int x, c; void *f(void *a) { if (a) L(m); x++; if (a) U(m); return 0; } TWO(f, f)").race("x");
    said_of("MUTEX(m); int x; void *f(void *a) { L(m); if (a) U(m); x++; if (!a) U(m); return 0; } TWO(f, f)").race("x");
}

#[test]
fn branches_on_one_value_go_the_same_way() {
    let text = "MUTEX(m); int x; void *f(void *a) { int c = rand(); if (c) L(m); int r = rand(); if (c) { x += r; U(m); } return 0; } TWO(f, f)";
    said_of(text).refuted("x", Reason::CommonLock);
    let text = "MUTEX(m); int x; void *f(void *a) { int c = rand(); if (c) L(m); int r = rand(); if (r) { x += r; } if (c) U(m); return 0; } TWO(f, f)";
    said_of(text).race("x");
}

#[test]
fn lock_held_at_creation() {
    let child = |body: &str| {
        format!(
            "MUTEX(l); int x; void *c(void *a) {{ {body} x = 2; return 0; }}
            int main(void) {{ pthread_t t; L(l); pthread_create(&t, 0, c, 0); x = 1; U(l); pthread_join(t, 0); return 0; }}"
        )
    };
    said_of(&child("L(l); U(l);")).refuted("x", Reason::LockHistory);
    said_of(&child("")).race("x");
    said_of(&child("if (a) { L(l); U(l); }")).race("x");
    let released = "MUTEX(l); int x; void *c(void *a) { L(l); U(l); x = 2; return 0; }
        int main(void) { pthread_t t; L(l); pthread_create(&t, 0, c, 0); U(l); L(l); x = 1; U(l); pthread_join(t, 0); return 0; }";
    said_of(released).race("x");
    let waits = "MUTEX(l); pthread_cond_t k = PTHREAD_COND_INITIALIZER; int x; void *c(void *a) { L(l); U(l); x = 2; return 0; }
        int main(void) { pthread_t t; L(l); pthread_create(&t, 0, c, 0); pthread_cond_wait(&k, &l); x = 1; U(l); pthread_join(t, 0); return 0; }";
    said_of(waits).race("x");
}

#[test]
fn a_lock_that_the_creator_holds_as_long_as_its_thread_runs() {
    let program = |other: &str, creator: &str| {
        format!(
            "MUTEX(l); int x; void *o(void *a) {{ {other} return 0; }} void *c(void *a) {{ x = 2; return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, o, 0); L(l); pthread_create(&u, 0, c, 0); {creator} return 0; }}"
        )
    };
    let locked = "L(l); x = 1; U(l);";
    said_of(&program(locked, "pthread_join(u, 0); U(l);")).refuted("x", Reason::CommonLock);
    said_of(&program(locked, "")).refuted("x", Reason::CommonLock);
    said_of(&program("x = 1;", "pthread_join(u, 0); U(l);")).race("x");
    said_of(&program(locked, "U(l); pthread_join(u, 0);")).race("x");
    said_of(&program(locked, "if (rand()) U(l); pthread_join(u, 0);")).race("x");
    // What the creator does itself, the lock does not keep apart; nor a second thread that it holds the lock for.
    said_of(&program("", "x = 1; pthread_join(u, 0); U(l);")).race("x");
    said_of(&program("", "pthread_t v; pthread_create(&v, 0, c, 0); pthread_join(u, 0); pthread_join(v, 0); U(l);")).race("x");
    let readers = |main: &str, other: &str| {
        format!(
            "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int x;
            void *o(void *a) {{ pthread_rwlock_{other}lock(&l); x = 1; pthread_rwlock_unlock(&l); return 0; }}
            void *c(void *a) {{ x = 2; return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, o, 0); pthread_rwlock_{main}lock(&l); pthread_create(&u, 0, c, 0);
                pthread_join(u, 0); pthread_rwlock_unlock(&l); return 0; }}"
        )
    };
    said_of(&readers("rd", "rd")).race("x");
    said_of(&readers("rd", "wr")).refuted("x", Reason::CommonLock);
    // A thread that others create as well, without the lock.
    let twice = "MUTEX(l); int x; void *o(void *a) { L(l); x = 1; U(l); return 0; } void *c(void *a) { x = 2; return 0; }
        void make(int under) { pthread_t u; if (under) L(l); pthread_create(&u, 0, c, 0); pthread_join(u, 0); if (under) U(l); }
        int main(void) { pthread_t t; pthread_create(&t, 0, o, 0); make(rand()); return 0; }";
    said_of(twice).race("x");
    let cycle = "MUTEX(l); int x; void *o(void *a) { L(l); x = 1; U(l); return 0; } void *c(void *a);
        void *d(void *a) { pthread_t u; L(l); pthread_create(&u, 0, c, 0); U(l); return 0; }
        void *c(void *a) { pthread_t u; x = 2; pthread_create(&u, 0, d, 0); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, o, 0); pthread_create(&u, 0, c, 0); return 0; }";
    said_of(cycle).race("x");
}

#[test]
fn writes_under_read_locks_race() {
    let text = |first: &str, second: &str| {
        format!(
            "pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; int x, y;
            void *f(void *a) {{ pthread_rwlock_{first}lock(&m); x++; pthread_rwlock_unlock(&m); return 0; }}
            void *g(void *a) {{ pthread_rwlock_{second}lock(&m); y = x; pthread_rwlock_unlock(&m); return 0; }} TWO(f, g)"
        )
    };
    said_of(&text("rd", "rd")).race("x");
    said_of(&text("wr", "rd")).refuted("x", Reason::CommonLock);
    said_of(&text("rd", "wr")).refuted("x", Reason::CommonLock);
    // A reader that asks to write is refused, and goes on reading.
    let refused = "pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; int x;
        void *f(void *a) { pthread_rwlock_rdlock(&m); pthread_rwlock_wrlock(&m); x++; pthread_rwlock_unlock(&m); return 0; } TWO(f, f)";
    said_of(refused).race("x");
}

#[test]
fn re_entrant_recursive_and_wrapped() {
    let text = |unlocks: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; int x; void lk(void) {{ L(m); }} void ul(void) {{ U(m); }}
            void f(int n) {{ lk(); if (n) f(n - 1); x++; {unlocks} }}
            void *w(void *a) {{ f(3); x++; return 0; }} void *v(void *a) {{ f(3); return 0; }} TWO(v, v)"
        )
    };
    said_of(&text("ul();")).refuted("x", Reason::CommonLock);
    said_of(&text("ul();").replace("TWO(v, v)", "TWO(v, w)")).race("x");
    said_of(&text("ul(); ul();")).race("x");
}

#[test]
fn a_second_lock_of_an_error_checking_mutex_adds_no_level() {
    let text = |initializer: &str| {
        format!(
            "pthread_mutex_t m = {initializer}; int x;
            void *f(void *a) {{ L(m); L(m); U(m); x++; U(m); return 0; }} TWO(f, f)"
        )
    };
    said_of(&text("PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP")).race("x");
    said_of(&text("PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP")).refuted("x", Reason::CommonLock);
    let by_attribute = |kind: &str| {
        format!(
            "pthread_mutex_t m; int x; void *f(void *a) {{ L(m); L(m); U(m); x++; U(m); return 0; }}
            int main(void) {{ pthread_mutexattr_t k; pthread_mutexattr_init(&k); pthread_mutexattr_settype(&k, {kind}); pthread_mutex_init(&m, &k);
            pthread_t t1, t2; pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, f, 0); pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
        )
    };
    said_of(&by_attribute("PTHREAD_MUTEX_ERRORCHECK")).race("x");
    said_of(&by_attribute("PTHREAD_MUTEX_RECURSIVE")).refuted("x", Reason::CommonLock);
    said_of(&by_attribute("rand()")).race("x");
}

#[test]
fn a_thread_created_twice_races_with_itself() {
    let text = |times: u32| {
        format!(
            "int x; void *w(void *a) {{ x++; return 0; }}
            int main(void) {{ pthread_t t; for (int i = 0; i < {times}; i++) pthread_create(&t, 0, w, 0); return 0; }}"
        )
    };
    said_of(&text(2)).race("x");
    let once =
        "int x; void *w(void *a) { x++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); return 0; }";
    said_of(once).refuted("x", Reason::SingleInstance);
}

#[test]
fn trylock_protects_where_it_worked() {
    let text = |body: &str| {
        format!(
            "MUTEX(m); int x, y; static int try(pthread_mutex_t *l) {{ return !pthread_mutex_trylock(l); }}
            static int tried(pthread_mutex_t *l) {{ if (pthread_mutex_trylock(l)) return -1; return 7; }}
            void *f(void *a) {{ {body} return 0; }} TWO(f, f)"
        )
    };
    let forms = [
        "if (!pthread_mutex_trylock(&m)) { x++; U(m); } else y++;",
        "int r = pthread_mutex_trylock(&m); if (r == 0) { x++; U(m); } else { y++; }",
        "int r = pthread_mutex_trylock(&m); int ok = r == 0; if (ok) x++; if (!ok) y++; if (ok) U(m);",
        "switch (pthread_mutex_trylock(&m)) { case 0: x++; U(m); break; default: y++; }",
        "if (try(&m)) { x++; U(m); } else y++;",
        "if (tried(&m) == 7) { x++; U(m); } else y++;",
        "while (pthread_mutex_trylock(&m)) { y++; } x++; U(m);",
        "if (pthread_mutex_trylock(&m) != 0) { y++; return 0; } x++; U(m);",
    ];
    for form in forms {
        said_of(&text(form)).refuted("x", Reason::CommonLock).race("y");
    }
    said_of(&text("pthread_mutex_trylock(&m); x++; U(m);")).race("x");
    said_of(&text("struct timespec t = {0}; pthread_mutex_timedlock(&m, &t); x++; U(m);")).race("x");
    said_of(&text("struct timespec t = {0}; if (pthread_mutex_timedlock(&m, &t) == 0) { x++; U(m); }"))
        .refuted("x", Reason::CommonLock);
}

#[test]
fn locks_that_depend_on_the_object() {
    let text = |body: &str| {
        format!(
            "pthread_mutex_t l[64]; int data[64]; unsigned char bits[8];
            void *f(void *a) {{ unsigned i = rand() % 64u; {body} return 0; }} TWO(f, f)"
        )
    };
    said_of(&text("L(l[i]); bits[i / 8] |= 1; U(l[i]);")).race("bits");
    said_of(&text("L(l[i]); data[i]++; U(l[i]);")).refuted("data", Reason::RelativeLock);
    said_of(&text("L(l[i % 4]); data[i]++; U(l[i % 4]);")).refuted("data", Reason::RelativeLock);
    said_of(&text("L(l[i]); data[i ^ 1]++; U(l[i]);")).race("data");
    let node = |body: &str| {
        format!(
            "struct node {{ pthread_mutex_t m; int x; struct node *next; }}; struct node *head;
            void *f(void *a) {{ struct node *p = a; {body} return 0; }}
            int main(void) {{ struct node *n[2]; pthread_t t[3]; for (int i = 0; i < 2; i++) {{ n[i] = malloc(sizeof **n); pthread_mutex_init(&n[i]->m, 0); n[i]->next = n[0]; }}
            for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, f, n[i / 2]); return 0; }}"
        )
    };
    said_of(&node("pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m);")).refuted("p", Reason::RelativeLock);
    said_of(&node("struct node *q = p->next; pthread_mutex_lock(&q->m); p->x++; pthread_mutex_unlock(&q->m);")).race("p");
    said_of(&node("pthread_mutex_lock(&p->m); p->next->x++; pthread_mutex_unlock(&p->m);")).race("p");
}

#[test]
fn a_lock_that_a_stranger_releases_protects_nothing() {
    said_of("MUTEX(m); int x; void *f(void *a) { L(m); x = 1; U(m); return 0; } void *g(void *a) { U(m); L(m); x = 2; U(m); return 0; } TWO(f, g)").race("x");
    said_of("MUTEX(m); int x; void *f(void *a) { L(m); x = 1; return 0; } void *g(void *a) { U(m); x = 2; return 0; } TWO(f, g)")
        .race("x");
}

#[test]
fn a_pointer_without_a_value_may_be_any_lock_and_is_none_for_certain() {
    let text = |taken: &str, released: &str| {
        format!(
            "int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
            void *w(void *a) {{ pthread_mutex_t *u; pthread_mutex_lock({taken}); pthread_mutex_unlock({released}); x++; return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); pthread_mutex_t *u;
            pthread_mutex_lock({taken}); x++; pthread_mutex_unlock({taken}); return 0; }}"
        )
    };
    said_of(&text("&m", "u")).race("x");
    let held = "int x; void *w(void *a) { pthread_mutex_t *u; pthread_mutex_lock(u); x++; pthread_mutex_unlock(u); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_mutex_t *u; pthread_mutex_lock(u); x++; pthread_mutex_unlock(u); return 0; }";
    said_of(held).race("x");
}

#[test]
fn releases_through_other_names_count() {
    let text = "MUTEX(m); MUTEX(n); int x; void *f(void *a) { pthread_mutex_t *p = rand() ? &m : &n; L(m); L(n); pthread_mutex_unlock(p); x++; return 0; } TWO(f, f)";
    said_of(text).race("x");
    let callee = "MUTEX(m); int x; void drop(pthread_mutex_t *p) { pthread_mutex_unlock(p); } void *f(void *a) { L(m); drop(&m); x++; return 0; } TWO(f, f)";
    said_of(callee).race("x");
    let behind = "struct s { pthread_mutex_t m; int x; } *g; void drop(void) { pthread_mutex_unlock(&g->m); }
        void *f(void *a) { struct s *p = g; pthread_mutex_lock(&p->m); drop(); p->x++; return 0; }
        int main(void) { for (int i = 0; i < 2; i++) { g = malloc(sizeof *g); pthread_mutex_init(&g->m, 0); } pthread_t t1, t2;
        pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, f, 0); return 0; }";
    said_of(behind).race("p");
}

#[test]
fn wrappers_and_getters_are_bound_by_their_callers() {
    let wrapped = |second: &str| {
        format!(
            "MUTEX(m); MUTEX(n); int x; static void enter(pthread_mutex_t *l) {{ pthread_mutex_lock(l); }} static void leave(pthread_mutex_t *l) {{ pthread_mutex_unlock(l); }}
            static void add(pthread_mutex_t *l) {{ pthread_mutex_lock(l); x++; pthread_mutex_unlock(l); }}
            void *f(void *a) {{ enter(&m); x++; leave(&m); return 0; }} void *g(void *a) {{ enter(&{second}); x++; leave(&{second}); enter(&n); leave(&n); return 0; }} TWO(f, g)"
        )
    };
    said_of(&wrapped("m")).refuted("x", Reason::CommonLock);
    said_of(&wrapped("n")).race("x");
    let inside = |second: &str| {
        format!(
            "MUTEX(m); MUTEX(n); int x, y; static void add(pthread_mutex_t *l, int *p) {{ pthread_mutex_lock(l); ++*p; pthread_mutex_unlock(l); }}
            void *f(void *a) {{ add(&m, &x); add(&n, &y); return 0; }} void *g(void *a) {{ add(&{second}, &x); return 0; }} TWO(f, g)"
        )
    };
    said_of(&inside("n")).race("x");
    let getter = "struct s { int n; pthread_mutex_t m; int x; }; static pthread_mutex_t *lock_of(struct s *p) { return &p->m; }
        void *f(void *a) { struct s *p = a; pthread_mutex_lock(lock_of(p)); p->x++; pthread_mutex_unlock(lock_of(p)); return 0; }
        int main(void) { pthread_t t; for (int i = 0; i < 3; i++) { struct s *s = calloc(1, sizeof *s); pthread_mutex_init(&s->m, 0);
        pthread_create(&t, 0, f, s); pthread_create(&t, 0, f, s); } return 0; }";
    said_of(getter).refuted("p", Reason::RelativeLock);
    let pointer = "MUTEX(m); int x; void (*enter)(pthread_mutex_t *); static void one(pthread_mutex_t *l) { pthread_mutex_lock(l); }
        static void none(pthread_mutex_t *l) { } void *f(void *a) { enter = rand() ? one : none; enter(&m); x++; U(m); return 0; } TWO(f, f)";
    said_of(pointer).race("x");
}

#[test]
fn waiting_gives_the_lock_back_in_the_end() {
    let text = "MUTEX(m); pthread_cond_t c = PTHREAD_COND_INITIALIZER; int x, ready;
        void *f(void *a) { L(m); while (!ready) pthread_cond_wait(&c, &m); x++; U(m); return 0; }
        void *g(void *a) { L(m); ready = 1; x++; pthread_cond_signal(&c); U(m); return 0; } TWO(f, g)";
    said_of(text).refuted("x", Reason::CommonLock).refuted("ready", Reason::CommonLock);
    said_of(&text.replace("L(m); while", "while")).race("x");
}

#[test]
fn one_time_initialisation_comes_before_what_follows_it() {
    let text = |use_: &str| {
        format!(
            "pthread_once_t o = PTHREAD_ONCE_INIT, p = PTHREAD_ONCE_INIT; int x; void init(void) {{ x = 1; }}
            void *f(void *a) {{ pthread_once(&o, init); int r = x; return (void *)(long)r; }} void *g(void *a) {{ {use_} int r = x; return (void *)(long)r; }} TWO(f, g)"
        )
    };
    said_of(&text("pthread_once(&o, init);")).refuted("x", Reason::HappensBefore);
    said_of(&text("")).race("x");
    said_of(&text("pthread_once(&p, init);")).race("x");
}

#[test]
fn atomic_sections_are_one_lock() {
    let text = |body: &str| {
        format!(
            "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); int x;
            void __VERIFIER_atomic_add(void) {{ x++; }} void *f(void *a) {{ __VERIFIER_atomic_add(); return 0; }} void *g(void *a) {{ {body} return 0; }} TWO(f, g)"
        )
    };
    said_of(&text("__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();")).refuted("x", Reason::CommonLock);
    said_of(&text("__VERIFIER_atomic_begin(); __VERIFIER_atomic_end(); x++;")).race("x");
}

#[test]
fn each_thread_in_its_own_part() {
    let text = |entry: &str, argument: &str| {
        format!(
            "int slot[8]; void *w(void *a) {{ {entry} return 0; }}
            int main(void) {{ pthread_t t[8]; for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, w, {argument}); for (int i = 0; i < 8; i++) pthread_join(t[i], 0); return slot[0]; }}"
        )
    };
    said_of(&text("slot[(long)a]++;", "(void *)i")).refuted("slot", Reason::ThreadPartition);
    said_of(&text("++*(int *)a;", "&slot[i]")).refuted("slot", Reason::ThreadPartition);
    said_of(&text("slot[(long)a / 2]++;", "(void *)i")).race("slot");
    said_of(&text("++*(int *)a;", "&slot[i / 2]")).race("slot");
    said_of(&text("slot[(long)a + 1]++; slot[(long)a]++;", "(void *)i")).race("slot");
}

#[test]
fn fork_and_join_order() {
    let text = |before: &str, after: &str| {
        format!(
            "int x; void *w(void *a) {{ x++; return 0; }}
            int main(void) {{ pthread_t t; x = 1; pthread_create(&t, 0, w, 0); {before} pthread_join(t, 0); {after} return 0; }}"
        )
    };
    said_of(&text("", "x++;")).refuted("x", Reason::ForkJoin);
    said_of(&text("x++;", "")).race("x");
}

#[test]
fn a_lock_initialised_while_in_use_protects_nothing() {
    let text = "pthread_mutex_t m; int x; void *f(void *a) { L(m); x++; U(m); return 0; } void *g(void *a) { pthread_mutex_init(&m, 0); L(m); x++; U(m); return 0; } TWO(f, g)";
    said_of(text).race("m").race("x");
    let before = "pthread_mutex_t m; int x; void *f(void *a) { L(m); x++; U(m); return 0; }
        int main(void) { pthread_t t1, t2; pthread_mutex_init(&m, 0); pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, f, 0); pthread_join(t1, 0); pthread_join(t2, 0);
        pthread_mutex_destroy(&m); return 0; }";
    said_of(before).refuted("x", Reason::CommonLock);
    let own = "MUTEX(m); int x; void *f(void *a) { L(m); pthread_mutex_init(&m, 0); x++; return 0; } TWO(f, f)";
    said_of(own).race("x");
}

#[test]
fn after_a_second_return_nothing_is_held() {
    let text = "MUTEX(m); int x; jmp_buf b; void g(void) { U(m); longjmp(b, 1); }
        void *f(void *a) { L(m); if (setjmp(b) == 0) { x++; g(); } x++; return 0; } TWO(f, f)";
    said_of(text).race("x");
}

#[test]
fn paths_that_end_hold_nothing_afterwards() {
    let text =
        "MUTEX(m); int x; void *f(void *a) { if (rand()) { L(m); } else { pthread_exit(0); } x++; U(m); return 0; } TWO(f, f)";
    said_of(text).refuted("x", Reason::CommonLock);
}

#[test]
fn neighbours_share_bytes_or_not() {
    let text = |fields: &str| {
        format!(
            "MUTEX(m); MUTEX(n); struct {{ {fields} }} s; void *f(void *a) {{ L(m); s.p = 1; U(m); return 0; }} void *g(void *a) {{ L(n); s.q = 1; U(n); return 0; }} TWO(f, g)"
        )
    };
    said_of(&text("int p : 3, q : 3;")).race("s");
    assert!(!said_of(&text("char p, q;")).races_on("s"));
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let text = |body: &str| {
        format!(
            "_Atomic int f; int x; void *a(void *p) {{ x = 1; atomic_store_explicit(&f, 1, memory_order_relaxed); return 0; }}
            void *b(void *p) {{ if (atomic_load_explicit(&f, memory_order_relaxed)) return (void *)(long)x; {body} return 0; }} TWO(a, b)"
        )
    };
    let said = said_of(&text(""));
    said.race("x");
    assert!(!said.races_on("f"), "{}", said.summary());
    said_of(&text("*(int *)&f = 3;")).race("f");
}

#[test]
fn locks_found_through_structures() {
    let text = "struct s { pthread_mutex_t *lock; int *data; }; MUTEX(m); int x;
        void *f(void *a) { struct s *s = a; pthread_mutex_lock(s->lock); ++*s->data; pthread_mutex_unlock(s->lock); return 0; }
        int main(void) { static struct s s = { &m, &x }; pthread_t t1, t2; pthread_create(&t1, 0, f, &s); pthread_create(&t2, 0, f, &s); return 0; }";
    said_of(text).refuted("x", Reason::CommonLock);
}

#[test]
fn hand_over_hand() {
    let text = |unlock: &str| {
        format!(
            "struct node {{ pthread_mutex_t m; int x; struct node *next; }}; struct node *head;
            void *f(void *a) {{ struct node *p = head; pthread_mutex_lock(&p->m); p->x++;
              while (p->next) {{ struct node *n = p->next; pthread_mutex_lock(&n->m); pthread_mutex_unlock(&{unlock}->m); p = n; p->x++; }}
              pthread_mutex_unlock(&p->m); return 0; }}
            int main(void) {{ for (int i = 0; i < 3; i++) {{ struct node *n = calloc(1, sizeof *n); pthread_mutex_init(&n->m, 0); n->next = head; head = n; }}
              pthread_t t1, t2; pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, f, 0); pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
        )
    };
    let said = said_of(&text("p"));
    assert!(said.is_refuted("p", Reason::RelativeLock) || said.is_refuted("n", Reason::RelativeLock), "{}", said.summary());
    assert!(!said.races_on("p") && !said.races_on("n"), "{}", said.summary());
    said_of(&text("n")).race("p");
}

/// Two names may be one level of an error-checking mutex: what gives one of them back may give back the other.
#[test]
fn a_refused_lock_is_no_second_level() {
    let text = |kind: &str| {
        format!(
            "struct s {{ pthread_mutex_t m; int x; }} *g; void *f(void *a) {{ struct s *p = g, *q = g; pthread_mutex_lock(&p->m); pthread_mutex_lock(&q->m);
            pthread_mutex_unlock(&q->m); p->x++; pthread_mutex_unlock(&p->m); return 0; }}
            int main(void) {{ pthread_mutexattr_t k; pthread_mutexattr_init(&k); pthread_mutexattr_settype(&k, {kind});
            for (int i = 0; i < 2; i++) {{ g = malloc(sizeof *g); pthread_mutex_init(&g->m, &k); }}
            pthread_t t1, t2; pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, f, 0); return 0; }}"
        )
    };
    said_of(&text("PTHREAD_MUTEX_ERRORCHECK")).race("p");
    said_of(&text("PTHREAD_MUTEX_RECURSIVE")).refuted("p", Reason::RelativeLock);
}

/// More ways than are told apart: what is left is what all of them hold.
#[test]
fn many_ways_keep_what_they_have_in_common() {
    let text = |first: &str| {
        format!(
            "MUTEX(m); MUTEX(a); MUTEX(b); MUTEX(c); MUTEX(d); int x; void *f(void *p) {{ {first} if (rand()) L(a); if (rand()) L(b); if (rand()) L(c); if (rand()) L(d); x++; return 0; }} TWO(f, f)"
        )
    };
    said_of(&text("")).race("x");
    said_of(&text("L(m);")).refuted("x", Reason::CommonLock);
}

/// `wrlock` by a thread that holds the lock shared is refused, also where it is no longer known that it does.
#[test]
fn a_reader_that_is_not_known_to_be_one_is_no_writer() {
    let text = |first: &str| {
        format!(
            "pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER; MUTEX(a); MUTEX(b); MUTEX(c); MUTEX(d); int x;
            void *f(void *p) {{ {first} if (rand()) L(a); if (rand()) L(b); if (rand()) L(c); if (rand()) L(d);
            pthread_rwlock_wrlock(&w); x++; return 0; }} TWO(f, f)"
        )
    };
    said_of(&text("")).refuted("x", Reason::CommonLock);
    said_of(&text("if (rand()) pthread_rwlock_rdlock(&w);")).race("x");
    said_of(&text("if (rand()) { pthread_rwlock_rdlock(&w); pthread_rwlock_unlock(&w); }")).refuted("x", Reason::CommonLock);
}

/// Whichever thread runs a loop calls what was registered, with what was registered.
#[test]
fn routines_of_an_event_loop_run_where_the_loop_runs() {
    let text = |routine: &str| {
        format!(
            "MUTEX(m); struct event {{ char bytes[128]; }}; struct event_base; struct conn {{ int state; }};
            void event_set(struct event *, int, short, void (*)(int, short, void *), void *); int event_base_loop(struct event_base *, int);
            struct conn one, other; int x;
            void handle(int fd, short what, void *a) {{ struct conn *c = a; {routine} }}
            void *f(void *a) {{ event_base_loop(a, 0); return 0; }}
            int main(void) {{ pthread_t t; struct event e, g; event_set(&e, 0, 2, handle, &one); pthread_create(&t, 0, f, 0); event_base_loop(0, 0);
                other.state++; pthread_join(t, 0); return 0; }}"
        )
    };
    let said = said_of(&text("c->state++; L(m); x++; U(m);"));
    said.race("one").refuted("x", Reason::CommonLock).no_race("other");
    // Two threads come to one line.
    let of_line = said.result.candidates.iter().find(|candidate| candidate.ends.len() == 1).expect("one line");
    assert!(of_line.other_thread.as_ref().is_some_and(|other| *other != of_line.ends[0].thread_name));
    said_of(&text("L(m); c->state++; U(m); x++;")).race("x").refuted("one", Reason::CommonLock);
}

/// `localtime` gives every thread the same memory; the bytes behind a vector are those its addresses lead to.
#[test]
fn memory_of_the_library_and_vectors_of_bytes() {
    said_of("#include <time.h>\nint x; void *f(void *a) { time_t now = 0; struct tm *t = localtime(&now); x = t->tm_year; return 0; } TWO(f, f)")
        .race("t");
    let text = "#include <sys/uio.h>\nchar bytes[8]; struct iovec v[1] = {{bytes, 8}};
        void *f(void *a) { return (void *)writev(1, v, 1); } void *g(void *a) { bytes[3] = 1; return 0; } TWO(f, g)";
    said_of(text).race("bytes");
}
