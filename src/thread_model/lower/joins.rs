//! Which joins certainly have something to join: they are lowered without a test, as a C programmer would write them.
//!
//! # Definition   A join of T is *certain* when on every path through its procedure a `spawn T` comes before it, and no `join T` in
//!                between; calls that may join T in between count as joins.
//! # Rule         All joins of T by a thread are lowered alike: only if all are certain no join needs to clear the handle.

use crate::thread_model::{ProcedureIndex, StepKind, ThreadIndex, ThreadModel};

/// Whether every join of `joined` in the procedures that share a handle is certain.
pub fn is_certain(model: &ThreadModel, joiner: Option<ThreadIndex>, joined: ThreadIndex) -> bool {
    let has_join =
        |index: ProcedureIndex| model.procedures[index].steps.iter().any(|step| step.kind == StepKind::Join { thread: joined });
    // Handles are shared by the procedures of one thread, and thread-local ones by name: look at every procedure when one is shared.
    let is_shared = joiner.is_none()
        || model.procedures.iter().enumerate().any(|(index, procedure)| procedure.thread.is_none() && has_join(index));
    let concerned =
        (0..model.procedures.len()).filter(|index| has_join(*index) && (is_shared || model.procedures[*index].thread == joiner));
    concerned.into_iter().all(|index| joins_certainly(model, index, joined))
}

/// The procedures that a call of this one may come to, itself included.
fn closure(model: &ThreadModel, from: ProcedureIndex) -> Vec<ProcedureIndex> {
    let mut found = vec![from];
    let mut next = 0;
    while let Some(&procedure) = found.get(next) {
        next += 1;
        for step in &model.procedures[procedure].steps {
            if let StepKind::Call { procedure: callee } = step.kind
                && !found.contains(&callee)
            {
                found.push(callee);
            }
        }
    }
    found
}

/// Must-analysis over the steps: `spawned[i]` holds when on all paths to step i the last spawn was not joined yet.
fn joins_certainly(model: &ThreadModel, procedure: ProcedureIndex, joined: ThreadIndex) -> bool {
    let steps = &model.procedures[procedure].steps;
    let may_join = |callee| {
        closure(model, callee)
            .iter()
            .any(|index| model.procedures[*index].steps.iter().any(|step| step.kind == StepKind::Join { thread: joined }))
    };
    let mut spawned = vec![true; steps.len() + 1];
    spawned[0] = false;
    loop {
        let before = spawned.clone();
        for (at, step) in steps.iter().enumerate() {
            let after = match &step.kind {
                StepKind::Spawn { thread } if *thread == joined => true,
                StepKind::Join { thread } if *thread == joined => false,
                StepKind::Call { procedure } if may_join(*procedure) => false,
                _ => spawned[at],
            };
            let successors = match &step.kind {
                StepKind::Goto { targets } => targets.clone(),
                StepKind::Try { then, otherwise, .. } => vec![then.unwrap_or(at + 1), otherwise.unwrap_or(at + 1)],
                StepKind::Return => Vec::new(),
                _ => vec![at + 1],
            };
            successors.into_iter().for_each(|successor| spawned[successor] &= after);
        }
        if spawned == before {
            break;
        }
    }
    let is_certain =
        |(at, step): (usize, &crate::thread_model::Step)| step.kind != StepKind::Join { thread: joined } || spawned[at];
    steps.iter().enumerate().all(is_certain)
}
