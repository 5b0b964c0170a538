//! Local variables: which value holds which variable of the source, from the debug records in front of instructions.

use llvm_sys::LLVMDbgRecordKind;
use rustc_hash::FxHashMap;

use super::Lowering;
use super::body::Body;
use super::llvm::{DebugRecord, Metadata, ModuleHandle, Value};
use crate::program::{Binding, Operand, Variable, VariableId};

/// How a debug expression computes a variable from a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expression {
    /// The value itself.
    Value,
    /// What the value points to.
    Pointee,
    /// A part of the variable, or a computation: not a name for the value.
    Other,
}

/// Expressions are few and shared; all but the empty one are known by their text only.
pub struct Expressions {
    empty: Metadata,
    known: FxHashMap<Metadata, Expression>,
}

impl Expressions {
    pub fn new(module: ModuleHandle) -> Self {
        Self { empty: module.empty_debug_expression(), known: FxHashMap::default() }
    }

    pub fn of(&mut self, node: Metadata) -> Expression {
        if node == self.empty {
            return Expression::Value;
        }
        *self.known.entry(node).or_insert_with(|| {
            let text = node.text();
            let operations = text.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
            match operations {
                "" | "DW_OP_LLVM_arg, 0" | "DW_OP_LLVM_arg, 0, DW_OP_stack_value" => Expression::Value,
                "DW_OP_deref" => Expression::Pointee,
                _ => Expression::Other,
            }
        })
    }
}

impl Lowering {
    pub(super) fn variable(&mut self, node: Metadata) -> VariableId {
        if let Some(known) = self.variables.get(&node) {
            return *known;
        }
        let operands = node.operands();
        let ty = operands.into_iter().flatten().find(|operand| operand.is_type());
        let variable = Variable {
            name: node.name(),
            ty: ty.map(|ty| self.debug_type(ty)),
            file: node.variable_file().map(|file| self.file(file)),
            line: node.variable_line(),
        };
        let id = self.program.variables.push_and_get_key(variable);
        self.variables.insert(node, id);
        id
    }
}

impl Body<'_> {
    /// Keeps the names that debug information gives to registers in front of an instruction.
    pub(super) fn bind_variables(&mut self, instruction: Value) {
        for record in instruction.debug_records() {
            let named = self.binding(record);
            let slot = self.assigned_slot(record);
            for binding in named.into_iter().chain(slot) {
                if self.seen_bindings.insert(binding) {
                    let (variable, value, is_address) = binding;
                    self.bindings.push(Binding { variable, value, is_address });
                }
            }
        }
    }

    /// Optimisers record what is stored to a variable together with its slot.
    fn assigned_slot(&mut self, record: DebugRecord) -> Option<(VariableId, Operand, bool)> {
        if record.kind() != LLVMDbgRecordKind::LLVMDbgRecordAssign {
            return None;
        }
        let module = self.lowering.module;
        if self.lowering.expressions.of(record.expression(module)?) != Expression::Value {
            return None;
        }
        let operand @ Operand::Register(_) = self.named_value(record.assigned_address()?)? else { return None };
        let variable = self.lowering.variable(record.variable(module)?);
        Some((variable, operand, true))
    }

    fn binding(&mut self, record: DebugRecord) -> Option<(VariableId, Operand, bool)> {
        let is_declaration = match record.kind() {
            LLVMDbgRecordKind::LLVMDbgRecordLabel => return None,
            LLVMDbgRecordKind::LLVMDbgRecordDeclare => true,
            LLVMDbgRecordKind::LLVMDbgRecordValue | LLVMDbgRecordKind::LLVMDbgRecordAssign => false,
        };
        let module = self.lowering.module;
        let expression = self.lowering.expressions.of(record.expression(module)?);
        let is_address = match (is_declaration, expression) {
            (true, Expression::Value) | (false, Expression::Pointee) => true,
            (false, Expression::Value) => false,
            // A declaration through a pointer names neither the slot nor its content.
            (true, Expression::Pointee) | (_, Expression::Other) => return None,
        };
        let value = record.value()?;
        let operand @ Operand::Register(_) = self.named_value(value)? else { return None };
        let variable = self.lowering.variable(record.variable(module)?);
        Some((variable, operand, is_address))
    }
}
