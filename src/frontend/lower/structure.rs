//! Names of structures: what the address of a member says about the object that it lies in.
//!
//! An element pointer names the type that its base is used as. Clang calls a structure `struct.NAME`, by its tag or else by its typedef; LLVM numbers types
//! of one name that differ, or that it did not compare (`struct.NAME.7`). Its linker makes one of types that look alike, whatever their names: the name that counts is the one that was there
//! before (`mark`), and in a module that was linked by somebody else a name stands for all structures of its size. Structures without any name are called `struct.anon`, and say nothing.

use llvm_sys::LLVMTypeKind;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::llvm::{LlvmType, Metadata, Value};
use crate::program::{Structure, StructureId};

/// What was found out about types, and the numbers of their names.
#[derive(Default)]
pub(super) struct StructureNames {
    known: FxHashMap<LlvmType, Option<StructureId>>,
    marked: FxHashMap<(Metadata, LlvmType), Option<StructureId>>,
    numbers: FxHashMap<Structure, StructureId>,
}

impl Lowering {
    /// The structure that an element pointer addresses; `None` for what is no structure, or has no name.
    pub(super) fn structure_of(&mut self, pointer: Value) -> Option<StructureId> {
        let mark = if pointer.is_instruction() { pointer.metadata(self.module, self.structure_kind) } else { None };
        let Some(mark) = mark else { return self.structure_named(pointer.source_element_type()) };
        let mark = (mark, pointer.source_element_type());
        if let Some(known) = self.structures.marked.get(&mark) {
            return *known;
        }
        // The linker makes one of types that look alike: they have one size.
        let size = self.types.layout.size(mark.1);
        let number = source_name(&mark.0.name()).map(|name| self.numbered(name, Some(size), false));
        self.structures.marked.insert(mark, number);
        number
    }

    fn numbered(&mut self, name: &str, size: Option<u64>, is_merged: bool) -> StructureId {
        let structure = Structure { name: name.to_owned(), size, is_merged };
        let known = self.structures.numbers.entry(structure);
        *known.or_insert_with_key(|structure| self.program.structures.push_and_get_key(structure.clone()))
    }

    fn structure_named(&mut self, ty: LlvmType) -> Option<StructureId> {
        if ty.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        if let Some(known) = self.structures.known.get(&ty) {
            return *known;
        }
        let number = ty.name().and_then(|name| source_name(&name).map(|name| self.numbered(name, None, true)));
        self.structures.known.insert(ty, number);
        number
    }
}

/// The name in the source of a type that LLVM calls so.
fn source_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix("struct.")?;
    let base = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let name = if base.len() < name.len() { base.strip_suffix('.').unwrap_or(name) } else { name };
    (!name.is_empty() && name != "anon").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_numbers_are_no_part_of_a_name() {
        assert_eq!(source_name("struct.conn"), Some("conn"));
        assert_eq!(source_name("struct.conn.12"), Some("conn"));
        assert_eq!(source_name("struct.conn2"), Some("conn2"));
        assert_eq!(source_name("struct.conn2.3"), Some("conn2"));
        assert_eq!(source_name("struct.anon"), None);
        assert_eq!(source_name("struct.anon.4"), None);
        assert_eq!(source_name("union.value"), None);
    }
}
