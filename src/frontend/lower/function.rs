//! Functions: declarations, and the order in which a body is lowered.

use llvm_sys::LLVMOpcode::LLVMPHI;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::body::{Body, Mapped};
use super::intrinsic::KnownIntrinsic;
use super::llvm::{BasicBlock, LlvmType, Value};
use super::site::FunctionSites;
use crate::program::function::ByValue;
use crate::program::{
    AssumptionKind, BlockId, Function, FunctionId, Operand, Parameter, Phi, Register, RegisterId, SiteId, Type,
};

impl Lowering {
    pub(super) fn declare_functions(&mut self) {
        for value in self.module.functions() {
            if value.intrinsic_id() == 0 {
                self.declare_function(value);
            }
            for (index, block) in value.blocks().enumerate() {
                self.blocks.insert(block, BlockId::from(index));
            }
        }
        for value in self.module.indirect_functions() {
            let name = value.name();
            self.declare_function(value);
            self.assume(AssumptionKind::IndirectFunction, name, None);
        }
    }

    /// The function of a value; intrinsics are declared when one is called as a function.
    pub(super) fn function(&mut self, value: Value) -> FunctionId {
        match self.functions.get(&value) {
            Some(id) => *id,
            None => self.declare_function(value),
        }
    }

    fn declare_function(&mut self, value: Value) -> FunctionId {
        let ty = value.value_type();
        let mut function = self.new_declaration(value.name(), ty);
        if function.name.is_empty() {
            function.name = format!("unnamed.function.{}", self.program.functions.len());
            function.source_name = function.name.clone();
        }
        if value.is_function() {
            for (index, parameter) in function.parameters.iter_mut().enumerate() {
                parameter.by_value = self.by_value(
                    value.parameter_type_attribute(index as u32, self.attributes.by_value),
                    value.parameter_integer_attribute(index as u32, self.attributes.align),
                );
            }
            if let Some(subprogram) = value.subprogram(self.module) {
                function.source_name = subprogram.name();
                function.line = subprogram.subprogram_line();
                function.file = subprogram.scope_file().map(|file| self.file(file));
                function.debug_type = subprogram.type_of_subprogram().map(|ty| self.debug_type(ty));
            }
        }
        let id = self.program.functions.push_and_get_key(function);
        self.functions.insert(value, id);
        id
    }

    fn new_declaration(&mut self, name: String, ty: LlvmType) -> Function {
        // Metadata and tokens are no arguments at run time.
        let types: Vec<Type> = ty.parameters().into_iter().filter_map(|ty| self.types.get(ty)).collect();
        Function {
            source_name: name.clone(),
            name,
            parameters: (0..types.len()).map(|index| Parameter { register: RegisterId::from(index), by_value: None }).collect(),
            is_variadic: ty.is_variadic(),
            return_type: self.types.get(ty.return_type()).unwrap_or(Type::Void),
            registers: types.into_iter().map(|ty| Register { ty }).collect(),
            blocks: Default::default(),
            bindings: Vec::new(),
            debug_type: None,
            file: None,
            line: 0,
        }
    }

    /// A function of the C library that stands for an intrinsic, declared if the program does not use it itself.
    pub(super) fn library_function(&mut self, name: &str, ty: LlvmType) -> FunctionId {
        match self.program.function_named(name) {
            Some(id) => id,
            None => {
                let function = self.new_declaration(name.to_owned(), ty);
                self.program.functions.push_and_get_key(function)
            }
        }
    }

    pub(super) fn by_value(&self, ty: Option<LlvmType>, align: Option<u64>) -> Option<ByValue> {
        let layout = self.types.layout;
        ty.map(|ty| ByValue { size: layout.size(ty), align: align.unwrap_or_else(|| layout.align(ty)) })
    }

    pub(super) fn lower_bodies(&mut self) {
        for value in self.module.functions() {
            if value.is_declaration() {
                continue;
            }
            let id = self.function(value);
            self.lower_body(value, id);
        }
    }

    fn lower_body(&mut self, value: Value, id: FunctionId) {
        let mut sites = FunctionSites::new(id);
        let mut blocks: Vec<(BasicBlock, Vec<Value>, Vec<SiteId>)> = Vec::new();
        for block in value.blocks() {
            let instructions: Vec<Value> = block.instructions().collect();
            let block_sites = sites.of_block(self, &instructions);
            blocks.push((block, instructions, block_sites));
        }

        let mut body = Body::new(self, id);
        body.registers = body.lowering.program.functions[id].registers.clone();
        body.declare_arguments(value);
        for (_, instructions, _) in &blocks {
            body.declare_results(instructions);
        }
        for (_, instructions, block_sites) in &blocks {
            for (&instruction, &site) in instructions.iter().zip(block_sites) {
                body.site = site;
                body.bind_variables(instruction);
                body.lower_instruction(instruction);
            }
        }
        body.find_predecessors();
        for (index, (_, instructions, _)) in blocks.iter().enumerate() {
            body.lower_phis(BlockId::from(index), instructions);
        }
        body.finish();
    }
}

impl Body<'_> {
    fn declare_arguments(&mut self, function: Value) {
        let mut next = 0;
        for argument in function.parameters() {
            let mapped = match self.value_type(argument) {
                Some(_) => {
                    next += 1;
                    Mapped::Operand(Operand::Register(RegisterId::from(next - 1)))
                }
                None => Mapped::Unsupported,
            };
            self.values.insert(argument, mapped);
        }
    }

    /// Hands out registers before anything is lowered: a use may stand before its definition in the order of blocks.
    fn declare_results(&mut self, instructions: &[Value]) {
        for &instruction in instructions {
            let ty = instruction.ty();
            let mapped = match self.lowering.types.get(ty) {
                Some(Type::Void) => continue,
                Some(ty) => match self.replacement(instruction) {
                    Some(replacement) => replacement,
                    None => Mapped::Operand(Operand::Register(self.new_register(ty))),
                },
                None => Mapped::Unsupported,
            };
            self.values.insert(instruction, mapped);
        }
    }

    /// What stands for the result of an intrinsic that computes nothing.
    fn replacement(&mut self, instruction: Value) -> Option<Mapped> {
        match self.lowering.known_intrinsic(instruction)? {
            KnownIntrinsic::SameAsFirst => Some(Mapped::SameAs(instruction.operand(0))),
            KnownIntrinsic::Number(number) => {
                let ty = self.value_type(instruction)?;
                Some(Mapped::Operand(self.number(ty, number)))
            }
            KnownIntrinsic::NoPointer => Some(Mapped::Operand(self.constant(crate::program::Constant::Null))),
            _ => None,
        }
    }

    /// From our own terminators: an edge that lowering drops has no predecessor either.
    fn find_predecessors(&mut self) {
        let mut edges: Vec<(BlockId, BlockId)> = Vec::new();
        for (block, content) in self.blocks.iter_enumerated() {
            edges.extend(content.terminator.kind.successors().into_iter().map(|successor| (successor, block)));
        }
        edges.sort_unstable();
        edges.dedup();
        for (to, from) in edges {
            self.blocks[to].predecessors.push(from);
        }
    }

    fn lower_phis(&mut self, block: BlockId, instructions: &[Value]) {
        for &phi in instructions.iter().take_while(|instruction| instruction.opcode() == LLVMPHI) {
            let Some(Operand::Register(result)) = self.named_value(phi) else { continue };
            let incoming: FxHashMap<BlockId, Value> =
                phi.incoming().map(|(value, from)| (self.lowering.blocks[&from], value)).collect();
            let predecessors = self.blocks[block].predecessors.clone();
            let operands = predecessors.into_iter().map(|from| self.operand_at_end(from, incoming[&from])).collect();
            self.blocks[block].phis.push(Phi { result, operands });
        }
    }

    /// A phi's constant expression is computed where control comes from.
    fn operand_at_end(&mut self, block: BlockId, value: Value) -> Operand {
        if let Some(operand) = self.named_value(value) {
            return operand;
        }
        self.site = self.blocks[block].terminator.site;
        self.instructions = std::mem::take(&mut self.blocks[block].instructions);
        let operand = self.operand(value);
        self.blocks[block].instructions = std::mem::take(&mut self.instructions);
        operand
    }
}
