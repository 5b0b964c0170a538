//! Library functions: what each effect of a model makes of the addresses it gets.

use super::call::{ArgumentKind, Call, CallArgument, Target};
use super::constraint::Constraint;
use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind};
use super::solve::Solver;
use crate::facts::call_graph::CallKind;
use crate::models::{AllocationResult, AtomicCall, AtomicOperation, CallbackTime, Effect, FunctionModel, SizeSource, keeper};
use crate::program::{FunctionId, Type};

/// A routine that is called when some thread dispatches, and what it gets.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    routine: NodeId,
    arguments: Vec<Option<NodeId>>,
}

impl Solver<'_> {
    pub fn call_library(&mut self, call: &Call, callee: FunctionId, model: &FunctionModel) {
        let mut is_answered = false;
        for effect in &model.effects {
            is_answered |= self.effect(call, callee, effect);
        }
        if let Some(builtin) = model.builtin {
            is_answered |= self.builtin(call, callee, builtin);
        }
        // A pointer of which the model says nothing.
        if let Some((result, _)) = call.result
            && !is_answered
            && self.program.functions[callee].return_type == Type::POINTER
        {
            self.add_unknown(result);
        }
    }

    /// Whether the effect says what is returned.
    fn effect(&mut self, call: &Call, callee: FunctionId, effect: &Effect) -> bool {
        match effect {
            Effect::Spawn { entry, argument, .. } => {
                let argument = argument.and_then(|position| call.argument(position));
                let result = Some((self.thread_results, self.pointer_bytes.into()));
                self.hand_over(argument);
                self.call_back(call, call.argument(*entry), CallKind::Spawn, vec![argument], result);
                true
            }
            Effect::Join { value, .. } => {
                let value = value.and_then(|position| call.argument(position));
                self.store(value, Some(self.thread_results), self.pointer_bytes);
                true
            }
            Effect::ExitThread { value, .. } => {
                if let Some(value) = value.and_then(|position| call.argument(position)) {
                    self.graph.add_edge(value, self.thread_results);
                }
                true
            }
            Effect::PushCleanup { routine, argument } => {
                self.call_back(call, call.argument(*routine), CallKind::Cleanup, vec![call.argument(*argument)], None);
                false
            }
            Effect::Once { routine, .. } => {
                self.call_back(call, call.argument(*routine), CallKind::Once, Vec::new(), None);
                false
            }
            Effect::Dispatch => {
                self.dispatch(call);
                false
            }
            Effect::ReturnsOwnMemory => {
                self.returns_library_memory(call, callee);
                true
            }
            Effect::HiddenState { name, .. } => {
                let keeper = keeper(self.models, name).unwrap_or(callee);
                self.library_memory(keeper);
                false
            }
            Effect::Callback { routine, arguments, element_size, when } => {
                let given: Vec<Option<NodeId>> = arguments.iter().map(|position| call.argument(*position)).collect();
                // Called at once, the routine gets addresses inside what the library function got: elements of an array. Later it gets
                // what was given, in whichever thread ends the process or dispatches.
                let size = element_size.and_then(|position| call.constant(position)).filter(|size| *size > 0);
                let inside = |solver: &mut Self| {
                    given.iter().map(|node| node.map(|node| solver.walked(node, size.unwrap_or(1)))).collect()
                };
                match when {
                    CallbackTime::During => {
                        let inside = inside(self);
                        self.call_back(call, call.argument(*routine), CallKind::Callback, inside, None)
                    }
                    CallbackTime::AtExit => {
                        let inside: Vec<Option<NodeId>> = inside(self);
                        inside.iter().for_each(|argument| self.hand_over(*argument));
                        self.call_back(call, call.argument(*routine), CallKind::AtExit, inside, None);
                    }
                    CallbackTime::Dispatched => {
                        given.iter().for_each(|argument| self.hand_over(*argument));
                        if let Some(routine) = call.argument(*routine) {
                            self.enlist(Registration { routine, arguments: given });
                        }
                    }
                }
                false
            }
            Effect::InstallHandler { handler, in_structure, old, .. } => {
                let handler = match (call.argument(*handler), in_structure) {
                    (Some(structure), true) => {
                        let handler = self.graph.node();
                        self.attach(structure, Constraint::Load { to: handler, form: Form::of(self.pointer_bytes) });
                        Some(handler)
                    }
                    (handler, _) => handler,
                };
                // What was installed before comes back: any handler of the program.
                if let Some(handler) = handler {
                    self.graph.add_edge(handler, self.signal_handlers);
                }
                if let (Some((result, bytes)), false) = (call.result, in_structure) {
                    self.carry(self.signal_handlers, result, bytes);
                }
                self.store(old.and_then(|position| call.argument(position)), Some(self.signal_handlers), self.pointer_bytes);
                // A handler may be given pointers to what the system knows of the signal.
                let unknown = Some(self.unknown_value);
                self.call_back(call, handler, CallKind::SignalHandler, vec![None, unknown, unknown], None);
                true
            }
            Effect::CreateKey { key, destructor } => {
                let content = self.holder(AbstractObject::new(AbstractObjectKind::Key(call.site)), Class::at(0));
                self.keys.absorb(self.graph.set(content));
                self.store(call.argument(*key), Some(content), 4);
                if let Some(destructor) = destructor.and_then(|position| call.argument(position)) {
                    let value = self.graph.node();
                    self.attach(content, Constraint::Load { to: value, form: Form::of(self.pointer_bytes) });
                    self.call_back(call, Some(destructor), CallKind::KeyDestructor, vec![Some(value)], None);
                }
                false
            }
            Effect::SetSpecific { key, value } => {
                self.store(call.argument(*key), call.argument(*value), self.pointer_bytes);
                false
            }
            Effect::GetSpecific { key } => {
                if let (Some(key), Some((result, _))) = (call.argument(*key), call.result) {
                    self.attach(key, Constraint::Load { to: result, form: Form::of(self.pointer_bytes) });
                }
                true
            }
            Effect::Allocate { is_linked: true, result, .. } => {
                // One object stands for all the parts, which lead to one another.
                let parts = AbstractObject { align: 1, ..self.allocated(call, SizeSource::Unknown) };
                let memory = self.holder(parts, Class::ANY);
                self.store(Some(memory), Some(memory), self.pointer_bytes);
                match result {
                    AllocationResult::Returned => {
                        call.result.into_iter().for_each(|(result, _)| self.graph.add_edge(memory, result))
                    }
                    AllocationResult::StoredAt(position) => {
                        self.store(call.argument(*position), Some(memory), self.pointer_bytes)
                    }
                }
                true
            }
            Effect::Allocate { size, result: AllocationResult::Returned, .. } => {
                self.allocate(call, *size);
                true
            }
            Effect::Allocate { size, result: AllocationResult::StoredAt(position), .. } => {
                let object = self.allocated(call, *size);
                let fresh = self.holder(object, Class::at(0));
                self.store(call.argument(*position), Some(fresh), self.pointer_bytes);
                true
            }
            Effect::Reallocate { pointer, size } => {
                self.allocate(call, *size);
                self.copy_as(call.result.map(|(node, _)| node), call.argument(*pointer), None, true);
                true
            }
            Effect::Returns { argument } => {
                if let (Some(argument), Some((result, bytes))) = (call.argument(*argument), call.result) {
                    self.carry(argument, result, bytes);
                }
                true
            }
            Effect::Atomic(atomic) => {
                self.atomic(call, atomic);
                true
            }
            // These move no address: bytes are read, written or chosen, threads wait, the run ends.
            Effect::Acquire { .. }
            | Effect::Release { .. }
            | Effect::InitializeLock { .. }
            | Effect::DestroyLock { .. }
            | Effect::SetAttribute { .. }
            | Effect::InitializeAttribute { .. }
            | Effect::Detach { .. }
            | Effect::Cancel { .. }
            | Effect::SetCancelState { .. }
            | Effect::CancellationPoint
            | Effect::PopCleanup { .. }
            | Effect::CurrentThread
            | Effect::EqualThreads { .. }
            | Effect::Yield
            | Effect::Sleep
            | Effect::InitializeCondition { .. }
            | Effect::DestroyCondition { .. }
            | Effect::Wait { .. }
            | Effect::Signal { .. }
            | Effect::InitializeBarrier { .. }
            | Effect::WaitBarrier { .. }
            | Effect::DestroyBarrier { .. }
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
            | Effect::Free { .. }
            | Effect::Reads(_)
            | Effect::Writes(_)
            | Effect::Choose
            | Effect::ChooseBytes(_)
            | Effect::Assume { .. }
            | Effect::Assert { .. }
            | Effect::Fail
            | Effect::Exit { .. }
            | Effect::GetAttribute { .. }
            | Effect::SetCancelType { .. }
            | Effect::PushCleanupJump { .. }
            | Effect::PopCleanupJump { .. }
            | Effect::ContinueExit
            | Effect::SaveJump { .. }
            | Effect::Jump { .. }
            | Effect::Unmodelled { .. }
            | Effect::NotComputed
            | Effect::ReturnsOneOf { .. }
            | Effect::ReturnsByLength { .. } => false,
        }
    }

    /// A routine that whoever dispatches will call.
    fn enlist(&mut self, registration: Registration) {
        self.registrations.push(registration);
        for dispatcher in self.dispatchers.clone() {
            self.call_registered(&dispatcher, self.registrations.len() - 1);
        }
    }

    fn dispatch(&mut self, call: &Call) {
        let dispatcher = Call { arguments: Vec::new(), result: None, ..call.clone() };
        self.dispatchers.push(dispatcher.clone());
        for registration in 0..self.registrations.len() {
            self.call_registered(&dispatcher, registration);
        }
    }

    fn call_registered(&mut self, dispatcher: &Call, registration: usize) {
        let Registration { routine, arguments } = self.registrations[registration].clone();
        self.call_back(dispatcher, Some(routine), CallKind::Callback, arguments, None);
    }

    /// Another thread gets this.
    fn hand_over(&mut self, node: Option<NodeId>) {
        if let Some(node) = node {
            self.graph.add_edge(node, self.handed_over);
        }
    }

    fn call_back(
        &mut self,
        call: &Call,
        routine: Option<NodeId>,
        kind: CallKind,
        arguments: Vec<Option<NodeId>>,
        result: Option<(NodeId, u64)>,
    ) {
        let bytes = self.pointer_bytes;
        let arguments = arguments
            .into_iter()
            .map(|node| CallArgument { node, constant: None, by_value: None, bytes, kind: ArgumentKind::Pointer, pointed: None })
            .collect();
        if let Some(routine) = routine {
            let call = Call { kind, arguments, result, through: None, result_kind: None, ..*call };
            self.add_call(call, Target::Pointer(routine));
        }
    }

    fn atomic(&mut self, call: &Call, atomic: &AtomicCall) {
        let size = constant_size(call, atomic.size);
        let width = size.and_then(|size| u32::try_from(size).ok()).unwrap_or(u32::MAX);
        let Some(object) = call.argument(atomic.object) else { return };
        let operand = atomic.operand.and_then(|position| call.argument(position));
        let output = atomic.output.and_then(|position| call.argument(position));
        if atomic.operation != AtomicOperation::Store {
            self.copy(output, Some(object), size);
            if let (Some((result, _)), None) = (call.result, atomic.output) {
                self.attach(object, Constraint::Load { to: result, form: Form::of(width) });
            }
        }
        match atomic.operation {
            AtomicOperation::Load => {}
            AtomicOperation::Store | AtomicOperation::Exchange | AtomicOperation::CompareExchange
                if atomic.operands_are_pointers =>
            {
                self.copy(Some(object), operand, size);
            }
            AtomicOperation::Store | AtomicOperation::Exchange | AtomicOperation::CompareExchange => {
                self.store(Some(object), operand, width)
            }
            AtomicOperation::FetchAdd
            | AtomicOperation::FetchSubtract
            | AtomicOperation::FetchAnd
            | AtomicOperation::FetchOr
            | AtomicOperation::FetchXor
            | AtomicOperation::FetchNand => self.update(object, operand, width),
        }
    }
}

pub(super) fn constant_size(call: &Call, size: SizeSource) -> Option<u64> {
    match size {
        SizeSource::Constant(size) => Some(size),
        SizeSource::Argument(position) => call.constant(position),
        SizeSource::Product(left, right) => call.constant(left)?.checked_mul(call.constant(right)?),
        SizeSource::String(_) | SizeSource::Unknown => None,
    }
}
