//! Global variables with their initial bytes.

use super::{BlockId, DebugTypeId, FileId, FunctionId, GlobalId};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Global {
    /// Link name; unique in the program.
    pub name: String,
    /// The name in the source, from debug information (statics are renamed by linking).
    pub source_name: String,
    pub size: u64,
    pub align: u64,
    pub is_thread_local: bool,
    /// Never written (`const` data, string literals).
    pub is_constant: bool,
    /// Declared here, defined elsewhere: the initial value is unknown.
    pub is_external: bool,
    /// Only the program's own code can name it (`static`).
    pub is_static: bool,
    /// The first initial bytes; the rest, up to `size`, is zero.
    pub bytes: Vec<u8>,
    /// Addresses inside the initial bytes, ascending by offset.
    pub relocations: Vec<Relocation>,
    pub debug_type: Option<DebugTypeId>,
    pub file: Option<FileId>,
    /// 0 when unknown.
    pub line: u32,
}

/// A pointer in initial data: the address of `target` plus `addend`, stored at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset: u64,
    pub target: RelocationTarget,
    pub addend: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    Global(GlobalId),
    Function(FunctionId),
    Block(FunctionId, BlockId),
}
