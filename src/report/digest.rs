//! Very many findings, so that they can be read: the most telling ones in full, the others by the line that they have in common.
//!
//! A reader takes in a hundred findings, not ten thousand; and ten thousand have few causes. A line that is an end of hundreds of them is one
//! question, with one answer. Nothing is left out: each finding is shown in full, or counted by exactly one group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::findings::{Finding, Rule, Verdict};
use crate::program::Place;

/// So many are shown in full; what is confirmed always is.
const IN_FULL: usize = 100;

pub struct Digest<'r> {
    /// In the order of the report.
    pub in_full: Vec<&'r Finding>,
    /// By file and line.
    pub groups: Vec<Common<'r>>,
}

/// Findings of one rule that have a line in common.
pub struct Common<'r> {
    pub rule: Rule,
    /// `None` without debug information.
    pub place: Option<Line<'r>>,
    /// In the order of the report; at least one.
    pub findings: Vec<&'r Finding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line<'r> {
    pub file: &'r str,
    pub line: u32,
}

impl<'r> Line<'r> {
    fn of(place: &'r Place) -> Line<'r> {
        Line { file: &place.file, line: place.line }
    }
}

impl<'r> Digest<'r> {
    pub fn of(findings: &[&'r Finding]) -> Digest<'r> {
        if findings.len() <= IN_FULL {
            return Digest { in_full: findings.to_vec(), groups: Vec::new() };
        }
        // First what a run has shown, then where a lock was probably forgotten, then what is no race.
        let mut telling: Vec<(u8, usize)> =
            findings.iter().enumerate().filter_map(|(at, finding)| Some((weight(finding)?, at))).collect();
        telling.sort_unstable();
        let confirmed = telling.iter().filter(|(weight, _)| *weight == 0).count();
        telling.truncate(confirmed.max(IN_FULL));
        let mut is_in_full = vec![false; findings.len()];
        telling.iter().for_each(|(_, at)| is_in_full[*at] = true);
        let groups = groups(findings, &is_in_full);
        // One of each group, the largest groups first.
        let mut by_size: Vec<&Vec<usize>> = groups.values().collect();
        by_size.sort_by_key(|group| Reverse(group.len()));
        for group in by_size.into_iter().take(IN_FULL.saturating_sub(telling.len())) {
            is_in_full[group[0]] = true;
        }
        let rest = groups.into_iter().map(|((place, rule), group)| {
            let findings = group.into_iter().filter(|at| !is_in_full[*at]).map(|at| findings[at]).collect();
            Common { rule, place, findings }
        });
        let groups = rest.filter(|group| !group.findings.is_empty()).collect();
        let in_full = findings.iter().zip(&is_in_full).filter(|(_, is)| **is).map(|(finding, _)| *finding).collect();
        Digest { in_full, groups }
    }
}

/// Less is more telling; `None` for a candidate like any other.
fn weight(finding: &Finding) -> Option<u8> {
    match finding.verdict {
        Verdict::Confirmed { .. } => Some(0),
        Verdict::Possible { .. } if finding.protection.is_some() => Some(1),
        Verdict::Possible { .. } => (finding.rule != Rule::DataRace).then_some(2),
    }
}

/// Each finding under the one of its lines that most findings have.
fn groups<'r>(findings: &[&'r Finding], is_taken: &[bool]) -> BTreeMap<(Option<Line<'r>>, Rule), Vec<usize>> {
    let open = || findings.iter().enumerate().filter(|(at, _)| !is_taken[*at]);
    let mut counts: BTreeMap<(Line<'r>, Rule), usize> = BTreeMap::new();
    for (_, finding) in open() {
        for line in lines(finding) {
            *counts.entry((line, finding.rule)).or_default() += 1;
        }
    }
    let mut groups: BTreeMap<(Option<Line<'r>>, Rule), Vec<usize>> = BTreeMap::new();
    for (at, finding) in open() {
        let common = lines(finding).into_iter().min_by_key(|line| (Reverse(counts[&(*line, finding.rule)]), *line));
        groups.entry((common, finding.rule)).or_default().push(at);
    }
    groups
}

/// The lines of the ends, each once.
fn lines(finding: &Finding) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = finding.ends.iter().filter_map(|end| end.place.as_ref()).map(Line::of).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

impl<'r> Common<'r> {
    /// The lines of the other ends, the most frequent first, and what is touched there.
    pub fn others(&self) -> Vec<(Line<'r>, usize)> {
        let mut counts: BTreeMap<Line<'r>, usize> = BTreeMap::new();
        for finding in &self.findings {
            for line in lines(finding).into_iter().filter(|line| Some(*line) != self.place) {
                *counts.entry(line).or_default() += 1;
            }
        }
        let mut others: Vec<(Line<'r>, usize)> = counts.into_iter().collect();
        others.sort_by_key(|(line, count)| (Reverse(*count), *line));
        others
    }

    /// The objects, each once, in the order of the report.
    pub fn objects(&self) -> Vec<&'r str> {
        let mut objects: Vec<&str> = Vec::new();
        for finding in &self.findings {
            if !objects.contains(&finding.object.as_str()) {
                objects.push(&finding.object);
            }
        }
        objects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{End, Role};

    fn finding(id: usize, lines: &[u32], verdict: Verdict) -> Finding {
        let end = |line: &u32| End {
            thread: "main".to_owned(),
            role: Role::Write,
            object: "total".to_owned(),
            place: Some(Place { file: "a.c".to_owned(), line: *line, column: 1 }),
            function: "f".to_owned(),
            locks: Vec::new(),
            trace: Vec::new(),
            is_cut: false,
        };
        Finding {
            id: id.to_string(),
            rule: Rule::DataRace,
            verdict,
            message: String::new(),
            object: format!("x{}", id % 3),
            whole: String::new(),
            ends: lines.iter().map(end).collect(),
            protection: None,
            assumptions: Vec::new(),
            suppressed: None,
        }
    }

    fn possible() -> Verdict {
        Verdict::Possible { limits: Vec::new() }
    }

    #[test]
    fn few_are_all_shown_in_full() {
        let findings: Vec<Finding> = (0..IN_FULL).map(|id| finding(id, &[1, id as u32 + 2], possible())).collect();
        let digest = Digest::of(&findings.iter().collect::<Vec<_>>());
        assert_eq!((digest.in_full.len(), digest.groups.len()), (IN_FULL, 0));
    }

    #[test]
    fn of_many_each_is_in_full_or_in_one_group() {
        let mut findings: Vec<Finding> = (0..500).map(|id| finding(id, &[7, id as u32 + 100], possible())).collect();
        findings.extend((500..900).map(|id| finding(id, &[id as u32 + 100, 9], possible())));
        findings.push(finding(900, &[7, 9], Verdict::Confirmed { schedule: String::new() }));
        let digest = Digest::of(&findings.iter().collect::<Vec<_>>());
        let grouped: usize = digest.groups.iter().map(|group| group.findings.len()).sum();
        assert_eq!(digest.in_full.len() + grouped, findings.len());
        // The confirmed one, and one of each group.
        let in_full: Vec<&str> = digest.in_full.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(in_full, ["0", "500", "900"]);
        let lines: Vec<u32> = digest.groups.iter().filter_map(|group| Some(group.place?.line)).collect();
        assert_eq!(lines, [7, 9]);
        assert_eq!(digest.groups[0].others().len(), 499);
        assert_eq!(digest.groups[0].objects(), ["x1", "x2", "x0"]);
    }
}
