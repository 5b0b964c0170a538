//! What the effects of a library function touch.

use smallvec::SmallVec;

use super::instruction::{Collector, LibraryCall, plain};
use super::{Action, Manner, MemoryAccess, Place};
use crate::models::{
    AllocationResult, AtomicCall, AtomicOperation, Attempt, Attribute, Effect, FunctionModel, LockClass, LockKindSource, Range,
    SizeSource, ThreadResult, keeper,
};
use crate::program::{Operand, Ordering};

/// What a primitive of the library is, for its size.
#[derive(Clone, Copy)]
enum Primitive {
    Lock(LockClass),
    Condition,
    Barrier,
    Once,
    Semaphore,
    Attribute,
}

type Touch = (Option<u64>, Action, Manner);

/// `struct sigaction` on x86-64, the larger of the two.
const HANDLER_BYTES: u64 = 152;
/// The bytes of `int`.
const INT: u64 = 4;

impl Collector<'_> {
    pub fn library(&self, call: LibraryCall<'_>, model: &FunctionModel, found: &mut Vec<MemoryAccess>) {
        let is_formatted = model.builtin.is_some_and(|builtin| self.formatted(call, builtin, found));
        for effect in &model.effects {
            // Which arguments a format makes it read and write is known better.
            if !(is_formatted && matches!(effect, Effect::Reads(_) | Effect::Writes(_))) {
                self.effect(call, effect, found);
            }
        }
        if let Some(builtin) = model.builtin {
            self.builtin(call, builtin, found);
        }
        found.retain(|access| !access.operand().is_some_and(|operand| self.is_nothing(operand)));
    }

    fn effect(&self, call: LibraryCall<'_>, effect: &Effect, found: &mut Vec<MemoryAccess>) {
        let pointer = u64::from(self.program.layout.pointer_bytes);
        let mut touched: SmallVec<[(usize, Touch); 2]> = SmallVec::new();
        let mut ends_stack = false;
        let use_of = |primitive: Primitive| (Some(self.size_of(primitive)), Action::Update, Manner::Operation);
        let written = |primitive: Primitive| (Some(self.size_of(primitive)), Action::Write, Manner::Plain);
        let destroyed = |primitive: Primitive| (Some(self.size_of(primitive)), Action::Destroy, Manner::Plain);
        let mut apply = |position: usize, touch: Touch| touched.push((position, touch));
        match effect {
            Effect::Acquire { lock, class, .. } | Effect::Release { lock, class } => {
                apply(*lock, use_of(Primitive::Lock(*class)))
            }
            Effect::InitializeLock { lock, class, kind } => {
                if let LockKindSource::Attributes(attributes) = kind {
                    apply(*attributes, (Some(self.size_of(Primitive::Attribute)), Action::Read, Manner::Plain));
                }
                apply(*lock, written(Primitive::Lock(*class)));
            }
            Effect::DestroyLock { lock, class } => apply(*lock, destroyed(Primitive::Lock(*class))),
            Effect::SetAttribute { object, .. } | Effect::InitializeAttribute { object } => {
                apply(*object, written(Primitive::Attribute))
            }
            Effect::GetAttribute { object, attribute, value } => {
                let is_wide = matches!(attribute, Attribute::StackSize | Attribute::GuardSize);
                apply(*object, (Some(self.size_of(Primitive::Attribute)), Action::Read, Manner::Plain));
                apply(*value, (Some(if is_wide { pointer } else { INT }), Action::Write, Manner::Plain));
            }
            Effect::Spawn { handle, attributes, .. } => {
                if let Some(attributes) = attributes {
                    apply(*attributes, (Some(self.size_of(Primitive::Attribute)), Action::Read, Manner::Plain));
                }
                if let Some(handle) = handle {
                    apply(*handle, (Some(pointer), Action::Write, Manner::Plain));
                }
            }
            Effect::Join { value, returns, attempt, .. } => {
                let size = match returns {
                    ThreadResult::Pointer => pointer,
                    ThreadResult::Integer => INT,
                };
                if let Some(value) = value {
                    apply(*value, (Some(size), Action::Write, Manner::Plain));
                }
                if *attempt != Attempt::Try {
                    ends_stack = self.has_cancellation;
                }
            }
            Effect::SetCancelState { old, .. } | Effect::SetCancelType { old, .. } => {
                if let Some(old) = old {
                    apply(*old, (Some(INT), Action::Write, Manner::Plain));
                }
            }
            Effect::InitializeCondition { condition } => apply(*condition, written(Primitive::Condition)),
            Effect::DestroyCondition { condition } => {
                apply(*condition, written(Primitive::Condition));
                // After a wait for those who still use it.
                apply(*condition, use_of(Primitive::Condition));
            }
            Effect::Wait { condition, lock, .. } => {
                apply(*condition, use_of(Primitive::Condition));
                apply(*lock, use_of(Primitive::Lock(LockClass::Mutex)));
                ends_stack = self.has_cancellation;
            }
            Effect::Signal { condition, .. } => apply(*condition, use_of(Primitive::Condition)),
            Effect::InitializeBarrier { barrier, .. } | Effect::DestroyBarrier { barrier } => {
                apply(*barrier, written(Primitive::Barrier))
            }
            Effect::WaitBarrier { barrier } => apply(*barrier, use_of(Primitive::Barrier)),
            Effect::Once { control, .. } => apply(*control, use_of(Primitive::Once)),
            Effect::CreateKey { key, .. } => apply(*key, (Some(INT), Action::Write, Manner::Plain)),
            Effect::InitializeSemaphore { semaphore, .. } | Effect::DestroySemaphore { semaphore } => {
                apply(*semaphore, written(Primitive::Semaphore));
            }
            Effect::WaitSemaphore { semaphore, attempt } => {
                apply(*semaphore, use_of(Primitive::Semaphore));
                if *attempt != Attempt::Try {
                    ends_stack = self.has_cancellation;
                }
            }
            Effect::PostSemaphore { semaphore } => apply(*semaphore, use_of(Primitive::Semaphore)),
            Effect::ReadSemaphore { semaphore, value } => {
                apply(*semaphore, use_of(Primitive::Semaphore));
                apply(*value, (Some(INT), Action::Write, Manner::Plain));
            }
            Effect::Atomic(atomic) => self.atomic(call, atomic, found),
            Effect::Allocate { result: AllocationResult::StoredAt(place), .. } => {
                apply(*place, (Some(pointer), Action::Write, Manner::Plain));
            }
            Effect::Allocate { result: AllocationResult::Returned, .. } => {}
            Effect::Reallocate { pointer, .. } => {
                apply(*pointer, (None, Action::Read, Manner::Plain));
                apply(*pointer, (None, Action::End, Manner::Plain));
            }
            Effect::Free { pointer } => apply(*pointer, (None, Action::End, Manner::Plain)),
            Effect::Reads(range) | Effect::Writes(range) | Effect::ChooseBytes(range) if range.hops > 0 => {
                let action = if matches!(effect, Effect::Reads(_)) { Action::Read } else { Action::Write };
                if let Some(operand) = call.argument(range.argument) {
                    let place = Place::Beyond(operand, range.hops);
                    found.push(MemoryAccess {
                        place,
                        size: self.size(call, *range),
                        action,
                        manner: Manner::Plain,
                        is_volatile: false,
                        alias: None,
                    });
                }
            }
            Effect::ReturnsOwnMemory => {
                let place = call.result.map(Place::Operand);
                found.extend(place.map(|place| MemoryAccess {
                    place,
                    size: None,
                    action: Action::Write,
                    manner: Manner::Plain,
                    is_volatile: false,
                    alias: None,
                }));
            }
            Effect::HiddenState { name, only_read, guarded } => {
                found.extend(keeper(self.models, name).map(|keeper| MemoryAccess {
                    place: Place::Library(keeper),
                    size: None,
                    action: if *only_read { Action::Read } else { Action::Write },
                    manner: if *guarded { Manner::Guarded } else { Manner::Plain },
                    is_volatile: false,
                    alias: None,
                }));
            }
            Effect::Reads(range) => apply(range.argument, (self.size(call, *range), Action::Read, Manner::Plain)),
            Effect::Writes(range) | Effect::ChooseBytes(range) => {
                apply(range.argument, (self.size(call, *range), Action::Write, Manner::Plain));
            }
            Effect::InstallHandler { handler, in_structure: true, old, .. } => {
                apply(*handler, (Some(HANDLER_BYTES), Action::Read, Manner::Plain));
                if let Some(old) = old {
                    apply(*old, (Some(HANDLER_BYTES), Action::Write, Manner::Plain));
                }
            }
            Effect::SaveJump { buffer } => apply(*buffer, (None, Action::Write, Manner::Plain)),
            Effect::Jump { buffer, .. } => {
                apply(*buffer, (None, Action::Read, Manner::Plain));
                ends_stack = true;
            }
            Effect::ReturnsByLength { string, .. } => apply(*string, (None, Action::Read, Manner::Plain)),
            // What `assert` was given, for the report.
            Effect::Fail => apply(0, (None, Action::Read, Manner::Plain)),
            Effect::ExitThread { .. } | Effect::ContinueExit => ends_stack = true,
            Effect::CancellationPoint => ends_stack = self.has_cancellation,
            // The state of threads, keys, inputs and the process: nothing of the program's memory.
            Effect::Detach { .. }
            | Effect::Cancel { .. }
            | Effect::PushCleanup { .. }
            | Effect::PopCleanup { .. }
            | Effect::PushCleanupJump { .. }
            | Effect::PopCleanupJump { .. }
            | Effect::CurrentThread
            | Effect::EqualThreads { .. }
            | Effect::Yield
            | Effect::Sleep
            | Effect::DeleteKey { .. }
            | Effect::SetSpecific { .. }
            | Effect::GetSpecific { .. }
            | Effect::BeginAtomic
            | Effect::EndAtomic
            | Effect::AtomicBody
            | Effect::Fence { .. }
            | Effect::Choose
            | Effect::Assume { .. }
            | Effect::Assert { .. }
            | Effect::Exit { .. }
            | Effect::Callback { .. }
            | Effect::Dispatch
            | Effect::InstallHandler { in_structure: false, .. }
            | Effect::Unmodelled { .. }
            | Effect::NotComputed
            | Effect::Returns { .. }
            | Effect::ReturnsOneOf { .. } => {}
        }
        for (position, (size, action, manner)) in touched {
            if let Some(operand) = call.argument(position) {
                found.push(MemoryAccess {
                    place: Place::Operand(operand),
                    size,
                    action,
                    manner,
                    is_volatile: false,
                    alias: None,
                });
            }
        }
        if ends_stack {
            // On its way out a thread jumps to the handlers that are registered in its functions.
            for (owner, buffer) in &self.cleanup_buffers {
                let place = Place::Foreign(*owner, *buffer);
                found.push(MemoryAccess {
                    place,
                    size: None,
                    action: Action::Read,
                    manner: Manner::Plain,
                    is_volatile: false,
                    alias: None,
                });
            }
            let place = Place::ActiveStack;
            found.push(MemoryAccess {
                place,
                size: None,
                action: Action::End,
                manner: Manner::Plain,
                is_volatile: false,
                alias: None,
            });
        }
    }

    fn atomic(&self, call: LibraryCall<'_>, atomic: &AtomicCall, found: &mut Vec<MemoryAccess>) {
        let Some(object) = call.argument(atomic.object) else { return };
        let size = self.size_source(call, atomic.size);
        let ordering = atomic.orderings.first().map_or(Some(Ordering::SequentiallyConsistent), |position| {
            call.argument(*position).and_then(|operand| self.constant(operand)).map(ordering_of)
        });
        // An order that is not known orders nothing.
        let manner = Manner::Atomic(ordering.unwrap_or(Ordering::Relaxed));
        let action = match atomic.operation {
            AtomicOperation::Load => Action::Read,
            AtomicOperation::Store => Action::Write,
            AtomicOperation::Exchange
            | AtomicOperation::CompareExchange
            | AtomicOperation::FetchAdd
            | AtomicOperation::FetchSubtract
            | AtomicOperation::FetchAnd
            | AtomicOperation::FetchOr
            | AtomicOperation::FetchXor
            | AtomicOperation::FetchNand => Action::Update,
        };
        found.push(MemoryAccess { place: Place::Operand(object), size, action, manner, is_volatile: false, alias: None });
        if let Some(operand) =
            atomic.operand.filter(|_| atomic.operands_are_pointers).and_then(|position| call.argument(position))
        {
            found.push(plain(operand, size, Action::Read));
        }
        if let Some(output) = atomic.output.and_then(|position| call.argument(position)) {
            if atomic.operation == AtomicOperation::CompareExchange {
                found.push(plain(output, size, Action::Read));
            }
            found.push(plain(output, size, Action::Write));
        }
    }

    pub fn size(&self, call: LibraryCall<'_>, range: Range) -> Option<u64> {
        self.size_source(call, range.size)
    }

    fn size_source(&self, call: LibraryCall<'_>, size: SizeSource) -> Option<u64> {
        let number = |position: usize| call.argument(position).and_then(|operand: Operand| self.constant(operand));
        match size {
            SizeSource::Constant(size) => Some(size),
            SizeSource::Argument(position) => number(position),
            SizeSource::Product(left, right) => number(left)?.checked_mul(number(right)?),
            SizeSource::String(_) | SizeSource::Unknown => None,
        }
    }

    /// The size of the type on x86-64 and i386, as the machine has it.
    fn size_of(&self, primitive: Primitive) -> u64 {
        let (wide, narrow) = match primitive {
            Primitive::Lock(LockClass::Mutex) => (40, 24),
            Primitive::Lock(LockClass::ReadWrite) => (56, 32),
            Primitive::Lock(LockClass::Spin) | Primitive::Once | Primitive::Attribute => (4, 4),
            Primitive::Lock(LockClass::Custom) => (1, 1),
            Primitive::Condition => (48, 48),
            Primitive::Barrier => (32, 20),
            Primitive::Semaphore => (32, 16),
        };
        if self.program.layout.pointer_bytes == 8 { wide } else { narrow }
    }
}

/// A `memory_order` argument; the higher bits are hints.
fn ordering_of(number: u64) -> Ordering {
    match number & 0xffff {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcquireRelease,
        _ => Ordering::SequentiallyConsistent,
    }
}
