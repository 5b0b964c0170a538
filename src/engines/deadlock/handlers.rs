//! Signal handlers that take a lock which the thread that they interrupt may hold.
//!
//! # Definition   A handler, or a function that it calls, stands before an acquisition that waits; a thread takes the same lock, in a mode that excludes it,
//!                outside of that handler.
//! # Theorem      The handler runs on the stack of the thread that it interrupts. If that thread holds the lock, it gives it back only when the handler
//!                has returned, and the handler waits for that: neither goes on. (POSIX does not let handlers lock mutexes at all: `pthread_mutex_lock` is not
//!                async-signal-safe.)
//! # Rule         `deadlock`, with two ends: where the handler waits, and where the thread has taken the lock.
//! # False alarms Signals that are blocked wherever the lock is held; handlers that are installed when nobody takes the lock any more; signals that
//!                only go to threads which do not take it.
//! # Misses       Locks that one name stands for in their hundreds. That handlers are installed at all is an assumption that keeps the check from
//!                being safe.

use std::collections::{BTreeMap, BTreeSet};

use super::in_program::{CycleCandidate, Writer};
use crate::facts::ThreadKind;
use crate::findings::Role;
use crate::locks::Mode;
use crate::locks::history::LockId;
use crate::program::{FunctionId, SiteId};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, LockName, Origin, Step, ThreadId};

/// A thread that stands before an acquisition, or a try of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Taking {
    site: SiteId,
    thread: ThreadId,
    symbol: SymbolId,
    mode: Mode,
}

/// Handlers that may wait for the thread below them, one candidate for each place where a handler waits.
pub fn waiting_handlers(writer: &mut Writer<'_, '_, '_>, analysis: &Analysis<'_>) -> Vec<CycleCandidate> {
    let mut waiting: BTreeMap<(LockId, SiteId), (Taking, FunctionId)> = BTreeMap::new();
    let mut taken: BTreeMap<LockId, BTreeSet<Taking>> = BTreeMap::new();
    for thread in analysis.threads.ids() {
        let source = writer.threads.sources[thread.index()];
        let source = writer.tabulation.facts.threads.thread(source);
        let handler = source.entry.filter(|_| source.kind == ThreadKind::Handler);
        for (_, rule) in analysis.threads.thread(thread).system.rules() {
            let symbol = rule.from.symbol;
            let (lock, mode, waits) = match rule.weight {
                Step::Acquire { lock, mode } => (lock, mode, true),
                Step::TrySucceeded { lock, mode } => (lock, mode, false),
                Step::Nothing
                | Step::TryFailed { .. }
                | Step::Release { .. }
                | Step::Sleep { .. }
                | Step::Join { .. }
                | Step::Spawn { .. }
                | Step::Condition => continue,
            };
            let is_one = matches!(writer.threads.name(lock), LockName::Place(_)) && writer.threads.may_wait_for_itself(lock);
            let mut origins = [Origin::Start, Origin::Created].into_iter();
            let comes = |origin| analysis.population.exists(thread, origin) && analysis.comes_to(thread, origin, symbol);
            if analysis.is_out_of_time() || !is_one || !origins.any(comes) {
                continue;
            }
            let spot = writer.threads.spot(thread, symbol);
            let taking = Taking { site: spot.site, thread, symbol, mode };
            match handler {
                Some(handler) if waits && spot.lock.is_some() => {
                    waiting.entry((lock, spot.site)).or_insert((taking, handler));
                }
                Some(_) => {}
                None => _ = taken.entry(lock).or_default().insert(taking),
            }
        }
    }
    let mut found = Vec::new();
    for ((lock, _), (waits, handler)) in waiting {
        let excludes = |holder: &&Taking| waits.mode == Mode::Exclusive || holder.mode == Mode::Exclusive;
        let mut holders = taken.get(&lock).into_iter().flatten().filter(excludes);
        let Some(holder) = holders.next() else { continue };
        let others: BTreeSet<SiteId> = holders.map(|other| other.site).filter(|site| *site != holder.site).collect();
        found.push(writer.interrupted(lock, (&waits, handler), (holder, others.len())));
    }
    found
}

impl Writer<'_, '_, '_> {
    fn interrupted(
        &mut self,
        lock: LockId,
        (waits, handler): (&Taking, FunctionId),
        (holder, others): (&Taking, usize),
    ) -> CycleCandidate {
        let name = self.lock(lock);
        let handler = self.tabulation.program.functions[handler].name.clone();
        let inside = self.side_of(waits.thread, waits.symbol, (Role::Acquire, name.clone()), None);
        let below = self.side_of(holder.thread, holder.symbol, (Role::Acquire, name.clone()), None);
        let more = match others {
            0 => String::new(),
            1 => ", as well as one other place where it is taken".to_owned(),
            count => format!(", as well as {count} other places where it is taken"),
        };
        let why = format!(
            "if the signal comes when {} has taken {name}{more}, {handler} waits for it, and its thread goes on only when {handler} has returned; \
             whether the signal is blocked there is not known",
            below.thread_name
        );
        let thread = below.thread_name.split('@').next().unwrap_or_default();
        let headline = format!(
            "possible deadlock: the signal handler {handler} waits for {name}, which {thread} may hold when it is interrupted"
        );
        CycleCandidate {
            object: name.clone(),
            ends: vec![inside, below],
            blocks_by: vec![None, Some(name)],
            headline: Some(headline),
            why,
        }
    }
}
