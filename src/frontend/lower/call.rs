//! Calls of functions, and inline assembly.

use super::body::Body;
use super::llvm::Value;
use crate::program::{Argument, AssumptionKind, Callee, Constant, Operand, Operation, Ordering, Scope, Type};

impl Body<'_> {
    pub(super) fn call(&mut self, call: Value) {
        if let Some(known) = self.lowering.known_intrinsic(call) {
            return self.intrinsic_call(call, known);
        }
        let callee = call.called_value();
        if callee.is_inline_assembly() {
            return self.inline_assembly(call, callee);
        }
        self.ordinary_call(call);
    }

    pub(super) fn ordinary_call(&mut self, call: Value) {
        let callee = match self.operand(call.called_value()) {
            Operand::Constant(constant) => match self.lowering.program.constants[constant] {
                Constant::Function(function) => Callee::Direct(function),
                _ => Callee::Indirect(Operand::Constant(constant)),
            },
            register => Callee::Indirect(register),
        };
        let mut arguments = Vec::with_capacity(call.argument_count() as usize);
        for index in 0..call.argument_count() {
            let argument = call.operand(index);
            // Metadata is no argument at run time.
            let Some(ty) = self.value_type(argument) else { continue };
            let by_value = if ty == Type::POINTER { self.argument_by_value(call, index) } else { None };
            arguments.push(Argument { value: self.operand(argument), by_value });
        }
        let is_variadic = call.called_type().is_variadic();
        self.define(call, Operation::Call { callee, arguments, is_variadic });
    }

    fn argument_by_value(&self, call: Value, index: u32) -> Option<crate::program::function::ByValue> {
        let attributes = self.lowering.attributes;
        let ty = call.argument_type_attribute(index, attributes.by_value)?;
        self.lowering.by_value(Some(ty), call.argument_integer_attribute(index, attributes.align))
    }

    pub(super) fn inline_assembly(&mut self, call: Value, assembly: Value) {
        let text = assembly.assembly_text();
        let has_operands = call.argument_count() > 0 || self.value_type(call) != Some(Type::Void);
        if !has_operands {
            match barrier(&text) {
                Some(Barrier::Compiler) => {
                    let ordering = Ordering::SequentiallyConsistent;
                    return self.perform(Operation::Fence { ordering, scope: Scope::SingleThread });
                }
                Some(Barrier::Memory) => {
                    let ordering = Ordering::SequentiallyConsistent;
                    return self.perform(Operation::Fence { ordering, scope: Scope::System });
                }
                None => {}
            }
        }
        let shown = if text.trim().is_empty() { assembly.assembly_constraints() } else { text.trim().to_owned() };
        let constraints = assembly.assembly_constraints();
        let may_store = constraints.contains("~{memory}") || constraints.contains("=*");
        let arguments = self.arguments(call);
        // Assembly that gets operands, no address among them, and does not say that it touches memory computes with registers. Without operands
        // it says nothing at all, and may name variables.
        let is_pure = !arguments.is_empty()
            && !may_store
            && (0..call.argument_count()).all(|index| self.value_type(call.operand(index)) != Some(Type::POINTER));
        self.assume(if is_pure { AssumptionKind::NotComputed } else { AssumptionKind::InlineAssembly }, shown);
        self.define(call, Operation::InlineAssembly { text, arguments, may_store });
    }
}

enum Barrier {
    /// Keeps the compiler from moving accesses; the processor does nothing.
    Compiler,
    /// Orders the accesses of this thread before it before those after it.
    Memory,
}

/// Assembly without operands that is known to touch nothing.
fn barrier(text: &str) -> Option<Barrier> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] | ["nop"] | ["pause"] | ["rep", "nop"] => Some(Barrier::Compiler),
        ["mfence"] => Some(Barrier::Memory),
        _ => None,
    }
}
