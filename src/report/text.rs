//! The text report, in clang's manner: a warning line, the source with carets, one block a thread, and why the tool is sure.

use std::fmt::Write as _;
use std::io::{self, Write};

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::digest::{Common, Digest};
use super::source::{Sources, token_span};
use crate::findings::{Check, CheckState, End, Finding, HeldLock, Protection, Refuted, Report, Rule, Verdict};
use crate::program::Place;

/// In characters.
const LONGEST_HEADLINE: usize = 200;
/// Lines and objects of a group that are named.
const NAMED: usize = 5;

pub struct TextOptions {
    pub color: bool,
    /// How the inputs stand on a command line, for the hint how to replay.
    pub inputs: String,
    /// Every finding in full, however many there are, and what was refuted.
    pub verbose: bool,
    /// Findings and the last line only.
    pub quiet: bool,
}

/// All findings, the notes, and a last line that counts.
pub fn write(report: &Report, sources: &mut Sources, options: &TextOptions, output: &mut dyn Write) -> io::Result<()> {
    let shown: Vec<&Finding> = report.findings.iter().filter(|finding| finding.suppressed.is_none()).collect();
    let digest = match options.verbose {
        true => Digest { in_full: shown.clone(), groups: Vec::new() },
        false => Digest::of(&shown),
    };
    for finding in &digest.in_full {
        let mut text = String::new();
        render_finding(&mut text, finding, sources, options);
        writeln!(output, "{text}")?;
    }
    for group in &digest.groups {
        writeln!(output, "{}", group_line(group, options))?;
    }
    let mut text = String::new();
    if !digest.groups.is_empty() {
        let (in_full, all) = (digest.in_full.len(), shown.len());
        text.push_str(&format!(
            "\nnote: {in_full} of {all} findings are shown in full, the others by a line that they have in common; -v shows all in full, \
             --format json has all\n"
        ));
    }
    if !options.quiet {
        render_notes(&mut text, report, options);
    }
    writeln!(output, "{text}{}", summary(report))
}

/// `a.c:12: warning: 31 more possible findings with this line, on total and 2 more: with b.c:30, b.c:41 and 29 more lines [data-race]`
fn group_line(group: &Common<'_>, options: &TextOptions) -> String {
    let warning = warning(options);
    if let [finding] = group.findings.as_slice() {
        let position = position(finding);
        return format!("{position}: {warning} {} [{}]", headline(&finding.message), finding.rule.name());
    }
    let some = |names: Vec<String>, what: &str| match names.len() > NAMED {
        true => format!("{} and {} more {what}", names[..NAMED].join(", "), names.len() - NAMED),
        false => names.join(", "),
    };
    let objects = some(group.objects().into_iter().map(str::to_owned).collect(), "objects");
    let others: Vec<String> = group.others().iter().map(|(line, _)| format!("{}:{}", line.file, line.line)).collect();
    let with = if others.is_empty() { String::new() } else { format!(": with {}", some(others, "lines")) };
    let position = group.place.map_or(UNPLACED.to_owned(), |place| format!("{}:{}", place.file, place.line));
    format!(
        "{position}: {warning} {} more possible findings with this line, on {objects}{with} [{}]",
        group.findings.len(),
        group.rule.name()
    )
}

const UNPLACED: &str = "<no debug information>";

fn warning(options: &TextOptions) -> &'static str {
    if options.color { "\x1b[1;35mwarning:\x1b[0m" } else { "warning:" }
}

/// Where a finding is said to be.
fn position(finding: &Finding) -> String {
    finding.ends.iter().find_map(|end| end.place.as_ref()).map_or(UNPLACED.to_owned(), Place::to_string)
}

fn render_finding(text: &mut String, finding: &Finding, sources: &mut Sources, options: &TextOptions) {
    let (position, warning) = (position(finding), warning(options));
    push_line(text, &format!("{position}: {warning} {} [{}]", headline(&finding.message), finding.rule.name()));
    for file in files_of(finding) {
        if let Some(excerpt) = excerpt(&file, finding, sources, options) {
            push_line(text, excerpt.trim_end());
        }
    }
    for end in &finding.ends {
        render_end(text, end);
    }
    if let Some(protection) = &finding.protection {
        push_line(text, &format!("  {protection}"));
    }
    match &finding.verdict {
        Verdict::Confirmed { schedule } => {
            push_line(text, "  confirmed: this schedule was executed and replayed; step by step:");
            push_line(text, &format!("    lockcheck replay {schedule} {}", options.inputs));
        }
        Verdict::Possible { limits } => {
            let limits: Vec<String> = limits.iter().map(ToString::to_string).collect();
            push_line(text, &format!("  possible, not confirmed: {}", limits.join("; ")));
        }
    }
}

/// A message on one line that can be read at a glance: the rest of a very long one is in JSON.
fn headline(message: &str) -> String {
    let line = message.replace(['\n', '\r'], " ");
    match line.char_indices().nth(LONGEST_HEADLINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The files of the ends, each once, in order.
fn files_of(finding: &Finding) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for place in finding.ends.iter().filter_map(|end| end.place.as_ref()) {
        if !files.contains(&place.file) {
            files.push(place.file.clone());
        }
    }
    files
}

fn excerpt(file: &str, finding: &Finding, sources: &mut Sources, options: &TextOptions) -> Option<String> {
    let places = || finding.ends.iter().filter_map(|end| end.place.as_ref()).filter(|place| place.file == file);
    let first = places().map(|place| place.line).min()?;
    let last = places().map(|place| place.line).max()?;
    let source = sources.lines(file, first, last)?.to_owned();
    let mut annotations: Vec<Annotation<'_>> = Vec::new();
    for (index, end) in finding.ends.iter().enumerate() {
        let Some(place) = end.place.as_ref().filter(|place| place.file == file) else { continue };
        let span = span_in(&source, place.line - first, place.column)?;
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        annotations.push(kind.span(span).label(format!("{} by {}", end.role.name(), end.thread)));
    }
    let snippet = Snippet::source(source.as_str()).line_start(first as usize).fold(true).annotations(annotations);
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    Some(renderer.render(&[Group::with_level(Level::WARNING).element(snippet)]))
}

/// The bytes that a column of a line, counted from 0, points at.
fn span_in(source: &str, line: u32, column: u32) -> Option<std::ops::Range<usize>> {
    let mut lines = source.split_inclusive('\n');
    let line_start: usize = lines.by_ref().take(line as usize).map(str::len).sum();
    let span = token_span(lines.next()?.trim_end_matches(['\n', '\r']), column);
    Some(line_start + span.start..line_start + span.end)
}

fn render_end(text: &mut String, end: &End) {
    push_line(text, &format!("  thread {}", end.thread));
    if end.is_cut {
        push_line(text, "    … (one of several ways to get here)");
    }
    for step in &end.trace {
        let place = step.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
        push_line(text, &format!("    {place}{} in {}", step.event, step.function));
    }
    let place = end.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
    let object = if end.object.is_empty() { String::new() } else { format!(" {}", end.object) };
    push_line(text, &format!("    {place}{}{object} in {}, {}", end.role.name(), end.function, held(&end.locks)));
}

fn held(locks: &[HeldLock]) -> String {
    if locks.is_empty() {
        return "no lock held".to_owned();
    }
    let name = |lock: &HeldLock| match &lock.taken_at {
        Some(place) => format!("{} (taken at {place})", lock.name),
        None => lock.name.clone(),
    };
    format!("holding {}", locks.iter().map(name).collect::<Vec<_>>().join(", "))
}

fn render_notes(text: &mut String, report: &Report, options: &TextOptions) {
    for assumption in &report.assumptions {
        let place = assumption.place.as_ref().map_or("note".to_owned(), |place| format!("{place}: note"));
        push_line(text, &format!("{place}: assumed [{}]: {}", assumption.kind.name(), assumption.what));
    }
    for note in &report.notes {
        let place = note.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
        push_line(text, &format!("{place}note: {} [{}]", note.message, note.kind.name()));
    }
    let count_of = |rule: Rule| report.refuted.iter().filter(|refuted| refuted.rule == rule).map(|refuted| refuted.count).sum();
    let is_safe = |check: Check| report.checks.get(&check) == Some(&CheckState::Safe);
    let hint = if options.verbose { "" } else { " (-v says what)" };
    let pairs: u64 = count_of(Rule::DataRace);
    if is_safe(Check::Race) && pairs > 0 {
        let what = if pairs == 1 { "the one conflicting pair".to_owned() } else { format!("each of {pairs} conflicting pairs") };
        push_line(text, &format!("note: no data race: something keeps {what} of accesses apart{hint}"));
    }
    let cycles: u64 = count_of(Rule::Deadlock);
    if is_safe(Check::Deadlock) && cycles > 0 {
        let what = if cycles == 1 { "the one cycle".to_owned() } else { format!("each of {cycles} cycles") };
        push_line(text, &format!("note: no deadlock: something keeps threads from closing {what} in the order of locks{hint}"));
    }
    for limit in &report.limits {
        push_line(text, &format!("note: not complete: {limit}"));
    }
    if options.verbose {
        for finding in report.findings.iter() {
            let Some(reason) = &finding.suppressed else { continue };
            let place =
                finding.ends.iter().find_map(|end| end.place.as_ref()).map_or(String::new(), |place| format!("{place}: "));
            push_line(text, &format!("{place}note: suppressed: {} [{}]: {reason}", finding.message, finding.rule.name()));
        }
        for refuted in &report.refuted {
            push_line(text, &format!("note: {}", refuted_line(refuted)));
        }
        for protection in &report.protection {
            push_line(text, &format!("note: {}", protection_line(protection)));
        }
        let statistics = &report.statistics;
        push_line(text, &format!("note: {} executions, {} transitions", statistics.executions, statistics.transitions));
    }
}

fn refuted_line(refuted: &Refuted) -> String {
    let what = match (refuted.rule, refuted.count) {
        (Rule::Deadlock, 1) => "cycle in the order of locks",
        (Rule::Deadlock, _) => "cycles in the order of locks",
        (_, 1) => "pair of accesses",
        _ => "pairs of accesses",
    };
    format!(
        "no {} on {} ({} {what}) [{}]: {}",
        refuted.rule.name(),
        refuted.object,
        refuted.count,
        refuted.reason.name(),
        refuted.detail
    )
}

/// `total`: 12 accesses, `m` held at 11 of them; not at a.c:40
fn protection_line(protection: &Protection) -> String {
    let Protection { object, accesses, locks, without } = protection;
    let mut line = format!("`{object}`: {accesses} {}", if *accesses == 1 { "access" } else { "accesses" });
    let held = |(lock, count): &(String, u64)| match *count == *accesses {
        true => format!("`{lock}` held at all of them"),
        false => format!("`{lock}` held at {count} of them"),
    };
    let rows: Vec<String> = if locks.is_empty() { vec!["no lock".to_owned()] } else { locks.iter().map(held).collect() };
    let _ = write!(line, ", {}", rows.join(", "));
    if !without.is_empty() && !locks.is_empty() {
        let places: Vec<String> = without.iter().map(|place| format!("{}:{}", place.file, place.line)).collect();
        let _ = write!(line, "; not at {}", places.join(", "));
    }
    line
}

/// The last line: how many of each.
fn summary(report: &Report) -> String {
    let shown = || report.findings.iter().filter(|finding| finding.suppressed.is_none());
    let confirmed = shown().filter(|finding| matches!(finding.verdict, Verdict::Confirmed { .. })).count();
    let possible = shown().count() - confirmed;
    let refuted: u64 = report.refuted.iter().map(|refuted| refuted.count).sum();
    let mut line =
        format!("{confirmed} confirmed, {possible} possible, {refuted} refuted, {} assumptions", report.assumptions.len());
    let suppressed = report.findings.len() - shown().count();
    if suppressed > 0 {
        let _ = write!(line, ", {suppressed} suppressed");
    }
    if !report.is_complete() {
        line.push_str(" (not complete)");
    }
    line
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
