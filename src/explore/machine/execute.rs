//! One instruction.

use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::memory::{Death, Fill, ObjectKind};
use crate::explore::value::{Pointer, Value};
use crate::program::{CastKind, Function, GlobalId, Instruction, Operand, Operation, RegisterId, Scope, Type};

use super::end::End;
use super::flow::Flow;
use super::turn::{Stop, Turn};

impl<'p> Turn<'_, 'p> {
    pub fn execute(&mut self, function: &'p Function, instruction: &'p Instruction) -> Result<Flow, Stop> {
        let result_type = || instruction.result.map_or(Type::Void, |register| function.registers[register].ty);
        let value = match &instruction.operation {
            Operation::Binary { op, flags, left, right } => {
                evaluate::binary(*op, *flags, self.operand(*left), self.operand(*right))?
            }
            Operation::Negate { value } => evaluate::negate(self.operand(*value))?,
            Operation::Compare { predicate, left, right } => {
                evaluate::compare(&self.machine.memory, *predicate, self.operand(*left), self.operand(*right))?
            }
            Operation::Cast { kind, value } => self.cast(*kind, *value, result_type())?,
            Operation::Select { condition, when_true, when_false } => {
                evaluate::select(self.operand(*condition), self.operand(*when_true), self.operand(*when_false))?
            }
            Operation::Offset { base, constant, terms, in_bounds: _, structure: _, target: _ } => {
                let terms = terms.iter().map(|term| (self.operand(term.index), term.stride));
                evaluate::offset(&self.machine.memory, self.operand(*base), *constant, terms)?
            }
            Operation::ExtractBytes { aggregate, offset } => {
                evaluate::extract_bytes(&self.machine.memory, self.operand(*aggregate), *offset, result_type())?
            }
            Operation::InsertBytes { aggregate, offset, value } => {
                let (aggregate, value) = (self.operand(*aggregate), self.operand(*value));
                evaluate::insert_bytes(&self.machine.memory, aggregate, *offset, value)?
            }
            Operation::ExtractLane { vector, lane } => evaluate::extract_lane(self.operand(*vector), self.operand(*lane))?,
            Operation::InsertLane { vector, value, lane } => {
                evaluate::insert_lane(self.operand(*vector), self.operand(*value), self.operand(*lane))?
            }
            Operation::Shuffle { left, right, mask } => evaluate::shuffle(self.operand(*left), self.operand(*right), mask)?,
            Operation::Freeze { value } => evaluate::freeze(self.operand(*value))?,
            Operation::Intrinsic { function, arguments } => {
                let arguments: smallvec::SmallVec<[&Value; 4]> =
                    arguments.iter().map(|argument| self.operand(*argument)).collect();
                evaluate::intrinsic(&self.machine.memory, *function, &arguments, result_type())?
            }
            Operation::StackAllocate { element_size, count, align } => {
                let count = evaluate::as_u128(self.operand(*count))? as u64;
                let size = element_size.checked_mul(count).ok_or(Fault::OutOfMemory { size: u64::MAX })?;
                Value::pointer(self.allocate_stack(size, *align)?)
            }
            // A mark that only `StackRestore` understands.
            Operation::StackSave => Value::pointer(Pointer { address: self.thread.stack.len() as u64 + 1, object: None }),
            Operation::StackRestore { saved } => {
                let mark = evaluate::as_pointer(self.operand(*saved))?.address;
                self.release_stack(mark.saturating_sub(1) as usize, Death::ScopeLeft);
                return Ok(Flow::Next);
            }
            Operation::LifetimeStart { address } => return self.lifetime(*address, true),
            Operation::LifetimeEnd { address } => return self.lifetime(*address, false),
            Operation::ThreadLocalAddress { global } => Value::pointer(self.thread_local(*global)?),
            Operation::Load { address, access } => {
                let address = evaluate::as_pointer(self.operand(*address))?;
                self.load_access(address, result_type(), access)?
            }
            Operation::Store { address, value, access } => {
                let address = evaluate::as_pointer(self.operand(*address))?;
                self.store_access(address, *value, self.machine.program.type_of(function, *value), access)?;
                return Ok(Flow::Next);
            }
            Operation::ReadModifyWrite { op, address, value, access } => {
                let address = evaluate::as_pointer(self.operand(*address))?;
                self.read_modify_write(*op, address, *value, access)?
            }
            Operation::CompareExchange { address, expected, replacement, access, failure, is_weak, success_offset } => {
                let address = evaluate::as_pointer(self.operand(*address))?;
                let (old, success) = self.compare_exchange(address, *expected, *replacement, access, *failure, *is_weak)?;
                let memory = &self.machine.memory;
                let pair = evaluate::insert_bytes(memory, &Value::undef(result_type()), 0, &old)?;
                evaluate::insert_bytes(memory, &pair, *success_offset, &Value::boolean(success))?
            }
            Operation::Fence { ordering, scope } => {
                if *scope == Scope::System {
                    self.fence(*ordering)?;
                }
                return Ok(Flow::Next);
            }
            Operation::CopyMemory { destination, source, size, may_overlap: _, is_volatile: _, is_assignment: _ } => {
                let (destination, source) = (self.operand(*destination).clone(), self.operand(*source).clone());
                let size = evaluate::as_u128(self.operand(*size))? as u64;
                if size > 0 {
                    self.copy_access(evaluate::as_pointer(&destination)?, evaluate::as_pointer(&source)?, size)?;
                }
                return Ok(Flow::Next);
            }
            Operation::SetMemory { destination, byte, size, is_volatile: _ } => {
                let size = evaluate::as_u128(self.operand(*size))? as u64;
                if size > 0 {
                    let destination = evaluate::as_pointer(self.operand(*destination))?;
                    let byte = self.operand(*byte);
                    let byte = if evaluate::used_undefined(byte) { None } else { Some(evaluate::as_u128(byte)? as u8) };
                    self.fill_access(destination, byte, size)?;
                }
                return Ok(Flow::Next);
            }
            Operation::MaskedLoad { address, mask, otherwise } => self.masked_load(*address, *mask, *otherwise)?,
            Operation::MaskedStore { address, mask, value } => {
                self.masked_store(*address, *mask, *value)?;
                return Ok(Flow::Next);
            }
            Operation::Call { callee, arguments, is_variadic: _ } => {
                return self.call_instruction(function, instruction, *callee, arguments);
            }
            Operation::InlineAssembly { text, arguments, may_store } => {
                if let Some(kind) = self.machine.program.assumption_of_assembly(function, text, arguments, *may_store) {
                    self.machine.assume(kind, text, self.site);
                }
                for argument in arguments {
                    let value = self.operand(*argument).clone();
                    self.escape(&value);
                }
                match instruction.result {
                    Some(register) => Value::undef(function.registers[register].ty),
                    None => return Ok(Flow::Next),
                }
            }
            Operation::VariadicStart { list } => {
                let list = evaluate::as_pointer(self.operand(*list))?;
                self.start_variadic(list)?;
                return Ok(Flow::Next);
            }
            Operation::VariadicCopy { to, from } => {
                let (to, from) = (self.operand(*to).clone(), self.operand(*from).clone());
                let size = if self.machine.program.layout.pointer_bytes == 4 { 4 } else { 24 };
                self.copy_access(evaluate::as_pointer(&to)?, evaluate::as_pointer(&from)?, size)?;
                return Ok(Flow::Next);
            }
            Operation::VariadicEnd { list: _ } => return Ok(Flow::Next),
            Operation::VariadicNext { list } => {
                let list = evaluate::as_pointer(self.operand(*list))?;
                super::variadic::next(self, list, result_type())?
            }
            Operation::Assume { condition } => {
                let condition = self.operand(*condition);
                if !evaluate::used_undefined(condition) && !evaluate::truth(condition) {
                    return Err(Fault::undefined("what the compiler was promised does not hold").into());
                }
                return Ok(Flow::Next);
            }
            Operation::Trap => return Err(Stop::End(End::Killed("SIGILL"))),
            // Opaque: grows downwards with the depth, names no object.
            Operation::FrameAddress => {
                Value::pointer(Pointer { address: 0xF000 - self.thread.frames.len() as u64 % 0xF00 * 16, object: None })
            }
            Operation::CycleCounter => match result_type() {
                Type::Scalar(crate::program::Scalar::Integer(bits)) => {
                    Value::integer(bits, u128::from(self.machine.steps + super::LOCAL_STEPS - self.left))
                }
                other => Value::undef(other),
            },
        };
        if let Some(register) = instruction.result {
            self.set_register(register, value);
        }
        Ok(Flow::Next)
    }

    #[inline]
    pub fn set_register(&mut self, register: RegisterId, value: Value) {
        self.thread.registers[self.base + usize::from(register)] = value;
    }

    /// A pointer that becomes a number can come back as a pointer anywhere.
    fn cast(&mut self, kind: CastKind, value: Operand, ty: Type) -> Result<Value, Stop> {
        if matches!(kind, CastKind::PointerToInteger | CastKind::Bitcast) {
            let value = self.operand(value).clone();
            self.escape(&value);
        }
        Ok(evaluate::cast(&self.machine.memory, kind, self.operand(value), ty)?)
    }

    pub fn allocate_stack(&mut self, size: u64, align: u64) -> Result<Pointer, Fault> {
        let site = self.site.expect("stack objects are made by instructions");
        let kind = ObjectKind::Stack { thread: self.thread.id.0, site };
        let pointer = self.machine.memory.allocate(kind, size, align, Fill::Undef)?;
        self.thread.stack.push(pointer.object.expect("an allocation has an object"));
        Ok(pointer)
    }

    fn lifetime(&mut self, address: Operand, begins: bool) -> Result<Flow, Stop> {
        let address = evaluate::as_pointer(self.operand(address))?;
        if let Some(object) = address.object
            && let ObjectKind::Stack { .. } = self.machine.memory.object(object).kind
        {
            if begins {
                self.machine.memory.revive(object);
                self.machine.detector.begin_object(object);
            } else {
                self.record_end(object);
                self.machine.memory.release(object, Death::ScopeLeft);
            }
        }
        Ok(Flow::Next)
    }

    /// The thread's instance of a thread-local global, made at its first use.
    fn thread_local(&mut self, global: GlobalId) -> Result<Pointer, Fault> {
        if let Some((_, pointer)) = self.thread.thread_locals.iter().find(|(known, _)| *known == global) {
            return Ok(*pointer);
        }
        let kind = ObjectKind::ThreadLocal { global, thread: self.thread.id.0 };
        let program = self.machine.program;
        let pointer = super::setup::make_global(&mut self.machine.memory, &program.globals[global], kind)?;
        super::setup::initialize(&mut self.machine.memory, &program.globals[global], pointer, &*self.prepared)?;
        self.thread.thread_locals.push((global, pointer));
        Ok(pointer)
    }
}
