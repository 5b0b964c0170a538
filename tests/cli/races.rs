//! Races as the static engine sees them: proved absent, refuted with a reason, possible with what was not excluded.

use super::support::{RACING, Scratch, clean, list, uncertain};

#[test]
fn a_program_without_a_race_is_safe() {
    let scratch = Scratch::with(&clean());
    for arguments in [&["--check", "race"][..], &["--check", "race", "--no-explore"]] {
        let run = scratch.lockcheck(&[&["prog.c"], arguments].concat()).expect(0);
        assert!(
            run.last_line().starts_with("0 confirmed, 0 possible, ") && !run.last_line().ends_with("(not complete)"),
            "{}",
            run.stdout
        );
        assert!(!run.last_line().contains(" 0 refuted"), "{}", run.stdout);
        let report = scratch.report(arguments);
        assert_eq!((&report["checks"]["race"], list(&report, "limits").len()), (&"safe".into(), 0), "{report}");
    }
    // That there is no deadlock is proved, too; of misuse execution alone speaks.
    let report = scratch.report(&[]);
    let states = ["race", "deadlock", "misuse"].map(|check| report["checks"][check].as_str());
    assert_eq!(states, [Some("safe"), Some("safe"), Some("unknown")], "{report}");
    scratch.lockcheck(&["prog.c"]).expect(3);
}

#[test]
fn each_refuted_pair_has_its_reason() {
    let report = Scratch::with(&clean()).report(&["--check", "race"]);
    let common =
        list(&report, "refuted").iter().find(|group| group["reason"] == "common-lock").unwrap_or_else(|| panic!("{report}"));
    assert_eq!((&common["object"], &common["rule"]), (&"hits".into(), &"data-race".into()));
    assert!(common["detail"].as_str().is_some_and(|detail| detail.contains("lock")), "{common}");
    assert!(list(common, "sites").iter().all(|site| list(site, "locks") == ["lock"]), "{common}");
    let text = Scratch::with(&clean()).lockcheck(&["prog.c", "--check", "race", "-v"]).expect(0).stdout;
    assert!(text.contains("[common-lock]") && text.contains("note: `hits`: "), "{text}");
    assert!(text.contains("`lock` held at all of them"), "{text}");
}

#[test]
fn an_unknown_function_leaves_the_answer_open() {
    let program = clean().replace("int main(void) {\n", "void frobnicate(void);\nint main(void) {\n    frobnicate();\n");
    let scratch = Scratch::with(&program);
    for arguments in [&["--check", "race"][..], &["--check", "race", "--no-explore"]] {
        let report = scratch.report(arguments);
        assert_eq!(report["checks"]["race"], "unknown", "{report}");
        assert!(list(&report, "assumptions").iter().any(|assumption| assumption["what"] == "frobnicate"), "{report}");
        scratch.lockcheck(&[&["prog.c"], arguments].concat()).expect(3);
        scratch.lockcheck(&[&["prog.c", "--allow-incomplete"], arguments].concat()).expect(0);
    }
    let report = Scratch::with(&uncertain()).report(&["--check", "race"]);
    assert_eq!(list(&report, "findings").len(), 1, "one finding, by whichever way it was found: {report}");
}

/// What is read does not matter to the engine, only to runs.
#[test]
fn an_input_that_was_not_tried_hides_no_race() {
    let program = clean()
        .replace("#include <pthread.h>\n", "#include <pthread.h>\n#include <stdio.h>\n")
        .replace("    pthread_t thread;\n", "    pthread_t thread;\n    if (getchar() == 'x') return 1;\n");
    let scratch = Scratch::with(&program);
    let report = scratch.report(&["--check", "race"]);
    assert!(list(&report, "assumptions").iter().any(|assumption| assumption["kind"] == "standard-input"), "{report}");
    assert_eq!(report["checks"]["race"], "safe", "{report}");
    scratch.lockcheck(&["prog.c", "--check", "race"]).expect(0);
    scratch.lockcheck(&["prog.c", "--check", "race,safety"]).expect(3);
}

#[test]
fn without_execution_a_race_is_possible() {
    let scratch = Scratch::with(RACING);
    let run = scratch.lockcheck(&["prog.c", "--check", "race", "--no-explore"]).expect(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].starts_with("prog.c:6:9: warning: possible data race on hits: ") && lines[0].ends_with(" [data-race]"),
        "{}",
        run.stdout
    );
    let at =
        |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part:?} in {}", run.stdout));
    let (visitor, main) = (at("  thread visitor@prog.c:12"), at("  thread main"));
    assert_eq!(lines[visitor + 1], "    prog.c:12:5: create visitor in main");
    assert_eq!(lines[visitor + 2], "    prog.c:6:9: write hits in visitor, holding lock (taken at prog.c:5:5)");
    assert_eq!(lines[main + 1], "    prog.c:13:9: write hits in main, no lock held");
    assert!(at("  possible, not confirmed: ") > main && run.stdout.contains("was not executed"), "{}", run.stdout);
    let report = scratch.report(&["--check", "race", "--no-explore"]);
    assert_eq!((&report["checks"]["race"], &report["stats"]["executions"]), (&"unknown".into(), &0.into()));
    assert_eq!(report["stats"]["threads"], 2, "threads are counted without running them");
    let confirmed = scratch.report(&["--check", "race"]);
    assert_eq!(list(&confirmed, "findings")[0]["id"], list(&report, "findings")[0]["id"], "the same race has the same id");
    scratch.lockcheck(&["prog.c", "--check", "race", "--no-explore", "--fail-on", "confirmed"]).expect(3);
}

/// `hits` is written under the lock in three places, and once without it.
const FORGOTTEN: &str = "\
#include <pthread.h>
int hits;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void add(int n) { pthread_mutex_lock(&lock); hits += n; pthread_mutex_unlock(&lock); }
static void reset(void) { pthread_mutex_lock(&lock); hits = 0; pthread_mutex_unlock(&lock); }
static void *visitor(void *arg) { add(1); reset(); return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, visitor, 0);
    add(2);
    hits = 7;
    return pthread_join(thread, 0);
}
";

#[test]
fn the_forgotten_lock_is_named() {
    let scratch = Scratch::with(FORGOTTEN);
    for arguments in [&[][..], &["--no-explore"]] {
        let run = scratch.lockcheck(&[&["prog.c", "--check", "race", "-v"], arguments].concat());
        assert!(
            run.stdout.contains("  lock is held at ") && run.stdout.contains("accesses of hits, but not at prog.c:11"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("`lock` held at ") && run.stdout.contains("; not at prog.c:11"), "{}", run.stdout);
    }
}

#[test]
fn no_engine_is_contradicted_by_a_run() {
    for program in [RACING.to_owned(), clean(), uncertain(), FORGOTTEN.to_owned()] {
        let report = Scratch::with(&program).report(&[]);
        assert!(list(&report, "notes").iter().all(|note| note["kind"] != "contradiction"), "{report}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for program in [RACING.to_owned(), FORGOTTEN.to_owned()] {
        let scratch = Scratch::with(&program);
        let timeless = |jobs: &str| {
            let mut report = scratch.report(&["--jobs", jobs]);
            for measured in ["seconds", "mebibytes", "peak_rss_mib"] {
                report["stats"][measured] = serde_json::Value::Null;
            }
            report
        };
        assert_eq!(timeless("1"), timeless("5"));
    }
}

#[test]
fn a_cycle_of_the_lock_order_that_is_no_deadlock_has_its_reason() {
    let body = "
#include <pthread.h>
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p) { pthread_mutex_lock(&gate); pthread_mutex_lock(&a); pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); pthread_mutex_unlock(&gate); return p; }
static void *two(void *p) { pthread_mutex_lock(&gate); pthread_mutex_lock(&b); pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); pthread_mutex_unlock(&gate); return p; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
    pthread_join(t, 0); pthread_join(u, 0); return 0; }
";
    let scratch = Scratch::with(body);
    let text = scratch.lockcheck(&["prog.c", "--check", "deadlock", "-v"]).expect(0).stdout;
    assert!(
        text.contains("note: no deadlock: something keeps threads from closing the one cycle in the order of locks\n"),
        "{text}"
    );
    assert!(
        text.contains("note: no deadlock on a, b (1 cycle in the order of locks) [gate-lock]: all of them hold gate there"),
        "{text}"
    );
    let report = scratch.report(&["--check", "deadlock"]);
    assert_eq!(report["checks"]["deadlock"], "safe");
    let refuted = &list(&report, "refuted")[0];
    assert_eq!((&refuted["rule"], &refuted["reason"]), (&"deadlock".into(), &"gate-lock".into()));
    // Without the gate in one of them it is a deadlock, found and shown.
    let crossed = body.replacen("{ pthread_mutex_lock(&gate); pthread_mutex_lock(&b);", "{ pthread_mutex_lock(&b);", 1);
    let crossed = crossed.replacen(
        "pthread_mutex_unlock(&b); pthread_mutex_unlock(&gate); return p; }\nint",
        "pthread_mutex_unlock(&b); return p; }\nint",
        1,
    );
    let report = Scratch::with(&crossed).report(&["--check", "deadlock"]);
    assert_eq!(
        (&report["checks"]["deadlock"], &list(&report, "findings")[0]["verdict"]),
        (&"unsafe".into(), &"confirmed".into()),
        "{report}"
    );
}

/// A wrapper of `vprintf` that gets the address of `total`, with a format that prints it, or that stores behind it.
#[test]
fn a_format_handed_on_writes_only_where_it_says_so() {
    let program = |directive: &str| {
        format!(
            "\
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
int total;
static void say(const char *format, ...) {{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}}
static void *work(void *arg) {{
    say(\"{directive}\", &total);
    say(\"%s\", \"done\");
    return arg;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    int seen = total;
    pthread_join(thread, NULL);
    return seen;
}}
"
        )
    };
    for (directive, count) in [("%p", 0), ("%n", 1)] {
        let report = Scratch::with(&program(directive)).report(&["--check", "race", "--no-explore"]);
        assert_eq!(list(&report, "findings").len(), count, "{directive}: {report}");
    }
}

/// A function that may write where a handle is kept, and neither creates nor joins, is called too often to be followed call by call.
#[test]
fn many_calls_of_what_creates_no_thread_leave_the_order_as_it_is() {
    let calls: String = (0..40).map(|at| format!("    put(&slots[{at}], {at});\n")).collect();
    let program = format!(
        "\
#include <pthread.h>
long slots[40];
int ready;
static void put(long *place, long value) {{ *place = value; }}
static void *work(void *arg) {{ return ready ? arg : NULL; }}
int main(void) {{
    pthread_t thread;
    put((long *)&thread, 0);
{calls}    ready = 1;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}}
"
    );
    let report = Scratch::with(&program).report(&["--check", "race", "--no-explore"]);
    assert_eq!(report["checks"]["race"], "safe", "{report}");
}

/// The linker makes one of structures that look alike, under one of their names: what is called through the other is called all the same.
#[test]
fn structures_of_one_form_stay_what_they_are_when_files_are_linked() {
    let scratch = Scratch::new();
    scratch.write(
        "list.c",
        "struct list { void *previous; void *next; };\n\
         struct list head;\n\
         void link_up(void *p) { struct list *l = &head; l->previous = p; l->next = p; }\n",
    );
    scratch.write(
        "jobs.c",
        r#"
#include <pthread.h>
struct job { void (*run)(void *); void *argument; };
static struct job queue[4];
static int hits;
void link_up(void *);
static void count(void *p) { (void)p; hits++; }
static void *worker(void *unused) {
    struct job job = queue[0];
    job.run(job.argument);
    return unused;
}
int main(void) {
    struct job job;
    job.run = count;
    job.argument = 0;
    queue[0] = job;
    link_up(queue);
    pthread_t one, two;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#,
    );
    let run = scratch.lockcheck(&["--no-explore", "--check", "race", "list.c", "jobs.c"]).expect(1);
    assert!(run.stdout.contains("possible data race on hits"), "{}", run.stdout);
}

/// Programs overlay structures that begin alike: a table of one is searched as a table of the other.
#[test]
fn what_begins_alike_is_used_as_the_other() {
    let source = |narrow: &str| {
        format!(
            r#"
#include <pthread.h>
struct wide {{ long id; void (*run)(void); void *data; long size; }};
struct narrow {{ {narrow} }};
static int hits;
static void count(void) {{ hits++; }}
static void nothing(void) {{}}
static const struct wide table[] = {{{{1, nothing, 0, 8}}, {{2, count, 0, 8}}}};
static const struct wide *find_wide(long id) {{ return &table[id - 1]; }}
typedef const struct narrow *(*finder)(long);
static void *worker(void *find) {{
    const struct narrow *found = ((finder)find)(2);
    found->run();
    return 0;
}}
int main(void) {{
    pthread_t one, two;
    pthread_create(&one, 0, worker, (void *)find_wide);
    pthread_create(&two, 0, worker, (void *)find_wide);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}}
"#
        )
    };
    let scratch = Scratch::new();
    for narrow in ["long id; void (*run)(void); void *data;", "long id; void (*run)(void);"] {
        scratch.write("prog.c", &source(narrow));
        let run = scratch.lockcheck(&["--no-explore", "--check", "race", "prog.c"]).expect(1);
        assert!(run.stdout.contains("possible data race on hits"), "{}", run.stdout);
    }
}
