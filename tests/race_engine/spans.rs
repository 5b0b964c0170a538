//! Arrays inside structures: whoever indexes one stays in it, as long as something follows it.

use lockcheck::findings::Reason;

use super::support::said_of;

const NAMES: &str = "extern int __VERIFIER_nondet_int(void);
struct part { MUTEX_FIRST long hits[4]; long after; } *all;
";

/// Threads that take the lock of one part, and count in its array; another one that only takes locks.
fn counting(part: &str, body: &str) -> String {
    let part = part.replace("MUTEX_FIRST", "pthread_mutex_t m;");
    format!(
        "{part}
        void *f(void *a) {{ struct part *p = all + __VERIFIER_nondet_int(); int j = __VERIFIER_nondet_int(); {body} return 0; }}
        int main(void) {{ pthread_t t, u; all = calloc(8, sizeof *all); for (int i = 0; i < 8; i++) pthread_mutex_init(&all[i].m, 0);
        pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
    )
}

#[test]
fn an_index_stays_in_its_array() {
    let said = said_of(&counting(NAMES, "L(p->m); p->hits[j]++; p->after++; U(p->m);"));
    said.refuted("memory allocated at trap.c:15", Reason::RelativeLock);
}

#[test]
fn what_is_not_bounded_may_leave_the_array() {
    let memory = "memory allocated at trap.c:15";
    // Through a pointer to an element one may go on.
    said_of(&counting(NAMES, "long *q = &p->hits[j]; L(p->m); q[__VERIFIER_nondet_int()]++; U(p->m);")).race(memory);
    // Nothing follows: the structure may have been allocated longer than its type says.
    let last = NAMES.replace(" long after;", "").replace("MUTEX_FIRST", "pthread_mutex_t m; long after;");
    said_of(&counting(&last, "L(p->m); p->hits[j]++; U(p->m);")).race(memory);
    // The lock of another part.
    said_of(&counting(NAMES, "L(all[j].m); p->hits[j]++; U(all[j].m);")).race(memory);
    // Who steps back from an element may stand before the array.
    said_of(&counting(NAMES, "L(p->m); *(&p->hits[j] - 1) = 1; U(p->m);")).race(memory);
}

#[test]
fn what_is_last_in_a_structure_that_goes_on_is_bounded() {
    let inner = "extern int __VERIFIER_nondet_int(void); struct inner { long count, hits[4]; };
        struct part { pthread_mutex_t m; struct inner in; long after; } *all;";
    let said = said_of(&counting(inner, "L(p->m); p->in.hits[j]++; U(p->m); "));
    said.refuted("memory allocated at trap.c:14", Reason::RelativeLock);
    let last = inner.replace(" long after;", "").replace("pthread_mutex_t m;", "pthread_mutex_t m; long after;");
    said_of(&counting(&last, "L(p->m); p->in.hits[j]++; U(p->m);")).race("memory allocated at trap.c:14");
}

/// What another thread is handed a pointer into, and what the creator does meanwhile.
fn walking(walk: &str, meanwhile: &str) -> String {
    format!(
        "extern int __VERIFIER_nondet_int(void); struct part {{ char name[16]; long after; }} *one, copy;
        void fill(char *to, unsigned long size) {{ {walk} }}
        void *f(void *a) {{ fill(one->name, (unsigned long)__VERIFIER_nondet_int()); return 0; }}
        int main(void) {{ pthread_t t; one = malloc(sizeof *one); memset(one, 0, 16); one->after = 0; pthread_create(&t, 0, f, 0);
        {meanwhile} pthread_join(t, 0); return 0; }}"
    )
}

#[test]
fn what_is_counted_from_an_array_stays_in_it() {
    let memory = "memory allocated at trap.c:14";
    for walk in ["memset(to, 1, size);", "for (char *at = to; *at; at++) *at = 1;", "while (size) to[--size] = 1;"] {
        said_of(&walking(walk, "one->after++;")).no_race(memory);
        said_of(&walking(walk, "one->name[3] = 1;")).race(memory);
        // A pointer to the first member is one to the object.
        said_of(&walking(walk, "free(one->name);")).race(memory);
    }
    said_of(&walking("free(to);", "one->after++;")).race(memory);
    // More than the array has does not mean the array.
    said_of(&walking("memset(to, 1, sizeof copy);", "one->after++;")).race(memory);
    // Nor does what was counted otherwise.
    said_of(&walking("((struct part *)to)->after = 1;", "one->after++;")).race(memory);
}

/// Each thread has a part of its own, and a helper fills the array in it.
fn filling(fill: &str, call: &str) -> String {
    format!(
        "extern int __VERIFIER_nondet_int(void); struct pair {{ long key, value; }}; struct part {{ long id; struct pair in[8]; long after; }} *all;
        void fill(struct pair *to, int n) {{ for (int i = 0; i < n; i++) {{ if (to[i].value) break; {fill} }} }}
        void *f(void *a) {{ struct part *own = a; int n = __VERIFIER_nondet_int(); {call} own->after = 1; return 0; }}
        int main(void) {{ pthread_t t[4]; all = calloc(4, sizeof *all); for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, &all[i]);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }}"
    )
}

#[test]
fn who_walks_through_an_array_in_a_part_stays_in_the_part() {
    let (memory, own) = ("memory allocated at trap.c:14", "fill(own->in, n);");
    let said = said_of(&filling("to[i].key = i;", own));
    said.refuted(memory, Reason::ThreadPartition);
    said.no_race(memory);
    // The same helper fills an array of its caller, too.
    said_of(&filling("to[i].key = i;", "struct pair local[8] = {{0}}; fill(local, 8); fill(own->in, n);")).no_race(memory);
    // Somebody else's part.
    said_of(&filling("to[i].key = i;", "fill(all->in, n);")).race(memory);
    said_of(&filling("to[i].key = i;", "fill((own + 1)->in, n); fill(own->in, n);")).race(memory);
    // No array of the structure: it may go anywhere.
    said_of(&filling("to[i].key = i;", "fill((struct pair *)own, n);")).race(memory);
    said_of(&filling("((char *)to)[i] = 1;", own)).race(memory);
}
