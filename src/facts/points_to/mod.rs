//! Points-to: which objects, and which bytes of them, may each pointer point to in any run?
//!
//! # Definition   pts(p) ⊇ {o} for `p = &o`; pts(p) ⊇ pts(q) for `p = q`; pts(p) ⊇ pts(x) for `p = *q`, x ∈ pts(q); pts(x) ⊇ pts(q) for `*p = q`,
//!                x ∈ pts(p); the least solution. A location x is an abstract object and a class of byte offsets (`location`). Abstract objects
//!                are globals, stack slots by instruction, heap objects by allocation site and, where it is returned, by caller (`context`),
//!                functions, labels; `Unknown` stands for memory that code outside the program holds, and for every object that escaped to it.
//! # Theorem      Every address that a run of the program puts into a register is in the register's set, as long as the run has no
//!                undefined behaviour; an address inside an escaped object may be there as `Unknown`. The call graph that follows contains every call of a run.
//! # Paper        Andersen 1994; Pearce, Kelly, Hankin 2007 for offsets; Hardekopf, Lin 2007 and Nuutila, Soisalon-Soininen 1994 for cycles.
//! # Deviations   1. Context-insensitive, but for small functions and those that hand out memory (`context`), and for what runs in different threads (`origin`).  2. Array elements share the class of their offset modulo the stride, over the
//!                whole object, or over the array where it lies inside a struct and C keeps the index inside (`OffsetTerm::count`); an
//!                object with too many offsets is folded (`memory`).  3. Addresses in integers keep their objects where
//!                arithmetic is local and an address is made of them there, else leave a residue (`arithmetic`, `form`).  4. A shift that the
//!                compiler promises to be in bounds drops what would lie beyond the object's end; below its start it stands for the whole object.
//!                5. Only functions found reachable are looked at.  6. A load sees what was stored with a type that C lets it read (`AliasType`,
//!                `declared`), and members are addressed in what can hold them; a copy of a fixed number of bytes into something declared forgets types, all others
//!                keep them (`copy`). A call through a pointer reaches functions that fit it (`call`).  7. In large programs memory has the type it is allocated as (`allocation`).
//!                8. Pointers to very many places share what is stored, loaded and copied through them (`crowd`, `pool`), and in large programs are believed what their types say (`typed`, `signature`); those of which track is lost become one for each type (`horde`).

mod access;
mod allocation;
mod arithmetic;
mod builtin;
mod call;
mod constraint;
mod contents;
mod context;
mod copy;
mod covered;
mod crowd;
mod declared;
mod directed;
mod form;
mod generate;
mod graph;
mod horde;
mod known;
mod library;
mod location;
mod memory;
mod object;
mod order;
mod origin;
mod outside;
mod overlay;
mod place;
mod pool;
mod room;
mod set;
mod shared;
mod shift;
mod signature;
mod solve;
mod statistics;
mod taken;
mod texts;
mod typed;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

pub use contents::PointeesId;
pub use location::{Location, Offset};
pub use object::{AbstractObject, AbstractObjectId, AbstractObjectKind, Callers};
pub use origin::Origin;
pub use statistics::Statistics;

use allocation::Allocated;
use call::Call;
use context::{ContextId, Contexts};
use graph::{Graph, Limits, NodeId};
use location::{Class, LocationTable};
use solve::Solver;

use super::call_graph::{CallEdge, CallKind};
use crate::deadline::{Deadline, OutOfTime};
use crate::models::BoundModels;
use crate::program::{ConstantId, Function, FunctionId, Operand, Program, RegisterId, SiteId};

/// Places beyond which pointers share what is stored and loaded through them, and beyond which they become one.
const LIMITS: Limits = Limits { crowd: 16, horde: 256, typed_horde: 64, members: 6_000_000, origins: 200_000 };
/// Registers of a program beyond which types of allocated memory and of pointers are assumed where they matter; what is smaller is looked at again without them.
const ASSUMED_BEYOND: usize = 20_000;

/// Who points where, and who calls whom.
pub struct PointsTo {
    objects: Vec<AbstractObject>,
    object_numbers: BTreeMap<AbstractObjectKind, AbstractObjectId>,
    /// By object.
    is_escaped: Vec<bool>,
    is_of_thread: Vec<bool>,
    is_unique: Vec<bool>,
    is_reached_by_horde: Vec<bool>,
    /// What was stored in each object: where, in how many bytes, the node that holds it.
    cells: Vec<Vec<memory::Cell>>,
    locations: LocationTable,
    graph: Graph,
    registers: TiVec<FunctionId, Option<NodeId>>,
    residue_sources: NodeId,
    handed_over: NodeId,
    /// Whether some number that was computed from addresses is used as one, and whether such numbers count as addresses.
    has_used_residues: bool,
    residues_are_addresses: bool,
    assumes_types_of_copies: bool,
    assumes_types_of_allocations: bool,
    /// By object: whether code outside may hand out its address although the program never gave it away.
    is_named_outside: Vec<bool>,
    constants: FxHashMap<ConstantId, NodeId>,
    edges: BTreeSet<CallEdge>,
    callees: BTreeMap<SiteId, Vec<FunctionId>>,
    contexts: Contexts,
    statistics: Statistics,
}

impl PointsTo {
    /// The facts of a program that begins in `main`; one without `main` is a library, each function an entry.
    pub fn of(program: &Program, models: &BoundModels<'_>) -> PointsTo {
        PointsTo::within(program, models, None, Deadline::NEVER).expect("nothing ends it early")
    }

    /// The same, or those of a library: code outside calls its entries, with arguments of its own. Unless the time is used up before.
    pub fn within(
        program: &Program,
        models: &BoundModels<'_>,
        entries: Option<&[FunctionId]>,
        deadline: Deadline,
    ) -> Result<PointsTo, OutOfTime> {
        if let Some(entries) = entries {
            return PointsTo::solve(program, models, None, entries, deadline);
        }
        match program.function_named("main").filter(|main| program.functions[*main].is_defined()) {
            Some(main) => PointsTo::solve(program, models, Some(main), &[], deadline),
            None => {
                let entries: Vec<FunctionId> =
                    program.functions.keys().filter(|id| program.functions[*id].is_defined()).collect();
                PointsTo::solve(program, models, None, &entries, deadline)
            }
        }
    }

    fn solve(
        program: &Program,
        models: &BoundModels<'_>,
        main: Option<FunctionId>,
        entries: &[FunctionId],
        deadline: Deadline,
    ) -> Result<PointsTo, OutOfTime> {
        let found = PointsTo::solve_with(program, models, main, entries, Allocated::AsUsed, LIMITS, deadline)?;
        let size: usize = program.functions.iter().map(|function| function.registers.len()).sum();
        if (found.assumes_types_of_allocations || found.assumes_types_of_pointers()) && size <= ASSUMED_BEYOND {
            // Where it was too much to tell threads apart, it would be again.
            let limits = if found.contexts.has_origins { LIMITS } else { Limits { origins: 0, ..LIMITS } };
            return PointsTo::solve_with(program, models, main, entries, Allocated::AsAnything, limits, deadline);
        }
        Ok(found)
    }

    /// The facts of a program that begins in `main`, as they are found for a large one: memory holds what it is allocated as.
    pub fn of_large(program: &Program, models: &BoundModels<'_>) -> PointsTo {
        let main = program.function_named("main");
        let found = PointsTo::solve_with(program, models, main, &[], Allocated::AsUsed, LIMITS, Deadline::NEVER);
        found.expect("nothing ends it early")
    }

    /// The facts of a program that begins in `main`, when pointers to more than so many places are crowds, and join hordes.
    pub fn of_crowds(program: &Program, models: &BoundModels<'_>, crowd: usize, horde: usize) -> PointsTo {
        let main = program.function_named("main");
        let found = PointsTo::solve_with(
            program,
            models,
            main,
            &[],
            Allocated::AsAnything,
            Limits { crowd, horde, typed_horde: horde, members: 0, origins: usize::MAX },
            Deadline::NEVER,
        );
        found.expect("nothing ends it early")
    }

    fn solve_with(
        program: &Program,
        models: &BoundModels<'_>,
        main: Option<FunctionId>,
        entries: &[FunctionId],
        allocated: Allocated,
        limits: Limits,
        deadline: Deadline,
    ) -> Result<PointsTo, OutOfTime> {
        let found = PointsTo::solve_once(program, models, (main, entries), allocated, limits, deadline)?;
        if let Some(found) = found {
            return Ok(found);
        }
        let limits = Limits { origins: 0, ..limits };
        let found = PointsTo::solve_once(program, models, (main, entries), allocated, limits, deadline)?;
        Ok(found.expect("threads are not told apart"))
    }

    /// `None` when sets become too large for telling threads apart.
    fn solve_once(
        program: &Program,
        models: &BoundModels<'_>,
        (main, entries): (Option<FunctionId>, &[FunctionId]),
        allocated: Allocated,
        limits: Limits,
        deadline: Deadline,
    ) -> Result<Option<PointsTo>, OutOfTime> {
        let mut solver = Solver::new(program, models, allocated, limits);
        for constructor in &program.constructors {
            solver.start(*constructor, CallKind::Constructor);
        }
        if let Some(main) = main {
            solver.start(main, CallKind::Main);
        }
        for entry in entries {
            solver.called_from_outside(*entry);
        }
        for destructor in &program.destructors {
            solver.start(*destructor, CallKind::Destructor);
        }
        solver.run(deadline)?;
        let is_told = !solver.has_too_many_for_origins();
        Ok(is_told.then(|| PointsTo::finish(program, solver)))
    }

    fn finish(program: &Program, mut solver: Solver<'_>) -> PointsTo {
        let is_named_outside = solver.objects.iter().map(|object| match object.kind {
            AbstractObjectKind::Global(global) => {
                let global = &program.globals[global];
                solver.has_outside_results && !global.is_static && !global.is_constant
            }
            _ => false,
        });
        let is_named_outside = is_named_outside.collect();
        let is_escaped: Vec<bool> = solver.memories.iter().map(|memory| memory.is_escaped).collect();
        let mut callees: BTreeMap<SiteId, Vec<FunctionId>> = BTreeMap::new();
        for edge in solver.edges.iter().filter(|edge| edge.kind == CallKind::Call) {
            callees.entry(edge.site.expect("a call has a site")).or_default().push(edge.callee);
        }
        callees.values_mut().for_each(|callees| {
            callees.sort_unstable();
            callees.dedup();
        });
        let registers = solver.registers_of_functions();
        let statistics = Statistics {
            functions: registers.iter().flatten().count(),
            objects: solver.objects.len(),
            locations: solver.locations.len(),
            nodes: solver.graph.len(),
            edges: solver.graph.edge_count(),
            contexts: solver.contexts.len(),
            escaped_objects: is_escaped.iter().filter(|escaped| **escaped).count(),
            ..solver.statistics
        };
        // `main` runs once, when nothing else begins it.
        let main = solver.edges.iter().find(|edge| edge.kind == CallKind::Main).map(|edge| edge.callee);
        let runs_once = main.filter(|main| solver.edges.iter().filter(|edge| edge.callee == *main).count() == 1);
        let is_unique = solver.objects.iter().map(|object| is_unique(program, object, runs_once)).collect();
        let drawn = solver.drawn_cells();
        let mut cells = solver.cells_of_objects();
        cells.iter_mut().zip(drawn).for_each(|(cells, drawn)| cells.extend(drawn));
        let is_reached_by_horde = solver.reached_by_hordes();
        let mut points_to = PointsTo {
            object_numbers: solver.take_object_numbers(),
            objects: solver.objects,
            is_escaped,
            is_of_thread: solver.memories.iter().map(|memory| memory.is_of_thread).collect(),
            is_unique,
            is_reached_by_horde,
            cells,
            locations: solver.locations,
            graph: solver.graph,
            registers,
            residue_sources: solver.residue_sources,
            handed_over: solver.handed_over,
            constants: solver.constants,
            edges: solver.edges,
            callees,
            contexts: solver.contexts,
            statistics,
            has_used_residues: false,
            residues_are_addresses: solver.residues_are_addresses,
            assumes_types_of_copies: solver.assumes_types_of_copies,
            assumes_types_of_allocations: solver.assumes_types_of_allocations,
            is_named_outside,
        };
        points_to.has_used_residues = points_to.uses_residues(program);
        points_to
    }

    /// Where the value of an operand may point, in a fixed order; nothing for a function that never runs. A number computed from addresses
    /// may be any of those it was computed from.
    pub fn pointees(&self, function: FunctionId, operand: Operand) -> impl Iterator<Item = Location> + '_ {
        self.expanded(self.node(function, operand))
    }

    fn node(&self, function: FunctionId, operand: Operand) -> Option<NodeId> {
        match operand {
            Operand::Register(register) => self.registers[function].map(|first| NodeId(first.0 + usize::from(register) as u32)),
            Operand::Constant(constant) => self.constants.get(&constant).copied(),
        }
    }

    pub fn object(&self, object: AbstractObjectId) -> &AbstractObject {
        &self.objects[object.index()]
    }

    /// The names of a stack object that an instruction makes in a thread of this origin, when these calls are active (`heap_objects`).
    pub fn stack_objects(
        &self,
        (function, register, site): (FunctionId, RegisterId, SiteId),
        calls: impl IntoIterator<Item = (Option<SiteId>, FunctionId)>,
        origin: Origin,
    ) -> Vec<AbstractObjectId> {
        let name = |context| {
            let (callers, origin) = (self.contexts.callers_of_slots(context), self.contexts.origin(context));
            self.object_of_kind(&AbstractObjectKind::StackSlot { function, register, site, callers, origin })
        };
        self.contexts_of(function, calls, origin).into_iter().filter_map(name).collect()
    }

    /// The contexts of an activation of the function in a thread of this origin, and of any, when these calls are active.
    fn contexts_of(
        &self,
        function: FunctionId,
        calls: impl IntoIterator<Item = (Option<SiteId>, FunctionId)>,
        origin: Origin,
    ) -> Vec<ContextId> {
        let mut inside = Some(function);
        let activations = calls.into_iter().chain([(None, function)]);
        let activations: Vec<(Option<SiteId>, FunctionId)> =
            activations.map(|(began_by, caller)| (began_by, inside.replace(caller).expect("each call has a caller"))).collect();
        let contexts = [origin, Origin::Any].map(|origin| self.contexts.of_activations(activations.iter().copied(), origin));
        contexts.into_iter().flatten().collect()
    }

    /// The object of this kind, if some reachable function mentions it.
    pub fn object_of_kind(&self, kind: &AbstractObjectKind) -> Option<AbstractObjectId> {
        self.object_numbers.get(kind).copied()
    }

    pub fn objects(&self) -> impl Iterator<Item = (AbstractObjectId, &AbstractObject)> {
        self.objects.iter().enumerate().map(|(index, object)| (AbstractObjectId(index as u32), object))
    }

    /// Whether code outside the program may hold its address: an `Unknown` pointer may point into it.
    pub fn is_escaped(&self, object: AbstractObjectId) -> bool {
        self.is_escaped[object.index()]
    }

    /// Whether what code outside returns may point into it: it escaped, or it can be named outside, and unknown functions return addresses. What such
    /// functions do with it themselves is an assumption.
    pub fn may_be_returned(&self, object: AbstractObjectId) -> bool {
        self.is_escaped(object) || self.is_named_outside[object.index()]
    }

    /// Whether addresses that the program computes from others may be missing.
    pub fn misses_computed_addresses(&self) -> bool {
        self.has_used_residues && !self.residues_are_addresses
    }

    /// Whether an address may have been copied to where it is read as a pointer of another type, and that was not followed.
    pub fn assumes_types_of_copies(&self) -> bool {
        self.assumes_types_of_copies
    }

    /// Whether memory may be used as something else than it is allocated as, and that was not followed.
    pub fn assumes_types_of_allocations(&self) -> bool {
        self.assumes_types_of_allocations
    }

    /// Whether a pointer to very many places may point to something else than its type says, and that was not followed.
    pub fn assumes_types_of_pointers(&self) -> bool {
        self.graph.has_misfits
    }

    /// Whether each thread has an instance of its own, made by the compiler (`_Thread_local`) or kept by the library (`errno`).
    pub fn is_of_thread(&self, object: AbstractObjectId) -> bool {
        self.is_of_thread[object.index()] || matches!(self.object(object).kind, AbstractObjectKind::ThreadLocal(_))
    }

    /// Whether accesses of so many bytes at the two locations may touch a common byte.
    pub fn may_alias(&self, left: Location, left_size: u64, right: Location, right_size: u64) -> bool {
        let is_outside = |object: AbstractObjectId| self.object(object).kind == AbstractObjectKind::Unknown;
        match (is_outside(left.object), is_outside(right.object)) {
            (true, true) => true,
            (true, false) => self.is_escaped(right.object),
            (false, true) => self.is_escaped(left.object),
            (false, false) => {
                left.object == right.object && Class::from(left.offset).overlaps(left_size, Class::from(right.offset), right_size)
            }
        }
    }

    /// Whether the object stands for exactly one object of a run. How often a heap allocation runs is not known here.
    pub fn must_be_unique(&self, object: AbstractObjectId) -> bool {
        self.is_unique[object.index()]
    }

    /// The functions that the call instructions of a site may call, ascending; library functions among them.
    pub fn callees(&self, site: SiteId) -> &[FunctionId] {
        self.callees.get(&site).map_or(&[], Vec::as_slice)
    }

    /// Every call, thread creation and callback that was found, in order.
    pub fn call_edges(&self) -> impl Iterator<Item = &CallEdge> {
        self.edges.iter()
    }

    pub fn is_reachable(&self, function: FunctionId) -> bool {
        self.registers[function].is_some()
    }

    /// The names of a heap object that is allocated by a call at `site` in a thread of this origin, when the active calls, innermost first, are `calls`: each the
    /// site of a call instruction (`None` for a thread's start or a callback) and the function it stands in. One name, and one more where the function also runs
    /// in any thread.
    pub fn heap_objects(
        &self,
        program: &Program,
        site: SiteId,
        calls: impl IntoIterator<Item = (Option<SiteId>, FunctionId)>,
        origin: Origin,
    ) -> Vec<AbstractObjectId> {
        let function = program.sites[site].function;
        let name = |context| {
            let callers = self.contexts.callers_of_memory(program, context, site);
            self.object_of_kind(&AbstractObjectKind::Heap { site, callers, origin: self.contexts.origin(context) })
        };
        self.contexts_of(function, calls, origin).into_iter().filter_map(name).collect()
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The sizes of the sets of all registers of reachable functions that point anywhere.
    pub fn set_sizes(&self, program: &Program) -> Vec<usize> {
        let reachable = self.registers.iter_enumerated().filter_map(|(function, first)| first.map(|first| (function, first)));
        let nodes = reachable.flat_map(|(function, first)| {
            (0..program.functions[function].registers.len() as u32).map(move |index| NodeId(first.0 + index))
        });
        nodes.map(|node| self.graph.set(node).len()).filter(|size| *size > 0).collect()
    }
}

fn is_unique(program: &Program, object: &AbstractObject, runs_once: Option<FunctionId>) -> bool {
    match object.kind {
        AbstractObjectKind::Global(_) | AbstractObjectKind::Function(_) | AbstractObjectKind::Label(..) => true,
        AbstractObjectKind::StackSlot { function, register, .. } => {
            runs_once == Some(function) && is_executed_once(&program.functions[function], register)
        }
        AbstractObjectKind::Unknown
        | AbstractObjectKind::Residue
        | AbstractObjectKind::ThreadLocal(_)
        | AbstractObjectKind::ByValueCopy { .. }
        | AbstractObjectKind::VariadicArea(_)
        | AbstractObjectKind::Heap { .. }
        | AbstractObjectKind::Key(_)
        | AbstractObjectKind::Library(_)
        | AbstractObjectKind::Arguments
        | AbstractObjectKind::Texts
        | AbstractObjectKind::Transfer(_) => false,
    }
}

/// Whether the block that defines the register cannot be reached from itself.
fn is_executed_once(function: &Function, register: RegisterId) -> bool {
    let defines =
        |block: &crate::program::Block| block.instructions.iter().any(|instruction| instruction.result == Some(register));
    let Some(home) = function.blocks.position(defines) else { return false };
    let mut open = function.blocks[home].terminator.kind.successors();
    let mut seen = BTreeSet::new();
    while let Some(block) = open.pop() {
        if block == home {
            return false;
        }
        if seen.insert(block) {
            open.extend(function.blocks[block].terminator.kind.successors());
        }
    }
    true
}
