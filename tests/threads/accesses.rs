//! All accesses to a global in all threads and phases, and which of them may overlap.

use std::collections::BTreeSet;

use lockcheck::facts::threads::{PhaseId, Relation, Stage, ThreadId, Threads};
use lockcheck::facts::{Accesses, CallGraph, PointsTo};
use lockcheck::models::Models;
use lockcheck::program::{Constant, FunctionId, Operand, Operation, Program};

/// An access to the global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub thread: ThreadId,
    pub phase: PhaseId,
    pub is_write: bool,
    pub line: u32,
}

pub fn threads_of(program: &Program) -> (Threads, CallGraph) {
    let models = Models::embedded();
    let bound = models.bind(program);
    let points_to = PointsTo::of(program, &bound);
    let calls = CallGraph::of(&points_to);
    let accesses = Accesses::of(program, &bound, &points_to);
    (Threads::of(program, &bound, (&points_to, &calls, &accesses), None), calls)
}

pub fn accesses(program: &Program, threads: &Threads, calls: &CallGraph, global: &str) -> BTreeSet<Access> {
    let is_global = |operand: Operand| matches!(operand, Operand::Constant(id) if matches!(program.constants[id], Constant::Global(one) if program.globals[one].name == global));
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<(ThreadId, FunctionId, Stage)> = BTreeSet::new();
    let mut open: Vec<(ThreadId, FunctionId, Stage)> =
        threads.roots().iter().map(|root| (root.thread, root.function, root.stage)).collect();
    while let Some((thread, function, stage)) = open.pop() {
        if !seen.insert((thread, function, stage)) {
            continue;
        }
        for (block, body) in program.functions[function].blocks.iter_enumerated() {
            for (index, instruction) in body.instructions.iter().enumerate() {
                let access = match &instruction.operation {
                    Operation::Load { address, .. } if is_global(*address) => Some(false),
                    Operation::Store { address, .. } if is_global(*address) => Some(true),
                    _ => None,
                };
                let line = program.place_of(instruction.site).map_or(0, |place| place.line);
                found.extend(access.map(|is_write| Access { thread, phase: threads.phase(stage, block, index), is_write, line }));
                if let Operation::Call { .. } = instruction.operation {
                    for edge in calls
                        .calls_in(function)
                        .iter()
                        .filter(|edge| edge.site == Some(instruction.site) && edge.kind.is_nested())
                    {
                        if program.functions[edge.callee].is_defined() {
                            open.push((thread, edge.callee, threads.enter(stage, block, index, edge.callee)));
                        }
                    }
                }
            }
        }
    }
    found
}

/// Conflicting accesses that may overlap.
pub fn overlaps(program: &Program, global: &str) -> Vec<(Access, Access)> {
    let (threads, calls) = threads_of(program);
    let all: Vec<Access> = accesses(program, &threads, &calls, global).into_iter().collect();
    let mut found = Vec::new();
    for (index, left) in all.iter().enumerate() {
        for right in &all[index..] {
            let relation = threads.relation((left.thread, left.phase), (right.thread, right.phase));
            let mirrored = threads.relation((right.thread, right.phase), (left.thread, left.phase));
            assert_eq!(relation.may_overlap(), mirrored.may_overlap(), "the relation has two sides");
            if (left.is_write || right.is_write) && relation == Relation::MayOverlap {
                found.push((*left, *right));
            }
        }
    }
    found
}
