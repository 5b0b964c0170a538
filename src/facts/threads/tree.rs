//! The tree of threads and activations: who creates whom, by which calls. No order yet.
//!
//! # Definition   An activation is a path of call instructions from a thread's first function to a relevant function. An abstract thread is
//!                an activation and a creating instruction in it, with the function that the new thread runs.
//! # Theorem      Every thread of a run is an instance of the abstract thread that its creation path names; what `is_many` does not hold of has at
//!                most one instance in a run.
//! # Deviations   Recursion, of calls or of creations, and too many paths are cut: a cut activation stands for all further calls of its function in
//!                its thread, a cut thread for all creations at its site. Both have any number of instances.

use std::collections::{BTreeMap, BTreeSet};

use super::super::call_graph::CallKind;
use super::entries::on_path;
use super::input::{Called, Input};
use super::relevant::Relevant;
use super::types::{AbstractThread, ActivationId, ThreadId, ThreadKind};
use crate::models::{Effect, SpawnCount};
use crate::program::{BlockId, FunctionId, SiteId};

/// Beyond these numbers paths are cut.
const ACTIVATIONS: usize = 400;
/// Of them, those of functions that only write where handles may be kept.
const QUIET: usize = 100;
/// Of one function in the first thread, and in any other.
const PATHS_OF_MAIN: usize = 8;
const PATHS: usize = 3;
const THREADS: usize = 120;
const DEPTH: usize = 48;

/// An instruction of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Point {
    pub activation: ActivationId,
    pub block: BlockId,
    pub index: usize,
}

/// By instruction of a function: the threads that it creates.
pub(super) type Creations = BTreeMap<(BlockId, usize), Vec<ThreadId>>;

#[derive(Clone, Debug)]
pub(super) struct Activation {
    pub thread: ThreadId,
    pub function: FunctionId,
    /// The call that leads here, and how; `None` for a thread's first functions.
    pub caller: Option<(Point, CallKind)>,
    /// Runs at most once in a run of the program.
    pub is_once: bool,
    /// Stands for several paths.
    pub is_cut: bool,
    /// Its function, and what that calls, neither creates nor joins: the phase is its caller's.
    pub is_quiet: bool,
    pub children: BTreeMap<(BlockId, usize, FunctionId), ActivationId>,
    pub creations: Creations,
    /// The activations below this one have the numbers from its own up to this.
    pub end: ActivationId,
}

/// A creating instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Creation {
    pub creator: ThreadId,
    pub point: Point,
}

#[derive(Default)]
pub(super) struct Tree {
    pub threads: Vec<AbstractThread>,
    /// By thread; none for roots.
    pub creations: Vec<Vec<Creation>>,
    pub activations: Vec<Activation>,
    /// The first functions of each thread, in the order they run, and their activations if they are relevant.
    pub roots: Vec<(ThreadId, FunctionId, Option<ActivationId>)>,
    /// The threads that each thread may create, directly or not, itself only if it can.
    pub descendants: Vec<BTreeSet<ThreadId>>,
    /// By activation.
    created: Vec<BTreeSet<ThreadId>>,
    /// The thread of a library's constructors: it has ended when the first entry is called.
    pub ends_before_calls: Option<ThreadId>,
    paths: BTreeMap<(ThreadId, FunctionId), usize>,
    /// How many activations are quiet.
    quiet: usize,
    cut_activations: BTreeMap<(ThreadId, FunctionId), ActivationId>,
    merged: BTreeMap<(SiteId, FunctionId), ThreadId>,
    /// Threads whose first function has not been expanded.
    open: Vec<ThreadId>,
}

impl Tree {
    pub fn of(input: Input<'_>, relevant: &Relevant, entries: Option<&[FunctionId]>) -> Tree {
        let mut tree = Tree::default();
        tree.find_roots(input, relevant, entries);
        while let Some(thread) = tree.open.pop() {
            if let Some(entry) = tree.threads[thread.index()].entry {
                tree.add_root(input, relevant, thread, entry);
            }
        }
        tree.close();
        tree
    }

    fn find_roots(&mut self, input: Input<'_>, relevant: &Relevant, entries: Option<&[FunctionId]>) {
        let edges = |kind: CallKind| {
            let functions = input.calls.reachable().iter().copied();
            functions
                .filter(move |one| input.calls.calls_of(*one).iter().any(|edge| edge.kind == kind))
                .collect::<BTreeSet<FunctionId>>()
        };
        // Code outside starts `main` as well, once, when it is among the entries of a library.
        let is_main = |entry: &FunctionId| input.function(*entry).name == "main";
        let among_entries = entries.and_then(|entries| entries.iter().copied().find(is_main));
        let main = edges(CallKind::Main).first().copied().filter(|_| entries.is_none()).or(among_entries);
        let mut elsewhere = BTreeSet::new();
        for kind in [CallKind::Cleanup, CallKind::KeyDestructor, CallKind::AtExit, CallKind::Destructor, CallKind::Outside] {
            elsewhere.extend(edges(kind));
        }
        let constructors = input.program.constructors.iter().copied();
        let first: Vec<FunctionId> =
            constructors.filter(|one| input.points_to.is_reachable(*one) && input.function(*one).is_defined()).collect();
        if let Some(entry) = main.or(first.first().copied()) {
            let thread = self.new_thread(ThreadKind::Main, Some(entry), None, Vec::new(), false);
            for function in first.into_iter().chain(main) {
                self.add_root(input, relevant, thread, function);
            }
            // Constructors of a library have returned before anyone calls it.
            self.ends_before_calls = main.is_none().then_some(thread);
        }
        let called: Vec<FunctionId> = match (entries, main) {
            (Some(entries), _) => entries.iter().copied().filter(|one| Some(*one) != main).collect(),
            (None, Some(_)) => Vec::new(),
            (None, None) => edges(CallKind::Outside).into_iter().collect(),
        };
        for entry in called {
            elsewhere.remove(&entry);
            let thread = self.new_thread(ThreadKind::Library, Some(entry), None, Vec::new(), true);
            self.add_root(input, relevant, thread, entry);
        }
        if let Some(main) = among_entries {
            elsewhere.remove(&main);
        }
        let is_defined = |one: &FunctionId| input.function(*one).is_defined();
        for handler in edges(CallKind::SignalHandler).into_iter().filter(is_defined) {
            let thread = self.new_thread(ThreadKind::Handler, Some(handler), None, Vec::new(), true);
            self.add_root(input, relevant, thread, handler);
        }
        elsewhere.retain(is_defined);
        if !elsewhere.is_empty() {
            let anywhere = self.new_thread(ThreadKind::Anywhere, None, None, Vec::new(), true);
            for function in elsewhere {
                self.add_root(input, relevant, anywhere, function);
            }
        }
    }

    fn new_thread(
        &mut self,
        kind: ThreadKind,
        entry: Option<FunctionId>,
        parent: Option<ThreadId>,
        path: Vec<SiteId>,
        is_many: bool,
    ) -> ThreadId {
        let id = ThreadId::from(self.threads.len());
        self.threads.push(AbstractThread { kind, entry, parent, path, is_many, is_cut: false });
        self.creations.push(Vec::new());
        id
    }

    fn add_root(&mut self, input: Input<'_>, relevant: &Relevant, thread: ThreadId, function: FunctionId) {
        let is_anywhere = matches!(self.threads[thread.index()].kind, ThreadKind::Anywhere | ThreadKind::Handler);
        let activation = relevant.bodies.contains_key(&function).then(|| {
            if is_anywhere {
                self.cut_activation(input, relevant, thread, function)
            } else {
                let is_once = !self.threads[thread.index()].is_many;
                self.activate(input, relevant, thread, function, None, is_once, &mut Vec::new())
            }
        });
        self.roots.push((thread, function, activation));
    }

    #[allow(clippy::too_many_arguments)]
    fn activate(
        &mut self,
        input: Input<'_>,
        relevant: &Relevant,
        thread: ThreadId,
        function: FunctionId,
        caller: Option<(Point, CallKind)>,
        is_once: bool,
        stack: &mut Vec<FunctionId>,
    ) -> ActivationId {
        let id = ActivationId::from(self.activations.len());
        let is_quiet = !relevant.acting.contains(&function);
        self.quiet += usize::from(is_quiet);
        self.activations.push(Activation {
            thread,
            function,
            caller,
            is_once,
            is_cut: false,
            is_quiet,
            children: BTreeMap::new(),
            creations: BTreeMap::new(),
            end: id,
        });
        stack.push(function);
        self.expand(input, relevant, id, stack);
        stack.pop();
        self.activations[id.index()].end = ActivationId::from(self.activations.len() - 1);
        id
    }

    fn cut_activation(&mut self, input: Input<'_>, relevant: &Relevant, thread: ThreadId, function: FunctionId) -> ActivationId {
        if let Some(known) = self.cut_activations.get(&(thread, function)) {
            return *known;
        }
        let id = ActivationId::from(self.activations.len());
        self.cut_activations.insert((thread, function), id);
        self.activations.push(Activation {
            thread,
            function,
            caller: None,
            is_once: false,
            is_cut: true,
            is_quiet: !relevant.acting.contains(&function),
            children: BTreeMap::new(),
            creations: BTreeMap::new(),
            end: id,
        });
        self.expand(input, relevant, id, &mut Vec::new());
        id
    }

    /// The calls and creations of an activation.
    fn expand(&mut self, input: Input<'_>, relevant: &Relevant, id: ActivationId, stack: &mut Vec<FunctionId>) {
        let (thread, function, is_once, is_cut) = {
            let activation = &self.activations[id.index()];
            (activation.thread, activation.function, activation.is_once, activation.is_cut)
        };
        let body = &relevant.bodies[&function];
        for (block, steps) in body.steps.iter_enumerated() {
            let repeats = body.repeats(input.program, block);
            for &index in steps {
                let instruction = input.instruction(function, block, index);
                let point = Point { activation: id, block, index };
                for kind in [CallKind::Call, CallKind::Callback, CallKind::Once] {
                    for callee in input.started(function, instruction, kind) {
                        if !relevant.bodies.contains_key(&callee)
                            || self.activations[id.index()].children.contains_key(&(block, index, callee))
                        {
                            continue;
                        }
                        let paths = self.paths.entry((thread, callee)).or_default();
                        *paths += 1;
                        let most = if self.threads[thread.index()].kind == ThreadKind::Main { PATHS_OF_MAIN } else { PATHS };
                        let is_crowded = *paths > most
                            || self.activations.len() - self.quiet >= ACTIVATIONS
                            || self.quiet >= QUIET && !relevant.acting.contains(&callee);
                        let is_cut_here = is_cut || is_crowded || stack.contains(&callee) || stack.len() >= DEPTH;
                        let child = if is_cut_here {
                            self.cut_activation(input, relevant, thread, callee)
                        } else {
                            let is_once = is_once && !repeats && kind != CallKind::Callback;
                            self.activate(input, relevant, thread, callee, Some((point, kind)), is_once, stack)
                        };
                        self.activations[id.index()].children.insert((block, index, callee), child);
                    }
                }
                for called in input.called(instruction) {
                    let Called::Library(model) = called else { continue };
                    let spawn = model.effects.iter().find_map(|effect| match effect {
                        Effect::Spawn { count, entry, .. } => Some((*count, *entry)),
                        _ => None,
                    });
                    let Some((count, entry)) = spawn else { continue };
                    let is_many = is_cut || !is_once || repeats || count == SpawnCount::Many;
                    let all = input.started(function, instruction, CallKind::Spawn);
                    let mut entries: Vec<FunctionId> = all.filter(|entry| input.function(*entry).is_defined()).collect();
                    let on_path = Input::argument(instruction, entry).and_then(|entry| on_path(self, input, point, entry));
                    if let Some(on_path) = on_path.filter(|on_path| entries.iter().any(|entry| on_path.contains(entry))) {
                        entries.retain(|entry| on_path.contains(entry));
                    }
                    for entry in entries {
                        self.create(input, point, instruction.site, entry, is_many);
                    }
                }
            }
        }
    }

    fn create(&mut self, input: Input<'_>, point: Point, site: SiteId, entry: FunctionId, is_many: bool) {
        let (creator, is_cut) = {
            let activation = &self.activations[point.activation.index()];
            (activation.thread, activation.is_cut)
        };
        let key = |thread: &AbstractThread| thread.site() == Some(site) && thread.entry == Some(entry);
        let mut ancestors = std::iter::successors(Some(creator), |one| self.threads[one.index()].parent);
        let again = ancestors.find(|one| key(&self.threads[one.index()]));
        let same_here = self
            .creations
            .iter()
            .position(|all| all.iter().any(|one| one.point == point))
            .filter(|at| self.threads[*at].entry == Some(entry));
        let merged = (self.threads.len() >= THREADS || is_cut).then(|| self.merged.get(&(site, entry)).copied()).flatten();
        let (child, is_new) = match again.or(same_here.map(ThreadId::from)).or(merged) {
            Some(known) => (known, false),
            None => {
                let path = self.path(input, point);
                (self.new_thread(ThreadKind::Created, Some(entry), Some(creator), path, is_many), true)
            }
        };
        if self.threads.len() > THREADS || is_cut {
            self.merged.insert((site, entry), child);
        }
        let node = &mut self.threads[child.index()];
        node.is_many |= is_many || !is_new;
        node.is_cut |= is_cut || !is_new;
        self.creations[child.index()].push(Creation { creator, point });
        self.activations[point.activation.index()].creations.entry((point.block, point.index)).or_default().push(child);
        if is_new {
            self.open.push(child);
        }
    }

    /// The sites of the calls that lead to a point, and the point's own.
    pub fn path(&self, input: Input<'_>, point: Point) -> Vec<SiteId> {
        let mut path = Vec::new();
        let mut current = Some(point);
        while let Some(at) = current {
            let activation = &self.activations[at.activation.index()];
            path.push(input.instruction(activation.function, at.block, at.index).site);
            current = activation.caller.map(|(point, _)| point);
        }
        path.reverse();
        path
    }

    /// What follows once all threads are known. Expansion goes depth first, so a thread may become "many" after its children were made.
    fn close(&mut self) {
        let count = self.threads.len();
        self.descendants = vec![BTreeSet::new(); count];
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for child in 0..count {
                for creation in &self.creations[child] {
                    let creator = creation.creator.index();
                    let mut new = self.descendants[child].clone();
                    new.insert(ThreadId::from(child));
                    let before = self.descendants[creator].len();
                    self.descendants[creator].extend(new);
                    has_changed |= self.descendants[creator].len() != before;
                    if self.threads[creator].is_many && !self.threads[child].is_many {
                        self.threads[child].is_many = true;
                        has_changed = true;
                    }
                }
            }
        }
        self.created = self.created_by_activations();
        for activation in &mut self.activations {
            activation.is_once &= !self.threads[activation.thread.index()].is_many;
        }
    }

    /// For each activation the threads that it may create, itself or by calls, and those that they may create.
    fn created_by_activations(&self) -> Vec<BTreeSet<ThreadId>> {
        let mut callers: Vec<Vec<ActivationId>> = vec![Vec::new(); self.activations.len()];
        let mut creators: BTreeMap<ThreadId, Vec<ActivationId>> = BTreeMap::new();
        for (index, activation) in self.activations.iter().enumerate() {
            let id = ActivationId::from(index);
            activation.children.values().for_each(|child| callers[child.index()].push(id));
            activation.creations.values().flatten().for_each(|child| creators.entry(*child).or_default().push(id));
        }
        let mut created = vec![BTreeSet::new(); self.activations.len()];
        for (child, mut open) in creators {
            while let Some(one) = open.pop() {
                if created[one.index()].insert(child) {
                    created[one.index()].extend(&self.descendants[child.index()]);
                    open.extend(&callers[one.index()]);
                }
            }
        }
        created
    }

    /// The threads that an activation may create, itself or by calls, and those that they may create.
    pub fn created_in(&self, id: ActivationId) -> &BTreeSet<ThreadId> {
        &self.created[id.index()]
    }

    /// The functions that are called in ways that are not told apart, with what they create then; without those that neither create nor join.
    pub fn lost(&self) -> BTreeMap<FunctionId, Creations> {
        let mut lost: BTreeMap<FunctionId, Creations> = BTreeMap::new();
        for activation in self.activations.iter().filter(|activation| activation.is_cut && !activation.is_quiet) {
            let created = lost.entry(activation.function).or_default();
            for (point, threads) in &activation.creations {
                created.entry(*point).or_default().extend(threads);
            }
        }
        lost
    }

    pub fn activation(&self, id: ActivationId) -> &Activation {
        &self.activations[id.index()]
    }

    pub fn is_within(&self, inner: ActivationId, outer: ActivationId) -> bool {
        outer <= inner && inner <= self.activation(outer).end
    }

    /// The instruction of `outer` during which `point` is executed, if it is executed inside `outer`.
    pub fn lifted(&self, point: Point, outer: ActivationId) -> Option<Point> {
        let mut current = point;
        while current.activation != outer {
            current = self.activation(current.activation).caller?.0;
        }
        Some(current)
    }
}
