//! Threads that end and keep a lock: whoever comes later waits for ever.
//!
//! # Definition   A created thread has a way to its end on which it takes a lock, one run-time lock that only its holder releases, and does not give it back.
//! # Rule         `lock-leak`, at the acquisition, as for execution.
//! # False alarms Branches that exclude each other.
//! # Misses       Locks that one name stands for in their hundreds, locks that nobody else touches, ways that are too long to be shown, programs with
//!                jumps out of functions. Every lock that may be kept is a limit of the deadlock check.

use std::collections::BTreeMap;

use super::again::OwnFault;
use super::in_program::Writer;
use crate::facts::ThreadKind;
use crate::findings::{Role, Rule};
use crate::locks::history::{Atom, LockId};
use crate::program::SiteId;
use crate::thread_pds::{Analysis, LockName, Origin, ThreadId};

/// So many ways to the ends of threads are looked for.
const MOST_WAYS: usize = 32;

impl Writer<'_, '_, '_> {
    /// Locks that threads keep, one fault for each place where one was taken.
    pub(super) fn leaks(&mut self, analysis: &mut Analysis<'_>) -> Vec<OwnFault> {
        let mut found: BTreeMap<(SiteId, LockId), OwnFault> = BTreeMap::new();
        if !self.threads.remarks.jumps.is_empty() {
            return Vec::new();
        }
        let mut ways = 0;
        for thread in analysis.threads.ids() {
            let source = self.threads.sources[thread.index()];
            if self.tabulation.facts.threads.thread(source).kind == ThreadKind::Created {
                self.leaks_of(thread, analysis, &mut ways, &mut found);
            }
        }
        found.into_values().collect()
    }

    fn leaks_of(
        &mut self,
        thread: ThreadId,
        analysis: &mut Analysis<'_>,
        ways: &mut usize,
        found: &mut BTreeMap<(SiteId, LockId), OwnFault>,
    ) {
        for end in self.threads.ends[thread.index()].clone() {
            let is_one = |lock: LockId| matches!(self.threads.name(lock), LockName::Place(_)) && analysis.is_reliable(lock);
            let kept = analysis.may_hold(thread, Origin::Created, end);
            if !kept.iter().any(|atom| is_one(Atom::from_index(atom).lock())) {
                continue;
            }
            for history in analysis.histories_at(thread, Origin::Created, end).iter() {
                if analysis.is_out_of_time() || *ways >= MOST_WAYS || history.held.is_empty() {
                    continue;
                }
                *ways += 1;
                let Some(way) = analysis.path_to(thread, Origin::Created, end, history) else { continue };
                for taken in way.holds {
                    let lock = taken.atom.lock();
                    let is_one = matches!(self.threads.name(lock), LockName::Place(_)) && analysis.is_reliable(lock);
                    let Some(at) = taken.at.filter(|_| is_one) else { continue };
                    let site = self.threads.spot(thread, at).site;
                    if found.contains_key(&(site, lock)) {
                        continue;
                    }
                    let object = self.lock(lock);
                    let end = self.side_of(thread, at, (Role::Acquire, object.clone()), None);
                    let name = end.thread_name.split('@').next().unwrap_or_default();
                    let message = format!("{name} may end and still hold {object}");
                    let why = format!("{} has a way to its end on which it does not give {object} back", end.thread_name);
                    found.insert((site, lock), OwnFault { rule: Rule::LockLeak, object, end, message, why });
                }
            }
        }
    }
}
