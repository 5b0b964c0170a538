//! Accesses to memory: which of them others can see, and what the race detector learns of them.

use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::happens_before::AccessKind;
use crate::explore::memory::ObjectKind;
use crate::explore::value::{ObjectId, Pointer, ScalarValue, Value};
use crate::program::{Access, AssumptionKind, IntegerPredicate, Operand, Ordering, Predicate, ReadModifyWriteOp, Scope, Type};

use super::Machine;
use super::observer::EventKind;
use super::turn::{Stop, Turn};

impl Machine<'_> {
    /// Whether a thread other than `thread` can reach the object.
    pub(super) fn is_shared(&self, object: ObjectId, thread: u32) -> bool {
        let object = self.memory.object(object);
        match object.kind {
            ObjectKind::Global(_) => !object.read_only,
            ObjectKind::Heap { .. } => true,
            ObjectKind::Stack { thread: owner, .. } | ObjectKind::ThreadLocal { thread: owner, .. } => {
                object.escaped || owner != thread
            }
            ObjectKind::Internal(_) => object.escaped,
            ObjectKind::Function(_) | ObjectKind::Block(..) => false,
        }
    }

    /// The object an access through this pointer is meant for, whether or not it can be made.
    pub(super) fn object_of(&self, pointer: Pointer) -> Option<ObjectId> {
        pointer.object.or_else(|| self.memory.pointer_to(pointer.address).object)
    }
}

impl Turn<'_, '_> {
    /// Whether an access through this pointer is a visible operation. Decided without looking whether the object still lives:
    /// that is for the moment of the access.
    pub fn is_visible(&self, pointer: Pointer) -> bool {
        !self.machine.is_alone()
            && self.machine.object_of(pointer).is_some_and(|object| self.machine.is_shared(object, self.thread.id.0))
    }

    /// Ends the turn before a second visible operation.
    pub fn act_on(&mut self, pointers: &[Pointer]) -> Result<(), Stop> {
        if pointers.iter().any(|pointer| self.is_visible(*pointer)) { self.act() } else { Ok(()) }
    }

    /// The pointers in a value are known to memory from now on: what they point to is no longer private.
    pub fn escape(&mut self, value: &Value) {
        match value {
            Value::Scalar(ScalarValue::Pointer(Pointer { object: Some(object), .. })) => {
                self.machine.memory.mark_escaped(*object)
            }
            Value::Scalar(_) => {}
            Value::Vector(lanes) => {
                for lane in lanes {
                    if let ScalarValue::Pointer(Pointer { object: Some(object), .. }) = lane {
                        self.machine.memory.mark_escaped(*object);
                    }
                }
            }
            Value::Aggregate(bytes) => {
                for (_, object) in &bytes.pointers {
                    self.machine.memory.mark_escaped(*object);
                }
            }
        }
    }

    /// Ordering between threads, if the access has one.
    fn ordering(&mut self, access: &Access) -> Option<Ordering> {
        if access.is_volatile && access.ordering.is_none() && self.machine.options.volatile_is_atomic {
            self.machine.assume(AssumptionKind::VolatileAsAtomic, "volatile", self.site);
            return Some(Ordering::SequentiallyConsistent);
        }
        // Between threads an access that is atomic towards signal handlers only is a plain one.
        access.ordering.filter(|_| access.scope == Scope::System)
    }

    pub fn load_access(&mut self, address: Pointer, ty: Type, access: &Access) -> Result<Value, Stop> {
        self.act_on(&[address])?;
        let ordering = self.ordering(access);
        Ok(self.read_value(address, ty, ordering)?)
    }

    pub fn store_access(&mut self, address: Pointer, value: Operand, ty: Type, access: &Access) -> Result<(), Stop> {
        self.act_on(&[address])?;
        let ordering = self.ordering(access);
        let value = self.operand(value).clone();
        Ok(self.write_value(address, &value, ty, ordering)?)
    }

    /// A read that is checked, recorded and shown.
    pub fn read_value(&mut self, address: Pointer, ty: Type, ordering: Option<Ordering>) -> Result<Value, Fault> {
        let value = self.machine.memory.load(address, ty)?;
        if !self.machine.is_alone() || self.is_observed {
            let size = self.machine.program.layout.store_bytes(ty);
            self.record(address, size, read_kind(ordering))?;
            self.observe(EventKind::Read { address, size, value: Some(&value), ordering });
        }
        self.note_unknown_global(address);
        Ok(value)
    }

    pub fn write_value(&mut self, address: Pointer, value: &Value, ty: Type, ordering: Option<Ordering>) -> Result<(), Fault> {
        self.machine.memory.store(address, value, ty)?;
        self.escape(value);
        if !self.machine.is_alone() || self.is_observed {
            let size = self.machine.program.layout.store_bytes(ty);
            self.record(address, size, write_kind(ordering))?;
            self.observe(EventKind::Write { address, size, value: Some(value), ordering });
        }
        Ok(())
    }

    pub fn copy_access(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Stop> {
        self.act_on(&[destination, source])?;
        Ok(self.copy_bytes(destination, source, size)?)
    }

    pub fn copy_bytes(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault> {
        self.machine.memory.copy(destination, source, size)?;
        self.record(source, size, AccessKind::Read)?;
        self.observe(EventKind::Read { address: source, size, value: None, ordering: None });
        self.record(destination, size, AccessKind::Write)?;
        self.observe(EventKind::Write { address: destination, size, value: None, ordering: None });
        self.note_unknown_global(source);
        Ok(())
    }

    pub fn fill_access(&mut self, destination: Pointer, byte: Option<u8>, size: u64) -> Result<(), Stop> {
        self.act_on(&[destination])?;
        Ok(self.fill_bytes(destination, byte, size)?)
    }

    pub fn fill_bytes(&mut self, destination: Pointer, byte: Option<u8>, size: u64) -> Result<(), Fault> {
        self.machine.memory.fill(destination, byte, size)?;
        self.record(destination, size, AccessKind::Write)?;
        self.observe(EventKind::Write { address: destination, size, value: None, ordering: None });
        Ok(())
    }

    pub fn read_modify_write(
        &mut self,
        op: ReadModifyWriteOp,
        address: Pointer,
        value: Operand,
        access: &Access,
    ) -> Result<Value, Stop> {
        self.act_on(&[address])?;
        let ordering = self.ordering(access);
        let operand = self.operand(value).clone();
        let ty = operand.type_of();
        let old = self.machine.memory.load(address, ty)?;
        let new = evaluate::read_modify_write(&self.machine.memory, op, &old, &operand)?;
        self.machine.memory.store(address, &new, ty)?;
        self.escape(&new);
        self.record_update(address, ty, &old, Some(&new), ordering)?;
        Ok(old)
    }

    /// The old value, and whether it was replaced.
    pub fn compare_exchange(
        &mut self,
        address: Pointer,
        expected: Operand,
        replacement: Operand,
        access: &Access,
        failure: Ordering,
        is_weak: bool,
    ) -> Result<(Value, bool), Stop> {
        self.act_on(&[address])?;
        let ordering = self.ordering(access);
        let (expected, replacement) = (self.operand(expected).clone(), self.operand(replacement).clone());
        let ty = replacement.type_of();
        let old = self.machine.memory.load(address, ty)?;
        let equal = evaluate::compare(&self.machine.memory, Predicate::Integer(IntegerPredicate::Equal), &old, &expected)?;
        let mut success = evaluate::truth(&equal);
        if success && is_weak && self.machine.options.faults {
            success = self.choose_below(2, "weak exchange fails") == 0;
        }
        if success {
            self.machine.memory.store(address, &replacement, ty)?;
            self.escape(&replacement);
            self.record_update(address, ty, &old, Some(&replacement), ordering)?;
        } else {
            self.record_update(address, ty, &old, None, ordering.map(|_| failure))?;
        }
        Ok((old, success))
    }

    fn record_update(
        &mut self,
        address: Pointer,
        ty: Type,
        old: &Value,
        new: Option<&Value>,
        ordering: Option<Ordering>,
    ) -> Result<(), Fault> {
        let size = self.machine.program.layout.store_bytes(ty);
        let is_write = new.is_some();
        let kind = match ordering {
            Some(ordering) if is_write => AccessKind::AtomicReadWrite(ordering),
            None if is_write => AccessKind::Write,
            ordering => read_kind(ordering),
        };
        self.record(address, size, kind)?;
        self.observe(EventKind::Read { address, size, value: Some(old), ordering });
        if is_write {
            self.observe(EventKind::Write { address, size, value: new, ordering });
        }
        self.note_unknown_global(address);
        Ok(())
    }

    /// What the compiler knows of a global that is defined elsewhere is its name.
    fn note_unknown_global(&mut self, address: Pointer) {
        if !self.prepared.unknown_globals.is_empty()
            && let Some(global) = address.object.and_then(|object| self.prepared.unknown_globals.get(&object))
        {
            let name = &self.machine.program.globals[*global].name;
            self.machine.assume(AssumptionKind::ExternalGlobal, name, self.site);
        }
    }
}

fn read_kind(ordering: Option<Ordering>) -> AccessKind {
    ordering.map_or(AccessKind::Read, AccessKind::AtomicRead)
}

fn write_kind(ordering: Option<Ordering>) -> AccessKind {
    ordering.map_or(AccessKind::Write, AccessKind::AtomicWrite)
}
