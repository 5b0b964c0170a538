//! A loop that prepares what the next thread gets, while the threads that it has created work in what they got.

use lockcheck::findings::Reason;

use super::support::{Said, said_of};

/// The thread, the turns of the loop, and functions between.
fn preparing(functions: &str, thread: &str, main: &str) -> Said {
    said_of(&format!(
        "#include <string.h>
        struct part {{ int id; char name[16]; long sum; }}; struct part part[8]; pthread_t t[8]; int got[8]; struct part *volatile last;
        void *f(void *); {functions}
        void *f(void *a) {{ struct part *own = a; {thread} return 0; }}
        int main(int n, char **v) {{ {main} return 0; }}"
    ))
}

const WORK: &str = "for (int i = 0; i < 10; i++) own->sum += own->id; if (own->name[0]) own->sum = 1;";
const INIT: &str = "void init(struct part *p, int i) { p->id = i; p->sum = 0; }";

fn turns(turn: &str) -> String {
    format!("for (int i = 0; i < 8; i++) {{ {turn} }}")
}

#[test]
fn what_is_prepared_for_the_next_thread_is_nobody_elses() {
    let create = "pthread_create(&t[i], 0, f, &part[i]);";
    for before in [
        "part[i].id = i;",
        "init(&part[i], i);",
        "memset(&part[i], 0, sizeof part[i]);",
        "for (int j = 0; j < 16; j++) part[i].name[j] = j;",
        "if (n > i) part[i].id = 1; else part[i].sum = 2;",
    ] {
        let said = preparing(INIT, WORK, &turns(&format!("{before} {create}")));
        said.refuted("part", Reason::ThreadPartition);
        said.no_race("part");
    }
    let go = "void go(pthread_t *t, struct part *p, int i) { p->id = i; pthread_create(t, 0, f, p); }";
    preparing(go, WORK, &turns("go(&t[i], &part[i], i);")).no_race("part");
    let pointer = "for (struct part *p = part; p < part + 8; p++) { p->id = 1; pthread_create(&t[p - part], 0, f, p); }";
    preparing("", WORK, pointer).no_race("part");
    let heap = "struct part *p = calloc(n, sizeof *p); for (int i = 0; i < n; i++) { p[i].id = i; if (pthread_create(t, 0, f, &p[i])) break; }";
    preparing("", WORK, heap).no_race("memory allocated at trap.c:13");
    // Twice, but nobody is left.
    let again = format!(
        "for (int k = 0; k < 2; k++) {{ {} {} }}",
        turns(&format!("part[i].id = i; {create}")),
        turns("pthread_join(t[i], 0);")
    );
    preparing("", WORK, &again).no_race("part");
}

#[test]
fn a_number_says_whose_it_is() {
    for (own, given) in [("(long)a", "(void *)i"), ("(int)(long)a", "(void *)i")] {
        let thread = format!("got[{own}] += 2;");
        let turn = format!("got[i] = 1; pthread_create(&t[i], 0, f, {given});");
        preparing("", &thread, &turns(&turn).replace("int i", "long i")).no_race("got");
        preparing("", &thread, &turns(&format!("{turn} got[i] = 3;")).replace("int i", "long i")).race("got");
        preparing("", &thread, &turns(&turn.replace("got[i]", "got[i & 3]")).replace("int i", "long i")).race("got");
    }
}

#[test]
fn what_a_thread_has_got_is_its_own() {
    let create = "pthread_create(&t[i], 0, f, &part[i]);";
    for turn in [
        // After the creation.
        format!("{create} part[i].id = i;"),
        format!("{create} init(&part[i], i);"),
        format!("init(&part[i], i); {create} init(&part[i], i);"),
        format!("again: part[i].id = i; {create} if (n == i) goto again;"),
        // Another one's.
        format!("if (i > 0) part[i - 1].id = i; {create}"),
        format!("part[0].id = i; {create}"),
        format!("init(part, i); {create}"),
        "part[i].id = i; pthread_create(&t[i], 0, f, &part[i / 2]);".to_owned(),
        "part[i].id = i; pthread_create(&t[i], 0, f, &part[0]);".to_owned(),
    ] {
        preparing(INIT, WORK, &turns(&turn)).race("part");
    }
    let late = "void go(pthread_t *t, struct part *p, int i) { pthread_create(t, 0, f, p); p->id = i; }";
    preparing(late, WORK, &turns("go(&t[i], &part[i], i);")).race("part");
    // Those of the first time are still there.
    let twice = format!("for (int k = 0; k < 2; k++) {}", turns(&format!("part[i].id = i; {create}")));
    preparing("", WORK, &twice).race("part");
    // Two creators.
    let creator = format!("void *creator(void *a) {{ {} return 0; }}", turns(&format!("part[i].id = i; {create}")));
    preparing(&creator, WORK, "pthread_create(t, 0, creator, 0); pthread_create(t, 0, creator, 0);").race("part");
    // The thread itself leaves its part.
    let prepared = turns(&format!("part[i].id = i; {create}"));
    preparing("", "own->sum++; own[1].id++;", &prepared).race("part");
    preparing("", "last = own; if (last) last->id = 3;", &prepared).race("part");
    // The new thread may read the handle before it has been written.
    let handle = "struct worker { pthread_t self; long sum; } worker[8];";
    let reads = "struct worker *mine = a; mine->sum = mine->self == 0;";
    preparing(handle, reads, &turns("pthread_create(&worker[i].self, 0, f, &worker[i]);")).race("worker");
}
