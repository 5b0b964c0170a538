//! Which threads can take a turn, and what each would do first.

use crate::explore::evaluate;
use crate::explore::scheduler::Candidate;
use crate::explore::sync::{Readiness, ThreadId};
use crate::explore::value::{ObjectId, Pointer, Value};
use crate::program::{FunctionId, Instruction, Operand, Operation, SiteId};

use super::Machine;
use super::end::End;
use super::thread::{CodeFrame, FrameKind, Status, Thread};

/// The operation a thread's next transition begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingOperation {
    pub site: Option<SiteId>,
    pub kind: OperationKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OperationKind {
    Read(Extent),
    Write(Extent),
    /// Reads and writes.
    Update(Extent),
    /// Copies from the second to the first.
    Copy(Extent, Extent),
    Fence,
    /// A library function with its arguments, about to begin or waiting inside.
    Library {
        function: FunctionId,
        arguments: Vec<Value>,
    },
    /// The thread has not begun, or its last transition was cut: local steps only.
    Local,
    /// The thread, or with it the process, ends.
    End,
}

/// Bytes of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// `None` when the address lies in no object.
    pub object: Option<ObjectId>,
    pub address: u64,
    pub size: u64,
}

impl Machine<'_> {
    /// The threads that can take a turn, in order of their ids.
    pub fn enabled(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.iter().map(|thread| thread.id).filter(|id| self.readiness(*id) != Readiness::Blocked)
    }

    /// Whether a thread can take a turn; `Expires` when all it can do is give up waiting.
    pub fn readiness(&self, id: ThreadId) -> Readiness {
        if self.end.is_some() {
            return Readiness::Blocked;
        }
        match &self.thread(id).status {
            Status::Finished => Readiness::Blocked,
            Status::Blocked(reason) => self.sync.readiness(id, reason),
            // The first thread's exit routines run after its end in the table.
            Status::Runnable if self.sync.atomic_owner().is_none_or(|owner| owner == id) => Readiness::Ready,
            Status::Runnable => Readiness::Blocked,
        }
    }

    /// The same for the scheduler.
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate =
            |id: ThreadId| Candidate { thread: id, readiness: self.readiness(id), has_yielded: self.yielded.contains(&id) };
        self.enabled().map(candidate).collect()
    }

    /// Where a thread stands: the instruction, and the call sites that led there, outermost first.
    pub fn position(&self, id: ThreadId) -> (Option<SiteId>, Vec<SiteId>) {
        let thread = self.thread(id);
        let site = thread.frames.last().and_then(|frame| match &frame.kind {
            FrameKind::Code(code) => {
                let block = &self.program.functions[code.function].blocks[code.block];
                Some(block.instructions.get(code.instruction).map_or(block.terminator.site, |instruction| instruction.site))
            }
            FrameKind::Library(_) | FrameKind::Native(_) | FrameKind::Ending(_) => frame.call_site,
        });
        (site, thread.context().calls)
    }

    /// Some thread has not finished and none can take a turn.
    pub fn stuck(&self) -> Option<End> {
        if self.end.is_some() || self.enabled().next().is_some() {
            return None;
        }
        let waiting = |thread: &Thread| match thread.status {
            Status::Blocked(reason) => Some((thread.id, reason)),
            Status::Runnable | Status::Finished => None,
        };
        Some(End::Stuck(self.threads().filter_map(waiting).collect()))
    }

    /// What the thread's next transition begins with; `None` for a thread that has finished.
    pub fn next_operation(&self, id: ThreadId) -> Option<PendingOperation> {
        let thread = self.thread(id);
        if thread.status == Status::Finished {
            return None;
        }
        let frame = thread.frames.last()?;
        let (site, kind) = match &frame.kind {
            FrameKind::Library(library) => {
                let kind = OperationKind::Library { function: library.function, arguments: library.arguments.clone() };
                (frame.call_site, kind)
            }
            FrameKind::Native(_) => (frame.call_site, OperationKind::Local),
            FrameKind::Ending(_) => (frame.call_site, OperationKind::End),
            FrameKind::Code(code) => {
                let block = &self.program.functions[code.function].blocks[code.block];
                match block.instructions.get(code.instruction) {
                    Some(instruction) => (Some(instruction.site), self.pending_instruction(thread, code, instruction)),
                    None => (Some(block.terminator.site), OperationKind::Local),
                }
            }
        };
        Some(PendingOperation { site, kind })
    }

    fn pending_instruction(&self, thread: &Thread, frame: &CodeFrame, instruction: &Instruction) -> OperationKind {
        let function = &self.program.functions[frame.function];
        let value = |operand: Operand| match operand {
            Operand::Register(register) => &thread.registers[frame.base + usize::from(register)],
            Operand::Constant(constant) => &self.prepared.constants[constant],
        };
        let extent = |operand: Operand, size: u64| {
            let pointer = evaluate::as_pointer(value(operand)).unwrap_or(Pointer::NULL);
            Extent { object: self.object_of(pointer), address: pointer.address, size }
        };
        let bytes_of = |operand: Operand| self.program.layout.store_bytes(self.program.type_of(function, operand));
        let number = |operand: Operand| evaluate::as_u128(value(operand)).unwrap_or(0) as u64;
        match &instruction.operation {
            Operation::Load { address, .. } => {
                let register = instruction.result.expect("a load has a result");
                OperationKind::Read(extent(*address, self.program.layout.store_bytes(function.registers[register].ty)))
            }
            Operation::Store { address, value, .. } => OperationKind::Write(extent(*address, bytes_of(*value))),
            Operation::ReadModifyWrite { address, value, .. } => OperationKind::Update(extent(*address, bytes_of(*value))),
            Operation::CompareExchange { address, replacement, .. } => {
                OperationKind::Update(extent(*address, bytes_of(*replacement)))
            }
            Operation::Fence { .. } => OperationKind::Fence,
            Operation::CopyMemory { destination, source, size, .. } => {
                OperationKind::Copy(extent(*destination, number(*size)), extent(*source, number(*size)))
            }
            Operation::SetMemory { destination, size, .. } => OperationKind::Write(extent(*destination, number(*size))),
            Operation::Call { callee: crate::program::Callee::Direct(function), arguments, .. } => OperationKind::Library {
                function: *function,
                arguments: arguments.iter().map(|argument| value(argument.value).clone()).collect(),
            },
            Operation::MaskedLoad { address, otherwise, .. } => OperationKind::Read(extent(*address, bytes_of(*otherwise))),
            Operation::MaskedStore { address, value, .. } => OperationKind::Write(extent(*address, bytes_of(*value))),
            _ => OperationKind::Local,
        }
    }
}
