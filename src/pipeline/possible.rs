//! A candidate in the words of a finding: how each thread gets there, what it holds, and what is said of it in one sentence.

use crate::engines::race::{Candidate, LockHeld, RefutedGroup, Side};
use crate::facts::{Facts, ThreadId};
use crate::findings::{End, HeldLock, Refuted, Role, Rule, TraceStep};
use crate::program::{Callee, FunctionId, Operation, Program, SiteId};

/// Ends of findings from the sides of candidates.
pub struct Sides<'a> {
    pub program: &'a Program,
    pub facts: &'a Facts<'a>,
}

impl Sides<'_> {
    pub fn end(&self, side: &Side) -> End {
        let mut trace = Vec::new();
        self.creations(side.thread, &mut trace);
        trace.extend(side.calls.iter().map(|site| self.call(*site)));
        End {
            thread: side.thread_name.clone(),
            role: side.role,
            object: side.object.clone(),
            place: side.place.clone(),
            function: side.function_name.clone(),
            locks: side.locks.iter().map(|held| self.held(held)).collect(),
            trace,
            is_cut: side.is_cut,
        }
    }

    pub fn refuted(&self, rule: Rule, group: &RefutedGroup) -> Refuted {
        Refuted {
            rule,
            object: group.object.clone(),
            reason: group.reason,
            detail: group.detail.clone(),
            count: group.count,
            ends: group.ends.iter().map(|side| self.end(side)).collect(),
        }
    }

    /// How the thread and its ancestors were created, outermost first.
    fn creations(&self, thread: ThreadId, trace: &mut Vec<TraceStep>) {
        let threads = &self.facts.threads;
        let mut steps = Vec::new();
        let mut current = Some(thread);
        let mut seen = Vec::new();
        while let Some(id) = current.filter(|id| !seen.contains(id)) {
            seen.push(id);
            let created = threads.thread(id);
            if let Some((site, calls)) = created.path.split_last() {
                let entry = created.entry.map_or("a thread", |entry| self.program.functions[entry].source_name.as_str());
                steps.push(self.step(*site, format!("create {entry}")));
                steps.extend(calls.iter().rev().map(|site| self.call(*site)));
            }
            current = created.parent;
        }
        trace.extend(steps.into_iter().rev());
    }

    fn call(&self, site: SiteId) -> TraceStep {
        let function = self.program.sites[site].function;
        let instructions = self.program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
        let callee =
            instructions.filter(|instruction| instruction.site == site).find_map(|instruction| match &instruction.operation {
                Operation::Call { callee, .. } => Some(*callee),
                _ => None,
            });
        let name = match callee {
            Some(Callee::Direct(function)) => self.program.functions[function].source_name.clone(),
            Some(Callee::Indirect(_)) => "a function pointer".to_owned(),
            None => "a function".to_owned(),
        };
        self.step(site, format!("call {name}"))
    }

    fn step(&self, site: SiteId, event: String) -> TraceStep {
        let function = match self.program.location_of(site) {
            Some(location) => location.function.clone(),
            None => self.source_name(self.program.sites[site].function),
        };
        TraceStep { place: self.program.place_of(site), function, event }
    }

    fn source_name(&self, function: FunctionId) -> String {
        self.program.functions[function].source_name.clone()
    }

    fn held(&self, held: &LockHeld) -> HeldLock {
        HeldLock { name: held.name.clone(), taken_at: held.taken_at.and_then(|site| self.program.place_of(site)) }
    }
}

/// The headline: who does what to which object.
pub fn message(candidate: &Candidate) -> String {
    let verb = |side: &Side| match side.role {
        Role::Read | Role::AtomicRead => "reads",
        Role::Write | Role::AtomicWrite => "writes",
        Role::Free => "frees",
        Role::Acquire | Role::Release | Role::Join | Role::Wait | Role::Destroy | Role::End | Role::Fault => "uses",
    };
    let what = match candidate.ends.as_slice() {
        [one] => match &candidate.other_thread {
            Some(other) if short(other) != short(&one.thread_name) => {
                format!("{} and {} write it", short(&one.thread_name), subject(short(other)))
            }
            Some(other) => format!("{} and {other} write it", one.thread_name),
            None => format!("two instances of {} write it", subject(short(&one.thread_name))),
        },
        [one, two] if verb(one) == "writes" && verb(two) == "writes" => {
            let (first, second) = names(one, two);
            format!("{first} and {} write it", subject(&second))
        }
        [one, two] => {
            let (first, second) = names(one, two);
            format!("{} {} it, {} {} it", subject(&first), verb(one), subject(&second), verb(two))
        }
        _ => "several threads touch it".to_owned(),
    };
    format!("possible data race on {}: {what}, and nothing was found that orders them", candidate.object)
}

/// The shortest names that tell two threads apart.
fn names(one: &Side, two: &Side) -> (String, String) {
    let (first, second) = (short(&one.thread_name), short(&two.thread_name));
    if first != second {
        return (first.to_owned(), second.to_owned());
    }
    if one.thread_name != two.thread_name {
        return (one.thread_name.clone(), two.thread_name.clone());
    }
    (first.to_owned(), format!("another {second}"))
}

/// A thread before a verb: `stop, a signal handler,`.
fn subject(thread: &str) -> String {
    let comma = if thread.contains(", ") { "," } else { "" };
    format!("{thread}{comma}")
}

/// `visitor` for `visitor@a.c:30`.
fn short(thread: &str) -> &str {
    thread.split('@').next().unwrap_or(thread)
}
