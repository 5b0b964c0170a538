//! Suppressions in the source: `// NOLINT(lockcheck-data-race): reason`, `NOLINTNEXTLINE`, `NOLINTBEGIN` … `NOLINTEND`.
//!
//! A finding is suppressed when any of its ends stands on a suppressed line; it stays in the report, marked. The list holds names of
//! several tools, and globs; those that begin with `lockcheck-` are ours. Without a list a marker is for every tool, so an unused one
//! is nobody's mistake; one of ours that suppresses nothing is a note.

mod comments;
mod directive;

use std::collections::BTreeSet;

use super::source::Sources;
use crate::config::glob;
use crate::findings::{Check, Finding, Note, NoteKind, Report, Rule};
use crate::program::{Place, Program};
use directive::{Directive, Names, Scope};

/// What our names begin with.
const PREFIX: &str = "lockcheck-";

/// Lines of a file on which findings are suppressed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Suppression {
    /// Where the marker stands.
    place: Place,
    scope: Scope,
    names: Names,
    reason: Option<String>,
    /// First and last line, both suppressed.
    lines: (u32, u32),
}

/// Marks the findings that the sources suppress, and adds notes about suppressions that do nothing.
pub fn apply(report: &mut Report, program: &Program, sources: &mut Sources) {
    let files: BTreeSet<String> = program.files.iter().map(|file| file.path()).collect();
    let mut suppressions = Vec::new();
    for file in files {
        if let Some(source) = sources.text(&file) {
            suppressions.extend(read(&file, source, &mut report.notes));
        }
    }
    let mut used: BTreeSet<(usize, usize)> = BTreeSet::new();
    for finding in &mut report.findings {
        for (number, suppression) in suppressions.iter().enumerate() {
            let Some(name) = suppression.name_of(finding.rule).filter(|_| suppression.covers(finding)) else { continue };
            used.insert((number, name));
            finding.suppressed.get_or_insert_with(|| suppression.words());
        }
    }
    let asked: Vec<Check> = report.checks.keys().copied().collect();
    for (number, suppression) in suppressions.iter().enumerate() {
        report.notes.extend(suppression.complaints(&asked, |name| used.contains(&(number, name))));
    }
    report.notes.sort_by_key(|note| (note.place.clone(), note.kind, note.message.clone()));
}

/// The suppressions of one file.
fn read(file: &str, source: &str, notes: &mut Vec<Note>) -> Vec<Suppression> {
    let mut suppressions = Vec::new();
    let mut open: Vec<Suppression> = Vec::new();
    for piece in comments::comments(source) {
        for Directive { scope, names, reason, offset } in directive::directives(piece.text) {
            let place = Place { file: file.to_owned(), line: piece.line, column: piece.column + offset as u32 };
            let line = match scope {
                Scope::NextLine => piece.line + 1,
                Scope::ThisLine | Scope::Begin | Scope::End => piece.line,
            };
            let suppression = Suppression { place, scope, names, reason, lines: (line, line) };
            match scope {
                _ if suppression.names == Names::Unclosed => notes.push(suppression.broken("its list is not closed")),
                Scope::ThisLine | Scope::NextLine => suppressions.push(suppression),
                Scope::Begin => open.push(suppression),
                Scope::End => match open.iter().rposition(|begin| begin.names == suppression.names) {
                    Some(begin) => {
                        let begin = open.remove(begin);
                        suppressions.push(Suppression { lines: (begin.lines.0, piece.line), ..begin });
                    }
                    None if suppression.is_ours() => {
                        notes.push(suppression.broken("no NOLINTBEGIN with the same list stands before it"))
                    }
                    None => {}
                },
            }
        }
    }
    notes.extend(
        open.iter().filter(|begin| begin.is_ours()).map(|begin| begin.broken("no NOLINTEND with the same list follows it")),
    );
    suppressions.sort_by_key(|suppression| suppression.place.clone());
    suppressions
}

impl Suppression {
    fn covers(&self, finding: &Finding) -> bool {
        let is_covered = |place: &Place| place.file == self.place.file && (self.lines.0..=self.lines.1).contains(&place.line);
        finding.ends.iter().filter_map(|end| end.place.as_ref()).any(is_covered)
    }

    /// The position in the list of the first name that means a rule.
    fn name_of(&self, rule: Rule) -> Option<usize> {
        match &self.names {
            Names::All => Some(0),
            Names::Listed(names) => names.iter().position(|name| means(name, rule)),
            Names::Unclosed => None,
        }
    }

    fn is_ours(&self) -> bool {
        matches!(&self.names, Names::Listed(names) if names.iter().any(|name| name.starts_with(PREFIX)))
    }

    /// Why a finding is suppressed.
    fn words(&self) -> String {
        self.reason
            .clone()
            .unwrap_or_else(|| format!("{} at {}:{}, without a reason", self.scope.word(), self.place.file, self.place.line))
    }

    fn note(&self, kind: NoteKind, message: String) -> Note {
        Note { kind, message, place: Some(self.place.clone()) }
    }

    fn broken(&self, why: &str) -> Note {
        self.note(NoteKind::BrokenSuppression, format!("{} suppresses nothing: {why}", self.scope.word()))
    }

    /// Names of ours that mean no rule, or a rule that was looked for and not found here.
    fn complaints(&self, asked: &[Check], is_used: impl Fn(usize) -> bool) -> Vec<Note> {
        let Names::Listed(names) = &self.names else { return Vec::new() };
        let mut notes = Vec::new();
        for (number, name) in names.iter().enumerate().filter(|(_, name)| name.starts_with(PREFIX)) {
            let mut meant = Rule::ALL.into_iter().filter(|rule| means(name, *rule)).peekable();
            if meant.peek().is_none() {
                notes.push(
                    self.note(NoteKind::BrokenSuppression, format!("{}({name}) names no rule of lockcheck", self.scope.word())),
                );
            } else if meant.all(|rule| asked.contains(&rule.check())) && !is_used(number) {
                notes
                    .push(self.note(NoteKind::UnusedSuppression, format!("{}({name}) suppresses no finding", self.scope.word())));
            }
        }
        notes
    }
}

fn means(pattern: &str, rule: Rule) -> bool {
    glob(pattern.as_bytes(), format!("{PREFIX}{}", rule.name()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The suppressed lines with their names, and the notes.
    fn lines(source: &str) -> (Vec<(u32, u32)>, Vec<String>) {
        let mut notes = Vec::new();
        let found = read("a.c", source, &mut notes);
        (found.iter().map(|suppression| suppression.lines).collect(), notes.into_iter().map(|note| note.message).collect())
    }

    #[test]
    fn each_marker_covers_its_lines() {
        assert_eq!(lines("x; // NOLINT\n").0, [(1, 1)]);
        assert_eq!(lines("\n// NOLINTNEXTLINE(lockcheck-*)\nx;\n").0, [(3, 3)]);
        assert_eq!(lines("// NOLINTBEGIN(a)\nx;\ny; // NOLINTEND(a)\n").0, [(1, 3)]);
        assert_eq!(lines("// NOLINTBEGIN(a)\n// NOLINTBEGIN\n// NOLINTEND(a)\n// NOLINTEND\n").0, [(1, 3), (2, 4)]);
    }

    #[test]
    fn what_is_not_paired_suppresses_nothing() {
        let (covered, notes) = lines("// NOLINTBEGIN(lockcheck-deadlock)\nx;\n// NOLINTEND(lockcheck-data-race)\n");
        assert!(covered.is_empty());
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].contains("NOLINTEND") && notes[1].contains("NOLINTBEGIN"), "{notes:?}");
        assert_eq!(lines("// NOLINTBEGIN\n// NOLINTEND(bugprone-x)\n"), (vec![], vec![]), "other tools' markers are theirs");
    }

    #[test]
    fn names_are_globs_with_our_prefix() {
        assert!(
            means("lockcheck-data-race", Rule::DataRace) && means("lockcheck-*", Rule::Deadlock) && means("*", Rule::LockLeak)
        );
        assert!(!means("lockcheck-data-race", Rule::Deadlock) && !means("data-race", Rule::DataRace));
    }

    #[test]
    fn a_name_that_does_nothing_is_told() {
        let notes = |source: &str, asked: &[Check]| -> Vec<String> {
            let all = read("a.c", source, &mut Vec::new());
            all.iter().flat_map(|suppression| suppression.complaints(asked, |_| false)).map(|note| note.message).collect()
        };
        let both = "x; // NOLINT(lockcheck-data-race, lockcheck-datarace, bugprone-x)";
        assert_eq!(
            notes(both, &[Check::Race]),
            ["NOLINT(lockcheck-data-race) suppresses no finding", "NOLINT(lockcheck-datarace) names no rule of lockcheck"]
        );
        assert_eq!(notes("x; // NOLINT(lockcheck-data-race)", &[Check::Deadlock]), [""; 0], "races were not looked for");
        assert_eq!(notes("x; // NOLINT", &[Check::Race]), [""; 0]);
    }
}
