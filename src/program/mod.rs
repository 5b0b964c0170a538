//! The owned model of a C program: what every later stage reads, executes and speaks of.
//!
//! The front end lowers bitcode into a [`Program`] once; after that door no LLVM type exists. A program can be executed: registers
//! are in SSA form, sizes and offsets are bytes, undef and poison are explicit constants, constant expressions are instructions.
//!
//! # Invariants (checked by [`validate`])
//! 1. Every id in a table points into the table it names.
//! 2. A register has exactly one definition, and its type is the type its definition makes.
//! 3. The phis of a block list one operand for each entry of `predecessors`, in that order.
//! 4. An operand never names a thread-local global: its address is made by [`Operation::ThreadLocalAddress`].

mod alias;
pub mod assumption;
pub mod constant;
pub mod context;
pub mod debug;
pub mod describe;
pub mod function;
pub mod global;
pub mod index;
pub mod instruction;
pub mod intrinsic;
mod renumber;
pub mod site;
pub mod text;
pub mod types;
pub mod validate;

use indexmap::IndexSet;
use typed_index_collections::TiVec;

pub use alias::AliasType;
pub use assumption::{Assumption, AssumptionKind, Place};
pub use constant::Constant;
pub use context::Context;
pub use debug::{Binding, DebugType, DebugTypeKind, Field, Variable};
pub use function::{Block, Function, Parameter, Phi, Register, Terminator, TerminatorKind};
pub use global::{Global, Relocation, RelocationTarget};
pub use index::*;
pub use instruction::*;
pub use intrinsic::Intrinsic;
pub use site::{Location, Site, SourceFile};
pub use types::{DataLayout, Scalar, Type};

/// A whole program: all modules linked, lowered and owned.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    pub layout: DataLayout,
    pub functions: TiVec<FunctionId, Function>,
    pub globals: TiVec<GlobalId, Global>,
    /// Interned: two equal constants have the same id.
    pub constants: Constants,
    pub sites: TiVec<SiteId, Site>,
    pub locations: TiVec<LocationId, Location>,
    pub files: TiVec<FileId, SourceFile>,
    pub debug_types: TiVec<DebugTypeId, DebugType>,
    pub variables: TiVec<VariableId, Variable>,
    /// Parents before their children.
    pub alias_types: TiVec<AliasTypeId, AliasType>,
    /// Structures whose members are addressed; the same for all structures of that name.
    pub structures: TiVec<StructureId, Structure>,
    /// Functions run before `main`, in order (`llvm.global_ctors`), and after it (`llvm.global_dtors`).
    pub constructors: Vec<FunctionId>,
    pub destructors: Vec<FunctionId>,
    /// What lowering could not represent exactly. Engines add the ones they meet to the verdicts that rest on them.
    pub assumptions: Vec<Assumption>,
}

/// A structure by its name in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Structure {
    pub name: String,
    /// In bytes, where it is known: files have structures of one name that differ.
    pub size: Option<u64>,
    /// A linker may have made one of several structures that look alike: the name stands for all structures of its size.
    pub is_merged: bool,
}

impl Program {
    /// The function with this link name, defined or only declared.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter_enumerated().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// The type of an operand inside `function`.
    pub fn type_of(&self, function: &Function, operand: Operand) -> Type {
        match operand {
            Operand::Register(register) => function.registers[register].ty,
            Operand::Constant(constant) => self.constants[constant].type_of(),
        }
    }

    /// Whether a header that is installed apart from the program declares the function: its author does not know the program's variables.
    pub fn is_of_installed_library(&self, function: FunctionId) -> bool {
        let file = self.functions[function].file.map(|file| &self.files[file]);
        file.is_some_and(|file| ["/usr/include/", "/usr/lib/"].iter().any(|root| file.name.starts_with(root)))
    }

    /// What rests on inline assembly: assembly with operands that gets no address and does not say that it writes memory computes with registers.
    /// `None` for what does nothing: directives that align code, pauses.
    pub fn assumption_of_assembly(
        &self,
        function: &Function,
        text: &str,
        arguments: &[Operand],
        may_store: bool,
    ) -> Option<AssumptionKind> {
        let mut statements = text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty());
        let is_idle = |statement: &str| {
            let word = statement.split_whitespace().next().unwrap_or_default();
            matches!(word, ".align" | ".p2align" | ".balign" | "rep" | "nop" | "pause")
        };
        if arguments.is_empty() && statements.all(is_idle) {
            return None;
        }
        Some(
            match may_store
                || arguments.is_empty()
                || arguments.iter().any(|argument| self.type_of(function, *argument) == Type::POINTER)
            {
                true => AssumptionKind::InlineAssembly,
                false => AssumptionKind::NotComputed,
            },
        )
    }

    /// Where a site stands in the source, innermost inlined frame first; `None` without debug information.
    pub fn location_of(&self, site: SiteId) -> Option<&Location> {
        self.sites[site].location.map(|id| &self.locations[id])
    }

    /// File, line and column of a site, for reports.
    pub fn place_of(&self, site: SiteId) -> Option<Place> {
        self.location_of(site).map(|location| Place {
            file: self.files[location.file].path(),
            line: location.line,
            column: location.column,
        })
    }

    /// The number of instructions, phis and terminators.
    pub fn size(&self) -> usize {
        let block_size = |block: &Block| block.phis.len() + block.instructions.len() + 1;
        self.functions.iter().flat_map(|f| f.blocks.iter()).map(block_size).sum()
    }
}

/// The table of interned constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    table: IndexSet<Constant, rustc_hash::FxBuildHasher>,
}

impl Constants {
    pub fn intern(&mut self, constant: Constant) -> ConstantId {
        ConstantId::from(self.table.insert_full(constant).0)
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ConstantId, &Constant)> {
        self.table.iter().enumerate().map(|(index, constant)| (ConstantId::from(index), constant))
    }
}

impl std::ops::Index<ConstantId> for Constants {
    type Output = Constant;

    fn index(&self, id: ConstantId) -> &Constant {
        &self.table[usize::from(id)]
    }
}
