//! How far apart the arguments of a thread's instances are.

use super::accesses::threads_of;
use super::load_text;
use lockcheck::facts::threads::ThreadKind;

/// The distance for the thread that runs `f`.
fn distance(body: &str) -> Option<u64> {
    let source = format!(
        "struct slot {{ long a, b; }} slots[9]; void *f(void *a) {{ return 0; }} pthread_t t[9]; void *kept;
        void *make(long flags, size_t size) {{ void *p = malloc(size); if (!p) abort(); return p; }} struct slot *make_slot(void) {{ return make(1, sizeof(struct slot)); }}
        void *keep(size_t size) {{ if (!kept) kept = malloc(size); return kept; }} void *either(size_t size) {{ if (size > 8) return malloc(size); return slots; }}
        void start(void *a) {{ if (a) pthread_create(&t[0], 0, f, a); }} void start_two(void *a) {{ for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, a); }}
        int main(int n, char **v) {{ {body} return 0; }}"
    );
    let program = load_text("argument", &source);
    let (threads, _) = threads_of(&program);
    let mut created = threads.threads().filter(|(_, thread)| thread.kind == ThreadKind::Created);
    let (thread, _) = created.next().expect("main creates a thread");
    assert!(created.next().is_none(), "main creates one thread");
    threads.argument_distance(thread)
}

#[test]
fn arguments_are_as_far_apart_as_the_loop_says() {
    let joins = "for (int i = 0; i < n; i++) pthread_join(t[i], 0);";
    let cases: &[(&str, Option<u64>)] = &[
        ("for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[i]);", Some(16)),
        ("for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[i].b);", Some(16)),
        ("for (int i = 0; i < n; i += 2) pthread_create(&t[i], 0, f, &slots[i]);", Some(32)),
        ("for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)(long)i);", Some(1)),
        ("for (struct slot *p = slots; p < slots + 9; p++) pthread_create(&t[0], 0, f, p);", Some(16)),
        ("struct slot *s = malloc(n * sizeof *s); for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, s + i);", Some(16)),
        ("for (int i = 0; i < n; i++) { struct slot *s = malloc(sizeof *s); pthread_create(&t[i], 0, f, s); }", Some(16)),
        ("for (int i = 0; i < n; i++) { struct slot *s = calloc(2, sizeof *s); pthread_create(&t[i], 0, f, &s->b); }", Some(24)),
        ("for (int i = 0; i < n; i++) { struct slot *s = make(8, sizeof *s); pthread_create(&t[i], 0, f, &s->b); }", Some(8)),
        ("for (int i = 0; i < n; i++) { struct slot *s = make_slot(); pthread_create(&t[i], 0, f, s); }", Some(16)),
        ("for (int i = 0; i < n; i++) { struct slot *s = malloc(sizeof *s); start(s); }", Some(16)),
        ("for (int i = 0; i < n; i++) start(make_slot());", Some(16)),
        // One argument for several instances.
        ("for (int i = 0; i < n; i++) { struct slot *s = malloc(sizeof *s); start_two(s); }", None),
        ("struct slot *s = malloc(sizeof *s); for (int i = 0; i < n; i++) start(s);", None),
        ("struct slot *s = malloc(sizeof *s); for (int i = 0; i < n; i++) { if (v[i]) s = malloc(sizeof *s); start(s); }", None),
        ("struct slot *s = make_slot(); for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, s);", None),
        ("for (int i = 0; i < n; i++) { struct slot *s = keep(sizeof *s); pthread_create(&t[i], 0, f, s); }", None),
        ("for (int i = 0; i < n; i++) { struct slot *s = either(sizeof *s); pthread_create(&t[i], 0, f, s); }", None),
        ("for (int i = 0; i < n; i++) { struct slot *s = make(1, n); pthread_create(&t[i], 0, f, s); }", None),
        ("for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[3]);", None),
        ("for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[i / 2]);", None),
        ("struct slot *s = malloc(sizeof *s); for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, s);", None),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 2; j++) pthread_create(&t[i], 0, f, &slots[i]);", None),
        ("for (int k = 0; k < 2; k++) for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[i]);", None),
        ("for (int i = 0; i < n; i++) { struct slot *s = slots; if (v[i]) s++; pthread_create(&t[i], 0, f, s + i); }", None),
    ];
    for (body, expected) in cases {
        assert_eq!(distance(body), *expected, "{body}");
    }
    let again =
        format!("for (int k = 0; k < 2; k++) {{ for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, &slots[i]); {joins} }}");
    assert_eq!(distance(&again), Some(16), "all are joined before the loop runs again");
}
