//! Condition variables: wait, signal, broadcast.
//!
//! A wait has three parts, and other threads may run between any two: the mutex is given back and the thread queues; it is woken,
//! gives up or is cancelled; the mutex is taken again.

use super::{Outcome, Performance};
use crate::explore::sync::context::Touch;
use crate::explore::sync::event::{MisuseKind, SyncEvent};
use crate::explore::sync::layout::{Primitive, errno};
use crate::explore::sync::mutex::LockAnswer;
use crate::explore::sync::outcome::{BlockReason, EffectOutcome, Resume, WaitEnd};
use crate::explore::sync::table::SyncKey;
use crate::models::{ArgumentIndex, Attempt, LockClass, LockMode, ResultConvention, Wakes};

impl Performance<'_, '_> {
    pub(super) fn initialize_condition(&mut self, condition: ArgumentIndex) -> Outcome {
        let (pointer, key) = self.primitive(condition, Primitive::Condition, Touch::PlainWrite)?;
        self.clear_bytes(pointer, Primitive::Condition)?;
        self.context.table_mut().conditions.change().remove(&key);
        self.finish_with_number(0)
    }

    pub(super) fn destroy_condition(&mut self, condition: ArgumentIndex, resume: Resume) -> Outcome {
        let touch = if resume == Resume::Start { Touch::PlainWrite } else { Touch::Operation };
        let (_, key) = self.primitive(condition, Primitive::Condition, touch)?;
        if self.context.table().condition(key).is_some_and(|state| state.has_waiters()) {
            // glibc waits for those who still use it.
            let reason = BlockReason::ConditionUnused { condition: key };
            return Ok(EffectOutcome::Block { reason, resume: Resume::Again });
        }
        self.context.table_mut().conditions.change().remove(&key);
        self.finish_with_number(0)
    }

    pub(super) fn wait(
        &mut self,
        condition: ArgumentIndex,
        lock: ArgumentIndex,
        attempt: Attempt,
        convention: ResultConvention,
        resume: Resume,
    ) -> Outcome {
        match resume {
            Resume::Waiting => {
                let (_, key) = self.primitive(condition, Primitive::Condition, Touch::Operation)?;
                let end = self.end_wait(key, attempt);
                self.reacquire(lock, end, convention)
            }
            Resume::Reacquire(end) => self.reacquire(lock, end, convention),
            _ => self.begin_wait(condition, lock, attempt, convention),
        }
    }

    fn begin_wait(
        &mut self,
        condition: ArgumentIndex,
        lock: ArgumentIndex,
        attempt: Attempt,
        convention: ResultConvention,
    ) -> Outcome {
        if let Some(outcome) = self.act_on_cancel() {
            return outcome;
        }
        let thread = self.thread;
        let (_, key) = self.primitive(condition, Primitive::Condition, Touch::Operation)?;
        let (pointer, lock) = self.primitive(lock, Primitive::Lock(LockClass::Mutex), Touch::Operation)?;
        self.refresh_discipline(pointer, lock, LockClass::Mutex)?;
        let holders = self.context.table().lock(lock).map(|lock| lock.holders()).unwrap_or_default();
        if holders.contains(&thread) {
            self.unlock(lock, LockClass::Mutex);
        } else if let Some(code) = self.wait_without_lock(lock, holders.first().copied()) {
            return self.finish(code, convention);
        }
        self.context.table_mut().conditions.change().entry(key).or_default().wait(thread);
        self.emit(SyncEvent::BeginWait { thread, condition: key });
        let reason = BlockReason::Condition {
            condition: key,
            is_timed: attempt == Attempt::Timed,
            may_wake_spuriously: self.context.has_spurious_wakeups(),
        };
        Ok(EffectOutcome::Block { reason, resume: Resume::Waiting })
    }

    /// The mutex is not the caller's: an error where the mutex keeps an owner, a foreign unlock otherwise.
    fn wait_without_lock(&mut self, lock: SyncKey, holder: Option<crate::explore::thread_id::ThreadId>) -> Option<i32> {
        use crate::explore::sync::lock::Discipline;
        use crate::explore::sync::mutex::MutexKind;
        let discipline = self.context.table().lock(lock).map(|lock| lock.discipline);
        let returns_error = matches!(discipline, Some(Discipline::Mutex(MutexKind::Recursive | MutexKind::ErrorChecking)));
        self.report(MisuseKind::WaitWithoutLock, lock, holder, returns_error);
        if returns_error {
            return Some(errno::EPERM);
        }
        if holder.is_some() {
            self.unlock(lock, LockClass::Mutex);
        }
        None
    }

    /// Leaves the queue and says why.
    fn end_wait(&mut self, condition: SyncKey, attempt: Attempt) -> WaitEnd {
        let thread = self.thread;
        let table = self.context.table_mut();
        let was_woken = table.conditions.change().entry(condition).or_default().leave(thread);
        let end = if was_woken {
            WaitEnd::Woken
        } else if table.thread(thread).is_cancelled() {
            WaitEnd::Cancelled
        } else if attempt == Attempt::Timed {
            WaitEnd::TimedOut
        } else {
            // For no reason at all.
            WaitEnd::Woken
        };
        self.emit(SyncEvent::EndWait { thread, condition });
        end
    }

    fn reacquire(&mut self, lock: ArgumentIndex, end: WaitEnd, convention: ResultConvention) -> Outcome {
        let (pointer, key) = self.primitive(lock, Primitive::Lock(LockClass::Mutex), Touch::Operation)?;
        self.refresh_discipline(pointer, key, LockClass::Mutex)?;
        match self.try_lock(key, LockClass::Mutex, LockMode::Exclusive) {
            LockAnswer::Acquired => {}
            LockAnswer::Busy | LockAnswer::SelfDeadlock | LockAnswer::AlreadyOwned => {
                let reason = BlockReason::Lock { lock: key, mode: LockMode::Exclusive, is_timed: false };
                return Ok(EffectOutcome::Block { reason, resume: Resume::Reacquire(end) });
            }
        }
        match end {
            WaitEnd::Woken => self.finish(0, convention),
            WaitEnd::TimedOut => self.finish(errno::ETIMEDOUT, convention),
            WaitEnd::Cancelled => self.exit_cancelled(),
        }
    }

    pub(super) fn signal(&mut self, condition: ArgumentIndex, wakes: Wakes) -> Outcome {
        let thread = self.thread;
        let (_, key) = self.primitive(condition, Primitive::Condition, Touch::Operation)?;
        let waiting = self.context.table().condition(key).map(|state| state.waiting().to_vec()).unwrap_or_default();
        match wakes {
            _ if waiting.is_empty() => self.emit(SyncEvent::Signal { thread, condition: key, woken: None }),
            Wakes::One => {
                let position = match waiting.len() {
                    1 => 0,
                    count => self.context.pick(count, "which waiter a signal wakes"),
                };
                let state = self.context.table_mut().conditions.change().entry(key).or_default();
                let woken = Some(state.signal(position));
                self.emit(SyncEvent::Signal { thread, condition: key, woken });
            }
            Wakes::All => {
                self.context.table_mut().conditions.change().entry(key).or_default().broadcast();
                for waiter in waiting {
                    self.emit(SyncEvent::Signal { thread, condition: key, woken: Some(waiter) });
                }
            }
        }
        self.finish_with_number(0)
    }
}
