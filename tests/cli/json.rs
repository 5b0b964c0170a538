//! The JSON document: every key of the contract, with its type, and the same bytes twice.

use std::collections::BTreeSet;

use serde_json::Value;

use super::support::{RACING, Scratch, clean, list, uncertain};

/// The keys of an object, all of which are known.
#[track_caller]
fn keys(value: &Value, wanted: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(found, wanted.iter().copied().collect(), "{value}");
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn check_document(document: &Value) {
    keys(
        document,
        &["schema", "tool", "inputs", "checks", "findings", "protection", "refuted", "assumptions", "notes", "limits", "stats"],
    );
    assert_eq!(document["schema"], "lockcheck/1");
    keys(&document["tool"], &["name", "version"]);
    assert_eq!(
        (&document["tool"]["name"], &document["tool"]["version"]),
        (&"lockcheck".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert_eq!(list(document, "inputs"), ["prog.c"]);
    for (check, state) in document["checks"].as_object().expect("checks") {
        assert!(["race", "deadlock", "atomicity", "misuse", "safety"].contains(&check.as_str()), "{check}");
        assert!(["unsafe", "safe", "unknown"].contains(&state.as_str().unwrap_or_default()), "{state}");
    }
    list(document, "findings").iter().for_each(check_finding);
    list(document, "refuted").iter().for_each(check_refuted);
    list(document, "protection").iter().for_each(check_protection);
    list(document, "assumptions").iter().for_each(check_assumption);
    assert!(list(document, "limits").iter().all(is_text));
    check_statistics(&document["stats"]);
}

fn check_finding(finding: &Value) {
    let named = [
        "id",
        "rule",
        "verdict",
        "message",
        "object",
        "sites",
        "protection",
        "schedule",
        "not_excluded",
        "assumptions",
        "suppressed",
        "suppression_reason",
    ];
    keys(finding, &named);
    let rule = finding["rule"].as_str().expect("a rule");
    assert!(finding["id"].as_str().is_some_and(|id| id.starts_with(rule) && id.len() > rule.len() + 8), "{}", finding["id"]);
    assert!(is_text(&finding["message"]) && finding["object"].is_string() && finding["suppressed"].is_boolean());
    match finding["verdict"].as_str() {
        Some("confirmed") => assert!(finding["schedule"].as_str().is_some_and(|token| token.starts_with("lc1:"))),
        Some("possible") => assert!(finding["schedule"].is_null() && list(finding, "not_excluded").iter().any(is_text)),
        other => panic!("verdict {other:?}"),
    }
    list(finding, "assumptions").iter().for_each(check_assumption);
    assert!(finding["protection"].is_null() || is_text(&finding["protection"]));
    check_sites(finding);
}

fn check_refuted(refuted: &Value) {
    keys(refuted, &["rule", "object", "reason", "detail", "count", "sites", "certificate"]);
    let reasons = ["fork-join", "common-lock", "relative-lock", "happens-before", "single-instance", "thread-partition"];
    assert!(reasons.contains(&refuted["reason"].as_str().expect("a reason")), "{refuted}");
    assert!(refuted["rule"] == "data-race" && is_text(&refuted["object"]) && is_text(&refuted["detail"]), "{refuted}");
    assert!(refuted["count"].as_u64() > Some(0) && refuted["certificate"].is_null(), "{refuted}");
    check_sites(refuted);
}

fn check_protection(table: &Value) {
    keys(table, &["object", "accesses", "locks", "without"]);
    assert!(is_text(&table["object"]) && table["accesses"].as_u64() > Some(0), "{table}");
    for lock in list(table, "locks") {
        keys(lock, &["name", "accesses"]);
        assert!(is_text(&lock["name"]) && lock["accesses"].as_u64() <= table["accesses"].as_u64(), "{table}");
    }
    assert!(list(table, "without").iter().all(is_text));
}

fn check_sites(holder: &Value) {
    assert!((1..=2).contains(&list(holder, "sites").len()), "{holder}");
    for site in list(holder, "sites") {
        keys(site, &["thread", "role", "object", "file", "line", "column", "function", "locks", "taken", "trace", "truncated"]);
        assert!(site["truncated"].is_boolean(), "{site}");
        assert!(["thread", "role", "file", "function"].iter().all(|key| is_text(&site[*key])), "{site}");
        assert!(site["line"].as_u64() > Some(0) && site["column"].as_u64() > Some(0), "{site}");
        assert!(list(site, "locks").iter().all(is_text));
        let taken: Vec<&Value> = list(site, "taken").iter().map(|taken| &taken["lock"]).collect();
        assert_eq!(taken, list(site, "locks").iter().collect::<Vec<_>>(), "one for each lock, in the same order: {site}");
        for step in list(site, "trace") {
            keys(step, &["file", "line", "column", "function", "event"]);
            assert!(
                step["line"].is_u64() && step["column"].is_u64() && is_text(&step["file"]) && is_text(&step["event"]),
                "{step}"
            );
        }
    }
}

fn check_assumption(assumption: &Value) {
    assert!(is_text(&assumption["kind"]) && is_text(&assumption["what"]), "{assumption}");
    keys(assumption, &["kind", "what", "file", "line"]);
    assert!(is_text(&assumption["file"]) && assumption["line"].is_u64(), "{assumption}");
}

fn check_statistics(statistics: &Value) {
    keys(
        statistics,
        &[
            "functions",
            "threads",
            "locks",
            "objects",
            "seconds",
            "mebibytes",
            "executions",
            "transitions",
            "states",
            "peak_rss_mib",
        ],
    );
    for count in ["functions", "threads", "locks", "executions", "transitions", "states", "peak_rss_mib"] {
        assert!(statistics[count].is_u64(), "{count} of {statistics}");
    }
    keys(&statistics["objects"], &["thread_local", "only_read", "only_atomic"]);
    assert!(statistics["objects"].as_object().expect("objects").values().all(Value::is_u64), "{statistics}");
    keys(&statistics["mebibytes"], &["load", "facts", "engines", "explore"]);
    let used = |stage: &str| statistics["mebibytes"][stage].as_u64().expect("a number");
    assert!(0 < used("load") && used("load") <= used("facts") && used("facts") <= used("engines"), "{statistics}");
    assert!(
        used("engines") <= used("explore") && used("explore") <= statistics["peak_rss_mib"].as_u64().unwrap_or(0),
        "{statistics}"
    );
    keys(&statistics["seconds"], &["load", "facts", "engines", "refine", "explore"]);
    for (stage, seconds) in statistics["seconds"].as_object().expect("seconds") {
        assert!(seconds.as_f64().is_some_and(|seconds| (0.0..600.0).contains(&seconds)), "{stage}: {seconds}");
    }
}

#[test]
fn a_racing_program() {
    let document = Scratch::with(RACING).report(&[]);
    check_document(&document);
    assert_eq!(document["checks"]["race"], "unsafe");
    assert_eq!(document["checks"].as_object().map(|checks| checks.len()), Some(5));
    let [finding] = list(&document, "findings") else { panic!("one finding: {document}") };
    assert_eq!(
        (&finding["rule"], &finding["verdict"], &finding["object"]),
        (&"data-race".into(), &"confirmed".into(), &"hits".into())
    );
    let [first, second] = list(finding, "sites") else { panic!("two ends: {finding}") };
    assert_eq!(
        (&first["thread"], &first["line"], &first["function"]),
        (&"visitor@prog.c:12".into(), &6.into(), &"visitor".into())
    );
    assert_eq!((&second["thread"], &second["line"], &second["function"]), (&"main".into(), &13.into(), &"main".into()));
    assert_eq!(list(first, "locks"), ["lock"]);
    assert_eq!(list(second, "locks"), [Value::Null; 0]);
    assert_eq!((&first["trace"][0]["event"], &first["trace"][0]["line"]), (&"create visitor".into(), &12.into()));
    assert_eq!(document["stats"]["threads"], 2);
    assert_eq!(document["stats"]["functions"], 2);
    assert_eq!(document["stats"]["locks"], 1);
    assert!(document["stats"]["executions"].as_u64() > Some(1) && document["stats"]["transitions"].as_u64() > Some(10));
}

#[test]
fn a_clean_program_is_not_called_safe_by_execution() {
    let document = Scratch::with(&clean()).report(&[]);
    check_document(&document);
    assert_eq!(list(&document, "findings"), [Value::Null; 0]);
    for (check, state) in document["checks"].as_object().expect("checks") {
        let is_proved = check == "race" || check == "deadlock";
        assert_eq!(state, if is_proved { "safe" } else { "unknown" }, "{check}");
    }
    assert!(!list(&document, "limits").is_empty() && !list(&document, "refuted").is_empty());
}

#[test]
fn a_run_that_met_an_unknown_function_confirms_nothing() {
    let document = Scratch::with(&uncertain()).report(&[]);
    check_document(&document);
    let [assumption] = list(&document, "assumptions") else { panic!("one assumption: {document}") };
    assert_eq!((&assumption["kind"], &assumption["what"]), (&"external-function".into(), &"frobnicate".into()));
    assert_eq!((&assumption["file"], &assumption["line"]), (&"prog.c".into(), &12.into()));
    let [finding] = list(&document, "findings") else { panic!("one finding: {document}") };
    assert_eq!(finding["verdict"], "possible");
    assert_eq!(list(finding, "assumptions"), std::slice::from_ref(assumption));
    assert_eq!(document["checks"]["race"], "unknown");
}

#[test]
fn only_the_checks_asked_for_are_there() {
    let scratch = Scratch::with(RACING);
    let names = |arguments: &[&str]| -> Vec<String> {
        scratch.report(arguments)["checks"].as_object().expect("checks").keys().cloned().collect()
    };
    assert_eq!(names(&["--check", "deadlock"]), ["deadlock"]);
    assert_eq!(names(&["--check", "misuse,race", "--check", "safety"]), ["race", "misuse", "safety"]);
}

#[test]
fn exploring_gives_the_same_document() {
    let scratch = Scratch::with(RACING);
    let document = scratch.lockcheck(&["explore", "--strategy", "random", "-n", "25", "--format", "json", "prog.c"]).json();
    check_document(&document);
    assert_eq!(document["stats"]["executions"], 25);
    let other = scratch.lockcheck(&["explore", "-n", "25", "--seed", "7", "--format", "json", "prog.c"]).json();
    assert_ne!(document["stats"]["transitions"], other["stats"]["transitions"], "another seed makes other runs");
}

#[test]
fn two_runs_differ_in_time_and_memory_only() {
    for program in [RACING.to_owned(), clean(), uncertain()] {
        let scratch = Scratch::with(&program);
        let timeless = || {
            let mut document = scratch.report(&[]);
            document["stats"]["seconds"] = Value::Null;
            document["stats"]["mebibytes"] = Value::Null;
            document["stats"]["peak_rss_mib"] = Value::Null;
            serde_json::to_string_pretty(&document).expect("a document")
        };
        assert_eq!(timeless(), timeless());
    }
}

#[test]
fn mathematics_that_clang_knows_is_known() {
    let report = Scratch::with(
        "#include <math.h>\n#include <assert.h>\nint main(int count, char **words) {\n    double whole, x = 2.5 * count;\n    float f;\n    \
         assert(modf(x, &whole) == 0.5 && whole == 2);\n    assert(modff(1.25f, &f) == 0.25f && f == 1);\n    return words == 0;\n}\n",
    )
    .report(&[]);
    assert_eq!((list(&report, "assumptions").len(), list(&report, "findings").len()), (0, 0), "{report}");
}

const CROSSED: &str = "\
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}
static void *g(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, f, 0);
    pthread_create(&two, 0, g, 0);
    pthread_join(one, 0);
    return pthread_join(two, 0);
}
";

#[test]
fn a_cycle_says_where_each_lock_was_taken_and_what_is_waited_for() {
    let scratch = Scratch::with(CROSSED);
    for mode in [&["--no-explore"][..], &[]] {
        let arguments = [&["prog.c", "--check", "deadlock", "--format", "json"], mode].concat();
        let report = scratch.lockcheck(&arguments).expect(1).json();
        let [finding] = &list(&report, "findings")[..] else { panic!("one cycle: {report}") };
        let held = |site: &Value| {
            let [taken] = &list(site, "taken")[..] else { panic!("one lock is held: {site}") };
            let text = |value: &Value| value.as_str().expect("a name").to_owned();
            let line = |value: &Value| value["line"].as_u64().expect("a line");
            (text(&taken["lock"]), line(taken), text(&site["object"]), line(site))
        };
        let mut members: Vec<_> = list(finding, "sites").iter().filter(|site| site["role"] == "acquire").map(held).collect();
        members.sort();
        let name = str::to_owned;
        assert_eq!(members, [(name("a"), 4, name("b"), 5), (name("b"), 11, name("a"), 12)], "{mode:?}: {report}");
    }
}

/// A thousand and one races: so many that the ways to their ends are listed apart.
#[test]
fn ways_of_very_many_findings_stand_once() {
    let (count, objects) = (1001, 1001);
    let names: String = (0..objects).map(|at| format!("int x{at};\n")).collect();
    let writes: String = (0..objects).map(|at| format!("    x{at}++;\n")).collect();
    let program = format!(
        "#include <pthread.h>\n{names}static void touch(void) {{\n{writes}}}\nstatic void *run(void *arg) {{ touch(); return arg; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0); touch(); pthread_join(t, 0); return 0; }}\n"
    );
    let scratch = Scratch::with(&program);
    let run = scratch.lockcheck(&["prog.c", "--no-explore", "--check", "race", "--format", "json"]).expect(1);
    let report = run.json();
    let findings = list(&report, "findings");
    assert_eq!(findings.len(), count);
    let traces = list(&report, "traces");
    assert!(traces.len() <= 4, "{}", traces.len());
    for site in findings.iter().flat_map(|finding| list(finding, "sites")) {
        let trace = &traces[usize::try_from(site["trace_at"].as_u64().expect("a number")).expect("fits")];
        assert!(list(site, "trace").is_empty() && trace.as_array().is_some_and(|steps| !steps.is_empty()), "{site}");
    }
    // One entry a line.
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("{\"id\"")).count(), count);
    // As text: a hundred in full, and the rest by its lines.
    let run = scratch.lockcheck(&["prog.c", "--no-explore", "--check", "race"]).expect(1);
    assert_eq!(run.stdout.matches("possible, not confirmed").count(), 100);
    assert_eq!(run.stdout.matches(": warning: ").count(), count, "each line has one finding");
    assert!(run.stdout.contains("100 of 1001 findings are shown in full"), "{}", run.last_line());
    let run = scratch.lockcheck(&["prog.c", "--no-explore", "--check", "race", "-v"]).expect(1);
    assert_eq!(run.stdout.matches("possible, not confirmed").count(), count);
}
