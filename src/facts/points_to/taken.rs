//! Where functions are named: as which types their addresses are taken, and through which types they are called (`signature`).

use rustc_hash::FxHashMap;

use super::declared::Declarations;
use super::place::{Places, result_of, types_at};
use super::signature::{SetId, Signatures, function_pointed_to};
use crate::program::{
    Callee, Constant, ConstantId, DebugTypeId, DebugTypeKind, Function, FunctionId, Operand, Operation, Program, RegisterId,
    RelocationTarget, SiteId, TerminatorKind,
};

/// By call through a pointer: what that says it points to.
pub(super) type Through = FxHashMap<SiteId, SetId>;

pub(super) fn find<'p>(program: &'p Program, declarations: &Declarations<'p>, signatures: &mut Signatures) -> Through {
    for global in &program.globals {
        for relocation in &global.relocations {
            if let RelocationTarget::Function(function) = relocation.target {
                let mut places = Vec::new();
                if let Some(ty) = global.debug_type {
                    types_at(program, ty, relocation.offset, &mut places);
                }
                signatures.take(program, function, &places);
            }
        }
    }
    let mut through = Through::default();
    for function in program.functions.iter().filter(|function| function.is_defined()) {
        let places = Places::new(program, declarations, function);
        let named = vec![Vec::new(); function.registers.len()];
        let mut takings = Takings { places, signatures, named };
        while takings.pass_on() {}
        takings.write(&mut through);
    }
    through
}

/// Where one function writes addresses of functions that it names.
struct Takings<'a, 'p> {
    places: Places<'a, 'p>,
    signatures: &'a mut Signatures,
    /// By register: functions it may be, by name.
    named: Vec<Vec<FunctionId>>,
}

impl<'p> Takings<'_, 'p> {
    /// One round of passing names from register to register; whether there was something new.
    fn pass_on(&mut self) -> bool {
        let mut has_changed = false;
        let function: &'p Function = self.places.function;
        for block in &function.blocks {
            for phi in &block.phis {
                has_changed |= phi.operands.iter().fold(false, |changed, operand| changed | self.pass(*operand, phi.result));
            }
            for instruction in &block.instructions {
                let Some(result) = instruction.result else { continue };
                match instruction.operation {
                    Operation::Select { when_true, when_false, .. } => {
                        has_changed |= self.pass(when_true, result) | self.pass(when_false, result);
                    }
                    Operation::Freeze { value } | Operation::Cast { value, .. } => has_changed |= self.pass(value, result),
                    _ => {}
                }
            }
        }
        has_changed
    }

    fn pass(&mut self, from: Operand, to: RegisterId) -> bool {
        let mut has_changed = false;
        for function in self.functions(from) {
            let known = &mut self.named[usize::from(to)];
            if !known.contains(&function) {
                known.push(function);
                has_changed = true;
            }
        }
        has_changed
    }

    fn functions(&self, operand: Operand) -> Vec<FunctionId> {
        match operand {
            Operand::Register(register) => self.named[usize::from(register)].clone(),
            Operand::Constant(constant) => {
                let mut functions = Vec::new();
                self.add_functions_in(constant, &mut functions);
                functions
            }
        }
    }

    fn add_functions_in(&self, constant: ConstantId, functions: &mut Vec<FunctionId>) {
        match &self.places.program.constants[constant] {
            Constant::Function(function) => functions.push(*function),
            Constant::Vector { lanes, .. } => lanes.iter().for_each(|lane| self.add_functions_in(*lane, functions)),
            Constant::Aggregate { elements, .. } => {
                elements.iter().for_each(|(_, part)| self.add_functions_in(*part, functions));
            }
            _ => {}
        }
    }

    /// All places where names end.
    fn write(&mut self, through: &mut Through) {
        let (program, function) = (self.places.program, self.places.function);
        for binding in function.bindings.iter().filter(|binding| !binding.is_address) {
            self.put(binding.value, |_| program.variables[binding.variable].ty.into_iter().collect());
        }
        for block in &function.blocks {
            for instruction in &block.instructions {
                self.write_operation(&instruction.operation);
                if let Operation::Call { callee: Callee::Indirect(pointer), arguments, .. } = &instruction.operation {
                    let types = self.places.of_value(*pointer);
                    // A pointer to something else was cast to be called.
                    if types.iter().all(|ty| may_be_called(program, *ty, arguments.len())) {
                        let set = self.signatures.set_of(program, &types);
                        through.extend(set.map(|set| (instruction.site, set)));
                    }
                }
                if let Some(result) = instruction.result {
                    let (made, held) = (self.places.of_definition(result), self.places.held_by(result));
                    self.signatures.cast(program, &made, held);
                }
            }
            if let TerminatorKind::Return(Some(value)) = block.terminator.kind {
                self.put(value, |_| result_of(program, function).into_iter().collect());
            }
        }
    }

    fn put(&mut self, value: Operand, types: impl FnOnce(&Places<'_, 'p>) -> Vec<DebugTypeId>) {
        let (program, functions, from) = (self.places.program, self.functions(value), self.places.of_value(value));
        let is_pointer = from.iter().any(|ty| function_pointed_to(program, *ty).is_some());
        if !functions.is_empty() || is_pointer {
            let types = types(&self.places);
            self.signatures.cast(program, &from, &types);
            functions.into_iter().for_each(|function| self.signatures.take(program, function, &types));
        }
    }

    fn write_operation(&mut self, operation: &'p Operation) {
        match operation {
            Operation::Store { address, value, access } => {
                self.put(*value, |places| places.of_access(*address, access.alias));
            }
            Operation::Call { callee, arguments, .. } => {
                for (position, argument) in arguments.iter().enumerate() {
                    self.put(argument.value, |places| parameter_of(places, *callee, position, arguments.len()));
                }
            }
            // What they make of it goes on elsewhere, or is no address.
            Operation::Select { .. } | Operation::Freeze { .. } | Operation::Cast { .. } | Operation::Compare { .. } => {}
            _ => {
                for operand in operation.clone().operands_mut() {
                    self.put(*operand, |_| Vec::new());
                }
            }
        }
    }
}

/// Whether a pointer of this type can be called with so many arguments; structures may make the machine's number another one, and more of them.
fn may_be_called(program: &Program, pointer: DebugTypeId, arguments: usize) -> bool {
    match function_pointed_to(program, pointer).map(|ty| &program.debug_types[ty].kind) {
        Some(DebugTypeKind::Function { parameters, is_variadic, .. }) => {
            arguments == parameters.len() || *is_variadic && arguments > parameters.len()
        }
        _ => true,
    }
}

/// The types of the parameter that gets an argument.
fn parameter_of(places: &Places<'_, '_>, callee: Callee, position: usize, arguments: usize) -> Vec<DebugTypeId> {
    let program = places.program;
    let (types, count): (Vec<DebugTypeId>, usize) = match callee {
        Callee::Direct(callee) => {
            let callee = &program.functions[callee];
            (callee.debug_type.into_iter().collect(), callee.parameters.len())
        }
        Callee::Indirect(pointer) => {
            let pointers = places.of_value(pointer).into_iter();
            (pointers.filter_map(|ty| function_pointed_to(program, ty)).collect(), arguments)
        }
    };
    let parameter = |ty: DebugTypeId| match &program.debug_types[ty].kind {
        // Where structures are passed, machine and source may count differently.
        DebugTypeKind::Function { parameters, .. } if parameters.len() == count => parameters.get(position).copied(),
        _ => None,
    };
    types.into_iter().map(parameter).collect::<Option<Vec<_>>>().unwrap_or_default()
}
