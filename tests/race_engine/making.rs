//! Objects that threads make for themselves, and threads that a wrapper makes for others.

use super::support::{Said, said_of};

/// Two threads that note where something of theirs is; `g` looks there.
fn noted(body: &str, entries: &str) -> Said {
    said_of(&format!(
        "MUTEX(m); int *table, seen; void note(int *p) {{ L(m); table = p; U(m); }}
        int *known(void) {{ L(m); int *p = table; U(m); return p; }}
        void fill(int *p) {{ *p = 1; }} int *same(int *p) {{ return p; }}
        int *make(void) {{ int *q = malloc(sizeof *q); note(q); return q; }}
        void *f(void *a) {{ int v; {body} return 0; }}
        void *g(void *a) {{ int *p = known(); if (p) *p = 2; return 0; }}
        TWO({entries})"
    ))
}

#[test]
fn each_thread_has_its_own_variable() {
    noted("note(&v); fill(&v);", "f, f").no_race("v");
    noted("note(&v); fill(same(&v));", "f, f").no_race("v");
    noted("int *p = &v; note(p); for (int i = 0; i < 3; i++) fill(p);", "f, f").no_race("v");
    noted("note(&v); fill(&v);", "f, g").race("v");
    noted("note(&v); fill(known());", "f, f").race("v");
    noted("note(&v); fill(rand() ? &v : known());", "f, f").race("v");
    noted("int *p = &v; note(p); for (int i = 0; i < 3; i++) { fill(p); p = known(); }", "f, f").race("v");
}

#[test]
fn each_thread_has_what_it_allocates() {
    noted("fill(make());", "f, f").no_race("p");
    noted("int *p = make(); fill(p); p = realloc(p, 8); fill(p); note(p); fill(p);", "f, f").no_race("p");
    noted("fill(make());", "f, g").race("p");
    noted("make(); fill(known());", "f, f").race("p");
    noted("int *kept[1] = {make()}; note(kept[0]); fill(known());", "f, f").race("p");
}

#[test]
fn what_a_thread_is_given_it_has_not_made() {
    said_of(
        "void fill(int *p) { *p = 1; } void *f(void *a) { fill(a); return 0; }
        int main(void) { int v; pthread_t t, u; pthread_create(&t, 0, f, &v); pthread_create(&u, 0, f, &v);
        pthread_join(t, 0); pthread_join(u, 0); return 0; }",
    )
    .race("v");
}

/// Threads that `start` makes, and `again`, which calls it.
fn started(body: &str) -> Said {
    said_of(&format!(
        "int x, y; void *f(void *a) {{ x++; return 0; }} void *g(void *a) {{ y++; return 0; }} void *(*table[2])(void *) = {{f, g}};
        int start(pthread_t *t, void *(*entry)(void *)) {{ return pthread_create(t, 0, entry, 0); }}
        int again(pthread_t *t, void *(*entry)(void *)) {{ return start(t, entry); }}
        int main(void) {{ pthread_t t, u; {body} pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
    ))
}

#[test]
fn a_wrapper_starts_what_it_is_given() {
    started("start(&t, f); start(&u, g);").no_race("x").no_race("y");
    started("again(&t, f); again(&u, g);").no_race("x").no_race("y");
    started("start(&t, f); x = 1; start(&u, g);").race("x").no_race("y");
    started("start(&t, g); x = 1; start(&u, f);").no_race("x").no_race("y");
    started("start(&t, f); again(&u, f);").race("x").no_race("y");
    started("start(&t, table[rand() & 1]); start(&u, table[rand() & 1]);").race("x").race("y");
    started("start(&t, rand() ? f : g); start(&u, f);").race("x").no_race("y");
}
