//! Library functions with a state of their own: who calls them in two threads at once has a race that no line of the program shows.

use lockcheck::engines::race::{self, RaceOptions};
use lockcheck::facts::Facts;
use lockcheck::findings::Reason;
use lockcheck::models::Models;

use super::support::{HEAD, Said, load_c, said_of};

/// Two threads, each with a body of its own.
fn two(first: &str, second: &str) -> String {
    format!(
        "#include <string.h>\n#include <time.h>\nMUTEX(m); char s[9], u[9]; long v; time_t now;
        void *f(void *a) {{ {first} return 0; }} void *g(void *a) {{ {second} return 0; }} TWO(f, g)"
    )
}

/// What is said by who relies on POSIX alone.
fn by_posix(text: &str) -> Said {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("trap.c");
    std::fs::write(&file, format!("{HEAD}\n{text}")).expect("a program can be written");
    let program = load_c(&file, &[]);
    let models = Models::embedded();
    let bound = models.bind(&program);
    let facts = Facts::of(&program, &bound, None);
    let options = RaceOptions { distrusts_library: true, ..RaceOptions::default() };
    Said { result: race::check(&program, &bound, &facts, &options) }
}

#[test]
fn a_string_that_is_kept_between_calls() {
    said_of(&two("strtok(s, \" \");", "strtok(u, \" \");")).race("memory of strtok");
    said_of(&two("L(m); strtok(s, \" \"); U(m);", "L(m); strtok(u, \" \"); U(m);"))
        .refuted("memory of strtok", Reason::CommonLock);
    said_of(&two("char *k; strtok_r(s, \" \", &k);", "char *k; strtok_r(u, \" \", &k);")).no_race("memory of strtok_r");
    said_of(&two("strtok(s, \" \");", "")).no_race("memory of strtok");
}

#[test]
fn functions_that_share_a_state() {
    said_of(&two("v = lrand48() > 1;", "srand48(1);")).race("memory of lrand48");
    said_of(&two("v = localtime(&now) != 0;", "gmtime(&now);")).race("memory of localtime");
    said_of(&two("localtime(&now);", "ctime(&now);")).race("memory of localtime");
    said_of(&two("struct tm t; localtime_r(&now, &t);", "gmtime(&now);")).no_race("memory of gmtime");
}

#[test]
fn those_who_only_look_do_not_race() {
    said_of(&two("getenv(\"HOME\");", "getenv(\"HOME\");")).no_race("memory of getenv");
    said_of(&two("getenv(\"HOME\");", "setenv(\"A\", \"b\", 1);")).race("memory of getenv");
    // What was found is read while somebody changes it.
    said_of(&two("L(m); char *p = getenv(\"HOME\"); U(m); if (p) v = *p;", "L(m); setenv(\"A\", \"b\", 1); U(m);"))
        .race("memory of getenv");
    said_of(
        "void *f(void *a) { getenv(\"HOME\"); return 0; } int main(void) { pthread_t t; setenv(\"A\", \"b\", 1); pthread_create(&t, 0, f, 0);
        pthread_join(t, 0); unsetenv(\"A\"); return 0; }",
    )
    .no_race("memory of getenv");
}

/// POSIX promises nothing; glibc takes a lock.
#[test]
fn what_the_library_guards() {
    for (first, second, state) in [
        ("v = rand();", "rand();", "memory of rand"),
        ("rand();", "srand(1);", "memory of rand"),
        ("strerror(1);", "strerror(2);", "memory of strerror"),
    ] {
        said_of(&two(first, second)).no_race(state);
        by_posix(&two(first, second)).race(state);
    }
    let guarded = by_posix(&two("L(m); rand(); U(m);", "L(m); rand(); U(m);"));
    guarded.refuted("memory of rand", Reason::CommonLock);
    let said = by_posix(&two("rand();", "rand();"));
    let why = &said.result.candidates[0].why;
    assert!(why.contains("no standard promises that rand may be called"), "{why}");
}

#[test]
fn each_thread_has_its_own_text() {
    let shown = "char *s = strerror(1); if (s) v = s[0];";
    said_of(&two(shown, shown)).no_race("memory of strerror");
    by_posix(&two(shown, shown)).race("memory of strerror");
    // A text that another thread has asked for.
    let given = |body: &str| format!("char *text;\n{}", two("L(m); text = strerror(1); U(m); strerror(2);", body));
    said_of(&given("L(m); char *t = text; U(m); if (t) v = t[0];")).race("memory of strerror");
    said_of(&given("char *t = strerror(2); L(m); text = t; U(m); v = t[0];")).no_race("memory of strerror");
}
