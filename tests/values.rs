//! Values: terms, relative locks and branch facts, against concrete values: small programs in text form, executed by hand on all small inputs.

#[path = "values/branches.rs"]
mod branches;
#[path = "generator/random.rs"]
mod random;
#[path = "values/relative.rs"]
mod relative;
#[path = "values/terms.rs"]
mod terms;

use lockcheck::program::{Program, text};

/// A program from its globals and functions.
fn program(body: &str) -> Program {
    let sites: String = (0..4).map(|number| format!("site s{number} @main {number}\n")).collect();
    let (globals, functions): (Vec<&str>, Vec<&str>) =
        body.trim().lines().map(str::trim_end).partition(|line| line.trim_start().starts_with("global "));
    let text = format!(
        "lockcheck program 1\ntarget \"x86_64-pc-linux-gnu\" pointer 8\n{}\n{sites}{}\n",
        globals.join("\n"),
        functions.join("\n")
    );
    text::parse(&text).unwrap_or_else(|error| panic!("line {}: {}\n{text}", error.line, error.reason))
}
