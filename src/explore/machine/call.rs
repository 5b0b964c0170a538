//! Calls: of the program's functions, of library functions, and of what is unknown.

use crate::explore::builtins::{self, BuiltinResult};
use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::memory::ObjectKind;
use crate::explore::sync::{self, Resume};
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::models::builtin::Builtin;
use crate::program::{Argument, AssumptionKind, Callee, Function, FunctionId, Instruction, Scalar, Type};

use super::conversion::conform;
use super::flow::Flow;
use super::native::NativeStep;
use super::observer::EventKind;
use super::prepared::Callable;
use super::thread::{CodeFrame, Frame, FrameKind, LibraryFrame, NativeActivation};
use super::turn::{Stop, Turn};
use super::variadic::{Position, SAVE_AREA_BYTES, VariadicArgument, place};

/// What fresh registers hold; nothing reads it.
const EMPTY: Value = Value::Scalar(ScalarValue::Undef(Scalar::Integer(1)));

impl<'p> Turn<'_, 'p> {
    pub fn call_instruction(
        &mut self,
        caller: &'p Function,
        instruction: &'p Instruction,
        callee: Callee,
        arguments: &'p [Argument],
    ) -> Result<Flow, Stop> {
        let callee = match callee {
            Callee::Direct(function) => function,
            Callee::Indirect(address) => self.function_at(evaluate::as_pointer(self.operand(address))?)?,
        };
        let prepared = self.prepared.clone();
        match &prepared.callables[callee] {
            Callable::Body { is_atomic } => {
                if *is_atomic {
                    self.act()?;
                } else {
                    self.act_on_copies(arguments)?;
                }
                let values = arguments.iter().map(|argument| self.operand(argument.value).clone());
                let values: smallvec::SmallVec<[Value; 6]> = values.collect();
                let by_value = |position: usize| arguments.get(position).and_then(|argument| argument.by_value);
                let frame = self.enter(callee, *is_atomic, values, by_value)?;
                self.thread.frames.push(Frame { kind: frame, call_site: self.site, result: instruction.result });
                Ok(Flow::Called)
            }
            Callable::Builtin(builtin) => {
                let values: smallvec::SmallVec<[Value; 6]> =
                    arguments.iter().map(|argument| self.operand(argument.value).clone()).collect();
                self.act_on_values(&values)?;
                let return_type = instruction.result.map_or(Type::Void, |register| caller.registers[register].ty);
                match self.run_builtin(callee, *builtin, &values, return_type)? {
                    BuiltinResult::Return(value) => {
                        if let Some(register) = instruction.result {
                            let value = conform(&self.machine.memory, value, caller.registers[register].ty);
                            self.set_register(register, value);
                        }
                        Ok(Flow::Next)
                    }
                    BuiltinResult::Frame(frame) => {
                        let kind = FrameKind::Native(NativeActivation { frame, last: None });
                        self.thread.frames.push(Frame { kind, call_site: self.site, result: instruction.result });
                        Ok(Flow::Called)
                    }
                }
            }
            Callable::Library(_) => {
                let values = arguments.iter().map(|argument| self.operand(argument.value).clone()).collect();
                let kind = library_frame(callee, values);
                self.thread.frames.push(Frame { kind, call_site: self.site, result: instruction.result });
                Ok(Flow::Called)
            }
            Callable::Unknown => {
                let values: Vec<Value> = arguments.iter().map(|argument| self.operand(argument.value).clone()).collect();
                self.call_unknown(callee, &values);
                if let Some(register) = instruction.result {
                    self.set_register(register, Value::undef(caller.registers[register].ty));
                }
                Ok(Flow::Next)
            }
        }
    }

    /// The function whose address this is.
    fn function_at(&self, address: Pointer) -> Result<FunctionId, Fault> {
        let object = self.machine.object_of(address).map(|object| self.machine.memory.object(object));
        match object.map(|object| (object.kind, object.base)) {
            Some((ObjectKind::Function(function), base)) if base == address.address => Ok(function),
            _ if address.is_null() => Err(Fault::NullDereference { address: 0 }),
            _ => Err(Fault::undefined("a call through a pointer that is no function")),
        }
    }

    /// Pushes a frame that calls a function by its address, from a frame that is no code.
    pub fn call_pointer(&mut self, function: Pointer, arguments: Vec<Value>) -> Result<(), Stop> {
        let callee = self.function_at(function)?;
        let prepared = self.prepared.clone();
        let kind = match &prepared.callables[callee] {
            Callable::Body { is_atomic } => self.enter(callee, *is_atomic, arguments.into(), |_| None)?,
            Callable::Builtin(_) | Callable::Library(_) | Callable::Unknown => library_frame(callee, arguments),
        };
        self.push_frame(kind, self.site);
        Ok(())
    }

    /// Copies of structs read memory: that must be the turn's one visible operation.
    fn act_on_copies(&mut self, arguments: &[Argument]) -> Result<(), Stop> {
        if self.machine.is_alone() || arguments.iter().all(|argument| argument.by_value.is_none()) {
            return Ok(());
        }
        let copied = arguments.iter().filter(|argument| argument.by_value.is_some());
        let sources: Result<Vec<Pointer>, Fault> =
            copied.map(|argument| evaluate::as_pointer(self.operand(argument.value))).collect();
        self.act_on(&sources?)
    }

    /// A library function that gets pointers into shared memory is a visible operation.
    pub fn act_on_values(&mut self, values: &[Value]) -> Result<(), Stop> {
        if self.machine.is_alone() {
            return Ok(());
        }
        let pointer_of = |value: &Value| match value {
            Value::Scalar(ScalarValue::Pointer(pointer)) if !pointer.is_null() => Some(*pointer),
            _ => None,
        };
        let pointers: smallvec::SmallVec<[Pointer; 6]> = values.iter().filter_map(pointer_of).collect();
        self.act_on(&pointers)
    }

    pub fn run_builtin(
        &mut self,
        function: FunctionId,
        builtin: Builtin,
        values: &[Value],
        return_type: Type,
    ) -> Result<BuiltinResult, Stop> {
        self.observe(EventKind::LibraryCall { function, arguments: values });
        if builtin == Builtin::Strtok {
            // It knows the string until the next call.
            values.iter().for_each(|value| self.escape(value));
        }
        let types: smallvec::SmallVec<[Type; 6]> = values.iter().map(Value::type_of).collect();
        let result = builtins::call(builtin, self, values, &types, return_type)?;
        if let BuiltinResult::Return(value) = &result {
            self.observe(EventKind::LibraryReturn { function, value: value.as_ref() });
        }
        Ok(result)
    }

    /// Registers, copies and variadic arguments of a new activation.
    fn enter(
        &mut self,
        callee: FunctionId,
        is_atomic: bool,
        arguments: smallvec::SmallVec<[Value; 6]>,
        by_value: impl Fn(usize) -> Option<crate::program::function::ByValue>,
    ) -> Result<FrameKind, Stop> {
        let function: &'p Function = &self.machine.program.functions[callee];
        let stack_mark = self.thread.stack.len();
        let base = self.thread.registers.len();
        self.thread.registers.resize(base + function.registers.len(), EMPTY);
        let mut arguments = arguments.into_iter();
        for parameter in &function.parameters {
            let register = usize::from(parameter.register);
            let ty = function.registers[parameter.register].ty;
            let value = conform(&self.machine.memory, arguments.next(), ty);
            let value = match parameter.by_value {
                Some(copy) => Value::pointer(self.copy_argument(&value, copy)?),
                None => value,
            };
            self.thread.registers[base + register] = value;
        }
        let mut variadic = Vec::new();
        if function.is_variadic {
            for (position, value) in arguments.enumerate() {
                let by_value = by_value(function.parameters.len() + position);
                let value = match by_value {
                    Some(copy) => Value::pointer(self.copy_argument(&value, copy)?),
                    None => value,
                };
                variadic.push(VariadicArgument { ty: value.type_of(), value, by_value });
            }
        }
        self.observe(EventKind::Call { function: callee });
        if is_atomic {
            let thread = self.thread.id;
            sync::begin_atomic_body(self, thread);
        }
        self.thread.activations += 1;
        Ok(FrameKind::Code(CodeFrame {
            function: callee,
            block: function.entry(),
            instruction: 0,
            base,
            stack_mark,
            activation: self.thread.activations,
            variadic,
            is_atomic,
            stack: None,
        }))
    }

    fn copy_argument(&mut self, source: &Value, copy: crate::program::function::ByValue) -> Result<Pointer, Fault> {
        let source = evaluate::as_pointer(source)?;
        let target = self.allocate_stack(copy.size, copy.align)?;
        if copy.size > 0 {
            self.copy_bytes(target, source, copy.size)?;
        }
        Ok(target)
    }

    /// A function without body and model: it may keep what it gets, and it does nothing that is known.
    pub fn call_unknown(&mut self, function: FunctionId, arguments: &[Value]) {
        let name = &self.machine.program.functions[function].name;
        self.machine.assume(AssumptionKind::ExternalFunction, name, self.site);
        for argument in arguments {
            self.escape(argument);
        }
    }

    /// Resumes a library function that calls back.
    pub fn run_native(&mut self) -> Result<(), Stop> {
        let frame = self.thread.frames.last().expect("called for a native frame");
        self.site = frame.call_site;
        if matches!(&frame.kind, FrameKind::Native(native) if native.frame.is_visible()) {
            self.act()?;
        }
        let mut frame = self.thread.frames.pop().expect("called for a native frame");
        let FrameKind::Native(native) = &mut frame.kind else { unreachable!("called for native frames only") };
        let last = native.last.take();
        match native.frame.resume(self, last)? {
            NativeStep::Call { function, arguments } => {
                self.thread.frames.push(frame);
                self.call_pointer(function, arguments)
            }
            NativeStep::Return(value) => {
                self.deliver(&frame, value);
                Ok(())
            }
        }
    }

    /// `va_start`: the areas that compiled code will walk through.
    pub fn start_variadic(&mut self, list: Pointer) -> Result<(), Stop> {
        let Some(FrameKind::Code(frame)) = self.thread.frames.last().map(|frame| &frame.kind) else {
            unreachable!("an instruction runs in a code frame")
        };
        let variadic = frame.variadic.clone();
        let layout = &self.machine.program.layout;
        let function = &self.machine.program.functions[frame.function];
        let fixed = |parameter: &crate::program::Parameter| match parameter.by_value {
            Some(_) => None,
            None => Some(function.registers[parameter.register].ty),
        };
        let fixed: Vec<Option<Type>> = function.parameters.iter().map(fixed).collect();
        let placement = place(&fixed, &variadic, layout);
        let is_narrow = layout.pointer_bytes == 4;
        let save_area = if is_narrow { Pointer::NULL } else { self.allocate_stack(SAVE_AREA_BYTES, 16)? };
        let overflow = self.allocate_stack(placement.overflow_bytes, 16)?;
        for (argument, position) in variadic.iter().zip(&placement.positions) {
            let address = match position {
                Position::SaveArea(offset) => save_area.plus(*offset),
                Position::Overflow(offset) => overflow.plus(*offset),
            };
            match argument.by_value {
                Some(copy) if copy.size > 0 => self.copy_bytes(address, evaluate::as_pointer(&argument.value)?, copy.size)?,
                Some(_) => {}
                None => self.write_value(address, &argument.value, argument.ty, None)?,
            }
        }
        if is_narrow {
            return Ok(self.write_value(list, &Value::pointer(overflow), Type::POINTER, None)?);
        }
        let word = Type::integer(32);
        self.write_value(list, &Value::integer(32, u128::from(placement.gp_offset)), word, None)?;
        self.write_value(list.plus(4), &Value::integer(32, u128::from(placement.fp_offset)), word, None)?;
        self.write_value(list.plus(8), &Value::pointer(overflow), Type::POINTER, None)?;
        Ok(self.write_value(list.plus(16), &Value::pointer(save_area), Type::POINTER, None)?)
    }
}

/// The outermost frame of a new thread: calls the entry and returns what it returns.
pub(super) fn entry_frame(entry: Pointer, argument: Option<Value>) -> Frame {
    let arguments = argument.into_iter().collect();
    let frame = super::native::Entry::new(vec![(entry, arguments)]);
    Frame { kind: FrameKind::Native(NativeActivation { frame: Box::new(frame), last: None }), call_site: None, result: None }
}

fn library_frame(function: FunctionId, arguments: Vec<Value>) -> FrameKind {
    FrameKind::Library(LibraryFrame { function, arguments, effect: 0, resume: Resume::Start, value: None })
}
