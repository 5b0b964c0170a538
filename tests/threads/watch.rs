//! An observer of runs: is what creations and joins leave unordered allowed to overlap?
//!
//! Clocks are kept here, from creations and joins alone; locks and everything else order nothing. Each access is an event of an instance, in a
//! segment between two creations or joins, and has a name on the static side: an abstract thread and a phase.

use std::collections::{BTreeMap, BTreeSet};

use lockcheck::explore::machine::{Event, EventKind, Machine, Observer};
use lockcheck::explore::sync::SyncEvent;
use lockcheck::explore::thread_id::ThreadId as Instance;
use lockcheck::facts::CallGraph;
use lockcheck::facts::threads::{PhaseId, Root, Stage, ThreadId, ThreadKind, Threads};
use lockcheck::program::{BlockId, FunctionId, Operation, Program, SiteId};

#[derive(Clone, Copy, Debug)]
struct Frame {
    thread: ThreadId,
    function: FunctionId,
    stage: Stage,
}

/// What an instance did between two creations or joins.
struct Segment {
    instance: usize,
    clock: Vec<u32>,
    /// Threads, and the phases that the place of an access may be in.
    points: BTreeSet<(ThreadId, Vec<PhaseId>)>,
}

pub struct Watch<'p> {
    program: &'p Program,
    threads: &'p Threads,
    calls: &'p CallGraph,
    positions: BTreeMap<SiteId, Vec<(BlockId, usize)>>,
    /// By instance.
    names: BTreeMap<usize, ThreadId>,
    frames: BTreeMap<usize, Vec<Frame>>,
    clocks: BTreeMap<usize, Vec<u32>>,
    segments: BTreeMap<(usize, u32), Segment>,
    pub complaints: BTreeSet<String>,
}

/// How many pairs of events were compared.
#[derive(Default, Clone, Copy)]
pub struct Compared {
    pub unordered: usize,
    pub ordered: usize,
    /// Of the ordered ones, those the static side knows to be so.
    pub known: usize,
}

impl<'p> Watch<'p> {
    pub fn new(program: &'p Program, threads: &'p Threads, calls: &'p CallGraph) -> Watch<'p> {
        let mut positions: BTreeMap<SiteId, Vec<(BlockId, usize)>> = BTreeMap::new();
        for function in &program.functions {
            for (block, body) in function.blocks.iter_enumerated() {
                for (index, instruction) in body.instructions.iter().enumerate() {
                    positions.entry(instruction.site).or_default().push((block, index));
                }
            }
        }
        let main = threads.threads().find(|(_, thread)| thread.kind == ThreadKind::Main).map(|(id, _)| id);
        Watch {
            program,
            threads,
            calls,
            positions,
            names: main.into_iter().map(|main| (0, main)).collect(),
            frames: BTreeMap::new(),
            clocks: BTreeMap::from([(0, vec![1])]),
            segments: BTreeMap::new(),
            complaints: BTreeSet::new(),
        }
    }

    fn positions_of(&self, site: SiteId, function: FunctionId) -> &[(BlockId, usize)] {
        if self.program.sites[site].function != function {
            return &[];
        }
        self.positions.get(&site).map_or(&[], Vec::as_slice)
    }

    fn root(&self, function: FunctionId, is_root: impl Fn(&Root) -> bool) -> Option<Frame> {
        let root = self.threads.roots().iter().find(|root| root.function == function && is_root(root))?;
        Some(Frame { thread: root.thread, function, stage: root.stage })
    }

    fn enter(&mut self, instance: usize, site: Option<SiteId>, function: FunctionId) {
        let top = self.frames.get(&instance).and_then(|frames| frames.last()).copied();
        let nested = top.zip(site).and_then(|(top, site)| {
            let is_nested =
                |edge: &&lockcheck::facts::CallEdge| edge.site == Some(site) && edge.callee == function && edge.kind.is_nested();
            self.calls.calls_in(top.function).iter().find(is_nested)?;
            let is_call = |position: &&(BlockId, usize)| {
                matches!(
                    self.program.functions[top.function].blocks[position.0].instructions[position.1].operation,
                    Operation::Call { .. }
                )
            };
            let (block, index) = self.positions_of(site, top.function).iter().find(is_call)?;
            Some(Frame { thread: top.thread, function, stage: self.threads.enter(top.stage, *block, *index, function) })
        });
        let name = self.names.get(&instance).copied();
        let first = || if top.is_none() { self.root(function, |root| Some(root.thread) == name) } else { None };
        let anywhere = || self.root(function, |root| self.threads.thread(root.thread).kind == ThreadKind::Anywhere);
        match nested.or_else(first).or_else(anywhere) {
            Some(frame) => self.frames.entry(instance).or_default().push(frame),
            None => {
                let name = &self.program.functions[function].name;
                self.complaints.insert(format!("a call of {name} is not known"));
                let frame =
                    top.unwrap_or(Frame { thread: self.threads.roots()[0].thread, function, stage: Stage::Phase(PhaseId::ANY) });
                self.frames.entry(instance).or_default().push(Frame { function, stage: Stage::Phase(PhaseId::ANY), ..frame });
            }
        }
    }

    fn created(&mut self, machine: &Machine<'_>, parent: usize, site: Option<SiteId>, child: Instance) {
        let Some(entry) = machine.thread(child).creation.entry else { return };
        let Some(top) = self.frames.get(&parent).and_then(|frames| frames.last()).copied() else { return };
        let found = site.into_iter().flat_map(|site| self.positions_of(site, top.function)).find_map(|(block, index)| {
            self.threads
                .created(top.function, top.stage, *block, *index)
                .find(|one| self.threads.thread(*one).entry == Some(entry))
        });
        match found {
            Some(found) => {
                if !self.threads.thread(found).is_many && self.names.values().any(|name| *name == found) {
                    self.complaints.insert(format!("{found:?} is created twice: {:?}", self.threads.thread(found)));
                }
                self.names.insert(child.0 as usize, found);
            }
            None => {
                self.complaints.insert(format!("a creation of {} is not known", self.program.functions[entry].name));
            }
        }
    }

    fn access(&mut self, instance: usize, site: SiteId) {
        let Some(top) = self.frames.get(&instance).and_then(|frames| frames.last()).copied() else { return };
        let mut phases: Vec<PhaseId> = self
            .positions_of(site, top.function)
            .iter()
            .map(|(block, index)| self.threads.phase(top.stage, *block, *index))
            .collect();
        phases.sort_unstable();
        phases.dedup();
        if phases.is_empty() {
            return;
        }
        let clock = &self.clocks[&instance];
        let segment = self.segments.entry((instance, clock[instance])).or_insert_with(|| Segment {
            instance,
            clock: clock.clone(),
            points: BTreeSet::new(),
        });
        segment.points.insert((top.thread, phases));
    }

    fn synchronize(&mut self, event: SyncEvent) {
        match event {
            SyncEvent::Fork { parent, child } => {
                let (parent, child) = (parent.0 as usize, child.0 as usize);
                let mut clock = self.clocks[&parent].clone();
                clock.resize(clock.len().max(child + 1), 0);
                clock[child] = 1;
                self.clocks.insert(child, clock);
                self.clocks.get_mut(&parent).expect("a creator has a clock")[parent] += 1;
            }
            SyncEvent::Join { thread, ended } => {
                let other = self.clocks[&(ended.0 as usize)].clone();
                let thread = thread.0 as usize;
                let clock = self.clocks.get_mut(&thread).expect("a joiner has a clock");
                clock.resize(clock.len().max(other.len()), 0);
                clock.iter_mut().zip(&other).for_each(|(own, other)| *own = (*own).max(*other));
                clock[thread] += 1;
            }
            _ => {}
        }
    }

    /// Compares all pairs of events of different instances.
    pub fn compare(&mut self) -> Compared {
        let mut compared = Compared::default();
        let segments: Vec<&Segment> = self.segments.values().collect();
        let is_before = |first: &Segment, second: &Segment| {
            second.clock.get(first.instance).is_some_and(|seen| *seen >= first.clock[first.instance])
        };
        let mut complaints = Vec::new();
        for (position, left) in segments.iter().enumerate() {
            for right in segments[position + 1..].iter().filter(|right| right.instance != left.instance) {
                let is_ordered = is_before(left, right) || is_before(right, left);
                for (a, p) in &left.points {
                    for (b, q) in &right.points {
                        let may_overlap =
                            p.iter().any(|p| q.iter().any(|q| self.threads.relation((*a, *p), (*b, *q)).may_overlap()));
                        match (is_ordered, may_overlap) {
                            (true, _) => {
                                compared.ordered += 1;
                                compared.known += usize::from(!may_overlap);
                            }
                            (false, true) => compared.unordered += 1,
                            (false, false) => {
                                let reason = self.threads.relation((*a, p[0]), (*b, q[0]));
                                complaints.push(format!("{a:?} {p:?} and {b:?} {q:?} overlap in a run, but {reason:?}"));
                            }
                        }
                    }
                }
            }
        }
        self.complaints.extend(complaints);
        compared
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        let instance = event.thread.0 as usize;
        match event.kind {
            EventKind::Call { function } => self.enter(instance, event.site, function),
            EventKind::Return { .. } => {
                self.frames.entry(instance).or_default().pop();
            }
            EventKind::Read { .. } | EventKind::Write { .. } => {
                if let Some(site) = event.site {
                    self.access(instance, site);
                }
            }
            EventKind::Created { thread } => self.created(machine, instance, event.site, thread),
            EventKind::Synchronization(synchronization) => self.synchronize(synchronization),
            _ => {}
        }
    }
}
