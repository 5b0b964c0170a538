//! Signal handlers: what they and the threads that they interrupt may both touch, and what they may not.

use lockcheck::findings::Reason;

use super::support::{Said, said_of};

fn handler(declaration: &str, assigned: &str, loop_reads: &str) -> Said {
    said_of(&format!(
        "#include <signal.h>\n{declaration} void on_int(int s) {{ {assigned} = 1; }}
        int main(void) {{ signal(SIGINT, on_int); while (!{loop_reads}) ; return 0; }}"
    ))
}

#[test]
fn a_handler_may_assign_to_a_volatile_sig_atomic_t() {
    handler("volatile sig_atomic_t stop;", "stop", "stop").refuted("stop", Reason::SignalAtomic);
    handler("static volatile sig_atomic_t stop[2];", "stop[1]", "stop[1]").refuted("stop", Reason::SignalAtomic);
    handler("struct { long other; volatile sig_atomic_t stop; } state;", "state.stop", "state.stop")
        .refuted("state", Reason::SignalAtomic);
    handler("typedef volatile sig_atomic_t flag; flag stop;", "stop", "stop").refuted("stop", Reason::SignalAtomic);
}

#[test]
fn other_types_are_not_meant_for_handlers() {
    handler("volatile int stop;", "stop", "stop").race("stop");
    handler("sig_atomic_t stop;", "stop", "stop").race("stop");
    handler("volatile sig_atomic_t stop;", "*(volatile char *)&stop", "stop").race("stop");
    handler("volatile sig_atomic_t stop;", "*(int *)&stop", "stop").race("stop");
    handler("union { volatile sig_atomic_t stop; volatile long all; } u;", "u.stop", "u.all").race("u");
    handler("_Atomic int stop;", "stop", "stop").no_race("stop");
}

#[test]
fn two_threads_race_on_it_as_on_any_other() {
    let text = |second: &str| {
        format!(
            "#include <signal.h>\nvolatile sig_atomic_t stop; void on_int(int s) {{ stop = 1; }}
            void *f(void *a) {{ {second} return 0; }}
            int main(void) {{ pthread_t t; signal(SIGINT, on_int); pthread_create(&t, 0, f, 0); while (!stop) ; return 0; }}"
        )
    };
    said_of(&text("stop = 1;")).race("stop");
    said_of(&text("while (!stop) ;")).refuted("stop", Reason::SignalAtomic);
}

#[test]
fn a_handler_is_called_by_its_name() {
    let said = handler("volatile int stop;", "stop", "stop");
    let names: Vec<&str> =
        said.result.candidates.iter().flat_map(|candidate| &candidate.ends).map(|end| end.thread_name.as_str()).collect();
    assert!(names.contains(&"on_int, a signal handler"), "{names:?}");
}
