//! Locks of which it is not known which they are, or whether they are still held: raised where few are meant.

use super::support::{Said, said_of};

fn said(one: &str, other: &str) -> Said {
    said_of(&format!(
        "int unknown(void); MUTEX(a); MUTEX(b); MUTEX(c); pthread_mutex_t many[8]; int x;
        void *f(void *p) {{ {one} return 0; }} void *g(void *p) {{ pthread_mutex_t *m, *n; {other} return 0; }}
        int main(void) {{ pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); pthread_join(s, 0);
        pthread_join(t, 0); return 0; }}"
    ))
}

const A_THEN_B: &str = "L(a); L(b); x++; U(b); U(a);";

#[test]
fn a_pointer_without_a_value_may_be_any_lock() {
    let any = "a lock behind a pointer without a value";
    said(A_THEN_B, "pthread_mutex_lock(m); L(a); U(a); pthread_mutex_unlock(m);").deadlock(&["a", "b"]);
    said("L(b); L(a); U(a); U(b);", "L(a); pthread_mutex_lock(m); pthread_mutex_unlock(m); U(a);").deadlock(&["a", any]);
    said(A_THEN_B, "if (!pthread_mutex_trylock(m)) { L(a); U(a); pthread_mutex_unlock(m); }").deadlock(&["a", "b"]);
    // Which one was given back is not known either.
    said(A_THEN_B, "pthread_mutex_lock(m); pthread_mutex_unlock(n); L(a); U(a);").deadlock(&["a", "b"]);
}

#[test]
fn locks_with_names_stay_apart_beside_it() {
    said(A_THEN_B, "L(b); L(c); U(c); U(b); pthread_mutex_lock(m); pthread_mutex_unlock(m);")
        .open("a pointer that was never given a value");
}

#[test]
fn one_of_two_may_still_be_held() {
    let choose = "m = unknown() ? &b : &c; n = unknown() ? &b : &c;";
    said(A_THEN_B, &format!("{choose} pthread_mutex_lock(m); pthread_mutex_unlock(n); L(a); U(a);")).deadlock(&["a", "b"]);
    // The same pointer gives back what it took.
    said(A_THEN_B, &format!("{choose} pthread_mutex_lock(m); pthread_mutex_unlock(m); L(a); U(a);")).none();
}

#[test]
fn of_many_it_is_a_limit() {
    let many = "m = &many[unknown() & 7]; n = &many[unknown() & 7]; pthread_mutex_lock(m); pthread_mutex_unlock(n);";
    said("L(a); pthread_mutex_lock(&many[3]); U(a);", &format!("{many} L(a); U(a);")).open("still held");
}
