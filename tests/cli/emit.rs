//! `lockcheck emit program`: its text is an input again, and the same program; `lockcheck emit threads`: names as in findings.

use super::support::{RACING, Scratch, list, uncertain};

#[test]
fn what_is_emitted_has_the_same_findings() {
    for program in [RACING.to_owned(), uncertain()] {
        let scratch = Scratch::with(&program);
        let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).expect(0).stdout;
        assert!(emitted.starts_with("lockcheck program 1\n"), "{emitted}");
        scratch.write("prog.lc", &emitted);
        let again = scratch.lockcheck(&["prog.lc", "--format", "json"]).expect(1).json();
        let first = scratch.report(&[]);
        for key in ["checks", "findings", "refuted", "assumptions", "limits"] {
            assert_eq!(first[key], again[key], "{key}");
        }
        assert_eq!(scratch.lockcheck(&["emit", "program", "prog.lc"]).expect(0).stdout, emitted);
    }
}

#[test]
fn a_schedule_belongs_to_the_text_as_well() {
    let scratch = Scratch::with(RACING);
    let report = scratch.report(&[]);
    let token = list(&report, "findings")[0]["schedule"].as_str().expect("a schedule").to_owned();
    scratch.write("prog.lc", &scratch.lockcheck(&["emit", "program", "prog.c"]).stdout);
    scratch.lockcheck(&["replay", &token, "prog.lc"]).expect(1);
}

#[test]
fn a_library_can_be_emitted() {
    let scratch = Scratch::with("int twice(int x) { return 2 * x; }\n");
    let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).expect(0).stdout;
    assert!(emitted.contains("twice"), "{emitted}");
    scratch.lockcheck(&["prog.c"]).expect_refusal(&["main", "--entry"]);
}

#[test]
fn a_damaged_text_is_refused_with_its_line() {
    let scratch = Scratch::with(RACING);
    let emitted = scratch.lockcheck(&["emit", "program", "prog.c"]).stdout;
    let line = emitted.lines().position(|line| line.starts_with("global ")).expect("a global") + 1;
    scratch.write("prog.lc", &emitted.replacen("global ", "globule ", 1));
    scratch.lockcheck(&["prog.lc"]).expect_refusal(&[&format!("prog.lc:{line}:")]);
    scratch.write("prog.lc", &emitted);
    scratch.lockcheck(&["prog.lc", "prog.c"]).expect_refusal(&["prog.lc", "alone"]);
}

#[test]
fn threads_have_the_names_that_findings_use() {
    let scratch = Scratch::with(RACING);
    let threads = scratch.lockcheck(&["emit", "threads", "prog.c"]).expect(0).stdout;
    let heads: Vec<&str> = threads.lines().filter(|line| !line.starts_with(' ')).collect();
    for finding in list(&scratch.report(&[]), "findings") {
        for site in list(finding, "sites") {
            let name = site["thread"].as_str().expect("a name").to_owned();
            let plain = name.split('#').next().expect("a name before the number");
            assert!(heads.iter().any(|head| head.split('#').next() == Some(plain)), "{name} is not in:\n{threads}");
        }
    }
    for key in ["entry", "created", "instances", "joined", "beside"] {
        assert!(threads.lines().any(|line| line.trim_start().starts_with(key)), "no {key} in:\n{threads}");
    }
}

#[test]
fn threads_can_be_drawn() {
    let scratch = Scratch::with(RACING);
    let graph = scratch.lockcheck(&["emit", "threads", "--dot", "prog.c"]).expect(0).stdout;
    assert!(graph.starts_with("digraph threads {") && graph.contains(" -> ") && graph.contains("label=\"main\""), "{graph}");
}

const MODEL: &str = "locks: {a: mutex, b: mutex, m: rw}
threads:
  one: [acquire a, acquire b, release a, s: acquire m shared, release m, release b]
  two: [acquire b, acquire a, release a, release b]
queries:
  - {reachable: [one@s], expect: true}
";

#[test]
fn the_systems_of_a_model_are_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let pds = scratch.lockcheck(&["emit", "pds", "order.model.yaml"]).expect(0).stdout;
    for line in
        ["lock m: read-write", "thread one: 1 at the start", "line 3: acquire m shared", "-> 4 [acquire m shared]", "return"]
    {
        assert!(pds.contains(line), "{line} is missing:\n{pds}");
    }
    let graph = scratch.lockcheck(&["emit", "pds", "--dot", "order.model.yaml"]).expect(0).stdout;
    assert!(graph.starts_with("digraph pds {") && graph.contains("t1s0 -> t1s1 [label=\"acquire b\"];"), "{graph}");
}

#[test]
fn the_histories_of_a_model_are_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let text = scratch.lockcheck(&["emit", "histories", "order.model.yaml"]).expect(0).stdout;
    let lines = [
        "thread one, there at the start: locks are not nested, but given back by who took them; out of order at line 3: release a",
        "thread two, there at the start: locks are nested",
        "holds a (then used b); holds b",
        "holds b; used a; not sure: locks are not nested",
        "holds b (then used m shared); used a, m shared; not sure: locks are not nested",
    ];
    for line in lines {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
}

#[test]
fn the_lock_order_of_a_model_is_shown() {
    let scratch = Scratch::new();
    scratch.write("order.model.yaml", MODEL);
    let text = scratch.lockcheck(&["emit", "lock-order", "order.model.yaml"]).expect(0).stdout;
    let lines = [
        "a before b  (part of a cycle)\n  one, line 3: acquire b",
        "b before m shared\n",
        "deadlock\n",
        "  two holds b and waits for a: line 4: acquire a",
    ];
    for line in lines {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
    let graph = scratch.lockcheck(&["emit", "lock-order", "--dot", "order.model.yaml"]).expect(0).stdout;
    assert!(graph.contains("\"b\" -> \"a\" [label=\"two, line 4: acquire a\", color=red];"), "{graph}");
}
