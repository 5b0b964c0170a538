//! What is not built yet answers with exit code 2 and one sentence that names it.

use super::support::{Scratch, clean};

#[test]
fn each_answers_with_one_sentence() {
    let scratch = Scratch::with(&clean());
    scratch.write("report.json", "{}");
    let cases: [(&[&str], &str); 16] = [
        (&["prog.c", "--format", "sarif"], "sarif"),
        (&["prog.c", "--format", "html", "--output", "r.html"], "html"),
        (&["prog.c", "--format", "witness"], "witness"),
        (&["prog.c", "--format", "text", "--format", "sarif", "--output", "r.sarif"], "sarif"),
        (&["certify", "report.json", "prog.c"], "certify"),
        (&["emit", "program", "--dot", "prog.c"], "--dot"),
        (&["explore", "--strategy", "dpor", "prog.c"], "dpor"),
        (&["explore", "--strategy", "optimal", "prog.c"], "optimal"),
        (&["explore", "--strategy", "pdp", "prog.c"], "pdp"),
        (&["explore", "--strategy", "stateful", "prog.c"], "stateful"),
        (&["explore", "--format", "sarif", "prog.c"], "sarif"),
        (&["prog.c", "--baseline", "b.json"], "--baseline"),
        (&["prog.c", "--write-baseline", "b.json"], "--write-baseline"),
        (&["prog.c", "--memory", "100"], "--memory"),
        (&["prog.c", "--check", "property"], "--check property"),
        (&["queue.model.yaml", "--format", "json"], "--format"),
    ];
    scratch.write("queue.model.yaml", "threads: {one: [skip]}\nqueries: [{deadlock: true}]\n");
    for (arguments, what) in cases {
        scratch.lockcheck(arguments).expect_refusal(&[what, "not built yet"]);
    }
    for name in ["b.json", "r.html", "r.sarif", "prog.bc"] {
        assert!(!scratch.path(name).exists(), "{name} was written");
    }
}
