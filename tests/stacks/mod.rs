//! The activations of a run, and what points-to calls the objects that they make.

use std::collections::BTreeMap;

use lockcheck::explore::thread_id::ThreadId;
use lockcheck::facts::{AbstractObjectId, AbstractObjectKind, Origin, PointsTo};
use lockcheck::program::{FunctionId, Program, RegisterId, SiteId};

/// The active functions of each thread and the sites that called them, outermost first.
#[derive(Default)]
pub struct Stacks(BTreeMap<ThreadId, Vec<(FunctionId, Option<SiteId>)>>);

impl Stacks {
    pub fn push(&mut self, thread: ThreadId, function: FunctionId, site: Option<SiteId>) {
        self.0.entry(thread).or_default().push((function, site));
    }

    pub fn pop(&mut self, thread: ThreadId) -> Option<FunctionId> {
        self.0.entry(thread).or_default().pop().map(|(function, _)| function)
    }

    fn of(&self, thread: ThreadId) -> &[(FunctionId, Option<SiteId>)] {
        self.0.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// Of what a thread does: it begins with the outermost function on its stack.
    pub fn origin(&self, thread: ThreadId) -> Origin {
        match self.of(thread).first() {
            Some((entry, _)) if thread != ThreadId(0) => Origin::Entry(*entry),
            _ => Origin::First,
        }
    }

    /// What is allocated at the site by the innermost activation is called so.
    pub fn heap_names(&self, program: &Program, points_to: &PointsTo, site: SiteId, thread: ThreadId) -> Vec<AbstractObjectId> {
        let calls = calls(points_to, self.of(thread));
        points_to.heap_objects(program, site, calls, self.origin(thread))
    }

    /// What a stack object may be called: any activation of its function may have made it, or one that has ended.
    pub fn slot_names(
        &self,
        points_to: &PointsTo,
        slot: (FunctionId, RegisterId, SiteId),
        thread: ThreadId,
    ) -> Vec<AbstractObjectId> {
        let stack = self.of(thread);
        let makers: Vec<usize> = (1..=stack.len()).filter(|count| stack[count - 1].0 == slot.0).collect();
        if makers.is_empty() {
            let is_slot = |kind: &AbstractObjectKind| matches!(kind, AbstractObjectKind::StackSlot { function, register, site, .. } if (*function, *register, *site) == slot);
            return points_to.objects().filter(|(_, object)| is_slot(&object.kind)).map(|(id, _)| id).collect();
        }
        let named =
            makers.into_iter().map(|count| points_to.stack_objects(slot, calls(points_to, &stack[..count]), self.origin(thread)));
        named.flatten().collect()
    }
}

/// The calls of some activations, innermost first: each the site of a call instruction, and the function it stands in.
fn calls<'a>(
    points_to: &'a PointsTo,
    stack: &'a [(FunctionId, Option<SiteId>)],
) -> impl Iterator<Item = (Option<SiteId>, FunctionId)> + 'a {
    (0..stack.len()).rev().map(|at| {
        let (function, call_site) = stack[at];
        let call_site = call_site.filter(|site| points_to.callees(*site).contains(&function));
        (call_site, at.checked_sub(1).map_or(function, |below| stack[below].0))
    })
}
