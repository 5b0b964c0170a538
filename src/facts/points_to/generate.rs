//! Instructions to constraints: what each operation makes of the addresses in its operands.
//!
//! Registers of every type carry addresses, for C keeps them in integers, structs and vectors. A value narrower than a pointer
//! carries a residue only: that a part of an address is in it.

use super::call::{Call, CallArgument, Target};
use super::constraint::Constraint;
use super::context::ContextId;
use super::form::{Form, becomes_address, slots_of_numbers};
use super::graph::NodeId;
use super::location::{Class, greatest_common_divisor};
use super::object::{AbstractObject, AbstractObjectKind};
use super::solve::{Solver, UNKNOWN};
use super::typed::Pointed;
use crate::facts::call_graph::CallKind;
use crate::program::{
    BinaryOp, Callee, Constant, ConstantId, Function, FunctionId, Instruction, OffsetTerm, Operand, Operation, Phi, RegisterId,
    TerminatorKind, Type,
};

/// A function whose constraints are made.
pub(super) struct Body<'p> {
    pub id: FunctionId,
    pub context: ContextId,
    pub function: &'p Function,
    /// What defines each register; `None` for parameters and phis.
    pub definitions: Vec<Option<&'p Operation>>,
    /// Results of arithmetic on pointers that feed back into their own base: pointers that walk.
    pub walks: Vec<bool>,
    pub becomes_address: Vec<bool>,
    pub holds_numbers: Vec<bool>,
}

impl<'p> Body<'p> {
    fn new(program: &'p crate::program::Program, id: FunctionId, context: ContextId) -> Body<'p> {
        let function = &program.functions[id];
        let mut definitions = vec![None; function.registers.len()];
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(result) = instruction.result {
                definitions[usize::from(result)] = Some(&instruction.operation);
            }
        }
        let (walks, becomes_address) = (walking_registers(function), becomes_address(function));
        let holds_numbers = slots_of_numbers(program, function);
        Body { id, context, function, definitions, walks, becomes_address, holds_numbers }
    }

    pub fn definition(&self, operand: Operand) -> Option<&'p Operation> {
        match operand {
            Operand::Register(register) => self.definitions[usize::from(register)],
            Operand::Constant(_) => None,
        }
    }
}

impl<'p> Solver<'p> {
    pub fn register(&self, context: ContextId, register: RegisterId) -> NodeId {
        NodeId(self.contexts.registers(context).0 + usize::from(register) as u32)
    }

    /// The node of what an operand holds; `None` when it cannot be an address.
    pub fn operand(&mut self, body: &Body<'p>, operand: Operand) -> Option<NodeId> {
        match operand {
            Operand::Register(register) if body.function.registers[register].ty == Type::BOOL => None,
            Operand::Register(register) => Some(self.register(body.context, register)),
            Operand::Constant(constant) => self.constant(constant),
        }
    }

    fn constant(&mut self, constant: ConstantId) -> Option<NodeId> {
        if let Some(&node) = self.constants.get(&constant) {
            return Some(node);
        }
        let mut locations = Vec::new();
        self.constant_locations(constant, &mut locations);
        if locations.is_empty() {
            return None;
        }
        let node = self.graph.node();
        locations.into_iter().for_each(|location| self.graph.add_location(node, location));
        self.constants.insert(constant, node);
        Some(node)
    }

    fn constant_locations(&mut self, constant: ConstantId, locations: &mut Vec<u32>) {
        let program = self.program;
        let object = match &program.constants[constant] {
            Constant::Global(global) => AbstractObject::of_global(program, *global),
            Constant::Function(function) => AbstractObject::new(AbstractObjectKind::Function(*function)),
            Constant::Block(function, block) => AbstractObject::new(AbstractObjectKind::Label(*function, *block)),
            Constant::Vector { lanes, .. } => return lanes.iter().for_each(|lane| self.constant_locations(*lane, locations)),
            Constant::Aggregate { elements, .. } => {
                return elements.iter().for_each(|(_, element)| self.constant_locations(*element, locations));
            }
            Constant::Integer { .. }
            | Constant::WideInteger { .. }
            | Constant::Float { .. }
            | Constant::Null
            | Constant::Undef(_)
            | Constant::Poison(_)
            | Constant::Zero(_) => return,
        };
        let object = self.object(object);
        locations.extend(self.locate(object, Class::at(0), true));
    }

    pub fn return_node(&mut self, context: ContextId) -> NodeId {
        *self.returns.entry(context).or_insert_with(|| self.graph.node())
    }

    /// A node that holds just this location.
    pub fn holder(&mut self, object: AbstractObject, class: Class) -> NodeId {
        let node = self.graph.node();
        let object = self.object(object);
        if let Some(location) = self.locate(object, class, false) {
            self.graph.add_location(node, location);
        }
        node
    }

    /// What an operand points to: as it is declared, or loaded.
    fn pointed_to(&self, body: &Body<'p>, operand: Operand) -> Pointed {
        let Operand::Register(register) = operand else { return None };
        let declared = self.graph.kind_of(self.register(body.context, register)).pointed;
        declared.or_else(|| match body.definitions[usize::from(register)] {
            Some(Operation::Load { access, .. }) => {
                let form = Form { alias: access.alias, ..Form::of(self.pointer_bytes) };
                self.typed.of_form(self.program, form)
            }
            _ => None,
        })
    }

    pub fn generate(&mut self, context: ContextId) {
        let body = Body::new(self.program, self.contexts.function(context), context);
        for (register, pointed) in self.typed.of_registers(self.program, body.function).into_iter().enumerate() {
            self.graph.point_to(NodeId(self.contexts.registers(context).0 + register as u32), pointed);
        }
        for block in &body.function.blocks {
            block.phis.iter().for_each(|phi| self.phi(&body, phi));
            block.instructions.iter().for_each(|instruction| self.instruction(&body, instruction));
            if let TerminatorKind::Return(Some(value)) = block.terminator.kind
                && let Some(value) = self.operand(&body, value)
            {
                let result = self.return_node(context);
                self.graph.add_edge(value, result);
            }
        }
    }

    fn phi(&mut self, body: &Body<'p>, phi: &'p Phi) {
        for operand in &phi.operands {
            self.flow(body, *operand, Some(phi.result));
        }
    }

    /// `result ⊇ operand`.
    pub fn flow(&mut self, body: &Body<'p>, operand: Operand, result: Option<RegisterId>) {
        if let (Some(from), Some((to, width))) = (self.operand(body, operand), self.result(body, result)) {
            self.carry(from, to, width);
        }
    }

    /// The node of a result that can carry an address, and its bytes.
    pub fn result(&self, body: &Body<'p>, result: Option<RegisterId>) -> Option<(NodeId, u64)> {
        let register = result?;
        let ty = body.function.registers[register].ty;
        (ty != Type::BOOL).then(|| (self.register(body.context, register), self.program.layout.store_bytes(ty)))
    }

    pub fn bytes_of(&self, body: &Body<'p>, operand: Operand) -> u32 {
        let ty = self.program.type_of(body.function, operand);
        u32::try_from(self.program.layout.store_bytes(ty)).unwrap_or(u32::MAX)
    }

    pub fn add_unknown(&mut self, node: NodeId) {
        self.graph.add_location(node, UNKNOWN);
    }

    /// `*address ⊇ value`, by whoever may write anything.
    pub fn store(&mut self, address: Option<NodeId>, value: Option<NodeId>, width: u32) {
        self.store_as(address, value, Form::of(width));
    }

    fn store_as(&mut self, address: Option<NodeId>, value: Option<NodeId>, form: Form) {
        if let (Some(address), Some(value)) = (address, value) {
            self.attach(value, Constraint::StoreTo { address, form });
        }
    }

    /// The node's pointers, moved anywhere inside their objects.
    pub fn anywhere(&mut self, node: NodeId) -> NodeId {
        self.walked(node, 1)
    }

    /// The node's pointers, moved by multiples of so many bytes inside their objects.
    pub fn walked(&mut self, node: NodeId, stride: u64) -> NodeId {
        let moved = self.graph.node();
        self.attach(node, Constraint::shift(moved, 0, stride, false));
        moved
    }

    fn instruction(&mut self, body: &Body<'p>, instruction: &'p Instruction) {
        let result = instruction.result;
        match &instruction.operation {
            Operation::Binary { op, left, right, .. } => self.binary(body, *op, *left, *right, result),
            Operation::Cast { kind, value } => self.cast(body, *kind, *value, result),
            Operation::Intrinsic { function, arguments } => self.intrinsic(body, *function, arguments, result),
            Operation::Negate { value } => self.computed(body, &[*value], result),
            Operation::Select { when_true, when_false, .. } => {
                self.flow(body, *when_true, result);
                self.flow(body, *when_false, result);
            }
            Operation::Offset { base, constant, terms, in_bounds, structure, target } => {
                let walk = result.is_some_and(|register| body.walks[usize::from(register)]).then_some(*constant);
                // One index of an array inside a struct: the one of the smallest elements. What else varies has any number of strides.
                let window = terms.iter().filter_map(window_of).min();
                let others = terms.iter().filter(|term| window.is_none() || window_of(term) != window);
                let strides = others.map(|term| term.stride).chain(walk).map(i64::unsigned_abs);
                let stride = strides.fold(0, greatest_common_divisor);
                if let (Some(base), Some((to, _))) = (self.operand(body, *base), self.result(body, result)) {
                    let (step, count) = window.unwrap_or((0, 1));
                    let (constant, in_bounds, structure, target) = (*constant, *in_bounds, *structure, *target);
                    if let Some(structure) = structure {
                        self.graph.lie_inside(to, structure);
                    }
                    self.attach(base, Constraint::Shift { to, constant, stride, step, count, in_bounds, structure, target });
                }
                // A whole address as an index: `(char *)0 + number`.
                let is_number =
                    matches!(*base, Operand::Constant(constant) if self.program.constants[constant] == Constant::Null);
                for term in terms.iter().filter(|term| is_number && term.stride.unsigned_abs() == 1) {
                    if let (Some(index), Some((to, _))) = (self.operand(body, term.index), self.result(body, result)) {
                        self.attach(index, Constraint::anywhere(to));
                    }
                }
            }
            Operation::ExtractBytes { aggregate: value, .. }
            | Operation::ExtractLane { vector: value, .. }
            | Operation::Freeze { value } => {
                self.flow(body, *value, result);
            }
            Operation::InsertBytes { aggregate: whole, value, .. } | Operation::InsertLane { vector: whole, value, .. } => {
                self.flow(body, *whole, result);
                self.flow(body, *value, result);
            }
            Operation::Shuffle { left, right, .. } => {
                self.flow(body, *left, result);
                self.flow(body, *right, result);
            }
            Operation::StackAllocate { element_size, count, align } => {
                self.stack_slot(body, instruction, *element_size, *count, *align)
            }
            Operation::ThreadLocalAddress { global } => {
                let object = self.object(AbstractObject::of_global(self.program, *global));
                if let (Some((to, _)), Some(location)) = (self.result(body, result), self.locate(object, Class::at(0), true)) {
                    self.graph.add_location(to, location);
                }
            }
            Operation::Load { address, access } => {
                let Some((register, (_, bytes))) = result.zip(self.result(body, result)) else { return };
                let width = u32::try_from(bytes).unwrap_or(u32::MAX);
                self.load(body, *address, result, body.form_of_load(access, *address, register, width));
            }
            Operation::Store { address, value, access } => {
                let form = Form { alias: access.alias, ..Form::of(self.bytes_of(body, *value)) };
                let (address, value) = (self.operand(body, *address), self.operand(body, *value));
                self.store_as(address, value, form);
            }
            Operation::ReadModifyWrite { op, address, value, .. } => self.read_modify_write(body, *op, *address, *value, result),
            Operation::CompareExchange { address, replacement, .. } => {
                let width = self.bytes_of(body, *replacement);
                self.load(body, *address, result, Form::of(width));
                let (address, replacement) = (self.operand(body, *address), self.operand(body, *replacement));
                self.store(address, replacement, width);
            }
            Operation::CopyMemory { destination, source, size, is_assignment, .. } => {
                let size = self.constant_number(*size);
                let (destination, source) = (self.operand(body, *destination), self.operand(body, *source));
                self.copy_as(destination, source, size, *is_assignment);
            }
            Operation::SetMemory { destination, byte, .. } => {
                if let (Some(destination), Some(byte)) = (self.operand(body, *destination), self.operand(body, *byte)) {
                    let anywhere = self.anywhere(destination);
                    self.store(Some(anywhere), Some(byte), 1);
                }
            }
            Operation::MaskedLoad { address, otherwise, .. } => {
                self.flow(body, *otherwise, result);
                let width = self.masked_width(body, *address, *otherwise);
                self.load(body, *address, result, Form::of(width));
            }
            Operation::MaskedStore { address, value, .. } => {
                let width = self.masked_width(body, *address, *value);
                let (address, value) = (self.operand(body, *address), self.operand(body, *value));
                self.store(address, value, width);
            }
            Operation::Call { callee, arguments, .. } => self.call_instruction(body, instruction, *callee, arguments),
            Operation::InlineAssembly { arguments, may_store: true, .. } => {
                for argument in arguments {
                    if let Some(argument) = self.operand(body, *argument) {
                        self.graph.add_edge(argument, self.escaped);
                    }
                }
                if let Some((to, _)) = self.result(body, result) {
                    self.add_unknown(to);
                }
            }
            // What writes no memory keeps nothing: its results come from its operands and from what they lead to.
            Operation::InlineAssembly { arguments, may_store: false, .. } => {
                let Some((to, _)) = self.result(body, result) else { return };
                if result.is_some_and(|register| body.function.registers[register].ty != Type::POINTER) {
                    return self.computed(body, arguments, result);
                }
                for argument in arguments {
                    if let Some(argument) = self.operand(body, *argument) {
                        self.attach(argument, Constraint::anywhere(to));
                        let inside = self.anywhere(argument);
                        self.attach(inside, Constraint::Load { to, form: Form::of(self.pointer_bytes) });
                    }
                }
            }
            Operation::VariadicStart { list } => {
                let area = self.holder(AbstractObject::new(AbstractObjectKind::VariadicArea(body.id)), Class::ANY);
                if let Some(list) = self.operand(body, *list) {
                    let anywhere = self.anywhere(list);
                    self.store(Some(anywhere), Some(area), self.pointer_bytes);
                }
            }
            Operation::VariadicCopy { to, from } => {
                let (to, from) = (self.operand(body, *to), self.operand(body, *from));
                self.copy(to, from, None);
            }
            Operation::VariadicNext { list } => {
                if let (Some(list), Some((to, width))) = (self.operand(body, *list), self.result(body, result)) {
                    let (lists, area) = (self.anywhere(list), self.graph.node());
                    self.attach(lists, Constraint::Load { to: area, form: Form::of(self.pointer_bytes) });
                    self.attach(area, Constraint::Load { to, form: Form::of(width as u32) });
                }
            }
            Operation::FrameAddress => {
                if let Some((to, _)) = self.result(body, result) {
                    self.add_unknown(to);
                }
            }
            // No address comes out of these, and none that goes in is kept.
            Operation::Compare { .. }
            | Operation::StackSave
            | Operation::StackRestore { .. }
            | Operation::LifetimeStart { .. }
            | Operation::LifetimeEnd { .. }
            | Operation::Fence { .. }
            | Operation::VariadicEnd { .. }
            | Operation::Assume { .. }
            | Operation::Trap
            | Operation::CycleCounter => {}
        }
    }

    pub fn load(&mut self, body: &Body<'p>, address: Operand, result: Option<RegisterId>, form: Form) {
        if let (Some(address), Some((to, _))) = (self.operand(body, address), self.result(body, result)) {
            self.attach(address, Constraint::Load { to, form });
        }
    }

    /// What one pointer of a masked access reaches: the vector, or one lane of it.
    fn masked_width(&self, body: &Body<'p>, address: Operand, value: Operand) -> u32 {
        match (self.program.type_of(body.function, address), self.program.type_of(body.function, value)) {
            (Type::Vector { .. }, Type::Vector { element, .. }) => self.program.layout.scalar_bytes(element) as u32,
            _ => self.bytes_of(body, value),
        }
    }

    fn stack_slot(&mut self, body: &Body<'p>, instruction: &Instruction, element_bytes: u64, count: Operand, align: u64) {
        let Some(register) = instruction.result else { return };
        let origin = self.contexts.origin(body.context);
        let callers = self.contexts.callers_of_slots(body.context);
        let kind = AbstractObjectKind::StackSlot { function: body.id, register, site: instruction.site, callers, origin };
        let size = self.constant_number(count).and_then(|count| count.checked_mul(element_bytes));
        let binding =
            body.function.bindings.iter().find(|binding| binding.is_address && binding.value == Operand::Register(register));
        let ty = binding.and_then(|binding| self.program.variables[binding.variable].ty);
        let object = self.object(AbstractObject::declared(self.program, kind, size, align.max(1), ty));
        if let Some(location) = self.locate(object, Class::at(0), true) {
            let node = self.register(body.context, register);
            self.graph.add_location(node, location);
        }
    }

    pub fn constant_number(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Constant(constant) => match self.program.constants[constant] {
                Constant::Integer { value, .. } => u64::try_from(value).ok(),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    fn call_instruction(
        &mut self,
        body: &Body<'p>,
        instruction: &'p Instruction,
        callee: Callee,
        arguments: &'p [crate::program::Argument],
    ) {
        let arguments = arguments.iter().map(|argument| CallArgument {
            node: self.operand(body, argument.value),
            constant: self.constant_number(argument.value),
            by_value: argument.by_value,
            bytes: self.bytes_of(body, argument.value),
            kind: Solver::argument_kind(self.program.type_of(body.function, argument.value)),
            pointed: self.pointed_to(body, argument.value),
        });
        let arguments = arguments.collect();
        let result = self.result(body, instruction.result);
        let result_kind = instruction.result.map(|register| Solver::argument_kind(body.function.registers[register].ty));
        let call = Call {
            site: instruction.site,
            context: body.context,
            caller: body.id,
            kind: CallKind::Call,
            arguments,
            result,
            through: self.typed.of_call(instruction.site),
            result_kind,
        };
        let target = match callee {
            Callee::Direct(function) => Target::Function(function),
            Callee::Indirect(address) => match self.operand(body, address) {
                Some(node) => Target::Pointer(node),
                // A call of a number: no function of the program.
                None => return,
            },
        };
        self.add_call(call, target);
    }
}

/// The size and the number of the elements that an index chooses from.
fn window_of(term: &OffsetTerm) -> Option<(u32, u32)> {
    Some((u32::try_from(term.stride).ok()?, u32::try_from(term.count?).ok()?))
}

/// Registers on a cycle of definitions that contains their own arithmetic: `p` in `for (p = a; …; p++)`.
fn walking_registers(function: &Function) -> Vec<bool> {
    let mut walks = vec![false; function.registers.len()];
    let has_phis = function.blocks.iter().any(|block| !block.phis.is_empty());
    if !has_phis {
        return walks;
    }
    let mut graph: petgraph::Graph<(), ()> = petgraph::Graph::with_capacity(walks.len(), walks.len());
    walks.iter().for_each(|_| {
        graph.add_node(());
    });
    let mut edge = |from: Operand, to: RegisterId| {
        if let Operand::Register(from) = from {
            graph.add_edge((usize::from(from) as u32).into(), (usize::from(to) as u32).into(), ());
        }
    };
    for block in &function.blocks {
        block.phis.iter().for_each(|phi| phi.operands.iter().for_each(|operand| edge(*operand, phi.result)));
        for instruction in &block.instructions {
            let Some(to) = instruction.result else { continue };
            match &instruction.operation {
                Operation::Offset { base: value, .. } | Operation::Cast { value, .. } | Operation::Freeze { value } => {
                    edge(*value, to)
                }
                Operation::Select { when_true, when_false, .. } => {
                    edge(*when_true, to);
                    edge(*when_false, to);
                }
                Operation::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, right, .. } => {
                    edge(*left, to);
                    edge(*right, to);
                }
                // A cycle through anything else (memory, calls, other arithmetic) is walked step by step: slower, as complete.
                _ => {}
            }
        }
    }
    for component in petgraph::algo::tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1) {
        component.into_iter().for_each(|node| walks[node.index()] = true);
    }
    walks
}
