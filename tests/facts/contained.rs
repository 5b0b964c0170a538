//! An observer of runs: is what happens contained in what points-to says?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lockcheck::explore::machine::{Event, EventKind, Machine, Observer};
use lockcheck::explore::memory::ObjectKind;
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::explore::value::{ObjectId, Pointer, ScalarValue, Value};
use lockcheck::facts::{AbstractObjectId, AbstractObjectKind, CallKind, Escape, Origin, PointsTo};
use lockcheck::models::{BoundModels, Effect, FunctionModel};
use lockcheck::program::{Callee, FunctionId, Instruction, Operand, Operation, Program, SiteId};

use crate::stacks::Stacks;

/// How much was compared.
#[derive(Default)]
pub struct Checked {
    pub accesses: usize,
    /// Addresses that were loaded or stored as values.
    pub pointers: usize,
    pub calls: usize,
    /// Accesses to what another thread made.
    pub foreign: usize,
}

impl Checked {
    pub fn add(&mut self, other: &Checked) {
        self.accesses += other.accesses;
        self.pointers += other.pointers;
        self.calls += other.calls;
        self.foreign += other.foreign;
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { accesses, pointers, calls, foreign } = self;
        write!(f, "{accesses} accesses, {pointers} pointers, {calls} calls, {foreign} to what another thread made")
    }
}

pub struct Contained<'p> {
    program: &'p Program,
    models: &'p BoundModels<'p>,
    points_to: &'p PointsTo,
    escape: Escape,
    instructions: BTreeMap<SiteId, Vec<&'p Instruction>>,
    stacks: Stacks,
    /// What each heap object is called.
    heap: BTreeMap<ObjectId, Vec<AbstractObjectId>>,
    /// Who is running.
    running: ThreadId,
    seen_objects: u32,
    edges: BTreeSet<(SiteId, FunctionId)>,
    /// Routines that run later than the call that registers them.
    deferred: BTreeSet<FunctionId>,
    pub checked: Checked,
    pub complaints: BTreeSet<String>,
}

impl<'p> Contained<'p> {
    pub fn new(program: &'p Program, models: &'p BoundModels<'p>, points_to: &'p PointsTo) -> Contained<'p> {
        let mut instructions: BTreeMap<SiteId, Vec<&Instruction>> = BTreeMap::new();
        for instruction in program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions) {
            instructions.entry(instruction.site).or_default().push(instruction);
        }
        let edges = points_to.call_edges().filter_map(|edge| Some((edge.site?, edge.callee))).collect();
        let is_deferred =
            |kind| matches!(kind, CallKind::Cleanup | CallKind::KeyDestructor | CallKind::AtExit | CallKind::Destructor);
        let deferred = points_to.call_edges().filter(|edge| is_deferred(edge.kind)).map(|edge| edge.callee).collect();
        Contained {
            program,
            models,
            points_to,
            escape: Escape::of(points_to),
            deferred,
            instructions,
            stacks: Stacks::default(),
            heap: BTreeMap::new(),
            running: ThreadId(0),
            seen_objects: 0,
            edges,
            checked: Checked::default(),
            complaints: BTreeSet::new(),
        }
    }

    /// Heap objects are named by the calls that are active when they are made.
    fn name_new_objects(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        for index in self.seen_objects..machine.memory.object_count() {
            let id = ObjectId(index);
            if let ObjectKind::Heap { site: Some(site), .. } = machine.memory.object(id).kind {
                self.heap.insert(id, self.stacks.heap_names(self.program, self.points_to, site, thread));
            }
        }
        self.seen_objects = machine.memory.object_count();
    }

    /// The abstract objects that stand for an object of the run; `None` for those no program text names.
    fn names(&self, machine: &Machine<'_>, object: ObjectId) -> Option<Vec<AbstractObjectId>> {
        let of_kind = |kind: AbstractObjectKind| self.points_to.object_of_kind(&kind).into_iter().collect::<Vec<_>>();
        Some(match machine.memory.object(object).kind {
            ObjectKind::Global(global) => of_kind(AbstractObjectKind::Global(global)),
            ObjectKind::ThreadLocal { global, .. } => of_kind(AbstractObjectKind::ThreadLocal(global)),
            ObjectKind::Function(function) => of_kind(AbstractObjectKind::Function(function)),
            ObjectKind::Block(function, block) => of_kind(AbstractObjectKind::Label(function, block)),
            ObjectKind::Heap { site: Some(_), .. } => self.heap.get(&object).cloned().unwrap_or_default(),
            ObjectKind::Stack { site, thread, .. } => self.stack_names(site, ThreadId(thread)),
            ObjectKind::Heap { site: None, .. } | ObjectKind::Internal(_) => return None,
        })
    }

    fn stack_names(&self, site: SiteId, thread: ThreadId) -> Vec<AbstractObjectId> {
        let function = self.program.sites[site].function;
        let mut names = Vec::new();
        for instruction in self.instructions.get(&site).into_iter().flatten() {
            match (&instruction.operation, instruction.result) {
                (Operation::StackAllocate { .. }, Some(register)) => {
                    names.extend(self.stacks.slot_names(self.points_to, (function, register, site), thread));
                }
                (Operation::Call { .. }, _) => {
                    for (id, object) in self.points_to.objects() {
                        let owner = match object.kind {
                            AbstractObjectKind::ByValueCopy { function, .. } | AbstractObjectKind::VariadicArea(function) => {
                                function
                            }
                            _ => continue,
                        };
                        if self.points_to.callees(site).contains(&owner) {
                            names.push(id);
                        }
                    }
                }
                (Operation::VariadicStart { .. }, _) => {
                    names.extend(self.points_to.object_of_kind(&AbstractObjectKind::VariadicArea(function)))
                }
                _ => {}
            }
        }
        names
    }

    /// Whether the pointer is among the operand's pointees.
    fn is_contained(
        &self,
        machine: &Machine<'_>,
        pointer: Pointer,
        function: FunctionId,
        operand: Operand,
        any_offset: bool,
    ) -> bool {
        let Some(object) = pointer.object.or_else(|| machine.memory.pointer_to(pointer.address).object) else { return true };
        let Some(names) = self.names(machine, object) else { return true };
        let (base, size) = (machine.memory.object(object).base, machine.memory.object(object).size);
        let offset = pointer.address.checked_sub(base).filter(|offset| *offset <= size);
        let may_be = |name: AbstractObjectId| {
            names.contains(&name)
                || self.points_to.object(name).kind == AbstractObjectKind::Unknown
                    && names.iter().any(|name| self.points_to.is_escaped(*name))
        };
        // As far as it is told apart which thread it is.
        let of_origins =
            [self.stacks.origin(self.running), Origin::Any].map(|origin| self.points_to.objects_in(origin, function, operand));
        let is_in_origin =
            of_origins.iter().any(|objects| objects.as_ref().is_none_or(|objects| objects.iter().any(|one| may_be(*one))));
        is_in_origin
            && self.points_to.pointees(function, operand).any(|location| {
                let is_there = offset.is_none_or(|offset| any_offset || location.offset.contains(offset));
                names.contains(&location.object) && is_there
                    || self.points_to.object(location.object).kind == AbstractObjectKind::Unknown
                        && names.iter().any(|name| self.points_to.is_escaped(*name))
            })
    }

    fn complain(&mut self, machine: &Machine<'_>, site: SiteId, what: &str, pointer: Option<Pointer>) {
        let object = pointer.and_then(|pointer| pointer.object);
        let object = object.map(|object| {
            let kind = machine.memory.object(object).kind;
            let offset = pointer.map_or(0, |pointer| pointer.address.wrapping_sub(machine.memory.object(object).base));
            let names: Vec<_> = self
                .names(machine, object)
                .unwrap_or_default()
                .into_iter()
                .map(|name| self.points_to.object(name).kind.clone())
                .collect();
            format!(" {kind:?} at {offset}, known as {names:?}")
        });
        let place = self.program.place_of(site).map_or(String::new(), |place| place.to_string());
        let instructions: Vec<_> = self
            .instructions
            .get(&site)
            .into_iter()
            .flatten()
            .map(|instruction| format!("{:?}", instruction.operation))
            .collect();
        self.complaints.insert(format!("{place} {}: {what}{}", instructions.join(" / "), object.unwrap_or_default()));
    }

    fn access(&mut self, machine: &Machine<'_>, site: SiteId, address: Pointer, value: Option<&Value>, is_write: bool) {
        let function = self.program.sites[site].function;
        let origin = self.stacks.origin(self.running);
        if !self.points_to.may_run_in(function, origin) {
            self.complain(machine, site, &format!("does not run in {origin:?}"), None);
        }
        let Some(instructions) = self.instructions.get(&site) else { return };
        let (mut is_known, mut is_value_known, mut is_compared) = (false, true, false);
        for instruction in instructions {
            // The operands that hold the address; whether the value is an operand too; whether the address lies somewhere behind it.
            let (addresses, value_operand, any_offset): (Vec<Operand>, Option<Operand>, bool) = match &instruction.operation {
                Operation::Load { address, .. } => (vec![*address], instruction.result.map(Operand::Register), false),
                Operation::Store { address, value, .. } => (vec![*address], Some(*value), false),
                Operation::ReadModifyWrite { address, .. } | Operation::CompareExchange { address, .. } => {
                    let old = instruction.result.map(Operand::Register).filter(|_| !is_write);
                    (vec![*address], old, false)
                }
                Operation::CopyMemory { destination, .. } if is_write => (vec![*destination], None, false),
                Operation::CopyMemory { source, .. } => (vec![*source], None, false),
                Operation::SetMemory { destination, .. } => (vec![*destination], None, false),
                Operation::MaskedLoad { address, .. } | Operation::MaskedStore { address, .. } => (vec![*address], None, true),
                Operation::Call { arguments, .. } if self.is_library_call(site) && !is_made_at(machine, address, site) => {
                    (arguments.iter().map(|argument| argument.value).collect(), None, true)
                }
                _ => continue,
            };
            is_compared = true;
            is_known |= addresses.iter().any(|operand| self.is_contained(machine, address, function, *operand, any_offset));
            if let (Some(Value::Scalar(ScalarValue::Pointer(pointer))), Some(operand), [_]) =
                (value, value_operand, instructions.as_slice())
            {
                self.checked.pointers += 1;
                is_value_known &= self.is_contained(machine, *pointer, function, operand, false);
            }
        }
        if !is_compared {
            return;
        }
        self.checked.accesses += 1;
        if !is_known {
            self.complain(machine, site, if is_write { "writes" } else { "reads" }, Some(address));
        }
        if !is_value_known && let Some(Value::Scalar(ScalarValue::Pointer(pointer))) = value {
            self.complain(machine, site, "moves a pointer to", Some(*pointer));
        }
    }

    /// What a thread other than its maker touches is shared.
    fn touched(&mut self, machine: &Machine<'_>, toucher: ThreadId, site: SiteId, address: Pointer) {
        let Some(object) = address.object else { return };
        let maker = match machine.memory.object(object).kind {
            ObjectKind::ThreadLocal { thread, .. } | ObjectKind::Stack { thread, .. } | ObjectKind::Heap { thread, .. } => thread,
            ObjectKind::Global(_) | ObjectKind::Function(_) | ObjectKind::Block(..) | ObjectKind::Internal(_) => return,
        };
        let Some(names) = self.names(machine, object).filter(|_| maker != toucher.0) else { return };
        self.checked.foreign += 1;
        if !names.iter().any(|name| self.escape.is_shared(*name)) {
            self.complain(machine, site, "is not the maker of", Some(address));
        }
    }

    /// A library function that touches only what its arguments point at: not what lists, states of its own, or handlers lead to.
    fn is_library_call(&self, site: SiteId) -> bool {
        let through_lists = ["v", "__v", "strtok", "strsep", "__str", "getline", "getdelim", "__getdelim"];
        let is_direct = |model: &FunctionModel| {
            let is_lock = |effect: &Effect| {
                matches!(effect, Effect::Acquire { .. } | Effect::Release { .. } | Effect::InitializeLock { .. })
            };
            model.builtin.is_some() || model.effects.iter().all(is_lock)
        };
        let callees = self.points_to.callees(site);
        let is_checked = |callee: &FunctionId| {
            let name = &self.program.functions[*callee].name;
            self.models[*callee].is_some_and(is_direct) && !through_lists.iter().any(|word| name.starts_with(word))
        };
        !callees.is_empty() && callees.iter().all(is_checked)
    }

    fn called(&mut self, machine: &Machine<'_>, site: SiteId, callee: FunctionId) {
        let is_call =
            self.instructions.get(&site).is_some_and(|all| all.iter().any(|one| matches!(one.operation, Operation::Call { .. })));
        if is_call {
            self.checked.calls += 1;
            if !self.edges.contains(&(site, callee)) && !self.deferred.contains(&callee) {
                let name = self.program.functions[callee].name.clone();
                self.complain(machine, site, &format!("calls {name}"), None);
            }
        }
    }
}

/// What a library function has just allocated: it is written before it is returned.
fn is_made_at(machine: &Machine<'_>, address: Pointer, site: SiteId) -> bool {
    let object = address.object.map(|object| machine.memory.object(object).kind);
    matches!(object, Some(ObjectKind::Heap { site: Some(made), .. }) if made == site)
}

impl Observer for Contained<'_> {
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        self.name_new_objects(machine, event.thread);
        self.running = event.thread;
        match event.kind {
            EventKind::Call { function } => {
                if let Some(site) = event.site {
                    self.called(machine, site, function);
                }
                self.stacks.push(event.thread, function, event.site);
            }
            EventKind::Return { function, .. } => {
                let popped = self.stacks.pop(event.thread);
                assert_eq!(popped, Some(function), "calls and returns are nested");
            }
            EventKind::LibraryCall { function, .. } => {
                if let Some(site) = event.site {
                    self.called(machine, site, function);
                }
            }
            EventKind::Read { address, value, .. } => {
                if let Some(site) = event.site {
                    self.touched(machine, event.thread, site, address);
                    self.access(machine, site, address, value, false);
                }
            }
            EventKind::Write { address, value, .. } => {
                if let Some(site) = event.site {
                    self.touched(machine, event.thread, site, address);
                    self.access(machine, site, address, value, true);
                }
            }
            EventKind::Fence { .. }
            | EventKind::LibraryReturn { .. }
            | EventKind::Blocked { .. }
            | EventKind::Synchronization(_)
            | EventKind::Created { .. }
            | EventKind::Output { .. }
            | EventKind::Choice { .. }
            | EventKind::ThreadFinished => {}
        }
    }
}

/// Indirect calls of reachable functions, and how many callees they have together.
pub fn indirect_calls(program: &Program, points_to: &PointsTo) -> (usize, usize) {
    let (mut calls, mut callees) = (0, 0);
    for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| points_to.is_reachable(*id)) {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Operation::Call { callee: Callee::Indirect(_), .. } = instruction.operation {
                calls += 1;
                callees += points_to
                    .call_edges()
                    .filter(|edge| edge.site == Some(instruction.site) && edge.caller == Some(id) && edge.kind == CallKind::Call)
                    .count();
            }
        }
    }
    (calls, callees)
}

/// Registers that may point to an object of this kind.
pub fn registers_to(program: &Program, points_to: &PointsTo, kind: &AbstractObjectKind) -> usize {
    let Some(object) = points_to.object_of_kind(kind) else { return 0 };
    let registers = program
        .functions
        .iter_enumerated()
        .flat_map(|(id, function)| function.registers.keys().map(move |register| (id, register)));
    registers
        .filter(|(id, register)| points_to.pointees(*id, Operand::Register(*register)).any(|location| location.object == object))
        .count()
}
