//! `lockcheck explore`: how many executions there are, and when all of them were run.

use super::support::{RACING, Scratch, clean, list, uncertain};

#[test]
fn all_executions_of_a_small_program() {
    let scratch = Scratch::with(&clean());
    let run = scratch.lockcheck(&["explore", "--strategy", "dfs", "prog.c"]).expect(0);
    assert!(run.stdout.contains("note: exhausted: all ") && run.stdout.contains(" executions, "), "{}", run.stdout);
    assert_eq!(run.last_line(), "0 confirmed, 0 possible, 0 refuted, 0 assumptions");
    let report = scratch.lockcheck(&["explore", "--strategy", "dfs", "--format", "json", "prog.c"]).expect(0).json();
    let statistics = &report["stats"];
    assert!(
        statistics["executions"].as_u64() > Some(1) && statistics["transitions"].as_u64() > statistics["executions"].as_u64(),
        "{statistics}"
    );
    assert!(report["checks"].as_object().expect("checks").values().all(|state| state == "safe"), "{report}");
    assert!(list(&report, "limits").is_empty() && list(&report, "notes")[0]["kind"] == "exhausted", "{report}");
}

#[test]
fn what_all_executions_show_is_confirmed() {
    let scratch = Scratch::with(RACING);
    let report = scratch.lockcheck(&["explore", "--strategy", "dfs", "--format", "json", "prog.c"]).expect(1).json();
    let [finding] = list(&report, "findings") else { panic!("one finding: {report}") };
    assert_eq!(
        (&finding["verdict"], &report["checks"]["race"], &report["checks"]["deadlock"]),
        (&"confirmed".into(), &"unsafe".into(), &"safe".into())
    );
    scratch.lockcheck(&["replay", finding["schedule"].as_str().expect("a schedule"), "prog.c"]).expect(1);
}

/// Nothing is called exhausted, the answer is open, and a limit or an assumption contains this.
#[track_caller]
fn expect_open(program: &str, arguments: &[&str], words: &str) {
    let scratch = Scratch::with(program);
    let run = scratch.lockcheck(&[&["explore", "--strategy", "dfs", "prog.c"], arguments].concat());
    assert!(run.code == 3 || run.code == 1, "{}", run.stdout);
    assert!(!run.stdout.contains("exhausted") && run.stdout.contains(words), "{words:?} in {}", run.stdout);
}

#[test]
fn what_was_not_exhausted_is_not_called_so() {
    expect_open(&clean(), &["-n", "3"], "3 schedules were tried, not all");
    expect_open(&uncertain(), &[], "frobnicate");
    let arguments =
        clean().replace("int main(void) {", "int main(int argc, char **argv) {\n    if (argc > 5) return argv[1][0];");
    expect_open(&arguments, &[], "the arguments of main were not varied");
    let endless = clean()
        .replace("    return arg;", "    for (;;) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }\n    return arg;");
    expect_open(&endless, &["-n", "50"], "a run did not end within");
    let relaxed = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
        static void *set(void *arg) { atomic_store_explicit(&x, 1, memory_order_relaxed); return arg; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, set, 0); return atomic_load(&x) > 1; }\n";
    expect_open(relaxed, &[], "weaker than sequentially consistent (prog.c:4:");
    expect_open(
        &relaxed
            .replace("_explicit(&x, 1, memory_order_relaxed)", "(&x, 1)")
            .replace("atomic_load(&x) > 1", "atomic_load(&x) > 1 + __VERIFIER_nondet_int()")
            .replace("int main", "int __VERIFIER_nondet_int(void);\nint main"),
        &[],
        "too many values",
    );
}

#[test]
fn an_input_is_no_execution_of_its_own_when_nothing_is_asked() {
    let run = Scratch::with("int main(void) { return 0; }\n").lockcheck(&["explore", "--strategy", "dfs", "prog.c"]).expect(0);
    assert!(run.stdout.contains("exhausted: the one execution was run"), "{}", run.stdout);
}
