//! Joins whose handle has gone some way: only threads whose handle may have come there are waited for, and all of those.

use lockcheck::findings::Reason;

use super::support::{Said, said_of};

/// `f` needs a, `g` does not; a third thread, or main, joins one of them with a held. Which thread exists is not certain.
fn program(declarations: &str, before: &str, join: &str) -> String {
    format!(
        "#include <string.h>\nMUTEX(a); int x; pthread_t h1, h2; {declarations}
        void *f(void *p) {{ L(a); U(a); return 0; }} void *g(void *p) {{ x++; return 0; }}
        int main(int argc, char **argv) {{
            if (argc > 1) pthread_create(&h1, 0, f, 0);
            if (argc > 2) pthread_create(&h2, 0, g, 0);
            {before}
            L(a); {join} U(a); return 0;
        }}"
    )
}

fn waits_for(said: &Said, thread: &str) -> bool {
    let is_thread = |end: &lockcheck::engines::race::Side| end.object.split('@').next() == Some(thread);
    said.result.candidates.iter().any(|candidate| candidate.ends.iter().any(is_thread))
}

#[test]
fn nobody_is_created_by_its_own_child() {
    let chain = |variable: &str, handle: &str| {
        format!(
            "int x; pthread_t *out; {variable}
            void *f(void *p) {{ if (x > 3) return 0; x++; {handle} pthread_create(&h, 0, f, 0); pthread_join(h, 0); return 0; }}
            int main(void) {{ f(0); return 0; }}"
        )
    };
    said_of(&chain("", "pthread_t h;")).none().dismissed(Reason::ForkJoin);
    // Whoever reaches the variable may put another handle there.
    let said = said_of(&chain("pthread_t h;", ""));
    assert!(!said.result.candidates.is_empty(), "{}", said.summary());
    let said = said_of(&chain("", "pthread_t h; out = &h;"));
    assert!(!said.result.candidates.is_empty(), "{}", said.summary());
    let said = said_of(&chain("pthread_t all;", "pthread_t h; if (x == 2) { h = all; pthread_join(h, 0); }"));
    assert!(!said.result.candidates.is_empty(), "{}", said.summary());
}

/// With H for the handle: whoever joins f's is in a cycle, whoever joins g's is not.
#[track_caller]
fn is_followed(declarations: &str, before: &str, join: &str) {
    is_not_lost(declarations, before, join);
    let of = |text: &str| text.replace('H', "h2");
    let said = said_of(&program(&of(declarations), &of(before), &of(join)));
    assert!(!waits_for(&said, "f"), "it joins g: {}", said.summary());
}

/// Whoever joins f's handle is in a cycle.
#[track_caller]
fn is_not_lost(declarations: &str, before: &str, join: &str) {
    let of = |text: &str| text.replace('H', "h1");
    let said = said_of(&program(&of(declarations), &of(before), &of(join)));
    assert!(waits_for(&said, "f"), "it joins f: {}", said.summary());
}

#[test]
fn where_the_handle_was_stored() {
    is_followed("", "", "pthread_join(H, 0);");
    is_followed("pthread_t *where(void) { return &H; }", "", "pthread_join(*where(), 0);");
    is_followed("struct pool { int n; pthread_t id; } pool;", "pool.id = H;", "pthread_join(pool.id, 0);");
}

#[test]
fn through_arguments_and_results() {
    is_followed("pthread_t list[4]; void add(pthread_t t) { list[x] = t; }", "add(H);", "pthread_join(list[0], 0);");
    is_followed("pthread_t get(int n) { return n ? H : 0; }", "", "pthread_join(get(x), 0);");
    is_followed(
        "pthread_t pick(pthread_t t) { return t; } pthread_t (*picker)(pthread_t) = pick;",
        "",
        "pthread_join(picker(H), 0);",
    );
}

#[test]
fn through_copies_of_memory() {
    let structures = "struct pool { int n; pthread_t id; } first, second;";
    is_followed(structures, "first.id = H; second = first;", "pthread_join(second.id, 0);");
    is_followed(structures, "first.id = H; memcpy(&second, &first, sizeof first);", "pthread_join(second.id, 0);");
    let bytes = "char *from = (char *)&H, *to = (char *)&second.id; for (int i = 0; i < 8; i++) to[i] = from[i];";
    is_followed(structures, bytes, "pthread_join(second.id, 0);");
    let grown = "struct pool *p = malloc(sizeof *p); p->id = H; p = realloc(p, 64);";
    is_not_lost("struct pool { int n; pthread_t id; };", grown, "pthread_join(p->id, 0);");
}

#[test]
fn through_other_threads() {
    let joiner = "void *j(void *p) { L(a); pthread_join((pthread_t)p, 0); U(a); return 0; }";
    is_followed(joiner, "pthread_t h3; pthread_create(&h3, 0, j, (void *)H);", "");
    let finder = "void *find(void *p) { return (void *)H; }";
    let found = "pthread_t h3; void *r; pthread_create(&h3, 0, find, 0); pthread_join(h3, &r);";
    is_not_lost(finder, found, "pthread_join((pthread_t)r, 0);");
}

#[test]
fn what_cannot_be_told_stays() {
    is_not_lost("pthread_key_t k;", "pthread_setspecific(k, (void *)H);", "pthread_join((pthread_t)pthread_getspecific(k), 0);");
    is_not_lost("pthread_t pass(pthread_t);", "pthread_t h3 = pass(H);", "pthread_join(h3, 0);");
    is_not_lost("void keep(pthread_t); pthread_t give(void);", "keep(H);", "pthread_join(give(), 0);");
    // The thread says itself who it is.
    let own = "MUTEX(a); pthread_t me, h1, h2; void *f(void *p) { me = pthread_self(); L(a); U(a); return 0; } void *g(void *p) { return 0; }
        int main(int argc, char **argv) { if (argc > 1) pthread_create(&h1, 0, f, 0); if (argc > 2) pthread_create(&h2, 0, g, 0);
        L(a); pthread_join(me, 0); U(a); return 0; }";
    assert!(waits_for(&said_of(own), "f"));
}
