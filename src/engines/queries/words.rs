//! Answers of the lock engines in words, with the lines of the model.

use super::Asked;
use crate::engines::deadlock::{DeadlockCycle, Dismissal, Member, Wait};
use crate::engines::reachability::{NotTogether, Refutation, Standing};
use crate::locks::history::{Incompatible, LockId};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Path, ThreadId};

impl Asked<'_> {
    fn thread_name(&self, thread: ThreadId) -> &str {
        &self.threads.threads.thread(thread).name
    }

    fn lock_name(&self, lock: LockId) -> &str {
        self.threads.threads.locks.name(lock)
    }

    fn line(&self, thread: ThreadId, symbol: SymbolId) -> usize {
        let (procedure, step) = self.threads.step(thread, symbol);
        let body = &self.model.procedures[procedure];
        body.steps.get(step).map_or(body.end.line, |step| step.position.line)
    }

    fn text(&self, thread: ThreadId, symbol: SymbolId) -> String {
        let (procedure, step) = self.threads.step(thread, symbol);
        let body = &self.model.procedures[procedure];
        body.steps.get(step).map_or_else(|| format!("end of {}", body.name), |step| self.model.step_text(procedure, &step.kind))
    }

    fn path(&mut self, standing: &Standing) -> Option<Path> {
        self.analysis.path_to(standing.thread, standing.origin, standing.symbol?, &standing.history)
    }

    /// "a, taken at line 3".
    fn taken(&mut self, standing: &Standing, lock: LockId) -> String {
        let path = self.path(standing);
        let taken = path.and_then(|path| path.holds.into_iter().find(|taken| taken.atom.lock() == lock));
        let name = self.lock_name(lock);
        match taken {
            Some(taken) => match taken.at {
                Some(symbol) => format!("{name}, taken at line {}", self.line(standing.thread, symbol)),
                None => format!("{name}, held from the start"),
            },
            None => name.to_owned(),
        }
    }

    /// The way of each participant, one line a step.
    pub(super) fn ways(&mut self, participants: &[Standing]) -> Vec<String> {
        let mut lines = Vec::new();
        for standing in participants {
            let name = self.thread_name(standing.thread).to_owned();
            let Some(path) = self.path(standing) else {
                lines.push(format!("{name}: no short way to show"));
                continue;
            };
            for (at, symbol) in path.symbols.iter().enumerate() {
                let (line, text) = (self.line(standing.thread, *symbol), self.text(standing.thread, *symbol));
                let now = if at + 1 == path.symbols.len() { " now stands before" } else { "," };
                lines.push(format!("{name}{now} line {line}: {text}"));
            }
        }
        lines
    }

    pub(super) fn cycle(&mut self, cycle: &DeadlockCycle) -> Vec<String> {
        let mut lines = Vec::new();
        for member in &cycle.members {
            lines.extend(self.ways(std::slice::from_ref(&member.standing)));
            lines.push(self.member(member));
        }
        lines
    }

    fn member(&mut self, member: &Member) -> String {
        let holds = member.blocks_by.map(|lock| self.taken(&member.standing, lock));
        let waits = match member.waits {
            Wait::Lock { lock, .. } => self.lock_name(lock).to_owned(),
            Wait::Join { thread } => format!("the end of {}", self.thread_name(thread)),
        };
        let line = self.line(member.standing.thread, member.symbol);
        let name = self.thread_name(member.standing.thread);
        match holds {
            Some(holds) => format!("{name} holds {holds}, and waits at line {line} for {waits}"),
            None => format!("{name} waits at line {line} for {waits}"),
        }
    }

    pub(super) fn refutation(&mut self, refutation: &Refutation) -> String {
        match refutation {
            Refutation::NotReached(target) => {
                format!(
                    "{} does not come to line {}, even alone",
                    self.thread_name(target.thread),
                    self.line(target.thread, target.symbol)
                )
            }
            Refutation::TooFewInstances(thread) => format!("there are not as many instances of {}", self.thread_name(*thread)),
            Refutation::NotTogether { reason, .. } => self.not_together(reason),
            Refutation::Contextual(targets) => {
                let names = targets.map(|target| self.thread_name(target.thread).to_owned());
                format!(
                    "in no order of their steps do {} and {} come there, each giving back what it took in the call that took it",
                    names[0], names[1]
                )
            }
            Refutation::Locks { participants, reason } => self.locks(participants, reason),
        }
    }

    fn locks(&mut self, participants: &[Standing], reason: &Incompatible) -> String {
        let names: Vec<String> = participants.iter().map(|one| self.thread_name(one.thread).to_owned()).collect();
        match reason {
            Incompatible::CommonLock { lock, one, other } => {
                let (first, second) = (self.taken(&participants[*one], *lock), self.taken(&participants[*other], *lock));
                format!("{} holds {first}, and {} holds {second}", names[*one], names[*other])
            }
            Incompatible::HeldThroughout { lock, holder, taker } => {
                format!("{} holds {} from its start on, and {} takes it", names[*holder], self.lock_name(*lock), names[*taker])
            }
            Incompatible::AcquisitionCycle(cycle) => {
                let each =
                    |(at, lock): &(usize, LockId)| format!("{} holds {}", names[*at], self.taken(&participants[*at], *lock));
                let holds: Vec<String> = cycle.iter().map(each).collect();
                format!("each has used the next one's lock since it took its own: {}", holds.join("; "))
            }
            Incompatible::ReleaseCycle(cycle) => {
                let each = |(at, lock): &(usize, LockId)| format!("{} with {}", names[*at], self.lock_name(*lock));
                let uses: Vec<String> = cycle.iter().map(each).collect();
                format!("each uses the next one's lock before it first releases its own: {}", uses.join("; "))
            }
        }
    }

    fn not_together(&self, reason: &NotTogether) -> String {
        match reason {
            NotTogether::NotAfterCreation { creator, child } => {
                format!(
                    "{} is there before {} begins, or after it has ended",
                    self.thread_name(*creator),
                    self.thread_name(*child)
                )
            }
            NotTogether::SinceCreation { creator, child, reason } => {
                let lock = match reason {
                    Incompatible::CommonLock { lock, .. } | Incompatible::HeldThroughout { lock, .. } => Some(*lock),
                    Incompatible::AcquisitionCycle(cycle) | Incompatible::ReleaseCycle(cycle) => {
                        cycle.first().map(|(_, lock)| *lock)
                    }
                };
                let lock = lock.map_or("a lock", |lock| self.lock_name(lock));
                format!("since {} has created {}, {lock} keeps them apart", self.thread_name(*creator), self.thread_name(*child))
            }
            NotTogether::Ordered(_) => unreachable!("the order of a model is in its steps"),
            NotTogether::OneAfterTheOther { creator } => {
                format!("{} joins one of them before it creates the other", self.thread_name(*creator))
            }
        }
    }

    pub(super) fn dismissal(&self, reason: &Dismissal) -> String {
        match reason {
            Dismissal::SingleInstance(thread) => format!("it needs {} more often than it exists", self.thread_name(*thread)),
            Dismissal::NotTogether(reason) => self.not_together(reason),
            Dismissal::GateLock(lock) => format!("{} lets one of them in at a time", self.lock_name(*lock)),
            Dismissal::Histories(Incompatible::HeldThroughout { lock, .. } | Incompatible::CommonLock { lock, .. }) => {
                format!("{} keeps them apart", self.lock_name(*lock))
            }
            Dismissal::Histories(Incompatible::AcquisitionCycle(cycle) | Incompatible::ReleaseCycle(cycle)) => {
                let locks: Vec<&str> = cycle.iter().map(|(_, lock)| self.lock_name(*lock)).collect();
                format!("the lock histories of {} contradict each other", locks.join(", "))
            }
            Dismissal::Children => "each of them waits for a thread that it has created itself".to_owned(),
            Dismissal::InOrder => "locks are taken in the order of their addresses".to_owned(),
            Dismissal::InOrderOfKeys => "locks are taken in the order of numbers beside them".to_owned(),
            Dismissal::NotHeld(thread) => format!("{} does not hold that lock there", self.thread_name(*thread)),
        }
    }
}
