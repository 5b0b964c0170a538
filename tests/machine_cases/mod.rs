//! What the machine says about programs that cannot be held against a native run: undefined jumps, assumptions, options, memory.

use std::process::Command;

use lockcheck::explore::fault::Fault;
use lockcheck::explore::machine::end::End;
use lockcheck::explore::machine::{Inputs, Machine, RunOptions, SetupError, Unobserved};
use lockcheck::explore::run::{Limits, RunReport, run};
use lockcheck::explore::scheduler::{InputRequest, Random};
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::{AssumptionKind, Program};

const HEAD: &str = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <setjmp.h>\n\
    #include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n";

fn program(source: &str) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let (c, bitcode) = (directory.path().join("program.c"), directory.path().join("program.bc"));
    std::fs::write(&c, format!("{HEAD}{source}")).unwrap();
    let flags = ["-w", "-std=gnu17", "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm"];
    let built = Command::new("clang-22").args(flags).arg(&c).arg("-o").arg(&bitcode).status().unwrap();
    assert!(built.success(), "{source}");
    load(&[bitcode], &LoadOptions::default()).unwrap()
}

fn run_program(program: &Program, options: RunOptions, seed: u64) -> RunReport {
    let models = Models::embedded();
    let mut machine = Machine::new(program, &models.bind(program), options).unwrap();
    run(&mut machine, &mut Random::new(seed), &Limits::default(), &mut Unobserved)
}

fn end_of(source: &str) -> End {
    run_program(&program(source), RunOptions::default(), 1).end
}

fn undefined(source: &str) -> String {
    match end_of(source) {
        End::Fault { fault: Fault::Undefined { what }, .. } => what,
        other => panic!("{other:?} for {source}"),
    }
}

#[test]
fn jumps_to_where_nothing_stands_are_faults() {
    let returned =
        "static jmp_buf b; static int f(void) { return setjmp(b); } int main(void) { if (f() == 0) longjmp(b, 1); return 0; }";
    assert_eq!(undefined(returned), "a longjmp into a function that has returned");
    let again = "static jmp_buf b; static int n; static void f(void) { if (n++ == 0) { if (setjmp(b)) puts(\"here\"); } else longjmp(b, 1); }\
        int main(void) { f(); f(); return 0; }";
    assert_eq!(undefined(again), "a longjmp into a function that has returned", "another activation of the same function");
    let foreign = "static jmp_buf b; static void *t(void *a) { longjmp(b, 1); }\
        int main(void) { pthread_t h; if (setjmp(b) == 0) { pthread_create(&h, 0, t, 0); pthread_join(h, 0); } return 0; }";
    assert_eq!(undefined(foreign), "a longjmp with a buffer that another thread has filled");
    let empty = "static jmp_buf b; int main(void) { longjmp(b, 1); }";
    assert_eq!(undefined(empty), "a longjmp with a buffer that no setjmp has filled");
    let handler = "static jmp_buf b; static void h(void) { longjmp(b, 1); } int main(void) { atexit(h); if (setjmp(b) == 0) exit(0); return 0; }";
    assert_eq!(undefined(handler), "a longjmp out of what runs when a thread or the process ends");
}

#[test]
fn a_jump_out_of_an_atomic_function_ends_its_section() {
    let source = "static jmp_buf b; static void __VERIFIER_atomic_leave(void) { longjmp(b, 1); }\
        static void *t(void *a) { return a; }\
        int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); if (setjmp(b) == 0) __VERIFIER_atomic_leave();\
        pthread_join(h, 0); return 6; }";
    let program = program(source);
    for seed in 0..20 {
        assert_eq!(run_program(&program, RunOptions::default(), seed).end, End::Exited(6));
    }
}

#[test]
fn objects_of_skipped_functions_are_gone() {
    let source = "static jmp_buf b; static int *kept; static void f(void) { int x = 3; kept = &x; longjmp(b, 1); }\
        int main(void) { if (setjmp(b) == 0) f(); return *kept; }";
    let end = end_of(source);
    assert!(matches!(end, End::Fault { fault: Fault::UseAfterFree { .. }, .. }), "{end:?}");
}

fn assumptions(source: &str) -> Vec<AssumptionKind> {
    run_program(&program(source), RunOptions::default(), 1).assumptions.into_iter().map(|assumption| assumption.kind).collect()
}

#[test]
fn what_is_not_executed_is_an_assumption() {
    use AssumptionKind::{ExternalFunction, FileContent, PartialModel, SignalHandler, StandardInput};
    let cases = [
        (
            "pthread_mutexattr_t a; pthread_mutex_t m; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, 1); pthread_mutex_init(&m, &a);",
            Some(PartialModel),
        ),
        (
            "pthread_mutexattr_t a; pthread_mutex_t m; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, 0); pthread_mutex_init(&m, &a);",
            None,
        ),
        ("pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);", Some(PartialModel)),
        ("pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, 0);", None),
        ("pthread_atfork(0, 0, 0);", Some(PartialModel)),
        ("raise(SIGUSR1);", Some(PartialModel)),
        ("pthread_kill(pthread_self(), SIGUSR1);", Some(PartialModel)),
        ("pthread_kill(pthread_self(), 0);", None),
        ("sigset_t s; __builtin_memset(&s, 0, sizeof s); pthread_sigmask(SIG_BLOCK, &s, 0);", None),
        ("sigset_t s, o; __builtin_memset(&s, 0, sizeof s); pthread_sigmask(SIG_BLOCK, &s, &o);", Some(PartialModel)),
        ("struct sigaction a = {0}; a.sa_handler = SIG_IGN; sigaction(SIGINT, &a, 0);", None),
        ("struct sigaction a = {0}; a.sa_handler = h; sigaction(SIGINT, &a, 0);", Some(SignalHandler)),
        ("signal(SIGINT, h);", Some(SignalHandler)),
        ("sem_open(\"/s\", O_CREAT, 0600, 1);", Some(ExternalFunction)),
        ("getchar();", Some(StandardInput)),
        ("int n; scanf(\"%d\", &n);", Some(StandardInput)),
        ("char b[4]; read(0, b, 4);", Some(StandardInput)),
        ("FILE *f = tmpfile(); if (f) getc(f);", None),
        ("FILE *f; while (!(f = tmpfile())) {} fputs(\"x\", f); rewind(f); getc(f);", Some(FileContent)),
    ];
    for (body, expected) in cases {
        let source = format!("static void h(int s) {{}} int main(void) {{ {body} return 0; }}");
        assert_eq!(assumptions(&source), Vec::from_iter(expected), "{body}");
    }
    assert!(!StandardInput.makes_runs_uncertain() && StandardInput.could_hide_a_bug());
}

#[test]
fn globals_are_taken_as_atomic_on_request() {
    let source = "static int flag, data; static void *t(void *a) { data = 1; flag = 1; return 0; }\
        int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); if (flag) data = 2; pthread_join(h, 0); return 0; }";
    let program = program(source);
    let run_all = |options: &RunOptions| {
        let reports = (0..30).map(|seed| run_program(&program, options.clone(), seed));
        reports.fold((0, 0), |(races, assumed), report| {
            let kinds = report
                .assumptions
                .iter()
                .filter(|assumption| assumption.kind == AssumptionKind::AssumedAtomic && assumption.what == "flag");
            (races + report.races.len(), assumed + kinds.count())
        })
    };
    let (races, assumed) = run_all(&RunOptions::default());
    assert!(races > 0 && assumed == 0, "the flag races: {races}, {assumed}");
    let (races, assumed) = run_all(&RunOptions { assume_atomic: vec!["flag".to_owned()], ..RunOptions::default() });
    assert!(races == 0 && assumed > 0, "it orders the data, too: {races}, {assumed}");
    let models = Models::embedded();
    let options = RunOptions { assume_atomic: vec!["flog".to_owned()], ..RunOptions::default() };
    let refused = Machine::new(&program, &models.bind(&program), options).err();
    assert_eq!(refused, Some(SetupError::NoGlobal("flog".to_owned())));
}

struct Ones;

impl Inputs for Ones {
    fn input(&mut self, _: &InputRequest<'_>) -> u128 {
        1
    }
}

/// Every allocation that may fail does, but the library's own.
#[test]
fn the_library_has_memory_of_its_own() {
    let source = "static int c(const void *a, const void *b) { return *(int *)a - *(int *)b; }\
        int main(void) { int n[] = {3, 1, 2}; if (malloc(4)) return 1; qsort(n, 3, sizeof n[0], c); return n[0] * 100 + n[1] * 10 + n[2]; }";
    let program = program(source);
    let models = Models::embedded();
    let options = RunOptions { faults: true, ..RunOptions::default() };
    let mut machine = Machine::new(&program, &models.bind(&program), options).unwrap();
    while machine.end().is_none() {
        machine.step(ThreadId::MAIN, &mut Ones, &mut Unobserved);
    }
    assert_eq!(machine.end(), Some(&End::Exited(123)));
}

/// A stack object that nothing can point to leaves nothing behind: a million calls need the memory of one.
#[test]
fn a_long_run_does_not_collect_dead_stack_objects() {
    let source = "static int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\
        static int f(int i) { volatile int a[2]; a[i & 1] = i; a[~i & 1] = 1; return sum((int *)a, 2); }\
        int main(void) { unsigned s = 0; for (int i = 0; i < 1000000; i++) s += f(i); return s & 127; }";
    let program = program(source);
    let models = Models::embedded();
    let mut machine = Machine::new(&program, &models.bind(&program), RunOptions::default()).unwrap();
    let report = run(&mut machine, &mut Random::new(1), &Limits::default(), &mut Unobserved);
    let expected: u32 = (0..1_000_000u32).fold(0, |sum, i| sum.wrapping_add(i + 1));
    assert_eq!(report.end, End::Exited((expected & 127) as i32));
    assert!(machine.memory.object_count() < 1000, "{} objects", machine.memory.object_count());
}

/// Their place is used again only when no pointer is left: in memory, in what was returned, in what the library keeps.
#[test]
fn pointers_to_dead_stack_objects_are_still_caught() {
    let after = "static int g(int n) { volatile int y[2]; y[0] = n; y[1] = n; return y[0]; }";
    for body in [
        "static int *f(void) { int x[2]; int *p = x; x[0] = 1; return p; } int main(void) { int *p = f(); g(1); return *p; }",
        "static int *k; static void f(void) { int x[2]; x[0] = 1; k = x; } int main(void) { f(); g(1); return *k; }",
        "struct s { long n; int *p; }; static struct s f(void) { int x[2]; x[0] = 1; struct s s = {1, x}; return s; }\
         int main(void) { struct s s = f(); g(1); return *s.p; }",
        "static pthread_key_t k; static void f(void) { int x[2]; x[0] = 1; pthread_setspecific(k, x); }\
         int main(void) { pthread_key_create(&k, 0); f(); g(1); return *(int *)pthread_getspecific(k); }",
        "static unsigned long k; static void f(void) { int x[2]; x[0] = 1; k = (unsigned long)x; } int main(void) { f(); g(1); return *(int *)k; }",
    ] {
        let end = end_of(&format!("{after} {body}"));
        assert!(matches!(end, End::Fault { fault: Fault::UseAfterFree { .. }, .. }), "{end:?} for {body}");
    }
}
