//! The end of a thread: cleanup handlers, destructors of thread-specific data, and what it leaves behind.

use super::{Outcome, Performance};
use crate::explore::fault::Fault;
use crate::explore::sync::context::SyncContext;
use crate::explore::sync::event::{Misuse, MisuseKind, SyncEvent};
use crate::explore::sync::keys::DESTRUCTOR_ROUNDS;
use crate::explore::sync::outcome::{Call, EffectOutcome, Resume};
use crate::explore::sync::threads::{Cleanup, ExitStage, ThreadExit, ThreadStatus};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, Value};
use crate::models::{ArgumentIndex, Effect, ThreadResult};
use crate::program::Type;

/// The entry function of a thread has returned `value` (nothing: undefined): destructors run, then the thread ends.
///
/// Called first with [`Resume::Start`], and after each callback with what came back. Not for the thread of `main`, whose
/// return ends the process.
pub fn thread_returned(context: &mut dyn SyncContext, thread: ThreadId, value: Option<Value>, resume: Resume) -> Outcome {
    let call = Call { effect: &Effect::CancellationPoint, arguments: &[], return_type: Type::Void };
    let mut performance = Performance { context, thread, call };
    match resume {
        Resume::Exit(exit) => performance.go_on_with_exit(*exit),
        _ => {
            let value = value.unwrap_or_else(|| Value::undef(Type::POINTER));
            performance.context.table_mut().record(thread).cleanup.clear();
            performance.begin_exit(value)
        }
    }
}

const UNMATCHED: &str = "pthread_cleanup_pop without a matching push";

impl Performance<'_, '_> {
    pub(super) fn exit_thread(&mut self, value: Option<ArgumentIndex>, returns: ThreadResult) -> Outcome {
        let value = match (value, returns) {
            (Some(index), _) => self.argument(index)?.clone(),
            (None, ThreadResult::Pointer) => Value::pointer(Pointer::NULL),
            (None, ThreadResult::Integer) => Value::integer(32, 0),
        };
        self.begin_exit(value)
    }

    pub(super) fn cancellation_point(&mut self) -> Outcome {
        match self.act_on_cancel() {
            Some(outcome) => outcome,
            None => Ok(EffectOutcome::Done(None)),
        }
    }

    /// The way out, when the thread is cancelled.
    pub(super) fn act_on_cancel(&mut self) -> Option<Outcome> {
        self.context.table().thread(self.thread).is_cancelled().then(|| self.exit_cancelled())
    }

    pub(super) fn exit_cancelled(&mut self) -> Outcome {
        self.emit(SyncEvent::ActOnCancel { thread: self.thread });
        // `PTHREAD_CANCELED`
        let address = u64::MAX >> (64 - self.context.layout().pointer_bits());
        self.begin_exit(Value::pointer(Pointer { address, object: None }))
    }

    fn begin_exit(&mut self, value: Value) -> Outcome {
        let thread = self.thread;
        // A thread on its way out is not cancelled again.
        self.context.table_mut().record(thread).is_cancel_enabled = false;
        self.go_on_with_exit(ThreadExit { value, stage: ExitStage::Cleanup })
    }

    pub(super) fn go_on_with_exit(&mut self, mut exit: ThreadExit) -> Outcome {
        let thread = self.thread;
        loop {
            match exit.stage {
                ExitStage::Cleanup => {
                    let record = self.context.table_mut().record(thread);
                    match record.cleanup.pop() {
                        Some(Cleanup::Routine { function, argument }) => return call_back(function, argument, exit),
                        Some(Cleanup::Jump { buffer }) => {
                            record.exit = Some(exit);
                            return Ok(EffectOutcome::Jump { buffer });
                        }
                        None => exit.stage = ExitStage::Destructors { round: 0, from: 0 },
                    }
                }
                ExitStage::Destructors { round, from } => {
                    let keys = self.context.table_mut().keys.change();
                    match keys.take_next(thread, from) {
                        Some((key, function, value)) => {
                            exit.stage = ExitStage::Destructors { round, from: key + 1 };
                            return call_back(function, Value::pointer(value), exit);
                        }
                        // Destructors may have set values again.
                        None if from > 0 && round + 1 < DESTRUCTOR_ROUNDS => {
                            exit.stage = ExitStage::Destructors { round: round + 1, from: 0 };
                        }
                        None => return self.end_thread(exit.value),
                    }
                }
            }
        }
    }

    fn end_thread(&mut self, value: Value) -> Outcome {
        let thread = self.thread;
        for held in self.context.table().held_by(thread).to_vec() {
            self.context.report_misuse(Misuse {
                kind: MisuseKind::LockLeak,
                thread,
                lock: held.lock,
                holder: None,
                returns_error: false,
            });
        }
        let table = self.context.table_mut();
        table.keys.change().forget_thread(thread);
        table.onces.change().values_mut().for_each(|once| once.abandon(thread));
        table.record(thread).status = ThreadStatus::Ended(value);
        if table.atomic.abandon(thread) {
            self.emit(SyncEvent::EndAtomic { thread });
        }
        self.emit(SyncEvent::End { thread });
        Ok(EffectOutcome::EndThread)
    }

    pub(super) fn push_cleanup(&mut self, routine: ArgumentIndex, argument: ArgumentIndex) -> Outcome {
        let (function, argument, thread) = (self.pointer(routine)?, self.argument(argument)?.clone(), self.thread);
        self.context.table_mut().record(thread).cleanup.push(Cleanup::Routine { function, argument });
        Ok(EffectOutcome::Done(None))
    }

    pub(super) fn push_cleanup_jump(&mut self, buffer: ArgumentIndex) -> Outcome {
        let (buffer, thread) = (self.pointer(buffer)?, self.thread);
        self.context.table_mut().record(thread).cleanup.push(Cleanup::Jump { buffer });
        Ok(EffectOutcome::Done(None))
    }

    /// The program calls the handler itself, if it is to be called.
    pub(super) fn pop_cleanup_jump(&mut self, buffer: ArgumentIndex) -> Outcome {
        let (buffer, thread) = (self.pointer(buffer)?, self.thread);
        match self.context.table_mut().record(thread).cleanup.pop() {
            Some(Cleanup::Jump { buffer: pushed }) if pushed.address == buffer.address => Ok(EffectOutcome::Done(None)),
            _ => Err(Fault::undefined(UNMATCHED)),
        }
    }

    /// The handler that the thread jumped to on its way out is done.
    pub(super) fn continue_exit(&mut self, resume: Resume) -> Outcome {
        debug_assert_eq!(resume, Resume::Start, "what comes later is an exit that goes on");
        let thread = self.thread;
        match self.context.table_mut().record(thread).exit.take() {
            Some(exit) => self.go_on_with_exit(exit),
            None => Err(Fault::undefined("a cleanup handler is left, and the thread is not on its way out")),
        }
    }

    pub(super) fn pop_cleanup(&mut self, execute: ArgumentIndex, resume: Resume) -> Outcome {
        if resume == Resume::CleanupDone {
            return Ok(EffectOutcome::Done(None));
        }
        let is_executed = self.signed(execute)? != 0;
        let thread = self.thread;
        match self.context.table_mut().record(thread).cleanup.pop() {
            Some(Cleanup::Routine { function, argument }) if is_executed => {
                Ok(EffectOutcome::CallBack { function, arguments: vec![argument], resume: Resume::CleanupDone })
            }
            Some(Cleanup::Routine { .. }) => Ok(EffectOutcome::Done(None)),
            Some(Cleanup::Jump { .. }) | None => Err(Fault::undefined(UNMATCHED)),
        }
    }
}

fn call_back(function: Pointer, argument: Value, exit: ThreadExit) -> Outcome {
    Ok(EffectOutcome::CallBack { function, arguments: vec![argument], resume: Resume::Exit(Box::new(exit)) })
}
