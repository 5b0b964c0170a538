//! Names for people: the C expression of the memory that an instruction touches.
//!
//! A register has one definition, so an address can be followed back to a global, a variable or a pointer that has a name:
//! `hits`, `conn->lock`, `accounts[i].balance`, `*p`. Names are for reports only; no verdict rests on them.

mod path;

pub use path::{pointee, resolve, size_of};

use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::{
    BinaryOp, CastKind, Constant, DebugTypeId, Function, FunctionId, GlobalId, Operand, Operation, Phi, Program, Register,
    RegisterId, VariableId,
};
use path::{Extent, Step, VariableIndex};

/// How far definitions are followed: longer expressions help nobody.
const DEPTH: u32 = 24;

/// The C expression of the memory that an address denotes, for an access of `size` bytes.
pub fn describe_access(program: &Program, function: FunctionId, address: Operand, size: u64) -> Option<String> {
    Names::new(program, function).access(address, size)
}

/// The C expression of the memory that an address denotes.
pub fn describe_address(program: &Program, function: FunctionId, address: Operand) -> Option<String> {
    Names::new(program, function).address(address)
}

/// The name of a part of a global: `config.limit`, `accounts[3].balance`.
pub fn describe_global_part(program: &Program, global: GlobalId, offset: u64, size: u64) -> String {
    let content = &program.globals[global];
    let base = Base::Object(content.source_name.clone());
    let memory = Memory { offset: offset as i64, ..Memory::at(base, content.debug_type) };
    if content.debug_type.is_none() && offset == 0 && size >= content.size {
        return content.source_name.clone();
    }
    memory.render(program, Extent::Bytes(size)).0
}

/// What stands after a value's name for a part of it: `.limit`, `[3].balance`; empty for the whole.
pub fn describe_type_part(program: &Program, ty: DebugTypeId, offset: u64, size: u64) -> String {
    let part = path::part(program, ty, offset, Vec::new(), Extent::Bytes(size));
    path::render(&part.steps)
}

/// What a register is defined by.
#[derive(Clone, Copy)]
enum Definition<'a> {
    None,
    Operation(&'a Operation),
    Phi(&'a Phi),
}

/// The names of one function's registers: built once, asked often.
pub struct Names<'a> {
    program: &'a Program,
    registers: &'a TiVec<RegisterId, Register>,
    definitions: TiVec<RegisterId, Definition<'a>>,
    /// The variable that a register holds, or whose address it is.
    variables: FxHashMap<RegisterId, (VariableId, bool)>,
}

/// Memory that a pointer leads to.
struct Memory {
    base: Base,
    /// The type of the object at the base.
    ty: Option<DebugTypeId>,
    offset: i64,
    indices: Vec<VariableIndex>,
    /// The address was made by a step into the object, even if that step adds nothing.
    steps_in: bool,
}

enum Base {
    /// A variable, by its name.
    Object(String),
    /// What a pointer expression points to.
    Pointee(String),
}

impl<'a> Names<'a> {
    pub fn new(program: &'a Program, function: FunctionId) -> Self {
        let function: &'a Function = &program.functions[function];
        let mut definitions: TiVec<RegisterId, Definition<'a>> = TiVec::from(vec![Definition::None; function.registers.len()]);
        for block in function.blocks.iter() {
            for phi in &block.phis {
                definitions[phi.result] = Definition::Phi(phi);
            }
            for instruction in &block.instructions {
                if let Some(result) = instruction.result {
                    definitions[result] = Definition::Operation(&instruction.operation);
                }
            }
        }
        let mut variables: FxHashMap<RegisterId, (VariableId, bool)> = FxHashMap::default();
        for binding in &function.bindings {
            if let Operand::Register(register) = binding.value {
                let known = variables.entry(register).or_insert((binding.variable, binding.is_address));
                // `struct conn *conn = arg;`: of two names for one value, the one that knows its type says more.
                if !says_what_it_points_to(program, known.0) && says_what_it_points_to(program, binding.variable) {
                    *known = (binding.variable, binding.is_address);
                }
            }
        }
        Self { program, registers: &function.registers, definitions, variables }
    }

    /// The memory that `size` bytes at an address are.
    pub fn access(&self, address: Operand, size: u64) -> Option<String> {
        self.memory(address, DEPTH).map(|memory| memory.render(self.program, Extent::Bytes(size)).0)
    }

    /// Whatever begins at an address.
    pub fn address(&self, address: Operand) -> Option<String> {
        let memory = self.memory(address, DEPTH)?;
        let extent = Extent::Unknown { steps_in: memory.steps_in };
        Some(memory.render(self.program, extent).0)
    }

    fn memory(&self, address: Operand, depth: u32) -> Option<Memory> {
        let depth = depth.checked_sub(1)?;
        let register = match address {
            Operand::Constant(constant) => {
                let Constant::Global(global) = self.program.constants[constant] else { return None };
                return Some(self.global(global));
            }
            Operand::Register(register) => register,
        };
        if let Some(&(variable, is_address)) = self.variables.get(&register) {
            let variable = &self.program.variables[variable];
            let name = variable.name.clone();
            return Some(match is_address {
                true => Memory::at(Base::Object(name), variable.ty),
                false => self.pointee_of(name, variable.ty),
            });
        }
        match self.definitions[register] {
            Definition::None => None,
            Definition::Phi(phi) => phi.operands.iter().find_map(|operand| self.memory(*operand, depth / 2)),
            Definition::Operation(operation) => match operation {
                Operation::Offset { base, constant, terms, .. } => {
                    let mut memory = self.memory(*base, depth)?;
                    memory.offset = memory.offset.wrapping_add(*constant);
                    memory.steps_in = true;
                    for term in terms {
                        let text = self.value(term.index, depth).map_or("...".to_owned(), |(text, _)| text);
                        memory.indices.push(VariableIndex { text, stride: term.stride.unsigned_abs() });
                    }
                    Some(memory)
                }
                Operation::ThreadLocalAddress { global } => Some(self.global(*global)),
                Operation::Cast { value, .. } | Operation::Freeze { value } => self.memory(*value, depth),
                Operation::Select { when_true, when_false, .. } => {
                    self.memory(*when_true, depth / 2).or_else(|| self.memory(*when_false, depth / 2))
                }
                Operation::Load { .. } => {
                    let (text, ty) = self.value(address, depth)?;
                    Some(self.pointee_of(text, ty))
                }
                _ => None,
            },
        }
    }

    fn global(&self, global: GlobalId) -> Memory {
        let global = &self.program.globals[global];
        Memory::at(Base::Object(global.source_name.clone()), global.debug_type)
    }

    fn pointee_of(&self, pointer: String, ty: Option<DebugTypeId>) -> Memory {
        let ty = ty.and_then(|ty| path::pointee(self.program, ty));
        Memory::at(Base::Pointee(pointer), ty)
    }

    /// The C expression of a value, and its type.
    fn value(&self, value: Operand, depth: u32) -> Option<(String, Option<DebugTypeId>)> {
        let depth = depth.checked_sub(1)?;
        let register = match value {
            Operand::Constant(constant) => {
                let Constant::Integer { value, bits } = self.program.constants[constant] else { return None };
                return Some((signed(value, bits).to_string(), None));
            }
            Operand::Register(register) => register,
        };
        if let Some(&(variable, false)) = self.variables.get(&register) {
            let variable = &self.program.variables[variable];
            return Some((variable.name.clone(), variable.ty));
        }
        match self.definitions[register] {
            Definition::None => None,
            Definition::Phi(phi) => phi.operands.iter().find_map(|operand| match operand {
                Operand::Register(_) => self.value(*operand, depth / 2),
                // A counter's start says nothing of what it counts.
                Operand::Constant(_) => None,
            }),
            Definition::Operation(operation) => match operation {
                Operation::Load { address, .. } => {
                    let memory = self.memory(*address, depth)?;
                    let size = self.program.layout.store_bytes(self.registers[register].ty);
                    Some(memory.render(self.program, Extent::Bytes(size)))
                }
                Operation::Cast { kind: CastKind::PointerToInteger | CastKind::IntegerToPointer, .. } => None,
                Operation::Cast { value, .. } | Operation::Freeze { value } => self.value(*value, depth),
                Operation::Binary { op, left, right, .. } => {
                    let symbol = match op {
                        BinaryOp::Add => "+",
                        BinaryOp::Subtract => "-",
                        BinaryOp::Multiply => "*",
                        BinaryOp::SignedRemainder | BinaryOp::UnsignedRemainder => "%",
                        BinaryOp::SignedDivide | BinaryOp::UnsignedDivide => "/",
                        BinaryOp::And => "&",
                        _ => return None,
                    };
                    let (left, _) = self.value(*left, depth)?;
                    let (right, _) = self.value(*right, depth)?;
                    // `i + -1` is what compilers make of `i - 1`.
                    match right.strip_prefix('-') {
                        Some(positive) if symbol == "+" => Some((format!("{left} - {positive}"), None)),
                        _ => Some((format!("{} {symbol} {}", atom(&left), atom(&right)), None)),
                    }
                }
                _ => None,
            },
        }
    }
}

impl Memory {
    fn at(base: Base, ty: Option<DebugTypeId>) -> Self {
        Self { base, ty, offset: 0, indices: Vec::new(), steps_in: false }
    }

    /// The expression, and the type of what it denotes.
    fn render(self, program: &Program, extent: Extent) -> (String, Option<DebugTypeId>) {
        let Memory { base, ty, offset, mut indices, steps_in: _ } = self;
        let Some(ty) = ty else { return (untyped(&base, offset), None) };
        let Ok(offset) = u64::try_from(offset) else { return (untyped(&base, offset), None) };
        let mut start = offset;
        let mut first = None;
        if let Base::Pointee(_) = base {
            // A pointer may lead to the first of many: `p[i]`.
            let whole = path::size_of(program, ty);
            if let Some(constant) = start.checked_div(whole) {
                let variable = indices.iter().position(|index| index.stride == whole).map(|at| indices.remove(at).text);
                start -= constant * whole;
                if variable.is_some() || constant > 0 {
                    first = Some(path::index_text(variable, constant));
                }
            }
        }
        let part = path::part(program, ty, start, indices, extent);
        let text = match (base, first) {
            (Base::Object(name), _) => name + &path::render(&part.steps),
            (Base::Pointee(pointer), Some(index)) => format!("{}[{index}]{}", atom(&pointer), path::render(&part.steps)),
            (Base::Pointee(pointer), None) => match part.steps.split_first() {
                None => format!("*{}", atom(&pointer)),
                Some((Step::Field(names), rest)) => {
                    format!("{}->{}{}", atom(&pointer), path::field_text(names), path::render(rest))
                }
                Some((Step::Index(_), _)) => format!("(*{pointer}){}", path::render(&part.steps)),
            },
        };
        (text, part.ty)
    }
}

fn untyped(base: &Base, offset: i64) -> String {
    match (base, offset) {
        (Base::Object(name), 0) => name.clone(),
        (Base::Object(name), offset) => format!("{name}+{offset}"),
        (Base::Pointee(pointer), 0) => format!("*{}", atom(pointer)),
        (Base::Pointee(pointer), offset) => format!("*({pointer}{offset:+})"),
    }
}

/// In parentheses, unless it binds tightly already.
fn atom(text: &str) -> String {
    if text.starts_with('*') || text.contains(' ') && !text.ends_with([']', ')']) { format!("({text})") } else { text.to_owned() }
}

fn signed(value: u128, bits: u32) -> i128 {
    if bits == 0 || bits >= 128 {
        return value as i128;
    }
    let shift = 128 - bits;
    ((value << shift) as i128) >> shift
}

/// Whether a variable's type is a pointer to something of known size, not `void *`.
fn says_what_it_points_to(program: &Program, variable: VariableId) -> bool {
    let ty = program.variables[variable].ty;
    ty.and_then(|ty| path::pointee(program, ty)).is_some_and(|to| path::size_of(program, to) > 0)
}
