//! The solver: grows sets until every constraint holds.
//!
//! Each function's constraints are made when the function is found to be reachable; calls through pointers are connected as their targets
//! appear. Nothing bounds the number of rounds: sets only grow, and there are finitely many locations because offsets of one
//! object are folded beyond a limit (`memory`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::allocation::{Allocated, Allocations};
use super::call::Call;
use super::constraint::Constraint;
use super::context::{ContextId, Contexts};
use super::copy::CopyOfMemory;
use super::crowd::Crowds;
use super::declared::Declarations;
use super::form::Form;
use super::graph::{Graph, Limits, NodeId};
use super::horde::Hordes;
use super::known::Fit;
use super::library::Registration;
use super::location::{Class, LocationTable};
use super::memory::{Cell, Link, ObjectMemory};
use super::object::{AbstractObject, AbstractObjectId, AbstractObjectKind};
use super::pool::Source;
use super::set::LocationSet;
use super::shared::WholeLinks;
use super::shift::Shifts;
use super::statistics::Statistics;
use super::texts::{has_many_texts, is_text};
use super::typed::TypedPointers;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::call_graph::CallEdge;
use crate::models::{BoundModels, Effect};
use crate::program::{ConstantId, FunctionId, GlobalId, Program, RelocationTarget};

/// The number of the location that stands for what outside code may hold, and of the mark on numbers computed from addresses.
pub(super) const UNKNOWN: u32 = 0;
pub(super) const RESIDUE: u32 = 1;

pub(super) struct Solver<'p> {
    pub program: &'p Program,
    pub models: &'p BoundModels<'p>,
    pub pointer_bytes: u32,
    pub objects: Vec<AbstractObject>,
    pub object_numbers: FxHashMap<AbstractObjectKind, AbstractObjectId>,
    pub memories: Vec<ObjectMemory>,
    pub cells: FxHashMap<(AbstractObjectId, Class, Form), NodeId>,
    pub views: FxHashMap<(AbstractObjectId, Class, Form), NodeId>,
    /// Where cells are, whatever the types of their accesses.
    pub places: FxHashSet<(AbstractObjectId, Class, u32)>,
    pub links: FxHashSet<(AbstractObjectId, Link)>,
    pub whole_links: WholeLinks,
    pub crowds: Crowds,
    pub hordes: Hordes,
    pub typed: TypedPointers,
    /// By object: the pointers that it fits.
    pub fits: Vec<Fit>,
    /// Who draws from what, and views that have not read yet what their objects draw from.
    pub drawn: FxHashSet<(AbstractObjectId, Source)>,
    pub pulls: Vec<(AbstractObjectId, Cell, Source)>,
    pub locations: LocationTable,
    pub graph: Graph,
    pub contexts: Contexts,
    pub declarations: Declarations<'p>,
    pub allocations: Allocations,
    pub returns: FxHashMap<ContextId, NodeId>,
    pub constants: FxHashMap<ConstantId, NodeId>,
    pub copies: Vec<CopyOfMemory>,
    /// How many transfers there are.
    pub transfers: u32,
    pub calls: Vec<Call>,
    pub connected: FxHashSet<(u32, FunctionId)>,
    /// Calls through pointers, and functions that they may reach and do not fit.
    pub misfits: BTreeSet<(u32, FunctionId)>,
    /// Calls whose target may be any function that escaped.
    pub calls_of_unknown: BTreeSet<u32>,
    /// Routines that are called when some thread dispatches, and the calls that do.
    pub registrations: Vec<Registration>,
    pub dispatchers: Vec<Call>,
    /// The program calls functions that are neither its own, nor known, nor those of an installed library.
    pub has_foreign_functions: bool,
    /// Code outside the program hands out addresses that it may know by name.
    pub has_outside_results: bool,
    pub edges: BTreeSet<CallEdge>,
    /// Contexts whose constraints are to be made.
    pub pending: VecDeque<ContextId>,
    pub pending_globals: VecDeque<(AbstractObjectId, GlobalId)>,
    /// The locations of keys of thread-specific data: few.
    pub keys: LocationSet,
    /// What code outside the program may hold: nothing flows out of it, for whatever it passes back is `Unknown`.
    pub escaped: NodeId,
    /// Holds `Unknown`, which stands for every address in `escaped`.
    pub unknown_value: NodeId,
    /// What residues were computed from.
    pub residue_sources: NodeId,
    /// A number computed from addresses: it stands for all that are known to be.
    pub marked: NodeId,
    /// The program makes keys of thread-specific data.
    pub creates_keys: bool,
    /// What threads return or exit with.
    pub thread_results: NodeId,
    /// What was ever installed to handle a signal.
    pub signal_handlers: NodeId,
    /// What threads hand to one another other than through memory.
    pub handed_over: NodeId,
    /// Where numbers computed from addresses are used as addresses, and whether they count as such.
    pub used_residues: Vec<NodeId>,
    pub residues_are_addresses: bool,
    /// An address is copied with the type it has into something declared that may be read with another one.
    pub assumes_types_of_copies: bool,
    /// Memory that is allocated as one structure may be used as another.
    pub assumes_types_of_allocations: bool,
    /// The program has so many texts that all are one object.
    has_many_texts: bool,
    pub shifts: Shifts,
    /// Some object has got so many offsets that a cycle of arithmetic is likely.
    pub has_many_offsets: bool,
    pub statistics: Statistics,
}

impl<'p> Solver<'p> {
    pub fn new(program: &'p Program, models: &'p BoundModels<'p>, allocated: Allocated, limits: Limits) -> Solver<'p> {
        let declarations = Declarations::of(program);
        let mut graph = Graph::new(limits);
        let [escaped, unknown_value, residue_sources, marked, thread_results, signal_handlers, handed_over] =
            std::array::from_fn(|_| graph.node());
        for node in [escaped, unknown_value, residue_sources, marked, thread_results, signal_handlers, handed_over] {
            graph.stay_apart(node);
        }
        graph.add_edge(thread_results, handed_over);
        graph.add_edge(signal_handlers, handed_over);
        let is_foreign = |id: FunctionId| {
            let function = &program.functions[id];
            !function.is_defined()
                && models[id].is_none()
                && !function.is_pure_intrinsic()
                && !program.is_of_installed_library(id)
        };
        let creates_keys = |id: FunctionId| {
            models[id].is_some_and(|model| model.effects.iter().any(|effect| matches!(effect, Effect::CreateKey { .. })))
        };
        let has_foreign_functions = program.functions.keys().any(is_foreign);
        let mut solver = Solver {
            program,
            models,
            pointer_bytes: program.layout.pointer_bytes,
            objects: Vec::new(),
            object_numbers: FxHashMap::default(),
            memories: Vec::new(),
            cells: FxHashMap::default(),
            views: FxHashMap::default(),
            places: FxHashSet::default(),
            links: FxHashSet::default(),
            whole_links: WholeLinks::default(),
            crowds: Crowds::default(),
            hordes: Hordes::default(),
            typed: TypedPointers::of(program, &declarations, allocated),
            fits: Vec::new(),
            drawn: FxHashSet::default(),
            pulls: Vec::new(),
            locations: LocationTable::default(),
            graph,
            contexts: Contexts::of(program, models, limits.origins > 0),
            allocations: Allocations::of(program, &declarations, allocated),
            declarations,
            returns: FxHashMap::default(),
            constants: FxHashMap::default(),
            copies: Vec::new(),
            transfers: 0,
            calls: Vec::new(),
            connected: FxHashSet::default(),
            misfits: BTreeSet::new(),
            calls_of_unknown: BTreeSet::new(),
            registrations: Vec::new(),
            dispatchers: Vec::new(),
            has_foreign_functions,
            has_outside_results: false,
            edges: BTreeSet::new(),
            pending: VecDeque::new(),
            pending_globals: VecDeque::new(),
            keys: LocationSet::default(),
            escaped,
            unknown_value,
            residue_sources,
            marked,
            creates_keys: program.functions.keys().any(creates_keys),
            thread_results,
            signal_handlers,
            handed_over,
            used_residues: Vec::new(),
            residues_are_addresses: false,
            assumes_types_of_copies: false,
            assumes_types_of_allocations: false,
            has_many_texts: has_many_texts(program),
            shifts: Shifts::default(),
            has_many_offsets: false,
            statistics: Statistics::default(),
        };
        for (kind, number) in [(AbstractObjectKind::Unknown, UNKNOWN), (AbstractObjectKind::Residue, RESIDUE)] {
            let object = solver.object(AbstractObject::new(kind));
            assert_eq!(solver.locate(object, Class::ANY, false), Some(number), "the special locations are the first");
        }
        solver.graph.add_location(unknown_value, UNKNOWN);
        solver.graph.add_location(marked, RESIDUE);
        solver.attach(escaped, Constraint::Escape);
        solver
    }

    /// The object of this kind; a global's first mention brings its initial value along.
    pub fn object(&mut self, object: AbstractObject) -> AbstractObjectId {
        if let Some(&id) = self.object_numbers.get(&object.kind) {
            return id;
        }
        if self.has_many_texts && is_text(self.program, &object.kind) {
            let texts = self.object(AbstractObject::new(AbstractObjectKind::Texts));
            self.object_numbers.insert(object.kind, texts);
            return texts;
        }
        let id = AbstractObjectId(self.objects.len() as u32);
        let kind = object.kind.clone();
        self.object_numbers.insert(kind.clone(), id);
        self.fits.push(self.typed.fit(&self.declarations, &object));
        self.objects.push(object);
        // Which byte of a text is read makes no difference to anybody; what the library owns has no layout that is known.
        let is_vague = matches!(
            kind,
            AbstractObjectKind::Library(_)
                | AbstractObjectKind::Arguments
                | AbstractObjectKind::VariadicArea(_)
                | AbstractObjectKind::Texts
        );
        let memory =
            if is_vague || self.is_without_pointers(id) { ObjectMemory::of_one_class() } else { ObjectMemory::default() };
        self.memories.push(memory);
        if let AbstractObjectKind::Global(global) | AbstractObjectKind::ThreadLocal(global) = kind {
            // Later: initial values lead from global to global as far as they like.
            self.pending_globals.push_back((id, global));
        }
        id
    }

    fn initialize_global(&mut self, object: AbstractObjectId, global: GlobalId) {
        let program = self.program;
        for relocation in &program.globals[global].relocations {
            let target = match relocation.target {
                RelocationTarget::Global(target) => AbstractObject::of_global(program, target),
                RelocationTarget::Function(function) => AbstractObject::new(AbstractObjectKind::Function(function)),
                RelocationTarget::Block(function, block) => AbstractObject::new(AbstractObjectKind::Label(function, block)),
            };
            let target = self.object(target);
            let class = Class::at(0).plus(relocation.addend).unwrap_or(Class::ANY);
            let form = Form::of(self.pointer_bytes).copied_into(program.globals[global].debug_type);
            if let (Some(cell), Some(location)) =
                (self.cell(object, Class::at(relocation.offset), form), self.locate(target, class, false))
            {
                self.graph.add_location(cell, location);
            }
        }
        if program.globals[global].is_external {
            // Whoever defines it knows it.
            if let Some(location) = self.locate(object, Class::ANY, false) {
                self.graph.add_location(self.escaped, location);
            }
        }
    }

    /// Puts a constraint on a node and shows it what the node holds.
    pub fn attach(&mut self, node: NodeId, constraint: Constraint) {
        if self.graph.is_horde(node) {
            return self.attach_to_horde(self.graph.find(node), constraint);
        }
        if self.graph.attach(node, constraint) {
            let node = self.graph.find(node);
            let set = self.graph.sets[node.0 as usize].clone();
            if !set.is_empty() {
                self.apply(node, constraint, &set);
            }
        }
    }

    /// Runs until nothing changes.
    pub fn run(&mut self, deadline: Deadline) -> Result<(), OutOfTime> {
        let mut since_order = 0;
        loop {
            let mut is_larger = false;
            while let Some(context) = self.pending.pop_front() {
                deadline.check()?;
                self.generate(context);
                is_larger = true;
            }
            while let Some((object, global)) = self.pending_globals.pop_front() {
                self.initialize_global(object, global);
            }
            self.pull_all();
            // A search for cycles costs as much as visiting every node once.
            let is_due =
                since_order > self.graph.len() / 2 + 1000 || self.has_many_offsets && since_order > self.graph.len() / 20 + 200;
            let is_first = is_larger && since_order == 0;
            if self.graph.new_edges > 0 && (is_first || is_due) {
                self.statistics.merged_nodes += self.graph.order(is_first || self.has_many_offsets);
                self.has_many_offsets = false;
                self.statistics.orderings += 1;
                since_order = 0;
            }
            let Some(node) = self.graph.next() else {
                if self.connect_misfits() || self.take_residues_for_addresses() {
                    continue;
                }
                break;
            };
            if self.has_too_many_for_origins() {
                return Ok(());
            }
            since_order += 1;
            self.statistics.visits += 1;
            deadline.check_steps()?;
            self.visit(node);
        }
        self.graph.flatten();
        self.connect_calls_of_unknown();
        Ok(())
    }

    /// Whether sets have become so large that it does not pay to tell threads apart: they are made again without.
    pub fn has_too_many_for_origins(&self) -> bool {
        self.contexts.has_origins && self.graph.members() > self.graph.limits.origins
    }

    fn visit(&mut self, node: NodeId) {
        if self.graph.joins_horde(node) {
            return self.join_horde(node);
        }
        let at = node.0 as usize;
        let mut delta = std::mem::take(&mut self.graph.deltas[at]);
        if self.graph.is_horde(node) {
            delta = self.widen(node, delta);
            for constraint in self.graph.take_constraints_of_places(node) {
                self.attach_to_horde(node, constraint);
            }
        }
        let mut index = 0;
        while index < self.graph.constraints[at].len() {
            let constraint = self.graph.constraints[at][index];
            self.apply(node, constraint, &delta);
            index += 1;
        }
        // Edges that were added meanwhile have carried the whole set.
        self.leave_residues(node, &delta);
        for index in 0..self.graph.successors[at].len() {
            let successor = self.graph.successors[at][index];
            self.graph.add_set(successor, &delta);
        }
    }

    /// Makes a constraint hold for what its node has gained.
    pub fn apply(&mut self, node: NodeId, constraint: Constraint, delta: &LocationSet) {
        match constraint {
            Constraint::Load { to, form } if self.graph.is_crowd(node) => self.load_from_crowd(node, delta, to, form),
            Constraint::Store { from, form } if self.graph.is_crowd(node) => self.store_to_crowd(node, delta, from, form),
            Constraint::Load { to, form } => self.for_each_content(node, delta, form, |solver, object, class| {
                if let Some(view) = solver.view(object, class, form) {
                    solver.carry(view, to, form.width.into());
                }
            }),
            Constraint::Store { from, form } => self.for_each_content(node, delta, form, |solver, object, class| {
                solver.store_cells(object, class, from, form);
            }),
            Constraint::StoreTo { address, form } => self.attach(address, Constraint::Store { from: node, form }),
            Constraint::Shift { to, .. } => self.shift_all(constraint, to, delta),
            Constraint::LowBits { to, operation, bits } => {
                for location in delta.iter() {
                    if let Some(changed) = self.with_low_bits(location, operation, bits) {
                        self.graph.add_location(to, changed);
                    }
                }
            }
            Constraint::CopySource { copy } => {
                if self.graph.is_crowd(node) {
                    self.pool_copy(copy);
                }
                self.expand_residue(node, delta);
                for location in delta.iter() {
                    self.copy_from(copy, location);
                }
            }
            Constraint::CopyDestination { copy } => {
                if self.graph.is_crowd(node) {
                    self.pool_copy(copy);
                }
                self.expand_residue(node, delta);
                for location in delta.iter() {
                    self.copy_to(copy, location);
                }
            }
            Constraint::Call { call } => {
                self.expand_residue(node, delta);
                let is_of_crowd = self.graph.is_crowd(node);
                if delta.contains(UNKNOWN) {
                    self.call_unknown(call);
                }
                for location in self.graph.known.only_code(delta).iter() {
                    self.call_location(call, location, is_of_crowd);
                }
            }
            Constraint::Escape => self.escape(delta),
            Constraint::Access => self.add_members(node, delta),
        }
    }

    /// `to ⊇ from` for a value of `width` bytes: less than a pointer is a part of one.
    pub fn carry(&mut self, from: NodeId, to: NodeId, width: u64) {
        if width < self.pointer_bytes.into() {
            self.add_number(from, to);
        } else {
            self.graph.add_edge(from, to);
        }
    }

    /// Objects by kind, for queries.
    pub fn take_object_numbers(&mut self) -> BTreeMap<AbstractObjectKind, AbstractObjectId> {
        std::mem::take(&mut self.object_numbers).into_iter().collect()
    }
}
