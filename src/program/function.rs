//! Functions, blocks and how control leaves a block.

use typed_index_collections::TiVec;

use super::{Binding, BlockId, ConstantId, DebugTypeId, FileId, Instruction, Operand, RegisterId, SiteId, Type};

/// A function; without blocks it is only declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Link name; unique in the program.
    pub name: String,
    /// The name in the source, from debug information (statics are renamed by linking).
    pub source_name: String,
    pub parameters: Vec<Parameter>,
    pub is_variadic: bool,
    pub return_type: Type,
    pub registers: TiVec<RegisterId, Register>,
    /// The first is the entry.
    pub blocks: TiVec<BlockId, Block>,
    pub bindings: Vec<Binding>,
    pub debug_type: Option<DebugTypeId>,
    pub file: Option<FileId>,
    /// 0 when unknown.
    pub line: u32,
}

impl Function {
    pub const ENTRY: usize = 0;

    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// An instruction of the processor as a function that gets no address: it computes a number from numbers.
    pub fn is_pure_intrinsic(&self) -> bool {
        let gets_address = self.parameters.iter().any(|parameter| self.registers[parameter.register].ty == Type::POINTER);
        !self.is_defined() && self.name.starts_with("llvm.") && !gets_address && self.return_type != Type::POINTER
    }

    pub fn entry(&self) -> BlockId {
        BlockId::from(Self::ENTRY)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    pub register: RegisterId,
    /// `byval`: the caller's bytes are copied; size and alignment of the copy.
    pub by_value: Option<ByValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByValue {
    pub size: u64,
    pub align: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    pub ty: Type,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The blocks that jump here, each once, ascending.
    pub predecessors: Vec<BlockId>,
    pub phis: Vec<Phi>,
    pub instructions: Vec<Instruction>,
    pub terminator: Terminator,
}

/// All phis of a block are evaluated at once, on entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Phi {
    pub result: RegisterId,
    /// In the order of the block's `predecessors`.
    pub operands: Vec<Operand>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminator {
    pub site: SiteId,
    pub kind: TerminatorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TerminatorKind {
    Return(Option<Operand>),
    Jump(BlockId),
    Branch {
        condition: Operand,
        when_true: BlockId,
        when_false: BlockId,
    },
    Switch {
        value: Operand,
        /// Integer constants of the type of `value`, each once.
        cases: Vec<(ConstantId, BlockId)>,
        default: BlockId,
    },
    /// Computed goto.
    IndirectJump {
        address: Operand,
        targets: Vec<BlockId>,
    },
    /// `asm goto`: any of the targets; an assumption stands at its site.
    AnyOf(Vec<BlockId>),
    Unreachable,
}

impl TerminatorKind {
    /// The blocks control may go to, in order, with repetitions.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Return(_) | Self::Unreachable => Vec::new(),
            Self::Jump(target) => vec![*target],
            Self::Branch { when_true, when_false, .. } => vec![*when_true, *when_false],
            Self::Switch { cases, default, .. } => cases.iter().map(|(_, target)| *target).chain([*default]).collect(),
            Self::IndirectJump { targets, .. } | Self::AnyOf(targets) => targets.clone(),
        }
    }
}
