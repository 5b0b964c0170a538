//! A canonical numbering of constants: the order in which the text form names them, so that text and program determine each other.

use super::{Callee, Constant, ConstantId, Constants, Operand, Operation, Program, TerminatorKind};

impl Program {
    /// Numbers constants in the order of their first use in function bodies, parts before wholes; unused ones are dropped.
    pub fn renumber_constants(&mut self) {
        let old = std::mem::take(&mut self.constants);
        let mut renumbering = Renumbering { old: &old, new: Constants::default() };
        for function in &mut self.functions {
            for binding in &mut function.bindings {
                renumbering.operand(&mut binding.value);
            }
            for block in &mut function.blocks {
                for phi in &mut block.phis {
                    phi.operands.iter_mut().for_each(|operand| renumbering.operand(operand));
                }
                for instruction in &mut block.instructions {
                    instruction.operation.operands_mut().into_iter().for_each(|operand| renumbering.operand(operand));
                }
                renumbering.terminator(&mut block.terminator.kind);
            }
        }
        self.constants = renumbering.new;
    }
}

struct Renumbering<'a> {
    old: &'a Constants,
    new: Constants,
}

impl Renumbering<'_> {
    fn operand(&mut self, operand: &mut Operand) {
        if let Operand::Constant(constant) = operand {
            *constant = self.constant(*constant);
        }
    }

    fn constant(&mut self, id: ConstantId) -> ConstantId {
        let mut constant = self.old[id].clone();
        match &mut constant {
            Constant::Vector { lanes, .. } => lanes.iter_mut().for_each(|lane| *lane = self.constant(*lane)),
            Constant::Aggregate { elements, .. } => {
                elements.iter_mut().for_each(|(_, element)| *element = self.constant(*element))
            }
            Constant::Integer { .. }
            | Constant::WideInteger { .. }
            | Constant::Float { .. }
            | Constant::Null
            | Constant::Undef(_)
            | Constant::Poison(_)
            | Constant::Zero(_)
            | Constant::Global(_)
            | Constant::Function(_)
            | Constant::Block(..) => {}
        }
        self.new.intern(constant)
    }

    fn terminator(&mut self, terminator: &mut TerminatorKind) {
        match terminator {
            TerminatorKind::Return(Some(operand)) | TerminatorKind::Branch { condition: operand, .. } => self.operand(operand),
            TerminatorKind::IndirectJump { address, .. } => self.operand(address),
            TerminatorKind::Switch { value, cases, .. } => {
                self.operand(value);
                cases.iter_mut().for_each(|(constant, _)| *constant = self.constant(*constant));
            }
            TerminatorKind::Return(None) | TerminatorKind::Jump(_) | TerminatorKind::AnyOf(_) | TerminatorKind::Unreachable => {}
        }
    }
}

impl Operation {
    /// All operands, in the order of the text form.
    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Self::Binary { left, right, .. } | Self::Compare { left, right, .. } | Self::Shuffle { left, right, .. } => {
                vec![left, right]
            }
            Self::Negate { value } | Self::Cast { value, .. } | Self::Freeze { value } => vec![value],
            Self::Select { condition, when_true, when_false } => vec![condition, when_true, when_false],
            Self::Offset { base, terms, .. } => [base].into_iter().chain(terms.iter_mut().map(|term| &mut term.index)).collect(),
            Self::ExtractBytes { aggregate, .. } => vec![aggregate],
            Self::InsertBytes { aggregate, value, .. } => vec![aggregate, value],
            Self::ExtractLane { vector, lane } => vec![vector, lane],
            Self::InsertLane { vector, value, lane } => vec![vector, value, lane],
            Self::Intrinsic { arguments, .. } | Self::InlineAssembly { arguments, .. } => arguments.iter_mut().collect(),
            Self::StackAllocate { count, .. } => vec![count],
            Self::StackRestore { saved } => vec![saved],
            Self::LifetimeStart { address } | Self::LifetimeEnd { address } | Self::Load { address, .. } => vec![address],
            Self::Store { address, value, .. } => vec![value, address],
            Self::ReadModifyWrite { address, value, .. } => vec![address, value],
            Self::CompareExchange { address, expected, replacement, .. } => vec![address, expected, replacement],
            Self::CopyMemory { destination, source, size, .. } => vec![destination, source, size],
            Self::SetMemory { destination, byte, size, .. } => vec![destination, byte, size],
            Self::MaskedLoad { address, mask, otherwise } => vec![address, mask, otherwise],
            Self::MaskedStore { address, mask, value } => vec![address, mask, value],
            Self::Call { callee, arguments, .. } => {
                let callee = match callee {
                    Callee::Indirect(operand) => Some(operand),
                    Callee::Direct(_) => None,
                };
                callee.into_iter().chain(arguments.iter_mut().map(|argument| &mut argument.value)).collect()
            }
            Self::VariadicStart { list } | Self::VariadicEnd { list } | Self::VariadicNext { list } => vec![list],
            Self::VariadicCopy { to, from } => vec![to, from],
            Self::Assume { condition } => vec![condition],
            Self::StackSave
            | Self::ThreadLocalAddress { .. }
            | Self::Fence { .. }
            | Self::Trap
            | Self::FrameAddress
            | Self::CycleCounter => Vec::new(),
        }
    }
}
