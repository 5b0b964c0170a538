//! Shapes of creation and joining, each ordered, and overlapping after the smallest edit. The accesses are those to `x`.

use super::accesses::overlaps;
use super::load_text;

struct Shape {
    name: &'static str,
    source: &'static str,
    /// What breaks it: replace the first by the second.
    edits: &'static [(&'static str, &'static str)],
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "local-handle",
        source: "void *f(void *a) { x++; return 0; }
            int main(void) { pthread_t t; x = 1; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return x; }",
        edits: &[("pthread_join(t, 0);", ""), ("pthread_join(t, 0);", "if (unknown()) pthread_join(t, 0);"), ("pthread_create(&t, 0, f, 0);", "pthread_create(&t, 0, f, 0); x = 2;"),
            ("pthread_join(t, 0);", "pthread_tryjoin_np(t, 0);"), ("pthread_join(t, 0);", "pthread_detach(t); pthread_join(t, 0);"),
            ("x++; return 0;", "pthread_detach(pthread_self()); x++; return 0;"), ("pthread_join(t, 0);", "t = 0; pthread_join(t, 0);")],
    },
    Shape {
        name: "global-handle",
        source: "pthread_t t; void *f(void *a) { x++; return 0; }
            int main(void) { pthread_create(&t, 0, f, 0); pthread_join(t, 0); return x; }",
        edits: &[("x++; return 0;", "x++; t = 0; return 0;"), ("pthread_join(t, 0);", "pthread_create(&t, 0, f, 0); pthread_join(t, 0);")],
    },
    Shape {
        name: "wrapper-with-two-entries",
        source: "void *f(void *a) { x++; return 0; } void *g(void *a) { y++; return 0; } void start(pthread_t *t, void *(*run)(void *)) { pthread_create(t, 0, run, 0); }
            int main(void) { pthread_t t, u; start(&t, f); pthread_join(t, 0); start(&u, g); x = 2; pthread_join(u, 0); return x; }",
        edits: &[("start(&u, g)", "start(&u, f)"), ("start(&u, g)", "start(&u, unknown() ? f : g)"), ("pthread_create(t, 0, run, 0);", "if (unknown()) run = f; pthread_create(t, 0, run, 0);")],
    },
    Shape {
        name: "global-handle-behind-recursion",
        source: "static pthread_t t; void *f(void *a) { x++; return 0; } int depth(int n) { pthread_t *p = &t; if (n > 0) return depth(n - 1) + 1; return *p != 0; }
            int main(void) { pthread_create(&t, 0, f, 0); depth(unknown()); pthread_join(t, 0); return x; }",
        edits: &[("return *p != 0;", "*p = 0; return 0;"), ("pthread_create(&t, 0, f, 0);", "pthread_create(&t, 0, f, 0); pthread_create(&t, 0, f, 0);"),
            ("return *p != 0;", "pthread_create(p, 0, f, 0); return 0;")],
    },
    Shape {
        name: "the-result-says-whether-it-was-created",
        source: "pthread_t t; void *f(void *a) { x++; return 0; }
            int start(void) { if (unknown()) return -1; pthread_create(&t, 0, f, 0); return 0; }
            int main(void) { if (start() == 0) pthread_join(t, 0); return x; }",
        edits: &[("start() == 0", "start() == -1"), ("start() == 0", "start() == unknown()"), ("return 0; }\n            int main", "return unknown(); }\n            int main"),
            ("start() == 0", "start() > 0"), ("if (start() == 0)", "start(); if (unknown())"), ("return -1;", "{ pthread_create(&t, 0, f, 0); return -1; }")],
    },
    Shape {
        name: "who-could-not-start-returns",
        source: "pthread_t t; void *f(void *a) { x++; return 0; }
            _Bool start(void) { if (unknown()) return 0; pthread_create(&t, 0, f, 0); return 1; }
            int main(void) { if (!start()) { x = 2; return 1; } pthread_join(t, 0); return x; }",
        edits: &[("!start()", "start()"), ("return 1; }\n            int main", "return 0; }\n            int main")],
    },
    Shape {
        name: "joined-by-the-grandparent",
        source: "pthread_t tf; void *f(void *a) { x++; return 0; } void *g(void *a) { pthread_create(&tf, 0, f, 0); y++; return 0; }
            int main(void) { pthread_t t, h; pthread_create(&t, 0, g, 0); h = tf; if (h == 0) return 0; pthread_join(h, 0); return x; }",
        edits: &[("pthread_join(h, 0);", ""), ("if (h == 0) return 0;", ""), ("if (h == 0) return 0;", "if (t == 0) return 0;"),
            ("h == 0", "h == 1"), ("h = tf;", "h = unknown() ? tf : t;"), ("pthread_join(h, 0);", "if (unknown()) pthread_join(h, 0);"),
            ("pthread_t tf;", "pthread_t tf = 7;"), ("y++;", "y++; tf = 7;"), ("y++;", "memset(&tf, 1, sizeof tf);"),
            ("pthread_create(&tf, 0, f, 0);", "pthread_create(&tf, 0, f, 0); pthread_create(&tf, 0, f, 0);"),
            ("pthread_create(&tf, 0, f, 0);", "pthread_create(&tf, 0, f, 0); pthread_detach(tf);"),
            ("pthread_create(&t, 0, g, 0);", "pthread_create(&t, 0, g, 0); pthread_create(&t, 0, g, 0);"),
            ("pthread_create(&tf, 0, f, 0);", "for (int i = 0; i < 2; i++) pthread_create(&tf, 0, f, 0);"),
            ("pthread_join(h, 0);", "h = unknown(); pthread_join(h, 0);")],
    },
    Shape {
        name: "before-a-thread-that-another-joins",
        source: "pthread_t tf; void *f(void *a) { y++; return 0; } void *g(void *a) { x++; pthread_create(&tf, 0, f, 0); return 0; }
            int main(void) { pthread_t t, h; pthread_create(&t, 0, g, 0); h = tf; if (h) { pthread_join(h, 0); return x; } return 0; }",
        edits: &[("x++; pthread_create(&tf, 0, f, 0);", "pthread_create(&tf, 0, f, 0); x++;"),
            ("x++; pthread_create(&tf, 0, f, 0);", "for (int i = 0; i < 2; i++) { x++; pthread_create(&tf, 0, f, 0); }"),
            ("x++; pthread_create(&tf, 0, f, 0);", "x++; pthread_create(&tf, 0, f, 0); pthread_create(&tf, 0, f, 0);"),
            ("x++; pthread_create(&tf, 0, f, 0);", "if (unknown()) { pthread_create(&tf, 0, f, 0); x++; }"),
            ("pthread_create(&t, 0, g, 0);", "pthread_create(&t, 0, g, 0); pthread_create(&t, 0, g, 0);"),
            ("pthread_join(h, 0); return x;", "return x;")],
    },
    Shape {
        name: "field",
        source: "struct worker { int id; pthread_t handle; } w; void *f(void *a) { x++; return 0; }
            int main(void) { struct worker *p = &w; p->id = 3; pthread_create(&p->handle, 0, f, p); p->id = 4; pthread_join(w.handle, 0); return x; }",
        edits: &[("p->id = 4;", "memset(p, 0, sizeof *p);")],
    },
    Shape {
        name: "heap-field",
        source: "struct worker { int id; pthread_t handle; }; void *f(void *a) { x++; return 0; }
            int main(void) { struct worker *p = malloc(sizeof *p); p->id = 3; pthread_create(&p->handle, 0, f, p); p->id = 4; pthread_join(p->handle, 0); return x; }",
        edits: &[("pthread_join(p->handle, 0);", "if (p->id == 4) pthread_join(p->handle, 0);")],
    },
    Shape {
        name: "pool-on-the-heap",
        source: "struct pool { int n; pthread_mutex_t m; pthread_t *t; }; void *f(void *a) { struct pool *p = a; pthread_mutex_lock(&p->m); y = x; pthread_mutex_unlock(&p->m); return 0; }
            struct pool *start(int n) { struct pool *p = calloc(1, sizeof *p); p->n = n; p->t = calloc(n, sizeof *p->t); pthread_mutex_init(&p->m, 0); x = 0;
                for (int i = 0; i < n; i++) pthread_create(&p->t[i], 0, f, p); return p; }
            void stop(struct pool *p) { int early = 3; for (int i = 0; i < p->n; i++) pthread_join(p->t[i], 0); pthread_mutex_destroy(&p->m); free(p->t); free(p); }
            int main(void) { struct pool *p = start(unknown()); y++; stop(p); x = 2; return 0; }",
        edits: &[("p->n = n;", "p->n = n - 1;"), ("p->n = n;", "if (unknown()) p->n = n;"), ("i < p->n;", "i < p->n - 1;"), ("i < p->n;", "i < early;"),
            ("y++;", "p->n = 2;"), ("y++;", "p->n--;"), ("y++;", "memset(p, 0, sizeof *p);"), ("y++;", "p->t[0] = 0;"), ("y++;", "p->t = calloc(9, 8);"),
            ("y = x;", "y = x; p->n = 0;"), ("i < n;", "i < n + 1;"), ("i < n;", "i < unknown();"), ("y++;", "pthread_mutex_init((void *)p, 0);"),
            ("y++;", "struct pool *q = start(2);"), ("y++;", "read(0, p, sizeof *p);")],
    },
    Shape {
        name: "array-inside-a-pool",
        source: "struct pool { char name[8]; int n; pthread_t t[8]; int done; pthread_mutex_t m; int last; }; void *f(void *a) { struct pool *p = a; y = x; pthread_mutex_lock(&p->m); p->done++; pthread_mutex_unlock(&p->m); return 0; }
            int main(void) { struct pool *p = calloc(1, sizeof *p); pthread_mutex_init(&p->m, 0); p->n = unknown();
                for (int i = 0; i < p->n; i++) pthread_create(&p->t[i], 0, f, p); for (int i = 0; i < p->n; i++) pthread_join(p->t[i], 0); x = 2; return 0; }",
        edits: &[("p->done++;", "p->n++;"), ("p->done++;", "p->t[2] = 0;"), ("p->done++;", "p->t[unknown()] = 0;"), ("p->done++;", "memset(p->t, 0, 9);"), ("p->done++;", "memset(&p->n, 0, 5);"), ("p->done++;", "memset(p->name, 0, 12);"),
            ("p->done++;", "char *c = (char *)p; c[unknown()] = 0;")],
    },
    Shape {
        name: "bound-read-too-early",
        source: "struct pool { int n; pthread_t t[8]; } pool; void *f(void *a) { y = x; return 0; }
            int main(void) { int early; pool.n = 3; early = pool.n; for (int i = 0; i < 3; i++) pthread_create(&pool.t[i], 0, f, 0); for (int i = 0; i < early; i++) pthread_join(pool.t[i], 0); x = 2; return 0; }",
        edits: &[("pool.n = 3; early = pool.n;", "early = pool.n; pool.n = 3;"), ("pool.n = 3;", "if (unknown()) pool.n = 3;"), ("pool.n = 3;", "for (int i = 0; i < 4; i++) pool.n = 3;"),
            ("pool.n = 3;", "pool.n = unknown();")],
    },
    Shape {
        name: "wrapper-with-an-optional-handle",
        source: "struct server { int n; pthread_t t; }; void *f(void *a) { x++; return 0; }
            int spawn(pthread_t *handle) { pthread_t t; int failed = pthread_create(&t, 0, f, 0); if (failed == 0 && handle != 0) *handle = t; return failed; }
            int main(void) { struct server *s = calloc(1, sizeof *s); if (spawn(&s->t)) return 1; pthread_t t = s->t; s->t = 0; pthread_join(t, 0); return x; }",
        edits: &[("spawn(&s->t)", "spawn(unknown() ? &s->t : 0)"), ("handle != 0", "handle == 0"), ("handle != 0", "unknown()"), ("failed == 0 &&", "failed &&"),
            ("pthread_t t = s->t; s->t = 0;", "s->t = 0; pthread_t t = s->t;")],
    },
    Shape {
        name: "created-by-a-wrapper-in-a-loop",
        source: "void *f(void *a) { y = x; return 0; }
            int spawn(pthread_t *handle) { pthread_t t; int failed = pthread_create(&t, 0, f, 0); if (failed == 0 && handle != 0) *handle = t; return failed; }
            int main(void) { int i, n = unknown(); pthread_t w[8] = {0};
                for (i = 0; i < n; i++) if (spawn(&w[i])) break;
                y++; for (i = 0; i < n; i++) if (w[i] != 0) pthread_join(w[i], 0); x = 2; return 0; }",
        edits: &[("*handle = t;", "if (unknown()) *handle = t;"), ("spawn(&w[i])", "spawn(&w[0])"), ("spawn(&w[i])", "spawn(&w[i / 2])"), ("spawn(&w[i])", "spawn(unknown() ? &w[i] : 0)"),
            ("failed == 0 &&", "failed != 0 &&"), ("if (spawn(&w[i])) break;", "{ spawn(&w[i]); spawn(&w[i]); }"), ("if (spawn(&w[i])) break;", "for (int j = 0; j < 2; j++) spawn(&w[i]);"),
            ("if (spawn(&w[i])) break;", "{ spawn(&w[i]); w[0] = 0; }"), ("if (spawn(&w[i])) break;", "{ pthread_t h; if (pthread_create(&h, 0, f, 0)) break; w[7 - i] = h; w[i] = h; }"), ("y++;", "w[n - 1] = 0;"), ("y++;", "spawn(&w[0]);"), ("w[i] != 0", "w[i] == 0"), ("w[i] != 0", "w[i] != 0 && unknown()"),
            ("w[i] != 0", "w[0] != 0"), ("y++;", "n--;"), ("*handle = t;", "{ *handle = t; *handle = 7; }"), ("i < n; i++) if (w", "i < n - 1; i++) if (w"), ("y++;", "pthread_create(&w[0], 0, f, 0);"),
            ("pthread_t t;", "pthread_t t; pthread_create(&t, 0, f, 0);"), ("y++;", "for (i = 0; i < n; i++) if (spawn(&w[i])) break;")],
    },
    Shape {
        name: "joined-by-a-master-who-is-joined",
        source: "struct server { unsigned n; pthread_t master; int done; pthread_t *w; }; void *f(void *a) { struct server *s = a; y = x; return 0; }
            void *master(void *a) { struct server *s = a; if (!s) return 0; unsigned n = s->n; for (unsigned i = 0; i < n; i++) if (s->w[i] != 0) pthread_join(s->w[i], 0); return 0; }
            int spawn(void *(*entry)(void *), void *a, pthread_t *handle) { pthread_t t; int failed = pthread_create(&t, 0, entry, a); if (failed == 0 && handle != 0) *handle = t; return failed; }
            struct server *start(int n) { struct server *s = calloc(1, sizeof *s); if (!s) return 0; s->n = (unsigned)n; s->w = calloc(s->n, sizeof *s->w); if (!s->w) { free(s); return 0; }
                for (int i = 0; i < s->n; i++) { if (spawn(f, s, &s->w[i]) != 0) { if (i > 0) { y = 4; } else { free(s->w); free(s); return 0; } break; } }
                spawn(master, s, &s->master); return s; }
            void stop(struct server *s) { pthread_t m; if (!s) return; m = s->master; if (m == 0) return; s->master = 0; pthread_join(m, 0); x = 2; free(s->w); free(s); }
            int main(void) { struct server *s = start(unknown()); y++; stop(s); return 0; }",
        edits: &[("s->w[i] != 0", "s->w[i] == 0"), ("s->w[i] != 0", "s->w[i] != 0 && unknown()"), ("i < n; i++) if (s->w[i] != 0)", "i + 1 < n; i++) if (s->w[i] != 0)"), ("pthread_join(m, 0);", ""),
            ("pthread_join(m, 0);", "if (unknown()) pthread_join(m, 0);"), ("y++;", "spawn(f, s, &s->w[0]);"), ("y++;", "s->w[1] = 0;"), ("y++;", "s->n = 1;"), ("y++;", "memset(s->w, 0, 8);"),
            ("y = x;", "y = x; s->w[0] = 0;"), ("y = x;", "y = x; s->n = 0;"), ("if (!s) return 0;", "if (unknown()) return 0;"), ("y++;", "pthread_join(s->w[0], 0);"), ("y++;", "start(3);"),
            ("spawn(master, s, &s->master); return s;", "return s;"), ("for (int i = 0; i < s->n; i++) {", "spawn(master, s, &s->master); for (int i = 0; i < s->n; i++) {"),
            ("spawn(master, s, &s->master); return s;", "spawn(master, s, &s->master); spawn(f, s, &s->w[0]); return s;"), ("s->n = (unsigned)n;", "s->n = (unsigned)n; if (unknown()) s->n = 2;"),
            ("unsigned n = s->n;", "unsigned n = s->n; if (y == 3) n--;"), ("spawn(master, s, &s->master);", "spawn(master, unknown() ? s : 0, &s->master);"), ("pthread_join(s->w[i], 0); return 0;", "{ if (unknown()) break; pthread_join(s->w[i], 0); } return 0;"),
            ("y++;", "pthread_detach(s->w[0]);"), ("if (i > 0) { y = 4; } else", "if (i > 1) { y = 4; } else if (x = 5)")],
    },
    Shape {
        name: "joined-by-those-who-are-joined",
        source: "pthread_t t, u[4]; void *f(void *a) { x++; return 0; } void *g(void *a) { pthread_join(t, 0); return 0; }
            int main(void) { int n = 1; pthread_create(&t, 0, f, 0); for (int i = 0; i < n; i++) pthread_create(&u[i], 0, g, 0); for (int i = 0; i < n; i++) pthread_join(u[i], 0); return x; }",
        edits: &[("int n = 1;", "int n = unknown();"), ("pthread_join(t, 0);", ""), ("pthread_join(u[i], 0);", "if (u[i] != 0) pthread_join(u[i], 0);")],
    },
    Shape {
        name: "two-after-one-another",
        source: "void *f(void *a) { x++; return 0; } void *g(void *a) { x++; return 0; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_create(&u, 0, g, 0); pthread_join(u, 0); return x; }",
        edits: &[("pthread_join(t, 0); pthread_create(&u, 0, g, 0); pthread_join(u, 0);", "pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0);"),
            ("pthread_join(u, 0);", "pthread_join(t, 0);")],
    },
    Shape {
        name: "one-cell-for-two",
        source: "void *f(void *a) { x++; return 0; } void *g(void *a) { return 0; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0); return x; }",
        edits: &[("pthread_create(&u, 0, g, 0)", "pthread_create(&t, 0, g, 0)")],
    },
    Shape {
        name: "handle-copied",
        source: "void *f(void *a) { x++; return 0; } pthread_t copy;
            int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); copy = t; pthread_join(copy, 0); return x; }",
        edits: &[("copy = t;", "if (unknown()) copy = t;")],
    },
    Shape {
        name: "loops-constant",
        source: "void *f(void *a) { return 0; } void *g(void *a) { x++; return 0; }
            int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, unknown() ? f : f, 0);
            for (int i = 0; i < 4; i++) pthread_join(t[i], 0); pthread_create(&t[0], 0, g, 0); pthread_join(t[0], 0); return x; }",
        edits: &[("pthread_join(t[0], 0);", "")],
    },
    Shape {
        name: "loops-then-read",
        source: "void *f(void *a) { int *p = a; y = x; return 0; }
            int main(void) { pthread_t t[4]; x = 7; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
            for (int j = 0; j < 4; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("j < 4", "j < 3"), ("int j = 0", "int j = 1"), ("pthread_join(t[j], 0);", "if (j) pthread_join(t[j], 0);"),
            ("pthread_join(t[j], 0);", "{ if (unknown()) break; pthread_join(t[j], 0); }"), ("pthread_join(t[j], 0);", "pthread_join(t[0], 0);"),
            ("pthread_create(&t[i], 0, f, 0);", "{ pthread_create(&t[i], 0, f, 0); pthread_create(&t[i], 0, f, 0); }"),
            ("pthread_create(&t[i], 0, f, 0);", "for (int k = 0; k < 2; k++) pthread_create(&t[i], 0, f, 0);"),
            ("for (int j = 0;", "for (int k = 0; k < 4; k++) t[k] = 0; for (int j = 0;"), ("j++", "j += 2")],
    },
    Shape {
        name: "loops-parameter-bound",
        source: "void *f(void *a) { y = x; return 0; }
            int main(int n, char **v) { pthread_t t[n]; x = 7; for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);
            for (int j = 0; j < n; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("j < n", "j < n - 1"), ("for (int j = 0; j", "n = unknown(); for (int j = 0; j")],
    },
    Shape {
        name: "loops-global-bound",
        source: "int n = 3; pthread_t t[16]; void *f(void *a) { y = x; return 0; }
            int main(int c, char **v) { n = c; x = 7; for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);
            for (int j = 0; j < n; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("for (int j = 0; j", "n = 2; for (int j = 0; j"), ("y = x; return 0;", "y = x; n = 2; return 0;")],
    },
    Shape {
        name: "loops-heap-array",
        source: "void *f(void *a) { y = x; return 0; } pthread_t *t;
            int main(int n, char **v) { t = malloc(n * sizeof *t); x = 7; for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);
            for (int j = 0; j < n; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("for (int j = 0; j", "t++; for (int j = 0; j")],
    },
    Shape {
        name: "loops-structures",
        source: "struct w { int id; pthread_t t; pthread_t u; } w[8]; void *f(void *a) { struct w *p = a; p->id++; y = x; return 0; } void *g(void *a) { y = x; return 0; }
            int main(int n, char **v) { x = 7; for (int i = 0; i < 8; i++) { w[i].id = i; pthread_create(&w[i].t, 0, f, &w[i]); pthread_create(&w[i].u, 0, g, &w[i]); }
            for (int j = 0; j < 8; j++) { pthread_join(w[j].t, 0); pthread_join(w[j].u, 0); } x = 2; return 0; }",
        edits: &[("pthread_join(w[j].u, 0);", "pthread_join(w[j].t, 0);"), ("pthread_create(&w[i].u, 0, g", "pthread_create(&w[i].t, 0, g")],
    },
    Shape {
        name: "pointer-loop",
        source: "void *f(void *a) { y = x; return 0; }
            int main(void) { pthread_t t[4]; x = 7; for (pthread_t *p = t; p != t + 4; p++) pthread_create(p, 0, f, 0);
            for (int j = 0; j < 4; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("j < 4", "j < 3")],
    },
    Shape {
        name: "unrolled-creates",
        source: "void *f(void *a) { y = x; return 0; } void *g(void *a) { y = x; return 0; }
            int main(void) { pthread_t t[2]; x = 7; pthread_create(&t[0], 0, f, 0); pthread_create(&t[1], 0, g, 0);
            for (int j = 0; j < 2; j++) pthread_join(t[j], 0); x = 2; return 0; }",
        edits: &[("j < 2", "j < 1"), ("&t[1], 0, g", "&t[0], 0, g")],
    },
    Shape {
        name: "each-iteration",
        source: "void *f(void *a) { x++; return 0; }
            int main(int n, char **v) { for (int i = 0; i < n; i++) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); } return x; }",
        edits: &[("pthread_join(t, 0);", "if (i) pthread_join(t, 0);"), ("pthread_join(t, 0); }", "} ")],
    },
    Shape {
        name: "each-iteration-array",
        source: "pthread_t t[9]; void *f(void *a) { x++; return 0; }
            int main(int n, char **v) { for (int i = 0; i < 9; i++) { pthread_create(&t[i], 0, f, 0); pthread_join(t[i], 0); } return x; }",
        edits: &[("pthread_join(t[i], 0);", "if (i) pthread_join(t[i - 1], 0);")],
    },
    Shape {
        name: "subtree",
        source: "void *g(void *a) { x++; return 0; }
            void *f(void *a) { pthread_t u; pthread_create(&u, 0, g, 0); pthread_join(u, 0); x++; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return x; }",
        edits: &[("pthread_join(u, 0); x++;", "x++;"), ("pthread_join(u, 0); x++;", ""), ("pthread_join(u, 0);", "if (a) pthread_exit(0); pthread_join(u, 0);")],
    },
    Shape {
        name: "grandchild",
        source: "pthread_t u; void *g(void *a) { x++; return 0; }
            void *f(void *a) { pthread_create(&u, 0, g, 0); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); return x; }",
        edits: &[("pthread_join(u, 0); return x;", "return x;"), ("pthread_join(t, 0); pthread_join(u, 0);", "pthread_join(u, 0); pthread_join(t, 0);")],
    },
    Shape {
        name: "joined-by-a-sibling",
        source: "pthread_t t; void *f(void *a) { x++; return 0; } void *g(void *a) { pthread_join(t, 0); x++; return 0; }
            int main(void) { pthread_t u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(u, 0); return x; }",
        edits: &[("pthread_join(t, 0); x++;", "x++; pthread_join(t, 0);"), ("pthread_join(u, 0);", ""),
            ("pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);", "pthread_create(&u, 0, g, 0); pthread_create(&t, 0, f, 0);"),
            ("pthread_join(u, 0);", "pthread_create(&t, 0, g, 0); pthread_join(u, 0);")],
    },
    Shape {
        name: "handle-as-argument",
        source: "void *f(void *a) { x++; return 0; } void *g(void *a) { pthread_join((pthread_t)a, 0); x++; return 0; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, (void *)t); pthread_join(u, 0); return x; }",
        edits: &[("g, (void *)t", "g, (void *)u"), ("pthread_join((pthread_t)a, 0);", "if (unknown()) pthread_join((pthread_t)a, 0);")],
    },
    Shape {
        name: "handle-behind-argument",
        source: "struct pair { pthread_t other; int n; }; void *f(void *a) { x++; return 0; } void *g(void *a) { struct pair *p = a; pthread_join(p->other, 0); x++; return 0; }
            int main(void) { struct pair p; pthread_t u; pthread_create(&p.other, 0, f, 0); pthread_create(&u, 0, g, &p); p.n = 3; pthread_join(u, 0); return x; }",
        edits: &[("p.n = 3;", "p.other = 3;")],
    },
    Shape {
        name: "join-all",
        source: "void *f(void *a) { y = x; return 0; } void join_all(pthread_t *t, int n) { for (int i = 0; i < n; i++) pthread_join(t[i], 0); }
            int main(int n, char **v) { pthread_t t[n]; x = 7; for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);
            join_all(t, n); x = 2; return 0; }",
        edits: &[("join_all(t, n)", "join_all(t, 2)"), ("i < n; i++) pthread_join", "i < n - 1; i++) pthread_join"), ("join_all(t, n)", "join_all(t + 1, n)")],
    },
    Shape {
        name: "spawn-helper",
        source: "void *f(void *a) { y = x; return 0; } int spawn(pthread_t *t, void *(*e)(void *)) { return pthread_create(t, 0, e, 0); }
            int main(int n, char **v) { pthread_t t, u; x = 7; spawn(&t, f); spawn(&u, f); pthread_join(t, 0); pthread_join(u, 0); x = 2; return 0; }",
        edits: &[("spawn(&u, f)", "spawn(&t, f)"), ("pthread_join(u, 0);", "")],
    },
    Shape {
        name: "helpers-in-loops",
        source: "void *f(void *a) { y = x; return 0; } void spawn(pthread_t *t) { if (pthread_create(t, 0, f, 0)) exit(1); } void wait_for(pthread_t t) { if (pthread_join(t, 0)) abort(); }
            int main(int n, char **v) { pthread_t t[4]; x = 7; for (int i = 0; i < 4; i++) spawn(t + i); for (int i = 0; i < 4; i++) wait_for(t[i]); x = 2; return 0; }",
        edits: &[("if (pthread_join(t, 0)) abort();", "if (unknown() && pthread_join(t, 0)) abort();"), ("spawn(t + i)", "spawn(t)")],
    },
    Shape {
        name: "returned-handle",
        source: "void *f(void *a) { y = x; return 0; } pthread_t start(void) { pthread_t t; pthread_create(&t, 0, f, 0); return t; }
            int main(int n, char **v) { x = 7; pthread_t t = start(); pthread_join(t, 0); x = 2; return 0; }",
        edits: &[("pthread_t t = start();", "pthread_t t = start(); t = start();")],
    },
    Shape {
        name: "attributes",
        source: "void *f(void *a) { y = x; return 0; }
            int main(int n, char **v) { pthread_attr_t a; pthread_t t; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536); x = 7; pthread_create(&t, &a, f, 0); pthread_join(t, 0); x = 2; return 0; }",
        edits: &[("pthread_attr_setstacksize(&a, 65536);", "pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);"), ("pthread_attr_setstacksize(&a, 65536);", "pthread_attr_setdetachstate(&a, n);")],
    },
    Shape {
        name: "c11",
        source: "int f(void *a) { y = x; thrd_exit(0); }
            int main(int n, char **v) { thrd_t t; x = 7; if (thrd_create(&t, f, 0) != thrd_success) return 1; thrd_join(t, 0); x = 2; return 0; }",
        edits: &[("thrd_join(t, 0);", "thrd_detach(t);"), ("thrd_join(t, 0);", "")],
    },
    Shape {
        name: "main-exits",
        source: "void *f(void *a) { y = x; return 0; }
            int main(int n, char **v) { pthread_t t; x = 7; pthread_create(&t, 0, f, 0); pthread_exit(0); }",
        edits: &[("pthread_exit(0);", "x = 1; pthread_exit(0);")],
    },
    Shape {
        name: "constructor",
        source: "void *f(void *a) { y = x; return 0; } __attribute__((constructor)) void early(void) { x = 1; }
            int main(int n, char **v) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 2; return 0; }",
        edits: &[("x = 1;", "pthread_t u; pthread_create(&u, 0, f, 0);")],
    },
    Shape {
        name: "creation-failed",
        source: "void *f(void *a) { x++; return 0; }
            int main(void) { pthread_t t; int r = pthread_create(&t, 0, f, 0); if (r != 0) x = 2; return 0; }",
        edits: &[("if (r != 0)", "if (r == 0)"), ("if (r != 0)", "if (r != 1)"), ("if (r != 0) x = 2;", "if (r != 0) x = 2; x = 3;"),
            ("int r =", "pthread_create(&t, 0, f, 0); int r ="), ("if (r != 0)", "pthread_create(&t, 0, f, 0); if (r != 0)"), ("int r =", "int r = unknown();")],
    },
    Shape {
        name: "creation-failed-in-a-wrapper",
        source: "void *f(void *a) { x++; return 0; } int start(pthread_t *t, pthread_t *kept) { int r = pthread_create(t, 0, f, 0); if (r == 0 && kept) *kept = *t; return r; }
            int main(void) { pthread_t t, u; if (start(&t, &u) != 0) { x = 2; return 1; } return 0; }",
        edits: &[("return r;", "return unknown();"), ("start(&t, &u) != 0", "start(&t, &u) == 0"), ("if (start", "start(&t, &u); if (start"), ("return r;", "pthread_create(t, 0, f, 0); return r;")],
    },
    Shape {
        name: "first-turn",
        source: "void *f(void *a) { y = x; return 0; }
            int main(void) { pthread_t t; int n = unknown(); for (int i = 0; i < n; i++) { if (i == 0) x = 2; pthread_create(&t, 0, f, 0); } return 0; }",
        edits: &[("i == 0", "i == 1"), ("int i = 0", "int i = -1"), ("i == 0", "n == 0"), ("i++", "i += unknown()"),
            ("if (i == 0) x = 2; pthread_create(&t, 0, f, 0);", "pthread_create(&t, 0, f, 0); if (i == 0) x = 2;")],
    },
    Shape {
        name: "first-turn-that-failed",
        source: "void *f(void *a) { y = x; return 0; }
            int main(void) { pthread_t t; unsigned n = unknown(); for (unsigned i = 0; i < n; i++) { if (pthread_create(&t, 0, f, 0) != 0) { if (i > 0) return 1; x = 2; break; } } return 0; }",
        edits: &[("if (i > 0) return 1;", ""), ("i > 0", "i > 1"), ("!= 0) {", "== 0) {"), ("i < n; i++", "unknown(); i++"), ("x = 2; break;", "break; } x = 2; {"), ("i > 0", "i == 0")],
    },
    Shape {
        name: "callback",
        source: "void *f(void *a) { y = x; return 0; } int order(const void *a, const void *b) { return 0; } int v[4];
            int main(void) { pthread_t t; x = 1; pthread_create(&t, 0, f, 0); pthread_join(t, 0); qsort(v, 4, sizeof *v, order); x = 2; return 0; }",
        edits: &[("return 0; } int v[4]", "pthread_t t; pthread_create(&t, 0, f, 0); return 0; } int v[4]")],
    },
];

#[test]
fn shapes_are_ordered_and_their_edits_are_not() {
    let mut complaints = Vec::new();
    for shape in SHAPES {
        let found = overlaps(&load_text(shape.name, shape.source), "x");
        if !found.is_empty() {
            complaints.push(format!("{}: must be ordered, but {found:?}", shape.name));
        }
        for (number, (from, to)) in shape.edits.iter().enumerate() {
            assert!(shape.source.contains(from), "{}: there is no `{from}` to edit", shape.name);
            let source = shape.source.replacen(from, to, 1);
            if overlaps(&load_text(shape.name, &source), "x").is_empty() {
                complaints.push(format!("{}: edit {number} (`{to}`) must overlap", shape.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
