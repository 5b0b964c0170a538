//! The JSON document, schema `lockcheck/1`.
//!
//! It is written piece by piece, one entry of a list a line: a large report needs no more memory than its largest entry. The ways to the ends of
//! findings make up most of a large one, and are few: beyond [`SHARED_BEYOND`] findings each stands once, in `traces`.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::findings::{End, Finding, HeldLock, Note, Protection, Refuted, Report, Statistics, TraceStep, Verdict};
use crate::program::{Assumption, Place};

/// With more findings than this, an end has `trace_at`, a position in `traces`, and an empty `trace`.
const SHARED_BEYOND: usize = 1000;

/// The whole document, with a final newline.
pub fn write(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let checks: Map<String, Value> =
        report.checks.iter().map(|(check, state)| (check.name().to_owned(), json!(state.name()))).collect();
    let mut traces = Traces { numbers: HashMap::new(), all: Vec::new(), is_shared: report.findings.len() > SHARED_BEYOND };
    writeln!(output, "{{\n\"schema\": \"lockcheck/1\",")?;
    writeln!(output, "\"tool\": {},", json!({"name": "lockcheck", "version": env!("CARGO_PKG_VERSION")}))?;
    writeln!(output, "\"inputs\": {},", json!(report.inputs))?;
    writeln!(output, "\"checks\": {},", Value::Object(checks))?;
    list(output, "findings", report.findings.iter().map(|one| finding(one, &mut traces)))?;
    list(output, "refuted", report.refuted.iter().map(|one| refuted(one, &mut traces)))?;
    if traces.is_shared {
        list(output, "traces", traces.all.iter().map(|trace| trace.iter().map(trace_step).collect()))?;
    }
    list(output, "protection", report.protection.iter().map(protection))?;
    list(output, "assumptions", report.assumptions.iter().map(assumption))?;
    list(output, "notes", report.notes.iter().map(note))?;
    list(output, "limits", report.limits.iter().map(|limit| json!(limit.to_string())))?;
    writeln!(output, "\"stats\": {}\n}}", statistics(&report.statistics))
}

/// `"key": [`, one entry a line, `],`.
fn list(output: &mut dyn Write, key: &str, entries: impl Iterator<Item = Value>) -> io::Result<()> {
    write!(output, "\"{key}\": [")?;
    let mut between = "\n";
    for entry in entries {
        output.write_all(between.as_bytes())?;
        serde_json::to_writer(&mut *output, &entry)?;
        between = ",\n";
    }
    writeln!(output, "],")
}

/// The ways to ends, each once.
struct Traces<'r> {
    numbers: HashMap<&'r [TraceStep], usize>,
    all: Vec<&'r [TraceStep]>,
    is_shared: bool,
}

impl<'r> Traces<'r> {
    fn number(&mut self, trace: &'r [TraceStep]) -> usize {
        let all = &mut self.all;
        *self.numbers.entry(trace).or_insert_with(|| {
            all.push(trace);
            all.len() - 1
        })
    }
}

fn finding<'r>(finding: &'r Finding, traces: &mut Traces<'r>) -> Value {
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
        "sites": finding.ends.iter().map(|one| end(one, traces)).collect::<Vec<_>>(),
        "protection": finding.protection,
        "schedule": schedule,
        "not_excluded": limits,
        "assumptions": finding.assumptions.iter().map(assumption).collect::<Vec<_>>(),
        "suppressed": finding.suppressed.is_some(),
        "suppression_reason": finding.suppressed,
    })
}

fn refuted<'r>(refuted: &'r Refuted, traces: &mut Traces<'r>) -> Value {
    json!({
        "rule": refuted.rule.name(),
        "object": refuted.object,
        "reason": refuted.reason.name(),
        "detail": refuted.detail,
        "count": refuted.count,
        "sites": refuted.ends.iter().map(|one| end(one, traces)).collect::<Vec<_>>(),
        "certificate": Value::Null,
    })
}

fn end<'r>(end: &'r End, traces: &mut Traces<'r>) -> Value {
    let mut object = Map::new();
    object.insert("thread".to_owned(), json!(end.thread));
    object.insert("role".to_owned(), json!(end.role.name()));
    object.insert("object".to_owned(), json!(end.object));
    insert_place(&mut object, end.place.as_ref());
    object.insert("function".to_owned(), json!(end.function));
    object.insert("locks".to_owned(), end.locks.iter().map(|HeldLock { name, .. }| json!(name)).collect());
    object.insert("taken".to_owned(), end.locks.iter().map(taken).collect());
    let own: Vec<Value> = if traces.is_shared { Vec::new() } else { end.trace.iter().map(trace_step).collect() };
    object.insert("trace".to_owned(), Value::Array(own));
    if traces.is_shared {
        object.insert("trace_at".to_owned(), json!(traces.number(&end.trace)));
    }
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
