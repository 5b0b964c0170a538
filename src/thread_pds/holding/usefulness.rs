//! Which registers is it worth knowing something of?
//!
//! # Definition   A register is of use at the start of a block if a branch, a phi, a return, or a number that a call hands over, at or behind it, reached
//!                before the register is executed again, is computed from it. Knowledge of any other register decides nothing any more.
//! # Theorem      Forgetting what is known of registers that are of no use changes no branch that a valuation decides, and no returned value.

use fixedbitset::FixedBitSet;
use typed_index_collections::TiVec;

use crate::program::{Block, BlockId, Function, Operand, Operation, RegisterId, TerminatorKind};

/// By block: the registers that are of use at its start.
pub type Usefulness = TiVec<BlockId, FixedBitSet>;

/// `passed`: by block, what calls hand to parameters that decide.
pub fn find(
    function: &Function,
    homes: &TiVec<RegisterId, Option<BlockId>>,
    passed: &TiVec<BlockId, Vec<Operand>>,
) -> Usefulness {
    let registers = function.registers.len();
    let operations = operations(function);
    let computed_from = |operand: Operand, into: &mut FixedBitSet| {
        let mut open = vec![operand];
        while let Some(operand) = open.pop() {
            if let Operand::Register(register) = operand
                && !into.put(register.into())
                && let Some(operation) = operations[register]
            {
                open.extend(operands(operation));
            }
        }
    };
    let mut decided: TiVec<BlockId, FixedBitSet> = TiVec::new();
    let mut made: TiVec<BlockId, FixedBitSet> = function.blocks.iter().map(|_| FixedBitSet::with_capacity(registers)).collect();
    for (id, block) in function.blocks.iter_enumerated() {
        let mut used = FixedBitSet::with_capacity(registers);
        for operand in decides(block).iter().chain(&passed[id]) {
            computed_from(*operand, &mut used);
        }
        decided.push(used);
    }
    for (register, home) in homes.iter_enumerated() {
        if let Some(home) = home {
            made[*home].insert(register.into());
        }
    }
    let mut useful: Usefulness = function.blocks.iter().map(|_| FixedBitSet::with_capacity(registers)).collect();
    let mut open: Vec<BlockId> = function.blocks.keys().collect();
    let mut is_open: TiVec<BlockId, bool> = TiVec::from(vec![true; function.blocks.len()]);
    // Last blocks first: most uses lie behind.
    while let Some(block) = open.pop() {
        is_open[block] = false;
        let mut now = decided[block].clone();
        for next in function.blocks[block].terminator.kind.successors() {
            let target = &function.blocks[next];
            let mut behind = useful[next].clone();
            target.phis.iter().for_each(|phi| behind.set(phi.result.into(), false));
            let way = target.predecessors.iter().position(|predecessor| *predecessor == block);
            for phi in target.phis.iter().filter(|phi| useful[next].contains(phi.result.into())) {
                if let Some(way) = way {
                    computed_from(phi.operands[way], &mut behind);
                }
            }
            now.union_with(&behind);
        }
        now.difference_with(&made[block]);
        if now != useful[block] {
            useful[block] = now;
            for before in &function.blocks[block].predecessors {
                if !std::mem::replace(&mut is_open[*before], true) {
                    open.push(*before);
                }
            }
        }
    }
    useful
}

/// What the end of a block looks at.
fn decides(block: &Block) -> Option<Operand> {
    match &block.terminator.kind {
        TerminatorKind::Branch { condition, .. } => Some(*condition),
        TerminatorKind::Switch { value, .. } => Some(*value),
        TerminatorKind::Return(value) => *value,
        TerminatorKind::Jump(_)
        | TerminatorKind::IndirectJump { .. }
        | TerminatorKind::AnyOf(_)
        | TerminatorKind::Unreachable => None,
    }
}

fn operations(function: &Function) -> TiVec<RegisterId, Option<&Operation>> {
    let mut operations = TiVec::from(vec![None; function.registers.len()]);
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Some(result) = instruction.result {
            operations[result] = Some(&instruction.operation);
        }
    }
    operations
}

/// The operands of the operations that valuations look through.
pub(super) fn operands(operation: &Operation) -> Vec<Operand> {
    match operation {
        Operation::Compare { left, right, .. } | Operation::Binary { left, right, .. } => vec![*left, *right],
        Operation::Cast { value, .. } | Operation::Freeze { value } => vec![*value],
        Operation::Select { condition, when_true, when_false } => vec![*condition, *when_true, *when_false],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::text;

    #[test]
    fn a_register_is_of_use_until_the_last_branch_on_it() {
        let sites: String = (0..8).map(|number| format!("site s{number} @main {number}\n")).collect();
        let source = format!(
            "lockcheck program 1\ntarget \"x86_64-pc-linux-gnu\" pointer 8\n{sites}\
             function @main \"main\" (%0: i32, %1: ptr) returns i32 {{\n\
             b0:\n  %2: i1 = compare equal %0, i32 0 !s0\n  branch %2, b1, b3 !s1\n\
             b1:\n  jump b2 !s2\n\
             b2:\n  %3: i32 = and %0, i32 4 !s3\n  %4: i1 = compare equal %3, i32 0 !s4\n  branch %4, b3, b3 !s5\n\
             b3:\n  return i32 0 !s6\n}}\n"
        );
        let program = text::parse(&source).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.reason));
        let main = program.function_named("main").expect("main");
        let function = &program.functions[main];
        let mut homes: TiVec<RegisterId, Option<BlockId>> = TiVec::from(vec![None; function.registers.len()]);
        for (id, block) in function.blocks.iter_enumerated() {
            block.instructions.iter().filter_map(|instruction| instruction.result).for_each(|result| homes[result] = Some(id));
        }
        let parameter = usize::from(function.parameters[0].register);
        let useful = find(function, &homes, &function.blocks.iter().map(|_| Vec::new()).collect());
        let is_useful: Vec<bool> = useful.iter().map(|registers| registers.contains(parameter)).collect();
        // Tested at the end of the first block and of the third; the fourth returns a constant.
        assert_eq!(is_useful, [true, true, true, false]);
    }
}
