//! The memory of a running program: byte-exact objects with definedness and pointer provenance.
//!
//! A clone is a snapshot: it shares everything, and a write afterwards copies the page it touches and the path to it. Objects are
//! numbered and placed in the order they are made, at ascending addresses that are never reused, with a gap between any two. So
//! an address names at most one object for the whole run, dead ones included, and binary search by number finds it.
//!
//! One exception keeps long runs small: a stack object that no pointer can reach any more ([`Memory::retire`]) gives its number and
//! its place to the next one of the same thread, size and alignment.
//!
//! # Undefined bytes
//! A load of which *all* bytes are undefined gives undef; of which some are, takes these as 0. Storing undef or poison makes bytes
//! undefined: memory does not tell the two apart.
//!
//! # Provenance
//! A pointer that is stored whole is loaded with the object it was derived from, through copies too. Overwriting a part of it leaves
//! bytes; loading a pointer from bytes finds the object by address, one past the end belonging to the object before it.

mod encoding;
mod object;
mod page;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fault::Fault;
use super::value::{Bytes, ObjectId, Pointer, ScalarValue, Value, truncate};
use crate::program::{DataLayout, Scalar, Type};

pub use encoding::{decode, encode};
use object::Content;
pub use object::{Death, Fill, Object, ObjectKind, State};
use tree::Tree;

/// Below this address lies no object: an access there is one through a null pointer.
pub const FIRST_ADDRESS: u64 = 0x1_0000;
/// The least distance between the end of an object and the next one's base.
const GAP: u64 = 16;
/// Above what 32 bits can hold, so that an address squeezed through an `int` is lost as it would be natively.
const FIRST_ADDRESS_64: u64 = 0x1000_0000_0000;
const LAST_ADDRESS_64: u64 = 0x7fff_ffff_f000;
const LAST_ADDRESS_32: u64 = 0xffff_0000;

#[derive(Clone)]
pub struct Memory {
    layout: Arc<DataLayout>,
    /// As in the layout, at hand.
    pointer_bytes: u32,
    /// By `ObjectId`; bases ascend with it.
    objects: Tree<Object>,
    count: u32,
    /// The end of the youngest object.
    end: u64,
    last_address: u64,
    /// Retired stack objects: the last one is used first.
    retired: Arc<Retired>,
}

/// By thread, size and alignment.
type Retired = BTreeMap<(u32, u64, u64), Vec<ObjectId>>;

impl Memory {
    pub fn new(layout: &DataLayout) -> Memory {
        let (first, last_address) = match layout.pointer_bytes {
            8 => (FIRST_ADDRESS_64, LAST_ADDRESS_64),
            _ => (FIRST_ADDRESS, LAST_ADDRESS_32),
        };
        let pointer_bytes = layout.pointer_bytes;
        let layout = Arc::new(layout.clone());
        Memory { layout, pointer_bytes, objects: Tree::new(), count: 0, end: first, last_address, retired: Arc::default() }
    }

    pub fn layout(&self) -> &DataLayout {
        &self.layout
    }

    /// How many objects there ever were; their ids are the numbers below.
    pub fn object_count(&self) -> u32 {
        self.count
    }

    /// A new object, aligned to at least 16 bytes as `malloc` promises.
    pub fn allocate(&mut self, kind: ObjectKind, size: u64, align: u64, fill: Fill) -> Result<Pointer, Fault> {
        let align = align.max(16).next_power_of_two();
        if let Some(pointer) = self.reuse(kind, size, align, fill) {
            return Ok(pointer);
        }
        let base = self.end.checked_add(GAP).and_then(|at| at.checked_next_multiple_of(align));
        let base = base.filter(|base| base.checked_add(size).is_some_and(|end| end <= self.last_address));
        let base = base.ok_or(Fault::OutOfMemory { size })?;
        let object = ObjectId(self.count);
        let content = if kind.is_code() { Content::Nothing } else { Content::new(size, fill) };
        let state = State::Alive;
        let made = Object { base, size, align, kind, state, read_only: false, escaped: false, generation: 0, content };
        *self.objects.slot(object.0 as usize) = Some(made);
        self.count += 1;
        self.end = base + size;
        Ok(Pointer { address: base, object: Some(object) })
    }

    fn reuse(&mut self, kind: ObjectKind, size: u64, align: u64, fill: Fill) -> Option<Pointer> {
        let ObjectKind::Stack { thread, .. } = kind else { return None };
        let key = (thread, size, align);
        if self.retired.get(&key).is_none_or(Vec::is_empty) {
            return None;
        }
        let id = Arc::make_mut(&mut self.retired).get_mut(&key).and_then(Vec::pop)?;
        let object = self.object_mut(id);
        *object =
            Object { kind, state: State::Alive, generation: object.generation + 1, content: Content::new(size, fill), ..*object };
        Some(Pointer { address: object.base, object: Some(id) })
    }

    /// A dead stack object to which no pointer is left, unless it escaped, may be forgotten.
    pub fn retire(&mut self, id: ObjectId) {
        let object = self.object(id);
        if let ObjectKind::Stack { thread, .. } = object.kind
            && !object.escaped
            && !object.is_alive()
        {
            let key = (thread, object.size, object.align);
            Arc::make_mut(&mut self.retired).entry(key).or_default().push(id);
        }
    }

    /// Ends an object's life and drops its content. The first death counts.
    pub fn release(&mut self, object: ObjectId, death: Death) {
        let object = self.object_mut(object);
        if object.is_alive() {
            object.state = State::Dead(death);
            object.content = Content::Nothing;
        }
    }

    /// A stack object begins to live, again or still, with undefined bytes (`lifetime.start`).
    pub fn revive(&mut self, object: ObjectId) {
        let object = self.object_mut(object);
        object.state = State::Alive;
        object.content = Content::new(object.size, Fill::Undef);
    }

    pub fn object(&self, object: ObjectId) -> &Object {
        self.objects.get(object.0 as usize).expect("an object id comes from this memory")
    }

    fn object_mut(&mut self, object: ObjectId) -> &mut Object {
        self.objects.slot(object.0 as usize).as_mut().expect("an object id comes from this memory")
    }

    /// All objects, dead ones too, in the order they were made.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        (0..self.count).map(|id| (ObjectId(id), self.object(ObjectId(id))))
    }

    pub fn mark_escaped(&mut self, object: ObjectId) {
        if !self.object(object).escaped {
            self.object_mut(object).escaped = true;
        }
    }

    /// From now on a write to the object is a fault.
    pub fn make_read_only(&mut self, object: ObjectId) {
        self.object_mut(object).read_only = true;
    }

    /// The object an address lies in or is one past the end of, dead ones too.
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.object(ObjectId(middle)).base <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let candidate = ObjectId(low.checked_sub(1)?);
        (address <= self.object(candidate).end()).then_some(candidate)
    }

    /// An address as a pointer: cut to the width of one, its object found again.
    pub fn pointer_to(&self, address: u64) -> Pointer {
        let address = if self.pointer_bytes == 4 { u64::from(address as u32) } else { address };
        let object = if address < FIRST_ADDRESS { None } else { self.object_at(address) };
        Pointer { address, object }
    }

    /// Where an access of `size` bytes goes, or why it cannot be made.
    #[inline]
    pub fn locate(&self, pointer: Pointer, size: u64, is_write: bool) -> Result<(ObjectId, u64), Fault> {
        let id = self.target(pointer)?;
        Ok((id, self.offset_in(self.object(id), id, pointer.address, size, is_write)?))
    }

    /// The object a pointer is into, by provenance or by address.
    #[inline]
    fn target(&self, pointer: Pointer) -> Result<ObjectId, Fault> {
        let address = pointer.address;
        match pointer.object {
            Some(id) => Ok(id),
            None if address < FIRST_ADDRESS => Err(Fault::NullDereference { address }),
            None => self.object_at(address).ok_or(Fault::WildPointer { address }),
        }
    }

    /// The offset of an access that may be made.
    #[inline]
    fn offset_in(&self, object: &Object, id: ObjectId, address: u64, size: u64, is_write: bool) -> Result<u64, Fault> {
        let offset = address.wrapping_sub(object.base);
        let is_inside = offset <= object.size && size <= object.size - offset;
        let is_allowed = object.is_alive() && is_inside && !object.kind.is_code() && !(is_write && object.read_only);
        if is_allowed { Ok(offset) } else { Err(self.refusal(object, id, offset, size, is_inside)) }
    }

    /// Why an access cannot be made.
    #[cold]
    fn refusal(&self, object: &Object, id: ObjectId, offset: u64, size: u64, is_inside: bool) -> Fault {
        if !object.is_alive() {
            Fault::UseAfterFree { object: id }
        } else if !is_inside {
            let signed = if self.pointer_bytes == 4 { i64::from(offset as u32 as i32) } else { offset as i64 };
            Fault::OutOfBounds { object: id, offset: signed, size }
        } else if object.kind.is_code() {
            Fault::undefined("an access to the bytes of code")
        } else {
            Fault::ReadOnly { object: id }
        }
    }

    #[inline]
    pub fn load(&self, pointer: Pointer, ty: Type) -> Result<Value, Fault> {
        let size = self.layout.store_bytes(ty);
        let id = self.target(pointer)?;
        let object = self.object(id);
        let offset = self.offset_in(object, id, pointer.address, size, false)?;
        let content = &object.content;
        if let Type::Scalar(scalar) = ty
            && size <= 16
            && content.in_one_page(offset, size)
            && let (Ok(page), position) = content.page(offset)
        {
            let (number, undefined) = page.read(position, size as usize);
            if u64::from(undefined) == size {
                return Ok(Value::Scalar(ScalarValue::Undef(scalar)));
            }
            return Ok(Value::Scalar(match scalar {
                Scalar::Integer(bits) => ScalarValue::Integer { bits, value: truncate(number, bits) },
                Scalar::Pointer => ScalarValue::Pointer(match page.pointer_at(position) {
                    Some(object) => Pointer { address: number as u64, object: Some(object) },
                    None => self.pointer_to(number as u64),
                }),
                kind => ScalarValue::Float { kind, bits: number },
            }));
        }
        Ok(decode(self, &content.read(offset, size, self.pointer_bytes), 0, ty))
    }

    #[inline]
    pub fn store(&mut self, pointer: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        let size = self.layout.store_bytes(ty);
        let (id, offset) = self.locate(pointer, size, true)?;
        let pointer_bytes = self.pointer_bytes;
        let content = &mut self.object_mut(id).content;
        let (number, object) = match value {
            Value::Scalar(ScalarValue::Integer { value, .. }) => (*value, None),
            Value::Scalar(ScalarValue::Float { bits, .. }) => (*bits, None),
            Value::Scalar(ScalarValue::Pointer(pointer)) => (u128::from(pointer.address), pointer.object),
            Value::Scalar(ScalarValue::Undef(_) | ScalarValue::Poison(_)) => {
                content.fill(offset, size, None, pointer_bytes);
                return Ok(());
            }
            Value::Scalar(ScalarValue::WideInteger { .. }) | Value::Vector(_) | Value::Aggregate(_) => {
                return self.store_encoded(id, offset, value, size);
            }
        };
        if !content.in_one_page(offset, size) {
            return self.store_encoded(id, offset, value, size);
        }
        let (page, position) = content.page_mut(offset);
        match object {
            Some(object) => page.write_pointer(position, number as u64, object, pointer_bytes),
            None => page.write(position, size as usize, number, pointer_bytes),
        }
        Ok(())
    }

    fn store_encoded(&mut self, id: ObjectId, offset: u64, value: &Value, size: u64) -> Result<(), Fault> {
        let bytes = encode(&self.layout, value);
        if bytes.len() != size {
            return Err(Fault::undefined(format!("a store of {:?} as {size} bytes", value.type_of())));
        }
        let pointer_bytes = self.pointer_bytes;
        self.object_mut(id).content.write(offset, &bytes, pointer_bytes);
        Ok(())
    }

    /// Undefined bytes read as 0.
    pub fn read_bytes(&self, pointer: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        self.read(pointer, size).map(|bytes| bytes.data)
    }

    /// With definedness and pointers.
    pub fn read(&self, pointer: Pointer, size: u64) -> Result<Bytes, Fault> {
        if size == 0 {
            return Ok(Bytes::default());
        }
        let (id, offset) = self.locate(pointer, size, false)?;
        Ok(self.object(id).content.read(offset, size, self.pointer_bytes))
    }

    pub fn write_bytes(&mut self, pointer: Pointer, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (id, offset) = self.locate(pointer, bytes.len() as u64, true)?;
        let pointer_bytes = self.pointer_bytes;
        self.object_mut(id).content.write_slice(offset, bytes, pointer_bytes);
        Ok(())
    }

    /// With definedness and pointers.
    pub fn write(&mut self, pointer: Pointer, bytes: &Bytes) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (id, offset) = self.locate(pointer, bytes.len(), true)?;
        let pointer_bytes = self.pointer_bytes;
        self.object_mut(id).content.write(offset, bytes, pointer_bytes);
        Ok(())
    }

    /// Moves bytes with what is known of each; the ranges may overlap. Of size 0 it touches nothing.
    pub fn copy(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault> {
        if size == 0 {
            return Ok(());
        }
        self.locate(destination, size, true)?;
        let bytes = self.read(source, size)?;
        self.write(destination, &bytes)
    }

    /// Every byte becomes `byte`, or undefined.
    pub fn fill(&mut self, destination: Pointer, byte: Option<u8>, size: u64) -> Result<(), Fault> {
        if size == 0 {
            return Ok(());
        }
        let (id, offset) = self.locate(destination, size, true)?;
        let pointer_bytes = self.pointer_bytes;
        self.object_mut(id).content.fill(offset, size, byte, pointer_bytes);
        Ok(())
    }
}
