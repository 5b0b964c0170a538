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
            "MUTEX(m); struct n {{ int v; struct n *next; }}; struct n *head; void init(struct n *p) {{ p->v = 1; }}
            void *f(void *a) {{ struct n *p = malloc(sizeof *p); {first} L(m); p->next = head; head = p; U(m); return 0; }}
            int main(void) {{ pthread_t t; head = calloc(1, sizeof *head); init(head); pthread_create(&t, 0, f, 0);
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
