//! Locks that are taken in the order of their addresses: what is a deadlock after all, and what is none.

use lockcheck::findings::Reason;

use super::support::{Said, said_of};

/// Four threads that run a body with indices of their own, which nobody knows; `k` has four locks.
fn said(body: &str) -> Said {
    said_with("int", body)
}

fn said_with(ty: &str, body: &str) -> Said {
    said_of(&format!(
        "pthread_mutex_t k[5]; struct pair {{ {ty} i, j; }} pairs[4];
        void *f(void *p) {{ {ty} i = ((struct pair *)p)->i, j = ((struct pair *)p)->j; {body} return 0; }}
        int main(int argc, char **argv) {{ pthread_t t[4];
            for (int n = 0; n < 4; n++) {{ pairs[n].i = argc + n; pairs[n].j = argc * n; pthread_create(&t[n], 0, f, &pairs[n]); }}
            for (int n = 0; n < 4; n++) pthread_join(t[n], 0);
            return 0; }}"
    ))
}

const BOTH: &str = "L(k[LOW]); L(k[HIGH]); U(k[HIGH]); U(k[LOW]);";

fn both(low: &str, high: &str) -> String {
    BOTH.replace("LOW", low).replace("HIGH", high)
}

#[track_caller]
fn is_in_order(said: &Said) {
    assert!(said.result.candidates.is_empty(), "locks are taken in order: {}", said.summary());
    said.dismissed(Reason::LockOrder);
}

#[track_caller]
fn is_raised(said: &Said) {
    assert!(!said.result.candidates.is_empty(), "locks may be taken in any order: {}", said.summary());
}

#[test]
fn a_fixed_distance() {
    is_in_order(&said(&both("i", "i + 1")));
    is_in_order(&said(&both("i + 1", "i")));
    is_raised(&said(&both("i", "(i + 1) % 4")));
    is_raised(&said(&format!("if (i & 1) {{ {} }} else {{ {} }}", both("i", "i + 1"), both("i + 1", "i"))));
    // Indices that may wrap say nothing.
    is_raised(&said_with("unsigned char", &both("i", "(unsigned char)(i + 1)")));
    is_raised(&said_with("unsigned", &both("i", "i + 1")));
}

#[test]
fn the_first_of_all() {
    is_in_order(&said(&both("0", "i")));
    is_raised(&said(&format!("if (j) {{ {} }} else {{ {} }}", both("1", "i"), both("i", "2"))));
    is_raised(&said(&format!("{} {}", both("0", "i"), both("i", "j"))));
}

#[test]
fn what_was_compared() {
    let branches =
        |condition: &str, then: &str, otherwise: &str| said(&format!("if ({condition}) {{ {then} }} else {{ {otherwise} }}"));
    let (up, down) = (both("i", "j"), both("j", "i"));
    is_in_order(&branches("i < j", &up, &down));
    is_in_order(&branches("i >= j", &down, &up));
    is_in_order(&said(&format!("if (i < j) {{ {up} }}")));
    is_in_order(&branches("i < j", &down, &up));
    is_raised(&branches("i < j", &up, &up));
    is_raised(&branches("i != j", &up, &down));
    // Compared as other numbers than indices are.
    is_raised(&branches("(unsigned)i < (unsigned)j", &up, &down));
    is_in_order(&said_with("unsigned", &format!("if (i < j) {{ {up} }} else {{ {down} }}")));
    // Something else was compared, or one of them has changed since.
    is_raised(&branches("i + 1 < j", &up, &down));
    is_raised(&said(&format!("int n = j; if (i < n) {{ j = ((struct pair *)p)->j; {up} }} else {{ {down} }}")));
}

#[test]
fn what_was_swapped() {
    let swapped = |condition: &str| said(&format!("int a = i, b = j; if ({condition}) {{ a = j; b = i; }} {}", both("a", "b")));
    is_in_order(&swapped("i > j"));
    is_in_order(&swapped("j < i"));
    is_in_order(&swapped("i < j"));
    is_raised(&swapped("i == j"));
    is_raised(&said(&format!("int a = i, b = j; if (i > j) {{ a = j; }} {}", both("a", "b"))));
}

#[test]
fn pointers_that_were_compared() {
    let take = "void both(pthread_mutex_t *a, pthread_mutex_t *b) { if (a > b) { pthread_mutex_t *c = a; a = b; b = c; } L(*a); L(*b); U(*b); U(*a); }";
    let program = |take: &str| {
        format!(
            "struct account {{ int money; pthread_mutex_t m; }}; {take}
            struct account *x, *y; void *f(void *p) {{ both(&x->m, &y->m); return 0; }} void *g(void *p) {{ both(&y->m, &x->m); return 0; }}
            int main(void) {{ pthread_t t1, t2; x = malloc(sizeof *x); y = malloc(sizeof *y); pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0);
            pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
        )
    };
    let said = said_of(&program(take));
    assert!(said.result.candidates.is_empty(), "{}", said.summary());
    is_raised(&said_of(&program(&take.replace("a > b", "a != b"))));
}

#[test]
fn what_else_may_be_held_counts() {
    // Under the same name something lies further up.
    is_raised(&said(&format!("L(k[j]); {} U(k[j]);", both("i", "i + 1"))));
    // One of the two is not known to be given back.
    is_raised(&said(&format!("L(k[j]); {} ", both("i", "i + 1"))));
    // Who goes up meets who goes down.
    let other =
        "pthread_mutex_t k[5]; int n; void *f(void *p) { int i = n; L(k[i]); L(k[i + 1]); U(k[i + 1]); U(k[i]); return 0; }
        void *g(void *p) { int i = n; L(k[i + 1]); L(k[i]); U(k[i]); U(k[i + 1]); return 0; } TWO(f, g)";
    is_raised(&said_of(other));
    let down = "L(k[i + 1]); L(k[i]); U(k[i]); U(k[i + 1]); return 0; } TWO";
    let said = said_of(&other.replace(down, "L(k[i]); L(k[i + 2]); U(k[i + 2]); U(k[i]); return 0; } TWO"));
    assert!(said.result.candidates.is_empty(), "both go up: {}", said.summary());
}

#[test]
fn readers_may_share_what_they_upgrade() {
    let program = "pthread_rwlock_t k[4]; int n; void *f(void *p) { int i = n, j = n; pthread_rwlock_rdlock(&k[0]); pthread_rwlock_wrlock(&k[i]);
        pthread_rwlock_unlock(&k[i]); pthread_rwlock_unlock(&k[0]); return 0; } TWO(f, f)";
    is_raised(&said_of(program));
}
