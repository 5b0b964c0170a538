//! Waits for a condition with another lock held: raised when every signaller needs that lock, and only then.

use super::support::{Said, said_of};

const WAITS: &str = "L(b); L(a); while (!x) pthread_cond_wait(&c, &a); U(a); U(b);";

/// A waiter and a signaller, and what else there is.
fn program(waiter: &str, signaller: &str, more: &str, main: &str) -> String {
    format!(
        "MUTEX(a); MUTEX(b); pthread_cond_t c = PTHREAD_COND_INITIALIZER, d = PTHREAD_COND_INITIALIZER; int x;
        void *f(void *p) {{ {waiter} return 0; }} void *g(void *p) {{ {signaller} return 0; }} {more}
        int main(void) {{ pthread_t t1, t2, t3; {main} pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0);
        pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
    )
}

fn said(waiter: &str, signaller: &str) -> Said {
    said_of(&program(waiter, signaller, "", ""))
}

#[test]
fn the_signaller_needs_what_the_waiter_keeps() {
    said(WAITS, "L(b); U(b); L(a); x = 1; pthread_cond_signal(&c); U(a);").deadlock(&["b", "c"]);
    said(WAITS, "L(b); L(a); x = 1; pthread_cond_broadcast(&c); U(a); U(b);").deadlock(&["b", "c"]);
    // Wherever it is taken, and whichever way is gone.
    said(WAITS, "if (p) { L(b); x = 1; } else { L(b); x = 2; } U(b); pthread_cond_signal(&c);").deadlock(&["b", "c"]);
    let wrapped = "void note(void) { L(b); x++; U(b); } void *h(void *p) { note(); pthread_cond_signal(&c); return 0; }";
    said_of(&program(WAITS, "", wrapped, "pthread_create(&t3, 0, h, 0);")).deadlock(&["b", "c"]);
}

#[test]
fn a_signal_that_needs_nothing_wakes_the_waiter() {
    said(WAITS, "L(a); x = 1; pthread_cond_signal(&c); U(a);").open("a condition variable");
    said(WAITS, "if (p) { L(b); U(b); } pthread_cond_signal(&c);").open("a condition variable");
    said(WAITS, "if (!pthread_mutex_trylock(&b)) U(b); pthread_cond_signal(&c);").open("a condition variable");
    said(WAITS, "pthread_cond_signal(&c); L(b); U(b);").open("a condition variable");
    let other = "void *h(void *p) { pthread_cond_signal(&c); return 0; }";
    let both = program(WAITS, "L(b); U(b); pthread_cond_signal(&c);", other, "pthread_create(&t3, 0, h, 0);");
    said_of(&both).open("a condition variable");
}

#[test]
fn what_comes_too_early_or_for_others_wakes_nobody() {
    let needs = "L(b); U(b); pthread_cond_signal(&c);";
    said_of(&program(WAITS, needs, "", "pthread_cond_signal(&c);")).deadlock(&["b", "c"]);
    said_of(&program(WAITS, needs, "void *h(void *p) { pthread_cond_signal(&d); return 0; }", "pthread_create(&t3, 0, h, 0);"))
        .deadlock(&["b", "c"]);
}

#[test]
fn only_what_is_kept_while_asleep_counts() {
    // The lock of the wait itself is given back.
    said("L(a); while (!x) pthread_cond_wait(&c, &a); U(a);", "L(a); x = 1; pthread_cond_signal(&c); U(a);")
        .open("a condition variable");
    said(
        "L(b); U(b); L(a); while (!x) pthread_cond_wait(&c, &a); U(a);",
        "L(b); L(a); x = 1; pthread_cond_signal(&c); U(a); U(b);",
    )
    .open("a condition variable");
    // Who looks at the clock wakes by itself.
    let timed = "struct timespec t = {0}; L(b); L(a); pthread_cond_timedwait(&c, &a, &t); U(a); U(b);";
    assert!(said(timed, "L(b); U(b); pthread_cond_signal(&c);").result.candidates.is_empty());
}
