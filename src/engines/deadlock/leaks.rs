//! Threads that end and keep a lock: whoever comes later waits for ever.
//!
//! # Definition   A created thread comes to its end by a way on which it holds a lock for certain, one run-time lock, taken at a known place.
//! # Rule         `lock-leak`, at the acquisition, as for execution.
//! # False alarms Branches that exclude each other.
//! # Misses       Locks that one name stands for in their hundreds; programs with jumps out of functions. Each is a limit of the deadlock check,
//!                as is every lock that may be kept.

use std::collections::BTreeMap;

use super::again::OwnFault;
use super::in_program::Writer;
use crate::engines::race::Side;
use crate::facts::ThreadKind;
use crate::findings::{Role, Rule};
use crate::locks::Token;
use crate::locks::history::{Atom, LockId};
use crate::program::SiteId;
use crate::thread_pds::{Analysis, LockName, Origin};

impl Writer<'_, '_, '_> {
    /// Locks that threads keep, one fault for each place where one was taken.
    pub(super) fn leaks(&mut self, analysis: &Analysis<'_>) -> Vec<OwnFault> {
        let mut found: BTreeMap<(SiteId, LockId), OwnFault> = BTreeMap::new();
        if !self.threads.remarks.jumps.is_empty() {
            return Vec::new();
        }
        for thread in analysis.threads.ids() {
            let source = self.threads.sources[thread.index()];
            if self.tabulation.facts.threads.thread(source).kind != ThreadKind::Created {
                continue;
            }
            for end in self.threads.ends[thread.index()].clone() {
                if analysis.is_out_of_time() || !analysis.comes_to(thread, Origin::Created, end) {
                    continue;
                }
                let kept = analysis.may_hold(thread, Origin::Created, end);
                let spot = self.threads.spot(thread, end).clone();
                let things: Vec<_> = self.tabulation.locksets.get(spot.lockset).iter().cloned().zip(spot.sites.clone()).collect();
                for (thing, taken_at) in things.into_iter().filter(|(thing, _)| thing.token == Token::Lock) {
                    let (Some(place), Some(taken_at)) = (thing.names.place, taken_at) else { continue };
                    let number = self.threads.names.iter().position(|name| *name == LockName::Place(place));
                    let Some(lock) = number.map(|number| LockId(number as u32)) else { continue };
                    if found.contains_key(&(taken_at, lock)) || kept.iter().all(|atom| Atom::from_index(atom).lock() != lock) {
                        continue;
                    }
                    let object = self.lock(lock);
                    let there = self.side_of(thread, end, (Role::Acquire, object.clone()), None);
                    let program = self.tabulation.program;
                    let name = there.thread_name.split('@').next().unwrap_or_default().to_owned();
                    let ended = there.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
                    let why = format!("{} holds {object} on a way to its end{ended}", there.thread_name);
                    let end = Side {
                        site: taken_at,
                        function: program.sites[taken_at].function,
                        function_name: self.names.function(taken_at),
                        place: program.place_of(taken_at),
                        locks: Vec::new(),
                        calls: Vec::new(),
                        ..there
                    };
                    let message = format!("{name} may end and still hold {object}");
                    found.insert((taken_at, lock), OwnFault { rule: Rule::LockLeak, object, end, message, why });
                }
            }
        }
        found.into_values().collect()
    }
}
