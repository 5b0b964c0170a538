//! The machine as library functions see it.

use crate::explore::environment::{Environment, Stream};
use crate::explore::fault::Fault;
use crate::explore::happens_before::AccessKind;
use crate::explore::memory::{Death, Fill, ObjectKind};
use crate::explore::scheduler::InputRequest;
use crate::explore::value::{Pointer, Value};
use crate::program::{AssumptionKind, DataLayout, Type};

use super::Machine;
use super::observer::EventKind;
use super::turn::Turn;

/// What `malloc` promises.
const HEAP_ALIGN: u64 = 16;

impl Machine<'_> {
    /// A read-only object of the C library, made at its first use.
    pub(super) fn library_object(&mut self, name: &str, content: &[u8]) -> Result<Pointer, Fault> {
        if let Some(pointer) = self.library_objects.get(name) {
            return Ok(*pointer);
        }
        let kind = ObjectKind::Internal("the C library");
        let pointer = self.memory.allocate(kind, content.len() as u64, HEAP_ALIGN, Fill::Zero)?;
        self.memory.write_bytes(pointer, content)?;
        self.memory.make_read_only(pointer.object.expect("an allocation has an object"));
        self.library_objects.insert(name.to_owned(), pointer);
        Ok(pointer)
    }

    pub(super) fn remaining_bytes(&self, address: Pointer) -> Result<u64, Fault> {
        let (object, offset) = self.memory.locate(address, 0, false)?;
        Ok(self.memory.object(object).size - offset)
    }
}

impl Turn<'_, '_> {
    /// Only with `--faults`, by choice.
    fn allocation_fails(&mut self) -> bool {
        self.machine.options.faults && self.choose_below(2, "allocation fails") == 1
    }

    fn allocate_heap(&mut self, size: u64, align: u64, fill: Fill) -> Result<Pointer, Fault> {
        let kind = ObjectKind::Heap { thread: self.thread.id.0, site: self.site };
        match self.machine.memory.allocate(kind, size, align, fill) {
            // More than the address space holds: the one failure that a real allocator shows too.
            Err(Fault::OutOfMemory { .. }) => Ok(Pointer::NULL),
            result => result,
        }
    }
}

impl Environment for Turn<'_, '_> {
    fn layout(&self) -> &DataLayout {
        &self.machine.program.layout
    }

    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        self.read_value(address, ty, None)
    }

    fn store(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        self.write_value(address, value, ty, None)
    }

    fn read(&mut self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        let bytes = self.machine.memory.read_bytes(address, size)?;
        self.record(address, size, AccessKind::Read)?;
        self.observe(EventKind::Read { address, size, value: None, ordering: None });
        Ok(bytes)
    }

    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        self.machine.memory.read_bytes(address, size)
    }

    fn write(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault> {
        self.machine.memory.write_bytes(address, bytes)?;
        let size = bytes.len() as u64;
        self.record(address, size, AccessKind::Write)?;
        self.observe(EventKind::Write { address, size, value: None, ordering: None });
        Ok(())
    }

    fn copy(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault> {
        self.copy_bytes(destination, source, size)
    }

    fn fill(&mut self, destination: Pointer, byte: u8, size: u64) -> Result<(), Fault> {
        self.fill_bytes(destination, Some(byte), size)
    }

    fn remaining(&self, address: Pointer) -> Result<u64, Fault> {
        self.machine.remaining_bytes(address)
    }

    fn allocate(&mut self, size: u64, zeroed: bool) -> Result<Pointer, Fault> {
        if self.allocation_fails() {
            return Ok(Pointer::NULL);
        }
        self.allocate_heap(size, HEAP_ALIGN, if zeroed { Fill::Zero } else { Fill::Undef })
    }

    fn allocate_aligned(&mut self, size: u64, align: u64) -> Result<Pointer, Fault> {
        if self.allocation_fails() {
            return Ok(Pointer::NULL);
        }
        self.allocate_heap(size, align, Fill::Undef)
    }

    fn allocate_scratch(&mut self, size: u64) -> Result<Pointer, Fault> {
        match self.allocate_heap(size, HEAP_ALIGN, Fill::Undef)? {
            pointer if pointer.is_null() => Err(Fault::OutOfMemory { size }),
            pointer => Ok(pointer),
        }
    }

    fn free(&mut self, pointer: Pointer) -> Result<(), Fault> {
        if pointer.is_null() {
            return Ok(());
        }
        let invalid = Fault::InvalidFree { address: pointer.address };
        let id = self.machine.object_of(pointer).ok_or(invalid.clone())?;
        let object = self.machine.memory.object(id);
        match object.kind {
            ObjectKind::Heap { .. } if object.base == pointer.address => {}
            _ => return Err(invalid),
        }
        if !object.is_alive() {
            return Err(Fault::DoubleFree { object: id });
        }
        self.record_end(id);
        self.machine.memory.release(id, Death::Freed);
        Ok(())
    }

    fn heap_size(&self, pointer: Pointer) -> Result<u64, Fault> {
        let invalid = Fault::InvalidFree { address: pointer.address };
        let id = self.machine.object_of(pointer).ok_or(invalid.clone())?;
        let object = self.machine.memory.object(id);
        match object.kind {
            ObjectKind::Heap { .. } if object.base != pointer.address => Err(invalid),
            ObjectKind::Heap { .. } if !object.is_alive() => Err(Fault::UseAfterFree { object: id }),
            ObjectKind::Heap { .. } => Ok(object.size),
            _ => Err(invalid),
        }
    }

    fn write_output(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.machine.output.extend_from_slice(bytes),
            Stream::Error => self.machine.error_output.extend_from_slice(bytes),
        }
        self.observe(EventKind::Output { stream, bytes });
    }

    fn choose(&mut self, bits: u32, what: &str) -> u128 {
        let value = self.inputs.input(&InputRequest { bits, bound: None, what });
        self.observe(EventKind::Choice { what, bits, value });
        value
    }

    fn assume(&mut self, kind: AssumptionKind, what: &str) {
        self.machine.assume(kind, what, self.site);
    }

    fn errno(&mut self) -> Pointer {
        if let Some(pointer) = self.thread.errno {
            return pointer;
        }
        let kind = ObjectKind::Internal("errno");
        let pointer = self.machine.memory.allocate(kind, 4, 4, Fill::Zero).expect("4 bytes for errno are left");
        self.thread.errno = Some(pointer);
        pointer
    }

    fn library_object(&mut self, name: &str, content: &[u8]) -> Result<Pointer, Fault> {
        self.machine.library_object(name, content)
    }

    fn resolve(&self, address: u64) -> Pointer {
        self.machine.memory.pointer_to(address)
    }

    fn slot(&mut self, name: &'static str) -> &mut u64 {
        self.machine.slots.entry(name).or_insert(0)
    }
}
