//! How control leaves a block.

use llvm_sys::LLVMOpcode::{self, *};

use super::body::Body;
use super::llvm::{BasicBlock, Value};
use crate::program::{AssumptionKind, BlockId, Terminator, TerminatorKind};

impl Body<'_> {
    pub(super) fn terminator(&mut self, instruction: Value, opcode: LLVMOpcode) {
        let kind = match opcode {
            LLVMRet if instruction.operand_count() == 0 => TerminatorKind::Return(None),
            LLVMRet if self.value_type(instruction.operand(0)).is_none() => {
                self.unknown(instruction);
                TerminatorKind::Return(None)
            }
            LLVMRet => TerminatorKind::Return(Some(self.operand(instruction.operand(0)))),
            LLVMBr => self.branch(instruction),
            LLVMSwitch => self.switch(instruction),
            LLVMIndirectBr => TerminatorKind::IndirectJump {
                address: self.operand(instruction.operand(0)),
                targets: distinct(instruction.successors().map(|block| self.block(block))),
            },
            LLVMInvoke => {
                // C runs through the other edge only when a thread is cancelled or C++ throws through it.
                self.assume(AssumptionKind::NonLocalJump, "no exception unwinds through this call".to_owned());
                self.call(instruction);
                TerminatorKind::Jump(self.block(instruction.normal_destination()))
            }
            LLVMCallBr => {
                self.inline_assembly(instruction, instruction.called_value());
                TerminatorKind::AnyOf(distinct(instruction.successors().map(|block| self.block(block))))
            }
            // Reached only by an exception.
            LLVMUnreachable | LLVMResume | LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch => TerminatorKind::Unreachable,
            other => panic!("{other:?} ends no block"),
        };
        self.finish_block(Terminator { site: self.site, kind });
    }

    fn block(&self, block: BasicBlock) -> BlockId {
        self.lowering.blocks[&block]
    }

    fn branch(&mut self, instruction: Value) -> TerminatorKind {
        let mut successors = instruction.successors().map(|block| self.lowering.blocks[&block]);
        let first = successors.next().expect("a branch has a target");
        let second = successors.next();
        drop(successors);
        match (instruction.condition(), second) {
            (Some(condition), Some(when_false)) => {
                TerminatorKind::Branch { condition: self.operand(condition), when_true: first, when_false }
            }
            _ => TerminatorKind::Jump(first),
        }
    }

    fn switch(&mut self, instruction: Value) -> TerminatorKind {
        let value = self.operand(instruction.operand(0));
        let targets: Vec<BlockId> = instruction.successors().map(|block| self.block(block)).collect();
        let cases = targets
            .iter()
            .enumerate()
            .skip(1)
            .map(|(case, &target)| {
                let number = instruction.case_value(case as u32);
                (self.lowering.leaf(number).expect("a case is an integer constant"), target)
            })
            .collect();
        TerminatorKind::Switch { value, cases, default: targets[0] }
    }
}

fn distinct(blocks: impl Iterator<Item = BlockId>) -> Vec<BlockId> {
    let mut found: Vec<BlockId> = blocks.collect();
    found.sort_unstable();
    found.dedup();
    found
}
