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
