//! The id of a finding survives edits elsewhere.

use super::support::{RACING, Scratch, list};

fn ids(program: &str) -> Vec<String> {
    let report = Scratch::with(program).report(&[]);
    list(&report, "findings").iter().map(|finding| finding["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn lines_above_and_statements_elsewhere_do_not_change_it() {
    let first = ids(RACING);
    assert_eq!(first.len(), 1);
    assert_eq!(ids(&format!("/* a\n   comment */\n\n{RACING}")), first);
    assert_eq!(
        ids(&RACING.replace("    pthread_t thread;\n", "    pthread_t thread;\n    int other = 1;\n    (void)other;\n")),
        first
    );
    assert_ne!(ids(&RACING.replace("hits", "misses")), first);
    assert_ne!(ids(&RACING.replace("visitor", "guest")), first);
}

#[test]
fn memory_of_the_heap_and_threads_are_not_named_by_lines() {
    let heap = "#include <pthread.h>\n#include <stdlib.h>\nstatic void *add(void *p) { ++*(int *)p; return p; }\nint main(void) {\n    pthread_t t;\n    \
        int *p = malloc(4);\n    *p = 0;\n    pthread_create(&t, 0, add, p);\n    ++*p;\n    return pthread_join(t, 0);\n}\n";
    let first = ids(heap);
    assert_eq!(first.len(), 1);
    assert_eq!(ids(&format!("\n\n\n{heap}")), first);
    let join = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic void *child(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return p; }\n\
        int main(void) {\n    pthread_t t;\n    pthread_mutex_lock(&m);\n    pthread_create(&t, 0, child, 0);\n    pthread_join(t, 0);\n    return pthread_mutex_unlock(&m);\n}\n";
    let first = ids(join);
    assert_eq!(first.len(), 1);
    assert_eq!(ids(&format!("\n\n\n{join}")), first);
}

#[test]
fn two_findings_of_one_kind_have_two() {
    let twice = RACING.replace("    hits++;\n    pthread_join", "    hits++;\n    hits--;\n    pthread_join");
    let found = ids(&twice);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_ne!(found[0], found[1]);
}
