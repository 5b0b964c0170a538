//! Bad models: the error names the line and what to do.

use lockcheck::thread_model::ThreadModel;

#[track_caller]
fn refused(text: &str, line: usize, said: &str) {
    let error = ThreadModel::parse(text).expect_err("the model is wrong");
    assert!(error.line == line && error.reason.contains(said), "expected line {line} and `{said}`, found {error}");
}

#[test]
fn names_must_be_known() {
    refused("locks: [a]\nthreads:\n  t:\n    - acquire b\n", 4, "`locks:`");
    refused("variables: [x]\nthreads:\n  t:\n    - read x\n    - read y\n", 5, "`variables:`");
    refused("threads:\n  t:\n    - call p\n", 3, "no procedure `p`");
    refused("threads:\n  t:\n    - spawn u\n", 3, "no thread `u`");
    refused("threads:\n  t:\n    - goto n\n", 3, "no label `n`");
    refused("threads:\n  t: [n: skip]\nqueries:\n  - {reachable: [t@m], expect: true}\n", 4, "label `m`");
    refused("threads:\n  t: [skip]\nqueries:\n  - {race: x, expect: true}\n", 4, "`x`");
    refused("threads:\n  t: [skip]\nlokcs: [a]\n", 3, "`lokcs`");
}

#[test]
fn names_are_given_once() {
    refused("threads:\n  t:\n    - n: skip\n    - label n\n", 4, "twice");
    refused("procedures:\n  p: []\nthreads:\n  t: {procedures: {p: []}}\n", 4, "`p` already");
    refused("threads:\n  t:\n    procedures:\n      p: [n: call q]\n      q: [n: skip]\n", 2, "label `n`");
    refused("locks: [a, a]\nthreads: {t: []}\n", 1, "`a` already");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    refused("locks: {a: mutex}\nthreads:\n  t: [acquire a shared]\n", 3, "a: rw");
    refused("locks: {a: spin}\nthreads: {t: []}\n", 1, "mutex, recursive, rw");
    refused("threads:\n  t:\n    - write x\n    - assume x == 1\n", 3, "assign x");
    refused("threads:\n  t: [join u]\n  u: []\n", 2, "never spawns");
    refused("threads:\n  t: [spawn t]\n", 2, "instances: 1");
    refused("threads: {}\n", 1, "`threads:`");
    refused("threads:\n  t: {holds: [a], steps: []}\n  u: {holds: [a], steps: []}\n", 3, "held already");
    refused("threads:\n  t: {instances: 2, holds: [a], steps: []}\n", 2, "one instance");
    refused("threads:\n  t: {steps: [], procedures: {}}\n", 2, "not both");
    refused("threads:\n  t: [skip]\nqueries:\n  - {deadlock: false}\n", 4, "expect: false");
    refused("threads:\n  t: [n: skip]\nqueries:\n  - {reachable: [t], expect: true}\n", 4, "thread@label");
    refused("threads:\n  t: [n: skip]\nqueries:\n  - {expect: true}\n", 4, "one thing");
    refused("threads:\n  t: [acquire: a]\n", 2, "label");
    refused("threads:\n  t: [skip\n", 3, "line 3");
}
