//! The grammar of claims, and that the runner notices each way in which claims and findings can disagree.

mod claims;

use claims::{Engine, Seen, disagreements, parse};

fn seen(kind: &str, lines: &[u32], is_confirmed: bool) -> Seen {
    let ends = lines.iter().map(|line| (*line, "write".to_owned(), "x".to_owned())).collect();
    Seen { kind: kind.to_owned(), lines: lines.iter().copied().collect(), is_confirmed, ends }
}

const TWO_ENDS: &str = "//@ check: race\nx++; //~ race A: write x\ny; //~ no race: private\nx++;\n//~^ race A: write x\n";

#[test]
fn what_is_not_grammar_is_an_error() {
    for source in [
        "int x;",
        "//@ clean\nx++; //~ race A: write x",
        "//~ rcae A: write x",
        "//~ race: write x",
        "//~ race A",
        "//~ race A, maybe: write x",
        "//~ race A B: write x",
        "//~ race A, missed: write x",
        "//@ clean\n//@ clean",
        "//@ cleen",
    ] {
        assert!(parse(source, false).is_err(), "{source}");
    }
    assert!(parse("//~ race A, missed: write x", true).is_ok());
    assert!(parse("//@ clean\n", false).is_ok());
}

#[test]
fn agreement_is_silent() {
    let expectations = parse(TWO_ENDS, false).unwrap();
    assert!(disagreements(&expectations, &[seen("race", &[2, 4], true)], |_| Engine::Execution).is_empty());
}

#[test]
fn each_disagreement_is_noticed() {
    let expectations = parse(TWO_ENDS, false).unwrap();
    let complaints = |findings: &[Seen]| disagreements(&expectations, findings, |_| Engine::Execution).len();
    assert_eq!(complaints(&[]), 1, "not found");
    let misnamed = |role: &str, object: &str| {
        let mut finding = seen("race", &[2, 4], true);
        finding.ends[1] = (4, role.to_owned(), object.to_owned());
        complaints(&[finding])
    };
    assert_eq!(misnamed("write", "x[3].y"), 0, "part of x");
    assert_eq!(misnamed("read", "x"), 1, "other role");
    assert_eq!(misnamed("write", "xy"), 1, "other object");
    assert_eq!(complaints(&[seen("race", &[2, 4], false)]), 1, "not confirmed");
    assert_eq!(complaints(&[seen("race", &[2, 4], true), seen("deadlock", &[2], true)]), 1, "not claimed");
    assert_eq!(complaints(&[seen("race", &[2, 4], true), seen("race", &[2], true)]), 1, "other ends");
    assert_eq!(complaints(&[seen("race", &[2, 4], true), seen("race", &[3], true)]), 2, "not claimed, and denied");
}

#[test]
fn without_an_engine_only_what_is_found_is_judged() {
    let expectations = parse(TWO_ENDS, false).unwrap();
    assert!(disagreements(&expectations, &[], |_| Engine::None).is_empty());
    assert_eq!(disagreements(&expectations, &[seen("race", &[9], true)], |_| Engine::None).len(), 1);
}

#[test]
fn a_static_engine_must_report_what_no_execution_shows() {
    let expectations = parse("x++; //~ race A, unconfirmed: write x\n", false).unwrap();
    assert!(disagreements(&expectations, &[], |_| Engine::Execution).is_empty());
    assert_eq!(disagreements(&expectations, &[], |_| Engine::Static).len(), 1);
    assert!(disagreements(&expectations, &[seen("race", &[1], false)], |_| Engine::Static).is_empty());
}
