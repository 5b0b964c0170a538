//! What all parts of the analysis of threads read, and how they ask for it: what an instruction calls, and what it writes.

use super::super::accesses::{Accesses, Action, Manner, Place};
use super::super::call_graph::{CallGraph, CallKind};
use super::super::points_to::{AbstractObjectKind, Location, PointsTo};
use crate::models::{BoundModels, Effect, FunctionModel};
use crate::program::{BlockId, Callee, Function, FunctionId, Instruction, Operand, Operation, Program, Type};

/// What all parts of the analysis read.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub program: &'a Program,
    pub models: &'a BoundModels<'a>,
    pub points_to: &'a PointsTo,
    pub calls: &'a CallGraph,
    pub accesses: &'a Accesses,
}

/// What a call instruction may call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Called<'a> {
    Library(&'a FunctionModel),
    Body(FunctionId),
    Outside,
}

impl<'a> Input<'a> {
    pub fn function(&self, function: FunctionId) -> &'a Function {
        &self.program.functions[function]
    }

    pub fn instruction(&self, function: FunctionId, block: BlockId, index: usize) -> &'a Instruction {
        &self.function(function).blocks[block].instructions[index]
    }

    /// What a call instruction may call; nothing for another instruction.
    pub fn called(&self, instruction: &Instruction) -> Vec<Called<'a>> {
        let kind = |function: FunctionId| {
            let is_defined = self.program.functions[function].is_defined();
            match self.models[function] {
                Some(model) if !is_defined || !model.effects.contains(&Effect::AtomicBody) => Called::Library(model),
                _ if is_defined => Called::Body(function),
                _ => Called::Outside,
            }
        };
        match &instruction.operation {
            Operation::Call { callee: Callee::Direct(function), .. } => vec![kind(*function)],
            Operation::Call { callee: Callee::Indirect(_), .. } => {
                self.points_to.callees(instruction.site).iter().map(|one| kind(*one)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All that an instruction writes, whatever it is.
    pub fn all_written(&self, id: FunctionId, block: BlockId, index: usize) -> Vec<(Operand, Option<u64>)> {
        let instruction = self.instruction(id, block, index);
        let mut written = self.written_by_library(id, block, index);
        written.extend(self.written(self.function(id), instruction));
        let handle = stored_handle(&self.called(instruction)).and_then(|handle| Input::argument(instruction, handle));
        written.extend(handle.map(|handle| (handle, Some(u64::from(self.program.layout.pointer_bytes)))));
        written
    }

    /// Where the instructions of a function stand.
    pub fn positions(&self, id: FunctionId) -> impl Iterator<Item = (BlockId, usize)> + 'a {
        let blocks = self.function(id).blocks.iter_enumerated();
        blocks.flat_map(|(block, body)| (0..body.instructions.len()).map(move |index| (block, index)))
    }

    /// The functions that a call instruction makes run by some kind of edge.
    pub fn started(
        &self,
        caller: FunctionId,
        instruction: &Instruction,
        kind: CallKind,
    ) -> impl Iterator<Item = FunctionId> + 'a {
        let (site, calls) = (instruction.site, self.calls);
        calls.calls_in(caller).iter().filter(move |edge| edge.site == Some(site) && edge.kind == kind).map(|edge| edge.callee)
    }

    pub fn argument(instruction: &Instruction, position: usize) -> Option<Operand> {
        match &instruction.operation {
            Operation::Call { arguments, .. } => {
                arguments.get(position).filter(|one| one.by_value.is_none()).map(|one| one.value)
            }
            _ => None,
        }
    }

    /// What library functions that an instruction calls write, through which operands: so many bytes from there on, or no size when that is not known, or
    /// when the operand only leads to a pointer to the bytes. The handle of a thread that is created is left out.
    pub fn written_by_library(&self, id: FunctionId, block: BlockId, index: usize) -> Vec<(Operand, Option<u64>)> {
        let instruction = self.instruction(id, block, index);
        let Operation::Call { arguments, .. } = &instruction.operation else { return Vec::new() };
        let handle = stored_handle(&self.called(instruction)).and_then(|handle| Input::argument(instruction, handle));
        let mut written = Vec::new();
        for access in self.accesses.at(id, block, index).iter().filter(|access| access.action.writes()) {
            match access.place {
                // What has ended holds nothing that may still be read.
                _ if access.action == Action::End => {}
                // Where a lock or its like lies nothing else does.
                _ if access.manner == Manner::Operation => {}
                Place::Operand(operand) if Some(operand) == handle => {}
                Place::Operand(operand) => written.push((operand, access.size)),
                // Not the program's.
                Place::Library(_) | Place::ActiveStack => {}
                Place::Foreign(..) | Place::Behind(_) | Place::Beyond(..) => {
                    written.extend(arguments.iter().map(|argument| (argument.value, None)));
                }
            }
        }
        // What `realloc` makes holds what was there before.
        let moves = |called: &Called<'_>| matches!(called, Called::Library(model) if model.effects.iter().any(|effect| matches!(effect, Effect::Reallocate { .. })));
        if self.called(instruction).iter().any(moves) {
            written.extend(instruction.result.map(|result| (Operand::Register(result), None)));
        }
        written
    }

    /// The address and bytes that an instruction other than a call writes; no size when it is not known.
    pub fn written(&self, function: &Function, instruction: &Instruction) -> Option<(Operand, Option<u64>)> {
        let bytes = |operand: Operand| Some(self.program.layout.store_bytes(self.program.type_of(function, operand)));
        match &instruction.operation {
            Operation::Store { address, value, .. } | Operation::ReadModifyWrite { address, value, .. } => {
                Some((*address, bytes(*value)))
            }
            Operation::CompareExchange { address, expected, .. } => Some((*address, bytes(*expected))),
            Operation::CopyMemory { destination, size, .. } | Operation::SetMemory { destination, size, .. } => {
                let size = super::super::loops::constant(self.program, *size).and_then(|size| u64::try_from(size).ok());
                Some((*destination, size))
            }
            Operation::MaskedStore { address, .. } => Some((*address, None)),
            _ => None,
        }
    }
}

/// Where a location may be written by code that is not looked at.
pub(super) fn is_outside(input: Input<'_>, location: Location) -> bool {
    input.points_to.object(location.object).kind == AbstractObjectKind::Unknown || input.points_to.is_escaped(location.object)
}

/// The type of a thread's handle.
pub(super) fn is_handle_type(input: Input<'_>, ty: Type) -> bool {
    input.program.layout.store_bytes(ty) == u64::from(input.program.layout.pointer_bytes)
}

/// The argument at which a call, whatever it calls, stores the handle of a thread that it creates.
pub(super) fn stored_handle(called: &[Called<'_>]) -> Option<usize> {
    let [Called::Library(model)] = called else { return None };
    model.effects.iter().find_map(|effect| match effect {
        Effect::Spawn { handle, .. } => *handle,
        _ => None,
    })
}
