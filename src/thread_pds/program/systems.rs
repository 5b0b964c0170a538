//! One pushdown system for each thread, from the graphs of the contexts that it comes to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::super::holding::{ContextId, Standing, Tabulation};
use super::super::population::MANY;
use super::super::system::{Step, ThreadSystem, Threads};
use super::graph::{Edge, Graph, Node, Spot};
use super::order::KnownOrder;
use super::walk::Walked;
use super::{ProgramThreads, Remarks};
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{self, PhaseId, Stage, ThreadKind};
use crate::program::BlockId;
use crate::pushdown::{ControlId, Head, Replacement, SymbolId};

/// Whoever executes a function stands in this control state; the others say by which way a function has returned.
const RUNNING: ControlId = ControlId(0);

pub fn assemble(tabulation: &mut Tabulation<'_, '_>, walked: Walked, deadline: Deadline) -> Result<ProgramThreads, OutOfTime> {
    let Walked { graphs, locks, remarks } = walked;
    let waits_for_itself = locks.waiting_for_themselves(tabulation);
    let (locks, names) = locks.table(tabulation, may_refute(&remarks), deadline)?;
    let numbers = Numbers::of(&graphs, tabulation.contexts.all.len());
    let mut threads = Threads { locks, ..Threads::default() };
    let (mut sources, mut targets, mut ends, mut phases) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (thread, known) in tabulation.facts.threads.threads() {
        deadline.check()?;
        let mut writer = Writer::new(tabulation, &numbers, thread);
        writer.roots();
        let Written { mut system, targets: targets_of, ends: ends_of, phases: phases_of } = writer.finish();
        match known.kind {
            ThreadKind::Main => system.instances = 1,
            ThreadKind::Created => {
                let known = tabulation.facts.threads.instances(thread);
                system.created = known.and_then(|count| usize::try_from(count).ok()).unwrap_or(MANY);
            }
            ThreadKind::Library | ThreadKind::Handler | ThreadKind::Anywhere => system.created = MANY,
        }
        sources.push(thread);
        targets.push(targets_of);
        ends.push(ends_of);
        phases.push(phases_of);
        threads.threads.push(system);
    }
    threads.order = Some(KnownOrder::of(&tabulation.facts.threads, &sources, &phases, deadline)?);
    let spots: Vec<Spot> = graphs.into_values().flat_map(|graph| graph.points).map(|point| point.spot).collect();
    Ok(ProgramThreads { threads, sources, spots, names, waits_for_itself, targets, ends, phases, remarks })
}

/// After a jump, or a release of who knows what, it is not known what is held.
fn may_refute(remarks: &Remarks) -> bool {
    remarks.jumps.is_empty() && remarks.unknown_locks.is_empty()
}

/// The graphs of contexts, and the number of every point of every graph, as a place.
struct Numbers<'g> {
    graphs: TiVec<ContextId, Option<(u32, &'g Graph)>>,
}

impl<'g> Numbers<'g> {
    fn of(graphs: &'g BTreeMap<ContextId, Graph>, contexts: usize) -> Numbers<'g> {
        let mut numbers = Numbers { graphs: vec![None; contexts].into() };
        let mut next = 0;
        for (context, graph) in graphs {
            numbers.graphs[*context] = Some((next, graph));
            next += graph.points.len() as u32;
        }
        numbers
    }

    fn graph(&self, context: ContextId) -> &'g Graph {
        self.graphs[context].expect("a context that is come to was walked").1
    }

    fn place(&self, context: ContextId, node: Node) -> u32 {
        self.graphs[context].expect("a context that is come to was walked").0 + node
    }
}

/// One thread's system, and what is said of its symbols.
struct Written {
    system: ThreadSystem,
    targets: Vec<SymbolId>,
    ends: Vec<SymbolId>,
    phases: Vec<Vec<PhaseId>>,
}

struct Writer<'a, 't, 'p> {
    tabulation: &'a Tabulation<'t, 'p>,
    numbers: &'a Numbers<'a>,
    thread: facts::ThreadId,
    system: ThreadSystem,
    /// By place.
    symbols: FxHashMap<u32, SymbolId>,
    /// Symbols and the contexts they belong to, to find their phases.
    owners: Vec<Option<(ContextId, BlockId, usize)>>,
    /// The phases in which each context is come to; `None` for one that has its own.
    arrivals: BTreeMap<ContextId, BTreeSet<Option<PhaseId>>>,
    open: VecDeque<(ContextId, Option<PhaseId>)>,
    targets: Vec<SymbolId>,
    ends: Vec<SymbolId>,
    most_ways: u32,
}

impl<'a, 't, 'p> Writer<'a, 't, 'p> {
    fn new(tabulation: &'a Tabulation<'t, 'p>, numbers: &'a Numbers<'a>, thread: facts::ThreadId) -> Self {
        Writer {
            tabulation,
            numbers,
            thread,
            system: ThreadSystem::new(String::new(), SymbolId(0)),
            symbols: FxHashMap::default(),
            owners: Vec::new(),
            arrivals: BTreeMap::new(),
            open: VecDeque::new(),
            targets: Vec::new(),
            ends: Vec::new(),
            most_ways: 1,
        }
    }

    /// A symbol that belongs to no function; the place is only for show.
    fn own_symbol(&mut self, place: u32) -> SymbolId {
        let symbol = SymbolId(self.owners.len() as u32);
        self.owners.push(None);
        self.system.places.push(place);
        symbol
    }

    fn symbol(&mut self, context: ContextId, node: Node) -> SymbolId {
        let place = self.numbers.place(context, node);
        if let Some(known) = self.symbols.get(&place) {
            return *known;
        }
        let point = &self.numbers.graph(context).points[node as usize];
        let spot = &point.spot;
        let symbol = SymbolId(self.owners.len() as u32);
        if point.is_target {
            self.targets.push(symbol);
        }
        self.owners.push(Some((context, spot.block, spot.index)));
        self.system.places.push(place);
        self.symbols.insert(place, symbol);
        symbol
    }

    fn head(symbol: SymbolId) -> Head {
        Head { control: RUNNING, symbol }
    }

    /// The first thread runs its roots one after another, in the order of the facts; what may be called at any time, any of them.
    fn roots(&mut self) {
        let threads = &self.tabulation.facts.threads;
        let roots: Vec<(ContextId, Option<PhaseId>)> = threads
            .roots()
            .iter()
            .zip(&self.tabulation.roots)
            .filter(|(root, _)| root.thread == self.thread)
            .map(|(root, context)| match root.stage {
                Stage::Activation(_) | Stage::Lost => (*context, None),
                Stage::Phase(phase) => (*context, Some(phase)),
            })
            .collect();
        let in_order = matches!(threads.thread(self.thread).kind, ThreadKind::Main);
        let mut at = self.own_symbol(0);
        let mut afters = Vec::new();
        for (context, phase) in &roots {
            self.arrive(*context, *phase);
            let callee = self.symbol(*context, self.numbers.graph(*context).entry);
            let after = self.own_symbol(0);
            self.system.system.add(Self::head(at), RUNNING, Replacement::Push { callee, resume: after }, Step::Nothing);
            afters.push((after, *context));
            if in_order {
                at = after;
            }
        }
        self.functions();
        // However a root has returned: the next one begins, or the thread ends.
        for (position, (after, _)) in afters.iter().enumerate() {
            for way in 0..self.most_ways {
                let from = Head { control: ControlId(1 + way), symbol: *after };
                match in_order && position + 1 < afters.len() {
                    true => self.system.system.add(from, RUNNING, Replacement::Step(*after), Step::Nothing),
                    false => self.system.system.add(from, RUNNING, Replacement::Pop, Step::Nothing),
                };
            }
        }
        // When the first thread returns, the program ends.
        if !in_order {
            self.ends.extend(afters.iter().map(|(after, _)| *after));
        }
    }

    fn arrive(&mut self, context: ContextId, phase: Option<PhaseId>) {
        if self.arrivals.entry(context).or_default().insert(phase) {
            self.open.push_back((context, phase));
        }
    }

    /// The rules of all contexts that are come to.
    fn functions(&mut self) {
        let mut written: BTreeSet<ContextId> = BTreeSet::new();
        while let Some((context, phase)) = self.open.pop_front() {
            let graph = self.numbers.graph(context);
            let is_new = written.insert(context);
            for node in 0..graph.points.len() as Node {
                let point = &graph.points[node as usize];
                for edge in &point.edges {
                    if let Edge::Call { callee, .. } = edge {
                        let phase = self.phase_of_call(context, phase, &point.spot);
                        self.arrive_by_call(*callee, phase);
                    }
                    if is_new {
                        self.rules(context, node, edge);
                    }
                }
            }
        }
    }

    fn arrive_by_call(&mut self, callee: ContextId, phase: Option<PhaseId>) {
        match self.tabulation.contexts.all[callee].key.standing {
            Standing::Activation(_) | Standing::Lost => self.arrive(callee, None),
            Standing::AsCaller => self.arrive(callee, phase),
        }
    }

    fn phase_of_call(&self, context: ContextId, arrived: Option<PhaseId>, spot: &Spot) -> Option<PhaseId> {
        let own = self.tabulation.contexts.all[context].key.standing.stage();
        own.map_or(arrived, |stage| Some(self.tabulation.facts.threads.phase(stage, spot.block, spot.index)))
    }

    fn rules(&mut self, context: ContextId, node: Node, edge: &Edge) {
        let symbol = self.symbol(context, node);
        let from = Self::head(symbol);
        match edge {
            Edge::Step { step, to } => {
                let to = self.symbol(context, *to);
                self.system.system.add(from, RUNNING, Replacement::Step(to), *step);
            }
            Edge::Call { callee, after } => {
                let entry = self.symbol(*callee, self.numbers.graph(*callee).entry);
                let resume = self.own_symbol(self.numbers.place(context, node));
                self.system.system.add(from, RUNNING, Replacement::Push { callee: entry, resume }, Step::Nothing);
                for (way, to) in after {
                    let to = self.symbol(context, *to);
                    let back = Head { control: ControlId(1 + *way as u32), symbol: resume };
                    self.system.system.add(back, RUNNING, Replacement::Step(to), Step::Nothing);
                }
            }
            Edge::Return { way } => {
                self.most_ways = self.most_ways.max(*way as u32 + 1);
                self.system.system.add(from, ControlId(1 + *way as u32), Replacement::Pop, Step::Nothing);
            }
            Edge::Leave => self.ends.push(symbol),
        }
    }

    fn finish(self) -> Written {
        let phases = self.owners.iter().map(|owner| match owner {
            Some((context, block, index)) => self.phases_at(*context, *block, *index),
            None => vec![PhaseId::ANY],
        });
        let phases = phases.collect();
        let Writer { mut system, targets, ends, .. } = self;
        system.start = Self::head(SymbolId(0));
        Written { system, targets, ends, phases }
    }

    fn phases_at(&self, context: ContextId, block: BlockId, index: usize) -> Vec<PhaseId> {
        match self.tabulation.contexts.all[context].key.standing.stage() {
            Some(stage) => vec![self.tabulation.facts.threads.phase(stage, block, index)],
            None => self.arrivals[&context].iter().map(|phase| phase.unwrap_or(PhaseId::ANY)).collect(),
        }
    }
}
