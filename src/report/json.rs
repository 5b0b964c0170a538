//! The JSON document, schema `lockcheck/1`.

use serde_json::{Map, Value, json};

use crate::findings::{End, Finding, HeldLock, Note, Protection, Refuted, Report, Statistics, TraceStep, Verdict};
use crate::program::{Assumption, Place};

/// The whole document, with a final newline.
pub fn render(report: &Report) -> String {
    let checks: Map<String, Value> =
        report.checks.iter().map(|(check, state)| (check.name().to_owned(), json!(state.name()))).collect();
    let document = json!({
        "schema": "lockcheck/1",
        "tool": {"name": "lockcheck", "version": env!("CARGO_PKG_VERSION")},
        "inputs": report.inputs,
        "checks": checks,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "protection": report.protection.iter().map(protection).collect::<Vec<_>>(),
        "refuted": report.refuted.iter().map(refuted).collect::<Vec<_>>(),
        "assumptions": report.assumptions.iter().map(assumption).collect::<Vec<_>>(),
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
        "limits": report.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "stats": statistics(&report.statistics),
    });
    let mut text = serde_json::to_string_pretty(&document).expect("a document of maps with string keys can be written");
    text.push('\n');
    text
}

fn finding(finding: &Finding) -> Value {
    let (schedule, limits) = match &finding.verdict {
        Verdict::Confirmed { schedule } => (json!(schedule), Vec::new()),
        Verdict::Possible { limits } => (Value::Null, limits.iter().map(ToString::to_string).collect()),
    };
    json!({
        "id": finding.id,
        "rule": finding.rule.name(),
        "verdict": finding.verdict.name(),
        "message": finding.message,
        "object": finding.object,
        "sites": finding.ends.iter().map(end).collect::<Vec<_>>(),
        "protection": finding.protection,
        "schedule": schedule,
        "not_excluded": limits,
        "assumptions": finding.assumptions.iter().map(assumption).collect::<Vec<_>>(),
        "suppressed": finding.suppressed.is_some(),
        "suppression_reason": finding.suppressed,
    })
}

fn refuted(refuted: &Refuted) -> Value {
    json!({
        "rule": refuted.rule.name(),
        "object": refuted.object,
        "reason": refuted.reason.name(),
        "detail": refuted.detail,
        "count": refuted.count,
        "sites": refuted.ends.iter().map(end).collect::<Vec<_>>(),
        "certificate": Value::Null,
    })
}

fn end(end: &End) -> Value {
    let mut object = Map::new();
    object.insert("thread".to_owned(), json!(end.thread));
    object.insert("role".to_owned(), json!(end.role.name()));
    object.insert("object".to_owned(), json!(end.object));
    insert_place(&mut object, end.place.as_ref());
    object.insert("function".to_owned(), json!(end.function));
    object.insert("locks".to_owned(), end.locks.iter().map(|HeldLock { name, .. }| json!(name)).collect());
    object.insert("taken".to_owned(), end.locks.iter().map(taken).collect());
    object.insert("trace".to_owned(), end.trace.iter().map(trace_step).collect());
    object.insert("truncated".to_owned(), json!(end.is_cut));
    Value::Object(object)
}

/// Where a lock that is held was taken; null where no one place is known.
fn taken(lock: &HeldLock) -> Value {
    let mut object = Map::new();
    object.insert("lock".to_owned(), json!(lock.name));
    insert_place(&mut object, lock.taken_at.as_ref());
    Value::Object(object)
}

fn protection(protection: &Protection) -> Value {
    let lock = |(name, count): &(String, u64)| json!({"name": name, "accesses": count});
    json!({
        "object": protection.object,
        "accesses": protection.accesses,
        "locks": protection.locks.iter().map(lock).collect::<Vec<_>>(),
        "without": protection.without.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn trace_step(step: &TraceStep) -> Value {
    let mut object = Map::new();
    insert_place(&mut object, step.place.as_ref());
    object.insert("function".to_owned(), json!(step.function));
    object.insert("event".to_owned(), json!(step.event));
    Value::Object(object)
}

fn assumption(assumption: &Assumption) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(assumption.kind.name()));
    object.insert("what".to_owned(), json!(assumption.what));
    if let Some(Place { file, line, .. }) = &assumption.place {
        object.insert("file".to_owned(), json!(file));
        object.insert("line".to_owned(), json!(line));
    }
    Value::Object(object)
}

fn note(note: &Note) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(note.kind.name()));
    object.insert("message".to_owned(), json!(note.message));
    insert_place(&mut object, note.place.as_ref());
    Value::Object(object)
}

/// `file`, `line` and `column`, or null where debug information is missing.
fn insert_place(object: &mut Map<String, Value>, place: Option<&Place>) {
    object.insert("file".to_owned(), json!(place.map(|place| &place.file)));
    object.insert("line".to_owned(), json!(place.map(|place| place.line)));
    object.insert("column".to_owned(), json!(place.map(|place| place.column)));
}

fn statistics(statistics: &Statistics) -> Value {
    let (seconds, mebibytes) = (&statistics.seconds, &statistics.mebibytes);
    let round = |value: f64| (value * 1e4).round() / 1e4;
    json!({
        "functions": statistics.functions,
        "threads": statistics.threads,
        "locks": statistics.locks,
        "objects": {
            "thread_local": statistics.objects.thread_local, "only_read": statistics.objects.only_read, "only_atomic": statistics.objects.only_atomic,
        },
        "seconds": {
            "load": round(seconds.load), "facts": round(seconds.facts), "engines": round(seconds.engines),
            "refine": round(seconds.refine), "explore": round(seconds.explore),
        },
        "mebibytes": {
            "load": mebibytes.load, "facts": mebibytes.facts, "engines": mebibytes.engines, "explore": mebibytes.explore,
        },
        "executions": statistics.executions,
        "transitions": statistics.transitions,
        "states": statistics.states,
        "peak_rss_mib": statistics.peak_rss_mib,
    })
}
