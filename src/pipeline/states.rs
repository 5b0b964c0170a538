//! What is known of each check as a whole, and why it is not more.

use std::collections::BTreeMap;

use super::execution::Execution;
use super::settings::Settings;
use super::suspected::Suspected;
use crate::facts::Facts;
use crate::findings::{Check, CheckState, Finding, Limit, Statistics, Verdict, could_hide};
use crate::program::{Assumption, Program};

/// Checks of which execution alone speaks; it proves nothing.
fn is_executed_only(check: Check, suspected: &Suspected<'_>) -> bool {
    match check {
        Check::Race | Check::Deadlock | Check::Misuse | Check::Safety => suspected.limits_of(check).is_none(),
        Check::Atomicity | Check::Property => false,
    }
}

/// Why the analysis is not complete, for the checks that were asked for.
pub fn limits(suspected: &Suspected<'_>, executed: &Execution, settings: &Settings) -> Vec<Limit> {
    let mut limits: Vec<Limit> = settings.checks.iter().filter_map(|check| suspected.limits_of(*check)).flatten().collect();
    let has_engine = |check: &Check| matches!(check, Check::Race | Check::Deadlock);
    if settings.engines && settings.checks.iter().any(|check| has_engine(check) && suspected.limits_of(*check).is_none()) {
        limits.push(Limit::Budget);
    }
    if settings.checks.iter().any(|check| is_executed_only(*check, suspected)) {
        match executed.was_executed {
            true => limits.extend(executed.campaign.limits()),
            false => limits.push(executed.limit_of_none()),
        }
    }
    limits.extend(settings.unused.iter().map(|key| Limit::NotAnalysed(format!("`{key}` of the settings is not looked at yet"))));
    if settings.checks.contains(&Check::Atomicity) {
        limits.push(Limit::NotAnalysed("atomicity violations are not looked for yet".to_owned()));
    }
    limits
}

pub fn states(
    findings: &[Finding],
    assumptions: &[Assumption],
    suspected: &Suspected<'_>,
    settings: &Settings,
) -> BTreeMap<Check, CheckState> {
    let state = |check: Check| {
        let mut of_check = findings.iter().filter(|finding| finding.rule.concerns(check)).peekable();
        let is_clean = of_check.peek().is_none();
        if of_check.any(|finding| matches!(finding.verdict, Verdict::Confirmed { .. })) {
            return CheckState::Unsafe;
        }
        // An engine raises everything that it does not refute: nothing raised, nothing there.
        let is_decided = suspected.limits_of(check).is_some_and(|limits| limits.is_empty());
        let is_certain = !assumptions.iter().any(|assumption| could_hide(assumption.kind, check));
        if is_clean && is_decided && is_certain { CheckState::Safe } else { CheckState::Unknown }
    };
    settings.checks.iter().map(|check| (*check, state(*check))).collect()
}

pub fn statistics(program: &Program, facts: Option<&Facts<'_>>, suspected: &Suspected<'_>, executed: &Execution) -> Statistics {
    let campaign = &executed.campaign;
    let abstract_threads =
        || facts.map_or(0, |facts| facts.threads.threads().filter(|(_, thread)| thread.entry.is_some()).count() as u64);
    Statistics {
        functions: program.functions.iter().filter(|function| function.is_defined()).count() as u64,
        threads: if executed.was_executed { campaign.threads } else { abstract_threads() },
        objects: suspected.quiet(),
        executions: campaign.executions,
        transitions: campaign.transitions,
        peak_rss_mib: peak_rss_mib(),
        ..Statistics::default()
    }
}

/// The most memory this process has used.
pub fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
    kibibytes.unwrap_or(0) / 1024
}
