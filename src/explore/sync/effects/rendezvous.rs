//! Barriers, one-time initialisation, semaphores and thread-specific data.

use super::{Outcome, Performance};
use crate::explore::sync::barrier::{Arrival, Barrier};
use crate::explore::sync::context::Touch;
use crate::explore::sync::event::SyncEvent;
use crate::explore::sync::layout::{Primitive, errno};
use crate::explore::sync::once::OnceAnswer;
use crate::explore::sync::outcome::{BlockReason, EffectOutcome, Resume};
use crate::explore::sync::semaphore::Semaphore;
use crate::explore::sync::table::SyncKey;
use crate::explore::value::{Pointer, Value};
use crate::models::{ArgumentIndex, Attempt, ResultConvention};
use crate::program::Type;

/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL_THREAD: i64 = -1;

impl Performance<'_, '_> {
    pub(super) fn initialize_barrier(&mut self, barrier: ArgumentIndex, count: ArgumentIndex) -> Outcome {
        let (pointer, key) = self.primitive(barrier, Primitive::Barrier, Touch::PlainWrite)?;
        let Some(state) = Barrier::new(self.unsigned(count)?) else {
            return self.finish_with_number(errno::EINVAL);
        };
        self.clear_bytes(pointer, Primitive::Barrier)?;
        self.context.table_mut().barriers.change().insert(key, state);
        self.finish_with_number(0)
    }

    pub(super) fn wait_barrier(&mut self, barrier: ArgumentIndex, resume: Resume) -> Outcome {
        let thread = self.thread;
        if let Resume::BarrierRound(round) = resume {
            // The last one may have destroyed the barrier since: its bytes are not touched again.
            let key = self.key_of(self.pointer(barrier)?);
            let is_complete = self.context.table().barrier(key).is_none_or(|state| state.is_complete(round));
            return if is_complete { self.leave_barrier(key, round, 0) } else { Ok(block_at_barrier(key, round)) };
        }
        let (_, key) = self.primitive(barrier, Primitive::Barrier, Touch::Operation)?;
        let Some(state) = self.context.table_mut().barriers.change().get_mut(&key) else {
            return self.finish_with_number(errno::EINVAL);
        };
        let arrival = state.arrive(thread);
        let (Arrival::Last { round } | Arrival::Waits { round }) = arrival;
        self.emit(SyncEvent::ArriveBarrier { thread, barrier: key, round });
        match arrival {
            Arrival::Last { round } => self.leave_barrier(key, round, SERIAL_THREAD),
            Arrival::Waits { round } => Ok(block_at_barrier(key, round)),
        }
    }

    fn leave_barrier(&mut self, barrier: SyncKey, round: u64, result: i64) -> Outcome {
        let thread = self.thread;
        self.emit(SyncEvent::LeaveBarrier { thread, barrier, round });
        self.done(result)
    }

    pub(super) fn destroy_barrier(&mut self, barrier: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(barrier, Primitive::Barrier, Touch::PlainWrite)?;
        let is_in_use = self.context.table().barrier(key).is_some_and(|state| !state.waiting().is_empty());
        if is_in_use {
            return self.finish_with_number(errno::EBUSY);
        }
        self.context.table_mut().barriers.change().remove(&key);
        self.finish_with_number(0)
    }

    pub(super) fn once(&mut self, control: ArgumentIndex, routine: ArgumentIndex, resume: Resume) -> Outcome {
        let thread = self.thread;
        let (_, key) = self.primitive(control, Primitive::Once, Touch::Operation)?;
        if resume == Resume::OnceRunning {
            self.context.table_mut().onces.change().entry(key).or_default().finish();
            self.emit(SyncEvent::FinishOnce { thread, control: key });
            return self.finish_with_number(0);
        }
        match self.context.table_mut().onces.change().entry(key).or_default().enter(thread) {
            OnceAnswer::Run => {
                let function = self.pointer(routine)?;
                Ok(EffectOutcome::CallBack { function, arguments: Vec::new(), resume: Resume::OnceRunning })
            }
            OnceAnswer::Wait => {
                let reason = BlockReason::Once { control: key };
                Ok(EffectOutcome::Block { reason, resume: Resume::Again })
            }
            OnceAnswer::AlreadyDone => {
                self.emit(SyncEvent::PassOnce { thread, control: key });
                self.finish_with_number(0)
            }
        }
    }

    pub(super) fn initialize_semaphore(&mut self, semaphore: ArgumentIndex, value: ArgumentIndex) -> Outcome {
        let (pointer, key) = self.primitive(semaphore, Primitive::Semaphore, Touch::PlainWrite)?;
        // `unsigned int`
        let value = self.unsigned(value)? & u64::from(u32::MAX);
        let Some(state) = Semaphore::new(value) else {
            return self.finish(errno::EINVAL, ResultConvention::MinusOneIsFailure);
        };
        self.clear_bytes(pointer, Primitive::Semaphore)?;
        self.context.table_mut().semaphores.change().insert(key, state);
        self.emit(SyncEvent::InitializeSemaphore { thread: self.thread, semaphore: key, value });
        self.finish(0, ResultConvention::MinusOneIsFailure)
    }

    pub(super) fn wait_semaphore(&mut self, semaphore: ArgumentIndex, attempt: Attempt, resume: Resume) -> Outcome {
        if attempt != Attempt::Try
            && let Some(outcome) = self.act_on_cancel()
        {
            return outcome;
        }
        let (_, key) = self.primitive(semaphore, Primitive::Semaphore, Touch::Operation)?;
        let code = if self.context.table_mut().semaphores.change().entry(key).or_default().take() {
            self.emit(SyncEvent::TakeSemaphore { thread: self.thread, semaphore: key });
            0
        } else {
            match attempt {
                Attempt::Try => errno::EAGAIN,
                Attempt::Timed if resume == Resume::Again => errno::ETIMEDOUT,
                Attempt::Blocking | Attempt::Timed => {
                    let reason = BlockReason::Semaphore { semaphore: key, is_timed: attempt == Attempt::Timed };
                    return Ok(EffectOutcome::Block { reason, resume: Resume::Again });
                }
            }
        };
        self.finish(code, ResultConvention::MinusOneIsFailure)
    }

    pub(super) fn post_semaphore(&mut self, semaphore: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(semaphore, Primitive::Semaphore, Touch::Operation)?;
        let code = if self.context.table_mut().semaphores.change().entry(key).or_default().post() {
            self.emit(SyncEvent::PostSemaphore { thread: self.thread, semaphore: key });
            0
        } else {
            errno::EOVERFLOW
        };
        self.finish(code, ResultConvention::MinusOneIsFailure)
    }

    pub(super) fn read_semaphore(&mut self, semaphore: ArgumentIndex, value: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(semaphore, Primitive::Semaphore, Touch::Operation)?;
        let current = self.context.table().semaphore(key).unwrap_or_default().value();
        let target = self.pointer(value)?;
        self.context.store(target, &Value::integer(32, u128::from(current)), Type::integer(32))?;
        self.finish(0, ResultConvention::MinusOneIsFailure)
    }

    pub(super) fn destroy_semaphore(&mut self, semaphore: ArgumentIndex) -> Outcome {
        let (_, key) = self.primitive(semaphore, Primitive::Semaphore, Touch::PlainWrite)?;
        self.context.table_mut().semaphores.change().remove(&key);
        self.finish(0, ResultConvention::MinusOneIsFailure)
    }

    pub(super) fn create_key(&mut self, key: ArgumentIndex, destructor: Option<ArgumentIndex>) -> Outcome {
        let target = self.pointer(key)?;
        let destructor = self.optional_pointer(destructor)?.unwrap_or(Pointer::NULL);
        let Some(number) = self.context.table_mut().keys.change().create(destructor) else {
            return self.finish_with_number(errno::EAGAIN);
        };
        self.context.store(target, &Value::integer(32, u128::from(number)), Type::integer(32))?;
        self.finish_with_number(0)
    }

    pub(super) fn delete_key(&mut self, key: ArgumentIndex) -> Outcome {
        let number = self.unsigned(key)? as u32;
        let existed = self.context.table_mut().keys.change().delete(number);
        self.finish_with_number(if existed { 0 } else { errno::EINVAL })
    }

    pub(super) fn set_specific(&mut self, key: ArgumentIndex, value: ArgumentIndex) -> Outcome {
        let (number, value, thread) = (self.unsigned(key)? as u32, self.pointer(value)?, self.thread);
        let exists = self.context.table_mut().keys.change().set(thread, number, value);
        self.finish_with_number(if exists { 0 } else { errno::EINVAL })
    }

    pub(super) fn get_specific(&mut self, key: ArgumentIndex) -> Outcome {
        let number = self.unsigned(key)? as u32;
        let value = self.context.table().keys.get(self.thread, number);
        self.done_with(Value::pointer(value))
    }
}

fn block_at_barrier(barrier: SyncKey, round: u64) -> EffectOutcome {
    EffectOutcome::Block { reason: BlockReason::Barrier { barrier, round }, resume: Resume::BarrierRound(round) }
}
