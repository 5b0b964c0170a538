//! What callers give decides which locks are taken: numbers, addresses, and addresses behind addresses.

use super::support::said_of;

/// Two threads that run these bodies.
fn two(declarations: &str, one: &str, other: &str) -> String {
    format!(
        "MUTEX(a); MUTEX(b); MUTEX(c); volatile int x; {declarations} void *f(void *p) {{ {one} return 0; }} void *g(void *p) {{ {other} return 0; }} TWO(f, g)"
    )
}

#[test]
fn a_number_says_which_lock() {
    let act = "void act(int n) { if (n == 1) L(a); else if (n == 2) L(b); else if (n == 3) { U(b); U(a); } }";
    said_of(&two(act, "act(1); act(2); act(3);", "act(1); act(2); act(3);")).none();
    said_of(&two(act, "act(1); act(2); act(3);", "act(2); act(1); act(3);")).deadlock(&["a", "b"]);
    said_of(&two(act, "act(1); act(1); act(3);", "")).waits_for_itself("a");
    // A number that nobody knows.
    said_of(&two(act, "act(1); act(x); act(3);", "act(2); act(1); act(3);")).deadlock(&["a", "b"]);
    let switch =
        "void act(int n) { switch (n) { case 0: L(a); case 1: L(b); break; case 2: U(b); break; default: U(b); U(a); } }";
    said_of(&two(switch, "act(0); act(3);", "act(1); act(2); L(a); U(a);")).none();
    said_of(&two(switch, "act(0); act(3);", "act(1); L(a); U(a); act(2);")).deadlock(&["a", "b"]);
}

#[test]
fn numbers_are_handed_on() {
    let through = "void act(int n) { if (n) L(a); else L(b); } void give(int n) { if (n) U(a); else U(b); }
        void both(int n, int m) { act(n); act(m); give(m); give(n); }";
    said_of(&two(through, "both(1, 0);", "both(1, 0);")).none();
    said_of(&two(through, "both(1, 0);", "both(0, 1);")).deadlock(&["a", "b"]);
    // Computed from what was given.
    said_of(&two(through, "both(1, 0);", "for (int i = 0; i < 3; i++) both(5 - 4, 0);")).none();
    let not = through.replace("act(n); act(m); give(m); give(n);", "act(n); act(!n); give(!n); give(n);");
    said_of(&two(&not, "both(1, 0);", "both(1, 0);")).none();
    said_of(&two(&not, "both(1, 0);", "both(0, 0);")).deadlock(&["a", "b"]);
    // Changed on the way.
    let changed = through.replace("{ act(n);", "{ if (x) n = 0; act(n);");
    said_of(&two(&changed, "both(1, 1);", "both(1, 0);")).deadlock(&["a", "b"]);
}

#[test]
fn recursion_keeps_what_is_handed_on() {
    let down = "void down(int first, int n) { if (first) L(a); else L(b); if (n) down(0, n - 1); if (first) U(a); else U(b); }";
    // The second call of itself finds b held.
    said_of(&two(down, "down(1, 1);", "")).waits_for_itself("b");
    let same = "void down(int first, int n) { if (first) { L(a); U(a); } else { L(b); U(b); } if (n) down(first, n - 1); }";
    said_of(&two(same, "L(b); down(1, x); U(b);", "L(a); down(0, 0); U(a);")).deadlock(&["a", "b"]);
    said_of(&two(same, "L(b); down(1, x); U(b);", "L(b); down(1, x); U(b);")).none();
    // Counting down tells nothing apart, and ends.
    let count = "void down(int n) { if (n == 7) { L(a); L(b); U(b); U(a); } if (n) down(n - 1); }";
    said_of(&two(count, "down(500);", "L(b); L(a); U(a); U(b);")).deadlock(&["a", "b"]);
}

#[test]
fn many_numbers_are_one() {
    let act = "void act(int n) { if (n == 100) { L(a); L(b); U(b); U(a); } else { L(b); U(b); } }";
    let calls: String = (0..40).map(|number| format!("act({number});")).collect();
    said_of(&two(act, &format!("{calls} act(100);"), "L(b); L(a); U(a); U(b);")).deadlock(&["a", "b"]);
    said_of(&two(act, "act(1);", "L(b); L(a); U(a); U(b);")).none();
}

#[test]
fn an_index_is_a_number() {
    let array = "pthread_mutex_t k[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
        void in(int i) { L(k[i]); } void out(int i) { U(k[i]); }";
    said_of(&two(array, "in(0); in(1); out(1); out(0);", "in(0); in(1); out(1); out(0);")).none();
    said_of(&two(array, "in(0); in(1); out(1); out(0);", "in(1); in(0); out(0); out(1);")).deadlock(&["k[0]", "k[1]"]);
}

#[test]
fn variables_that_nobody_writes() {
    let flag = |write: &str| {
        format!(
            "static int flag; void maybe(int on) {{ if (flag) {{ if (on) L(a); else U(a); }} }} void other(void) {{ {write} }}"
        )
    };
    said_of(&two(&flag(""), "maybe(1); L(b); U(b); maybe(0);", "L(b); L(a); U(a); U(b); other();")).none();
    said_of(&two(&flag("flag = 1;"), "maybe(1); L(b); U(b); maybe(0);", "L(b); L(a); U(a); U(b); other();"))
        .deadlock(&["a", "b"]);
    let through = flag("int *p = &flag; *p = x;");
    said_of(&two(&through, "maybe(1); L(b); U(b); maybe(0);", "L(b); L(a); U(a); U(b); other();")).deadlock(&["a", "b"]);
    // Data that others may write.
    let volatile = flag("").replace("static int", "volatile int");
    said_of(&two(&volatile, "maybe(1); L(b); U(b); maybe(0);", "L(b); L(a); U(a); U(b); other();")).deadlock(&["a", "b"]);
}

#[test]
fn locks_behind_what_a_parameter_points_to() {
    let wrapped = |second: &str| {
        format!(
            "struct s {{ int n; pthread_mutex_t *m; }} s1, s2; void in(struct s *s) {{ pthread_mutex_lock(s->m); }}
            void out(struct s *s) {{ pthread_mutex_unlock(s->m); }}
            void *f(void *p) {{ in(&s1); in(&s2); out(&s2); out(&s1); return 0; }}
            void *g(void *p) {{ {second} return 0; }}
            int main(int argc, char **argv) {{ s1.m = malloc(sizeof *s1.m); s2.m = malloc(sizeof *s2.m);
                pthread_mutex_init(s1.m, 0); pthread_mutex_init(s2.m, 0); MORE
                pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )
    };
    said_of(&wrapped("in(&s1); in(&s2); out(&s2); out(&s1);").replace("MORE", "")).none();
    assert!(!said_of(&wrapped("in(&s2); in(&s1); out(&s1); out(&s2);").replace("MORE", "")).result.candidates.is_empty());
    // Something else may be stored there as well.
    let said = said_of(&wrapped("in(&s1); in(&s2); out(&s2); out(&s1);").replace("MORE", "if (argc > 1) s2.m = s1.m;"));
    assert!(!said.self_waits().is_empty() || !said.result.limits.is_empty(), "{}", said.summary());
}

#[test]
fn what_a_thread_was_created_with() {
    let threads = |one: &str, other: &str| {
        format!(
            "MUTEX(a); MUTEX(b); void *f(void *p) {{ pthread_mutex_t *m = p; pthread_mutex_lock(m); L(b); U(b); pthread_mutex_unlock(m); return 0; }}
            void *g(void *p) {{ pthread_mutex_t *m = p; L(a); pthread_mutex_lock(m); pthread_mutex_unlock(m); U(a); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, {one}); pthread_create(&u, 0, g, {other});
                pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )
    };
    said_of(&threads("&a", "&b")).none();
    said_of(&threads("&b", "&b")).waits_for_itself("b");
    // Two threads of one function, each with its own lock.
    let crossed = "MUTEX(a); MUTEX(b); struct pair { pthread_mutex_t *m, *n; } p1 = {&a, &b}, p2 = {ORDER};
        void *f(void *p) { struct pair *q = p; pthread_mutex_lock(q->m); pthread_mutex_lock(q->n); pthread_mutex_unlock(q->n); pthread_mutex_unlock(q->m); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, f, &p1); pthread_create(&u, 0, f, &p2); pthread_join(t, 0); pthread_join(u, 0); return 0; }";
    said_of(&crossed.replace("ORDER", "&a, &b")).none();
    assert!(!said_of(&crossed.replace("ORDER", "&b, &a")).result.candidates.is_empty());
}
