//! Library functions that are executed effect by effect: synchronisation first, then what their builtin does.

use crate::explore::builtins::BuiltinResult;
use crate::explore::evaluate;
use crate::explore::memory::Death;
use crate::explore::sync::{self, EffectOutcome, Resume, ThreadStatus};
use crate::explore::value::Value;
use crate::models::{CallbackTime, Effect, FunctionModel};
use crate::program::Type;

use super::end::End;
use super::observer::EventKind;
use super::prepared::{Callable, is_done_by_builtin};
use super::thread::{Ending, Frame, FrameKind, LibraryFrame, NativeActivation};
use super::turn::{Stop, Turn};

impl Turn<'_, '_> {
    pub fn run_library(&mut self) -> Result<(), Stop> {
        let frame = self.thread.frames.last().expect("called for a library frame");
        self.site = frame.call_site;
        let FrameKind::Library(library) = &frame.kind else { unreachable!("called for library frames only") };
        let function = library.function;
        let prepared = self.prepared.clone();
        match &prepared.callables[function] {
            Callable::Library(model) => self.run_effects(model),
            Callable::Builtin(builtin) => {
                let arguments = library.arguments.clone();
                self.act_on_values(&arguments)?;
                let return_type = self.machine.program.functions[function].return_type;
                let result = self.run_builtin(function, *builtin, &arguments, return_type)?;
                self.replace_library_frame(result);
                Ok(())
            }
            Callable::Unknown => {
                let arguments = library.arguments.clone();
                self.call_unknown(function, &arguments);
                let frame = self.thread.frames.pop().expect("called for a library frame");
                self.deliver(&frame, None);
                Ok(())
            }
            Callable::Body { .. } => unreachable!("a function with a body has a code frame"),
        }
    }

    fn run_effects(&mut self, model: &FunctionModel) -> Result<(), Stop> {
        loop {
            let Some(FrameKind::Library(library)) = self.thread.frames.last().map(|frame| &frame.kind) else {
                unreachable!("the library frame is on top")
            };
            let Some(effect) = model.effects.get(library.effect) else {
                return self.finish_library(model);
            };
            if model.builtin.is_some() && is_done_by_builtin(effect) {
                self.library_frame().effect += 1;
                continue;
            }
            if is_visible(effect) {
                self.act()?;
            } else if touches_memory(effect) {
                let arguments = library.arguments.clone();
                self.act_on_values(&arguments)?;
            }
            if !self.perform(model, effect)? {
                return Ok(());
            }
        }
    }

    /// Performs the current effect of the library function on top; whether to go on with the next.
    fn perform(&mut self, model: &FunctionModel, effect: &Effect) -> Result<bool, Stop> {
        let mut frame = self.thread.frames.pop().expect("the library frame is on top");
        let FrameKind::Library(library) = &mut frame.kind else { unreachable!("the library frame is on top") };
        let return_type = self.machine.program.functions[library.function].return_type;
        let resume = std::mem::take(&mut library.resume);
        if library.effect == 0 && resume == Resume::Start {
            self.observe(EventKind::LibraryCall { function: library.function, arguments: &library.arguments });
        }
        if keeps_arguments(effect) {
            for argument in &library.arguments {
                self.escape(argument);
            }
        }
        let call = sync::Call { effect, arguments: &library.arguments, return_type };
        let thread = self.thread.id;
        match sync::perform(self, thread, call, resume)? {
            EffectOutcome::Done(value) => {
                complete(library, value);
                self.thread.frames.push(frame);
                Ok(true)
            }
            EffectOutcome::Yielded(value) => {
                complete(library, value);
                self.thread.frames.push(frame);
                Err(Stop::Yielded)
            }
            EffectOutcome::Block { reason, resume } => {
                library.resume = resume;
                let function = library.function;
                self.thread.frames.push(frame);
                self.observe(EventKind::Blocked { function });
                Err(Stop::Blocked(reason))
            }
            EffectOutcome::CallBack { function, arguments, resume } => {
                library.resume = resume;
                self.thread.frames.push(frame);
                self.call_pointer(function, arguments)?;
                Ok(false)
            }
            EffectOutcome::Jump { buffer } => {
                self.jump(buffer, 1)?;
                Ok(false)
            }
            EffectOutcome::EndThread => {
                self.thread.frames.push(frame);
                self.end_thread()?;
                Ok(false)
            }
            EffectOutcome::NotSynchronization => self.perform_own(model, effect, frame, return_type),
        }
    }

    fn library_frame(&mut self) -> &mut LibraryFrame {
        match self.thread.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Library(library)) => library,
            _ => unreachable!("the library frame is on top"),
        }
    }

    /// All effects are done.
    fn finish_library(&mut self, model: &FunctionModel) -> Result<(), Stop> {
        let library = self.library_frame();
        let (function, value) = (library.function, library.value.take());
        let return_type = self.machine.program.functions[function].return_type;
        if let Some(builtin) = model.builtin {
            let arguments = self.library_frame().arguments.clone();
            self.act_on_values(&arguments)?;
            let result = self.run_builtin(function, builtin, &arguments, return_type)?;
            self.replace_library_frame(result);
            return Ok(());
        }
        let value = match value {
            Some(value) => Some(value),
            None if return_type == Type::Void => None,
            // A function that only synchronises reports success; what another returns is not known.
            None if model.effects.iter().any(is_visible) => Some(Value::zero(return_type)),
            None => self.choose_value(return_type, &model.name),
        };
        self.observe(EventKind::LibraryReturn { function, value: value.as_ref() });
        let frame = self.thread.frames.pop().expect("the library frame is on top");
        self.deliver(&frame, value);
        Ok(())
    }

    fn replace_library_frame(&mut self, result: BuiltinResult) {
        let frame = self.thread.frames.pop().expect("the library frame is on top");
        match result {
            BuiltinResult::Return(value) => self.deliver(&frame, value),
            BuiltinResult::Frame(native) => {
                let kind = FrameKind::Native(NativeActivation { frame: native, last: None });
                self.thread.frames.push(Frame { kind, ..frame });
            }
        }
    }

    /// The routines that run when a thread or the process ends, and the end itself.
    pub fn run_ending(&mut self) -> Result<(), Stop> {
        let frame = self.thread.frames.last().expect("called for an ending frame");
        self.site = frame.call_site;
        let FrameKind::Ending(ending) = &frame.kind else { unreachable!("called for ending frames only") };
        match ending.clone() {
            Ending::Process { code, destructors_done } => self.end_process(code, destructors_done),
            Ending::Thread { value, resume } => {
                self.act()?;
                let thread = self.thread.id;
                match sync::thread_returned(self, thread, value.clone(), resume)? {
                    EffectOutcome::CallBack { function, arguments, resume } => {
                        self.set_ending(Ending::Thread { value, resume });
                        self.call_pointer(function, arguments)
                    }
                    EffectOutcome::EndThread => self.end_thread(),
                    other => panic!("the end of a thread calls back or ends it, not {other:?}"),
                }
            }
        }
    }

    fn set_ending(&mut self, ending: Ending) {
        self.thread.frames.last_mut().expect("the ending frame is on top").kind = FrameKind::Ending(ending);
    }

    fn end_process(&mut self, code: i32, destructors_done: usize) -> Result<(), Stop> {
        if let Some((routine, arguments)) = self.machine.exit_handlers.pop() {
            return self.call_pointer(routine, arguments);
        }
        let program = self.machine.program;
        match program.destructors.get(destructors_done) {
            Some(destructor) => {
                self.set_ending(Ending::Process { code, destructors_done: destructors_done + 1 });
                let routine = self.prepared.functions[*destructor];
                self.call_pointer(routine, Vec::new())
            }
            None => Err(Stop::End(End::Exited(code & 0xff))),
        }
    }

    /// Every frame of the thread goes. The last thread to end ends the process.
    fn end_thread(&mut self) -> Result<(), Stop> {
        self.release_stack(0, Death::ThreadEnded);
        for (_, instance) in std::mem::take(&mut self.thread.thread_locals) {
            if let Some(object) = instance.object {
                self.machine.memory.release(object, Death::ThreadEnded);
            }
        }
        self.thread.frames.clear();
        self.thread.registers.clear();
        let is_alive = |status: &ThreadStatus| *status == ThreadStatus::Alive;
        if !self.machine.sync.threads().iter().any(|(id, record)| id != self.thread.id && is_alive(&record.status)) {
            self.push_frame(FrameKind::Ending(Ending::Process { code: 0, destructors_done: 0 }), self.site);
            return Ok(());
        }
        self.observe(EventKind::ThreadFinished);
        Err(Stop::ThreadFinished)
    }

    /// Any value of a type, as an input; `None` for `void`.
    pub fn choose_value(&mut self, ty: Type, what: &str) -> Option<Value> {
        use crate::explore::environment::Environment;
        use crate::explore::value::ScalarValue;
        use crate::program::Scalar;
        match ty {
            Type::Void => None,
            Type::Scalar(Scalar::Integer(bits)) if bits <= 128 => Some(Value::integer(bits, self.choose(bits, what))),
            Type::Scalar(Scalar::Pointer) => {
                let address = self.choose(self.machine.program.layout.pointer_bits(), what);
                Some(Value::pointer(self.machine.memory.pointer_to(address as u64)))
            }
            Type::Scalar(kind) if kind.is_float() => {
                let bits = self.choose(self.machine.program.layout.scalar_bits(kind), what);
                Some(Value::Scalar(ScalarValue::Float { kind, bits }))
            }
            other => Some(Value::undef(other)),
        }
    }

    /// The function's arguments from a list of positions; missing ones are undef.
    pub fn argument_number(&self, arguments: &[Value], position: usize) -> Result<u128, Stop> {
        match arguments.get(position) {
            Some(value) => Ok(evaluate::as_u128(value)?),
            None => {
                Err(crate::explore::fault::Fault::undefined(format!("a library call without argument {}", position + 1)).into())
            }
        }
    }
}

fn complete(library: &mut LibraryFrame, value: Option<Value>) {
    library.effect += 1;
    library.resume = Resume::Start;
    if value.is_some() {
        library.value = value;
    }
}

/// Effects that other threads can see, whatever memory they touch.
fn is_visible(effect: &Effect) -> bool {
    match effect {
        Effect::Acquire { .. }
        | Effect::Release { .. }
        | Effect::InitializeLock { .. }
        | Effect::DestroyLock { .. }
        | Effect::Spawn { .. }
        | Effect::Join { .. }
        | Effect::Detach { .. }
        | Effect::ExitThread { .. }
        | Effect::Cancel { .. }
        | Effect::CancellationPoint
        | Effect::ContinueExit
        | Effect::Yield
        | Effect::Sleep
        | Effect::InitializeCondition { .. }
        | Effect::DestroyCondition { .. }
        | Effect::Wait { .. }
        | Effect::Signal { .. }
        | Effect::InitializeBarrier { .. }
        | Effect::WaitBarrier { .. }
        | Effect::DestroyBarrier { .. }
        | Effect::Once { .. }
        | Effect::CreateKey { .. }
        | Effect::DeleteKey { .. }
        | Effect::InitializeSemaphore { .. }
        | Effect::WaitSemaphore { .. }
        | Effect::PostSemaphore { .. }
        | Effect::ReadSemaphore { .. }
        | Effect::DestroySemaphore { .. }
        | Effect::BeginAtomic
        | Effect::EndAtomic
        | Effect::AtomicBody
        | Effect::Fence { .. }
        | Effect::Atomic(_) => true,
        Effect::SetAttribute { .. }
        | Effect::GetAttribute { .. }
        | Effect::InitializeAttribute { .. }
        | Effect::SetCancelState { .. }
        | Effect::SetCancelType { .. }
        | Effect::PushCleanup { .. }
        | Effect::PopCleanup { .. }
        | Effect::PushCleanupJump { .. }
        | Effect::PopCleanupJump { .. }
        | Effect::CurrentThread
        | Effect::EqualThreads { .. }
        | Effect::SetSpecific { .. }
        | Effect::GetSpecific { .. }
        | Effect::Allocate { .. }
        | Effect::Reallocate { .. }
        | Effect::Free { .. }
        | Effect::Reads(_)
        | Effect::Writes(_)
        | Effect::Choose
        | Effect::ChooseBytes(_)
        | Effect::Assume { .. }
        | Effect::Assert { .. }
        | Effect::Fail
        | Effect::Exit { .. }
        | Effect::Callback { .. }
        | Effect::Dispatch
        | Effect::InstallHandler { .. }
        | Effect::SaveJump { .. }
        | Effect::Jump { .. }
        | Effect::Unmodelled { .. }
        | Effect::NotComputed
        | Effect::ReturnsOwnMemory
        | Effect::HiddenState { .. }
        | Effect::Returns { .. }
        | Effect::ReturnsOneOf { .. }
        | Effect::ReturnsByLength { .. } => false,
    }
}

/// Effects after which the library knows what it was given: the end of a function does not end that.
fn keeps_arguments(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::ExitThread { .. }
            | Effect::SetSpecific { .. }
            | Effect::PushCleanup { .. }
            | Effect::PushCleanupJump { .. }
            | Effect::Callback { when: CallbackTime::AtExit | CallbackTime::Dispatched, .. }
    )
}

/// Effects that others can see when the memory behind the arguments is shared.
fn touches_memory(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::SetAttribute { .. }
            | Effect::GetAttribute { .. }
            | Effect::InitializeAttribute { .. }
            | Effect::SetCancelState { .. }
            | Effect::SetCancelType { .. }
            | Effect::SaveJump { .. }
            | Effect::Jump { .. }
            | Effect::InstallHandler { .. }
            | Effect::ReturnsByLength { .. }
            | Effect::Reallocate { .. }
            | Effect::Free { .. }
            | Effect::Reads(_)
            | Effect::Writes(_)
            | Effect::ChooseBytes(_)
    )
}
