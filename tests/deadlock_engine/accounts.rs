//! Random small C programs whose threads take the locks of two of three accounts: in the order of their ids, the wrong way round, with equal ids, with ids that
//! change meanwhile. Nothing but ids is read from memory: all executions of both threads are to be run.

use std::fmt::Write;

use super::elements::Elements;
use super::random::Random;

/// All that a program may use.
pub const FORMS: [&str; 8] =
    ["branch", "loose branch", "branch with a way out", "wrong branch", "swap", "loose swap", "equal ids", "changing ids"];

const LOCK: [&str; 2] = [
    "{ pthread_mutex_lock(&a->m); pthread_mutex_lock(&b->m); pthread_mutex_unlock(&b->m); pthread_mutex_unlock(&a->m); }",
    "{ pthread_mutex_lock(&b->m); pthread_mutex_lock(&a->m); pthread_mutex_unlock(&a->m); pthread_mutex_unlock(&b->m); }",
];

pub fn program(seed: u64) -> Elements {
    let mut random = Random::new(seed ^ 0xacc0);
    let threads = 2;
    let mut text = String::from(
        "#include <pthread.h>\nstruct account { int id, other; pthread_mutex_t m; } all[3] = {{0, 0, PTHREAD_MUTEX_INITIALIZER}, \
        {0, 0, PTHREAD_MUTEX_INITIALIZER}, {0, 0, PTHREAD_MUTEX_INITIALIZER}};\n",
    );
    let mut forms = Vec::new();
    let bodies = if random.chance(60) { 1 } else { threads };
    for body in 0..bodies {
        writeln!(text, "static void *t{body}(void *p) {{\n  struct account *a = &all[(long)p & 3], *b = &all[(long)p >> 2];")
            .expect("a string grows");
        let form = FORMS[random.below(6) as usize];
        forms.push(form);
        let (up, down) = if random.chance(80) { (LOCK[0], LOCK[1]) } else { (LOCK[1], LOCK[0]) };
        let unequal = if random.chance(50) { "if (a->id == b->id) return p;" } else { "if (b->id != a->id)" };
        let step = match form {
            "branch" => format!("if (a->id < b->id) {up} else if (a->id > b->id) {down}"),
            "loose branch" => format!("if (a->id < b->id) {up} else {down}"),
            "branch with a way out" => format!("{unequal} {{ if (a->id >= b->id) {down} else {up} }}"),
            "wrong branch" => format!("{unequal} {{ if (a->other < b->other) {up} else {down} }}"),
            "swap" => format!("{unequal} {{ if (a->id > b->id) {{ struct account *c = a; a = b; b = c; }} {up} }}"),
            _ => format!("if (a->id > b->id) {{ struct account *c = a; a = b; b = c; }} {up}"),
        };
        writeln!(text, "  {step}\n  return p;\n}}").expect("a string grows");
    }
    text += "int main(void) {\n  pthread_t h[2];\n";
    let has_equal = random.chance(30);
    for account in 0..3 {
        let id = if has_equal { random.below(2) } else { account + 1 };
        writeln!(text, "  all[{account}].id = {id}; all[{account}].other = {};", random.below(3)).expect("a string grows");
    }
    let changes = random.chance(20);
    // Which two accounts: the one in the lowest bits, the other one above.
    let chosen: Vec<u64> =
        (0..threads).map(|thread| if random.chance(85) { [4, 1][thread] } else { 2 + 4 * random.below(2) }).collect();
    let change = changes.then(|| format!("all[{}].id = {};", random.below(2), random.below(4))).unwrap_or_default();
    match bodies {
        1 => writeln!(
            text,
            "  for (long n = 0; n < 2; n++) {{ pthread_create(&h[n], 0, t0, (void *)(n ? {}L : {}L)); {change} }}",
            chosen[0], chosen[1]
        ),
        _ => writeln!(
            text,
            "  pthread_create(&h[0], 0, t0, (void *){}L); {change}\n  pthread_create(&h[1], 0, t1, (void *){}L);",
            chosen[0], chosen[1]
        ),
    }
    .expect("a string grows");
    forms.extend(has_equal.then_some("equal ids"));
    forms.extend(changes.then_some("changing ids"));
    for thread in 0..threads {
        writeln!(text, "  pthread_join(h[{thread}], 0);").expect("a string grows");
    }
    text += "  return 0;\n}\n";
    Elements { source: text, forms }
}
