//! The work is bounded: only what creates and joins is walked, and what explodes is cut.

use std::fmt::Write;
use std::time::Instant;

use super::accesses::{overlaps, threads_of};
use super::load_text;

#[test]
fn only_what_creates_and_joins_is_walked() {
    let mut source = String::new();
    for number in 0..300 {
        let callee = if number == 0 { "x = 1".to_owned() } else { format!("work{}()", number - 1) };
        writeln!(
            source,
            "void work{number}(void) {{ for (int i = 0; i < 3; i++) {{ y += i; if (y > {number}) y--; }} {callee}; }}"
        )
        .expect("a string");
    }
    source.push_str("void *f(void *a) { work299(); return 0; }\nint main(void) {\n");
    for number in 0..50 {
        writeln!(source, "pthread_t t{number}; pthread_create(&t{number}, 0, f, 0); work{}();", number + 200).expect("a string");
        if number % 2 == 0 {
            writeln!(source, "if (pthread_join(t{number}, 0)) return 1;").expect("a string");
        }
    }
    source.push_str("return x; }\n");
    let program = load_text("many", &source);
    let started = Instant::now();
    let (threads, _) = threads_of(&program);
    println!("{} instructions, points-to and 50 threads in {:?}", program.size(), started.elapsed());
    let (activations, phases) = threads.sizes();
    assert_eq!(threads.threads().count(), 51);
    assert!(activations <= 51 && phases <= 200, "{activations} activations, {phases} phases");
}

#[test]
fn paths_that_explode_are_cut() {
    let mut source =
        "void *f(void *a) { x++; return 0; }\nvoid c0(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n"
            .to_owned();
    for number in 1..20 {
        writeln!(source, "void c{number}(void) {{ c{0}(); c{0}(); }}", number - 1).expect("a string");
    }
    source.push_str("int main(void) { c19(); return 0; }\n");
    let program = load_text("exploding", &source);
    let started = Instant::now();
    let (threads, _) = threads_of(&program);
    println!("{:?} in {:?}", threads.sizes(), started.elapsed());
    assert!(threads.sizes().0 < 10_000 && threads.threads().count() < 1_000);
    assert!(threads.threads().any(|(_, thread)| thread.is_cut && thread.is_many));
    // Cut paths are not known to be ordered.
    assert!(!overlaps(&program, "x").is_empty());
}

#[test]
fn recursion_is_cut_and_overlaps() {
    let calls = "void *f(void *a) { x++; return 0; } void again(int n) { pthread_t t; pthread_create(&t, 0, f, 0); if (n) again(n - 1); pthread_join(t, 0); }
        int main(int n, char **v) { again(n); return x; }";
    assert!(!overlaps(&load_text("recursion", calls), "x").is_empty());
    let creations = "void *f(void *a) { pthread_t t, u; x++; if (a) { pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); } return 0; }
        int main(int n, char **v) { pthread_t t; x = 1; pthread_create(&t, 0, f, &t); pthread_join(t, 0); return x; }";
    let program = load_text("creations", creations);
    assert!(!overlaps(&program, "x").is_empty(), "two children run side by side");
    let (threads, _) = threads_of(&program);
    assert!(threads.threads().any(|(_, thread)| thread.is_cut && thread.is_many));
}
