//! `.lockcheck.yaml`: errors name the file and the key; a user's functions are believed.

use super::support::{RACING, Scratch, list};

#[test]
fn errors_name_the_file_and_the_key() {
    let scratch = Scratch::with(RACING);
    let cases: [(&str, &[&str]); 14] = [
        ("functoins: []\n", &["functoins", "functions"]),
        ("functions:\n  - {name: f, aquire: {lock: 0}}\n", &["`f`", "aquire"]),
        ("functions:\n  - {name: f, acquire: {lok: 0}}\n", &["`f`", "lok"]),
        ("functions:\n  - {name: f, acquire: {lock: first}}\n", &["`f`", "lock", "first"]),
        ("functions:\n  - {name: f, builtin: nonsense}\n", &["`f`", "nonsense"]),
        ("functions:\n  - {acquire: {lock: 0}}\n", &["name"]),
        ("functions: 5\n", &["functions", "5"]),
        ("ignore: all\n", &["ignore", "all"]),
        ("ignore:\n  - {rule: data-race, object: x}\n", &["ignore", "because"]),
        ("ignore:\n  - {rule: data-rice, object: x, because: y}\n", &["data-rice"]),
        ("volatile_is_atomic: perhaps\n", &["volatile_is_atomic"]),
        ("entries: [1]\n", &["entries", "1"]),
        ("- a list\n", &["functions:"]),
        ("functions: [\n", &["line"]),
    ];
    for (text, parts) in cases {
        scratch.write(".lockcheck.yaml", text);
        scratch.lockcheck(&["prog.c"]).expect_refusal(&[&[".lockcheck.yaml"], parts].concat());
        scratch.write("other.yaml", text);
        scratch.lockcheck(&["prog.c", "--config", "other.yaml"]).expect_refusal(&[&["other.yaml"], parts].concat());
    }
}

#[test]
fn a_config_that_cannot_be_read_is_named() {
    let scratch = Scratch::with(RACING);
    scratch.lockcheck(&["prog.c", "--config", "missing.yaml"]).expect_refusal(&["missing.yaml", "cannot be read"]);
    scratch.lockcheck(&["prog.c", "--config", "."]).expect_refusal(&["cannot be read"]);
    std::fs::write(scratch.path(".lockcheck.yaml"), [0xff, 0xfe, 0x00]).expect("a file");
    scratch.lockcheck(&["prog.c"]).expect_refusal(&[".lockcheck.yaml", "cannot be read"]);
    scratch.write(".lockcheck.yaml", "");
    scratch.lockcheck(&["prog.c"]).expect(1);
}

#[test]
fn keys_that_nothing_looks_at_are_told() {
    let scratch = Scratch::with(RACING);
    scratch.write(".lockcheck.yaml", "atomic_sets:\n  - {name: a, locations: [\"global hits\"], units: [visitor]}\n");
    let report = scratch.report(&[]);
    assert!(
        list(&report, "limits").iter().any(|limit| limit.as_str().is_some_and(|limit| limit.contains("atomic_sets"))),
        "{report}"
    );
}

#[test]
fn what_is_assumed_atomic_does_not_race_and_is_told() {
    let scratch = Scratch::with(RACING);
    let expect_assumed = |arguments: &[&str]| {
        let report = scratch.lockcheck(&[&["prog.c", "--format", "json"], arguments].concat()).expect(3).json();
        let assumed = |assumption: &serde_json::Value| assumption["kind"] == "assumed-atomic" && assumption["what"] == "hits";
        assert!(list(&report, "assumptions").iter().any(assumed), "{report}");
    };
    expect_assumed(&["--assume-atomic", "hits"]);
    scratch.write(".lockcheck.yaml", "assume_atomic: [hits]\n");
    expect_assumed(&[]);
    scratch.lockcheck(&["prog.c", "--assume-atomic", "misses"]).expect_refusal(&["prog.c", "misses"]);
}

#[test]
fn volatile_counts_as_atomic_only_on_request() {
    let scratch = Scratch::with(&RACING.replace("int hits;", "volatile int hits;"));
    scratch.lockcheck(&["prog.c"]).expect(1);
    scratch.write(".lockcheck.yaml", "volatile_is_atomic: true\n");
    let report = scratch.lockcheck(&["prog.c", "--format", "json"]).expect(3).json();
    assert!(list(&report, "assumptions").iter().any(|assumption| assumption["kind"] == "volatile-as-atomic"), "{report}");
}

#[test]
fn only_what_posix_promises_on_request() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\nstatic void *f(void *a) { srand(1); return a; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); srand(2); pthread_join(t, 0); return 0; }\n";
    let scratch = Scratch::with(text);
    scratch.lockcheck(&["prog.c", "--check", "race", "--no-explore"]).expect(0);
    scratch.write(".lockcheck.yaml", "only_posix: true\n");
    let report = scratch.lockcheck(&["prog.c", "--check", "race", "--no-explore", "--format", "json"]).expect(1).json();
    assert_eq!(list(&report, "findings")[0]["object"], "memory of srand", "{report}");
    scratch.write(".lockcheck.yaml", "only_posix: maybe\n");
    scratch.lockcheck(&["prog.c"]).expect_refusal(&["only_posix"]);
}

#[test]
fn the_nearest_config_counts() {
    let scratch = Scratch::new();
    scratch.write("a/b/prog.c", RACING);
    scratch.write("a/.lockcheck.yaml", "ignore:\n  - {rule: data-race, object: hits, because: far}\n");
    scratch.lockcheck(&["a/b/prog.c"]).expect(3);
    scratch.write("a/b/.lockcheck.yaml", "{}\n");
    scratch.lockcheck(&["a/b/prog.c"]).expect(1);
    scratch.lockcheck(&["a/b/prog.c", "--config", "a/.lockcheck.yaml"]).expect(3);
}

/// `hits` is protected by functions that are declared and not defined.
const WRAPPED: &str = "\
#include <pthread.h>
struct guard { int taken; };
void my_lock(struct guard *);
void my_unlock(struct guard *);
struct guard guard;
int hits;
static void *visitor(void *arg) {
    my_lock(&guard);
    hits++;
    my_unlock(&guard);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, visitor, 0);
    visitor(0);
    return pthread_join(thread, 0);
}
";

#[test]
fn a_users_own_lock_protects_once_it_is_declared() {
    let scratch = Scratch::with(WRAPPED);
    let before = scratch.report(&[]);
    assert_eq!(list(&before, "findings")[0]["verdict"], "possible");
    let assumed: Vec<&str> = list(&before, "assumptions").iter().filter_map(|assumption| assumption["what"].as_str()).collect();
    assert!(assumed.contains(&"my_lock") && assumed.contains(&"my_unlock"), "{assumed:?}");
    scratch
        .write(".lockcheck.yaml", "functions:\n  - name: my_lock\n    acquire: {lock: 0}\n  - name: my_unlock\n    release: 0\n");
    let after = scratch.report(&[]);
    assert!(list(&after, "findings").is_empty() && list(&after, "assumptions").is_empty(), "{after}");
    scratch.write("prog.c", &WRAPPED.replace("    visitor(0);", "    hits++;"));
    let racing = scratch.report(&[]);
    assert_eq!(list(&racing, "findings")[0]["verdict"], "confirmed", "{racing}");
    let lock = &list(&racing, "findings")[0]["sites"][0]["locks"][0];
    assert!(lock.as_str().is_some_and(|lock| lock.starts_with("guard")), "{racing}");
}

#[test]
fn a_users_entry_replaces_a_body_and_ours() {
    let bodies = "void my_lock(struct guard *g) { g->taken = 1; }\nvoid my_unlock(struct guard *g) { g->taken = 0; }\n";
    let program = WRAPPED.replace("struct guard guard;\n", &format!("struct guard guard;\n{bodies}"));
    let scratch = Scratch::with(&program);
    scratch.lockcheck(&["prog.c"]).expect(1);
    scratch
        .write(".lockcheck.yaml", "functions:\n  - name: my_lock\n    acquire: {lock: 0}\n  - name: my_unlock\n    release: 0\n");
    scratch.lockcheck(&["prog.c"]).expect(3);
    let scratch = Scratch::with(&super::support::clean());
    scratch.lockcheck(&["prog.c"]).expect(3);
    scratch.write(
        ".lockcheck.yaml",
        "functions:\n  - {name: pthread_mutex_lock, reads: [0]}\n  - {name: pthread_mutex_unlock, reads: [0]}\n",
    );
    scratch.lockcheck(&["prog.c", "--check", "race"]).expect(1);
}
