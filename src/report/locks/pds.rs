//! One pushdown system a thread, rule by rule.

use std::fmt::Write;

use super::{Places, atom_word, quoted, step_words};
use crate::pushdown::{Replacement, SymbolId};
use crate::thread_pds::{Identity, LockKind, MANY, ThreadSystem, Threads};

/// A line for each lock, then the rules of each thread: where it stands, what it does, where it goes.
pub fn pds(threads: &Threads, places: Places<'_>) -> String {
    let mut text = String::new();
    for lock in threads.locks.ids() {
        let known = threads.locks.lock(lock);
        let kind = match known.kind {
            LockKind::Mutex => "mutex",
            LockKind::Recursive => "recursive",
            LockKind::ErrorCheck => "error-checking",
            LockKind::ReadWrite => "read-write",
        };
        let identity = match &known.identity {
            Identity::One => String::new(),
            Identity::Many => ", any number of them".to_owned(),
            Identity::OneOf(locks) => {
                let names: Vec<&str> = locks.iter().map(|lock| threads.locks.name(*lock)).collect();
                format!(", one of {}", names.join(", "))
            }
        };
        writeln!(text, "lock {}: {kind}{identity}", known.name).expect("a string grows");
    }
    for thread in threads.ids() {
        let body = threads.thread(thread);
        let held: Vec<String> = body.holds.iter().map(|atom| atom_word(threads, *atom)).collect();
        let holds = if held.is_empty() { String::new() } else { format!(", holds {}", held.join(", ")) };
        writeln!(
            text,
            "\nthread {}: {}{holds}; {} symbols, {} rules, begins at {}",
            body.name,
            instances(body),
            body.system.symbol_count(),
            body.system.rules().len(),
            body.start.symbol.0
        )
        .expect("a string grows");
        for symbol in (0..body.system.symbol_count()).map(SymbolId::from) {
            writeln!(text, "  {:<4} {}{}", symbol.0, places(thread, symbol), access_words(body, symbol)).expect("a string grows");
            for (rule, step) in body.steps_at(symbol) {
                let rule = body.system.rule(rule);
                let step = step_words(threads, step);
                let step = if step.is_empty() { step } else { format!(" [{step}]") };
                let control = match body.system.control_count() {
                    0 | 1 => String::new(),
                    _ => format!(" ({} to {})", rule.from.control.0, rule.to.0),
                };
                let target = match rule.replacement {
                    Replacement::Pop => "return".to_owned(),
                    Replacement::Step(to) => format!("-> {}", to.0),
                    Replacement::Push { callee, resume } => format!("call {}, then {}", callee.0, resume.0),
                };
                writeln!(text, "       {target}{step}{control}").expect("a string grows");
            }
        }
    }
    text
}

fn access_words(body: &ThreadSystem, symbol: SymbolId) -> String {
    let Some(access) = body.accesses.get(&symbol) else { return String::new() };
    let atomic = if access.is_atomic { "atomic " } else { "" };
    format!(" ({atomic}{} of object {})", if access.is_write { "write" } else { "read" }, access.object)
}

/// How many there are.
fn instances(body: &ThreadSystem) -> String {
    match (body.instances, body.created) {
        (at_start, 0) => format!("{at_start} at the start"),
        (_, MANY) => "any number created".to_owned(),
        (_, created) => format!("{created} created"),
    }
}

/// A graph: symbols, their steps, calls dashed, and where a call goes on dotted.
pub fn pds_dot(threads: &Threads, places: Places<'_>) -> String {
    let mut text = "digraph pds {\n  node [shape=box, fontname=monospace];\n".to_owned();
    for thread in threads.ids() {
        let body = threads.thread(thread);
        let node = |symbol: SymbolId| format!("t{}s{}", thread.0, symbol.0);
        writeln!(text, "  subgraph cluster_{} {{\n    label={};", thread.0, quoted(&body.name)).expect("a string grows");
        for symbol in (0..body.system.symbol_count()).map(SymbolId::from) {
            let start = if symbol == body.start.symbol { ", penwidth=2" } else { "" };
            writeln!(text, "    {} [label={}{start}];", node(symbol), quoted(&places(thread, symbol))).expect("a string grows");
        }
        for (_, rule) in body.system.rules() {
            let from = node(rule.from.symbol);
            let label = quoted(&step_words(threads, rule.weight));
            let line = match rule.replacement {
                Replacement::Pop => continue,
                Replacement::Step(to) => format!("    {from} -> {} [label={label}];", node(to)),
                Replacement::Push { callee, resume } => {
                    let (callee, resume) = (node(callee), node(resume));
                    format!("    {from} -> {callee} [style=dashed, label={label}];\n    {from} -> {resume} [style=dotted];")
                }
            };
            writeln!(text, "{line}").expect("a string grows");
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}
