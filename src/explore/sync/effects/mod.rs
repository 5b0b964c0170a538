//! What a library call does to the state of threads and primitives: one function for each group of effects.

mod access;
mod atomics;
mod attributes;
mod conditions;
mod exit;
mod locks;
mod rendezvous;
mod result;
#[cfg(test)]
mod tests;
mod threads;

use super::context::SyncContext;
use super::event::SyncEvent;
use super::outcome::{Call, EffectOutcome, Resume};
use super::table::HeldLock;
use crate::explore::fault::Fault;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::Value;
use crate::models::Effect;

pub use exit::thread_returned;

/// The calling thread, the machine, the call and where it goes on: what every effect works with.
struct Performance<'a, 'c> {
    context: &'a mut dyn SyncContext,
    thread: ThreadId,
    call: Call<'c>,
}

type Outcome = Result<EffectOutcome, Fault>;

/// Performs one effect of a library call, or goes on with it where `resume` says.
pub fn perform(context: &mut dyn SyncContext, thread: ThreadId, call: Call<'_>, resume: Resume) -> Outcome {
    let mut performance = Performance { context, thread, call };
    match resume {
        Resume::Exit(exit) => performance.go_on_with_exit(*exit),
        resume => performance.perform(resume),
    }
}

impl Performance<'_, '_> {
    fn perform(&mut self, resume: Resume) -> Outcome {
        let call = self.call;
        match call.effect {
            Effect::Acquire { lock, class, mode, attempt, result } => {
                self.acquire(*lock, (*class, *mode), *attempt, *result, resume)
            }
            Effect::Release { lock, class } => self.release(*lock, *class),
            Effect::InitializeLock { lock, class, kind } => self.initialize_lock(*lock, *class, *kind),
            Effect::DestroyLock { lock, class } => self.destroy_lock(*lock, *class),
            Effect::SetAttribute { object, attribute, value } => self.set_attribute(*object, *attribute, *value),
            Effect::GetAttribute { object, attribute, value } => self.get_attribute(*object, *attribute, *value),
            Effect::InitializeAttribute { object } => self.initialize_attribute(*object),

            Effect::Spawn { entry, argument, handle, attributes, count, returns, result: _ } => {
                self.spawn(*entry, *argument, *handle, *attributes, *count, *returns)
            }
            Effect::Join { handle, value, returns, attempt } => self.join(*handle, *value, *returns, *attempt, resume),
            Effect::Detach { handle } => self.detach(*handle),
            Effect::ExitThread { value, returns } => self.exit_thread(*value, *returns),
            Effect::Cancel { handle } => self.cancel(*handle),
            Effect::SetCancelState { state, old } => self.set_cancel_state(*state, *old),
            Effect::SetCancelType { kind, old } => self.set_cancel_type(*kind, *old),
            Effect::CancellationPoint => self.cancellation_point(),
            Effect::PushCleanup { routine, argument } => self.push_cleanup(*routine, *argument),
            Effect::PopCleanup { execute } => self.pop_cleanup(*execute, resume),
            Effect::PushCleanupJump { buffer } => self.push_cleanup_jump(*buffer),
            Effect::PopCleanupJump { buffer } => self.pop_cleanup_jump(*buffer),
            Effect::ContinueExit => self.continue_exit(resume),
            Effect::CurrentThread => self.current_thread(),
            Effect::EqualThreads { left, right } => self.equal_threads(*left, *right),
            Effect::Yield | Effect::Sleep => Ok(EffectOutcome::Yielded(self.value_of(0))),

            Effect::InitializeCondition { condition } => self.initialize_condition(*condition),
            Effect::DestroyCondition { condition } => self.destroy_condition(*condition, resume),
            Effect::Wait { condition, lock, attempt, result } => self.wait(*condition, *lock, *attempt, *result, resume),
            Effect::Signal { condition, wakes } => self.signal(*condition, *wakes),

            Effect::InitializeBarrier { barrier, count } => self.initialize_barrier(*barrier, *count),
            Effect::WaitBarrier { barrier } => self.wait_barrier(*barrier, resume),
            Effect::DestroyBarrier { barrier } => self.destroy_barrier(*barrier),
            Effect::Once { control, routine } => self.once(*control, *routine, resume),

            Effect::CreateKey { key, destructor } => self.create_key(*key, *destructor),
            Effect::DeleteKey { key } => self.delete_key(*key),
            Effect::SetSpecific { key, value } => self.set_specific(*key, *value),
            Effect::GetSpecific { key } => self.get_specific(*key),

            Effect::InitializeSemaphore { semaphore, value } => self.initialize_semaphore(*semaphore, *value),
            Effect::WaitSemaphore { semaphore, attempt } => self.wait_semaphore(*semaphore, *attempt, resume),
            Effect::PostSemaphore { semaphore } => self.post_semaphore(*semaphore),
            Effect::ReadSemaphore { semaphore, value } => self.read_semaphore(*semaphore, *value),
            Effect::DestroySemaphore { semaphore } => self.destroy_semaphore(*semaphore),

            Effect::BeginAtomic => {
                begin_atomic_body(self.context, self.thread);
                self.done(0)
            }
            Effect::EndAtomic => {
                end_atomic_body(self.context, self.thread);
                self.done(0)
            }
            Effect::Fence { ordering } => self.fence(*ordering),
            Effect::Atomic(atomic) => self.atomic(atomic),

            // Memory, inputs, the process: the machine's own. The body of an atomic function is the machine's to run.
            Effect::AtomicBody
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
            | Effect::ReturnsByLength { .. } => Ok(EffectOutcome::NotSynchronization),
        }
    }

    fn emit(&mut self, event: SyncEvent) {
        self.context.emit(event);
    }

    /// The call is complete and returns this number.
    fn done(&mut self, number: i64) -> Outcome {
        Ok(EffectOutcome::Done(self.value_of(number)))
    }

    fn done_with(&mut self, value: Value) -> Outcome {
        Ok(EffectOutcome::Done(Some(value)))
    }
}

/// A function whose body is one atomic section begins (or `__VERIFIER_atomic_begin` is called).
pub fn begin_atomic_body(context: &mut dyn SyncContext, thread: ThreadId) {
    if context.table_mut().atomic.enter(thread) {
        context.emit(SyncEvent::BeginAtomic { thread });
    }
}

/// It ends, by return or by `__VERIFIER_atomic_end`.
pub fn end_atomic_body(context: &mut dyn SyncContext, thread: ThreadId) {
    if context.table_mut().atomic.leave(thread) {
        context.emit(SyncEvent::EndAtomic { thread });
    }
}

/// The locks a thread still holds where it ends.
pub fn leaked_locks(context: &dyn SyncContext, thread: ThreadId) -> Vec<HeldLock> {
    context.table().held_by(thread).to_vec()
}
