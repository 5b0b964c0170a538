//! The types of accesses, from the tags that clang puts on loads and stores.
//!
//! A tag names a base type, an access type and an offset; the access type is a node with a name and a parent, up to `omnipotent char` and a root. Trees of
//! other languages, and nodes of another form, give no type.

use super::Lowering;
use super::llvm::{Metadata, Value};
use crate::program::{AliasType, AliasTypeId};

const CHAR: &str = "omnipotent char";
const ROOT: &str = "Simple C/C++ TBAA";
/// A longer chain of parents is damaged, or a circle.
const MOST_PARENTS: usize = 64;

impl Lowering {
    pub(super) fn alias_type(&mut self, instruction: Value) -> Option<AliasTypeId> {
        let tag = instruction.metadata(self.module, self.alias_kind)?;
        let access = tag.operands().get(1).copied().flatten()?;
        self.alias_type_of(access)
    }

    /// Whether a copy is an assignment of a structure: the compiler says what types its parts have.
    pub(super) fn is_assignment(&self, copy: Value) -> bool {
        copy.metadata(self.module, self.alias_struct_kind).is_some()
    }

    fn alias_type_of(&mut self, node: Metadata) -> Option<AliasTypeId> {
        if let Some(known) = self.alias_types.get(&node) {
            return *known;
        }
        let chain = chain_of(node);
        let mut parent = None;
        // From below `char` down to the node.
        for (node, name) in chain.into_iter().flatten().rev() {
            parent = match self.alias_types.get(&node) {
                Some(known) => *known,
                None => {
                    let id = self.program.alias_types.push_and_get_key(AliasType { name, parent });
                    self.alias_types.insert(node, Some(id));
                    Some(id)
                }
            };
        }
        self.alias_types.insert(node, parent);
        parent
    }
}

/// The node and its parents below `char`, with their names; `None` for a tree that is not C's.
fn chain_of(node: Metadata) -> Option<Vec<(Metadata, String)>> {
    let mut chain = Vec::new();
    let mut at = node;
    for _ in 0..MOST_PARENTS {
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
