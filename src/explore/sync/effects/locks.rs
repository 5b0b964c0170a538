//! Locks: acquire, release, initialise, destroy, and the attributes that decide their kind.

use super::{Outcome, Performance};
use crate::explore::fault::Fault;
use crate::explore::sync::context::Touch;
use crate::explore::sync::event::{Misuse, MisuseKind, SyncEvent};
use crate::explore::sync::layout::{self, DESTROYED, Primitive, errno};
use crate::explore::sync::lock::{Discipline, Lock};
use crate::explore::sync::mutex::{LockAnswer, MutexKind, UnlockAnswer};
use crate::explore::sync::outcome::{BlockReason, EffectOutcome, Resume};
use crate::explore::sync::table::{HeldLock, SyncKey};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::Pointer;
use crate::models::{ArgumentIndex, Attempt, Attribute, LockClass, LockKindSource, LockMode, ResultConvention};

impl Performance<'_, '_> {
    pub(super) fn acquire(
        &mut self,
        lock: ArgumentIndex,
        (class, mode): (LockClass, LockMode),
        attempt: Attempt,
        convention: ResultConvention,
        resume: Resume,
    ) -> Outcome {
        let (pointer, key) = self.primitive(lock, Primitive::Lock(class), Touch::Operation)?;
        self.refresh_discipline(pointer, key, class)?;
        let is_first_attempt = resume == Resume::Start;
        let code = match (self.try_lock(key, class, mode), attempt) {
            (LockAnswer::Acquired, _) => 0,
            (_, Attempt::Try) => errno::EBUSY,
            (LockAnswer::AlreadyOwned, _) => {
                // An error-checking mutex is asked to say so; a read-write lock is used against its rules.
                if class == LockClass::ReadWrite {
                    self.report(MisuseKind::DoubleLock, key, None, true);
                }
                errno::EDEADLK
            }
            (LockAnswer::Busy | LockAnswer::SelfDeadlock, Attempt::Timed) if !is_first_attempt => {
                self.set_waiting(key, mode, false);
                errno::ETIMEDOUT
            }
            (answer @ (LockAnswer::Busy | LockAnswer::SelfDeadlock), _) => {
                if answer == LockAnswer::SelfDeadlock && attempt == Attempt::Blocking && is_first_attempt {
                    self.report(MisuseKind::DoubleLock, key, None, false);
                }
                self.set_waiting(key, mode, true);
                let reason = BlockReason::Lock { lock: key, mode, is_timed: attempt == Attempt::Timed };
                return Ok(EffectOutcome::Block { reason, resume: Resume::Again });
            }
        };
        self.finish(code, convention)
    }

    /// Takes the lock if it is free, and says so to all who listen.
    pub(super) fn try_lock(&mut self, key: SyncKey, class: LockClass, mode: LockMode) -> LockAnswer {
        let thread = self.thread;
        let site = self.context.site();
        let table = self.context.table_mut();
        let lock = table.locks.change().entry(key).or_insert_with(|| Lock::new(Discipline::default_of(class)));
        let is_outermost = !lock.is_held_by(thread);
        let answer = lock.lock(thread, mode);
        if answer == LockAnswer::Acquired && is_outermost {
            table.add_held(thread, HeldLock { lock: key, class, mode, site });
            self.emit(SyncEvent::Acquire { thread, lock: key, class, mode, site });
        }
        answer
    }

    fn set_waiting(&mut self, key: SyncKey, mode: LockMode, is_waiting: bool) {
        let thread = self.thread;
        if let Some(lock) = self.context.table_mut().locks.change().get_mut(&key) {
            lock.set_waiting(thread, mode, is_waiting);
        }
    }

    pub(super) fn release(&mut self, lock: ArgumentIndex, class: LockClass) -> Outcome {
        let (pointer, key) = self.primitive(lock, Primitive::Lock(class), Touch::Operation)?;
        self.refresh_discipline(pointer, key, class)?;
        let code = self.unlock(key, class);
        self.finish_with_number(code)
    }

    /// Gives one level of the lock back; 0 or an error number.
    pub(super) fn unlock(&mut self, key: SyncKey, class: LockClass) -> i32 {
        let thread = self.thread;
        let locks = self.context.table_mut().locks.change();
        let lock = locks.entry(key).or_insert_with(|| Lock::new(Discipline::default_of(class)));
        let discipline = lock.discipline;
        let (answer, mode) = lock.unlock(thread);
        match answer {
            UnlockAnswer::StillHeld => 0,
            UnlockAnswer::Released => {
                self.forget_held(thread, key, class, mode);
                0
            }
            UnlockAnswer::NotOwner { holder, was_released } => {
                let returns_error = matches!(discipline, Discipline::Mutex(MutexKind::Recursive | MutexKind::ErrorChecking));
                self.report(MisuseKind::UnlockNotHeld, key, holder, returns_error);
                if let (Some(holder), true) = (holder, was_released) {
                    self.forget_held(holder, key, class, mode);
                }
                if returns_error { errno::EPERM } else { 0 }
            }
        }
    }

    fn forget_held(&mut self, holder: ThreadId, lock: SyncKey, class: LockClass, mode: LockMode) {
        let thread = self.thread;
        self.context.table_mut().remove_held(holder, lock);
        self.emit(SyncEvent::Release { thread, holder, lock, class, mode });
    }

    pub(super) fn initialize_lock(&mut self, lock: ArgumentIndex, class: LockClass, kind: LockKindSource) -> Outcome {
        let primitive = Primitive::Lock(class);
        let (pointer, key) = self.primitive(lock, primitive, Touch::PlainWrite)?;
        let kind = match kind {
            LockKindSource::Default => 0,
            LockKindSource::Attributes(index) => match self.optional_pointer(Some(index))? {
                None => 0,
                Some(attributes) => {
                    self.note_robustness(attributes);
                    let field = match class {
                        LockClass::ReadWrite => Attribute::ReadWritePreference,
                        LockClass::Mutex | LockClass::Spin | LockClass::Custom => Attribute::MutexType,
                    };
                    self.context.table().attribute(self.key_of(attributes), field) as i32
                }
            },
            // `mtx_recursive` is 1; `mtx_timed`, 2, changes nothing.
            LockKindSource::TypeFlags(index) => self.signed(index)? as i32 & 1,
        };
        if key.object.is_some() && class != LockClass::Custom {
            self.clear_bytes(pointer, primitive)?;
        }
        if let Some(field) = layout::kind_field(class, self.context.layout()) {
            self.poke_field(pointer, field, kind)?;
        }
        self.forget_lock(key);
        self.context.table_mut().destroyed.change().remove(&key);
        let discipline = layout::discipline_of(class, kind).unwrap_or(Discipline::default_of(class));
        self.context.table_mut().locks.change().insert(key, Lock::new(discipline));
        self.finish_with_number(0)
    }

    pub(super) fn destroy_lock(&mut self, lock: ArgumentIndex, class: LockClass) -> Outcome {
        let (pointer, key) = self.primitive(lock, Primitive::Lock(class), Touch::PlainWrite)?;
        let holder = self.context.table().lock(key).and_then(|lock| lock.holders().first().copied());
        let is_mutex = class == LockClass::Mutex;
        if let Some(holder) = holder {
            self.report(MisuseKind::DestroyHeld, key, Some(holder), is_mutex);
            if is_mutex {
                return self.finish_with_number(errno::EBUSY);
            }
            return Err(Fault::undefined("a lock that is held is destroyed"));
        }
        if let (true, Some(field)) = (is_mutex, layout::kind_field(class, self.context.layout())) {
            self.poke_field(pointer, field, DESTROYED)?;
        } else {
            self.context.table_mut().destroyed.change().insert(key);
        }
        self.forget_lock(key);
        self.finish_with_number(0)
    }

    /// The lock is new, or gone: nobody holds it.
    fn forget_lock(&mut self, key: SyncKey) {
        let table = self.context.table_mut();
        let holders = table.lock(key).map(Lock::holders).unwrap_or_default();
        holders.into_iter().for_each(|holder| table.remove_held(holder, key));
        table.locks.change().remove(&key);
    }

    /// Reads the lock's kind from its bytes, as the library does. What a lock does that was destroyed is not defined.
    pub(super) fn refresh_discipline(&mut self, pointer: Pointer, key: SyncKey, class: LockClass) -> Result<(), Fault> {
        let is_destroyed = || Fault::undefined("a lock is used after it was destroyed");
        if self.context.table().destroyed.contains(&key) {
            return Err(is_destroyed());
        }
        let Some(field) = layout::kind_field(class, self.context.layout()) else { return Ok(()) };
        let Some(kind) = self.peek_field(pointer, field)? else { return Ok(()) };
        let discipline = layout::discipline_of(class, kind).ok_or_else(is_destroyed)?;
        let locks = &mut self.context.table_mut().locks;
        if locks.get(&key).is_none_or(|lock| lock.discipline != discipline) {
            locks.change().entry(key).or_insert_with(|| Lock::new(discipline)).discipline = discipline;
        }
        Ok(())
    }

    pub(super) fn report(&mut self, kind: MisuseKind, lock: SyncKey, holder: Option<ThreadId>, returns_error: bool) {
        let thread = self.thread;
        let holder = holder.filter(|holder| *holder != thread);
        self.context.report_misuse(Misuse { kind, thread, lock, holder, returns_error });
    }
}
