//! What an executed library function may do: the machine as seen by `builtins`.
//!
//! Every access goes through here, so that it is checked for bounds and races like any other.

use super::fault::Fault;
use super::value::{Pointer, Value};
use crate::program::{AssumptionKind, DataLayout, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

pub trait Environment {
    fn layout(&self) -> &DataLayout;

    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault>;
    fn store(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault>;
    /// Undefined bytes read as 0.
    fn read(&mut self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault>;
    /// The same bytes without an access: how far a string reaches is looked up with this, then exactly its bytes are `read`.
    /// Undefined bytes read as 0.
    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault>;
    fn write(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault>;
    /// Pointers and undefined bytes are carried along; the ranges may overlap.
    fn copy(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault>;
    fn fill(&mut self, destination: Pointer, byte: u8, size: u64) -> Result<(), Fault>;
    /// The bytes from the address to the end of its object.
    fn remaining(&self, address: Pointer) -> Result<u64, Fault>;

    fn allocate(&mut self, size: u64, zeroed: bool) -> Result<Pointer, Fault>;
    /// `align` is a power of two.
    fn allocate_aligned(&mut self, size: u64, align: u64) -> Result<Pointer, Fault>;
    /// Memory for the library's own use, freed like any other. An environment whose allocations fail by choice overrides this:
    /// the library goes on without memory in ways of its own.
    fn allocate_scratch(&mut self, size: u64) -> Result<Pointer, Fault> {
        const ATTEMPTS: u32 = 64;
        for _ in 0..ATTEMPTS {
            let object = self.allocate(size, false)?;
            if !object.is_null() {
                return Ok(object);
            }
        }
        Err(Fault::OutOfMemory { size })
    }
    fn free(&mut self, pointer: Pointer) -> Result<(), Fault>;
    /// The usable size of a live heap object.
    fn heap_size(&self, pointer: Pointer) -> Result<u64, Fault>;

    fn write_output(&mut self, stream: Stream, bytes: &[u8]);
    /// Any value of an integer type: a choice that the schedule records. `what` names it for the reader.
    fn choose(&mut self, bits: u32, what: &str) -> u128;
    /// Something is not executed exactly here.
    fn assume(&mut self, kind: AssumptionKind, what: &str);
    /// The calling thread's `errno`.
    fn errno(&mut self) -> Pointer;
    /// An object of the C library itself (a table, a message, a stream), made at its first use with this content, the same at
    /// every later one. Making it is no access; the program may only read it.
    fn library_object(&mut self, name: &str, content: &[u8]) -> Result<Pointer, Fault>;
    /// The pointer with this address, with the object it lies in.
    fn resolve(&self, address: u64) -> Pointer;
    /// A value that persists for the run (the state of `rand`, `strtok`, the heap's `environ`, …), 8 bytes, 0 at first.
    fn slot(&mut self, name: &'static str) -> &mut u64;
}
