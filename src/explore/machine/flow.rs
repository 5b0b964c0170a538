//! How control moves: jumps with their phis, returns, and what becomes of a returned value.

use smallvec::SmallVec;

use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::memory::{Death, ObjectKind};
use crate::explore::scheduler::InputRequest;
use crate::explore::sync::{Resume, ThreadId};
use crate::explore::value::{ObjectId, ScalarValue, Value};
use crate::program::{AssumptionKind, BlockId, Function, Operand, Phi, SiteId, Terminator, TerminatorKind};

use super::conversion::conform;
use super::observer::EventKind;
use super::prepared::FEW_CASES;
use super::thread::{Ending, Frame, FrameKind};
use super::turn::{Stop, Turn};

/// Where execution goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flow {
    Next,
    Jump(BlockId),
    /// A new frame is on top; the caller goes on behind the call.
    Called,
    /// The frame is gone.
    Returned,
}

impl<'p> Turn<'_, 'p> {
    pub fn terminate(&mut self, function: &'p Function, from: BlockId, terminator: &'p Terminator) -> Result<Flow, Stop> {
        let target = match &terminator.kind {
            TerminatorKind::Return(value) => return self.return_from_code(*value),
            TerminatorKind::Jump(target) => *target,
            TerminatorKind::Branch { condition, when_true, when_false } => {
                let condition = self.operand(*condition);
                refuse_poison(condition)?;
                if evaluate::truth(condition) { *when_true } else { *when_false }
            }
            TerminatorKind::Switch { value, cases, default } => {
                let value = self.operand(*value);
                refuse_poison(value)?;
                let number = evaluate::as_u128(value)?;
                if cases.len() > FEW_CASES
                    && let Some(FrameKind::Code(code)) = self.thread.frames.last().map(|frame| &frame.kind)
                    && let Some(table) = self.prepared.switches.get(&(code.function, from))
                {
                    let target = table.get(&number).copied().unwrap_or(*default);
                    return Ok(self.jump_to(function, from, target));
                }
                let matches = |constant| matches!(&self.prepared.constants[constant], Value::Scalar(ScalarValue::Integer { value, .. }) if *value == number);
                cases.iter().find(|(case, _)| matches(*case)).map_or(*default, |(_, target)| *target)
            }
            TerminatorKind::IndirectJump { address, targets } => {
                let address = evaluate::as_pointer(self.operand(*address))?;
                let block = address.object.map(|object| self.machine.memory.object(object).kind);
                match block {
                    Some(ObjectKind::Block(_, block)) if targets.contains(&block) => block,
                    _ => return Err(Fault::undefined("a computed goto to what is no label of it").into()),
                }
            }
            TerminatorKind::AnyOf(targets) => {
                self.machine.assume(AssumptionKind::InlineAssembly, "asm goto", Some(terminator.site));
                let choice = self.choose_below(targets.len(), "target of asm goto");
                targets[choice]
            }
            TerminatorKind::Unreachable => return Err(Fault::undefined("a point that cannot be reached").into()),
        };
        Ok(self.jump_to(function, from, target))
    }

    #[inline]
    fn jump_to(&mut self, function: &'p Function, from: BlockId, target: BlockId) -> Flow {
        let phis = &function.blocks[target].phis;
        if !phis.is_empty() {
            self.enter_phis(phis, &function.blocks[target].predecessors, from);
        }
        Flow::Jump(target)
    }

    /// A number below `count`, as an input.
    pub fn choose_below(&mut self, count: usize, what: &str) -> usize {
        if count < 2 {
            return 0;
        }
        let bits = usize::BITS - (count - 1).leading_zeros();
        let value = self.inputs.input(&InputRequest { bits, bound: Some(count as u128), what }) as usize;
        self.observe(EventKind::Choice { what, bits, value: value as u128 });
        value
    }

    /// All phis read before any is written.
    fn enter_phis(&mut self, phis: &[Phi], predecessors: &[BlockId], from: BlockId) {
        let position = predecessors.binary_search(&from).expect("a block lists the blocks that jump to it");
        if let [phi] = phis {
            let value = self.operand(phi.operands[position]).clone();
            self.thread.registers[self.base + usize::from(phi.result)] = value;
            return;
        }
        let values: SmallVec<[Value; 8]> = phis.iter().map(|phi| self.operand(phi.operands[position]).clone()).collect();
        for (phi, value) in phis.iter().zip(values) {
            self.thread.registers[self.base + usize::from(phi.result)] = value;
        }
    }

    fn return_from_code(&mut self, value: Option<Operand>) -> Result<Flow, Stop> {
        let value = value.map(|operand| self.operand(operand).clone());
        let frame = self.thread.frames.pop().expect("a returning function has a frame");
        let FrameKind::Code(code) = &frame.kind else { unreachable!("only code returns by an instruction") };
        if self.is_observed {
            self.observe(EventKind::Return { function: code.function, value: value.as_ref() });
        }
        self.leave_code(code, value.as_ref());
        self.deliver(&frame, value);
        Ok(Flow::Returned)
    }

    /// Ends the stack objects made since there were `mark` of them.
    pub fn release_stack(&mut self, mark: usize, death: Death) {
        while self.thread.stack.len() > mark {
            let object = self.thread.stack.pop().expect("the stack is longer than the mark");
            self.record_end(object);
            self.machine.memory.release(object, death);
        }
    }

    /// The same for the stack objects of a function that is left. What nothing can point to any more gives its place to later ones.
    /// Pointers to them may be in memory, which marks them as escaped, and in what the function returns; its registers are gone.
    pub fn leave_stack(&mut self, mark: usize, returned: Option<&Value>) {
        while self.thread.stack.len() > mark {
            let object = self.thread.stack.pop().expect("the stack is longer than the mark");
            self.record_end(object);
            self.machine.memory.release(object, Death::ScopeLeft);
            if !returned.is_some_and(|value| points_to(value, object)) {
                self.machine.memory.retire(object);
            }
        }
    }

    /// Gives what a frame that is gone returned to the frame below.
    pub fn deliver(&mut self, gone: &Frame, value: Option<Value>) {
        match self.thread.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Code(caller)) => {
                let Some(register) = gone.result else { return };
                let ty = self.machine.program.functions[caller.function].registers[register].ty;
                let value = conform(&self.machine.memory, value, ty);
                self.thread.registers[caller.base + usize::from(register)] = value;
            }
            Some(FrameKind::Native(native)) => native.last = value,
            Some(FrameKind::Library(_) | FrameKind::Ending(_)) => {}
            None => self.entry_returned(value),
        }
    }

    /// The outermost function of a thread has returned.
    fn entry_returned(&mut self, value: Option<Value>) {
        let ending = if self.thread.id == ThreadId::MAIN && self.machine.options.beside.is_empty() {
            let code = value.and_then(|value| evaluate::as_u128(&value).ok()).unwrap_or(0);
            Ending::Process { code: code as i32, destructors_done: 0 }
        } else {
            Ending::Thread { value, resume: Resume::Start }
        };
        self.push_frame(FrameKind::Ending(ending), None);
    }

    pub fn push_frame(&mut self, kind: FrameKind, call_site: Option<SiteId>) {
        self.thread.frames.push(Frame { kind, call_site, result: None });
    }
}

fn points_to(value: &Value, object: ObjectId) -> bool {
    let is_there = |scalar: &ScalarValue| matches!(scalar, ScalarValue::Pointer(pointer) if pointer.object == Some(object));
    match value {
        Value::Scalar(scalar) => is_there(scalar),
        Value::Vector(lanes) => lanes.iter().any(is_there),
        Value::Aggregate(bytes) => bytes.pointers.iter().any(|(_, target)| *target == object),
    }
}

fn refuse_poison(value: &Value) -> Result<(), Fault> {
    match value {
        Value::Scalar(ScalarValue::Poison(_)) => {
            Err(Fault::undefined("a branch that depends on the result of undefined arithmetic"))
        }
        _ => Ok(()),
    }
}
