//! Directed functions: those whose callers decide what they call.
//!
//! # Definition   A function is directed if it calls one of its parameters, or what it finds behind one (`filter->init(…)`), or if some call names a function among its arguments.
//! # Example      `coder_init(coder, find)` of a library that encodes and decodes: one caller passes the table of encoders, the other that of decoders. Looked at once, the
//!                function makes coders that do both.
//! # Paper        Smaragdakis, Kastrinis, Balatsouras 2014 for choosing what is told apart.
//! # Deviations   1. Addresses are followed back through loads, moves and casts, a few steps.  2. Who passes a parameter on to a directed function is not directed by it: following
//!                that made two to four times the work and told nothing more in the programs that were tried.

use typed_index_collections::TiVec;

use crate::program::{Callee, Constant, Function, FunctionId, Operand, Operation, Program};

/// How far what a function calls is followed back to its parameters.
const STEPS: usize = 8;

pub(super) fn directed(program: &Program) -> TiVec<FunctionId, bool> {
    let mut is_directed: TiVec<FunctionId, bool> = program.functions.iter().map(calls_behind_parameters).collect();
    let names_function = |operand: Operand| match operand {
        Operand::Constant(constant) => matches!(program.constants[constant], Constant::Function(_)),
        Operand::Register(_) => false,
    };
    for instruction in program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions) {
        if let Operation::Call { callee: Callee::Direct(callee), arguments, .. } = &instruction.operation {
            is_directed[*callee] |= arguments.iter().any(|argument| names_function(argument.value));
        }
    }
    is_directed
}

fn calls_behind_parameters(function: &Function) -> bool {
    let mut definitions = vec![None; function.registers.len()];
    let mut targets = Vec::new();
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Some(result) = instruction.result {
            definitions[usize::from(result)] = Some(&instruction.operation);
        }
        if let Operation::Call { callee: Callee::Indirect(target), .. } = instruction.operation {
            targets.push(target);
        }
    }
    targets.into_iter().any(|target| is_behind_parameter(function, &definitions, target))
}

fn is_behind_parameter(function: &Function, definitions: &[Option<&Operation>], mut value: Operand) -> bool {
    for _ in 0..STEPS {
        let Operand::Register(register) = value else { return false };
        if function.parameters.iter().any(|parameter| parameter.register == register) {
            return true;
        }
        value = match definitions[usize::from(register)] {
            Some(Operation::Load { address, .. }) => *address,
            Some(Operation::Offset { base, .. }) => *base,
            Some(Operation::Cast { value, .. } | Operation::Freeze { value }) => *value,
            // Results of calls, choices: nothing that a caller alone decides.
            _ => return false,
        };
    }
    false
}
