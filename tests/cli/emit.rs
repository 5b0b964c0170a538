//! `lockcheck emit program`: its text is an input again, and the same program; `lockcheck emit threads`: names as in findings;
//! `lockcheck emit externals`: what nothing is known of, as settings to be filled in.

use super::support::{RACING, Scratch, list, uncertain};

#[test]
fn what_is_emitted_has_the_same_findings() {
    for program in [RACING.to_owned(), uncertain()] {
        let scratch = Scratch::with(&program);
        let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).expect(0).stdout;
        assert!(emitted.starts_with("lockcheck program 1\n"), "{emitted}");
        scratch.write("prog.lc", &emitted);
        let again = scratch.lockcheck(&["prog.lc", "--format", "json"]).expect(1).json();
        let first = scratch.report(&[]);
        for key in ["checks", "findings", "refuted", "assumptions", "limits"] {
            assert_eq!(first[key], again[key], "{key}");
        }
        assert_eq!(scratch.lockcheck(&["emit", "program", "prog.lc"]).expect(0).stdout, emitted);
    }
}

#[test]
fn a_schedule_belongs_to_the_text_as_well() {
    let scratch = Scratch::with(RACING);
    let report = scratch.report(&[]);
    let token = list(&report, "findings")[0]["schedule"].as_str().expect("a schedule").to_owned();
    scratch.write("prog.lc", &scratch.lockcheck(&["emit", "program", "prog.c"]).stdout);
    scratch.lockcheck(&["replay", &token, "prog.lc"]).expect(1);
}

#[test]
fn a_library_can_be_emitted() {
    let scratch = Scratch::with("int twice(int x) { return 2 * x; }\n");
    let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).expect(0).stdout;
    assert!(emitted.contains("twice"), "{emitted}");
    scratch.lockcheck(&["prog.c"]).expect_refusal(&["main", "--entry"]);
}

#[test]
fn a_damaged_text_is_refused_with_its_line() {
    let scratch = Scratch::with(RACING);
    let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).stdout;
    let line = emitted.lines().position(|line| line.starts_with("global ")).expect("a global") + 1;
    scratch.write("prog.lc", &emitted.replacen("global ", "globule ", 1));
    scratch.lockcheck(&["prog.lc"]).expect_refusal(&[&format!("prog.lc:{line}:")]);
    scratch.write("prog.lc", &emitted);
    scratch.lockcheck(&["prog.lc", "prog.c"]).expect_refusal(&["prog.lc", "alone"]);
}

#[test]
fn threads_have_the_names_that_findings_use() {
    let scratch = Scratch::with(RACING);
    let threads = scratch.lockcheck(&["emit", "threads", "prog.c"]).expect(0).stdout;
    let heads: Vec<&str> = threads.lines().filter(|line| !line.starts_with(' ')).collect();
    for finding in list(&scratch.report(&[]), "findings") {
        for site in list(finding, "sites") {
            let name = site["thread"].as_str().expect("a name").to_owned();
            let plain = name.split('#').next().expect("a name before the number");
            assert!(heads.iter().any(|head| head.split('#').next() == Some(plain)), "{name} is not in:\n{threads}");
        }
    }
    for key in ["entry", "created", "instances", "joined", "beside"] {
        assert!(threads.lines().any(|line| line.trim_start().starts_with(key)), "no {key} in:\n{threads}");
    }
}

#[test]
fn threads_can_be_drawn() {
    let scratch = Scratch::with(RACING);
    let graph = scratch.lockcheck(&["emit", "threads", "--dot", "prog.c"]).expect(0).stdout;
    assert!(graph.starts_with("digraph threads {") && graph.contains(" -> ") && graph.contains("label=\"main\""), "{graph}");
}

const MODEL: &str = "locks: {a: mutex, b: mutex, m: rw}
threads:
  one: [acquire a, acquire b, release a, s: acquire m shared, release m, release b]
  two: [acquire b, acquire a, release a, release b]
queries:
  - {reachable: [one@s], expect: true}
";

#[test]
fn the_systems_of_a_model_are_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let pds = scratch.lockcheck(&["emit", "pds", "order.model.yaml"]).expect(0).stdout;
    for line in
        ["lock m: read-write", "thread one: 1 at the start", "line 3: acquire m shared", "-> 4 [acquire m shared]", "return"]
    {
        assert!(pds.contains(line), "{line} is missing:\n{pds}");
    }
    let graph = scratch.lockcheck(&["emit", "pds", "--dot", "order.model.yaml"]).expect(0).stdout;
    assert!(graph.starts_with("digraph pds {") && graph.contains("t1s0 -> t1s1 [label=\"acquire b\"];"), "{graph}");
}

#[test]
fn the_histories_of_a_model_are_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let text = scratch.lockcheck(&["emit", "histories", "order.model.yaml"]).expect(0).stdout;
    let lines = [
        "thread one, there at the start: locks are not nested, but given back by who took them; out of order at line 3: release a",
        "thread two, there at the start: locks are nested",
        "holds a (then used b); holds b",
        "holds b; used a; not sure: locks are not nested",
        "holds b (then used m shared); used a, m shared; not sure: locks are not nested",
    ];
    for line in lines {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
}

#[test]
fn the_lock_order_of_a_model_is_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let text = scratch.lockcheck(&["emit", "lock-order", "order.model.yaml"]).expect(0).stdout;
    let lines = [
        "a before b  (part of a cycle)\n  one, line 3: acquire b",
        "b before m shared\n",
        "deadlock\n",
        "  two holds b and waits for a: line 4: acquire a",
    ];
    for line in lines {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
    let graph = scratch.lockcheck(&["emit", "lock-order", "--dot", "order.model.yaml"]).expect(0).stdout;
    assert!(graph.contains("\"b\" -> \"a\" [label=\"two, line 4: acquire a\", color=red];"), "{graph}");
}

/// Calls three functions that nothing is known of, in two threads, and some that are known.
const OUTSIDE: &str = "\
#include <pthread.h>
#include <stdio.h>
int shared[4];
void device_log(const char *text);
void device_read(int *to, int count, void (*done)(int));
char *device_name(char *buffer);
static void finished(int code) { shared[0] = code; }
static void *worker(void *arg) {
    device_log(\"begin\");
    device_read(shared, 4, finished);
    device_log(\"end\");
    return arg;
}
int main(void) {
    char name[8];
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    device_log(device_name(name));
    pthread_join(thread, NULL);
    printf(\"%s\", name);
    return 0;
}
";

#[test]
fn externals_are_listed_with_what_they_get_the_most_used_one_first() {
    let scratch = Scratch::with(OUTSIDE);
    let text = scratch.lockcheck(&["emit", "externals", "prog.c"]).expect(0).stdout;
    let heads: Vec<&str> = text.lines().filter(|line| line.contains(", first at ")).collect();
    let expected = [
        "device_log: 3 calls, first at prog.c:9",
        "device_name: 1 call, first at prog.c:18",
        "device_read: 1 call, first at prog.c:10",
    ];
    assert_eq!(heads, expected.map(|head| format!("# {head}")), "{text}");
    for line in [
        "#   from main, worker",
        "#   in threads main, worker@prog.c:17",
        "#   argument 0: the address of shared; threads share it",
        "#   argument 1: a number",
        "#   argument 2: the functions finished",
        "#    callback: {routine: 2, arguments: [0], when: during}",
        "#    returns: 0",
    ] {
        assert!(text.lines().any(|other| other == line), "no `{line}` in:\n{text}");
    }
    assert!(!text.contains("printf") && !text.contains("pthread_"), "{text}");
}

#[test]
fn externals_change_nothing_until_they_are_filled_in() {
    let scratch = Scratch::with(OUTSIDE);
    let text = scratch.lockcheck(&["emit", "externals", "prog.c"]).expect(0).stdout;
    let assumed = |scratch: &Scratch| -> Vec<String> {
        let report = scratch.report(&["--no-explore"]);
        let names = list(&report, "assumptions").iter().filter(|assumption| assumption["kind"] == "external-function");
        names.map(|assumption| assumption["what"].as_str().expect("a name").to_owned()).collect()
    };
    let before = assumed(&scratch);
    scratch.write(".lockcheck.yaml", &text);
    assert_eq!(assumed(&scratch), before);
    // The marks removed, one line of two that cannot both hold kept: nothing is assumed any more, and nothing is left to be listed.
    let is_entry = |line: &&str| line.starts_with("#  - ") || line.starts_with("#    ");
    let entries: Vec<&str> =
        text.lines().filter(is_entry).map(|line| &line[1..]).filter(|line| !line.contains("spawn")).collect();
    scratch.write(".lockcheck.yaml", &format!("functions:\n{}\n", entries.join("\n")));
    assert_eq!(assumed(&scratch), Vec::<String>::new());
    let rest = scratch.lockcheck(&["emit", "externals", "prog.c"]).expect(0).stdout;
    assert_eq!(rest, "# Every function that is called has a body or a model.\n");
}

const CROSSED: &str = "\
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return p;
}
static void *two(void *p) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
";

#[test]
fn the_systems_of_a_program_are_shown() {
    let scratch = Scratch::with(CROSSED);
    let pds = scratch.lockcheck(&["emit", "pds", "prog.c"]).expect(0).stdout;
    for line in ["lock a: mutex", "thread one@prog.c:19: 1 created", "prog.c:5:5 in one", "[acquire b]", "return"] {
        assert!(pds.contains(line), "{line} is missing:\n{pds}");
    }
    let histories = scratch.lockcheck(&["emit", "histories", "prog.c"]).expect(0).stdout;
    assert!(histories.contains("holds a (then used b)") && histories.contains("locks are nested"), "{histories}");
    let order = scratch.lockcheck(&["emit", "lock-order", "prog.c"]).expect(0).stdout;
    for line in [
        "a before b  (part of a cycle)\n  one@prog.c:19, prog.c:5:5 in one",
        "two@prog.c:20 holds b and waits for a: prog.c:12:5 in two",
    ] {
        assert!(order.contains(line), "{line} is missing:\n{order}");
    }
    let graph = scratch.lockcheck(&["emit", "lock-order", "--dot", "prog.c"]).expect(0).stdout;
    assert!(graph.contains("\"b\" -> \"a\""), "{graph}");
}
