//! Standard streams: the variables in which the C library keeps them.
//!
//! # Rule         `stdin`, `stdout` and `stderr` are expressions of type `FILE *` (C17 7.21.1p3); where they are kept, no function says. So a pointer of which nothing is
//!                known never points to such a variable, unless the program itself takes its address.
//! # Misses       None: a program that assigns to them, or takes their address, is looked at as ever.

use rustc_hash::FxHashSet;

use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts};
use crate::program::{Constant, GlobalId, Operand, Operation, Program, RelocationTarget, TerminatorKind};

const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// The variables of streams that the program only reads, by name.
pub(super) fn hidden_streams(program: &Program, facts: &Facts<'_>) -> FxHashSet<AbstractObjectId> {
    let is_stream = |global: GlobalId| {
        let global = &program.globals[global];
        global.is_external && STREAMS.contains(&global.name.as_str())
    };
    let mut streams: FxHashSet<GlobalId> = program.globals.keys().filter(|global| is_stream(*global)).collect();
    if streams.is_empty() {
        return FxHashSet::default();
    }
    let global_of = |operand: Operand| match operand {
        Operand::Constant(constant) => match program.constants[constant] {
            Constant::Global(global) => Some(global),
            _ => None,
        },
        Operand::Register(_) => None,
    };
    let mut named: Vec<Operand> = Vec::new();
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        named.extend(block.phis.iter().flat_map(|phi| phi.operands.iter().copied()));
        if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
            named.push(*value);
        }
        for instruction in block.instructions.iter().filter(|one| !matches!(one.operation, Operation::Load { .. })) {
            named.extend(instruction.operation.clone().operands_mut().into_iter().map(|operand| *operand));
        }
    }
    for global in named.into_iter().filter_map(global_of) {
        streams.remove(&global);
    }
    for relocation in program.globals.iter().flat_map(|global| &global.relocations) {
        if let RelocationTarget::Global(global) = relocation.target {
            streams.remove(&global);
        }
    }
    streams.into_iter().filter_map(|global| facts.points_to.object_of_kind(&AbstractObjectKind::Global(global))).collect()
}
