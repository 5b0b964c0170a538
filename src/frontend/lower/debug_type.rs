//! Types of debug information: names, fields, offsets. C's types are recursive through pointers, so a type gets its id before its parts.

use llvm_sys::debuginfo::LLVMMetadataKind::*;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::llvm::Metadata;
use crate::program::{DebugType, DebugTypeId, DebugTypeKind, Field};

/// The tags of DWARF that C's types have.
mod tag {
    pub const ARRAY_TYPE: u16 = 0x01;
    pub const CLASS_TYPE: u16 = 0x02;
    pub const ENUMERATION_TYPE: u16 = 0x04;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER_TYPE: u16 = 0x0f;
    pub const REFERENCE_TYPE: u16 = 0x10;
    pub const STRUCTURE_TYPE: u16 = 0x13;
    pub const UNION_TYPE: u16 = 0x17;
    pub const INHERITANCE: u16 = 0x1c;
    pub const RVALUE_REFERENCE_TYPE: u16 = 0x42;
}

#[derive(Default)]
pub struct DebugTypes {
    by_node: FxHashMap<Metadata, DebugTypeId>,
    waiting: Vec<(DebugTypeId, Metadata)>,
}

impl Lowering {
    pub(super) fn debug_type(&mut self, node: Metadata) -> DebugTypeId {
        let id = self.debug_type_id(node);
        // Parts are lowered from a list, not by recursion: a long chain of structs must not use our stack.
        while let Some((id, node)) = self.debug_types.waiting.pop() {
            let kind = self.debug_type_kind(node);
            self.program.debug_types[id].kind = kind;
        }
        id
    }

    fn debug_type_id(&mut self, node: Metadata) -> DebugTypeId {
        if let Some(known) = self.debug_types.by_node.get(&node) {
            return *known;
        }
        let placeholder = DebugType { kind: DebugTypeKind::Base { name: String::new() }, size: node.size_bits() / 8 };
        let id = self.program.debug_types.push_and_get_key(placeholder);
        self.debug_types.by_node.insert(node, id);
        self.debug_types.waiting.push((id, node));
        id
    }

    fn debug_type_kind(&mut self, node: Metadata) -> DebugTypeKind {
        match node.kind() {
            LLVMDIDerivedTypeMetadataKind => self.derived_type(node),
            LLVMDICompositeTypeMetadataKind => self.composite_type(node),
            LLVMDISubroutineTypeMetadataKind => self.function_type(node),
            _ => DebugTypeKind::Base { name: node.type_name() },
        }
    }

    fn derived_type(&mut self, node: Metadata) -> DebugTypeKind {
        let base = base_type(node).map(|base| self.debug_type_id(base));
        match node.tag() {
            tag::POINTER_TYPE | tag::REFERENCE_TYPE | tag::RVALUE_REFERENCE_TYPE => DebugTypeKind::Pointer { to: base },
            // A qualifier has no name.
            _ => DebugTypeKind::Alias { name: node.type_name(), of: base },
        }
    }

    /// The list has the result first, and ends with nothing where more arguments may follow.
    fn function_type(&mut self, node: Metadata) -> DebugTypeKind {
        let lists = node.operands().into_iter().flatten().filter(|operand| matches!(operand.kind(), LLVMMDTupleMetadataKind));
        let types = lists.last().map(Metadata::operands).unwrap_or_default();
        let is_variadic = types.len() > 1 && types.last().is_some_and(Option::is_none);
        let mut types = types.into_iter().map(|ty| ty.map(|ty| self.debug_type_id(ty)));
        let result = types.next().flatten();
        DebugTypeKind::Function { result, parameters: types.flatten().collect(), is_variadic }
    }

    fn composite_type(&mut self, node: Metadata) -> DebugTypeKind {
        let name = node.type_name();
        match node.tag() {
            tag::STRUCTURE_TYPE | tag::CLASS_TYPE => DebugTypeKind::Struct { name, fields: self.fields(node) },
            tag::UNION_TYPE => DebugTypeKind::Union { name, fields: self.fields(node) },
            tag::ARRAY_TYPE => self.array_type(node),
            tag::ENUMERATION_TYPE => DebugTypeKind::Base { name: format!("enum {name}") },
            _ => DebugTypeKind::Base { name },
        }
    }

    fn fields(&mut self, node: Metadata) -> Vec<Field> {
        elements(node)
            .into_iter()
            .filter(|member| matches!(member.kind(), LLVMDIDerivedTypeMetadataKind))
            .filter(|member| matches!(member.tag(), tag::MEMBER | tag::INHERITANCE))
            .map(|member| Field {
                name: member.type_name(),
                offset_bits: member.offset_bits(),
                size_bits: member.size_bits(),
                ty: base_type(member).map(|base| self.debug_type_id(base)),
            })
            .collect()
    }

    /// `int a[2][3]` is one node with two ranges: here an array of arrays.
    fn array_type(&mut self, node: Metadata) -> DebugTypeKind {
        let mut element = base_type(node).map(|base| self.debug_type_id(base));
        let counts: Vec<Option<u64>> = elements(node).into_iter().filter_map(range_count).collect();
        let mut size = element.map_or(0, |id| self.element_size(id, node, &counts));
        for &count in counts.iter().skip(1).rev() {
            size *= count.unwrap_or(0);
            let kind = DebugTypeKind::Array { element, count };
            element = Some(self.program.debug_types.push_and_get_key(DebugType { kind, size }));
        }
        DebugTypeKind::Array { element, count: counts.first().copied().flatten() }
    }

    /// The size of an array's innermost element: a typedef's own size is not given, so it is the whole divided by the counts.
    fn element_size(&self, element: DebugTypeId, array: Metadata, counts: &[Option<u64>]) -> u64 {
        let total: u64 = counts.iter().map(|count| count.unwrap_or(0)).product();
        let whole = array.size_bits() / 8;
        whole.checked_div(total).unwrap_or(self.program.debug_types[element].size)
    }
}

/// What a pointer points to, a typedef names, a member holds, an array consists of. The node's scope can be a type too, and stands
/// before it.
fn base_type(node: Metadata) -> Option<Metadata> {
    node.operands().into_iter().flatten().filter(|operand| operand.is_type()).last()
}

/// Members of a struct, ranges of an array: the first list among the operands that holds such nodes.
fn elements(node: Metadata) -> Vec<Metadata> {
    let lists = node.operands().into_iter().flatten().filter(|operand| matches!(operand.kind(), LLVMMDTupleMetadataKind));
    lists
        .map(|list| list.operands().into_iter().flatten().collect::<Vec<_>>())
        .find(|members| {
            members.iter().any(|member| {
                matches!(
                    member.kind(),
                    LLVMDIDerivedTypeMetadataKind | LLVMDISubrangeMetadataKind | LLVMDIGenericSubrangeMetadataKind
                )
            })
        })
        .unwrap_or_default()
}

/// How many elements a range has; `Some(None)` when only running code knows.
fn range_count(range: Metadata) -> Option<Option<u64>> {
    match range.kind() {
        LLVMDISubrangeMetadataKind => {
            let count = range.operands().into_iter().next().flatten();
            Some(count.and_then(Metadata::integer).and_then(|count| u64::try_from(count).ok()))
        }
        LLVMDIGenericSubrangeMetadataKind => Some(None),
        _ => None,
    }
}
