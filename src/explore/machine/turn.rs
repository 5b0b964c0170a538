//! A thread's turn: one visible operation and the local steps after it.

use std::sync::Arc;

use crate::explore::fault::Fault;
use crate::explore::sync::{BlockReason, ThreadId};
use crate::explore::value::Value;
use crate::program::{Function, Operand, SiteId};

use super::end::End;
use super::flow::Flow;
use super::observer::{Event, EventKind, Inputs, Observer};
use super::prepared::Prepared;
use super::thread::{FrameKind, Status, Thread};
use super::{LOCAL_STEPS, Machine};

/// What a transition came to.
#[derive(Clone, Debug, PartialEq)]
pub enum StepResult {
    /// The thread stands before its next visible operation, or the transition was cut.
    Progressed,
    /// The thread asks that others run first.
    Yielded,
    Blocked(BlockReason),
    ThreadFinished,
    /// The run is over; the machine keeps how.
    Ended,
}

/// Why a turn stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// Before a visible operation, which is not done.
    Visible,
    /// The bound on local steps was reached.
    Cut,
    Yielded,
    Blocked(BlockReason),
    ThreadFinished,
    Fault(Fault),
    End(End),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Stop::Fault(fault)
    }
}

/// A machine and the thread that acts in it.
pub(super) struct Turn<'m, 'p> {
    pub machine: &'m mut Machine<'p>,
    pub thread: &'m mut Thread,
    pub prepared: Arc<Prepared>,
    pub inputs: &'m mut dyn Inputs,
    pub observer: &'m mut dyn Observer,
    pub is_observed: bool,
    /// The visible operation of this transition is still to come.
    pub may_act: bool,
    /// The instruction that is executed.
    pub site: Option<SiteId>,
    /// Where the registers of the current frame begin.
    pub base: usize,
    /// Local steps until the cut.
    pub left: u64,
}

impl<'p> Machine<'p> {
    /// Runs one transition of a thread that is enabled.
    pub fn step(&mut self, thread: ThreadId, inputs: &mut dyn Inputs, observer: &mut dyn Observer) -> StepResult {
        let mut taken = std::mem::replace(&mut self.threads[thread.index()], self.hollow.clone());
        self.transitions += 1;
        let acting = Arc::make_mut(&mut taken);
        acting.status = Status::Runnable;
        let prepared = self.prepared.clone();
        let is_observed = observer.is_interested();
        let mut turn = Turn {
            machine: self,
            thread: acting,
            prepared,
            inputs,
            observer,
            is_observed,
            may_act: true,
            site: None,
            base: 0,
            left: LOCAL_STEPS,
        };
        let stop = turn.run();
        let site = turn.site;
        let left = turn.left;
        let result = match stop {
            Stop::Visible | Stop::Cut => StepResult::Progressed,
            Stop::Yielded => StepResult::Yielded,
            Stop::Blocked(reason) => {
                acting.status = Status::Blocked(reason);
                StepResult::Blocked(reason)
            }
            Stop::ThreadFinished => {
                acting.status = Status::Finished;
                StepResult::ThreadFinished
            }
            Stop::Fault(Fault::Assertion { what }) => self.finish(End::AssertionFailed { thread, site, what }),
            Stop::Fault(fault) => self.finish(End::Fault { thread, site, fault }),
            Stop::End(end) => self.finish(end),
        };
        self.steps += LOCAL_STEPS - left;
        self.threads[thread.index()] = taken;
        self.yielded.clear();
        if result == StepResult::Yielded {
            self.yielded.insert(thread);
        }
        result
    }

    fn finish(&mut self, end: End) -> StepResult {
        self.end = Some(end);
        StepResult::Ended
    }
}

impl<'p> Turn<'_, 'p> {
    fn run(&mut self) -> Stop {
        loop {
            let frame = self.thread.frames.last().expect("a thread that takes a turn has a frame");
            let result = match frame.kind {
                FrameKind::Code(_) => self.run_code(),
                FrameKind::Library(_) => self.run_library(),
                FrameKind::Native(_) => self.run_native(),
                FrameKind::Ending(_) => self.run_ending(),
            };
            if let Err(stop) = result {
                return stop;
            }
        }
    }

    /// Executes the innermost frame until another one is on top.
    fn run_code(&mut self) -> Result<(), Stop> {
        let depth = self.thread.frames.len() - 1;
        let FrameKind::Code(frame) = &self.thread.frames[depth].kind else { unreachable!("called for code frames only") };
        let function: &'p Function = &self.machine.program.functions[frame.function];
        self.base = frame.base;
        let (mut at, mut index) = (frame.block, frame.instruction);
        let mut block = &function.blocks[at];
        loop {
            let flow = match block.instructions.get(index) {
                Some(instruction) => {
                    self.site = Some(instruction.site);
                    self.count_step().and_then(|()| self.execute(function, instruction))
                }
                None => {
                    self.site = Some(block.terminator.site);
                    self.count_step().and_then(|()| self.terminate(function, at, &block.terminator))
                }
            };
            match flow {
                Ok(Flow::Next) => index += 1,
                Ok(Flow::Jump(target)) => {
                    at = target;
                    index = 0;
                    block = &function.blocks[at];
                }
                Ok(Flow::Called) => {
                    self.keep_position(depth, at, index + 1);
                    return Ok(());
                }
                Ok(Flow::Returned) => return Ok(()),
                Err(stop) => {
                    self.keep_position(depth, at, index);
                    return Err(stop);
                }
            }
        }
    }

    fn keep_position(&mut self, depth: usize, block: crate::program::BlockId, instruction: usize) {
        if let Some(FrameKind::Code(frame)) = self.thread.frames.get_mut(depth).map(|frame| &mut frame.kind) {
            frame.block = block;
            frame.instruction = instruction;
        }
    }

    #[inline]
    fn count_step(&mut self) -> Result<(), Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::Cut)?;
        Ok(())
    }

    /// Announces a visible operation: the first of the turn is done, before the second the turn ends.
    pub fn act(&mut self) -> Result<(), Stop> {
        if self.may_act {
            self.may_act = false;
            return Ok(());
        }
        if self.machine.is_alone() || self.machine.is_in_atomic_section(self.thread.id) {
            return Ok(());
        }
        Err(Stop::Visible)
    }

    #[inline]
    pub fn operand(&self, operand: Operand) -> &Value {
        match operand {
            Operand::Register(register) => &self.thread.registers[self.base + usize::from(register)],
            Operand::Constant(constant) => &self.prepared.constants[constant],
        }
    }

    pub fn observe(&mut self, kind: EventKind<'_>) {
        if self.is_observed {
            let event = Event { thread: self.thread.id, site: self.site, kind };
            self.observer.event(self.machine, &event);
        }
    }
}
