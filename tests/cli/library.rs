//! A library has no `main`: its users call the entries, at the same time and any number of times.

use serde_json::Value;

use super::support::Scratch;

/// The size is read under the lock, or, with -DHASTY, without it. The constructor comes before all calls.
const RING: &str = "\
#include <pthread.h>
static pthread_mutex_t lock;
static int slots[8], used;
__attribute__((constructor)) static void begin(void) {
    pthread_mutex_init(&lock, 0);
    used = 0;
}
static int add(int value) {
    int fits = used < 8;
    if (fits) slots[used++] = value;
    return fits;
}
int ring_put(int value) {
    pthread_mutex_lock(&lock);
    int fits = add(value);
    pthread_mutex_unlock(&lock);
    return fits;
}
int ring_size(void) {
#ifdef HASTY
    return used;
#endif
    pthread_mutex_lock(&lock);
    int now = used;
    pthread_mutex_unlock(&lock);
    return now;
}
";

/// Two locks, in one order or, with -DCROSSED, in both.
const TRANSFER: &str = "\
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int balance;
void deposit(void) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    balance++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
}
void withdraw(void) {
#ifdef CROSSED
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
#else
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
#endif
    balance--;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
}
";

fn threads(report: &Value) -> Vec<Vec<&str>> {
    let findings = report["findings"].as_array().expect("findings");
    let sites = findings.iter().map(|finding| finding["sites"].as_array().expect("sites"));
    sites.map(|sites| sites.iter().map(|site| site["thread"].as_str().expect("a thread")).collect()).collect()
}

#[test]
fn entries_race_with_one_another_unless_a_lock_keeps_them_apart() {
    let scratch = Scratch::with(RING);
    let run = ["--check", "race", "--entry", "ring_put,ring_size"];
    let report = scratch.report(&run);
    assert_eq!(report["checks"]["race"], "safe", "{report}");
    let report = scratch.report(&[&run[..], &["--", "-DHASTY"]].concat());
    assert_eq!(threads(&report), [["ring_put", "ring_size"]], "{report}");
    assert_eq!(report["findings"][0]["verdict"], "possible");
}

#[test]
fn an_entry_races_with_itself() {
    let scratch = Scratch::with("static int calls;\nvoid count(void) { calls++; }\nint calls_so_far(void) { return calls; }\n");
    let report = scratch.report(&["--check", "race", "--entry", "count"]);
    assert_eq!(threads(&report), [["count"]], "{report}");
    let report = scratch.report(&["--check", "race", "--entry", "calls_so_far"]);
    assert_eq!(report["checks"]["race"], "safe", "{report}");
}

#[test]
fn entries_that_take_nothing_are_executed() {
    let program = "static int calls;\nstatic _Atomic int safe;\nvoid count(void) { calls++; safe++; }\n\
                   int calls_so_far(void) { safe++; return calls; }\n";
    let scratch = Scratch::with(program);
    let report = scratch.report(&["--entry", "count,calls_so_far"]);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for finding in report["findings"].as_array().expect("findings") {
        found.push((finding["object"].as_str().expect("an object"), finding["verdict"].as_str().expect("a verdict")));
    }
    assert_eq!(found, [("calls", "confirmed"), ("calls", "confirmed")], "{report}");
    assert_eq!(report["checks"]["race"], "unsafe");
}

#[test]
fn entries_block_one_another_for_ever() {
    let scratch = Scratch::with(TRANSFER);
    let run = ["--check", "deadlock", "--entry", "deposit,withdraw"];
    let report = scratch.report(&run);
    assert_eq!(report["checks"]["deadlock"], "safe", "{report}");
    let report = scratch.report(&[&run[..], &["--", "-DCROSSED"]].concat());
    assert_eq!(threads(&report).len(), 1, "{report}");
    // Nobody passes anything, so two calls of each can be executed.
    assert_eq!(report["findings"][0]["verdict"], "confirmed", "{report}");
    let run = scratch.lockcheck(&["prog.c", "--check", "deadlock", "--entry", "deposit,withdraw", "--", "-DCROSSED"]).expect(1);
    let hint = run.stdout.lines().find(|line| line.contains("lockcheck replay")).expect("a hint").trim();
    let again = scratch.shell(&hint.replace("lockcheck replay", "\"$LOCKCHECK\" replay"));
    assert_eq!(again.code, 1, "{hint}: {}", again.stderr);
    let run = scratch.lockcheck(&["explore", "--strategy", "dfs", "prog.c", "--entry", "deposit,withdraw"]).expect(3);
    assert!(run.stdout.contains("called twice, and not more often"), "{}", run.stdout);
    // Each alone keeps to one order.
    let report = scratch.report(&["--check", "deadlock", "--entry", "withdraw", "--", "-DCROSSED"]);
    assert_eq!(report["checks"]["deadlock"], "safe", "{report}");
}

#[test]
fn the_settings_name_entries_too() {
    let scratch = Scratch::with(RING);
    scratch.write(".lockcheck.yaml", "entries: [ring_put, ring_size]\n");
    let report = scratch.report(&["--check", "race", "--", "-DHASTY"]);
    assert_eq!(threads(&report), [["ring_put", "ring_size"]], "{report}");
    scratch.write(".lockcheck.yaml", "entries: [ring_put, ring_get]\n");
    scratch.lockcheck(&["prog.c"]).expect_refusal(&[".lockcheck.yaml", "ring_get"]);
}

#[test]
fn beside_entries_of_the_settings_main_runs_once() {
    let program = "int hits, misses;\nvoid visit(void) { hits++; }\nint main(void) { misses++; hits++; return 0; }\n";
    let scratch = Scratch::with(program);
    scratch.write(".lockcheck.yaml", "entries: [visit]\n");
    let mut found = Vec::new();
    let report = scratch.report(&["--check", "race"]);
    for finding in report["findings"].as_array().expect("findings") {
        found.push((finding["object"].as_str().expect("an object"), threads(&report).len()));
    }
    assert_eq!(found, [("hits", 2), ("hits", 2)], "{report}");
}

#[test]
fn without_main_and_without_entries_it_says_what_to_do() {
    let scratch = Scratch::with(RING);
    // What the library calls itself, and its constructor, are not proposed.
    scratch.lockcheck(&["prog.c"]).expect_refusal(&["`main`", "prog.c", "--entry ring_put,ring_size"]);
    scratch.lockcheck(&["prog.c", "--entry", "ring_put,ring_get"]).expect_refusal(&["ring_get", "prog.c", "--entry"]);
}

#[test]
fn nothing_is_confirmed_of_arguments_that_nobody_passed() {
    let scratch = Scratch::with("struct ring { int used; };\nint ring_size(struct ring *ring) { return ring->used; }\n");
    let report = scratch.report(&["--entry", "ring_size"]);
    assert!(report["findings"].as_array().is_some_and(Vec::is_empty), "{report}");
    let run = scratch.lockcheck(&["prog.c", "--entry", "ring_size"]).expect(3);
    assert!(run.stdout.contains("nothing says with which arguments ring_size is called"), "{}", run.stdout);
    scratch.lockcheck(&["explore", "prog.c", "--entry", "ring_size"]).expect_refusal(&["ring_size", "arguments"]);
}

#[test]
fn threads_of_a_library_are_listed() {
    let scratch = Scratch::with(TRANSFER);
    let run = scratch.lockcheck(&["emit", "threads", "prog.c", "--entry", "deposit"]).expect(0);
    assert!(run.stdout.contains("deposit\n") && !run.stdout.contains("withdraw"), "{}", run.stdout);
}

#[test]
fn a_static_function_is_an_entry_by_its_name_in_the_source() {
    let scratch = Scratch::with("static int hits;\nstatic void visit(void) { hits++; }\nvoid (*const hook)(void) = visit;\n");
    scratch.write("other.c", "static int misses;\nstatic void visit(void) { misses++; }\nvoid (*const other)(void) = visit;\n");
    let run = scratch.lockcheck(&["prog.c", "other.c", "--check", "race", "--entry", "visit", "--format", "json"]).expect(1);
    assert_eq!(run.json()["findings"].as_array().map(Vec::len), Some(2), "{}", run.stdout);
}
