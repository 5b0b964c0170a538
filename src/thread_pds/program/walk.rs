//! The graphs of all contexts that threads come to, from the states of a tabulation that is solved.
//!
//! A block is walked once more for each alternative at its beginning; what an event makes of it is what the tabulation made of it, and the
//! steps on the way are noted. Alternatives that hold the same are one point, as they are there.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::super::holding::{
    Action, Alternative, CallAt, ContextId, ContextKey, EventKind, Released, Skeletons, State, Tabulation, Target,
};
use super::super::system::Step;
use super::Remarks;
use super::graph::{Edge, Graph, Node, Spot};
use super::locks::Locks;
use super::silent::without_silent_steps;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{JoinedThreads, Valuation};
use crate::locks::LocksetId;
use crate::program::{BlockId, FunctionId, SiteId, TerminatorKind};

/// Everything that was walked.
pub struct Walked {
    pub graphs: BTreeMap<ContextId, Graph>,
    pub locks: Locks,
    pub remarks: Remarks,
}

/// The graphs of the roots, and of whatever they call that is of interest.
pub fn walk(
    tabulation: &mut Tabulation<'_, '_>,
    targets: &BTreeSet<SiteId>,
    joins: &JoinedThreads,
    deadline: Deadline,
) -> Result<Walked, OutOfTime> {
    let interesting = interesting(tabulation.skeletons, targets);
    let mut walker = Walker {
        interesting,
        targets,
        walked: Walked { graphs: BTreeMap::new(), locks: Locks::default(), remarks: Remarks::default() },
        open: tabulation.roots.clone(),
        joins,
        deadline,
        tabulation,
    };
    while let Some(context) = walker.open.pop() {
        if !walker.walked.graphs.contains_key(&context) {
            let graph = walker.context(context)?;
            walker.walked.graphs.insert(context, without_silent_steps(&graph));
        }
    }
    Ok(walker.walked)
}

/// The functions in which, or below which, something happens that the systems show.
fn interesting(skeletons: &Skeletons, targets: &BTreeSet<SiteId>) -> TiVec<FunctionId, bool> {
    let mut callers: TiVec<FunctionId, Vec<FunctionId>> = skeletons.iter().map(|_| Vec::new()).collect();
    let mut found: TiVec<FunctionId, bool> = skeletons.iter().map(|_| false).collect();
    let mut open = Vec::new();
    for (function, skeleton) in skeletons.iter_enumerated() {
        let mut is_own = false;
        for event in skeleton.blocks.iter().flatten() {
            match &event.kind {
                EventKind::Access => is_own |= targets.contains(&event.site),
                EventKind::Call(call) => {
                    call.targets.iter().flat_map(Target::bodies).for_each(|callee| callers[callee].push(function));
                    is_own |= call.targets.iter().any(|target| match target {
                        Target::Body(_) => false,
                        Target::Library(actions) => actions.iter().any(is_shown),
                    });
                }
                EventKind::Define(_) => {}
            }
        }
        if is_own {
            found[function] = true;
            open.push(function);
        }
    }
    while let Some(function) = open.pop() {
        for caller in &callers[function] {
            if !found[*caller] {
                found[*caller] = true;
                open.push(*caller);
            }
        }
    }
    found
}

/// Whether an action is a step of the systems, or is remarked.
fn is_shown(action: &Action) -> bool {
    match action {
        Action::Acquire { .. }
        | Action::Release { .. }
        | Action::Forget { .. }
        | Action::Wait { .. }
        | Action::Once { .. }
        | Action::SaveJump
        | Action::RunUnknown
        | Action::Join
        | Action::End { leaves_others: true } => true,
        Action::BeginAtomic
        | Action::EndAtomic
        | Action::Callback { .. }
        | Action::Create { .. }
        | Action::Jump
        | Action::WaitForPermit { .. }
        | Action::PostPermit { .. }
        | Action::ResetPermits { .. }
        | Action::End { leaves_others: false } => false,
    }
}

pub struct Walker<'w, 'a, 'p> {
    pub tabulation: &'w mut Tabulation<'a, 'p>,
    interesting: TiVec<FunctionId, bool>,
    targets: &'w BTreeSet<SiteId>,
    pub walked: Walked,
    open: Vec<ContextId>,
    /// Which threads joins may be meant for.
    pub joins: &'w JoinedThreads,
    deadline: Deadline,
}

/// Points of one moment of a walk, each with what is known there; what is held differs.
#[derive(Default)]
pub struct Front {
    pub points: Vec<(Node, Alternative)>,
}

impl Front {
    /// The point for an alternative: the one that holds the same, or a new one.
    pub fn point(&mut self, graph: &mut Graph, spot: &Spot, alternative: Alternative) -> Node {
        if let Some((node, known)) = self.points.iter_mut().find(|(_, known)| known.lockset == alternative.lockset) {
            known.released.absorb(&alternative.released);
            known.join(&alternative.valuation);
            return *node;
        }
        let node = graph.add(Spot { lockset: alternative.lockset, sites: alternative.sites.clone(), ..spot.clone() });
        self.points.push((node, alternative));
        node
    }
}

impl Walker<'_, '_, '_> {
    fn context(&mut self, id: ContextId) -> Result<Graph, OutOfTime> {
        let key = self.tabulation.contexts.all[id].key.clone();
        let skeletons = self.tabulation.skeletons;
        let skeleton = &skeletons[key.function];
        let program = self.tabulation.program;
        let body = &program.functions[key.function];
        let mut graph = Graph::default();
        // By block: the point of each alternative at its beginning, and what is held there.
        let mut starts: BTreeMap<BlockId, Vec<(Node, LocksetId)>> = BTreeMap::new();
        let mut begun = Vec::new();
        for block in body.blocks.keys().filter(|block| skeleton.ranks[*block] != u32::MAX) {
            let site = skeleton.blocks[block].first().map_or(body.blocks[block].terminator.site, |event| event.site);
            let mut points = Vec::new();
            for mut alternative in self.at_start(id, &key, block) {
                let spot = Spot {
                    context: id,
                    block,
                    index: 0,
                    site,
                    lock: None,
                    lockset: alternative.lockset,
                    sites: alternative.sites.clone(),
                };
                self.tabulation.begin(key.function, block, &mut alternative);
                points.push((graph.add(spot), alternative));
            }
            starts.insert(block, points.iter().map(|(node, alternative)| (*node, alternative.lockset)).collect());
            begun.push((block, points));
        }
        graph.entry = match starts.get(&body.entry()).map(Vec::as_slice) {
            Some([(first, _), ..]) => *first,
            // Nobody comes here after all: a context that a later, weaker one stands for.
            _ => graph.add(Spot {
                context: id,
                block: body.entry(),
                index: 0,
                site: body.blocks[body.entry()].terminator.site,
                lock: None,
                lockset: key.lockset,
                sites: self.tabulation.contexts.all[id].entry_sites.clone(),
            }),
        };
        for (block, points) in begun {
            self.deadline.check_steps()?;
            let front = self.block(&mut graph, id, &key, block, points);
            self.leave(&mut graph, id, &key, block, front, &starts);
        }
        Ok(graph)
    }

    fn at_start(&self, id: ContextId, key: &ContextKey, block: BlockId) -> Vec<Alternative> {
        let context = &self.tabulation.contexts.all[id];
        if self.tabulation.skeletons[key.function].is_changing {
            return context.blocks[block].alternatives.clone();
        }
        vec![Alternative {
            lockset: key.lockset,
            sites: context.entry_sites.clone(),
            valuation: Valuation::default(),
            released: Released::default(),
        }]
    }

    /// The events of a block.
    fn block(
        &mut self,
        graph: &mut Graph,
        context: ContextId,
        key: &ContextKey,
        block: BlockId,
        points: Vec<(Node, Alternative)>,
    ) -> Front {
        let mut front = Front { points };
        let skeletons = self.tabulation.skeletons;
        for event in &skeletons[key.function].blocks[block] {
            match &event.kind {
                EventKind::Define(register) => {
                    let tabulation = &self.tabulation;
                    let is_meant = |alternative: &Alternative| tabulation.is_named_by(alternative.lockset, *register);
                    if !front.points.iter().any(|(_, alternative)| is_meant(alternative)) {
                        continue;
                    }
                    for (_, alternative) in &mut front.points {
                        let mut state = State::one(alternative.clone());
                        self.tabulation.define(&mut state, *register);
                        *alternative = state.alternatives.swap_remove(0);
                    }
                }
                EventKind::Access => {
                    if self.targets.contains(&event.site) {
                        for (node, alternative) in &mut front.points {
                            let at = self.standing(graph, context, (block, event.index, event.site), *node, alternative);
                            graph.points[at as usize].is_target = true;
                            *node = at;
                        }
                    }
                }
                EventKind::Call(call) => {
                    let at = CallAt { context, key, block, index: event.index, site: event.site, call };
                    let mut next = Front::default();
                    for (node, alternative) in front.points {
                        for target in &call.targets {
                            match target {
                                Target::Body(callee) => {
                                    let called =
                                        self.tabulation.call_body(&at, &alternative, *callee, &at.arguments(), call.result, None);
                                    self.call(graph, &at, (node, &alternative), *callee, called, &mut next);
                                }
                                Target::Library(actions) => {
                                    self.library(graph, &at, actions, (node, alternative.clone()), &mut next)
                                }
                            }
                        }
                    }
                    front = next;
                }
            }
        }
        front
    }

    /// A point of its own for whoever is about to do something, behind a silent step.
    pub fn standing(
        &mut self,
        graph: &mut Graph,
        context: ContextId,
        (block, index, site): (BlockId, usize, SiteId),
        from: Node,
        alternative: &Alternative,
    ) -> Node {
        let spot =
            Spot { context, block, index, site, lock: None, lockset: alternative.lockset, sites: alternative.sites.clone() };
        let node = graph.add(spot);
        graph.step(from, Step::Nothing, node);
        node
    }

    /// A call of a body, and where it goes on.
    pub fn call(
        &mut self,
        graph: &mut Graph,
        at: &CallAt<'_>,
        (from, before): (Node, &Alternative),
        callee: FunctionId,
        called: super::super::holding::Called,
        next: &mut Front,
    ) {
        let spot = self.spot(graph, at, from);
        let entered = called.context.filter(|_| self.interesting[callee]);
        let Some(context) = entered else {
            for outcome in called.outcomes {
                let to = next.point(graph, &spot, outcome);
                graph.step(from, Step::Nothing, to);
            }
            return;
        };
        let node = self.standing(graph, at.context, (at.block, at.index, at.site), from, before);
        let after = called.outcomes.into_iter().enumerate();
        let after = after.map(|(way, outcome)| (way, next.point(graph, &spot, outcome))).collect();
        graph.connect(node, Edge::Call { callee: context, after });
        self.open.push(context);
    }

    /// Behind a call.
    pub fn spot(&self, graph: &Graph, at: &CallAt<'_>, from: Node) -> Spot {
        let CallAt { context, block, index, site, .. } = *at;
        Spot { context, block, index: index + 1, site, lock: None, ..graph.points[from as usize].spot.clone() }
    }

    /// The edges to the next blocks, and the return.
    fn leave(
        &mut self,
        graph: &mut Graph,
        context: ContextId,
        key: &ContextKey,
        block: BlockId,
        front: Front,
        starts: &BTreeMap<BlockId, Vec<(Node, LocksetId)>>,
    ) {
        let program = self.tabulation.program;
        let terminator = &program.functions[key.function].blocks[block].terminator;
        let is_changing = self.tabulation.skeletons[key.function].is_changing;
        for (node, alternative) in front.points {
            match &terminator.kind {
                TerminatorKind::Return(_) => {
                    let ways = if is_changing { self.tabulation.ways_out(context, &alternative) } else { 0..1 };
                    let place = (block, program.functions[key.function].blocks[block].instructions.len(), terminator.site);
                    let end = self.standing(graph, context, place, node, &alternative);
                    ways.for_each(|way| graph.connect(end, Edge::Return { way }));
                }
                _ => {
                    for next in &self.tabulation.skeletons[key.function].successors[block] {
                        let Some(points) = starts.get(next) else { continue };
                        let lockset = match is_changing {
                            true => self.tabulation.follow(key.function, block, *next, &alternative).map(|moved| moved.lockset),
                            false => Some(alternative.lockset),
                        };
                        let Some(lockset) = lockset else { continue };
                        let same = points.iter().find(|(_, known)| *known == lockset);
                        match same {
                            Some((to, _)) => graph.step(node, Step::Nothing, *to),
                            // Merged with others there: any of them may be this one.
                            None => points.iter().for_each(|(to, _)| graph.step(node, Step::Nothing, *to)),
                        }
                    }
                }
            }
        }
    }
}
