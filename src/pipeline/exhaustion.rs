//! All executions of a small program: `lockcheck explore --strategy dfs`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::settings::Settings;
use super::{execution, finish, states};
use crate::error::Error;
use crate::explore::exhaustive::{self, Bounds, Exhaustion};
use crate::findings::{Check, CheckState, Finding, Limit, Note, NoteKind, Report, Statistics, Verdict};
use crate::models::Models;
use crate::program::{Assumption, Instruction, Operand, Program, TerminatorKind};

/// Runs the program in every way there is, up to so many executions.
pub fn exhaust(
    program: &Program,
    models: &Models,
    settings: &Settings,
    executions: u64,
    started: Instant,
) -> Result<Report, Error> {
    settings.run.can_be_executed(program)?;
    let machine = execution::machine(program, &models.bind(program), &settings.run, &settings.inputs)?;
    let loaded = Instant::now();
    let deadline = settings.budget.map(|budget| started + budget);
    let bounds = Bounds { executions, transitions: u64::MAX, deadline, ..Bounds::default() };
    let result = exhaustive::explore(&machine, &bounds, &mut |_| {});
    let mut findings: Vec<Finding> = Vec::new();
    for shown in result.shown.iter().filter(|shown| shown.bug.rule.concerns_any(&settings.checks)) {
        findings.push(execution::judge(&machine, shown, &findings, settings.budget, started));
    }
    let assumptions: BTreeSet<Assumption> = program.assumptions.iter().chain(&result.assumptions).cloned().collect();
    let limits = limits(program, settings, &result);
    let is_exhausted = limits.is_empty() && !assumptions.iter().any(|assumption| assumption.kind.could_hide_a_bug());
    let mut report = Report {
        inputs: settings.inputs.clone(),
        checks: states(&findings, is_exhausted, settings),
        findings,
        refuted: Vec::new(),
        protection: Vec::new(),
        assumptions: assumptions.into_iter().collect(),
        limits,
        notes: if is_exhausted { vec![note(&result)] } else { Vec::new() },
        statistics: Statistics {
            functions: program.functions.iter().filter(|function| function.is_defined()).count() as u64,
            threads: result.threads,
            executions: result.executions,
            transitions: result.transitions,
            peak_rss_mib: states::peak_rss_mib(),
            ..Statistics::default()
        },
    };
    finish(&mut report, settings);
    report.statistics.seconds.load = (loaded - started).as_secs_f64();
    report.statistics.seconds.explore = loaded.elapsed().as_secs_f64();
    Ok(report)
}

/// Why there may be executions that were not seen.
fn limits(program: &Program, settings: &Settings, result: &Exhaustion) -> Vec<Limit> {
    let mut limits: Vec<Limit> = result.limits.iter().cloned().collect();
    if let Some(site) = result.weaker_orderings.first() {
        let place = program.place_of(*site).map_or(String::new(), |place| format!(" ({place}, for one)"));
        limits.push(Limit::NotAnalysed(format!(
            "atomics weaker than sequentially consistent{place} allow executions that were not run"
        )));
    }
    let entries = &settings.run.entries;
    if uses_its_arguments(program, entries.first()) {
        limits.push(Limit::NotAnalysed(format!("the arguments of {} were not varied", entries.first())));
    }
    limits.extend(entries.left_out().map(Limit::NotAnalysed));
    limits
}

/// Whether the entry looks at what it is called with: that is an input which is the same in all executions.
fn uses_its_arguments(program: &Program, entry: &str) -> bool {
    let Some(function) = program.function_named(entry).map(|id| &program.functions[id]) else { return true };
    let is_parameter = |operand: &Operand| matches!(operand, Operand::Register(register) if function.parameters.iter().any(|parameter| parameter.register == *register));
    let is_used_by =
        |instruction: &Instruction| instruction.operation.clone().operands_mut().into_iter().any(|operand| is_parameter(operand));
    function.blocks.iter().any(|block| {
        block.phis.iter().flat_map(|phi| &phi.operands).any(is_parameter)
            || block.instructions.iter().any(is_used_by)
            || operand_of(&block.terminator.kind).as_ref().is_some_and(is_parameter)
    })
}

fn operand_of(terminator: &TerminatorKind) -> Option<Operand> {
    match terminator {
        TerminatorKind::Return(operand) => *operand,
        TerminatorKind::Branch { condition: operand, .. }
        | TerminatorKind::Switch { value: operand, .. }
        | TerminatorKind::IndirectJump { address: operand, .. } => Some(*operand),
        TerminatorKind::Jump(_) | TerminatorKind::AnyOf(_) | TerminatorKind::Unreachable => None,
    }
}

fn states(findings: &[Finding], is_exhausted: bool, settings: &Settings) -> BTreeMap<Check, CheckState> {
    let state = |check: Check| {
        let mut of_check = findings.iter().filter(|finding| finding.rule.concerns(check)).peekable();
        match (of_check.peek().is_none(), of_check.any(|finding| matches!(finding.verdict, Verdict::Confirmed { .. }))) {
            (_, true) => CheckState::Unsafe,
            (true, false) if is_exhausted => CheckState::Safe,
            _ => CheckState::Unknown,
        }
    };
    settings.checks.iter().map(|check| (*check, state(*check))).collect()
}

fn note(result: &Exhaustion) -> Note {
    let all = if result.executions == 1 {
        "the one execution was".to_owned()
    } else {
        format!("all {} executions were", result.executions)
    };
    let message = format!("exhausted: {all} run; what is not reported does not happen (uninitialised values count as 0)");
    Note { kind: NoteKind::Exhausted, message, place: None }
}
