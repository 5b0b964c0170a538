//! Expected verdicts in C: the grammar of `//@` headers and `//~` claims, and how claims are held against findings.
//!
//! Strict both ways: every finding must be claimed, every claim met; anything that is not grammar is an error.

use std::collections::{BTreeMap, BTreeSet};

/// What a C file says about itself.
#[derive(Debug, Default)]
pub struct Expectations {
    pub checks: Vec<String>,
    pub flags: Vec<String>,
    pub is_clean: bool,
    pub claims: Vec<Claim>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The line it speaks of.
    pub line: u32,
    pub kind: String,
    pub is_real: bool,
    pub label: Option<String>,
    pub level: Level,
    /// Role and object of a real bug's end; a reason for the reader otherwise.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Must be confirmed (real), or must not be reported (not real).
    Plain,
    Unconfirmed,
    Refuted,
    Missed,
    Reported,
}

pub const KINDS: [&str; 14] = [
    "race",
    "deadlock",
    "unserializable",
    "double-lock",
    "unlock-not-held",
    "lock-leak",
    "wait-without-lock",
    "destroy-held",
    "assertion",
    "use-after-free",
    "out-of-bounds",
    "null-dereference",
    "livelock",
    "property",
];

pub fn parse(source: &str, is_limit: bool) -> Result<Expectations, String> {
    let mut expectations = Expectations::default();
    let mut seen = BTreeSet::new();
    for (index, line) in source.lines().enumerate() {
        let number = index as u32 + 1;
        let wrong = |reason: String| format!("line {number}: {reason}");
        if let Some(header) = line.trim_start().strip_prefix("//@") {
            let (key, value) = header.split_once(':').map_or((header.trim(), ""), |(key, value)| (key.trim(), value.trim()));
            if !seen.insert(key.to_owned()) {
                return Err(wrong(format!("`//@ {key}` stands twice")));
            }
            let words = || value.split_whitespace().map(str::to_owned).collect();
            match key {
                "check" => expectations.checks = words(),
                "flags" => expectations.flags = words(),
                "clean" if value.is_empty() => expectations.is_clean = true,
                _ => return Err(wrong(format!("`//@ {key}` is no header"))),
            }
        } else if let Some((_, claims)) = line.split_once("//~") {
            let above = claims.chars().take_while(|c| *c == '^').count();
            for claim in claims[above..].split(';') {
                let claim = parse_claim(number - above as u32, claim.trim()).map_err(wrong)?;
                if matches!(claim.level, Level::Missed | Level::Reported) && !is_limit {
                    return Err(wrong("known limits stand under c-examples/limits only".to_owned()));
                }
                expectations.claims.push(claim);
            }
        }
    }
    if expectations.is_clean != expectations.claims.is_empty() {
        return Err("a file has `//@ clean` or claims, never both or none".to_owned());
    }
    Ok(expectations)
}

fn parse_claim(line: u32, claim: &str) -> Result<Claim, String> {
    let (head, text) = claim.split_once(':').map_or((claim, ""), |(head, text)| (head.trim(), text.trim()));
    let (subject, modifier) =
        head.split_once(',').map_or((head, None), |(subject, modifier)| (subject.trim(), Some(modifier.trim())));
    let (is_real, subject) = subject.strip_prefix("no ").map_or((true, subject), |rest| (false, rest.trim()));
    let mut words = subject.split_whitespace();
    let kind = words.next().unwrap_or_default();
    if !KINDS.contains(&kind) {
        return Err(format!("`{kind}` in `{claim}` is no kind of bug"));
    }
    let label = words.next().map(str::to_owned);
    let is_label = |label: &String| label.len() <= 3 && label.starts_with(|c: char| c.is_ascii_uppercase());
    if words.next().is_some() || label.as_ref().is_some_and(|label| !is_label(label)) {
        return Err(format!("`{claim}`: a label is a capital letter, and nothing follows it but `,` or `:`"));
    }
    let level = match (is_real, modifier) {
        (_, None) => Level::Plain,
        (true, Some("unconfirmed")) => Level::Unconfirmed,
        (true, Some("missed")) => Level::Missed,
        (false, Some("refuted")) => Level::Refuted,
        (false, Some("reported")) => Level::Reported,
        (_, Some(other)) => return Err(format!("`{other}` in `{claim}` is no level")),
    };
    if is_real && (label.is_none() || (text.is_empty() && level == Level::Plain)) {
        return Err(format!("`{claim}`: a real bug has a label, and a role and an object after a colon"));
    }
    Ok(Claim { line, kind: kind.to_owned(), is_real, label, level, text: text.to_owned() })
}

/// A finding, as far as claims speak of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub kind: String,
    pub lines: BTreeSet<u32>,
    pub is_confirmed: bool,
    /// Line, role and object of each end.
    pub ends: Vec<(u32, String, String)>,
}

/// How far the engines of a kind are built, and so how much of its claims is checked. Claims themselves never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Nothing looks for it: what is claimed need not be found.
    None,
    /// Execution finds it on the schedules it happens to run: everything found must be claimed, and real bugs be found.
    Execution,
    /// A static engine raises everything that it does not refute: also what no execution shows must be found.
    #[allow(dead_code, reason = "not every test has one")]
    Static,
}

/// All disagreements between claims and findings, one sentence each.
pub fn disagreements(expectations: &Expectations, seen: &[Seen], engine: impl Fn(&str) -> Engine) -> Vec<String> {
    let mut real: BTreeMap<(&str, &str), (BTreeSet<u32>, Level)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for claim in expectations.claims.iter().filter(|claim| claim.is_real) {
        let label = claim.label.as_deref().unwrap_or_default();
        let entry = real.entry((&claim.kind, label)).or_insert_with(|| (BTreeSet::new(), claim.level));
        entry.0.insert(claim.line);
        if entry.1 != claim.level {
            wrong.push(format!("{} {label}: its ends claim different levels", claim.kind));
        }
    }
    for finding in seen {
        let claimed = real.iter().find(|((kind, _), (lines, _))| *kind == finding.kind && *lines == finding.lines);
        match claimed {
            None => wrong.push(format!("found but not claimed: {} at lines {:?}", finding.kind, finding.lines)),
            Some(((kind, label), (_, Level::Missed))) => {
                wrong.push(format!("{kind} {label} is claimed as missed, but it is found: promote it"))
            }
            Some(_) => {}
        }
        for claim in expectations.claims.iter().filter(|claim| !claim.is_real && claim.level != Level::Reported) {
            if claim.kind == finding.kind && finding.lines.contains(&claim.line) {
                wrong.push(format!("line {}: claimed to be no {}, but reported", claim.line, claim.kind));
            }
        }
    }
    for ((kind, label), (lines, level)) in &real {
        if engine(kind) == Engine::None || *level == Level::Missed {
            continue;
        }
        let found = seen.iter().find(|finding| finding.kind == *kind && finding.lines == *lines);
        match found {
            // What execution cannot show waits for the engine that can.
            None if *level == Level::Unconfirmed && engine(kind) == Engine::Execution => {}
            None => wrong.push(format!("claimed but not found: {kind} {label} at lines {lines:?}")),
            Some(finding) if *level == Level::Plain && !finding.is_confirmed => {
                wrong.push(format!("{kind} {label} is reported, but not confirmed"));
            }
            Some(finding) => {
                let claims = expectations
                    .claims
                    .iter()
                    .filter(|claim| claim.is_real && claim.kind == *kind && claim.label.as_deref() == Some(*label));
                wrong.extend(claims.filter_map(|claim| misnamed(claim, finding)));
            }
        }
    }
    wrong
}

/// A complaint when the end on the claim's line has another role or another object than claimed.
///
/// Objects agree when they begin with the same variable: `total[1]` is part of `total`, and bytes that two bit-fields share
/// have one name at both ends.
fn misnamed(claim: &Claim, finding: &Seen) -> Option<String> {
    let (role, object) = claim.text.split_once(' ')?;
    // What an assertion or a livelock is about stands in the program, not in the event.
    if matches!(claim.kind.as_str(), "assertion" | "livelock" | "unserializable" | "property") {
        return None;
    }
    let here: Vec<&(u32, String, String)> = finding.ends.iter().filter(|(line, ..)| *line == claim.line).collect();
    let agrees = |(_, seen_role, seen_object): &&&(u32, String, String)| {
        seen_role.trim_start_matches("atomic ") == role && variable(seen_object) == variable(object)
    };
    if here.iter().any(|end| agrees(&end)) {
        None
    } else {
        Some(format!("line {}: claimed as {role} {object}, but reported as {here:?}", claim.line))
    }
}

/// The variable that an expression begins with.
fn variable(expression: &str) -> &str {
    let start = expression.trim_start_matches(['*', '(', '&']);
    start.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or(start)
}
