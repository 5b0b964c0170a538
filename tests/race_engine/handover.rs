//! Orders that are not locks: permits, messages, jumps, initialisations before a thread, objects that are fresh one by one; and how each fails.

use lockcheck::findings::Reason;

use super::support::said_of;

const SEMAPHORE: &str = "#include <semaphore.h>\nsem_t s; int x;";

fn semaphore(permits: &str, first: &str, second: &str) -> super::support::Said {
    said_of(&format!(
        "{SEMAPHORE} void *f(void *a) {{ {first} return 0; }} void *g(void *a) {{ {second} return 0; }}
        int main(void) {{ pthread_t t, u; sem_init(&s, 0, {permits}); pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
        pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
    ))
}

#[test]
fn one_permit_is_a_lock() {
    let section = "sem_wait(&s); x++; sem_post(&s);";
    semaphore("1", section, section).refuted("x", Reason::HappensBefore);
    semaphore("2", section, section).race("x");
    semaphore("rand()", section, section).race("x");
    // A third who posts without having waited makes a second permit.
    semaphore("1", section, "sem_post(&s); sem_wait(&s); x++; sem_post(&s);").race("x");
    semaphore("1", section, "if (rand()) sem_post(&s); sem_wait(&s); x++;").race("x");
    semaphore("1", section, "if (sem_trywait(&s) == 0) { x++; sem_post(&s); }").refuted("x", Reason::HappensBefore);
    semaphore("1", section, "if (sem_trywait(&s) != 0) x++;").race("x");
    semaphore("1", section, "sem_wait(&s); sem_post(&s); x++;").race("x");
    semaphore("1", section, "sem_init(&s, 0, 1); sem_wait(&s); x++;").race("x");
}

#[test]
fn who_has_waited_comes_after_the_only_sender() {
    semaphore("0", "x = 1; sem_post(&s);", "sem_wait(&s); x++;").refuted("x", Reason::HappensBefore);
    semaphore("0", "sem_post(&s); x = 1;", "sem_wait(&s); x++;").race("x");
    semaphore("0", "x = 1; sem_post(&s);", "x++; sem_wait(&s);").race("x");
    semaphore("1", "x = 1; sem_post(&s);", "sem_wait(&s); x++;").race("x");
    semaphore("0", "for (int i = 0; i < 2; i++) { x = 1; sem_post(&s); }", "sem_wait(&s); x++;").race("x");
    semaphore("0", "x = 1; sem_post(&s);", "if (sem_trywait(&s)) return 0; x++;").refuted("x", Reason::HappensBefore);
    semaphore("0", "x = 1; sem_post(&s);", "sem_trywait(&s); x++;").race("x");
    // Its own message says nothing about the other.
    semaphore("0", "x = 1; sem_post(&s);", "sem_post(&s); sem_wait(&s); x++;").race("x");
    let two = "void *f(void *a) { x = 1; sem_post(&s); return 0; } void *g(void *a) { sem_wait(&s); x++; return 0; }
        int main(void) { pthread_t t, u, v; sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
        pthread_create(&v, 0, g, 0); return 0; }";
    said_of(&format!("{SEMAPHORE} {two}")).race("x");
}

#[test]
fn a_jump_keeps_what_is_held() {
    let jumps = |body: &str, after: &str| {
        said_of(&format!(
            "MUTEX(m); int x; jmp_buf b; void *f(void *a) {{ L(m); x++; U(m); return 0; }} void leave(void) {{ {body} }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); if (!setjmp(b)) {{ leave(); return 0; }} {after} return 0; }}"
        ))
    };
    jumps("L(m); longjmp(b, 1);", "x = 1; U(m);").refuted("x", Reason::CommonLock);
    jumps("longjmp(b, 1);", "x = 1;").race("x");
    jumps("L(m); if (rand()) longjmp(b, 2); U(m); longjmp(b, 1);", "x = 1;").race("x");
    jumps("L(m); U(m); longjmp(b, 1);", "x = 1;").race("x");
    jumps("L(m); longjmp(b, 1);", "U(m); x = 1;").race("x");
}

#[test]
fn a_thread_comes_after_what_was_initialised_before_it() {
    let program = |main: &str| {
        said_of(&format!(
            "pthread_once_t o = PTHREAD_ONCE_INIT; int x; void init(void) {{ x = 1; }} void *late(void *a) {{ x++; return 0; }}
            void *other(void *a) {{ pthread_once(&o, init); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, other, 0); {main} return 0; }}"
        ))
    };
    program("pthread_once(&o, init); pthread_create(&u, 0, late, 0);").refuted("x", Reason::HappensBefore);
    program("pthread_create(&u, 0, late, 0); pthread_once(&o, init);").race("x");
    program("if (rand()) pthread_once(&o, init); pthread_create(&u, 0, late, 0);").race("x");
}

#[test]
fn one_object_that_is_known_does_not_make_others_known() {
    let program = |first: &str| {
        said_of(&format!(
            "MUTEX(m); struct n {{ int v; struct n *next; }}; struct n *first, *head; void init(struct n *p) {{ p->v = 1; }}
            void *f(void *a) {{ struct n *p = malloc(sizeof *p); {first} L(m); p->next = head; head = p; U(m); return 0; }}
            int main(void) {{ pthread_t t; first = calloc(1, sizeof *first); init(first); head = first; pthread_create(&t, 0, f, 0);
            L(m); head->v = 2; U(m); pthread_join(t, 0); return 0; }}"
        ))
    };
    assert!(program("init(p);").result.candidates.is_empty(), "{}", program("init(p);").summary());
    assert!(!program("L(m); head = p; U(m); init(p);").result.candidates.is_empty());
}

#[test]
fn a_lock_that_is_destroyed_too_early_is_itself_the_race() {
    let program = |end: &str| {
        said_of(&format!(
            "MUTEX(m); int x; void *f(void *a) {{ L(m); x++; U(m); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); {end} return 0; }}"
        ))
    };
    program("pthread_mutex_destroy(&m);").race("m").refuted("x", Reason::CommonLock);
    // A lock that is made anew protects nothing of before.
    program("pthread_mutex_init(&m, 0);").race("m").race("x");
}

#[test]
fn half_of_an_allocated_address_may_be_half_of_another() {
    let program = |argument: &str| {
        said_of(&format!(
            "int t[8]; void *f(void *a) {{ t[(int)(long)a] = 1; return 0; }}
            int main(void) {{ pthread_t h[2]; for (long i = 0; i < 2; i++) pthread_create(&h[i], 0, f, {argument}); return 0; }}"
        ))
    };
    program("malloc(4)").race("t");
    program("(void *)i").refuted("t", Reason::ThreadPartition);
}

#[test]
fn a_flag_that_one_thread_sets_is_a_message() {
    let flag = |set: &str, see: &str| {
        said_of(&format!(
            "atomic_int f; int x; void *g(void *a) {{ {set} return 0; }} void *h(void *a) {{ {see} return 0; }} TWO(g, h)"
        ))
    };
    let (release, acquire) = ("memory_order_release", "memory_order_acquire");
    let set = format!("x = 1; atomic_store_explicit(&f, 1, {release});");
    let see = format!("if (atomic_load_explicit(&f, {acquire})) x = 2;");
    flag(&set, &see).refuted("x", Reason::HappensBefore);
    flag("x = 1; f = 1;", "while (!f) ; x = 2;").refuted("x", Reason::HappensBefore);
    flag("x = 1; f++;", "if (f == 1) x = 2;").refuted("x", Reason::HappensBefore);
    flag("f = 0; x = 1; f = 3;", "if (f != 3) return 0; x = 2;").refuted("x", Reason::HappensBefore);
    flag(&set, "if (!f) x = 2;").race("x");
    flag(&set, "if (f) ; x = 2;").race("x");
    flag("f = 1; x = 1;", &see).race("x");
    flag(&set, "if (atomic_load_explicit(&f, memory_order_relaxed)) x = 2;").race("x");
    flag("x = 1; atomic_store_explicit(&f, 1, memory_order_relaxed);", &see).race("x");
    flag("if (a) { x = 1; } f = 1; f = 0; x = 1;", &see).race("x");
    // Another thread's message is not this one's.
    flag(&set, "f = 2; if (f) x = 2;").race("x");
    flag(&set, "atomic_fetch_add(&f, 1); if (f) x = 2;").race("x");
    let plain =
        "int main(void) { pthread_t t, u; pthread_create(&t, 0, g, 0); pthread_create(&u, 0, h, 0); *(char *)&f = 1; return 0; }";
    said_of(&format!(
        "atomic_int f; int x; void *g(void *a) {{ {set} return 0; }} void *h(void *a) {{ {see} return 0; }} {plain}"
    ))
    .race("x");
    let initial = "atomic_int f = 1; int x; void *g(void *a) { x = 1; f = 1; return 0; } void *h(void *a) { if (f) x = 2; return 0; } TWO(g, h)";
    said_of(initial).race("x");
}

#[test]
fn two_threads_with_two_arguments_have_their_own_parts() {
    let program = |body: &str, first: &str, second: &str| {
        said_of(&format!(
            "int ids[3] = {{0, 1, 2}}; int t[4]; void *f(void *a) {{ {body} return 0; }}
            int main(void) {{ pthread_t u, v; pthread_create(&u, 0, f, {first}); pthread_create(&v, 0, f, {second});
            pthread_join(u, 0); pthread_join(v, 0); return 0; }}"
        ))
    };
    let by_table = "t[*(int *)a] = 1;";
    program(by_table, "&ids[0]", "&ids[1]").refuted("t", Reason::ThreadPartition);
    program(by_table, "&ids[1]", "&ids[1]").race("t");
    program("t[(long)a] = 1;", "(void *)0", "(void *)1").refuted("t", Reason::ThreadPartition);
    program("t[(long)a] = 1;", "(void *)1", "(void *)1").race("t");
    program("t[(long)a / 2] = 1;", "(void *)0", "(void *)1").race("t");
    // One thread's own entry is its neighbour's next one.
    program("int *p = a; t[p[0]] = 1; t[p[1]] = 2;", "&ids[0]", "&ids[1]").race("t");
    let looped = "int ids[3] = {0, 1, 2}; int t[3]; void *f(void *a) { int *p = a; t[p[0]] = 1; t[p[1]] = 2; return 0; }
        int main(void) { pthread_t h[2]; for (int i = 0; i < 2; i++) pthread_create(&h[i], 0, f, &ids[i]); return 0; }";
    said_of(looped).race("t");
}
