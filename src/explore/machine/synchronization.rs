//! The machine as synchronisation sees it, and what the race detector is told.

use std::sync::Arc;

use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::happens_before::{AccessKind, Actor, MemoryAccess, StackId};
use crate::explore::memory::ObjectKind;
use crate::explore::sync::{Misuse, MisuseKind, SyncContext, SyncEvent, SyncTable, ThreadId, Touch};
use crate::explore::value::{ObjectId, Pointer, Value};
use crate::program::{AssumptionKind, Context, DataLayout, Ordering, SiteId, Type};

use super::observer::EventKind;
use super::thread::{Creation, FrameKind, Thread};
use super::turn::{Stop, Turn};
use super::{Machine, SeenMisuse};

impl Machine<'_> {
    pub(super) fn is_in_atomic_section(&self, thread: ThreadId) -> bool {
        self.sync.atomic_owner() == Some(thread)
    }
}

impl Turn<'_, '_> {
    /// Tells the race detector of an access that has been made.
    ///
    /// A thread's own stack objects count from the moment their address is stored somewhere. What the thread did to them before can
    /// race only with a thread that got the address without any order; that is not seen.
    pub fn record(&mut self, address: Pointer, size: u64, kind: AccessKind) -> Result<(), Fault> {
        if self.machine.is_alone() || size == 0 {
            return Ok(());
        }
        let (object, offset) = self.machine.memory.locate(address, size, false)?;
        if self.machine.is_shared(object, self.thread.id.0) {
            let kind = self.kind_on_request(object, kind);
            let actor = self.actor();
            let access = MemoryAccess { object, offset, size, kind, actor };
            let races = self.machine.detector.access(&access);
            self.machine.races.extend(races);
        }
        Ok(())
    }

    /// A plain access to a global that is taken as atomic on request is a sequentially consistent one.
    fn kind_on_request(&mut self, object: ObjectId, kind: AccessKind) -> AccessKind {
        let Some(global) = self.prepared.assumed_atomic.get(&object) else { return kind };
        let atomic = match kind {
            AccessKind::Read => AccessKind::AtomicRead(Ordering::SequentiallyConsistent),
            AccessKind::Write => AccessKind::AtomicWrite(Ordering::SequentiallyConsistent),
            _ => return kind,
        };
        let name = &self.machine.program.globals[*global].source_name;
        self.machine.assume(AssumptionKind::AssumedAtomic, name, self.site);
        atomic
    }

    /// Tells the race detector that an object's life ends here.
    pub fn record_end(&mut self, object: ObjectId) {
        if !self.machine.is_alone() && self.machine.is_shared(object, self.thread.id.0) {
            let actor = self.actor();
            let races = self.machine.detector.end_object(object, actor);
            self.machine.races.extend(races);
        }
    }

    fn actor(&mut self) -> Actor {
        Actor { thread: self.thread.id, site: self.site, stack: self.stack_number() }
    }

    /// The number of the current call stack; each frame keeps its own once it was asked for.
    fn stack_number(&mut self) -> StackId {
        let stacks = self.machine.detector.stacks();
        let mut known = self.thread.root;
        let is_numbered = |kind: &FrameKind| matches!(kind, FrameKind::Code(code) if code.stack.is_some());
        let first = self.thread.frames.iter().rposition(|frame| is_numbered(&frame.kind)).unwrap_or(0);
        for frame in &mut self.thread.frames[first..] {
            let FrameKind::Code(code) = &mut frame.kind else { continue };
            known = match (code.stack, frame.call_site) {
                (Some(number), _) => number,
                (None, Some(site)) => stacks.call(known, site),
                (None, None) => known,
            };
            code.stack = Some(known);
        }
        known
    }

    pub fn fence(&mut self, ordering: Ordering) -> Result<(), Stop> {
        if !self.machine.is_alone() {
            self.act()?;
        }
        self.emit(SyncEvent::Fence { thread: self.thread.id, ordering });
        self.observe(EventKind::Fence { ordering });
        Ok(())
    }
}

impl SyncContext for Turn<'_, '_> {
    fn layout(&self) -> &DataLayout {
        &self.machine.program.layout
    }

    fn table(&self) -> &SyncTable {
        &self.machine.sync
    }

    fn table_mut(&mut self) -> &mut SyncTable {
        &mut self.machine.sync
    }

    fn site(&self) -> Option<SiteId> {
        self.site
    }

    fn locate(&self, pointer: Pointer) -> Option<(ObjectId, u64)> {
        let id = self.machine.object_of(pointer)?;
        let object = self.machine.memory.object(id);
        let offset = pointer.address.checked_sub(object.base)?;
        (offset <= object.size).then_some((id, offset))
    }

    fn remaining(&self, address: Pointer) -> Result<u64, Fault> {
        self.machine.remaining_bytes(address)
    }

    fn touch(&mut self, address: Pointer, size: u64, touch: Touch) -> Result<(), Fault> {
        let kind = match touch {
            Touch::PlainWrite => AccessKind::Write,
            Touch::PlainRead => AccessKind::Read,
            Touch::Operation => AccessKind::Operation,
            Touch::AtomicRead(ordering) => AccessKind::AtomicRead(ordering),
            Touch::AtomicWrite(ordering) => AccessKind::AtomicWrite(ordering),
            Touch::AtomicReadWrite(ordering) => AccessKind::AtomicReadWrite(ordering),
        };
        let (object, _) = self.machine.memory.locate(address, size, kind.writes())?;
        self.machine.memory.mark_escaped(object);
        self.record(address, size, kind)
    }

    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        self.machine.memory.read_bytes(address, size)
    }

    fn poke(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault> {
        self.machine.memory.write_bytes(address, bytes)
    }

    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        self.read_value(address, ty, None)
    }

    fn store(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        self.write_value(address, value, ty, None)
    }

    fn load_silently(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        self.machine.memory.load(address, ty)
    }

    fn store_silently(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        self.machine.memory.store(address, value, ty)?;
        self.escape(value);
        Ok(())
    }

    fn spawn(&mut self, thread: ThreadId, entry: Pointer, argument: Option<Value>) -> Result<(), Fault> {
        assert_eq!(thread.index(), self.machine.threads.len(), "threads are numbered in the order of creation");
        let mut context = Context { calls: self.thread.context().calls, ..self.thread.creation.context.clone() };
        context.creation.extend(self.site);
        let function = match self.machine.object_of(entry).map(|object| self.machine.memory.object(object).kind) {
            Some(ObjectKind::Function(function)) => Some(function),
            _ => None,
        };
        let creation = Creation { entry: function, creator: Some(self.thread.id), context };
        let mut child = Thread::new(thread, creation);
        let stack = self.stack_number();
        child.root = match self.site {
            Some(site) => self.machine.detector.stacks().create(stack, site),
            None => stack,
        };
        child.frames.push(super::call::entry_frame(entry, argument.clone()));
        if let Some(argument) = &argument {
            self.escape(argument);
        }
        self.machine.threads.push(Arc::new(child));
        self.observe(EventKind::Created { thread });
        Ok(())
    }

    fn set_errno(&mut self, code: i32) -> Result<(), Fault> {
        let place = self.errno();
        self.write_value(place, &Value::integer(32, u128::from(code as u32)), Type::integer(32), None)
    }

    fn pick(&mut self, count: usize, what: &str) -> usize {
        self.choose_below(count, what)
    }

    fn emit(&mut self, event: SyncEvent) {
        self.machine.detector.synchronize(&event);
        self.observe(EventKind::Synchronization(event));
    }

    fn report_misuse(&mut self, misuse: Misuse) {
        // What is never released is shown where it was taken.
        let taken =
            || self.machine.sync.held_by(misuse.thread).iter().find(|held| held.lock == misuse.lock).and_then(|held| held.site);
        let site = match misuse.kind {
            MisuseKind::LockLeak => taken().or(self.site),
            MisuseKind::DoubleLock | MisuseKind::UnlockNotHeld | MisuseKind::WaitWithoutLock | MisuseKind::DestroyHeld => {
                self.site
            }
        };
        let held = self.machine.sync.held_by(misuse.thread).to_vec();
        let seen = SeenMisuse { misuse, site, context: self.thread.context(), held };
        if !self.machine.misuses.contains(&seen) {
            self.machine.misuses.push(seen);
        }
    }

    fn assume(&mut self, kind: AssumptionKind, what: &str) {
        self.machine.assume(kind, what, self.site);
    }

    fn has_spurious_wakeups(&self) -> bool {
        self.machine.options.faults
    }
}
