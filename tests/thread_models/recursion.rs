//! Which models recurse.

use lockcheck::thread_model::{StepKind, ThreadModel};

/// Whether some procedure comes back to itself: the product cannot see all of its states.
pub fn is_recursive(model: &ThreadModel) -> bool {
    let callees = |index: usize| {
        model.procedures[index]
            .steps
            .iter()
            .filter_map(|step| if let StepKind::Call { procedure } = step.kind { Some(procedure) } else { None })
    };
    (0..model.procedures.len()).any(|start| {
        let mut seen: Vec<usize> = callees(start).collect();
        let mut next = 0;
        while let Some(&procedure) = seen.get(next) {
            next += 1;
            let more: Vec<usize> = callees(procedure).filter(|callee| !seen.contains(callee)).collect();
            seen.extend(more);
        }
        seen.contains(&start)
    })
}
