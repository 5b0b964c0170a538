//! Publications: which instructions make an object known beyond the registers of its thread, and how.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use crate::facts::accesses::{Position, library_model};
use crate::facts::call_graph::{CallGraph, CallKind};
use crate::facts::points_to::{AbstractObjectId, AbstractObjectKind, PointsTo};
use crate::models::{BoundModels, Builtin, CallbackTime, Effect, FunctionModel};
use crate::program::{Access, Argument, Callee, FunctionId, Instruction, Operand, Operation, Ordering, Program, Scope, SiteId};

/// How an address gets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// With an order of its own: to a new thread, as a result, to routines of the same thread.
    Ordered,
    /// By a plain store, which orders nothing but races if nothing else does.
    Plain,
    Releasing,
    /// Anyhow.
    Unknown,
}

/// What all publications come to.
pub(super) struct Publications {
    /// By function: what it and its callees may publish.
    pub by_function: TiVec<FunctionId, FixedBitSet>,
    /// By object: the stores that publish it, ascending.
    pub stores: Vec<Vec<Position>>,
    /// The copies of memory, ascending, and the objects whose addresses may be in it.
    pub copies: Vec<Position>,
    pub is_copied: FixedBitSet,
    /// By object: never fresh.
    pub is_lost: FixedBitSet,
    /// By site: what library functions call back while they are called there.
    pub callbacks: FxHashMap<SiteId, Vec<FunctionId>>,
}

/// A call instruction, as those who publish see it.
pub(super) struct Scan<'a> {
    pub program: &'a Program,
    pub models: &'a BoundModels<'a>,
    pub points_to: &'a PointsTo,
}

impl Scan<'_> {
    pub fn callees(&self, callee: Callee, site: SiteId) -> Vec<FunctionId> {
        match callee {
            Callee::Direct(function) => vec![function],
            Callee::Indirect(_) => self.points_to.callees(site).to_vec(),
        }
    }

    /// Control may come back to behind the call without the way there being seen.
    pub fn saves_jump(&self, instruction: &Instruction) -> bool {
        let Operation::Call { callee, .. } = &instruction.operation else { return false };
        let saves = |model: &FunctionModel| model.effects.iter().any(|effect| matches!(effect, Effect::SaveJump { .. }));
        self.callees(*callee, instruction.site).into_iter().any(|callee| self.model(callee).is_some_and(saves))
    }

    pub fn model(&self, function: FunctionId) -> Option<&FunctionModel> {
        library_model(self.program, self.models, function)
    }

    /// The objects that the instruction itself may publish.
    pub fn published(&self, function: FunctionId, instruction: &Instruction, found: &mut dyn FnMut(AbstractObjectId)) {
        self.each(instruction, &mut |operand, _| {
            self.points_to
                .held_objects(function, operand)
                .filter(|object| is_made(self.points_to, *object))
                .for_each(&mut *found);
        });
    }

    /// The operands whose objects an instruction publishes, and how.
    fn each(&self, instruction: &Instruction, found: &mut dyn FnMut(Operand, Way)) {
        match &instruction.operation {
            Operation::Store { value, access, .. } => found(*value, way_of(access)),
            Operation::ReadModifyWrite { value, access, .. } => found(*value, way_of(access)),
            Operation::CompareExchange { replacement, access, .. } => found(*replacement, way_of(access)),
            Operation::MaskedStore { value, .. } => found(*value, Way::Plain),
            Operation::InlineAssembly { arguments, may_store: true, .. } => {
                arguments.iter().for_each(|argument| found(*argument, Way::Unknown))
            }
            Operation::Call { callee, arguments, .. } => {
                for callee in self.callees(*callee, instruction.site) {
                    self.of_call(callee, arguments, found);
                }
            }
            // Copies of memory spread only addresses that a store has put there; the rest stores nothing.
            _ => {}
        }
    }

    fn of_call(&self, callee: FunctionId, arguments: &[Argument], found: &mut dyn FnMut(Operand, Way)) {
        let target = &self.program.functions[callee];
        let Some(model) = self.model(callee) else {
            // A list of arguments is memory. Without a body anything may happen to them.
            let kept = if target.is_defined() { target.parameters.len() } else { 0 };
            arguments.iter().skip(kept).for_each(|argument| found(argument.value, Way::Unknown));
            return;
        };
        let argument = |position: usize| arguments.get(position).map(|argument| argument.value);
        for effect in &model.effects {
            match effect {
                Effect::Spawn { argument: Some(position), .. } => {
                    argument(*position).into_iter().for_each(|given| found(given, Way::Ordered))
                }
                Effect::ExitThread { value: Some(position), .. }
                | Effect::SetSpecific { value: position, .. }
                | Effect::PushCleanup { argument: position, .. } => {
                    argument(*position).into_iter().for_each(|given| found(given, Way::Ordered));
                }
                Effect::Callback { arguments: positions, when: CallbackTime::AtExit | CallbackTime::Dispatched, .. } => {
                    positions.iter().filter_map(|position| argument(*position)).for_each(|given| found(given, Way::Unknown));
                }
                Effect::Atomic(atomic) => {
                    atomic.operand.and_then(argument).into_iter().for_each(|given| found(given, Way::Unknown));
                }
                // Something that is not modelled may happen to what it gets.
                Effect::Unmodelled { .. } => arguments.iter().for_each(|given| found(given.value, Way::Unknown)),
                _ => {}
            }
        }
        match model.builtin {
            // The library keeps the string.
            Some(Builtin::Strtok) => argument(0).into_iter().for_each(|given| found(given, Way::Unknown)),
            // An address inside the string is stored.
            Some(
                Builtin::StrtokR
                | Builtin::Strtol
                | Builtin::Strtoul
                | Builtin::Strtoll
                | Builtin::Strtoull
                | Builtin::Strtod
                | Builtin::Strtof
                | Builtin::Strtold,
            ) => {
                argument(0).into_iter().for_each(|given| found(given, Way::Plain));
            }
            _ => {}
        }
    }

    /// Memory that is copied with the addresses in it: where from.
    fn copied(&self, instruction: &Instruction) -> Option<Operand> {
        match &instruction.operation {
            Operation::CopyMemory { source, .. } => Some(*source),
            Operation::Call { callee, arguments, .. } => {
                let source =
                    self.callees(*callee, instruction.site).into_iter().find_map(|callee| match self.model(callee)?.builtin? {
                        Builtin::Memcpy | Builtin::Memmove | Builtin::Mempcpy | Builtin::Memccpy => Some(1),
                        Builtin::Bcopy | Builtin::Realloc | Builtin::Reallocarray | Builtin::Qsort | Builtin::QsortR => Some(0),
                        _ => None,
                    });
                arguments.get(source?).map(|argument| argument.value)
            }
            _ => None,
        }
    }

    /// A load by library call, whose order is an argument: it counts as weak.
    fn is_atomic_call(&self, instruction: &Instruction) -> bool {
        let Operation::Call { callee, .. } = &instruction.operation else { return false };
        let is_atomic = |model: &FunctionModel| model.effects.iter().any(|effect| matches!(effect, Effect::Atomic(_)));
        self.callees(*callee, instruction.site).into_iter().any(|callee| self.model(callee).is_some_and(is_atomic))
    }

    pub fn all(&self, calls: &CallGraph) -> Publications {
        let count = self.points_to.objects().count();
        let functions = self.program.functions.len();
        let mut publications = Publications {
            by_function: (0..functions).map(|_| FixedBitSet::with_capacity(count)).collect(),
            stores: vec![Vec::new(); count],
            copies: Vec::new(),
            is_copied: FixedBitSet::with_capacity(count),
            is_lost: FixedBitSet::with_capacity(count),
            callbacks: FxHashMap::default(),
        };
        for edge in self.points_to.call_edges().filter(|edge| edge.kind.is_nested() && edge.kind != CallKind::Call) {
            edge.site.into_iter().for_each(|site| publications.callbacks.entry(site).or_default().push(edge.callee));
        }
        let mut is_atomic = FixedBitSet::with_capacity(count);
        let mut weakly_loaded = FixedBitSet::with_capacity(count);
        let mut sources: BTreeSet<AbstractObjectId> = BTreeSet::new();
        for (id, function) in self.program.functions.iter_enumerated().filter(|(id, _)| self.points_to.is_reachable(*id)) {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, instruction) in block.instructions.iter().enumerate() {
                    let position = Position { function: id, block: block_id, index };
                    self.each(instruction, &mut |operand, way| {
                        for object in self.points_to.held_objects(id, operand).filter(|object| is_made(self.points_to, *object)) {
                            let object = object.index();
                            publications.by_function[id].insert(object);
                            match way {
                                Way::Ordered => {}
                                Way::Plain | Way::Releasing => {
                                    if publications.stores[object].last() != Some(&position) {
                                        publications.stores[object].push(position);
                                    }
                                    is_atomic.set(object, is_atomic.contains(object) || way == Way::Releasing);
                                }
                                Way::Unknown => publications.is_lost.insert(object),
                            }
                        }
                    });
                    if let Some(source) = self.copied(instruction) {
                        publications.copies.push(position);
                        sources.extend(self.points_to.held_objects(id, source));
                    }
                    if self.is_atomic_call(instruction) {
                        weakly_loaded.insert_range(..);
                    }
                    if let Some(result) = instruction.result.filter(|_| loads_weakly(&instruction.operation)) {
                        let loaded = self.points_to.held_objects(id, Operand::Register(result));
                        loaded.for_each(|object| weakly_loaded.insert(object.index()));
                    }
                }
            }
        }
        is_atomic.intersect_with(&weakly_loaded);
        publications.is_lost.union_with(&is_atomic);
        for (object, _) in self.points_to.objects().filter(|(object, _)| self.points_to.is_escaped(*object)) {
            publications.is_lost.insert(object.index());
        }
        // An address that is computed from numbers may have gone any way.
        self.points_to.computed().for_each(|object| publications.is_lost.insert(object.index()));
        let reached = self.points_to.reached_from(sources.iter().copied(), |object| sources.contains(&object));
        // What is copied is known; an address that was never stored is not in it.
        let is_stored = |object: usize| !publications.stores[object].is_empty();
        let copied: Vec<usize> = (0..count).filter(|object| reached[*object] && is_stored(*object)).collect();
        publications.is_copied.extend(copied);
        close(&mut publications.by_function, calls);
        publications
    }
}

/// What a function's callees publish, it publishes. (What a cleanup handler gets was published when it was pushed.)
fn close(by_function: &mut TiVec<FunctionId, FixedBitSet>, calls: &CallGraph) {
    for component in calls.components() {
        let mut all = FixedBitSet::with_capacity(by_function.first().map_or(0, FixedBitSet::len));
        for function in component {
            all.union_with(&by_function[*function]);
            for edge in calls.calls_in(*function) {
                if edge.kind.is_nested() {
                    all.union_with(&by_function[edge.callee]);
                }
            }
        }
        for function in component {
            by_function[*function] = all.clone();
        }
    }
}

/// Objects that a thread makes as it runs.
pub(super) fn is_made(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    matches!(
        points_to.object(object).kind,
        AbstractObjectKind::Heap { .. } | AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::ByValueCopy { .. }
    )
}

fn way_of(access: &Access) -> Way {
    match access.ordering.filter(|_| access.scope == Scope::System) {
        None => Way::Plain,
        Some(ordering) if ordering.releases() => Way::Releasing,
        Some(_) => Way::Unknown,
    }
}

/// Atomic, and without the order that a release would give.
fn loads_weakly(operation: &Operation) -> bool {
    let is_weak = |access: &Access| access.ordering.is_some_and(|ordering| !ordering.acquires() || access.scope != Scope::System);
    match operation {
        Operation::Load { access, .. } | Operation::ReadModifyWrite { access, .. } => is_weak(access),
        Operation::CompareExchange { access, failure, .. } => is_weak(access) || !Ordering::acquires(*failure),
        _ => false,
    }
}
