//! The accesses of one instruction.

use std::collections::{BTreeMap, BTreeSet};

use super::{Action, Manner, MemoryAccess, Place};
use crate::facts::points_to::{AbstractObjectId, PointsTo};
use crate::models::{BoundModels, Builtin, Effect, FunctionModel};
use crate::program::{
    Access, Argument, Callee, Constant, Function, FunctionId, Instruction, Operand, Operation, Program, Scope, SiteId, Type,
};

/// What the accesses of calls are made from.
pub(super) struct Collector<'a> {
    pub program: &'a Program,
    pub models: &'a BoundModels<'a>,
    pub points_to: &'a PointsTo,
    /// The variadic arguments that calls of a function give.
    pub variadic_arguments: BTreeMap<FunctionId, BTreeSet<(FunctionId, Operand)>>,
    /// The lists that functions start, by function.
    pub lists: Vec<(FunctionId, BTreeSet<AbstractObjectId>)>,
    /// Some list is copied.
    pub copies_lists: bool,
    /// The first arguments of all calls of `strtok`.
    pub kept_strings: BTreeSet<(FunctionId, Operand)>,
    /// Some thread may be cancelled.
    pub has_cancellation: bool,
    /// Where a thread that ends jumps to: the buffers that were registered.
    pub cleanup_buffers: BTreeSet<(FunctionId, Operand)>,
}

/// A call, as the models see it.
#[derive(Clone, Copy)]
pub(super) struct LibraryCall<'a> {
    pub function: FunctionId,
    pub arguments: &'a [Argument],
    pub result: Option<Operand>,
}

impl LibraryCall<'_> {
    pub fn argument(&self, position: usize) -> Option<Operand> {
        self.arguments.get(position).map(|argument| argument.value)
    }
}

impl<'a> Collector<'a> {
    pub fn new(program: &'a Program, models: &'a BoundModels<'a>, points_to: &'a PointsTo) -> Collector<'a> {
        let mut collector = Collector {
            program,
            models,
            points_to,
            variadic_arguments: BTreeMap::new(),
            lists: Vec::new(),
            copies_lists: false,
            kept_strings: BTreeSet::new(),
            has_cancellation: false,
            cleanup_buffers: BTreeSet::new(),
        };
        for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| points_to.is_reachable(*id)) {
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                collector.survey(id, instruction);
            }
        }
        collector
    }

    /// What one instruction adds to what all calls of the program have in common.
    fn survey(&mut self, id: FunctionId, instruction: &Instruction) {
        match &instruction.operation {
            Operation::VariadicStart { list } => {
                let objects = self.points_to.pointees(id, *list).map(|location| location.object).collect();
                self.lists.push((id, objects));
            }
            Operation::VariadicCopy { .. } => self.copies_lists = true,
            Operation::Call { callee, arguments, .. } => {
                for callee in self.callees(*callee, instruction.site) {
                    let target = &self.program.functions[callee];
                    if target.is_variadic && arguments.len() > target.parameters.len() {
                        let given = arguments[target.parameters.len()..].iter().map(|argument| (id, argument.value));
                        self.variadic_arguments.entry(callee).or_default().extend(given);
                    }
                    let Some(model) = self.library_model(callee) else { continue };
                    self.has_cancellation |= model.effects.iter().any(|effect| matches!(effect, Effect::Cancel { .. }));
                    for effect in &model.effects {
                        if let Effect::PushCleanupJump { buffer } = effect {
                            self.cleanup_buffers.extend(arguments.get(*buffer).map(|buffer| (id, buffer.value)));
                        }
                    }
                    if let (Some(Builtin::Strtok), Some(text)) = (model.builtin, arguments.first()) {
                        self.kept_strings.insert((id, text.value));
                    }
                }
            }
            _ => {}
        }
    }

    pub fn callees(&self, callee: Callee, site: SiteId) -> Vec<FunctionId> {
        match callee {
            Callee::Direct(function) => vec![function],
            Callee::Indirect(_) => self.points_to.callees(site).to_vec(),
        }
    }

    /// The model that is executed in place of a body, as the machine chooses it.
    pub fn library_model(&self, function: FunctionId) -> Option<&'a FunctionModel> {
        library_model(self.program, self.models, function)
    }

    /// `stack` are the ends of the function's stack objects.
    pub fn instruction(
        &self,
        id: FunctionId,
        function: &Function,
        instruction: &Instruction,
        stack: &[MemoryAccess],
        found: &mut Vec<MemoryAccess>,
    ) {
        let layout = &self.program.layout;
        let bytes_of = |operand: Operand| Some(layout.store_bytes(self.program.type_of(function, operand)));
        let result_bytes = || instruction.result.map(|register| layout.store_bytes(function.registers[register].ty));
        match &instruction.operation {
            Operation::Load { address, access } => found.push(made(*address, result_bytes(), Action::Read, access)),
            Operation::Store { address, value, access } => found.push(made(*address, bytes_of(*value), Action::Write, access)),
            Operation::ReadModifyWrite { address, value, access, .. } => {
                found.push(made(*address, bytes_of(*value), Action::Update, access));
            }
            Operation::CompareExchange { address, replacement, access, .. } => {
                found.push(made(*address, bytes_of(*replacement), Action::Update, access));
            }
            Operation::CopyMemory { destination, source, size, is_volatile, .. } => {
                let size = self.constant(*size);
                found.push(MemoryAccess { is_volatile: *is_volatile, ..plain(*source, size, Action::Read) });
                found.push(MemoryAccess { is_volatile: *is_volatile, ..plain(*destination, size, Action::Write) });
            }
            Operation::SetMemory { destination, size, is_volatile, .. } => {
                let size = self.constant(*size);
                found.push(MemoryAccess { is_volatile: *is_volatile, ..plain(*destination, size, Action::Write) });
            }
            Operation::MaskedLoad { address, otherwise, .. } => {
                let size = self.masked_bytes(function, *address, *otherwise);
                found.push(plain(*address, size, Action::Read));
            }
            Operation::MaskedStore { address, value, .. } => {
                let size = self.masked_bytes(function, *address, *value);
                found.push(plain(*address, size, Action::Write));
            }
            Operation::Call { callee, arguments, .. } => {
                let result = instruction.result.map(Operand::Register);
                self.call(LibraryCall { function: id, arguments, result }, *callee, instruction.site, found);
            }
            Operation::VariadicStart { list } => found.push(plain(*list, Some(self.list_bytes()), Action::Write)),
            Operation::VariadicCopy { to, from } => {
                found.push(plain(*from, Some(self.list_bytes()), Action::Read));
                found.push(plain(*to, Some(self.list_bytes()), Action::Write));
            }
            Operation::VariadicNext { list } => {
                found.push(plain(*list, Some(self.list_bytes()), Action::Read));
                found.push(plain(*list, Some(self.list_bytes()), Action::Write));
            }
            Operation::LifetimeEnd { address } => found.push(plain(*address, None, Action::End)),
            Operation::StackRestore { .. } => found.extend(stack),
            // Values only; an object that begins to live is known to no other thread.
            Operation::Binary { .. }
            | Operation::Negate { .. }
            | Operation::Compare { .. }
            | Operation::Cast { .. }
            | Operation::Select { .. }
            | Operation::Offset { .. }
            | Operation::ExtractBytes { .. }
            | Operation::InsertBytes { .. }
            | Operation::ExtractLane { .. }
            | Operation::InsertLane { .. }
            | Operation::Shuffle { .. }
            | Operation::Freeze { .. }
            | Operation::Intrinsic { .. }
            | Operation::StackAllocate { .. }
            | Operation::StackSave
            | Operation::LifetimeStart { .. }
            | Operation::ThreadLocalAddress { .. }
            | Operation::Fence { .. }
            // What it touches is not known: an assumption stands at its site.
            | Operation::InlineAssembly { .. }
            | Operation::VariadicEnd { .. }
            | Operation::Assume { .. }
            | Operation::Trap
            | Operation::FrameAddress
            | Operation::CycleCounter => {}
        }
    }

    fn call(&self, call: LibraryCall<'_>, callee: Callee, site: SiteId, found: &mut Vec<MemoryAccess>) {
        for callee in self.callees(callee, site) {
            match self.library_model(callee) {
                Some(model) => self.library(call, model, found),
                None => self.copies(call, callee, found),
            }
        }
    }

    /// The bytes behind arguments that are passed by value are read; the copies are the callee's.
    fn copies(&self, call: LibraryCall<'_>, callee: FunctionId, found: &mut Vec<MemoryAccess>) {
        let callee = &self.program.functions[callee];
        for (position, argument) in call.arguments.iter().enumerate() {
            let declared = callee.parameters.get(position).and_then(|parameter| parameter.by_value);
            let size = argument.by_value.into_iter().chain(declared).map(|copy| copy.size).max();
            if let Some(size) = size.filter(|size| *size > 0) {
                found.push(plain(argument.value, Some(size), Action::Read));
            }
        }
    }

    /// The bytes of consecutive lanes; behind each pointer of a vector of them lies one lane.
    fn masked_bytes(&self, function: &Function, address: Operand, value: Operand) -> Option<u64> {
        let layout = &self.program.layout;
        let lane = |ty: Type| ty.element().map(|element| layout.scalar_bytes(element));
        match (self.program.type_of(function, address), self.program.type_of(function, value)) {
            (Type::Vector { .. }, value) => lane(value),
            (_, value @ Type::Vector { lanes, .. }) => lane(value).map(|bytes| bytes * u64::from(lanes)),
            _ => None,
        }
    }

    pub fn list_bytes(&self) -> u64 {
        if self.program.layout.pointer_bytes == 4 { 4 } else { 24 }
    }

    pub fn constant(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Constant(constant) => match self.program.constants[constant] {
                Constant::Integer { value, .. } => u64::try_from(value).ok(),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    /// Null, or no address at all: nothing lies behind it.
    pub fn is_nothing(&self, operand: Operand) -> bool {
        let Operand::Constant(constant) = operand else { return false };
        match &self.program.constants[constant] {
            Constant::Null | Constant::Undef(_) | Constant::Poison(_) => true,
            Constant::Integer { value, .. } => *value == 0,
            _ => false,
        }
    }
}

/// The ends of the stack objects that a function makes.
pub(super) fn stack_ends(function: &Function) -> Vec<MemoryAccess> {
    let copies = function.parameters.iter().filter(|parameter| parameter.by_value.is_some()).map(|parameter| parameter.register);
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    let slots = instructions.filter(|instruction| matches!(instruction.operation, Operation::StackAllocate { .. }));
    let objects = copies.chain(slots.filter_map(|instruction| instruction.result));
    objects.map(|register| plain(Operand::Register(register), None, Action::End)).collect()
}

/// The model that is executed in place of a body, as the machine chooses it: a user's entry, or that of a function without body.
pub fn library_model<'a>(program: &Program, models: &BoundModels<'a>, function: FunctionId) -> Option<&'a FunctionModel> {
    let model = models.get(function).copied().flatten()?;
    let is_about_body = model.effects.contains(&Effect::AtomicBody);
    let is_defined = program.functions[function].is_defined();
    let is_executed = !(is_defined && is_about_body) && (model.is_override || !is_defined && !is_about_body);
    is_executed.then_some(model)
}

pub(super) fn plain(address: Operand, size: Option<u64>, action: Action) -> MemoryAccess {
    MemoryAccess { place: Place::Operand(address), size, action, manner: Manner::Plain, is_volatile: false, alias: None }
}

/// An access that an instruction makes: between threads, one that is atomic towards signal handlers only is a plain one.
fn made(address: Operand, size: Option<u64>, action: Action, access: &Access) -> MemoryAccess {
    let ordering = access.ordering.filter(|_| access.scope == Scope::System);
    let manner = ordering.map_or(Manner::Plain, Manner::Atomic);
    MemoryAccess { place: Place::Operand(address), size, action, manner, is_volatile: access.is_volatile, alias: access.alias }
}
