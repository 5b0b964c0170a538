//! Threads: create, join, detach, cancel, and what a thread knows of itself.

use super::{Outcome, Performance};
use crate::explore::fault::Fault;
use crate::explore::sync::event::SyncEvent;
use crate::explore::sync::layout::errno;
use crate::explore::sync::outcome::{BlockReason, EffectOutcome, Resume};
use crate::explore::sync::threads::{JoinAnswer, ThreadStatus, Threads};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::models::{ArgumentIndex, Attempt, Attribute, ResultConvention, SpawnCount, ThreadResult};
use crate::program::{AssumptionKind, Type};

/// `PTHREAD_CREATE_DETACHED`.
const DETACHED: i64 = 1;

fn convention_of(returns: ThreadResult) -> ResultConvention {
    match returns {
        ThreadResult::Pointer => ResultConvention::ZeroIsSuccess,
        ThreadResult::Integer => ResultConvention::ThreadStatus,
    }
}

impl Performance<'_, '_> {
    pub(super) fn spawn(
        &mut self,
        entry: ArgumentIndex,
        argument: Option<ArgumentIndex>,
        handle: Option<ArgumentIndex>,
        attributes: Option<ArgumentIndex>,
        count: SpawnCount,
        returns: ThreadResult,
    ) -> Outcome {
        let entry = self.pointer(entry)?;
        let argument = argument.map(|index| self.argument(index).cloned()).transpose()?;
        let handle = self.optional_pointer(handle)?;
        let is_detached = match self.optional_pointer(attributes)? {
            Some(object) => self.context.table().attribute(self.key_of(object), Attribute::DetachState) == DETACHED,
            None => false,
        };
        let copies = match count {
            SpawnCount::One => 1,
            // Any number: two instances show what more would.
            SpawnCount::Many => 1 + self.context.pick(2, "how many threads run it"),
        };
        for _ in 0..copies {
            let child = self.context.table_mut().threads.change().create(is_detached);
            if let Some(handle) = handle {
                // Before the child runs: it may read the handle.
                let bits = self.context.layout().pointer_bits();
                let value = Value::integer(bits, u128::from(Threads::handle(child)));
                self.context.store(handle, &value, Type::integer(bits))?;
            }
            self.emit(SyncEvent::Fork { parent: self.thread, child });
            self.context.spawn(child, entry, argument.clone())?;
        }
        self.finish(0, convention_of(returns))
    }

    fn thread_argument(&self, handle: ArgumentIndex) -> Result<Option<ThreadId>, Fault> {
        let number = self.unsigned(handle)?;
        Ok(self.context.table().threads.from_handle(number))
    }

    pub(super) fn join(
        &mut self,
        handle: ArgumentIndex,
        value: Option<ArgumentIndex>,
        returns: ThreadResult,
        attempt: Attempt,
        resume: Resume,
    ) -> Outcome {
        let convention = convention_of(returns);
        let Some(target) = self.thread_argument(handle)? else {
            return self.finish(errno::ESRCH, convention);
        };
        if attempt != Attempt::Try && self.context.table().thread(self.thread).is_cancelled() {
            self.set_joiner(target, None);
            return self.exit_cancelled();
        }
        let answer = self.context.table().threads.can_join(self.thread, target);
        let code = match answer {
            JoinAnswer::Ended => {
                self.fetch_value(target, value, returns)?;
                0
            }
            JoinAnswer::Unknown => errno::ESRCH,
            JoinAnswer::NotJoinable => errno::EINVAL,
            JoinAnswer::Deadlock => errno::EDEADLK,
            JoinAnswer::Alive => match attempt {
                Attempt::Try => errno::EBUSY,
                Attempt::Timed if resume == Resume::Again => {
                    self.set_joiner(target, None);
                    errno::ETIMEDOUT
                }
                Attempt::Blocking | Attempt::Timed => {
                    self.set_joiner(target, Some(self.thread));
                    let reason = BlockReason::Join { thread: target, is_timed: attempt == Attempt::Timed };
                    return Ok(EffectOutcome::Block { reason, resume: Resume::Again });
                }
            },
        };
        self.finish(code, convention)
    }

    /// Only the thread that waits may say that it no longer does.
    fn set_joiner(&mut self, target: ThreadId, joiner: Option<ThreadId>) {
        let thread = self.thread;
        let record = self.context.table_mut().record(target);
        if record.joiner.is_none_or(|current| current == thread) {
            record.joiner = joiner;
        }
    }

    fn fetch_value(&mut self, target: ThreadId, to: Option<ArgumentIndex>, returns: ThreadResult) -> Result<(), Fault> {
        let value = self.context.table_mut().threads.change().take_value(target);
        self.emit(SyncEvent::Join { thread: self.thread, ended: target });
        let Some(address) = self.optional_pointer(to)? else { return Ok(()) };
        let ty = match returns {
            ThreadResult::Pointer => Type::POINTER,
            ThreadResult::Integer => Type::integer(32),
        };
        self.context.store(address, &as_result(value, ty), ty)
    }

    pub(super) fn detach(&mut self, handle: ArgumentIndex) -> Outcome {
        let Some(target) = self.thread_argument(handle)? else {
            return self.finish_with_number(errno::ESRCH);
        };
        let record = self.context.table_mut().record(target);
        let code = if record.status == ThreadStatus::Joined {
            errno::ESRCH
        } else if record.is_detached {
            errno::EINVAL
        } else {
            record.is_detached = true;
            0
        };
        self.finish_with_number(code)
    }

    pub(super) fn cancel(&mut self, handle: ArgumentIndex) -> Outcome {
        let Some(target) = self.thread_argument(handle)? else {
            return self.finish_with_number(errno::ESRCH);
        };
        let record = self.context.table_mut().record(target);
        match record.status {
            ThreadStatus::Alive => {
                record.is_cancel_pending = true;
                self.emit(SyncEvent::Cancel { thread: self.thread, target });
                self.finish_with_number(0)
            }
            ThreadStatus::Ended(_) => self.finish_with_number(0),
            ThreadStatus::Joined => self.finish_with_number(errno::ESRCH),
        }
    }

    pub(super) fn set_cancel_state(&mut self, state: ArgumentIndex, old: Option<ArgumentIndex>) -> Outcome {
        // `PTHREAD_CANCEL_ENABLE` is 0, `PTHREAD_CANCEL_DISABLE` 1.
        let is_enabled = match self.signed(state)? {
            0 => true,
            1 => false,
            _ => return self.finish_with_number(errno::EINVAL),
        };
        let (thread, old) = (self.thread, self.optional_pointer(old)?);
        let record = self.context.table_mut().record(thread);
        let was_enabled = std::mem::replace(&mut record.is_cancel_enabled, is_enabled);
        if let Some(address) = old {
            self.context.store(address, &Value::integer(32, u128::from(!was_enabled)), Type::integer(32))?;
        }
        self.finish_with_number(0)
    }

    pub(super) fn set_cancel_type(&mut self, kind: ArgumentIndex, old: Option<ArgumentIndex>) -> Outcome {
        // `PTHREAD_CANCEL_DEFERRED` is 0, `PTHREAD_CANCEL_ASYNCHRONOUS` 1.
        let is_at_once = match self.signed(kind)? {
            0 => false,
            1 => true,
            _ => return self.finish_with_number(errno::EINVAL),
        };
        if is_at_once {
            self.context.assume(AssumptionKind::PartialModel, "asynchronous cancellation acts at cancellation points only");
        }
        let (thread, old) = (self.thread, self.optional_pointer(old)?);
        let record = self.context.table_mut().record(thread);
        let was_at_once = std::mem::replace(&mut record.is_cancelled_at_once, is_at_once);
        if let Some(address) = old {
            self.context.store(address, &Value::integer(32, u128::from(was_at_once)), Type::integer(32))?;
        }
        self.finish_with_number(0)
    }

    pub(super) fn current_thread(&mut self) -> Outcome {
        self.done(Threads::handle(self.thread) as i64)
    }

    pub(super) fn equal_threads(&mut self, left: ArgumentIndex, right: ArgumentIndex) -> Outcome {
        let is_equal = self.unsigned(left)? == self.unsigned(right)?;
        self.done(i64::from(is_equal))
    }
}

/// What a thread returned, as the type that a joiner asks for. `PTHREAD_CANCELED` may meet an integer.
fn as_result(value: Value, ty: Type) -> Value {
    match (value, ty) {
        (Value::Scalar(ScalarValue::Pointer(pointer)), Type::Scalar(crate::program::Scalar::Integer(bits))) => {
            Value::integer(bits, u128::from(pointer.address))
        }
        (Value::Scalar(ScalarValue::Integer { value, .. }), Type::POINTER) => {
            Value::pointer(Pointer { address: value as u64, object: None })
        }
        (Value::Scalar(ScalarValue::Integer { value, .. }), Type::Scalar(crate::program::Scalar::Integer(bits))) => {
            Value::integer(bits, value)
        }
        (Value::Scalar(ScalarValue::Pointer(pointer)), Type::POINTER) => Value::pointer(pointer),
        (_, ty) => Value::undef(ty),
    }
}
