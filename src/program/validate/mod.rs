//! The invariants of programs, checked: what lowering and the parser of the text form must guarantee to every later stage.

mod operation;

use std::fmt::Display;

use super::{
    BlockId, Constant, ConstantId, FileId, Function, FunctionId, GlobalId, Operand, Program, RegisterId, RelocationTarget,
    Scalar, SiteId, TerminatorKind, Type,
};
use typed_index_collections::TiVec;

/// More than this many violations say nothing new.
const SHOWN: usize = 40;

/// Checks all invariants; the error lists what is violated, one line each.
pub fn validate(program: &Program) -> Result<(), String> {
    let mut checker = Checker { program, violations: Vec::new() };
    checker.check_tables();
    for (id, function) in program.functions.iter_enumerated() {
        FunctionChecker::new(&mut checker, id, function).check();
    }
    if checker.violations.is_empty() { Ok(()) } else { Err(checker.violations.join("\n")) }
}

struct Checker<'a> {
    program: &'a Program,
    violations: Vec<String>,
}

impl Checker<'_> {
    fn report(&mut self, violation: impl Display) {
        if self.violations.len() < SHOWN {
            self.violations.push(violation.to_string());
        }
    }

    fn require(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.report(violation());
        }
    }

    fn check_tables(&mut self) {
        let program = self.program;
        self.check_names();
        for (id, constant) in program.constants.iter() {
            self.check_constant(id, constant);
        }
        for global in program.globals.iter() {
            self.check_global(global);
        }
        for site in program.sites.iter() {
            self.require(usize::from(site.function) < program.functions.len(), || "a site of no function".to_owned());
            let known = site.location.is_none_or(|location| usize::from(location) < program.locations.len());
            self.require(known, || "a site at no location".to_owned());
        }
        for (id, location) in program.locations.iter_enumerated() {
            self.check_file(Some(location.file), "a location");
            let outer = location.inlined_at.is_none_or(|outer| outer < id);
            self.require(outer, || "a location is inlined into one that stands before it in the table".to_owned());
        }
        for ty in program.debug_types.iter() {
            let known = ty.kind.parts().all(|part| usize::from(part) < program.debug_types.len());
            self.require(known, || "a part of a type has no type".to_owned());
        }
        for variable in program.variables.iter() {
            self.check_file(variable.file, &variable.name);
            let known = variable.ty.is_none_or(|ty| usize::from(ty) < program.debug_types.len());
            self.require(known, || format!("variable {} has no type", variable.name));
        }
        for &function in program.constructors.iter().chain(&program.destructors) {
            self.require(usize::from(function) < program.functions.len(), || "a constructor is no function".to_owned());
        }
    }

    fn check_names(&mut self) {
        let functions = self.program.functions.iter().map(|function| &function.name);
        let mut names: Vec<&String> = functions.chain(self.program.globals.iter().map(|global| &global.name)).collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            self.require(pair[0] != pair[1], || format!("two symbols are called {}", pair[0]));
        }
        self.require(names.first().is_none_or(|name| !name.is_empty()), || "a symbol without a name".to_owned());
    }

    fn check_file(&mut self, file: Option<FileId>, what: &str) {
        let known = file.is_none_or(|file| usize::from(file) < self.program.files.len());
        self.require(known, || format!("{what} lies in no file"));
    }

    fn check_global(&mut self, global: &super::Global) {
        let name = &global.name;
        let pointer_bytes = u64::from(self.program.layout.pointer_bytes);
        self.require(global.bytes.len() as u64 <= global.size, || format!("{name} has more initial bytes than its size"));
        let mut end = 0;
        for relocation in &global.relocations {
            self.require(relocation.offset >= end, || format!("{name}: relocations overlap or are out of order"));
            end = relocation.offset + pointer_bytes;
            self.require(end <= global.size, || format!("{name}: a relocation at {} is outside", relocation.offset));
            let known = match relocation.target {
                RelocationTarget::Global(target) => self.is_shared_global(target),
                RelocationTarget::Function(function) => usize::from(function) < self.program.functions.len(),
                RelocationTarget::Block(function, block) => self.is_block(function, block),
            };
            self.require(known, || format!("{name}: a relocation at {} has no target", relocation.offset));
        }
        self.require(global.align.is_power_of_two(), || format!("{name}: alignment {}", global.align));
        self.check_file(global.file, name);
        let known = global.debug_type.is_none_or(|ty| usize::from(ty) < self.program.debug_types.len());
        self.require(known, || format!("{name} has no debug type"));
    }

    /// Invariant 4: a thread-local global has no one address.
    fn is_shared_global(&self, global: GlobalId) -> bool {
        self.program.globals.get(global).is_some_and(|global| !global.is_thread_local)
    }

    fn is_block(&self, function: FunctionId, block: BlockId) -> bool {
        self.program.functions.get(function).is_some_and(|function| usize::from(block) < function.blocks.len())
    }

    fn check_constant(&mut self, id: ConstantId, constant: &Constant) {
        let program = self.program;
        let fits = match constant {
            Constant::Integer { bits, value } => (1..=128).contains(bits) && (*bits == 128 || value >> bits == 0),
            Constant::WideInteger { bits, words } => *bits > 128 && words.len() == bits.div_ceil(64) as usize,
            Constant::Float { kind, .. } => kind.is_float(),
            Constant::Null => true,
            Constant::Undef(ty) | Constant::Poison(ty) => *ty != Type::Void,
            Constant::Zero(ty) => matches!(ty, Type::Vector { .. } | Type::Aggregate { .. }),
            Constant::Global(global) => self.is_shared_global(*global),
            Constant::Function(function) => usize::from(*function) < program.functions.len(),
            Constant::Block(function, block) => self.is_block(*function, *block),
            Constant::Vector { element, lanes } => {
                !lanes.is_empty()
                    && lanes.iter().all(|lane| *lane < id && program.constants[*lane].type_of() == Type::Scalar(*element))
            }
            Constant::Aggregate { size, elements } => {
                let mut end = 0;
                elements.iter().all(|(offset, element)| {
                    let known = *element < id && *offset >= end;
                    end = offset + if known { program.layout.store_bytes(program.constants[*element].type_of()) } else { 0 };
                    known && end <= *size
                })
            }
        };
        self.require(fits, || format!("constant {} is malformed: {constant:?}", usize::from(id)));
    }
}

/// One function under check.
struct FunctionChecker<'a, 'b> {
    checker: &'b mut Checker<'a>,
    id: FunctionId,
    function: &'a Function,
    defined: TiVec<RegisterId, u32>,
    block: usize,
}

impl<'a, 'b> FunctionChecker<'a, 'b> {
    fn new(checker: &'b mut Checker<'a>, id: FunctionId, function: &'a Function) -> Self {
        let defined = TiVec::from(vec![0; function.registers.len()]);
        Self { checker, id, function, defined, block: 0 }
    }

    fn require(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            let place = format!("{}, block {}: ", self.function.name, self.block);
            self.checker.report(place + &violation());
        }
    }

    fn check(&mut self) {
        let function = self.function;
        for parameter in &function.parameters {
            self.define(parameter.register);
            if parameter.by_value.is_some() {
                self.require_type(Operand::Register(parameter.register), Type::POINTER, "a parameter passed by value");
            }
        }
        for (index, register) in function.registers.iter().enumerate() {
            self.require(register.ty != Type::Void, || format!("register {index} has no type"));
        }
        for index in 0..function.blocks.len() {
            self.block = index;
            self.check_block(BlockId::from(index));
        }
        if function.is_defined() {
            for (register, count) in self.defined.clone().iter_enumerated() {
                self.require(*count == 1, || format!("register {} has {count} definitions", usize::from(register)));
            }
        }
        for binding in &function.bindings {
            self.operand(binding.value);
            let known = usize::from(binding.variable) < self.checker.program.variables.len();
            self.require(known, || "a binding of no variable".to_owned());
        }
        let types = &self.checker.program.debug_types;
        let known = function.debug_type.is_none_or(|ty| usize::from(ty) < types.len());
        self.require(known, || "it has no debug type".to_owned());
        self.check_predecessors();
    }

    fn check_block(&mut self, id: BlockId) {
        let block = &self.function.blocks[id];
        for phi in &block.phis {
            self.define(phi.result);
            let (found, expected) = (phi.operands.len(), block.predecessors.len());
            self.require(found == expected, || format!("a phi has {found} operands for {expected} predecessors"));
            let Some(ty) = self.function.registers.get(phi.result).map(|register| register.ty) else { continue };
            for &operand in &phi.operands {
                self.require_type(operand, ty, "a phi's operand");
            }
        }
        for instruction in &block.instructions {
            self.check_site(instruction.site);
            if let Some(result) = instruction.result {
                self.define(result);
            }
            self.check_operation(instruction);
        }
        self.check_site(block.terminator.site);
        self.check_terminator(&block.terminator.kind);
    }

    fn check_site(&mut self, site: SiteId) {
        let id = self.id;
        let known = self.checker.program.sites.get(site).is_some_and(|site| site.function == id);
        self.require(known, || format!("site {} is not of this function", usize::from(site)));
    }

    fn check_terminator(&mut self, kind: &TerminatorKind) {
        let count = self.function.blocks.len();
        let targets_exist = kind.successors().into_iter().all(|target| usize::from(target) < count);
        self.require(targets_exist, || "a jump to no block".to_owned());
        match kind {
            TerminatorKind::Return(None) => {
                let returns = self.function.return_type;
                self.require(returns == Type::Void, || "nothing is returned".to_owned());
            }
            TerminatorKind::Return(Some(value)) => self.require_type(*value, self.function.return_type, "the returned value"),
            TerminatorKind::Branch { condition, .. } => self.require_type(*condition, Type::BOOL, "a condition"),
            TerminatorKind::Switch { value, cases, .. } => {
                let ty = self.operand(*value);
                self.require(matches!(ty, Some(Type::Scalar(Scalar::Integer(_)))), || "a switch on no integer".to_owned());
                for (case, _) in cases {
                    let same = self.constant(*case).map(Constant::type_of) == ty;
                    self.require(same, || "a case of another type".to_owned());
                }
                let mut numbers: Vec<ConstantId> = cases.iter().map(|(case, _)| *case).collect();
                numbers.sort_unstable();
                numbers.dedup();
                self.require(numbers.len() == cases.len(), || "a case occurs twice".to_owned());
            }
            TerminatorKind::IndirectJump { address, .. } => self.require_type(*address, Type::POINTER, "a computed target"),
            TerminatorKind::Jump(_) | TerminatorKind::AnyOf(_) | TerminatorKind::Unreachable => {}
        }
    }

    /// Invariant 3, first half: `predecessors` says who jumps here, each once, ascending.
    fn check_predecessors(&mut self) {
        let function = self.function;
        let mut edges: Vec<(BlockId, BlockId)> = Vec::new();
        for (from, block) in function.blocks.iter_enumerated() {
            edges.extend(block.terminator.kind.successors().into_iter().map(|to| (to, from)));
        }
        edges.sort_unstable();
        edges.dedup();
        let listed =
            function.blocks.iter_enumerated().flat_map(|(to, block)| block.predecessors.iter().map(move |from| (to, *from)));
        let listed: Vec<(BlockId, BlockId)> = listed.collect();
        self.require(edges == listed, || "the lists of predecessors do not fit the jumps".to_owned());
    }

    fn define(&mut self, register: RegisterId) {
        match self.defined.get_mut(register) {
            Some(count) => *count += 1,
            None => self.require(false, || format!("register {} does not exist", usize::from(register))),
        }
    }

    fn constant(&self, id: ConstantId) -> Option<&'a Constant> {
        let constants = &self.checker.program.constants;
        (usize::from(id) < constants.len()).then(|| &constants[id])
    }

    /// The type of an operand, if it exists at all.
    fn operand(&mut self, operand: Operand) -> Option<Type> {
        let ty = match operand {
            Operand::Register(register) => self.function.registers.get(register).map(|register| register.ty),
            Operand::Constant(constant) => self.constant(constant).map(Constant::type_of),
        };
        self.require(ty.is_some(), || format!("{operand:?} does not exist"));
        ty
    }

    fn require_type(&mut self, operand: Operand, expected: Type, what: &str) {
        if let Some(found) = self.operand(operand) {
            self.require(found == expected, || format!("{what} has type {found:?}, not {expected:?}"));
        }
    }
}
