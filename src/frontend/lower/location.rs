//! Source files and locations, each once.

use llvm_sys::debuginfo::LLVMMetadataKind::*;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::llvm::Metadata;
use crate::program::{FileId, Location, LocationId, SourceFile};

/// What was lowered already, by LLVM's node and by content: linked modules bring equal nodes of different identity.
#[derive(Default)]
pub struct Locations {
    by_node: FxHashMap<Metadata, Option<LocationId>>,
    by_content: FxHashMap<Location, LocationId>,
    files_by_node: FxHashMap<Metadata, FileId>,
    files_by_content: FxHashMap<SourceFile, FileId>,
    functions: FxHashMap<Metadata, String>,
}

impl Lowering {
    /// A `DILocation` with the frames it was inlined into.
    pub(super) fn location(&mut self, node: Metadata) -> Option<LocationId> {
        if let Some(known) = self.locations.by_node.get(&node) {
            return *known;
        }
        // Innermost first; a long chain of inlined frames must not use our stack.
        let mut chain = vec![node];
        while let Some(outer) = chain[chain.len() - 1].inlined_at() {
            chain.push(outer);
        }
        let mut inlined_at = None;
        for &frame in chain.iter().rev() {
            let id = match self.locations.by_node.get(&frame) {
                Some(known) => *known,
                None => self.lower_frame(frame, inlined_at),
            };
            self.locations.by_node.insert(frame, id);
            inlined_at = id;
        }
        inlined_at
    }

    fn lower_frame(&mut self, node: Metadata, inlined_at: Option<LocationId>) -> Option<LocationId> {
        let scope = node.scope()?;
        let file = self.file(scope.scope_file()?);
        let function = self.scope_function(scope);
        let location = Location { file, line: node.line(), column: node.column(), function, inlined_at };
        if let Some(known) = self.locations.by_content.get(&location) {
            return Some(*known);
        }
        let id = self.program.locations.push_and_get_key(location.clone());
        self.locations.by_content.insert(location, id);
        Some(id)
    }

    pub(super) fn file(&mut self, node: Metadata) -> FileId {
        if let Some(known) = self.locations.files_by_node.get(&node) {
            return *known;
        }
        let file = SourceFile { name: node.file_name(), directory: node.directory() };
        let program = &mut self.program;
        let content = self.locations.files_by_content.entry(file.clone());
        let id = *content.or_insert_with(|| program.files.push_and_get_key(file));
        self.locations.files_by_node.insert(node, id);
        id
    }

    /// The name of the function that a scope lies in.
    fn scope_function(&mut self, scope: Metadata) -> String {
        if let Some(known) = self.locations.functions.get(&scope) {
            return known.clone();
        }
        let mut current = Some(scope);
        let mut name = String::new();
        while let Some(node) = current {
            if matches!(node.kind(), LLVMDISubprogramMetadataKind) {
                name = node.name();
                break;
            }
            current = node.operands().into_iter().flatten().find(|operand| is_local_scope(*operand));
        }
        self.locations.functions.insert(scope, name.clone());
        name
    }
}

fn is_local_scope(node: Metadata) -> bool {
    matches!(node.kind(), LLVMDISubprogramMetadataKind | LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind)
}
