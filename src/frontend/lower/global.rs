//! Global variables, constructors and destructors.

use llvm_sys::LLVMValueKind::*;

use super::Lowering;
use super::initializer::Image;
use super::llvm::Value;
use super::variable::Expression;
use crate::program::{FunctionId, Global, GlobalId};

/// A part of a global's initial value that is computed when the program starts.
pub struct PendingInitializer {
    pub global: GlobalId,
    pub offset: u64,
    pub value: Value,
}

impl Lowering {
    pub(super) fn declare_globals(&mut self) {
        let debug_kind = self.module.metadata_kind("dbg");
        let mut unnamed = 0;
        for value in self.module.globals() {
            let mut name = value.name();
            // What LLVM keeps for itself is no memory of the program.
            if name.starts_with("llvm.") {
                continue;
            }
            if name.is_empty() {
                unnamed += 1;
                name = format!("unnamed.{unnamed}");
            }
            let ty = value.value_type();
            let is_sized = ty.is_sized();
            let mut global = Global {
                source_name: name.clone(),
                name,
                size: if is_sized { self.types.layout.size(ty) } else { 0 },
                align: value.align().max(if is_sized { self.types.layout.align(ty) } else { 1 }),
                is_thread_local: value.is_thread_local(),
                is_constant: value.is_constant_global(),
                is_external: value.is_declaration(),
                is_static: value.is_static(),
                ..Global::default()
            };
            self.describe_global(&mut global, value, debug_kind);
            let id = self.program.globals.push_and_get_key(global);
            self.globals.insert(value, id);
        }
    }

    /// The name, type and place of the variable in the source.
    fn describe_global(&mut self, global: &mut Global, value: Value, debug_kind: std::ffi::c_uint) {
        let mut nodes = value.global_metadata(self.module, debug_kind);
        // Where a global holds several variables or parts of one, the one it is wholly comes first.
        nodes.sort_by_key(|node| self.global_expression(*node) != Expression::Value);
        let Some(&node) = nodes.first() else { return };
        let Some(variable) = node.global_variable() else { return };
        global.source_name = variable.name();
        global.line = variable.variable_line();
        global.file = variable.variable_file().map(|file| self.file(file));
        if self.global_expression(node) == Expression::Value {
            let ty = variable.operands().into_iter().flatten().find(|operand| operand.is_type());
            global.debug_type = ty.map(|ty| self.debug_type(ty));
        }
    }

    fn global_expression(&mut self, node: super::llvm::Metadata) -> Expression {
        node.global_expression().map_or(Expression::Value, |expression| self.expressions.of(expression))
    }

    pub(super) fn initialize_globals(&mut self) {
        for value in self.module.globals() {
            let (Some(&global), Some(initializer)) = (self.globals.get(&value), value.initializer()) else { continue };
            let mut image = Image::default();
            self.write_initializer(&mut image, initializer, 0);
            let entry = &mut self.program.globals[global];
            image.relocations.sort_by_key(|relocation| relocation.offset);
            entry.bytes = image.bytes;
            entry.relocations = image.relocations;
            if !image.pending.is_empty() {
                // It is written once, when the program starts.
                entry.is_constant = false;
            }
            let pending = image.pending.into_iter().map(|(offset, value)| PendingInitializer { global, offset, value });
            self.pending.extend(pending);
        }
    }

    pub(super) fn lower_constructors(&mut self) {
        self.program.constructors = self.listed_functions("llvm.global_ctors");
        self.program.destructors = self.listed_functions("llvm.global_dtors");
        // What is constructed first is destroyed last.
        self.program.destructors.reverse();
        if let Some(initialize) = self.lower_pending_initializers() {
            self.program.constructors.insert(0, initialize);
        }
    }

    /// The functions of a list of `{priority, function, data}`, smallest priority first.
    fn listed_functions(&mut self, list: &str) -> Vec<FunctionId> {
        let Some(entries) = self.module.globals().find(|global| global.name() == list).and_then(Value::initializer) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for index in 0.. {
            let Some(entry) = entries.aggregate_element(index) else { break };
            let (Some(priority), Some(mut function)) = (entry.aggregate_element(0), entry.aggregate_element(1)) else { continue };
            while function.kind() == LLVMGlobalAliasValueKind {
                function = function.aliasee();
            }
            if function.is_function() {
                found.push((priority.integer_value(), self.function(function)));
            }
        }
        found.sort_by_key(|(priority, _)| *priority);
        found.into_iter().map(|(_, function)| function).collect()
    }
}
