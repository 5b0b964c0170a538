//! Schedules aimed at a pair of sites: a thread that is about to execute one of them waits until another is about to execute the other.
//!
//! # Paper        Sen 2008 (RaceFuzzer): whoever stands before a site of the pair is postponed, until two threads stand before both of them and
//!                would touch the same memory; then both go, in either order. When nobody else can run, one of those that wait goes on.
//! # Deviations   1. A thread does not wait for ever: others may be spinning until it gets on. Its patience is drawn anew each time.
//!                2. Some seeds let a site pass now and then, so that not only its first executions are tried.
//!                3. Everything else is as random as [`Random`] is.
//!
//! It is a hint and nothing more: what a schedule shows is judged as what any other shows.

use std::collections::BTreeMap;

use super::{Candidate, Choice, Choices, Generator, InputRequest, Random, Scheduler};
use crate::explore::machine::{Extent, Machine, OperationKind, PendingOperation};
use crate::explore::thread_id::ThreadId;
use crate::program::SiteId;

/// Two sites that may race; they may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    pub sites: [SiteId; 2],
}

pub struct Biased {
    target: Target,
    generator: Generator,
    otherwise: Random,
    /// A site is let pass once in so many times; 0: never.
    lets_pass: u64,
    /// Those that wait, and how many more choices they do.
    waiting: BTreeMap<ThreadId, u64>,
    /// Those that stand before a site and need not wait for it any more.
    released: Vec<ThreadId>,
    /// Who goes next, whatever else could: the second of two that have met.
    forced: Option<ThreadId>,
    /// Two threads that stand before the two sites with one memory in mind.
    met: Option<[ThreadId; 2]>,
}

impl Biased {
    pub fn new(target: Target, seed: u64) -> Biased {
        let mut generator = Generator::new(seed);
        let lets_pass = generator.pick(&[0, 0, 2, 4]);
        let otherwise = Random::new(generator.word());
        Biased {
            target,
            generator,
            otherwise,
            lets_pass,
            waiting: BTreeMap::new(),
            released: Vec::new(),
            forced: None,
            met: None,
        }
    }

    /// Begins to wait, or is let pass.
    fn arrive(&mut self, thread: ThreadId) {
        if self.lets_pass > 0 && self.generator.once_in(self.lets_pass) {
            self.released.push(thread);
        } else {
            // Short waits and long ones are equally likely.
            let magnitude = 4 + self.generator.below(10);
            self.waiting.insert(thread, 1 << magnitude);
        }
    }

    fn release(&mut self, thread: ThreadId) {
        self.waiting.remove(&thread);
        self.released.push(thread);
    }
}

impl Scheduler for Biased {
    fn look(&mut self, machine: &Machine<'_>, candidates: &[Candidate]) {
        let before: Vec<(ThreadId, PendingOperation)> = candidates
            .iter()
            .filter_map(|candidate| Some((candidate.thread, machine.next_operation(candidate.thread)?)))
            .filter(|(_, operation)| operation.site.is_some_and(|site| self.target.sites.contains(&site)))
            .collect();
        let stands = |thread: &ThreadId| before.iter().any(|(other, _)| other == thread);
        self.waiting.retain(|thread, _| stands(thread));
        self.released.retain(|thread| stands(thread));
        for (thread, _) in &before {
            if !self.waiting.contains_key(thread) && !self.released.contains(thread) {
                self.arrive(*thread);
            }
        }
        let mut met = Vec::new();
        for (index, (one, first)) in before.iter().enumerate() {
            for (other, second) in &before[index + 1..] {
                let sites = [first.site, second.site].map(|site| site.expect("it is one of the target's"));
                let is_pair = sites == self.target.sites || [sites[1], sites[0]] == self.target.sites;
                if is_pair && may_touch_the_same(&first.kind, &second.kind) {
                    met.push([*one, *other]);
                }
            }
        }
        self.met = if met.is_empty() { None } else { Some(self.generator.pick(&met)) };
    }

    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        if let Some(thread) = self.forced.take().filter(|thread| choices.contains(*thread)) {
            return Choice::Run(thread);
        }
        if let Some(mut pair) = self.met {
            if self.generator.once_in(2) {
                pair.reverse();
            }
            pair.into_iter().for_each(|thread| self.release(thread));
            self.forced = Some(pair[1]);
            return Choice::Run(pair[0]);
        }
        let mut impatient = Vec::new();
        for (thread, left) in &mut self.waiting {
            *left -= 1;
            if *left == 0 {
                impatient.push(*thread);
            }
        }
        impatient.into_iter().for_each(|thread| self.release(thread));
        let others: Vec<Candidate> =
            choices.candidates.iter().filter(|candidate| !self.waiting.contains_key(&candidate.thread)).copied().collect();
        // Who can only give up waiting does not count: it would miss what it waits for.
        if !others.iter().any(Candidate::makes_progress) && !self.waiting.is_empty() {
            let waiting: Vec<ThreadId> = self.waiting.keys().copied().collect();
            let thread = self.generator.pick(&waiting);
            self.release(thread);
            return Choice::Run(thread);
        }
        self.otherwise.next(&Choices { candidates: &others, current: choices.current })
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        self.otherwise.input(request)
    }
}

/// Of a library function it is not known what it will touch.
fn may_touch_the_same(one: &OperationKind, other: &OperationKind) -> bool {
    match (extents(one), extents(other)) {
        (Some(one), Some(other)) => one.iter().any(|left| other.iter().any(|right| overlap(left, right))),
        _ => true,
    }
}

fn extents(operation: &OperationKind) -> Option<Vec<Extent>> {
    match operation {
        OperationKind::Read(extent) | OperationKind::Write(extent) | OperationKind::Update(extent) => Some(vec![*extent]),
        OperationKind::Copy(to, from) => Some(vec![*to, *from]),
        OperationKind::Fence | OperationKind::End => Some(Vec::new()),
        OperationKind::Library { .. } | OperationKind::Local => None,
    }
}

fn overlap(left: &Extent, right: &Extent) -> bool {
    left.address < right.address.saturating_add(right.size) && right.address < left.address.saturating_add(left.size)
}
