//! The types of accesses, from the tags that clang puts on loads and stores.
//!
//! A tag names a base type, an access type and an offset. The access type is a node with a name and a parent, up to `omnipotent char` and a root; a
//! base type that differs from it is a structure: a node with a name, and a type and an offset for each member. Trees of other languages, and nodes of
//! another form, give no type. Members of structures with a flexible array have no base type; the address says which they are.

use llvm_sys::LLVMTypeKind;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::llvm::{LlvmType, Metadata, Value};
use crate::program::{AliasType, AliasTypeId};

const CHAR: &str = "omnipotent char";
const ROOT: &str = "Simple C/C++ TBAA";
/// A longer chain of parents, or of structures in structures, is damaged, or a circle.
const DEEPEST: usize = 64;
/// Scalars of a structure; of members of a larger one only the scalar type is known.
const MOST_MEMBERS: usize = 4096;

/// A scalar member: its offset, and its type; `None` for one of `char`.
type Scalar = (u64, Option<AliasTypeId>);

/// What was found out about nodes.
#[derive(Default)]
pub(super) struct AliasTypes {
    scalars: FxHashMap<Metadata, Option<AliasTypeId>>,
    /// By tag.
    tags: FxHashMap<Metadata, Option<AliasTypeId>>,
    /// Structures by their names and scalars.
    structures: FxHashMap<(String, Vec<Scalar>), usize>,
    /// By node: the number of the structure.
    known: FxHashMap<Metadata, Option<usize>>,
    /// By structure and offset.
    members: FxHashMap<(usize, u64), AliasTypeId>,
    /// By the name of a structure with a flexible array, offset and scalar type.
    open_members: FxHashMap<(String, u64, AliasTypeId), AliasTypeId>,
}

impl Lowering {
    pub(super) fn alias_type(&mut self, instruction: Value, address: Value) -> Option<AliasTypeId> {
        let tag = instruction.metadata(self.module, self.alias_kind)?;
        let ty = match self.alias_types.tags.get(&tag) {
            Some(known) => *known,
            None => {
                let ty = self.alias_type_of_tag(tag);
                self.alias_types.tags.insert(tag, ty);
                ty
            }
        }?;
        match self.program.alias_types[ty] {
            AliasType::Scalar { .. } => Some(self.open_member(address, ty).unwrap_or(ty)),
            AliasType::Member { .. } => Some(ty),
        }
    }

    /// The member that is at this address, if its structure has a flexible array.
    fn open_member(&mut self, address: Value, scalar: AliasTypeId) -> Option<AliasTypeId> {
        if !address.is_element_pointer() || address.operand_count() != 3 {
            return None;
        }
        let structure = address.source_element_type();
        if structure.kind() != LLVMTypeKind::LLVMStructTypeKind || !has_flexible_array(structure) {
            return None;
        }
        let is_number = |position| address.operand(position).is_integer_constant();
        let field = (is_number(1) && is_number(2) && address.operand(1).signed_value() == 0)
            .then(|| u32::try_from(address.operand(2).signed_value()).ok())??;
        let offset = self.types.layout.offset(structure, field);
        let name = structure.name()?;
        // The linker numbers types of one name.
        let name = name.trim_end_matches(|digit: char| digit.is_ascii_digit()).trim_end_matches('.').to_owned();
        if let Some(known) = self.alias_types.open_members.get(&(name.clone(), offset, scalar)) {
            return Some(*known);
        }
        let member = AliasType::Member { structure: name.clone(), offset, scalar, is_open: true };
        let id = self.program.alias_types.push_and_get_key(member);
        self.alias_types.open_members.insert((name, offset, scalar), id);
        Some(id)
    }

    /// Whether a copy is an assignment of a structure: the compiler says what types its parts have.
    pub(super) fn is_assignment(&self, copy: Value) -> bool {
        copy.metadata(self.module, self.alias_struct_kind).is_some()
    }

    fn alias_type_of_tag(&mut self, tag: Metadata) -> Option<AliasTypeId> {
        let operands = tag.operands();
        let operand = |index: usize| operands.get(index).copied().flatten();
        let (base, access) = (operand(0)?, operand(1)?);
        let scalar = self.scalar_type(access)?;
        let offset = operand(2).and_then(Metadata::integer).and_then(|offset| u64::try_from(offset).ok());
        let member = offset.filter(|_| base != access).and_then(|offset| self.member(base, access, offset, scalar));
        Some(member.unwrap_or(scalar))
    }

    fn scalar_type(&mut self, node: Metadata) -> Option<AliasTypeId> {
        if let Some(known) = self.alias_types.scalars.get(&node) {
            return *known;
        }
        let chain = chain_of(node);
        let mut parent = None;
        // From below `char` down to the node.
        for (node, name) in chain.into_iter().flatten().rev() {
            parent = match self.alias_types.scalars.get(&node) {
                Some(known) => *known,
                None => {
                    let id = self.program.alias_types.push_and_get_key(AliasType::Scalar { name, parent });
                    self.alias_types.scalars.insert(node, Some(id));
                    Some(id)
                }
            };
        }
        self.alias_types.scalars.insert(node, parent);
        parent
    }

    /// The member at `offset` of `base`, in the innermost structure that has it.
    fn member(&mut self, base: Metadata, access: Metadata, mut offset: u64, scalar: AliasTypeId) -> Option<AliasTypeId> {
        let (mut at, mut innermost) = (base, None);
        for _ in 0..DEEPEST {
            if at == access && offset == 0 {
                break;
            }
            innermost = Some((at, offset));
            let (ty, begin) = members(at).into_iter().filter(|(_, begin)| *begin <= offset).last()?;
            (at, offset) = (ty, offset - begin);
        }
        let (structure, offset) = innermost.filter(|_| at == access && offset == 0)?;
        let number = self.structure(structure)?;
        if let Some(known) = self.alias_types.members.get(&(number, offset)) {
            return Some(*known);
        }
        let name = structure.operands().first().copied().flatten()?.string()?;
        let id = self.program.alias_types.push_and_get_key(AliasType::Member { structure: name, offset, scalar, is_open: false });
        self.alias_types.members.insert((number, offset), id);
        Some(id)
    }

    /// The number of a structure; the same for all nodes that describe it.
    fn structure(&mut self, node: Metadata) -> Option<usize> {
        if let Some(known) = self.alias_types.known.get(&node) {
            return *known;
        }
        let mut scalars = Vec::new();
        let name = node.operands().first().copied().flatten()?.string()?;
        let is_small = self.flatten(node, 0, DEEPEST, &mut scalars).is_some();
        let next = self.alias_types.structures.len();
        let number = is_small.then(|| *self.alias_types.structures.entry((name, scalars)).or_insert(next));
        self.alias_types.known.insert(node, number);
        number
    }

    /// The scalars of a structure at `origin`, in order; `None` when there are too many.
    fn flatten(&mut self, structure: Metadata, origin: u64, depth: usize, scalars: &mut Vec<Scalar>) -> Option<()> {
        for (ty, begin) in members(structure) {
            let begin = origin.checked_add(begin)?;
            if is_scalar(ty) {
                scalars.push((begin, self.scalar_type(ty)));
            } else {
                self.flatten(ty, begin, depth.checked_sub(1)?, scalars)?;
            }
            if scalars.len() > MOST_MEMBERS {
                return None;
            }
        }
        Some(())
    }
}

/// Whether the structure ends in an array without a length.
fn has_flexible_array(structure: LlvmType) -> bool {
    let Some(last) = structure.field_count().checked_sub(1).map(|last| structure.field(last)) else { return false };
    match last.kind() {
        LLVMTypeKind::LLVMArrayTypeKind => last.array_length() == 0,
        LLVMTypeKind::LLVMStructTypeKind => has_flexible_array(last),
        _ => false,
    }
}

/// The types and offsets of a structure's members, in order.
fn members(structure: Metadata) -> Vec<(Metadata, u64)> {
    let operands = structure.operands();
    let members = operands.get(1..).unwrap_or_default().chunks_exact(2);
    members.filter_map(|member| Some((member[0]?, u64::try_from(member[1]?.integer()?).ok()?))).collect()
}

/// A scalar type leads to `char` by its first members alone, each at offset 0; so does a structure of one member, which then stands for it.
fn is_scalar(node: Metadata) -> bool {
    chain_of(node).is_some_and(|chain| chain.iter().all(|(node, _)| node.operands().len() <= 3))
}

/// The node and its parents below `char`, with their names; `None` for a tree that is not C's.
fn chain_of(node: Metadata) -> Option<Vec<(Metadata, String)>> {
    let mut chain = Vec::new();
    let mut at = node;
    for _ in 0..DEEPEST {
        let operands = at.operands();
        let name = operands.first().copied().flatten()?.string()?;
        let parent = operands.get(1).copied().flatten()?;
        if name == CHAR {
            let root = parent.operands().first().copied().flatten()?.string()?;
            return (root == ROOT).then_some(chain);
        }
        chain.push((at, name));
        at = parent;
    }
    None
}
