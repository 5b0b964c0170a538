//! The effects that are the machine's own: memory, inputs, assertions and the end of the process.

use crate::explore::environment::Environment;
use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::happens_before::AccessKind;
use crate::explore::sync::{SyncContext, SyncEvent};
use crate::explore::value::{Pointer, Value};
use crate::models::{AllocationResult, CallbackTime, Effect, ExitCode, FunctionModel, Range, SizeSource};
use crate::program::{AssumptionKind, Type};

use super::end::End;
use super::observer::EventKind;
use super::thread::{Ending, Frame, FrameKind};
use super::turn::{Stop, Turn};

/// What a function that returns memory of its own is taken to own: more than any structure it could fill.
const OWN_MEMORY_BYTES: u64 = 4096;

impl Turn<'_, '_> {
    /// Performs an effect that concerns no other thread. `frame` is the library function's, taken off the stack; it is put back.
    /// Whether to go on with the next effect.
    pub fn perform_own(
        &mut self,
        model: &FunctionModel,
        effect: &Effect,
        mut frame: Frame,
        return_type: Type,
    ) -> Result<bool, Stop> {
        let FrameKind::Library(library) = &mut frame.kind else { unreachable!("a library frame is performed") };
        library.effect += 1;
        let arguments = library.arguments.clone();
        let mut value = None;
        let mut goes_on = true;
        let mut pushed = None;
        match effect {
            Effect::Allocate { size, zeroed, align, result, is_linked: _ } => {
                value = Some(self.allocate_effect(&arguments, *size, *zeroed, *align, *result, return_type)?);
            }
            Effect::Reallocate { pointer, size } => {
                let size = self.size_of(&arguments, *size, None)?;
                value = Some(Value::pointer(self.reallocate(self.pointer_argument(&arguments, *pointer)?, size)?));
            }
            Effect::Free { pointer } => {
                let pointer = self.pointer_argument(&arguments, *pointer)?;
                Environment::free(self, pointer)?;
            }
            // Which addresses stand there, and how many, is not known here.
            Effect::Reads(range) | Effect::Writes(range) | Effect::ChooseBytes(range) if range.hops > 0 => {
                self.machine.assume(AssumptionKind::PartialModel, &model.name, self.site);
            }
            Effect::Reads(range) => {
                let (address, size) = self.range(model, &arguments, *range)?;
                if size > 0 {
                    Environment::read(self, address, size)?;
                }
            }
            Effect::Writes(range) => {
                let (address, size) = self.range(model, &arguments, *range)?;
                if size > 0 {
                    self.fill_bytes(address, None, size)?;
                }
            }
            Effect::Choose => value = self.choose_value(return_type, &model.name),
            Effect::ChooseBytes(range) => {
                let (address, size) = self.range(model, &arguments, *range)?;
                let bytes: Vec<u8> = (0..size).map(|_| self.choose(8, &model.name) as u8).collect();
                Environment::write(self, address, &bytes)?;
            }
            Effect::Assume { condition } => {
                if self.argument_number(&arguments, *condition)? == 0 {
                    return Err(Stop::End(End::Rejected));
                }
            }
            Effect::Assert { condition } => {
                if self.argument_number(&arguments, *condition)? == 0 {
                    return Err(Fault::Assertion { what: model.name.clone() }.into());
                }
            }
            Effect::Fail => return Err(Fault::Assertion { what: self.failure_text(model, &arguments) }.into()),
            Effect::Exit { code } => match code {
                ExitCode::Abort => return Err(Stop::End(End::Killed("SIGABRT"))),
                ExitCode::Immediate(code) => {
                    let code = self.argument_number(&arguments, *code)? as i32;
                    return Err(Stop::End(End::Exited(code & 0xff)));
                }
                ExitCode::Argument(code) => {
                    let code = self.argument_number(&arguments, *code)? as i32;
                    self.emit(SyncEvent::RunExitHandlers { thread: self.thread.id });
                    pushed = Some(FrameKind::Ending(Ending::Process { code, destructors_done: 0 }));
                    goes_on = false;
                }
            },
            // No loop runs that would call it.
            Effect::Callback { when: CallbackTime::Dispatched, .. } | Effect::Dispatch => {
                self.machine.assume(AssumptionKind::PartialModel, &model.name, self.site);
            }
            Effect::ReturnsOwnMemory => value = Some(Value::pointer(Environment::allocate(self, OWN_MEMORY_BYTES, true)?)),
            Effect::Callback { routine, arguments: positions, when, .. } => {
                let routine = self.pointer_argument(&arguments, *routine)?;
                let values: Vec<Value> = positions.iter().filter_map(|position| arguments.get(*position).cloned()).collect();
                match when {
                    CallbackTime::AtExit => {
                        self.machine.exit_handlers.push((routine, values));
                        self.emit(SyncEvent::RegisterExitHandler { thread: self.thread.id });
                        value = (return_type != Type::Void).then(|| Value::zero(return_type));
                    }
                    CallbackTime::During | CallbackTime::Dispatched => {
                        // How often it calls back is not known: once is assumed.
                        self.machine.assume(AssumptionKind::ExternalFunction, &model.name, self.site);
                        self.thread.frames.push(frame);
                        self.call_pointer(routine, values)?;
                        return Ok(false);
                    }
                }
            }
            Effect::InstallHandler { handler, signal, in_structure, old } => {
                let handler = self.pointer_argument(&arguments, *handler)?;
                let signal = signal.map(|position| self.argument_number(&arguments, position)).transpose()?;
                if *in_structure {
                    let old = old.map_or(Ok(Pointer::NULL), |position| self.pointer_argument(&arguments, position))?;
                    self.change_handler(signal, handler, old, &model.name)?;
                } else {
                    let before = self.install_handler(signal, handler, &model.name);
                    value = (return_type != Type::Void).then_some(before);
                }
            }
            Effect::SaveJump { buffer } => {
                let buffer = self.pointer_argument(&arguments, *buffer)?;
                self.save_jump(buffer)?;
                value = (return_type != Type::Void).then(|| Value::zero(return_type));
            }
            Effect::Jump { buffer, value } => {
                let buffer = self.pointer_argument(&arguments, *buffer)?;
                let value = self.argument_number(&arguments, *value)? as u32;
                self.jump(buffer, value)?;
                return Ok(false);
            }
            Effect::Unmodelled { unless_zero } => {
                let argument = unless_zero.map(|position| self.argument_number(&arguments, position)).transpose()?;
                if argument != Some(0) {
                    self.machine.assume(AssumptionKind::PartialModel, &model.name, self.site);
                }
            }
            // What the library keeps for itself is no memory of a run.
            Effect::HiddenState { .. } => {}
            Effect::NotComputed => self.machine.assume(AssumptionKind::NotComputed, &model.name, self.site),
            Effect::Returns { argument } => value = arguments.get(*argument).cloned(),
            Effect::ReturnsOneOf { values, first_if_zero } => {
                let argument = first_if_zero.map(|position| self.argument_number(&arguments, position)).transpose()?;
                let choice = if argument == Some(0) { 0 } else { self.choose_below(values.len(), &model.name) };
                value = values.get(choice).and_then(|number| number_as(*number, return_type));
            }
            Effect::ReturnsByLength { string, below, otherwise } => {
                let string = self.pointer_argument(&arguments, *string)?;
                let is_short = (self.text_at(string)?.len() as u64) < *below;
                value = number_as(if is_short { 0 } else { *otherwise }, return_type);
            }
            other => panic!("synchronisation performs {other:?}"),
        }
        if let FrameKind::Library(library) = &mut frame.kind
            && value.is_some()
        {
            library.value = value;
        }
        self.thread.frames.push(frame);
        if let Some(kind) = pushed {
            self.push_frame(kind, self.site);
        }
        Ok(goes_on)
    }

    pub fn pointer_argument(&self, arguments: &[Value], position: usize) -> Result<Pointer, Fault> {
        let value = arguments
            .get(position)
            .ok_or_else(|| Fault::undefined(format!("a library call without argument {}", position + 1)))?;
        let pointer = evaluate::as_pointer(value)?;
        Ok(Pointer { object: self.machine.object_of(pointer), ..pointer })
    }

    fn allocate_effect(
        &mut self,
        arguments: &[Value],
        size: SizeSource,
        zeroed: bool,
        align: Option<usize>,
        result: AllocationResult,
        return_type: Type,
    ) -> Result<Value, Stop> {
        let size = self.size_of(arguments, size, None)?;
        let pointer = match align {
            Some(align) => {
                let align = self.argument_number(arguments, align)? as u64;
                self.allocate_aligned(size, align.max(1).next_power_of_two())?
            }
            None => Environment::allocate(self, size, zeroed)?,
        };
        match result {
            AllocationResult::Returned => Ok(Value::pointer(pointer)),
            AllocationResult::StoredAt(place) => {
                let place = self.pointer_argument(arguments, place)?;
                let code = if pointer.is_null() { libc::ENOMEM } else { 0 };
                if !pointer.is_null() {
                    self.write_value(place, &Value::pointer(pointer), Type::POINTER, None)?;
                }
                Ok(match return_type {
                    Type::Scalar(crate::program::Scalar::Integer(bits)) => Value::integer(bits, code as u128),
                    other => Value::zero(other),
                })
            }
        }
    }

    fn reallocate(&mut self, old: Pointer, size: u64) -> Result<Pointer, Fault> {
        let new = Environment::allocate(self, size, false)?;
        if !old.is_null() && !new.is_null() {
            let kept = self.heap_size(old)?.min(size);
            if kept > 0 {
                self.copy_bytes(new, old, kept)?;
            }
            Environment::free(self, old)?;
        }
        Ok(new)
    }

    fn range(&mut self, model: &FunctionModel, arguments: &[Value], range: Range) -> Result<(Pointer, u64), Stop> {
        // The ranges of a function that is not computed are upper bounds: `fcntl` may have no such argument, or a number there.
        let is_bound = model.effects.contains(&Effect::NotComputed);
        let address = match arguments.get(range.argument) {
            None if is_bound => Pointer::NULL,
            _ => self.pointer_argument(arguments, range.argument)?,
        };
        if address.is_null() || is_bound && address.object.is_none() {
            return Ok((address, 0));
        }
        let size = self.size_of(arguments, range.size, Some(address))?;
        let most = if is_bound { self.machine.remaining_bytes(address)? } else { size };
        Ok((address, size.min(most)))
    }

    fn size_of(&mut self, arguments: &[Value], size: SizeSource, address: Option<Pointer>) -> Result<u64, Stop> {
        Ok(match size {
            SizeSource::Constant(size) => size,
            SizeSource::Argument(position) => self.argument_number(arguments, position)? as u64,
            SizeSource::Product(left, right) => {
                let product = self.argument_number(arguments, left)?.checked_mul(self.argument_number(arguments, right)?);
                product.and_then(|product| u64::try_from(product).ok()).unwrap_or(u64::MAX)
            }
            SizeSource::String(position) => {
                let string = self.pointer_argument(arguments, position)?;
                self.text_at(string)?.len() as u64 + 1
            }
            SizeSource::Unknown => match address {
                Some(address) => self.machine.remaining_bytes(address)?,
                None => return Err(Fault::undefined("an allocation of unknown size").into()),
            },
        })
    }

    /// The bytes of a string without its final 0; reading is recorded.
    fn text_at(&mut self, string: Pointer) -> Result<Vec<u8>, Fault> {
        let rest = self.machine.remaining_bytes(string)?;
        let mut bytes = self.machine.memory.read_bytes(string, rest)?;
        let Some(end) = bytes.iter().position(|byte| *byte == 0) else {
            let object = string.object.expect("a located pointer has an object");
            return Err(Fault::OutOfBounds { object, offset: self.machine.memory.object(object).size as i64, size: 1 });
        };
        bytes.truncate(end);
        let size = end as u64 + 1;
        self.record(string, size, AccessKind::Read)?;
        self.observe(EventKind::Read { address: string, size, value: None, ordering: None });
        Ok(bytes)
    }

    /// What `assert` was given, or the name of the function that was called.
    fn failure_text(&mut self, model: &FunctionModel, arguments: &[Value]) -> String {
        let text = self
            .pointer_argument(arguments, 0)
            .ok()
            .filter(|text| text.object.is_some())
            .and_then(|text| self.text_at(text).ok());
        text.map_or_else(|| model.name.clone(), |text| String::from_utf8_lossy(&text).into_owned())
    }
}

/// A number as a value of a function's return type.
fn number_as(number: i64, ty: Type) -> Option<Value> {
    match ty {
        Type::Void => None,
        Type::Scalar(crate::program::Scalar::Integer(bits)) => Some(Value::integer(bits, i128::from(number) as u128)),
        other => Some(Value::zero(other)),
    }
}
