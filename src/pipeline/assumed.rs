//! Everything that was taken for granted: by lowering, by the runs, and by the static engines.
//!
//! A run notes what it comes past. Static engines look at all code that may run, so they note all that a run could come past.

use std::collections::BTreeSet;

use super::execution::Execution;
use super::settings::Settings;
use crate::explore::machine::Machine;
use crate::facts::Facts;
use crate::models::{BoundModels, Effect};
use crate::program::{Access, Assumption, AssumptionKind, FunctionId, Operation, Program, SiteId, TerminatorKind};

pub fn all(
    program: &Program,
    models: &BoundModels<'_>,
    facts: Option<&Facts<'_>>,
    machine: &Machine<'_>,
    settings: &Settings,
    executed: &Execution,
) -> Vec<Assumption> {
    let mut all: BTreeSet<Assumption> = program.assumptions.iter().chain(&executed.campaign.assumptions).cloned().collect();
    if let Some(facts) = facts {
        all.extend(of_code(program, models, facts, machine, settings));
    }
    all.into_iter().collect()
}

fn of_code(
    program: &Program,
    models: &BoundModels<'_>,
    facts: &Facts<'_>,
    machine: &Machine<'_>,
    settings: &Settings,
) -> BTreeSet<Assumption> {
    let mut found = Found { program, assumptions: BTreeSet::new() };
    for function in facts.call_graph.reachable().iter().filter(|function| program.functions[**function].is_defined()) {
        for edge in facts.call_graph.calls_in(*function) {
            found.callee(edge.callee, edge.site, models);
        }
        found.body(*function, settings);
    }
    if facts.points_to.misses_computed_addresses() {
        found.add(AssumptionKind::ComputedAddress, "numbers that were computed from addresses", None);
    }
    if facts.points_to.assumes_types_of_copies() {
        found.add(AssumptionKind::RetypedCopy, "addresses that copies of computed sizes move", None);
    }
    if facts.points_to.assumes_types_of_allocations() {
        found.add(AssumptionKind::TypedAllocation, "memory that is allocated as a structure", None);
    }
    if facts.points_to.assumes_types_of_pointers() {
        found.add(AssumptionKind::TypedPointer, "pointers that may point to very many places", None);
    }
    for global in machine.unknown_globals() {
        found.add(AssumptionKind::ExternalGlobal, &program.globals[global].name, None);
    }
    for name in &settings.run.assume_atomic {
        found.add(AssumptionKind::AssumedAtomic, name, None);
    }
    // A run that comes past the same thing says where.
    found.assumptions
}

struct Found<'a> {
    program: &'a Program,
    assumptions: BTreeSet<Assumption>,
}

impl Found<'_> {
    fn add(&mut self, kind: AssumptionKind, what: &str, site: Option<SiteId>) {
        let place = site.and_then(|site| self.program.place_of(site));
        self.assumptions.insert(Assumption { kind, what: what.to_owned(), place });
    }

    fn callee(&mut self, callee: FunctionId, site: Option<SiteId>, models: &BoundModels<'_>) {
        let function = &self.program.functions[callee];
        let Some(model) = models[callee] else {
            if function.is_pure_intrinsic() {
                self.add(AssumptionKind::NotComputed, &function.name, site);
            } else if !function.is_defined() {
                self.add(AssumptionKind::ExternalFunction, &function.name, site);
            }
            return;
        };
        for effect in &model.effects {
            match effect {
                Effect::InstallHandler { .. } => self.add(AssumptionKind::SignalHandler, &model.name, site),
                Effect::Unmodelled { .. } | Effect::SetCancelType { .. } => {
                    self.add(AssumptionKind::PartialModel, &model.name, site)
                }
                // The engines know what these do, or take it for more than it is.
                _ => {}
            }
        }
    }

    fn body(&mut self, function: FunctionId, settings: &Settings) {
        let program = self.program;
        let is_volatile = |operation: &Operation| match operation {
            Operation::Load { access: Access { is_volatile, .. }, .. }
            | Operation::Store { access: Access { is_volatile, .. }, .. } => *is_volatile,
            _ => false,
        };
        for block in &program.functions[function].blocks {
            for instruction in &block.instructions {
                if let Operation::InlineAssembly { text, arguments, may_store } = &instruction.operation {
                    let kind = program.assumption_of_assembly(&program.functions[function], text, arguments, *may_store);
                    kind.into_iter().for_each(|kind| self.add(kind, text, Some(instruction.site)));
                }
                if settings.run.volatile_is_atomic && is_volatile(&instruction.operation) {
                    self.add(AssumptionKind::VolatileAsAtomic, "volatile", Some(instruction.site));
                }
            }
            if let TerminatorKind::AnyOf(_) = block.terminator.kind {
                self.add(AssumptionKind::InlineAssembly, "asm goto", Some(block.terminator.site));
            }
        }
    }
}
