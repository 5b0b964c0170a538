//! What orders threads beside locks, and which thread touches which object: barriers, loops that run once, wrappers, arguments.

use lockcheck::findings::Reason;

use super::support::said_of;

/// A worker that writes before the barrier, and main, which waits and writes after it.
fn at_the_barrier(count: &str, worker: &str, main: &str) -> String {
    format!(
        "pthread_barrier_t b, other; int x, y; void *w(void *a) {{ {worker} return 0; }}
        int main(void) {{ pthread_t t; pthread_barrier_init(&b, 0, {count}); pthread_barrier_init(&other, 0, 2);
            pthread_create(&t, 0, w, 0); {main} return 0; }}"
    )
}

const WAIT: &str = "pthread_barrier_wait(&b);";

#[test]
fn a_barrier_for_all_who_come_orders_them() {
    let before_and_after = |count: &str| at_the_barrier(count, &format!("x = 1; {WAIT}"), &format!("{WAIT} x = 2;"));
    said_of(&before_and_after("2")).refuted("x", Reason::HappensBefore);
    // With a larger count nobody passes.
    said_of(&before_and_after("3")).refuted("x", Reason::HappensBefore);
    said_of(&before_and_after("1")).race("x");
    said_of(&before_and_after("rand()")).race("x");
    said_of(&at_the_barrier("2", &format!("x = 1; {WAIT}"), &format!("x = 2; {WAIT}"))).race("x");
    said_of(&at_the_barrier("2", &format!("{WAIT} x = 1;"), &format!("{WAIT} x = 2;"))).race("x");
    said_of(&at_the_barrier("2", &format!("x = 1; {WAIT}"), "pthread_barrier_wait(&other); x = 2;")).race("x");
    said_of(&at_the_barrier("2", &format!("x = 1; {WAIT}"), &format!("if (rand()) {WAIT} x = 2;"))).race("x");
    // Whoever does not wait is not waited for.
    said_of(&at_the_barrier("2", "x = 1;", &format!("{WAIT} x = 2;"))).race("x");
    said_of(&at_the_barrier("2", &format!("if (rand()) {{ x = 1; {WAIT} }}"), &format!("{WAIT} x = 2;")))
        .refuted("x", Reason::HappensBefore);
}

#[test]
fn rounds_of_a_barrier_are_counted() {
    let rounds = |worker: &str, main: &str| at_the_barrier("2", worker, main);
    let twice = format!("{WAIT} {WAIT}");
    said_of(&rounds(&format!("{WAIT} x = 1; {WAIT}"), &format!("{twice} x = 2;"))).refuted("x", Reason::HappensBefore);
    said_of(&rounds(&format!("{twice} x = 1;"), &format!("{WAIT} x = 2; {WAIT}"))).refuted("x", Reason::HappensBefore);
    said_of(&rounds(&format!("{WAIT} x = 1; {WAIT}"), &format!("{WAIT} x = 2; {WAIT}"))).race("x");
    let loops = |worker: &str| rounds(&format!("for (int i = 0; i < 3; i++) {{ {worker} }}"), &format!("{WAIT} x = 2; {twice}"));
    said_of(&loops(&format!("x = 1; {WAIT}"))).race("x");
    let inside = "void pass(pthread_barrier_t *p) { pthread_barrier_wait(p); }";
    let wrapped = |first: &str| {
        format!("{inside}\n{}", at_the_barrier("2", &format!("x = 1; pass({first});"), "pass(&b); x = 2;"))
            .replace(inside, "")
            .replace("int x, y;", &format!("int x, y; {inside}"))
    };
    said_of(&wrapped("&b")).refuted("x", Reason::HappensBefore);
    said_of(&wrapped("&other")).race("x");
}

#[test]
fn a_barrier_counts_every_instance_that_may_come() {
    let many = |threads: &str, count: u32, after: &str| {
        format!(
            "pthread_barrier_t b; int x, y; void *w(void *a) {{ volatile int seen = x; {WAIT} {after} return 0; }}
            int main(void) {{ pthread_t t[8]; pthread_barrier_init(&b, 0, {count}); int n = 3; (void)n;
                for (int i = 0; i < {threads}; i++) pthread_create(&t[i], 0, w, 0);
                {WAIT} x = 2; return 0; }}"
        )
    };
    said_of(&many("3", 4, "")).refuted("x", Reason::HappensBefore);
    said_of(&many("3", 3, "")).race("x");
    said_of(&many("rand()", 4, "")).race("x");
    said_of(&many("3", 4, "x = 3;")).race("x");
    let in_test = |count: u32| {
        format!(
            "pthread_barrier_t b; int x; void *w(void *a) {{ volatile int seen = x; {WAIT} return 0; }}
            int main(void) {{ pthread_t t; pthread_barrier_init(&b, 0, {count});
                for (int i = 0; pthread_create(&t, 0, w, 0), i < 3; i++) ; {WAIT} x = 2; return 0; }}"
        )
    };
    said_of(&in_test(4)).race("x");
    said_of(&in_test(5)).refuted("x", Reason::HappensBefore);
    let attributes = "pthread_barrier_t b; int x; void *w(void *a) { x = 1; pthread_barrier_wait(&b); return 0; }
        int main(void) { pthread_t t; pthread_barrierattr_t k; pthread_barrierattr_init(&k);
            pthread_barrierattr_setpshared(&k, PTHREAD_PROCESS_SHARED); pthread_barrier_init(&b, &k, 2);
            pthread_create(&t, 0, w, 0); pthread_barrier_wait(&b); x = 2; return 0; }";
    said_of(attributes).race("x");
    let two_counts = "pthread_barrier_t b; int x; void *w(void *a) { x = 1; pthread_barrier_wait(&b); return 0; }
        int main(void) { pthread_t t; if (rand()) pthread_barrier_init(&b, 0, 2); else pthread_barrier_init(&b, 0, 1);
            pthread_create(&t, 0, w, 0); pthread_barrier_wait(&b); x = 2; return 0; }";
    said_of(two_counts).race("x");
}

#[test]
fn a_loop_that_runs_once_creates_one_thread() {
    let text = |head: &str| {
        format!(
            "int x; void *w(void *a) {{ x++; return 0; }} int main(void) {{ pthread_t t; int i = 0; {head} pthread_create(&t, 0, w, 0); return 0; }}"
        )
    };
    said_of(&text("for (; i < 1; i++)")).refuted("x", Reason::SingleInstance);
    said_of(&text("for (; i < 2; i++)")).race("x");
    said_of(&text("for (int n = rand(); i < n; i++)")).race("x");
    let last = "int x; void *w(void *a) { x++; return 0; }
        int main(void) { pthread_t t; int i = 0; do pthread_create(&t, 0, w, 0); while (++i < 1); return 0; }";
    said_of(last).refuted("x", Reason::SingleInstance);
    said_of(&last.replace("< 1", "< 2")).race("x");
    // The test of a loop runs once more than its body.
    let in_test = "int x; void *w(void *a) { x++; return 0; }
        int main(void) { pthread_t t; for (int i = 0; pthread_create(&t, 0, w, 0), i < 1; i++) ; return 0; }";
    said_of(in_test).race("x");
    let around = "int x; void *w(void *a) { x++; return 0; }
        int main(void) { pthread_t t; for (int j = 0; j < 2; j++) for (int i = 0; i < 1; i++) pthread_create(&t, 0, w, 0); return 0; }";
    said_of(around).race("x");
}

#[test]
fn a_wrapper_passes_the_attributes_on() {
    let text = |attributes: &str, joins: &str| {
        format!(
            "int x; void *w(void *a) {{ x++; return 0; }}
            int start(pthread_t *t, pthread_attr_t *k, void *(*f)(void *)) {{ return pthread_create(t, k, f, 0); }}
            int main(void) {{ pthread_t t; pthread_attr_t k; pthread_attr_init(&k); pthread_attr_setdetachstate(&k, PTHREAD_CREATE_DETACHED);
                start(&t, {attributes}, w); {joins} x++; return 0; }}"
        )
    };
    said_of(&text("0", "pthread_join(t, 0);")).refuted("x", Reason::ForkJoin);
    said_of(&text("&k", "pthread_join(t, 0);")).race("x");
    said_of(&text("0", "")).race("x");
}

#[test]
fn callers_decide_which_object_a_parameter_points_to() {
    let text = |worker: &str, main: &str| {
        format!(
            "MUTEX(m); MUTEX(n); int x, y; void add(pthread_mutex_t *l, int *p) {{ pthread_mutex_lock(l); *p += 1; pthread_mutex_unlock(l); }}
            void *w(void *a) {{ {worker} return 0; }} int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); {main} pthread_join(t, 0); return 0; }}"
        )
    };
    said_of(&text("add(&m, &x);", "add(&n, &y);")).no_race("x").no_race("y");
    said_of(&text("add(&m, &x);", "add(&n, &x);")).race("x");
    said_of(&text("add(&m, rand() ? &x : &y);", "add(&n, &y);")).race("y").no_race("x");
    let deep = |first: &str, second: &str| {
        format!(
            "int x, y; void set(int *p) {{ *p = 1; }} void twice(int *p) {{ set(p); set(p); }}
            void *w(void *a) {{ twice({first}); return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); twice({second}); return 0; }}"
        )
    };
    said_of(&deep("&x", "&y")).no_race("x").no_race("y");
    said_of(&deep("&x", "&x")).race("x");
    said_of(&deep("rand() ? &x : &y", "&y")).race("y");
}

#[test]
fn creators_decide_which_object_an_argument_points_to() {
    let text = |first: &str, second: &str| {
        format!(
            "int x, y; void *w(void *a) {{ int *p = a; if (p) *p += 1; return 0; }}
            void start(pthread_t *t, void *a) {{ pthread_create(t, 0, w, a); }}
            int main(void) {{ pthread_t t, u; start(&t, {first}); start(&u, {second}); pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )
    };
    said_of(&text("&x", "&y")).no_race("x").no_race("y");
    said_of(&text("&x", "0")).no_race("x");
    said_of(&text("&x", "&x")).race("x");
    said_of(&text("&x", "rand() ? &x : &y")).race("x").no_race("y");
    let passed_on = |second: &str| {
        format!(
            "int x, y; void *w(void *a) {{ *(int *)a += 1; return 0; }} void *v(void *a) {{ pthread_t t; pthread_create(&t, 0, w, a); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, &x); pthread_create(&u, 0, v, {second}); return 0; }}"
        )
    };
    said_of(&passed_on("&y")).no_race("x").no_race("y");
    said_of(&passed_on("&x")).race("x");
}

#[test]
fn a_fixed_element_under_its_own_lock() {
    let text = |lock: &str, element: &str| {
        format!(
            "struct slot {{ int x; pthread_mutex_t m; }} slots[8]; void add(struct slot *s) {{ pthread_mutex_lock(&s->m); s->x++; pthread_mutex_unlock(&s->m); }}
            void *w(void *a) {{ for (int i = 0; i < 8; i++) add(&slots[i]); return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); L(slots[{lock}].m); slots[{element}].x = 1; U(slots[{lock}].m); return 0; }}"
        )
    };
    said_of(&text("5", "5")).refuted("slots", Reason::RelativeLock);
    said_of(&text("4", "5")).race("slots");
}

#[test]
fn offsets_written_as_addresses_in_nothing() {
    let text = |member: &str| {
        format!(
            "struct item {{ int x; pthread_mutex_t m; int link; int other; }} *shared;
            void add(int *p) {{ struct item *s = (struct item *)((char *)p - (unsigned long)&((struct item *)0)->{member});
                pthread_mutex_lock(&s->m); s->x++; pthread_mutex_unlock(&s->m); }}
            void *w(void *a) {{ add(&shared->link); return 0; }}
            int main(void) {{ pthread_t t; shared = calloc(1, sizeof *shared); pthread_mutex_init(&shared->m, 0);
                pthread_create(&t, 0, w, 0); add(&shared->link); return 0; }}"
        )
    };
    said_of(&text("link")).no_race("s");
}

#[test]
fn an_unknown_function_may_return_any_global_that_can_be_named_elsewhere() {
    let text = |storage: &str, ty: &str| {
        format!(
            "struct s {{ int x; }}; {storage} struct s s; struct s *find(void); {ty} *other(void);
            void *w(void *a) {{ s.x = 1; return 0; }} int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); find()->x = 2; return (int)*other(); }}"
        )
    };
    said_of(&text("", "char")).race("s");
    said_of(&text("static", "char")).no_race("s");
    let larger = "int x; long *find(void); void *w(void *a) { x = 1; return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); *find() = 2; return 0; }";
    said_of(larger).no_race("x");
}

#[test]
fn arguments_allocated_for_one_creation_each_are_no_other_threads() {
    let text = |argument: &str| {
        format!(
            "struct job {{ int x; }}; struct job shared; void *w(void *a) {{ struct job *p = a; p->x++; return 0; }}
            void start(pthread_t *t) {{ struct job *p = malloc(sizeof *p); p->x = 0; pthread_create(t, 0, w, {argument}); }}
            int main(void) {{ pthread_t t, u; start(&t); start(&u); pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )
    };
    said_of(&text("p")).no_race("p");
    said_of(&text("&shared")).race("shared");
    said_of(&text("rand() ? &shared : p")).race("shared");
}

#[test]
fn a_creator_that_has_taken_the_lock_has_waited_for_its_threads() {
    let text = |worker: &str, main: &str| {
        format!(
            "MUTEX(l); int x; void *c(void *a) {{ x = 2; return 0; }} void *w(void *a) {{ pthread_t u; {worker} return 0; }}
            int main(void) {{ pthread_t t; {main} return 0; }}"
        )
    };
    let create = "pthread_create(&u, 0, c, 0);";
    let main = "L(l); pthread_create(&t, 0, w, 0); x = 1; U(l);";
    said_of(&text(&format!("L(l); {create} U(l);"), main)).refuted("x", Reason::LockHistory);
    said_of(&text(&format!("L(l); U(l); {create}"), main)).refuted("x", Reason::LockHistory);
    said_of(&text(create, main)).race("x");
    said_of(&text(&format!("{create} L(l); U(l);"), main)).race("x");
    said_of(&text(&format!("if (rand()) {{ L(l); U(l); }} {create}"), main)).race("x");
    said_of(&text(&format!("L(l); {create} U(l);"), "pthread_create(&t, 0, w, 0); L(l); x = 1; U(l);")).race("x");
    // A lock that is held for one thread, and that another has taken since.
    let held_for = |worker: &str, main: &str| {
        format!(
            "MUTEX(l); int x; void *c(void *a) {{ x = 2; return 0; }} void *w(void *a) {{ {worker} return 0; }}
            int main(void) {{ pthread_t t, u; {main} return 0; }}"
        )
    };
    let both = "L(l); pthread_create(&t, 0, w, 0); pthread_create(&u, 0, c, 0); pthread_join(u, 0); U(l);";
    said_of(&held_for("L(l); U(l); x = 1;", both)).refuted("x", Reason::LockHistory);
    said_of(&held_for("x = 1; L(l); U(l);", both)).race("x");
    said_of(&held_for(
        "L(l); U(l); x = 1;",
        "pthread_create(&t, 0, w, 0); L(l); pthread_create(&u, 0, c, 0); pthread_join(u, 0); U(l);",
    ))
    .race("x");
    said_of(&held_for(
        "L(l); U(l); x = 1;",
        "L(l); pthread_create(&t, 0, w, 0); U(l); L(l); pthread_create(&u, 0, c, 0); pthread_join(u, 0); U(l);",
    ))
    .race("x");
    said_of(&held_for(
        "L(l); U(l); x = 1;",
        "L(l); pthread_create(&t, 0, w, 0); pthread_create(&u, 0, c, 0); U(l); pthread_join(u, 0);",
    ))
    .race("x");
}

#[test]
fn a_join_of_an_unknown_handle_is_no_join_of_oneself() {
    let text = |other: &str| {
        format!(
            "int x, y; void elsewhere(pthread_t *); void *v(void *a) {{ y++; return 0; }}
            void *w(void *a) {{ pthread_t t; x++; pthread_create(&t, 0, v, 0); elsewhere(&t); pthread_join(t, 0); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, 0); {other} pthread_join(t, 0); x++; return 0; }}"
        )
    };
    said_of(&text("")).refuted("x", Reason::ForkJoin);
    said_of(&text("pthread_create(&u, 0, w, 0); pthread_join(u, 0);")).race("x");
}
