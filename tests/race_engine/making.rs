//! Objects that threads make for themselves, and threads that a wrapper makes for others.

use lockcheck::findings::Reason;

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

/// Workers that each have an element of an array, and keep addresses in it; `f` is a worker, `g` is called by it.
fn with_a_part(body: &str, more: &str) -> Said {
    said_of(&format!(
        "MUTEX(m); struct part {{ int *data; int *list[2]; struct {{ int *deep; }} in; int last; }}; struct part *all, *other; int n;
        void keep(struct part *p, int *d) {{ p->data = d; }} int *kept(struct part *p) {{ return p->data; }}
        void fill(int *z) {{ *z = 1; }} int *make(void) {{ int *q = malloc(sizeof *q); L(m); n += q != 0; U(m); return q; }}
        void *f(void *a) {{ struct part *p = a; int v = 0; {body} return 0; }}
        int main(void) {{ pthread_t t[4]; struct part spare = {{0}}; other = &spare; all = calloc(4, sizeof *all);
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, &all[i]); {more}
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }}"
    ))
}

#[test]
fn what_a_thread_keeps_in_its_own_part_is_its_own() {
    for kept in ["keep(p, make()); fill(kept(p));", "keep(p, &v); fill(kept(p));", "p->in.deep = make(); fill(p->in.deep);"] {
        with_a_part(kept, "").no_race("z").no_race("v");
    }
    // Another one's part, or a place that is nobody's.
    with_a_part("keep(p + 1, make()); fill(kept(p));", "").race("z");
    with_a_part("keep(p, make()); fill(kept(p - 1));", "").race("z");
    with_a_part("keep(all, make()); fill(kept(p));", "").race("z");
    with_a_part("keep(p, make()); fill(kept(&all[n]));", "").race("z");
    with_a_part("L(m); keep(other, make()); fill(kept(other)); U(m); fill(kept(other));", "").race("z");
    with_a_part("keep(p, make()); L(m); other = p; U(m); fill(kept(p)); L(m); p = other; U(m); fill(kept(p));", "").race("z");
    // Somebody else puts it there.
    with_a_part("fill(kept(p));", "int *q = make(); for (int i = 0; i < 4; i++) all[i].data = q;").race("z");
    with_a_part("keep(p, make()); p->data = other->data; fill(kept(p));", "spare.data = all[0].data;").race("z");
}

/// Workers that each have an element of an array, and find the way to it in structures and lists; `g` compares two elements.
fn with_a_way(body: &str, more: &str) -> Said {
    said_of(&format!(
        "#include <stdarg.h>
        struct part {{ long x; char text[8]; long y; }} *all; struct way {{ struct part *to; long number; }} common, *shared = &common;
        void go(struct way *w) {{ w->to->x = 1; }}
        int g(const void *p, const void *q) {{ const struct way *w = p, *z = q; w->to->x = 2; return w->number > z->number; }}
        void each(int n, ...) {{ va_list l; va_start(l, n); while (n--) va_arg(l, struct part *)->x = 3; va_end(l); }}
        void *f(void *a) {{ struct part *p = a; struct way w = {{p}}, v[2] = {{{{p}}, {{p}}}}; {body} return 0; }}
        int main(void) {{ pthread_t t[4]; all = calloc(4, sizeof *all); common.to = all;
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, &all[i]); {more}
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }}"
    ))
}

#[test]
fn the_way_to_its_own_part_leads_through_memory_of_its_own() {
    let memory = "memory allocated at trap.c:17";
    let ways = [
        "go(&w);",
        "struct way *h = malloc(sizeof *h); h->to = p; go(h); free(h);",
        "each(2, p, p);",
        "each(1, w.to);",
        "qsort(v, 2, sizeof *v, g);",
        "qsort(v, 2, sizeof *v, g); go(v);",
        "struct way *h = calloc(9, sizeof *h); for (int i = 0; i < 9; i++) h[i].to = p; qsort(h, 9, sizeof *h, g); free(h);",
        "struct way z = w; go(&z);",
        "p->text[0] = 1; w.to->text[w.number] = 1; go(&w);",
        "clock_gettime(0, (struct timespec *)w.to); go(&w);",
    ];
    for way in ways {
        let said = with_a_way(way, "");
        said.no_race(memory);
        said.refuted(memory, Reason::ThreadPartition);
        with_a_way(way, "all[2].x = 1;").race(memory);
        with_a_way(&format!("{way} all->x++;"), "").race(memory);
    }
    for elsewhere in [
        "w.to = all; go(&w);",
        "w.to = p + 1; go(&w);",
        "w.to = all + 1; qsort(v, 2, sizeof *v, g); go(&w);",
        "v[1].to = all; qsort(v, 2, sizeof *v, g);",
        "each(2, p, all);",
        "each(1, p + 1);",
        "go(shared);",
        "shared = &w; go(shared);",
        "w = *shared; go(&w);",
        "shared->to = p; each(1, shared->to);",
        "w.to[1].text[0] = 1; go(&w);",
        "w.to->text[w.number + 8] = 1; ((char *)w.to)[w.number] = 1; go(&w);",
    ] {
        with_a_way(elsewhere, "").race(memory);
    }
    // Another thread reaches the way.
    with_a_way("shared = &w; go(&w);", "shared->to = all;").race(memory);
}

#[test]
fn two_threads_with_one_argument_have_no_part_of_their_own() {
    for (arguments, races) in [("&x, &x", true), ("&x, &y", false)] {
        let arguments: Vec<&str> = arguments.split(", ").collect();
        let said = said_of(&format!(
            "struct part {{ int *data; }} x, y; void fill(int *z) {{ *z = 1; }}
            int *make(void) {{ return malloc(4); }}
            void *f(void *a) {{ struct part *p = a; p->data = make(); fill(p->data); return 0; }}
            void *g(void *a) {{ struct part *p = a; p->data = make(); fill(p->data); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, {}); pthread_create(&u, 0, g, {});
            pthread_join(t, 0); pthread_join(u, 0); return 0; }}",
            arguments[0], arguments[1]
        ));
        assert_eq!(said.races_on("z"), races, "{arguments:?}: {}", said.summary());
    }
}

#[test]
fn what_a_thread_keeps_in_memory_of_its_own_is_its_own() {
    let boxed = |body: &str, entries: &str| {
        noted(&format!("struct box {{ int *kept; struct box *next; }} mine = {{0}}, *b = &mine; {body}"), entries)
    };
    boxed("b->kept = make(); fill(b->kept);", "f, f").no_race("p");
    boxed("b = calloc(1, sizeof *b); b->kept = make(); fill(b->kept);", "f, f").no_race("p");
    boxed("b->next = malloc(sizeof *b); b->next->kept = make(); b = b->next; fill(b->kept);", "f, f").no_race("p");
    boxed("struct box more; b->kept = make(); more = *b; fill(more.kept);", "f, f").no_race("p");
    boxed("b = malloc(sizeof *b); b->kept = make(); b = realloc(b, 2 * sizeof *b); fill(b->kept);", "f, f").no_race("p");
    // What was found elsewhere, and put into memory of one's own.
    boxed("make(); b->kept = known(); fill(b->kept);", "f, f").race("p");
    boxed("struct box more; make(); more.kept = known(); *b = more; fill(b->kept);", "f, f").race("p");
    boxed("make(); b = malloc(sizeof *b); b->kept = known(); b = realloc(b, 2 * sizeof *b); fill(b->kept);", "f, f").race("p");
    boxed("b->kept = make(); int *q = known(); __builtin_memcpy(&b->kept, &q, sizeof q); fill(b->kept);", "f, f").race("p");
    boxed("b->kept = make(); fill(b->kept);", "f, g").race("p");
}

#[test]
fn memory_of_another_thread_may_hold_what_that_has_made() {
    // Both threads show their box; each looks into the one that was shown last.
    let shown = |body: &str| {
        said_of(&format!(
            "MUTEX(m); struct box {{ int *kept; }} *shown; void fill(int *z) {{ *z = 1; }}
            void *f(void *a) {{ struct box mine = {{malloc(4)}}; L(m); shown = &mine; U(m); {body} L(m); U(m); return 0; }} TWO(f, f)"
        ))
    };
    shown("fill(mine.kept);").no_race("z");
    shown("L(m); struct box *b = shown; U(m); fill(b->kept);").race("z");
    shown("L(m); struct box *b = shown; b->kept = mine.kept; U(m); fill(mine.kept);").race("z");
}

#[test]
fn what_a_list_of_arguments_holds_its_thread_has_given() {
    let said = |body: &str| {
        said_of(&format!(
            "#include <stdarg.h>\n#include <stdio.h>\n#include <string.h>\nMUTEX(m); char *shown; char *known(void) {{ L(m); char *s = shown; U(m); return s; }}
            void say(const char *format, ...) {{ va_list l; va_start(l, format); vprintf(format, l); va_end(l); }}
            void *f(void *a) {{ char text[8] = \"a b\"; L(m); shown = text; U(m); {body} text[0] = 'c'; return 0; }} TWO(f, f)"
        ))
    };
    said("say(\"%s\", text);").no_race("text");
    said("say(\"%s\", known());").race("text");
    // The library keeps a string, whoever has given it.
    said("strtok(text, \" \"); say(\"%s\", text);").race("text");
    said("strtok(text, \" \"); strtok(0, \" \");").race("text");
}

#[test]
fn a_comparison_gets_elements() {
    // As many bytes as an element has: no member is taken for another one.
    let sorting = |size: &str, compare: &str| {
        said_of(&format!(
            "extern int __VERIFIER_nondet_int(void); struct entry {{ char *name; char *other; }}; char x[8];
            int g(const void *p, const void *q) {{ char *const *e = p, *const *z = q; {compare} }}
            void *f(void *a) {{ char text[8] = \"text\"; struct entry all[4]; for (int i = 0; i < 4; i++) {{ all[i].name = text; all[i].other = x; }}
            qsort(all, 4, {size}, g); return 0; }}
            void *h(void *a) {{ x[0] = 1; return 0; }} TWO(f, h)"
        ))
    };
    sorting("sizeof *all", "return **e - **z;").no_race("x");
    sorting("sizeof *all", "return *e[1] - *z[1];").race("x");
    sorting("sizeof *all / 2", "return **e - **z;").race("x");
    sorting("__VERIFIER_nondet_int()", "return **e - **z;").race("x");
}
