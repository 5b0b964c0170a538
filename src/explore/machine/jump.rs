//! `setjmp` and `longjmp`.
//!
//! The buffer itself holds where to go back to, so that a copy of it works as natively and no table grows: a mark, the thread, the
//! number of the activation that called `setjmp`, the position behind the call, and how many stack objects there were.
//!
//! # What registers hold after a jump
//! They keep what they hold. Of the locals of the function that called `setjmp`, C defines the value of those that are volatile or
//! were not changed since. Volatile ones live in memory, which no jump restores; a register that was not written since holds
//! what it held. All others are indeterminate in C, natively too.
//!
//! # Undefined, and so a fault
//! A buffer that `setjmp` did not fill, one of another thread, an activation that has returned, a scope with an array of variable
//! size that has been left, and a jump out of what runs at the end of a thread or the process.

use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::memory::Death;
use crate::explore::sync::{self, Resume};
use crate::explore::value::{Pointer, Value};
use crate::program::BlockId;

use super::conversion::conform;
use super::observer::EventKind;
use super::thread::{CodeFrame, FrameKind};
use super::turn::{Stop, Turn};

/// Begins a buffer that `setjmp` filled.
const MARK: u32 = 0x6a6d_7001;
/// In words of a pointer's size: as many as i386 has registers to save.
const WORDS: usize = 6;

impl Turn<'_, '_> {
    /// Writes where the innermost function goes on into the buffer. The library function's own frame is off the stack.
    pub fn save_jump(&mut self, buffer: Pointer) -> Result<(), Stop> {
        let Some(FrameKind::Code(caller)) = self.thread.frames.last().map(|frame| &frame.kind) else {
            return Err(Fault::undefined("a setjmp that no function of the program calls").into());
        };
        let stack = self.thread.stack.len() as u32;
        let position = [usize::from(caller.block) as u32, caller.instruction as u32, stack];
        let words = [MARK, self.thread.id.0, caller.activation as u32, position[0], position[1], position[2]];
        let width = self.machine.program.layout.pointer_bytes as usize;
        let mut bytes = vec![0; saved_bytes(width).min(self.machine.remaining_bytes(buffer)? as usize).max(WORDS * width)];
        for (place, word) in bytes.chunks_mut(width).zip(words) {
            place[..4].copy_from_slice(&word.to_le_bytes());
        }
        Ok(Environment::write(self, buffer, &bytes)?)
    }

    /// Goes back to where `setjmp` returned: every frame above goes, its stack objects and its atomic section end.
    pub fn jump(&mut self, buffer: Pointer, value: u32) -> Result<(), Stop> {
        let [mark, thread, activation, block, instruction, stack] = self.saved_words(buffer)?;
        if mark != MARK {
            return Err(Fault::undefined("a longjmp with a buffer that no setjmp has filled").into());
        }
        if thread != self.thread.id.0 {
            return Err(Fault::undefined("a longjmp with a buffer that another thread has filled").into());
        }
        let is_target = |kind: &FrameKind| matches!(kind, FrameKind::Code(code) if code.activation as u32 == activation);
        let Some(target) = self.thread.frames.iter().rposition(|frame| is_target(&frame.kind)) else {
            return Err(Fault::undefined("a longjmp into a function that has returned").into());
        };
        if self.thread.frames[target + 1..].iter().any(|frame| is_at_the_end(&frame.kind)) {
            return Err(Fault::undefined("a longjmp out of what runs when a thread or the process ends").into());
        }
        while self.thread.frames.len() > target + 1 {
            let frame = self.thread.frames.pop().expect("the target is below");
            if let FrameKind::Code(code) = &frame.kind {
                self.observe(EventKind::Return { function: code.function, value: None });
                self.leave_code(code, None);
            }
        }
        let stack = stack as usize;
        if self.thread.stack.len() < stack {
            return Err(Fault::undefined("a longjmp into a scope that has been left").into());
        }
        self.release_stack(stack, Death::ScopeLeft);
        let program = self.machine.program;
        let Some(FrameKind::Code(code)) = self.thread.frames.last_mut().map(|frame| &mut frame.kind) else {
            unreachable!("the target is a code frame")
        };
        (code.block, code.instruction) = (BlockId::from(block as usize), instruction as usize);
        let function = &program.functions[code.function];
        let call = &function.blocks[code.block].instructions[code.instruction - 1];
        if let Some(register) = call.result {
            let value = Value::integer(32, u128::from(if value == 0 { 1 } else { value }));
            let value = conform(&self.machine.memory, Some(value), function.registers[register].ty);
            self.thread.registers[code.base + usize::from(register)] = value;
        }
        Ok(())
    }

    fn saved_words(&mut self, buffer: Pointer) -> Result<[u32; WORDS], Fault> {
        let width = self.machine.program.layout.pointer_bytes as usize;
        let bytes = Environment::read(self, buffer, (WORDS * width) as u64)?;
        let word = |index: usize| bytes[index * width..][..4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        Ok(std::array::from_fn(word))
    }

    /// What an activation of the program's function has goes with it.
    pub fn leave_code(&mut self, code: &CodeFrame, returned: Option<&Value>) {
        self.leave_stack(code.stack_mark, returned);
        self.thread.registers.truncate(code.base);
        if code.is_atomic {
            let thread = self.thread.id;
            sync::end_atomic_body(self, thread);
        }
    }
}

/// glibc saves 8 registers on x86-64, 6 on i386, and then whether the signal mask was saved.
fn saved_bytes(width: usize) -> usize {
    if width == 8 { 64 + 4 } else { 24 + 4 }
}

/// Exit routines, destructors and cleanup handlers stand above such a frame.
fn is_at_the_end(kind: &FrameKind) -> bool {
    match kind {
        FrameKind::Ending(_) => true,
        FrameKind::Library(library) => matches!(library.resume, Resume::Exit(_)),
        FrameKind::Code(_) | FrameKind::Native(_) => false,
    }
}
