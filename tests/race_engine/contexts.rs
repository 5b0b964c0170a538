//! Functions with very many callers, each of which holds something else.

use std::fmt::Write;

use lockcheck::findings::Reason;

use super::support::said_of;

#[test]
fn locks_stay_held_across_functions_with_very_many_callers() {
    let said_with = |helper: &str| {
        let mut text = format!("MUTEX(s); int n; {helper}\n");
        let mut body = String::new();
        for k in 0..60 {
            writeln!(text, "MUTEX(m{k}); int x{k};").expect("a string");
            write!(body, "L(m{k}); helper(); x{k}++; U(m{k}); ").expect("a string");
        }
        said_of(&format!("{text} void *f(void *a) {{ {body} return 0; }} TWO(f, f)"))
    };
    let said = said_with("void helper(void) { L(s); n++; U(s); }");
    (0..60).for_each(|k| _ = said.refuted(&format!("x{k}"), Reason::CommonLock));
    // What such a function may release is not held any more.
    let said = said_with("extern pthread_mutex_t m59; void helper(void) { L(s); n++; U(s); pthread_mutex_unlock(&m59); }");
    said.race("x59").refuted("x3", Reason::CommonLock);
}
