//! What the race engine says, beside what the machine has shown: aims for it, findings for what it did not show, reasons for the rest.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::execution::Execution;
use super::possible::{Sides, message};
use crate::engines::race::{Candidate, RaceLimit, RaceResult, RefutedGroup, Side};
use crate::explore::campaign::Aim;
use crate::explore::scheduler::Target;
use crate::facts::Facts;
use crate::findings::identity::stable_id;
use crate::findings::{End, Finding, Limit, Note, NoteKind, Protection, QuietObjects, Refuted, Rule, Verdict};
use crate::program::{Place, Program};

pub struct Races<'a> {
    result: RaceResult,
    sides: Sides<'a>,
    tables: Vec<Protection>,
}

impl<'a> Races<'a> {
    pub fn new(program: &'a Program, facts: &'a Facts<'a>, result: RaceResult) -> Races<'a> {
        let tables = tables(&result);
        Races { result, sides: Sides { program, facts }, tables }
    }

    /// What schedules are aimed at: one for each candidate, in their order.
    pub fn aims(&self) -> Vec<Aim> {
        let aim = |candidate: &Candidate| {
            let (whole, lines) = candidate.key();
            let targets = match (candidate.ends.first(), candidate.ends.last()) {
                (Some(one), Some(other)) => vec![Target { sites: [one.site, other.site] }],
                _ => Vec::new(),
            };
            Aim { targets, whole, lines, ..Aim::default() }
        };
        self.result.candidates.iter().map(aim).collect()
    }

    /// Findings for the candidates that no run has shown; `aims` are theirs.
    pub fn not_shown(&self, executed: &Execution, aims: &[Aim], shown: &[Finding]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        let mut ids = ids(shown);
        for (candidate, aim) in self.result.candidates.iter().zip(aims) {
            if shown.iter().any(|finding| is_about(finding, candidate)) {
                continue;
            }
            let limits = vec![Limit::NotExcluded(candidate.why.clone()), executed.effort_of(aim)];
            let mut names: Vec<&str> = candidate.ends.iter().map(|end| end.function_name.as_str()).collect();
            names.push(&candidate.whole);
            let finding = Finding {
                id: ids.next(Rule::DataRace, &names),
                rule: Rule::DataRace,
                verdict: Verdict::Possible { limits },
                message: message(candidate),
                object: candidate.object.clone(),
                whole: candidate.whole.clone(),
                ends: candidate.ends.iter().map(|side| self.sides.end(side)).collect(),
                protection: None,
                assumptions: Vec::new(),
                suppressed: None,
            };
            findings.push(finding);
        }
        findings
    }

    /// Races that a run has shown and that the engine had not raised: bugs of ours, unless the program is so large that uses of
    /// allocated memory were assumed away.
    pub fn contradictions(&self, findings: &[Finding]) -> Vec<Note> {
        let is_confirmed =
            |finding: &&Finding| finding.rule == Rule::DataRace && matches!(finding.verdict, Verdict::Confirmed { .. });
        let is_raised = |finding: &&Finding| self.result.candidates.iter().any(|candidate| is_about(finding, candidate));
        let is_cut_off = |finding: &&Finding| {
            self.result.limits.iter().any(|limit| match limit {
                RaceLimit::MorePairs { object, .. } => [&finding.object, &finding.whole].contains(&object),
                RaceLimit::OneOfMany { .. } | RaceLimit::OutOfTime => true,
                RaceLimit::WithoutHistories => false,
            })
        };
        let points_to = &self.sides.facts.points_to;
        let is_assumed_away = points_to.assumes_types_of_allocations() || points_to.assumes_types_of_pointers();
        let is_explained = |finding: &&Finding| is_assumed_away && self.refuted_on_lines_of(finding).is_none();
        let unexpected = findings.iter().filter(is_confirmed).filter(|finding| !is_raised(finding) && !is_cut_off(finding));
        let unexpected = unexpected.filter(|finding| !is_explained(finding));
        unexpected.map(|finding| self.contradiction(finding)).collect()
    }

    fn contradiction(&self, finding: &Finding) -> Note {
        let what = match self.refuted_on_lines_of(finding) {
            Some(group) => format!("had refuted it ({}: {})", group.reason.name(), group.detail),
            None => "had not raised it".to_owned(),
        };
        let place = finding.ends.iter().find_map(|end| end.place.clone());
        let message = format!(
            "the race on {} was executed, yet the static engine {what}: a bug of lockcheck; the finding stands",
            finding.object
        );
        Note { kind: NoteKind::Contradiction, message, place }
    }

    fn refuted_on_lines_of(&self, finding: &Finding) -> Option<&RefutedGroup> {
        let lines = lines_of(finding);
        self.result.refuted.iter().find(|group| group.ends.iter().map(Side::line).collect::<BTreeSet<_>>() == lines)
    }

    pub fn refuted(&self) -> Vec<Refuted> {
        self.result.refuted.iter().map(|group| self.sides.refuted(Rule::DataRace, group)).collect()
    }

    pub fn protection(&self) -> Vec<Protection> {
        self.tables.clone()
    }

    /// Which lock was forgotten: said when most accesses of the object hold it and an end of the finding does not.
    pub fn forgotten_by(&self, finding: &Finding) -> Option<String> {
        let table_of = |object: &str| self.tables.iter().find(|table| table.object == object);
        let table = table_of(&finding.object).or_else(|| table_of(&finding.whole))?;
        let (lock, count) = table.forgotten()?;
        let lacks = |end: &&End| end.locks.iter().all(|held| held.name != lock);
        let lines: BTreeSet<String> = finding
            .ends
            .iter()
            .filter(lacks)
            .filter_map(|end| end.place.as_ref())
            .map(|place| format!("{}:{}", place.file, place.line))
            .collect();
        if lines.is_empty() {
            return None;
        }
        let here = lines.into_iter().collect::<Vec<_>>().join(" and ");
        Some(format!("{lock} is held at {count} of the {} accesses of {}, but not at {here}", table.accesses, table.object))
    }

    /// Why the list of candidates is not complete.
    pub fn limits(&self) -> Vec<Limit> {
        self.result.limits.iter().map(|limit| Limit::NotAnalysed(limit.to_string())).collect()
    }

    pub fn quiet(&self) -> QuietObjects {
        let quiet = &self.result.quiet;
        QuietObjects {
            thread_local: quiet.thread_local as u64,
            only_read: quiet.only_read as u64,
            only_atomic: quiet.only_atomic as u64,
        }
    }
}

/// What protects each object, and where candidates touch it without its first lock.
fn tables(result: &RaceResult) -> Vec<Protection> {
    let mut touched: FxHashMap<&str, Vec<&Side>> = FxHashMap::default();
    for candidate in &result.candidates {
        let names: BTreeSet<&str> = [candidate.object.as_str(), candidate.whole.as_str()].into();
        for name in names {
            touched.entry(name).or_default().extend(&candidate.ends);
        }
    }
    let table = |table: &crate::engines::race::Protection| {
        let locks: Vec<(String, u64)> = table.rows.iter().map(|(lock, count)| (lock.clone(), *count as u64)).collect();
        let ends = touched.get(table.object.as_str()).map_or(&[][..], Vec::as_slice);
        let without: BTreeSet<Place> = match locks.first() {
            Some((lock, _)) => {
                let lacks = |end: &&&Side| end.locks.iter().all(|held| held.name != *lock);
                ends.iter().filter(lacks).filter_map(|end| end.place.clone()).collect()
            }
            None => BTreeSet::new(),
        };
        Protection {
            object: table.object.clone(),
            accesses: table.accesses as u64,
            locks,
            without: without.into_iter().collect(),
        }
    };
    result.protection.iter().map(table).collect()
}

/// Ids that no finding has yet.
pub struct Ids {
    taken: FxHashSet<String>,
    /// There may be thousands that differ only in their ordinal.
    ordinals: FxHashMap<Vec<String>, usize>,
}

pub fn ids(shown: &[Finding]) -> Ids {
    Ids { taken: shown.iter().map(|finding| finding.id.clone()).collect(), ordinals: FxHashMap::default() }
}

impl Ids {
    pub fn next(&mut self, rule: Rule, names: &[&str]) -> String {
        let ordinal = self.ordinals.entry(names.iter().map(|name| (*name).to_owned()).collect()).or_default();
        loop {
            let id = stable_id(rule, names, *ordinal);
            *ordinal += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// File, function and line of each end.
pub fn lines_of(finding: &Finding) -> BTreeSet<(String, String, u32)> {
    let line = |end: &End| {
        let place = end.place.as_ref();
        (place.map_or(String::new(), |place| place.file.clone()), end.function.clone(), place.map_or(0, |place| place.line))
    };
    finding.ends.iter().map(line).collect()
}

/// Whether a finding is about what a candidate is about: the same lines, and the same expressions on them or the same object.
fn is_about(finding: &Finding, candidate: &Candidate) -> bool {
    let (whole, lines) = candidate.key();
    if finding.rule != Rule::DataRace || lines_of(finding) != lines {
        return false;
    }
    let columns: BTreeSet<Option<u32>> = finding.ends.iter().map(|end| end.place.as_ref().map(|place| place.column)).collect();
    let same_columns = columns == candidate.ends.iter().map(|end| end.place.as_ref().map(|place| place.column)).collect();
    same_columns || finding.whole == whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ThreadId;
    use crate::findings::{Reason, Role};
    use crate::models::Models;
    use crate::program::text::parse;
    use crate::program::{FunctionId, SiteId};

    fn place(line: u32, column: u32) -> Option<Place> {
        Some(Place { file: "a.c".to_owned(), line, column })
    }

    fn side(line: u32) -> Side {
        Side {
            thread: ThreadId::from(0),
            thread_name: "main".to_owned(),
            creation: Vec::new(),
            site: SiteId::from(line as usize),
            function: FunctionId::from(0),
            function_name: "main".to_owned(),
            place: place(line, 5),
            role: Role::Write,
            object: "x".to_owned(),
            locks: Vec::new(),
            calls: Vec::new(),
            is_cut: false,
        }
    }

    fn candidate(whole: &str, lines: &[u32]) -> Candidate {
        let ends = lines.iter().map(|line| side(*line)).collect();
        Candidate {
            object: whole.to_owned(),
            whole: whole.to_owned(),
            is_memory: false,
            ends,
            other_thread: None,
            why: "no lock is common".to_owned(),
        }
    }

    fn confirmed(whole: &str, lines: &[(u32, u32)]) -> Finding {
        let end = |(line, column): &(u32, u32)| End {
            thread: "main".to_owned(),
            role: Role::Write,
            object: whole.to_owned(),
            place: place(*line, *column),
            function: "main".to_owned(),
            locks: Vec::new(),
            trace: Vec::new(),
            is_cut: false,
        };
        Finding {
            id: format!("data-race-{whole}"),
            rule: Rule::DataRace,
            verdict: Verdict::Confirmed { schedule: "lc1:".to_owned() },
            message: String::new(),
            object: whole.to_owned(),
            whole: whole.to_owned(),
            ends: lines.iter().map(end).collect(),
            protection: None,
            assumptions: Vec::new(),
            suppressed: None,
        }
    }

    fn with_races(result: RaceResult, look: impl FnOnce(&Races<'_>)) {
        let text = "lockcheck program 1\nfunction @main \"main\" () returns i32 {\nb0:\n  return i32 0\n}\n";
        let program = parse(text).expect("the program is well formed");
        let models = Models::default();
        let facts = Facts::of(&program, &models.bind(&program), None);
        look(&Races::new(&program, &facts, result));
    }

    #[test]
    fn a_race_that_was_shown_and_not_raised_is_a_contradiction() {
        let refuted = RefutedGroup {
            object: "y".into(),
            whole: "y".into(),
            reason: Reason::CommonLock,
            detail: "m".into(),
            count: 1,
            ends: vec![side(7), side(8)],
        };
        let result = RaceResult { candidates: vec![candidate("x", &[3, 4])], refuted: vec![refuted], ..RaceResult::default() };
        with_races(result, |races| {
            let messages =
                |finding: Finding| races.contradictions(&[finding]).into_iter().map(|note| note.message).collect::<Vec<_>>();
            assert!(messages(confirmed("x", &[(4, 9), (3, 9)])).is_empty(), "the same object");
            assert!(messages(confirmed("memory allocated at a.c:1", &[(4, 5), (3, 5)])).is_empty(), "the same expressions");
            assert!(messages(confirmed("z", &[(4, 9), (3, 9)]))[0].contains("had not raised it"));
            assert!(messages(confirmed("x", &[(4, 5)]))[0].contains("had not raised it"), "other lines");
            assert!(messages(confirmed("y", &[(7, 5), (8, 5)]))[0].contains("had refuted it (common-lock: m)"));
            let uncertain = Finding { verdict: Verdict::Possible { limits: Vec::new() }, ..confirmed("z", &[(4, 9)]) };
            assert!(messages(uncertain).is_empty());
        });
    }

    #[test]
    fn what_is_not_listed_is_no_contradiction() {
        let limit = RaceLimit::MorePairs { object: "x".into(), count: 3 };
        with_races(RaceResult { limits: vec![limit], ..RaceResult::default() }, |races| {
            assert!(races.contradictions(&[confirmed("x", &[(1, 1)])]).is_empty());
            assert_eq!(races.contradictions(&[confirmed("y", &[(1, 1)])]).len(), 1);
            assert_eq!(races.limits().len(), 1);
        });
    }

    #[test]
    fn a_candidate_is_a_finding_unless_it_was_shown() {
        let result = RaceResult { candidates: vec![candidate("x", &[3, 4]), candidate("y", &[5])], ..RaceResult::default() };
        with_races(result, |races| {
            let executed = Execution { aims: races.aims(), ..Execution::default() };
            let found = races.not_shown(&executed, &executed.aims, &[confirmed("x", &[(3, 1), (4, 1)])]);
            let [finding] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((finding.object.as_str(), finding.verdict.name()), ("y", "possible"));
            let Verdict::Possible { limits } = &finding.verdict else { panic!() };
            assert_eq!(limits[0].to_string(), "no lock is common");
            assert_eq!(races.not_shown(&executed, &executed.aims, &[]).len(), 2);
        });
    }
}
