//! Locks that are taken in the order of numbers beside them: what is a deadlock after all, and what is none.

use lockcheck::findings::Reason;

use super::support::{Said, said_of};

const ACCOUNT: &str = "struct account { int money; int id; unsigned other; pthread_mutex_t m; } A, B, *x, *y;";

/// Two threads that take two accounts' locks, each the other way round, when `begin` has given them ids.
fn accounts(take: &str, begin: &str) -> Said {
    accounts_and(take, begin, "")
}

fn accounts_and(take: &str, begin: &str, after: &str) -> Said {
    said_of(&format!(
        "{ACCOUNT} int n; {take}
        void *f(void *p) {{ both(&A, &B); return 0; }} void *g(void *p) {{ both(&B, &A); return 0; }}
        int main(void) {{ pthread_t t1, t2; {begin} pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0); {after}
            pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
    ))
}

const BEGIN: &str = "A.id = n++; B.id = n++; A.other = n; B.other = 5; A.money = n; B.money = 7; pthread_mutex_init(&A.m, 0); pthread_mutex_init(&B.m, 0);";
const UP: &str = "{ L(a->m); L(b->m); U(b->m); U(a->m); }";
const DOWN: &str = "{ L(b->m); L(a->m); U(a->m); U(b->m); }";

fn both(body: &str) -> String {
    format!("void both(struct account *a, struct account *b) {{ {body} }}")
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

fn branches(first: &str, condition: &str, then: &str, otherwise: &str) -> Said {
    accounts(&both(&format!("{first} if ({condition}) {then} else {otherwise}")), BEGIN)
}

#[test]
fn the_smaller_number_first() {
    is_in_order(&branches("if (a->id == b->id) return;", "a->id < b->id", UP, DOWN));
    is_in_order(&branches("if (a->id == b->id) return;", "a->id < b->id", DOWN, UP));
    is_in_order(&branches("if (b->id != a->id)", "a->id >= b->id", DOWN, UP));
    is_in_order(&branches("", "a->id < b->id", UP, "if (b->id < a->id) { L(b->m); L(a->m); U(a->m); U(b->m); }"));
    is_in_order(&branches("", "a->id < b->id", UP, "{}"));
}

#[test]
fn equal_numbers_order_nothing() {
    is_raised(&branches("", "a->id < b->id", UP, DOWN));
    is_raised(&branches("if (a == b) return;", "a->id < b->id", UP, DOWN));
    is_raised(&branches("", "a->id <= b->id", UP, "{}"));
    is_raised(&branches("if (a->money == b->money) return;", "a->id < b->id", UP, DOWN));
}

/// Each of the two threads has an order of its own.
fn each_its_own(first: &str, second: &str) -> Said {
    said_of(&format!(
        "{ACCOUNT} int n; void *f(void *p) {{ struct account *a = &A, *b = &B; {first} return 0; }}
        void *g(void *p) {{ struct account *a = &B, *b = &A; {second} return 0; }}
        int main(void) {{ pthread_t t1, t2; {BEGIN} pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0);
            pthread_join(t1, 0); pthread_join(t2, 0); return 0; }}"
    ))
}

#[test]
fn all_go_one_way_by_one_number() {
    let by = |condition: &str| format!("if ({condition}) {UP}");
    is_in_order(&each_its_own(&by("a->id < b->id"), &by("b->id > a->id")));
    is_in_order(&each_its_own(&by("a->other > b->other"), &by("a->other > b->other")));
    is_raised(&each_its_own(&by("a->id < b->id"), &by("a->id > b->id")));
    is_raised(&each_its_own(&by("a->id < b->id"), &by("a->money < b->money")));
    is_raised(&each_its_own(&by("a->id < b->id"), &by("(unsigned)a->id < (unsigned)b->id")));
    is_raised(&each_its_own(&by("a->id < b->id"), UP));
    is_raised(&each_its_own(&by("a->id < b->money"), &by("a->id < b->money")));
    is_raised(&branches("if (a->id == b->id) return;", "a->id < b->id", UP, UP));
}

#[test]
fn what_was_swapped() {
    let swapped = |first: &str, condition: &str| {
        let take = format!("{first} if ({condition}) {{ struct account *c = a; a = b; b = c; }} {UP}");
        accounts(&both(&take), BEGIN)
    };
    for condition in ["a->id > b->id", "a->id < b->id"] {
        let said = swapped("if (a->id == b->id) return;", condition);
        assert!(said.result.candidates.is_empty(), "locks are taken in order: {}", said.summary());
    }
    is_raised(&swapped("", "a->id > b->id"));
    is_raised(&swapped("if (a->id == b->id) return;", "a->money > b->money"));
}

#[test]
fn the_numbers_must_stay() {
    let take = both(&format!("if (a->id < b->id) {UP}"));
    is_in_order(&accounts(&take, BEGIN));
    // Somebody changes them while the others run.
    is_raised(&accounts_and(&take, BEGIN, "A.id = 7;"));
    is_raised(&accounts(&both(&format!("if (a->id < b->id) {UP} a->id = b->id + 1;")), BEGIN));
    is_raised(&accounts_and(&take, BEGIN, "struct account c = { 0 }; __builtin_memcpy(&B, &c, 8);"));
    let other = format!("void set(struct account *a) {{ a->id = 7; }} void *h(void *p) {{ set(&A); return 0; }} {take}");
    is_in_order(&accounts(&other, BEGIN));
    is_raised(&accounts_and(&other, BEGIN, "pthread_t t3; pthread_create(&t3, 0, h, 0);"));
    // Another member is nobody's business, and neither is what happens before, or after all.
    is_in_order(&accounts_and(&take, BEGIN, "A.money = 7;"));
    is_in_order(&accounts_and(&take, BEGIN, "pthread_join(t1, 0); pthread_join(t2, 0); A.id = 7; return 0;"));
}

#[test]
fn a_number_that_may_change_by_itself() {
    let take = both(&format!("volatile int *p = &a->id, *q = &b->id; if (*p < *q) {UP}"));
    is_raised(&accounts(&take, BEGIN));
}

#[test]
fn accounts_on_the_heap() {
    let program = |condition: &str, later: &str| {
        said_of(&format!(
            "{ACCOUNT} struct account *all[8]; int k;
            void *f(void *p) {{ struct account *a = all[rand() % 8], *b = all[rand() % 8]; {condition} {UP} return 0; }}
            int main(void) {{ pthread_t t[4]; for (int i = 0; i < 8; i++) {{ all[i] = malloc(sizeof *all[i]); all[i]->id = i; pthread_mutex_init(&all[i]->m, 0); }}
            for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); {later} for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }}"
        ))
    };
    is_in_order(&program("if (a->id < b->id)", ""));
    is_raised(&program("if (a->id <= b->id)", ""));
    is_raised(&program("if (a->id < b->id)", "all[k]->id = 0;"));
}
