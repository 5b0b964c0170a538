//! Stuck states as bugs: which threads keep each other from going on.
//!
//! # Definition   A thread *waits for* the holders of the lock it wants, or for the thread it joins. One that waits on a condition
//!                variable, a barrier or a semaphore waits for any thread that is stuck elsewhere than in a join.
//! The ends of the finding are the threads of the cycles of this relation; without a cycle, all that wait for anything but the end
//! of a thread. A thread that waits for itself (but for a one-time initialisation, of which no rule of its own speaks), or for a lock whose
//! holder has ended, is a misuse of its own, and so is no deadlock whatever waits for it alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bug, Names};
use crate::explore::sync::{BlockReason, ThreadId};
use crate::findings::{Role, Rule};

/// So many threads are named in the sentence; all are ends of the finding.
const MOST_NAMED: usize = 4;

type Waiting = [(ThreadId, BlockReason)];

pub fn bug(names: &Names<'_>, waiting: &Waiting) -> Option<Bug> {
    let waits_for = relation(names, waiting);
    let reaches = |from: ThreadId, to: ThreadId| reachable(&waits_for, from).contains(&to);
    let is_once =
        |thread: ThreadId| waiting.iter().any(|(other, reason)| *other == thread && matches!(reason, BlockReason::Once { .. }));
    let is_in_cycle = |thread: ThreadId| {
        waits_for[&thread].iter().any(|next| if *next == thread { is_once(thread) } else { reaches(*next, thread) })
    };
    let is_misuse = |thread: ThreadId| {
        waits_for[&thread].iter().any(|next| *next == thread && !is_once(thread) || !waits_for.contains_key(next))
    };
    let is_consequence = |thread: ThreadId| {
        is_misuse(thread)
            || reachable(&waits_for, thread).into_iter().any(|next| waits_for.contains_key(&next) && is_misuse(next))
    };
    let in_cycle: Vec<_> = waiting.iter().filter(|(thread, _)| is_in_cycle(*thread) && !is_misuse(*thread)).collect();
    let lonely = || {
        waiting
            .iter()
            .filter(|(thread, reason)| !matches!(reason, BlockReason::Join { .. }) && !is_consequence(*thread))
            .collect()
    };
    let members: Vec<&(ThreadId, BlockReason)> = if in_cycle.is_empty() { lonely() } else { in_cycle };
    if members.is_empty() {
        return None;
    }
    let machine = names.machine();
    let mut ends = Vec::new();
    let mut sentences = Vec::new();
    let mut objects = Vec::new();
    for (thread, reason) in members {
        let site = machine.next_operation(*thread).and_then(|operation| operation.site);
        let (role, what) = match *reason {
            BlockReason::Lock { lock, .. } => (Role::Acquire, names.primitive(lock, site)),
            BlockReason::Condition { condition, .. } | BlockReason::ConditionUnused { condition } => {
                (Role::Wait, names.primitive(condition, site))
            }
            BlockReason::Barrier { barrier, .. } => (Role::Wait, names.primitive(barrier, site)),
            BlockReason::Once { control } => (Role::Wait, names.primitive(control, site)),
            BlockReason::Semaphore { semaphore, .. } => (Role::Acquire, names.primitive(semaphore, site)),
            BlockReason::Join { thread, .. } => (Role::Join, names.thread(thread)),
        };
        sentences.push(format!("{} {}for {what}", names.short_thread(*thread), if sentences.is_empty() { "waits " } else { "" }));
        ends.push(names.end_now(*thread, role, what.clone(), site));
        objects.push(what);
    }
    objects.sort();
    objects.dedup();
    let object = objects.join(", ");
    let more = sentences.len().saturating_sub(MOST_NAMED);
    sentences.truncate(MOST_NAMED);
    let more = if more > 0 { format!(", and so do {more} more") } else { String::new() };
    let message = format!("deadlock: {}{more}; none of them can go on", sentences.join(", "));
    Some(Bug::new(Rule::Deadlock, object.clone(), object, message, ends))
}

/// For each stuck thread, those it waits for. A thread that is in no key has ended.
fn relation(names: &Names<'_>, waiting: &Waiting) -> BTreeMap<ThreadId, BTreeSet<ThreadId>> {
    let can_act = || waiting.iter().filter(|(_, reason)| !matches!(reason, BlockReason::Join { .. })).map(|(thread, _)| *thread);
    let successors = |thread: ThreadId, reason: &BlockReason| match *reason {
        BlockReason::Lock { .. } | BlockReason::Join { .. } | BlockReason::Once { .. } => {
            names.machine().sync.waits_for(thread, reason).into_iter().collect()
        }
        BlockReason::Condition { .. }
        | BlockReason::ConditionUnused { .. }
        | BlockReason::Barrier { .. }
        | BlockReason::Semaphore { .. } => can_act().filter(|other| *other != thread).collect(),
    };
    waiting.iter().map(|(thread, reason)| (*thread, successors(*thread, reason))).collect()
}

fn reachable(relation: &BTreeMap<ThreadId, BTreeSet<ThreadId>>, from: ThreadId) -> BTreeSet<ThreadId> {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(thread) = open.pop() {
        for next in relation.get(&thread).into_iter().flatten() {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen
}
