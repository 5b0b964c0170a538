//! Objects that end before anybody else knows of them, although others of their kind are published without order.

use lockcheck::findings::Role;

use super::support::{Said, said_of};

/// Two threads that make objects and hand them over in a plain variable, which races.
fn making(body: &str) -> Said {
    said_of(&format!(
        "extern int __VERIFIER_nondet_int(void); struct part {{ int x; }} *head;
        void *f(void *a) {{ struct part *p = calloc(1, sizeof *p); {body} return 0; }}
        void *g(void *a) {{ if (head) head->x++; return 0; }} TWO(f, g)"
    ))
}

fn frees(said: &Said) -> bool {
    said.result.candidates.iter().flat_map(|candidate| &candidate.ends).any(|end| end.role == Role::Free)
}

#[test]
fn what_ends_before_it_is_published_races_with_nothing() {
    let said = making("if (__VERIFIER_nondet_int()) { free(p); return 0; } p->x = 1; head = p;");
    said.race("head");
    assert!(!frees(&said), "{}", said.summary());
}

#[test]
fn what_ends_after_it_is_published_races() {
    for body in [
        "head = p; free(p);",
        "head = p; if (__VERIFIER_nondet_int()) { head = 0; free(p); }",
        "if (__VERIFIER_nondet_int()) head = p; free(p);",
        "for (int i = 0; i < 2; i++) { if (i) free(p); head = p; }",
    ] {
        let said = making(body);
        assert!(frees(&said), "{body}: {}", said.summary());
    }
}
