//! Signal handlers that take locks: raised when the thread below may hold the lock and the handler would wait, and only then.

use super::support::{Said, said_of};

/// A handler and a thread, and what else there is.
fn said(handler: &str, thread: &str, more: &str) -> Said {
    said_of(&format!(
        "#include <signal.h>
        MUTEX(a); MUTEX(b); pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER; int x; {more}
        void handle(int n) {{ {handler} }} void *f(void *p) {{ {thread} return 0; }}
        int main(void) {{ pthread_t t; signal(SIGINT, handle); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
    ))
}

#[test]
fn the_handler_waits_for_the_thread_below() {
    said("L(a); x++; U(a);", "L(a); x++; U(a);", "").deadlock(&["a", "a"]);
    said("L(a); x++; U(a);", "if (!pthread_mutex_trylock(&a)) U(a);", "").deadlock(&["a", "a"]);
    said("note();", "L(a); x++; U(a);", "void note(void) { L(a); x++; U(a); }").deadlock(&["a", "a"]);
    said("pthread_rwlock_rdlock(&r); pthread_rwlock_unlock(&r);", "pthread_rwlock_wrlock(&r); pthread_rwlock_unlock(&r);", "")
        .deadlock(&["r", "r"]);
    said("pthread_rwlock_wrlock(&r); pthread_rwlock_unlock(&r);", "pthread_rwlock_rdlock(&r); pthread_rwlock_unlock(&r);", "")
        .deadlock(&["r", "r"]);
}

#[test]
fn a_handler_installed_by_a_structure_is_one() {
    let text = "#include <signal.h>
        MUTEX(a); int x; void handle(int n) { L(a); x++; U(a); }
        int main(void) { struct sigaction s = { .sa_handler = handle }; sigaction(SIGINT, &s, 0); L(a); x++; U(a); return 0; }";
    said_of(text).deadlock(&["a", "a"]);
}

#[test]
fn others_do_not_wait() {
    said("L(b); x++; U(b);", "L(a); x++; U(a);", "").none();
    said("if (!pthread_mutex_trylock(&a)) U(a);", "L(a); x++; U(a);", "").none();
    said("x++;", "L(a); x++; U(a);", "").none();
    said("pthread_rwlock_rdlock(&r); pthread_rwlock_unlock(&r);", "pthread_rwlock_rdlock(&r); pthread_rwlock_unlock(&r);", "")
        .none();
    // A recursive mutex counts, and whoever interrupts its owner is its owner.
    let recursive = "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;";
    said("L(m); x++; U(m);", "L(m); x++; U(m);", recursive).none();
}

#[test]
fn what_is_called_when_the_process_ends_is_no_handler() {
    let text = "MUTEX(a); int x; void last(void) { L(a); x++; U(a); }
        int main(void) { atexit(last); L(a); x++; U(a); return 0; }";
    said_of(text).none();
}
