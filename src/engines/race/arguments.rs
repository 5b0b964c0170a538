//! Arguments: which objects do the parameters of a function point to when this thread calls it in this context?
//!
//! # Definition   For a thread and a context of it, the objects of a parameter: those that the calls which lead there, and the thread's creation, pass. An argument that
//!                is counted from a parameter of the caller passes what that parameter has in the caller's context; any other one, what points-to says of
//!                it. The least solution over the thread's graph of contexts.
//! # Theorem      When an instance of the thread executes an instruction in a context, and its address is counted from a parameter, the object that it touches is
//!                among those of the parameter: a parameter has the value that was passed, and what is added to an address stays in its object.
//! # Example      `init(p)` is called by one thread with its new node, and by another with the list's head: points-to has both for `p`, but neither thread
//!                touches the other's node there.
//! # Deviations   1. A thread that stands for several creation paths, and a callback of the library, may pass whatever points-to has for the parameter.  2. Addresses that are computed
//!                from numbers have no base.  3. With very many contexts nothing is said.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::reach::steps;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, MemoryAccess, ThreadId, ThreadKind};
use crate::models::{BoundModels, Effect};
use crate::program::{Callee, FunctionId, Instruction, Operand, Operation, Program, RegisterId, SiteId};
use crate::thread_pds::holding::{ContextId, Tabulation};

/// The objects that may be passed; `None`: any.
type Objects = Option<SetId>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(u32);

/// Sets of objects, each once: many contexts pass the same.
#[derive(Default)]
struct Sets {
    /// Ascending.
    table: IndexSet<Box<[AbstractObjectId]>, FxBuildHasher>,
    unions: FxHashMap<(SetId, SetId), SetId>,
}

impl Sets {
    fn of(&mut self, objects: BTreeSet<AbstractObjectId>) -> SetId {
        SetId(self.table.insert_full(objects.into_iter().collect()).0 as u32)
    }

    fn get(&self, set: SetId) -> &[AbstractObjectId] {
        &self.table[set.0 as usize]
    }

    fn union(&mut self, one: SetId, other: SetId) -> SetId {
        if one == other {
            return one;
        }
        let key = (one.min(other), one.max(other));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let union = self.of(self.get(one).iter().chain(self.get(other)).copied().collect());
        self.unions.insert(key, union);
        union
    }
}

/// More pairs of a thread and a context are not looked at.
const MOST_NODES: usize = 100_000;

#[derive(Default)]
pub struct Arguments {
    /// By thread and context: the objects of each parameter.
    passed: FxHashMap<(ThreadId, ContextId), Vec<Objects>>,
    sets: Sets,
    /// What was asked for before.
    ambiguous: RefCell<FxHashMap<(FunctionId, Operand), Option<Rc<Ambiguous>>>>,
}

/// The address of an access, where callers decide on the object.
#[derive(Clone, Debug)]
pub struct Ambiguous {
    /// The position of the parameter that it is counted from.
    parameter: usize,
    /// What points-to has for that parameter.
    objects: BTreeSet<AbstractObjectId>,
}

impl Arguments {
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        facts: &Facts<'_>,
        tabulation: &Tabulation<'_, '_>,
        deadline: Deadline,
    ) -> Result<Arguments, OutOfTime> {
        let found = Arguments::default();
        let (calls, sources, pointees) = Default::default();
        let mut finder = Finder { program, models, facts, calls, sources, pointees, found };
        let threads: Vec<ThreadId> = facts.threads.threads().map(|(thread, _)| thread).collect();
        if threads.len() > 1 && threads.len() * tabulation.contexts.all.len() <= MOST_NODES {
            for thread in threads {
                finder.thread(tabulation, thread, deadline)?;
            }
        }
        Ok(finder.found)
    }

    /// Whether the thread, in this context, never touches the object by such an access.
    pub fn exclude(&self, thread: ThreadId, context: ContextId, access: &Ambiguous, object: AbstractObjectId) -> bool {
        let passed = self.passed.get(&(thread, context)).and_then(|passed| *passed.get(access.parameter)?);
        passed.is_some_and(|passed| self.sets.get(passed).binary_search(&object).is_err()) && access.objects.contains(&object)
    }

    /// The different sets that are passed for the access's parameter in these contexts.
    pub fn choices(&self, access: &Ambiguous, nodes: impl Iterator<Item = (ThreadId, ContextId)>) -> Vec<SetId> {
        let of_node = |node| self.passed.get(&node).and_then(|passed| *passed.get(access.parameter)?);
        nodes.filter_map(of_node).collect::<BTreeSet<SetId>>().into_iter().collect()
    }

    /// Which of the sets do not have the object: what is equal for two objects excludes the same contexts.
    pub fn excluding(&self, access: &Ambiguous, choices: &[SetId], object: AbstractObjectId) -> Vec<bool> {
        let is_passed = access.objects.contains(&object);
        choices.iter().map(|set| is_passed && self.sets.get(*set).binary_search(&object).is_err()).collect()
    }

    /// The parameter that an access is counted from, and what may come that way.
    pub fn ambiguous(
        &self,
        program: &Program,
        facts: &Facts<'_>,
        function: FunctionId,
        access: &MemoryAccess,
    ) -> Option<Rc<Ambiguous>> {
        let operand = access.operand()?;
        if let Some(known) = self.ambiguous.borrow().get(&(function, operand)) {
            return known.clone();
        }
        let found = base_parameter(program, facts, function, operand).and_then(|parameter| {
            let register = program.functions[function].parameters[parameter].register;
            let pointees = facts.points_to.pointees(function, Operand::Register(register));
            let objects: BTreeSet<AbstractObjectId> = pointees.map(|location| location.object).collect();
            (!objects.is_empty()).then_some(Rc::new(Ambiguous { parameter, objects }))
        });
        self.ambiguous.borrow_mut().insert((function, operand), found.clone());
        found
    }
}

/// The parameter that an address is counted from, unless it may be computed from numbers.
fn base_parameter(program: &Program, facts: &Facts<'_>, function: FunctionId, address: Operand) -> Option<usize> {
    let base: RegisterId = facts.values.base(function, address)?;
    let parameters = &program.functions[function].parameters;
    let position = parameters.iter().position(|one| one.register == base && one.by_value.is_none())?;
    let mut pointees = facts.points_to.pointees(function, address);
    pointees.all(|location| is_known(facts, location.object)).then_some(position)
}

/// Where the objects of an operand come from.
#[derive(Clone, Copy)]
enum Source {
    /// What the function's parameter has in the context.
    Parameter(usize),
    /// What points-to says.
    Always(Objects),
}

fn is_known(facts: &Facts<'_>, object: AbstractObjectId) -> bool {
    !matches!(facts.points_to.object(object).kind, AbstractObjectKind::Unknown | AbstractObjectKind::Residue)
}

struct Finder<'a, 'p> {
    program: &'a Program,
    models: &'a BoundModels<'a>,
    facts: &'a Facts<'p>,
    /// By function: its call instructions.
    calls: FxHashMap<FunctionId, FxHashMap<SiteId, Vec<&'a Instruction>>>,
    sources: FxHashMap<(FunctionId, Operand), Source>,
    /// What points-to has for operands.
    pointees: FxHashMap<(FunctionId, Operand), Objects>,
    found: Arguments,
}

impl<'a> Finder<'a, '_> {
    fn thread(&mut self, tabulation: &Tabulation<'_, '_>, thread: ThreadId, deadline: Deadline) -> Result<(), OutOfTime> {
        let contexts = &tabulation.contexts.all;
        let mut open: Vec<ContextId> = Vec::new();
        let roots = self.facts.threads.roots().iter().zip(&tabulation.roots).filter(|(root, _)| root.thread == thread);
        for (root, context) in roots {
            let mut passed = vec![None; self.program.functions[root.function].parameters.len()];
            if Some(root.function) == self.facts.threads.thread(thread).entry
                && let Some(first) = passed.first_mut()
            {
                *first = self.created_with(thread);
            }
            self.complete(root.function, &mut passed);
            self.add((thread, *context), passed, &mut open);
        }
        while let Some(context) = open.pop() {
            deadline.check()?;
            let caller = contexts[context].key.function;
            for edge in &contexts[context].callees {
                let callee = contexts[edge.callee].key.function;
                let passed = self.passed_by((thread, context), caller, edge.site, callee);
                self.add((thread, edge.callee), passed, &mut open);
            }
        }
        debug_assert!(
            steps(self.facts, tabulation, thread).0.iter().all(|node| self.found.passed.contains_key(&(thread, node.0)))
        );
        Ok(())
    }

    /// Adds what may be passed; what is new there is looked at again.
    fn add(&mut self, node: (ThreadId, ContextId), passed: Vec<Objects>, open: &mut Vec<ContextId>) {
        let Some(known) = self.found.passed.get_mut(&node) else {
            self.found.passed.insert(node, passed);
            return open.push(node.1);
        };
        let mut is_new = false;
        for (known, new) in known.iter_mut().zip(passed) {
            let both = known.zip(new).map(|(known, new)| self.found.sets.union(known, new));
            is_new |= *known != both;
            *known = both;
        }
        if is_new {
            open.push(node.1);
        }
    }

    /// What the calls at a site of a context pass to the callee's parameters.
    fn passed_by(&mut self, node: (ThreadId, ContextId), caller: FunctionId, site: SiteId, callee: FunctionId) -> Vec<Objects> {
        let count = self.program.functions[callee].parameters.len();
        let mut passed: Vec<Objects> = vec![Some(self.found.sets.of(BTreeSet::new())); count];
        let calls = self.calls_at(caller, site);
        for call in &calls {
            let Operation::Call { callee: called, arguments, .. } = &call.operation else { continue };
            let is_call = match called {
                Callee::Direct(function) => *function == callee,
                Callee::Indirect(_) => self.facts.points_to.callees(site).contains(&callee),
            };
            for (position, objects) in passed.iter_mut().enumerate() {
                let argument = arguments.get(position).filter(|argument| is_call && argument.by_value.is_none());
                let new = argument.and_then(|argument| self.objects(node, caller, argument.value));
                *objects = objects.zip(new).map(|(objects, new)| self.found.sets.union(objects, new));
            }
        }
        if calls.is_empty() {
            passed = vec![None; count];
        }
        self.complete(callee, &mut passed);
        passed
    }

    /// Where it is not known what is passed: all that points-to has for the parameter.
    fn complete(&mut self, callee: FunctionId, passed: &mut [Objects]) {
        let parameters = &self.program.functions[callee].parameters;
        for (parameter, objects) in parameters.iter().zip(passed).filter(|(parameter, _)| parameter.by_value.is_none()) {
            *objects = objects.or_else(|| self.pointees(callee, Operand::Register(parameter.register)));
        }
    }

    /// What points-to has for an operand.
    fn pointees(&mut self, function: FunctionId, operand: Operand) -> Objects {
        if let Some(known) = self.pointees.get(&(function, operand)) {
            return *known;
        }
        let objects = self.facts.points_to.pointees(function, operand).map(|location| location.object);
        let known: Option<BTreeSet<AbstractObjectId>> =
            objects.map(|object| is_known(self.facts, object).then_some(object)).collect();
        let found = known.map(|objects| self.found.sets.of(objects));
        self.pointees.insert((function, operand), found);
        found
    }

    /// The objects that an operand of the thread's context may point to.
    fn objects(&mut self, node: (ThreadId, ContextId), function: FunctionId, operand: Operand) -> Objects {
        match self.source(function, operand) {
            Source::Parameter(parameter) => *self.found.passed.get(&node)?.get(parameter)?,
            Source::Always(objects) => objects,
        }
    }

    fn source(&mut self, function: FunctionId, operand: Operand) -> Source {
        if let Some(known) = self.sources.get(&(function, operand)) {
            return *known;
        }
        let source = match base_parameter(self.program, self.facts, function, operand) {
            Some(parameter) => Source::Parameter(parameter),
            None => Source::Always(self.pointees(function, operand)),
        };
        self.sources.insert((function, operand), source);
        source
    }

    /// The call instructions of a site: a pass may have made copies.
    fn calls_at(&mut self, function: FunctionId, site: SiteId) -> Vec<&'a Instruction> {
        let program = self.program;
        let calls = self.calls.entry(function).or_insert_with(|| {
            let mut calls: FxHashMap<SiteId, Vec<&Instruction>> = FxHashMap::default();
            for instruction in program.functions[function].blocks.iter().flat_map(|block| &block.instructions) {
                if matches!(instruction.operation, Operation::Call { .. }) {
                    calls.entry(instruction.site).or_default().push(instruction);
                }
            }
            calls
        });
        calls.get(&site).cloned().unwrap_or_default()
    }

    /// What the argument of a new thread may point to.
    fn created_with(&mut self, thread: ThreadId) -> Objects {
        let known = self.facts.threads.thread(thread);
        if known.kind != ThreadKind::Created || known.is_cut {
            return None;
        }
        let (path, parent) = (known.path.clone(), known.parent?);
        let (site, callers) = path.split_last()?;
        let function = self.program.sites[*site].function;
        let mut objects = self.found.sets.of(BTreeSet::new());
        for call in self.calls_at(function, *site) {
            let Operation::Call { callee: Callee::Direct(library), arguments, .. } = &call.operation else { return None };
            let argument = self.models[*library]?.effects.iter().find_map(|effect| match effect {
                Effect::Spawn { argument, .. } => *argument,
                _ => None,
            })?;
            let given = self.given(function, callers, parent, arguments.get(argument)?.value)?;
            objects = self.found.sets.union(objects, given);
        }
        Some(objects)
    }

    /// What an operand points to where the thread's creator comes by these calls.
    fn given(&mut self, function: FunctionId, callers: &[SiteId], creator: ThreadId, operand: Operand) -> Objects {
        let parameter = match self.source(function, operand) {
            Source::Parameter(parameter) => parameter,
            Source::Always(objects) => return objects,
        };
        let Some((site, callers)) = callers.split_last() else {
            let is_entry = self.facts.threads.thread(creator).entry == Some(function) && parameter == 0;
            // A thread is told apart from its creator by its path, unless it was cut.
            return if is_entry { self.created_with(creator) } else { None };
        };
        let caller = self.program.sites[*site].function;
        let mut objects = self.found.sets.of(BTreeSet::new());
        for call in self.calls_at(caller, *site) {
            let Operation::Call { callee: Callee::Direct(called), arguments, .. } = &call.operation else { return None };
            if *called != function {
                return None;
            }
            let given = self.given(caller, callers, creator, arguments.get(parameter)?.value)?;
            objects = self.found.sets.union(objects, given);
        }
        Some(objects)
    }
}
