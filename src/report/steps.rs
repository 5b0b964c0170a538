//! One run as a table: a column a thread, a row a step, with source lines, locks held and values. A bug is a line of its own, right
//! behind the step that makes it visible.

use super::source::Sources;
use crate::findings::{Step, StepKind};

const NARROWEST: usize = 24;
const WIDEST: usize = 44;

/// The steps in columns. Each row says where, what, and which locks are held after it.
pub fn render(steps: &[Step], sources: &mut Sources, color: bool) -> String {
    let columns = steps.iter().map(|step| step.thread as usize + 1).max().unwrap_or(0);
    let mut names = vec![String::new(); columns];
    let mut widths = vec![NARROWEST; columns];
    for step in steps {
        let column = step.thread as usize;
        if matches!(step.kind, StepKind::Bug { .. }) {
            continue;
        }
        names[column].clone_from(&step.thread_name);
        let width = describe(&step.kind).chars().count().max(step.thread_name.chars().count());
        widths[column] = widths[column].max(width).min(WIDEST);
    }
    let mut text = row("step", &names, &widths, "source");
    text.push_str(&row("----", &widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>(), &widths, "------"));
    let mut number = 0;
    for step in steps {
        if let StepKind::Bug { message } = &step.kind {
            let (begin, end) = if color { ("\x1b[1;35m", "\x1b[0m") } else { ("", "") };
            text.push_str(&format!("{begin} >>> {message}{end}\n"));
            continue;
        }
        number += 1;
        let mut cells = vec![String::new(); columns];
        cells[step.thread as usize] = describe(&step.kind);
        text.push_str(&row(&number.to_string(), &cells, &widths, &source_of(step, sources)));
    }
    text
}

fn row(number: &str, cells: &[String], widths: &[usize], source: &str) -> String {
    let mut line = format!("{number:>4}");
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(&format!(" | {cell:<width$}"));
    }
    line.push_str(" | ");
    line.push_str(source);
    let mut line = line.trim_end().to_owned();
    line.push('\n');
    line
}

fn source_of(step: &Step, sources: &mut Sources) -> String {
    let Some(place) = &step.place else { return step.function.clone() };
    let line = sources.line(place).map(|line| line.trim().to_owned()).unwrap_or_default();
    let held = if step.held.is_empty() { String::new() } else { format!("  holds {}", step.held.join(", ")) };
    format!("{place} {line}{held}")
}

/// One step in a few words.
pub fn describe(kind: &StepKind) -> String {
    match kind {
        StepKind::Read { object, value } => format!("reads {object} = {value}"),
        StepKind::Write { object, value } => format!("writes {object} = {value}"),
        StepKind::Acquire { lock } => format!("takes {lock}"),
        StepKind::Release { lock } => format!("releases {lock}"),
        StepKind::Blocked { on } => format!("waits in {on}"),
        StepKind::Create { thread } => format!("creates {thread}"),
        StepKind::Join { thread } => format!("joins {thread}"),
        StepKind::Output { text } => format!("prints {text:?}"),
        StepKind::Input { what, value } => format!("{what} gives {value}"),
        StepKind::Bug { message } => message.clone(),
        StepKind::End => "ends".to_owned(),
        StepKind::Other { what } => what.clone(),
    }
}
