//! `--budget`: wall time of the whole run, kept, and what is not decided says so.

use std::time::{Duration, Instant};

use super::support::{Run, Scratch, list};

/// Two threads race for ever: every run must be cut, and every bug be run again inside the budget.
const ENDLESS: &str = "\
#include <pthread.h>
int x, y;
static void *spin(void *arg) { for (;;) { x++; y--; x--; y++; } return arg; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, spin, 0);
    pthread_create(&two, 0, spin, 0);
    return pthread_join(one, 0);
}
";

fn timed(scratch: &Scratch, arguments: &[&str]) -> (Run, Duration) {
    let started = Instant::now();
    let run = scratch.lockcheck(arguments);
    (run, started.elapsed())
}

/// A tenth, and what a busy machine needs to start a process.
fn kept(budget: f64) -> Duration {
    Duration::from_secs_f64(budget * 1.1 + 0.5)
}

#[test]
fn it_is_kept_on_a_program_that_runs_for_ever() {
    let scratch = Scratch::with(ENDLESS);
    for command in ["check", "explore"] {
        let arguments: &[&str] = if command == "explore" {
            &["explore", "prog.c", "-n", "1000000", "--budget", "2", "--format", "json"]
        } else {
            &["prog.c", "--budget", "2", "--format", "json"]
        };
        let (run, elapsed) = timed(&scratch, arguments);
        let report = run.expect(1).json();
        assert!(elapsed <= kept(2.0) && elapsed >= Duration::from_secs_f64(1.0), "{command}: {elapsed:?}");
        assert!(list(&report, "limits").iter().any(|limit| limit == "the time budget is used up"), "{report}");
        assert!(list(&report, "findings").iter().any(|finding| finding["verdict"] == "confirmed"), "{report}");
    }
}

#[test]
fn one_long_turn_is_cut_as_well() {
    let scratch = Scratch::with("int main(void) { for (volatile int i = 0;; i++) { } }\n");
    let (run, elapsed) = timed(&scratch, &["prog.c", "--budget", "2"]);
    run.expect(3);
    assert!(elapsed <= kept(2.0), "{elapsed:?}");
}

#[test]
fn no_time_at_all_is_an_incomplete_answer() {
    let scratch = Scratch::with(ENDLESS);
    let report = scratch.lockcheck(&["prog.c", "--budget", "0", "--format", "json"]).expect(3).json();
    assert!(list(&report, "findings").is_empty(), "nothing was looked at: {report}");
    assert_eq!(report["stats"]["executions"], 0);
    assert!(list(&report, "limits").iter().any(|limit| limit == "the time budget is used up"), "{report}");
    assert!(report["checks"].as_object().expect("checks").values().all(|state| state == "unknown"));
}

/// Thousands of functions that call each other under locks: the order of locks alone would take far longer.
fn entangled() -> String {
    let mut text = String::from("#include <pthread.h>\nvolatile int x;\n");
    (0..200).for_each(|lock| text += &format!("pthread_mutex_t m{lock} = PTHREAD_MUTEX_INITIALIZER;\n"));
    let mut state: u64 = 1;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for function in (0..3000u64).rev() {
        text += &format!("static void f{function}(void) {{\n");
        for _ in 0..2 {
            let lock = below(200);
            text += &format!("    pthread_mutex_lock(&m{lock});\n");
            for callee in [function + 1 + below(11), function + 1 + below(11)] {
                if callee < 3000 {
                    text += &format!("    if (x > {callee}) f{callee}();\n");
                }
            }
            text += &format!("    pthread_mutex_unlock(&m{lock});\n");
        }
        text += "}\n";
    }
    (0..8).for_each(|thread| text += &format!("static void *t{thread}(void *a) {{ while (x) f{thread}(); return a; }}\n"));
    text += "int main(void) {\n    pthread_t h[8];\n";
    (0..8).for_each(|thread| text += &format!("    pthread_create(&h[{thread}], 0, t{thread}, 0);\n"));
    text + "    return x;\n}\n"
}

#[test]
fn it_is_kept_by_the_lock_engines() {
    let scratch = Scratch::with(&entangled());
    let budget = 6.0;
    let (run, elapsed) = timed(&scratch, &["prog.c", "--check", "deadlock", "--no-explore", "--budget", "6", "--format", "json"]);
    let report = run.json();
    assert!(elapsed <= kept(budget), "{elapsed:?}");
    let is_cut = |limit: &serde_json::Value| limit.as_str().is_some_and(|limit| limit.contains("time"));
    assert!(list(&report, "limits").iter().any(is_cut), "{report}");
    assert_eq!(report["checks"]["deadlock"], "unknown");
}
