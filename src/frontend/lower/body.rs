//! One function while it is lowered: registers, the block under construction, and operands.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::Lowering;
use super::llvm::Value;
use crate::program::{
    AssumptionKind, Binding, Block, BlockId, Constant, FunctionId, Instruction, Operand, Operation, Register, RegisterId, SiteId,
    Terminator, Type, VariableId,
};

/// What stands for an LLVM value inside the function.
#[derive(Clone, Copy)]
pub enum Mapped {
    Operand(Operand),
    /// The same as another value: what only advises the compiler.
    SameAs(Value),
    /// Its type has no counterpart.
    Unsupported,
}

pub struct Body<'a> {
    pub lowering: &'a mut Lowering,
    pub function: FunctionId,
    pub registers: TiVec<RegisterId, Register>,
    pub blocks: TiVec<BlockId, Block>,
    pub values: FxHashMap<Value, Mapped>,
    pub bindings: Vec<Binding>,
    pub seen_bindings: FxHashSet<(VariableId, Operand, bool)>,
    /// Where new instructions go.
    pub instructions: Vec<Instruction>,
    /// The site that new instructions get.
    pub site: SiteId,
}

impl<'a> Body<'a> {
    pub fn new(lowering: &'a mut Lowering, function: FunctionId) -> Self {
        Self {
            lowering,
            function,
            registers: TiVec::new(),
            blocks: TiVec::new(),
            values: FxHashMap::default(),
            bindings: Vec::new(),
            seen_bindings: FxHashSet::default(),
            instructions: Vec::new(),
            site: SiteId::from(0),
        }
    }

    pub fn new_register(&mut self, ty: Type) -> RegisterId {
        self.registers.push_and_get_key(Register { ty })
    }

    /// Adds an instruction whose result is a new register.
    pub fn emit(&mut self, ty: Type, operation: Operation) -> Operand {
        let result = self.new_register(ty);
        self.instructions.push(Instruction { site: self.site, result: Some(result), operation });
        Operand::Register(result)
    }

    /// Adds an instruction without a result.
    pub fn perform(&mut self, operation: Operation) {
        self.instructions.push(Instruction { site: self.site, result: None, operation });
    }

    /// Adds the instruction that computes an LLVM value.
    pub fn define(&mut self, value: Value, operation: Operation) {
        let result = match self.values.get(&value) {
            Some(Mapped::Operand(Operand::Register(register))) => Some(*register),
            _ => None,
        };
        self.instructions.push(Instruction { site: self.site, result, operation });
    }

    pub fn constant(&mut self, constant: Constant) -> Operand {
        Operand::Constant(self.lowering.intern(constant))
    }

    pub fn integer(&mut self, bits: u32, value: u128) -> Operand {
        self.constant(Constant::integer(bits, value))
    }

    /// An integer of a type, in every lane if it is a vector's.
    pub fn number(&mut self, ty: Type, value: u128) -> Operand {
        match ty {
            Type::Vector { lanes, element: element @ crate::program::Scalar::Integer(bits) } => {
                let lane = self.lowering.intern(Constant::integer(bits, value));
                self.constant(Constant::Vector { element, lanes: vec![lane; lanes as usize] })
            }
            Type::Scalar(crate::program::Scalar::Integer(bits)) => self.integer(bits, value),
            other => panic!("a number has an integer type, not {other:?}"),
        }
    }

    pub fn type_of(&self, operand: Operand) -> Type {
        match operand {
            Operand::Register(register) => self.registers[register].ty,
            Operand::Constant(constant) => self.lowering.program.constants[constant].type_of(),
        }
    }

    /// The type of an LLVM value; `None` when it has no counterpart.
    pub fn value_type(&mut self, value: Value) -> Option<Type> {
        self.lowering.types.get(value.ty())
    }

    /// The operand for an LLVM value. Constant expressions become instructions at this place.
    pub fn operand(&mut self, value: Value) -> Operand {
        match self.values.get(&value) {
            Some(Mapped::Operand(operand)) => *operand,
            Some(Mapped::SameAs(other)) => {
                let other = *other;
                self.operand(other)
            }
            Some(Mapped::Unsupported) => self.unknown_operand(value),
            None => self.constant_operand(value),
        }
    }

    /// The register or argument that holds a value; `None` for constants.
    pub fn named_value(&self, value: Value) -> Option<Operand> {
        match self.values.get(&value)? {
            Mapped::Operand(operand) => Some(*operand),
            Mapped::SameAs(other) => self.named_value(*other),
            Mapped::Unsupported => None,
        }
    }

    /// An operand that cannot be represented: any value, and an assumption that says so.
    pub fn unknown_operand(&mut self, value: Value) -> Operand {
        self.assume(AssumptionKind::UnknownInstruction, value.text().trim().to_owned());
        let ty = self.value_type(value).filter(|ty| *ty != Type::Void).unwrap_or(Type::BOOL);
        self.constant(Constant::Undef(ty))
    }

    /// An instruction that cannot be represented: its result is any value, and an assumption says so.
    pub fn unknown(&mut self, instruction: Value) {
        self.assume(AssumptionKind::UnknownInstruction, instruction.text().trim().to_owned());
        self.define_unknown(instruction);
    }

    /// Gives an instruction's register, if it has one, an arbitrary value.
    pub fn define_unknown(&mut self, instruction: Value) {
        if let Some(Mapped::Operand(Operand::Register(register))) = self.values.get(&instruction) {
            let ty = self.registers[*register].ty;
            let value = self.constant(Constant::Undef(ty));
            self.define(instruction, Operation::Freeze { value });
        }
    }

    pub fn assume(&mut self, kind: AssumptionKind, what: String) {
        self.lowering.assume_at(kind, what, self.site);
    }

    /// Ends the block under construction.
    pub fn finish_block(&mut self, terminator: Terminator) {
        let instructions = std::mem::take(&mut self.instructions);
        self.blocks.push(Block { predecessors: Vec::new(), phis: Vec::new(), instructions, terminator });
    }

    /// Stores the function in the program.
    pub fn finish(self) {
        let function = &mut self.lowering.program.functions[self.function];
        function.registers = self.registers;
        function.blocks = self.blocks;
        function.bindings = self.bindings;
    }
}
